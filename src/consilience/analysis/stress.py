"""How far points keep the order of dissimilarities: Kruskal's stress-1, and the scaling that makes it small.

J. B. Kruskal (1964), Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis, Psychometrika
29.

Decided here
------------
With d the distances of the points and f(d) the nearest ones that rise with the dissimilarities given (isotonic
regression), stress-1 is √(Σ (d - f)² / Σ d²). Where dissimilarities are equal, distances may differ (Kruskal's primary
approach to ties), as in the programs of concept mapping.

The nonmetric scaling starts from the points given and takes steps of Guttman's transform, which never raises stress-1
(J. de Leeuw 1977, Applications of convex analysis to multidimensional scaling); points in one place do not pull:

    x_i ← 1/n Σ_j (f_ij / d_ij) (x_i - x_j).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import isotonic_regression

from consilience.inference.iterate import iterate

MOST_SWEEPS = 2000
TOLERANCE = 1e-6  # a plateau of 41 statements, left for 0.17, was taken for the end at 0.18 with 3e-6

Square = Float[np.ndarray, "items items"]
Points = Float[np.ndarray, "items axes"]


class NonmetricFit(NamedTuple):
    """Points, their distances, the nearest ones in the order of the dissimilarities given, and the stress."""

    points: Points
    distances: Float[np.ndarray, " pairs"]
    fitted: Float[np.ndarray, " pairs"]
    stress: float


def stress(distance: Square, points: Points) -> float:
    """Return Kruskal's stress-1 of points: 0 if they are the farther apart, the larger the distance given."""
    return _fit(_condense(distance), points).stress


def least_stress(distance: Square, start: Points) -> float:
    """Return the stress-1 of the nonmetric scaling that starts from these points."""
    given = _condense(distance)
    found = iterate(
        _fit(given, start),
        lambda state: _fit(given, _transform(state)),
        lambda state: -state.stress,
        max_iter=MOST_SWEEPS,
        tol=TOLERANCE,
    )
    return found.state.stress


def _condense(distance: Square) -> Float[np.ndarray, " pairs"]:
    return np.asarray(squareform(distance, checks=False).round(9))  # equal but for rounding are ties


def _fit(given: Float[np.ndarray, " pairs"], points: Points) -> NonmetricFit:
    found = pdist(points)
    order, fitted = np.lexsort((found, given)), np.empty(len(found))
    fitted[order] = isotonic_regression(found[order])
    left = ((found - fitted) ** 2).sum() / max((found**2).sum(), np.finfo(float).tiny)
    return NonmetricFit(points, found, fitted, float(np.sqrt(left)))


def _transform(state: NonmetricFit) -> Points:
    """Move the points by Guttman's transform."""
    found = state.distances
    pull = squareform(np.divide(state.fitted, found, out=np.zeros(len(found)), where=found > 0))
    return np.asarray((pull.sum(1)[:, None] * state.points - pull @ state.points) / len(pull))
