"""A table as in a file or frame, with the place of each row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.display import facts
from consilience.annotations.names import Coded, Where, code

MOST_LOOKED_AT = 2000  # cells of a column from which is judged what it holds
LONG = 10_000  # rows; with fewer, starting threads takes longer than they save
CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 7, but not 007
WHOLE_NUMBER = re.compile(r"(0|-?[1-9][0-9]{0,17})(?:\.0)?")  # 7.0 is how pandas writes 7 in a column with gaps


@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Attributes
    ----------
    how : str
        Description of the contents, in one line.
    notes : tuple of str
        Decisions by default, and how to change them.
    warnings : tuple of str
        What was left out or changed.
    given : tuple of str
        Names of the groups that everybody was given, of a hybrid sort whose file tells them.
    """

    how: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join([f"read as: {self.how}", *self.warnings, *self.notes])

    def _repr_html_(self) -> str:
        texts = (*self.warnings, *self.notes)
        return facts("", {"read as": self.how} | {f"note {i}": text for i, text in enumerate(texts, 1)})


@dataclass(frozen=True)
class OpenQuote:
    """A cell that begins with an unclosed quotation mark, and its place."""

    cell: str
    where: Callable[[], str]


@dataclass(frozen=True)
class Table:
    """A table as in a file.

    frame : with exact text, if the file has no types.
    where : describes the place of a row.
    is_text : whether columns are text because the file has no types, so that canonical integers become numbers.
    notes : guesses made to read the file.
    delimiter : delimiter of the cells of a text file.
    spells_missing : whether a cell of text such as NA may mean missing, since the file, or the file from which a frame
        may come, cannot mark it otherwise.
    open_quotes : columns with a cell that begins with an unclosed quotation mark: the first such cell.
    warnings : what the file may not hold as it was meant.
    """

    frame: pd.DataFrame
    where: Where
    is_text: bool
    notes: tuple[str, ...] = ()
    delimiter: str | None = None
    spells_missing: bool = False
    open_quotes: Mapping[str, OpenQuote] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def columns(self) -> list[Any]:
        """Names of the columns."""
        return list(self.frame.columns)

    @cached_property
    def first_cells(self) -> dict[Any, np.ndarray]:
        """The first cells of each column."""
        return dict(zip(self.columns, self.frame.iloc[:MOST_LOOKED_AT].to_numpy(object).T))

    @cached_property
    def texts(self) -> dict[Any, list[str]]:
        """The first cells of each column as text, "" for missing ones."""
        return {
            name: ["" if cell is None or cell != cell else str(cell).strip() for cell in cells]
            for name, cells in self.first_cells.items()
        }

    @cached_property
    def _coded(self) -> dict[Any, Coded]:
        return {}

    def code(self, name: Any) -> Coded:
        """Return one column, coded once, with numbers in text as text."""
        if name not in self._coded:
            self._coded[name] = code(self.frame[name])
        return self._coded[name]

    def column(self, name: Any) -> Coded:
        """Return one column, coded."""
        return self.typed(self.code(name))[0]

    def coded(self, names: list[Any], alike: list[Any]) -> dict[Any, Coded]:
        """Return some columns, each coded; those in `alike` contain names of the same things.

        Those of a long table are coded in threads, since hashing of text releases Python's global lock.
        """
        if len(self.frame) < LONG:
            columns = dict(zip(names, map(self.code, names)))
        else:
            with ThreadPoolExecutor() as threads:
                columns = dict(zip(names, threads.map(self.code, names)))
        for group in (alike, *([name] for name in names if name not in alike)):
            columns |= zip(group, self.typed(*(columns[name] for name in group)))
        return columns

    def cells(self, names: list[Any]) -> Coded:
        """Return the cells of some columns row by row, coded as one column."""
        return self.typed(code(self.frame[names].to_numpy(object).ravel()))[0]

    def typed(self, *columns: Coded) -> list[Coded]:
        """Turn names in text into integers if all of them, in all columns, are whole numbers such as 7 or 7.0."""
        if not self.is_text:
            return list(columns)
        texts = [column.names.to_numpy(object) for column in columns]  # faster to iterate over than an Arrow index
        if not all(is_whole(name) for names in texts for name in names):
            return list(columns)
        return [_as_integers(column, names) for column, names in zip(columns, texts)]

    def rows(self, kept: np.ndarray) -> Table:
        """Return some rows, which keep their places."""
        where = self.where
        return replace(self, frame=self.frame.iloc[kept], where=lambda row: where(int(kept[row])))

    def without(self, columns: list[Any]) -> Table:
        """Return the table without some columns."""
        return replace(self, frame=self.frame.drop(columns=columns))


def is_whole(name: str) -> bool:
    """Whether a text is a whole number as Python and pandas write it: 7 or 7.0, but not 007."""
    return WHOLE_NUMBER.fullmatch(name) is not None


def _as_integers(column: Coded, texts: np.ndarray) -> Coded:
    whole = np.array([int(name.removesuffix(".0")) for name in texts], dtype=np.int64)
    codes, names = pd.factorize(whole)  # 7 and 7.0 become one name
    return column.renamed(codes, pd.Index(names))
