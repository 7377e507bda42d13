"""Plots of a fusion of groupings: the map of its items, the number of clusters, and their stability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon
from scipy.spatial import ConvexHull, QhullError

from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.fitted import estimator_with
from consilience.analysis.names import quantify
from consilience.analysis.projection import checked_axes
from consilience.errors import InputError
from consilience.inspection.plots.curves import draw_curve, finish_curve, spaced_ticks, whole_numbers
from consilience.inspection.plots.given import co_occurrence_of
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import NAMED_ITEMS, draw_items, say_hollow, say_sampled, some_of
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import label_axes

__all__ = ["plot_item_map", "plot_silhouette_curve", "plot_stability"]

MOST_ITEMS = 1500  # on a map
STABILITY = ["n_groupings", "stability"]


def plot_item_map(
    model: Any,
    groupings: Any = None,
    *,
    axes: tuple[int, int] = (1, 2),
    max_items: int = MOST_ITEMS,
    outlines: bool = False,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the items in the plane, close if they were put together, with a colour and a shape for each cluster.

    If at least half of the pairs of items were presented, the plane is the classical scaling of 1 - the share of
    presentations in which a pair was put together; the axes give each dimension's share of the variance. If fewer were,
    it shows the principal components of coordinates of the items that come from chains of groupings. Up to 60 items are
    named, at the end of a line if there is no room next to them.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings; or Groupings, Labels, Pairs or array
        A model whose clusters colour the items, findings on one, or annotations alone.
    groupings : Groupings, Labels, Pairs or array, optional
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models do not.
    axes : (int, int), default=(1, 2)
        The axes of the map to draw, numbered from 1: with (1, 3), the third instead of the second.
    max_items : int, default=1500
        Largest number of items to draw. Of more, a random sample is drawn, and a line below the plot says so. Items
        without annotations are left out and counted there.
    outlines : bool, default=False
        Whether to draw the least convex outline around the items of each cluster, as on a cluster map, with the name
        of the cluster at it where there is room.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model does not keep its annotations and none are given, they have other items or annotators, or `axes` are
        not two different numbers from 1 to 9.

    References
    ----------
    Torgerson (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import CSPA
    >>> from consilience.inspection import plot_item_map
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]])
    >>> ax = plot_item_map(CSPA(random_state=0).fit(sorts), sorts)
    >>> [len(line.get_xdata()) for line in ax.lines]
    [2, 2]
    """
    drawn = checked_axes(axes, "plot_item_map")
    co_occurrence = co_occurrence_of(model, groupings, "plot_item_map")
    return draw_named_map(
        co_occurrence, drawn, ax, max_items=max_items, outlines=outlines, labels=labels, legend=legend
    )


def outline_clusters(
    ax: Axes, points: Float[np.ndarray, "shown 2"], codes: Int[np.ndarray, " shown"]
) -> dict[int, Float[np.ndarray, "corners 2"]]:
    """Draw the convex hull of the points of each cluster, a line for two or points on a line; return its corners."""
    look, found = Look.of(ax), {}
    for code in np.unique(codes[codes >= 0]).tolist():
        mine = points[codes == code]
        try:
            corners = mine[ConvexHull(mine).vertices] if len(mine) > 2 else mine
        except QhullError:  # all on a line
            along = np.argsort(mine @ (np.ptp(mine, axis=0) * np.sign(np.diff(mine[[0, -1]], axis=0))[0]))
            corners = mine[along[[0, -1]]]
        style: dict[str, Any] = {"facecolor": (*to_rgb(look.colour(code)), 0.1), "edgecolor": look.colour(code)}
        ax.add_patch(Polygon(corners, closed=True, lw=1.0, joinstyle="round", zorder=1.5, **style))
        found[code] = corners
    return found


def draw_named_map(
    co_occurrence: CoOccurrence,
    drawn: tuple[int, int],
    ax: Place | None,
    *,
    max_items: int = MOST_ITEMS,
    outlines: bool = False,
    labels: bool,
    legend: bool,
) -> Axes:
    """Draw the map of the items with their names; see `plot_item_map`."""
    ax, shown, points = draw_map(co_occurrence, drawn, max_items, ax, labels=labels, legend=legend)
    clusters = co_occurrence.clusters
    around = []
    if outlines and clusters is not None:
        corners = outline_clusters(ax, points, co_occurrence.codes[shown])
        around = [(clusters.shown[code], corners[code]) for code in corners]
    if labels:
        named = shown if len(shown) <= NAMED_ITEMS else shown[:0]
        name_points(ax, points[: len(named)], co_occurrence.items[named], leaders=True, outlines=around)
    return ax


def draw_map(
    co_occurrence: CoOccurrence, drawn: tuple[int, int], max_items: int, ax: Place | None, *, labels: bool, legend: bool
) -> tuple[Axes, Int[np.ndarray, " shown"], Float[np.ndarray, "shown 2"]]:
    """Draw the map of the items without their names; also return the places of the items drawn, and their points."""
    clusters = co_occurrence.clusters
    shown = some_of(co_occurrence.places, max_items)
    projection = co_occurrence.map(shown, max(drawn)).plane(drawn)
    ax = axes_of(ax, (8.2, 6.2))
    points = np.zeros((len(co_occurrence.items), 2))
    points[shown] = projection.points
    filled = np.ones(len(points), dtype=bool)
    filled[shown] = ~projection.hardly_shown
    draw_items(ax, points, shown, clusters, filled, legend=legend, hollow="")
    said = [say_sampled(len(shown), len(co_occurrence.places)), co_occurrence.left_out, say_hollow(~filled)]
    caption = "\n".join(filter(None, said))
    spaced_ticks(ax)
    label_axes(ax, projection.axes[0], projection.axes[1], labels=labels, caption=caption)
    ax.margins(0.12, 0.08)
    ax.set_aspect("equal", adjustable="datalim")
    tidy(ax)
    return ax, shown, projection.points


def plot_silhouette_curve(model: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw the silhouette for each number of clusters that was considered, with a ring around the one in use.

    Parameters
    ----------
    model : fitted SubsetFusion, or a Pipeline that ends in one
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model has no silhouette curve.

    References
    ----------
    Rousseeuw (1987). Silhouettes. Journal of Computational and Applied Mathematics 20.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import plot_silhouette_curve
    >>> sorts = [[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]], [["ant", "cow"], ["bee", "pig"]]]
    >>> ax = plot_silhouette_curve(SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts)))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of clusters', 'silhouette')
    """
    estimator = estimator_with(model, "n_clusters_curve_", "has no silhouette curve to draw")
    curve = estimator.n_clusters_curve_["silhouette"]
    number = int(estimator.n_clusters_)
    reached = float(curve.get(number, estimator.silhouette_))
    ax = axes_of(ax, (5.0, 3.2))
    draw_curve(ax, curve.index, curve.to_numpy(), marker="o", ms=4, label="considered")
    how = "found" if isinstance(estimator.n_clusters, str) else "in use"
    ax.plot([number], [reached], **Look.of(ax).ring(), label=f"{how}: {quantify(number, 'cluster')}")
    whole_numbers(ax.xaxis)
    ax.margins(0.1, 0.25)
    finish_curve(ax, "number of clusters", "silhouette", labels=labels, legend=legend)
    return ax


def plot_stability(stability: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw how far the clusters from a growing number of groupings agree with those from all, or from the last round.

    Parameters
    ----------
    stability : DataFrame with columns n_groupings and stability
        Such as ``stability_`` of `consilience.active.ActiveSession`. Rows without a stability are left out; if a
        number of groupings occurs several times, as with several orders, the line joins the means.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        A column is missing, a cell is not a number, or nothing is left to draw.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.inspection import plot_stability
    >>> ax = plot_stability(pd.DataFrame({"n_groupings": [10, 20, 40], "stability": [0.61, 0.88, 1.0]}))
    >>> ax.lines[0].get_ydata().tolist()
    [0.61, 0.88, 1.0]
    """
    rows = stability_rows(stability)
    mean = rows.groupby("n_groupings")["stability"].mean()
    ax = axes_of(ax, (5.0, 3.2))
    draw_curve(ax, mean.index, mean.to_numpy(), marker="o", ms=4, label="mean", zorder=3)
    several = len(rows) > len(mean)
    if several:
        each: dict[str, Any] = {"ls": "", "marker": ".", "ms": 4, "color": Look.of(ax).faint, "zorder": 2}
        ax.plot(rows["n_groupings"], rows["stability"], **each, label="each")
    ax.set_ylim(min(0.0, float(rows["stability"].min())), 1.03)
    whole_numbers(ax.xaxis)
    finish_curve(ax, "groupings", "agreement of the clusters (NMI)", labels=labels, legend=legend and several)
    return ax


def stability_rows(stability: Any) -> pd.DataFrame:
    """Return the rows of a curve of stability that can be drawn; see `plot_stability`."""
    found = list(stability.columns) if isinstance(stability, pd.DataFrame) else type(stability).__name__
    if not isinstance(stability, pd.DataFrame) or not set(STABILITY) <= set(found):
        raise InputError(
            f"The stability curve must be a DataFrame with columns n_groupings and stability. Got {found}."
        )
    rows = stability[STABILITY].apply(pd.to_numeric, errors="coerce")
    wrong = rows.isna() & stability[STABILITY].notna()
    if wrong.to_numpy().any():
        row, column = np.argwhere(wrong.to_numpy())[0]
        cell = stability[STABILITY].iloc[row, column]
        raise InputError(f"{STABILITY[column]!r} of the stability curve is {cell!r} in row {row}. Expected a number.")
    rows = rows.dropna()
    if rows.empty:
        raise InputError(
            "The stability curve has no row with both n_groupings and stability, so there is nothing to draw."
        )
    return rows
