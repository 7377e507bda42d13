"""Section of a report on the groups that several people made exactly: the dendrogram of actual agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.exact_groups import exact_groups
from consilience.analysis.names import join_names, name_text, quantify
from consilience.annotations import Groupings
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Column, ReportTable, download, names_cell, percent, row

HEADING = "Groups that several made exactly"
MOST_ITEMS = 500  # of the annotations of such a report
ROWS, NAMED = 20, 12  # rows of the table; items of a group that are listed
MOST_SAID = 3  # items of a group in a sentence


def section(subject: Subject) -> Section | None:
    """Return the section; None if no two people made the same group, or there are very many items."""
    annotations = subject.annotations
    if not isinstance(annotations, Groupings) or annotations.n_items > MOST_ITEMS:
        return None
    found = exact_groups(annotations)
    if found.empty:
        return None
    sentences = [_lead(subject, found), *_alone(subject, annotations)]
    return Section("exact-groups", HEADING, sentences, [_table(subject, found)])


def _lead(subject: Subject, found: pd.DataFrame) -> str:
    first, words = found.iloc[0], subject.words
    names, left = [name_text(name) for name in first["items"]], int(first["n_items"]) - MOST_SAID
    if left > 0:
        names = [*names[:MOST_SAID], quantify(left, f"other {words.item}", f"other {words.items}")]
    shown = f". The table has the {ROWS} commonest" if len(found) > ROWS else ""
    return (
        f"{quantify(len(found), 'group was', 'groups were')} made exactly so by at least two {words.annotators}; most "
        f"often that of {join_names(names)}, by {first['n_annotators']:,} of the {first['n_sorted']:,} who sorted "
        f"{'both' if first['n_items'] == 2 else 'them all'}{shown}."
    )


def _alone(subject: Subject, annotations: Groupings) -> list[str]:
    """Say which item people left alone in a group most often; nothing if nobody left any."""
    words, members = subject.words, annotations.incidence.tocsc()
    groups = np.flatnonzero(np.diff(members.indptr) == 1)
    if not len(groups):
        return []
    by = np.column_stack([members.indices[members.indptr[groups]], annotations.annotator_of_group[groups]])
    counts = np.bincount(np.unique(by, axis=0)[:, 0], minlength=annotations.n_items)
    most, n_items = int(counts.argmax()), int((counts > 0).sum())
    n_sorted = len(np.unique(annotations.annotator_of_group[annotations.incidence[[most]].indices]))
    how_many, left = (
        f"{int(counts[most]):,} of {words.n_annotators(n_sorted)}",
        f"{words.n_items(n_items)} were left alone",
    )
    if n_items == 1:
        return [f"Only {name_text(annotations.items[most])} was left alone in a group, by {how_many}."]
    if counts[most] == 1:
        return [f"{left} in a group, each by one {words.annotator}."]
    return [f"{left} in a group by somebody; most often {name_text(annotations.items[most])}, by {how_many}."]


def _table(subject: Subject, found: pd.DataFrame) -> ReportTable:
    words = subject.words
    rows, left = [], len(found) - ROWS
    for _, made in found.head(ROWS).iterrows():
        by = f"{made['n_annotators']:,} of {made['n_sorted']:,}"
        larger = "–"
        if made["within"] >= 0:
            around: Any = found.loc[made["within"]]
            larger = f"{words.n_items(int(around['n_items']))}, by {around['n_annotators']:,}"
        items = names_cell(made["items"], NAMED)
        rows.append(row(percent(made["share"]), by, f"{made['n_items']:,}", items, larger))
    file = found.assign(
        items=["; ".join(map(name_text, items)) for items in found["items"]], share=found["share"].round(4)
    )
    which = f"The {ROWS} commonest groups" if left > 0 else "Groups"
    return ReportTable(
        "exact-groups",
        f"{which} that at least two {words.annotators} made exactly, the commonest first",
        [
            Column("Share", "line"),
            Column("Made by", "line"),
            Column(words.Items),
            Column("Which", "wide", of_items=True),
            Column("Within a group of", "line"),
        ],
        rows,
        order="the commonest first",
        reading=(
            f"Share: of the {words.annotators} who sorted all of these {words.items}, those who made just this group, "
            f"without any other {words.item}. Within a group of: the smallest larger group in the tree of actual "
            "agreement, which leaves out groups that overlap with a commoner one."
        ),
        more=quantify(left, "rarer group") if left > 0 else "",
        download=download("exact-groups.csv", file),
    )
