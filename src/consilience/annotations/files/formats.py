"""The formats in which tables are written: annotations, results of the command line, exports of studies.

A further format is one more entry of `FORMATS`.
"""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from consilience.annotations.files.sources import TEXT, import_pyarrow
from consilience.annotations.files.table import is_whole
from consilience.annotations.names import code, plain, union
from consilience.atomic_files import BinaryFile, open_compressed
from consilience.errors import AnnotationWarning, InputError

Writer = Callable[[BinaryFile], None]
ITEM_PAIR = ("item_a", "item_b")
TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class TableFormat:
    """A format of tables.

    title : what readers call it.
    ending : pattern; of file names.
    writer : takes a table and the name of the file, and returns the function that writes it.
    keep : takes the long table of annotations and its path, and returns the table as the format keeps it. It raises an
        InputError if a name would not be read back, and warns of names that will be read as others.
    is_text : whether spreadsheets open it, which run formulas and guess the encoding.
    """

    title: str
    mime: str
    ending: re.Pattern[str]
    writer: Callable[[pd.DataFrame, str], Writer]
    keep: Callable[[pd.DataFrame, Path], pd.DataFrame]
    is_text: bool = False


def format_of(path: Path) -> TableFormat:
    """Return the format that the name of a file tells. Raises InputError: it tells none."""
    for known in FORMATS.values():
        if known.ending.search(path.name):
            return known
    *first, last = (f".{name}" for name in ("csv", "tsv", *(name for name in FORMATS if name != "csv")))
    raise InputError(f"The file name must end in {', '.join(first)} or {last} (also .csv.gz). Got {path.name!r}.")


def names_of(frame: pd.DataFrame) -> dict[str, pd.Index]:
    """Return the names of items, annotators and so on in a long table; items come from both columns of pairs."""
    names = {column: code(frame[column]).names for column in frame.columns if column != "same"}
    pair = [names.pop(column) for column in ITEM_PAIR if column in names]
    return names | {"item": union(pair)} if pair else names


# ---- delimited text


def _write_text(frame: pd.DataFrame, name: str) -> Writer:
    of_text = [frame[column] for column in frame if not pd.api.types.is_numeric_dtype(frame[column].dtype)]
    has_return = any(isinstance(cell, str) and "\r" in cell for column in of_text for cell in column)
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL  # pandas would not quote it

    def write(file: BinaryFile) -> None:
        with open_compressed(file, name) as plain:
            frame.to_csv(
                plain, sep=_delimiter(name), index=False, lineterminator="\n", encoding="utf-8", quoting=quoting
            )

    return write


def _delimiter(name: str) -> str:
    found = TEXT.search(name)
    return "," if found is not None and found[1].lower() == "csv" else "\t"


def _keep_in_text(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    names = names_of(frame)
    for column, found in names.items():
        _require_text_or_integers(column, found, path)
    texts = [name for found in names.values() for name in found if isinstance(name, str)]
    if any("\0" in name for name in texts):
        raise InputError("A name contains a null character, which text files cannot keep; write JSON.")
    if _delimiter(path.name) == "\t" and any("\t" in name and ("\n" in name or "\r" in name) for name in texts):
        raise InputError(
            "A name contains both a tab and a line break, which tab-separated files cannot keep; write JSON."
        )
    return frame


def _require_text_or_integers(column: str, names: pd.Index, path: Path) -> None:
    odd = [name for name in names.to_numpy(object) if not isinstance(name, str)]
    whole = all(is_whole(str(name)) for name in names)
    if odd and not (whole and len(odd) == len(names)):
        raise InputError(
            f"Text files keep names that are all text or all integers (of up to 18 digits), so the {column} "
            f"{odd[0]!r} would not be read back; write JSON."
        )
    made = [name for name in names if not odd and whole and name.endswith(".0")]
    if made:
        raise InputError(
            f"Text files cannot keep the {column} {made[0]!r} if all names are whole numbers, since it would be read "
            f"as {made[0][:-2]}; write JSON or Parquet."
        )
    if whole and len(names) and not odd:
        warnings.warn(
            f"The {column} names are text that will be read as integers from {path}; write JSON or Parquet.",
            AnnotationWarning,
            stacklevel=5,
        )


# ---- Parquet


def _write_parquet(frame: pd.DataFrame, _: str) -> Writer:
    pyarrow = import_pyarrow()
    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"Parquet keeps names of one type in a column ({error}); write JSON or rename.") from error
    return lambda file: pyarrow.parquet.write_table(table, file)


def _keep_in_parquet(frame: pd.DataFrame, _: Path) -> pd.DataFrame:
    """Return a frame whose columns of objects have the type of their values, except integers among missing values.

    Pandas would make these floats, which cannot hold every integer beyond 2**53.
    """
    columns = {name: column if column.isna().any() else column.infer_objects() for name, column in frame.items()}
    return pd.DataFrame(columns)


# ---- JSON


def _write_json(frame: pd.DataFrame, _: str) -> Writer:
    content = json.dumps(records_of(frame), ensure_ascii=False, default=str).encode()

    def write(file: BinaryFile) -> None:
        file.write(content)

    return write


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as JSON values, a dict a row; times in seconds as in ISO 8601, None for what is missing."""
    columns = {str(name): _cells(column) for name, column in frame.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _cells(column: pd.Series) -> list[Any]:
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.strftime(TIME)
    return [None if missing else plain(cell) for cell, missing in zip(column.tolist(), column.isna(), strict=True)]


def _keep_in_json(frame: pd.DataFrame, _: Path) -> pd.DataFrame:
    for column, names in names_of(frame).items():
        for name in names.to_numpy(object):
            if not isinstance(name, str | bool | int | float):
                raise InputError(
                    f"JSON keeps text, numbers and truth values, so the {column} {name!r} would not be read back; "
                    "rename it."
                )
    return frame


FORMATS = {
    "csv": TableFormat("CSV", "text/csv; charset=utf-8", TEXT, _write_text, _keep_in_text, is_text=True),
    "parquet": TableFormat(
        "Parquet",
        "application/vnd.apache.parquet",
        re.compile(r"\.parquet$", re.IGNORECASE),
        _write_parquet,
        _keep_in_parquet,
    ),
    "json": TableFormat("JSON", "application/json", re.compile(r"\.json$", re.IGNORECASE), _write_json, _keep_in_json),
}
"""The formats by name, which is what addresses and endings of exported files say."""
