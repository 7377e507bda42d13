"""The sections of a report on the clusters: as lists with the plane of the items, and in figures."""

from __future__ import annotations

from typing import cast

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.group_names import count_group_names
from consilience.analysis.names import join_some, name_text, quantify
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.errors import InputError
from consilience.inspection.plots.clusters import draw_clusters
from consilience.inspection.plots.point_labels import say_unwritten
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import answer, deep_sections, fusion_sections, item_tables, label_tables
from consilience.inspection.report.figure_files import plane_file
from consilience.inspection.report.subject import ClusterLists, Figure, Section, Subject
from consilience.inspection.report.tables import ReportTable, number


def cluster_sections(subject: Subject) -> tuple[Section, Section]:
    """Return the clusters as lists with the plane of the items, and what is known of them in figures."""
    words = current_words()
    items, clusters = subject.items, subject.clusters
    clustered, nowhere = items_in_clusters(subject), items[items["cluster"] < 0]
    unannotated = clustered[clustered["n_annotators"] == 0]
    blocks: list[ReportTable | Figure] = [
        item_tables.clusters_table(
            items,
            *_names_of_clusters(subject),
            subject.cohesion,
            None if subject.certainty is None else subject.moves,
            subject.makers if subject.are_grouped else None,
        )
    ]
    drawn: list[ClusterLists | ReportTable | Figure] = [answer.lists(subject)]
    placed = subject.groups or subject.can.embedding is not None
    if subject.features is not None or (placed and not subject.can.fuses):
        drawn.append(deep_sections.latent_figure(subject) or plane_figure(subject))
    sentences = []
    if clusters.called:
        sentences.append(
            f"A cluster is called what the most {words.annotators} call groups that overlap with it by more than half. "
            f"No two clusters have the same name; one that fewer than two {words.annotators} name so has its most "
            f"central {words.items} instead."
        )
    if subject.can.has_views:
        sentences.append(
            f"They are the clusters of view 0, which most {words.annotators} hold; the other views follow below."
        )
    if len(unannotated):
        text = quantify(len(unannotated), f"{words.item} has no annotations", f"{words.items} have no annotations")
        if "probability" in items:
            mean = number(unannotated["probability"].mean())
            text += f"; the mean {clusters.measure} of their {clusters.nouns} is {mean}"
        sentences.append(text + ".")
    if len(nowhere):
        names = join_some([name_text(name) for name in nowhere["item"].tolist()])
        be = "is" if len(nowhere) == 1 else "are"
        sentences.append(f"{words.n_items(len(nowhere))} {be} in no grouping, and so in no {clusters.noun}: {names}.")
    if "probability" in items and subject.certainty is None:
        blocks.append(
            item_tables.certainty_table(
                clustered, clusters, words.told(fusion_sections.GIVEN) if subject.can.fuses else ""
            )
        )
        labels_given = None
        if isinstance(subject.annotations, Labels):
            least = clustered["probability"].sort_values(kind="stable").index[: item_tables.UNCERTAIN_ITEMS]
            labels_given = label_tables.labels_of(subject.annotations, least.to_numpy())
        uncertain = item_tables.uncertain_items_table(clustered, clusters, labels_given)
        blocks += [] if uncertain is None else [uncertain]
    first = Section("clusters", f"The {clusters.nouns}", [], drawn)
    return first, Section("figures", f"The {clusters.nouns} in figures", sentences, blocks)


def items_in_clusters(subject: Subject) -> pd.DataFrame:
    return subject.items[subject.items["cluster"] >= 0]


def _names_of_clusters(subject: Subject) -> tuple[list[list[str]], FoundClusters, str]:
    """Return the most common names of the clusters, the clusters, and how to read those names."""
    words = current_words()
    clusters = subject.clusters
    if clusters.is_named or not subject.groups:
        return [], clusters, ""
    reading = (
        f"Names are those that at least two {words.annotators} use for the cluster, with the number of these "
        f"{words.annotators}{subject.of_namers}{'; more below' if subject.can.fuses else ''}."
    )
    return count_group_names(subject.names, len(clusters.index), item_tables.NAMES_OF_CLUSTER), clusters, reading


def plane_figure(subject: Subject) -> Figure:
    words = current_words()
    features = subject.features
    n_features = 0 if features is None else features.shape[1]
    try:
        ax = _draw_clusters(subject, features if n_features else None)
    except InputError:  # features that the report can list but not draw
        n_features = 0
        ax = _draw_clusters(subject, None)
    how = f"The {words.items} by their annotations: close where the same {words.annotators} put them together."
    if not subject.groups:
        how = (
            f"The {words.items} along the two directions of largest variance of the coordinates that the model gives "
            "them."
        )
    noun = subject.clusters.noun
    if n_features == 1:
        how = f"The {words.items} by their feature."
    elif n_features == 2:
        how = f"The {words.items} by their two features"
        how += f", with the region in which each {noun} is the most probable." if ax.collections else "."
    elif n_features:
        how = f"The {words.items} along the two directions of largest variance of their {n_features:,} features."
    hollow = f"; {words.items} without annotations are hollow" if (subject.items["n_annotators"] == 0).any() else ""
    caption = f"{how} Each {noun} has its colour and shape{hollow}."
    drawn = features if n_features else None
    file = plane_file("plane.csv", subject.model, drawn, subject.annotations, subject.clusters)
    sheet, described = cast(MatplotlibFigure, ax.figure), f"Scatter plot. {caption}"
    return Figure.of("plane", sheet, described, caption, file, named=lambda: say_unwritten(ax))


def _draw_clusters(subject: Subject, features: pd.DataFrame | None) -> Axes:
    return draw_clusters(subject.model, features, subject.annotations, subject.clusters, ax=Sheet())
