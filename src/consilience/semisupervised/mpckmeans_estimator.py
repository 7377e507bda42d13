"""MPCKMeans: the estimator of `consilience.semisupervised.mpckmeans`. Bilenko, Basu & Mooney (2004)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from consilience.annotations import Pairs
from consilience.annotations.types import ArrayLike, Count, Flag, Integer, Literal, RandomSource, Real
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.pairs import PairwiseClustering
from consilience.estimators.parameters import ARRAY, AUTO, NOT_NEGATIVE, TRUTH, Requirements, one_of, require
from consilience.estimators.traces import keep_end
from consilience.inference.iterate import Trace, restarts
from consilience.inference.pair_reliability import independent_share, log_odds
from consilience.inference.randomness import spawn_seeds
from consilience.semisupervised import mpckmeans as core
from consilience.semisupervised.constraints import Constraints, add_entailed

METRICS = ("diagonal", "full", None)
REWEIGHTINGS = 2  # of annotators; each is another run
ASSUMED = 0.8  # accuracy of annotators before there are clusters
ENTAILED = 4  # largest number of entailed pairs per given pair


class MPCKMeans(PairwiseClustering):
    """K-means with must-links, cannot-links and a learned metric, for contradictory crowds.

    Judgements may contradict each other: violating one has a cost, which depends on how reliable its annotator is.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    metric : {"diagonal", "full", None}, default="diagonal"
        Learned metric: a weight for each feature; a matrix; none (PCKMeans; the scale of the features then matters).
    metric_per_cluster : bool, default=False
        Whether each cluster has its own metric.
    weight : "auto" or float, default="auto"
        Cost of a violated judgement. "auto": by its annotator's sensitivity and specificity, which are estimated.
        A number: w of the paper, the same for all judgements.
    closure : bool, default=False
        Whether pairs that follow from must-links are added, if nothing contradicts them and there are at most four for
        each given pair.
    init : "auto" or array of shape (n_clusters, n_features), default="auto"
        First centroids. "auto": from neighbourhoods, and from directions in which pairs kept apart differ.
    n_init : int, default=4
        Number of starts; the one with the lowest objective is kept.
    max_pairs : int, optional
        If there are more judgements, this many are drawn at random. Without it, more than a million are refused.
    max_iter : int, default=100
        Maximum number of sweeps of a run.
    tol : float, default=1e-6
        A run has converged when the objective decreases by less than this share of its size.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        1 for the item's cluster, else 0.
    n_clusters_ : int
        Number of clusters that own an item.
    cluster_centers_ : ndarray, shape (n_clusters_, n_features)
    metric_ : ndarray, shape (n_features, n_features), or (n_clusters_, n_features, n_features) if per cluster
        A.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_pairs; n_together, pairs of one cluster; accuracy, the share of judgements that agree with the clusters;
        sensitivity, the same for pairs of one cluster; specificity, for pairs of two.
    n_pairs_ : int
        Number of constraints: pairs with a net majority.
    n_contradicted_ : int
        Number of pairs on which judgements differ.
    n_violated_ : int
        Number of constraints that the clusters violate.
    notes_ : list of str
        Sentences on what was contradicted or left out.
    objective_ : float
        J; lower is better.
    objectives_ : ndarray, shape (n_iter_,)
        J after each sweep of the last run.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MECC : Weighs annotators by sensitivity and specificity.
    ITMLClustering : Another metric.

    References
    ----------
    Bilenko, Basu & Mooney (2004). Integrating Constraints and Metric Learning in Semi-Supervised Clustering. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.metrics import nmi
    >>> from consilience.semisupervised import MPCKMeans
    >>> from consilience.simulation import simulate_pairs
    >>> X, species = load_iris(return_X_y=True)
    >>> pairs = simulate_pairs(species, 3, 100, 0.85, random_state=0)
    >>> model = MPCKMeans(3, random_state=0).fit(X, pairs)
    >>> round(nmi(species, model.labels_), 2)
    0.92
    """

    _learned: ClassVar[Attributes] = {
        "objectives_": learned.array(float, None),
        "n_contradicted_": learned.whole(),
        "n_violated_": learned.whole(),
        "_metric": learned.tuple_of(learned.ANYTHING, learned.array(float, None)),
    }

    _requirements: ClassVar[Requirements] = {
        "metric": one_of(*METRICS),
        "metric_per_cluster": TRUTH,
        "weight": AUTO | NOT_NEGATIVE,
        "closure": TRUTH,
        "init": AUTO | ARRAY,
    }

    def __init__(
        self,
        n_clusters: Count = 2,
        *,
        metric: Literal["diagonal", "full", None] = "diagonal",
        metric_per_cluster: Flag = False,
        weight: Literal["auto"] | Real = "auto",
        closure: Flag = False,
        init: Literal["auto"] | ArrayLike = "auto",
        n_init: Integer = 4,
        max_pairs: Integer | None = None,
        max_iter: Integer = 100,
        tol: Real = 1e-6,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_per_cluster = metric_per_cluster
        self.weight = weight
        self.closure = closure
        self.init = init
        self.n_init = n_init
        self.max_pairs = max_pairs
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _nearest(self, features: Float[np.ndarray, "items features"]) -> Int[np.ndarray, " items"]:
        """Nearest centroid, in its metric."""
        return core.nearest(features, self.cluster_centers_, core.Metric(*self._metric)).argmin(1)

    def _depends_on_scale(self) -> bool:
        """False if the metric is learned, which starts from the variances of the features."""
        return self.metric is None

    def _learn(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> list[str]:
        trace = self._best(features, pairs, rng)
        self._read_off(trace.state)
        self.objectives_ = -np.array(trace.lower_bounds)
        keep_end(self, trace)
        self.objective_ = -trace.lower_bound
        constraints = Constraints.of(pairs)
        self.n_pairs_, self.n_contradicted_ = constraints.n_pairs, constraints.n_contradicted
        apart = self.labels_[constraints.item_a] != self.labels_[constraints.item_b]
        self.n_violated_ = int((apart == constraints.must).sum())
        return constraints.notes

    def _best(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> Trace[core.MPCKMeansState]:
        """Run from all starts, then weight the annotators by the best result."""
        auto = isinstance(self.weight, str)
        assumed = np.log(ASSUMED / (1 - ASSUMED)) if auto else float(self.weight)
        share = independent_share(pairs) if auto else np.ones(pairs.n_rows)
        problem = self._problem(features, pairs, assumed * share)
        starts = self._starts(problem, rng)
        if auto:
            problem = core.price_constraints(problem, core.init(starts[0], core.without_constraints(problem)))
        traces = restarts(lambda start: self._run(core.init(start, problem), problem), [(start,) for start in starts])
        best = min(traces, key=lambda trace: -trace.lower_bound)
        for _ in range(REWEIGHTINGS if auto and pairs.n_rows else 0):
            state = best.state
            # clusters that obey the judgements would make all annotators look right
            without_constraints = core.nearest(features, state.centres, state.metric).argmin(1)
            problem = self._problem(features, pairs, share * log_odds(pairs, without_constraints))
            problem = core.price_constraints(problem, state)
            best = self._run(state, problem)
        return best

    def _run(self, first: core.MPCKMeansState, problem: core.MPCKMeansProblem) -> Trace[core.MPCKMeansState]:
        return core.run(first, problem, max_iter=int(self.max_iter), tol=float(self.tol))

    def _problem(self, features: np.ndarray, pairs: Pairs, worth: np.ndarray) -> core.MPCKMeansProblem:
        constraints = Constraints.of(pairs, worth)
        if self.closure:
            constraints = add_entailed(constraints, ENTAILED * constraints.n_pairs)
        return core.MPCKMeansProblem.of(
            features, constraints, int(self.n_clusters), self.metric, bool(self.metric_per_cluster)
        )

    def _starts(self, problem: core.MPCKMeansProblem, rng: np.random.RandomState) -> list[Int[np.ndarray, " items"]]:
        if not isinstance(self.init, str):
            return [core.assign_nearest(self._given_centres(problem), problem)]
        seeds = spawn_seeds(rng, self.n_init)
        first = core.start_from_neighbourhoods(problem, seeds[0])
        rest = seeds if first is None else seeds[1:]
        return ([] if first is None else [first]) + [core.start_from_pairs(problem, seed) for seed in rest]

    def _given_centres(self, problem: core.MPCKMeansProblem) -> Float[np.ndarray, "clusters features"]:
        wanted = (problem.n_clusters, problem.features.shape[1])
        try:
            centres = np.asarray(self.init, dtype=float)
        except (TypeError, ValueError):
            require(self, "init", f"'auto' or finite centroids of shape {wanted}", False)
        if centres.shape != wanted or not np.isfinite(centres).all():
            raise InputError(
                f"The 'init' parameter of MPCKMeans must be 'auto' or finite centroids of shape {wanted}. Got an array "
                f"of shape {centres.shape} instead."
            )
        return centres

    def _read_off(self, state: core.MPCKMeansState) -> None:
        """Set the clusters, centroids and metric."""
        kept = self._set_clusters(state.labels)
        self.cluster_centers_ = state.centres[kept]
        root, log_det = state.metric.root, state.metric.log_det
        own = len(root) > 1
        self._metric = (root[kept], log_det[kept]) if own else (root, log_det)
        metric = [np.diag(one**2) if one.ndim == 1 else one @ one.T for one in self._metric[0]]
        self.metric_ = np.stack(metric) if self.metric_per_cluster else metric[0]

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        root, log_det = self._metric
        n_features = self.n_features_in_
        shapes = [(n, n_features, *more) for n in (1, self.n_clusters_) for more in ((), (n_features,))]
        is_root = isinstance(root, np.ndarray) and root.dtype.kind == "f" and root.shape in shapes
        if not (is_root and (np.abs(root) <= learned.LARGEST).all() and len(log_det) == len(root)):
            yield "_metric"
