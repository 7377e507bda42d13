"""How alike the tables of a panel are, beside chance: sheets with groups, annotators with each other, and the axes.

By chance means that the items of each annotator's table change places at random, those of the sheet and of the groups
alike. Of two centred tables A and B of n items, the mean of RV over all such permutations is known
(F. Kazi-Aoual, S. Hitier, R. Sabatier & J.-D. Lebreton 1995, Computational Statistics & Data Analysis 20):

    E RV = tr A tr B / ((n - 1) ‖A‖ ‖B‖)

The axes of the compromise are compared with those of such tables, as the axes of the map are with those of random sorts
(`map_axes`): with weights of their own, and by their eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.analysis.axes import FEWEST_ITEMS, MOST_AXES, compare_variances
from consilience.analysis.compromise import PanelTables, Products, weigh
from consilience.analysis.one_panel import mean_rv
from consilience.analysis.panels import MOST_SIMULATED, N_SIMULATIONS
from consilience.analysis.rv import NEGLIGIBLE, ScalarProducts
from consilience.inference.threads import one_blas_thread

MOST_ANNOTATORS = 400  # for draws of at most seconds


@dataclass(frozen=True)
class PanelAgreement:
    """How alike the tables of a panel are; see `panel_agreement`.

    mean_rv : DataFrame, one row for each of ``groups``, ``sheets`` and ``both``, as far as they are given; the mean RV
        coefficient of two annotators, ``rv``, and its mean ``by_chance``.
    own : Series, indexed by annotator; RV coefficient of each annotator's sheet with the own groups; NaN for all
        without sheets and groups, and for annotators who put all items together.
    compromises : RV coefficient of the compromise of the sheets alone with that of the groups alone; NaN without both.
    """

    mean_rv: pd.DataFrame
    own: pd.Series
    compromises: float


def panel_agreement(panel: PanelTables) -> PanelAgreement:
    """Compare the tables of a panel: sheets with groups, and annotators with each other."""
    tables = {"groups": panel.groups, "sheets": panel.sheets}
    given = {name: products for name, products in tables.items() if products is not None}
    weighed = {name: weigh(products) for name, products in given.items()} if len(given) > 1 else {}
    shown = {**weighed, "both" if weighed else next(iter(given)): panel.weighed}
    rows = {name: (mean_rv(each), _mean_rv_by_chance(each.products)) for name, each in shown.items()}
    means = pd.DataFrame.from_dict(rows, orient="index", columns=["rv", "by_chance"])
    own, compromises = np.full(len(panel.annotators), np.nan), np.nan
    if weighed:
        own = _rv(*given.values())
        compromises = float(_rv(*(_compromise(each)[None] for each in weighed.values()))[0])
    return PanelAgreement(means, pd.Series(own, panel.annotators.rename("annotator")), compromises)


def compromise_axes(panel: PanelTables, *, seed: int = 0) -> pd.DataFrame | None:
    """Compare the axes of the compromise with those of tables whose items change places; see `map_axes`.

    None if there are too few items, or so many annotators and items that this would take long.
    """
    n_annotators, n_items = panel.products.shape[:2]
    if n_items < FEWEST_ITEMS or n_annotators > MOST_ANNOTATORS or n_annotators * n_items**2 > MOST_SIMULATED:
        return None
    rng = np.random.default_rng(seed)
    with one_blas_thread():
        found = _variances(panel.weighed)
        drawn = np.array([_variances(weigh(_change_places(panel.products, rng))) for _ in range(N_SIMULATIONS)])
    return compare_variances(found, drawn, min(MOST_AXES, n_items - 1))


def _change_places(products: Products, rng: np.random.Generator) -> Products:
    """Let the items of each table change places."""
    n_annotators, n_items = products.shape[:2]
    order = rng.permuted(np.tile(np.arange(n_items), (n_annotators, 1)), axis=1)
    return products[np.arange(n_annotators)[:, None, None], order[:, :, None], order[:, None, :]]


def _compromise(tables: ScalarProducts) -> Float[np.ndarray, "items items"]:
    return np.tensordot(tables.weights, tables.products, 1)


def _variances(tables: ScalarProducts) -> Float[np.ndarray, " items"]:
    """Eigenvalues of the compromise, the largest first."""
    return np.maximum(np.linalg.eigvalsh(_compromise(tables))[::-1], 0.0)


def _mean_rv_by_chance(products: Products) -> float:
    """Mean RV coefficient of two annotators over all permutations of the items of each; 0 if none is known."""
    length = np.sqrt((products**2).sum((1, 2)))
    heard = length > NEGLIGIBLE
    spread = np.trace(products[heard], axis1=1, axis2=2) / length[heard]
    n = len(spread)
    if n < 2:
        return 0.0
    return float((spread.sum() ** 2 - (spread**2).sum()) / (n * (n - 1) * (products.shape[1] - 1)))


def _rv(first: Products, second: Products) -> Float[np.ndarray, " annotators"]:
    """RV coefficient of each two tables; NaN where one says nothing."""
    scale = np.sqrt((first**2).sum((1, 2)) * (second**2).sum((1, 2)))
    common = (first * second).sum((1, 2))
    return np.divide(common, scale, out=np.full(len(scale), np.nan), where=scale > NEGLIGIBLE)
