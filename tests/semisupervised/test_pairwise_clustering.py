"""What the models that cluster features with judgements of pairs share, by their base `PairwiseClustering`."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from consilience.errors import InputError
from consilience.semisupervised import ITMLClustering, MPCKMeans, SemiCrowd
from consilience.simulation.pairs import simulate_pairs

MODELS = [ITMLClustering, MPCKMeans, SemiCrowd]
OF_ALL = [
    ({"n_clusters": 0}, "'n_clusters'"),
    ({"n_clusters": 99}, "at most the number of items, 8"),
    ({"n_init": 0}, "'n_init'"),
    ({"max_pairs": 0}, "'max_pairs'"),
    ({"max_iter": 1.5}, "'max_iter'"),
    ({"tol": -1}, "'tol'"),
]
OF_ONE = [
    (ITMLClustering, {"slack": 0}, "'slack'"),
    (ITMLClustering, {"prior": "flat"}, "'prior'"),
    (SemiCrowd, {"d0": -0.1}, "'d0'"),
    (SemiCrowd, {"d1": 1.1}, "'d1'"),
    (SemiCrowd, {"d0": 0.9}, "'d1'"),
    (SemiCrowd, {"error_weight": "much"}, "'error_weight'"),
    (SemiCrowd, {"error_weight": 0}, "'error_weight'"),
    (SemiCrowd, {"ridge": 0}, "'ridge'"),
    (MPCKMeans, {"metric": "cosine"}, "'metric'"),
    (MPCKMeans, {"metric_per_cluster": 1}, "'metric_per_cluster'"),
    (MPCKMeans, {"weight": -1}, "'weight'"),
    (MPCKMeans, {"weight": "heavy"}, "'weight'"),
    (MPCKMeans, {"closure": "yes"}, "'closure'"),
    (MPCKMeans, {"init": "random"}, "'init'"),
    (MPCKMeans, {"init": np.zeros((3, 1))}, r"shape \(2, 1\)"),
]


def noisy(seed=0, n=400, accuracy=(0.95, 0.9, 0.85, 0.8, 0.75), pairs_each=160):
    """Four clusters in five of twenty features, the others three times as wide: k-means alone does not find them."""
    rng = np.random.default_rng(seed)
    cluster = rng.permutation(np.arange(n) % 4)
    X = rng.normal(size=(n, 20)) * np.where(np.arange(20) < 5, 1, 3.4)
    X[:, :5] += (2.2 * rng.normal(size=(4, 5)))[cluster]
    return X, cluster, simulate_pairs(cluster, 5, pairs_each, accuracy, random_state=seed)


@pytest.mark.parametrize(("model", "seed", "n"), [(ITMLClustering, 7, 100), (MPCKMeans, 7, 100), (SemiCrowd, 5, 60)])
def test_warns_if_it_stops_early(model, seed, n):
    X, _, pairs = noisy(seed, n=n, pairs_each=50)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model(4, max_iter=1, random_state=0).fit(X, pairs)


@pytest.mark.parametrize(
    ("model", "parameters", "message"), [*((model, *case) for model in MODELS for case in OF_ALL), *OF_ONE]
)
def test_invalid_parameters_raise(model, parameters, message):
    pairs = simulate_pairs([0, 1] * 4, 1, 6, random_state=0)
    with pytest.raises(InputError, match=message):
        model(**parameters).fit(np.arange(8.0)[:, None], pairs)


@pytest.mark.parametrize("model", MODELS)
def test_is_not_fitted_before_fit(model):
    with pytest.raises(NotFittedError):
        model().predict(np.zeros((2, 1)))
