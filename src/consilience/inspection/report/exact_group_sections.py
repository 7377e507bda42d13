"""Section of a report on the groups that several people made exactly: the dendrogram of actual agreement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from consilience.analysis.exact_groups import exact_groups
from consilience.analysis.names import name_text, quantify
from consilience.annotations import Groupings
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Column, ReportTable, download, names_cell, percent, row

HEADING = "Groups that several made exactly"
MOST_ITEMS = 500  # of the annotations of such a report
ROWS, NAMED = 20, 12  # rows of the table; items of a group that are listed
STEP = "\u21b3 "  # before a group within the one above, as often as it is nested


def section(subject: Subject) -> Section | None:
    """Return the section; None if no two people made the same group, or there are very many items."""
    annotations = subject.annotations
    if not isinstance(annotations, Groupings) or annotations.n_items > MOST_ITEMS:
        return None
    found = exact_groups(annotations)
    return None if found.empty else Section("exact-groups", HEADING, [_lead(subject, found)], [_table(subject, found)])


def _lead(subject: Subject, found: pd.DataFrame) -> str:
    first, people = found.iloc[0], subject.words.annotators
    names = name_text(first["items"][0])
    others = quantify(int(first["n_items"]) - 1, f"other {subject.words.item}", f"other {subject.words.items}")
    return (
        f"{quantify(len(found), 'group was', 'groups were')} made exactly so by at least two {people}; most often that "
        f"of {names} and {others}, by {first['n_annotators']:,} of the {first['n_sorted']:,} who sorted them all."
    )


def _table(subject: Subject, found: pd.DataFrame) -> ReportTable:
    words = subject.words
    order = list(_depth_first(found))
    rows = []
    for number, depth in order[:ROWS]:
        made: Any = found.loc[number]
        share, by = f"{STEP * depth}{percent(made['share'])}", f"{made['n_annotators']:,} of {made['n_sorted']:,}"
        rows.append(row(share, by, f"{made['n_items']:,}", names_cell(made["items"], NAMED)))
    left = len(order) - ROWS
    file = found.assign(
        items=["; ".join(map(name_text, items)) for items in found["items"]], share=found["share"].round(4)
    )
    return ReportTable(
        "exact-groups",
        f"Groups that at least two {words.annotators} made exactly, as a tree",
        [
            Column("Share", "line"),
            Column("Made by", "line"),
            Column(words.Items),
            Column("Which", "wide", of_items=True),
        ],
        rows,
        reading=(
            f"Share: of the {words.annotators} who sorted all of these {words.items}, those who made just this group, "
            f"without any other {words.item}. {STEP.strip()} marks a group within the one above it. Groups that "
            "overlap with a more frequent one are in the file only."
        ),
        more=f"{quantify(left, 'more group')} in the file." if left > 0 else "",
        download=download("exact-groups.csv", file),
    )


def _depth_first(found: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Yield the rows of the tree and how deep they are, each followed by those within it."""
    below = found[found["in_tree"]].groupby("within", sort=False).groups
    waiting = [(number, 0) for number in reversed(below.get(-1, []))]
    while waiting:
        number, depth = waiting.pop()
        yield number, depth
        waiting += [(inner, depth + 1) for inner in reversed(below.get(number, []))]
