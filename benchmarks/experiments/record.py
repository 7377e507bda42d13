"""The record of results: one row a fit, in a file of JSON lines for each page, and the record of sentinels.

A row says what was fitted (part, data, model, draw), with which settings, what came out (figures, seconds), by which
version of the script, on which machine, at which commit. Settings and machines are written once each, and rows name
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiments.scripts import Script, digest, script_of

FOLDER = Path(__file__).parents[1] / "results"

Key = tuple[str, str, str, int]
"""Part, data, model and draw: what tells the rows of a page apart."""


@dataclass(frozen=True)
class Cell:
    """What a row of the record is of.

    Attributes
    ----------
    part : what is computed
    data : data set, or the setting of a simulation
    model : name of a model in the tables
    draw : number of a draw of data, annotators, folds or starts
    estimator : the model with its settings, where it is one
    settings : further settings, which JSON can hold
    uses : functions and classes that the result depends on, besides the part's own
    """

    part: str
    data: str
    model: str
    draw: int
    estimator: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    uses: tuple[Any, ...] = ()

    @property
    def key(self) -> Key:
        return self.part, self.data, self.model, self.draw

    def script(self, compute: Any) -> Script:
        """Return what turns a fit into figures: what a function and those of `uses` reach."""
        return script_of(compute, *self.uses)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of all parameters of the estimator, and of estimators in it."""
        own = {} if self.estimator is None else self.estimator.get_params(deep=True)
        made = {"": self.estimator} | {
            f"{name}__": value for name, value in own.items() if hasattr(value, "get_params")
        }
        return {
            f"{before}{name}": default
            for before, one in made.items()
            if one is not None
            for name, default in default_settings(type(one)).items()
        }

    @cached_property
    def all_settings(self) -> dict[str, Any]:
        """Every parameter of the estimator, and the further settings."""
        own = {} if self.estimator is None else self.estimator.get_params(deep=True)
        return {name: plain(value) for name, value in sorted({**own, **self.settings}.items())}


@cache
def default_settings(kind: type) -> dict[str, Any]:
    """The defaults of the parameters of an estimator's class."""
    return {name: plain(parameter.default) for name, parameter in signature(kind).parameters.items()}


def plain(value: Any) -> Any:
    """Return a setting as JSON holds it: numbers and texts as they are, other objects by what they print."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return getattr(value, "__qualname__", None) or " ".join(repr(value).split())


class Record:
    """The rows of one page.

    Parameters
    ----------
    page : its name
    folder : where its file is
    """

    def __init__(self, page: str, folder: Path = FOLDER) -> None:
        self.path = folder / f"{page}.jsonl"
        self.rows: dict[Key, dict[str, Any]] = {}
        self.shared: dict[str, dict[str, Any]] = {"settings": {}, "environment": {}}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        for kind, known in self.shared.items():
            if entry.keys() == {kind, "is"}:
                known[entry[kind]] = entry["is"]
                return
        self.rows[entry["part"], entry["data"], entry["model"], entry["draw"]] = entry

    def settings(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that a row was computed with."""
        found: dict[str, Any] = self.shared["settings"][row["settings"]]
        return found

    def state(self, cell: Cell, script: Script) -> str:
        """Return why the row of a cell is missing or out of date, or an empty text.

        A parameter that the row does not have is new; at its default, it changes nothing.
        """
        row = self.rows.get(cell.key)
        if row is None:
            return "missing"
        known = cell.defaults | self.settings(row)
        if any(known.get(name) != value for name, value in cell.all_settings.items()) or (
            self.settings(row).keys() - cell.all_settings.keys()
        ):
            return "other settings"
        if row["script"] != script.version:
            return "another script"
        return f"out of date since {row['outdated']}" if "outdated" in row else ""

    def add(self, cell: Cell, script: Script, result: dict[str, Any]) -> None:
        """Add a row, and append it to the file: an interrupted run loses nothing.

        result : figures, seconds, commit, environment
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row: dict[str, Any] = dict(zip(("part", "data", "model", "draw"), cell.key))
        row |= result | {"settings": cell.all_settings, "script": script.version}
        new = []
        for kind in self.shared:
            value, row[kind] = row[kind], digest(repr(sorted(row[kind].items())))
            if row[kind] not in self.shared[kind]:
                new.append({kind: row[kind], "is": value})
        for entry in [*new, row]:
            self._take(entry)
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(_line(entry) for entry in [*new, row])

    def confirm(self, cell: Cell, script: Script, commit: str) -> None:
        """Note that a row holds, after it or another of its group gave the same figures at a commit."""
        row = self.rows[cell.key]
        row.pop("outdated", None)
        row |= {"script": script.version, "confirmed": commit}

    def outdate(self, cell: Cell, commit: str) -> None:
        """Mark a row as out of date since a commit."""
        self.rows[cell.key].setdefault("outdated", commit)

    def tidy(self, cells: Iterable[Cell]) -> None:
        """Write the file anew: the rows of these cells in their order, and what they name."""
        rows = [self.rows[cell.key] for cell in cells if cell.key in self.rows]
        self.rows = {(row["part"], row["data"], row["model"], row["draw"]): row for row in rows}
        entries: list[dict[str, Any]] = []
        for kind, known in self.shared.items():
            used = dict.fromkeys(row[kind] for row in rows)
            self.shared[kind] = {key: known[key] for key in used}
            entries += [{kind: key, "is": known[key]} for key in used]
        text = "".join(map(_line, [*entries, *rows]))
        if (self.path.read_text(encoding="utf-8") if self.path.exists() else "") != text:
            self.path.write_text(text, encoding="utf-8")

    def frame(self, part: str, **only: Any) -> pd.DataFrame:
        """Return the rows of a part, or of some `data`, `model` or `draw`: these, seconds, a column for each figure."""
        only["part"] = part
        rows = [row for row in self.rows.values() if all(row[name] == value for name, value in only.items())]
        return pd.DataFrame(
            [{name: row[name] for name in ("data", "model", "draw", "seconds")} | row["figures"] for row in rows]
        )


class SentinelRecord:
    """The recorded figures of sentinels, each with the commit at which they were taken."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.path = folder / "sentinels.jsonl"
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.entries: dict[str, dict[str, Any]] = {entry["sentinel"]: entry for entry in map(json.loads, lines)}

    def figures(self, key: str) -> dict[str, Any] | None:
        return self.entries[key]["figures"] if key in self.entries else None

    def add(self, key: str, figures: Mapping[str, Any], commit: str) -> None:
        self.entries[key] = {"sentinel": key, "commit": commit, "figures": dict(figures)}

    def write(self, keys: Iterable[str]) -> None:
        """Write the file anew: the sentinels of these keys, in their order."""
        self.path.write_text("".join(_line(self.entries[key]) for key in sorted(keys)), encoding="utf-8")


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"
