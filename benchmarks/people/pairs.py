"""What works on same/different judgements of pairs by people, without features.

Two recordings of judgements of pictures, and simulated crowds in which one person in eight judges at random, of few
classes or of many small clusters. Draws are numbered as those of the page on groupings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.base import clone

from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.people import grouping_crowds, held_out_tables
from benchmarks.people.grouping_crowds import SIMULATED_PAIRS, SMALL, recorded_pairs, simulated_pairs, small_clusters
from benchmarks.people.grouping_methods import BASELINES, LIMIT, OF_PAIRS, TOLD, figures

DRAWS = (1, 3, 5, 7, 9)
RECORDED = ("dogs3", "birds5")
PARTS = {"recorded": RECORDED, "simulated": tuple(SIMULATED_PAIRS), "small": tuple(SMALL)}
FEW = "16 people, 50 pairs each"
SLOW = {
    "MECC(told)": (*RECORDED, *SMALL),
    "Crowdclustering": (*RECORDED, *SMALL, *(name for name in SIMULATED_PAIRS if not name.startswith(FEW))),
}  # most of the time that the page takes


def cells_of(part: str) -> Iterator[Cell]:
    for data in PARTS[part]:
        for draw in DRAWS:
            for name, model in OF_PAIRS.items():
                if data not in SLOW.get(name, ()):
                    settings = {"random_state": draw} | (TOLD if name.endswith("(told)") else {})
                    yield Cell(part, data, name, draw, clone(model), settings=settings)
            for name in (*BASELINES, LIMIT):
                yield Cell(part, data, name, draw)


def cells_of_recorded() -> Iterator[Cell]:
    return cells_of("recorded")


def cells_of_simulated() -> Iterator[Cell]:
    return cells_of("simulated")


def cells_of_small() -> Iterator[Cell]:
    return cells_of("small")


def compute_recorded(cell: Cell) -> dict[str, Any]:
    return figures(cell.model, recorded_pairs(cell.data), cell.draw, cell.estimator, cell.settings)


def compute_simulated(cell: Cell) -> dict[str, Any]:
    return figures(cell.model, simulated_pairs(cell.data, cell.draw), cell.draw, cell.estimator, cell.settings)


def compute_small(cell: Cell) -> dict[str, Any]:
    return figures(cell.model, small_clusters(cell.data, cell.draw), cell.draw, cell.estimator, cell.settings)


TITLES = {
    "recorded": f"{len(RECORDED)} recordings of judgements of pictures",
    "simulated": f"{len(SIMULATED_PAIRS)} kinds of simulated crowds, of {len(DRAWS)} draws each",
    "small": f"{len(SMALL)} kinds of simulated crowds with many small clusters, of {len(DRAWS)} draws each",
}


def tables(record: Record) -> dict[str, str]:
    return held_out_tables.tables("pairs", record, PARTS, TITLES)


def quotes(record: Record) -> dict[str, Any]:
    return held_out_tables.quotes(record, PARTS, DRAWS) | {
        "n_small": grouping_crowds.N_SMALL,
        "largest_small": grouping_crowds.LARGEST_SMALL,
        "other_pairs": grouping_crowds.OTHER_PAIRS,
        "n_judges": grouping_crowds.N_JUDGES,
    }


PAGE = Page(
    "pairs",
    parts=(
        Part("recorded", cells_of_recorded, compute_recorded),
        Part("simulated", cells_of_simulated, compute_simulated),
        Part("small", cells_of_small, compute_small),
    ),
    tables=tables,
    quotes=quotes,
    package="people",
)
