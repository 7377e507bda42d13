"""Wide tables: whether the rows are items and the columns annotators, or the other way round.

Decided by the first of these that says something; if none does, or two of a kind contradict each other, the table is
refused with both readings.

1. What the first column is called: card, product, … or participant, rater, …
2. What rows and columns are called: participant 1, rater_2 or J3 are people, Q3 and card 4 are items; P1 may be either.
3. Names of groups that only one row, or only one column, uses: people name their own groups, and use a name for
   several items.
4. Numbered groups without gaps: whoever numbers their groups uses 1 to k, or 0 to k - 1, and skips none, while the
   numbers that several people gave one item have gaps. It says nothing if the same cells, shuffled, have no gaps
   either: long rows of few numbers are full whoever gave them.

Labels, which all annotators share, are told by names alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from consilience.annotations.files.vocabulary import named, normal
from consilience.annotations.names import Coded

Side = Literal["rows", "columns"]
INITIALS = {
    "j": "judge",
    "judge": "judge",
    "ann": "annotator",
    "annot": "annotator",
    "resp": "respondent",
    "part": "participant",
}
QUESTIONS = {"q": "question", "stim": "stimulus"}
ENOUGH = 3  # names, or vectors with gaps, that count as evidence
SHUFFLES = 19  # of which none may be as full: one in twenty


@dataclass(frozen=True)
class Orientation:
    """On which side of a wide table the annotators are.

    Attributes
    ----------
    annotators : {"rows", "columns"}
    noun_of_rows, noun_of_columns : str
        What they are called, "" if their names do not say.
    why : str
        What decided.
    """

    annotators: Side
    noun_of_rows: str
    noun_of_columns: str
    why: str


def orientation(key: str, rows: list[Any], columns: list[Any], cells: Coded | None) -> Orientation | None:
    """Find the side of the annotators by the names first, then by the cells; None if nothing tells.

    Parameters
    ----------
    key : str
        What the column of the rows' names is called.
    rows, columns : names
    cells : Coded, row by row; None if they hold labels
    """
    of_key, of_rows, of_columns = named(key), _kind_of_names(rows), _kind_of_names(columns)
    nouns = (of_key.noun if of_key else of_rows[1], of_columns[1])
    if of_key and of_key.role in {"item", "annotator"}:
        return Orientation("rows" if of_key.role == "annotator" else "columns", *nouns, f"the column {key!r}")
    told = {
        ("item", ""): "columns",
        ("annotator", ""): "rows",
        ("", "item"): "rows",
        ("", "annotator"): "columns",
        ("item", "annotator"): "columns",
        ("annotator", "item"): "rows",
    }
    side = told.get((of_rows[0], of_columns[0]))
    if side:
        return Orientation(side, *nouns, "their names")  # type: ignore[arg-type]
    if cells is None:
        return None
    side, why = _by_own_names(cells, len(rows), len(columns))
    if side is None:
        side, why = _by_numbering(cells, len(rows), len(columns))
    return None if side is None else Orientation(side, *nouns, why)


def _kind_of_names(names: Iterable[Any]) -> tuple[str, str]:
    """Return the role and the noun that names such as "rater 1" and "rater 2" have in common, or nothing."""
    stems = Counter(_stem(name) for name in names)
    (stem, count) = stems.most_common(1)[0]
    if not stem or count < 0.8 * sum(stems.values()):
        return "", ""
    stem = INITIALS.get(stem, QUESTIONS.get(stem, stem))
    found = named(stem)
    return (found.role, found.noun) if found and found.role in {"item", "annotator"} else ("", "")


def _stem(name: Any) -> str:
    """Return what stands before the number in a name such as "Rater 12" or "user_a3", nothing if there is none."""
    parts = re.fullmatch(r"([^\W\d]+)(?: [^\W\d])? ?\d+(?: \d+)*", normal(name))
    return parts[1] if parts else ""


def look_alike(names: list[Any]) -> bool:
    """Whether names are one stem and numbers, such as V1, V2, or numbers alone."""
    texts = [str(name) for name in names]
    return len({re.sub(r"\d+", "#", text) for text in texts}) == 1 and all(re.search(r"\d", text) for text in texts)


def _by_own_names(cells: Coded, n_rows: int, n_columns: int) -> tuple[Side | None, str]:
    """Find the side by names of groups that are used several times, by one row or one column only."""
    if pd.api.types.is_integer_dtype(cells.names):
        return None, ""
    place = np.flatnonzero(~cells.missing)
    row, column = np.divmod(place, n_columns)
    frame = pd.DataFrame({"name": cells.codes[place], "row": row, "column": column})
    used = frame.groupby("name").agg(count=("row", "size"), rows=("row", "nunique"), columns=("column", "nunique"))
    several = used[used["count"] > 1]
    in_one_column, in_one_row = int((several["columns"] == 1).sum()), int((several["rows"] == 1).sum())
    for side, mine, other in (("columns", in_one_column, in_one_row), ("rows", in_one_row, in_one_column)):
        if mine >= ENOUGH and mine >= 5 * other:
            one = side.removesuffix("s")
            return side, f"{mine} names of groups that one {one} alone uses, and several times"  # type: ignore[return-value]
    return None, ""


def _by_numbering(cells: Coded, n_rows: int, n_columns: int) -> tuple[Side | None, str]:
    """Find the side whose numbers have no gaps."""
    numbers = _numbers(cells.names)
    if numbers is None:
        return None, ""
    values = np.append(numbers, -1)[cells.codes].reshape(n_rows, n_columns)
    with_gaps = {"rows": _with_gaps(values), "columns": _with_gaps(values.T)}
    for side, other in (("columns", "rows"), ("rows", "columns")):
        if with_gaps[side] == 0 and with_gaps[other] >= ENOUGH and _would_have_gaps(values, side):  # type: ignore[arg-type]
            return (
                side,
                f"the numbers of groups have gaps in {with_gaps[other]} {other} and in no {side.removesuffix('s')}",
            )  # type: ignore[return-value]
    return None, ""


def _would_have_gaps(values: np.ndarray, side: Side) -> bool:
    """Whether a side without gaps would have some if the cells were dealt out by chance."""
    rng = np.random.default_rng(0)
    filled = np.flatnonzero(values.ravel() >= 0)
    for _ in range(SHUFFLES):
        dealt = np.full(values.size, -1)
        dealt[filled] = rng.permutation(values.ravel()[filled])
        shuffled = dealt.reshape(values.shape)
        if _with_gaps(shuffled if side == "rows" else shuffled.T) == 0:
            return False
    return True


def _with_gaps(values: np.ndarray) -> int:
    """Count the rows whose numbers are neither 1 to k nor 0 to k - 1, -1 being blank."""
    blank = values < 0
    high = values.max(1, initial=-1)
    low = np.where(blank, np.iinfo(np.int64).max, values).min(1, initial=np.iinfo(np.int64).max)
    ordered = np.sort(np.where(blank, high[:, None], values), axis=1)
    n_distinct = 1 + (np.diff(ordered, axis=1) > 0).sum(1)
    full = (low <= 1) & (high - low == n_distinct - 1)
    return int((~full & (high >= 0)).sum())


def _numbers(names: pd.Index) -> np.ndarray | None:
    """Return the numbers of groups that are numbers, or one stem and a number, such as G1; None if there are none."""
    if pd.api.types.is_integer_dtype(names):
        return names.to_numpy(np.int64) if len(names) and names.min() >= 0 else None
    parts = [re.fullmatch(r"(.*?)(\d{1,6})(?:\.0)?", str(name).strip()) for name in names]
    if not parts or None in parts or len({part[1] for part in parts if part}) > 1:
        return None
    return np.array([int(part[2]) for part in parts if part])
