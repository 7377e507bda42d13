"""Notes on degenerate answers of models of judged pairs: all items in one cluster, or each alone."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

SUBSTANTIAL = 0.1  # share of the judgements that say otherwise


def notes_on_degenerate_clusters(
    labels: Int[np.ndarray, " items"], n_same: float | int, n_pairs: float | int, n_clusters: int | None = None
) -> list[str]:
    """Return a note if the clusters are degenerate although a substantial share of the judgements say otherwise.

    labels : int array, shape (n_items,); clusters; negative for items of none.
    n_same, n_pairs : number of judgements that say "same", and of all.
    n_clusters : number of clusters that the user requested.
    """
    labels = labels[labels >= 0]
    n_items, n_found = len(labels), len(np.unique(labels))
    if n_items < 2 or n_pairs <= 0 or n_clusters == n_found:
        return []
    share = n_same / n_pairs
    if n_found == 1 and 1 - share >= SUBSTANTIAL:
        return [
            f'All {n_items:,} items are in one cluster, although {1 - share:.0%} of the judgements say "different". '
            "Collect more judgements, some of them of the same pairs by several annotators; set n_clusters; or try "
            "another model of pairs."
        ]
    if n_found == n_items and share >= SUBSTANTIAL:
        return [
            f"Each of the {n_items:,} items is a cluster of its own, although {share:.0%} of the judgements say "
            '"same". '
            "Collect more judgements of each item; set n_clusters; or try another model of pairs."
        ]
    return []
