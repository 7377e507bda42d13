"""Simulated raters of a latent value, as in `consilience.consensus.OrdinalRatings`.

Decided here
------------
Of K levels, raters have a slope of N(1, .35²), at least .05 and at most 1.5, a bias of N(0, (K / 10)²) levels and a
noise whose logarithm is N(ln .14 K, .3²), unless these are given. Slopes stretch distances from the middle of the
scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Labels
from consilience.annotations.levels import scale_of_levels
from consilience.annotations.names import is_default, unique_names
from consilience.annotations.types import RandomSource
from consilience.errors import InputError
from consilience.simulation._checks import generator, names_of_items, require_count
from consilience.simulation.labels import cells

__all__ = ["simulate_ratings"]


def simulate_ratings(
    values: Any,
    *,
    levels: Iterable[Any] = range(1, 6),
    n_annotators: int = 20,
    bias: Any = None,
    slope: Any = None,
    noise: Any = None,
    lapse: Any = 0.05,
    annotators_per_item: int | None = None,
    items: Any = None,
    random_state: RandomSource = None,
) -> Labels:
    """Simulate raters who each see the value of an item in their own way, and name the level in which it lies.

    Parameters
    ----------
    values : array-like of shape (n_items,)
        True value of each item: in the numbers that levels are if these are equally far apart, else counting levels
        from 1. A value in the middle between two levels is the limit between them.
    levels : list of levels, default=range(1, 6)
        From the lowest to the highest.
    n_annotators : int, default=20
    bias : float or array-like of shape (n_annotators,), optional
        How many levels higher than the value a rater sees it. By default drawn.
    slope : float or array-like of shape (n_annotators,), optional
        By which distances from the middle of the scale are stretched. By default drawn.
    noise : float or array-like of shape (n_annotators,), optional
        Standard deviation, levels. By default drawn.
    lapse : float or array-like of shape (n_annotators,), default=0.05
        Probability of a label that has nothing to do with the item, drawn from the labels of all.
    annotators_per_item : int, optional
        Number of random annotators that rate each item. By default all.
    items : array-like of shape (n_items,), optional
        Names of the items. By default the index of `values` if it is a pandas Series, else 0 to n_items - 1.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same ratings each time.

    Returns
    -------
    Labels
        Ordered, over all items and annotators "annotator 1", "annotator 2", ...

    Raises
    ------
    InputError
        `values` or a parameter of raters is not of the stated shape or range.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.simulation import simulate_ratings
    >>> simulate_ratings(np.linspace(1, 5, 100), n_annotators=8, annotators_per_item=5, random_state=0)
    Labels(100 items, 8 annotators, 5 classes, 500 labels)
    """
    rng = generator(random_state)
    require_count("n_annotators", n_annotators, "simulate_ratings")
    place, classes = _places(values, levels), unique_names(list(levels), "levels")
    names = names_of_items(items, values, len(place))
    n_levels = len(classes)
    a = _of_each("slope", slope, rng.normal(1, 0.35, n_annotators).clip(0.05, 1.5), 0.0)
    b = _of_each("bias", bias, rng.normal(0, n_levels / 10, n_annotators), -np.inf)
    s = _of_each("noise", noise, 0.14 * n_levels * np.exp(rng.normal(0, 0.3, n_annotators)), 0.0)
    lapses = _of_each("lapse", lapse, np.zeros(n_annotators), 0.0, 1.0)
    item, annotator = cells(len(place), n_annotators, None, annotators_per_item, rng)
    middle = (n_levels - 1) / 2
    seen = middle + a[annotator] * (place[item] - middle) + b[annotator] + s[annotator] * rng.normal(size=len(item))
    label = np.floor(seen + 0.5).clip(0, n_levels - 1).astype(np.int64)
    is_lapse = rng.random(len(item)) < lapses[annotator]
    label = np.where(is_lapse, rng.choice(label, len(item)), label)
    return Labels(
        items=unique_names(names, "items"),
        annotators=pd.Index([f"annotator {m}" for m in range(1, n_annotators + 1)]),
        named=not is_default(names),
        classes=classes,
        item=item,
        annotator=annotator,
        label=label,
        ordered=True,
    ).in_order()


def _places(values: Any, levels: Iterable[Any]) -> np.ndarray:
    """Return values as places on a scale from 0."""
    first, step = scale_of_levels(np.asarray(list(levels)))
    place = (np.asarray(values, dtype=float) - first) / step
    if place.ndim != 1 or not len(place) or not np.isfinite(place).all():
        raise InputError("The 'values' of simulate_ratings must be finite numbers, one for each item.")
    return place


def _of_each(name: str, given: Any, drawn: np.ndarray, low: float, high: float = np.inf) -> np.ndarray:
    """Return the parameter of each rater, as given or else drawn."""
    if given is None:
        return drawn
    values = np.asarray(given, dtype=float)
    is_valid = values.shape in ((), drawn.shape) and bool(((values >= low) & (values <= high)).all())
    if not is_valid:
        limits = f" from {low:g} to {high:g}" if np.isfinite(high) else " of at least 0" if low == 0 else ""
        raise InputError(
            f"The '{name}' parameter of simulate_ratings must be a number{limits}, or one for each of the {len(drawn)} "
            f"annotators. Got {given!r} instead."
        )
    return np.broadcast_to(values, drawn.shape)
