"""Samples of the items of very large crowds, for what is decided once: a temperature, a number of subtypes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from consilience.annotations import Labels

MOST_LABELS = 100_000


def sampled_items(labels: Labels, wanted: Bool[np.ndarray, " items"]) -> Int[np.ndarray, " sampled"]:
    """Return the wanted items, or evenly spaced ones of them, with about `MOST_LABELS` labels."""
    items = np.flatnonzero(wanted)
    return items[sampled_places(len(items), int(np.diff(labels.indptr)[items].sum()))]


def sampled_places(n_items: int, n_labels: int) -> Int[np.ndarray, " sampled"]:
    """Return the places of all items, or of evenly spaced ones if they have more labels than `MOST_LABELS`."""
    if n_labels <= MOST_LABELS:
        return np.arange(n_items)
    number = max(int(n_items * MOST_LABELS / n_labels), 1)
    return np.linspace(0, n_items - 1, number).astype(int)
