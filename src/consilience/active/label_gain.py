"""What one more label of an item is expected to gain, by the posterior of a model of labels.

Model
-----
    c_n ~ Categorical(p_n)              class of item n, given its labels so far
    y_nj | c_n = k ~ Categorical(θ_jk)  a label that annotator j would give it
    p_n = (1 - v) r_n + v s_n           r: by the model;  s = (votes + π) / (n_labels + 1): by the votes alone

The expected error of an item after labels y is ε_n(y) = E_y[1 - max_k p(c_n = k | y)]. A single label often changes
no class, but two or three would: so the gain is that of the best number of labels, the first by annotator j and the
others by annotators like the crowd, for each of them,

    G_nj = max_m (ε_n(nothing) - ε_n(y_nj, m - 1 labels by the crowd)) / m,    m = 1, 2, 3

If the item waits for an answer already, one label by the crowd is on both sides of the difference.

Symbols
-------
    here                     shape
    p       posterior        (items, classes)
    θ_j     confusion        (classes, labels)
    θ       crowd            (classes, labels), mean of the annotators
    G       gain             (items,), errors for each label

Decided here
------------
v = `VOTES`: the posterior is sure of items that a few annotators agree on, whom it has come to trust by the same
labels. Without the votes, their errors are never asked about again (`benchmarks/next_label.py`, even draws). Only the
`CLASSES` most probable classes of an item are told apart, and all other labels count as one. An item that no three
labels would change has a gain of `LITTLE` of its error, so that such items are in order, too. The reduction of log loss
orders items worse: it values to be sure of an item whose class is found.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.annotations import Labels
from consilience.estimators.annotator_tables import confusion_of

VOTES = 0.35  # v
AHEAD = 3  # labels
CLASSES = 4  # that are told apart
LITTLE = 1e-3  # share of the error
CHUNK = 4096  # items at a time

Posterior = Float[np.ndarray, "items classes"]
Confusion = Float[np.ndarray, "classes labels"]
OfLabels = Float[np.ndarray, "items classes labels"]
OfCounts = Float[np.ndarray, "items classes counts"]
Gain = Float[np.ndarray, " items"]


def confusion_or_crowd(model: Any, annotator: Any) -> Confusion:
    """Confusion matrix of an annotator; that of the crowd for None."""
    if annotator is None:
        return np.asarray(model._of_newcomer())
    return confusion_of(model, annotator)


def add_votes(probabilities: Posterior, labels: Labels) -> Posterior:
    """Return p from the model's probabilities of the classes that labels name."""
    votes = np.zeros_like(probabilities)
    np.add.at(votes, (labels.item, labels.label), 1.0)
    shares = (votes + probabilities.mean(0)) / (votes.sum(1, keepdims=True) + 1)
    return (1 - VOTES) * probabilities + VOTES * shares


def expected_gain(
    posterior: Posterior, confusion: Confusion, crowd: Confusion, waiting: Bool[np.ndarray, " items"] | None = None
) -> Gain:
    """G of a label of each item by an annotator with this confusion matrix; whether items wait for one already."""
    waiting = np.zeros(len(posterior), dtype=bool) if waiting is None else waiting
    gain = np.empty(len(posterior))
    for start in range(0, len(posterior), CHUNK):
        rows = slice(start, start + CHUNK)
        gain[rows] = _gain(posterior[rows], confusion, crowd, waiting[rows])
    return gain


def _gain(posterior: Posterior, confusion: Confusion, crowd: Confusion, waiting: Bool[np.ndarray, " items"]) -> Gain:
    top = np.argsort(-posterior, axis=1, kind="stable")[:, :CLASSES]
    p = np.take_along_axis(posterior, top, axis=1)
    first, further = _of_classes(confusion, top), _of_classes(crowd, top)
    error = 1 - p[:, 0]
    before = error
    if waiting.any():
        before = np.where(waiting, expected_error(p, further, _outcomes(further, 0)), error)
    gain = LITTLE * error
    for number in range(1, AHEAD + 1):
        now = expected_error(p, first, _outcomes(further, number - 1))
        if waiting.any():
            now = np.where(waiting, expected_error(p, first, _outcomes(further, number)), now)
        gain = np.maximum(gain, (before - now) / number)
    return gain


def _of_classes(
    confusion: Confusion, top: Int[np.ndarray, "items top"]
) -> Float[np.ndarray, "items top labels_and_other"]:
    """Probabilities of the labels of these classes, and of any other label, given each of the classes."""
    rows = np.take_along_axis(confusion[top], top[:, None, :], axis=2)
    return np.concatenate([rows, np.maximum(1 - rows.sum(2, keepdims=True), 0)], axis=2)


def expected_error(posterior: Posterior, first: OfLabels, further: OfCounts) -> Gain:
    """ε of each item after independent outcomes, given their probabilities for each class of the item."""
    joint = posterior[:, :, None, None] * first[:, :, :, None] * further[:, :, None, :]
    return 1 - joint.max(axis=1).sum(axis=(1, 2))


def _outcomes(label: OfLabels, number: int) -> OfCounts:
    """Probabilities of the counts of so many labels, given the class."""
    drawn, orders = _list_draws(label.shape[2], number)
    return orders * label[:, :, drawn].prod(axis=3)


@lru_cache
def _list_draws(n_labels: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels that can be drawn, whatever their order, and in how many orders."""
    drawn = list(combinations_with_replacement(range(n_labels), number))
    orders = [factorial(number) / prod(factorial(each.count(label)) for label in set(each)) for each in drawn]
    return np.array(drawn, dtype=int).reshape(len(drawn), number), np.array(orders)
