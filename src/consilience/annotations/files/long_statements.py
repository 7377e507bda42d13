"""What a long table says: a row for each annotation, or for each list of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.classes import refuse_no_labels
from consilience.annotations.files.identifiers import by_text
from consilience.annotations.files.layout import Long, ReadingRequest, first_list
from consilience.annotations.files.sameness import read_judgements, require_no_preference, require_sameness
from consilience.annotations.files.statements import VALUE, Statements, among, mark_unsorted, owner_of, read_values
from consilience.annotations.files.table import Reading, Table
from consilience.annotations.files.values import number_of_cells, quantify
from consilience.annotations.files.vocabulary import TIMES, is_plural, normal, with_article
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded, Where
from consilience.annotations.tables import all_names
from consilience.errors import AnnotationError

MOST_PILES_OF_ONE_NAME = 0.25  # share of rows that each contain a list of items
SEPARATORS = ("\n", ";", "|", ",")


def unfold_lists(table: Table, layout: Long) -> Table:
    """Give each annotator a row where a row lists several, with their labels or groups in another list.

    Raises AnnotationError: the two lists of a row differ in length.
    """
    who, value = layout.columns.get("annotator"), layout.columns[VALUE[layout.kind]]
    if who is None or first_list(table.frame[who]) is None:
        return table
    frame = table.frame.reset_index(drop=True)
    for row, (people, said) in enumerate(zip(frame[who], frame[value])):
        if np.ndim(people) != 1 or np.ndim(said) != 1 or len(people) != len(said):
            raise AnnotationError(
                f"{table.where(row)}: a list of annotators needs a list of as many values beside it, one for each."
            )
    return _explode(replace(table, frame=frame), [who, value])[0]


def require_single_labels(table: Table, layout: Long) -> None:
    """Raise an AnnotationError if a cell of labels contains several things, or one that is no class."""
    column = table.frame[layout.columns["label"]]
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise AnnotationError(f"The column {str(layout.columns['label'])!r} holds dates, which are no classes.")
    if column.dtype == object:
        held = [cell[0] if isinstance(cell, list | np.ndarray) and len(cell) == 1 else cell for cell in column]
        refuse_no_labels([[] if isinstance(cell, list) and not cell else cell for cell in held], table.where)


def split_lists(table: Table, layout: Long) -> Table:
    """Give each element of a list in a cell its own row."""
    item, value = layout.columns["item"], layout.columns[VALUE[layout.kind]]
    frame = table.frame
    for name in (item, value):
        column = frame[name]
        is_list = (
            np.array([isinstance(cell, list | np.ndarray) for cell in column], dtype=bool)
            if column.dtype == object
            else np.zeros(len(column), dtype=bool)
        )
        if is_list.any():
            if name == item and layout.kind == "groupings":
                frame = _with_names_of_groups(frame, value)
                frame = _with(frame, value, _numbered_names(frame, layout))
            frame = _with(frame, name, [list(cell) if is_it else [cell] for cell, is_it in zip(column, is_list)])
            table, frame = _explode(replace(table, frame=frame), name)
    if layout.kind == "groupings" and (separator := _separator(table, layout)):
        split = [[part.strip() for part in str(cell).split(separator)] for cell in frame[item]]
        frame = _with(frame, value, _numbered_names(_with_names_of_groups(frame, value), layout))
        table, _ = _explode(replace(table, frame=_with(frame, item, split)), item)
    return table


def _with_names_of_groups(frame: pd.DataFrame, column: Any) -> pd.DataFrame:
    """Name the groups without a name: a group that comes with the list of its items is one."""
    blank = frame[column].isna() | (frame[column].astype(str).str.strip() == "")
    return _with(frame, column, ["(no name)" if no else name for no, name in zip(blank, frame[column])])


def _with(frame: pd.DataFrame, name: Any, cells: list[Any]) -> pd.DataFrame:
    frame = frame.copy()
    frame[name] = pd.Series(cells, index=frame.index, dtype=object)
    return frame


def _explode(table: Table, name: Any) -> tuple[Table, pd.DataFrame]:
    where = table.where
    numbered = table.frame.reset_index(drop=True).explode(name)
    rows = numbered.index.to_numpy()
    frame = numbered.reset_index(drop=True)
    return replace(table, frame=frame, where=lambda row: where(int(rows[row]))), frame


def _separator(table: Table, layout: Long) -> str | None:
    """Find the separator of the items in a row for each group, None if each row has one item.

    A separator is accepted if most rows are separate groups and most cells contain it, or some if most parts occur in
    several different cells and the column's name is plural (cards); and if either is so, unlike of a name such as
    "Paris, France".
    """
    item = table.code(layout.columns["item"])
    texts = [str(name) for name in item.names.to_numpy(object)]  # an Arrow index is slow to iterate over
    plural_name, text_of_all = is_plural(layout.columns["item"]), "\n".join(texts)
    for separator in SEPARATORS:
        if separator not in text_of_all:  # at once, of hundreds of thousands of names
            continue
        joined = np.array([separator in text for text in texts], dtype=bool)
        are_most = joined.any() and number_of_cells(item, joined) > 0.5 * len(item)
        if not (are_most or (plural_name and joined.any())):
            continue
        parts = Counter(part.strip() for text in texts for part in {*text.split(separator)})
        recur = np.median(list(parts.values())) >= 2
        if recur or are_most:
            if table.frame[_parts_of_group(layout)].astype(str).duplicated().mean() > MOST_PILES_OF_ONE_NAME:
                return None
            return separator if recur or plural_name else None
    return None


def _parts_of_group(layout: Long) -> list[Any]:
    return [layout.columns[part] for part in ("annotator", "grouping", "group") if part in layout.columns]


def _numbered_names(frame: pd.DataFrame, layout: Long) -> list[Any]:
    """Return the names of groups, one per row, with a number if an annotator has several of one name."""
    number = frame.groupby(_parts_of_group(layout), sort=False, dropna=False).cumcount()
    names = frame[layout.columns["group"]]
    return [name if not k else f"{name} ({k + 1})" for name, k in zip(names, number)]


def read_long(table: Table, layout: Long, request: ReadingRequest, notes: list[str], warnings: list[str]) -> Statements:
    """Return what the rows of a long table say; what was decided, and left out, is added to notes and warnings."""
    role = VALUE[layout.kind]
    if layout.kind == "pairs":
        table = _without_copies(table, warnings)
    texts = {f"{part} text": column for part, column in layout.texts.items()}
    names = {part: column for part, column in layout.columns.items() if part != role} | texts
    alike = (
        [layout.columns[part] for part in ("item", "item_b") if part in layout.columns]
        if layout.kind == "pairs"
        else []
    )
    coded = table.coded(list(names.values()), alike=alike)
    columns = {part: coded[column] for part, column in names.items()}
    cells = table.code(layout.columns[role])
    value = read_values(cells, table, request, role, table.where, warnings)
    blank = cells.missing if request.missing is None else value.missing  # the others have been counted
    if layout.kind == "pairs":
        require_sameness(layout.columns[role], request.same_if)
        if request.same_if is None:
            require_no_preference(value, columns["item"], columns["item_b"], layout.columns[role])
        found = read_judgements(value, table.where, request.same_if)
        value = found.column
        warnings += found.notes
    elif request.same_if is not None:
        raise AnnotationError(f"{spell(same_if=None)} is for judgements of pairs, but the table has {layout.kind}.")
    columns |= {role: value}
    columns = _named_by_text(columns, layout, table.where)
    if role in layout.texts and request.missing is None:
        columns[role] = mark_unsorted(columns[role], warnings)
    return _without_silence(columns, blank, layout, table.where, notes, warnings)


def _without_copies(table: Table, warnings: list[str]) -> Table:
    """Leave out rows that repeat another including its time or session; without these they are repeated judgements."""
    if not any(normal(column) in TIMES for column in table.columns):
        return table
    copies = table.frame.astype(str).duplicated().to_numpy()
    if copies.any():
        count = int(copies.sum())
        repeat = "repeats" if count == 1 else "repeat"
        warnings.append(f"{quantify(count, 'row')} that {repeat} another, including time or session, left out")
        return table.rows(np.flatnonzero(~copies))
    return table


def _named_by_text(columns: dict[str, Coded], layout: Long, where: Where) -> dict[str, Coded]:
    for part in ("item", "group"):
        text = columns.pop(f"{part} text", None)
        if text is not None:
            owner = None
            if part == "group":
                owner = owner_of(columns)
            heads = (str(layout.columns[part]), str(layout.texts[part]))
            columns[part] = by_text(columns[part], text, owner, where, heads)
    return columns


def _without_silence(
    columns: dict[str, Coded], blank: np.ndarray, layout: Long, where: Where, notes: list[str], warnings: list[str]
) -> Statements:
    """Leave out rows without a value, but keep the names of their items and annotators.

    Only blank cells are counted here; other missing values were counted where they were found.
    """
    role = VALUE[layout.kind]
    keys = ("item", "item_b") if layout.kind == "pairs" else ("item",)
    names = all_names([columns[key] for key in keys])
    for key in keys:
        if columns[key].names is not names:
            columns[key] = columns[key].renamed(names.get_indexer(columns[key].names), names)
    silent = columns[role].missing & ~columns["item"].missing
    if silent.any():
        others = [column.missing for part, column in columns.items() if part not in ("item", role)]
        is_blank = silent & blank
        by_somebody = int((is_blank & ~np.logical_and.reduce(others)).sum()) if others else int(is_blank.sum())
        if by_somebody:
            noun = "judgement" if role == "same" else layout.nouns.get(role, role)
            rows_without = f"{quantify(by_somebody, 'row')} without {with_article(noun)}"
            if layout.kind == "groupings":
                notes.append(f"{rows_without} = not sorted")
            else:
                warnings.append(f"{rows_without} left out")
        rows = np.flatnonzero(~silent)
        columns = {part: column.take(rows) for part, column in columns.items()}
        where = among(rows, where)
    if layout.kind == "pairs":
        columns = {"item_a": columns.pop("item"), "item_b": columns.pop("item_b"), **columns}
    return Statements(layout.kind, columns, where, False, True, Reading(""))
