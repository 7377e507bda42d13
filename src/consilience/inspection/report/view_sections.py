"""Sections of a report on a model with several views: who holds which, the clusters of each, how they overlap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.item_frame import items_by
from consilience.analysis.names import join_names, quantify
from consilience.analysis.words import current_words
from consilience.inspection.plots.clusters import draw_clusters
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import item_tables
from consilience.inspection.report.figure_files import plane_file
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import Cell, Column, ReportTable, names_cell, number, percent, row
from consilience.metrics.clusterings import nmi

LISTED = 12


def in_short(subject: Subject) -> list[str]:
    """Say how many annotators hold each view."""
    words = current_words()
    views = subject.estimator.views_
    parts = [
        f"{n_annotators:,} hold view {view} ({quantify(n_clusters, 'cluster')})"
        for view, (n_annotators, n_clusters) in enumerate(zip(views["n_annotators"], views["n_clusters"], strict=True))
    ]
    return [f"The {words.annotators} look at the {words.items} in {len(views)} ways: {join_names(parts)}."]


def sections(subject: Subject) -> Iterator[Section]:
    """Yield the section that compares the views, then one for each view but the first, whose clusters are above."""
    words = current_words()
    estimator = subject.estimator
    sentences = [
        f"A view is a way to look at the {words.items}, with clusters of its own; the model assumes that each "
        f"{words.annotator} judges by one of them. The clusters above are those of view 0, which most "
        f"{words.annotators} hold."
    ]
    yield Section("views", "The views", sentences, [_views(estimator), *map(_crossing, _others(estimator))])
    for view in range(1, len(estimator.views_)):
        yield _view(subject, view)


def clusters_of(estimator: Any, view: int) -> FoundClusters:
    codes = estimator.view_labels_[view].to_numpy()
    index = pd.RangeIndex(int(estimator.views_["n_clusters"].iloc[view]))
    return FoundClusters(codes, index, "cluster", "clusters", "cluster", f"view-{view}.csv", "probability")


def _others(estimator: Any) -> list[tuple[Any, int]]:
    return [(estimator, view) for view in range(1, len(estimator.views_))]


def _views(estimator: Any) -> ReportTable:
    """Return the table of who holds each view, how reliable they are, and how many clusters it has."""
    words = current_words()
    people = estimator.annotators_.sort_values("weight", ascending=False, kind="stable")
    rows = []
    for view in range(len(estimator.views_)):
        mine = people[people["view"] == view]
        sizes = clusters_of(estimator, view).sizes
        rates = [percent(mine[name].mean()) for name in ("sensitivity", "specificity")]
        held = names_cell(mine.index.tolist() or ["–"], LISTED, " (in annotators.csv)")
        rows.append(
            row(str(view), f"{len(mine):,}", held, *rates, f"{len(sizes):,}", ", ".join(f"{n:,}" for n in sizes))
        )
    heads = [("View", "number"), (words.Annotators, "number"), ("Held by", "wide"), ("Sensitivity", "number")]
    heads += [("Specificity", "number"), ("Clusters", "number"), ("Their sizes", "text")]
    return ReportTable(
        "views",
        f"The views, those of most {words.annotators} first",
        [Column(head, kind) for head, kind in heads],
        rows,
        reading=(
            f"Sensitivity: how often those who hold the view put two {words.items} of one of its clusters together; "
            f"specificity: how often they keep apart {words.items} of two clusters; both are means over these "
            f"{words.annotators}. The most reliable are named first. The table of {words.annotators} has the figures "
            "of each."
        ),
    )


def _crossing(which: tuple[Any, int]) -> ReportTable:
    """Return the table of how the items of each cluster of view 0 are spread over the clusters of another view."""
    words = current_words()
    estimator, view = which
    first, other = clusters_of(estimator, 0), clusters_of(estimator, view)
    counts = np.zeros((len(first.index), len(other.index)), dtype=int)
    np.add.at(counts, (first.codes, other.codes), 1)
    rows = [row(Cell(f"cluster {k}", mark=swatch(k)), *(f"{n:,}" for n in counts[k])) for k in range(len(first.index))]
    heads = [Column(f"cluster\u00a0{k}", mark=swatch(k)) for k in range(len(other.index))]
    shared = number(nmi(first.codes, other.codes))
    return ReportTable(
        f"crossing-{view}",
        f"View 0 and view {view}: {words.items}",
        [Column("View 0", "text"), *heads],
        rows,
        reading=(
            f"One row per cluster of view 0, one column per cluster of view {view}. Normalised mutual information: "
            f"{shared} (1 for the same clusters, 0 for views that say nothing about each other)."
        ),
    )


def _view(subject: Subject, view: int) -> Section:
    """Return the section of the clusters, the plot and the profile of a view."""
    words = current_words()
    clusters, estimator = clusters_of(subject.estimator, view), subject.estimator
    items = items_by(estimator.items_, clusters.codes, estimator.view_responsibilities_[view], subject.annotations)
    table = replace(
        item_tables.clusters_table(items, [], clusters),
        key=f"clusters-{view}",
        caption=f"Clusters of view {view}",
        reading=f"Each row is a cluster of {words.items} that belong together for the {words.annotators} who hold the "
        "view.",
    )
    blocks: list[ReportTable | Figure] = [table]
    if subject.features is not None:
        blocks += _features(subject, clusters, view)
    return Section(f"view-{view}", f"View {view}", [], blocks)


def _features(subject: Subject, clusters: FoundClusters, view: int) -> list[ReportTable | Figure]:
    words = current_words()
    features = cast(pd.DataFrame, subject.features)
    profile = item_tables.profile_table(features, clusters, "feature", item_tables.FEATURES)
    file = None if profile.download is None else replace(profile.download, name=f"features-{view}.csv")
    profile = replace(
        profile, key=f"features-{view}", caption=f"Features of the clusters of view {view}", download=file
    )
    ax = draw_clusters(subject.model, features, None, clusters, rows=subject.clusters, ax=Sheet())
    caption = f"The {words.items} as above, with a colour and a shape for each cluster of view {view}."
    sheet = cast(MatplotlibFigure, ax.figure)
    drawn = plane_file(f"plane-{view}.csv", subject.model, features, None, clusters, subject.clusters)
    return [Figure.of(f"plane-{view}", sheet, "Scatter plot. " + caption, caption, drawn), profile]
