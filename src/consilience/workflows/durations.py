"""How long each annotator took, from a table: numbers of seconds or minutes, or times such as 0:04:13."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.annotations.files.table import Table
from consilience.annotations.files.vocabulary import normal
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.workflows.people import people_in, person_column, require_some
from consilience.workflows.tables import read_table

FACTORS = {"seconds": 1, "minutes": 60}
OF_CLOCK = ("time", "duration", "time taken")
CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)")


def read_seconds(path: Path, annotators: pd.Index) -> pd.Series:
    """Read how long annotators took; a table with several rows of somebody must repeat the time.

    People who are not among the annotators are left out, and noted. Raises InputError: a column is missing, a time
    cannot be read, somebody has two times, or nobody is among the annotators.
    """
    table = read_table(path)
    person, time, factor = _columns(table, path)
    rows, names = people_in(table, person, annotators)
    found: dict[Any, float] = {}
    for row, name, cell in zip(rows, names, table.frame[time].to_numpy(object)[rows], strict=True):
        seconds = _seconds(cell, factor)
        if seconds is None:
            what = "a number" if factor else "a time such as 0:04:13"
            raise InputError(f"{path}: Expected {what} in {table.where(row)}, column {time!r}. Found {plain(cell)!r}.")
        if math.isnan(seconds):
            continue
        if found.setdefault(name, seconds) != seconds:
            raise InputError(
                f"{path}: The annotator {plain(name)!r} has two times, the second in {table.where(row)}; give one row "
                "for each annotator."
            )
    require_some(pd.Index(list(found)), annotators, path, person, "time")
    return pd.Series({name: value for name, value in found.items() if name in annotators}, dtype=float)


def _columns(table: Table, path: Path) -> tuple[Any, Any, int | None]:
    """Return the columns of the annotators and of the times, and what a number of the latter is worth in seconds."""
    shown = ", ".join(map(str, table.columns))
    times = [name for name in table.columns if normal(name) in (*FACTORS, *OF_CLOCK)]
    if len(times) != 1:
        raise InputError(f"{path}: One column must be called 'seconds', 'minutes' or 'time'. Found {shown}.")
    person = person_column(table, path, [name for name in table.columns if name != times[0]])
    return person, times[0], FACTORS.get(normal(times[0]))


def _seconds(cell: Any, factor: int | None) -> float | None:
    """Return the seconds of a cell: NaN if it is blank, None if it is no time; `factor` is None of times of a clock."""
    text = "" if cell is None or cell is pd.NA or cell is pd.NaT else str(cell).strip()
    if text in {"", "nan"}:
        return math.nan
    if match := CLOCK.fullmatch(text):
        hours, minutes, seconds = match.groups()
        return 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return factor * number if factor and 0 <= number < math.inf else None
