"""The crowds of the page on labels: recorded ones, recorded ones of which few labels are kept, labels of which only the
counts were recorded, and simulated ones: of classes, of ratings, and beside features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.features import DIGITS, SHIFTS, draw_study
from benchmarks.ratings import KINDS
from consilience import Labels
from consilience.datasets import load_cifar10h, load_crowd_labels
from consilience.simulation import simulate_labels

RECORDED = ("bluebird", "dog", "rte", "cf_amt", "sp_amt", "zencrowd_in", "sentiment", "adult", "fact_eval")
THINNED = {f"{name}, {each} labels an item": (name, each) for name in ("bluebird", "dog", "rte") for each in (2, 3)}
COUNTED = {f"cifar10h, {each} labels an item": each for each in (2, 3, 5)}
N_COUNTED = 2000  # pictures of a draw
RATED = ("5 raters", "10 raters, 3 of them lapse", "30 raters, 5 an item", "30 raters, 5 an item, lowest level")
FEATURED = (*SHIFTS, DIGITS)

N_ITEMS, N_ANNOTATORS, N_AT_RANDOM = 300, 24, 3
ACCURACY = (0.55, 0.9)  # of those who do not label at random
LARGEST = 0.7  # share of the largest class, where classes are unbalanced


@dataclass(frozen=True)
class Crowd:
    """Labels, and the class of each item where it is known.

    Attributes
    ----------
    labels : of all items
    truth : code of the class of each item, of shape (n_items,); -1 where it is not known
    confusion : of the simulated annotators, of shape (n_annotators, n_classes, n_classes)
    """

    labels: Labels
    truth: np.ndarray
    confusion: np.ndarray | None = None


def recorded(name: str) -> Crowd:
    """Return the labels of a recorded set."""
    bunch = load_crowd_labels(name)
    return Crowd(bunch.annotations, np.nan_to_num(bunch.target, nan=-1).astype(int))


def thinned(setting: str, draw: int) -> Crowd:
    """Return a recorded set with few random labels of each item, and those who gave them."""
    name, each = THINNED[setting]
    whole = recorded(name)
    kept = some_of_each(whole.labels, each, np.random.default_rng([draw, each]))
    return Crowd(of_rows(whole.labels, kept), whole.truth)


def counted(setting: str, draw: int) -> Crowd:
    """Return few random labels of some pictures, each by an annotator of its own; the truth is what most others say."""
    each = COUNTED[setting]
    rng = np.random.default_rng([draw, each])
    pictures = load_cifar10h()
    some = np.sort(rng.permutation(len(pictures.counts))[:N_COUNTED])
    labels, counts = pictures.annotations[some], pictures.counts.to_numpy()[some]
    kept = some_of_each(labels, each, rng)
    others = counts - np.histogram2d(labels.item[kept], labels.label[kept], [range(n + 1) for n in counts.shape])[0]
    is_alone = (others == others.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return Crowd(of_rows(labels, kept), np.where(is_alone, others.argmax(axis=1), -1))


def some_of_each(labels: Labels, each: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows of so many random labels of each item."""
    order = np.lexsort([rng.random(labels.n_rows), labels.item])  # rows are sorted by item: this shuffles those of each
    place = np.arange(labels.n_rows) - labels.indptr[labels.item]
    return np.sort(order[place < each])


def of_rows(labels: Labels, rows: np.ndarray) -> Labels:
    """Return some of the labels, of the same items and classes, by those annotators who gave them."""
    return Labels.from_frame(labels.to_frame().iloc[rows], items=labels.items, classes=labels.classes)


@dataclass(frozen=True)
class Kind:
    """A kind of simulated crowd."""

    n_classes: int
    is_balanced: bool
    each: int

    @property
    def name(self) -> str:
        classes = f"{self.n_classes} classes, {'balanced' if self.is_balanced else 'unbalanced'}"
        return f"{classes}, {self.each} labels an item"


SIMULATED = {
    kind.name: kind
    for n_classes in (2, 5, 10)
    for is_balanced in (True, False)
    for each in (2, 3, 5)
    for kind in [Kind(n_classes, is_balanced, each)]
}


def simulated(name: str, draw: int) -> Crowd:
    """Return a simulated crowd, in which the first annotators label at random."""
    kind = SIMULATED[name]
    rng = np.random.default_rng([draw, kind.n_classes, kind.is_balanced, kind.each])
    truth = rng.permutation(classes_of(kind))
    confusion = confusions(kind.n_classes, rng)
    labels = simulate_labels(truth, confusion=confusion, annotators_per_item=kind.each, random_state=rng)
    return Crowd(labels, truth, confusion)


def classes_of(kind: Kind) -> np.ndarray:
    """Return the classes of the items: as many of each, or most of the first and as many of each of the others."""
    if kind.is_balanced:
        return np.arange(N_ITEMS) % kind.n_classes
    n_others = N_ITEMS - round(LARGEST * N_ITEMS)
    others = 1 + np.arange(n_others) % (kind.n_classes - 1)
    return np.concatenate([np.zeros(N_ITEMS - n_others, dtype=int), others])


def confusions(n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Draw confusion matrices: each annotator's accuracy, and for each class how the wrong labels divide."""
    accuracy = rng.uniform(*ACCURACY, N_ANNOTATORS)[:, None, None]
    right = np.eye(n_classes, dtype=bool)
    wrong = np.where(right, 0.0, rng.exponential(size=(N_ANNOTATORS, n_classes, n_classes)))
    found = np.where(right, accuracy, (1 - accuracy) * wrong / wrong.sum(axis=2, keepdims=True))
    found[:N_AT_RANDOM] = 1 / n_classes
    return found


def rated(kind: str, draw: int) -> Crowd:
    """Return simulated ratings, and the level of each item."""
    values, labels = KINDS[kind].draw(draw)
    return Crowd(labels, np.floor(values - 0.5).astype(int))


def featured(kind: str, draw: int) -> tuple[Crowd, np.ndarray]:
    """Return simulated labels, and features of the items."""
    study = draw_study(kind, draw)
    return Crowd(study.labels, study.truth), study.features


def unlabelled(kind: str, draw: int) -> tuple[Crowd, np.ndarray]:
    """Return the same without the labels of a third of the items, which alone have a known class."""
    whole, features = featured(kind, draw)
    n_items = len(whole.truth)
    is_hidden = np.random.default_rng(draw).permutation(n_items) < n_items // 3
    kept = np.flatnonzero(~is_hidden[whole.labels.item])
    return Crowd(of_rows(whole.labels, kept).by_position(), np.where(is_hidden, whole.truth, -1)), features
