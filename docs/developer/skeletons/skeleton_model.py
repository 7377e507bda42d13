"""Latent classes: every grouping is a noisy reading of one hidden clustering.

Lazarsfeld & Henry (1968), Latent Structure Analysis; mean-field treatment after Bishop (2006), ch. 10.

Model
-----
    π          ~ Dirichlet(γ, …, γ)                              cluster proportions, k = 1 … K
    z_n        ~ Categorical(π)                                  cluster of item n
    θ^{mk}     ~ Dirichlet(β, …, β)                              how grouping m spreads cluster k over its groups
    y_nm | z_n = k ~ Categorical(θ^{mk})                         the group that grouping m puts item n in

Symbols
-------
    paper   here              shape
    y       labels            (items, groups)      sparse 0/1; the groups of all groupings side by side
    z       responsibilities  (items, clusters)    q(z_n = k)
    θ       spread            (cells,)             Dirichlet parameters of q(θ^{mk}); cluster by cluster, all groups
    π       proportions       (clusters,)          Dirichlet parameters of q(π)

Updates
-------
    (1)  ln q(z_n = k) = E[ln π_k] + Σ_m E[ln θ^{mk}_{y_nm}] + const
    (2)  q(θ^{mk}) = Dirichlet(β + Σ_n q(z_n = k) 1[y_nm = ·])
    (3)  q(π)      = Dirichlet(γ + Σ_n q(z_n))

Decided here
------------
What an annotator left out contributes nothing: a missing label is in none of the sums. A sweep is (2), (3),
(1). The first responsibilities are random; γ = 1 / K empties the clusters that are not needed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from consilience.annotations import Groupings
from consilience.annotations.canonical import arrange
from consilience.annotations.fit_arguments import require_no_second
from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator, as_groupings
from consilience.inference import Trace, iterate, restarts
from consilience.inference.exponential_family import (
    entropy_categorical,
    expected_log_dirichlet,
    expected_log_dirichlet_segments,
    kl_dirichlet_segments,
)
from consilience.inference.randomness import spawn_seeds


@dataclass(frozen=True)
class Prior:
    """proportion : γ. spread : β."""

    proportion: float
    spread: float


@dataclass(frozen=True)
class Evidence:
    """labels : which item is in which group. starts : (groupings,) first group of each grouping."""

    labels: csr_array
    starts: Int[np.ndarray, " groupings"]

    @classmethod
    def of(cls, groupings: Groupings) -> Evidence:
        return cls(groupings.incidence, np.flatnonzero(np.diff(groupings.grouping_of_group, prepend=-1)))

    def segments(self, n_clusters: int) -> Int[np.ndarray, " segments"]:
        """First cell of every θ^{mk}, cluster by cluster."""
        offsets = np.arange(n_clusters) * self.labels.shape[1]
        return (offsets[:, None] + self.starts).ravel()


@dataclass(frozen=True)
class State:
    responsibilities: Float[np.ndarray, "items clusters"]
    spread: Float[np.ndarray, " cells"]
    proportions: Float[np.ndarray, " clusters"]


def init(evidence: Evidence, prior: Prior, n_clusters: int, rng: np.random.RandomState) -> State:
    """First state: random responsibilities, and what follows from them."""
    random = rng.dirichlet(np.ones(n_clusters), size=evidence.labels.shape[0])
    return State(random, update_spread(random, evidence, prior), update_proportions(random, prior))


def step(state: State, evidence: Evidence, prior: Prior) -> State:
    spread = update_spread(state.responsibilities, evidence, prior)
    proportions = update_proportions(state.responsibilities, prior)
    return State(update_responsibilities(spread, proportions, evidence), spread, proportions)


def update_responsibilities(
    spread: Float[np.ndarray, " cells"], proportions: Float[np.ndarray, " clusters"], evidence: Evidence
) -> Float[np.ndarray, "items clusters"]:
    """(1)."""
    said = evidence.labels @ expected_log_spread(spread, len(proportions), evidence)
    return softmax(expected_log_dirichlet(proportions) + said, axis=1)


def update_spread(
    responsibilities: Float[np.ndarray, "items clusters"], evidence: Evidence, prior: Prior
) -> Float[np.ndarray, " cells"]:
    """(2)."""
    return prior.spread + (responsibilities.T @ evidence.labels).ravel()


def update_proportions(
    responsibilities: Float[np.ndarray, "items clusters"], prior: Prior
) -> Float[np.ndarray, " clusters"]:
    """(3)."""
    return prior.proportion + responsibilities.sum(0)


def expected_log_spread(
    spread: Float[np.ndarray, " cells"], n_clusters: int, evidence: Evidence
) -> Float[np.ndarray, "groups clusters"]:
    """E[ln θ]: what being in a group says for each cluster."""
    expected = expected_log_dirichlet_segments(spread, evidence.segments(n_clusters))
    return expected.reshape(n_clusters, -1).T


def lower_bound(state: State, evidence: Evidence, prior: Prior) -> float:
    """Bound on ln p(labels), nats, all constants kept."""
    rho, n_clusters = state.responsibilities, len(state.proportions)
    said = evidence.labels @ expected_log_spread(state.spread, n_clusters, evidence)
    items = (rho * (said + expected_log_dirichlet(state.proportions))).sum() + entropy_categorical(rho).sum()
    spread = kl_dirichlet_segments(
        state.spread, np.full_like(state.spread, prior.spread), evidence.segments(n_clusters)
    )
    proportions = kl_dirichlet_segments(state.proportions, np.full(n_clusters, prior.proportion), np.array([0]))
    return float(items - spread - proportions)


class LatentClassModel(CrowdEstimator):
    """One clustering behind many groupings, without features.

    Parameters
    ----------
    max_clusters : int, default=10
        Upper bound K on the number of clusters.
    n_init : int, default=10
        Restarts; the one with the highest bound is kept.
    max_iter : int, default=500
        Sweeps of a restart.
    tol : float, default=1e-5
        A restart has converged when the bound gains less than this share of its size.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by falling size.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
    items_ : Index, shape (n_items,)
    n_clusters_ : int
    lower_bound_ : float
        Bound on ln p(annotations), nats.
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
            Refused, unless it is one value for each item, which scikit-learn hands every estimator.

        Returns
        -------
        LatentClassModel

        Raises
        ------
        InputError
            Pairs, no annotations at all, or a second argument.

        Warns
        -----
        ConvergenceWarning
            The kept restart still improved after `max_iter` sweeps.
        """
        require_no_second(y, type(self).__name__)
        arranged = arrange(as_groupings(annotations, None, type(self).__name__))
        if not arranged.said.n_rows:
            raise InputError("None of the items is in a group, so there is nothing to learn from.")
        evidence, prior = Evidence.of(arranged.said), Prior(1 / self.max_clusters, 1.0)
        seeds = spawn_seeds(check_random_state(self.random_state), self.n_init)
        with self._progress():
            traces = restarts(self._run, [(evidence, prior, seed) for seed in seeds])
        best = max(traces, key=lambda trace: trace.lower_bound)
        if not best.converged:
            warnings.warn(f"{type(self).__name__}: {best.reason} Raise max_iter.", ConvergenceWarning, stacklevel=2)
        self.lower_bounds_ = np.array(best.lower_bounds)
        self.lower_bound_, self.n_iter_, self.converged_ = best.lower_bound, best.n_iter, best.converged
        self._read_off(best.state)
        self._restore(arranged)
        return self

    def fit_predict(self, annotations: Any, y: Any = None) -> Int[np.ndarray, " items"]:
        """Fit, and give the clusters of the items.

        Parameters
        ----------
        annotations : as for `fit`
        y : as for `fit`

        Returns
        -------
        ndarray of int, shape (n_items,)
        """
        return self.fit(annotations, y).labels_

    def predict_same(self, item_a: Any, item_b: Any) -> float:
        """Probability that two items are in one cluster.

        Parameters
        ----------
        item_a, item_b : names of fitted items

        Returns
        -------
        float
        """
        a, b = (self.responsibilities_[self.items_.get_loc(item)] for item in (item_a, item_b))
        return float(a @ b)

    def _run(self, evidence: Evidence, prior: Prior, seed: int) -> Trace[State]:
        return iterate(
            init(evidence, prior, self.max_clusters, np.random.RandomState(seed)),
            lambda before: step(before, evidence, prior),
            lambda after: lower_bound(after, evidence, prior),
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _read_off(self, state: State) -> None:
        """Clusters that own items, by falling size."""
        sizes = np.bincount(state.responsibilities.argmax(1), minlength=self.max_clusters)
        kept = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        self.n_clusters_ = len(kept)
        self.responsibilities_ = state.responsibilities[:, kept]
        self.responsibilities_ /= self.responsibilities_.sum(1, keepdims=True)
        self.labels_ = self.responsibilities_.argmax(1)
