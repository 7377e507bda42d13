"""How people's groups agree with clusters, from the number of items of each cluster in each group.

These are the sums of `consilience.inference.clusters` and `consilience.consensus.groupings.fusion_result` without the
items.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from consilience.annotations import Groupings

Counts = Float[np.ndarray, "groups clusters"]
OfAnnotators = Float[np.ndarray, " annotators"]


def held(ordered: Groupings, counts: Counts) -> Float[np.ndarray, "groupings clusters"]:
    """Return the number of items of each cluster in each grouping."""
    of_groupings = np.zeros((ordered.n_groupings, counts.shape[1]))
    np.add.at(of_groupings, ordered.grouping_of_group, counts)
    return of_groupings


def agreement(ordered: Groupings, counts: Counts) -> OfAnnotators:
    """Return `agreement_with` of clusters.

    Parameters
    ----------
    ordered : whose groups these are
    counts : number of items of each cluster in each group
    """
    of_groupings = held(ordered, counts)
    of_group, of_grouping = ordered.annotator_of_group, ordered.annotator_of_grouping

    def pairs(sizes: np.ndarray, whose: np.ndarray) -> OfAnnotators:
        of_places = (sizes * (sizes - 1) / 2).reshape(len(whose), -1).sum(1)
        return np.bincount(whose, of_places, ordered.n_annotators)

    both, in_group = pairs(counts, of_group), pairs(counts.sum(1), of_group)
    in_cluster, total = pairs(of_groupings, of_grouping), pairs(of_groupings.sum(1), of_grouping)
    expected = np.divide(in_cluster * in_group, total, out=np.zeros(ordered.n_annotators), where=total > 0)
    possible = (in_cluster + in_group) / 2 - expected
    # one group in one cluster: 0 / 0, but for rounding
    return np.divide(both - expected, possible, out=np.full(ordered.n_annotators, np.nan), where=possible > 1e-9)


def kept_apart(ordered: Groupings, counts: Counts) -> OfAnnotators:
    """Return `fusion_result.kept_apart` of clusters; parameters as for `agreement`."""

    def across(sizes: np.ndarray, whose: np.ndarray) -> OfAnnotators:
        """Pairs of two clusters in one place, by annotator."""
        of_places = (sizes.sum(1) ** 2 - (sizes**2).sum(1)) / 2
        return np.bincount(whose, of_places, ordered.n_annotators)

    presented = across(held(ordered, counts), ordered.annotator_of_grouping)
    together = across(counts, ordered.annotator_of_group)
    return 1 - np.divide(together, presented, out=np.zeros(ordered.n_annotators), where=presented > 0)
