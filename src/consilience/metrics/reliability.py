"""Agreement beyond chance of all annotators together, as reviewers ask for it, with intervals.

With v_uc the number of labels c of item u, n_u their sum, and all sums over items with two labels or more:

    Krippendorff's α = 1 − D_o / D_e    D_o = Σ_u Σ_ck v_uc v_uk δ_ck² / (n_u − 1),   D_e = Σ_ck n_c n_k δ_ck² / (n − 1)
    Fleiss' κ  = (P_o − P_e) / (1 − P_e)  P_o: mean over items of the share of equal labels among pairs of an item's
                                          labels;  P_e = Σ_c (n_c / n)²
    Cohen's κ  = the same of two annotators, with P_e = Σ_c p_1c p_2c of their own shares; of more, the mean of all
                 pairs of annotators, weighted by their numbers of common items

and δ_ck² = 1[c ≠ k] (nominal), (Σ_{g=c..k} n_g − (n_c + n_k) / 2)² (ordinal), or (c − k)² (interval).

Decided here
------------
Of groupings, "items" are pairs of items, and "labels" whether a grouping puts them together. Intervals are percentiles
of a bootstrap of items, and of groupings of the pairs of drawn items, without those of an item with itself. Each of
several labels of an item by one annotator counts. Fleiss' κ is generalised to items with different numbers of labels.

The split-half reliability of groupings is what the shares of the groupings that put two items together, over all pairs,
would correlate with those of as many other people: r of two random halves of the annotators is stepped up by the
formula of Spearman and Brown, 2 r / (1 + r), of the mean r over divisions.

References
----------
Krippendorff (2011). Computing Krippendorff's alpha-reliability. Fleiss (1971). Measuring nominal scale agreement among
many raters. Psychological Bulletin 76. Cohen (1960). A coefficient of agreement for nominal scales. Educational and
Psychological Measurement 20. Spearman (1910). Correlation calculated from faulty data. British Journal of Psychology 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy.sparse import csr_array

from consilience.annotations import Groupings, Labels
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.types import Integer, Literal, RandomSource
from consilience.errors import InputError
from consilience.inference.randomness import spawn_generator

INTERVAL = (5, 95)  # percentiles
ENTRIES = 1 << 20  # of weights and tables of draws in memory at a time
MOST_ITEMS = 5000  # of groupings: all pairs are compared
ONE_ANNOTATOR = "No item has labels of two annotators, so there is no agreement to measure."
NO_PAIR = "No two items are in two groupings together, so there is no agreement to measure."
FEW_HALVES = "Halves of fewer than four annotators are not compared."
CONSTANT = "Every two items are put together equally often, so that halves of the annotators have no correlation."
ALL_EQUAL = "All labels are equal, so that chance alone explains their agreement."

Weights = Float[np.ndarray, "draws items"]
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Reliability:
    """Agreement beyond chance: 1 if all agree, 0 for agreement by chance, below 0 for less.

    Attributes
    ----------
    value : float
        NaN if it is not defined; `note` says why.
    low, high : float
        Interval of 90 %, by a bootstrap of the items; of `split_half`, what 90 % of the divisions have.
    n_items : int
        Number of items with two labels or more; of groupings, that of pairs of items.
    note : str
        Why there is no value; else empty.
    """

    value: float
    low: float
    high: float
    n_items: int
    note: str = ""


def krippendorff_alpha(
    annotations: Any, *, level: Level = "nominal", n_draws: Integer = 500, random_state: RandomSource = 0
) -> Reliability:
    """Compute Krippendorff's alpha of labels, or of what groupings say of pairs of items.

    Parameters
    ----------
    annotations : Labels or Groupings
    level : {"nominal", "ordinal", "interval"}, default="nominal"
        How far two labels differ: at all, by ranks in the order of the classes, or by the difference of numbers.
    n_draws : int, default=500
        Of the bootstrap.
    random_state : int, RandomState, Generator or None, default=0
        An int makes the result reproducible.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        The annotations are neither, groupings have a level other than nominal or more than 5000 items, or classes that
        are not numbers an interval.

    Examples
    --------
    >>> from consilience import Labels
    >>> from consilience.metrics import krippendorff_alpha
    >>> labels = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"], ["b", "a", "b"]])
    >>> round(krippendorff_alpha(labels).value, 3)
    0.389
    """
    if isinstance(annotations, Groupings):
        if level != "nominal":
            raise InputError(f"Groupings put items together or apart: level must be 'nominal'. Got {level!r}.")
        return _of_pairs(annotations, _alpha_of_pairs, n_draws, random_state)
    labels = _labels(annotations, "krippendorff_alpha")
    if level not in ("nominal", "ordinal", "interval"):
        raise InputError(f"level must be 'nominal', 'ordinal' or 'interval'. Got {level!r}.")
    votes = _several(labels)
    place = np.arange(labels.n_classes, dtype=float)
    if level == "interval":
        if not pd.api.types.is_numeric_dtype(labels.classes):
            raise InputError(f"level='interval' needs classes that are numbers. Got {labels.classes[0]!r}.")
        place = labels.classes.to_numpy(float)
    coincidences = _coincidences(votes)

    def alpha(weights: Weights) -> Float[np.ndarray, " draws"]:
        totals = weights @ votes
        observed = np.asarray(weights @ coincidences).reshape(len(weights), *[labels.n_classes] * 2)
        n = totals.sum(1)
        differences = _differences(level, place, totals)
        within = (observed * differences).sum((1, 2))
        across = np.einsum("dc,dk,dck->d", totals, totals, differences)
        return 1 - (n - 1) * np.divide(within, across, out=np.full_like(n, np.nan), where=across > 0)

    return _with_interval(alpha, len(votes), n_draws, random_state, ONE_ANNOTATOR, 2 * labels.n_classes**2)


def fleiss_kappa(annotations: Any, *, n_draws: Integer = 500, random_state: RandomSource = 0) -> Reliability:
    """Fleiss' kappa of labels, or of what groupings say of pairs of items.

    Parameters
    ----------
    annotations : Labels or Groupings
    n_draws, random_state : as in `krippendorff_alpha`
        Of the bootstrap.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        The annotations are neither, or groupings have more than 5000 items.

    Examples
    --------
    >>> from consilience import Labels
    >>> from consilience.metrics import fleiss_kappa
    >>> labels = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"], ["b", "a", "b"]])
    >>> round(fleiss_kappa(labels).value, 3)
    0.333
    """
    if isinstance(annotations, Groupings):
        return _of_pairs(annotations, _kappa_of_pairs, n_draws, random_state)
    votes = _several(_labels(annotations, "fleiss_kappa"))
    n = votes.sum(1)
    equal = (votes * (votes - 1)).sum(1) / (n * (n - 1))

    def kappa(weights: Weights) -> Float[np.ndarray, " draws"]:
        return _beyond_chance(weights @ equal / weights.sum(1), _expect(weights @ votes))

    return _with_interval(kappa, len(votes), n_draws, random_state, ONE_ANNOTATOR)


def cohen_kappa(labels: Any, *, n_draws: Integer = 500, random_state: RandomSource = 0) -> Reliability:
    """Compute Cohen's kappa of two annotators; of more, the mean over all pairs, weighted by their common items.

    Of groupings, Cohen's kappa of pairs of items is the adjusted Rand index: see `mean_agreement`.

    Parameters
    ----------
    labels : Labels
        Of several labels of an item by one annotator, the first counts.
    n_draws, random_state : as in `krippendorff_alpha`
        Of the bootstrap.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        These are not labels.

    Examples
    --------
    >>> from consilience import Labels
    >>> from consilience.metrics import cohen_kappa
    >>> cohen_kappa(Labels.from_matrix([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]])).value
    0.5
    """
    given = _labels(labels, "cohen_kappa")
    said = np.full((len(given), given.n_annotators), -1)
    said[given.item[::-1], given.annotator[::-1]] = given.label[::-1]
    said = said[(said >= 0).sum(1) > 1]
    eye = np.eye(given.n_classes)

    def kappa(weights: Weights) -> Float[np.ndarray, " draws"]:
        total, n_common = np.zeros(len(weights)), np.zeros(len(weights))
        for one, other in combinations(said.T, 2):
            both = (one >= 0) & (other >= 0)
            w = weights[:, both]
            n = w.sum(1)
            shares = [w @ eye[labels[both]] / np.maximum(n, 1)[:, None] for labels in (one, other)]
            equal = w @ (one[both] == other[both]) / np.maximum(n, 1)
            found = _beyond_chance(equal, (shares[0] * shares[1]).sum(1))
            known = np.isfinite(found)
            total += np.where(known, n * found, 0.0)
            n_common += n * known
        return np.divide(total, n_common, out=np.full_like(total, np.nan), where=n_common > 0)

    return _with_interval(kappa, len(said), n_draws, random_state, ONE_ANNOTATOR)


def split_half(groupings: Any, *, n_divisions: Integer = 100, random_state: RandomSource = 0) -> Reliability:
    """Return what the shares that put items together would correlate with those of as many other annotators.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
        At most 5000 items.
    n_divisions : int, default=100
        How often the annotators are divided into random halves.
    random_state : None, int, Generator or RandomState, default=0
        Of the divisions.

    Returns
    -------
    Reliability
        `value` is 2 r / (1 + r) of the mean r over divisions. NaN of fewer than four annotators.

    Raises
    ------
    InputError
        Wrong annotations or parameters.

    References
    ----------
    Spearman (1910). Correlation calculated from faulty data. British Journal of Psychology 3.

    Examples
    --------
    >>> sorts = [["a", "x", "1", "b"], ["a", "x", "1", "b"], ["b", "y", "1", "c"], ["b", "y", "2", "c"]]
    >>> round(split_half(sorts).value, 2)
    0.81
    """
    given = as_groupings(groupings, None, "split_half")
    if given.n_items > MOST_ITEMS:
        raise InputError(f"All pairs of {given.n_items} items are too many: at most {MOST_ITEMS} items.")
    if given.n_annotators < 4:
        return Reliability(np.nan, np.nan, np.nan, 0, FEW_HALVES)
    rng, upper = spawn_generator(random_state), np.triu_indices(given.n_items, 1)
    in_group = given.incidence.astype(np.float32).tocsc()
    in_grouping = (in_group @ _groups_of_groupings(given).astype(np.float32)).tocsc()

    def counts(mine: Bool[np.ndarray, " annotators"]) -> list[np.ndarray]:
        """Return in how many groupings of these annotators each two items are together, and in how many at all."""
        both = ((in_group, mine[given.annotator_of_group]), (in_grouping, mine[given.annotator_of_grouping]))
        return [_products(sets[:, kept])[upper] for sets, kept in both]

    together, presented = counts(np.ones(given.n_annotators, dtype=bool))
    found, n_pairs = [], 0
    for _ in range(int(n_divisions)):
        first = counts(rng.permutation(given.n_annotators) < given.n_annotators // 2)
        second = [together - first[0], presented - first[1]]
        seen = (first[1] > 0) & (second[1] > 0)
        shares = [put[seen] / shown[seen] for put, shown in (first, second)]
        n_pairs = max(n_pairs, int(seen.sum()))
        if seen.any() and min(map(np.ptp, shares)) > 0:
            found.append(np.corrcoef(shares)[0, 1])
    if not found:
        return Reliability(np.nan, np.nan, np.nan, n_pairs, CONSTANT if n_pairs else NO_PAIR)
    ends = np.percentile(found, INTERVAL)
    value, low, high = (float(2 * r / (1 + r)) if r > 0 else float(r) for r in (np.mean(found), *ends))
    return Reliability(value, low, high, n_pairs)


def _labels(annotations: Any, name: str) -> Labels:
    if isinstance(annotations, Labels):
        return annotations
    raise InputError(f"{name} reads Labels, or Groupings. Got {type(annotations).__name__}.")


def _several(labels: Labels) -> Float[np.ndarray, "items classes"]:
    """Number of labels of each class of items with two labels or more."""
    shape = len(labels), labels.n_classes
    votes = np.bincount(labels.item * np.int64(shape[1]) + labels.label, minlength=shape[0] * shape[1]).reshape(shape)
    return votes[votes.sum(1) > 1].astype(float)


def _coincidences(votes: Float[np.ndarray, "items classes"]) -> csr_array:
    """v_uc v_uk / (n_u − 1), of different labels: (items, classes²)."""
    item, label = np.nonzero(votes)
    n_labels = np.bincount(item, minlength=len(votes))
    # each label of an item with each: as many rows as the item has different labels, squared
    times = n_labels[item]
    first = np.repeat(np.arange(len(item)), times)
    start = np.cumsum(n_labels) - n_labels
    second = start[item[first]] + np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times)
    u, c, k = item[first], label[first], label[second]
    value = votes[u, c] * (votes[u, k] - (c == k)) / (votes.sum(1)[u] - 1)
    return csr_array((value, (u, c * votes.shape[1] + k)), shape=(len(votes), votes.shape[1] ** 2))


def _differences(
    level: str, place: Float[np.ndarray, " classes"], totals: Float[np.ndarray, "draws classes"]
) -> Float[np.ndarray, "draws classes classes"]:
    """δ² of every two labels."""
    if level == "nominal":
        one = 1 - np.eye(len(place))
    elif level == "interval":
        one = (place[:, None] - place) ** 2
    else:
        middle = np.cumsum(totals, axis=1) - totals / 2
        return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)
    return np.broadcast_to(one, (len(totals), *one.shape))


def _expect(totals: Float[np.ndarray, "draws classes"]) -> Float[np.ndarray, " draws"]:
    return np.asarray(((totals / np.maximum(totals.sum(1, keepdims=True), 1)) ** 2).sum(1))


def _beyond_chance(
    equal: Float[np.ndarray, " draws"], expected: Float[np.ndarray, " draws"]
) -> Float[np.ndarray, " draws"]:
    possible = expected < 1 - 1e-12  # but for rounding
    return np.divide(equal - expected, 1 - expected, out=np.full_like(equal, np.nan), where=possible)


def _with_interval(
    statistic: Callable[[Weights], np.ndarray],
    n_items: int,
    n_draws: int,
    random_state: Any,
    nothing: str,
    n_cells: int = 0,
) -> Reliability:
    """Value of a statistic of the weights of items, and its interval; `n_cells` numbers are held for each draw."""
    if not n_items:
        return Reliability(np.nan, np.nan, np.nan, 0, nothing)
    value = float(statistic(np.ones((1, n_items)))[0])
    if np.isnan(value):
        return Reliability(np.nan, np.nan, np.nan, n_items, ALL_EQUAL)
    rng, found, left = spawn_generator(random_state), [np.array([value])], int(n_draws)
    while left:
        number = min(left, max(ENTRIES // max(n_items, n_cells), 1))
        weights = rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=number).astype(float)
        found.append(statistic(weights))
        left -= number
    low, high = np.nanpercentile(np.concatenate(found), INTERVAL)
    return Reliability(value, float(low), float(high), n_items)


# ---- groupings: pairs of items

PairSums = tuple[Float[np.ndarray, " draws"], ...]


def _of_pairs(
    groupings: Groupings, statistic: Callable[[PairSums], np.ndarray], n_draws: int, random_state: Any
) -> Reliability:
    """Statistic of the sums over pairs of items, as a quadratic form of the weights of items."""
    if groupings.n_items > MOST_ITEMS:
        raise InputError(f"All pairs of {groupings.n_items} items are too many: at most {MOST_ITEMS} items.")
    incidence = groupings.incidence.astype(float)
    presented = incidence @ _groups_of_groupings(groupings)
    together, n = (incidence @ incidence.T).toarray(), (presented @ presented.T).toarray()
    for matrix in (together, n):
        np.fill_diagonal(matrix, 0)
        matrix[n < 2] = 0
    apart = n - together
    several = n > 1
    equal = together * (together - 1) + apart * (apart - 1)
    of_label = np.divide(equal, n - 1, out=np.zeros_like(n), where=several)
    of_pair = np.divide(of_label, n, out=np.zeros_like(n), where=several)
    parts = (together, apart, of_label, of_pair, several.astype(float))

    def of_weights(weights: Weights) -> Float[np.ndarray, " draws"]:
        return statistic(tuple(((weights @ part) * weights).sum(1) / 2 for part in parts))

    n_pairs = int(several.sum()) // 2
    if not n_pairs:
        return Reliability(np.nan, np.nan, np.nan, 0, NO_PAIR)
    found = _with_interval(of_weights, groupings.n_items, n_draws, random_state, NO_PAIR)
    return Reliability(found.value, found.low, found.high, n_pairs, found.note)


def _groups_of_groupings(groupings: Groupings) -> csr_array:
    """Return which group is of which grouping."""
    places = (np.arange(groupings.n_groups), groupings.grouping_of_group)
    return csr_array((np.ones(groupings.n_groups), places), shape=(groupings.n_groups, groupings.n_groupings))


def _products(sets: Any) -> Float[np.ndarray, "items items"]:
    """Return of how many sets each two items are members."""
    step = max(ENTRIES // sets.shape[0], 1)
    total = np.zeros((sets.shape[0],) * 2)
    for start in range(0, sets.shape[1], step):
        part = sets[:, start : start + step].toarray()
        total += part @ part.T
    return total


def _alpha_of_pairs(sums: PairSums) -> Float[np.ndarray, " draws"]:
    together, apart, of_label, *_ = sums
    n = together + apart
    across = 2 * together * apart
    return np.asarray(1 - (n - 1) * np.divide(n - of_label, across, out=np.full_like(n, np.nan), where=across > 0))


def _kappa_of_pairs(sums: PairSums) -> Float[np.ndarray, " draws"]:
    together, apart, _, of_pair, n_pairs = sums
    equal = of_pair / np.maximum(n_pairs, 1)
    return _beyond_chance(equal, _expect(np.column_stack([together, apart])))
