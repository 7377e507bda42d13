"""Section of a report on the groups that several people made exactly: the dendrogram of actual agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.exact_groups import FEWEST, exact_groups
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.annotations import Groupings
from consilience.inspection.report.best_cuts import say_how
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, names_cell, number, percent, row
from consilience.metrics.clusterings import ari

HEADING = "Groups that several made exactly"
MOST_ITEMS = 500  # of the annotations of such a report
ROWS, SORTS, NAMED = 20, 5, 12  # groups and sorts in the tables; items of a group that are listed
MOST_SAID = 3  # items of a group in a sentence


def section(subject: Subject) -> Section | None:
    """Return the section; None if no two people made the same group, or there are very many items."""
    annotations = subject.annotations
    if not isinstance(annotations, Groupings) or annotations.n_items > MOST_ITEMS:
        return None
    found = exact_groups(annotations)
    if found.empty:
        return None
    sentences = [_lead(subject, found), *same_sorts_in_short(subject), *_say_who_made_all(subject)]
    return Section("exact-groups", HEADING, sentences, [_table(subject, found), *_sorts_table(subject)])


def _lead(subject: Subject, found: pd.DataFrame) -> str:
    first, words = found.iloc[0], subject.words
    names, left = [name_text(name) for name in first["items"]], int(first["n_items"]) - MOST_SAID
    if left > 0:
        names = [*names[:MOST_SAID], quantify(left, f"other {words.item}", f"other {words.items}")]
    shown = f". The table has the {ROWS} commonest" if len(found) > ROWS else ""
    if len(found) > 1 and (found["n_annotators"] == first["n_annotators"]).all():
        n_made = words.n_annotators(int(first["n_annotators"]))
        return f"{len(found):,} groups were made exactly so by {n_made} each, none by more{shown}."
    return (
        f"{quantify(len(found), 'group was', 'groups were')} made exactly so by at least two {words.annotators}; most "
        f"often that of {join_names(names)}, by {first['n_annotators']:,} of the {first['n_sorted']:,} who sorted "
        f"{'both' if first['n_items'] == 2 else 'them all'}{shown}."
    )


def same_sorts_in_short(subject: Subject) -> list[str]:
    """Say how many made one and the same sort of all items, and how it differs from the clusters; nothing if nobody."""
    sorts, words, clusters = subject.whole_sorts, subject.words, subject.clusters
    if sorts is None or not len(sorts.first) or (n_made := int(sorts.n_annotators[0])) < FEWEST:
        return []
    n_tied = int((sorts.n_annotators == n_made).sum()) - 1
    too = f" (as many made each of {quantify(n_tied, 'other sort')})" if n_tied else ""
    who = f"{n_made:,} of {words.n_annotators(sorts.n_sorted)} who sorted all {words.items}"
    made = f"{who} made one and the same sort{too}"
    own = sorts.place_of(clusters.codes)
    if own >= 0 and sorts.n_annotators[own] == n_made:
        return [f"{made}: just these {clusters.nouns}."]
    seen = (sorts.first[0] >= 0) & (clusters.codes >= 0)
    names = subject.annotations.items[seen]
    how = say_how(sorts.first[0][seen], clusters.codes[seen], clusters.titles, names)
    return [f"{made}, which differs from these {clusters.nouns}{f': it {how}' if how else ''}."]


def _say_who_made_all(subject: Subject) -> list[str]:
    """Say how many made just the clusters, of those who sorted all items; nothing if nobody did."""
    sorts, words = subject.whole_sorts, subject.words
    if sorts is None or not sorts.n_sorted:
        return []
    place = sorts.place_of(subject.clusters.codes)
    n_made = int(sorts.n_annotators[place]) if place >= 0 else 0
    who = f"{n_made:,}" if n_made else "None"
    return [f"{who} of {words.n_annotators(sorts.n_sorted)} who sorted all {words.items} made just the clusters here."]


def _sorts_table(subject: Subject) -> list[ReportTable]:
    """Return the table of the sorts of all items that several made."""
    sorts, words, codes = subject.whole_sorts, subject.words, subject.clusters.codes
    several = 0 if sorts is None else int((sorts.n_annotators >= FEWEST).sum())
    if sorts is None or not several:
        return []
    rows, records = [], []
    for first, n_made in zip(sorts.first[:several], sorts.n_annotators.tolist()):
        groups = [subject.annotations.items[first == item] for item in np.unique(first[first >= 0])]
        groups.sort(key=len, reverse=True)
        shown = tuple(("•", join_some(list(map(name_text, names)), NAMED)) for names in groups)
        like = ari(codes[codes >= 0], first[codes >= 0])
        rows.append(row(f"{n_made:,}", f"{len(groups):,}", number(like), Cell(pairs=shown)))
        text = "; ".join(", ".join(map(name_text, names)) for names in groups)
        records.append((n_made, sorts.n_sorted, len(groups), round(like, 4), text))
    head = ["n_annotators", "n_sorted", "n_groups", "like_report", "groups"]
    return [
        ReportTable(
            "whole-sorts",
            f"Sorts of all {words.items} that several made",
            [Column("Made by"), Column("Groups"), Column("Like the clusters"), Column("Which", "wide")],
            rows[:SORTS],
            reading=(
                f"Of the {words.n_annotators(sorts.n_sorted)} who sorted all {words.items}, those who made just these "
                "groups, whatever they called them. Like the clusters: 1 for the same ones, 0 by chance."
            ),
            more=quantify(several - SORTS, "rarer sort") if several > SORTS else "",
            download=download("whole-sorts.csv", pd.DataFrame(records, columns=head)),
        )
    ]


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
