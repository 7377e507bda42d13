"""How often the 90 % intervals of annotators' accuracy contain the true one, and how wide they are.

``python -m benchmarks.accuracy_intervals`` prints the share by number of labels an item: the mean over 32 kinds of
simulated crowds with ten draws each, and the lowest and highest of the kinds. The method was chosen on even draws, of 8
of these kinds; these are the odd ones. ``python -m benchmarks.accuracy_intervals shared`` prints it where people share
errors: on crowds that mistake 15 % of the items for one other class, and on the nine recorded sets (needs
CONSILIENCE_DATA), of annotators with `FEWEST` labels of items whose class is known; the true accuracy is then the share
of these labels that are right. Each is printed without the calibration and with it, which widens the intervals.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.people.label_crowds import RECORDED, Crowd, recorded
from consilience import Labels
from consilience.consensus import DawidSkene
from consilience.errors import AnnotationWarning, CalibrationWarning
from consilience.simulation import simulate_labels

DRAWS = range(1, 21, 2)
LABELS_AN_ITEM = (2, 3, 5, 10)
FEWEST = 20  # labels of an annotator whose true share is known
N_ITEMS, N_CLASSES, N_ANNOTATORS, SHARE_HARD = 400, 4, 20, 0.15


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


def hard(draw: int) -> Crowd:
    """Simulate twenty annotators, five labels an item, of whom 80 % take 15 % of the items for one other class."""
    rng = np.random.default_rng([draw, 15])
    size = (N_ITEMS, N_ANNOTATORS)
    truth, accuracy = rng.integers(N_CLASSES, size=N_ITEMS), rng.uniform(0.6, 0.95, N_ANNOTATORS)
    is_hard = rng.random(N_ITEMS) < SHARE_HARD
    lure = (truth + rng.integers(1, N_CLASSES, size=N_ITEMS)) % N_CLASSES
    other = (truth[:, None] + rng.integers(1, N_CLASSES, size=size)) % N_CLASSES
    said = np.where(rng.random(size) < accuracy, truth[:, None], other)
    said = np.where(is_hard[:, None] & (rng.random(size) < 0.8), lure[:, None], said)
    chosen = rng.random(size).argsort(1) < 5
    return Crowd(Labels.from_matrix(np.where(chosen, said, -1), missing=-1, classes=range(N_CLASSES)), truth)


def share_right(crowd: Crowd) -> np.ndarray:
    """Return the share of the labels of each annotator that are right; NaN with few whose class is known."""
    labels, known = crowd.labels, crowd.truth[crowd.labels.item] >= 0
    annotator = labels.annotator[known]
    number = np.bincount(annotator, minlength=labels.n_annotators)
    right = np.bincount(annotator, labels.label[known] == crowd.truth[labels.item[known]], labels.n_annotators)
    return np.where(number >= FEWEST, right / np.maximum(number, 1), np.nan)


def judge(labels: Labels, accuracy: np.ndarray, confusion: str, *, calibrate: bool) -> tuple[float, float]:
    """Return the share of annotators whose interval contains their accuracy, and the mean width."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        warnings.simplefilter("ignore", CalibrationWarning)
        table = DawidSkene(confusion, calibrate=calibrate).fit(labels).annotators_  # type: ignore[arg-type]
    low, high = (table.loc[labels.annotators, f"accuracy_{end}"].to_numpy() for end in ("low", "high"))
    known = ~np.isnan(low) & ~np.isnan(accuracy)
    inside = (low <= accuracy) & (accuracy <= high)
    return float(inside[known].mean()), float((high - low)[known].mean())


def coverage(kind: Kind, draw: int, *, calibrate: bool = True) -> float:
    """Return the share of annotators whose interval contains their accuracy."""
    labels, accuracy = crowd(kind, draw)
    return judge(labels, accuracy, kind.confusion, calibrate=calibrate)[0]


def main() -> None:
    """Print the table of crowds that err independently."""
    for each in LABELS_AN_ITEM:
        line = f"{each:2d} labels an item:"
        for calibrate in (False, True):
            found = [np.mean([coverage(kind, draw, calibrate=calibrate) for draw in DRAWS]) for kind in kinds(each)]
            line += f"  {'with' if calibrate else 'without'} the calibration {np.mean(found):.2f}"
            line += f" ({np.min(found):.2f} to {np.max(found):.2f})"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def say_shared() -> None:
    """Print the table of crowds that share errors."""
    crowds = {"15 % hard items": [hard(draw) for draw in DRAWS]} | {name: [recorded(name)] for name in RECORDED}
    total = []
    for name, own in crowds.items():
        found = [
            [judge(one.labels, share_right(one), "full", calibrate=calibrate) for one in own]
            for calibrate in (False, True)
        ]
        (before, narrow), (after, wide) = np.mean(found, axis=1)
        total += [(before, narrow, after, wide)] * (name in RECORDED)
        say(name, before, narrow, after, wide)
    say("mean of the nine sets", *np.mean(total, axis=0))


def say(name: str, before: float, narrow: float, after: float, wide: float) -> None:
    """Print a line of the table."""
    line = f"{name:24s} without the calibration {before:.2f} ({narrow:.2f} wide), with it {after:.2f} ({wide:.2f} wide)"
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {"shared": say_shared}.get("".join(sys.argv[1:]), main)()
