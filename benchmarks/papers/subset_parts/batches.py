"""batches: subsets composed one a call or eight a call, and random ones, in case 1 at τ = 5.

The strategy was developed on draws with even seeds; these have odd ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.experiments import Cell, Record
from benchmarks.experiments.statistics import Difference, paired
from benchmarks.papers.subset_parts.setting import (
    OURS,
    RANDOM,
    Need,
    against,
    curves_of,
    row_of,
    spread,
    table_of_needs,
)
from benchmarks.papers.subset_parts.strategies import cell_of

TAU, EVERY, N_DRAWS, FIRST_SEED = 5, 16, 20, 401
RATES, N_COMPOSED, N_RANDOM = (1, 8), 320, 512
PLACES = (64, 128, 192, 256, 320)
LEVELS = (0.7, 0.8, 0.85, 0.9)


def cells_of_batches() -> Iterator[Cell]:
    for draw in range(N_DRAWS):
        # random ones first: a sentinel of the input takes the first cell, and composed subsets hang on the last bit
        for strategy, rate, n_subsets in ((RANDOM, 1, N_RANDOM), *((OURS, rate, N_COMPOSED) for rate in RATES)):
            seed = FIRST_SEED + 2 * draw
            yield cell_of("batches", data_of(rate), strategy, draw, 1, TAU, seed, n_subsets, EVERY, rate)


def data_of(rate: int) -> str:
    return f"tau {TAU}, {rate} a call"


def curves_of_batches(record: Record) -> dict[str, np.ndarray]:
    """Return the curves of random subsets, and of composed ones by the number in a call, (draws, places, measures)."""
    found = {rate: curves_of(record, "batches", data_of(rate)) for rate in RATES}
    return {RANDOM: found[1][RANDOM]} | {name_of(rate): found[rate][OURS] for rate in RATES}


def name_of(rate: int) -> str:
    return f"{OURS}, {rate} a call"


def nmi_at(curves: np.ndarray, n_subsets: int) -> np.ndarray:
    """Return the NMI of each draw after a number of subsets."""
    return curves[:, n_subsets // EVERY - 1, 1]


def changes_of(found: dict[str, np.ndarray]) -> dict[int, Difference]:
    """Compare eight subsets a call with one, by the number of subsets."""
    return {
        place: paired(nmi_at(found[name_of(RATES[-1])], place), nmi_at(found[name_of(RATES[0])], place))
        for place in PLACES
    }


def mean_change_of(found: dict[str, np.ndarray]) -> Difference:
    """Compare eight subsets a call with one, by the mean NMI of each draw over the numbers of subsets."""
    means = {rate: np.mean([nmi_at(found[name_of(rate)], place) for place in PLACES], axis=0) for rate in RATES}
    return paired(means[RATES[-1]], means[RATES[0]])


def needs_of_batches(found: dict[str, np.ndarray]) -> list[Need]:
    return [Need.of(found, level) for level in LEVELS]


def table_of_batches(record: Record) -> list[str]:
    found = curves_of_batches(record)
    lines = [
        f"case 1, tau {TAU}: NMI by the number of subsets, one or eight a call, mean ± sd of {N_DRAWS} draws;",
        "below: NMI less that of random, and of eight less one a call, ± standard error, on the same draws; * more",
        "than two of these",
        "",
        row_of("", (f"{place}    " for place in PLACES), 15, 32),
    ]
    for name, own in found.items():
        lines.append(row_of(name, (spread(nmi_at(own, place)) for place in PLACES), 15, 32))
    lines.append("")
    for name in list(found)[1:]:
        gaps = (paired(nmi_at(found[name], place), nmi_at(found[RANDOM], place)) for place in PLACES)
        lines.append(row_of(f"{name}, less random", map(against, gaps), 15, 32))
    lines += [row_of("8 less 1 a call", map(against, changes_of(found).values()), 15, 32), ""]
    title = f"case 1, tau {TAU}, {N_COMPOSED} composed or {N_RANDOM} random subsets: subsets until NMI reaches a level"
    return [*lines, *table_of_needs(title, needs_of_batches(found))]


def quotes_of_batches(record: Record) -> dict[str, Any]:
    """Compare eight a call with one, both with random, and the subsets needed for the highest level."""
    found = curves_of_batches(record)
    highest = needs_of_batches(found)[-1]
    return {
        "draws": N_DRAWS,
        "tau": TAU,
        "seeds": (FIRST_SEED, FIRST_SEED + 2 * (N_DRAWS - 1)),
        "change": mean_change_of(found),
        "changes": changes_of(found),
        "leads": {
            rate: {place: paired(nmi_at(found[name_of(rate)], place), nmi_at(found[RANDOM], place)) for place in PLACES}
            for rate in RATES
        },
        "level": highest.level,
        "median": {name: highest.table[name].median() for name in found},
        "ratio": {rate: highest.ratio(name_of(rate)) for rate in RATES},
    }
