"""How long each annotator took, from a table: numbers of seconds or minutes, or times such as 0:04:13."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.analysis.names import quantify
from consilience.annotations.files.table import Table
from consilience.annotations.files.vocabulary import normal, role_of_name
from consilience.annotations.names import MISSING, plain
from consilience.errors import InputError
from consilience.workflows.notes import note
from consilience.workflows.tables import names_as, read_table
from consilience.workflows.text import others

FACTORS = {"seconds": 1, "minutes": 60}
OF_CLOCK = ("time", "duration", "time taken")
CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)")


def read_seconds(path: Path, annotators: pd.Index) -> pd.Series:
    """Read how long annotators took; a table with several rows of somebody must repeat the time.

    People who are not among the annotators are left out, and noted.

    Raises
    ------
    InputError
        A column is missing, a time cannot be read, somebody has two times, or nobody is among the annotators.
    """
    table = read_table(path)
    person, time, factor = _columns(table, path)
    coded = table.column(person)
    known = coded.codes != MISSING
    names = names_as(pd.Index(coded.names.take(coded.codes[known])), annotators)
    rows = known.nonzero()[0].tolist()
    found: dict[Any, float] = {}
    for row, name, cell in zip(rows, names, table.frame[time].to_numpy(object)[known], strict=True):
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
    absent = [name for name in found if name not in annotators]
    if len(absent) == len(found):
        raise InputError(
            f"{path}: None of the annotators has a time in it. Its column {person!r} was taken for their names."
        )
    if absent:
        note(f"{path}: {plain(absent[0])!r}{others(len(absent), 'and')} gave no annotations; their times are not used.")
    without = len(annotators) - (len(found) - len(absent))
    if without:
        note(f"{path}: {quantify(without, 'annotator')} {'has' if without == 1 else 'have'} no time in it.")
    return pd.Series({name: value for name, value in found.items() if name in annotators}, dtype=float)


def _columns(table: Table, path: Path) -> tuple[Any, Any, int | None]:
    """Return the columns of the annotators and of the times, and what a number of the latter is worth in seconds."""
    shown = ", ".join(map(str, table.columns))
    times = [name for name in table.columns if normal(name) in (*FACTORS, *OF_CLOCK)]
    if len(times) != 1:
        raise InputError(f"{path}: One column must be called 'seconds', 'minutes' or 'time'. Found {shown}.")
    people = [one for one in table.columns if (called := role_of_name(one)) is not None and called.role == "annotator"]
    rest = [name for name in table.columns if name != times[0]]
    if len(people) != 1 and len(rest) != 1:
        raise InputError(f"{path}: One column must be called 'annotator', or be the only other. Found {shown}.")
    return (people if len(people) == 1 else rest)[0], times[0], FACTORS.get(normal(times[0]))


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
