"""Crowdclustering: the estimator of `consilience.consensus.pairs.crowdclustering`. Gomes et al. (2011)."""

from __future__ import annotations

import warnings
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import expit

from consilience.annotations import Groupings, Pairs
from consilience.annotations.names import outside
from consilience.annotations.types import Flag, Integer, Name, NumberOfClusters, RandomSource, Real
from consilience.consensus.pairs import crowdclustering as core
from consilience.consensus.pairs import point_mixture
from consilience.consensus.pairs.crowdclustering import CrowdclusteringProblem, CrowdclusteringState
from consilience.consensus.pairs.point_mixture import PointMixture, PointMixturePrior
from consilience.errors import AnnotationWarning
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.pair_notes import notes_on_degenerate_clusters
from consilience.estimators.pairs import PairConsensus
from consilience.estimators.parameters import (
    AUTO,
    NOT_NEGATIVE,
    POSITIVE,
    RESTARTS,
    TRUTH,
    Requirements,
    is_auto,
    require,
    whole,
)
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import by_falling_size
from consilience.inference.iterate import restarts
from consilience.inference.randomness import spawn_seeds

MOST_CLUSTERS = 10_000
MOST_COMPONENTS = 10  # beyond this the tables of an annotator become large
SHUFFLE = 0  # seed of the order of items, so that the items of a batch are not similar


class Crowdclustering(PairConsensus):
    """Clusters of points in a latent space, from judgements by annotators who weight its dimensions differently.

    Each annotator is a classifier of pairs: a judgement is "same" if the two points agree in the dimensions that the
    annotator uses. An annotator may use few dimensions, others than the rest of the crowd, judge at random or the wrong
    way round. The number of clusters is estimated.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of clusters. "auto" estimates it. With a number, the fit starts with this many; a warning says if some of
        them end without items.
    max_clusters : int, default=15
        Largest number of clusters that "auto" considers.
    n_components : int, default=4
        D: number of dimensions of the points, from 1 to 10.
    two_stage : bool, default=False
        Whether the points are fitted first, and then clusters to their posterior means; else both are fitted together.
    item_variance, weight_variance, bias_variance : float, default=5.0, 10.0, 1.0
        Prior variances of the points, of the entries of W and of τ.
    cluster_variance : float, default=0.5
        Expected variance within clusters, in each dimension; less than `item_variance`.
    stick_concentration : float, default=1.0
        γ: the larger, the more clusters.
    n_init : int, default=5
        Number of restarts; the one with the highest bound is kept.
    max_iter : int, default=500
        Maximum number of sweeps of each stage.
    tol : float, default=1e-5
        A stage has converged when the relative gain of the bound is less than this.
    n_jobs : int, optional
        Number of restarts run in parallel, as in joblib.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size; -1 for items without judgements.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        Probability of each cluster; the clusters' shares for items without judgements.
    n_clusters_ : int
        Number of clusters that own an item.
    embedding_ : ndarray, shape (n_items, n_components)
        Posterior means of the points. Another fit may rotate and scale them.
    annotators_ : DataFrame, one row for each annotator
        n_pairs (judged); bias (posterior mean of τ: towards "same"); and the shares of judgements that agree with the
        clusters: accuracy (of all), sensitivity (of pairs within clusters) and specificity (of others), NaN if there
        are none.
    notes_ : list of str
        What limits the answer: one cluster, or each item alone, although many judgements say otherwise.
    lower_bound_ : float
        Bound on ln p(judgements), nats; with `two_stage`, of the first stage.
    lower_bounds_ : ndarray, shape (n_iter_,)
        The same after each sweep of the last stage that uses the judgements.
    restart_bounds_ : ndarray, shape (n_init,)
    n_iter_ : int
        Number of sweeps of that stage.
    converged_ : bool
    items_ : Index, shape (n_items,)

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter, annotations without judgements of pairs, or more than 500,000 of them.

    See Also
    --------
    CorrelationClustering : Faster, and any number of clusters.
    consilience.semisupervised.MECC : With features.

    References
    ----------
    Gomes, Welinder, Krause & Perona (2011). Crowdclustering. NIPS 24.

    Examples
    --------
    >>> from consilience.consensus import Crowdclustering
    >>> from consilience.simulation import simulate_pairs
    >>> flowers = ["iris"] * 12 + ["rose"] * 10 + ["lily"] * 8
    >>> pairs = simulate_pairs(flowers, 3, 200, [0.95, 0.95, 0.05], random_state=0)
    >>> model = Crowdclustering(n_init=2, random_state=0).fit(pairs)
    >>> model.labels_[[0, 11, 12, 21, 22, 29]]
    array([0, 0, 1, 1, 2, 2])
    >>> (model.annotators_["accuracy"] > 0.5).tolist()
    [True, True, False]
    """

    _most_pairs = 500_000  # every sweep processes each of them
    _handles = "processes judged pairs one by one"
    _axes: ClassVar[Axes] = PairConsensus._axes | {
        "embedding_": ("items",),
        "_points": ("items",),
        "_weights": ("annotators",),
        "_weight_covariances": ("annotators",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.BOUNDED,
        **learned.annotators(n_pairs="c", bias="f", accuracy="p", sensitivity="p", specificity="p"),
        "restart_bounds_": learned.array(float, None),
        "embedding_": learned.reals("items", "dims"),
        "_points": learned.reals("items", "quadratic"),
        "_weights": learned.reals("annotators", None),
        "_weight_covariances": learned.reals("annotators", None, None),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "max_clusters": whole(1, MOST_CLUSTERS),
        "n_components": whole(1, MOST_COMPONENTS),
        "two_stage": TRUTH,
        "item_variance": POSITIVE,
        "weight_variance": POSITIVE,
        "bias_variance": POSITIVE,
        "cluster_variance": POSITIVE,
        "stick_concentration": POSITIVE,
        "n_init": RESTARTS,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        *,
        max_clusters: Integer = 15,
        n_components: Integer = 4,
        two_stage: Flag = False,
        item_variance: Real = 5.0,
        weight_variance: Real = 10.0,
        bias_variance: Real = 1.0,
        cluster_variance: Real = 0.5,
        stick_concentration: Real = 1.0,
        n_init: Integer = 5,
        max_iter: Integer = 500,
        tol: Real = 1e-5,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.n_components = n_components
        self.two_stage = two_stage
        self.item_variance = item_variance
        self.weight_variance = weight_variance
        self.bias_variance = bias_variance
        self.cluster_variance = cluster_variance
        self.stick_concentration = stick_concentration
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of an annotator: E σ(A) by MacKay's approximation."""
        if annotator is None:
            return super()._same(a, b, None)
        place = self._place_of_annotator(annotator)
        own = self._weights[place], self._weight_covariances[place]
        mean, square = core.scores_of_pairs(self._points[a], self._points[b], *own)
        # a variance is below 0 by rounding alone
        return expit(mean / np.sqrt(1 + np.pi / 8 * np.maximum(square - mean**2, 0.0)))

    def _to_arrange(self, given: Pairs | Groupings) -> Pairs | Groupings:
        return self._list_pairs(given)

    def _learn(self, pairs: Pairs) -> None:
        order = np.union1d(pairs.item_a, pairs.item_b)
        order = order[np.random.default_rng(SHUFFLE).permutation(len(order))]
        problem = CrowdclusteringProblem.of(pairs[order], n_components=int(self.n_components), prior=self._prior())
        run = partial(
            core.run,
            problem,
            int(self.max_clusters) if is_auto(self.n_clusters) else int(self.n_clusters),
            fewest=1 if is_auto(self.n_clusters) else int(self.n_clusters),
            two_stage=bool(self.two_stage),
            max_iter=self.max_iter,
            tol=self.tol,
        )
        seeds = spawn_seeds(self.random_state, self.n_init)
        found = restarts(run, [(seed,) for seed in seeds], n_jobs=self.n_jobs)
        self.restart_bounds_ = np.array([trace.lower_bound for trace, _ in found])
        trace, mixture = found[int(self.restart_bounds_.argmax())]
        keep_trace(self, trace)
        self._read_off(problem, trace.state, mixture, pairs, order)
        if not is_auto(self.n_clusters) and self.n_clusters_ != self.n_clusters:
            warnings.warn(
                f"Crowdclustering found {self.n_clusters_} clusters instead of the {self.n_clusters} requested: the "
                "judgements do not distinguish as many.",
                AnnotationWarning,
                stacklevel=outside(),
            )

    def _read_off(
        self,
        problem: CrowdclusteringProblem,
        state: CrowdclusteringState,
        mixture: PointMixture,
        pairs: Pairs,
        order: Int[np.ndarray, " judged"],
    ) -> None:
        """Set the clusters that own items, by decreasing size, the points and the annotators."""
        n_items, sizes = len(pairs), np.bincount(mixture.share.argmax(1), minlength=mixture.share.shape[1])
        owned = by_falling_size(sizes)
        shares = point_mixture.expected_sticks(mixture.sticks)[owned]
        responsibilities = np.tile(shares, (n_items, 1))
        responsibilities[order] = mixture.share[:, owned]
        self.items_, self.n_clusters_ = pairs.items, len(owned)
        self.responsibilities_ = responsibilities / responsibilities.sum(1, keepdims=True)
        self.labels_ = np.full(n_items, -1)
        self.labels_[order] = self.responsibilities_[order].argmax(1)
        self._points = np.tile(point_mixture.prior_points(problem.layout, problem.prior, state.mixture), (n_items, 1))
        self._points[order] = state.points
        self.embedding_ = problem.layout.means(self._points)
        self._weights, self._weight_covariances = state.mean, state.covariance
        self.annotators_ = _annotators(pairs, self.responsibilities_, state.mean[:, -1])
        requested = None if is_auto(self.n_clusters) else int(self.n_clusters)
        self.notes_ = notes_on_degenerate_clusters(self.labels_, int(pairs.same.sum()), pairs.n_rows, requested)

    def _prior(self) -> PointMixturePrior:
        return PointMixturePrior(
            item_variance=float(self.item_variance),
            weight_variance=float(self.weight_variance),
            bias_variance=float(self.bias_variance),
            stick=float(self.stick_concentration),
            within=float(self.cluster_variance),
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require(self, "cluster_variance", "less than item_variance", self.cluster_variance < self.item_variance)


def _annotators(pairs: Pairs, share: Float[np.ndarray, "items clusters"], bias: np.ndarray) -> pd.DataFrame:
    """Tabulate judgements and their expected agreement with the clusters."""
    within = (share[pairs.item_a] * share[pairs.item_b]).sum(1)

    def sums(of: np.ndarray) -> Float[np.ndarray, " annotators"]:
        return np.bincount(pairs.annotator, of, pairs.n_annotators).astype(float)

    def ratio(right: np.ndarray, of: np.ndarray) -> np.ndarray:
        return np.divide(right, of, out=np.full(len(of), np.nan), where=of > 0)

    together, apart = sums(within * pairs.same), sums((1 - within) * ~pairs.same)
    n_pairs, n_within = np.bincount(pairs.annotator, minlength=pairs.n_annotators), sums(within)
    table = {
        "n_pairs": n_pairs,
        "bias": bias,
        "accuracy": ratio(together + apart, n_pairs),
        "sensitivity": ratio(together, n_within),
        "specificity": ratio(apart, sums(1 - within)),
    }
    return pd.DataFrame(table, index=pairs.annotators.rename("annotator"))
