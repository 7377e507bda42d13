"""Rows of a table that are not data: headers that are repeated, rules, footnotes, and properties of the annotators.

They are left out with a note that names their lines, or refused if they may be data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import quote
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import is_number, quantify
from consilience.annotations.files.vocabulary import (
    ABOUT_PEOPLE,
    COUNTS_OF_GROUPS,
    NO_PERSON,
    TOTALS,
    normal,
    role_of_name,
)
from consilience.errors import AnnotationError

RULE = re.compile(r":?[-=_—–+]{2,}:?")  # below the header of a table in Markdown, or between its parts
RULES = {sign * n for sign in "-=_—–" for n in range(2, 200)} | {":---", "---:", ":---:", ":--"}
FOOTNOTE = re.compile(
    r"\W*(notes?|n\.?b\.?|source|legend|key|remarks?|exported|generated|created|downloaded|last (updated|modified)|data"
    r"|anmerkung(en)?|hinweis|quelle|legende|remarque|fuente|nota|fonte|legenda|note a|total|n\s*=.*|end of \w+"
    r"|注|備考|примечание|источник)\b.*|[*†‡§©(#].*|\d+ (rows?|cards?|items?|participants?|responses?)\b.*",
    re.IGNORECASE | re.DOTALL,
)
UNIT = re.compile(r" (min|mins|minutes|minuten|sec|secs|seconds|sekunden|s|h|hrs|hours|years|yrs|jahre|ans|años)$")
MOST_SEARCHED = 20_000  # rows; larger tables are not put together by hand
MOST_SHOWN = 3
FEWEST_WORDS = 4  # of a sentence
MOST_HEADERS = 2  # rows of further names below the header
WIDE = 3  # least number of columns of a table that has footnotes


def without_stray_rows(table: Table) -> tuple[Table, list[str]]:
    """Return the table without the rows that are not data, and notes that name their lines.

    Raises AnnotationError: a row seems to begin a second table, or to name the columns in another way.
    """
    notes: list[str] = []
    for find, what in (
        (_rules, "of dashes"),
        (_repeated_headers, "that repeats the names of the columns"),
        (_second_headers, "that names the columns a second time"),
        (_footnotes, "below the table"),
        (_about_people, "about the annotators, or of totals"),
    ):
        rows = find(table)
        if len(rows):
            notes.append(_left_out(table, rows, what))
            table = table.rows(np.setdiff1d(np.arange(len(table.frame)), rows))
    _refuse_second_table(table)
    return table, notes


def _left_out(table: Table, rows: Sequence[int], what: str) -> str:
    places = [table.where(int(row)) for row in rows[:MOST_SHOWN]]
    more = ", …" if len(rows) > MOST_SHOWN else ""
    several = what.replace("that repeats", "that repeat").replace("that names", "that name")
    said = _text(next((cell for cell in table.frame.iloc[int(rows[0])] if _text(cell)), ""))
    shown = f", such as {said[:60]!r}" if what in ("below the table", "about the annotators, or of totals") else ""
    about = what if len(rows) == 1 else several
    return f"{quantify(len(rows), 'row')} {about} left out ({', '.join(places)}{more}){shown}"


def _text(cell: Any) -> str:
    return "" if cell is None or (isinstance(cell, float) and cell != cell) or cell is pd.NA else str(cell).strip()


def _cells(table: Table, row: Any) -> list[str]:
    return [_text(cell) for cell in table.frame.iloc[row]]


def _rules(table: Table) -> list[int]:
    """Find rows whose cells are all dashes."""
    frame = table.frame
    first = next((frame.iloc[:, i] for i in range(frame.shape[1]) if str(frame.columns[i]).strip()), None)
    if first is None or not _may_hold_text(first):
        return []
    return [
        int(row)
        for row in _rows_with(table, first.name, RULES)
        if len(cells := [cell for cell in _cells(table, row) if cell]) > 1 and all(map(RULE.fullmatch, cells))
    ]


def _rows_with(table: Table, name: Any, texts: Set[str]) -> np.ndarray:
    """Find the rows in which a column holds one of some texts."""
    column = table.frame[name]
    if not isinstance(column.dtype, pd.StringDtype):
        return np.flatnonzero(column.isin(texts))
    coded = table.code(name)  # has fewer names than rows, and is needed later
    # pandas converts each text at a microsecond or two, however few names there are
    is_one = [one in texts for one in coded.names] if len(coded.names) < len(texts) else coded.names.isin(texts)
    wanted = np.append(np.asarray(is_one, dtype=bool), False)
    return np.flatnonzero(wanted[coded.codes]) if wanted.any() else np.empty(0, dtype=np.intp)


def _may_hold_text(column: pd.Series) -> bool:
    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column))


def _repeated_headers(table: Table) -> list[int]:
    """Find rows whose cells are the names of their columns."""
    names = [str(name).strip().casefold() for name in table.columns]
    place = next((i for i, name in enumerate(names) if name), None)
    if place is None or not _may_hold_text(table.frame.iloc[:, place]):
        return []
    name = str(table.columns[place])
    column = table.frame.iloc[:, place]
    spelled = {form(text) for form in (str.strip, str.lower, str.upper, str.title, str.capitalize) for text in (name,)}
    spelled |= {f"{text} " for text in spelled} | {f" {text}" for text in spelled} | {name}
    found = []
    for row in _rows_with(table, column.name, spelled):
        cells = [cell.casefold() for cell in _cells(table, row)]
        filled = [(cell, name) for cell, name in zip(cells, names) if cell]
        if len(filled) > 1 and 2 * len(filled) >= len(names) and all(cell == name for cell, name in filled):
            found.append(int(row))
    return found


def _second_headers(table: Table) -> list[int]:
    """Find further lines of names above the data of a long table, such as the questions of a survey.

    Raises AnnotationError: the table is wide: the names of its items or annotators may be in either line.
    """
    first = range(min(MOST_HEADERS + 1, len(table.frame)))
    found = _block(first, [_names_columns(table, row, _cells(table, row)) for row in first])
    if len(found) == len(first):
        found = []  # names such as "item 1" and "rater 2"
    identifiers = [
        row for row in range(min(3, len(table.frame))) if any("ImportId" in cell for cell in _cells(table, row))
    ]
    found = sorted({*found, *(range(identifiers[-1] + 1) if identifiers else ())})
    heads = {head.role for name in table.columns if (head := role_of_name(name)) is not None}
    if found and len(heads) < 2:
        raise AnnotationError(
            f"{_capital(table.where(found[0]))} seems to name the columns a second time "
            f"({quote([cell for cell in _cells(table, found[0]) if cell])}); keep one line of names."
        )
    return found


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _names_columns(table: Table, row: int, cells: list[str]) -> bool:
    """Whether a row names the columns: those with usual names in other words, or all others in words above numbers."""
    heads = [
        (role_of_name(name), cell, str(name))
        for name, cell in zip(table.columns, cells)
        if role_of_name(name) is not None
    ]
    if sum(map(bool, cells)) < 2 or any(is_number(cell) for cell in cells if cell):
        return False
    heads = [(head, cell.rstrip("?"), name) for head, cell, name in heads]
    below = table.frame.iloc[row + 1 : row + 1 + MOST_SEARCHED]
    others = [i for i, name in enumerate(table.columns) if role_of_name(name) is None and cells[i]]
    if heads and all(cell and (_same_role(head, cell) or normal(cell) == normal(name)) for head, cell, name in heads):
        rare = all(not (below.iloc[:, i].astype(str).str.strip() == cells[i]).any() for i in others)
        return len({head.role for head, _, _ in heads if head}) > 1 or (rare and bool(others))
    if len(others) < WIDE or len(below) < WIDE:
        return False
    n_words = 0
    for i in others:
        n_words += not _is_numeric(below.iloc[:, i])
        if len(others) - n_words < 0.8 * len(others):
            return False
    return True


def _same_role(head: Any, cell: str) -> bool:
    found = role_of_name(cell)
    return (found is not None and found.role == head.role) or (head is not None and head.noun in normal(cell).split())


def _is_numeric(column: pd.Series) -> bool:
    texts = [text for cell in np.asarray(column.array[:200], dtype=object) if (text := _text(cell))]
    return len(texts) > 1 and all(map(is_number, texts))


def _footnotes(table: Table) -> list[int]:
    """Find rows at the end with one cell, a sentence or a remark, in a table of several columns."""
    frame = table.frame
    if frame.shape[1] < WIDE or not _may_hold_text(frame.iloc[:, 0]):
        return []
    found: list[int] = []
    longest = None
    for row in range(len(frame) - 1, -1, -1):
        cells = _cells(table, row)
        filled = [cell for cell in cells if cell]
        if len(filled) != 1 or not cells[0]:
            break
        if longest is None:
            longest = max((len(_text(cell)) for cell in frame.iloc[: max(row, 1), 0].head(MOST_SEARCHED)), default=0)
        is_sentence = len(cells[0].split()) >= FEWEST_WORDS and (cells[0][-1] in ".!" or len(cells[0]) > 1.5 * longest)
        if not (FOOTNOTE.fullmatch(cells[0]) or is_sentence):
            break
        found.append(row)
    return sorted(found)


def _about_people(table: Table) -> list[int]:
    """Find rows at the top or bottom of a wide table that describe its columns: age, sex, number of groups.

    Raises AnnotationError: such a row holds values that the others hold, too, so that it may be an item.
    """
    frame = table.frame
    if frame.shape[1] < WIDE or len(frame) < 4 or len(frame) > MOST_SEARCHED or not _may_hold_text(frame.iloc[:, 0]):
        return []
    names = [UNIT.sub("", normal(cell)) for cell in frame.iloc[:, 0]]
    is_beside = [name in ABOUT_PEOPLE or name in COUNTS_OF_GROUPS or name in TOTALS for name in names]
    edges = [*_block(range(len(names)), is_beside), *_block(range(len(names) - 1, -1, -1), is_beside)]
    if not edges or len(edges) > len(names) / 2:
        return []
    rest = np.setdiff1d(np.arange(len(names)), edges)
    columns = [[_text(cell) for cell in frame.iloc[rest, i]] for i in range(1, frame.shape[1])]
    found = []
    for row in sorted(set(edges)):
        cells = _cells(table, row)[1:]
        pairs = [(cell, column) for cell, column in zip(cells, columns) if cell]
        if not pairs:
            continue
        if names[row] in COUNTS_OF_GROUPS or names[row] in TOTALS:
            is_it = _counts(pairs) or _unlike(pairs)
        else:
            is_it = _unlike(pairs)
        if is_it:
            found.append(row)
        elif names[row] not in TOTALS and all(is_number(cell) for cell, _ in pairs):
            raise AnnotationError(
                f"The row {_text(frame.iloc[row, 0])!r} in {table.where(row)} may describe the columns instead of "
                "being an item; delete it, or, if it is an item, give it a longer name."
            )
    return found


def _block(places: Any, is_it: list[bool]) -> list[int]:
    found = []
    for place in places:
        if not is_it[place]:
            break
        found.append(place)
    return found


def _unlike(pairs: list[tuple[str, list[str]]]) -> bool:
    """Whether cells occur in hardly any other row of their column, or are numbers of another size, or beside words."""

    def differs(cell: str, column: list[str]) -> bool:
        numbers = [float(text) for text in column if is_number(text)]
        if is_number(cell) and numbers:
            return not min(numbers) <= float(cell) <= max(numbers)
        return cell not in column

    return sum(differs(cell, column) for cell, column in pairs) > 0.7 * len(pairs)


def _counts(pairs: list[tuple[str, list[str]]]) -> bool:
    """Whether cells count the different or the filled cells of their columns."""

    def is_count(of: Callable[[list[str]], int]) -> bool:
        return all(is_number(cell) and float(cell) == of([text for text in column if text]) for cell, column in pairs)

    return is_count(lambda texts: len(set(texts))) or is_count(len)


def _refuse_second_table(table: Table) -> None:
    """Raise an AnnotationError if a row is the header of another table below this one."""
    frame = table.frame
    if len(frame) > MOST_SEARCHED or not frame.shape[1] or not _may_hold_text(frame.iloc[:, 0]):
        return
    headers = {str(name).strip().casefold() for name in table.columns if str(name).strip()}
    firsts = [_text(cell) for cell in frame.iloc[:, 0]]
    may_begin = {text for text in set(firsts) if text.casefold() in headers or role_of_name(text) is not None}
    for row, first in enumerate(firsts):
        if row == 0 or first not in may_begin:
            continue
        cells = [cell for cell in _cells(table, row) if cell]
        roles = {role_of_name(cell).role if role_of_name(cell) else "beside" for cell in cells}  # type: ignore[union-attr]
        all_name = all(
            role_of_name(cell) is not None or normal(cell) in NO_PERSON or cell.casefold() in headers for cell in cells
        )
        if len(cells) > 1 and all_name and len(roles) > 1:
            raise AnnotationError(
                f"{_capital(table.where(row))} seems to be the header of a second table ({quote(cells)}); save it "
                "in a file of its own."
            )
