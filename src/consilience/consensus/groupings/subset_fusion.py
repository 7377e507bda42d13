"""Steps of `SubsetFusion`: coordinates, clusters from them, the number of clusters, the parts of the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array, identity
from scipy.special import softmax

from consilience.consensus.groupings import distatis
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.number_of_clusters import NumberJudge
from consilience.inference.clusters import determined_clusters, kmeans
from consilience.inference.memberships import Memberships, shares_together
from consilience.inference.progress import counting
from consilience.inference.spectral import (
    EMBEDDING_TOLERANCE,
    MACHINE_ACCURACY_ITEMS,
    degree_normalised_eigenpairs,
    degree_normalised_embedding,
    rows_of_length_one,
)

MORE_CLUSTERS = 2  # factor on the number of clusters to start from, if the number is given
MOST_PAIRS = 1 << 24  # presented pairs up to which the mixture also starts from coordinates that need them

NORMALIZATIONS = ("degree", "presented", None)

Embedding = Float[np.ndarray, "items components"]
Clusters = Int[np.ndarray, " items"]


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of the items, the leading ones first.

    directions : whether only the direction of an item's row determines its cluster, in as many components as clusters.
    grouping_weights : of the groupings, if they were weighted.
    """

    vectors: Embedding
    directions: bool
    grouping_weights: Float[np.ndarray, " groupings"] | None = None

    def for_clusters(self, n_clusters: int) -> Embedding:
        """Points on which k-means finds this many clusters."""
        return rows_of_length_one(self.vectors[:, :n_clusters]) if self.directions else self.vectors


@dataclass(frozen=True)
class Solution:
    """Clusters of items, and how they were found.

    silhouette : of the clusters in the evidence.
    state : of the mixture, if the clusters come from it.
    doubtful : whether a single cluster explains the groupings as well.
    """

    probabilities: Float[np.ndarray, "items clusters"]
    curve: pd.DataFrame
    silhouette: float
    state: mixture.GroupingMixtureState | None = None
    doubtful: bool = False

    @property
    def cluster(self) -> Clusters:
        """Most probable cluster of each item."""
        return self.probabilities.argmax(1)


def coordinates(memberships: Memberships, normalize: str | None, n_components: int) -> Coordinates:
    """Coordinates of the items, by the `normalize` parameter of SubsetFusion."""
    if normalize == "degree":
        return Coordinates(degree_normalised_embedding(memberships.in_group, n_components), directions=True)
    weights = distatis.weights(memberships)
    tol = 0.0 if memberships.n_items <= MACHINE_ACCURACY_ITEMS else EMBEDDING_TOLERANCE
    if normalize is None:
        vectors, _ = distatis.coordinates(memberships, weights, n_components, tol=tol)
        return Coordinates(vectors, directions=False, grouping_weights=weights)
    # itself for each item, since no row of a similarity may sum to 0
    share = csr_array(shares_together(memberships, weights) + identity(memberships.n_items, format="csr"))
    _, vectors = degree_normalised_eigenpairs(share, n_components)
    return Coordinates(vectors, directions=True, grouping_weights=weights)


def all_coordinates(
    memberships: Memberships, n_components: int, known: Mapping[str | None, Coordinates]
) -> Iterator[Coordinates]:
    """Yield coordinates by each normalisation, unless there are too many presented pairs.

    known : coordinates already computed, by normalisation.
    """
    if (memberships.grouping_sizes.astype(float) ** 2).sum() <= MOST_PAIRS:
        for normalize in NORMALIZATIONS:
            yield known[normalize] if normalize in known else coordinates(memberships, normalize, n_components)


def by_kmeans(memberships: Memberships, places: Coordinates, numbers: range, *, rng: np.random.Generator) -> Solution:
    """Clusters by k-means on the coordinates; their number has the largest silhouette in the evidence."""
    evidence = EvidenceSilhouette.of(memberships, rng=rng)
    found = {}
    with counting("numbers of clusters", len(numbers)) as tried:
        for k in numbers:
            found[k] = kmeans(places.for_clusters(k), k, rng=rng, n_init=10)
            tried.update()
    curve = curve_of({k: [evidence.score(cluster), np.nan] for k, cluster in found.items()})
    best = int(curve.index.to_numpy()[curve["silhouette"].to_numpy().argmax()])
    return Solution(onehot(found[best], best), curve, evidence.score(found[best]))


def obvious_clusters(memberships: Memberships, part: Clusters, n_clusters: int | str) -> Clusters | None:
    """Return clusters that need no inference, if there are any."""
    if n_clusters == 1:
        return np.zeros(memberships.n_items, dtype=np.intp)
    return determined_clusters(memberships, part) if n_clusters == "auto" else None


@dataclass(frozen=True)
class Search:
    """Settled states of the mixture with as many clusters as its best, by falling silhouette.

    curve : of the numbers of clusters tried.
    """

    layout: mixture.GroupingLayout
    judge: NumberJudge
    curve: pd.DataFrame
    ends: list[mixture.GroupingMixtureState]

    @property
    def evidence(self) -> EvidenceSilhouette:
        return self.judge.evidence

    @property
    def is_too_narrow(self) -> bool:
        """Whether no larger number of clusters was tried, though groupings hold most of the items."""
        return self.judge.sees_most and self.ends[0].n_clusters >= int(self.curve.index.max())

    def convincing(self) -> Iterator[mixture.GroupingMixtureState]:
        """Yield the states that have more evidence than a single cluster."""
        explains_one = mixture.log_evidence(self.layout, _one_cluster(self.layout))
        return (end for end in self.ends if mixture.log_evidence(self.layout, end) > explains_one)

    def curve_with(self, end: mixture.GroupingMixtureState) -> pd.DataFrame:
        """Return the curve with the state that is kept."""
        curve = self.curve.copy()
        curve.loc[end.n_clusters] = [self.evidence.score(end.cluster), mixture.log_evidence(self.layout, end)]
        return curve.sort_index()


def search_mixture(
    memberships: Memberships,
    places: Coordinates,
    numbers: range,
    *,
    more_starts: Iterable[Coordinates] = (),
    n_init: int,
    rng: np.random.Generator,
) -> Search:
    """Search for the mixture's number of clusters (`number_of_clusters`), and its states with as many.

    There are fewer than the smallest of the numbers where the groupings do not distinguish as many. Once the number is
    known, the mixture is also run from that many clusters by k-means on other coordinates.
    """
    layout = mixture.GroupingLayout.of(memberships)
    judge = NumberJudge(memberships, EvidenceSilhouette.of(memberships, rng=rng))
    fewest, most = numbers[0], numbers[-1]
    first = most if most > fewest else min(MORE_CLUSTERS * most, memberships.n_items)
    states: dict[int, mixture.GroupingMixtureState] = {}
    log_evidence: dict[int, float] = {}
    with counting("clusterings", n_init * (first - fewest + 1)) as tried:
        for _ in range(n_init):
            cluster = kmeans(places.for_clusters(first), first, rng=rng)
            for state in _down_to(fewest, layout, mixture.init(layout, cluster, first), rng=rng):
                number, fits = state.n_clusters, mixture.log_evidence(layout, state)
                if number <= most and fits > log_evidence.get(number, -np.inf):  # a run starts from more
                    states[number], log_evidence[number] = state, fits
                tried.update()
    curve = curve_of({k: [judge.evidence.score(state.cluster), log_evidence[k]] for k, state in states.items()})
    state = states[judge.choose({k: state.cluster for k, state in states.items()})]
    starts = [state]
    for other in more_starts:
        cluster = kmeans(other.for_clusters(state.n_clusters), state.n_clusters, rng=rng, n_init=10)
        starts.append(mixture.init(layout, cluster, state.n_clusters))
    ends = [mixture.drop_empty_clusters(mixture.settle(layout, start, rng=rng)) for start in starts]
    as_many = [end for end in ends if end.n_clusters == ends[0].n_clusters]
    by_silhouette = sorted(as_many, key=lambda end: judge.evidence.score(end.cluster), reverse=True)
    return Search(layout, judge, curve, by_silhouette)


def widen(
    found: Search, normalize: str | None, ranges: Iterable[range], *, n_init: int, rng: np.random.Generator
) -> Search:
    """Search among more clusters while the number found is the largest tried, and the wider search is better."""
    memberships = found.layout.memberships
    for numbers in ranges:
        if not found.is_too_narrow:
            break
        n_components = min(numbers[-1], memberships.n_items)
        places = coordinates(memberships, normalize, n_components)
        more_starts = all_coordinates(memberships, n_components, {normalize: places})
        wider = search_mixture(memberships, places, numbers, more_starts=more_starts, n_init=n_init, rng=rng)
        if wider.judge.score(wider.ends[0].cluster) <= found.judge.score(found.ends[0].cluster):
            break
        found = wider
    return found


def by_mixture(
    memberships: Memberships,
    places: Coordinates,
    numbers: range,
    *,
    normalize: str | None = "degree",
    more_starts: Iterable[Coordinates] = (),
    wider: Iterable[range] = (),
    n_init: int,
    rng: np.random.Generator,
) -> Solution:
    """Clusters by the mixture of groupings.

    The solution with the largest silhouette is kept, among those with more evidence than a single cluster. If there are
    none, the solution is doubtful, and k-means on the coordinates is a candidate too.
    """
    found = search_mixture(memberships, places, numbers, more_starts=more_starts, n_init=n_init, rng=rng)
    found = widen(found, normalize, wider, n_init=n_init, rng=rng)
    for end in found.convincing():
        probabilities = mixture.probabilities(found.layout, end, rng=rng)
        if len(np.unique(probabilities.argmax(1))) > 1:
            return _solution(found, end, probabilities)
    best = found.ends[0]
    plain = by_kmeans(memberships, places, numbers, rng=rng)
    if best.n_clusters < numbers[0] or plain.silhouette > found.evidence.score(best.cluster):
        return replace(plain, doubtful=True)
    here = softmax(mixture.cluster_scores(found.layout, best), axis=1)  # samples would all end in one cluster
    return replace(_solution(found, best, here), doubtful=True)


def continue_from(
    memberships: Memberships, cluster: Clusters, n_clusters: int, *, rng: np.random.Generator
) -> Solution:
    """Run the mixture from these clusters, keeping their number; items of cluster -1 start at random."""
    layout = mixture.GroupingLayout.of(memberships)
    start = mixture.init(
        layout, np.where(cluster < 0, rng.integers(n_clusters, size=len(cluster)), cluster), n_clusters
    )
    judge = NumberJudge(memberships, EvidenceSilhouette.of(memberships, rng=rng))
    end = mixture.drop_empty_clusters(mixture.settle(layout, start, rng=rng))
    found = Search(layout, judge, curve_of({}), [end])
    return _solution(found, end, mixture.probabilities(layout, end, rng=rng))


def within_parts(probabilities: Float[np.ndarray, "items clusters"], part: Clusters) -> Float[np.ndarray, "items own"]:
    """Give each part of the evidence its own clusters, without empty ones, the largest first."""
    names, first, sizes = np.unique(owners(probabilities, part), return_index=True, return_counts=True)
    return among(probabilities, part, names[np.lexsort((first, -sizes))])


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


def onehot(cluster: Clusters, n_clusters: int) -> Float[np.ndarray, "items clusters"]:
    """One-hot probabilities of clusters."""
    return np.eye(n_clusters)[cluster]


def _down_to(
    fewest: int, layout: mixture.GroupingLayout, state: mixture.GroupingMixtureState, *, rng: np.random.Generator
) -> Iterator[mixture.GroupingMixtureState]:
    for merged in mixture.merge_down(layout, state, rng=rng):
        yield merged
        if merged.n_clusters <= fewest:
            return


def _one_cluster(layout: mixture.GroupingLayout) -> mixture.GroupingMixtureState:
    everything = np.zeros(layout.memberships.n_items, dtype=np.intp)
    return mixture.learn_concentration(layout, mixture.init(layout, everything, 1))


def _solution(
    found: Search, state: mixture.GroupingMixtureState, probabilities: Float[np.ndarray, "items clusters"]
) -> Solution:
    return Solution(probabilities, found.curve_with(state), found.evidence.score(state.cluster), state)


def curve_of(rows: dict[int, list[float]]) -> pd.DataFrame:
    """Silhouette and log evidence for each number of clusters."""
    curve = pd.DataFrame.from_dict(rows, orient="index", columns=["silhouette", "log_evidence"], dtype=float)
    return curve.rename_axis("n_clusters").sort_index()
