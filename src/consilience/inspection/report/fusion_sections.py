"""Sections of a report on a fusion of groupings: how items relate, how many clusters there are, who is an outlier."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.cuts import ABOUT_SILHOUETTE, Tree
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.fitted import groupings_of
from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.panels import N_SIMULATIONS
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Pairs
from consilience.inspection.plots.co_occurrence import ordered_items, plot_co_occurrence, plot_dendrogram
from consilience.inspection.plots.fusion import plot_item_map, plot_silhouette_curve, plot_stability
from consilience.inspection.plots.matrix import MOST_NAMED
from consilience.inspection.plots.point_labels import say_unwritten
from consilience.inspection.plots.scatter import some_of
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import best_cuts, fusion_tables
from consilience.inspection.report.axis_ends import say_ends
from consilience.inspection.report.certainty_sections import about_ellipses, leave_singly
from consilience.inspection.report.explorer import EXPLORED, MOST, Explorer
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.map_data import map_file, n_axes_of, say_hardly_shown
from consilience.inspection.report.participants import odd_in_short
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Column, Download, ReportTable, download, number, percent, row

READABLE_CURVE = 340  # CSS pixels that a curve needs
SHORTEST = 3  # numbers of clusters that are worth a curve
GIVEN = (
    "the groupings and the other items' clusters, so that many groupings of an item make its cluster all but certain"
)
READABLE = 720  # CSS pixels that names of items need
MOST_ON_MAP = 1500  # items that a map shows
MOST_LEAVES = 80  # items that a dendrogram shows
STRESS_OF_STUDIES = 0.17, 0.34  # Rosas & Kane 2012


def in_short(subject: Subject) -> list[str]:
    """Say who stands out, and what the groupings leave open."""
    return [*odd_in_short(subject), *subject.told(subject.estimator.notes_)]


def names_section(subject: Subject) -> Section | None:
    """Return the section on what people call the clusters; None if no name of a group is used by several people."""
    table = fusion_tables.names_table(subject.names, subject.clusters, subject.of_namers)
    return None if table is None else Section("names", "What people call the clusters", [], [table])


def evidence_section(subject: Subject) -> Section | None:
    """Return the section on how items relate: map, matrix and tree; None if no item of a cluster is in a grouping.

    They can be explored if the items are neither too few nor too many.
    """
    co_occurrence = subject.co_occurrence
    if co_occurrence is None:
        return None
    n_items, figures = len(co_occurrence.places), evidence_figures(subject, co_occurrence)
    explorer = Explorer.of(
        co_occurrence,
        subject.items if subject.certainty is None else subject.items.assign(leaves=leave_singly(subject)),
        subject.album,
        subject.certainty,
        subject.group_words,
        (_about_map(subject), about_ellipses(subject)),
        None if isinstance(subject.as_written, Pairs) else groupings_of(subject.as_written),
        subject.standard_names if isinstance(subject.annotations, Groupings) else None,
        outlined=subject.is_concept_map,
    )
    if explorer is None:
        return Section("evidence", EXPLORED, _not_explored(n_items), figures)
    of_items = {"map", "map-1-3", "co-occurrence", *(["dendrogram"] if n_items <= MOST_LEAVES else [])}
    stills = [replace(figure, still=figure.key in of_items) for figure in figures]
    return Section("evidence", EXPLORED, [], [explorer, *stills, explorer.table])


def axes_section(subject: Subject) -> Section | None:
    """Return the section on the test of the axes of the map; None if they were not tested."""
    table = axes_table(subject)
    return None if table is None else Section("axes", "The axes of the map", [], [table])


def evidence_figures(subject: Subject, co_occurrence: CoOccurrence) -> list[Figure]:
    """Draw map, matrix and tree, those for which there are items enough."""
    n_items, n_clusters = len(co_occurrence.places), len(subject.clusters.names)
    drawn_by_features = subject.features is not None  # else the plane of the clusters is drawn from the annotations
    figures = _maps(subject, co_occurrence, n_items) if subject.can.fuses or drawn_by_features else []
    figures.append(_co_occurrence(subject, co_occurrence, n_items))
    if n_items > MOST_NAMED and n_clusters > 1:
        figures.append(_of_clusters(subject, co_occurrence))
    if (n_items if n_items <= MOST_LEAVES else n_clusters) > 1:
        figures.append(tree_figure(subject, co_occurrence, n_items))
    return figures


def _not_explored(n_items: int) -> list[str]:
    words = current_words()
    if n_items <= MOST:
        return []
    return [
        f"With more than {MOST} {words.items}, the figures are pictures, some of a random sample, and cannot be "
        "searched or zoomed."
    ]


def number_section(subject: Subject) -> Section:
    """Return the section on how the number of clusters was found, and how stable they are if that is known."""
    estimator = subject.estimator
    curve, number_used = estimator.n_clusters_curve_, quantify(int(estimator.n_clusters_), "cluster")
    blocks, sentences = [], []
    if estimator.n_clusters_ > 1:
        plain = np.nan if subject.co_occurrence is None else subject.co_occurrence.silhouette()
        value, which = (plain, "textbook's") if np.isfinite(plain) else (estimator.silhouette_, "smoothed")
        about = f"The {which} silhouette of the clusters is {number(value)}"
        sentences.append(f"{about} (1: clusters that are perfectly clear, 0: none).")
    if len(curve) >= SHORTEST:
        caption = (
            "The silhouette of the model's clusters for each number of them, before their last refinement; the ring "
            f"marks the number in use, {number_used}. Cuts of the tree have other values. {ABOUT_SILHOUETTE}"
        )
        file = download("silhouette.csv", curve.round(4), "n_clusters")
        ax = plot_silhouette_curve(estimator, ax=Sheet())
        blocks.append(_figure("silhouette", ax, "Line plot. " + caption, caption, file, readable=READABLE_CURVE))
    elif len(curve) > 1:
        numbers, values = join_names(list(map(str, curve.index))), join_names(list(map(number, curve["silhouette"])))
        sentences.append(f"Only {numbers} clusters were considered, with silhouettes of {values}.")
    else:
        found = isinstance(estimator.n_clusters, str)
        why = "the groupings leave no doubt about it" if found else "the number was given"
        sentences.append(f"{number_used.capitalize()}: no other number was considered, since {why}.")
    is_chosen = len(curve) > 1 and isinstance(estimator.n_clusters, str)
    if is_chosen and curve["silhouette"].idxmax() != estimator.n_clusters_:
        clearest = int(curve["silhouette"].idxmax())
        told = "" if subject.cuts is None else f": “{best_cuts.HEADING}” says which numbers do nearly as well"
        sentences.append(
            f"The model's {clearest:,} clusters have a larger silhouette than its {estimator.n_clusters_:,} "
            f"({number(curve['silhouette'].max())}; {number(curve['silhouette'][estimator.n_clusters_])}), but agree "
            f"less with {current_words().annotators}{told}."
        )
    heading = "How many clusters"
    if subject.stability is not None:
        blocks.append(stability_figure(subject.stability))
        heading += ", and how stable they are"
    return Section("number", heading, sentences, blocks)


def stability_figure(stability: pd.DataFrame) -> Figure:
    """Draw the curve of stability; see `plot_stability`."""
    caption = (
        "How far the clusters from a growing number of groupings agree, by normalised mutual information (1: the same "
        "clusters). Once the curve levels off near 1, more groupings would change little."
    )
    ax = plot_stability(stability, ax=Sheet())
    file = download("stability.csv", stability.round(4))
    return _figure("stability", ax, "Line plot. " + caption, caption, file, readable=READABLE_CURVE)


def _maps(subject: Subject, co_occurrence: CoOccurrence, n_items: int) -> list[Figure]:
    """Return the map, and that of the first and the third axis if the items differ there."""
    maps = [map_figure(subject, co_occurrence, n_items)]
    if 3 < n_items <= MOST and n_axes_of(co_occurrence, co_occurrence.places) > 2:
        ax = plot_item_map(subject, axes=(1, 3), ax=Sheet())
        caption = f"The same map from another side: its first and third axis. {_about_third_axis(subject)}"
        caption += _say_hollow(co_occurrence, co_occurrence.places, (1, 3))
        sheet, described = cast(MatplotlibFigure, ax.figure), f"Scatter plot. {caption}"
        drawn = Figure.of("map-1-3", sheet, described, caption, readable=READABLE, named=lambda: say_unwritten(ax))
        maps.append(drawn)
    return maps


def _about_third_axis(subject: Subject) -> str:
    """Say what places along the third axis mean."""
    words, found = current_words(), subject.axes
    if found is None or len(found) < 3 or found["real"].iloc[2]:
        return f"{words.Items} that are close on both maps are close on all three axes."
    return (
        f"The third axis is no larger than that of random sorts: that two {words.items} are apart here, but not along "
        "the other axes, may be chance."
    )


def map_figure(subject: Subject, co_occurrence: CoOccurrence, n_items: int) -> Figure:
    """Draw the map of the items on its first two axes."""
    words = current_words()
    ax = plot_item_map(subject, max_items=MOST_ON_MAP, outlines=subject.is_concept_map, ax=Sheet())
    scaled = ax.get_xlabel().startswith("dimension")
    caption = (
        f"The {words.items} in the plane: two {words.items} are the closer, the more often {words.annotators} who saw "
        "both put them together (classical scaling; each axis gives its share of the variance)."
        if scaled
        else f"The {words.items} along the two directions of largest variance of the coordinates in which the clusters "
        "were found. Most pairs were never shown together; their closeness comes from chains of groupings."
    )
    if scaled and (about := _about_map(subject)):
        caption += f" {about}"
    outlined = ", and its outline, with its name in bold where there is room" if subject.is_concept_map else ""
    caption += f" Each cluster has its colour and shape{outlined}. Point at {words.an_item} to read its name."
    drawn = some_of(co_occurrence.places, MOST_ON_MAP)
    caption += _say_hollow(co_occurrence, drawn, (1, 2))
    file = map_file(co_occurrence, drawn, subject.clusters, subject.certainty)
    sheet = cast(MatplotlibFigure, ax.figure)
    described = f"Scatter plot. {caption}"
    return Figure.of("map", sheet, described, caption, file, named=lambda: say_unwritten(ax))


def _say_hollow(co_occurrence: CoOccurrence, drawn: np.ndarray, axes: tuple[int, int]) -> str:
    plane = co_occurrence.map(drawn, max(axes)).plane(axes)
    return say_hardly_shown(co_occurrence.items[drawn], plane.hardly_shown)


def tree_frame(co_occurrence: CoOccurrence) -> pd.DataFrame:
    """Return the merges of the tree of the items, from the lowest up, with the items below each."""
    places = co_occurrence.places
    tree = Tree.of(co_occurrence.dissimilarities(places))
    n, names = tree.n_leaves, [name_text(name) for name in co_occurrence.items[places]]
    branches = [*names, *(f"merge {merge}" for merge in range(1, n))]
    leaves = [names[item] for item in tree.order]
    nodes = np.arange(n, 2 * n - 1)
    return pd.DataFrame(
        {
            "merge": nodes - n + 1,
            "height": tree.height[nodes].round(5),
            "n_items": tree.size[nodes],
            "branch_1": [branches[node] for node in tree.children[:, 0]],
            "branch_2": [branches[node] for node in tree.children[:, 1]],
            "members": [
                "; ".join(leaves[first:end])
                for first, end in zip(tree.start[nodes], tree.start[nodes] + tree.size[nodes], strict=True)
            ],
        }
    )


def _about_map(subject: Subject) -> str:
    """Say how well the plane shows the sorts, and which axes show more than random sorts would."""
    return " ".join(filter(None, [_about_plane(subject), about_axes(subject)]))


def _about_plane(subject: Subject) -> str:
    """Say how well the first two axes show the sorts; empty for few or many items, and where they are not scaled."""
    co_occurrence = subject.co_occurrence
    if co_occurrence is None or not 3 < len(co_occurrence.places) <= MOST:
        return ""
    places = co_occurrence.places
    first, second = co_occurrence.plane_shares(places)
    if not np.isfinite(first):
        return ""
    shown = (
        f"The first two axes of this classical scaling show {first:.1%} and {second:.1%} of the variance, together "
        f"{first + second:.1%}."
    )
    fit, kept = number(co_occurrence.stress(places)), "0: the farther apart two are, the more seldom they were together"
    if not subject.is_concept_map:
        return f"{shown} Kruskal's stress-1 of their plane is {fit} ({kept})."
    least = co_occurrence.least_stress(places)
    fits = "worse than" if round(least, 2) > STRESS_OF_STUDIES[1] else "no worse than"
    return (
        f"{shown} Kruskal's stress-1 ({kept}) of this plane is {fit}; scaled to make it small, as 69 published concept "
        f"maps were with {' to '.join(map(number, STRESS_OF_STUDIES))} (Rosas & Kane 2012), it would be "
        f"{number(least)}: {fits} usual, though ties can be counted in several ways, so that it does not rank this map "
        "among them."
    )


def about_axes(subject: Subject) -> str:
    """Say what the map is, and which of its axes show more than random sorts would; empty if that was not tested."""
    found, words = subject.axes, current_words()
    if found is None:
        return ""
    kind = f"All {words.annotators} count alike here."
    if words.are_sensory:
        kind = (
            f"All {words.annotators} count alike here: the map is a classical scaling, and not the compromise of "
            "DISTATIS, which weighs them, and whose dimensions are tested on their own."
        )
    n, shown = int(found["real"].sum()), min(3, len(found))
    if n == 0:
        return f"{kind} None of its axes shows more than random sorts would: do not read anything into places on it."
    first = "the first axis shows" if n == 1 else f"the first {n} axes show"
    more = " or more" if n == len(found) else ""
    text = f"Compared with random sorts into groups of the same sizes, {first}{more} more than chance"
    below = [f"axis {axis}" for axis in range(n + 1, shown + 1)]
    rest = (
        f"; {join_names(below)} {'does' if len(below) == 1 else 'do'} not: places along it may be chance"
        if below
        else ""
    )
    return f"{kind} {text}{rest}. {_say_ends_of_map(subject, n)}".rstrip()


def _say_ends_of_map(subject: Subject, n_axes: int) -> str:
    """Say what the axes that count oppose, to readers who interpret axes."""
    together = subject.co_occurrence
    if together is None or not current_words().are_sensory:
        return ""
    found = together.map(together.places, n_axes)
    return say_ends(
        "Axis", together.items[together.places], found.points, cast(np.ndarray, found.cos2), subject.group_words
    )


def axes_table(subject: Subject) -> ReportTable | None:
    """Return the table of the axes with their test."""
    found = subject.axes
    if found is None:
        return None
    rows = [
        row(f"{axis}", percent(share), number(times), number(p, 3), "yes" if real else "no")
        for axis, share, times, p, real in found.itertuples(name=None)
    ]
    return ReportTable(
        "axes",
        "The axes of the map, compared with random sorts",
        [
            Column("Axis"),
            Column("Share of the variance"),
            Column("Times chance"),
            Column("p"),
            Column("Counts", "line"),
        ],
        rows,
        reading=(
            "Random sorts keep the sizes of everybody's groups. Times chance: the variance along the axis, as a "
            "multiple of the mean of random sorts. p: the share of random sorts in which it is as large, the sorts "
            f"given counted as one of them, so that it is never below {1 / (N_SIMULATIONS + 1):g}. An axis counts if p "
            "is at most 0.05 for it and for all before it. It need not be a property: one property often bends into "
            "two axes, a horseshoe."
        ),
        download=download("axes.csv", found.round(4), "axis"),
    )


def _co_occurrence(subject: Subject, co_occurrence: CoOccurrence, n_items: int) -> Figure:
    words = current_words()
    ax = plot_co_occurrence(subject, ax=Sheet())
    n_drawn = len(ax.images[0].get_array())  # type: ignore[arg-type]
    caption = (
        f"How often two {words.items} were put together, as a share of the times they were shown together: the "
        "stronger the colour, the more often. Frames mark the clusters."
    )
    if n_drawn < n_items:
        caption += f" Only {n_drawn:,} of {n_items:,} {words.items} are drawn, chosen at random."
    file = None
    if n_drawn == n_items:
        order = ordered_items(co_occurrence, n_items)
        names = co_occurrence.items[order]
        file = download("co-occurrence.csv", pd.DataFrame(co_occurrence.shares(order), names, names).round(4), "item")
    return _figure("co-occurrence", ax, f"Heat map of {n_drawn:,} {words.items}. {caption}", caption, file)


def _of_clusters(subject: Subject, co_occurrence: CoOccurrence) -> Figure:
    words = current_words()
    ax = plot_co_occurrence(subject, by_cluster=True, ax=Sheet())
    caption = (
        f"How often {words.items} of two clusters were put together, or of one cluster on the diagonal: the share over "
        "all pairs that were shown together."
    )
    names = subject.clusters.names
    shares = pd.DataFrame(co_occurrence.cluster_shares().share, names, names).round(4)
    file = small(download("cluster-shares.csv", shares, subject.clusters.noun))
    return _figure("cluster-shares", ax, f"Heat map of {len(names)} clusters. {caption}", caption, file)


def tree_figure(subject: Subject, co_occurrence: CoOccurrence, n_items: int) -> Figure:
    """Draw the tree of the items, or of the clusters of many."""
    words = current_words()
    ax = plot_dendrogram(subject, max_items=MOST_LEAVES, ax=Sheet())
    of_items = n_items <= MOST_LEAVES
    what = words.items if of_items else "clusters"
    file, names = None, subject.clusters.names
    if not of_items:
        distances = pd.DataFrame(co_occurrence.cluster_shares().distance, names, names).round(4)
        file = small(download("cluster-distances.csv", distances, subject.clusters.noun))
    caption = (
        f"The hierarchy of the {what} (average linkage): {what} whose branches meet far to the left were nearly always "
        "put together."
    )
    if of_items:
        file = small(download("tree.csv", tree_frame(co_occurrence)))
        caption += (
            f" Coloured branches hold {words.items} of one cluster, grey ones of several. The clusters were not found "
            f"from this tree, so it may cut across them: the marks show each {words.item}'s cluster, even in a branch "
            "of another."
        )
        caption += " ".join(["", *([] if subject.cuts is None else best_cuts.compare_cut(*subject.cuts))])
    return _figure("dendrogram", ax, f"Dendrogram of the {what}. {caption}", caption, file)


def _figure(
    key: str, ax: Axes, description: str, caption: str, file: Download | None = None, *, readable: int = READABLE
) -> Figure:
    return Figure.of(key, cast(MatplotlibFigure, ax.figure), description, caption, file, readable=readable)
