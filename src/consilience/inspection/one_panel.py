"""Panels without segments: simulated people who see the items as one panel does, each with noise of their own.

Whether a panel has segments cannot be judged by how far a tree of its people can be cut: any tree can be. So the same
is done with simulated panels that have none, and are like the panel in everything else: the same items, sorted by as
many people, each into as many groups.

    F        coordinates of the items in the compromise of the panel
    X_h      F + σ_a E_h, with independent standard normal E_h: how person a sees the items in sort h
    sort     the items of the person's sort, at X_h, in as many groups by Ward's hierarchy

σ_a is found such that a simulated person is as similar to the compromise as the real one. The compromise holds some of
everybody's noise, so simulated people would be too similar to each other: all σ are multiplied by one factor, such that
the mean RV coefficient of two people is that of the panel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import eigh

from consilience.inspection.rv import ScalarProducts, add_sort

NOISES = np.geomspace(0.02, 20, 13)  # standard deviations tried, relative to the spread of the items
TRIES = 4  # draws of each
PANELS = 4  # drawn to find the factor
STEPS = 7  # halvings of the factor's logarithm
RANGE = 8.0  # largest factor, and its inverse the smallest

Sort = tuple[int, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class OnePanel:
    """A generator of panels.

    sorts : annotator, items and groups of each grouping; of the real panel, for their numbers.
    places : F.
    noise : σ_a.
    """

    sorts: list[Sort]
    places: Float[np.ndarray, "items axes"]
    noise: Float[np.ndarray, " annotators"]

    @classmethod
    def like(cls, sorts: list[Sort], real: ScalarProducts, rng: np.random.Generator) -> OnePanel:
        """Find the noise of each person of a panel."""
        matrix = real.compromise(real.weights)
        values, vectors = eigh(matrix)
        kept = values > 1e-9 * max(values.max(), 1e-300)
        places = vectors[:, kept] * np.sqrt(values[kept])
        spread = np.sqrt((places**2).sum(1).mean() / max(places.shape[1], 1))
        panel = cls(sorts, places, np.zeros(len(real.products)))
        reached = np.array(
            [
                np.mean(
                    [_or_zero(panel.with_noise(spread * noise).draw(rng).with_matrix(matrix)) for _ in range(TRIES)], 0
                )
                for noise in NOISES
            ]
        )
        falling = np.minimum.accumulate(reached)
        wanted = _or_zero(real.with_matrix(matrix))
        noise = [np.interp(-own, -curve, np.log(NOISES)) for own, curve in zip(wanted, falling.T, strict=True)]
        return panel.with_noise(spread * np.exp(noise))._as_alike_as(mean_rv(real), rng)

    def with_noise(self, noise: float | Float[np.ndarray, " annotators"]) -> OnePanel:
        """Return the panel with other noise."""
        return replace(self, noise=np.broadcast_to(noise, self.noise.shape).astype(float))

    def _as_alike_as(self, wanted: float, rng: np.random.Generator) -> OnePanel:
        """Multiply the noise such that people are as similar to each other as wanted."""
        low, high = -np.log(RANGE), np.log(RANGE)
        for _ in range(STEPS):
            middle = (low + high) / 2
            tried = self.with_noise(self.noise * np.exp(middle))
            too_alike = np.mean([mean_rv(tried.draw(rng)) for _ in range(PANELS)]) > wanted
            low, high = (middle, high) if too_alike else (low, middle)
        return self.with_noise(self.noise * np.exp((low + high) / 2))

    def draw(self, rng: np.random.Generator) -> ScalarProducts:
        """Draw the sorts of a panel."""
        n_people, (n_items, n_axes) = len(self.noise), self.places.shape
        products, seen = np.zeros((n_people, n_items, n_items)), np.zeros((n_people, n_items), dtype=bool)
        for person, items, group in self.sorts:
            n_groups = int(group.max()) + 1
            drawn = np.zeros(len(items), dtype=np.intp)
            if 1 < n_groups < len(items):
                view = self.places[items] + self.noise[person] * rng.normal(size=(len(items), n_axes))
                drawn = fcluster(linkage(view, "ward"), n_groups, "maxclust").astype(np.intp) - 1
            elif n_groups > 1:
                drawn = np.arange(len(items))
            add_sort(products[person], items, drawn)
            seen[person, items] = True
        return ScalarProducts(products, seen)


def mean_rv(panel: ScalarProducts) -> float:
    """Mean RV coefficient of two different people."""
    values = panel.rv[np.triu_indices(len(panel.rv), 1)]
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else 0.0


def _or_zero(values: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " annotators"]:
    return np.nan_to_num(values, nan=0.0)
