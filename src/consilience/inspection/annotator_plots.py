"""Plot of the annotators: how much each said, and how well."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from consilience.errors import InputError
from consilience.inspection.placing import name_points
from consilience.inspection.projection import unwrap
from consilience.inspection.style import FAINT, INK, SMALL, axes_of, heat, tidy

__all__ = ["plot_annotators"]

WIDE_RANGE = 20  # of numbers of labels, from which on their axis is logarithmic


def plot_annotators(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how often each annotator is right against how many labels they gave, the darker the more a label tells.

    Parameters
    ----------
    model : fitted estimator with ``confusion_matrices_``, or a Pipeline that ends in one
    ax : matplotlib Axes, optional
        By default a figure of its own, which is ``ax.figure``.

    Returns
    -------
    matplotlib.axes.Axes
        A point for each annotator with labels, the most unusual named first, as far as there is room. The dashed line
        is what always saying the most frequent class would reach. Where all gave the same number of labels, accuracy
        is drawn against information; where classes have no names of labels, so that nothing can be right, information
        against the number of labels.

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
    estimator = unwrap(model)
    if not hasattr(estimator, "confusion_matrices_"):
        raise InputError(f"{type(estimator).__name__} does not tell how often annotators are right.")
    quality = estimator.annotators_[estimator.annotators_["n_labels"] > 0]
    said, bits = quality["n_labels"].to_numpy(float), quality["information"].to_numpy()
    named = bool(quality["accuracy"].notna().all())
    alike = named and said.min() == said.max()
    ax = axes_of(ax, (6.6, 4.4))
    x, y = (bits if alike else said), (quality["accuracy"].to_numpy() if named else bits)
    drawn: dict[str, Any] = {"c": bits, "cmap": heat(), "vmin": 0} if named and not alike else {"c": "#3E86B8"}
    points = ax.scatter(x, y, s=44, ec=INK, lw=0.7, zorder=3, **drawn)
    if not alike and said.max() >= WIDE_RANGE * said.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    ax.set_xlabel("information of a label (bits)" if alike else "labels given", color=INK)
    ax.set_ylabel("probability that a label is right" if named else "information of a label (bits)", color=INK)
    rules = []
    if named:
        guess = estimator.responsibilities_.mean(0).max()
        rules.append(guess)
        ax.axhline(guess, color=FAINT, lw=1, ls=(0, (4, 3)), zorder=1, label="always the most frequent class")
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.legend(frameon=False, fontsize=SMALL, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2)
    if named and not alike:
        bar = cast(Figure, ax.get_figure(root=True)).colorbar(points, ax=ax, shrink=0.75, aspect=20)
        bar.set_label("information of a label (bits)", fontsize=SMALL, color=INK)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)
    ax.margins(0.08)
    tidy(ax)
    order = _unusual_first(np.column_stack([np.log(x) if ax.get_xscale() == "log" else x, y]))
    name_points(ax, np.column_stack([x, y])[order], quality.index[order], rules=rules)
    return ax


def _unusual_first(points: np.ndarray) -> np.ndarray:
    """Order by distance from the median, in units of the median distance of each coordinate."""
    away = np.abs(points - np.median(points, axis=0))
    scale = np.median(away, axis=0)
    return np.argsort(-(away / np.where(scale > 0, scale, 1.0)).max(1), kind="stable")
