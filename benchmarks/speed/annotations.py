"""Time and memory of `read_annotations` against `pandas.read_csv` on one file.

The file is a long table of groupings with text names: every annotator sorts every item, in random order. Both readers
run in turns in one process for their times, and each in a process of its own for its memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiments import Cell
from benchmarks.speed.measuring import Run, compared, in_own_process, in_turns, megabytes, timed
from consilience.annotations import read_annotations

N_ITEMS, N_ANNOTATORS = 10_000, 100
MODEL, PEER = "read_annotations", "pandas.read_csv"


def cells_of_annotations() -> Iterator[Cell]:
    sizes = {"n_items": N_ITEMS, "n_annotators": N_ANNOTATORS, "repeats": 7}
    yield Cell("annotations", f"{N_ITEMS * N_ANNOTATORS} rows", MODEL, 0, settings=sizes)


def compute_annotations(cell: Cell) -> dict[str, Any]:
    """Return times and further memory of both readers, and the size of the file."""
    settings = cell.settings
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "groupings.csv"
        write_table(path, settings["n_items"], settings["n_annotators"])
        readers = {MODEL: read_annotations, PEER: pd.read_csv}
        calls = {name: lambda read=read: reading(read, path) for name, read in readers.items()}
        runs = in_turns(calls, settings["repeats"])
        for name, read in readers.items():
            runs[name]["megabytes"] = in_own_process(raised_peak, read, path)
        return compared(runs, MODEL) | {"file": path.stat().st_size / 1e6}


def write_table(path: Path, n_items: int, n_annotators: int) -> None:
    """Write n_items x n_annotators memberships in ten groups per annotator."""
    rng = np.random.default_rng(0)
    row = rng.permutation(n_items * n_annotators)
    item = np.array([f"item{i:05d}" for i in range(n_items)])
    annotator = np.array([f"annotator{m:03d}" for m in range(n_annotators)])
    group = np.array([f"group{k}" for k in range(10)])
    columns = {
        "item": item[row // n_annotators],
        "annotator": annotator[row % n_annotators],
        "grouping": np.repeat("sort", len(row)),
        "group": group[rng.integers(10, size=len(row))],
    }
    pd.DataFrame(columns).to_csv(path, index=False)


def reading(read: Callable[[Path], Any], path: Path) -> Run:
    return timed(lambda: read(path))[0]


def raised_peak(read: Callable[[Path], Any], path: Path) -> float:
    """Return by how many megabytes reading raises the peak memory of the process."""
    before = megabytes()
    read(path)
    return megabytes() - before
