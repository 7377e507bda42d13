"""Plots of ratings: what kind of rater each is, and the values of the items."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes

from consilience.analysis.fitted import estimator_with
from consilience.analysis.names import as_text
from consilience.analysis.words import current_words
from consilience.annotations.levels import scale_of_levels
from consilience.inspection.plots.matrix import colour_bar
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import label_axes

__all__ = ["plot_raters", "plot_values"]

NO_VALUES = "does not estimate values of the items"
MOST_ITEMS = 60  # drawn by default


def plot_raters(model: Any, *, ax: Place | None = None, labels: bool = True, colorbar: bool = True) -> Axes:
    """Draw the bias of each rater against the noise, coloured by the reliability.

    Parameters
    ----------
    model : fitted OrdinalRatings, or a Pipeline that ends in one
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    colorbar : bool, default=True
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib.axes.Axes
        A point for each rater with labels; those far from the others are named first, as far as there is room. Weak
        raters are squares.

    Raises
    ------
    InputError
        The model does not estimate values of the items.

    Examples
    --------
    >>> from consilience.consensus import OrdinalRatings
    >>> from consilience.inspection import plot_raters
    >>> model = OrdinalRatings().fit([[1, 2, 2], [5, 4, 5], [3, 3, 4], [1, 1, 2]])
    >>> plot_raters(model).get_xlabel()
    'bias (levels)'
    """
    estimator = estimator_with(model, "values_", NO_VALUES)
    raters = estimator.annotators_[estimator.annotators_["n_labels"] > 0]
    ax = axes_of(ax, (6.6, 4.4))
    look = Look.of(ax)
    place = raters[["bias", "noise"]].to_numpy()
    ax.axvline(0, color=look.faint, lw=1, ls=(0, (4, 3)), zorder=1)
    weak = raters["weak"].to_numpy()
    shown: dict[str, Any] = {"cmap": look.heat(), "vmin": 0, "vmax": 1, "ec": look.ink, "lw": 0.7, "zorder": 3, "s": 44}
    points = [
        ax.scatter(place[some, 0], place[some, 1], c=raters["reliability"].to_numpy()[some], marker=marker, **shown)
        for some, marker in ((~weak, "o"), (weak, "s"))
    ]
    if colorbar:
        colour_bar(points[0], ax, "reliability")
    label_axes(ax, "bias (levels)", "noise (levels)", labels=labels)
    ax.margins(0.12, 0.14)
    ax.set_ylim(bottom=0)
    tidy(ax)
    if labels:
        far = np.abs(place - np.median(place, axis=0)).sum(1)
        order = np.argsort(-far, kind="stable")
        name_points(ax, place[order], [as_text(name) for name in raters.index.take(order)])
    return ax


def plot_values(model: Any, *, max_items: int = MOST_ITEMS, ax: Place | None = None, labels: bool = True) -> Axes:
    """Draw the value of each item with its interval, over the probability of each level.

    Parameters
    ----------
    model : fitted OrdinalRatings, or a Pipeline that ends in one
    max_items : int, default=60
        Of more items, as many from the lowest to the highest value are drawn, at equal steps of their order.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write the names of the levels and the labels of the axes.

    Returns
    -------
    matplotlib.axes.Axes
        A column for each item, in the order of the values. The darker a cell, the more probable the level.

    Raises
    ------
    InputError
        The model does not estimate values of the items.

    Examples
    --------
    >>> from consilience.consensus import OrdinalRatings
    >>> from consilience.inspection import plot_values
    >>> model = OrdinalRatings().fit([[1, 2, 2], [5, 4, 5], [3, 3, 4], [1, 1, 2]])
    >>> len(plot_values(model).get_yticks())
    5
    """
    estimator = estimator_with(model, "values_", NO_VALUES)
    order = items_by_value(estimator, max_items)
    ax = axes_of(ax, (6.6, 4.4))
    look = Look.of(ax)
    told, place = estimator.responsibilities_[order], np.arange(len(order))
    n_levels = told.shape[1]
    ax.imshow(told.T, cmap=look.heat(), vmin=0, vmax=1, aspect="auto", origin="lower", interpolation="nearest")
    first, step = scale_of_levels(estimator.classes_)
    value, ends = ((each[order] - first) / step for each in (estimator.values_, estimator.intervals_))
    ax.vlines(place, *ends.T, color=look.ink, lw=0.8, zorder=2)
    ax.scatter(place, value, s=12, c=[look.ink], zorder=3)
    every = max(n_levels // 10, 1)
    ax.set_yticks(np.arange(0, n_levels, every))
    ax.set_yticklabels([as_text(level) for level in estimator.classes_[::every]] if labels else [])
    ax.set_xticks([])
    label_axes(ax, f"{current_words().items}, by value", "level", labels=labels)
    return ax


def items_by_value(estimator: Any, most: int) -> Int[np.ndarray, " drawn"]:
    """Return the items to draw, those with low values first."""
    order = np.argsort(estimator.values_, kind="stable")
    return order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int))]
