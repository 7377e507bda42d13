"""Spread of results, and leads that are larger than chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Difference:
    """A mean difference and its standard error."""

    mean: float
    error: float

    @property
    def verdict(self) -> str:
        """Whether the first is larger: "above", "below", or "level" within two standard errors."""
        if abs(self.mean) <= 2 * self.error:
            return "level"
        return "above" if self.mean > 0 else "below"


def paired(first: npt.ArrayLike, second: npt.ArrayLike) -> Difference:
    """Compare results of the same draws, or of the same items."""
    gaps = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if len(gaps) < 2:
        raise ValueError("A standard error needs two draws or more.")
    return Difference(float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps))))


def mean_sd(values: npt.ArrayLike, digits: int = 3) -> str:
    """Return the mean and the standard deviation of draws, such as "0.912 ± 0.010"."""
    found = np.asarray(values, dtype=float)
    return f"{found.mean():.{digits}f} ± {found.std(ddof=1):.{digits}f}"
