"""Gaussian components of clusters, as arrays: those of the clusters that own items, and their moments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

LEAST_PART = 1e-3  # of a cluster; smaller components are dropped


class Components(NamedTuple):
    """Gaussians in the latent space: cluster, share of the items, mean and covariance of each."""

    cluster: Any
    weight: Any
    mean: Any
    covariance: Any


def owned_components(found: Components, owned: Int[np.ndarray, " clusters"]) -> Components:
    """Components of these clusters, renumbered in this order, the largest of each first; their shares sum to 1."""
    place = np.full(len(found.weight), -1)
    place[owned] = np.arange(len(owned))
    cluster = place[found.cluster]
    # first place: components of clusters without items
    total = np.bincount(cluster + 1, found.weight, len(owned) + 1)[cluster + 1]
    kept = np.flatnonzero((cluster >= 0) & (found.weight > LEAST_PART * total))
    kept = kept[np.lexsort((-found.weight[kept], cluster[kept]))]
    weight = found.weight[kept] / found.weight[kept].sum()
    return Components(cluster[kept], weight, found.mean[kept].astype(float), found.covariance[kept].astype(float))


def moments_of_clusters(
    found: Components,
) -> tuple[Float[np.ndarray, " clusters"], Float[np.ndarray, "clusters dims"], Float[np.ndarray, "clusters dims dims"]]:
    """Share, mean and covariance of each cluster."""
    weights = np.bincount(found.cluster, found.weight)
    of_cluster = (found.cluster == np.arange(len(weights))[:, None]) * found.weight / weights[:, None]
    means = of_cluster @ found.mean
    second = found.covariance + found.mean[:, :, None] * found.mean[:, None, :]
    covariances = np.einsum("ck,kij->cij", of_cluster, second)
    return weights, means, covariances - means[:, :, None] * means[:, None, :]
