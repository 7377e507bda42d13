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
from jaxtyping import Bool, Float, Int
from scipy.linalg import eigh

from consilience.analysis.rv import ScalarProducts, SortTable

NOISES = np.geomspace(0.02, 20, 13)  # standard deviations tried, relative to the spread of the items
TRIES = 4  # draws of each
PANELS = 4  # drawn to find the factor
STEPS = 7  # halvings of the factor's logarithm
RANGE = 8.0  # largest factor, and its inverse the smallest


@dataclass(frozen=True)
class OnePanel:
    """A generator of panels.

    sorts : of the real panel, for who sorted what, and into how many groups.
    places : F.
    noise : σ_a.
    """

    sorts: SortTable
    places: Float[np.ndarray, "items axes"]
    noise: Float[np.ndarray, " annotators"]

    @classmethod
    def like(cls, sorts: SortTable, real: ScalarProducts, rng: np.random.Generator) -> OnePanel:
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
        sorts = self.sorts
        noise = rng.normal(size=(len(sorts.annotator), *self.places.shape))
        views = self.places + self.noise[sorts.annotator][:, None, None] * noise
        group = ward_groups(views, sorts.group >= 0, sorts.n_groups)
        return ScalarProducts.of(SortTable(sorts.annotator, group, sorts.n_annotators))


def ward_groups(
    points: Float[np.ndarray, "sorts items axes"],
    held: Bool[np.ndarray, "sorts items"],
    n_groups: Int[np.ndarray, " sorts"],
) -> Int[np.ndarray, "sorts items"]:
    """Cut Ward's hierarchies of many sets of points, each into a number of groups; all at once, for they are small.

    held : whether the point is in the set.

    Returns ndarray, shape (n_sorts, n_items): a number of the group of each point, -1 for points that are not in the
    set.
    """
    n_sorts, n_items = held.shape
    to_merge = held.sum(1) - n_groups
    order = np.argsort(-to_merge, kind="stable")  # so that those that still merge are the first, and a view
    to_merge, held = to_merge[order], held[order]
    distance = (points @ points.transpose(0, 2, 1))[order]
    square = np.einsum("sii->si", distance).copy()
    distance *= -2
    distance += square[:, :, None]
    distance += square[:, None, :]  # squared
    distance[~(held[:, :, None] & held[:, None, :])] = np.inf
    distance[:, np.arange(n_items), np.arange(n_items)] = np.inf
    size, label = np.ones((n_sorts, n_items)), np.where(held, np.arange(n_items), -1)
    for step in range(int(to_merge.max(initial=0))):
        n = int((to_merge > step).sum())
        at, near, others = np.arange(n), distance[:n], size[:n]
        into, gone = np.divmod(near.reshape(n, -1).argmin(1), n_items)
        apart = near[at, into, gone][:, None]
        first, second = others[at, into][:, None], others[at, gone][:, None]
        merged = (others + first) * near[at, into] + (others + second) * near[at, gone] - others * apart
        merged /= others + first + second
        merged[at, into] = merged[at, gone] = np.inf
        near[at, into], near[at, :, into] = merged, merged
        near[at, gone], near[at, :, gone] = np.inf, np.inf
        others[at, into] += others[at, gone]
        label[:n] = np.where(label[:n] == gone[:, None], into[:, None], label[:n])
    return label[np.argsort(order)]


def mean_rv(panel: ScalarProducts) -> float:
    """Mean RV coefficient of two different people."""
    values = panel.rv[np.triu_indices(len(panel.rv), 1)]
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else 0.0


def _or_zero(values: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " annotators"]:
    return np.nan_to_num(values, nan=0.0)
