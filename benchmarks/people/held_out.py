"""Same/different judgements of people who were held out: how they are divided and weighted, and predictions judged.

Decided here
------------
The people of a crowd are divided at random into fifths. Draws 1, 3, 5, 7 and 9 hold out one fifth each, so that over
these every person is held out once; even draws do so in another division. People count equally, however many judgements
each made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.experiments.statistics import Difference
from consilience import Groupings, Pairs

N_FOLDS = 5
CLIP = 0.01  # probabilities are at least this far from 0 and 1, as in consilience.selection.compare
N_BINS = 10


@dataclass(frozen=True)
class Crowd:
    """Groupings or pairs, and the class of each item where it is known.

    Attributes
    ----------
    annotations : of all items
    truth : code of the class of each item, of shape (n_items,), or None
    """

    annotations: Groupings | Pairs
    truth: np.ndarray | None = None


@dataclass(frozen=True)
class Judgements:
    """Whether a person put two items together, for each pair that the person saw on one occasion.

    Attributes
    ----------
    first, second : positions of the items, the lower one first
    person : position of the annotator
    same : whether the two were put together
    """

    first: np.ndarray
    second: np.ndarray
    person: np.ndarray
    same: np.ndarray

    @classmethod
    def of(cls, annotations: Groupings | Pairs) -> Judgements:
        pairs = annotations.to_pairs() if isinstance(annotations, Groupings) else annotations
        a, b = pairs.item_a, pairs.item_b
        return cls(np.minimum(a, b), np.maximum(a, b), pairs.annotator, pairs.same.astype(float))

    def where(self, kept: np.ndarray) -> Judgements:
        """Return some of the judgements."""
        return Judgements(self.first[kept], self.second[kept], self.person[kept], self.same[kept])

    @property
    def weight(self) -> np.ndarray:
        """Weights with the mean 1 that make people count equally."""
        each = 1 / np.bincount(self.person)[self.person]
        return each * (len(each) / each.sum())


def held_out(n_people: int, draw: int) -> np.ndarray:
    """Return which people a draw holds out, of shape (n_people,)."""
    order = np.random.default_rng([draw % 2, n_people]).permutation(n_people)
    return order % N_FOLDS == draw // 2 % N_FOLDS


def losses(same: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return the log loss of each judgement, in nats."""
    clipped = np.clip(probability, CLIP, 1 - CLIP)
    return -np.log(np.where(same > 0.5, clipped, 1 - clipped))


def of_people(judgements: Judgements, values: np.ndarray) -> np.ndarray:
    """Return the mean of values of judgements for each person who made some."""
    counts = np.bincount(judgements.person)
    return np.bincount(judgements.person, values)[counts > 0] / counts[counts > 0]


def gaps_of_bins(judgements: Judgements, probability: np.ndarray) -> np.ndarray:
    """Return for each bin of probability: share put together - mean probability, times the share of judgements."""
    bins = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    return np.bincount(bins, judgements.weight * (judgements.same - probability), N_BINS) / len(bins)


def judged(judgements: Judgements, probability: np.ndarray, reference: np.ndarray) -> dict[str, Any]:
    """Judge the probabilities of judgements, beside those of a reference.

    Returns
    -------
    dict
        loss : mean over people of their mean log loss
        gap, spread : of the people's losses less those with the reference, the mean and the sum of squares around it
        bins : see `gaps_of_bins`; the sum of their sizes is the expected calibration error
    """
    own = of_people(judgements, losses(judgements.same, probability))
    gap = own - of_people(judgements, losses(judgements.same, reference))
    return {
        "loss": own.mean(),
        "gap": gap.mean(),
        "spread": ((gap - gap.mean()) ** 2).sum(),
        "bins": gaps_of_bins(judgements, probability),
    }


def pooled(n_people: np.ndarray, means: np.ndarray, spreads: np.ndarray) -> Difference:
    """Return a mean over the people of several draws with its standard error, from those of each draw."""
    total = n_people.sum()
    mean = (n_people * means).sum() / total
    squares = spreads.sum() + (n_people * (means - mean) ** 2).sum()
    return Difference(float(mean), float(np.sqrt(squares / (total - 1) / total)))


def pooled_calibration_error(n_people: np.ndarray, bins: np.ndarray) -> float:
    """Return the expected calibration error over the people of several draws, from bins of shape (n_draws, n_bins)."""
    return float(np.abs((n_people[:, None] * bins).sum(axis=0)).sum() / n_people.sum())
