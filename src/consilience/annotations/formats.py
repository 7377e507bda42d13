"""Files of annotations: reading what people have, writing the long table."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from consilience.annotations.base import Annotations
from consilience.annotations.exports import CARD_SORT, card_sort, is_label_studio, label_studio
from consilience.annotations.groupings import Groupings
from consilience.annotations.labels import CROWD_KIT, Labels
from consilience.annotations.names import Coded, code, frame_row, union, unique_names
from consilience.annotations.pairs import Pairs
from consilience.annotations.readers import CANONICAL_INTEGER, Table, import_pyarrow, read_json, read_parquet, read_text
from consilience.annotations.tables import all_names, check_columns, standard_names
from consilience.errors import AnnotationError, AnnotationWarning, InputError

KINDS: dict[str, Any] = {"groupings": Groupings, "pairs": Pairs, "labels": Labels}
# the kind that a table with these columns is, required and optional
LONG = {
    CARD_SORT: ("groupings", ()),
    ("item_a", "item_b", "annotator", "same"): ("pairs", ("grouping",)),
    ("item", "annotator", "label"): ("labels", ()),
    ("item", "group"): ("groupings", ("annotator", "grouping")),
}
RESERVED = {*CROWD_KIT, *(name for required, (_, optional) in LONG.items() for name in (*required, *optional))}
ITEM_PAIR = ("item_a", "item_b")
ITEM_COLUMNS = {
    "item",
    "items",
    "product",
    "products",
    "sample",
    "stimulus",
    "object",
    "card",
    "name",
    "id",
    "index",
    "",
}
RECOGNISED = (
    f"{'; '.join(', '.join([*required, *optional]) for required, (_, optional) in LONG.items())}; task, worker, label; "
    "or a column of items called item, product, sample or card, then one for each annotator (if it is called "
    "otherwise, give kind or item_column)"
)
TEXT = re.compile(r"\.(csv|tsv|tab|txt)(\.gz)?$", re.IGNORECASE)


def read_annotations(
    path: str | PathLike[str],
    *,
    kind: str | None = None,
    items: Iterable[Any] | None = None,
    item_column: str | None = None,
) -> Annotations:
    r"""Read annotations from a file, whose shape is recognised by its columns, in any order and case.

    - item, annotator, grouping, group (one of the middle two may be absent): `Groupings`
    - item_a, item_b, annotator, same, and optionally grouping: `Pairs`
    - item, annotator, label; or crowd-kit's task, worker, label: `Labels`
    - card_id, card_label, category_id, category_label, user_id (an export of Casolysis or kardSort): `Groupings`
    - an item column, then a column for each annotator (items × annotators, products × assessors), blank = missing:
      `Groupings`, or `Labels` by ``kind="labels"``

    Files are CSV, TSV or other text with commas, semicolons or tabs (``.csv``, ``.tsv``, ``.tab``, ``.txt``, also
    with ``.gz``), in UTF-8 with a line of column names first; Parquet (``.parquet``); or JSON (``.json``): a list of
    objects, one for each row, or an export of Label Studio with ``Ranker`` buckets, read as `Groupings`.

    Names keep the type that Parquet and JSON give them. In text a column whose names are all integers as Python
    writes them (7, but not 007 or 7.0) holds integers; item_a and item_b count as one column, and so do all annotators
    of a wide table. Every other column holds exactly the text that stands there: NA, null and None are names, and only
    an empty or blank cell is missing. In a long table a row with nothing but an item adds an item that nobody
    annotated.

    Cards of a card-sort export are named by ``card_label``, groups by ``category_label``; by the id if the label is
    blank, by "label (id)" if the label stands for several cards, or several categories of one user. In an export of
    Label Studio, items are named by their ids, groups by their buckets and groupings by their tasks; empty buckets
    and cancelled annotations are left out, the latter with a warning.

    Parameters
    ----------
    path : path
        The file.
    kind : {"groupings", "pairs", "labels"}, optional
        What the file must hold. Also makes a wide table of a table whose first column has any name.
    items : iterable of names, optional
        All items in order, also those without annotations. By default the rows of a wide table, else the items in
        order of first appearance.
    item_column : str, optional
        The column of items of a wide table; by default the first.

    Returns
    -------
    Groupings, Pairs or Labels

    Raises
    ------
    AnnotationError
        The file holds no annotations that are recognised, not those of `kind`, or contradicts itself. The message
        names the file, and the line of text (the header is line 1) or the row of Parquet and JSON (the first is 0).
    InputError
        There is no such file, or no pyarrow to read Parquet with.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from consilience import read_annotations
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sort.csv"
    ...     _ = path.write_text("product;Ann;Bo\nale;1;2\nstout;1;\n")
    ...     read_annotations(path)
    Groupings(2 items, 2 annotators, 2 groupings, 2 groups, 3 memberships)
    """
    path = Path(path)
    if kind is not None and kind not in KINDS:
        raise InputError(f"The 'kind' parameter of read_annotations must be one of {', '.join(KINDS)}. Got {kind!r}.")
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    items = None if items is None else list(items)
    try:
        return _read(path, kind, items, item_column)
    except AnnotationError as error:
        raise AnnotationError(f"{path}: {error}") from error


def _read(path: Path, kind: str | None, items: list[Any] | None, item_column: str | None) -> Annotations:
    if path.is_dir():
        raise AnnotationError("This is a folder; give one of its files.")
    if TEXT.search(path.name):
        return _from_table(read_text(path), kind, items, item_column)
    if path.suffix.lower() == ".parquet":
        return _from_table(read_parquet(path), kind, items, item_column)
    if path.suffix.lower() == ".json":
        records = read_json(path)
        if is_label_studio(records):
            _require_kind("groupings", kind)
            return Groupings._from_columns(label_studio(records), items, frame_row)
        table = Table(pd.DataFrame(records, dtype=object), frame_row, is_text=False)
        return _from_table(table, kind, items, item_column)
    raise AnnotationError("The file name must end in .csv, .tsv, .tab, .txt (or these with .gz), .parquet or .json.")


def _from_table(table: Table, kind: str | None, items: list[Any] | None, item_column: str | None) -> Annotations:
    if item_column is None:
        folded = [str(name).strip().casefold() for name in table.columns]
        names = dict(zip(standard_names(folded, CROWD_KIT), table.columns))
        for required, (found, optional) in LONG.items():
            if set(required) <= set(names):
                _require_kind(found, kind)
                check_columns(list(names), required, optional, f"A long table of {found}")
                return _from_long(table, names, found, items)
        _require_wide(table.columns, names, kind)
    return _from_wide(table, kind or "groupings", items, item_column)


def _from_long(table: Table, names: dict[str, Any], kind: str, items: list[Any] | None) -> Annotations:
    coded = table.coded(list(names.values()), alike=[column for name, column in names.items() if name in ITEM_PAIR])
    columns = {name: coded[column] for name, column in names.items()}
    if set(CARD_SORT) <= set(columns):
        columns = card_sort(columns, table.where)
    return KINDS[kind]._from_columns(columns, items, table.where)


def _require_kind(found: str, wanted: str | None) -> None:
    if wanted not in (None, found):
        raise AnnotationError(f"The file holds {found}, not {wanted}.")


def _require_wide(columns: list[Any], names: dict[str, Any], kind: str | None) -> None:
    """Raise an AnnotationError unless a table that is none of the long ones can be taken for a wide one."""
    first, *others = names
    known = RESERVED & set(names)
    if known & set(others) or (known and first not in ITEM_COLUMNS):
        required = max(LONG, key=lambda required: _resemblance((*required, *LONG[required][1]), list(names)))
        meant, optional = LONG[required]
        check_columns(list(names), required, optional, f"A long table of {meant}")
    if kind is None and first not in ITEM_COLUMNS:
        found = ", ".join(repr(str(name)) for name in columns[:8]) + (", …" if len(columns) > 8 else "")
        raise AnnotationError(f"The columns {found} are not recognised; the first line must name {RECOGNISED}.")


def _resemblance(known: tuple[str, ...], found: list[str]) -> int:
    """Say how much the columns found are like those of a known table: 2 for each that is there, 1 if misspelt."""
    strange = [name for name in found if name not in known]
    return sum(2 if name in found else bool(get_close_matches(name, strange, n=1)) for name in known)


def _from_wide(table: Table, kind: str, items: list[Any] | None, item_column: str | None) -> Annotations:
    if kind == "pairs":
        raise AnnotationError("Pairs need the columns item_a, item_b, annotator, same; a wide table cannot hold them.")
    if item_column is None:
        item_column = table.columns[0]
    if item_column not in table.columns:
        near = get_close_matches(item_column, [str(name) for name in table.columns], n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise AnnotationError(f"There is no column {item_column!r}; the first is {table.columns[0]!r}.{hint}")
    people = [name for name in table.columns if name != item_column]
    rows = unique_names(table.column(item_column), "items", table.where)
    (columns,) = table.typed(Coded(np.arange(len(people)), unique_names(people, "annotators")))
    annotations = KINDS[kind]._from_cells(table.cells(people), rows, columns.names)
    return annotations if items is None else annotations.reindex(items)


def write_annotations(annotations: Annotations, path: str | PathLike[str]) -> None:
    """Write the long table of annotations, so that `read_annotations` gives equal annotations back.

    Items that nobody annotated, and items whose order the rows do not show, are listed first, in rows with nothing but
    an item. Other names that nothing uses, such as those that a restriction left over, are not written.

    Parameters
    ----------
    annotations : Groupings, Pairs or Labels
    path : path
        A file name in ``.csv``, ``.tsv`` (both also with ``.gz``), ``.parquet`` or ``.json``. A file that is there is
        overwritten.

    Raises
    ------
    InputError
        The file name ends otherwise, or a name is of a kind that the format cannot keep. Text keeps integers and
        text; JSON also floats and truth values; Parquet also dates, but in one column only names of one kind.

    Warns
    -----
    AnnotationWarning
        A column of text names holds nothing but integers, such as "1", and so will be read from CSV as integers.

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
    path = Path(path)
    frame = _with_all_items(annotations)
    if text := TEXT.search(path.name):
        _write_text(frame, path, "," if text[1].lower() == "csv" else "\t")
    elif path.suffix.lower() == ".parquet":
        _write_parquet(frame, path)
    elif path.suffix.lower() == ".json":
        _require_types(frame, (str, bool, int, float), "JSON keeps text, numbers and truth values")
        path.write_text(json.dumps(frame.to_dict("records"), ensure_ascii=False), encoding="utf-8")
    else:
        raise InputError(f"The file name must end in .csv, .tsv, .parquet or .json (also .csv.gz). Got {path.name!r}.")


def _with_all_items(annotations: Annotations) -> pd.DataFrame:
    """Return the long table, led by rows with nothing but an item if its rows do not show all items in order."""
    frame = annotations.to_frame()
    keys = [name for name in frame.columns if name.startswith("item")]
    if all_names([code(frame[key]) for key in keys]).equals(annotations.items):
        return frame
    bare = pd.DataFrame(None, index=range(annotations.n_items), columns=frame.columns, dtype=object)
    bare[keys[0]] = annotations.items.to_numpy(object)
    return pd.DataFrame({name: [*bare[name], *frame[name].to_numpy(object)] for name in frame.columns}, dtype=object)


def _names(frame: pd.DataFrame) -> dict[str, pd.Index]:
    """Return the names of items, annotators and so on in a long table, those of items from both columns of pairs."""
    names = {column: code(frame[column]).names for column in frame.columns if column != "same"}
    pair = [names.pop(column) for column in ITEM_PAIR if column in names]
    return names | {"item": union(pair)} if pair else names


def _require_types(frame: pd.DataFrame, types: tuple[type, ...], keeps: str) -> None:
    for column, names in _names(frame).items():
        for name in names.to_numpy(object):
            if not isinstance(name, types):
                raise InputError(f"{keeps}, so that the {column} {name!r} would not be read back; rename it.")


def _write_text(frame: pd.DataFrame, path: Path, delimiter: str) -> None:
    names = _names(frame)
    for column, found in names.items():
        _require_text_or_integers(column, found, path)
    text = "".join(name for found in names.values() for name in found if isinstance(name, str))
    if "\0" in text:
        raise InputError("A name holds a null character, which text files cannot keep; write JSON.")
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if "\r" in text else csv.QUOTE_MINIMAL  # pandas would not quote it
    frame.to_csv(path, sep=delimiter, index=False, lineterminator="\n", encoding="utf-8", quoting=quoting)


def _require_text_or_integers(column: str, names: pd.Index, path: Path) -> None:
    odd = [name for name in names.to_numpy(object) if not isinstance(name, str)]
    whole = all(CANONICAL_INTEGER.fullmatch(str(name)) for name in names)
    if odd and not (whole and len(odd) == len(names)):
        raise InputError(
            f"Text files keep names that are all text or all integers (of up to 18 digits), so that the {column} "
            f"{odd[0]!r} would not be read back; write JSON."
        )
    if whole and len(names) and not odd:
        warnings.warn(
            f"The {column} names are text that will be read as integers from {path}; write JSON or Parquet.",
            AnnotationWarning,
            stacklevel=4,
        )


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    pyarrow = import_pyarrow()
    try:
        table = pyarrow.Table.from_pandas(frame.infer_objects(), preserve_index=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"Parquet keeps names of one kind in a column ({error}); write JSON or rename.") from error
    pyarrow.parquet.write_table(table, path)
