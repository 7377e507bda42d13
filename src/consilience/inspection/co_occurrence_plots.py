"""Plots of which items were put together: a matrix ordered by cluster, and a dendrogram."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from consilience.errors import InputError
from consilience.inspection.answer import Answer
from consilience.inspection.evidence import ClusterShares, dissimilarities, fusion_of
from consilience.inspection.heat_sheet import (
    LETTER,
    MOST_NAMED,
    MOST_NUMBERED,
    ROW,
    colour_bar,
    rule,
    sheet,
    two_digits,
    write_numbers,
)
from consilience.inspection.names import counted, plot_text, width
from consilience.inspection.scatter import cluster_legend, sampled, some_of
from consilience.inspection.style import FAINT, INK, NOWHERE, SMALL, axes_of, colour, heat, marker, marker_scale, tidy

__all__ = ["plot_co_occurrence", "plot_dendrogram"]

LARGEST = 6.2  # inches of a matrix
LONGEST = 32  # letters of a name beside a matrix
LEAF = 0.19  # inches of a dendrogram's leaf


def plot_co_occurrence(model: Any, *, by_cluster: bool = False, max_items: int = 300, ax: Axes | None = None) -> Axes:
    """Draw how often each two items were put together when they were presented together, ordered by cluster.

    Frames are the clusters; within one, items that are alike stand side by side. Pairs that nobody saw together are
    sand-coloured, and hatched where cells are large.

    Parameters
    ----------
    model : fitted SubsetFusion, or a Pipeline that ends in one
    by_cluster : bool, default=False
        Draw clusters instead of items: shares over all pairs of their items.
    max_items : int, default=300
        Of more, so many are drawn, chosen at random; the title then says so. Up to 60 are named.
    ax : matplotlib Axes, optional
        By default a figure of its own, ``ax.figure``, as large as the names need.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model is no fusion of groupings.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import plot_co_occurrence
    >>> sorts = [[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]]
    >>> ax = plot_co_occurrence(SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts)))
    >>> sorted(text.get_text() for text in ax.get_yticklabels()[:2])
    ['ant', 'bee']
    """
    estimator = fusion_of(model)
    if by_cluster:
        shares = ClusterShares.of(estimator.groupings_, estimator.labels_, estimator.n_clusters_).share
        names = [str(cluster) for cluster in range(len(shares))]
        return _matrix(ax, shares, names, np.arange(len(shares)), "", "cluster")
    places = ordered_items(estimator, max_items)
    items = estimator.items_[places]
    values = estimator.co_occurrence(items.tolist()).to_numpy()
    names = [plot_text(name, LONGEST) for name in items]
    return _matrix(
        ax, values, names, estimator.labels_[places], sampled(len(places), int((estimator.labels_ >= 0).sum())), ""
    )


def _matrix(ax: Axes | None, values: np.ndarray, names: list[str], cluster: np.ndarray, title: str, label: str) -> Axes:
    """Heat map of a square matrix whose rows and columns belong to clusters, those of one side by side."""
    n, named = len(names), len(names) <= MOST_NAMED
    cell = float(np.clip(LARGEST / n, ROW - 0.01, 0.6 if label else 0.42)) if named else LARGEST / n
    missing = bool(np.isnan(values).any())
    bar = None
    if ax is None:
        margin = LETTER * max(max(map(width, names)), 7) + 0.25 if named else 0.75
        margin += 0.2 if label else 0.0
        right = 1.35 if missing else 0.95
        ax, bar = sheet(margin, cell * n, cell * n, bottom=max(margin, 0.6), top=0.55, right=right)
    image = ax.imshow(values, cmap=heat(), vmin=0, vmax=1, aspect="auto", interpolation="none")
    never: dict[str, Any] = {"facecolor": NOWHERE, "edgecolor": FAINT, "hatch": "////" if named else ""}
    ax.patch.set(**{**never, "linewidth": 0})
    ax.set_xticks([])
    ax.set_yticks([])
    if named:
        upright: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
        ax.set_xticks(np.arange(n), names, fontsize=SMALL, **({} if label else upright))
        ax.set_yticks(np.arange(n), names, fontsize=SMALL)
        rule(ax, np.arange(1, n) - 0.5, np.arange(1, n) - 0.5, width=0.6)
    else:
        ax.set_xlabel("items in the order of their clusters", fontsize=9, color=INK)
        rule(ax, np.empty(0), np.empty(0))
    if label:
        ax.set_xlabel(label, fontsize=9, color=INK)
        ax.set_ylabel(label, fontsize=9, color=INK)
    else:
        _frames(ax, cluster, cell)
    if n <= MOST_NUMBERED:
        write_numbers(ax, values, two_digits)
    ax.set_title(title, loc="left", fontsize=9, color=INK, pad=18)
    colour_bar(image, ax, bar, "share of presentations together")
    if missing:
        (bar or ax).legend(
            handles=[Patch(**never, linewidth=0, label="never shown\ntogether")],
            loc="upper left",
            bbox_to_anchor=(-0.15, -0.06) if bar is not None else (0.0, -0.02),
            frameon=False,
            fontsize=SMALL,
            handlelength=1.2,
            handleheight=1.2,
            handletextpad=0.4,
            borderpad=0,
        )
    return ax


def _frames(ax: Axes, cluster: Int[np.ndarray, " rows"], cell: float) -> None:
    """Frame around the items of each cluster, with its number above where there is room."""
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    for start, size in zip(starts.tolist(), np.diff(np.append(starts, len(cluster))).tolist(), strict=True):
        frame = Rectangle((start - 0.5, start - 0.5), size, size, fill=False, ec=INK, lw=1.2, clip_on=False, zorder=4)
        ax.add_patch(frame)
        text = str(cluster[start])
        if size * cell > LETTER * len(text) + 0.03:
            ax.annotate(
                text,
                (start + (size - 1) / 2, -0.5),
                (0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=SMALL,
                fontweight="bold",
                annotation_clip=False,
            )
    ax.annotate(
        "cluster",
        (-0.5, -0.5),
        (-4, 3),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=SMALL,
        annotation_clip=False,
    )


def ordered_items(estimator: Any, most: int) -> Int[np.ndarray, " shown"]:
    """Places of at most so many items in the order in which a matrix of them is drawn."""
    places = some_of(np.flatnonzero(estimator.labels_ >= 0), most)
    return places[_order(dissimilarities(estimator, places), estimator.labels_[places])]


def _order(distance: Float[np.ndarray, "items items"], cluster: Int[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
    """Order by cluster, and within one as the leaves of the tree of its items."""
    order = []
    for number in np.unique(cluster):
        mine = np.flatnonzero(cluster == number)
        if len(mine) > 2:
            tree = hierarchy.linkage(squareform(distance[np.ix_(mine, mine)], checks=False), "average")
            mine = mine[hierarchy.leaves_list(tree)]
        order.append(mine)
    return np.concatenate(order)


def plot_dendrogram(model: Any, *, max_items: int = 80, method: Any = "average", ax: Axes | None = None) -> Axes:
    """Draw the hierarchy of the items by how often they were put together, or that of the clusters.

    Parameters
    ----------
    model : fitted SubsetFusion, or a Pipeline that ends in one
    max_items : int, default=80
        Of more, the clusters are the leaves, and 1 - the share over all pairs of their items is their distance.
    method : str, default="average"
        As in `scipy.cluster.hierarchy.linkage`.
    ax : matplotlib Axes, optional
        By default a figure of its own, ``ax.figure``, as tall as the names need.

    Returns
    -------
    matplotlib.axes.Axes
        Branches that hold items of one cluster have its colour.

    Raises
    ------
    InputError
        The model is no fusion of groupings, or there are fewer than two leaves.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import plot_dendrogram
    >>> sorts = [[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]]
    >>> ax = plot_dendrogram(SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts)))
    >>> len(ax.get_yticklabels())
    4
    """
    estimator = fusion_of(model)
    answer = Answer.of(estimator)
    places = np.flatnonzero(estimator.labels_ >= 0)
    of_items = len(places) <= max_items
    n_leaves = len(places) if of_items else estimator.n_clusters_
    if n_leaves < 2:
        raise InputError(f"A dendrogram needs at least 2 {'items' if of_items else 'clusters'}. Got {n_leaves}.")
    if of_items:
        tree = estimator.linkage(estimator.items_[places].tolist(), method=method)
        names, cluster = [plot_text(name, 40) for name in estimator.items_[places]], estimator.labels_[places]
    else:
        shares = ClusterShares.of(estimator.groupings_, estimator.labels_, n_leaves)
        tree = hierarchy.linkage(squareform(shares.distance, checks=False), method)
        names = [f"{title} ({counted(int(size), 'item')})" for title, size in zip(answer.titles, answer.sizes)]
        cluster = np.arange(n_leaves)
    ax = axes_of(ax, (8.2, LEAF * n_leaves + 0.75))
    _draw_tree(ax, tree, names, cluster)
    if of_items:
        cluster_legend(ax, answer)
    return ax


def _draw_tree(ax: Axes, tree: np.ndarray, names: list[str], cluster: Int[np.ndarray, " leaves"]) -> None:
    n = len(names)
    owner = np.append(cluster, np.full(n - 1, -1))  # cluster of all leaves below a node, -1 if of several
    for node, (left, right) in enumerate(tree[:, :2].astype(int), start=n):
        owner[node] = owner[left] if owner[left] == owner[right] else -1
    drawn = hierarchy.dendrogram(
        tree,
        no_plot=True,
        distance_sort=True,
        link_color_func=lambda node: colour(int(owner[node])) if owner[node] >= 0 else FAINT,
    )
    for across, along, ink in zip(drawn["icoord"], drawn["dcoord"], drawn["color_list"], strict=True):
        ax.plot(along, across, color=ink, lw=1.4, solid_joinstyle="miter", zorder=2)
    places = 5 + 10 * np.arange(n)
    leaves = cast("list[int]", drawn["leaves"])
    for place, leaf in zip(places.tolist(), leaves, strict=True):
        k = int(cluster[leaf])
        style: dict[str, Any] = {"marker": marker(k), "ms": 5.5 * marker_scale(k), "mfc": colour(k), "mec": "white"}
        ax.plot([0], [place], ls="", **style, mew=0.4, clip_on=False, zorder=3)
    ax.set_yticks(places, [names[leaf] for leaf in leaves], fontsize=SMALL)
    ax.set_ylim(10 * n, 0)
    ax.set_xlim(0, max(float(tree[:, 2].max()), 1e-9) * 1.03)
    ax.set_xlabel("1 − share of presentations together", color=INK)
    tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, pad=6, labelsize=SMALL)
