"""Files as tables: delimited text, Parquet and JSON, and where in them a row stands."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import warnings
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.names import Coded, Where, code, frame_row
from consilience.errors import AnnotationError, InputError

DELIMITERS = ("\t", ";", ",")
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 7, but not 007 or 7.0


@dataclass(frozen=True)
class Table:
    """A table as it stands in a file.

    Attributes
    ----------
    frame : DataFrame
        Of exact text, where the file has no types.
    where : callable
        Says where a row stands.
    is_text : bool
        Whether a column of canonical integers is text because the file has no types.
    """

    frame: pd.DataFrame
    where: Where
    is_text: bool

    @property
    def columns(self) -> list[Any]:
        """Names of the columns."""
        return list(self.frame.columns)

    def column(self, name: Any) -> Coded:
        """Return one column, coded."""
        return self.typed(code(self.frame[name]))[0]

    def coded(self, names: list[Any], alike: list[Any]) -> dict[Any, Coded]:
        """Return some columns, each coded; those in `alike` hold names of the same things.

        They are coded in threads, since hashing of text lets go of Python's lock.
        """
        with ThreadPoolExecutor() as threads:
            columns = dict(zip(names, threads.map(code, [self.frame[name] for name in names])))
        for group in (alike, *([name] for name in names if name not in alike)):
            columns |= zip(group, self.typed(*(columns[name] for name in group)))
        return columns

    def cells(self, names: list[Any]) -> Coded:
        """Return the cells of some columns row by row, coded as one column."""
        return self.typed(code(self.frame[names].to_numpy(object).ravel()))[0]

    def typed(self, *columns: Coded) -> list[Coded]:
        """Turn names in text into integers if every one, in all of the columns, is an integer as Python writes it."""
        if not (self.is_text and all(CANONICAL_INTEGER.fullmatch(name) for column in columns for name in column.names)):
            return list(columns)
        return [Coded(c.codes, pd.Index(np.array(c.names.to_numpy(object), dtype=np.int64))) for c in columns]


def read_text(path: Path) -> Table:
    """Read a table of comma-, semicolon- or tab-separated text in UTF-8, which may be compressed by gzip.

    The delimiter is a tab if the file is called so (.tsv, .tab), else what splits the first line into most columns.

    Raises
    ------
    AnnotationError
        The file is no such table, is empty or damaged, or has lines of different length.
    """
    try:
        return _read_text(_Text(path))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AnnotationError(f"The compressed file is damaged or cut short ({error}).") from error


def _read_text(text: _Text) -> Table:
    frame = _read_csv(text)
    if not isinstance(frame.index, pd.RangeIndex) or (frame.iloc[:, -1] == "").any():
        text.require_equal_lines()
    typed = [i for i in range(frame.shape[1]) if not pd.api.types.is_string_dtype(frame.iloc[:, i])]
    if typed:  # pandas took 007 for 7 or True for a truth value: read what stands there
        exact = _read_csv(text, usecols=typed, dtype=str)
        for place, column in zip(typed, exact.columns):
            frame.isetitem(place, exact[column].array)
    frame.columns = pd.Index(text.header)
    return Table(frame, text.line_of_row, is_text=True)


def _read_csv(text: _Text, **options: Any) -> pd.DataFrame:
    options["compression"] = "gzip" if text.compressed else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # columns of mixed types are read again, as text
            return pd.read_csv(text.path, sep=text.delimiter, na_filter=False, **options)
    except pd.errors.ParserError:
        text.require_equal_lines()
        raise AnnotationError("The file has a quotation mark that is never closed; mend it.") from None
    except UnicodeDecodeError as error:
        raise _not_utf8(error) from error


class _Text:
    """What can be asked of a text file without reading it as a table."""

    def __init__(self, path: Path):
        self.path = path
        with path.open("rb") as file:
            start = file.read(4)
        self.compressed = start.startswith(GZIP)
        with self._open_binary() as file:
            _require_text(file.read(65536))
        is_tab = re.search(r"\.(tsv|tab)(\.gz)?$", path.name, re.IGNORECASE)
        delimiters = DELIMITERS[:1] if is_tab else DELIMITERS
        self.delimiter = max(delimiters, key=lambda delimiter: len(self._header(delimiter)))
        self.header = self._header(self.delimiter)
        self._require_header()

    def _open_binary(self) -> Any:
        return gzip.open(self.path, "rb") if self.compressed else self.path.open("rb")

    def _records(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Yield the 1-based line where each record starts, and its cells; blank lines are passed over."""
        with self._open_binary() as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(text, delimiter=delimiter)
            line = 1
            for cells in reader:
                if cells and not (len(cells) == 1 and not cells[0].strip()):
                    yield line, cells
                line = reader.line_num + 1

    def _header(self, delimiter: str) -> list[str]:
        try:
            _, cells = next(self._records(delimiter), (1, []))
        except UnicodeDecodeError as error:
            raise _not_utf8(error) from error
        except csv.Error as error:
            raise AnnotationError(f"The first line is not a line of column names ({error}).") from error
        return [cell.strip() for cell in cells]

    def _require_header(self) -> None:
        if not self.header:
            raise AnnotationError("The file is empty; the first line must name the columns.")
        if len(self.header) == 1:
            raise AnnotationError(
                f"The first line holds only one column, {self.header[0][:60]!r}; columns are separated by comma, "
                "semicolon or tab."
            )
        if "" in self.header[1:]:
            raise AnnotationError(f"Column {self.header.index('', 1) + 1} has no name; name it or drop it.")
        repeated = [name for i, name in enumerate(self.header) if name in self.header[:i]]
        if repeated:
            raise AnnotationError(f"The column {repeated[0]!r} is there twice; rename one.")

    def require_equal_lines(self) -> None:
        for line, cells in self._records(self.delimiter):
            if len(cells) != len(self.header):
                raise AnnotationError(
                    f"Line {line} has {len(cells)} cells where the first line names {len(self.header)} columns; put "
                    "cells that hold the delimiter in quotation marks."
                )

    def line_of_row(self, row: int) -> str:
        """Say where a row of the table stands: on its 1-based line, the header being one."""
        for number, (line, _) in enumerate(self._records(self.delimiter), start=-1):
            if number == row:
                return f"line {line}"
        raise IndexError(row)


def _require_text(start: bytes) -> None:
    if start.startswith(ZIP):
        raise AnnotationError("This is a zip archive or an Excel workbook; save the table as CSV (UTF-8).")
    if b"\0" in start:
        raise AnnotationError("This is not text in UTF-8; save the table as CSV (UTF-8).")


def _not_utf8(error: UnicodeDecodeError) -> AnnotationError:
    byte = error.object[error.start]
    return AnnotationError(f"The text is not in UTF-8 (byte 0x{byte:02x} cannot be); save the table as CSV (UTF-8).")


def read_parquet(path: Path) -> Table:
    """Read a table from Parquet.

    Raises
    ------
    AnnotationError
        The file is not Parquet, or damaged.
    InputError
        The package pyarrow is not there.
    """
    pyarrow = import_pyarrow()
    try:
        frame = pyarrow.parquet.read_table(path).to_pandas(strings_to_categorical=True, integer_object_nulls=True)
    except (ValueError, OSError) as error:
        raise AnnotationError("This is not a Parquet file, or it is damaged.") from error
    return Table(frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index(), frame_row, is_text=False)


def import_pyarrow() -> ModuleType:
    """Return the module pyarrow, with its Parquet part."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InputError("Parquet needs the package pyarrow: pip install 'consilience[parquet]'.") from error
    return pyarrow


def read_json(path: Path) -> list[dict[str, Any]]:
    """Read a list of objects from JSON, one for each row of a table or each task of an export.

    Raises
    ------
    AnnotationError
        The file is not JSON, or not a list of objects.
    """
    try:
        records = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise AnnotationError(f"This is not JSON ({error}).") from error
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise AnnotationError('The JSON must be a list of objects, one for each row: [{"item": …}, …].')
    if not records:
        raise AnnotationError("The file holds an empty list.")
    return records
