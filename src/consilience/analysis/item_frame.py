"""The cluster of each item, how certain it is, and the next best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.analysis.capabilities import Capabilities
from consilience.annotations import Annotations


def item_frame(estimator: Any, annotations: Annotations, can: Capabilities) -> pd.DataFrame:
    """Return for each item the code of its cluster, the probability of that, and the next best; one row per item.

    Items of no cluster have the code -1, no next best and no probability, since nothing is known about them. If the
    model gives probabilities of 0 and 1 only, there are none at all.
    """
    codes = estimator._cluster_codes()
    return items_by(estimator.items_, codes, _probabilities(estimator, codes, can), annotations)


def items_by(
    names: pd.Index,
    codes: Int[np.ndarray, " items"],
    probability: Float[np.ndarray, "items clusters"] | None,
    annotations: Annotations,
) -> pd.DataFrame:
    """Return the table of `item_frame` for given clusters."""
    nowhere = codes < 0
    frame = pd.DataFrame({"item": names, "cluster": codes})
    if probability is not None:
        frame["probability"] = np.where(nowhere, np.nan, probability.max(1))
        if probability.shape[1] > 1:
            rest = probability.copy()
            rest[np.arange(len(rest)), codes] = -1
            frame["next_cluster"] = np.where(nowhere, -1, rest.argmax(1))
            frame["next_probability"] = np.where(nowhere, np.nan, rest.max(1))
    frame["n_annotators"] = annotations.summary().annotators_per_item.to_numpy()
    return frame


def _probabilities(
    estimator: Any, codes: Int[np.ndarray, " items"], can: Capabilities
) -> Float[np.ndarray, "items clusters"] | None:
    """Return the probabilities of the clusters; None if the model has none, or 0 and 1 only."""
    if not can.has_probabilities:
        return None
    probability: np.ndarray = estimator.responsibilities_
    return probability if can.is_probabilistic or not np.isin(probability[codes >= 0], (0, 1)).all() else None
