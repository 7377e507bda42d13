"""The search of `SubsetFusion` on a sample: its states of the mixture, before probabilities are drawn.

The steps are those of `SubsetFusion._fuse` and `subset_fusion.by_mixture` in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.subset_fusion import (
    MORE_CLUSTERS,
    Clusters,
    Coordinates,
    _down_to,
    _largest,
    _one_cluster,
    all_coordinates,
    curve_of,
)
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
from consilience.inference.clusters import determined_clusters, kmeans
from consilience.inference.memberships import Memberships
from consilience.inference.progress import counting


def numbers_of(model: SubsetFusion, n_items: int) -> range:
    """Return the numbers of clusters to consider."""
    if model.n_clusters != "auto":
        return range(int(model.n_clusters), int(model.n_clusters) + 1)
    most = min(model.max_clusters, max(n_items - 1, 1))
    return range(min(2, most), most + 1)


def obvious_clusters(model: SubsetFusion, memberships: Memberships, part: Clusters) -> Clusters | None:
    """Return clusters that need no inference, if there are any."""
    if model.n_clusters == 1:
        return np.zeros(memberships.n_items, dtype=np.intp)
    return determined_clusters(memberships, part) if model.n_clusters == "auto" else None


def more_starts(model: SubsetFusion, memberships: Memberships, coordinates: Coordinates) -> Iterator[Coordinates]:
    """Yield the coordinates from which the mixture starts again with the number of clusters found."""
    n_components = min(numbers_of(model, memberships.n_items)[-1], memberships.n_items)
    return all_coordinates(memberships, n_components, {model.normalize: coordinates})


@dataclass(frozen=True)
class Search:
    """Settled states of the mixture with as many clusters as its best, by falling silhouette."""

    layout: mixture.Layout
    evidence: EvidenceSilhouette
    curve: pd.DataFrame
    ends: list[mixture.State]

    def convincing(self) -> Iterator[mixture.State]:
        """Yield the states that have more evidence than a single cluster."""
        explains_one = mixture.log_evidence(self.layout, _one_cluster(self.layout))
        return (end for end in self.ends if mixture.log_evidence(self.layout, end) > explains_one)


def searched(
    memberships: Memberships,
    places: Coordinates,
    numbers: range,
    *,
    more_starts: Iterable[Coordinates],
    n_init: int,
    rng: np.random.Generator,
) -> Search:
    """Search for the mixture's number of clusters and for its states with as many; see `subset_fusion.by_mixture`."""
    layout = mixture.Layout.of(memberships)
    evidence = EvidenceSilhouette.of(memberships, rng=rng)
    fewest, most = numbers[0], numbers[-1]
    first = most if most > fewest else min(MORE_CLUSTERS * most, memberships.n_items)
    states: dict[int, mixture.State] = {}
    log_evidence: dict[int, float] = {}
    with counting("clusterings", n_init * (first - fewest + 1)) as tried:
        for _ in range(n_init):
            cluster = kmeans(places.for_clusters(first), first, rng=rng)
            for state in _down_to(fewest, layout, mixture.init(layout, cluster, first), rng=rng):
                number, fits = state.n_clusters, mixture.log_evidence(layout, state)
                if number <= most and fits > log_evidence.get(number, -np.inf):
                    states[number], log_evidence[number] = state, fits
                tried.update()
    curve = curve_of({k: [evidence.score(state.cluster), log_evidence[k]] for k, state in states.items()})
    state = states[_largest(curve["silhouette"])]
    starts = [state]
    for other in more_starts:
        cluster = kmeans(other.for_clusters(state.n_clusters), state.n_clusters, rng=rng, n_init=10)
        starts.append(mixture.init(layout, cluster, state.n_clusters))
    ends = [mixture.occupied(mixture.settle(layout, start, rng=rng)) for start in starts]
    as_many = [end for end in ends if end.n_clusters == ends[0].n_clusters]
    by_silhouette = sorted(as_many, key=lambda end: evidence.score(end.cluster), reverse=True)
    return Search(layout, evidence, curve, by_silhouette)


def owners(probabilities: Float[np.ndarray, "items clusters"], part: Clusters) -> Clusters:
    """Number of the most probable cluster of each item, where each part has its own clusters."""
    return np.asarray(part * probabilities.shape[1] + probabilities.argmax(1))


def among(
    probabilities: Float[np.ndarray, "items clusters"], part: Clusters, names: Int[np.ndarray, " own"]
) -> Float[np.ndarray, "items own"]:
    """Probabilities among some of the clusters that `owners` numbers, of which each item can only be in its part's."""
    n_clusters = probabilities.shape[1]
    own = np.where(part[:, None] == names // n_clusters, probabilities[:, names % n_clusters], 0.0)
    return np.asarray(own / own.sum(1, keepdims=True))
