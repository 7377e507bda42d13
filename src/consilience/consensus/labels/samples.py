"""Samples of the items of very large crowds, for what is decided once: a temperature, a number of subtypes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.annotations import Labels
from consilience.annotations.further_labels import is_further

MOST_LABELS = 100_000
MOST_CELLS = 1 << 20  # labels × classes


def have_several(labels: Labels) -> Bool[np.ndarray, " items"]:
    """Whether each item has labels by several annotators."""
    first = ~is_further(labels.item, labels.annotator)
    return np.asarray(np.bincount(labels.item[first], minlength=len(labels)) > 1)


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


def take_items(labels: Labels, chosen: Bool[np.ndarray, " items"]) -> Labels:
    """Return some items with their labels."""
    rows = chosen[labels.item]
    place = np.cumsum(chosen) - 1
    return replace(
        labels,
        items=pd.RangeIndex(int(chosen.sum())),
        item=place[labels.item[rows]],
        annotator=labels.annotator[rows],
        label=labels.label[rows],
    )


def join_labels(parts: list[Labels]) -> Labels:
    """Join the labels of several partitions."""
    first = np.cumsum([0, *map(len, parts)])
    return replace(
        parts[0],
        items=pd.RangeIndex(int(first[-1])),
        item=np.concatenate([start + part.item for start, part in zip(first, parts)]),
        annotator=np.concatenate([part.annotator for part in parts]),
        label=np.concatenate([part.label for part in parts]),
    )
