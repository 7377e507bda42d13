"""Bridging values: whether an item was sorted together with items near it on the map, or with items far away.

Kane & Trochim (2007, Concept Mapping for Planning and Evaluation, Sage) say what the value means and that it runs from
0 to 1: an item near 0 is an anchor, which says what its place on the map is about; one near 1 is a bridge, which was
sorted with items in different places. They give no formula.

Decided here
------------
With s_ij the share of the times that items i and j were presented together at which they were put together, and d_ij
their distance on the axes of the map that show more than random sorts would, two at least,

    b_i = Σ_{j ≠ i} s_ij d_ij / Σ_{j ≠ i} s_ij,    value of i = (b_i - min b) / (max b - min b),

so that the item sorted with the nearest items has 0, and the one sorted with the farthest 1. The value compares items
of one study, and says nothing across studies. Pairs never presented together count as never put together. An item that
nobody put with another has no value. If all b are equal, all values are 0. The map is that of the report, a classical
scaling. Concept mapping usually takes the plane of a nonmetric one, whose points can be given instead; but in a plane,
the items that it hardly shows lie close to the centre, and would be anchors although they were put with any others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.spatial.distance import pdist, squareform

from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.panels import axes_of
from consilience.annotations.fit_arguments import as_groupings
from consilience.errors import InputError

__all__ = ["bridging_values"]

FEWEST_AXES = 2


def bridging_values(groupings: Any, points: Any = None) -> pd.Series:
    r"""Return how far each item was sorted together with items that are far away on the map: 0 an anchor, 1 a bridge.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
    points : array of shape (n_items, n_axes), optional
        Coordinates of the items. By default those of `plot_item_map`, on all axes that `map_axes` finds real in a test
        of 99 random sorts, but on two at least.

    Returns
    -------
    Series, indexed by item
        From 0 to 1, relative to the other items; NaN for items that nobody put with another.

    Raises
    ------
    InputError
        The points are not finite coordinates of each item, or no item is in a grouping.

    Notes
    -----
    With :math:`s_{ij}` the share of the presentations of two items in which they were put together, and :math:`d_{ij}`
    their distance at these points,

    .. math:: b_i = \frac{\sum_{j \ne i} s_{ij} d_{ij}}{\sum_{j \ne i} s_{ij}},

    scaled so that the least is 0 and the largest 1. Kane and Trochim describe the value without a
    formula; this one is ours.

    References
    ----------
    Kane & Trochim (2007). Concept Mapping for Planning and Evaluation. Sage.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import bridging_values
    >>> sorts = [[["ant", "bee", "fly"], ["cow", "pig"]]] * 3 + [[["ant", "bee"], ["fly", "cow", "pig"]]]
    >>> bridging_values(Groupings.from_lists(sorts)).idxmax()
    'fly'
    """
    given = as_groupings(groupings, None, "bridging_values")
    co_occurrence = CoOccurrence.of(given, None, "The map")
    if points is None:
        return bridging_on_axes(co_occurrence, axes_of(given))
    return _bridging_at(co_occurrence, _check_points(points, len(given.items))[co_occurrence.places])


def bridging_on_axes(co_occurrence: CoOccurrence, axes: pd.DataFrame | None) -> pd.Series:
    """Return the bridging values on the axes that a test of them finds real, on two at least or without a test."""
    return _bridging_at(co_occurrence, co_occurrence.map(co_occurrence.places, count_bridged_axes(axes)).points)


def count_bridged_axes(axes: pd.DataFrame | None) -> int:
    """Return on how many axes the bridging values are measured."""
    return FEWEST_AXES if axes is None else max(int(axes["real"].sum()), FEWEST_AXES)


def _bridging_at(co_occurrence: CoOccurrence, where: Float[np.ndarray, "places axes"]) -> pd.Series:
    places, items = co_occurrence.places, co_occurrence.items
    shares = np.nan_to_num(co_occurrence.shares(places))
    np.fill_diagonal(shares, 0.0)
    total = shares.sum(1)
    known = total > 0
    mean = (shares * squareform(pdist(where))).sum(1)[known] / total[known]
    values = np.full(len(items), np.nan)
    values[places[known]] = _from_0_to_1(mean)
    return pd.Series(values, pd.Index(items, name="item"), name="bridging")


def _check_points(points: Any, n_items: int) -> Float[np.ndarray, "items axes"]:
    found = np.asarray(points, dtype=float)
    if found.ndim != 2 or len(found) != n_items or not np.isfinite(found).all():
        raise InputError(
            f"The 'points' of bridging_values must be finite coordinates of {n_items:,} items. Got an array of shape "
            f"{found.shape}."
        )
    return found


def _from_0_to_1(values: Float[np.ndarray, " known"]) -> Float[np.ndarray, " known"]:
    if not len(values) or np.ptp(values) <= 1e-12 * np.abs(values).max():  # equal but for rounding
        return np.zeros(len(values))
    return (values - values.min()) / np.ptp(values)
