"""Clusters from a completed table of similarities and a metric learned from it.

Yi, Jin, Jain, Jain & Yang (2012), Semi-Crowdsourced Clustering: Generalizing Crowd Labeling by Robust Distance Metric
Learning, NIPS.

Model
-----
    Ã_ij = 1 where the share of yes is at least d1, 0 where it is at most d0, else unknown;   Ã_ii = 1
    A    = argmin tr(A) + C Σ_known |A_ij - Ã_ij|, A positive semi-definite                   low rank, errors sparse
    M    = (XᵀX + λ n I)⁻¹ Xᵀ A X (XᵀX + λ n I)⁻¹                                             metric, of annotated items
    k-means of all items with the kernel xᵀ M x'

Symbols
-------
    paper   here        shape
    Ã       known       (entries,)              of both triangles and the diagonal
    A       completed   (annotated, annotated)
    E       error       (entries,)
    Y       multiplier  (entries,)
    μ       penalty     scalar
    M       metric      (features, features)

Update (inexact augmented Lagrangian of known = A + E)
------------------------------------------------------
    E ← shrink(known - A + Y/μ, C/μ)
    A ← eigenvalues above 1/μ, less 1/μ, of the matrix that is known - E + Y/μ where known, A elsewhere
    Y ← Y + μ (known - A - E),    μ ← 1.1 μ

Decided here
------------
- A similarity of clusters is positive semi-definite, so A is; its nuclear norm is its trace.
- C = 2/√(n p) with n annotated items of which a share p of the pairs is known: twice what robust principal components
  analysis takes, with which a table without errors, three tenths of it known, came back less than whole.
- Features are centred and brought to variance 1, so that λ means the same for all, and the mean similarity, which tells
  nothing apart, has no say. M is positive semi-definite because A is.
- A is a table of all pairs of annotated items, of which eigenvectors are taken in every step. Past 2000 annotated items
  the fit is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.linalg import eigh

from consilience.annotations import Pairs
from consilience.annotations.canonical import Arrangement
from consilience.annotations.types import Count, Flag, Integer, Literal, RandomSource, Real
from consilience.errors import InputError
from consilience.inference.iterate import Trace, iterate
from consilience.parameters import is_number, require
from consilience.semisupervised.pairwise_clustering import KMeansInMetric

MAX_ANNOTATED = 2000
GROWTH = 1.1  # of the penalty
FLAT = 1e-9  # smallest eigenvalue of a metric beside its largest, of those that are kept

NOTHING = "The similarities tell nothing apart that the features do, so clusters are those of the features alone."


@dataclass(frozen=True)
class Problem:
    """Entries that are known, by row and column; weight: C."""

    row: Int[np.ndarray, " entries"]
    column: Int[np.ndarray, " entries"]
    known: Float[np.ndarray, " entries"]
    n_items: int
    weight: float


@dataclass(frozen=True)
class State:
    """residual: ‖known - A - E‖ beside ‖known‖."""

    completed: Float[np.ndarray, "annotated annotated"]
    error: Float[np.ndarray, " entries"]
    multiplier: Float[np.ndarray, " entries"]
    penalty: float
    residual: float


def init(problem: Problem) -> State:
    zeros = np.zeros(len(problem.known))
    largest = max(np.sqrt((problem.known**2).sum()), 1.0)
    return State(np.zeros((problem.n_items,) * 2), zeros, zeros, 1.25 / float(largest), np.inf)


def step(state: State, problem: Problem) -> State:
    at = (problem.row, problem.column)
    push = state.multiplier / state.penalty
    error = shrink(problem.known - state.completed[at] + push, problem.weight / state.penalty)
    target = state.completed.copy()
    target[at] = problem.known - error + push
    completed = low_rank(target, 1 / state.penalty)
    gap = problem.known - completed[at] - error
    residual = float(np.linalg.norm(gap)) / max(float(np.linalg.norm(problem.known)), 1.0)
    multiplier = state.multiplier + state.penalty * gap
    return State(completed, error, multiplier, GROWTH * state.penalty, residual)


def shrink(values: Float[np.ndarray, " entries"], by: float) -> Float[np.ndarray, " entries"]:
    """Nearer to 0 by so much, at most to 0."""
    result: np.ndarray = np.sign(values) * np.maximum(np.abs(values) - by, 0)
    return result


def low_rank(target: Float[np.ndarray, "annotated annotated"], by: float) -> Float[np.ndarray, "annotated annotated"]:
    """Eigenvalues above `by`, less it."""
    values, vectors = eigh(target, subset_by_value=(by, np.inf), check_finite=False)
    result: np.ndarray = (vectors * (values - by)) @ vectors.T
    return result


def objective(state: State, problem: Problem) -> float:
    """tr(A) + C Σ_known |A_ij - Ã_ij|."""
    error = problem.known - state.completed[problem.row, problem.column]
    return float(np.trace(state.completed) + problem.weight * np.abs(error).sum())


def complete(problem: Problem, *, max_iter: int, tol: float) -> Trace[State]:
    """Sweep until what is known is met by A and E."""
    return iterate(
        init(problem),
        lambda s: step(s, problem),
        lambda s: -objective(s, problem),
        max_iter=max_iter,
        settled=lambda s: s.residual <= tol,
    )


def similarities(pairs: Pairs, d0: float, d1: float) -> tuple[Int[np.ndarray, "two entries"], np.ndarray, int]:
    """Pairs that are clearly together or apart, which of the two (1 or 0), and how many are neither."""
    keys, pair = np.unique(pairs.item_a.astype(np.int64) * pairs.n_items + pairs.item_b, return_inverse=True)
    share = np.bincount(pair, pairs.same, len(keys)) / np.bincount(pair, minlength=len(keys))
    clear = (share <= d0) | (share >= d1)
    places = np.stack(np.divmod(keys[clear], pairs.n_items))
    return places, (share[clear] >= d1).astype(np.float64), int((~clear).sum())


def learn_metric(
    features: Float[np.ndarray, "annotated features"], completed: np.ndarray, ridge: float
) -> Float[np.ndarray, "features features"]:
    """M, of features that are centred first."""
    n, d = features.shape
    features = features - features.mean(0) if n else features
    back = np.linalg.solve(features.T @ features + ridge * max(n, 1) * np.eye(d), features.T)
    metric = back @ completed @ back.T
    result: np.ndarray = (metric + metric.T) / 2
    return result


class SemiCrowd(KMeansInMetric):
    """Clusters by a metric that is learned from a completed table of who was put together with whom.

    For at most 2000 annotated items; items without annotations are clustered by their features, and may be many.

    Parameters
    ----------
    n_clusters : int, default=2
    d0, d1 : float, default=0.0 and 0.8
        A pair is apart if its share of yes is at most d0, together if it is at least d1, else unknown.
    error_weight : "auto" or float, default="auto"
        C: what an error among the known similarities costs. "auto": 2 / sqrt(annotated items * share of known pairs).
    ridge : float, default=0.01
        λ, for features of variance 1.
    n_init : int, default=10
        Starts of k-means.
    max_pairs : int, optional
        Of more judgements, so many at random are used. Without it, more than a million are refused.
    max_iter : int, default=500
        Steps of the completion.
    tol : float, default=1e-3
        The completion ends when A and E meet what is known up to this share.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by falling size.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        1 for the item's cluster, else 0.
    n_clusters_ : int
    cluster_centers_ : ndarray, shape (n_clusters_, n_features)
        In the space of the features.
    completed_ : DataFrame, shape (n_annotated, n_annotated)
        A, of the items that somebody judged.
    metric_ : ndarray, shape (n_features, n_features)
        M, for features as they were given.
    components_ : ndarray, shape (n_components, n_features)
        L with M = Lᵀ L, at most as many rows as clusters.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row an annotator
        n_pairs; n_together, those of one cluster; accuracy, the share of the judgements that agree with the clusters;
        sensitivity, of pairs of one cluster; specificity, of pairs of two.
    n_pairs_ : int
        Pairs whose similarity is known.
    notes_ : list of str
        What was left out: sentences.
    objective_ : float
        tr(A) + C Σ abs(A - Ã); lower is better.
    inertia_ : float
        Of k-means, in the metric.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    Yi, Jin, Jain, Jain & Yang (2012). Semi-Crowdsourced Clustering: Generalizing Crowd Labeling by Robust Distance
    Metric Learning. NIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.metrics import nmi
    >>> from consilience.semisupervised import SemiCrowd
    >>> from consilience.simulation import simulate_experts
    >>> X, species = load_iris(return_X_y=True)
    >>> experts = simulate_experts(species, random_state=0)
    >>> model = SemiCrowd(3, random_state=0).fit(X, experts)
    >>> round(nmi(species, model.labels_), 2)
    0.8
    """

    _unsettled = "The completion had not settled after max_iter={} steps."

    def __init__(
        self,
        n_clusters: Count = 2,
        *,
        d0: Real = 0.0,
        d1: Real = 0.8,
        error_weight: Literal["auto"] | Real = "auto",
        ridge: Real = 0.01,
        n_init: Integer = 10,
        max_pairs: Integer | None = None,
        max_iter: Integer = 500,
        tol: Real = 1e-3,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.d0 = d0
        self.d1 = d1
        self.error_weight = error_weight
        self.ridge = ridge
        self.n_init = n_init
        self.max_pairs = max_pairs
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _depends_on_scale(self) -> bool:
        """No: the features are standardised."""
        return False

    def _learn(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> list[str]:
        problem, annotated, unclear = self._problem(pairs)
        trace = complete(problem, max_iter=int(self.max_iter), tol=float(self.tol))
        nothing = self._set_metric(features, annotated, trace.state.completed)
        self._cluster(features, rng)
        names = pairs.items.take(annotated)
        self.completed_ = pd.DataFrame(trace.state.completed, index=names, columns=names)
        self.n_pairs_ = (len(problem.known) - problem.n_items) // 2
        self.objective_, self.n_iter_, self.converged_ = objective(trace.state, problem), trace.n_iter, trace.converged
        return unclear + nothing

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        super()._restore(arrangement)
        kept = np.argsort(self.items_.get_indexer(self.completed_.index))
        self.completed_ = self.completed_.iloc[kept, kept]

    def _problem(self, pairs: Pairs) -> tuple[Problem, Int[np.ndarray, " annotated"], list[str]]:
        """Entries known of the table of annotated items; these; and a note of pairs that are unclear."""
        annotated = np.unique(np.concatenate([pairs.item_a, pairs.item_b]))
        n = len(annotated)
        if n > MAX_ANNOTATED:
            raise InputError(
                f"SemiCrowd completes a table of all pairs of annotated items, and takes {MAX_ANNOTATED} of them at "
                f"most. Got {n}; keep the annotations of some, annotations.restrict(items=...).reindex(all items)."
            )
        places, share, n_unclear = similarities(pairs, self.d0, self.d1)
        a, b = np.searchsorted(annotated, places)
        diagonal = np.arange(n)
        known = np.concatenate([share, share, np.ones(n)])
        weight = 2 * np.sqrt(n / max(len(known), 1)) if isinstance(self.error_weight, str) else self.error_weight
        problem = Problem(
            row=np.concatenate([a, b, diagonal]),
            column=np.concatenate([b, a, diagonal]),
            known=known,
            n_items=n,
            weight=float(weight),
        )
        note = f"{n_unclear} pairs have a share of yes between d0 and d1, and count as unknown."
        return problem, annotated, [note] if n_unclear else []

    def _set_metric(
        self, features: np.ndarray, annotated: Int[np.ndarray, " annotated"], completed: np.ndarray
    ) -> list[str]:
        """Metric and its root; a note if there is nothing to learn."""
        deviation = features.std(0)
        scale = np.where(deviation > 0, deviation, 1.0)
        rows = (features - features.mean(0)) / scale
        metric = learn_metric(rows[annotated], completed, self.ridge)
        most: int | None = int(self.n_clusters)
        nothing_learned = not np.trace(metric) > FLAT
        if nothing_learned:
            metric, most = np.eye(features.shape[1]), None
        values, vectors = np.linalg.eigh(metric)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = np.flatnonzero(values > FLAT * values[0])[:most]
        self.components_ = (vectors[:, kept] * np.sqrt(values[kept])).T / scale
        self.metric_ = metric / np.outer(scale, scale)
        return [NOTHING] if nothing_learned else []

    def _check_parameters(self) -> None:
        super()._check_parameters()
        shares = is_number(self.d0, zero=True) and self.d0 < 1
        require(self, "d0", "a float of at least 0 and below 1", shares)
        require(self, "d1", "a float above d0 and at most 1", is_number(self.d1) and self.d0 < self.d1 <= 1)
        auto = isinstance(self.error_weight, str) and self.error_weight == "auto"
        require(self, "error_weight", "'auto' or a positive float", auto or is_number(self.error_weight))
        require(self, "ridge", "a positive float", is_number(self.ridge))
