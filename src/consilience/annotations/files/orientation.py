"""Wide tables: whether the rows are items and the columns annotators, or the other way round.

Decided by the first of these that applies; if none does, or two of the same rank contradict each other, the table is
refused with both readings.

1. The name of the first column: card, product, … or participant, rater, …
2. The names of rows and columns: participant 1, rater_2 or J3 are people, Q3 and card 4 are items; P1 may be either.
3. Names of groups that only one row, or only one column, uses: people name their own groups, and use a name for
   several items.
4. Numbered groups without gaps: people who number their groups use 1 to k, or 0 to k - 1, without gaps, while the
   numbers that several people gave one item have gaps. This counts only if randomly exchanged cells would have gaps.

The orientation of labels, which all annotators share, is decided by names alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from consilience.annotations.files.vocabulary import normal, role_of_name
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
N_EXCHANGES = 100
MOST_CELLS = 20_000  # number of cells that are exchanged
ENOUGH = 3  # number of names, or of vectors with gaps, that count as evidence


@dataclass(frozen=True)
class Orientation:
    """The side of a wide table on which the annotators are.

    annotators : {"rows", "columns"}
    noun_of_rows, noun_of_columns : what they are called, "" if unknown.
    why : what decided it.
    """

    annotators: Side
    noun_of_rows: str
    noun_of_columns: str
    why: str


def orientation(key: str, rows: list[Any], columns: list[Any], cells: Coded | None) -> Orientation | None:
    """Find the side of the annotators by names, then by cells; None if neither decides.

    key : name of the column of the rows' names.
    rows, columns : names
    cells : Coded, row by row; None if they are labels
    """
    of_key, of_rows, of_columns = role_of_name(key), kind_of_names(rows), kind_of_names(columns)
    nouns = (of_key.noun if of_key else of_rows[1], of_columns[1])
    if of_key and of_key.role in {"item", "annotator"}:
        return Orientation("rows" if of_key.role == "annotator" else "columns", *nouns, f"the column {key!r}")
    sides = {
        ("item", ""): "columns",
        ("annotator", ""): "rows",
        ("", "item"): "rows",
        ("", "annotator"): "columns",
        ("item", "annotator"): "columns",
        ("annotator", "item"): "rows",
    }
    side = sides.get((of_rows[0], of_columns[0]))
    if side:
        return Orientation(side, *nouns, "their names")  # type: ignore[arg-type]
    if cells is None:
        return None
    side, why = _by_own_names(cells, len(rows), len(columns))
    if side is None:
        side, why = _by_numbering(cells, rows, columns)
    return None if side is None else Orientation(side, *nouns, why)


def kind_of_names(names: Iterable[Any]) -> tuple[str, str]:
    """Return the common role and noun of names such as "rater 1" and "rater 2", or empty text."""
    stems = Counter(_stem(name) for name in names)
    (stem, count) = stems.most_common(1)[0]
    if not stem or count < 0.8 * sum(stems.values()):
        return "", ""
    stem = INITIALS.get(stem, QUESTIONS.get(stem, stem))
    found = role_of_name(stem)
    return (found.role, found.noun) if found and found.role in {"item", "annotator"} else ("", "")


def _stem(name: Any) -> str:
    """Return the part before the number in a name such as "Rater 12" or "user_a3", empty if there is no number."""
    parts = re.fullmatch(r"([^\W\d]+)(?: [^\W\d])? ?\d+(?: \d+)*", normal(name))
    return parts[1] if parts else ""


def look_alike(names: list[Any]) -> bool:
    """Whether names are one stem with numbers, such as V1, V2, or only numbers."""
    texts = [str(name) for name in names]
    return len({re.sub(r"\d+", "#", text) for text in texts}) == 1 and all(re.search(r"\d", text) for text in texts)


def _by_own_names(cells: Coded, n_rows: int, n_columns: int) -> tuple[Side | None, str]:
    """Find the side by names of groups that occur several times, in one row or one column only."""
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
            return side, f"{mine} names of groups are used several times, but in one {one} only"  # type: ignore[return-value]
    return None, ""


def _by_numbering(cells: Coded, rows: list[Any], columns: list[Any]) -> tuple[Side | None, str]:
    """Find the side whose numbers have no gaps."""
    numbers = _numbers(cells.names)
    if numbers is None:
        return None, ""
    values = np.append(numbers, -1)[cells.codes].reshape(len(rows), len(columns))
    with_gaps = {"rows": n_with_gaps(values), "columns": n_with_gaps(values.T)}
    for side, other in (("columns", "rows"), ("rows", "columns")):
        telling = with_gaps[side] == 0 and with_gaps[other] >= ENOUGH
        if telling and not _by_chance(values if side == "rows" else values.T):
            gaps = f"the numbers of groups have gaps in {with_gaps[other]} {other} and in no {side.removesuffix('s')}"
            return side, gaps  # type: ignore[return-value]
    return None, ""


def _by_chance(values: np.ndarray) -> bool:
    """Whether randomly exchanged cells would have as few gaps, in more than one of a hundred tables."""
    if values.size > MOST_CELLS:
        values = values[: max(MOST_CELLS // values.shape[1], 1)]
    rng = np.random.default_rng(0)  # the same answer at every reading
    place = np.flatnonzero(values >= 0)
    exchanged = values.copy()
    for _ in range(N_EXCHANGES):
        exchanged.flat[place] = rng.permutation(values.flat[place])
        if n_with_gaps(exchanged) == 0:
            return True
    return False


def n_with_gaps(values: np.ndarray) -> int:
    """Count the rows that `have_gaps`."""
    return int(have_gaps(values).sum())


def have_gaps(values: np.ndarray) -> np.ndarray:
    """Which rows have numbers that are neither 1 to k nor 0 to k - 1; negative ones are blank."""
    ordered = np.sort(values, axis=1)
    filled = ordered >= 0
    distinct = filled[:, 0].astype(int) + ((ordered[:, 1:] != ordered[:, :-1]) & filled[:, 1:]).sum(1)
    highest = ordered[:, -1]
    lowest = np.where(filled, ordered, highest[:, None]).min(1)
    without_gaps = (lowest <= 1) & (highest - lowest == distinct - 1)
    return np.asarray(~without_gaps & (distinct > 0))


def _numbers(names: pd.Index) -> np.ndarray | None:
    """Return the numbers of groups named by numbers, or by one stem and numbers, such as G1; None if there are none."""
    if pd.api.types.is_integer_dtype(names):
        return names.to_numpy(np.int64) if len(names) and names.min() >= 0 else None
    parts = [re.fullmatch(r"(.*?)(\d{1,6})(?:\.0)?", str(name).strip()) for name in names]
    if not parts or None in parts or len({part[1] for part in parts if part}) > 1:
        return None
    return np.array([int(part[2]) for part in parts if part])
