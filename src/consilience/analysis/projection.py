"""Projection of items onto the plane: by two features, by many, or by their annotations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy.sparse import csr_array
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.fitted import column_names, raw_features, unwrap
from consilience.annotations import Groupings
from consilience.errors import InputError

HARDLY_SHOWN = 0.2  # cos² of an item in a plane, below which its place there says little


@dataclass(frozen=True)
class Projection:
    """Items in the plane, or in a space of more axes, of which a plane is shown.

    points : ndarray, shape (n_items, n_axes)
    axes : names of the coordinates.
    log_odds : log-odds of the clusters at points of the plane, up to a constant for each; None if the plane shows only
        a part of the features.
    rows : names of the clusters, if the second coordinate is the cluster.
    cos2 : see `squared_cosines`; None if what the plane leaves out is not known.
    """

    points: Float[np.ndarray, "items axes"]
    axes: tuple[str, ...]
    log_odds: Callable[[np.ndarray], np.ndarray] | None = None
    rows: tuple[str, ...] = ()
    cos2: Float[np.ndarray, "items axes"] | None = None

    def plane(self, axes: tuple[int, int]) -> Projection:
        """Return two of the axes, numbered from 1."""
        first, second = axes[0] - 1, axes[1] - 1
        cos2 = None if self.cos2 is None else self.cos2[:, [first, second]]
        names = (self.axes[first], self.axes[second])
        return replace(self, points=self.points[:, [first, second]], axes=names, cos2=cos2)

    @property
    def hardly_shown(self) -> Bool[np.ndarray, " items"]:
        """Whether the axes hardly show an item: that it is near the centre, or others, does not mean alike there."""
        return np.zeros(len(self.points), dtype=bool) if self.cos2 is None else self.cos2.sum(1) < HARDLY_SHOWN


def squared_cosines(
    points: Float[np.ndarray, "items axes"], squares: Float[np.ndarray, " items"]
) -> Float[np.ndarray, "items axes"]:
    """Return the share of each item's squared distance from the centre (`squares`) that each axis shows.

    NaN for items in the centre.
    """
    unknown = np.full(points.shape, np.nan)
    return np.divide(points**2, squares[:, None], out=unknown, where=squares[:, None] > 1e-12)


def checked_axes(axes: Any, plot: str, most: int = 9) -> tuple[int, int]:
    """Return the numbers of two axes, from 1.

    Raises InputError: they are not two different numbers from 1 to `most`.
    """
    numbers = list(axes) if isinstance(axes, tuple | list) else []
    whole = all(isinstance(axis, int | np.integer) and not isinstance(axis, bool) for axis in numbers)
    if len(numbers) != 2 or not whole or numbers[0] == numbers[1] or not all(1 <= axis <= most for axis in numbers):
        raise InputError(
            f"The 'axes' parameter of {plot} must be two different numbers from 1 to {most}, such as (1, 3). "
            f"Got {axes!r} instead."
        )
    return int(numbers[0]), int(numbers[1])


def project(model: Any, X: Any, groupings: Groupings | None, clusters: FoundClusters | None = None) -> Projection:
    """Place the fitted items in the plane.

    model : fitted estimator, or a pipeline that ends in one
    X : features as given to the model, or None
    groupings : of the fitted items, read if X is None
    clusters : against which a single feature is drawn; by default those of the model

    Returns Projection: two features as they are, a single one against clusters; the first two principal components of
    more; without features, those of the annotations; without groupings, those of the model's coordinates of the items,
    if any.
    """
    if X is None:
        if groupings is None:
            places = Capabilities.of(unwrap(model)).embedding
            if places is not None:
                return _components(places)
            raise InputError("X, the features, or groupings are needed to place the items in the plane. Got neither.")
        return _by_annotations(groupings)
    raw = raw_features(model, X)
    names = column_names(raw, "feature")
    if not names:
        raise InputError("X has no features.")
    if len(names) > 2:
        return _components(_prepare_features(model, raw))
    points = _numbers(raw)
    if len(names) == 1:
        clusters = clusters or FoundClusters.of(unwrap(model), groupings)
        return Projection(
            np.column_stack([points, clusters.codes]), (names[0], clusters.noun), rows=tuple(clusters.shown)
        )
    return Projection(points, (names[0], names[1]), _log_odds(model, raw))


def _components(seen: Float[np.ndarray, "items features"]) -> Projection:
    components = PCA(min(2, seen.shape[1]), random_state=0).fit(seen)
    shares = np.append(components.explained_variance_ratio_, 0.0)
    points = np.zeros((len(seen), 2))
    points[:, : components.n_components_] = components.transform(seen)
    return Projection(points, (f"component 1 ({shares[0]:.0%} of the variance)", f"component 2 ({shares[1]:.0%})"))


def _prepare_features(model: Any, raw: pd.DataFrame) -> Float[np.ndarray, "items features"]:
    """Return features as the estimator at the end of a pipeline gets them."""
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        return np.asarray(model[:-1].transform(raw), dtype=float)
    return _numbers(raw)


def _numbers(raw: pd.DataFrame) -> Float[np.ndarray, "items features"]:
    """Return features as floats, all finite."""
    for name, column in zip(column_names(raw, "feature"), raw.items(), strict=True):
        numeric = pd.api.types.is_numeric_dtype(column[1].dtype)
        bad = ~np.isfinite(column[1].to_numpy(dtype=float)) if numeric else np.ones(len(raw), dtype=bool)
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"{name!r} of item {raw.index[row]!r} is {column[1].iloc[row]}. Expected a finite number to draw."
            )
    return raw.to_numpy(dtype=float)


def _log_odds(model: Any, raw: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray] | None:
    estimator = unwrap(model)
    if not Capabilities.of(estimator).has_boundaries:
        return None

    def log_odds(points: np.ndarray) -> np.ndarray:
        seen = _prepare_features(model, pd.DataFrame(points, columns=raw.columns))
        return seen @ estimator.coef_.T + estimator.intercept_

    return log_odds


def _by_annotations(groupings: Groupings) -> Projection:
    """Return principal components of the incidence; items left out of a grouping count as the mean of its groups.

    Items are close if the same annotators put them together. An item that nobody grouped is in the middle.
    """
    grouping = groupings.grouping_of_group
    n = len(grouping)
    member = csr_array((np.ones(n), grouping, np.arange(n + 1)), shape=(n, groupings.n_groupings))
    given = groupings.incidence @ member  # (items, groupings)
    size, total = groupings.incidence.sum(0), given.sum(0)
    share = np.divide(size, total[grouping], out=np.zeros(n), where=size > 0)
    centred = csr_array(groupings.incidence - (given @ csr_array(member.T)) * share)
    points = np.zeros((len(groupings), 2))
    if min(centred.shape) > 1 and centred.data.any():
        found = TruncatedSVD(2, random_state=0).fit_transform(centred)
        points[:, : found.shape[1]] = found
    return Projection(points, ("dimension 1 of the annotations", "dimension 2 of the annotations"))
