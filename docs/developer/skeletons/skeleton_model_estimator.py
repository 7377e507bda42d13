"""LatentClassModel: the estimator of `skeleton_model`."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from skeleton_model import LatentClassData, LatentClassPrior, LatentClassState, run

from consilience.annotations.canonical import arrange
from consilience.annotations.fit_arguments import require_no_second
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.base import CrowdEstimator, as_groupings
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import NOT_NEGATIVE, RESTARTS, Requirements, whole
from consilience.estimators.traces import keep_trace
from consilience.inference import restarts
from consilience.inference.clusters import by_falling_size
from consilience.inference.randomness import spawn_seeds


class LatentClassModel(CrowdEstimator):
    """One clustering behind many groupings, without features.

    Parameters
    ----------
    max_clusters : int, default=10
        Upper bound K on the number of clusters.
    n_init : int, default=10
        Number of restarts; the one with the highest bound is kept.
    max_iter : int, default=500
        Largest number of sweeps of a restart.
    tol : float, default=1e-5
        A restart has converged when the relative increase of the bound is at most this.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
    items_ : Index, shape (n_items,)
    n_clusters_ : int
    lower_bound_ : float
        Lower bound of ln p(annotations) in nats.
    lower_bounds_ : ndarray, shape (n_iter_,)
    n_iter_ : int
    converged_ : bool

    References
    ----------
    Lazarsfeld & Henry (1968). Latent Structure Analysis. Houghton Mifflin.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.simulation import simulate_crowd
    >>> crowd = simulate_crowd(load_iris().target, random_state=0)
    >>> LatentClassModel(random_state=0).fit(crowd).n_clusters_
    3
    """

    _learned: ClassVar[Attributes] = {**learned.NO_FEATURES, **learned.CLUSTERS, **learned.BOUNDED}

    _requirements: ClassVar[Requirements] = {
        "max_clusters": whole(1),
        "n_init": RESTARTS,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def __init__(self, max_clusters=10, n_init=10, max_iter=500, tol=1e-5, verbose=False, random_state=None):
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, annotations: Any, y: Any = None) -> LatentClassModel:
        """Fit the model.

        Parameters
        ----------
        annotations : Groupings, Labels, or array of shape (n_items, n_annotators)
        y : not used
            Refused, unless it is one value for each item, which scikit-learn passes to every estimator.

        Returns
        -------
        LatentClassModel

        Raises
        ------
        InputError
            Pairs, no annotations at all, a second argument, or a wrong parameter.

        Warns
        -----
        ConvergenceWarning
            The kept restart still improved after `max_iter` sweeps.
        """
        require_no_second(y, type(self).__name__)
        self._check_parameters()
        arranged = arrange(as_groupings(annotations, None, type(self).__name__))
        if not arranged.ordered.n_rows:
            raise InputError("None of the items is in a group, so there is nothing to learn from.")
        data = LatentClassData.of(arranged.ordered)
        prior = LatentClassPrior(proportion=1 / self.max_clusters, spread=1.0)
        seeds = spawn_seeds(self.random_state, self.n_init)
        with self._progress():
            once = partial(run, data, prior, self.max_clusters, max_iter=self.max_iter, tol=self.tol)
            traces = restarts(once, [(seed,) for seed in seeds])
        best = max(traces, key=lambda trace: trace.lower_bound)
        keep_trace(self, best)
        self._set_clusters(best.state)
        self._restore(arranged)
        return self

    def _set_clusters(self, state: LatentClassState) -> None:
        """Keep the clusters that have items, numbered by decreasing size."""
        sizes = np.bincount(state.responsibilities.argmax(1), minlength=self.max_clusters)
        kept = by_falling_size(sizes)
        self.n_clusters_ = len(kept)
        self.responsibilities_ = state.responsibilities[:, kept]
        self.responsibilities_ /= self.responsibilities_.sum(1, keepdims=True)
        self.labels_ = self.responsibilities_.argmax(1)
