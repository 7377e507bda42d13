"""Writing the long table of annotations, so that it can be read back unchanged."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Literal

import pandas as pd

from consilience.annotations.base import Annotations
from consilience.annotations.files.sources import TEXT, import_pyarrow
from consilience.annotations.files.table import is_whole
from consilience.annotations.files.values import abstains, says_unsorted, spells_missing
from consilience.annotations.keywords import written
from consilience.annotations.names import code, plain, union
from consilience.annotations.tables import all_names
from consilience.atomic_files import replacing, unpacked
from consilience.errors import AnnotationWarning, InputError

Writer = Callable[[IO[bytes]], None]
ITEM_PAIR = ("item_a", "item_b")


def write_annotations(annotations: Annotations, path: str | PathLike[str]) -> None:
    """Write the long table of annotations, such that `read_annotations` returns equal annotations.

    Items without annotations, and items whose order the rows do not show, are listed first, in rows with only an item.
    Other unused names, such as those left over by a restriction, are not written.

    Parameters
    ----------
    annotations : Groupings, Pairs or Labels
    path : path
        A file name in ``.csv``, ``.tsv`` (both also with ``.gz``), ``.parquet`` or ``.json``. An existing file is
        replaced once the new one is complete.

    Raises
    ------
    InputError
        The file name is empty or has another ending, the folder does not exist, or the format cannot keep a name of
        this type. Text keeps integers and text; JSON also floats and truth values; Parquet also dates, but only names
        of one type in a column.

    Warns
    -----
    AnnotationWarning
        A column of text names contains only integers, such as "1", and so will be read from CSV as integers; or
        groups or labels have names that mean missing, such as "NA" in text or a group called "unsorted", so that only
        ``read_annotations(path, missing=[])`` returns them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from consilience import Groupings, read_annotations, write_annotations
    >>> groupings = Groupings.from_lists([[["ant", "bee"], ["cow"]]])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sort.csv"
    ...     write_annotations(groupings, path)
    ...     print(path.read_text())
    ...     read_annotations(path) == groupings
    item,annotator,grouping,group
    ant,0,0,0
    bee,0,0,0
    cow,0,0,1
    <BLANKLINE>
    True
    """
    write = long_table_writer(annotations, Path(path))
    with replacing(path) as file:
        write(file)


def long_table_writer(annotations: Annotations, path: Path) -> Writer:
    """Return a function that writes the long table of annotations in the format given by the file name; see above."""
    frame = _with_all_items(annotations)
    text = TEXT.search(path.name)
    if not text and path.suffix.lower() not in {".parquet", ".json"}:
        raise InputError(f"The file name must end in .csv, .tsv, .parquet or .json (also .csv.gz). Got {path.name!r}.")
    _warn_of_names_that_are_missing(frame, path)
    if text:
        return _text_writer(frame, path, "," if text[1].lower() == "csv" else "\t")
    if path.suffix.lower() == ".parquet":
        return _parquet_writer(frame)
    _require_types(frame, (str, bool, int, float), "JSON keeps text, numbers and truth values")
    content = json.dumps(frame.to_dict("records"), ensure_ascii=False).encode()

    def write(file: IO[bytes]) -> None:
        file.write(content)

    return write


def _with_all_items(annotations: Annotations) -> pd.DataFrame:
    """Return the long table, after rows with only an item if its rows do not show all items in order."""
    frame = annotations.to_frame()
    keys = [name for name in frame.columns if name.startswith("item")]
    if all_names([code(frame[key]) for key in keys]).equals(annotations.items):
        return frame
    bare = pd.DataFrame(None, index=range(annotations.n_items), columns=frame.columns, dtype=object)
    bare[keys[0]] = annotations.items.to_numpy(object)
    return pd.DataFrame({name: [*bare[name], *frame[name].to_numpy(object)] for name in frame.columns}, dtype=object)


def _names(frame: pd.DataFrame) -> dict[str, pd.Index]:
    """Return the names of items, annotators and so on in a long table; items come from both columns of pairs."""
    names = {column: code(frame[column]).names for column in frame.columns if column != "same"}
    pair = [names.pop(column) for column in ITEM_PAIR if column in names]
    return names | {"item": union(pair)} if pair else names


def _warn_of_names_that_are_missing(frame: pd.DataFrame, path: Path) -> None:
    """Warn of groups or labels that will be read as missing by default."""
    role = str(frame.columns[-1])
    if role == "same":
        return
    is_text = TEXT.search(path.name) is not None
    names = code(frame[role]).names
    is_silence = says_unsorted if role == "group" else abstains
    silent = [name for name in names if is_silence(name) or (is_text and spells_missing(name))]
    integers = names
    if is_text and len(names) and all(is_whole(str(name)) for name in names):
        integers = pd.Index([int(str(name).removesuffix(".0")) for name in names])
    if pd.api.types.is_integer_dtype(integers) and min(integers, default=0) == -1:
        silent += [-1]
    if silent:
        warnings.warn(
            f"The {role} {plain(silent[0])!r} will be read as missing, or refused, when {path} is read; read it with "
            f"{written(missing=[])}, or rename.",
            AnnotationWarning,
            stacklevel=4,
        )


def _require_types(frame: pd.DataFrame, types: tuple[type, ...], keeps: str) -> None:
    for column, names in _names(frame).items():
        for name in names.to_numpy(object):
            if not isinstance(name, types):
                raise InputError(f"{keeps}, so the {column} {name!r} would not be read back; rename it.")


def _text_writer(frame: pd.DataFrame, path: Path, delimiter: str) -> Writer:
    names = _names(frame)
    for column, found in names.items():
        _require_text_or_integers(column, found, path)
    texts = [name for found in names.values() for name in found if isinstance(name, str)]
    text = "".join(texts)
    if "\0" in text:
        raise InputError("A name contains a null character, which text files cannot keep; write JSON.")
    if delimiter == "\t" and any("\t" in name and ("\n" in name or "\r" in name) for name in texts):
        raise InputError(
            "A name contains both a tab and a line break, which tab-separated files cannot keep; write JSON."
        )
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if "\r" in text else csv.QUOTE_MINIMAL  # pandas would not quote it

    def write(file: IO[bytes]) -> None:
        with unpacked(file, path.name) as plain:
            frame.to_csv(plain, sep=delimiter, index=False, lineterminator="\n", encoding="utf-8", quoting=quoting)

    return write


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


def _with_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns of objects have the type of their values, except integers among missing values.

    Pandas would make these floats, which cannot hold every integer beyond 2**53.
    """
    columns = {name: column if column.isna().any() else column.infer_objects() for name, column in frame.items()}
    return pd.DataFrame(columns)


def _parquet_writer(frame: pd.DataFrame) -> Writer:
    pyarrow = import_pyarrow()
    try:
        table = pyarrow.Table.from_pandas(_with_types(frame), preserve_index=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"Parquet keeps names of one type in a column ({error}); write JSON or rename.") from error
    return lambda file: pyarrow.parquet.write_table(table, file)
