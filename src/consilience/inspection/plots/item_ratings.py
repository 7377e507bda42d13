"""Plots of ratings of items on two scales: the pattern match of the clusters, and the go-zone of the items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from sklearn.isotonic import isotonic_regression

from consilience.analysis.item_ratings import ItemRatings
from consilience.analysis.names import plot_text
from consilience.errors import InputError
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import NAMED_ITEMS, cluster_legend, draw_items
from consilience.inspection.plots.style import Look, Place, axes_of, marker, marker_scale, small, tidy
from consilience.inspection.plots.text_layout import LINE, AtDraw, fitting_names, inches, label_axes, reach, room

__all__ = ["plot_go_zone", "plot_pattern_match"]

LONGEST = 28  # characters of a name
SHARE = 0.5  # of the width of a ladder that the name of a scale may take
ON_CROSSING = 0.15  # standard deviations from both means
MARK, MARK_STEP = 7, 0.03  # points of a mark, and the width of a ladder by which marks that touch are set apart
COVERED, MARGIN = 0.5, 0.1  # of a mark, within which another hides it; of the go-zone, around the marks
END = 0.28  # of the width of the axes that names at an end of the lines may take


def plot_go_zone(rated: ItemRatings, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw the items by their means on two scales, divided by the mean of each: above both is the go-zone.

    Marks that would cover each other are set side by side.

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
    points = _set_apart(ax, points, middle[0])
    draw_items(ax, points, np.flatnonzero(known), rated.clusters, np.ones(len(points), dtype=bool), legend=legend)
    line: dict[str, Any] = {"color": look.faint, "lw": 1.0, "ls": (0, (4, 3)), "zorder": 1}
    ax.axvline(middle[0], **line)
    ax.axhline(middle[1], **line)
    ax.margins(MARGIN, MARGIN)
    _shade(ax, middle, look)
    label_axes(ax, *(plot_text(scale, LONGEST) for scale in scales), labels=labels)
    tidy(ax)
    if labels:
        _name_items(ax, rated, points, known, middle)
    return ax


def _set_apart(ax: Axes, points: Float[np.ndarray, "items 2"], line: float) -> Float[np.ndarray, "items 2"]:
    """Move marks that would cover an earlier one aside, away from an upright line, so that both are seen."""
    moved, known = points.copy(), np.flatnonzero(np.isfinite(points).all(1))
    if not len(known):
        return moved
    reach = np.ptp(points[known], axis=0)
    reach[reach <= 1e-9 * np.abs(points[known]).max(0)] = 1.0  # equal but for rounding
    wide = MARK / 72 / np.array(inches(ax)) * (1 + 2 * MARGIN) * reach
    for number, place in enumerate(known):
        before, side = moved[known[:number]], 1 if moved[place, 0] > line else -1
        while (np.abs(before - moved[place]) <= COVERED * wide).all(1).any():
            moved[place, 0] += side * wide[0]
    return moved


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
    """Name the items as far as there is room: first those on the crossing of the means, then those in the go-zone."""
    zone = rated.items.index.isin(rated.go_zone)
    away = np.abs((points - middle) / np.maximum(np.nanstd(points, axis=0), 1e-12)).max(1)
    crossing = away < ON_CROSSING
    shown = np.flatnonzero(known if known.sum() <= NAMED_ITEMS else known & (zone | crossing))
    from_line = points[shown, 0] - middle[0]
    rank = np.where(crossing[shown], away[shown], ON_CROSSING)
    order = shown[np.lexsort((np.where(zone[shown], -from_line, 0.0), ~zone[shown], rank))]
    if len(order):
        name_points(
            ax,
            points[order],
            rated.items.index[order],
            rules=[middle[1]],
            uprights=[middle[0]],
            leaders=True,
            n_first=int((crossing | zone)[shown].sum()),
        )


def plot_pattern_match(
    rated: ItemRatings, *, ax: Place | None = None, labels: bool = True, legend: bool = True
) -> Axes:
    """Draw the means of the clusters on two scales as a ladder: a line for each cluster between two upright axes.

    Both axes have the same units, so that a line that falls is a cluster rated lower on the second scale. Marks that
    would cover each other are set side by side.

    Parameters
    ----------
    rated : ItemRatings
        From `consilience.inspection.item_ratings`, with two scales or more, of which the first two are drawn.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names, also at both ends of the lines, and the labels of the axes.
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
    near = MARK / (72 * inches(ax)[1]) * float(np.ptp(means[known])) if len(known) else 0.0
    aside = MARK_STEP * np.column_stack([-_count_below(means[known, 0], near), _count_below(means[known, 1], near)])
    ends = np.array([0, 1]) + aside
    for cluster, places in zip(known.tolist(), ends, strict=True):
        style: dict[str, Any] = {"marker": marker(cluster), "ms": MARK * marker_scale(cluster), "lw": 1.6}
        ax.plot(places, means[cluster], color=look.colour(cluster), mec=look.paper, mew=0.4, zorder=3, **style)
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
        _name_lines(ax, [clusters.shown[cluster] for cluster in known.tolist()], ends, means[known])
    tidy(ax)
    ax.spines["bottom"].set_visible(False)
    return ax


def _count_below(values: Float[np.ndarray, " clusters"], near: float) -> Float[np.ndarray, " clusters"]:
    """Count the marks below each that touch one another up to it, so that marks can be set side by side."""
    order, found = np.argsort(values, kind="stable"), np.zeros(len(values))
    for below, mark in pairwise(order.tolist()):
        found[mark] = found[below] + 1 if values[mark] - values[below] < near else 0
    return found


def _name_lines(
    ax: Axes, names: list[str], ends: Float[np.ndarray, "clusters 2"], means: Float[np.ndarray, "clusters 2"]
) -> None:
    """Write the name of each line at both of its ends."""
    look, wide = Look.of(ax), inches(ax)[0]
    shown = fitting_names(names, END * wide, LONGEST)
    away = float(np.abs(ends - [0, 1]).max(initial=0)) + 0.05
    taken = reach(shown) / wide
    ladder = (1 + 2 * away) / max(1 - 2 * taken, 0.2)  # units across the axes
    ax.set_xlim(-away - taken * ladder, 1 + away + taken * ladder)
    line = {"arrowstyle": "-", "lw": 0.5, "color": look.faint, "shrinkA": 1, "shrinkB": 3}
    style: dict[str, Any] = {"fontsize": small(), "color": look.ink, "va": "center", "arrowprops": line, "zorder": 2.5}
    for end, (x, side) in enumerate(((-away, "right"), (1 + away, "left"))):
        texts = [
            ax.annotate(name, (place, mean), (x, mean), ha=side, annotation_clip=False, **style)
            for name, place, mean in zip(shown, ends[:, end], means[:, end], strict=True)
        ]
        ax.add_artist(EndNames(texts, means[:, end]))


class EndNames(AtDraw):
    """Names at the heights of the ends of lines, moved apart where they would overlap."""

    def __init__(self, texts: Sequence[Annotation], heights: Float[np.ndarray, " lines"]) -> None:
        super().__init__()
        self.texts, self.heights = list(texts), heights

    def fit(self, renderer: Any) -> None:
        """Put each name as near to its line as the others allow."""
        ax = cast(Axes, self.axes)
        order = np.argsort(self.heights, kind="stable")
        at = ax.transData.transform(np.column_stack([np.zeros(len(order)), self.heights[order]]))[:, 1]
        gap = LINE * small() / 72 * cast(Figure, ax.get_figure(root=True)).dpi
        steps = gap * np.arange(len(order))
        apart = isotonic_regression(at - steps) + steps
        heights = ax.transData.inverted().transform(np.column_stack([np.zeros(len(order)), apart]))[:, 1]
        for place, height in zip(order.tolist(), heights.tolist(), strict=True):
            self.texts[place].set_y(height)


def _require_two(rated: Any, plot: str) -> tuple[str, str]:
    """Return the two scales that are compared."""
    if not isinstance(rated, ItemRatings):
        raise InputError(f"The 'rated' parameter of {plot} must be an ItemRatings. Got {type(rated).__name__} instead.")
    if rated.compared is None:
        raise InputError(f"{plot} compares two scales, and the ratings have one: {rated.scales[0]!r}.")
    return rated.compared
