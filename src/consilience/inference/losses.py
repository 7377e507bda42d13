"""How far predictions of judgements are from what was said."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float


def log_losses(
    same: Bool[np.ndarray, " judgements"], probability: Float[np.ndarray, "... judgements"], clip: float
) -> Float[np.ndarray, "... judgements"]:
    """Return the loss of each judgement, nats; probabilities are at least `clip` from 0 and 1.

    Their mean is `metrics.same_log_loss`.
    """
    p = np.clip(probability, clip, 1 - clip)
    return -np.log(np.where(same, p, 1 - p))
