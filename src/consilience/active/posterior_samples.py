"""Draws of the clusters that strategies go by: from the posterior of the mixture of groupings, as if by one annotator.

Each draw is a chain of its own. It begins at k-means on the coordinates of the items, takes `FIRST_SWEEPS` sweeps of
`grouping_mixture.sample`, and goes on from where it was by `SWEEPS` before each use. It begins anew where it holds
clusters that are no longer considered.

Decided here
------------
All groupings count as one annotator's. The temperature is a tenth of the memberships for each item, from ½ to 1; why,
`consilience.active.informative` says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from consilience.annotations import Groupings
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.inference.clusters import kmeans
from consilience.inference.memberships import Memberships

N_SAMPLES = 16  # draws of the clusters that strategies are given
FIRST_SWEEPS, SWEEPS = 10, 3  # of each draw, when it begins, and before each use
SPARE_CLUSTERS = 2  # times the clusters found, where their number is not given
FEWEST_SAMPLE_CLUSTERS = 10  # in the draws then

Samples = Int[np.ndarray, "samples items"]


def of_nothing(n_items: int) -> Samples:
    """Draws where nothing was told: each item is alone, so that all pairs are alike."""
    return np.tile(np.arange(n_items), (N_SAMPLES, 1))


def moved_on(groupings: Groupings, samples: Samples | None, n_clusters: int, rng: np.random.Generator) -> Samples:
    """Draw the clusters of the items again.

    Parameters
    ----------
    groupings : all that was told, with at least one item
    samples : the draws before; None where there are none
    n_clusters : that the draws may hold
    rng : numpy Generator

    Returns
    -------
    int array, shape (N_SAMPLES, n_items)
    """
    crowd = _as_one_annotator(Memberships.of(groupings))
    layout, sweeps = mixture.Layout.of(crowd), SWEEPS
    if samples is None or samples.max() >= n_clusters:
        samples, sweeps = first(crowd, n_clusters, rng), FIRST_SWEEPS
    state = mixture.init(layout, samples[rng.integers(N_SAMPLES)], n_clusters)
    concentration = mixture.learn_concentration(layout, state).concentration
    temperature = float(np.clip(0.1 * groupings.n_rows / len(groupings), 0.5, 1.0))
    moved = []
    for cluster in samples:
        state = mixture.State(cluster, n_clusters, concentration)
        for _ in range(sweeps):
            state, _ = mixture.sample(layout, state, rng=rng, temperature=temperature)
        moved.append(state.cluster)
    return np.stack(moved)


def first(memberships: Memberships, n_clusters: int, rng: np.random.Generator) -> Samples:
    """Clusters by k-means from as many random starts as there are samples."""
    places = fusing.coordinates(memberships, "degree", min(n_clusters, memberships.n_items)).for_clusters(n_clusters)
    return np.stack([kmeans(places, n_clusters, rng=rng) for _ in range(N_SAMPLES)])


def n_clusters_of(fusion: SubsetFusion, n_items: int, n_found: int) -> int:
    """Clusters that the draws may hold: as many as the fusion is to find, else with some to spare over those found.

    Parameters
    ----------
    fusion : how groupings are fused
    n_items : of the session
    n_found : clusters of its last consensus, 0 before the first
    """
    if fusion.n_clusters != "auto":
        return min(int(fusion.n_clusters), n_items)
    most = min(fusion.max_clusters, n_items)
    return int(min(max(SPARE_CLUSTERS * n_found, FEWEST_SAMPLE_CLUSTERS), most))


def _as_one_annotator(memberships: Memberships) -> Memberships:
    nobody = np.zeros_like(memberships.annotator_of_grouping)
    return replace(memberships, annotator_of_grouping=nobody, n_annotators=1)
