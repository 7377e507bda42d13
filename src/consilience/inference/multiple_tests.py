"""P-values of several tests."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def correct_by_holm(p: Float[np.ndarray, " tests"]) -> Float[np.ndarray, " tests"]:
    """Correct p-values for their number, by Holm's method: the family-wise error is at most the level compared with."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))  # none is surer than one with a smaller p
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected
