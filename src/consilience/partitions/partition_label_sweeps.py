"""What `PartitionLabelModel` needs of items in partitions: moments for its updates, and sums to read off.

All of a sweep but the moments depends on no item, so that the updates are those of
`consilience.semisupervised.partition_label_model`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.metrics import pairwise_distances_argmin

from consilience.annotations import Groupings
from consilience.annotations.memberships import incidence_of
from consilience.inference.confusion import Cells
from consilience.inference.softmax import Items, Moments, in_chunks, moments, scores
from consilience.partitions.item_survey import Keys, OwnItems, group_places
from consilience.partitions.map_reduce import Additive, Parts
from consilience.semisupervised import mapping
from consilience.semisupervised.partition_label_model import Evidence, State, leaning_moments

Coefficients = Float[np.ndarray, "columns clusters"]
OfLabels = Float[np.ndarray, "groups clusters"]


# ---- what is computed on a partition


def prepared(own: OwnItems, keys: Keys, columns: Int[np.ndarray, " features"], n_clusters: int) -> list[Items]:
    """Return the items in chunks, with their features and groups in a given order."""
    given = own.rows.groupings
    design = np.hstack([own.rows.features[:, columns], np.ones((given.n_items, 2))])
    labels = incidence_of(given.item_of_row, group_places(given, keys), given.n_items, len(keys))
    items = Items(design, labels)
    chunks = in_chunks(items, n_clusters) or [items]
    for chunk in chunks:
        _ = chunk.length  # is kept with the chunk
    return chunks


def leaning(chunks: list[Items], centres: np.ndarray, cells: Cells, n_clusters: int) -> Moments:
    """Moments of a start from the features, with each item in the cluster of the nearest centre."""
    design = np.concatenate([chunk.design for chunk in chunks])
    seeds = pairwise_distances_argmin(design, centres) if len(design) else np.empty(0, dtype=np.intp)
    return leaning_moments(Evidence(chunks, cells), seeds, 0.0, n_clusters)


def group_sizes(chunks: list[Items]) -> Int[np.ndarray, " groups"]:
    """Return the number of items in each group."""
    of_chunks = [np.asarray(chunk.labels.sum(0)) for chunk in chunks]
    return np.sum(of_chunks, axis=0).astype(int)


def owned(chunks: list[Items], coefficients: Coefficients, said: OfLabels) -> Int[np.ndarray, " clusters"]:
    """Return the number of items whose most probable cluster each is."""
    clusters = np.concatenate([scores(chunk, coefficients, said).argmax(1) for chunk in chunks])
    return np.bincount(clusters, minlength=said.shape[1])


@dataclass(frozen=True)
class Quality(Additive):
    """Sums over items and labels.

    correct : labels of each group that the model predicts.
    together : items of each group whose most probable cluster each is.
    """

    correct: Int[np.ndarray, " groups"]
    together: Float[np.ndarray, "groups clusters"]


def quality(
    chunks: list[Items], coefficients: Coefficients, said: OfLabels, probability: OfLabels, nothing: Groupings
) -> Quality:
    """Sums for ``groupings_`` and ``notes_``, over the clusters found; `nothing` has the groups."""
    labels = _stacked(chunks)
    found = np.concatenate([softmax(scores(chunk, coefficients, said), axis=1) for chunk in chunks])
    one_of = np.eye(found.shape[1])[found.argmax(1)]
    correct = mapping.correct_labels(replace(nothing, incidence=labels), found, probability)
    return Quality(correct, labels.T @ one_of)


def _stacked(chunks: list[Items]) -> csr_array:
    group = np.concatenate([chunk.labels.indices for chunk in chunks])
    given = np.concatenate([np.diff(chunk.labels.indptr) for chunk in chunks])
    shape = (len(given), chunks[0].labels.shape[1])
    return csr_array((np.ones(len(group)), group, np.append(0, np.cumsum(given))), shape=shape)


# ---- evidence


@dataclass(frozen=True)
class ItemsInParts:
    """Items in partitions, as the updates of the model read them: `partition_label_model.Observations`.

    parts : of `prepared`.
    """

    parts: Parts
    cells: Cells

    def moments(self, coefficients: Coefficients, said: OfLabels | None = None) -> Moments:
        """Moments of π, or with what labels say those of ρ, (16)."""
        total: Moments = self.parts.total(moments, coefficients, said)
        return total

    def leaning(self, state: State, centres: np.ndarray) -> State:
        """Return the state with posteriors close to clusters around centres."""
        seen = self.parts.total(leaning, centres, self.cells, state.weights.shape[1])
        return replace(state, moments=replace(seen, log_normalizer=state.moments.log_normalizer))
