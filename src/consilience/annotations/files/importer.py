"""The importer: any table as columns of names, for files, frames and the command line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from consilience.annotations.files.classes import (
    of_numbers,
    one_spelling,
    refuse_fractions,
    refuse_no_labels,
    refuse_tags,
    refuse_two_groups,
)
from consilience.annotations.files.containers import as_frame, require_columns
from consilience.annotations.files.exports import Export, known_export, lists_in_columns, pile_columns, piles
from consilience.annotations.files.identifiers import by_text
from consilience.annotations.files.layout import Long, ReadingRequest, Wide, first_list
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.no_sorts import of_q_sort, of_ratings, refuse_no_sorts
from consilience.annotations.files.odd_columns import odd_annotators
from consilience.annotations.files.property_grids import groups_of_grid
from consilience.annotations.files.recognition import recognise
from consilience.annotations.files.sameness import read_judgements, require_no_preference, require_sameness
from consilience.annotations.files.stray_rows import without_stray_rows
from consilience.annotations.files.table import Reading, Table
from consilience.annotations.files.values import (
    Filled,
    fill_missing,
    given_as_missing,
    is_error_of_sheet,
    like_missing,
    note_names,
    quantify,
    require_plain,
    says_unsorted,
    spelled_missing,
    twins,
    without_abstentions,
)
from consilience.annotations.files.vocabulary import TIMES, is_plural, normal, role_of_name, with_article
from consilience.annotations.keywords import spell
from consilience.annotations.names import MISSING, Coded, Where, code, frame_row, sort_rows, unique_names, without
from consilience.annotations.shared_names import own_names
from consilience.annotations.tables import all_names
from consilience.errors import AnnotationError

PARTS_OF_LABELS = ("item", "annotator", "label")
VALUE = {"groupings": "group", "labels": "label", "pairs": "same"}
OFFERED = {  # columns of a sort that may be read instead of others
    **dict.fromkeys(("subcategory", "subgroup", "supercategory", "hybrid", "principle", "criterion"), "group"),
    **dict.fromkeys(("level", "step", "attempt", "repetition"), "grouping"),
    **dict.fromkeys(("statement", "cardtext", "itemtext"), "item"),
}
MANY_COLUMNS = 1000  # of text, of which pandas holds each by itself
MOST_PILES_OF_ONE_NAME = 0.25  # share of rows that each contain a list of items
SEPARATORS = ("\n", ";", "|", ",")


@dataclass(frozen=True)
class Statements:
    """The annotations in a table.

    Attributes
    ----------
    kind : {"groupings", "pairs", "labels"}
    columns : dict of str to Coded
        Parallel columns: item, annotator, group, …; for pairs, item_a and item_b instead of item. Their names may
        include unused ones: items and annotators without annotations.
    where : callable
        Describes the place of a row.
    wide : bool
        Whether the table was wide, so that its rows and columns are items and annotators even if all cells are blank.
    named : bool
        Whether the items have names, and are not the numbered rows of a wide table.
    reading : Reading
    classes : tuple
        All classes, if the file lists them.
    """

    kind: str
    columns: dict[str, Coded]
    where: Where
    wide: bool
    named: bool
    reading: Reading
    classes: tuple[Any, ...] = ()


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

    Parameters
    ----------
    table : Table
    request : Request
        What the caller specified, which overrides every guess.
    name : str
        The file's name, which in some exports is that of the annotator.
    export : Export, optional
        The same table as the export of a known tool.
    layout : Wide, optional
        The meaning of its columns, if known.
    """
    table = _in_one_array(table)
    request = replace(request, ignore=_matching(request.ignore, table))
    tool, nouns, notes = "", {}, list(table.notes)
    warnings = list(table.warnings)
    if export is None and layout is None:
        export = known_export(table, request, name) or groups_of_grid(table, request)
    if export is not None:
        tool, table, request, nouns = export.tool, export.table, export.request, export.nouns
        warnings += export.notes
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
        found = _of_wide(table, read_as, request, warnings)
    else:
        table = _unfold(table, read_as)
        if read_as.kind == "labels" and export is None:
            _require_single_labels(table, read_as)
        found = _of_long(_taken_apart(table, read_as), read_as, request, notes, warnings)
    _require_names_not_errors(found)
    if found.kind == "groupings":
        owner = _owner(found.columns)
        refuse_two_groups(found.columns["group"], owner, found.where)
        asked = of_ratings(found.columns["item"], owner, found.columns["group"]) if request.kind is None else None
        notes += [asked] if asked else []
    if found.kind == "labels":
        found = _with_classes(found, request, notes)
    how, more = _describe_reading(found, read_as, request, tool, nouns)
    for column, what in (("item", "item"), ("item_a", "item"), ("annotator", "annotator"), ("label", "label")):
        if column in found.columns:
            notes += note_names(found.columns[column].names, what)
    notes += _repeated_differently(found)
    if "group" in found.columns:
        notes += [note for note in (_twins_of_one(found),) if note]
    if found.kind == "labels" and (own := own_names(*(found.columns[part] for part in PARTS_OF_LABELS))) is not None:
        named_columns = {"group" if role == "label" else role: column for role, column in request.columns.items()}
        warnings.append(own.note(spell(kind="groupings", **named_columns)))
    if found.kind != "pairs" and request.missing is None:
        role = VALUE[found.kind]
        warnings += [note for note in (like_missing(found.columns[role], role, request.true_classes),) if note]
    reading = Reading(how, tuple(notes + more), tuple(warnings))
    return replace(found, reading=reading, classes=request.classes if export is not None else ())


def _in_one_array(table: Table) -> Table:
    """Return a text table of very many columns held in one array, of which each is a slice."""
    frame = table.frame
    if not table.is_text or frame.shape[1] < MANY_COLUMNS:
        return table
    return replace(table, frame=pd.DataFrame(frame.to_numpy(object), frame.index, frame.columns, dtype=object))


def _with_classes(found: Statements, request: ReadingRequest, notes: list[str]) -> Statements:
    """Give spellings of one class one name, and refuse what is no class."""
    label = found.columns["label"]
    if request.kind is None:
        refuse_fractions(label, found.where)
    if not request.exact:
        refuse_tags(label, found.where)
        label, note = one_spelling(label, request.classes)
        notes += [note] if note else []
    notes += [note for note in (of_numbers(label),) if note and request.kind is None]
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
    return [i for i, name in enumerate(names.to_numpy(object).tolist()) if is_error_of_sheet(name)]


def _repeated_differently(found: Statements) -> list[str]:
    """Count the items that an annotator labelled, or the pairs that were judged, several times and differently."""
    if found.kind == "groupings":
        return []
    keys = ["item_a", "item_b"] if found.kind == "pairs" else ["item"]
    codes = [found.columns[key].codes for key in keys]
    pair = [np.minimum(*codes), np.maximum(*codes)] if found.kind == "pairs" else codes
    whose = found.columns.get("annotator", found.columns.get("grouping"))
    if whose is None:
        return []
    columns = [column + 1 for column in (*pair, whose.codes, found.columns[VALUE[found.kind]].codes)]  # -1 is missing
    *of, value = sort_rows(columns, [int(column.max(initial=0)) + 1 for column in columns])
    again = np.logical_and.reduce([column[1:] == column[:-1] for column in of])
    several = (again & (value[1:] != value[:-1])).sum()
    what, value_of = ("pair", "judgement") if found.kind == "pairs" else ("item", "label")
    if not several:
        return []
    return [f"{quantify(int(several), 'time')} an annotator gave the same {what} another {value_of}; both are kept"]


def _twins_of_one(found: Statements) -> str | None:
    """Note groups of one annotator whose names differ only in case, spaces or form of letters, None if none do."""
    group = found.columns["group"]
    if twins(group.names, "groups") is None:
        return None
    owner = _owner(found.columns)
    names = pd.Series([str(name) for name in group.names], dtype=object)
    form = names.str.normalize("NFKC").str.casefold().str.split().str.join(" ")
    rows = pd.DataFrame({"owner": owner.codes, "form": form.to_numpy()[group.codes], "group": group.codes})
    several = rows.drop_duplicates().groupby(["owner", "form"])["group"].agg(["size", "first", "last"])
    several = several[several["size"] > 1]
    if several.empty:
        return None
    one, other = (group.names[int(several.iloc[0][end])] for end in ("first", "last"))
    return (
        f"{quantify(len(several), 'group')} of one annotator with names that differ only in case or spaces, such as "
        f"{one!r} and {other!r}; they are kept apart"
    )


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


def _unfold(table: Table, layout: Long) -> Table:
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


def _require_single_labels(table: Table, layout: Long) -> None:
    """Raise an AnnotationError if a cell of labels contains several things, or one that is no class."""
    column = table.frame[layout.columns["label"]]
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise AnnotationError(f"The column {str(layout.columns['label'])!r} holds dates, which are no classes.")
    if column.dtype == object:
        held = [cell[0] if isinstance(cell, list | np.ndarray) and len(cell) == 1 else cell for cell in column]
        refuse_no_labels([[] if isinstance(cell, list) and not cell else cell for cell in held], table.where)


def _taken_apart(table: Table, layout: Long) -> Table:
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
    if layout.kind == "groupings" and (separator := _separator(frame, layout)):
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


def _separator(frame: pd.DataFrame, layout: Long) -> str | None:
    """Find the separator of the items in a row for each group, None if each row has one item.

    A separator is accepted if most rows are separate groups and most cells contain it, or some if most parts occur in
    several different cells and the column's name is plural (cards); and if either is so, unlike of a name such as
    "Paris, France".
    """
    cells = frame[layout.columns["item"]].astype(str)
    plural_name = is_plural(layout.columns["item"])
    for separator in SEPARATORS:
        joined = cells.str.contains(separator, regex=False)
        if not (joined.mean() > 0.5 or (plural_name and joined.any())):
            continue
        parts = Counter(part.strip() for cell in set(cells) for part in {*cell.split(separator)})
        recur = np.median(list(parts.values())) >= 2
        if recur or joined.mean() > 0.5:
            if frame[_parts_of_group(layout)].astype(str).duplicated().mean() > MOST_PILES_OF_ONE_NAME:
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


def _of_long(table: Table, layout: Long, request: ReadingRequest, notes: list[str], warnings: list[str]) -> Statements:
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
    cells = code(table.frame[layout.columns[role]])
    value = _values(cells, table, request, role, table.where, warnings)
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
        columns[role] = _sorted_ones(columns[role], warnings)
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


def _values(
    column: Coded, table: Table, request: ReadingRequest, what: str, where: Where, warnings: list[str]
) -> Coded:
    """Return the values, typed, with missing ones marked as such."""
    if request.missing is not None:
        (typed,) = table.typed(given_as_missing(column, request.missing))
        return typed
    require_plain(column, what, where)
    if what == "group":
        column = _sorted_ones(column, warnings)
    noun = "judgement" if what == "same" else what
    found = spelled_missing(column, noun, where) if table.spells_missing else Filled(column)
    if what == "label":
        abstained = without_abstentions(found.column, what, request.true_classes)
        found = Filled(abstained.column, (*found.notes, *abstained.notes))
    (typed,) = table.typed(found.column)
    # among few judgements, -1 may be one; among grades, it means missing as elsewhere
    last = fill_missing(typed, noun, where) if what != "same" or _has_grades(typed) else Filled(typed)
    warnings += [*found.notes, *last.notes]
    return last.column


def _has_grades(column: Coded) -> bool:
    return pd.api.types.is_integer_dtype(column.names) and len(column.names) > 3


def _named_by_text(columns: dict[str, Coded], layout: Long, where: Where) -> dict[str, Coded]:
    for part in ("item", "group"):
        text = columns.pop(f"{part} text", None)
        if text is not None:
            owner = None
            if part == "group":
                owner = _owner(columns)
            heads = (str(layout.columns[part]), str(layout.texts[part]))
            columns[part] = by_text(columns[part], text, owner, where, heads)
    return columns


def _owner(columns: dict[str, Coded]) -> Coded:
    """Return the owner of each row's groups: annotator, grouping or both."""
    held = [columns[part] for part in ("annotator", "grouping") if part in columns]
    if len(held) == 1:
        return held[0]
    n = max(len(held[1].names), 1)
    codes = np.where(held[0].missing | held[1].missing, MISSING, held[0].codes * n + held[1].codes)
    return Coded(codes, pd.RangeIndex(len(held[0].names) * n))


def _without_silence(
    columns: dict[str, Coded],
    blank: np.ndarray,
    layout: Long,
    where: Where,
    notes: list[str],
    warnings: list[str],
) -> Statements:
    """Leave out rows without a value, but keep the names of their items and annotators.

    Only blank cells are counted here; other missing values were counted where they were found.
    """
    role = VALUE[layout.kind]
    keys = ("item", "item_b") if layout.kind == "pairs" else ("item",)
    names = all_names([columns[key] for key in keys])
    for key in keys:
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
        where = _among(rows, where)
    if layout.kind == "pairs":
        columns = {"item_a": columns.pop("item"), "item_b": columns.pop("item_b"), **columns}
    return Statements(layout.kind, columns, where, False, True, Reading(""))


def _among(rows: np.ndarray, where: Where) -> Where:
    return lambda row: where(int(rows[row]))


def _sorted_ones(group: Coded, warnings: list[str]) -> Coded:
    """Mark a pile called "unsorted" as missing."""
    is_it = np.array([says_unsorted(name) for name in group.names], dtype=bool)
    if not is_it.any():
        return group
    count = int(np.append(is_it, False)[group.codes].sum())
    name = group.names[int(np.argmax(is_it))]
    warnings.append(f"{quantify(count, 'entry')} {name!r} read as not sorted ({spell(missing=[])} if it is a group)")
    return without(group, is_it)


def _of_wide(table: Table, layout: Wide, request: ReadingRequest, warnings: list[str]) -> Statements:
    n_columns = len(layout.others)
    role = VALUE[layout.kind]
    where = table.where

    def place(cell: int) -> str:
        return f"{where(cell // n_columns)}, column {str(layout.others[cell % n_columns])!r}"

    if request.same_if is not None:
        raise AnnotationError(f"{spell(same_if=None)} is for judgements of pairs, but the table is wide.")
    if request.kind == "pairs":
        raise AnnotationError(
            "Pairs need the columns item_a, item_b, annotator, same; a wide table cannot contain them."
        )
    cells = code(table.frame[layout.others].to_numpy(object).ravel())
    value = _values(cells, table, request, role, place, warnings)
    heads = "annotators" if not layout.annotators_in_rows else "items"
    (of_columns,) = table.typed(Coded(np.arange(n_columns), unique_names(layout.others, heads)))
    if layout.key is None:
        row_names: pd.Index = pd.RangeIndex(len(table.frame))
    else:
        row_names = unique_names(
            table.column(layout.key), "annotators" if layout.annotators_in_rows else "items", where
        )
    given = np.flatnonzero(~value.missing)
    row, column = np.divmod(given, n_columns)
    sides = [Coded(row, row_names), Coded(column, of_columns.names)]
    item, annotator = sides[::-1] if layout.annotators_in_rows else sides
    odd = None if layout.annotators_in_rows else odd_annotators(layout.others, value)
    if odd:
        warnings.append(odd)
    order = of_q_sort(value, n_columns, in_rows=layout.annotators_in_rows) if role == "group" else None
    if order:
        warnings.append(order)
    if layout.left_out:
        one = "item" if layout.annotators_in_rows else "annotator"
        warnings.append(
            f"columns not read as {one}s left out: {_list_columns(layout.left_out)} (rename one to read it)"
        )
    columns = {"item": item, "annotator": annotator, role: value.take(given)}
    named = layout.key is not None or layout.annotators_in_rows
    return Statements(layout.kind, columns, _among(given, place), True, named, Reading(""))


def _describe_reading(
    found: Statements, layout: Long | Wide, request: ReadingRequest, tool: str, nouns: dict[str, str]
) -> tuple[str, list[str]]:
    """Describe in one line how a table was read, and list what was decided by default."""
    nouns = layout.nouns | nouns
    item, person = nouns.get("item", "item"), nouns.get("annotator", "annotator")
    whose = found.columns.get("annotator", found.columns.get("grouping"))
    if "annotator" not in found.columns:
        person = "grouping"
    n_items = len(found.columns["item_a" if found.kind == "pairs" else "item"].names)
    what = f"{quantify(n_items, item)} × {quantify(0 if whose is None else len(whose.names), person)}"
    if found.kind == "labels":
        what += f", {quantify(len(found.columns['label'].names), 'class')}"
    if found.kind == "pairs":
        what = f"{quantify(len(found.columns['same']), 'judgement')} of pairs of {what}"
    notes = []
    if isinstance(layout, Wide):
        row, column = (person, item) if layout.annotators_in_rows else (item, person)
        why = "" if tool else f": {layout.why}"
        shape = f"wide table of {layout.kind} (a row per {row}, a column per {column}{why})"
        if request.kind is None:
            notes.append(f"names of groups mean nothing to other annotators ({spell(kind='labels')} if all share them)")
    else:
        parts = ("item", "item_b", "annotator", "grouping", "group", "label", "same")
        heads = [str(layout.columns[part]) for part in parts if part in layout.columns]
        shape = f"long table of {found.kind} ({', '.join(heads)})"
        if layout.left_out:
            notes.append(f"columns not used: {_list_columns(layout.left_out)}{_offer(layout)}")
    return f"{what}, {shape}{f', {tool}' if tool else ''}", notes


def _offer(layout: Long) -> str:
    """Say how a column that was not used can be, if its name tells, such as that of finer groups; else empty."""
    for column in layout.left_out:
        role = OFFERED.get(normal(column).replace(" ", ""))
        if role is not None and (role in layout.columns or role == "grouping") and layout.kind == "groupings":
            return f" ({spell(**{role: column})} reads {str(column)!r})"
    return ""


def _list_columns(columns: list[Any]) -> str:
    return ", ".join(repr(str(name)) for name in columns[:5]) + (", …" if len(columns) > 5 else "")
