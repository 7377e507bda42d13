"""The compromise map of DISTATIS, with the places that each annotator would give the items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.compromise import CompromiseMap
from consilience.analysis.findings import Findings
from consilience.analysis.fitted import unwrap
from consilience.analysis.projection import checked_axes
from consilience.errors import InputError
from consilience.inspection.plots.curves import spaced_ticks
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import NAMED_ITEMS, draw_items, say_hollow
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import label_axes

__all__ = ["plot_compromise"]

MOST_PARTIAL = 1500  # points; of more, only the compromise is drawn


def plot_compromise(
    compromise: CompromiseMap,
    model: Any = None,
    *,
    axes: tuple[int, int] = (1, 2),
    partial: bool = True,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the compromise map of DISTATIS, and around each item where the annotators would place it.

    Thin lines lead from each item to its place according to each annotator; the items' own places are the weighted
    means of these. Items that the two dimensions hardly show (cos² below 0.2) are hollow: that they are near each
    other does not mean that they are alike.

    Parameters
    ----------
    compromise : CompromiseMap
        From `consilience.inspection.compromise_map`.
    model : fitted estimator, or a Pipeline that ends in one; or Findings, optional
        Whose clusters colour the items.
    axes : (int, int), default=(1, 2)
        The dimensions to draw, numbered from 1.
    partial : bool, default=True
        Whether to draw the annotators' places, if there are at most 1500.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend of the clusters, if a model is given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `axes` are not two different numbers of dimensions that the compromise has, or the model has other items.

    Examples
    --------
    >>> from consilience.inspection import compromise_map, plot_compromise
    >>> found = compromise_map([["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]])
    >>> plot_compromise(found).get_xlabel()
    'dimension 1 (100%)'
    """
    clusters = None
    if model is not None:
        items = unwrap(getattr(model, "model", model)).items_
        clusters = model.clusters if isinstance(model, Findings) else FoundClusters.of(unwrap(model))
        if not items.equals(compromise.scores.index):
            raise InputError("The model given to plot_compromise has other items than the compromise.")
    return draw_compromise(compromise, clusters, axes, ax, partial=partial, labels=labels, legend=legend)


def draw_compromise(
    compromise: CompromiseMap,
    clusters: FoundClusters | None,
    axes: tuple[int, int] = (1, 2),
    ax: Place | None = None,
    *,
    partial: bool = True,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the map with the clusters of the items, if they are known; see `plot_compromise`."""
    shown = [axis - 1 for axis in checked_axes(axes, "plot_compromise")]
    if max(shown) >= len(compromise.shares):
        raise InputError(
            f"The compromise given to plot_compromise has {len(compromise.shares)} dimensions. Got {axes}."
        )
    ax = axes_of(ax, (8.2, 6.2))
    look, points = Look.of(ax), compromise.scores.to_numpy()[:, shown]
    if partial and len(compromise.partial) <= MOST_PARTIAL:
        _draw_partial(ax, compromise.partial, points, shown, clusters)
    hardly = compromise.hardly_shown((shown[0] + 1, shown[1] + 1)).to_numpy()
    draw_items(ax, points, np.arange(len(points)), clusters, ~hardly, legend=legend, hollow="")
    for line in (ax.axvline, ax.axhline):
        line(0, color=look.faint, lw=0.6, zorder=1)
    spaced_ticks(ax)
    named = [f"dimension {axis + 1} ({compromise.shares.iloc[axis]:.0%})" for axis in shown]
    label_axes(ax, *named, labels=labels, caption=say_hollow(hardly))
    ax.margins(0.1, 0.08)
    ax.set_aspect("equal", adjustable="datalim")
    tidy(ax)
    if labels and len(points) <= NAMED_ITEMS:
        name_points(ax, points, compromise.scores.index, leaders=True)
    return ax


def _draw_partial(
    ax: Axes, partial: pd.DataFrame, points: np.ndarray, shown: list[int], clusters: FoundClusters | None
) -> None:
    """Draw the annotators' places of each item as small points, and lines to them, in the colour of its cluster."""
    look = Look.of(ax)
    each = partial.to_numpy()[:, shown].reshape(len(points), -1, 2)
    codes = np.zeros(len(points), dtype=int) if clusters is None else clusters.codes
    for point, places, code in zip(points, each, codes.tolist(), strict=True):
        colour = look.colour(max(code, 0))
        lines = [(point, place) for place in places]
        ax.add_collection(LineCollection(lines, colors=colour, linewidths=0.4, alpha=0.45, zorder=1.5))
        ax.plot(*places.T, ls="", marker=".", ms=3, mfc=colour, mew=0, alpha=0.7, zorder=2)
