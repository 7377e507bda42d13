"""What a report says of a model with several views: who holds which, the clusters of each, how they cross."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.inspection.clustering import Answer
from consilience.inspection.names import counted, listed
from consilience.inspection.plots.clusters import draw_clusters
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import item_tables
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import Cell, Column, Table, names_cell, number, percent, row
from consilience.metrics.clusterings import nmi

LISTED = 12


def in_short(subject: Subject) -> list[str]:
    """Who holds how many views, in a sentence."""
    views = subject.estimator.views_
    parts = [
        f"{n_annotators:,} hold view {view} ({counted(n_clusters, 'cluster')})"
        for view, (n_annotators, n_clusters) in enumerate(zip(views["n_annotators"], views["n_clusters"], strict=True))
    ]
    return [f"The annotators look at the items in {len(views)} ways: {listed(parts)}."]


def sections(subject: Subject) -> Iterator[Section]:
    """The views beside each other, then each after the first, which is the answer of the model."""
    estimator = subject.estimator
    sentences = [
        "A view is a way to look at the items, with clusters of its own; every annotator is taken to judge by one of "
        "them. The clusters above are those of view 0, which most annotators hold."
    ]
    yield Section("views", "The views", sentences, [_views(estimator), *map(_crossing, _others(estimator))])
    for view in range(1, len(estimator.views_)):
        yield _view(subject, view)


def answer_of(estimator: Any, view: int) -> Answer:
    """Return the clusters of a view as an answer."""
    codes = estimator.view_labels_[view].to_numpy()
    index = pd.RangeIndex(int(estimator.views_["n_clusters"].iloc[view]))
    return Answer(codes, index, "cluster", "clusters", "cluster", f"view-{view}.csv", "probability")


def _others(estimator: Any) -> list[tuple[Any, int]]:
    return [(estimator, view) for view in range(1, len(estimator.views_))]


def _views(estimator: Any) -> Table:
    """Who holds each view, how reliable they are by it, and how many clusters it has."""
    people = estimator.annotators_.sort_values("weight", ascending=False, kind="stable")
    rows = []
    for view in range(len(estimator.views_)):
        mine = people[people["view"] == view]
        sizes = answer_of(estimator, view).sizes
        rates = [percent(mine[name].mean()) for name in ("sensitivity", "specificity")]
        held = names_cell(mine.index.tolist() or ["–"], LISTED, " (in annotators.csv)")
        rows.append(
            row(str(view), f"{len(mine):,}", held, *rates, f"{len(sizes):,}", ", ".join(f"{n:,}" for n in sizes))
        )
    heads = [("View", "number"), ("Annotators", "number"), ("Held by", "wide"), ("Sensitivity", "number")]
    heads += [("Specificity", "number"), ("Clusters", "number"), ("Their sizes", "text")]
    return Table(
        "views",
        "The views, the most held first",
        [Column(head, kind) for head, kind in heads],
        rows,
        reading=(
            "Sensitivity: how often those who hold the view put two items of one of its clusters together; "
            "specificity: how often they tell items of two apart; both on average over them. The most reliable stand "
            "first. Every annotator with figures of their own is in the table of annotators."
        ),
    )


def _crossing(which: tuple[Any, int]) -> Table:
    """How the items of each cluster of a view are spread over those of view 0."""
    estimator, view = which
    first, other = answer_of(estimator, 0), answer_of(estimator, view)
    counts = np.zeros((len(first.index), len(other.index)), dtype=int)
    np.add.at(counts, (first.codes, other.codes), 1)
    rows = [row(Cell(f"cluster {k}", mark=swatch(k)), *(f"{n:,}" for n in counts[k])) for k in range(len(first.index))]
    heads = [Column(f"cluster\u00a0{k}", mark=swatch(k)) for k in range(len(other.index))]
    shared = number(nmi(first.codes, other.codes))
    return Table(
        f"crossing-{view}",
        f"View 0 and view {view}: items",
        [Column("View 0", "text"), *heads],
        rows,
        reading=(
            f"A row for each cluster of view 0, a column for each of view {view}. Their normalised mutual information "
            f"is {shared}: 1 for the same clusters, 0 for views that tell nothing of each other."
        ),
    )


def _view(subject: Subject, view: int) -> Section:
    """Clusters, drawing and profile of a view."""
    answer, estimator = answer_of(subject.estimator, view), subject.estimator
    items = item_tables.items_by(
        estimator.items_, answer.codes, estimator.view_responsibilities_[view], subject.annotations
    )
    clusters = replace(
        item_tables.clusters_table(items, [], answer),
        key=f"clusters-{view}",
        caption=f"Clusters of view {view}",
        reading="Each row is a group of items that belong together by what those said who hold the view.",
    )
    blocks: list[Table | Figure] = [clusters]
    if subject.features is not None:
        blocks += _features(subject, answer, view)
    return Section(f"view-{view}", f"View {view}", [], blocks)


def _features(subject: Subject, answer: Answer, view: int) -> list[Table | Figure]:
    features = cast(pd.DataFrame, subject.features)
    profile = item_tables.profile_table(features, answer, "feature", item_tables.FEATURES)
    file = None if profile.download is None else replace(profile.download, name=f"features-{view}.csv")
    profile = replace(
        profile, key=f"features-{view}", caption=f"Features of the clusters of view {view}", download=file
    )
    ax = draw_clusters(subject.model, features, None, answer, ax=Sheet())
    caption = f"The items as above, a colour and a shape for each cluster of view {view}."
    sheet = cast(MatplotlibFigure, ax.figure)
    return [Figure.of(f"plane-{view}", sheet, "Scatter plot. " + caption, caption), profile]
