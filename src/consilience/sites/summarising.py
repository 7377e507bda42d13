"""Summarise a site's own table: cluster it there, and keep only which items belong together.

A group with few items could single somebody out; small groups therefore join the nearest one. With noise, each item
keeps its group with probability exp(ε) / (exp(ε) + k - 1), else it has one of the k - 1 others with equal probability:
randomised response, after S. Warner (1965), Randomized response, JASA 60, for k groups as in P. Kairouz, K. Bonawitz &
D. Ramage (2016), Discrete distribution estimation under local privacy, ICML.

Decided here
------------
By default a site sends two groupings: one with the number of groups that has the largest silhouette, and a finer one
of √(n / 2) groups. Sites with different features see different distinctions, and what a coarse grouping leaves together
cannot be told apart later. With noise it sends the first alone, since two groupings have half of ε each.

Noise comes after small groups have joined others, so that a group may be smaller by noise; who is in it is then mostly
chance.
"""

from __future__ import annotations

import hmac
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from consilience.annotations.types import RandomSource, Real
from consilience.errors import InputError
from consilience.inference.randomness import spawn_generator
from consilience.sites.summary import NO_GROUP, SiteSummary, checked_epsilon, checked_site

MOST_GROUPS = 15  # by silhouette
SAMPLE = 2000  # items of which a silhouette is computed
STARTS = 10
SHORTEST_KEY = 16  # bytes


def summarise_site(
    X: Any,
    *,
    site: str,
    n_groups: Any = "auto",
    clusterer: Any = None,
    only: Sequence[Any] | None = None,
    min_group_size: int = 5,
    epsilon: Real | None = None,
    key: bytes | None = None,
    random_state: RandomSource = None,
) -> SiteSummary:
    """Cluster the table of a site where it is, and keep only which items belong together.

    Parameters
    ----------
    X : DataFrame of numbers, shape (n_items, n_features)
        The index holds the names of the items, by which sites find what they share. Columns are scaled to variance 1.
    site : str
        Name of the site.
    n_groups : "auto", int or list of int, default="auto"
        Number of groups; several make as many groupings. "auto" makes one grouping whose number has the largest
        silhouette and, without `epsilon`, a finer one of √(n_items / 2) groups.
    clusterer : scikit-learn clusterer, optional
        In place of k-means and `n_groups`. Items with the label -1 are in no group.
    only : list of names, optional
        Names no other items, such as those that all sites have agreed to share. All items are clustered.
    min_group_size : int, default=5
        Smaller groups of named items join the group with the nearest mean.
    epsilon : float, optional
        Add noise, so that for each item the groups sent are at most exp(epsilon) times as probable under one group as
        under another: local differential privacy of the groups as they were found. Several groupings share it. It
        covers neither which items are named nor how many groups there are, nor what the groups of other items tell;
        each further summary of the same items adds its own epsilon.
    key : bytes, optional
        A secret of at least 16 bytes that the sites share: names are replaced by their HMAC-SHA256.
    random_state : int, RandomState, Generator or None, default=None
        With an int, whoever knows it and the features could compute the noise: use None with `epsilon`.

    Returns
    -------
    SiteSummary

    Raises
    ------
    InputError
        The table holds something other than finite numbers, a name twice, or too few items; or an argument is invalid.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from consilience.sites import summarise_site
    >>> rng = np.random.default_rng(0)
    >>> ages = pd.DataFrame({"age": np.r_[rng.normal(30, 2, 20), rng.normal(70, 2, 20)]}, index=range(100, 140))
    >>> summary = summarise_site(ages, site="north", n_groups=2, random_state=0)
    >>> for sentence in summary.disclosures():
    ...     print(sentence)
    The name of the site, 'north'.
    The names of 40 items.
    Of each item its group, among 2 groups; the smallest has 20 items.
    No features, no distances, no centres.
    """
    site = checked_site(site)
    epsilon = None if epsilon is None else checked_epsilon(epsilon)
    names, values = _checked_table(X)
    named = _positions_of(names, only)
    _require_size(min_group_size, len(named))
    rng = spawn_generator(random_state)
    scaled = StandardScaler().fit_transform(values)
    found = _groupings(scaled, n_groups, clusterer, noisy=epsilon is not None, rng=rng)
    shown = np.column_stack([_without_small(one[named], scaled[named], min_group_size) for one in found])
    if epsilon is not None:
        # all groupings together disclose ε
        shown = np.column_stack([_noisy(one, epsilon / shown.shape[1], rng) for one in shown.T])
    texts = [names[place] if key is None else hash_name(names[place], key) for place in named]
    # the order of the site's table would tell something
    order = np.argsort(np.array(texts, dtype=object))
    return SiteSummary(
        site=site,
        items=tuple(texts[place] for place in order),
        groups=np.column_stack([_renumber(one) for one in shown[order].T]),
        hashed_names=key is not None,
        min_group_size=min_group_size,
        epsilon=epsilon,
    )


def hash_name(name: str, key: bytes) -> str:
    """Return the keyed hash of a name, in hexadecimal digits. Raises InputError: the key is too short.

    Examples
    --------
    >>> hash_name("patient 7", b"a secret of the sites")[:12]
    '0467f348d2cc'
    """
    if not isinstance(key, bytes) or len(key) < SHORTEST_KEY:
        raise InputError(f"The key must have at least {SHORTEST_KEY} bytes, or names could be found by trying keys.")
    return hmac.digest(key, name.encode(), "sha256").hex()


# ---- what is given


def _checked_table(X: Any) -> tuple[list[str], Float[np.ndarray, "items features"]]:
    if not isinstance(X, pd.DataFrame):
        raise InputError(f"X must be a DataFrame whose index names the items. Got {type(X).__name__}.")
    names = [str(name) for name in X.index]
    twice = pd.Index(names).duplicated()
    if twice.any():
        raise InputError(f"The item {names[int(twice.argmax())]!r} occurs twice in the index of X.")
    columns = []
    for name in X.columns:
        if not (pd.api.types.is_numeric_dtype(X[name].dtype) or pd.api.types.is_bool_dtype(X[name].dtype)):
            raise InputError(f"The column {name!r} of X holds something other than numbers; encode or drop it.")
        column = X[name].to_numpy(dtype=float, na_value=np.nan)
        wrong = ~np.isfinite(column)
        if wrong.any():
            raise InputError(
                f"The column {name!r} of X has no finite number for the item {names[int(wrong.argmax())]!r}; fill "
                "missing values, or leave the item out."
            )
        columns.append(column)
    if not columns:
        raise InputError("X has no columns.")
    return names, np.column_stack(columns)


def _positions_of(names: list[str], only: Sequence[Any] | None) -> Int[np.ndarray, " named"]:
    """Return the positions of the items that are named."""
    if only is None:
        return np.arange(len(names))
    if isinstance(only, str):
        raise InputError("'only' must be a list of names.")
    wanted = {str(name) for name in only}
    return np.array([place for place, name in enumerate(names) if name in wanted], dtype=np.intp)


def _require_size(least: Any, n_named: int) -> None:
    if type(least) is not int or least < 1:
        raise InputError(f"'min_group_size' must be a positive integer. Got {least!r}.")
    if n_named < max(2 * least, 2):
        raise InputError(
            f"{n_named:,} items are too few for two groups of at least {least:,}; a summary would disclose a group "
            "and tell nothing."
        )


# ---- groupings


def _groupings(
    points: Float[np.ndarray, "items features"], n_groups: Any, clusterer: Any, *, noisy: bool, rng: np.random.Generator
) -> list[Int[np.ndarray, " items"]]:
    if clusterer is not None:
        if not (isinstance(n_groups, str) and n_groups == "auto"):
            raise InputError("Give 'n_groups' or a 'clusterer', not both.")
        if not hasattr(clusterer, "fit_predict"):
            raise InputError(f"'clusterer' must have a method 'fit_predict'. Got {type(clusterer).__name__}.")
        found = np.asarray(clone(clusterer).fit_predict(points))
        if found.shape != (len(points),) or not np.issubdtype(found.dtype, np.integer) or found.max() < 0:
            raise InputError("The clusterer must give each item an integer, and some item one of at least 0.")
        return [found.astype(np.intp)]
    if isinstance(n_groups, str) and n_groups == "auto":
        coarse = _by_silhouette(points, rng)
        # √(n / 2) is a usual rule of thumb
        finer = min(max(round((len(points) / 2) ** 0.5), int(coarse.max()) + 2), len(points) - 1)
        return [coarse] if noisy else [coarse, _kmeans(points, finer, rng)]
    numbers = n_groups if isinstance(n_groups, list | tuple) else [n_groups]
    for number in numbers:
        if type(number) is not int or not 2 <= number < len(points):
            raise InputError(
                f"'n_groups' must be 'auto', or integers from 2 to {len(points) - 1:,}, below the number of items. "
                f"Got {n_groups!r}."
            )
    if not numbers:
        raise InputError("'n_groups' must not be an empty list.")
    return [_kmeans(points, number, rng) for number in numbers]


def _by_silhouette(points: Float[np.ndarray, "items features"], rng: np.random.Generator) -> Int[np.ndarray, " items"]:
    """Return the k-means clusters, of 2 to 15, with the largest silhouette."""
    some = rng.choice(len(points), min(len(points), SAMPLE), replace=False)
    best, score = np.zeros(len(points), dtype=np.intp), -np.inf
    for number in range(2, min(MOST_GROUPS, len(points) - 1) + 1):
        found = _kmeans(points, number, rng)
        if (
            1 < len(np.unique(found[some])) < len(some)
            and (here := silhouette_score(points[some], found[some])) > score
        ):
            best, score = found, here
    return best


def _kmeans(
    points: Float[np.ndarray, "items features"], number: int, rng: np.random.Generator
) -> Int[np.ndarray, " items"]:
    model = KMeans(number, n_init=STARTS, random_state=int(rng.integers(2**31 - 1)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return model.fit_predict(points).astype(np.intp)


def _without_small(
    group: Int[np.ndarray, " items"], points: Float[np.ndarray, "items features"], least: int
) -> Int[np.ndarray, " items"]:
    """Join the smallest group to the one with the nearest mean, until none has fewer than `least` items."""
    group = np.maximum(group, NO_GROUP)
    while True:
        numbers, sizes = np.unique(group[group != NO_GROUP], return_counts=True)
        if len(numbers) == 0:
            raise InputError("The clusterer put none of the items that are named into a group.")
        if sizes.min() >= least:
            return group
        if len(numbers) == 1:
            raise InputError(f"Only {sizes[0]:,} items are in a group, fewer than 'min_group_size'.")
        means = np.array([points[group == number].mean(0) for number in numbers])
        small = int(sizes.argmin())
        distance = ((means - means[small]) ** 2).sum(1)
        distance[small] = np.inf
        group = np.where(group == numbers[small], numbers[int(distance.argmin())], group)


def _noisy(group: Int[np.ndarray, " items"], epsilon: float, rng: np.random.Generator) -> Int[np.ndarray, " items"]:
    """Return groups after randomised response; having no group counts as a group."""
    numbers, code = np.unique(group, return_inverse=True)
    k = len(numbers)
    if k == 1:
        return group
    keeps = rng.random(len(group)) < np.exp(epsilon) / (np.exp(epsilon) + k - 1)  # randomised response
    other = (code + rng.integers(1, k, len(group))) % k
    return np.asarray(numbers[np.where(keeps, code, other)])


def _renumber(group: Int[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
    """Number groups in the order of the items, so that numbers tell nothing of the clusterer."""
    return pd.factorize(np.where(group == NO_GROUP, np.nan, group))[0].astype(np.intp)
