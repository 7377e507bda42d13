"""Annotators who give the same label to everything, whatever the others say of the items.

Such labels tell nothing about the items' classes. But they count as votes, they raise the proportion of one class, and
a model with one accuracy for all classes can take them for the labels of an expert. An annotator whose labels are all
the same may also have seen items of one class only; then the others' labels of these items are as they are wherever
somebody gives this label, l, and otherwise as they are of any item:

    π_z, A_zy     class of an item, and label of an item of class z: the crowd of `pairs_of_labels`
    L_nz          = Π A_zy over the others' labels y of item n
    T_j           = Σ_n ln (Σ_z π_z L_nz / Σ_z p(z | l) L_nz),  p(z | l) ∝ π_z A_zl,  n the items of annotator j

The denominator is the probability of the others' labels if annotator j labels as the crowd does, the numerator if the
label of j is independent of the class. So exp T_j is 1 on average for an annotator of the crowd, and T_j exceeds
ln(J / level) for any of J such annotators with at most the probability `level` (Markov's inequality).

Decided here
------------
The crowd is that of the annotators with more than one label in use; the others' labels are theirs. `level` is 1 %.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import logsumexp

from consilience.annotations import Labels
from consilience.annotations.fit_arguments import first_named
from consilience.annotations.names import outside
from consilience.consensus.labels.annotator_models import Counts
from consilience.consensus.labels.pairs_of_labels import PairSums, proportions_of_pairs
from consilience.errors import AnnotationWarning
from consilience.inference.label_counts import IMPROBABLE
from consilience.inference.parts import OnePart, Parts
from consilience.inference.product_distributions import Responsibilities
from consilience.inference.sparse_tables import SparseTable

LEVEL = 0.01

Annotators = Bool[np.ndarray, " annotators"]
CountsOfAll = Float[np.ndarray, "everyone labels classes"]  # those of the labels first


def constant_annotators(labels: Labels) -> Bool[np.ndarray, " annotators"]:
    """Whether each annotator gave one label to everything, independently of the others' labels."""
    return constant_among(OnePart(LabelsAlone(labels)), count_labels(labels))


@dataclass(frozen=True)
class LabelsAlone:
    """A part of the items that is nothing but their labels."""

    labels: Labels


def constant_among(parts: Parts, counts: Int[np.ndarray, "annotators labels"]) -> Annotators:
    """Whether each annotator is constant, from sums over parts that have `labels`.

    counts : number of labels of each annotator, of each class.
    """
    same = (counts > 0).sum(1) == 1
    if not same.any() or same.all():
        return np.zeros(len(same), dtype=bool)
    shares, accuracy = proportions_of_pairs(parts.total(count_pairs_without, same).pairs)
    n_classes = counts.shape[1]
    crowd = np.where(np.eye(n_classes, dtype=bool), accuracy, (1 - accuracy) / (n_classes - 1))
    statistic = parts.total(evidence_of_constancy, same, shares, crowd)
    return same & (statistic > np.log(np.count_nonzero(counts.any(1)) / LEVEL))


def count_labels(labels: Labels) -> Int[np.ndarray, "annotators labels"]:
    """Number of labels of each annotator, of each class."""
    shape = (labels.n_annotators, labels.n_classes)
    return np.bincount(labels.annotator * shape[1] + labels.label, minlength=shape[0] * shape[1]).reshape(shape)


def count_pairs_without(part: Any, annotators: Annotators) -> PairSums:
    """Count pairs of labels of a part, but of some annotators."""
    return PairSums.of(without(part.labels, annotators))


def evidence_of_constancy(
    part: Any, same: Annotators, shares: Float[np.ndarray, " classes"], crowd: Float[np.ndarray, "classes labels"]
) -> Float[np.ndarray, " annotators"]:
    """T_j of a part, for annotators whose labels are all the same; 0 for others."""
    labels: Labels = part.labels
    others = ~same[labels.annotator]
    votes = np.zeros((len(labels), labels.n_classes))
    np.add.at(votes, (labels.item[others], labels.label[others]), 1.0)
    log_likelihood = votes @ np.log(crowd).T
    given = np.log(shares) + np.log(crowd.T)  # row l: ln p(z | l), but for a constant
    given -= logsumexp(given, axis=1, keepdims=True)
    rows = np.flatnonzero(~others)
    of_items = log_likelihood[labels.item[rows]]
    each = logsumexp(of_items + np.log(shares), axis=1) - logsumexp(of_items + given[labels.label[rows]], axis=1)
    return np.bincount(labels.annotator[rows], each, len(same)).astype(float)  # without rows it would be integers


def constant_here_and_before(labels: Labels, history: CountsOfAll | float) -> Bool[np.ndarray, " annotators"]:
    """Whether each annotator is constant, and has given no other label in a history, whose annotators begin with these.

    history : counts of earlier labels, or 0.
    """
    found = constant_annotators(labels)
    if isinstance(history, np.ndarray) and found.any():
        before = history.sum(2)[: len(found)]
        only = np.zeros(len(found), dtype=int)
        only[labels.annotator] = labels.label
        found &= before.sum(1) == before[np.arange(len(found)), only]
    return found


def counts_of(
    labels: Labels, responsibilities: Responsibilities, annotators: Bool[np.ndarray, " annotators"]
) -> Counts:
    """Return the expected number of labels of some annotators by class; 0 for the others."""
    rows = annotators[labels.annotator]
    counts = np.zeros((len(annotators), labels.n_classes, labels.n_classes))
    np.add.at(counts, (labels.annotator[rows], labels.label[rows]), responsibilities[labels.item[rows]])
    return counts


def as_constant(counts: Counts) -> Float[np.ndarray, "annotators classes labels"]:
    """Return confusion matrices of annotators whose labels do not depend on the class."""
    said = counts.sum(2) + 1  # imagined, so that no probability is 0
    return np.repeat((said / said.sum(1, keepdims=True))[:, None], counts.shape[1], axis=1)


def sparse_counts(
    labels: Labels, responsibilities: Responsibilities, weight: Float[np.ndarray, " labels"] | None, n_annotators: int
) -> SparseTable:
    """Return the expected number of labels of annotators by class, without those of improbable classes.

    weight : of each label; by default 1.
    """
    n_classes = labels.n_classes
    column = labels.annotator * n_classes + labels.label
    values = np.ones(labels.n_rows) if weight is None else weight
    said = csr_array((values, (column, labels.item)), shape=(n_annotators * n_classes, len(labels)))
    probable = csr_array(np.where(responsibilities > IMPROBABLE, responsibilities, 0.0))
    return SparseTable(np.zeros((n_annotators, n_classes)), (said @ probable).tocsr())


def sparse_constant(said: Int[np.ndarray, "annotators labels"]) -> SparseTable:
    """Return the confusion matrices of annotators whose labels, so many of each class, do not depend on the class."""
    n_labels = said.shape[1]
    base = 1 / (said.sum(1) + n_labels)  # imagined, so that no probability is 0
    rest = csr_array(said.reshape(-1, 1) * np.repeat(base, n_labels)[:, None]) @ csr_array(np.ones((1, n_labels)))
    return SparseTable(np.repeat(base[:, None], n_labels, axis=1), rest.tocsr())


def warn_of_constant(labels: Labels, annotators: Bool[np.ndarray, " annotators"], model: str) -> None:
    """Warn of annotators who are not heard, if there are any."""
    names = labels.annotators[annotators]
    if len(names) == 0:
        return
    who, has = (f"{len(names)} annotators each", "have") if len(names) > 1 else ("1 annotator", "has")
    warnings.warn(
        f"{model}: {who} gave the same label to everything, whatever others say of it, and {has} no influence on the "
        f"classes: {first_named(names)}.",
        AnnotationWarning,
        stacklevel=outside(),
    )


def without(labels: Labels, annotators: Bool[np.ndarray, " annotators"]) -> Labels:
    """Return the labels without those by some annotators, who stay among the annotators."""
    if not annotators.any():
        return labels  # of many, a copy is large
    rows = ~annotators[labels.annotator]
    return replace(labels, item=labels.item[rows], annotator=labels.annotator[rows], label=labels.label[rows])
