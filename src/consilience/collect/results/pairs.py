"""What is found in the answers about pairs of cards: clusters, and how they are presented in the findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience.collect.results.consensus import count_answers
from consilience.collect.settings.model import Study
from consilience.collect.store import Submitted
from consilience.collect.store.results import pairs_of
from consilience.consensus import CorrelationClustering


def model_of_pairs(study: Study) -> CorrelationClustering:
    """Return the model, not fitted, by which clusters are found in the pairs of a study."""
    return CorrelationClustering(random_state=study.seed)


def of_pairs(study: Study, rows: Sequence[Submitted]) -> dict[str, Any]:
    """Find clusters in the answers about pairs.

    Returns JSON values as of `consensus.of_session`: ``kind`` "pairs", and no rounds. ``n_answers`` counts those
    who said same or different; clusters have no names; ``advice`` is None.
    """
    pairs = pairs_of(rows, [str(number) for number in range(study.n_items)])
    labels = model_of_pairs(study).fit(pairs).labels_ if pairs.n_rows else np.full(study.n_items, -1)
    numbers = np.unique(labels[labels >= 0])
    return count_answers("pairs", study, rows) | {
        "n_answers": pairs.n_rows,
        "n_items_grouped": int((labels >= 0).sum()),
        "n_clusters": len(numbers),
        "labels": [int(label) for label in labels],
        "clusters": [
            {
                "cluster": int(number) + 1,
                "title": f"cluster {number + 1}",
                "items": np.flatnonzero(labels == number).tolist(),
                "names": [],
            }
            for number in numbers
        ],
        "advice": None,
    }
