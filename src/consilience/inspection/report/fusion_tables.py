"""Tables of a report on a fusion of groupings: who sorts like the others, and what people call the clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.group_names import AT_LEAST
from consilience.analysis.names import name_text
from consilience.analysis.words import current_words
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships
from consilience.inspection.report.item_tables import cluster_cell
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, number, row

NAMES, SINGLE_NAMES, NAMES_FOR_HALF = 8, 5, 5
FEWEST_ITEMS = 4  # of a grouping whose agreement is ranked
HALF = 8  # groupings shown at each end


def grouping_frame(estimator: Any) -> pd.DataFrame:
    """Return the agreement of every grouping with the clusters, the highest first and unknown ones last."""
    groupings = estimator.groupings_
    memberships = Memberships.of(groupings)
    n = memberships.n_groupings
    each = replace(memberships, annotator_of_grouping=np.arange(n), n_annotators=n)
    frame = pd.DataFrame(
        {
            "annotator": groupings.annotators.take(groupings.annotator_of_grouping),
            "grouping": pd.Index(groupings.grouping_names, dtype=object),
            "n_items": memberships.grouping_sizes,
            "n_groups": np.bincount(memberships.grouping_of_group, memberships.group_sizes > 0, n).astype(int),
            "agreement": agreement_with(each, estimator.labels_),
        }
    )
    return frame.sort_values("agreement", ascending=False, kind="stable", na_position="last", ignore_index=True)


def groupings_table(frame: pd.DataFrame) -> ReportTable | None:
    """Return the table of groupings that agree most and least with the clusters; None if each annotator gave one."""
    words = current_words()
    ranked = frame[frame["agreement"].notna() & (frame["n_items"] >= FEWEST_ITEMS)].reset_index(drop=True)
    if ranked.empty or len(frame) == frame["annotator"].nunique():
        return None
    gap = None
    if len(ranked) > 2 * HALF:
        gap = (HALF, f"{len(ranked) - 2 * HALF:,} more groupings between these")
        ranked = pd.concat([ranked.head(HALF), ranked.tail(HALF)])
    rows = []
    for annotator, grouping, n_items, n_groups, agreement in ranked.itertuples(index=False, name=None):
        cells = [name_cell(annotator), name_cell(grouping), f"{n_items:,}", f"{n_groups:,}", number(agreement)]
        rows.append(row(*cells))
    return ReportTable(
        "groupings",
        "The groupings, those that agree least with the clusters last",
        [
            Column(words.Annotator, "text"),
            Column("Grouping", "text"),
            *map(Column, (words.Items, "Groups", "Agreement")),
        ],
        rows,
        order="those that agree least with the clusters last",
        reading=(
            "Agreement with the clusters, 1 for the same groups and 0 by chance, for groupings of at least "
            f"{FEWEST_ITEMS} {words.items}; with few "
            f"{words.items} it says little."
        ),
        gap=gap,
        download=download("groupings.csv", frame.round(4)),
    )


def names_table(names: pd.DataFrame, clusters: FoundClusters, of_namers: str = "") -> ReportTable | None:
    """Return the table of what people call each cluster; None unless two of them use the same name."""
    words = current_words()
    if not (names["n_annotators"] >= AT_LEAST).any():
        return None
    rows = []
    for cluster in range(len(clusters.index)):
        mine = names[names["cluster"] == cluster]
        common = mine[mine["n_annotators"] >= AT_LEAST].head(NAMES)
        left = 0
        if common.empty:
            single = mine[mine["n_annotators"] == 1]
            common, left = single.head(SINGLE_NAMES), len(single) - SINGLE_NAMES
        half = (
            mine[mine["n_for_half"] > 0].sort_values("n_for_half", ascending=False, kind="stable").head(NAMES_FOR_HALF)
        )
        cells = [_count_cell(common, "n_annotators", left), _count_cell(half, "n_for_half")]
        rows.append(row(cluster_cell(clusters, cluster), *cells))
    return ReportTable(
        "names",
        f"Names of groups, and how many {words.annotators} use them",
        [
            Column("Cluster", clusters.kind),
            Column(f"{words.Annotators} who call the cluster so", "wide"),
            Column(f"Names of groups with at least half of its {words.items}, whatever else is there", "wide"),
        ],
        rows,
        reading=(
            f"{f'Numbers are those{of_namers}. ' if of_namers else ''}"
            f"{words.An_annotator} calls a cluster by the name of a group that overlaps with it by more than half: of "
            f"the {words.items} of either that they sorted, more than half are in both. If nobody shares a name, some "
            "are shown."
        ),
        download=download("names.csv", names),
    )


def _count_cell(names: pd.DataFrame, count: str, left: int = 0) -> Cell:
    """Cell with names and how many annotators use each, and how many more there are."""
    pairs = names[[count, "name"]].itertuples(index=False, name=None)
    shown = [(f"{n:,}", name_text(name)) for n, name in pairs] + ([("", f"and {left:,} more")] if left > 0 else [])
    return Cell(pairs=tuple(shown)) if shown else Cell("–")
