"""Proportions of the classes from pairs of labels, as a prior for models that read all of them.

Where items have few labels, learning the proportions and the confusion matrices together is unstable: a class loses a
few items, then its proportion falls, then it loses more. Pairs of labels of one item by different annotators say how
common the classes are before any item is assigned.

Model
-----
    π        ~ Dirichlet(b, …, b)
    a        ~ Beta(4, 1.5)                     accuracy of the crowd, above chance
    z        ~ Categorical(π)                   class of the item of a pair
    y_1, y_2 ~ A_z                              independently; A_kk = a, A_kl = (1 - a) / (K - 1) for l ≠ k

Annotators differ; two labels of different annotators nevertheless have the crowd's mean accuracy each, since the
annotators are independent given the class. π and a are the most probable ones, by EM on the table of pairs:

    N_kl = pairs with the labels k and l         `pair_counts`
    H_kl = Σ_j π_j A_jk A_jl,   W = N / H
    π_k ∝ b - 1 + π_k (c² Σ W + 2 c d W_k· + d² W_kk)           c = (1 - a) / (K - 1), d = a - c
    a   = (3 + right) / (3.5 + 2 Σ N),  right = 2 a Σ_k π_k (c W_k· + d W_kk)

Decided here
------------
An item of m labels has m (m - 1) / 2 pairs, which are not independent: they count m / 2 together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Labels
from consilience.annotations.further_labels import is_further, sum_cells
from consilience.consensus.labels.samples import have_several
from consilience.inference.parts import Additive

EVEN = 5.0  # b: draws π towards equal proportions
ACCURACY = (4.0, 1.5)  # Beta distribution of a
LEAST_ABOVE_CHANCE = 0.02
SWEEPS = 500
TOLERANCE = 1e-8  # change of π and a in a sweep


@dataclass(frozen=True)
class PairSums(Additive):
    """Pairs of labels of an item, and the numbers that say how much these tell.

    n_several, n_labelled : items with labels by several annotators, and with any.
    of_class : labels of each class.
    n_of_known : labels of items whose class is known.
    """

    pairs: Float[np.ndarray, "labels labels"]
    n_several: int
    n_labelled: int
    of_class: Float[np.ndarray, " labels"]
    n_of_known: int = 0

    @classmethod
    def of(cls, labels: Labels, known: Int[np.ndarray, " items"] | None = None) -> PairSums:
        """Count pairs of labels; `known` are classes of items, -1 for others."""
        n_labels = np.diff(labels.indptr)
        return cls(
            pair_counts(labels),
            int(have_several(labels).sum()),
            int((n_labels > 0).sum()),
            np.bincount(labels.label, minlength=labels.n_classes).astype(float),
            0 if known is None else int(n_labels[known >= 0].sum()),
        )

    @property
    def n_compared(self) -> int:
        """Number of labels of items with several."""
        return round(2 * self.pairs.sum())


def pair_counts(labels: Labels) -> Float[np.ndarray, "labels labels"]:
    """Weighted number of pairs of labels of an item by different annotators, symmetric.

    Each item with such pairs counts half the number of its labels.
    """
    item, ones = labels.item, np.ones(labels.n_rows)
    n_labels = np.diff(labels.indptr)
    n_pairs = n_labels**2 - np.bincount(item, sum_cells(ones, item, labels.annotator), len(labels))
    weight = np.divide(n_labels / 2, n_pairs, out=np.zeros(len(labels)), where=n_pairs > 0)[item]

    def products_within(row: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "labels labels"]:
        shape = (int(row.max(initial=-1)) + 1, labels.n_classes)
        weighted, counts = (csr_array((each, (row, labels.label)), shape) for each in (weight, ones))
        return np.asarray((weighted.T @ counts).toarray())

    further = is_further(item, labels.annotator)
    if not further.any():  # each cell has one label, with itself
        return products_within(item) - np.diag(np.bincount(labels.label, weight, labels.n_classes))
    return products_within(item) - products_within(np.cumsum(~further) - 1)


def proportions_of_pairs(pairs: Float[np.ndarray, "labels labels"]) -> tuple[Float[np.ndarray, " classes"], float]:
    """Return the most probable π and a of the model above, from the counts of pairs."""
    n_classes, total = len(pairs), pairs.sum()
    proportions = np.full(n_classes, 1 / n_classes)
    accuracy = ACCURACY[0] / sum(ACCURACY)
    if n_classes == 1 or total == 0:
        return proportions, accuracy
    one, another = np.nonzero(pairs)
    counts, same = pairs[one, another], one == another
    for _ in range(SWEEPS):
        other = (1 - accuracy) / (n_classes - 1)
        more = accuracy - other
        shared = other**2 + other * more * (proportions[one] + proportions[another]) + same * more**2 * proportions[one]
        ratio = counts / shared
        with_class, both = (np.bincount(one, each, n_classes) for each in (ratio, same * ratio))
        expected = proportions * (other**2 * ratio.sum() + 2 * other * more * with_class + more**2 * both)
        right = 2 * accuracy * (proportions @ (other * with_class + more * both))
        found = (expected + EVEN - 1) / (expected + EVEN - 1).sum()  # the mode of a Dirichlet distribution
        chance = 1 / n_classes + LEAST_ABOVE_CHANCE
        # the mode of a Beta distribution
        better = max((right + ACCURACY[0] - 1) / (2 * total + sum(ACCURACY) - 2), chance)
        change = max(np.abs(found - proportions).max(), abs(better - accuracy))
        proportions, accuracy = found, better
        if change < TOLERANCE:
            break
    return proportions, float(accuracy)
