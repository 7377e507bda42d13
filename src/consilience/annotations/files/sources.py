"""Files of every kind as tables or as JSON objects; the kind is detected from the first bytes."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.table import Table
from consilience.annotations.files.text import read_text
from consilience.annotations.files.workbooks import Workbook, read_workbook
from consilience.annotations.keywords import spell
from consilience.annotations.names import frame_row
from consilience.errors import AnnotationError, InputError, MissingDependencyError

GZIP, ZIP, PARQUET, NUMPY, OLE = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"\xd0\xcf\x11\xe0"
STANDARD_INPUT = "-"
JSON = (".json", ".jsonl", ".ndjson")
TEXT = re.compile(r"\.(csv|tsv|tab|txt)(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A file, or standard input, whose bytes can be read several times.

    name : for messages.
    open : callable; opens the bytes from the beginning, decompressed if they were compressed by gzip.
    """

    name: str
    open: Callable[[], Any]

    @classmethod
    def of(cls, path: str | PathLike[str]) -> Source:
        """Find a file; ``-`` is standard input. Raises InputError: there is no such file, or it is a folder."""
        if str(path) == STANDARD_INPUT:
            held = sys.stdin.buffer.read()
            is_packed = held.startswith(GZIP)
            return cls("standard input", lambda: gzip.open(io.BytesIO(held)) if is_packed else io.BytesIO(held))
        path = Path(path)
        if path.is_dir():
            raise InputError(f"{path}: This is a folder; give one of its files.")
        if not path.exists():
            raise InputError(f"There is no file {path}.")
        with path.open("rb") as file:
            is_packed = file.read(2) == GZIP
        return cls(str(path), lambda: gzip.open(path) if is_packed else path.open("rb"))

    def start(self, n_bytes: int = 4096) -> bytes:
        """Return the first bytes."""
        try:
            with self.open() as file:
                return file.read(n_bytes)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise AnnotationError(f"The compressed file is damaged or truncated ({error}).") from error


@dataclass(frozen=True)
class Records:
    """A list of JSON objects and their places: the rows of a table, or the tasks of an export."""

    objects: list[dict[str, Any]]
    lines: list[int] | None = None
    files: list[str] | None = None  # of each object, in an archive

    def where(self, row: int) -> str:
        """Describe the place of an object."""
        place = frame_row(row) if self.lines is None else f"line {self.lines[row]}"
        return place if self.files is None else f"{place} of {self.files[row]}"

    def table(self) -> Table:
        """Return the objects as rows."""
        return Table(pd.DataFrame(self.objects, dtype=object), self.where, is_text=False)


def read_source(source: Source, *, encoding: str | None = None, sheet: str | None = None) -> Table | Records | Workbook:
    """Read a table, JSON objects or the sheets of a workbook from a file of any kind.

    Raises AnnotationError: the file is damaged, empty, or of a kind that is not supported. Raises
    MissingDependencyError: the package that reads this kind of file is not installed.
    """
    start = source.start()
    if not start:
        raise AnnotationError("The file is empty; the first line must name the columns.")
    if sheet is not None and not start.startswith(ZIP):
        raise AnnotationError(f"Only Excel workbooks have sheets; leave {spell(sheet=None)} out.")
    name = source.name.lower().removesuffix(".gz")
    looks_like_json = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
    is_json = name.endswith(JSON) or (looks_like_json and not TEXT.search(name))
    if encoding is not None and (is_json or start.startswith((PARQUET, ZIP, NUMPY))):
        raise AnnotationError(f"Only delimited text has an encoding to choose; leave {spell(encoding=None)} out.")
    if start.startswith(PARQUET):
        return read_parquet(source.open)
    if start.startswith(ZIP):
        return _read_archive(source) or read_workbook(source.open, sheet)
    if start.startswith(NUMPY):
        return _read_array(source)
    if start.startswith(OLE):
        raise AnnotationError("This is a workbook of an old Excel (.xls); save it as .xlsx or CSV (UTF-8).")
    if start.startswith(b"%PDF") or start.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8")):
        raise AnnotationError("This is not a table; save the table as CSV (UTF-8).")
    for ending, what in ((".parquet", "a Parquet file"), (".xlsx", "an Excel workbook"), (".npy", "a NumPy array")):
        if name.endswith(ending):
            raise AnnotationError(f"This is not {what}, or it is damaged.")
    if is_json:
        return read_json(source)
    return read_text(source.open, source.name, encoding)


def read_parquet(open_binary: Callable[[], Any]) -> Table:
    pyarrow = import_pyarrow()
    try:
        with open_binary() as file:
            # texts come as codes, and integers beside blanks stay integers
            frame = pyarrow.parquet.read_table(file).to_pandas(strings_to_categorical=True, integer_object_nulls=True)
    except (ValueError, OSError) as error:
        raise AnnotationError("This is not a Parquet file, or it is damaged.") from error
    return Table(frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index(), frame_row, is_text=False)


def import_pyarrow() -> ModuleType:
    """Return the module pyarrow, with its Parquet part."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError(
            "Parquet needs the package pyarrow: pip install 'consilience[parquet]'."
        ) from error
    return pyarrow


def _read_archive(source: Source) -> Records | None:
    """Read the objects of all JSON Lines files in a zip archive, None if it has none."""
    try:
        with source.open() as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
            names = [name for name in archive.namelist() if name.lower().endswith((".jsonl", ".ndjson"))]
            # macOS adds a file of attributes for each
            names = [name for name in names if not name.startswith("__MACOSX/")]
            contents = {name: archive.read(name) for name in names}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError):  # damaged, or encrypted
        return None
    if not contents:
        return None
    objects: list[Any] = []
    lines: list[int] = []
    files: list[str] = []
    for name, content in contents.items():
        try:
            held, at = _json_lines(content, ValueError("no line of it is"))
        except AnnotationError as error:
            raise AnnotationError(f"{name}: {error}") from error
        objects, lines, files = objects + held, lines + at, files + [name] * len(at)
    return Records(_objects_alone(objects), lines, files)


def _objects_alone(held: list[Any]) -> list[dict[str, Any]]:
    if not all(isinstance(record, dict) for record in held):
        raise AnnotationError('The JSON must be a list of objects, one for each row: [{"item": …}, …].')
    if not held:
        raise AnnotationError("The file is an empty list.")
    return held


def _read_array(source: Source) -> Table:
    try:
        with source.open() as file:
            array = np.load(io.BytesIO(file.read()), allow_pickle=False)
    except ValueError as error:
        raise AnnotationError(
            "This NumPy array contains objects, or is damaged; save the table as CSV (UTF-8)."
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "iufUb":
        raise AnnotationError(
            f"The NumPy array must have two dimensions, and contain integers or text. Got {array.dtype} {array.shape}."
        )
    return Table(pd.DataFrame(array), frame_row, is_text=False)


def read_json(source: Source) -> Records:
    """Read objects from JSON: a list of them, lines of them, or ``{task: {worker: label}}``.

    Raises AnnotationError: the file is not JSON, or contains something else.
    """
    with source.open() as file:
        content = file.read()
    lines = None
    try:
        held = json.loads(content)
    except (ValueError, RecursionError) as error:
        held, lines = _json_lines(content, error)
    if isinstance(held, dict):
        held = _rows_of_mapping(held)
    if not isinstance(held, list):
        raise AnnotationError('The JSON must be a list of objects, one for each row: [{"item": …}, …].')
    return Records(_objects_alone(held), lines)


def _json_lines(content: bytes, whole: Exception) -> tuple[list[Any], list[int]]:
    held, lines = [], []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if line.strip():
            try:
                held.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                problem = f"Line {number} is not JSON ({error})" if held else f"This is not JSON ({whole})"
                raise AnnotationError(f"{problem}.") from error
            lines.append(number)
    return held, lines


def _rows_of_mapping(held: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of ``{task: {worker: label}}``, or a single object."""
    if held and all(isinstance(given, dict) for given in held.values()):
        rows = [
            {"task": task, "worker": worker, "label": label}
            for task, given in held.items()
            for worker, label in given.items()
        ]
        if all(isinstance(row["label"], str | int | float | None) for row in rows):
            return rows
    return [held]
