"""The compromise map of DISTATIS, and where each annotator would place the items on it: partial scores.

H. Abdi, D. Valentin, S. Chollet & C. Chrea (2007), Analyzing assessors and products in sorting tasks: DISTATIS, theory
and applications, Food Quality and Preference 18(4). For places on a sheet, J. Pagès (2005), Collection and analysis of
perceived product inter-distances using multiple factor analysis, Food Quality and Preference 16(7); for sheets on which
groups are marked, M. Cadoret, S. Lê & J. Pagès (2009), A factorial approach for sorting task data (FAST), ibid. 20(6).

    S_a   centred co-occurrence of the items in the groupings of annotator a, divided by its first eigenvalue
    w     first eigenvector of the RV coefficients of the S_a, scaled to sum 1
    S     Σ_a w_a S_a = V Λ Vᵀ
    F     V Λ^(1/2): the compromise,    F_a = S_a V Λ^(-1/2): the partial scores,    Σ_a w_a F_a = F
    RV_a  tr(S_a S) / sqrt(tr(S_a²) tr(S²)): how similar annotator a is to the compromise

Decided here
------------
With coordinates X_a of the items on a sheet, Ξ X_a X_aᵀ Ξ divided by its first eigenvalue stands beside the S_a of the
groups: both count alike, as in multiple factor analysis, and their sum is again divided by its first eigenvalue. The
unit of the sheet has no influence, and its two axes keep their proportions.

The sum over several groupings of an annotator, as over the levels of a hierarchical sort, puts two items the closer,
the more levels hold both in one group.

Annotators who did not sort, or place, all items have no S_a of all items, and are left out. One who put all items
together says nothing; the weight is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.linalg import eigh

from consilience.analysis.one_panel import mean_rv
from consilience.analysis.projection import HARDLY_SHOWN, squared_cosines
from consilience.analysis.rv import NEGLIGIBLE, ScalarProducts, scalar_products
from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import plain
from consilience.errors import InputError

__all__ = ["CompromiseMap", "compromise_map"]

ITEM, ANNOTATOR = "item", "annotator"
FEWEST_ITEMS, FEWEST_ANNOTATORS = 3, 2

Products = Float[np.ndarray, "annotators items items"]


@dataclass(frozen=True)
class PanelTables:
    """Scalar products of the items by each annotator who sorted and placed all, divided by their first eigenvalue.

    items, annotators, left_out : names of the items, of these annotators and of the others.
    groups, sheets : products of the groups and of the places on sheets; None if they are not given.
    """

    items: pd.Index
    annotators: pd.Index
    left_out: pd.Index
    groups: Products | None
    sheets: Products | None

    @cached_property
    def products(self) -> Products:
        """The sum of both, again divided by its first eigenvalue."""
        return _scale(np.sum([each for each in (self.groups, self.sheets) if each is not None], axis=0))

    @cached_property
    def weighed(self) -> ScalarProducts:
        """Their RV coefficients and weights."""
        return weigh(self.products)


@dataclass(frozen=True)
class CompromiseMap:
    """The compromise of a panel, and the partial scores of its annotators; see `compromise_map`.

    Attributes
    ----------
    scores : DataFrame, shape (n_items, n_axes)
        Places of the items in the compromise, in columns ``dimension_1`` and so on.
    partial : DataFrame, indexed by item and annotator
        Places of the items according to each annotator, in the same columns. Their mean over the annotators, weighed by
        `weights`, is `scores`.
    weights : Series, indexed by annotator
        Part of each annotator in the compromise; they sum to 1.
    shares : Series
        Share of the variance of the compromise that each dimension shows.
    cos2 : DataFrame, as `scores`
        Share of an item's squared distance from the centre that each dimension shows; summed over the two of a map, it
        is low for items that lie near others there without being like them. NaN for items in the centre.
    rv : Series, indexed by annotator
        RV coefficient of each annotator with the compromise; NaN for annotators who put all items together.
    mean_rv : float
        Mean RV coefficient of two annotators; 0 if none is known.
    left_out : Index
        Annotators who did not sort, or place, all items.
    """

    scores: pd.DataFrame
    partial: pd.DataFrame
    weights: pd.Series
    shares: pd.Series
    cos2: pd.DataFrame
    rv: pd.Series
    mean_rv: float
    left_out: pd.Index

    def hardly_shown(self, axes: tuple[int, int] = (1, 2)) -> pd.Series:
        """Return whether a map of two dimensions hardly shows each item (cos² below 0.2)."""
        return self.cos2.iloc[:, [axis - 1 for axis in axes]].sum(axis=1, skipna=False) < HARDLY_SHOWN

    def run_like(self, points: pd.DataFrame) -> CompromiseMap:
        """Flip dimensions so that each runs as the axis of the same number of another map of the items.

        points : coordinates by item, in the order of the axes.
        """
        n = min(points.shape[1], self.scores.shape[1])
        along = (self.scores.loc[points.index].to_numpy()[:, :n] * points.to_numpy()[:, :n]).sum(0)
        signs = np.append(np.where(along < 0, -1.0, 1.0), np.ones(self.scores.shape[1] - n))
        return replace(self, scores=self.scores * signs, partial=self.partial * signs)


def compromise_map(groupings: Any = None, coordinates: pd.DataFrame | None = None, *, n_axes: int = 3) -> CompromiseMap:
    """Return the compromise map of DISTATIS, with the partial scores of the annotators.

    Parameters
    ----------
    groupings : Groupings, or array of shape (n_items, n_annotators), optional
        Free sorts. Several groupings of an annotator, such as the levels of a hierarchical sort, count together.
    coordinates : DataFrame, optional
        Places of the items on the sheet of each annotator (napping): a row for each item and annotator, with columns
        ``item`` and ``annotator``; all other columns are coordinates, in one unit. With groupings, of the same items
        and annotators: both count alike. Without, alone.
    n_axes : int, default=3
        Number of dimensions; those beyond the rank of the compromise are 0.

    Returns
    -------
    CompromiseMap

    Raises
    ------
    InputError
        Neither is given; the annotations are Pairs; there are fewer than 3 items, or fewer than 2 annotators who sorted
        and placed all of them; a coordinate is missing, infinite, or no number; an item or annotator of the coordinates
        is not in the groupings; or an item is placed twice.

    References
    ----------
    Abdi, Valentin, Chollet & Chrea (2007). Analyzing assessors and products in sorting tasks: DISTATIS, theory and
    applications. Food Quality and Preference 18.

    Examples
    --------
    >>> from consilience.inspection import compromise_map
    >>> found = compromise_map([["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]])
    >>> found.scores.round(2).iloc[:, 0].tolist()
    [0.5, 0.5, -0.5, -0.5]
    >>> found.weights.round(2).tolist()
    [0.5, 0.5, 0.0]
    """
    return map_tables(panel_tables(groupings, coordinates), n_axes)


def panel_tables(groupings: Any = None, coordinates: pd.DataFrame | None = None) -> PanelTables:
    """Return the tables that `compromise_map` weighs, of the same arguments."""
    if groupings is None and coordinates is None:
        raise InputError("compromise_map needs groupings, coordinates, or both. Got neither.")
    tables: list[tuple[pd.Index, pd.Index, Products, np.ndarray]] = []
    if groupings is not None:
        tables.append(_products_of_sorts(as_groupings(groupings, None, "compromise_map")))
    if coordinates is not None:
        of = (None, None) if not tables else tables[0][:2]
        tables.append(_products_of_places(coordinates, *of))
    items, annotators = tables[0][:2]
    whole = np.logical_and.reduce([complete for *_, complete in tables])
    if len(items) < FEWEST_ITEMS or whole.sum() < FEWEST_ANNOTATORS:
        raise InputError(
            f"A compromise map needs at least {FEWEST_ITEMS} items, and {FEWEST_ANNOTATORS} annotators with all of "
            f"them. Got {len(items)} items and {int(whole.sum())} such annotators."
        )
    scaled = [_scale(products[whole]) for _, _, products, _ in tables]
    return PanelTables(
        items,
        annotators[whole],
        annotators[~whole],
        groups=None if groupings is None else scaled[0],
        sheets=None if coordinates is None else scaled[-1],
    )


def _products_of_sorts(groupings: Groupings) -> tuple[pd.Index, pd.Index, Products, np.ndarray]:
    """Return items, annotators, their scalar products, and who sorted all items."""
    groupings, found = scalar_products(groupings, "compromise_map")
    return groupings.items, groupings.annotators, found.products, np.asarray(found.seen.all(1))


def _products_of_places(
    coordinates: pd.DataFrame, items: pd.Index | None, annotators: pd.Index | None
) -> tuple[pd.Index, pd.Index, Products, np.ndarray]:
    """Return items, annotators, the scalar products of their places, and who placed all items."""
    axes = _axes_of(coordinates)
    items = pd.Index(coordinates[ITEM].unique()) if items is None else items
    annotators = pd.Index(coordinates[ANNOTATOR].unique()) if annotators is None else annotators
    item, who = items.get_indexer(pd.Index(coordinates[ITEM])), annotators.get_indexer(pd.Index(coordinates[ANNOTATOR]))
    for name, found in ((ITEM, item), (ANNOTATOR, who)):
        if (found < 0).any():
            unknown = coordinates[name].iloc[int(np.argmax(found < 0))]
            raise InputError(f"The coordinates have the {name} {plain(unknown)!r}, which the groupings lack.")
    places = np.full((len(annotators), len(items), len(axes)), np.nan)
    places[who, item] = coordinates[axes].to_numpy(dtype=float)
    complete = np.isfinite(places).all((1, 2))
    centred = np.nan_to_num(places) - np.nan_to_num(places).mean(1, keepdims=True)
    return items, annotators, centred @ centred.transpose(0, 2, 1), complete


def _axes_of(coordinates: pd.DataFrame) -> Sequence[Any]:
    """Return the columns of coordinates.

    Raises InputError: a column is missing or holds something else than finite numbers, or an item is placed twice.
    """
    axes = [name for name in coordinates.columns if name not in (ITEM, ANNOTATOR)]
    if len(axes) + 2 != coordinates.shape[1] or not axes:
        shown = ", ".join(map(str, coordinates.columns))
        raise InputError(f"The coordinates need the columns item and annotator, and others of numbers. Got {shown}.")
    for name in axes:
        column = coordinates[name]
        if not pd.api.types.is_numeric_dtype(column) or not np.isfinite(column.to_numpy(dtype=float)).all():
            raise InputError(f"The column {name!r} of the coordinates must hold finite numbers in all rows.")
    again = coordinates.duplicated([ITEM, ANNOTATOR]).to_numpy()
    if again.any():
        first = coordinates.iloc[int(np.argmax(again))]
        raise InputError(f"The annotator {plain(first[ANNOTATOR])!r} placed the item {plain(first[ITEM])!r} twice.")
    return axes


def _scale(products: Products) -> Products:
    """Divide each annotator's products by their first eigenvalue; those that say nothing stay 0."""
    largest = np.linalg.eigvalsh(products)[:, -1]
    factor = np.divide(1.0, largest, out=np.zeros(len(largest)), where=largest > NEGLIGIBLE)
    return np.asarray(products * factor[:, None, None])


def map_tables(panel: PanelTables, n_axes: int = 3) -> CompromiseMap:
    """Weigh the tables, and return the compromise and the partial scores on its axes."""
    products, items, tables = panel.products, panel.items, panel.weighed
    weights = tables.weights
    compromise = np.tensordot(weights, products, 1)
    values, vectors = eigh(compromise)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    upright = np.where(vectors[np.abs(vectors).round(9).argmax(0), np.arange(len(values))] < 0, -1.0, 1.0)
    used = min(n_axes, int((values > NEGLIGIBLE).sum()))
    axes, scale = (vectors * upright)[:, :used], np.sqrt(values[:used])
    names = [f"dimension_{axis + 1}" for axis in range(n_axes)]
    scores, partial = np.zeros((len(items), n_axes)), np.zeros((*products.shape[:2], n_axes))
    scores[:, :used], partial[..., :used] = axes * scale, products @ axes / scale
    shares = np.zeros(n_axes)
    shares[:used] = values[:used] / max(values.sum(), NEGLIGIBLE)
    index = pd.MultiIndex.from_product([items, panel.annotators], names=[ITEM, ANNOTATOR])
    return CompromiseMap(
        pd.DataFrame(scores, items.rename(ITEM), names),
        pd.DataFrame(partial.transpose(1, 0, 2).reshape(-1, n_axes), index, names),
        pd.Series(weights, panel.annotators.rename(ANNOTATOR), name="weight"),
        pd.Series(shares, names, name="share"),
        pd.DataFrame(squared_cosines(scores, vectors**2 @ values), items.rename(ITEM), names),
        pd.Series(tables.with_matrix(compromise), panel.annotators.rename(ANNOTATOR), name="rv"),
        mean_rv(tables),
        panel.left_out,
    )


def weigh(products: Products) -> ScalarProducts:
    """Return the RV coefficients and weights of tables of all items."""
    return ScalarProducts(products, np.ones(products.shape[:2], dtype=bool))
