"""ITMLClustering: the estimator of `consilience.semisupervised.itml`. Davis, Kulis, Jain, Sra & Dhillon (2007)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from consilience.annotations import Pairs
from consilience.annotations.types import Count, Flag, Integer, Literal, RandomSource, Real
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.pairs import PairwiseClustering, learn_kmeans, transform_by_metric
from consilience.estimators.parameters import POSITIVE, Requirements, one_of
from consilience.estimators.traces import keep_end
from consilience.semisupervised.constraints import Constraints
from consilience.semisupervised.itml import (
    PRIORS,
    SAME_FEATURES,
    ITMLProblem,
    distances,
    divergence,
    first_metric,
    percentiles,
    run,
)


class ITMLClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PairwiseClustering):
    """K-means in a learned metric, in which pairs put together are close and pairs kept apart are distant.

    The metric is learned from the judgements of pairs; the clusters are then found without them.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    slack : float, default=0.1
        γ: cost of violating a judgement. Small if people err, large if they do not.
    prior : {"scale", "identity", "covariance"}, default="scale"
        The metric to stay close to: that of features of variance 1; the Euclidean distance; the
        inverse of the covariance.
    n_init : int, default=10
        Number of starts of k-means.
    max_pairs : int, optional
        If there are more judgements, this many are drawn at random. Without it, more than a million are refused.
    max_iter : int, default=1000
        Maximum number of passes over the pairs.
    tol : float, default=1e-2
        The passes end when the multipliers change by less than this share of their sum.
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
    cluster_centers_ : ndarray, shape (n_clusters_, n_features)
        Centroids in the space of the features.
    metric_ : ndarray, shape (n_features, n_features)
        A, positive definite.
    components_ : ndarray, shape (n_features, n_features)
        L with A = Lᵀ L; `transform` gives X Lᵀ.
    bounds_ : tuple of float
        u and l.
    multipliers_ : ndarray, shape (n_pairs_,)
        λ; 0 for pairs that satisfy their bound without it.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_pairs; n_together, pairs of one cluster; accuracy, the share of judgements that agree with the clusters;
        sensitivity, the same for pairs of one cluster; specificity, for pairs of two.
    n_pairs_, n_contradicted_ : int
        Number of pairs used; number of pairs on which judgements differ.
    notes_ : list of str
        Sentences on what was contradicted or left out.
    objective_ : float
        D(A, A_0) + Σ_c γ_c d(ξ_c, b_c); lower is better.
    inertia_ : float
        Inertia of k-means, in the metric.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MPCKMeans : Learns metric and clusters together.
    MECC : Weighs annotators.

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

    _learned: ClassVar[Attributes] = {
        "components_": learned.reals("features", "features"),
        "bounds_": learned.tuple_of(learned.number(), learned.number()),
        "inertia_": learned.number(0),
        "n_contradicted_": learned.whole(),
        "multipliers_": learned.array(float, None),
    }

    _requirements: ClassVar[Requirements] = {"slack": POSITIVE, "prior": one_of(*PRIORS)}

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

    transform = transform_by_metric

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _depends_on_scale(self) -> bool:
        """False if the metric starts from the variances of the features."""
        return bool(self.prior == "identity")

    def _learn(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> list[str]:
        constraints = Constraints.of(pairs)
        problem, left_out = self._problem(features, constraints, rng)
        trace = run(problem, max_iter=int(self.max_iter), tol=float(self.tol))
        self._set_metric(trace.state.metric)
        learn_kmeans(self, features, rng)
        self.n_pairs_, self.n_contradicted_ = len(problem.sign), constraints.n_contradicted
        self.multipliers_, self.objective_ = trace.state.multiplier, divergence(trace.state, problem)
        keep_end(self, trace)
        return constraints.notes + left_out

    def _problem(
        self, features: np.ndarray, constraints: Constraints, rng: np.random.RandomState
    ) -> tuple[ITMLProblem, list[str]]:
        """Return the pairs that have a distance; and a note on those without one."""
        metric = first_metric(features, self.prior)
        self.bounds_ = percentiles(features, metric, rng)
        difference = features[constraints.item_a] - features[constraints.item_b]
        away = distances(difference, metric)
        kept = away > SAME_FEATURES * self.bounds_[1]
        must = constraints.must[kept]
        problem = ITMLProblem(
            difference=difference[kept],
            sign=np.where(must, 1.0, -1.0),
            first_bound=np.where(must, *self.bounds_),
            slack=self.slack * constraints.weight[kept],
            first_metric=metric,
        )
        n = int((~kept).sum())
        note = [f"{n} pairs are of items with the same features, which no metric separates: they are left out."]
        return problem, note if n else []

    def _set_metric(self, metric: np.ndarray) -> None:
        self.metric_ = metric
        values, vectors = np.linalg.eigh(metric)
        self.components_ = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T  # below 0 by rounding alone
