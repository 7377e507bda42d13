"""Probabilities of classes by classifiers that never saw a label of the item, in rounds that are cross-fitted.

A classifier learns soft targets. From the labels of an item alone, the target is softmax(S_n / T + ln π); with what
features tell of the item, it is softmax(S_n / T + ln r_n), see `item_prior`. But a classifier that learned from n's own
labels, through whichever round, must not tell n: that is an echo of these labels, which grows with every round. So
rounds are cross-fitted over sets A of folds:

    C_A                               never saw an item of the folds in A
    at depth d, A of d folds          learns softmax(S_n / T + ln π)
    A of fewer folds                  learns softmax(S_n / T + ln r_n),  for n of fold g with p_n = C_{A ∪ g}(x_n),
                                      and a, w from the items outside A
    p_n, n of fold g                  C_{g}(x_n)
    p_n of items without labels       C_{}(x_n)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax

from consilience.inference.product_distributions import Weights
from consilience.semisupervised.item_prior import Probabilities, mixing_of_scores

N_FOLDS = 5

Rows = Int[np.ndarray, " rows"]
Folds = Int[np.ndarray, " items"]
Predict = Callable[[Rows], Float[np.ndarray, "rows classes"]]
"""From items to their probabilities, by a classifier."""
Learn = Callable[[Rows, Float[np.ndarray, "rows classes"]], Predict]
"""From items and their targets to a classifier."""
LearnAll = Callable[[list[tuple[Rows, np.ndarray]]], Iterable[Predict]]
"""The same for several classifiers."""


def divide_folds(classes: Int[np.ndarray, " items"], rng: np.random.RandomState, n_folds: int = N_FOLDS) -> Folds:
    """Divide items into folds that have equally many items of each class, as far as possible, at random."""
    order = rng.permutation(len(classes))
    _, first, code = np.unique(classes[order], return_index=True, return_inverse=True)
    order = order[np.argsort(first[code], kind="stable")]  # classes by their first item: their names do not matter
    fold = np.empty(len(classes), dtype=int)
    fold[order] = np.arange(len(classes)) % n_folds
    return fold


def cross_fit(
    learn_all: LearnAll, scores: Probabilities, log_weights: Weights, fold: Folds, depth: int
) -> tuple[Probabilities, Predict]:
    """Return p of each item, by a classifier that never saw it, and the classifier of all items.

    learn_all : makes classifiers.
    scores : S / T.
    log_weights : E ln π.
    fold : of each item, all from 0 to the last.
    depth : number of rounds, below that of folds.
    """
    n_classes, everything = scores.shape[1], np.arange(len(fold))
    above: dict[frozenset[int], Predict] = {}
    of_items = np.empty_like(scores)
    for size in range(depth, -1, -1):
        sets = [frozenset(chosen) for chosen in combinations(range(fold.max() + 1), size)]
        tasks = []
        for left_out in sets:
            rows = np.flatnonzero(~np.isin(fold, list(left_out)))
            log_prior = np.broadcast_to(log_weights, (len(rows), n_classes))
            if size < depth:
                told = predict_out_of_fold(above, fold, rows, left_out, n_classes)
                mixing = mixing_of_scores(scores[rows], log_weights, told)
                log_prior = np.log(mixing.prior(log_weights, told))
            tasks.append((rows, softmax(scores[rows] + log_prior, axis=1)))
        if size == 0:
            of_items = predict_out_of_fold(above, fold, everything, frozenset(), n_classes)
        above = dict(zip(sets, learn_all(tasks), strict=True))
    return of_items, above[frozenset()]


def predict_out_of_fold(
    classifiers: dict[frozenset[int], Predict], fold: Folds, rows: Rows, left_out: frozenset[int], n_classes: int
) -> Float[np.ndarray, "rows classes"]:
    """Return p of some items, each by the classifier that saw neither its fold nor those left out."""
    found = np.empty((len(rows), n_classes))
    for own in np.unique(fold[rows]):
        mine = fold[rows] == own
        found[mine] = classifiers[left_out | {int(own)}](rows[mine])
    return found
