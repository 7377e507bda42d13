"""Samples of the items of very large crowds, for what is decided once: a temperature, a number of subtypes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from consilience.annotations import Labels

MOST_LABELS = 100_000
MOST_CELLS = 1 << 20  # labels × classes


def sampled_items(labels: Labels, wanted: Bool[np.ndarray, " items"]) -> Int[np.ndarray, " sampled"]:
    """Return the wanted items, or evenly spaced ones, with about `MOST_LABELS` labels; fewer of many classes."""
    items = np.flatnonzero(wanted)
    return items[sampled_places(len(items), int(np.diff(labels.indptr)[items].sum()), most_labels(labels.n_classes))]


def most_labels(n_classes: int) -> int:
    """Return how many labels a sample has at most."""
    return min(MOST_LABELS, MOST_CELLS // n_classes)


def sampled_places(n_items: int, n_labels: int, most: int) -> Int[np.ndarray, " sampled"]:
    """Return the places of all items, or of evenly spaced ones if they have more labels than `most`."""
    if n_labels <= most:
        return np.arange(n_items)
    number = max(int(n_items * most / n_labels), 1)
    return np.linspace(0, n_items - 1, number).astype(int)
