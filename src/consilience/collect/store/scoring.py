"""How well an answer fits the right one, and how easily a mark is reached: at random, and with one card misplaced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float

from consilience.annotations.types import Real
from consilience.collect.settings.model import Study
from consilience.collect.settings.study_kinds import FIXED, PAIRS
from consilience.collect.settings.training import RightSort
from consilience.metrics import ari

MOST_TABLES = 50_000  # that are enumerated; beyond, the chance is simulated
DRAWS = 20_000  # of a simulation
SEED = 0
CLOSE = 1e-9  # by which a score may miss the mark: rounding


@dataclass(frozen=True)
class Chance:
    """How easily the mark of an admission is reached.

    once : chance that somebody passes one try who puts every card into one of the right number of groups, or of the
        categories, at random.
    ever : the same for all tries together.
    exact : whether all possible sorts were counted; else it is the share among simulated ones.
    slip_least, slip_most : lowest and highest mean score of a person who is right but for one card.
    forgives_slip : whether everybody passes who is right but for one card.
    """

    once: float
    ever: float
    exact: bool
    slip_least: float
    slip_most: float
    forgives_slip: bool


def score_of(right: Sequence[Any], given: Sequence[Any], *, closed: bool) -> float:
    """Return how well given groups fit the right ones.

    right, given : sequences of groups, one for each card; None in `given` is a card that was left unsorted: a group of
        its own, or in a closed sort a wrong answer.
    closed : whether the groups are categories, so that their names count: Cohen's kappa, else the adjusted Rand index.
    """
    if not closed:
        named = [("alone", place) if group is None else ("group", group) for place, group in enumerate(given)]
        codes: dict[Any, int] = {}
        return ari(
            [codes.setdefault(("right", one), len(codes)) for one in right],
            [codes.setdefault(one, len(codes)) for one in named],
        )
    names = list(dict.fromkeys([*right, *given]))
    table = np.zeros((len(names), len(names)))
    for one, other in zip(right, given, strict=True):
        table[names.index(one), names.index(other)] += 1
    return float(_kappa(table[None])[0])


def score_of_answer(right: Mapping[int, str], answer: Sequence[Mapping[str, Any]], *, closed: bool) -> float:
    """Return the score of the groups that were submitted, by the right group of each item."""
    given = {item: group["name"] if closed else group["id"] for group in answer for item in group["items"]}
    return score_of(list(right.values()), [given.get(item) for item in right], closed=closed)


def measure_of(kind: str) -> str:
    """Return what a score is called in a study of a kind."""
    return "Cohen's kappa" if kind in FIXED else "adjusted Rand index"


def chance_of_passing(
    sorts: Sequence[RightSort], mark: Real, tries: int = 1, *, categories: Sequence[str] | None = None
) -> Chance:
    """Return how easily the mean score of some sorts reaches a mark.

    categories : those of a closed sort; for other kinds None.
    """
    rng = np.random.default_rng(SEED)
    scores, chances, exact = np.zeros(1), np.ones(1), True
    drawn = np.zeros(DRAWS)
    for sort in sorts:
        values, weights, counted = _distribution(sort, categories, rng)
        drawn += rng.choice(values, DRAWS, p=weights)
        exact = exact and counted and len(scores) * len(values) <= MOST_TABLES
        if exact:
            scores, chances = _merge_values(
                np.add.outer(scores, values).ravel(), np.multiply.outer(chances, weights).ravel()
            )
    if exact:
        once = float(chances[scores / len(sorts) >= mark - CLOSE].sum())
    else:
        once = float((drawn / len(sorts) >= mark - CLOSE).mean())
    slips = [list(_slips(sort, categories)) for sort in sorts]
    others = len(sorts) - 1  # sorts without a mistake
    least = float(min(map(min, slips)) + others) / len(sorts)
    most = float(max(map(max, slips)) + others) / len(sorts)
    return Chance(once, 1 - (1 - once) ** tries, exact, least, most, bool(least >= mark - CLOSE))


def chance_in(study: Study) -> Chance | None:
    """Return how easily the admission of a study is passed, None if it has none."""
    training = study.settings.training
    if not training.admission:
        return None
    sorts = training.admission
    if study.kind == PAIRS:
        sorts = tuple(sort.about_pairs(study.subset_size) for sort in sorts)
    categories = study.classes if study.has_fixed_groups else None
    return chance_of_passing(sorts, training.mark, training.tries, categories=categories)


def _names(sort: RightSort, categories: Sequence[str] | None) -> list[str]:
    """Return the groups into which cards are put: the right ones first, then categories in which none belongs."""
    return list(dict.fromkeys([*sort.labels, *(categories or ())]))


def _slips(sort: RightSort, categories: Sequence[str] | None) -> Iterator[float]:
    """Yield the scores of all sorts in which one card lies in a wrong group; in open ones also in a new one."""
    right, names = sort.labels, _names(sort, categories)
    targets: list[str | None] = [*names] if categories is not None else [*names, None]
    seen = set()
    for place, group in enumerate(right):
        for target in targets:
            if target != group and (group, target) not in seen and not (target is None and right.count(group) == 1):
                seen.add((group, target))
                given: list[str | None] = [*right[:place], target, *right[place + 1 :]]
                yield score_of(right, given, closed=categories is not None)


def _distribution(
    sort: RightSort, categories: Sequence[str] | None, rng: np.random.Generator
) -> tuple[Float[np.ndarray, " scores"], Float[np.ndarray, " scores"], bool]:
    """Return the scores of random sorts, their chances, and whether all sorts were counted."""
    names, right = _names(sort, categories), sort.labels
    sizes = [right.count(name) for name in dict.fromkeys(right)]
    n_tables = math.prod(math.comb(size + len(names) - 1, len(names) - 1) for size in sizes)
    closed = categories is not None
    if n_tables <= MOST_TABLES:
        rows = [_rows(size, len(names)) for size in sizes]
        tables = np.array([[row for row, _ in table] for table in product(*rows)], dtype=float)
        weights = np.array([math.prod(chance for _, chance in table) for table in product(*rows)])
        return (*_merge_values(_scores(tables, closed), weights), True)
    share = [1 / len(names)] * len(names)
    tables = np.stack([rng.multinomial(size, share, DRAWS) for size in sizes], axis=1).astype(float)
    return (*_merge_values(_scores(tables, closed), np.full(DRAWS, 1 / DRAWS)), False)


def _rows(size: int, n_groups: int) -> list[tuple[tuple[int, ...], float]]:
    """Return all ways in which cards of one right group are spread over groups, with their chances."""
    if n_groups == 1:
        return [((size,), 1.0)]
    total = math.factorial(size) / n_groups**size
    return [(row, total / math.prod(map(math.factorial, row))) for row in _compositions(size, n_groups)]


def _compositions(size: int, n_parts: int) -> Iterator[tuple[int, ...]]:
    if n_parts == 1:
        yield (size,)
        return
    for first in range(size + 1):
        for rest in _compositions(size - first, n_parts - 1):
            yield (first, *rest)


def _merge_values(
    values: Float[np.ndarray, " many"], weights: Float[np.ndarray, " many"]
) -> tuple[Float[np.ndarray, " scores"], Float[np.ndarray, " scores"]]:
    """Return the distinct values with the sums of their weights, which are 1 together."""
    distinct, place = np.unique(values.round(9), return_inverse=True)
    summed = np.bincount(place.ravel(), weights, minlength=len(distinct))
    return distinct, summed / summed.sum()


def _scores(tables: Float[np.ndarray, "tables right given"], closed: bool) -> Float[np.ndarray, " tables"]:
    """Return the score of each table of right by given groups."""
    return _kappa(tables) if closed else _ari(tables)


def _kappa(tables: Float[np.ndarray, "tables right given"]) -> Float[np.ndarray, " tables"]:
    """Return Cohen's kappa, groups in one order of names on both sides; 1 where all is one name on both.

    Categories in which no card belongs come last and may have no row.
    """
    total, n_right = tables.sum((1, 2)), tables.shape[1]
    expected = (tables.sum(1)[:, :n_right] * tables.sum(2)).sum(1) / total**2
    observed = np.trace(tables, axis1=1, axis2=2) / total
    # the inner where keeps 0 / 0 from being computed
    return np.where(expected == 1, 1.0, (observed - expected) / np.where(expected == 1, 1.0, 1 - expected))


def _ari(tables: Float[np.ndarray, "tables right given"]) -> Float[np.ndarray, " tables"]:
    """Return the adjusted Rand index (Hubert and Arabie 1985)."""
    both = _pairs(tables).sum((1, 2))
    right, given = _pairs(tables.sum(2)).sum(1), _pairs(tables.sum(1)).sum(1)
    expected = right * given / _pairs(tables.sum((1, 2)))
    most = (right + given) / 2
    return np.where(most == expected, 1.0, (both - expected) / np.where(most == expected, 1.0, most - expected))


def _pairs(counts: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return counts * (counts - 1) / 2
