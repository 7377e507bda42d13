"""Simulated annotators who cluster subsets by the items' features.

Source: Veeramachaneni & O'Reilly, Clustering using subset groupings, section 2.3.

Decided here
------------
- The features of an agent are drawn anew for each answer: an agent may give different answers to the same subset.
- The paper does not specify the distribution over agents. In a `ClusteringPopulation`, number of groups, number of
  features and algorithm are independent and uniform.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from consilience.annotations.names import plain
from consilience.annotations.types import ArrayLike, FeaturesLike, Integer, Integers, RandomSource
from consilience.errors import InputError
from consilience.inference.threads import one_blas_thread
from consilience.simulation._checks import generator, require_count
from consilience.simulation.agents import groups_of, names_of, places_of, table_of

__all__ = ["ClusteringAgent", "ClusteringPopulation"]

ALGORITHMS = {
    "kmeans": KMeans(),
    "ward": AgglomerativeClustering(),
    "average": AgglomerativeClustering(linkage="average"),
    "gaussian": GaussianMixture(covariance_type="diag"),
}


class ClusteringAgent:
    """Agent that clusters the subset by some of the items' features.

    Each call draws the features anew, without replacement and with the given weights, then clusters the subset by these
    features alone.

    Parameters
    ----------
    X : array or DataFrame, shape (n_items, n_features)
        Features, used as they are; items are named by the index of a DataFrame, else 0 to n_items - 1.
    n_groups : int
        Number of groups. For a subset with fewer items, each item is a group.
    n_features : int, optional
        Number of features to draw, at most the number of positive weights, which is the default.
    feature_weights : array-like of shape (n_features,), optional
        Nonnegative, proportional to the probability that a feature is drawn first; features of weight 0 are never
        used. By default equal.
    algorithm : {"kmeans", "ward", "average", "gaussian"} or scikit-learn clusterer, default="kmeans"
        scikit-learn's ``KMeans``, ``AgglomerativeClustering`` (Ward's or average linkage) and ``GaussianMixture`` with
        diagonal covariances, or a clusterer with a parameter ``n_clusters`` or ``n_components``, which is cloned for
        each answer; if its ``random_state`` is None, the agent sets it.
    random_state : int, RandomState, Generator or None
        Source of the randomness; with an int the same subsets, in the same order, get the same answers.

    Raises
    ------
    InputError
        `X` is not a table of finite numbers, or a parameter is out of range. In a call: an item is unknown or occurs
        twice.

    References
    ----------
    Veeramachaneni & O'Reilly. Clustering using subset groupings. Section 2.3.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.simulation import ClusteringAgent
    >>> animals = pd.DataFrame({"legs": [6, 6, 4, 4], "wings": [0, 4, 0, 0]}, index=["ant", "bee", "cow", "dog"])
    >>> agent = ClusteringAgent(animals, n_groups=2, algorithm="ward", random_state=0)
    >>> agent
    ClusteringAgent(n_groups=2, n_features=2, algorithm='ward')
    >>> agent(["dog", "bee", "cow"])
    [['dog', 'cow'], ['bee']]

    An agent that uses one feature, drawn for each answer:

    >>> glance = ClusteringAgent(animals, n_groups=2, n_features=1, algorithm="ward", random_state=3)
    >>> glance(["ant", "bee", "cow"])
    [['ant', 'bee'], ['cow']]
    >>> glance(["ant", "bee", "cow"])
    [['ant', 'cow'], ['bee']]
    """

    def __init__(
        self,
        X: FeaturesLike | Features,
        *,
        n_groups: int,
        n_features: int | None = None,
        feature_weights: ArrayLike | None = None,
        algorithm: Any = "kmeans",
        random_state: RandomSource = None,
    ):
        self._features = _features(X, feature_weights, "ClusteringAgent")
        usable = self._features.n_usable
        require_count("n_groups", n_groups, "ClusteringAgent")
        self.n_groups = n_groups
        self.n_features = usable if n_features is None else n_features
        limit = "the number of features of positive weight"
        require_count("n_features", self.n_features, "ClusteringAgent", at_most=usable, limit=limit)
        _require_clusterer(algorithm, "algorithm", "ClusteringAgent")
        self.algorithm = algorithm
        self._rng = generator(random_state)

    def __call__(self, items: Iterable[Any]) -> list[list[Any]]:
        """Group a subset.

        Parameters
        ----------
        items : iterable of names

        Returns
        -------
        list of lists of names
        """
        names = list(items)
        places = places_of(names, self._features.place, "ClusteringAgent")
        chosen = self._features.draw(self.n_features, self._rng)
        seed = int(self._rng.integers(2**31))
        if self.n_groups >= len(names):
            return [[name] for name in names]
        if self.n_groups == 1:
            return [names]
        clusterer = _clusterer(self.algorithm, self.n_groups, seed)
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # such as fewer distinct items than groups
            labels = clusterer.fit_predict(self._features.values[np.ix_(places, chosen)])
        return groups_of(names, labels)

    def __repr__(self) -> str:
        return f"ClusteringAgent(n_groups={self.n_groups}, n_features={self.n_features}, algorithm={self.algorithm!r})"


class ClusteringPopulation:
    """Heterogeneous clustering agents, each with its own number of groups, number of features and algorithm.

    `draw` returns an agent. A population is itself an agent: each of its answers comes from a newly drawn agent.

    Parameters
    ----------
    X : array or DataFrame, shape (n_items, n_features)
        As for `ClusteringAgent`.
    n_groups, n_features : int or pair of ints, default=(3, 6) and (4, 8)
        Lowest and highest number, all equally probable, or one number for all agents. The range of `n_features` is cut
        at the number of features of positive weight.
    algorithms : sequence, default=("kmeans", "ward")
        Algorithms as for `ClusteringAgent`, all equally probable.
    feature_weights : array-like of shape (n_features,), optional
        As for `ClusteringAgent`.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same agents each time.

    Raises
    ------
    InputError
        `X` is not a table of finite numbers, or a parameter is out of range.

    References
    ----------
    Veeramachaneni & O'Reilly. Clustering using subset groupings. Section 2.3.

    Examples
    --------
    >>> from consilience.simulation import ClusteringPopulation, gaussian_clusters, present, random_subsets
    >>> task = gaussian_clusters(100, random_state=0)
    >>> population = ClusteringPopulation(task.data, random_state=0)
    >>> population.draw()
    ClusteringAgent(n_groups=6, n_features=7, algorithm='ward')
    >>> population.draw()
    ClusteringAgent(n_groups=4, n_features=6, algorithm='ward')
    >>> subsets = random_subsets(task.data.index, 8, 50, random_state=0)
    >>> present(population, subsets, items=task.data.index).n_rows
    400
    """

    def __init__(
        self,
        X: FeaturesLike,
        *,
        n_groups: Integer | Integers = (3, 6),
        n_features: Integer | Integers = (4, 8),
        algorithms: Sequence[Any] = ("kmeans", "ward"),
        feature_weights: ArrayLike | None = None,
        random_state: RandomSource = None,
    ):
        self._features = _features(X, feature_weights, "ClusteringPopulation")
        self.n_groups = _range("n_groups", n_groups)
        low, high = _range("n_features", n_features)
        self.n_features = min(low, self._features.n_usable), min(high, self._features.n_usable)
        if isinstance(algorithms, str) or len(algorithms) == 0:
            raise InputError(
                "The 'algorithms' parameter of ClusteringPopulation must be a list of at least one algorithm. Got "
                f"{algorithms!r} instead."
            )
        for algorithm in algorithms:
            _require_clusterer(algorithm, "algorithms", "ClusteringPopulation")
        self.algorithms = tuple(algorithms)
        self._rng = generator(random_state)

    def draw(self) -> ClusteringAgent:
        """Return a new agent, whose answers do not depend on those of other agents.

        Returns
        -------
        ClusteringAgent
        """
        n_groups, n_features = (
            int(self._rng.integers(*bounds, endpoint=True)) for bounds in (self.n_groups, self.n_features)
        )
        return ClusteringAgent(
            self._features,
            n_groups=n_groups,
            n_features=n_features,
            algorithm=self.algorithms[self._rng.integers(len(self.algorithms))],
            random_state=np.random.default_rng(self._rng.integers(2**63, size=4)),
        )

    def __call__(self, items: Iterable[Any]) -> list[list[Any]]:
        """Group a subset with a newly drawn agent.

        Parameters
        ----------
        items : iterable of names

        Returns
        -------
        list of lists of names
        """
        return self.draw()(items)

    def __repr__(self) -> str:
        return (
            f"ClusteringPopulation(n_groups={self.n_groups}, n_features={self.n_features}, "
            f"algorithms={self.algorithms!r})"
        )


@dataclass(frozen=True)
class Features:
    """Features of named items, and the probability that each feature is used."""

    values: Float[np.ndarray, "items features"]
    place: dict[Any, int]
    weights: Float[np.ndarray, " features"]

    @property
    def n_usable(self) -> int:
        """Number of features of positive weight."""
        return int(np.count_nonzero(self.weights))

    def draw(self, n_features: int, rng: np.random.Generator) -> Int[np.ndarray, " drawn"]:
        """Return distinct features in increasing order, drawn one after another with their weights."""
        return np.sort(rng.choice(len(self.weights), n_features, replace=False, p=self.weights))


def _features(X: Any, feature_weights: Any, owner: str) -> Features:
    """Check features; those that a population has checked are returned as they are."""
    if isinstance(X, Features):
        return X
    values = table_of(X, "X", owner)
    names = names_of(X)
    missing = np.argwhere(~np.isfinite(values))
    if len(missing):
        i, j = missing[0]
        column = X.columns[j] if isinstance(X, pd.DataFrame) else j
        raise InputError(
            f"The 'X' parameter of {owner} must hold finite numbers. Got {values[i, j]} for the item "
            f"{plain(names[i])!r} and the feature {plain(column)!r}."
        )
    weights = _weights(feature_weights, values.shape[1], owner)
    return Features(values, {name: place for place, name in enumerate(names)}, weights)


def _weights(feature_weights: Any, n_features: int, owner: str) -> Float[np.ndarray, " features"]:
    weights = np.ones(n_features) if feature_weights is None else np.asarray(feature_weights, dtype=float)
    if weights.shape != (n_features,):
        raise InputError(
            f"The 'feature_weights' parameter of {owner} must hold a number for each of the {n_features} features. Got "
            f"shape {weights.shape} instead."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InputError(
            f"The 'feature_weights' parameter of {owner} must be nonnegative, with one above 0. Got "
            f"{weights.tolist()} instead."
        )
    return weights / weights.sum()


def _range(name: str, value: Any) -> tuple[int, int]:
    """Return the lowest and the highest number."""
    bounds = tuple(value) if isinstance(value, Sequence) else (value, value)
    whole = all(isinstance(bound, int | np.integer) for bound in bounds)
    if len(bounds) != 2 or not whole or not 1 <= bounds[0] <= bounds[1]:
        raise InputError(
            f"The '{name}' parameter of ClusteringPopulation must be a positive int, or the lowest and the highest "
            f"one. Got {value!r} instead."
        )
    return int(bounds[0]), int(bounds[1])


def _require_clusterer(algorithm: Any, name: str, owner: str) -> None:
    if isinstance(algorithm, str) and algorithm in ALGORITHMS:
        return
    usable = hasattr(algorithm, "fit_predict") and hasattr(algorithm, "get_params") and not isinstance(algorithm, type)
    if not usable or _count_parameter(algorithm) is None:
        raise InputError(
            f"The '{name}' parameter of {owner} must be one of {', '.join(ALGORITHMS)}, or a scikit-learn clusterer "
            f"with n_clusters. Got {algorithm!r} instead."
        )


def _count_parameter(clusterer: Any) -> str | None:
    """Return the name of the parameter that sets the number of groups."""
    return next((name for name in ("n_clusters", "n_components") if name in clusterer.get_params(deep=False)), None)


def _clusterer(algorithm: Any, n_groups: int, seed: int) -> Any:
    clusterer = clone(ALGORITHMS[algorithm] if isinstance(algorithm, str) else algorithm)
    settings = {str(_count_parameter(clusterer)): n_groups}
    if clusterer.get_params(deep=False).get("random_state", seed) is None:
        settings["random_state"] = seed
    return clusterer.set_params(**settings)
