"""Samples of the clusters for strategies: from the posterior of the mixture of groupings, as if by one annotator.

Each sample is a chain of its own. It begins at k-means on the coordinates of the items, takes `FIRST_SWEEPS` sweeps of
`grouping_mixture.sample`, and continues before each use by `SWEEPS` for each grouping added since the last, up to
`MOST_SWEEPS`. It begins anew if it holds clusters that are no longer considered.

Decided here
------------
All groupings count as one annotator's. The temperature is a tenth of the memberships per item, from ½ to 1, for the
reason given in `consilience.active.informative`.

Of several subsets that are composed in one call, each has samples of its own: the chains continue by `SWEEPS` in
between, at most `MOST_UPDATES` times a call. Otherwise all of them would be about the same errors of sixteen samples.
Tried and dropped, since no better: to lower the value of pairs whose clusters a pending subset already compares, and to
continue the chains once a call only, by more sweeps.
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

N_SAMPLES = 16  # samples of the clusters that strategies get
FIRST_SWEEPS, SWEEPS = 10, 3  # sweeps of each chain when it begins, and for each grouping added or subset composed
MOST_SWEEPS = 30  # before a use
MOST_UPDATES = 10  # of the samples in one call
SPARE_CLUSTERS = 2  # times the clusters found, if their number is not given
FEWEST_SAMPLE_CLUSTERS = 10  # in the samples then

Samples = Int[np.ndarray, "samples items"]


def initial(n_items: int) -> Samples:
    """Return samples before any grouping: each item is alone, so that all pairs are alike."""
    return np.tile(np.arange(n_items), (N_SAMPLES, 1))


def update_samples(
    groupings: Groupings, samples: Samples | None, n_clusters: int, rng: np.random.Generator, *, n_new: int = 1
) -> Samples:
    """Return new samples of the clusters of the items.

    groupings : all groupings so far, with at least one item
    samples : the last samples, None if there are none
    n_clusters : number of clusters that the samples may hold
    rng : numpy Generator
    n_new : number of groupings added since the last samples; none count as one, since chains continue at each use

    Returns int array, shape (N_SAMPLES, n_items).
    """
    crowd = Memberships.of(groupings)
    crowd = replace(crowd, annotator_of_grouping=np.zeros_like(crowd.annotator_of_grouping), n_annotators=1)
    layout, sweeps = mixture.GroupingLayout.of(crowd), min(SWEEPS * max(n_new, 1), MOST_SWEEPS)
    if samples is None or samples.max() >= n_clusters:
        samples, sweeps = first(crowd, n_clusters, rng), FIRST_SWEEPS
    state = mixture.init(layout, samples[rng.integers(N_SAMPLES)], n_clusters)
    concentration = mixture.learn_concentration(layout, state).concentration
    # below 10 memberships an item, sharper than the posterior
    temperature = float(np.clip(0.1 * groupings.n_rows / len(groupings), 0.5, 1.0))
    found = []
    for cluster in samples:
        state = mixture.GroupingMixtureState(cluster, n_clusters, concentration)
        for _ in range(sweeps):
            state, _ = mixture.sample(layout, state, rng=rng, temperature=temperature)
        found.append(state.cluster)
    return np.stack(found)


def first(memberships: Memberships, n_clusters: int, rng: np.random.Generator) -> Samples:
    """Return clusters by k-means, from one random start for each sample."""
    places = fusing.coordinates(memberships, "degree", min(n_clusters, memberships.n_items)).for_clusters(n_clusters)
    return np.stack([kmeans(places, n_clusters, rng=rng) for _ in range(N_SAMPLES)])


def n_clusters_of(fusion: SubsetFusion, n_items: int, n_found: int) -> int:
    """Return the number of clusters that samples may hold: that of the fusion if given, else more than were found.

    fusion : the fusion of groupings
    n_items : number of items of the session
    n_found : number of clusters of its last consensus, 0 before the first
    """
    if fusion.n_clusters != "auto":
        return min(int(fusion.n_clusters), n_items)
    most = min(max(fusion.max_clusters, n_found), n_items)  # a fusion may go beyond its bound
    return int(min(max(SPARE_CLUSTERS * n_found, FEWEST_SAMPLE_CLUSTERS), most))
