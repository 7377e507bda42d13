"""SemiCrowd: the estimator of `consilience.semisupervised.semicrowd`. Yi, Jin, Jain, Jain & Yang (2012)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Int
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from consilience.annotations import Pairs
from consilience.annotations.canonical import Arrangement
from consilience.annotations.types import Count, Flag, Integer, Literal, RandomSource, Real
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.pairs import PairwiseClustering, learn_kmeans, transform_by_metric
from consilience.estimators.parameters import AUTO, POSITIVE, Requirements, interval, require
from consilience.estimators.traces import keep_end
from consilience.semisupervised.semicrowd import (
    FLAT,
    MAX_ANNOTATED,
    NOTHING,
    SemiCrowdProblem,
    complete,
    learn_metric,
    objective,
    similarities,
)


class SemiCrowd(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PairwiseClustering):
    """Clusters in a metric learned from a completed table of similarities of the annotated items.

    For at most 2000 annotated items; any number of items without annotations are clustered by their features.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    d0, d1 : float, default=0.0 and 0.8
        A pair is apart if its share of "same" is at most d0, together if it is at least d1, else unknown.
    error_weight : "auto" or float, default="auto"
        C: cost of an error in the known similarities. "auto": 2 / sqrt(annotated items * share of known pairs).
    ridge : float, default=0.01
        λ, for features of variance 1.
    n_init : int, default=10
        Number of starts of k-means.
    max_pairs : int, optional
        If there are more judgements, this many are drawn at random. Without it, more than a million are refused.
    max_iter : int, default=500
        Maximum number of steps of the completion.
    tol : float, default=1e-3
        The completion ends when A and E reproduce the known entries with this relative accuracy.
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
    completed_ : DataFrame, shape (n_annotated, n_annotated)
        A, of the judged items.
    metric_ : ndarray, shape (n_features, n_features)
        M, for features as given.
    components_ : ndarray, shape (n_components, n_features)
        L with M = Lᵀ L, at most as many rows as clusters.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_pairs; n_together, pairs of one cluster; accuracy, the share of judgements that agree with the clusters;
        sensitivity, the same for pairs of one cluster; specificity, for pairs of two.
    n_pairs_ : int
        Number of pairs whose similarity is known.
    notes_ : list of str
        Sentences on what was left out.
    objective_ : float
        tr(A) + C Σ abs(A - Ã); lower is better.
    inertia_ : float
        Inertia of k-means, in the metric.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MECC : Weighs annotators.
    PartitionLabelModel : For groupings of most items.

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

    _learned: ClassVar[Attributes] = {
        "components_": learned.reals(None, "features"),
        "inertia_": learned.number(0),
        "completed_": learned.table("judged items", "judged items"),
    }

    _requirements: ClassVar[Requirements] = {
        "d0": interval(0, 1, "left"),
        "d1": interval(0, 1, "right"),
        "error_weight": AUTO | POSITIVE,
        "ridge": POSITIVE,
    }

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

    transform = transform_by_metric

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _depends_on_scale(self) -> bool:
        """No: the features are standardised."""
        return False

    def _learn(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> list[str]:
        problem, annotated, unclear = self._problem(pairs)
        trace = complete(problem, max_iter=int(self.max_iter), tol=float(self.tol))
        nothing = self._set_metric(features, annotated, trace.state.completed)
        learn_kmeans(self, features, rng)
        names = pairs.items.take(annotated)
        self.completed_ = pd.DataFrame(trace.state.completed, index=names, columns=names)
        self.n_pairs_ = (len(problem.known) - problem.n_items) // 2
        keep_end(self, trace)
        self.objective_ = objective(trace.state, problem)
        return unclear + nothing

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        super()._restore(arrangement)
        kept = np.argsort(self.items_.get_indexer(self.completed_.index))
        self.completed_ = self.completed_.iloc[kept, kept]

    def _problem(self, pairs: Pairs) -> tuple[SemiCrowdProblem, Int[np.ndarray, " annotated"], list[str]]:
        """Return the known entries of the table of annotated items, these items, and a note on unclear pairs."""
        annotated = np.unique(np.concatenate([pairs.item_a, pairs.item_b]))
        n = len(annotated)
        if n > MAX_ANNOTATED:
            raise InputError(
                f"SemiCrowd completes a table of all pairs of annotated items, and accepts at most {MAX_ANNOTATED} of "
                f"them. Got {n}; keep the annotations of some, annotations.restrict(items=...).reindex(all items)."
            )
        places, share, n_unclear = similarities(pairs, self.d0, self.d1)
        a, b = np.searchsorted(annotated, places)
        diagonal = np.arange(n)
        known = np.concatenate([share, share, np.ones(n)])  # both ways, and each item with itself
        weight = 2 * np.sqrt(n / max(len(known), 1)) if isinstance(self.error_weight, str) else self.error_weight
        problem = SemiCrowdProblem(
            row=np.concatenate([a, b, diagonal]),
            column=np.concatenate([b, a, diagonal]),
            known=known,
            n_items=n,
            weight=float(weight),
        )
        note = f"{n_unclear} pairs have a share of 'same' between d0 and d1, and count as unknown."
        return problem, annotated, [note] if n_unclear else []

    def _set_metric(
        self, features: np.ndarray, annotated: Int[np.ndarray, " annotated"], completed: np.ndarray
    ) -> list[str]:
        """Set the metric and its root; return a note if there is nothing to learn."""
        deviation = features.std(0)
        scale = np.where(deviation > 0, deviation, 1.0)
        rows = (features - features.mean(0)) / scale
        metric = learn_metric(rows[annotated], completed, self.ridge)
        most: int | None = int(self.n_clusters)
        nothing_learned = not np.trace(metric) > FLAT  # `<=` would let NaN pass
        if nothing_learned:
            metric, most = np.eye(features.shape[1]), None
        values, vectors = np.linalg.eigh(metric)
        values, vectors = values[::-1], vectors[:, ::-1]  # eigh returns rising eigenvalues
        kept = np.flatnonzero(values > FLAT * values[0])[:most]
        self.components_ = (vectors[:, kept] * np.sqrt(values[kept])).T / scale
        self.metric_ = metric / np.outer(scale, scale)
        return [NOTHING] if nothing_learned else []

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require(self, "d1", "above d0", self.d1 > self.d0)
