"""Plots of a fusion of groupings: the map of its items, how many clusters, how stable they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from consilience.errors import InputError
from consilience.inspection.answer import Answer
from consilience.inspection.evidence import fusion_of, map_of_items
from consilience.inspection.names import counted
from consilience.inspection.placing import name_points
from consilience.inspection.projection import that_has
from consilience.inspection.scatter import NAMED_ITEMS, draw_items, sampled, some_of
from consilience.inspection.style import FAINT, INK, RING, axes_of, colour, tidy

__all__ = ["plot_item_map", "plot_silhouette_curve", "plot_stability"]

STABILITY = ["n_groupings", "stability"]


def plot_item_map(model: Any, *, max_items: int = 1500, ax: Axes | None = None) -> Axes:
    """Draw the items in the plane, close where they were put together, a colour and a shape for each cluster.

    Where at least half of the pairs of items were presented, the plane is the classical scaling of 1 - the share of
    presentations in which a pair was put together; the axes tell each dimension's share of the variance. Where fewer
    were, it is spanned by the principal components of the model's coordinates of the items. Up to 60 items bear their
    names, at the end of a line where there is no room beside them.

    Parameters
    ----------
    model : fitted SubsetFusion, or a Pipeline that ends in one
    max_items : int, default=1500
        Of more, so many are drawn, chosen at random; the title then says so. Items of no cluster are not drawn.
    ax : matplotlib Axes, optional
        By default a figure of its own, which is ``ax.figure``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model is no fusion of groupings.

    References
    ----------
    Torgerson (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import plot_item_map
    >>> sorts = [[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]]
    >>> ax = plot_item_map(SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts)))
    >>> [len(line.get_xdata()) for line in ax.lines]
    [2, 2]
    """
    estimator = fusion_of(model)
    seen = np.flatnonzero(estimator.labels_ >= 0)
    shown = some_of(seen, max_items)
    view = map_of_items(estimator, shown)
    ax = axes_of(ax, (8.2, 6.2))
    points = np.zeros((len(estimator.items_), 2))
    points[shown] = view.points
    draw_items(ax, points, shown, Answer.of(estimator), np.ones(len(points), dtype=bool))
    ax.set_xlabel(view.axes[0], color=INK)
    ax.set_ylabel(view.axes[1], color=INK)
    ax.set_title(sampled(len(shown), len(seen)), loc="left", fontsize=9, color=INK)
    ax.margins(0.12, 0.08)
    ax.set_aspect("equal", adjustable="datalim")
    tidy(ax)
    if len(shown) <= NAMED_ITEMS:
        name_points(ax, view.points, estimator.items_[shown], leaders=True)
    return ax


def plot_silhouette_curve(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the silhouette of the clusters for each number of them that was considered, the one in use in a ring.

    Parameters
    ----------
    model : fitted SubsetFusion, or a Pipeline that ends in one
    ax : matplotlib Axes, optional
        By default a figure of its own, which is ``ax.figure``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model has no such curve.

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
    estimator = that_has(model, "n_clusters_curve_", "no silhouettes of numbers of clusters to draw")
    curve = estimator.n_clusters_curve_["silhouette"]
    number = int(estimator.n_clusters_)
    reached = float(curve.get(number, estimator.silhouette_))
    ax = axes_of(ax, (5.0, 3.2))
    ax.plot(curve.index, curve.to_numpy(), color=colour(0), marker="o", ms=4, lw=1.4, label="considered")
    how = "found" if isinstance(estimator.n_clusters, str) else "in use"
    ax.plot([number], [reached], **RING, label=f"{how}: {counted(number, 'cluster')}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("number of clusters", color=INK)
    ax.set_ylabel("silhouette", color=INK)
    ax.margins(0.1, 0.14)
    ax.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    tidy(ax)
    return ax


def plot_stability(stability: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how far the clusters of a growing number of groupings agree with those of all, or of the round before.

    Parameters
    ----------
    stability : DataFrame with columns n_groupings and stability
        Such as ``stability_`` of `consilience.active.ActiveSession`. Rows without a stability are left out; where a
        number of groupings is there several times, as of several orders, their mean is joined by the line.
    ax : matplotlib Axes, optional
        By default a figure of its own, which is ``ax.figure``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        There are no such columns, a cell is no number, or nothing is left to draw.

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
    ax.plot(mean.index, mean.to_numpy(), color=colour(0), marker="o", ms=4, lw=1.4, label="mean", zorder=3)
    if len(rows) > len(mean):
        ax.plot(rows["n_groupings"], rows["stability"], ls="", marker=".", ms=4, color=FAINT, label="each", zorder=2)
        ax.legend(frameon=False, fontsize=9, loc="lower right")
    ax.set_ylim(min(0.0, float(rows["stability"].min())), 1.03)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("groupings", color=INK)
    ax.set_ylabel("agreement of the clusters (NMI)", color=INK)
    tidy(ax)
    return ax


def stability_rows(stability: Any) -> pd.DataFrame:
    """Return the rows of a curve of stability that can be drawn; see `plot_stability`."""
    found = list(stability.columns) if isinstance(stability, pd.DataFrame) else type(stability).__name__
    if not isinstance(stability, pd.DataFrame) or not set(STABILITY) <= set(found):
        raise InputError(f"A stability curve is a DataFrame with the columns n_groupings and stability. Got {found}.")
    rows = stability[STABILITY].apply(pd.to_numeric, errors="coerce")
    wrong = rows.isna() & stability[STABILITY].notna()
    if wrong.to_numpy().any():
        row, column = np.argwhere(wrong.to_numpy())[0]
        cell = stability[STABILITY].iloc[row, column]
        raise InputError(f"{STABILITY[column]!r} of the stability curve is {cell!r} in row {row}. Expected a number.")
    rows = rows.dropna()
    if rows.empty:
        raise InputError(
            "The stability curve has no row with both n_groupings and stability, so there is none to draw."
        )
    return rows
