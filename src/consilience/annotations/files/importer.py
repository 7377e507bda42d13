"""The importer: any table as columns of names, for files, frames and the command line."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from consilience.annotations.files.classes import (
    of_numbers,
    one_spelling,
    refuse_fractions,
    refuse_tags,
    refuse_two_groups,
)
from consilience.annotations.files.containers import as_frame, require_columns
from consilience.annotations.files.exports import known_export
from consilience.annotations.files.layout import Long, ReadingRequest, Wide
from consilience.annotations.files.long_statements import read_long, require_single_labels, split_lists, unfold_lists
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.name_notes import note_names
from consilience.annotations.files.no_sort_cells import of_ratings
from consilience.annotations.files.no_sorts import refuse_no_sorts
from consilience.annotations.files.piles import lists_in_columns, pile_columns, piles
from consilience.annotations.files.property_grids import groups_of_grid
from consilience.annotations.files.reading_notes import describe_reading, note_twins
from consilience.annotations.files.recognition import recognise
from consilience.annotations.files.statements import VALUE, Statements, owner_of
from consilience.annotations.files.stray_rows import without_stray_rows
from consilience.annotations.files.table import Reading, Table
from consilience.annotations.files.tag_lists import divide_tags, with_lists_as_text, with_no_tags, with_tag_column
from consilience.annotations.files.tool_export import Export
from consilience.annotations.files.values import is_error_of_sheet, like_missing, quantify
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.files.wide_statements import read_wide
from consilience.annotations.keywords import spell
from consilience.annotations.names import frame_row
from consilience.annotations.shared_names import own_names
from consilience.errors import AnnotationError

PARTS_OF_LABELS = ("item", "annotator", "label")


def table_of_frame(frame: Any, caller: str) -> Table:
    """Return a frame of any library as a table; named levels of a pandas index become columns.

    Raises AnnotationError: it is not a frame.
    """
    frame = as_frame(frame)
    try:
        native = nw.from_native(frame, eager_only=True)
    except (TypeError, ValueError) as error:
        raise AnnotationError(
            f"{caller} takes a table of pandas, polars or another library that narwhals supports, with distinct "
            f"columns. Got {type(frame).__name__} "
            f"instead{'; give frame.collect()' if hasattr(frame, 'collect') else ''}."
        ) from error
    if not isinstance(frame, pd.DataFrame):
        frame = pd.DataFrame({name: native[name].to_list() for name in native.columns}, dtype=object)
    elif isinstance(frame.columns, pd.MultiIndex):
        raise AnnotationError(
            f"{caller} takes a table whose columns have one level of names. Got {frame.columns.nlevels} levels."
        )
    elif any(name is not None for name in frame.index.names):
        frame = _with_index_as_columns(frame)
    elif frame.index.nlevels > 1:
        raise AnnotationError(
            f"{caller} takes a table whose rows have one name each, or an index whose levels are named like columns. "
            f"Got an index of {frame.index.nlevels} unnamed levels; give frame.rename_axis(['item', "
            "'annotator'])."
        )
    elif not pd.api.types.is_integer_dtype(frame.index.dtype):
        frame = frame.reset_index(names="")
    repeated = [name for name, count in Counter(frame.columns).items() if count > 1]
    if repeated:
        raise AnnotationError(f"Two columns are called {repeated[0]!r}; drop or rename one.")
    require_columns(list(frame.columns))
    return Table(frame, frame_row, is_text=False, spells_missing=True)


def _with_index_as_columns(frame: pd.DataFrame) -> pd.DataFrame:
    twice = [name for name in frame.index.names if name in frame.columns]
    if twice:
        raise AnnotationError(
            f"The index and a column are both called {str(twice[0])!r}; drop one: frame.reset_index(drop=True)."
        )
    return frame.reset_index()


def statements(
    table: Table,
    request: ReadingRequest,
    name: str = "table",
    *,
    export: Export | None = None,
    layout: Wide | None = None,
) -> Statements:
    """Read the annotations in a table.

    Raises AnnotationError: the table is not recognised, is ambiguous, has no annotations, or contradicts itself.

    request : what the caller specified, which overrides every guess.
    name : the file's name, which in some exports is that of the annotator.
    export : the same table as the export of a known tool.
    layout : the meaning of its columns, if known.
    """
    request = replace(request, ignore=_matching(request.ignore, table))
    tool, nouns, notes = "", {}, list(table.notes)
    warnings = list(table.warnings)
    if export is None and layout is None:
        export = known_export(table, request, name) or groups_of_grid(table, request)
    if export is not None:
        tool, table, request, nouns = export.tool, export.table, export.request, export.nouns
        warnings += export.notes
    if request.tags:
        table, request = with_lists_as_text(table), with_tag_column(table, request)
    whole, empty = _whole_rows(table)
    if layout is None:
        whole, stray = without_stray_rows(whole)
        warnings += stray
        table = whole if stray else table
    table, every_row = piles(pile_columns(whole, request), request) if layout is None else whole, table
    if layout is None and export is None:
        refuse_no_sorts(table, request)
    long = long_table(table, request) if layout is None else None
    may_be_lists = layout is None and long is None and request == ReadingRequest() and not _names_rows(table.columns)
    if may_be_lists and (lists := lists_in_columns(table, name)) is not None:
        table, tool = lists, f"lists in columns, one person's sort (called {name!r})"
    if long is not None and request.transpose is not None:
        raise AnnotationError(
            f"{spell(transpose=None)} is for wide tables, but this is a long table of {long.kind}; leave it out."
        )
    read_as = layout or long or recognise(table, request)
    _require_closed_quotes(table, read_as)
    if empty and isinstance(read_as, Wide) and read_as.key is None:
        table = every_row  # its rows are numbered
    else:
        warnings += empty
    if isinstance(read_as, Wide):
        found = read_wide(table, read_as, request, notes, warnings)
    else:
        table = unfold_lists(table, read_as)
        if read_as.kind == "labels" and (export is None or request.tags):
            require_single_labels(table, read_as)
        table = split_lists(table, read_as)
        if read_as.kind == "labels" and request.tags:
            table, without_any = with_no_tags(table, read_as.columns["label"])
            notes += without_any
        found = read_long(table, read_as, request, notes, warnings)
    _require_names_not_errors(found)
    if found.kind == "groupings":
        owner = owner_of(found.columns)
        refuse_two_groups(found.columns["group"], owner, found.where)
        asked = of_ratings(found.columns["item"], owner, found.columns["group"]) if request.kind is None else None
        notes += [asked] if asked else []
    if found.kind == "labels":
        found = _with_classes(found, request, notes)
    how, more = describe_reading(found, read_as, request, tool, nouns)
    for column, what in (("item", "item"), ("item_a", "item"), ("annotator", "annotator"), ("label", "label")):
        if column in found.columns:
            notes += note_names(found.columns[column].names, what)
    place_of_repeats = None if request.tags else len(notes)  # of tags, an item has several
    if "group" in found.columns:
        notes += [note for note in (note_twins(found),) if note]
    if found.kind == "labels" and (own := own_names(*(found.columns[part] for part in PARTS_OF_LABELS))) is not None:
        named_columns = {"group" if role == "label" else role: column for role, column in request.columns.items()}
        warnings.append(own.note(spell(kind="groupings", **named_columns)))
    if found.kind != "pairs" and request.missing is None:
        role = VALUE[found.kind]
        warnings += [note for note in (like_missing(found.columns[role], role, request.true_classes),) if note]
    given = () if export is None else export.given
    reading = Reading(how, tuple(notes + more), tuple(warnings), given)
    classes = request.classes if export is not None else ()
    return replace(found, reading=reading, classes=classes, place_of_repeats=place_of_repeats)


def _with_classes(found: Statements, request: ReadingRequest, notes: list[str]) -> Statements:
    """Give spellings of one class one name, and refuse what is no class."""
    if request.tags:
        columns, where, divided = divide_tags(found.columns, found.where, exact=request.exact)
        found = replace(found, columns=columns, where=where)
        notes += divided
    label = found.columns["label"]
    is_sure = request.kind is not None or request.ratings
    if not is_sure:
        refuse_fractions(label, found.where)
    if not request.exact:
        if not request.tags:
            refuse_tags(label, found.where)
        label, note = one_spelling(label, request.classes)
        notes += [note] if note else []
    notes += [note for note in (of_numbers(label),) if note and not is_sure]
    return replace(found, columns=found.columns | {"label": label})


def _require_names_not_errors(found: Statements) -> None:
    """Raise an AnnotationError if the name of an item or annotator is an error of a spreadsheet, such as #REF!."""
    for part in ("item", "item_a", "item_b", "annotator", "grouping"):
        column = found.columns.get(part)
        wrong = [] if column is None else _errors_of_sheet(column.names)
        if column is not None and wrong and np.isin(column.codes, wrong).any():
            what, row = part.removesuffix("_a").removesuffix("_b"), int(np.argmax(np.isin(column.codes, wrong)))
            raise AnnotationError(
                f"The {what} in {found.where(row)} is {column.name(row)!r}, an error of the "
                "spreadsheet; mend its formula, and save the table again."
            )


def _errors_of_sheet(names: pd.Index) -> list[int]:
    if isinstance(names.dtype, pd.StringDtype):  # searched at once
        return [i for i in np.flatnonzero(names.str.startswith("#")).tolist() if is_error_of_sheet(names[i])]
    return [i for i, name in enumerate(names) if is_error_of_sheet(name)]


def _require_closed_quotes(table: Table, layout: Long | Wide) -> None:
    """Raise an AnnotationError if a cell that is used begins with an unclosed quotation mark."""
    if isinstance(layout, Wide):
        used = {layout.key, *layout.others}
    else:
        used = {*layout.columns.values(), *layout.texts.values()}
    for name, quote in table.open_quotes.items():
        if name in used:
            raise AnnotationError(
                f"The cell {quote.cell[:40]!r} of the column {name!r} in {quote.where()} begins with a quotation mark "
                "that is not closed; close or remove it."
            )


def _matching(patterns: tuple[Any, ...], table: Table) -> tuple[Any, ...]:
    """Return the columns that match patterns such as ``Q2*``."""
    found: list[Any] = []
    for pattern in patterns:
        if pattern in table.columns or not isinstance(pattern, str):
            found.append(pattern)
        else:
            fitting = [column for column in table.columns if fnmatchcase(str(column), pattern)]
            found += fitting or [pattern]
    return tuple(found)


def _names_rows(columns: list[Any]) -> bool:
    """Whether the first column has a usual name for the rows of a wide table, which is not that of a category."""
    first = role_of_name(columns[0]) if columns else None
    return first is not None and (first.role == "annotator" or first.noun in {"item", "card", "object", "statement"})


def _whole_rows(table: Table) -> tuple[Table, list[str]]:
    """Return the table without empty rows, and their number."""
    frame = table.frame
    if not len(frame) or not frame.shape[1]:
        return table, []
    blank = np.ones(len(frame), dtype=bool)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not isinstance(column.dtype, pd.StringDtype):
            column = column.astype(object)
        blank &= np.asarray(column.isna() | (column == ""), dtype=bool)
        if not blank.any():
            return table, []
    return table.rows(np.flatnonzero(~blank)), [f"{quantify(int(blank.sum()), 'row')} without any entry left out"]
