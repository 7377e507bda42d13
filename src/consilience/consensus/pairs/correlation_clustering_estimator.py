"""Correlation clustering: the estimator of `consilience.consensus.pairs.correlation_clustering`."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from consilience.annotations import Pairs
from consilience.annotations.names import inverse, outside
from consilience.annotations.types import (
    Flag,
    Integer,
    NumberOfClusters,
    RandomSource,
    Real,
    Reals,
)
from consilience.consensus.pairs import belief_propagation
from consilience.consensus.pairs import correlation_clustering as core
from consilience.consensus.pairs.correlation_clustering import CorrelationClusteringProblem, Right
from consilience.consensus.pairs.correlation_search import run, starts
from consilience.errors import AnnotationWarning
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.pair_notes import notes_on_degenerate_clusters
from consilience.estimators.pairs import PairConsensus
from consilience.estimators.parameters import (
    AUTO,
    NOT_NEGATIVE,
    RESTARTS,
    TWO_POSITIVE,
    Requirements,
    is_auto,
    whole,
)
from consilience.estimators.traces import keep_end
from consilience.inference.clusters import by_falling_size
from consilience.inference.iterate import Trace, restarts
from consilience.inference.pair_reliability import annotator_table
from consilience.inference.randomness import spawn_generator

MOST_FEW = 20  # clusters up to which their probabilities are computed by belief propagation
MOST_FEW_PAIRS = 25_000  # different pairs up to which they are; with more, it takes minutes and tells little more


class CorrelationClustering(PairConsensus):
    """Clusters of items from judgements of pairs alone, few large ones or hundreds of small ones.

    The partition in which the judgements have the highest log-odds, under the sensitivity and specificity of each
    annotator, which are learned with it. The number of clusters is found; it has no upper bound.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of clusters. A warning says if another number was found.
    reliability_prior : (float, float), default=(8.0, 2.0)
        Beta prior of the annotators' sensitivities and specificities: imagined right and wrong judgements of each.
    n_init : int, default=2
        Number of random starts, and, where clusters are few, of those with each number of clusters. There are four
        other starts.
    max_iter : int, default=200
        Maximum number of sweeps from each start.
    tol : float, default=1e-5
        A run has converged when the relative gain of the objective is at most this.
    n_jobs : int, optional
        Number of starts run in parallel, as in joblib.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size; -1 for items without judgements.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        Probability of each cluster; the clusters' shares for items without judgements. If there are more than twenty
        clusters, or 25,000 different pairs, given the clusters of all other items.
    n_clusters_ : int
    annotators_ : DataFrame, one row for each annotator
        n_pairs (judged); accuracy, the share of judgements that agree with the clusters, NaN if there are none; and the
        posterior means of sensitivity (of pairs within clusters) and specificity (of others).
    notes_ : list of str
        What limits the answer: items that no chain of judged pairs links, a degenerate clustering.
    objective_ : float
        Approximate log evidence of the clusters, nats.
    objectives_ : ndarray, shape (n_iter_,)
        The same after each sweep.
    restart_objectives_ : ndarray
        The same for each start.
    n_iter_ : int
    converged_ : bool
    items_ : Index, shape (n_items,)

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter, annotations without judgements of pairs, or more than 2,000,000 of them.

    See Also
    --------
    Crowdclustering : People who attend to different features.
    consilience.semisupervised.MECC : With features.

    References
    ----------
    Bansal, Blum & Chawla (2004). Correlation clustering. Machine Learning 56.

    Decelle, Krzakala, Moore & Zdeborová (2011). Asymptotic analysis of the stochastic block model for modular networks
    and its algorithmic applications. Physical Review E 84.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus import CorrelationClustering
    >>> from consilience.simulation import simulate_pairs
    >>> records = np.repeat(np.arange(40), 3)  # 40 persons, three records of each
    >>> pairs = simulate_pairs(records, 8, 240, 0.98, random_state=0)
    >>> model = CorrelationClustering(random_state=0).fit(pairs)
    >>> model.n_clusters_, np.unique(np.bincount(model.labels_)).tolist()
    (40, [3])
    """

    _most_pairs = 2_000_000
    _handles = "lists the judged pairs"

    _learned: ClassVar[Attributes] = {
        **learned.SETTLED,
        **learned.annotators(n_pairs="c", accuracy="p", sensitivity="p", specificity="p"),
        "objective_": learned.number(),
        "objectives_": learned.array(float, None),
        "restart_objectives_": learned.array(float, None),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "reliability_prior": TWO_POSITIVE,
        "n_init": RESTARTS,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        *,
        reliability_prior: Reals = (8.0, 2.0),
        n_init: Integer = 2,
        max_iter: Integer = 200,
        tol: Real = 1e-5,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.reliability_prior = reliability_prior
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, pairs: Pairs) -> None:
        judged = np.union1d(pairs.item_a, pairs.item_b)
        rng = spawn_generator(self.random_state)
        problem = self.problem_of(pairs, judged, rng)
        search = partial(run, problem, max_iter=self.max_iter, tol=float(self.tol))
        traces: list[Trace[Any]] = restarts(
            search, [(start,) for start in starts(problem, int(self.n_init), rng)], n_jobs=self.n_jobs
        )
        best = max(traces, key=lambda trace: trace.lower_bound)
        traces += self._runs_with_few(problem, best.state.cluster, rng)
        self.restart_objectives_ = np.array([trace.lower_bound for trace in traces])
        kept = traces[int(self.restart_objectives_.argmax())]
        keep_end(self, kept)
        self.objective_, self.objectives_ = kept.lower_bound, np.array(kept.lower_bounds)
        state = kept.state
        share = (
            core.conditional_shares(state, problem)
            if isinstance(state, core.CorrelationClusteringState)
            else state.share
        )
        self._read_off(pairs, problem, share, state.right, judged)

    def problem_of(
        self, pairs: Pairs, judged: Int[np.ndarray, " judged"], rng: np.random.Generator
    ) -> CorrelationClusteringProblem:
        """Return the problem of the items that are in some pair."""
        place = inverse(judged, len(pairs))
        return CorrelationClusteringProblem.of(
            place[pairs.item_a],
            place[pairs.item_b],
            pairs.annotator,
            pairs.same,
            shape=(len(judged), pairs.n_annotators),
            reliability=(float(self.reliability_prior[0]), float(self.reliability_prior[1])),
            n_clusters=None if is_auto(self.n_clusters) else int(self.n_clusters),
            rng=rng,
        )

    def _runs_with_few(
        self, problem: CorrelationClusteringProblem, partition: core.Clusters, rng: np.random.Generator
    ) -> list[Trace[belief_propagation.Beliefs]]:
        """Belief propagation with each number of clusters, unless there seem to be many."""
        if is_auto(self.n_clusters):
            numbers = range(2, min(MOST_FEW, problem.n_items - 1) + 1)
            is_few = partition.max() < MOST_FEW
        else:
            requested = int(self.n_clusters)
            numbers, is_few = range(requested, requested + 1), 2 <= requested <= MOST_FEW
        if not is_few or len(problem.first) > MOST_FEW_PAIRS:
            return []
        found = belief_propagation.search(
            problem,
            partition,
            numbers,
            n_init=int(self.n_init),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            n_jobs=self.n_jobs,
            rng=rng,
        )
        if is_auto(self.n_clusters):
            return found
        return [trace for trace in found if len(np.unique(trace.state.share.argmax(1))) == self.n_clusters]

    def _read_off(
        self,
        pairs: Pairs,
        problem: CorrelationClusteringProblem,
        share: Float[np.ndarray, "judged clusters"],
        right: Right,
        judged: Int[np.ndarray, " judged"],
    ) -> None:
        """Set the clusters that own items, by decreasing size, the annotators and the notes."""
        share, n_parts = _within_parts(share, problem)
        sizes = np.bincount(share.argmax(1), minlength=share.shape[1])
        owned = by_falling_size(sizes)
        responsibilities = np.empty((len(pairs), len(owned)))
        responsibilities[:] = sizes[owned] / len(judged)
        responsibilities[judged] = share[:, owned]
        responsibilities /= responsibilities.sum(1, keepdims=True)
        self.items_, self.n_clusters_, self.responsibilities_ = pairs.items, len(owned), responsibilities
        self.labels_ = np.full(len(pairs), -1)
        self.labels_[judged] = self.responsibilities_[judged].argmax(1)
        found = annotator_table(pairs, self.labels_)[["n_pairs", "accuracy"]]
        specificity, sensitivity = right[:, :, 0] / right.sum(2)
        self.annotators_ = found.assign(sensitivity=sensitivity, specificity=specificity)
        requested = None if is_auto(self.n_clusters) else int(self.n_clusters)
        self.notes_ = notes_on_degenerate_clusters(self.labels_, int(pairs.same.sum()), pairs.n_rows, requested)
        if n_parts > 1:
            self.notes_ += [
                f"The judged pairs fall into {n_parts:,} parts that no chain of judged pairs links; no cluster spans "
                "two of them."
            ]
        if requested is not None and self.n_clusters_ != requested:
            warnings.warn(
                f"CorrelationClustering found {self.n_clusters_} clusters instead of the {requested} requested: the "
                "judgements do not determine as many.",
                AnnotationWarning,
                stacklevel=outside(),
            )


def _within_parts(
    share: Float[np.ndarray, "judged clusters"], problem: CorrelationClusteringProblem
) -> tuple[Float[np.ndarray, "judged clusters2"], int]:
    """Divide each cluster by the parts that chains of judged pairs link; return shares, and the number of parts."""
    links = csr_array((np.ones(len(problem.first)), (problem.first, problem.second)), shape=(len(share), len(share)))
    n_parts, part = connected_components(links, directed=False)
    if n_parts == 1:
        return share, n_parts
    code, column = np.unique(share.argmax(1) * n_parts + part, return_inverse=True)
    old, of_part = np.divmod(code, n_parts)
    divided = np.where(of_part == part[:, None], share[:, old], 0.0)
    # an item may be sure of another part's share of its cluster, and rows must not sum to 0
    divided[np.arange(len(share)), column] = np.maximum(divided[np.arange(len(share)), column], np.finfo(float).tiny)
    return divided / divided.sum(1, keepdims=True), n_parts
