"""What works on groupings by people: how well held-out people are predicted, and the agreement with known classes.

Five recordings of groupings of subsets of pictures, twenty card sorts and free sorts of all items, and simulated crowds
in which one person in eight groups at random. Draws are numbered: settings may be chosen on even ones, and the odd ones
are reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.base import clone

from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.people import held_out_tables
from benchmarks.people.grouping_crowds import PICTURES, SIMULATED, SORTS, pictures, simulated, sorts
from benchmarks.people.grouping_methods import BASELINES, LIMIT, OF_GROUPINGS, TOLD, figures

DRAWS = (1, 3, 5, 7, 9)
PARTS = {"pictures": PICTURES, "sorts": SORTS, "simulated": tuple(SIMULATED)}
SLOW = {
    "PartitionLabelModel": ("imagenet", "dogs3", "birds5"),
    "MECC": ("scenes", "imagenet", "dogs3", "birds5"),
}  # most of the time that the page takes


def cells_of(part: str) -> Iterator[Cell]:
    for data in PARTS[part]:
        for draw in DRAWS:
            for name, model in OF_GROUPINGS.items():
                if data not in SLOW.get(name, ()):
                    settings = {"random_state": draw} | (TOLD if name.endswith("(told)") else {})
                    yield Cell(part, data, name, draw, clone(model), settings=settings)
            for name in (*BASELINES, *((LIMIT,) if part != "sorts" else ())):
                yield Cell(part, data, name, draw)


def cells_of_pictures() -> Iterator[Cell]:
    return cells_of("pictures")


def cells_of_sorts() -> Iterator[Cell]:
    return cells_of("sorts")


def cells_of_simulated() -> Iterator[Cell]:
    return cells_of("simulated")


def compute_pictures(cell: Cell) -> dict[str, Any]:
    return figures(cell.model, pictures(cell.data), cell.draw, cell.estimator, cell.settings)


def compute_sorts(cell: Cell) -> dict[str, Any]:
    return figures(cell.model, sorts(cell.data), cell.draw, cell.estimator, cell.settings)


def compute_simulated(cell: Cell) -> dict[str, Any]:
    return figures(cell.model, simulated(cell.data, cell.draw), cell.draw, cell.estimator, cell.settings)


TITLES = {
    "pictures": f"{len(PICTURES)} recordings of subsets of pictures",
    "sorts": f"{len(SORTS)} card sorts and free sorts",
    "simulated": f"{len(SIMULATED)} kinds of simulated crowds, of {len(DRAWS)} draws each",
}


def tables(record: Record) -> dict[str, str]:
    return held_out_tables.tables("groupings", record, PARTS, TITLES)


def quotes(record: Record) -> dict[str, Any]:
    return held_out_tables.quotes(record, PARTS, DRAWS) | {
        "slow": {name: held_out_tables.listed(sets) for name, sets in SLOW.items()}
    }


PAGE = Page(
    "groupings",
    parts=(
        Part("pictures", cells_of_pictures, compute_pictures),
        Part("sorts", cells_of_sorts, compute_sorts),
        Part("simulated", cells_of_simulated, compute_simulated),
    ),
    tables=tables,
    quotes=quotes,
    package="people",
)
