"""Tables of a report on a model that maps groups to clusters: what the annotators' groups mean."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from consilience.analysis.annotator_frames import MIN_ACCURACY
from consilience.analysis.names import name_text, quantify
from consilience.analysis.words import current_words
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import (
    Cell,
    Column,
    Download,
    ReportTable,
    download,
    name_cell,
    names_cell,
    row,
)

GUESS = 0.7  # q(t) below which a mapping is a guess: a single label gives about 0.8
DISTINCTIONS = 10
NAMINGS = 8
OTHER_DISTINCTIONS = 15
UNMATCHED = 15
LISTED = 12
IN_FILE = " (in mapping.csv)"

Key = tuple[Any, Any]


def distinction_tables(estimator: Any) -> list[ReportTable]:
    """Return tables of groupings that divide the clusters in the same way, with the names side by side; Table 4.

    There is a table for each distinction that several groupings make, and one for all others.
    """
    found = estimator.annotator_groups(min_accuracy=MIN_ACCURACY)
    mapping = estimator.annotator_mapping_
    unsure = mapping[mapping["probability"] < GUESS]
    guessed = set(unsure[["annotator", "grouping", "group"]].itertuples(index=False, name=None))
    each = [namings for _, namings in found.groupby("distinction")]
    shared = [namings for namings in each if namings["n_groupings"].sum() > 1][:DISTINCTIONS]
    tables = [_distinction(namings, guessed) for namings in shared]
    others = each[len(shared) :]  # the most common come first
    if not others:
        return tables
    caption = quantify(len(others), "further distinction" if tables else "distinction")
    return [*tables, _other_distinctions(others, guessed, caption)]


def _distinction(namings: pd.DataFrame, guessed: set) -> ReportTable:
    first = namings.iloc[0]
    rows = []
    for groupings, naming in zip(namings["groupings"].head(NAMINGS), namings["naming"]):
        parts = [name_cell(name) for name in _parts(groupings, naming, guessed)]
        rows.append(row(names_cell(owners(groupings), LISTED, IN_FILE), *parts))
    left = len(namings) - len(rows)
    n_groupings = quantify(int(namings["n_groupings"].sum()), "grouping")
    return ReportTable(
        f"distinction-{first['distinction']}",
        f"Distinction {first['distinction']}: {n_groupings}, {quantify(len(namings), 'naming')}",
        [Column("Groupings", "names"), *map(_part_column, first["clusters"])],
        rows,
        more=quantify(left, "more naming") + IN_FILE if left > 0 else "",
    )


def _other_distinctions(others: list[pd.DataFrame], guessed: set, caption: str) -> ReportTable:
    rows = []
    for namings in others[:OTHER_DISTINCTIONS]:
        first = namings.iloc[0]
        whose = owners([key for groupings in namings["groupings"] for key in groupings])
        heads = [", ".join(map(str, clusters)) for clusters in first["clusters"]]
        names = _parts(first["groupings"], first["naming"], guessed)
        parts = Cell(pairs=tuple(zip(heads, names, strict=True)))
        rows.append(row(str(first["distinction"]), names_cell(whose, LISTED, IN_FILE), parts))
    left = len(others) - len(rows)
    return ReportTable(
        "other-distinctions",
        caption,
        [Column("No."), Column("Groupings", "names"), Column("Clusters, and the name of their group", "wide")],
        rows,
        more=quantify(left, "more distinction") + IN_FILE if left > 0 else "",
    )


def _parts(groupings: list[Key], naming: tuple, guessed: set) -> list[str]:
    """Return the names of the groups, with a question mark if one of their clusters is a guess."""
    return [
        name_text(group) + (" (?)" if any((*grouping, group) in guessed for grouping in groupings) else "")
        for group in naming
    ]


def _part_column(clusters: tuple[int, ...]) -> Column:
    head = f"{'Cluster' if len(clusters) == 1 else 'Clusters'}\u00a0{', '.join(map(str, clusters))}"
    return Column(head, "text", Markup("").join(map(swatch, clusters)))


def owners(keys: list[Key]) -> list[str]:
    """Return names of groupings: that of the annotator if they gave a single one."""
    return [
        name_text(annotator) if annotator == grouping else f"{name_text(annotator)} / {name_text(grouping)}"
        for annotator, grouping in keys
    ]


def weak_groupings(estimator: Any) -> list[str]:
    """Return the names of groupings that the clusters predict too poorly to be among the distinctions."""
    accuracy = estimator.groupings_["accuracy"]
    return owners(accuracy.index[~accuracy.ge(MIN_ACCURACY).to_numpy()].tolist())


def mapping_file(estimator: Any) -> Download:
    """Return the meaning of every group as a file."""
    mapping = estimator.annotator_mapping_
    clusters = mapping["clusters"].map(lambda found: " ".join(map(str, found)))
    return download("mapping.csv", mapping.assign(clusters=clusters, probability=mapping["probability"].round(4)))


def unmatched_table(estimator: Any) -> ReportTable | None:
    """Return the table of groups that correspond to no cluster."""
    words = current_words()
    mapping = estimator.annotator_mapping_
    unmatched = mapping[mapping["clusters"].map(len) == 0].sort_values("n_items", ascending=False, kind="stable")
    if unmatched.empty:
        return None
    shown = unmatched.head(UNMATCHED)
    whose = owners(list(zip(shown["annotator"], shown["grouping"], strict=True)))
    rows = [
        row(name_cell(owner), name_cell(group), f"{n_items:,}")
        for owner, group, n_items in zip(whose, shown["group"], shown["n_items"], strict=True)
    ]
    left = len(unmatched) - len(rows)
    return ReportTable(
        "unmatched",
        "Groups that correspond to no cluster",
        [Column("Grouping", "text"), Column("Group", "text"), Column(words.Items)],
        rows,
        reading=(
            f"The {words.annotator} set these {words.items} apart, but the others' groupings and the features do not: "
            "a slip, or a distinction that nobody else makes."
        ),
        more=f"{left:,} more, with no more {words.items} each{IN_FILE}" if left > 0 else "",
    )
