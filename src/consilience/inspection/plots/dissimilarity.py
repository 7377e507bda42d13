"""Which items were put together, and how often: dissimilarities, places in the plane, shares of clusters.

For drawings of groupings and judgements of pairs, with the clusters that some model made of them or without any.

Decided here
------------
The map of the items is the classical scaling of their dissimilarities (W. S. Torgerson 1952, Psychometrika 17) where at
least half of the pairs were presented, as in card sorts. Where fewer were, most dissimilarities are guesses that make a
ball of every map; then it shows the principal components of coordinates that come from chains of groupings: those on
which a fusion works, and of other models, or none, those on which a fusion would by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.linalg import eigh
from scipy.sparse import csr_array

from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.fit_arguments import as_groupings
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.errors import InputError
from consilience.inference.memberships import Memberships, presented, together
from consilience.inference.spectral import rows_of_length_one
from consilience.inspection.capabilities import Capabilities
from consilience.inspection.clustering import Answer
from consilience.inspection.names import counted
from consilience.inspection.plots.projection import View, given_or_kept, unwrap

COVERED = 0.5  # share of presented pairs from which on these place the items
DIRECTIONS = 5  # coordinates of items whose clusters are not known

Square = Float[np.ndarray, "items items"]


@dataclass(frozen=True)
class Evidence:
    """What was said of some items together.

    Attributes
    ----------
    items : Index, shape (n_items,)
    memberships : of the items; a judgement of a pair is a grouping of two.
    answer : Answer or None
        What the model says of the items, if there is one.
    estimator : the model, or None.
    places : ndarray of int, shape (n_seen,)
        Of the items of which something was said, and which have a cluster if there are any.
    """

    items: pd.Index
    memberships: Memberships
    answer: Answer | None
    estimator: Any
    places: Int[np.ndarray, " seen"]

    @classmethod
    def of(cls, model: Any, groupings: Any, plot: str) -> Evidence:
        """Gather the evidence that a model keeps or that is given, or that stands alone in place of a model.

        Raises
        ------
        InputError
            The model keeps none and none is given, or it is of other items; or annotations stand in both places.
        """
        if not hasattr(model, "get_params"):
            if groupings is not None:
                raise InputError(f"{plot} takes a fitted model and annotations, or annotations alone. Got them twice.")
            return cls._alone(model if isinstance(model, Pairs) else as_groupings(model, None, plot))
        estimator = unwrap(model)
        said = given_or_kept(model, groupings, plot)
        memberships, answer = _memberships(said), Answer.of(estimator)
        places = np.flatnonzero((answer.codes >= 0) & (memberships.times_seen > 0))
        return cls(estimator.items_, memberships, answer, estimator, places)._checked(plot)

    @classmethod
    def _alone(cls, said: Groupings | Pairs) -> Evidence:
        memberships = _memberships(said)
        return cls(said.items, memberships, None, None, np.flatnonzero(memberships.times_seen > 0))._checked("The plot")

    def _checked(self, plot: str) -> Evidence:
        if not len(self.places):
            raise InputError(f"{plot} needs items that some grouping holds, and none of {len(self.items)} is in any.")
        return self

    @property
    def codes(self) -> Int[np.ndarray, " items"]:
        """Cluster of each item; 0 for all where there are no clusters."""
        return np.zeros(len(self.items), dtype=int) if self.answer is None else self.answer.codes

    @property
    def left_out(self) -> str:
        """How many items are not among `places`, in words; nothing if all are."""
        n = len(self.items) - len(self.places)
        return f"{counted(n, 'item')} left out: not grouped" if n else ""

    def shares(self, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, "shown shown"]:
        """Share of presentations together of some items; 1 on the diagonal, NaN for pairs that nobody saw."""
        memberships = self.memberships.of_items(places)
        counts, of = together(memberships).toarray(), presented(memberships).toarray()
        share = np.divide(counts, of, out=np.full(of.shape, np.nan), where=of > 0)
        np.fill_diagonal(share, 1.0)
        return share

    def dissimilarities(self, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, "shown shown"]:
        """1 - share of the presentations together, as `linkage` of SubsetFusion uses it."""
        memberships = self.memberships.of_items(places)
        evidence = EvidenceSilhouette.of(memberships, rng=np.random.default_rng(0), all_items=True)
        return evidence.dissimilarities()

    def coverage(self, places: Int[np.ndarray, " shown"]) -> float:
        """Share of the pairs of some items that a grouping holds; 1 if there is no pair."""
        n = len(places)
        return float(presented(self.memberships.of_items(places)).nnz / (n * (n - 1))) if n > 1 else 1.0

    def map(self, places: Int[np.ndarray, " shown"]) -> View:
        """Two coordinates of some items, and what they are."""
        if self.coverage(places) >= COVERED:
            points, shares = classical_scaling(self.dissimilarities(places))
            return View(points, (f"dimension 1 ({shares[0]:.0%})", f"dimension 2 ({shares[1]:.0%})"))
        vectors = self._coordinates()[places]
        centred = vectors - vectors.mean(0)
        left, scale, _ = np.linalg.svd(centred, full_matrices=False)
        points = np.zeros((len(places), 2))
        used = min(2, len(scale))
        points[:, :used] = left[:, :used] * scale[:used]
        return View(_upright(points), ("coordinate 1 of the chains of groupings", "coordinate 2"))

    def cluster_shares(self) -> ClusterShares:
        """Presentations of pairs of items by their clusters."""
        codes = np.full(len(self.items), -1)
        codes[self.places] = self.codes[self.places]
        return ClusterShares.of(self.memberships, codes, 1 if self.answer is None else len(self.answer.index))

    def _coordinates(self) -> Float[np.ndarray, "items components"]:
        """Coordinates of the items from chains of groupings."""
        n_clusters = DIRECTIONS if self.answer is None else max(len(self.answer.index), 2)
        if self.estimator is not None and Capabilities.of(self.estimator).groupings is not None:
            vectors = self.estimator.embedding_
            return vectors if self.estimator.normalize is None else rows_of_length_one(vectors[:, :n_clusters])
        found = fusing.coordinates(
            self.memberships.of_items(self.places), "degree", min(n_clusters, len(self.places))
        ).for_clusters(n_clusters)
        vectors = np.zeros((len(self.items), found.shape[1]))
        vectors[self.places] = found
        return vectors


def _memberships(said: Groupings | Labels | Pairs) -> Memberships:
    """Memberships of annotations of any kind."""
    if not isinstance(said, Pairs):
        return Memberships.of(said.to_groupings() if isinstance(said, Labels) else said)
    pair = np.arange(said.n_rows)
    item = np.concatenate([said.item_a, said.item_b])
    group = np.concatenate([2 * pair, 2 * pair + ~said.same])
    in_group = csr_array((np.ones(len(item)), (item, group)), shape=(said.n_items, 2 * len(pair)))
    in_grouping = csr_array((in_group.data, in_group.indices // 2, in_group.indptr), shape=(said.n_items, len(pair)))
    return Memberships(in_group, in_grouping, np.repeat(pair, 2), said.annotator, said.n_annotators)


def classical_scaling(distance: Square) -> tuple[Float[np.ndarray, "items 2"], Float[np.ndarray, " 2"]]:
    """Points in the plane whose distances are like those given, and each dimension's share of the positive variance."""
    squares = distance**2
    inner = -0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean())
    values, vectors = eigh(inner)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    points, shares = np.zeros((len(distance), 2)), np.zeros(2)
    used = min(2, len(values))
    points[:, :used] = vectors[:, :used] * np.sqrt(values[:used])
    shares[:used] = values[:used] / max(values.sum(), np.finfo(float).tiny)
    return _upright(points), shares


def _upright(points: Float[np.ndarray, "items 2"]) -> Float[np.ndarray, "items 2"]:
    """Turn coordinates so that the largest of each is positive: a sign that does not depend on the machine."""
    largest = points[np.abs(points).argmax(0), [0, 1]]
    return points * np.where(largest < 0, -1.0, 1.0)


@dataclass(frozen=True)
class ClusterShares:
    """Presentations of pairs of items of two clusters, and those in which the two were put together."""

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
        """Share of the presentations in which the two were put together; NaN where there is none."""
        unknown = np.full(self.presented.shape, np.nan)
        return np.divide(self.together, self.presented, out=unknown, where=self.presented > 0)

    @property
    def distance(self) -> Float[np.ndarray, "clusters clusters"]:
        """1 - share; that of all pairs where two clusters were never presented together. 0 on the diagonal."""
        overall = self.together.sum() / max(self.presented.sum(), 1.0)
        distance = 1 - np.where(self.presented > 0, np.nan_to_num(self.share), overall)
        np.fill_diagonal(distance, 0.0)
        return distance


def _pairs(counts: csr_array) -> Float[np.ndarray, "clusters clusters"]:
    """Ordered pairs of different items in one set, by their clusters, of the number of each cluster's items in it."""
    pairs = np.asarray((csr_array(counts.T) @ counts).toarray(), dtype=float)
    return pairs - np.diag(counts.sum(0))
