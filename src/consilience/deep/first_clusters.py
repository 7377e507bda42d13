"""Initial clusters, from the latent positions of the warm start or from the judgements."""

from __future__ import annotations

import warnings
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from consilience.deep import deep_mcvc
from consilience.deep.judgements import NumberedJudgements
from consilience.deep.model import Data
from consilience.inference.threads import one_blas_thread

STARTS = 4  # of a mixture; the best is kept
MOST_ITEMS = 20_000  # to which a mixture is fitted
BREADTH = 1e-3  # share of the variance of the positions, added to that of every component
HIDDEN, N_SWEEPS, NETWORKS = (40, 40), 200, 10  # of networks trained on the judgements; the best is kept

Positions = Float[np.ndarray, "items dims"]


def of_positions(positions: Positions, n_clusters: int, key: Array) -> Int[np.ndarray, " items"]:
    """Clusters from a mixture of Gaussians."""
    return _mixture(positions, n_clusters, _draw_seed(key))


def of_judgements(data: Data, n_clusters: int, key: Array) -> Int[np.ndarray, " items"]:
    """Clusters of all items, unjudged ones first, from a network trained on the judged pairs alone.

    This is `deep_mcvc` with one view.
    """
    sizes = (data.observed.shape[1], *HIDDEN, n_clusters)
    settings = deep_mcvc.DeepMCVCSettings(
        sizes, n_views=1, n_sweeps=N_SWEEPS, learning_rate=0.01, deviation=1.0, stick=1.0, reliability=(10.0, 1.0)
    )
    states, bounds = deep_mcvc.run(
        settings,
        data.observed[data.annotated],
        cast(NumberedJudgements, data.judgements),
        jax.random.split(key, NETWORKS),
    )
    last = np.asarray(bounds[:, -1])
    if not np.isfinite(last).any():
        raise FloatingPointError("init='judgements': training failed for every network. Standardise the features.")
    best = int(np.where(np.isfinite(last), last, -np.inf).argmax())
    networks, judged = jax.tree.map(lambda part: part[best], (states.networks, states.eta))
    plain = deep_mcvc.scores(networks, data.observed[data.plain])[0]
    return np.asarray(jnp.concatenate([plain, judged[0]]).argmax(1))


def divide_clusters(
    clusters: Int[np.ndarray, " items"], positions: Positions, n_components: int, key: Array
) -> tuple[Int[np.ndarray, " items"], Int[np.ndarray, " components"]]:
    """Divide each cluster into components by a mixture of Gaussians, their number by its size, and at least 1.

    Returns
    -------
    component of each item
    cluster of each component, named by its first component
    """
    _, own, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    counts = 1 + np.floor((n_components - len(sizes)) * sizes / sizes.sum()).astype(int)
    first = np.cumsum(counts) - counts
    component, cluster = np.empty(len(own), int), np.arange(n_components)
    for number, (start, count) in enumerate(zip(first, counts, strict=True)):
        component[own == number] = start + _mixture(positions[own == number], int(count), _draw_seed(key))
        cluster[start : start + count] = start
    return component, cluster


def _mixture(positions: Positions, n_components: int, seed: int) -> Int[np.ndarray, " items"]:
    """Component of each position."""
    points = np.nan_to_num(positions)  # a failed restart has NaN positions, and will not have the best bound
    some = points[np.random.default_rng(seed).permutation(len(points))[:MOST_ITEMS]]
    n = min(n_components, len(np.unique(some, axis=0)))
    if n == 1:
        return np.zeros(len(points), int)
    mixture = GaussianMixture(n, n_init=STARTS, reg_covar=BREADTH * some.var() + 1e-9, random_state=seed)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(mixture.fit(some).predict(points))


def _draw_seed(key: Array) -> int:
    return int(np.asarray(jax.random.key_data(key)).ravel()[-1])
