"""Ratings of the items on one or more scales, by item and by cluster, as in concept mapping.

People who sorted statements often rate each of them, too, on scales such as importance and feasibility (M. Kane & W. M.
K. Trochim 2007, Concept Mapping for Planning and Evaluation, Sage). A pattern match puts the clusters' means on two
scales side by side, with their correlation; a go-zone plot puts the items' means on two scales against each other,
divided by the mean of each: items above both are in the go-zone.

Decided here
------------
The mean of a cluster is the mean of its items' means, so that each item counts alike, however many rated it.

With m_i the mean of item i, n_i its ratings and C the rated items of a cluster, person p moves the mean by

    e_p = Σ_{i ∈ C rated by p} (x_ip - m_i) / (n_i |C|),    variance of the mean = P / (P - 1) Σ_p e_p²,

over the P people who rated any of them: the items are all that there are, the people a sample. If everybody rated
everything, this is the squared standard error of the people's own means. The 95 % interval is that of Student's t with
P - 1 degrees of freedom. If only means of the items are given, it is that of a mean of |C| items. The difference of two
clusters is that of their means, and moved by e_p of the one less e_p of the other: those who rate everything high move
both. Its interval is not that which those of the means suggest, and unknown if only means of the items are given.

The lines of the go-zone are the means over all rated items, not those of a cluster. An item on a line is not above it.
Other raters would have other means, and other lines: in each of 500 draws of as many raters, with replacement and a
fixed seed, the items above both are counted.

The 95 % interval of a correlation is Fisher's, tanh(atanh r ± 1.96 / √(n - 3)), of n clusters or items as a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.stats import norm
from scipy.stats import t as student

from consilience.analysis.certainty import contingency
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.findings import Findings
from consilience.analysis.fitted import unwrap
from consilience.annotations.names import plain
from consilience.errors import InputError

__all__ = ["ItemRatings", "item_ratings"]

ITEM, ANNOTATOR = "item", "annotator"
LEVEL = 0.95  # of the intervals
FEWEST = 3  # pairs of means that have a correlation
FEWEST_RATERS, N_DRAWS = 4, 500  # of draws of other raters
EXACT = 1 - 1e-12  # a correlation of 1 has no interval but itself
RESERVED = ("id", "cluster", "name", "above", "bridging", "in_go_zone")  # columns of the tables beside the scales


@dataclass(frozen=True)
class ItemRatings:
    """Ratings of items on one or more scales; see `item_ratings`.

    Attributes
    ----------
    items : DataFrame, indexed by item
        ``cluster``, and for each scale its mean, under its name; for ratings by people also ``<scale>_n``, the number
        of ratings, and ``<scale>_se``, the standard error of the mean. NaN where nobody rated the item. With two
        scales also ``above``: of which of the first two the item is above the mean; and, of four raters or more,
        ``in_go_zone``, the share of draws of other raters in which it is above the mean of both.
    means : DataFrame, indexed by cluster and scale
        ``n_items`` that were rated, ``n_annotators`` who did (0 if only means are known), ``mean``, and ``low`` and
        ``high``, the ends of its 95 % interval.
    scales : tuple of str
        Their names; the first two are compared.
    clusters : FoundClusters
        The clusters of the items.
    given : DataFrame, indexed by scale
        ``n_annotators`` who rated (0 if only means are known), the ``lowest`` and ``highest`` rating, and of how many
        ratings of all items by them (``n_ratings``) how many are not given (``n_missing``).
    differences : DataFrame
        For each ``scale``, every two clusters, from the highest mean to the lowest: ``higher``, ``lower``, the
        ``difference`` of their means, and ``low`` and ``high``, the ends of its 95 % interval over those who rated.
    """

    items: pd.DataFrame
    means: pd.DataFrame
    scales: tuple[str, ...]
    clusters: FoundClusters
    given: pd.DataFrame
    differences: pd.DataFrame

    @property
    def compared(self) -> tuple[str, str] | None:
        """The two scales that are compared; None if there is only one."""
        return (self.scales[0], self.scales[1]) if len(self.scales) > 1 else None

    @property
    def overall(self) -> pd.Series:
        """The mean over all rated items on each scale."""
        return self.items[list(self.scales)].mean()

    @property
    def pattern(self) -> pd.DataFrame:
        """The means of the clusters, a column for each scale."""
        return pd.DataFrame({scale: self.means["mean"].xs(scale, level="scale") for scale in self.scales})

    @property
    def r_clusters(self) -> float:
        """Pearson's correlation of the clusters' means on the two scales; NaN of fewer than three clusters."""
        return _correlation(self.pattern)

    @property
    def r_items(self) -> float:
        """Pearson's correlation of the items' means on the two scales; NaN of fewer than three items."""
        return _correlation(self.items[list(self.scales)])

    @property
    def r_clusters_interval(self) -> tuple[float, float]:
        """The 95 % interval of `r_clusters`; NaN of fewer than four clusters."""
        return _interval(self.pattern)

    @property
    def r_items_interval(self) -> tuple[float, float]:
        """The 95 % interval of `r_items`; NaN of fewer than four items."""
        return _interval(self.items[list(self.scales)])

    @property
    def go_zone(self) -> pd.Index:
        """The items above the mean of both scales; none if there is only one scale."""
        if self.compared is None:
            return self.items.index[:0]
        return self.items.index[self.items["above"] == say_above(self.compared)]

    @property
    def surest_of_go_zone(self) -> pd.Index:
        """The items of the go-zone, by the share of draws in which they are in it, if it is known.

        Else, and of the same share, by the lesser of their two distances from its lines, in standard deviations.
        """
        zone = self.items.loc[self.go_zone]
        means = self.items[list(self.scales[:2])]
        height = ((means - means.mean()) / means.std()).min(axis=1)[self.go_zone]
        share = zone["in_go_zone"] if "in_go_zone" in zone else 0 * height
        return zone.index[np.lexsort((-height, -share))]

    def ends_in_draws(self, draws: Int[np.ndarray, "draws items"]) -> pd.DataFrame:
        """Return the share of draws of other sorters in which each cluster is ``highest`` and ``lowest`` on each scale.

        The ratings are the same, and a cluster has the mean of the one of the draw that has most of its items: those
        that are joined both have its place.
        """
        kept, n = (self.clusters.codes >= 0) & (draws >= 0).all(0), len(self.clusters.index)
        means, own = self.items.loc[kept, list(self.scales)].reset_index(drop=True), self.clusters.codes[kept]
        first, last = np.zeros((2, n, len(self.scales)))
        for draw in draws[:, kept]:
            held = contingency(draw, own, n)
            found = means.groupby(draw).mean().reindex(range(len(held))).to_numpy()[held.argmax(0)]
            first += found >= np.nanmax(found, axis=0)
            last += found <= np.nanmin(found, axis=0)
        shares = {"highest": first, "lowest": last}
        index = pd.MultiIndex.from_product([self.clusters.index, self.scales], names=["cluster", "scale"])
        return pd.DataFrame({end: count.ravel() / len(draws) for end, count in shares.items()}, index)


def item_ratings(model: Any, ratings: pd.DataFrame, *, scales: Sequence[str] | None = None) -> ItemRatings:
    """Return the mean ratings of items and clusters, and compare two scales.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings
        A model of clusters.
    ratings : DataFrame
        A column ``item``, or the items as its index; a column for each scale; and a column ``annotator`` if a row is
        one person's ratings of an item. Without it, a row has the means of an item. NaN where a rating is missing.
        Those who rated need not have sorted.
    scales : sequence of str, optional
        Names of the columns to use, the two to be compared first. By default all columns of numbers, in their order.

    Returns
    -------
    ItemRatings

    Raises
    ------
    InputError
        The model finds classes; there is no column of numbers, or not the one named; a rating is infinite; an item is
        not of the model, or is rated twice by a person; or no item is rated.
    sklearn.exceptions.NotFittedError
        The model was not fitted.

    References
    ----------
    Kane & Trochim (2007). Concept Mapping for Planning and Evaluation. Sage.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import item_ratings
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]]] * 3)
    >>> rows = [["ant", 1, 2], ["bee", 2, 5], ["cow", 4, 3], ["pig", 5, 4]]
    >>> table = pd.DataFrame(rows, columns=["item", "useful", "cheap"])
    >>> rated = item_ratings(SubsetFusion(random_state=0).fit(sorts), table)
    >>> rated.go_zone.tolist(), round(rated.r_items, 2)
    (['pig'], 0.28)
    """
    clusters = model.clusters if isinstance(model, Findings) else FoundClusters.of(unwrap(model))
    items = unwrap(model.model if isinstance(model, Findings) else model).items_
    if clusters.is_named:
        raise InputError("Ratings are compared by cluster, and the model finds classes; fit groupings instead.")
    table = _check_ratings(ratings, items, scales)
    used = [str(name) for name in table if name != ANNOTATOR]
    of_items = [_of_items(table, scale, items) for scale in used]
    means = [_of_clusters(table, scale, items, clusters) for scale in used]
    frame = pd.concat([pd.Series(clusters.names_of(clusters.codes), items, name="cluster"), *of_items], axis=1)
    if len(used) > 1:
        above = [(frame[scale] > frame[scale].mean()).to_numpy() for scale in used[:2]]
        both = zip(*above, strict=True)
        frame["above"] = [say_above([s for s, over in zip(used, each) if over]) for each in both]
    if len(used) > 1 and ANNOTATOR in table and table[ANNOTATOR].nunique() >= FEWEST_RATERS:
        frame["in_go_zone"] = _shares_of_draws(table, used[:2], items)
    given = pd.DataFrame([_describe_ratings(table, scale, len(items)) for scale in used], pd.Index(used, name="scale"))
    apart = [_differences(table, scale, items, clusters, of_scale["mean"]) for scale, of_scale in zip(used, means)]
    frame = frame.rename_axis("item")
    return ItemRatings(frame, pd.concat(means).sort_index(), tuple(used), clusters, given, pd.concat(apart))


def say_above(scales: Sequence[str]) -> str:
    """Write of which scales an item is above the mean, as in the column ``above``."""
    return " and ".join(scales)


def _check_ratings(ratings: Any, items: pd.Index, scales: Sequence[str] | None) -> pd.DataFrame:
    """Return the ratings indexed by item, with the columns to use."""
    if not isinstance(ratings, pd.DataFrame):
        raise InputError(f"The ratings must be a DataFrame. Got {type(ratings).__name__} instead.")
    table = ratings.set_index(ITEM) if ITEM in ratings else ratings
    numeric = [name for name in table if name != ANNOTATOR and pd.api.types.is_numeric_dtype(table[name])]
    used = numeric if scales is None else list(scales)
    if not used or not set(used) <= set(numeric):
        wanted = "a column of numbers" if not used else f"columns of numbers called {', '.join(map(repr, used))}"
        raise InputError(f"The ratings must have {wanted}. Found {', '.join(map(repr, map(str, table.columns)))}.")
    taken = [name for name in used if name in RESERVED]
    if taken:
        raise InputError(f"A scale of the ratings is called {taken[0]!r}, as is a column of the result; rename it.")
    table = table[[*([ANNOTATOR] if ANNOTATOR in table else []), *used]].rename(columns=str)
    unknown = table.index[~table.index.isin(items)]
    if len(unknown):
        raise InputError(f"The item {plain(unknown[0])!r} of the ratings is not one of the model.")
    again = table.reset_index(names=ITEM).duplicated([ITEM, *([ANNOTATOR] if ANNOTATOR in table else [])]).to_numpy()
    if again.any():
        row = int(np.argmax(again))
        who = f" by {plain(table[ANNOTATOR].iloc[row])!r}" if ANNOTATOR in table else ""
        raise InputError(f"The item {plain(table.index[row])!r} is rated twice{who}, again in row {row}.")
    for name in map(str, used):
        values = table[name].to_numpy(float, na_value=np.nan)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise InputError(f"The rating {name!r} of the item {plain(table.index[row])!r} in row {row} is infinite.")
        if np.isnan(values).all():
            raise InputError(f"No item has a rating on the scale {name!r}.")
    return table.astype(dict.fromkeys(map(str, used), float))


def _shares_of_draws(table: pd.DataFrame, scales: Sequence[str], items: pd.Index) -> Float[np.ndarray, " items"]:
    """Return the share of draws of as many raters in which each item is above the mean of two scales."""
    rater, names = pd.factorize(table[ANNOTATOR])
    n_raters = len(names)
    times = np.random.default_rng(0).multinomial(n_raters, np.full(n_raters, 1 / n_raters), size=N_DRAWS)
    inside = np.ones((N_DRAWS, len(items)), dtype=bool)
    for scale in scales:
        given = np.full((n_raters, len(items)), np.nan)
        given[rater, items.get_indexer(table.index)] = table[scale].to_numpy()
        total, of = times @ np.nan_to_num(given), times @ np.isfinite(given)
        means = np.divide(total, of, out=np.full(total.shape, np.nan), where=of > 0)
        inside &= means > np.nanmean(means, axis=1, keepdims=True)
    return inside.mean(0)


def _describe_ratings(table: pd.DataFrame, scale: str, n_items: int) -> dict[str, Any]:
    """Count who rated on a scale, and return the ends of what they gave, and how many of how many they did not."""
    rated = table[table[scale].notna()]
    n_people = rated[ANNOTATOR].nunique() if ANNOTATOR in table else 0
    n_ratings = n_items * max(n_people, 1)
    ends = {"lowest": rated[scale].min(), "highest": rated[scale].max()}
    return {"n_annotators": n_people, **ends, "n_ratings": n_ratings, "n_missing": n_ratings - len(rated)}


def _of_items(table: pd.DataFrame, scale: str, items: pd.Index) -> pd.DataFrame:
    """Return the mean of each item, and its number of ratings and standard error if people rated."""
    by_item = table[scale].groupby(level=0)
    found = {scale: by_item.mean()}
    if ANNOTATOR in table:
        found |= {f"{scale}_n": by_item.count(), f"{scale}_se": by_item.sem()}
    frame = pd.DataFrame(found).reindex(items)
    return frame.fillna({f"{scale}_n": 0}).astype({f"{scale}_n": int}) if ANNOTATOR in table else frame


def _of_clusters(table: pd.DataFrame, scale: str, items: pd.Index, clusters: FoundClusters) -> pd.DataFrame:
    """Return the mean of each cluster on a scale, with its interval."""
    rows = []
    for code, name in enumerate(clusters.index):
        mine = table[table.index.isin(items[clusters.codes == code]) & table[scale].notna()]
        means = mine[scale].groupby(level=0).mean()
        error, degrees = _error_over_people(mine, scale) if ANNOTATOR in table else _error_over_items(means)
        half = student.ppf((1 + LEVEL) / 2, degrees) * error if degrees > 0 else np.nan
        mean = float(means.mean()) if len(means) else np.nan
        n_people = mine[ANNOTATOR].nunique() if ANNOTATOR in table else 0
        rows.append((name, scale, len(means), n_people, mean, mean - half, mean + half))
    head = ["cluster", "scale", "n_items", "n_annotators", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=head).set_index(["cluster", "scale"])


def _differences(
    table: pd.DataFrame, scale: str, items: pd.Index, clusters: FoundClusters, means: pd.Series
) -> pd.DataFrame:
    """Return the differences of every two clusters on a scale, with their intervals."""
    rated = table[table[scale].notna()]
    moved = {}
    for code, name in enumerate(clusters.index):
        mine = rated[rated.index.isin(items[clusters.codes == code])]
        moved[name] = _moved_by(mine, scale) if ANNOTATOR in table and len(mine) else pd.Series(dtype=float)
    order = means.droplevel("scale").dropna().sort_values(ascending=False, kind="stable")
    rows = []
    for (higher, first), (lower, second) in combinations(order.items(), 2):
        error, degrees = _error(moved[higher].sub(moved[lower], fill_value=0.0).to_numpy())
        half = student.ppf((1 + LEVEL) / 2, degrees) * error if degrees > 0 else np.nan
        rows.append((scale, higher, lower, first - second, first - second - half, first - second + half))
    return pd.DataFrame(rows, columns=["scale", "higher", "lower", "difference", "low", "high"])


def _error_over_people(mine: pd.DataFrame, scale: str) -> tuple[float, int]:
    """Return the standard error of a cluster's mean over people, and the degrees of freedom; see above."""
    return _error(_moved_by(mine, scale).to_numpy())


def _moved_by(mine: pd.DataFrame, scale: str) -> pd.Series:
    """Return by how much each person moves a cluster's mean."""
    by_item = mine[scale].groupby(level=0)
    share = (mine[scale] - by_item.transform("mean")) / by_item.transform("size")
    return share.groupby(mine[ANNOTATOR].to_numpy()).sum() / mine.index.nunique()


def _error(moved: Float[np.ndarray, " people"]) -> tuple[float, int]:
    """Return the standard error of what people move, and the degrees of freedom."""
    n_people = len(moved)
    if n_people < 2:
        return np.nan, 0
    return float(np.sqrt(n_people / (n_people - 1) * (moved**2).sum())), n_people - 1


def _error_over_items(means: pd.Series) -> tuple[float, int]:
    return float(np.asarray(means.sem())), len(means) - 1


def _correlation(means: pd.DataFrame) -> float:
    """Pearson's correlation of the first two columns; NaN of fewer than three rows, and if one does not vary."""
    if means.shape[1] < 2:
        return np.nan
    pairs = means.iloc[:, :2].dropna().to_numpy()
    if len(pairs) < FEWEST or (np.ptp(pairs, axis=0) <= 1e-12 * np.abs(pairs).max()).any():
        return np.nan
    return float(np.corrcoef(pairs.T)[0, 1])


def _interval(means: pd.DataFrame) -> tuple[float, float]:
    """Fisher's interval of the correlation of the first two columns; NaN of fewer than four rows."""
    r, n = _correlation(means), len(means.iloc[:, :2].dropna())
    if not np.isfinite(r) or n <= FEWEST:
        return np.nan, np.nan
    middle, half = np.arctanh(np.clip(r, -EXACT, EXACT)), norm.ppf((1 + LEVEL) / 2) / np.sqrt(n - FEWEST)
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))
