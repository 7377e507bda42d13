"""Which items were put together, and how often: dissimilarities, coordinates in the plane, shares of clusters.

For plots of groupings and judgements of pairs, with the clusters of a model or without.

Decided here
------------
The map of the items is the classical scaling of their dissimilarities (W. S. Torgerson 1952, Psychometrika 17) if at
least half of the pairs were presented, as in card sorts. If fewer were, most dissimilarities are guesses, and every map
would look like a ball; then the map shows the principal components of coordinates that come from chains of groupings:
those that a fusion works on, or, for other models or none, those that a fusion would work on by default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.metrics import silhouette_score

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.fitted import given_or_kept, unwrap
from consilience.analysis.projection import Projection, squared_cosines
from consilience.analysis.stress import least_stress, stress
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.fit_arguments import as_groupings
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.errors import InputError
from consilience.inference.memberships import Memberships, count_presented, together
from consilience.inference.spectral import rows_of_length_one, turn_upright

MOST_ITEMS = 2000  # of a silhouette by all pairs
COVERED = 0.5  # share of pairs presented from which dissimilarities place the items
USUAL_AXES = 3  # of maps: computed once, of which most show two
DIRECTIONS = 5  # coordinates of items without clusters

Square = Float[np.ndarray, "items items"]


@dataclass(frozen=True)
class CoOccurrence:
    """How often items were presented and put together.

    items : Index, shape (n_items,)
    memberships : of the items; a judgement of a pair counts as a grouping of two items.
    clusters : clusters of the model, if there is one.
    estimator : the model, or None.
    places : places of the items that have annotations, and a cluster if there are clusters.
    """

    items: pd.Index
    memberships: Memberships
    clusters: FoundClusters | None
    estimator: Any
    places: Int[np.ndarray, " seen"]
    _computed: dict[tuple[str, bytes], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, model: Any, groupings: Any, plot: str, clusters: FoundClusters | None = None) -> CoOccurrence:
        """Gather it from the annotations that a model keeps or that are given, or from annotations instead of a model.

        clusters : those of the model, if they are known.

        Raises InputError: the model keeps none and none are given, they have other items, or both arguments are
        annotations.
        """
        if not hasattr(model, "get_params"):
            if groupings is not None:
                raise InputError(
                    f"{plot} takes a fitted model and annotations, or annotations alone. Got annotations twice."
                )
            given = model if isinstance(model, Pairs) else as_groupings(model, None, plot)
            memberships = _memberships(given)
            places = np.flatnonzero(memberships.times_seen > 0)
            return cls(given.items, memberships, None, None, places)._checked("The plot")
        estimator = unwrap(model)
        annotations = given_or_kept(model, groupings, plot)
        memberships, clusters = _memberships(annotations), clusters or FoundClusters.of(estimator, annotations)
        places = np.flatnonzero((clusters.codes >= 0) & (memberships.times_seen > 0))
        return cls(estimator.items_, memberships, clusters, estimator, places)._checked(plot)

    def _checked(self, plot: str) -> CoOccurrence:
        if not len(self.places):
            raise InputError(
                f"{plot} needs items that are in a grouping. Got {len(self.items)} items, none of them in any."
            )
        return self

    @property
    def codes(self) -> Int[np.ndarray, " items"]:
        """Cluster of each item; 0 for all if there are no clusters."""
        return np.zeros(len(self.items), dtype=int) if self.clusters is None else self.clusters.codes

    @property
    def left_out(self) -> str:
        """Text that says how many items are not among `places`; empty if all are."""
        words = current_words()
        n = len(self.items) - len(self.places)
        return f"{words.n_items(n)} left out: not grouped" if n else ""

    @property
    def are_shares_of_people(self) -> bool:
        """Whether each annotator sorted all of `places` once, so that presentations of a pair are annotators."""
        memberships = self.memberships
        return memberships.n_groupings == memberships.n_annotators and bool(
            (memberships.times_seen[self.places] == memberships.n_groupings).all()
        )

    def shares(self, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, "shown shown"]:
        """Share of presentations in which items were put together; 1 on the diagonal, NaN for pairs never presented."""
        memberships = self.memberships.of_items(places)
        counts, of = together(memberships).toarray(), count_presented(memberships).toarray()
        share = np.divide(counts, of, out=np.full(of.shape, np.nan), where=of > 0)
        np.fill_diagonal(share, 1.0)
        return share

    def dissimilarities(self, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, "shown shown"]:
        """1 - share of presentations in which items were put together, as `linkage` of SubsetFusion uses it."""
        return self._once("dissimilarities", places, self._compute_dissimilarities)

    def _compute_dissimilarities(self, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, "shown shown"]:
        memberships = self.memberships.of_items(places)
        silhouette = EvidenceSilhouette.of(memberships, rng=np.random.default_rng(0), all_items=True)
        distance = silhouette.dissimilarities()
        distance.flags.writeable = False  # several plots and tables have the same array
        return distance

    def silhouette(self) -> float:
        """Mean silhouette of the clusters by 1 - share, which is not smoothed.

        NaN if there are many items, if some pair of them was never presented, or if there are fewer than two clusters,
        or as many as items.
        """
        codes, n_items = self.codes[self.places], len(self.places)
        if n_items > MOST_ITEMS or not 1 < len(np.unique(codes)) < n_items or self.coverage(self.places) < 1:
            return np.nan
        return float(silhouette_score(1 - self.shares(self.places), codes, metric="precomputed"))

    def _once(self, name: str, places: Int[np.ndarray, " shown"], compute: Callable[[Any], Any]) -> Any:
        """Return what was computed of the same places before, or compute it: several parts of a page ask for it."""
        key = name, np.asarray(places).tobytes()
        if key not in self._computed:
            self._computed[key] = compute(places)
        return self._computed[key]

    def coverage(self, places: Int[np.ndarray, " shown"]) -> float:
        """Share of the pairs of some items that are in a grouping; 1 if there is no pair."""
        return float(self._once("coverage", places, self._compute_coverage))

    def _compute_coverage(self, places: Int[np.ndarray, " shown"]) -> float:
        n = len(places)
        return count_presented(self.memberships.of_items(places)).nnz / (n * (n - 1)) if n > 1 else 1.0

    def map(self, places: Int[np.ndarray, " shown"], n_axes: int = 2) -> Projection:
        """Coordinates of some items, two or more, with their names."""
        if self.coverage(places) >= COVERED:
            points, shares, squares = self._scale(places, n_axes)
            points, shares = points[:, :n_axes].copy(), shares[:n_axes]
            axes = tuple(f"dimension {axis} ({share:.0%})" for axis, share in enumerate(shares, 1))
            return Projection(points, axes, cos2=squared_cosines(points, squares))
        vectors = self._coordinates()[places]
        centred = vectors - vectors.mean(0)
        left, scale, _ = np.linalg.svd(centred, full_matrices=False)
        points = np.zeros((len(places), n_axes))
        used = min(n_axes, len(scale))
        points[:, :used] = left[:, :used] * scale[:used]
        further = (f"coordinate {axis}" for axis in range(2, n_axes + 1))
        cos2 = squared_cosines(points, (centred**2).sum(1))
        return Projection(turn_upright(points), ("coordinate 1 of the chains of groupings", *further), cos2=cos2)

    def _scale(self, places: Int[np.ndarray, " shown"], n_axes: int) -> Any:
        """What `classical_scaling` returns, on at least so many axes."""
        computed = max(n_axes, USUAL_AXES)
        return self._once(
            f"{computed} axes", places, lambda shown: classical_scaling(self.dissimilarities(shown), computed)
        )

    def plane_shares(self, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, " axes"]:
        """Shares of the variance of the dissimilarities that the first two axes show.

        NaN if the map shows coordinates from chains of groupings instead.
        """
        return np.full(2, np.nan) if self.coverage(places) < COVERED else self._scale(places, 2)[1][:2]

    def stress(self, places: Int[np.ndarray, " shown"]) -> float:
        """See `stress.stress`, of the plane of the first two axes."""
        shown = self.map(places).points
        return float(self._once("stress", places, lambda some: stress(self.dissimilarities(some), shown)))

    def least_stress(self, places: Int[np.ndarray, " shown"]) -> float:
        """See `stress.least_stress`, from that plane."""
        shown = self.map(places).points
        return float(self._once("least stress", places, lambda some: least_stress(self.dissimilarities(some), shown)))

    def cluster_shares(self) -> ClusterShares:
        """Presentations of pairs of items, summed by their clusters."""
        codes = np.full(len(self.items), -1)
        codes[self.places] = self.codes[self.places]
        return ClusterShares.of(self.memberships, codes, 1 if self.clusters is None else len(self.clusters.index))

    def _coordinates(self) -> Float[np.ndarray, "items components"]:
        """Coordinates of the items from chains of groupings."""
        n_clusters = DIRECTIONS if self.clusters is None else max(len(self.clusters.index), 2)
        if self.estimator is not None and Capabilities.of(self.estimator).groupings is not None:
            vectors = self.estimator.embedding_
            return vectors if self.estimator.normalize is None else rows_of_length_one(vectors[:, :n_clusters])
        found = fusing.coordinates(
            self.memberships.of_items(self.places), "degree", min(n_clusters, len(self.places))
        ).for_clusters(n_clusters)
        vectors = np.zeros((len(self.items), found.shape[1]))
        vectors[self.places] = found
        return vectors


def _memberships(annotations: Groupings | Labels | Pairs) -> Memberships:
    """Memberships of annotations of any kind."""
    if not isinstance(annotations, Pairs):
        return Memberships.of(annotations.to_groupings() if isinstance(annotations, Labels) else annotations)
    n_items, pair = annotations.n_items, np.arange(annotations.n_rows)
    item = np.concatenate([annotations.item_a, annotations.item_b])
    group = np.concatenate([2 * pair, 2 * pair + ~annotations.same])
    in_group = csr_array((np.ones(len(item)), (item, group)), shape=(n_items, 2 * len(pair)))
    in_grouping = csr_array((in_group.data, in_group.indices // 2, in_group.indptr), shape=(n_items, len(pair)))
    return Memberships(in_group, in_grouping, np.repeat(pair, 2), annotations.annotator, annotations.n_annotators)


def inner_products(distance: Square) -> Square:
    """Inner products of points, about their mean, that would have these distances."""
    squares = distance**2
    return np.asarray(-0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()))


def classical_scaling(
    distance: Square, n_axes: int = 2
) -> tuple[Float[np.ndarray, "items axes"], Float[np.ndarray, " axes"], Float[np.ndarray, " items"]]:
    """Return points with about the given distances, by default in the plane, and the axes' shares of the variance.

    Last, each item's squared distance from the centre on all axes.
    """
    values, vectors = eigh(inner_products(distance))
    # distances that fit into no space have negative ones
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    points, shares = np.zeros((len(distance), n_axes)), np.zeros(n_axes)
    used = min(n_axes, len(values))
    points[:, :used] = vectors[:, :used] * np.sqrt(values[:used])
    shares[:used] = values[:used] / max(values.sum(), np.finfo(float).tiny)
    return turn_upright(points), shares, vectors**2 @ values


@dataclass(frozen=True)
class ClusterShares:
    """Presentations of pairs of items of two clusters, and those in which the pair was put together."""

    together: Float[np.ndarray, "clusters clusters"]
    presented: Float[np.ndarray, "clusters clusters"]

    @classmethod
    def of(cls, memberships: Memberships, labels: Int[np.ndarray, " items"], n_clusters: int) -> ClusterShares:
        """Count over groups and groupings; items of no cluster are left out."""
        seen = np.flatnonzero(labels >= 0)
        member = csr_array((np.ones(len(seen)), (seen, labels[seen])), shape=(len(labels), n_clusters))
        return cls(*(_pairs(csr_array(sets.T) @ member) for sets in (memberships.in_group, memberships.in_grouping)))

    @property
    def share(self) -> Float[np.ndarray, "clusters clusters"]:
        """Share of the presentations in which pairs were put together; NaN if there is none."""
        unknown = np.full(self.presented.shape, np.nan)
        return np.divide(self.together, self.presented, out=unknown, where=self.presented > 0)

    @property
    def distance(self) -> Float[np.ndarray, "clusters clusters"]:
        """1 - share; the share of all pairs if two clusters were never presented together. 0 on the diagonal."""
        overall = self.together.sum() / max(self.presented.sum(), 1.0)
        distance = 1 - np.where(self.presented > 0, np.nan_to_num(self.share), overall)
        np.fill_diagonal(distance, 0.0)
        return distance


def _pairs(counts: csr_array) -> Float[np.ndarray, "clusters clusters"]:
    """Count ordered pairs of different items in one set by their clusters, given each cluster's items in each set."""
    pairs = np.asarray((csr_array(counts.T) @ counts).toarray(), dtype=float)
    return pairs - np.diag(counts.sum(0))
