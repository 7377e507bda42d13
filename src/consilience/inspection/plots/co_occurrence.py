"""Plots of which items were put together: a matrix ordered by cluster, and a dendrogram."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.names import as_text, width
from consilience.analysis.words import current_words
from consilience.errors import InputError
from consilience.inspection.plots.given import co_occurrence_of
from consilience.inspection.plots.matrix import MOST_NAMED, ROW, SHEET_LETTER, colour_bar, draw_square
from consilience.inspection.plots.scatter import cluster_legend, say_sampled, some_of
from consilience.inspection.plots.style import Look, Place, axes_of, marker, marker_scale, small, tidy
from consilience.inspection.plots.text_layout import (
    LINE,
    LONGEST,
    ROOM,
    fitting_names,
    inches,
    label_axes,
    make_room,
    name_rows,
    reach,
    room,
    set_names,
)

__all__ = ["plot_co_occurrence", "plot_dendrogram"]

LARGEST = 6.2  # inches of a matrix
LEAF, TALLEST = 0.19, 60.0  # inches of a dendrogram's leaf, and of all
BELOW_BAR = 0.5  # inches for the legend of the colour of missing shares


def plot_co_occurrence(
    model: Any,
    groupings: Any = None,
    *,
    by_cluster: bool = False,
    max_items: int = 300,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
    colorbar: bool = True,
) -> Axes:
    """Draw how often two items were put together when they were presented together, ordered by cluster.

    Frames mark the clusters, whose numbers stand above; within a cluster, similar items are next to each other. Pairs
    that nobody saw together are sand-coloured, and hatched if cells are large. Without a model, all items are in the
    order of their hierarchy.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings; or Groupings, Labels, Pairs or array
        A model whose clusters order the items, findings on one, or annotations alone.
    groupings : Groupings, Labels, Pairs or array, optional
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models do not.
    by_cluster : bool, default=False
        Whether to draw clusters instead of items: shares over all pairs of their items.
    max_items : int, default=300
        Largest number of items to draw. Of more, a random sample is drawn, and a line below the plot says so. Items
        without annotations are left out and counted there.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to explain the colour of pairs that nobody saw together.
    colorbar : bool, default=True
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model does not keep its annotations and none are given, they have other items or annotators, or there are
        no clusters to draw.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import CSPA
    >>> from consilience.inspection import plot_co_occurrence
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]])
    >>> ax = plot_co_occurrence(CSPA(random_state=0).fit(sorts), sorts)
    >>> sorted(text.get_text() for text in ax.get_yticklabels()[:2])
    ['ant', 'bee']

    The annotations, before any model:

    >>> ax = plot_co_occurrence(sorts)
    """
    words = current_words()
    co_occurrence = co_occurrence_of(model, groupings, "plot_co_occurrence")
    clusters = co_occurrence.clusters
    shown: dict[str, Any] = {"labels": labels, "legend": legend, "colorbar": colorbar}
    share_of = "share of presentations together"
    if co_occurrence.are_shares_of_people:
        share_of = f"share of {words.annotators} who put both together"
    if by_cluster:
        if clusters is None:
            raise InputError(
                "plot_co_occurrence with by_cluster=True needs a fitted model. Got annotations alone; give a model, or "
                "leave out by_cluster."
            )
        shares = co_occurrence.cluster_shares().share
        return _matrix(ax, shares, clusters.shown, None, None, (share_of, clusters.noun, ""), **shown)
    places = ordered_items(co_occurrence, max_items)
    caption = "\n".join(filter(None, [say_sampled(len(places), len(co_occurrence.places)), co_occurrence.left_out]))
    names = list(co_occurrence.items[places])
    below = f"{words.items} by {'hierarchy' if clusters is None else clusters.noun}" if len(places) > MOST_NAMED else ""
    return _matrix(
        ax,
        co_occurrence.shares(places),
        names,
        co_occurrence.codes[places],
        clusters,
        (share_of, below, caption),
        **shown,
    )


def _matrix(
    ax: Place | None,
    values: np.ndarray,
    names: list[Any],
    cluster: np.ndarray | None,
    clusters: FoundClusters | None,
    texts: tuple[str, str, str],
    *,
    labels: bool,
    legend: bool,
    colorbar: bool,
) -> Axes:
    """Draw a heat map of a square matrix whose rows and columns are clusters, or items ordered by cluster.

    texts : beside the colour bar, along both axes, and below them.
    """
    share_of, below, caption = texts
    n, missing = len(names), bool(np.isnan(values).any())
    ax = axes_of(ax, _size(names, cluster is not None, missing=missing))
    look = Look.of(ax)
    never = {"facecolor": look.no_data, "edgecolor": look.faint, "hatch": "////" if n <= MOST_NAMED else ""}
    image = draw_square(ax, values, names, {**never, "linewidth": 0}, labels=labels)
    if cluster is not None and clusters is not None:
        _frames(ax, cluster, clusters, labels=labels)
    tall = room(ax)[1]
    low = tall < 3 * BELOW_BAR
    bar = None
    if colorbar:
        label = "share together" if low else share_of
        bar = colour_bar(image, ax, label, below=BELOW_BAR * (missing and legend and not low), tall=tall)
    if missing and legend:
        _explain_missing(ax, bar, never, low=low)
    label_axes(ax, below, None if cluster is not None else below, labels=labels, caption=caption)
    return ax


def _size(names: list[Any], of_items: bool, *, missing: bool) -> tuple[float, float]:
    """Return the size in inches of a figure with the matrix alone, with everything around it."""
    n, longest = len(names), max(width(as_text(name)) for name in names)
    cell = float(np.clip(LARGEST / n, ROW - 0.01, 0.42 if of_items else 0.6)) if n <= MOST_NAMED else LARGEST / n
    side, margin = max(cell * n, 1.6), SHEET_LETTER * min(longest, LONGEST) + 0.3
    return side + margin + (1.35 if missing else 1.1), side + margin + 0.5


def _explain_missing(ax: Axes, bar: Axes | None, never: dict[str, Any], *, low: bool) -> None:
    """Explain the colour of pairs that nobody saw together.

    The legend is below the colour bar or in its place; if the axes are low, in the corner below the names of rows.
    """
    where = bar if bar is not None and not low else ax
    corner = ("upper left", (1.01, 1.0)) if bar is None else ("upper right", (0.0, -0.02))
    if bar is None:
        make_room(ax, right=1.2)
    loc, anchor = ("upper left", (-0.15, -0.06)) if where is bar else corner
    where.legend(
        handles=[Patch(**never, linewidth=0, label="never shown\ntogether")],
        loc=cast(Any, loc),
        bbox_to_anchor=anchor,
        frameon=False,
        fontsize=small(),
        labelcolor=Look.of(ax.figure).ink,
        handlelength=1.2,
        handleheight=1.2,
        handletextpad=0.4,
        borderpad=0,
    )


def _frames(ax: Axes, cluster: Int[np.ndarray, " rows"], clusters: FoundClusters, *, labels: bool) -> None:
    """Draw a frame around the items of each cluster, with its name above if there is room."""
    look = Look.of(ax.figure)
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    sizes = np.diff(np.append(starts, len(cluster)))
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        corner = (start - 0.5, start - 0.5)
        ax.add_patch(Rectangle(corner, size, size, fill=False, ec=look.ink, lw=1.2, clip_on=False, zorder=4))
    if not labels:
        return
    make_room(ax, top=2 * LINE * small() / 72)
    above = ax.secondary_xaxis("top")
    names = [clusters.shown[code] for code in cluster[starts].tolist()]
    texts = fitting_names(names, 0.5 * inches(ax)[0] / max(len(names), 1) + 0.2, LONGEST)
    set_names(above.xaxis, ax, starts + (sizes - 1) / 2, texts, 72 * (reach(texts) + 0.04))
    above.set_xlabel(clusters.noun, fontsize=small(), color=look.ink)
    above.tick_params(colors=look.ink, pad=2)
    above.spines[:].set_visible(False)


def ordered_items(co_occurrence: CoOccurrence, most: int) -> Int[np.ndarray, " shown"]:
    """Return the places of at most `most` items in the order in which their matrix is drawn."""
    places = some_of(co_occurrence.places, most)
    return places[_order(co_occurrence.dissimilarities(places), co_occurrence.codes[places])]


def _order(distance: Float[np.ndarray, "items items"], cluster: Int[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
    """Order by cluster, and within a cluster as the leaves of the tree of its items."""
    order = []
    for number in np.unique(cluster):
        mine = np.flatnonzero(cluster == number)
        if len(mine) > 2:
            tree = hierarchy.linkage(squareform(distance[np.ix_(mine, mine)], checks=False), "average")
            mine = mine[hierarchy.leaves_list(tree)]
        order.append(mine)
    return np.concatenate(order)


def plot_dendrogram(
    model: Any,
    groupings: Any = None,
    *,
    max_items: int = 80,
    method: Any = "average",
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the hierarchy of the items, or of the clusters, by how often they were put together.

    The hierarchy is computed from the annotations alone, and the marks at its leaves are the clusters of the model, so
    the two may disagree. A branch has the colour of a cluster if all its items are in that cluster; branches of several
    clusters are grey. A line below the plot counts the items that lie outside the largest branch of their cluster.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings; or Groupings, Labels, Pairs or array
        A model whose clusters colour the branches, findings on one, or annotations alone.
    groupings : Groupings, Labels, Pairs or array, optional
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models do not.
    max_items : int, default=80
        Largest number of items to draw. Of more, the leaves are the clusters, and their distance is 1 - the share over
        all pairs of their items. Without a model, a random sample of the items is drawn. A line below the plot says so,
        and counts the items without annotations.
    method : str, default="average"
        As in `scipy.cluster.hierarchy.linkage`.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        Branches whose items are all in one cluster have its colour; others are grey.

    Raises
    ------
    InputError
        The model does not keep its annotations and none are given, they have other items or annotators, or there are
        fewer than two leaves.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import CSPA
    >>> from consilience.inspection import plot_dendrogram
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]])
    >>> ax = plot_dendrogram(CSPA(random_state=0).fit(sorts), sorts)
    >>> len(ax.get_yticklabels())
    4
    """
    words = current_words()
    co_occurrence = co_occurrence_of(model, groupings, "plot_dendrogram")
    clusters, places = co_occurrence.clusters, co_occurrence.places
    of_items = len(places) <= max_items or clusters is None
    if of_items:
        shown = some_of(places, max_items)
        _require_leaves(len(shown), "items")
        distance, names = co_occurrence.dissimilarities(shown), list(co_occurrence.items[shown])
        cluster = None if clusters is None else co_occurrence.codes[shown]
        n_not_shown = say_sampled(len(shown), len(places))
    else:
        clusters = cast(FoundClusters, clusters)
        _require_leaves(len(clusters.names), clusters.nouns)
        distance = co_occurrence.cluster_shares().distance
        sizes = [words.n_items(int(size)) for size in clusters.sizes]
        names = [f"{title}: {size}" for title, size in zip(clusters.titles, sizes, strict=True)]
        cluster, n_not_shown = np.arange(len(names)), ""
    ax = axes_of(ax, (8.2, min(LEAF * len(names), TALLEST) + 0.9))
    tree = hierarchy.linkage(squareform(distance, checks=False), method)
    owner = None if cluster is None else _owners(tree, cluster)
    if legend and of_items and clusters is not None and owner is not None:
        cluster_legend(ax, clusters, mixed=f"several {clusters.nouns}" if (owner < 0).any() else "")
    _draw_tree(ax, tree, names, owner, labels=labels)
    caption = "\n".join(filter(None, [n_not_shown, co_occurrence.left_out]))
    across = "1 − share of presentations together"
    if co_occurrence.are_shares_of_people:
        across = f"share of {words.annotators} who put both apart"
    label_axes(ax, across, None, labels=labels, caption=caption)
    return ax


def _require_leaves(n_leaves: int, what: str) -> None:
    if n_leaves < 2:
        raise InputError(f"A dendrogram needs at least 2 {what}. Got {n_leaves}.")


def _owners(tree: np.ndarray, cluster: Int[np.ndarray, " leaves"]) -> Int[np.ndarray, " nodes"]:
    """Return the cluster of all leaves below each node of a tree, -1 if there are several."""
    owner = np.append(cluster, np.full(len(tree), -1))
    for node, (left, right) in enumerate(tree[:, :2].astype(int), start=len(cluster)):
        owner[node] = owner[left] if owner[left] == owner[right] else -1
    return owner


def _draw_tree(
    ax: Axes, tree: np.ndarray, names: list[Any], owner: Int[np.ndarray, " nodes"] | None, *, labels: bool
) -> None:
    """Draw branches from right to left, with the leaves at the left, named and marked by their cluster, if any."""
    n, look = len(names), Look.of(ax)
    owners = [-1] * (2 * n - 1) if owner is None else owner.tolist()
    drawn = hierarchy.dendrogram(
        tree,
        no_plot=True,
        distance_sort=True,
        link_color_func=lambda node: look.colour(owners[node]) if owners[node] >= 0 else look.faint,
    )
    apart = inches(ax)[1] * 72 / n  # points from leaf to leaf
    for across, along, ink in zip(drawn["icoord"], drawn["dcoord"], drawn["color_list"], strict=True):
        ax.plot(along, across, color=ink, lw=float(np.clip(0.3 * apart, 0.3, 1.4)), solid_joinstyle="miter", zorder=2)
    places = 5 + 10 * np.arange(n)
    leaves = cast("list[int]", drawn["leaves"])
    size = float(np.clip(0.6 * apart, 1.5, 5.5))
    for place, leaf in zip([] if owner is None else places.tolist(), leaves, strict=False):
        k = owners[leaf]
        style: dict[str, Any] = {"marker": marker(k), "ms": size * marker_scale(k), "mfc": look.colour(k), "mew": 0.4}
        ax.plot([0], [place], ls="", **style, mec=look.paper, clip_on=False, zorder=3)
    ax.set_ylim(10 * n, 0)
    ax.set_xlim(0, max(float(tree[:, 2].max()), 1e-9) * 1.03)  # the distance is 0 if all were always together
    texts = fitting_names([names[leaf] for leaf in leaves], ROOM * inches(ax)[0], 40) if labels else [""] * n
    make_room(ax, left=reach(texts) - 0.3)
    name_rows(ax, places, texts)
    tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", pad=6)
