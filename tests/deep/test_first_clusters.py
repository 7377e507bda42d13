"""First clusters: from positions, from judgements, and divided into components."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from consilience.deep import first_clusters
from consilience.deep.judgements import judgements
from consilience.deep.model import Data
from consilience.metrics.clusterings import nmi
from consilience.simulation import simulate_pairs


def test_positions_in_blobs():
    z = np.arange(60) % 3
    positions = 10.0 * np.eye(3)[z] + np.random.default_rng(0).normal(size=(60, 3))
    assert nmi(z, first_clusters.of_positions(positions, 3, jax.random.key(0))) == 1


@pytest.mark.slow
def test_judgements_of_some_items_give_clusters_of_all():
    rng = np.random.default_rng(0)
    z = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + 4 * np.eye(3)[z]
    said = simulate_pairs(pd.Series(z[:45]), 3, 200, 0.9, random_state=0)
    judged = judgements(said, np.arange(45), implied="all")
    data = Data(jnp.asarray(X, jnp.float32), jnp.arange(45, 90), jnp.arange(45), judged)
    assert nmi(np.concatenate([z[45:], z[:45]]), first_clusters.of_judgements(data, 5, jax.random.key(0))) > 0.8


def test_large_clusters_have_more_components():
    clusters = np.repeat([7, 2, 5], [60, 30, 10])
    positions = np.random.default_rng(0).normal(size=(100, 2)) + 20.0 * clusters[:, None]
    component, cluster = first_clusters.divide_clusters(clusters, positions, 10, jax.random.key(0))
    of_item = cluster[component]
    assert nmi(clusters, of_item) == 1
    assert [len(np.unique(component[clusters == one])) for one in (7, 2, 5)] == [5, 3, 1]  # one each, and of 7 a share
    assert (cluster[of_item] == of_item).all()  # named by the first component of it
    assert set(cluster[component]) | {9} == set(cluster)  # the tenth is left, a cluster of its own


def test_as_many_clusters_as_components():
    component, cluster = first_clusters.divide_clusters(np.array([0, 1, 1]), np.zeros((3, 1)), 2, jax.random.key(0))
    np.testing.assert_array_equal(cluster[component], [0, 1, 1])
