"""What a fusion of groupings rests on, for drawings: dissimilarities of items, places in the plane, shares of clusters.

Decided here
------------
The map of the items is the classical scaling of their dissimilarities (W. S. Torgerson 1952, Psychometrika 17) where at
least half of the pairs were presented, as in card sorts. Where fewer were, most dissimilarities are guesses that make a
ball of every map; then it shows the principal components of the coordinates on which the fusion works, which come from
chains of groupings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import eigh
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.consensus.evidence_silhouette import EvidenceSilhouette
from consilience.errors import InputError
from consilience.inference.memberships import Memberships, presented
from consilience.inference.spectral import rows_of_length_one
from consilience.inspection.projection import View, unwrap

COVERED = 0.5  # share of presented pairs from which on these place the items

Square = Float[np.ndarray, "items items"]


def fusion_of(model: Any) -> Any:
    """Return the estimator, which must hold the evidence of a fusion.

    Raises
    ------
    InputError
        It is another model.
    """
    estimator = unwrap(model)
    if not (hasattr(estimator, "co_occurrence") and hasattr(estimator, "groupings_")):
        raise InputError(f"{type(estimator).__name__} keeps no co-occurrence of items; SubsetFusion does.")
    return estimator


def dissimilarities(estimator: Any, places: Int[np.ndarray, " shown"]) -> Float[np.ndarray, "shown shown"]:
    """1 - share of the presentations together, as `linkage` of the model uses it."""
    memberships = Memberships.of(estimator.groupings_).of_items(places)
    evidence = EvidenceSilhouette.of(memberships, rng=np.random.default_rng(0), all_items=True)
    return evidence.dissimilarities()


def coverage(estimator: Any, places: Int[np.ndarray, " shown"]) -> float:
    """Share of the pairs of some items that a grouping holds; 1 if there is no pair."""
    n = len(places)
    n_pairs = presented(Memberships.of(estimator.groupings_).of_items(places)).nnz
    return float(n_pairs / (n * (n - 1))) if n > 1 else 1.0


def map_of_items(estimator: Any, places: Int[np.ndarray, " shown"]) -> View:
    """Two coordinates of some items, and what they are."""
    if coverage(estimator, places) >= COVERED:
        points, shares = classical_scaling(dissimilarities(estimator, places))
        return View(points, (f"dimension 1 ({shares[0]:.0%})", f"dimension 2 ({shares[1]:.0%})"))
    vectors = estimator.embedding_[places]
    if estimator.normalize is not None:
        vectors = rows_of_length_one(vectors[:, : max(estimator.n_clusters_, 2)])
    centred = vectors - vectors.mean(0)
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(places), 2))
    used = min(2, len(scale))
    points[:, :used] = left[:, :used] * scale[:used]
    return View(_upright(points), ("coordinate 1 of the chains of groupings", "coordinate 2"))


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
    def of(cls, groupings: Groupings, labels: Int[np.ndarray, " items"], n_clusters: int) -> ClusterShares:
        """Count over groups and groupings; items of no cluster are left out."""
        memberships = Memberships.of(groupings)
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
