"""Whole jobs: from a file to a report, from a file or frame to annotations, and fits of one size.

jobs     ``consilience fit FILE`` in a process of its own, with imports: card sorts of few and of many people,
         and what is said of a file that is not there. There is no peer that writes such reports.
imports  a model of labels, in a process of its own, beside the packages that every fit needs.
reading  annotations from files and frames, in turns with what only parses the file, or only numbers the names.
fits     models at their defaults whose goal is a number of seconds.

Goals are seconds of the processor, or ratios of seconds to those of the peer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Cell
from benchmarks.speed import subset_groupings
from benchmarks.speed.annotations import write_table
from benchmarks.speed.measuring import Run, compared, in_turns, timed
from benchmarks.speed.partition_labels import N_KINDS, RIGHT
from consilience import Groupings, Labels, Pairs, read_annotations, write_annotations
from consilience.consensus import CorrelationClustering, SubsetFusion
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

MODEL = "consilience fit"
MISSING = "a file that is not there"
SORTS = {  # people, cards, and the seconds wanted
    "30 people, 50 cards": (30, 50, 3.5),
    "200 people, 300 cards": (200, 300, 20.0),
    "2000 people, 100 cards": (2000, 100, 25.0),
    "5000 people, 50 cards": (5000, 50, 30.0),
}
WANTED = {MISSING: 0.3} | {data: seconds for data, (*_, seconds) in SORTS.items()}
MOST_MEGABYTES = 700
N_PILES, ACCURACY = 8, 0.7
JOB = """
import contextlib, json, sys, time
from pathlib import Path
start = time.perf_counter()
from consilience.cli import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    main()
told = {"seconds": time.perf_counter() - start, "busy": time.process_time()}
fields = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps(told | {"megabytes": next(int(field[1]) / 1024 for field in fields if field[0] == "VmHWM:")}))
"""


# ---- from a file to a report


def cells_of_jobs() -> Iterator[Cell]:
    for data, (n_people, n_cards, _) in SORTS.items():
        yield Cell("jobs", data, MODEL, 0, settings={"n_people": n_people, "n_cards": n_cards, "script": JOB})
    yield Cell("jobs", MISSING, MODEL, 0, settings={"script": JOB})


def compute_jobs(cell: Cell) -> dict[str, Any]:
    """Return what the command takes in a new process, and the peak of its memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sorts.csv"
        if cell.data in SORTS:
            write_annotations(card_sorts(cell.settings["n_people"], cell.settings["n_cards"]), path)
        out = str(Path(folder) / "report")
        command = [sys.executable, "-c", cell.settings["script"], "fit", str(path), "--out", out]

        def job() -> Run:
            return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

        return compared(in_turns({MODEL: job}, 1 if cell.data in SORTS else 5), MODEL)


def card_sorts(n_people: int, n_cards: int) -> Groupings:
    """Return sorts into eight piles, which some people merge, with three cards in ten misplaced."""
    piles = np.random.default_rng(0).integers(N_PILES, size=n_cards)
    cards = [f"card {i}" for i in range(n_cards)]
    return simulate_crowd(piles, n_annotators=n_people, accuracy=ACCURACY, merge=0.2, items=cards, random_state=0)


# ---- imports

IMPORT, NEEDED = "from consilience.consensus import DawidSkene", "import pandas, scipy.sparse, sklearn.base"
LONGEST_IMPORT = 0.3  # seconds beyond the packages
IMPORTED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start, time.process_time())"


def cells_of_imports() -> Iterator[Cell]:
    yield Cell("imports", "a new process", IMPORT, 0, settings={"peer": NEEDED, "script": IMPORTED, "repeats": 5})


def compute_imports(cell: Cell) -> dict[str, Any]:
    """Return what the import takes in a new process, and that of what it needs."""

    def imported(statement: str) -> Run:
        command = [sys.executable, "-c", cell.settings["script"].format(statement)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return dict(zip(("seconds", "busy"), map(float, output.split()), strict=True))

    calls = {one: lambda one=one: imported(one) for one in (cell.model, cell.settings["peer"])}
    return compared(in_turns(calls, cell.settings["repeats"]), cell.model)


# ---- reading


def write_wide(path: Path) -> None:
    """Write ten cards sorted by 20 000 people."""
    cards = pd.Index([f"card {i}" for i in range(10)], name="card")
    people = [f"rater{i}" for i in range(20_000)]
    piles = np.random.default_rng(0).integers(4, size=(len(cards), len(people)))
    pd.DataFrame(piles, index=cards, columns=people).to_csv(path)


def frame_of_labels(n_tasks: int = 1_000_000) -> pd.DataFrame:
    """Return five labels of each task, by a thousand workers, in random order."""
    rng = np.random.default_rng(0)
    row = rng.permutation(5 * n_tasks)
    task, occasion = row % n_tasks, row // n_tasks
    worker, label = 200 * occasion + rng.integers(200, size=len(row)), rng.integers(5, size=len(row))
    return pd.DataFrame({"task": texts("task", task), "worker": texts("w", worker), "label": texts("c", label)})


def texts(stem: str, numbers: np.ndarray) -> Any:
    """Return a column of names."""
    return pd.Series([f"{stem}{i}" for i in range(numbers.max() + 1)])[numbers].array


def number_names(frame: pd.DataFrame) -> list[Any]:
    return [pd.factorize(frame[name]) for name in frame]


LONG, WIDE, FRAME = "1 000 000 rows of text", "20 000 columns of ten rows", "a frame of 5 000 000 labels"
READING: dict[str, tuple[str, Callable[[Any], Any], str, Callable[[Any], Any], float]] = {
    LONG: ("read_annotations", read_annotations, "pandas.read_csv", pd.read_csv, 3.0),
    WIDE: ("read_annotations", read_annotations, "pandas.read_csv", pd.read_csv, 2.0),  # seconds
    FRAME: ("Labels.from_frame", Labels.from_frame, "pandas.factorize of three columns", number_names, 1.5),
}


def cells_of_reading() -> Iterator[Cell]:
    for data, (model, *_) in READING.items():
        yield Cell("reading", data, model, 0, settings={"repeats": 3})


def compute_reading(cell: Cell) -> dict[str, Any]:
    """Return times of the reader and of its peer."""
    model, read, peer, parse, _ = READING[cell.data]
    with tempfile.TemporaryDirectory() as folder:
        source: Any = Path(folder) / "annotations.csv"
        if cell.data == LONG:
            write_table(source, 10_000, 100)
        elif cell.data == WIDE:
            write_wide(source)
        else:
            source = frame_of_labels()
        calls = {model: lambda: timed(lambda: read(source))[0], peer: lambda: timed(lambda: parse(source))[0]}
        return compared(in_turns(calls, cell.settings["repeats"]), model)


# ---- fits


def wide_features() -> tuple[np.ndarray, Groupings]:
    """Return 300 items with 512 features, and their kinds as eight people name them."""
    rng = np.random.default_rng(0)
    features, kinds = make_blobs(300, centers=N_KINDS, n_features=512, cluster_std=4.0, random_state=0)
    said = np.where(rng.random((300, 8)) < RIGHT, kinds[:, None], rng.integers(N_KINDS, size=(300, 8)))
    return StandardScaler().fit_transform(features), Groupings.from_matrix(said)


def judged_records(n_records: int = 2000) -> Pairs:
    """Return about ten judgements of each record, one in twenty wrong; each thing has four records."""
    rng = np.random.default_rng(0)
    thing = rng.permutation(n_records) // 4
    by_thing = np.argsort(thing, kind="stable")
    place = np.repeat(np.arange(n_records), 5)
    a = by_thing[place]
    near = by_thing[place // 4 * 4 + (place + rng.integers(1, 4, size=len(a))) % 4]
    b = np.where(rng.random(len(a)) < 0.5, near, rng.integers(n_records, size=len(a)))
    same = (thing[a] == thing[b]) ^ (rng.random(len(a)) < 0.05)
    judged = pd.DataFrame({"item_a": a, "item_b": b, "annotator": "rule", "same": same})[a != b]
    return Pairs.from_frame(judged, items=range(n_records))


FITS: dict[str, tuple[Any, Callable[[], tuple[Any, ...]], float]] = {
    "300 items, 512 features, 8 people": (PartitionLabelModel(random_state=0), wide_features, 5.0),
    "2000 items, 10 judgements of each": (CorrelationClustering(random_state=0), lambda: (judged_records(),), 5.0),
    "10 000 items, 1000 groupings of 50": (
        SubsetFusion(random_state=0),
        lambda: (subset_groupings.crowd(10_000, 1000)[0],),
        7.0,
    ),
}


def cells_of_fits() -> Iterator[Cell]:
    for data, (model, *_) in FITS.items():
        yield Cell("fits", data, type(model).__name__, 0, model, {"repeats": 3})


def compute_fits(cell: Cell) -> dict[str, Any]:
    """Return what a fit takes."""
    given = FITS[cell.data][1]()
    calls = {cell.model: lambda: timed(lambda: clone(cell.estimator).fit(*given))[0]}
    return compared(in_turns(calls, cell.settings["repeats"]), cell.model)
