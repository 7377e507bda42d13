"""The map of the annotators by their RV coefficients, as DISTATIS draws it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from consilience.analysis.projection import checked_axes
from consilience.analysis.rv import ScalarProducts, scalar_products
from consilience.analysis.segments import PanelSegments
from consilience.analysis.words import current_words
from consilience.annotations.fit_arguments import as_groupings
from consilience.errors import InputError
from consilience.inspection.plots.curves import spaced_ticks
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import NAMED_ITEMS, legend_beside
from consilience.inspection.plots.style import Look, Place, axes_of, marker, marker_scale, tidy
from consilience.inspection.plots.text_layout import label_axes

__all__ = ["plot_annotator_map"]


def plot_annotator_map(
    groupings: Any,
    segments: PanelSegments | None = None,
    *,
    axes: tuple[int, int] = (1, 2),
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the annotators, close to each other if they sort alike, with a colour and a shape for each segment.

    The axes are the eigenvectors of the matrix of RV coefficients. The first is what all have in common: the further to
    the right, the more an annotator sorts like the others, and the more weight they have in the compromise. The others
    show what divides them. Up to 60 annotators are named, at the end of a line if there is no room next to
    them.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
    segments : PanelSegments, optional
        From `consilience.inspection.panel_segments`.
    axes : (int, int), default=(1, 2)
        The axes to draw, numbered from 1; segments are often clearest in (2, 3).
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend of the segments, if there are several.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The annotations are Pairs or an array of another shape; there are too many annotators and items; the segments
        are of other annotators; or `axes` are not two different numbers from 1 to 9.

    References
    ----------
    Abdi, Valentin, Chollet & Chrea (2007). Analyzing assessors and products in sorting tasks: DISTATIS, theory and
    applications. Food Quality and Preference 18.

    Examples
    --------
    >>> from consilience.inspection import plot_annotator_map
    >>> ax = plot_annotator_map([["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]])
    >>> ax.get_xlabel()
    'dimension 1 (67%)'
    """
    groupings, products = scalar_products(as_groupings(groupings, None, "plot_annotator_map"), "plot_annotator_map")
    return draw_products(products, groupings.annotators, segments, axes, ax, labels=labels, legend=legend)


def draw_products(
    products: ScalarProducts,
    names: pd.Index,
    segments: PanelSegments | None,
    axes: tuple[int, int] = (1, 2),
    ax: Place | None = None,
    *,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the annotators of these names by their products; see `plot_annotator_map`."""
    drawn = checked_axes(axes, "plot_annotator_map")
    if segments is not None and not segments.annotators.index.equals(names):
        raise InputError("The segments given to plot_annotator_map are of other annotators than the groupings.")
    segment = np.zeros(len(names), dtype=int) if segments is None else segments.annotators["segment"].to_numpy()
    places, shares = products.places(max(drawn))
    shown = [axis - 1 for axis in drawn]
    ax = axes_of(ax, (6.6, 5.0))
    look, points = Look.of(ax), places[:, shown]
    for number in np.unique(segment).tolist():
        mine, alone = segment == number, number < 0
        style: dict[str, Any] = {"marker": "x" if alone else marker(number), "mec": look.faint if alone else look.paper}
        style |= {"ms": 5 if alone else 7 * marker_scale(number), "mew": 1.0 if alone else 0.4}
        title = f"{'none' if alone else number}  ({mine.sum()})"
        ax.plot(*points[mine].T, ls="", **style, mfc=look.colour(max(number, 0)), zorder=3, label=title)
    for line in (ax.axvline, ax.axhline):
        line(0, color=look.faint, lw=0.6, zorder=1)
    spaced_ticks(ax)
    label_axes(ax, *(f"dimension {axis + 1} ({shares[axis]:.0%})" for axis in shown), labels=labels)
    ax.margins(0.12, 0.1)
    tidy(ax)
    if legend and len(np.unique(segment)) > 1:
        legend_beside(ax, *ax.get_legend_handles_labels(), f"segment ({current_words().annotators})")
    if labels and len(names) <= NAMED_ITEMS:
        is_placed = np.isfinite(points).all(1)
        name_points(ax, points[is_placed], names[is_placed], leaders=True)
    return ax
