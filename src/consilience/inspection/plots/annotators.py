"""Plot of the annotators: how many labels each gave, and how accurate they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter, StrMethodFormatter

from consilience.analysis.fitted import estimator_with
from consilience.inspection.plots.curves import legend_inside, whole_numbers
from consilience.inspection.plots.matrix import colour_bar
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import label_axes

__all__ = ["plot_annotators"]

BITS = "information of a label (bits)"
WIDE_RANGE = 20  # ratio of numbers of labels from which their axis is logarithmic


def plot_annotators(
    model: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True, colorbar: bool = True
) -> Axes:
    """Draw the accuracy of each annotator against the number of their labels, coloured by the information of a label.

    Parameters
    ----------
    model : fitted estimator with ``confusion_matrices_``, or a Pipeline that ends in one
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.
    colorbar : bool, default=True
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib.axes.Axes
        A point for each annotator with labels; the most unusual are named first, as far as there is room. The dashed
        line is the accuracy of always giving the most frequent class. If all gave the same number of labels, accuracy
        is drawn against information; if classes do not have the names of labels, so that no label is right or wrong,
        information is drawn against the number of labels.

    Raises
    ------
    InputError
        The model has no confusion matrices.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> from consilience.inspection import plot_annotators
    >>> vote = MajorityVote().fit([["cat", "cat", "dog"], ["dog", None, "dog"]])
    >>> plot_annotators(vote).get_xlabel()
    'labels given'
    """
    estimator = estimator_with(model, "confusion_matrices_", "does not estimate how often annotators are right")
    quality = estimator.annotators_[estimator.annotators_["n_labels"] > 0]
    n_labels, bits = quality["n_labels"].to_numpy(float), quality["information"].to_numpy()
    named = bool(quality["accuracy"].notna().all())
    alike = named and bool(n_labels.min() == n_labels.max())
    ax = axes_of(ax, (6.6, 4.4))
    look = Look.of(ax)
    x, y = (bits if alike else n_labels), (quality["accuracy"].to_numpy() if named else bits)
    drawn: dict[str, Any] = (
        {"c": bits, "cmap": look.heat(), "vmin": 0} if named and not alike else {"c": look.colour(0)}
    )
    points = ax.scatter(x, y, s=44, ec=look.ink, lw=0.7, zorder=3, **drawn)
    if colorbar and named and not alike:
        colour_bar(points, ax, BITS)
    _scale_labels_given(ax, n_labels, alike=alike)
    label_axes(
        ax, BITS if alike else "labels given", "probability that a label is right" if named else BITS, labels=labels
    )
    ax.margins(0.08, 0.14)
    rules = []
    if named:
        guess = estimator.responsibilities_.mean(0).max()
        rules.append(guess)
        ax.axhline(guess, color=look.faint, lw=1, ls=(0, (4, 3)), zorder=1, label="the most frequent class")
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    tidy(ax)
    if legend and named:
        legend_inside(ax)
    order = _unusual_first(np.column_stack([np.log(x) if ax.get_xscale() == "log" else x, y]))
    if labels:
        name_points(ax, np.column_stack([x, y])[order], quality.index[order], rules=rules)
    return ax


def _scale_labels_given(ax: Axes, n_labels: np.ndarray, *, alike: bool) -> None:
    """Make the axis of numbers of labels logarithmic if they vary widely."""
    if alike:
        return
    if n_labels.max() < WIDE_RANGE * n_labels.min():
        whole_numbers(ax.xaxis)
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _unusual_first(points: np.ndarray) -> np.ndarray:
    """Order by distance from the median, in units of the median distance of each coordinate."""
    away = np.abs(points - np.median(points, axis=0))
    scale = np.median(away, axis=0)
    return np.argsort(-(away / np.where(scale > 0, scale, 1.0)).max(1), kind="stable")
