"""How often random sorts are taken for more, and careful ones for random, by three ways to a p-value.

    python -m benchmarks.random_levels [--draws 5000]

The agreement of a sort with others is compared with that of random sorts into groups of the same sizes: by many draws,
by Pearson III with their mean, variance and skewness in closed form, and, as `random_sorters` does it, by Pearson III
unless its p-value is from .005 to .2, and else by 400 draws. Of 4 to 50 items, into groups of eleven kinds, compared
with 3 to 40 others who are right in half to all cases. Printed for each number of items: the share of random sorts
with p < .05 on average and at most, and of sorts in which seven of ten items are where the others have them; then the
highest p-value by draws where Pearson III is below .005, and the lowest where it is above .2.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearson3

from consilience.analysis.permutation_moments import PermutationSums, central_moments, moments_of_permutations
from consilience.analysis.random_sorters import DOUBTFUL, N_PERMUTATIONS, P_VALUE

SIZES = (4, 6, 8, 10, 15, 20, 30, 50)
# how many others, how often they are right, of how many classes
OTHERS = (
    *((3, 1.0, 4), (3, 1.0, 8), (3, 0.95, 2), (3, 0.95, 4), (3, 0.8, 4)),
    *((5, 0.9, 4), (5, 0.9, 10), (10, 0.7, 4), (40, 0.5, 4)),
)
RIGHT = 0.7  # share of the items that a careful sort has where the others have them
PAIRS_AT_A_TIME = 2_000_000
WAYS = ("draws", "Pearson III", "both")


def kinds_of_groups(n_items: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the group of each item, by kinds of sorts."""
    order = np.arange(n_items)
    few = {f"{size} together": np.where(order < size, 0, order) for size in (2, 3, n_items - 1)}
    return few | {
        "halves": order % 2,
        "thirds": order % 3,
        "fifths": order % 5,
        "as many groups as items in one": order % max(2, round(np.sqrt(n_items))),
        "four of chance": rng.integers(4, size=n_items),
        "most in one": np.where(order < 0.7 * n_items, 0, order),
        "twos": order // 2,
        "two twos": np.where(order < 4, order // 2, order),
    }


def crowd(n_items: int, others: tuple[int, float, int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and the share of the others that put two items together, less its mean."""
    n_others, accuracy, n_classes = others
    n_classes = min(n_classes, n_items // 2)
    truth = rng.permutation(np.arange(n_items) % n_classes)
    right = rng.random((n_others, n_items)) < accuracy
    sorts = np.where(right, truth, rng.integers(n_classes, size=right.shape))
    share = (sorts[:, :, None] == sorts[:, None, :]).mean(0)
    apart = ~np.eye(n_items, dtype=bool)
    return truth, np.where(apart, share - share[apart].mean(), 0.0)


def agreements(orders: np.ndarray, group: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the agreement of sorts that have these items, one after the other, in the places of the groups."""
    a, b = np.nonzero(np.triu(group[:, None] == group, 1))
    parts = np.array_split(orders, 1 + len(orders) * len(a) // PAIRS_AT_A_TIME)
    return np.concatenate([share[part[:, a], part[:, b]].sum(1) for part in parts])


def careful_orders(group: np.ndarray, truth: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return sorts into groups of the same sizes, of items by their classes, but for some that change places."""
    places, items = np.argsort(group, kind="stable"), np.argsort(truth, kind="stable")
    orders = np.empty((n_draws, len(group)), dtype=int)
    orders[:, places] = items
    for order in orders:
        moved = np.flatnonzero(rng.random(len(group)) > RIGHT)
        order[moved] = order[rng.permutation(moved)]
    return orders


def p_values(agreement: np.ndarray, drawn: np.ndarray, moments: tuple[float, ...], rng: np.random.Generator) -> Any:
    """Return the p-values of the three ways."""
    mean, variance, third = moments
    spread = np.sqrt(variance)
    reached = 1 - np.searchsorted(np.sort(drawn), agreement - 1e-9) / len(drawn)
    smooth = pearson3.sf((agreement - mean) / spread, third / spread**3)
    counted = (1 + rng.binomial(N_PERMUTATIONS, reached)) / (1 + N_PERMUTATIONS)
    low, high = DOUBTFUL
    return reached, smooth, np.where((smooth < low) | (smooth > high), smooth, counted)


def measured(n_items: int, n_draws: int, rng: np.random.Generator) -> list[dict[str, float]]:
    """Return the figures of each case that has more than one agreement."""
    found = []
    for group in kinds_of_groups(n_items, rng).values():
        of_groups = PermutationSums.of_groups(np.bincount(group).astype(float))
        for others in OTHERS:
            truth, share = crowd(n_items, others, rng)
            moments = central_moments(*moments_of_permutations(of_groups, PermutationSums.of_matrix(share), n_items))
            if moments[1] < 1e-12:
                continue
            drawn = agreements(rng.permuted(np.tile(np.arange(n_items), (n_draws, 1)), axis=1), group, share)
            random = p_values(drawn, drawn, moments, rng)
            careful = agreements(careful_orders(group, truth, n_draws // 10, rng), group, share)
            power = p_values(careful, drawn, moments, rng)
            low, high = (random[0][side] for side in (random[1] < DOUBTFUL[0], random[1] > DOUBTFUL[1]))
            found.append(
                {f"level, {way}": float((p < P_VALUE).mean()) for way, p in zip(WAYS, random, strict=True)}
                | {f"power, {way}": float((p < P_VALUE).mean()) for way, p in zip(WAYS, power, strict=True)}
                | {"highest": low.max(initial=0.0), "lowest": high.min(initial=1.0)}
            )
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows, n_cases = {}, 0
    for n_items in SIZES:
        found = pd.DataFrame(measured(n_items, options.draws, rng))
        n_cases += len(found)
        level, power = (found.filter(like=name) for name in ("level", "power"))
        rows[n_items] = {"cases": len(found)}
        for way in WAYS:
            of_way = level[f"level, {way}"]
            rows[n_items] |= {f"level, {way}": f"{of_way.mean():.3f} ≤ {of_way.max():.3f}"}
        rows[n_items] |= {name: f"{column.mean():.2f}" for name, column in power.items()}
        rows[n_items] |= {"highest": f"{found['highest'].max():.3f}", "lowest": f"{found['lowest'].min():.3f}"}
    table = pd.DataFrame(rows).T.rename_axis("items")
    sys.stdout.write(f"{n_cases} cases\n{table.to_string()}\n")


if __name__ == "__main__":
    main()
