"""How often the 90 % intervals of annotators' accuracy contain the true one, on simulated crowds.

``python -m benchmarks.accuracy_intervals`` prints the share by number of labels an item: the mean over 32 kinds of
crowds with ten draws each, and the lowest and highest of the kinds. The method was chosen on even draws, of 8 of these
kinds; these are the odd ones.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np

from consilience import Labels
from consilience.consensus import DawidSkene
from consilience.errors import AnnotationWarning
from consilience.simulation import simulate_labels

DRAWS = range(1, 21, 2)
LABELS_AN_ITEM = (2, 3, 5, 10)


@dataclass(frozen=True)
class Kind:
    """A kind of crowd: `at_random` is the share of annotators who label at random."""

    n_classes: int
    n_annotators: int
    n_items: int
    each: int
    confusion: str
    at_random: float


def kinds(each: int) -> list[Kind]:
    """Return the kinds of crowds with this number of labels an item."""
    grid = product((2, 4), (10, 40), (100, 400), ("full", "one-coin"), (0.0, 0.25))
    return [Kind(classes, people, items, each, confusion, share) for classes, people, items, confusion, share in grid]


def crowd(kind: Kind, draw: int) -> tuple[Labels, np.ndarray]:
    """Return labels, and the accuracy of each annotator."""
    rng = np.random.default_rng([draw, kind.n_classes, kind.n_annotators, kind.n_items, kind.each])
    n_classes, n_annotators = kind.n_classes, kind.n_annotators
    true = rng.permutation(np.arange(kind.n_items) % n_classes)
    accuracy = rng.uniform(0.5 if n_classes == 2 else 0.4, 0.95, n_annotators)
    accuracy[: int(kind.at_random * n_annotators)] = 1 / n_classes
    wrong = rng.exponential(size=(n_annotators, n_classes, n_classes)) * (1 - np.eye(n_classes))
    right = np.repeat(accuracy[:, None], n_classes, axis=1)
    if kind.confusion == "full":
        right = rng.beta(10 * right, 10 * (1 - right))
    matrices = np.eye(n_classes) * right[:, :, None] + (1 - right)[:, :, None] * wrong / wrong.sum(2, keepdims=True)
    labels = simulate_labels(true, confusion=matrices, annotators_per_item=kind.each, random_state=rng)
    return labels, right @ (np.bincount(true) / kind.n_items)


def coverage(kind: Kind, draw: int) -> float:
    """Return the share of annotators whose interval contains their accuracy."""
    labels, accuracy = crowd(kind, draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        table = DawidSkene(kind.confusion).fit(labels).annotators_  # type: ignore[arg-type]
    inside = (table["accuracy_low"] <= accuracy) & (accuracy <= table["accuracy_high"])
    return float(inside[table["accuracy_low"].notna()].mean())


def main() -> None:
    """Print the table."""
    for each in LABELS_AN_ITEM:
        found = [np.mean([coverage(kind, draw) for draw in DRAWS]) for kind in kinds(each)]
        line = f"{each:2d} labels an item: {np.mean(found):.2f} ({np.min(found):.2f} to {np.max(found):.2f})"
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
