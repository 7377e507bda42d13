"""Plots of ratings of items on two scales: the pattern match of the clusters, and the go-zone of the items."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes

from consilience.analysis.item_ratings import ItemRatings
from consilience.analysis.names import plot_text
from consilience.errors import InputError
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import NAMED_ITEMS, cluster_legend, draw_items
from consilience.inspection.plots.style import Look, Place, axes_of, marker, marker_scale, small, tidy
from consilience.inspection.plots.text_layout import fitting_names, label_axes, room

__all__ = ["plot_go_zone", "plot_pattern_match"]

LONGEST = 28  # characters of a name
SHARE = 0.5  # of the width of a ladder that the name of a scale may take


def plot_go_zone(rated: ItemRatings, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw the items by their means on two scales, divided by the mean of each: above both is the go-zone.

    Parameters
    ----------
    rated : ItemRatings
        From `consilience.inspection.item_ratings`, with two scales or more, of which the first two are drawn.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes. Of more than 60 items, only those in the go-zone are named.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `rated` is no ItemRatings, or has only one scale.

    References
    ----------
    Kane & Trochim (2007). Concept Mapping for Planning and Evaluation. Sage.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import item_ratings, plot_go_zone
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]]] * 3)
    >>> table = pd.DataFrame({"useful": [1, 2, 4, 5], "cheap": [2, 5, 3, 4]}, index=["ant", "bee", "cow", "pig"])
    >>> ax = plot_go_zone(item_ratings(SubsetFusion(random_state=0).fit(sorts), table))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('useful', 'cheap')
    """
    scales = _require_two(rated, "plot_go_zone")
    ax = axes_of(ax, (8.2, 6.2))
    look, points = Look.of(ax), rated.items[list(scales)].to_numpy()
    middle = rated.overall[list(scales)].to_numpy()
    known = np.isfinite(points).all(1)
    draw_items(ax, points, np.flatnonzero(known), rated.clusters, np.ones(len(points), dtype=bool), legend=legend)
    line: dict[str, Any] = {"color": look.faint, "lw": 1.0, "ls": (0, (4, 3)), "zorder": 1}
    ax.axvline(middle[0], **line)
    ax.axhline(middle[1], **line)
    ax.margins(0.1, 0.1)
    _shade(ax, middle, look)
    label_axes(ax, *(plot_text(scale, LONGEST) for scale in scales), labels=labels)
    tidy(ax)
    if labels:
        _name_items(ax, rated, points, known, middle)
    return ax


def _shade(ax: Axes, middle: Float[np.ndarray, " 2"], look: Look) -> None:
    """Shade the quadrant above both means, and keep the limits."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    box: dict[str, Any] = {"color": look.colour(2), "alpha": 0.08, "lw": 0, "zorder": 0}
    ax.fill_between([middle[0], right], middle[1], high, **box)
    ax.set(xlim=(left, right), ylim=(low, high))


def _name_items(
    ax: Axes,
    rated: ItemRatings,
    points: Float[np.ndarray, "items 2"],
    known: Bool[np.ndarray, " items"],
    middle: Float[np.ndarray, " 2"],
) -> None:
    """Name the items as far as there is room, those in the go-zone first."""
    zone = rated.items.index.isin(rated.go_zone)
    shown = np.flatnonzero(known if known.sum() <= NAMED_ITEMS else known & zone)
    order = shown[np.argsort(~zone[shown], kind="stable")]
    if len(order):
        name_points(ax, points[order], rated.items.index[order], rules=[middle[1]], uprights=[middle[0]], leaders=True)


def plot_pattern_match(
    rated: ItemRatings, *, ax: Place | None = None, labels: bool = True, legend: bool = True
) -> Axes:
    """Draw the means of the clusters on two scales as a ladder: a line for each cluster between two upright axes.

    Both axes have the same units, so that a line that falls is a cluster rated lower on the second scale.

    Parameters
    ----------
    rated : ItemRatings
        From `consilience.inspection.item_ratings`, with two scales or more, of which the first two are drawn.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend of the clusters.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `rated` is no ItemRatings, or has only one scale.

    References
    ----------
    Kane & Trochim (2007). Concept Mapping for Planning and Evaluation. Sage.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import item_ratings, plot_pattern_match
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]]] * 3)
    >>> table = pd.DataFrame({"useful": [1, 2, 4, 5], "cheap": [2, 5, 3, 4]}, index=["ant", "bee", "cow", "pig"])
    >>> ax = plot_pattern_match(item_ratings(SubsetFusion(random_state=0).fit(sorts), table))
    >>> [line.get_ydata().tolist() for line in ax.lines]
    [[1.5, 3.5], [4.5, 3.5]]
    """
    scales = _require_two(rated, "plot_pattern_match")
    ax = axes_of(ax, (7.2, 4.6))
    look, clusters = Look.of(ax), rated.clusters
    means = rated.pattern[list(scales)].reindex(clusters.index).to_numpy()
    known = np.flatnonzero(np.isfinite(means).all(1))
    for cluster in known.tolist():
        style: dict[str, Any] = {"marker": marker(cluster), "ms": 7 * marker_scale(cluster), "lw": 1.6}
        ax.plot([0, 1], means[cluster], color=look.colour(cluster), mec=look.paper, mew=0.4, zorder=3, **style)
    ax.set_xlim(-0.15, 1.15)
    ax.margins(y=0.08)
    ax.vlines([0, 1], *ax.get_ylim(), color=look.faint, lw=1.0, zorder=1)
    ax.set_ylim(*ax.get_ylim())
    ax.set_xticks([0, 1], ["", ""])
    ax.tick_params(axis="x", length=0)
    if legend:
        cluster_legend(ax, clusters)
    r = rated.r_clusters
    match = f"Pearson's r = {r:.2f}".replace("-", "\u2212") if np.isfinite(r) else ""
    label_axes(ax, match, "mean of the cluster", labels=labels)
    if labels:
        ax.set_xticks([0, 1], fitting_names(scales, SHARE * room(ax)[0], LONGEST), fontsize=small())
    tidy(ax)
    ax.spines["bottom"].set_visible(False)
    return ax


def _require_two(rated: Any, plot: str) -> tuple[str, str]:
    """Return the two scales that are compared."""
    if not isinstance(rated, ItemRatings):
        raise InputError(f"The 'rated' parameter of {plot} must be an ItemRatings. Got {type(rated).__name__} instead.")
    if rated.compared is None:
        raise InputError(f"{plot} compares two scales, and the ratings have one: {rated.scales[0]!r}.")
    return rated.compared
