"""Where other groups of as many people would place each item on the map.

As in DISTATIS with a bootstrap over assessors (H. Abdi, L. J. Williams, D. Valentin & M. Bennani-Dosse 2012, Wiley
Interdisciplinary Reviews: Computational Statistics 4). Each draw of `Certainty` weighs the annotators; the shares in
which pairs were put together are computed under these weights, scaled to three axes like those of the map, and turned
onto it (Procrustes).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.linalg import orthogonal_procrustes
from scipy.sparse import csr_array

from consilience.analysis.certainty import Certainty
from consilience.analysis.dissimilarity import COVERED, CoOccurrence, classical_scaling
from consilience.consensus.groupings.evidence_silhouette import PRIOR_PRESENTATIONS
from consilience.inference.memberships import Memberships

MOST_ITEMS = 60  # with ellipses
N_AXES = 3  # of the map onto which draws are turned
MOST_DRAWS = 60  # that are scaled


def can_place(co_occurrence: CoOccurrence) -> bool:
    """Whether there are few enough items, and enough of their pairs were presented."""
    places = co_occurrence.places
    return 2 < len(places) <= MOST_ITEMS and co_occurrence.coverage(places) >= COVERED


def spread(
    co_occurrence: CoOccurrence, certainty: Certainty
) -> tuple[Float[np.ndarray, "shown axes"], Float[np.ndarray, "shown axes axes"]]:
    """Return the mean place of each item over the draws, turned onto the map of three axes, and its covariance."""
    places = co_occurrence.places
    memberships, points = co_occurrence.memberships.of_items(places), co_occurrence.map(places, N_AXES).points
    centre = points.mean(0)
    found = []
    for weights in certainty.weights[:MOST_DRAWS]:
        drawn, *_ = classical_scaling(weighted_dissimilarities(memberships, weights), N_AXES)
        drawn = drawn - drawn.mean(0)
        turn, _ = orthogonal_procrustes(drawn, points - centre)
        found.append(drawn @ turn + centre)
    deviation = np.array(found) - np.mean(found, axis=0)
    return np.mean(found, axis=0), np.einsum("dia,dib->iab", deviation, deviation) / max(len(found) - 1, 1)


def weighted_dissimilarities(
    memberships: Memberships, weights: Float[np.ndarray, " annotators"]
) -> Float[np.ndarray, "items items"]:
    """1 - the share of presentations in which two items were put together, as in `EvidenceSilhouette`, weighted."""
    of_groupings = weights[memberships.annotator_of_grouping]
    counts, of = (
        _weighted_gram(held, weights)
        for held, weights in (
            (memberships.in_group, of_groupings[memberships.grouping_of_group]),
            (memberships.in_grouping, of_groupings),
        )
    )
    share = counts.sum() / max(of.sum(), np.finfo(float).tiny)
    distance = 1 - (counts + PRIOR_PRESENTATIONS * share) / (of + PRIOR_PRESENTATIONS)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(distance)


def _weighted_gram(held: csr_array, weights: Float[np.ndarray, " places"]) -> Float[np.ndarray, "items items"]:
    """Sum of the weights of the places that hold two items; the diagonal is empty."""
    dense = held.toarray()  # of few items
    gram = (dense * weights) @ dense.T
    np.fill_diagonal(gram, 0.0)
    return np.asarray(gram)
