"""Spectral-EM: expectation maximisation of Dawid and Skene's model, initialised from moments of the labels.

Zhang, Chen, Zhou & Jordan (2014), Spectral Methods Meet EM: A Provably Optimal Algorithm for Crowdsourcing, NIPS 27;
JMLR 17 (2016).

Model
-----
    y_j          ~ Categorical(w)             class of item j
    z_ij | y_j=l ~ Categorical(μ_il)          label of item j by annotator i; column l of the matrix C_i is μ_il

Symbols
-------
    paper    here                  shape
    w        weights               (classes,)
    C_i      matrices              (annotators, labels, classes)
    G_g      group                 (annotators,)              number g of each annotator's group, -1 without labels
    Z_gj     views                 (groups, items, labels)    mean label of the group
    C°_c     columns               (groups, labels, classes)  expectation of Z_cj given the class

Updates
-------
    (1)        Z_gj = mean of z_ij over i in G_g
    (2a), (2b) Z'_aj = E[Z_c ⊗ Z_b] E[Z_a ⊗ Z_b]⁻¹ Z_aj, and likewise for b
    (2c), (2d) M2 = E[Z'_a ⊗ Z'_b],   M3 = E[Z'_a ⊗ Z'_b ⊗ Z_c]
    step 2     w and C°_c from M2 and M3, for c = 1, 2, 3: see `inference.tensor`
    (3)        C_i ∝ E[z_i Z_aᵀ] (W C°_aᵀ)⁻¹, every column scaled to the sum 1
    EM         E-step under w and C, then the sweeps of `product_mixture`

The numbers in brackets are ours; they follow the order of the paper's algorithm.

Decided here
------------
A missing label does not enter (1): the mean is over the labels given, including several by one annotator, and each E is
over the items that have labels by all groups it names. Sums instead of means start a little better where all items have
equally many labels, but then one item that everybody labels outweighs thousands that few label.

(3) uses both groups that the annotator is not in: the counts behind the two E are added. W only scales columns, and
cancels. The weights are the mean of those of the three groups. Every probability is raised to at least 1e-6 before a
column is scaled.

The columns of C°_c are named after classes one to one, by the assignment with the largest sum of diagonal entries.
In `product_mixture` w is learned too, which the paper assumes to be uniform, and labels have a pseudo-count.

A class that no label names starts without weight. A division of the annotators into groups under which M2 has fewer
positive eigenvalues than there are classes gives no start; if none does, EM starts from the votes, with a warning.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy.linalg import LinAlgError
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from consilience.annotations import Labels
from consilience.inference.product_distributions import LogTable, Weights
from consilience.inference.tensor import symmetric_moments, third_moment, weights_and_columns

N_GROUPS = 3
LEAST_PROBABILITY = 1e-6
MAX_CLASSES = 400  # a moment of three labels then takes half a gigabyte
Group = Int[np.ndarray, " annotators"]
Views = Float[np.ndarray, "groups items labels"]
Columns = Float[np.ndarray, "groups labels classes"]


def spectral_start(labels: Labels, group: Group, rng: np.random.Generator, n_starts: int) -> tuple[Weights, LogTable]:
    """ln w and ln C from the moments of three groups of annotators; no weight for classes that no label names.

    Raises LinAlgError: the moments do not identify as many classes as the labels name.
    """
    code, named = pd.factorize(labels.label)  # as they first occur: starts are drawn for classes in turn
    if len(labels) < len(named):
        raise LinAlgError(f"{len(labels)} items cannot show {len(named)} classes.")
    given = replace(labels, classes=labels.classes.take(named), label=code)
    views = views_of(given, group)
    weights, columns = group_columns(views, rng, n_starts)
    matrices = annotator_matrices(given, group, views, columns)
    log_weights = np.full(labels.n_classes, -np.inf)
    log_weights[named] = np.log(weights)
    log_table = np.zeros((labels.n_annotators, labels.n_classes, labels.n_classes))
    log_table[:, named[:, None], named] = np.log(matrices)
    return log_weights, log_table.reshape(-1, labels.n_classes)


def partition(labels: Labels, rng: np.random.Generator | None) -> Group:
    """Group of each annotator: at random, or by position modulo 3; group sizes differ by at most one."""
    active = np.unique(labels.annotator)
    group = np.full(labels.n_annotators, -1)
    turn = np.arange(len(active)) % N_GROUPS
    group[active] = turn if rng is None else rng.permutation(turn)
    return group


def views_of(labels: Labels, group: Group) -> Views:
    """(1): mean label of each item in each group, 0 where the group has no label."""
    shape = (N_GROUPS, len(labels), labels.n_classes)
    cell = (group[labels.annotator] * len(labels) + labels.item) * labels.n_classes + labels.label
    counts = np.bincount(cell, minlength=np.prod(shape)).reshape(shape)
    return counts / np.maximum(counts.sum(2, keepdims=True), 1)


def group_columns(views: Views, rng: np.random.Generator, n_starts: int) -> tuple[Weights, Columns]:
    """(2) and step 2: class proportions, and the expectation of each group's mean label given the class.

    Raises LinAlgError: the moments do not identify as many classes as there are labels.
    """
    triple = third_moment(*views)
    if not triple.any():
        raise LinAlgError("No item has labels by all three groups.")
    triple /= triple.sum()
    weights, columns = [], []
    for a, b, c in ((1, 2, 0), (2, 0, 1), (0, 1, 2)):
        m2, m3 = symmetric_moments(
            mean_product(views[a], views[b]),
            mean_product(views[a], views[c]),
            mean_product(views[b], views[c]),
            triple.transpose(a, b, c),
        )
        w, column = weights_and_columns(m2, m3, rng, n_starts=n_starts)
        class_of = linear_sum_assignment(-column)[1]  # components come in any order
        weights.append(w[class_of])
        columns.append(as_distributions(column[:, class_of]))
    return as_distributions(np.mean(weights, axis=0)[:, None])[:, 0], np.stack(columns)


def mean_product(
    a: Float[np.ndarray, "items labels"], b: Float[np.ndarray, "items labels"]
) -> Float[np.ndarray, "labels labels"]:
    """E[a ⊗ b] over the items that have labels in both views; there the entries of a ⊗ b sum to 1."""
    product = a.T @ b
    return product / product.sum()


def annotator_matrices(
    labels: Labels, group: Group, views: Views, columns: Columns
) -> Float[np.ndarray, "annotators labels classes"]:
    """(3): confusion matrix of each annotator; uniform where no other group labels the annotator's items."""
    n_classes = labels.n_classes
    column = labels.annotator * n_classes + labels.label
    shape = (len(labels), labels.n_annotators * n_classes)
    onehot = csr_array((np.ones(labels.n_rows), (labels.item, column)), shape=shape)
    joint = np.zeros((labels.n_annotators, n_classes, n_classes))
    for g in range(N_GROUPS):
        counts = (onehot.T @ views[g]).reshape(joint.shape)
        joint += np.where((group != g)[:, None, None], counts @ np.linalg.pinv(columns[g].T), 0)
    total = joint.sum((1, 2), keepdims=True)
    return as_distributions(joint / np.maximum(total, 1))  # 0 / 0 where no other group labels the items


def as_distributions(columns: Float[np.ndarray, "*batch labels classes"]) -> Float[np.ndarray, "*batch labels classes"]:
    """Clip negative entries, and scale columns to sum to 1."""
    # moments of a sample can be negative
    positive = np.maximum(columns, LEAST_PROBABILITY)
    return positive / positive.sum(-2, keepdims=True)
