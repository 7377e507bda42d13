"""Samples of the items of very large crowds, for what is decided once: a temperature, a number of subtypes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from consilience.annotations import Labels

MOST_LABELS = 100_000


def sampled_items(labels: Labels, wanted: Bool[np.ndarray, " items"]) -> Int[np.ndarray, " sampled"]:
    """Return the wanted items, or evenly spaced ones of them, with about `MOST_LABELS` labels."""
    items = np.flatnonzero(wanted)
    n_labels = int(np.diff(labels.indptr)[items].sum())
    if n_labels <= MOST_LABELS:
        return items
    number = max(int(len(items) * MOST_LABELS / n_labels), 1)
    return items[np.linspace(0, len(items) - 1, number).astype(int)]
