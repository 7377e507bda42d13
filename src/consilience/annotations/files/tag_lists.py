"""Cells that hold several tags: lists in a column, as text with a separator, or as JSON."""

from __future__ import annotations

import ast
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import quantify
from consilience.annotations.files.vocabulary import normal
from consilience.annotations.names import MISSING, NO_TAG, Coded, Where, name_index
from consilience.errors import AnnotationError

SURE = ("\n", "|", ";")  # no name of a tag has these
LIKELY = (",", "/")  # which a name may have: they divide lists if the parts recur
PLAIN = (str, int, float, np.generic)
CHOICES = '{"choices"'  # of a cell of Label Studio


def with_lists_as_text(table: Table) -> Table:
    """Write lists of tags in cells as JSON, and take them out of the mappings in which Label Studio has them."""
    frame = table.frame.copy()
    for place in range(frame.shape[1]):
        held = frame.iloc[:, place].to_numpy(object).tolist()
        written = [_as_text(cell) for cell in held]
        if any(one is not other for one, other in zip(held, written)):
            frame[frame.columns[place]] = pd.Series(written, index=frame.index, dtype=object)
    return replace(table, frame=frame)


def with_tag_column(table: Table, request: ReadingRequest) -> ReadingRequest:
    """Name a column called tag or tags as that of the labels, unless one is named."""
    called = [column for column in table.columns if normal(column) in ("tag", "tags")]
    if len(called) != 1 or "label" in request.columns:
        return request
    return replace(request, columns=request.columns | {"label": called[0]})


def with_no_tags(table: Table, column: Any) -> tuple[Table, list[str]]:
    """Read blank cells of a long table, and empty lists, as items without any tag; and say how many."""
    cells = table.frame[column].to_numpy(object)
    blank = np.array([pd.isna(cell) or str(cell).strip() in ("", "[]") for cell in cells.tolist()], dtype=bool)
    if not blank.any():
        return table, []
    frame = table.frame.copy()
    frame[column] = pd.Series(np.where(blank, NO_TAG, cells), index=frame.index, dtype=object)
    note = f"{quantify(int(blank.sum()), 'row')} without a tag = the item was seen, and has none"
    return replace(table, frame=frame), [note]


def divide_tags(columns: dict[str, Coded], where: Where, *, exact: bool) -> tuple[dict[str, Coded], Where, list[str]]:
    """Give each tag of a list a row of its own.

    columns : item, annotator and label of each row.
    where : describes the place of a row.
    exact : whether text such as "a,b" is the name of one tag.

    Returns
    -------
    columns, where
    notes : how lists were divided, empty if there are none.
    """
    label = columns["label"]
    names = label.names.to_numpy(object).tolist()
    parts: list[list[Any]] = [_parse_list(name, where, label, place) for place, name in enumerate(names)]
    separator = None if exact else _separator([name for name, tags in zip(names, parts) if tags == [name]])
    if separator is not None:
        parts = [_divide(tags[0], separator) if tags == [name] else tags for name, tags in zip(names, parts)]
    if all(tags == [name] for name, tags in zip(names, parts)):
        return columns, where, []
    distinct = name_index(dict.fromkeys(tag for tags in parts for tag in tags))
    sizes = np.array([len(tags) for tags in parts])
    starts = np.cumsum(sizes) - sizes
    flat = distinct.get_indexer(pd.Index([tag for tags in parts for tag in tags], tupleize_cols=False))
    codes = label.codes
    rows = np.repeat(np.arange(len(codes)), np.where(codes == MISSING, 1, sizes[codes]))
    within = np.arange(len(rows)) - np.searchsorted(rows, rows)  # place among the tags of its row
    of_row = codes[rows]
    tag = np.where(of_row == MISSING, MISSING, flat[np.where(of_row == MISSING, 0, starts[of_row] + within)])
    found = {part: column.take(rows) for part, column in columns.items()} | {"label": Coded(tag, distinct)}
    how = "lists" if separator is None else f"lists divided at {separator!r}"
    several = quantify(int((sizes[codes[codes != MISSING]] > 1).sum()), "cell")
    return found, lambda row: where(int(rows[row])), [f"{several} of several tags: {how}"]


def tags_in_cell(cell: Any, tags: pd.Index) -> list[Any]:
    """Return the tags in a cell, where it is known which there are.

    Examples
    --------
    >>> tags = pd.Index(["big", "red, white"])
    >>> tags_in_cell("red, white", tags), tags_in_cell("big|red, white", tags), tags_in_cell('["big"]', tags)
    (['red, white'], ['big', 'red, white'], ['big'])
    """
    if cell in tags or not isinstance(cell, str):
        return [cell]
    whole = _parse_list(cell, str, Coded(np.zeros(1, dtype=int), pd.Index([cell])), 0)
    if whole != [cell]:
        return whole
    separator = next((sign for sign in (*SURE, *LIKELY) if sign in cell), None)
    return [cell] if separator is None else _divide(cell, separator)


def _as_text(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith(CHOICES):
        try:
            cell = json.loads(cell)
        except ValueError:
            return cell
    found = cell.get("choices") if isinstance(cell, dict) else cell
    found = found.tolist() if isinstance(found, np.ndarray) else found
    if isinstance(found, list | tuple | set | frozenset) and all(isinstance(tag, PLAIN) for tag in found):
        tags = sorted(found, key=str) if isinstance(found, set | frozenset) else found
        return json.dumps([tag.item() if isinstance(tag, np.generic) else tag for tag in tags])
    return cell


def _parse_list(name: Any, where: Where, label: Coded, place: int) -> list[Any]:
    """Return the tags of a list in the spelling of JSON or Python; else the name alone."""
    text = name.strip() if isinstance(name, str) else ""
    if not (text.startswith("[") and text.endswith("]")):
        return [name]
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return [name]
    if not isinstance(found, list) or not all(isinstance(tag, str | int | float) for tag in found):
        row = int(np.argmax(label.codes == place))
        raise AnnotationError(f"The cell {text[:40]!r} in {where(row)} is a list of other things than tags.")
    return _tidy(found)


def _tidy(tags: list[Any]) -> list[Any]:
    """Return each tag once, without spaces around it; `NO_TAG` if there are none."""
    tidy = [tag.strip() if isinstance(tag, str) else tag for tag in tags]
    return list(dict.fromkeys(tag for tag in tidy if tag != "" and tag == tag)) or [NO_TAG]  # NaN differs from itself


def _divide(name: Any, separator: str) -> list[Any]:
    return _tidy(name.split(separator)) if isinstance(name, str) and separator in name else [name]


def _separator(names: list[Any]) -> str | None:
    """Find what divides the tags in a cell, None if no cell has several."""
    texts = [name for name in names if isinstance(name, str)]
    for separator in SURE:
        if any(separator in text for text in texts):
            return separator
    for separator in LIKELY:
        joined = [text for text in texts if separator in text]
        counts = Counter(part.strip() for text in texts for part in {*text.split(separator)})
        parts = {part.strip() for text in joined for part in text.split(separator)}
        if joined and sum(counts[part] > 1 for part in parts) > len(parts) / 2:
            return separator
    return None
