"""Writing the long table of annotations, so that it can be read back unchanged."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path

import pandas as pd

from consilience.annotations.base import Annotations
from consilience.annotations.files.formats import TableFormat, Writer, format_of
from consilience.annotations.files.table import is_whole
from consilience.annotations.files.values import abstains, code_of_missing, says_unsorted, spells_missing
from consilience.annotations.keywords import spell
from consilience.annotations.names import code, plain
from consilience.annotations.tables import all_names
from consilience.atomic_files import replacing
from consilience.errors import AnnotationWarning


def write_annotations(annotations: Annotations, path: str | PathLike[str]) -> None:
    """Write the long table of annotations, such that `read_annotations` returns equal annotations.

    Items without annotations, and items whose order the rows do not show, are listed first, in rows with only an item.
    Other unused names, such as those left over by a restriction, are not written.

    Classes that are numbers with decimals are read only as ``kind="labels"``, and those that differ only in case or
    spaces stay apart only with ``exact=True``.

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
    frame, chosen = _with_all_items(annotations), format_of(path)
    _warn_of_names_that_are_missing(frame, path, chosen)
    return chosen.writer(chosen.keep(frame, path), path.name)


def _with_all_items(annotations: Annotations) -> pd.DataFrame:
    """Return the long table, after rows with only an item if its rows do not show all items in order."""
    frame = annotations.to_frame()
    keys = [name for name in frame.columns if name.startswith("item")]
    if all_names([code(frame[key]) for key in keys]).equals(annotations.items):
        return frame
    bare = pd.DataFrame(None, index=range(annotations.n_items), columns=frame.columns, dtype=object)
    bare[keys[0]] = annotations.items.to_numpy(object)
    return pd.DataFrame({name: [*bare[name], *frame[name].to_numpy(object)] for name in frame.columns}, dtype=object)


def _warn_of_names_that_are_missing(frame: pd.DataFrame, path: Path, chosen: TableFormat) -> None:
    """Warn of groups or labels that will be read as missing by default."""
    role = str(frame.columns[-1])
    if role == "same":
        return
    names = code(frame[role]).names
    is_silence = says_unsorted if role == "group" else abstains
    silent = [name for name in names if is_silence(name) or (chosen.is_text and spells_missing(name))]
    integers = names
    if chosen.is_text and len(names) and all(is_whole(str(name)) for name in names):
        integers = pd.Index([int(str(name).removesuffix(".0")) for name in names])
    if pd.api.types.is_integer_dtype(integers) and min(integers, default=0) == -1:
        silent += [-1]
    place = code_of_missing(pd.Index([str(name) for name in names], dtype=object) if chosen.is_text else names)
    silent += [] if place is None else [names[place]]
    if silent:
        warnings.warn(
            f"The {role} {plain(silent[0])!r} will be read as missing, or refused, when {path} is read; read it with "
            f"{spell(missing=[])}, or rename.",
            AnnotationWarning,
            stacklevel=4,
        )
