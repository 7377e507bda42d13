"""Wide tables: on which side the annotators are, which columns are not annotators, and which tables have no groups."""

from __future__ import annotations

import math
import re
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.annotations.files.layout import ReadingRequest, Wide, first_list, names_rows, quote, say_needed
from consilience.annotations.files.no_sort_cells import (
    refuse_decimals,
    refuse_properties_of_people,
    refuse_rankings,
    refuse_similar_to_themselves,
)
from consilience.annotations.files.no_sorts import of_records, of_the_people
from consilience.annotations.files.odd_columns import mixture
from consilience.annotations.files.orientation import Orientation, kind_of_names, look_alike, n_with_gaps, orientation
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import NEVER_AN_ANSWER, PERHAPS_AN_ANSWER, given_as_missing, is_number
from consilience.annotations.files.vocabulary import NEUTRAL, NO_PERSON, WEAK, normal, role_of_name
from consilience.annotations.keywords import columns_of_a_long_table, no_rows, spell
from consilience.annotations.names import Coded, code, plain
from consilience.errors import AnnotationError

LONGEST_NAME = 24  # letters; longer text, such as sentences, is not the name of a group
FEWEST_TEXTS = 8
FEWEST_COUNTS = 6
SHARE_OF_ZEROS = 0.25
FEWEST_ITEMS = 3
SHARE_OF_DATA = 0.2  # of the columns, whose names occur again in them where the first line is none of names
FEWEST_TOGETHER = 4
FIRST_CELLS = 50
DATE = r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}\b|[A-Z][a-z]{2,8} \d\d?, \d{4}"
ADDRESS_OR_DATE = re.compile(rf"\S+@\S+\.\w+$|https?://|www\.|{DATE}")


def require_header(table: Table) -> None:
    """Raise an AnnotationError if the names of columns seem to be the first row of a table without a header."""
    columns = table.columns if table.is_text else []
    again = [name for name in _names_in_their_columns(table, columns) if not is_number(name)]
    for name in columns:
        # a group may have the name of its card, so in a wide table several columns must tell
        is_again = name in again and len(again) >= len(columns) * SHARE_OF_DATA
        why = "occurs again in its column" if is_again and name else _why_data(str(name), table.first_cells[name])
        if why:
            raise AnnotationError(
                f"The first line seems to contain data instead of names of columns, since {str(name)!r} {why}; insert "
                "a header before it, such as item,annotator,label."
            )
    first, *others = table.columns
    if (
        table.is_text
        and len(others) == 1
        and is_number(others[0])
        and not role_of_name(first)
        and normal(first) not in NEUTRAL
    ):
        raise AnnotationError(
            f"The first line seems to contain data instead of names of columns, since {str(others[0])!r} is a number; "
            "insert a header before it, such as item,group."
        )


def _why_data(name: str, cells: np.ndarray) -> str:
    """Say why the name of a column seems to be one of its cells, empty if it does not."""
    if is_fraction(name):
        return "is a number"
    if not name or is_number(name):
        return ""
    form = _form(name)
    if "#" in form and len(cells) and np.mean([_form(str(cell)) == form for cell in cells]) > 0.8:
        return f"has the form of the cells below it, such as {str(cells[0])!r}"
    return ""


@lru_cache(maxsize=4096)
def _form(text: str) -> str:
    """Return a text with # for each number in it, empty for a number alone."""
    form = re.sub(r"\d+", "#", text)
    return "" if form == "#" else form


def _names_in_their_columns(table: Table, columns: list[Any]) -> list[Any]:
    """Return the names of columns that also stand in a cell of their column."""
    if len(columns) > len(table.frame):  # one array is many times faster than as many columns
        names = np.array(columns, dtype=object)
        return list(names[(table.frame.to_numpy(object) == names).any(0)]) if len(table.frame) else []
    return [name for name in columns if (table.frame[name] == name).any()]


def wide_table(table: Table, request: ReadingRequest) -> Wide:
    if not len(table.frame):
        raise AnnotationError(no_rows())
    refuse_lists(table, request)
    columns = [name for name in table.columns if name not in request.ignore]
    letters, chosen = are_letters(columns), set(request.columns.values())
    besides = [name for name in columns if name not in chosen and _is_beside(table, name, are_letters=letters)]
    key = _key(table, request, [name for name in columns if name not in besides])
    key, also_named = _one_of_the_same(table, request, columns, key)
    besides += also_named
    others = [name for name in columns if name != key]
    if not others:
        raise AnnotationError(f"No column contains groups or labels. Found {quote(table.columns)}.")
    _refuse_records(table, request, others)
    refuse_similarities(table, key, others)
    refuse_similar_to_themselves(table, key, others)
    besides += [name for name in of_the_people(table, key, others) if name not in {*besides, *chosen}]
    cells = code(table.frame[others].to_numpy(object).ravel())
    left_out = no_persons(table, others, cells, are_measurements(cells, len(others), ratings=request.ratings))
    measured = [name for name in left_out if name not in besides]
    if not set(others) - {*left_out, *besides} or len(measured) > max(1, len(others) / 3):
        refuse_decimals(table.cells([name for name in others if name not in besides]), request)
    others = [name for name in others if name not in {*left_out, *besides}]
    left_out += [name for name in besides if name not in left_out and name != key]
    if not others:
        raise AnnotationError(f"No column contains groups or labels. Found {quote(table.columns)}.")
    cells = without_missing(table, table.cells(others), request)
    refuse_what_holds_no_groups(table, request, others, cells)
    refuse_decimals(cells, request)
    if request.kind is None:
        refuse_mixture(others, cells)
    found = _orientation(table, request, key, others, cells)
    in_rows = found.annotators == "rows"
    refuse_rankings(cells, len(others), request, in_rows=in_rows)
    refuse_properties_of_people(cells, len(others), request, in_rows=in_rows)
    if request.transpose is None:
        refuse_singletons(cells, len(table.frame), len(others), in_rows=in_rows)
    roles = ("annotator", "item") if in_rows else ("item", "annotator")
    nouns = {role: noun for role, noun in zip(roles, (found.noun_of_rows, found.noun_of_columns)) if noun}
    return Wide(request.kind or "groupings", key, others, in_rows, nouns, found.why, left_out)


def without_missing(table: Table, cells: Coded, request: ReadingRequest) -> Coded:
    """Return the cells without those that may mean missing, which are not evidence of anything."""
    missing = request.missing
    if missing is None:
        spelled = NEVER_AN_ANSWER | PERHAPS_AN_ANSWER | {"-1", "-1.0"}
        missing = tuple(name for name in cells.names if str(name).strip().casefold() in spelled)
    rest = given_as_missing(cells, missing) if missing else cells
    return rest if pd.api.types.is_numeric_dtype(rest.names) else table.typed(rest)[0]


def refuse_lists(table: Table, request: ReadingRequest) -> None:
    """Raise an AnnotationError if a cell contains a list, which is allowed only in a recognised long table."""
    for name in () if table.is_text else table.columns:
        row = first_list(table.frame[name]) if name not in request.ignore else None
        if row is not None:
            raise AnnotationError(
                f"The column {str(name)!r} contains a list in {table.where(row)}, but the table is not recognised as a "
                f"long one. {say_needed()} name the columns: "
                f"{columns_of_a_long_table()}."
            )


def _orientation(table: Table, request: ReadingRequest, key: Any, others: list[Any], cells: Coded) -> Orientation:
    of_key = role_of_name(key) if key is not None else None
    noun = of_key.noun if of_key else ""
    transpose = request.transpose
    if transpose is None and {"item", "annotator"} & request.columns.keys():
        transpose = "annotator" in request.columns
    if transpose is not None:
        return Orientation("rows" if transpose else "columns", noun, "", "as requested")
    rows = list(range(len(table.frame))) if key is None else [plain(name) for name in table.frame[key]]
    found = orientation("" if key is None else str(key), rows, others, None if request.kind == "labels" else cells)
    if found is None:
        raise AnnotationError(_two_readings(table, key, others))
    return found


def refuse_singletons(cells: Coded, n_rows: int, n_columns: int, *, in_rows: bool) -> None:
    """Raise an AnnotationError if no annotator put two items together."""
    codes = cells.codes.reshape(n_rows, n_columns)
    by_person = codes if in_rows else codes.T
    if by_person.shape[1] < FEWEST_TOGETHER or cells.missing.all():
        return
    for groups in by_person:
        groups = groups[groups >= 0]
        if len(np.unique(groups)) < len(groups):
            return
    raise AnnotationError(
        "The table has no groups or labels: no annotator gave two items the same. Is it a table of features, or "
        "are its rows and columns exchanged, "
        f"{spell(transpose=True)}? If everybody kept all items apart, give {spell(transpose=False)}."
    )


def _key(table: Table, request: ReadingRequest, columns: list[Any]) -> Any:
    """Find the column that names the rows of a wide table, None if there is none."""
    for role in ("item", "annotator"):
        if role in request.columns:
            return request.columns[role]
    if not columns:
        raise AnnotationError(f"No column contains groups or labels. Found {quote(table.columns)}.")
    if look_alike(columns) and len(columns) > 1:
        return None
    named, first = find_named_key(columns), columns[0]
    if named is not None:
        return require_key(table, named)
    others_are_told = bool(kind_of_names(columns[1:])[0]) and names_rows(table, first)
    if others_are_told or normal(first) in NEUTRAL or names_things(table, first):
        return require_key(table, first)
    raise AnnotationError(
        f"The columns {quote(table.columns)} are not recognised. {say_needed()} a wide table has a column that names "
        f"the items, then one for each annotator. Name the columns: {columns_of_a_long_table()}."
    )


def _one_of_the_same(table: Table, request: ReadingRequest, columns: list[Any], key: Any) -> tuple[Any, list[Any]]:
    """Choose between an identifier and a text of the same things, such as card_id and card: the text, if possible.

    The other one is neither an annotator nor an item, nor is another column that names the rows, such as e-mail.
    """
    of_key = role_of_name(key) if key is not None and key not in request.columns.values() else None
    if of_key is None:
        return key, []
    same = [
        name
        for name in columns
        if (found := role_of_name(name)) and (found.role, found.noun) == (of_key.role, of_key.noun)
    ]
    texts = [name for name in same if role_of_name(name).part != "identifier" and names_rows(table, name)]  # type: ignore[union-attr]
    chosen = texts[0] if texts else key
    alike = [
        name
        for name in columns
        if (found := role_of_name(name))
        and found.role == of_key.role
        and name not in same
        # a card may be called e-mail, too
        and (found.noun not in WEAK or _holds_dates_or_addresses(table.first_cells[name]))
    ]
    return chosen, [*(name for name in same if name != chosen), *(name for name in alike if names_rows(table, name))]


def names_things(table: Table, name: Any) -> bool:
    """Whether a column with an unknown name may name the items: texts, all different, such as names of wines."""
    texts = [value for value in table.frame[name] if isinstance(value, str) and not is_number(value)]
    return len(texts) == len(table.frame) >= FEWEST_ITEMS and names_rows(table, name)


def find_named_key(columns: list[Any]) -> Any:
    """Return the column that is called like names of rows, if it is the first of all or the only one."""
    candidates = [name for name in columns if (found := role_of_name(name)) and found.role in {"item", "annotator"}]
    candidates = [name for name in candidates if (found := role_of_name(name)) and found.noun not in WEAK] or candidates
    return candidates[0] if candidates[:1] == columns[:1] or len(candidates) == 1 else None


def require_key(table: Table, name: Any) -> Any:
    """Return a column that names the rows. Raises AnnotationError: a name is missing, or occurs twice."""
    if names_rows(table, name):
        return name
    column = table.column(name)
    if column.has_missing:
        row = int(np.argmax(column.missing))
        raise AnnotationError(
            f"One of the items, in {table.where(row)}, has no name; {str(name)!r} was read as their column."
        )
    repeated = pd.Series(column.codes).duplicated().to_numpy()
    again = int(np.argmax(repeated))
    first = int(np.argmax(column.codes == column.codes[again]))
    raise AnnotationError(
        f"The names of items must differ. Got {column.name(again)!r} in {table.where(first)} and in "
        f"{table.where(again)}; {str(name)!r} was read as their column. If the table is long, name its columns: "
        f"{columns_of_a_long_table()}."
    )


def no_persons(table: Table, names: list[Any], cells: Coded, measured: Bool[np.ndarray, " columns"]) -> list[Any]:
    """Return the columns of a wide table that are not groups or labels.

    They have such names, or contain dates, fractions, or a sentence in each row.

    cells : those of the columns, row by row, as they are in the table.
    measured : see `are_measurements`.
    """
    codes = cells.codes.reshape(-1, len(names))
    filled = (codes >= 0).sum(0)
    length = np.array([len(name) if isinstance(name, str) else 0 for name in cells.names] + [0])
    with np.errstate(invalid="ignore"):
        are_long = (length[codes].sum(0) / filled > LONGEST_NAME) & (filled >= FEWEST_TEXTS)
    ordered = np.sort(codes, axis=0)
    repeated = ((ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)).any(0)
    other = measured | (are_long & ~repeated)
    are_ids = [normal(name) in NEUTRAL and len(str(name)) > 1 for name in names] & ~repeated & (filled == len(codes))
    letters = are_letters(names)
    other |= are_ids
    other |= [
        _is_beside(table, name, are_letters=letters) or _holds_dates_or_addresses(table.first_cells[name])
        for name in names
    ]
    return [name for name, is_it in zip(names, other) if is_it]


def are_measurements(cells: Coded, n_columns: int, *, ratings: bool) -> Bool[np.ndarray, " columns"]:
    """Whether most cells of each column are fractions, other than levels of ratings.

    Levels are what several columns have, and what one has repeatedly between these, such as half levels of one person,
    or what the only column of numbers has repeatedly.
    """
    codes = cells.codes.reshape(-1, n_columns)
    fraction = np.array([is_fraction(name) for name in cells.names] + [False])
    if ratings:
        fraction[:-1] &= ~_are_levels(cells, codes)
    return np.asarray(fraction[codes].sum(0) > (codes >= 0).sum(0) / 2)


def _are_levels(cells: Coded, codes: Int[np.ndarray, "rows columns"]) -> Bool[np.ndarray, " names"]:
    number = np.array([float(name) if is_number(name) else np.nan for name in cells.names] + [np.nan])
    is_alone = (np.isfinite(number)[codes].sum(0) > (codes >= 0).sum(0) / 2).sum() == 1
    number = number[:-1]
    of_columns = [np.unique(column[column >= 0]) for column in codes.T]
    shared = np.bincount(np.concatenate(of_columns), minlength=len(number)) > 1
    low, high = np.nanmin(number[shared], initial=np.inf), np.nanmax(number[shared], initial=-np.inf)
    return shared | ((cells.tally() > 1) & (is_alone | ((low < number) & (number < high))))


def are_letters(columns: list[Any]) -> bool:
    """Whether several columns are named by one letter: then N is a person like M, and not a count."""
    return sum(len(str(name)) == 1 for name in columns) > 1


def _is_beside(table: Table, name: Any, *, are_letters: bool) -> bool:
    """Whether a column has a usual name for additional data, such as comments, or contains dates or addresses."""
    if normal(name) in NO_PERSON and not (are_letters and len(str(name)) == 1):
        return True
    return role_of_name(name) is None and _holds_dates_or_addresses(table.first_cells[name])


def _holds_dates_or_addresses(cells: np.ndarray) -> bool:
    if len(cells) and all(isinstance(cell, datetime) for cell in cells):  # as in a column of dates; NaT is one, too
        return True
    n_filled = 0
    for cell in cells[:FIRST_CELLS]:
        if text := str(cell).strip():
            if not ADDRESS_OR_DATE.match(text):
                return False
            n_filled += 1
    return n_filled > 1


def _refuse_records(table: Table, request: ReadingRequest, others: list[Any]) -> None:
    """Raise an AnnotationError for records of some tool, that is, things with properties."""
    if request.kind is not None or request.transpose is not None or request.columns:
        return
    pairs = [found for name in table.columns if (found := _stem_of_property(name))]
    twice = sorted({stem for stem, _ in pairs if {(stem, "id"), (stem, "name")} <= set(pairs)})
    beside = [name for name in others if _holds_dates_or_addresses(table.first_cells[name])]
    if len(twice) > 1 or (len(beside) > 2 and len(beside) > 0.3 * len(others)):
        raise AnnotationError(of_records(table.columns))


def _stem_of_property(name: Any) -> tuple[str, str] | None:
    """Return the words before "id" or "name" at the end of the name of a column, and which of the two it is."""
    parts = re.fullmatch(r"(.+) (id|name)", normal(name))
    return (parts[1], parts[2]) if parts else None


def refuse_mixture(others: list[Any], cells: Coded) -> None:
    """Raise an AnnotationError if a few columns contain words and all others numbers, or the other way round."""
    names, what = mixture(others, cells)
    if names:
        one = len(names) == 1
        subject, verb, left_out = ("column", "it is", names[0]) if one else ("columns", "they are", names)
        raise AnnotationError(
            f"The {subject} {quote(names)} {what}. Choose whether {verb} left out ({spell(ignore=left_out)}), or "
            f"read as groups like the others ({spell(kind='groupings')})."
        )


def is_fraction(value: Any) -> bool:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return math.isfinite(number) and not number.is_integer()


def refuse_similarities(table: Table, key: Any, others: list[Any]) -> None:
    """Raise an AnnotationError for a square table of numbers whose rows and columns are the same items."""
    names = {str(name).strip() for name in others}
    rows = [] if key is None else [str(name).strip() for name in table.frame[key]]
    if len(rows) > 1 and set(rows) == names and all(is_number(name) for name in table.cells(others).names):
        raise AnnotationError(
            "This is a table of similarities: its rows and columns are the same items. Individual groupings cannot be "
            "recovered from it; export each person's groups."
        )


def refuse_what_holds_no_groups(table: Table, request: ReadingRequest, others: list[Any], cells: Coded) -> None:
    """Raise an AnnotationError for tables of counts, which look like groups."""
    numbers = pd.to_numeric(pd.Series(cells.names.to_numpy(object)), errors="coerce").to_numpy(float)
    if np.isnan(numbers).any():
        return
    codes = cells.codes.reshape(len(table.frame), len(others))
    values = np.append(numbers, 0.0)[codes]
    if request.kind is None and _are_counts(values, blank=codes < 0):
        raise AnnotationError(
            "This seems to be a table of counts, of how many people put each item into each category. Individual "
            "groupings cannot be recovered from it; export each person's groups. If it does contain groups, give "
            f"{spell(kind='groupings')}."
        )


def _are_counts(values: np.ndarray, blank: np.ndarray) -> bool:
    """Whether numbers count people: many are 0, and rows have equal sums, or the numbers have gaps throughout.

    The numbers that annotators give their groups have no gaps in rows or in columns.
    """
    if len(values) < FEWEST_ITEMS or values.max() < 2:
        return False
    if (values[~blank] == 0).mean() >= SHARE_OF_ZEROS and np.ptp(values.sum(1)) == 0:
        return True
    integers = np.where(blank, -1, values).astype(np.int64)
    integers = integers[:, (integers > 0).any(0)]  # categories that nobody used
    gaps = min(n_with_gaps(integers) / len(integers), n_with_gaps(integers.T) / integers.shape[1])
    return bool(len(values) >= FEWEST_COUNTS and (values == 0).mean() >= SHARE_OF_ZEROS and gaps > 0.5)


def _two_readings(table: Table, key: Any, others: list[Any]) -> str:
    where = "the rows" if key is None else f"the rows, named by the column {str(key)!r},"
    n_rows, n_columns = len(table.frame), len(others)
    return (
        f"The table can be read in two ways: {n_rows:,} items in {where} and {n_columns:,} annotators in the "
        f"columns, or {n_rows:,} annotators in the rows and {n_columns:,} items in the columns. Choose one: "
        f"{spell(transpose=False)} for the first, {spell(transpose=True)} for the second."
    )
