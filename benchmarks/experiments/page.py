"""A page of results: what it takes to compute, and the tables, sentences and plots that are made from its record.

The page itself is a template, such as `docs/papers/NAME.rst.jinja`: the counts and figures that its sentences quote
come from the record as the tables do.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from tqdm import tqdm

from benchmarks.experiments.environment import commit, environment
from benchmarks.experiments.record import Cell, Record
from benchmarks.experiments.scripts import digest, script_of
from consilience.inspection.plots.style import plain_text

DOCS = Path(__file__).parents[2] / "docs"
NAMED = 4  # commits that a page names
DIGITS = 8  # significant digits of figures in the record
MADE_BY = ".. Made from {name}.rst.jinja and the record of results: python -m benchmarks.{package} {name}\n\n"

Figures = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """An experiment: the cells of the record that it fills, and how one is computed.

    Attributes
    ----------
    name : of the experiment
    cells : all of them
    compute : figures of a cell; an entry "seconds" replaces the time of the whole call
    is_optional : whether it is computed only if its name is given; the page says which rows it lacks
    short : settings of estimators with which a fit runs all its code in less time, to compare codes
    alike : what data sets have in common that the same code makes, and on which a model runs the same code; by default
        nothing
    has_sentinel : whether a sentinel sees what reaches its models; not where that of another part sees the same
    """

    name: str
    cells: Callable[[], Iterable[Cell]]
    compute: Callable[[Cell], Figures]
    is_optional: bool = False
    short: Mapping[str, Any] = field(default_factory=dict)
    alike: Callable[[str], str] = str
    has_sentinel: bool = True


def before_comma(data: str) -> str:
    """Return the part of a data set's name that data sets have in common that are alike: that before the comma."""
    return data.partition(",")[0]


@dataclass(frozen=True)
class Claim:
    """What a paper claims, beside what the record shows.

    Attributes
    ----------
    text : the claim
    published : its figure, or in words
    ours : ours, with spread
    verdict : "met", "missed", or "not comparable", with a reason of a few words where one is needed
    """

    text: str
    published: str
    ours: str
    verdict: str


@dataclass(frozen=True)
class Page:
    """A page of results.

    Attributes
    ----------
    name : of its files
    parts : its experiments
    tables : text files, by name, of a record
    quotes : what the sentences of the page quote from a record
    plots : how a plot is drawn from a record, by file name
    others : pages whose records the plots are drawn from too
    claims : what the paper claims, beside what a record shows
    package : where its module is: "papers", "people" or "speed"
    place : where its files are in the documentation; by default a folder with the package's name
    is_timed : whether the figures are seconds
    """

    name: str
    parts: tuple[Part, ...]
    tables: Callable[[Record], dict[str, str]]
    quotes: Callable[[Record], dict[str, Any]] = lambda record: {}
    plots: Mapping[str, Callable[[Record], Figure]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    claims: Callable[[Record], list[Claim]] = lambda record: []
    package: str = "papers"
    place: str | None = None
    is_timed: bool = False

    @property
    def folder(self) -> Path:
        """Where its template, tables and plots are."""
        return DOCS / (self.package if self.place is None else self.place)

    def record(self) -> Record:
        return Record(self.name)

    @cached_property
    def cells(self) -> list[tuple[Part, Cell]]:
        """Every cell with its part; no two may have the same key."""
        found = {}
        for part in self.parts:
            for cell in part.cells():
                if cell.key in found:
                    raise ValueError(f"The page {self.name} has two cells {cell.key}.")
                found[cell.key] = part, cell
        return list(found.values())

    def states(self, record: Record) -> Iterator[tuple[Part, Cell, str]]:
        """Yield each cell with the reason why its row is missing or out of date, if there is one."""
        for part, cell in self.cells:
            yield part, cell, record.state(cell, cell.script(part.compute))


# ---- computing


def compute(page: Page, parts: Iterable[str] | None = None, n_jobs: int = 2, again: bool = False) -> int:
    """Compute the rows that are missing or out of date, or `again` all of them, and return how many.

    Without `parts`, those that are not optional; rows of optional parts that are out of date are then dropped.
    """
    record = page.record()
    chosen = {part.name for part in page.parts if not part.is_optional} if parts is None else set(parts)
    due = []
    for part, cell, state in page.states(record):
        if part.name in chosen and (state or again):
            due.append((part, cell))
        elif parts is None and part.is_optional and state:
            record.rows.pop(cell.key, None)
    results = Parallel(n_jobs, return_as="generator_unordered")(
        delayed(_compute_at)(place, part.compute, cell) for place, (part, cell) in enumerate(due)
    )
    for place, result in tqdm(results, total=len(due), desc=page.name, disable=None):
        part, cell = due[place]
        record.add(cell, cell.script(part.compute), result)
    record.tidy(cell for _, cell in page.cells)
    return len(due)


def _compute_at(place: int, function: Callable[[Cell], Figures], cell: Cell) -> tuple[int, dict[str, Any]]:
    return place, compute_figures(function, cell)


def compute_figures(function: Callable[[Cell], Figures], cell: Cell) -> dict[str, Any]:
    """Compute a row: figures and seconds, commit and environment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        figures = function(cell)
        seconds = figures.pop("seconds", time.perf_counter() - start)
    return {
        "figures": {name: rounded(value) for name, value in figures.items()},
        "seconds": float(f"{seconds:.3g}"),
        "commit": commit(),
        "environment": environment(),
    }


def rounded(value: Any) -> Any:
    """Return figures as they are recorded: numbers with `DIGITS` significant digits, arrays as lists."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def are_same(one: Any, other: Any) -> bool:
    """Whether figures agree up to the last recorded digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other) or isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)


# ---- writing and checking


def texts(page: Page, record: Record) -> dict[Path, str]:
    """Return the tables and the page."""
    found = {page.folder / name: text for name, text in page.tables(record).items()}
    made_by = MADE_BY.format(name=page.name, package=page.package)
    found[page.folder / f"{page.name}.rst"] = made_by + render(page, record)
    return found


def render(page: Page, record: Record) -> str:
    """Return the page, with what its sentences quote."""
    templates = Environment(
        loader=FileSystemLoader(page.folder), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    templates.filters["dec"] = dec
    hours = sum(row["seconds"] for row in record.rows.values()) / 3600
    quoted = {"duration": duration(hours), "kernels": kernels_of(record)} | page.quotes(record)
    return templates.get_template(f"{page.name}.rst.jinja").render(quoted) + (
        origin(page, record) if page.parts else ""
    )


def origin(page: Page, record: Record) -> str:
    """Return what a page says at its end: of which commits its rows are, and what is out of date."""
    commits = Counter(row.get("confirmed", row["commit"]) for row in record.rows.values())
    named = [f"``{name}`` ({count})" for name, count in commits.most_common(NAMED)]
    more = f", and {len(commits) - NAMED} more" if len(commits) > NAMED else ""
    lines = [f"{len(record.rows)} rows, computed or confirmed at the commits {', '.join(named)}{more}."]
    for (part, model, state), count in gaps(page, record).items():
        lines.append(f"Out of date: {count} of {part}, {model} ({state}).")
    return "\n\nThe rows\n--------\n\n" + "\n\n".join(lines) + "\n"


def dec(value: float, digits: int = 3) -> str:
    """Return a figure between -1 and 1 as the pages write it, such as .905."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def duration(hours: float) -> str:
    """Return how long all rows took one after the other, in words."""
    if hours < 1:
        return f"{max(1, round(60 * hours))} minutes"
    return f"{hours:.1f} hours"


def kernels_of(record: Record) -> str:
    """Return the BLAS kernels that the rows were computed with."""
    return ", ".join(
        sorted({text.split()[-1] for one in record.shared["environment"].values() for text in one["blas"]})
    )


def write(page: Page, record: Record) -> None:
    """Write the tables and the page, and draw the plots."""
    for path, text in texts(page, record).items():
        path.write_text(text, encoding="utf-8")
    for name, draw in page.plots.items():
        with plain_text():
            draw(record).savefig(page.folder / name, metadata=_metadata(name, stamp(page, record, draw)), dpi=120)


def stamp(page: Page, record: Record, draw: Callable[[Record], Figure]) -> str:
    """Return what a plot is made of: the figures of its records, and the script that draws it."""
    records = [record, *map(Record, page.others)]
    rows = [[*map(str, key), row["figures"]] for one in records for key, row in one.rows.items()]
    return f"record {digest(repr(rows))}, script {script_of(draw).version}"


def _metadata(name: str, text: str) -> dict[str, Any]:
    return {"Description": text, "Date": None} if name.endswith(".svg") else {"Description": text, "Software": None}


def gaps(page: Page, record: Record) -> Counter[tuple[str, str, str]]:
    """Count the rows that are missing or out of date: by part, model and what is the matter."""
    return Counter(
        (part.name, cell.model, state)
        for part, cell, state in page.states(record)
        if state and not (part.is_optional and state == "missing")
    )


def notes(page: Page) -> Iterator[str]:
    """Yield what is out of date."""
    remedy = "measure again on an idle machine" if page.is_timed else "to be computed again"
    for (part, model, state), count in gaps(page, page.record()).items():
        if state != "missing":
            yield f"{page.name}: {part}, {model}: {count} rows, {state}; {remedy}"


def problems(page: Page) -> Iterator[str]:
    """Yield which rows are missing or belong to no cell, and where page, tables or plots differ from the record."""
    record = page.record()
    missing = {key: count for key, count in gaps(page, record).items() if key[2] == "missing"}
    for (part, model, state), count in missing.items():
        yield f"{page.name}: {part}, {model}: {count} rows, {state}"
    wanted = {cell.key for _, cell in page.cells}
    if unknown := sum(key not in wanted for key in record.rows):
        yield f"{page.name}: {unknown} rows belong to no cell"
    if missing:
        return  # tables need every row
    for path, text in texts(page, record).items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield f"{page.name}: {path.name} differs from the record"
    for name, draw in page.plots.items():
        path = page.folder / name
        if not path.exists() or stamp(page, record, draw).encode() not in path.read_bytes():
            yield f"{page.name}: {name} was drawn from other results, or by another script"
