"""Subtypes of classes, for annotators who err together on some items of a class.

Given the class, errors are not independent where items of a class differ: what one person takes for another breed of
dog, others do too. Then a class is a mixture of subtypes, and an annotator has a row of the confusion matrix for each:
the enhanced Bayesian classifier combination of Y. Li, B. I. P. Rubinstein & T. Cohn, Exploiting Worker Correlation for
Label Aggregation in Crowdsourcing, ICML 2019. The model stands in `dawid_skene`, the prior of the rows in
`annotator_models`: the rows of all subtypes of a class are drawn towards the same accuracy and the same errors, so that
a subtype stays one of its class.

Decided here
------------
Starting points are not drawn at random. Each subtype, at first a whole class, is divided along the leading axis of a
multiple correspondence analysis of its items, weighted by their responsibilities q:

    C_nm = Σ_j Σ_l 1[y_nj = l] 1[y_mj = l] / p_jl - number of annotators who labelled both n and m
    u    = leading eigenvector of √q C √q,   item n goes to one half with probability sigmoid(2 u_n / √q_n)

where p_jl is the share of l among annotator j's labels of the subtype's items, and u / √q is scaled to variance 1 under
q. The hyperparameters are held for `HELD` sweeps: the halves are still alike, and would be taken for evidence that all
rows are. ``"auto"`` divides until the bound no longer rises, or there are `MOST` subtypes. A given number is reached by
dividing the largest subtypes of each class. Of very large crowds, a sample of items decides how many there are, without
annotators who have fewer labels there than two for each class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator
from scipy.special import expit

from consilience.annotations import Labels
from consilience.consensus.labels.annotator_models import Hierarchical, Matrices
from consilience.consensus.labels.dawid_skene import (
    DawidSkeneEvidence,
    DawidSkeneState,
    columns_of,
    labels_of,
    lower_bound,
    state_of,
    step,
)
from consilience.consensus.labels.samples import sampled_items
from consilience.inference import Trace, iterate
from consilience.inference.product_distributions import Responsibilities, Weights, posterior
from consilience.inference.sparse_tables import Confusion, SparseTable
from consilience.inference.spectral import leading_eigenpairs

MOST = 8
HELD = 30  # sweeps of the rows alone after each division
LEAST = 1e-3  # responsibility of an item that a division reads
AXIS_TOLERANCE = 1e-3  # of the eigenvalue
SMOOTHING = 0.5  # labels, spread over the classes, in p_jl


@dataclass(frozen=True)
class SubtypeFit:
    """A fitted model with its evidence."""

    trace: Trace[DawidSkeneState]
    evidence: DawidSkeneEvidence

    @property
    def n_items(self) -> int:
        """Number of items whose labels are fitted."""
        return self.evidence.chunks.n_items

    def responsibilities(self) -> Responsibilities:
        """q(z) of all items, (items, components)."""
        state = self.trace.state
        return posterior(self.evidence.chunks, state.log_weights, columns_of(state.model.log_table))


def divide_classes(
    first: SubtypeFit,
    onehot: csr_array,
    evidence_for: Callable[[int], DawidSkeneEvidence],
    *,
    n_subtypes: int | None,
    max_iter: int,
    tol: float,
) -> SubtypeFit:
    """Divide the classes.

    first : the model with one subtype per class.
    onehot : (items, annotators × labels) 0/1, or the weights of the labels.
    evidence_for : the evidence with this number of subtypes.
    n_subtypes : of each class; None for the number that the bound favours.
    max_iter, tol : of the sweeps after each division.
    """
    best = current = first
    while current.evidence.n_subtypes < (n_subtypes or MOST):
        evidence = evidence_for(min(2 * current.evidence.n_subtypes, n_subtypes or MOST))
        current = _run_divided(current, onehot, evidence, max_iter=max_iter, tol=tol)
        if n_subtypes is None and current.trace.lower_bound <= best.trace.lower_bound:
            break
        best = current
    return best


def _run_divided(
    fit: SubtypeFit, onehot: csr_array, evidence: DawidSkeneEvidence, *, max_iter: int, tol: float
) -> SubtypeFit:
    """Run the model with more subtypes, from halves of those of another."""
    model = cast(Hierarchical, fit.trace.state.model)  # the only one with subtypes
    n_classes = len(model.errors)
    start = divide_subtypes(fit.responsibilities(), onehot, n_classes, evidence.n_subtypes)
    expected = evidence.chunks.expectation_of(start)
    state = state_of(model.with_counts(labels_of(expected, evidence)), expected, evidence, learned=True)
    held = iterate(state, lambda state: _rows_alone(state, evidence), lower_bound, max_iter=HELD, tol=tol)
    trace = iterate(
        held.state, lambda state: step(state, evidence, learned=True), lower_bound, max_iter=max_iter, tol=tol
    )
    return SubtypeFit(replace(trace, lower_bounds=held.lower_bounds + trace.lower_bounds), evidence)


def _rows_alone(state: DawidSkeneState, evidence: DawidSkeneEvidence) -> DawidSkeneState:
    model = cast(Hierarchical, state.model).with_counts(labels_of(state.expected, evidence))
    return state_of(model, state.expected, evidence, learned=True)


def divide_subtypes(
    responsibilities: Responsibilities, onehot: csr_array, n_classes: int, n_subtypes: int
) -> Float[np.ndarray, "items more_components"]:
    """Divide the largest subtypes of each class in two, so that there are `n_subtypes`, at most twice as many."""
    n_components = responsibilities.shape[1]
    sizes = responsibilities.sum(0).reshape(n_classes, -1)
    n_divided = n_subtypes - sizes.shape[1]
    largest = np.argsort(-sizes, axis=1, kind="stable")[:, :n_divided]
    is_divided = np.zeros(sizes.shape, dtype=bool)
    np.put_along_axis(is_divided, largest, values=True, axis=1)
    columns = []
    for component, divide in zip(range(n_components), is_divided.ravel(), strict=True):
        q = responsibilities[:, component]
        share = first_half(q, onehot, n_classes) if divide else 1.0
        columns += [q * share, q * (1 - share)][: 1 + divide]  # one that is not divided stays whole: its share is 1
    return np.column_stack(columns)


def first_half(
    q: Float[np.ndarray, " items"], onehot: csr_array, n_classes: int
) -> Float[np.ndarray, " items"] | float:
    """Probability that an item of the component is in the first half, by correspondence analysis."""
    rows = np.flatnonzero(q > LEAST)
    if len(rows) < 2:
        return 0.5
    labels, root = onehot[rows], np.sqrt(q[rows])
    seen = (labels.T @ q[rows]).reshape(-1, n_classes) + SMOOTHING / n_classes
    share = (seen / seen.sum(1, keepdims=True)).ravel()
    by_annotator = csr_array((labels.data, labels.indices // n_classes, labels.indptr), shape=(len(rows), len(seen)))
    labels_back, annotators_back = labels.T.tocsr(), by_annotator.T.tocsr()

    def product(vectors: np.ndarray) -> np.ndarray:
        scaled = (vectors.T * root).T
        same = labels @ ((labels_back @ scaled).T / share).T
        return np.asarray(((same - by_annotator @ (annotators_back @ scaled)).T * root).T)

    similarity = LinearOperator((len(rows), len(rows)), matvec=product, matmat=product, dtype=np.float64)
    _, vectors = leading_eigenpairs(similarity, 1, tol=AXIS_TOLERANCE)
    place = vectors[:, 0] / root * np.sqrt(q[rows].sum())
    half = np.full(len(q), 0.5)
    half[rows] = expit(2 * place)
    return half


def sample_to_decide_on(labels: Labels) -> Labels:
    """Return the labels of some items of a very large crowd, by annotators with enough labels to tell subtypes."""
    sample = labels[sampled_items(labels, np.diff(labels.indptr) > 1)]
    n_labels = np.bincount(sample.annotator, minlength=sample.n_annotators)
    return sample.restrict(annotators=sample.annotators[n_labels >= 2 * sample.n_classes])


def of_classes(of_components: np.ndarray, n_classes: int) -> np.ndarray:
    """Sum the last axis over the subtypes of each class."""
    if of_components.shape[-1] == n_classes:
        return of_components
    return of_components.reshape(*of_components.shape[:-1], n_classes, -1).sum(-1)


def mean_rows(matrices: Matrices | SparseTable, sizes: Weights) -> Confusion:
    """Confusion matrices of classes: means over subtypes, weighted by their sizes."""
    n_classes = matrices.shape[2]
    if isinstance(matrices, SparseTable) or matrices.shape[1] == n_classes:
        return matrices
    shares = sizes.reshape(n_classes, -1) / sizes.reshape(n_classes, -1).sum(1, keepdims=True)
    split = matrices.reshape(len(matrices), n_classes, -1, n_classes)
    return np.asarray(np.einsum("km,jkml->jkl", shares, split))


def subtype_of_item(
    responsibilities: Responsibilities, class_of_item: Int[np.ndarray, " items"], n_classes: int
) -> Int[np.ndarray, " items"]:
    """Most probable subtype of each item's class, numbered by decreasing size within the class."""
    sizes = responsibilities.sum(0).reshape(n_classes, -1)
    place = np.argsort(np.argsort(-sizes, axis=1, kind="stable"), axis=1)  # ranks: the inverse of the order
    own = responsibilities.reshape(len(responsibilities), n_classes, -1)[np.arange(len(class_of_item)), class_of_item]
    return np.asarray(place[class_of_item, own.argmax(1)])
