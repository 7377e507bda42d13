"""The map of the items with ellipses: where other groups of as many people would place each of them.

The ellipse of an item holds 90 % of a normal distribution with the mean and covariance of `item_spread.spread`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Ellipse

from consilience.analysis.certainty import Certainty
from consilience.analysis.item_spread import N_AXES, can_place, spread
from consilience.analysis.projection import checked_axes
from consilience.annotations.types import AnnotationsLike
from consilience.inspection.plots.fusion import draw_named_map
from consilience.inspection.plots.given import co_occurrence_of
from consilience.inspection.plots.style import Look, Place

__all__ = ["plot_certainty_map"]

RADIUS = np.sqrt(-2 * np.log(0.1))  # of the ellipse that holds 90 % of a normal distribution, in standard deviations
LARGEST = 0.35  # median length of the ellipses, as a share of the map, up to which they can be told apart


def plot_certainty_map(
    model: Any,
    certainty: Certainty,
    annotations: AnnotationsLike | None = None,
    *,
    axes: tuple[int, int] = (1, 2),
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the map of the items with an ellipse around each, in which 9 of 10 other groups of people would place it.

    The map is that of `plot_item_map`. Ellipses are drawn if there are at most 60 items, if at least half of their
    pairs were presented, and if most ellipses are small enough to be told apart.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings
    certainty : Certainty
        Of this model, from `consilience.inspection.certainty`.
    annotations : Groupings, Labels or array, optional
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models do not.
    axes : (int, int), default=(1, 2)
        Two of the first three axes of the map.
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
        not two of 1, 2 and 3.

    References
    ----------
    Abdi, Williams, Valentin & Bennani-Dosse (2012). STATIS and DISTATIS. WIREs Computational Statistics 4.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import certainty, plot_certainty_map
    >>> sorts = [[["ant", "bee"], ["cow", "pig"]]] * 9 + [[["ant", "bee", "pig"], ["cow"]], [["ant"], ["bee", "cow"]]]
    >>> fusion = SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts))
    >>> ax = plot_certainty_map(fusion, certainty(fusion, random_state=0))
    >>> len(ax.patches)
    4
    """
    drawn = checked_axes(axes, "plot_certainty_map", N_AXES)
    co_occurrence = co_occurrence_of(model, annotations, "plot_certainty_map")
    ax = draw_named_map(co_occurrence, drawn, ax, labels=labels, legend=legend)
    if not can_place(co_occurrence):
        return ax
    centres, covariances = spread(co_occurrence, certainty)
    shown = np.array(drawn) - 1
    if not can_be_told_apart(centres[:, shown], covariances[:, shown][:, :, shown]):
        return ax
    ellipses = [
        _ellipse(centre[shown], covariance[np.ix_(shown, shown)])
        for centre, covariance in zip(centres, covariances, strict=True)
    ]
    look = Look.of(ax)
    for ellipse, place in zip(ellipses, co_occurrence.places, strict=True):
        colour = look.colour(int(co_occurrence.codes[place]))
        ellipse.set(facecolor=(*to_rgb(colour), 0.1), edgecolor=(*to_rgb(colour), 0.5), linewidth=0.8, zorder=1)
        ax.add_patch(ellipse)
    ax.autoscale_view()
    return ax


def can_be_told_apart(
    centres: Float[np.ndarray, "shown axes"], covariances: Float[np.ndarray, "shown axes axes"]
) -> bool:
    """Whether most ellipses are small, compared with the map."""
    longest = 2 * RADIUS * np.sqrt(np.maximum(np.linalg.eigvalsh(covariances)[:, -1], 0))
    return bool(np.median(longest) <= LARGEST * float(np.ptp(centres, axis=0).max()))


def _ellipse(centre: Float[np.ndarray, " 2"], covariance: Float[np.ndarray, "2 2"]) -> Ellipse:
    variances, axes = np.linalg.eigh(covariance)
    width, height = 2 * RADIUS * np.sqrt(np.maximum(variances[::-1], 0))
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    return Ellipse((float(centre[0]), float(centre[1])), float(width), float(height), angle=float(angle))
