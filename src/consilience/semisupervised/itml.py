"""k-means in a metric that brings together what people put together: information-theoretic metric learning.

Davis, Kulis, Jain, Sra & Dhillon (2007), Information-Theoretic Metric Learning, ICML.

Model
-----
Find the metric A, and for each pair c a bound ξ_c, that minimise

    D(A, A_0) + Σ_c γ_c d(ξ_c, b_c)    with    d_A(c) ≤ ξ_c for pairs put together, d_A(c) ≥ ξ_c for pairs told apart,
    D(A, B) = tr(A B⁻¹) - ln det(A B⁻¹) - D,    d(ξ, b) = ξ/b - ln(ξ/b) - 1

where d_A(c) = vᵀ A v is the squared distance of the two items. Then k-means in that metric.

Symbols
-------
    paper    here               shape
    A        metric             (features, features)
    x_i-x_j  difference         (pairs, features)       v above
    δ        sign               (pairs,)                1: put together, -1: told apart
    λ        multiplier         (pairs,)                at least 0
    ξ        bound              (pairs,)
    b        first_bound        (pairs,)                u, where together, or l
    γ        slack              (pairs,)

Update, of one pair after the other
-----------------------------------
    α = min(λ, δ γ/(γ+1) (1/d_A - 1/ξ)),    λ ← λ - α,    ξ ← γ ξ / (γ + δ α ξ),    A ← A + β A v vᵀ A
    with β = δ α / (1 - δ α d_A)

which is the projection of A and ξ onto the constraint, or as much of it as keeps λ from falling below 0. It maximises
the dual in λ_c:

    G = D(A, A_0) + Σ_c γ_c d(ξ_c, b_c) + Σ_c λ_c δ_c (d_A(c) - ξ_c)

Decided here
------------
- The bounds u and l are the 5th and the 95th percentile of the squared distances of items in A_0, as the authors say.
- Judgements of the same pair are counted together; γ_c is γ times the net majority, so that a pair on which more people
  agree has less slack.
- A pair of items with the same features has no distance to change. It is left out, and counted in `notes_`.
- The passes end when multipliers change by less than `tol` of their sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg.blas import dsymv, dsyr

from consilience.annotations import Pairs
from consilience.annotations.types import Count, Flag, Integer, Literal, RandomSource, Real
from consilience.inference.iterate import Trace, iterate
from consilience.parameters import is_number, require
from consilience.semisupervised.constraints import Constraints
from consilience.semisupervised.pairwise_clustering import KMeansInMetric

PRIORS = ("scale", "identity", "covariance")
PERCENTILES = (5, 95)
SAMPLED = 100_000  # pairs of items from which the percentiles are taken
SAME_FEATURES = 1e-12  # distance beside the mean distance
FLAT = 1e-6  # smallest eigenvalue of a covariance beside its mean


@dataclass(frozen=True)
class Problem:
    """Pairs with their signs, bounds and slack; first_metric: A_0."""

    difference: Float[np.ndarray, "pairs features"]
    sign: Float[np.ndarray, " pairs"]
    first_bound: Float[np.ndarray, " pairs"]
    slack: Float[np.ndarray, " pairs"]
    first_metric: Float[np.ndarray, "features features"]


@dataclass(frozen=True)
class State:
    """moved: how much the multipliers changed in the last pass."""

    metric: Float[np.ndarray, "features features"]
    multiplier: Float[np.ndarray, " pairs"]
    bound: Float[np.ndarray, " pairs"]
    moved: float


def init(problem: Problem) -> State:
    return State(problem.first_metric, np.zeros(len(problem.sign)), problem.first_bound, np.inf)


def step(state: State, problem: Problem) -> State:
    """A pass over the pairs; alpha is δ α."""
    metric = np.array(state.metric, order="F")  # of which the lower triangle is kept
    multiplier, bound = state.multiplier.tolist(), state.bound.tolist()
    rows = zip(problem.difference, problem.sign.tolist(), problem.slack.tolist())
    for c, (v, sign, slack) in enumerate(rows):
        toward = dsymv(1.0, metric, v, lower=1)
        distance = float(v @ toward)
        alpha = sign * min(multiplier[c], sign * slack / (slack + 1) * (1 / distance - 1 / bound[c]))
        if alpha:
            multiplier[c] -= sign * alpha
            bound[c] = slack * bound[c] / (slack + alpha * bound[c])
            metric = dsyr(alpha / (1 - alpha * distance), toward, a=metric, lower=1, overwrite_a=1)
    lower = np.tril(metric)
    after = np.array(multiplier)
    moved = float(np.abs(after - state.multiplier).sum())
    return State(lower + np.tril(lower, -1).T, after, np.array(bound), moved)


def dual(state: State, problem: Problem) -> float:
    """G."""
    away = distances(problem.difference, state.metric) - state.bound
    return divergence(state, problem) + float((state.multiplier * problem.sign) @ away)


def divergence(state: State, problem: Problem) -> float:
    """D(A, A_0) + Σ_c γ_c d(ξ_c, b_c)."""
    ratio = np.linalg.solve(problem.first_metric, state.metric)
    bound = state.bound / problem.first_bound
    of_bounds = problem.slack @ (bound - np.log(bound) - 1)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(ratio) + of_bounds)


def distances(difference: Float[np.ndarray, "pairs features"], metric: np.ndarray) -> Float[np.ndarray, " pairs"]:
    """vᵀ A v."""
    result: np.ndarray = np.einsum("pd,pd->p", difference @ metric, difference)
    return result


def run(problem: Problem, *, max_iter: int, tol: float) -> Trace[State]:
    """Passes until the multipliers rest."""

    def rest(state: State) -> bool:
        return bool(state.moved <= tol * state.multiplier.sum())

    return iterate(
        init(problem), lambda s: step(s, problem), lambda s: dual(s, problem), max_iter=max_iter, settled=rest
    )


def percentiles(
    features: Float[np.ndarray, "items features"], metric: np.ndarray, rng: np.random.RandomState
) -> tuple[float, float]:
    """u and l: of squared distances of all pairs of items, or of very many of them."""
    n = len(features)
    if n * (n - 1) // 2 <= SAMPLED:
        a, b = np.triu_indices(n, 1)
    else:
        a = rng.randint(n, size=SAMPLED)
        b = (a + rng.randint(1, n, size=SAMPLED)) % n
    found = distances(features[a] - features[b], metric)
    low, high = np.percentile(found[found > 0], PERCENTILES) if (found > 0).any() else (1.0, 1.0)
    return float(low), float(high)


def first_metric(features: Float[np.ndarray, "items features"], prior: str) -> Float[np.ndarray, "features features"]:
    """A_0."""
    variance = features.var(0)
    variance = np.where(variance > 0, variance, variance.mean() or 1.0)
    if prior == "identity":
        return np.eye(len(variance))
    if prior == "scale":
        return np.diag(1 / variance)
    scale = np.sqrt(variance)
    correlation = np.atleast_2d(np.cov((features / scale).T, bias=True))
    result: np.ndarray = np.linalg.inv(correlation + FLAT * np.eye(len(scale))) / np.outer(scale, scale)
    return (result + result.T) / 2


class ITMLClustering(KMeansInMetric):
    """k-means in a learned metric, in which pairs put together are near and pairs told apart far.

    Parameters
    ----------
    n_clusters : int, default=2
    slack : float, default=0.1
        γ: what it costs to give in to a judgement. Small where people err, large where they do not.
    prior : {"scale", "identity", "covariance"}, default="scale"
        The metric from which to stray as little as possible: that of features of variance 1; the plain distance; the
        inverse of the covariance.
    n_init : int, default=10
        Starts of k-means.
    max_pairs : int, optional
        Of more judgements, so many at random are used. Without it, more than a million are refused.
    max_iter : int, default=1000
        Passes over the pairs.
    tol : float, default=1e-2
        The passes end when multipliers change by less than this share of their sum.
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
    metric_ : ndarray, shape (n_features, n_features)
        A, positive definite.
    components_ : ndarray, shape (n_features, n_features)
        L with A = Lᵀ L; `transform` gives X Lᵀ.
    bounds_ : tuple of float
        u and l.
    multipliers_ : ndarray, shape (n_pairs_,)
        λ; 0 where a pair would keep its bound without being asked.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row an annotator
        n_pairs; n_together, those of one cluster; accuracy, the share of the judgements that agree with the clusters;
        sensitivity, of pairs of one cluster; specificity, of pairs of two.
    n_pairs_, n_contradicted_ : int
        Pairs used; pairs on which judgements differ.
    notes_ : list of str
        What was contradicted or left out: sentences.
    objective_ : float
        D(A, A_0) + Σ_c γ_c d(ξ_c, b_c); lower is better.
    inertia_ : float
        Of k-means, in the metric.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    Davis, Kulis, Jain, Sra & Dhillon (2007). Information-Theoretic Metric Learning. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.metrics import nmi
    >>> from consilience.semisupervised import ITMLClustering
    >>> from consilience.simulation import simulate_pairs
    >>> X, species = load_iris(return_X_y=True)
    >>> pairs = simulate_pairs(species, 3, 100, 0.85, random_state=0)
    >>> model = ITMLClustering(3, random_state=0).fit(X, pairs)
    >>> round(nmi(species, model.labels_), 2)
    0.86
    """

    _unsettled = "The multipliers still moved after max_iter={} passes."

    def __init__(
        self,
        n_clusters: Count = 2,
        *,
        slack: Real = 0.1,
        prior: Literal["scale", "identity", "covariance"] = "scale",
        n_init: Integer = 10,
        max_pairs: Integer | None = None,
        max_iter: Integer = 1000,
        tol: Real = 1e-2,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.slack = slack
        self.prior = prior
        self.n_init = n_init
        self.max_pairs = max_pairs
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _depends_on_scale(self) -> bool:
        """Not where the metric begins with the variances of the features."""
        return bool(self.prior == "identity")

    def _learn(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> list[str]:
        constraints = Constraints.of(pairs)
        problem, left_out = self._problem(features, constraints, rng)
        trace = run(problem, max_iter=int(self.max_iter), tol=float(self.tol))
        self._set_metric(trace.state.metric)
        self._cluster(features, rng)
        self.n_pairs_, self.n_contradicted_ = len(problem.sign), constraints.n_contradicted
        self.multipliers_, self.objective_ = trace.state.multiplier, divergence(trace.state, problem)
        self.n_iter_, self.converged_ = trace.n_iter, trace.converged
        return constraints.notes + left_out

    def _problem(
        self, features: np.ndarray, constraints: Constraints, rng: np.random.RandomState
    ) -> tuple[Problem, list[str]]:
        """Pairs that have a distance; and a note of those that have none."""
        metric = first_metric(features, self.prior)
        self.bounds_ = percentiles(features, metric, rng)
        difference = features[constraints.item_a] - features[constraints.item_b]
        away = distances(difference, metric)
        kept = away > SAME_FEATURES * self.bounds_[1]
        must = constraints.must[kept]
        problem = Problem(
            difference=difference[kept],
            sign=np.where(must, 1.0, -1.0),
            first_bound=np.where(must, *self.bounds_),
            slack=self.slack * constraints.weight[kept],
            first_metric=metric,
        )
        n = int((~kept).sum())
        note = [f"{n} pairs are of items with the same features, which no metric tells apart: they are left out."]
        return problem, note if n else []

    def _set_metric(self, metric: np.ndarray) -> None:
        self.metric_ = metric
        values, vectors = np.linalg.eigh(metric)
        self.components_ = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require(self, "slack", "a positive float", is_number(self.slack))
        known = isinstance(self.prior, str) and self.prior in PRIORS
        require(self, "prior", "'scale', 'identity' or 'covariance'", known)
