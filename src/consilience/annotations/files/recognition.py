"""What a table holds: which columns play which part, by their names first and then by what stands in them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
import pandas as pd

from consilience.annotations.files.orientation import Orientation, look_alike, n_with_gaps, orientation
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import (
    NEVER_AN_ANSWER,
    PERHAPS_AN_ANSWER,
    given_as_missing,
    is_number,
)
from consilience.annotations.files.vocabulary import (
    CANONICAL,
    COUNTS,
    IDENTIFIERS,
    KNOWN_CLASSES,
    NEUTRAL,
    NO_PERSON,
    WEAK,
    WORDS,
    Named,
    named,
    normal,
    paired,
)
from consilience.annotations.names import Coded, code, plain
from consilience.errors import AnnotationError

Kind = Literal["groupings", "pairs", "labels"]
ROLES = ("item", "item_b", "annotator", "grouping", "group", "label", "same")
NEEDED = {
    "groupings": "item, group, and annotator or grouping",
    "labels": "item, annotator, label",
    "pairs": "item_a, item_b, annotator, same",
}
LONGEST_NAME = 24  # letters; what people write in full sentences is no name of a group
FEWEST_TEXTS = 8
FEWEST_COUNTS = 6
SHARE_OF_ZEROS = 0.25
FEW_COLUMNS = 8
FEWEST_ITEMS = 3
FEWEST_TOGETHER = 4


@dataclass(frozen=True)
class Asked:
    """What the caller says of a table, which overrides every guess.

    Attributes
    ----------
    kind : {"groupings", "pairs", "labels"}, optional
    columns : dict of str to column name
        Keys are among item, item_b, annotator, grouping, group, label, same.
    ignore : tuple of column names
    transpose : bool, optional
        Whether the rows of a wide table are annotators.
    missing : tuple, optional
        Cells that mean that nothing was said, besides blank ones; by default -1 among integers and NA among numbers.
    same_if : str, optional
        Which judgements mean the same.
    """

    kind: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    ignore: tuple[Any, ...] = ()
    transpose: bool | None = None
    missing: tuple[Any, ...] | None = None
    same_if: str | None = None


@dataclass(frozen=True)
class Long:
    """A long table: a row for each thing that somebody said.

    Attributes
    ----------
    kind : {"groupings", "pairs", "labels"}
    columns : dict of str to column name
        The column of each part that there is.
    texts : dict of str to column name
        The column of texts beside one of identifiers, for item and group.
    nouns : dict of str to str
        What the table calls items and annotators.
    left_out : list of column names
    """

    kind: str
    columns: dict[str, Any]
    texts: dict[str, Any]
    nouns: dict[str, str]
    left_out: list[Any]


@dataclass(frozen=True)
class Wide:
    """A wide table: rows and columns are items and annotators, in this order or the other.

    Attributes
    ----------
    kind : {"groupings", "labels"}
    key : column name, or None
        The column that names the rows; they are numbered if there is none.
    others : list of column names
    annotators_in_rows : bool
    nouns : dict of str to str
    why : str
        What decided which side is which.
    left_out : list of column names
    """

    kind: str
    key: Any
    others: list[Any]
    annotators_in_rows: bool
    nouns: dict[str, str]
    why: str
    left_out: list[Any]


def recognise(table: Table, asked: Asked) -> Long | Wide:
    """Find out what a table holds.

    Raises
    ------
    AnnotationError
        Nothing that is recognised, two readings that are both plausible, or something that holds no annotations.
    """
    found = long_table(table, asked)
    if found is not None:
        return found
    _refuse_without_header(table)
    return _wide(table, asked)


def long_table(table: Table, asked: Asked) -> Long | None:
    """Return the parts of a long table, None if the names of columns speak of none.

    Raises
    ------
    AnnotationError
        They speak of one, and a part is missing, or stands in two columns.
    """
    _require_columns(table, asked)
    parts = _parts(table, asked)
    kind = _kind(parts, asked)
    if kind is not None:
        return _long(table, parts, kind)
    _refuse_half_a_long_table(table, parts, asked)
    return None


def _require_columns(table: Table, asked: Asked) -> None:
    for name in [*asked.columns.values(), *asked.ignore]:
        if name not in table.columns:
            near = get_close_matches(str(name), [str(column) for column in table.columns], n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise AnnotationError(f"There is no column {name!r}. Found {_listed(table.columns)}.{hint}")
    twice = [name for name in asked.columns.values() if list(asked.columns.values()).count(name) > 1]
    if twice:
        raise AnnotationError(f"The column {twice[0]!r} was given for two things.")


@dataclass(frozen=True)
class _Parts:
    """Columns by what they may be."""

    columns: dict[str, list[Any]]
    names: dict[Any, Named]
    asked: dict[str, Any]

    def has(self, *roles: str) -> bool:
        return all(self.columns.get(role) for role in roles)


def _parts(table: Table, asked: Asked) -> _Parts:
    taken = {*asked.columns.values(), *asked.ignore}
    free = [column for column in table.columns if column not in taken]
    names = {column: found for column in table.columns if (found := named(column))}
    columns: dict[str, list[Any]] = {role: [column] for role, column in asked.columns.items()}
    if "item_b" not in columns and asked.kind in (None, "pairs"):
        pair = _item_pair(free, names, columns, asked)
        if pair:
            columns |= {"item": [pair[0]], "item_b": [pair[1]]}
            free = [column for column in free if column not in pair]
    for column in free:
        role = names[column].role if column in names else None
        if role is not None and role not in asked.columns and not (role == "item" and "item_b" in columns):
            columns.setdefault(role, []).append(column)
    return _Parts(columns, names, dict(asked.columns))


def _item_pair(
    free: list[Any], names: dict[Any, Named], columns: dict[str, list[Any]], asked: Asked
) -> tuple[Any, Any] | None:
    """Find the two columns of items in a table of pairs."""
    judged = {"same", "label"} & columns.keys() or any(
        names[column].role in {"same", "label"} for column in free if column in names
    )
    if "item" in columns:
        return None
    pairs = [
        (a, b, word)
        for a, b, word in paired(free)
        if not word or word in IDENTIFIERS or (found := named(word)) is None or found.role == "item"
    ]
    told = [(a, b) for a, b, word in pairs if word == "item"]
    if not told and judged:
        told = [(a, b) for a, b, word in pairs if word in IDENTIFIERS] or [(a, b) for a, b, _ in pairs]
    identifying = [(a, b) for a, b in told if a in names and names[a].part == "identifier"]
    told = identifying if len(told) > 1 and len(identifying) == 1 else told
    if len(told) > 1:
        shown = " or ".join(f"{a!r} and {b!r}" for a, b in told[:3])
        raise AnnotationError(
            f"The pairs of items may be {shown}. Say which: item={told[0][0]!r}, item_b={told[0][1]!r} (--item, "
            "--item-b)."
        )
    return told[0] if told else None


def _kind(parts: _Parts, asked: Asked) -> str | None:
    """Say which kind of long table the parts make, None if they make none."""
    value = {"groupings": "group", "labels": "label"}
    if parts.has("item", "item_b"):
        if asked.kind in (None, "pairs"):
            return "pairs" if parts.has("same") or parts.has("label") else None
        raise AnnotationError(f"The file holds pairs, not {asked.kind}.")
    whose = parts.has("annotator") or parts.has("grouping")
    if asked.kind in value:
        other = value["labels" if asked.kind == "groupings" else "groupings"]
        enough = whose if asked.kind == "groupings" else parts.has("annotator")
        if parts.has("item") and enough and (parts.has(value[asked.kind]) or parts.has(other)):
            return asked.kind
        return None
    grouped = parts.has("item", "group") and whose
    labelled = parts.has("item", "annotator", "label")
    if grouped and labelled and asked.kind is None:
        return _groups_or_labels(parts)
    found = "groupings" if grouped else "labels" if labelled else None
    if found and asked.kind == "pairs":
        raise AnnotationError(f"The file holds {found}, not pairs.")
    return found


def _groups_or_labels(parts: _Parts) -> str:
    group, label = parts.columns["group"], parts.columns["label"]
    if "group" in parts.asked or "label" in parts.asked:
        return "groupings" if "group" in parts.asked else "labels"
    raise AnnotationError(
        f"The table reads two ways: as groupings by {group[0]!r} or as labels by {label[0]!r}. Say which: "
        "kind='groupings' or kind='labels' (--kind), or leave one column out (--ignore)."
    )


def _long(table: Table, parts: _Parts, kind: str) -> Long:
    wanted = {
        "groupings": ["item", "annotator", "grouping", "group"],
        "labels": ["item", "annotator", "label"],
        "pairs": ["item", "item_b", "annotator", "grouping", "same"],
    }[kind]
    stand_in = {"group": "label", "label": "group", "same": "label"}
    chosen, texts, words = {}, {}, {}
    for role in wanted:
        held = role if parts.has(role) else stand_in.get(role, "")
        if not parts.has(held):
            continue
        column, text = _one_of(parts, held)
        chosen[role] = column
        if text is not None and role in {"item", "group"}:
            texts[role] = text
        if column in parts.names and held not in parts.asked:
            words[role] = parts.names[column].noun
    if kind == "pairs" and "annotator" not in chosen and "grouping" not in chosen:
        raise AnnotationError(_lacks("annotator", table, kind))
    used = {*chosen.values(), *texts.values()}
    return Long(kind, chosen, texts, words, [name for name in table.columns if name not in used])


def _one_of(parts: _Parts, role: str) -> tuple[Any, Any]:
    """Choose the column of a part, and one of texts beside identifiers."""
    columns = parts.columns[role]
    strong = [column for column in columns if column not in parts.names or parts.names[column].noun not in WEAK]
    columns = strong or columns
    if len(columns) == 1:
        return columns[0], None
    canonical = [column for column in columns if normal(column) in CANONICAL]
    if len(canonical) == 1:
        return canonical[0], None
    nouns = {parts.names[column].noun for column in columns}
    by_part = {parts.names[column].part: column for column in columns}
    if len(columns) == 2 and len(nouns) == 1 and by_part.keys() >= {"identifier"}:
        (other,) = [column for column in columns if column != by_part["identifier"]]
        return by_part["identifier"], other
    plain_ones = [column for column in columns if normal(column) in WORDS]
    if len(columns) == 2 and len(plain_ones) == 1 and len(nouns) == 1:
        return plain_ones[0], None
    shown = " or ".join(map(repr, columns[:4]))
    option = role.replace("_", "-")
    what = {"item": "items", "same": "judgements", "group": "groups", "label": "labels"}.get(role, f"{role}s")
    raise AnnotationError(
        f"The {what} may be in {shown}. Say which: {role}={columns[0]!r} (--{option} {columns[0]!r}), or leave the "
        "other out (--ignore)."
    )


def _refuse_half_a_long_table(table: Table, parts: _Parts, asked: Asked) -> None:
    """Raise an AnnotationError if names of columns speak of a long table that lacks one."""
    values = {"group", "label", "same"}
    roles = {role for role, columns in parts.columns.items() if columns}
    if asked.kind == "pairs" or parts.has("item_b"):
        lacking = [role for role in ("item", "item_b", "same", "annotator") if not parts.has(role)]
        raise AnnotationError(_lacks(lacking[0] if lacking else "annotator", table, "pairs"))
    says_wide = asked.transpose is not None or bool({"item", "annotator"} & asked.columns.keys())
    if says_wide and not values & asked.columns.keys() and not {"item", "annotator"} <= asked.columns.keys():
        return
    if asked.kind is None and not asked.columns:
        _refuse_known_classes(table, parts)
    canonical = {normal(column) for column in table.columns} & CANONICAL
    of_one_person = len(table.columns) == 2 and parts.has("item") and _names_rows(table, parts.columns["item"][0])
    is_half = len(roles) >= 2 and (len(table.columns) <= FEW_COLUMNS or len(canonical) >= 2)
    if (is_half and not of_one_person) or {*values, "grouping"} & asked.columns.keys():
        kind = asked.kind or ("labels" if "label" in roles and "group" not in roles else "groupings")
        if {"item", "annotator"} <= roles and not values & roles:
            near = [_near(role, table) for role in ("group", "label")]
            raise AnnotationError(
                f"The table has items and annotators, and no column that is known to hold groups or labels. Found "
                f"{_listed(table.columns)}.{near[0] or near[1]} Say which does: group=… (--group COLUMN) if their "
                "names mean nothing to others, label=… (--label COLUMN) if all annotators share them."
            )
        if kind == "groupings" and not {"annotator", "grouping"} & roles:
            _refuse_counted_groups(table)
        needed = {"groupings": ["item", "group", "annotator"], "labels": ["item", "annotator", "label"]}[kind]
        lacking = [role for role in needed if not parts.has(role)]
        raise AnnotationError(_lacks(lacking[0] if lacking else "item", table, kind))


def _refuse_known_classes(table: Table, parts: _Parts) -> None:
    """Raise an AnnotationError for a table of items and their classes, which are nobody's labels."""
    others = [column for column in table.columns if column not in parts.columns.get("item", ())]
    if len(table.columns) != 2 or len(others) != 1:
        return
    if others == parts.columns.get("label") or normal(others[0]) in KNOWN_CLASSES:
        raise AnnotationError(
            f"The table gives each item one label, in {str(others[0])!r}, and names nobody who gave it, as files of "
            "known classes do (gold=…, --gold FILE). If one person gave them, say kind='labels' (--kind labels)."
        )


def _refuse_counted_groups(table: Table) -> None:
    """Raise an AnnotationError for a table that says how many people put an item into a group."""
    counts = [column for column in table.columns if normal(column) in COUNTS]
    if counts:
        raise AnnotationError(
            f"This is a table of counts: {str(counts[0])!r} says how many people put an item into a group. Nobody's "
            "groups can be recovered from it; export what each person sorted."
        )


def _refuse_without_header(table: Table) -> None:
    """Raise an AnnotationError if the names of columns seem to be the first row of a table without any."""
    for name in table.columns if table.is_text else ():
        why = _why_data(str(name), table.frame[name])
        if why:
            raise AnnotationError(
                f"The first line seems to hold data and not the names of columns, since {str(name)!r} {why}; put a "
                "line of names before it, such as item,annotator,label."
            )
    first, *others = table.columns
    if (
        table.is_text
        and len(others) == 1
        and is_number(others[0])
        and not named(first)
        and normal(first) not in NEUTRAL
    ):
        raise AnnotationError(
            f"The first line seems to hold data and not the names of columns, since {str(others[0])!r} is a number; "
            "put a line of names before it, such as item,group."
        )


def _why_data(name: str, column: pd.Series) -> str:
    """Say why a name of a column seems to be a cell of it, nothing if it does not."""
    if _is_fraction(name):
        return "is a number"
    if not name or is_number(name):
        return ""
    if (column == name).any():
        return "occurs again in its column"
    form = _form(name)
    if "#" in form and len(column) and np.mean([_form(str(cell)) == form for cell in column]) > 0.8:
        return f"is like the cells below it, such as {str(column.iloc[0])!r}"
    return ""


def _form(text: str) -> str:
    """Return a text with a sign for each number in it, nothing for a number alone."""
    form = re.sub(r"\d+", "#", text)
    return "" if form == "#" else form


def _lacks(role: str, table: Table, kind: str) -> str:
    canonical = "item_a" if role == "item" and kind == "pairs" else role
    what = "judgements" if role == "same" else f"{role.removesuffix('_b')}s"
    return (
        f"A long table of {kind} needs the columns {NEEDED[kind]}, and none is known to hold the {what}. Found "
        f"{_listed(table.columns)}.{_near(canonical, table)} Say which does: {role}=… "
        f"(--{role.replace('_', '-')} COLUMN)."
    )


def _near(role: str, table: Table) -> str:
    """Point out a column whose name is nearly that of a part."""
    strange = [str(name) for name in table.columns if named(name) is None]
    near = get_close_matches(role, strange, n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def _listed(columns: Sequence[Any]) -> str:
    shown = ", ".join(repr(str(name)) for name in columns[:8])
    return shown + (f", … ({len(columns)} columns)" if len(columns) > 8 else "")


def _wide(table: Table, asked: Asked) -> Wide:
    if not len(table.frame):
        raise AnnotationError("The table has no rows; give items=[...] if there are items without annotations.")
    _refuse_lists(table, asked)
    key = _key(table, asked)
    others = [name for name in table.columns if name not in (key, *asked.ignore)]
    _refuse_similarities(table, key, others)
    left_out = _no_persons(table, others)
    others = [name for name in others if name not in set(left_out)]
    if not others:
        raise AnnotationError(f"There is no column that holds groups or labels. Found {_listed(table.columns)}.")
    cells = _without_missing(table, table.cells(others), asked)
    _refuse_what_holds_no_groups(table, asked, others, cells)
    found = _orientation(table, asked, key, others, cells)
    in_rows = found.annotators == "rows"
    if asked.transpose is None:
        _refuse_singletons(cells, len(table.frame), len(others), in_rows=in_rows)
    roles = ("annotator", "item") if in_rows else ("item", "annotator")
    nouns = {role: noun for role, noun in zip(roles, (found.noun_of_rows, found.noun_of_columns)) if noun}
    return Wide(asked.kind or "groupings", key, others, in_rows, nouns, found.why, left_out)


def _without_missing(table: Table, cells: Coded, asked: Asked) -> Coded:
    """Return the cells without those that may mean that nothing was said, which are no evidence of anything."""
    missing = asked.missing
    if missing is None:
        spelled = NEVER_AN_ANSWER | PERHAPS_AN_ANSWER | {"-1", "-1.0"}
        missing = tuple(name for name in cells.names if str(name).strip().casefold() in spelled)
    rest = given_as_missing(cells, missing) if missing else cells
    return rest if pd.api.types.is_numeric_dtype(rest.names) else table.typed(rest)[0]


def _refuse_lists(table: Table, asked: Asked) -> None:
    """Raise an AnnotationError if a cell holds a list, which only a long table that is recognised may do."""
    for name in table.columns:
        row = first_list(table.frame[name]) if name not in asked.ignore else None
        if row is not None:
            raise AnnotationError(
                f"The column {str(name)!r} holds a list in {table.where(row)}, and the table is no long one that is "
                f"recognised. {_needed()} say which column is which: --item, --annotator, --group, --label."
            )


def first_list(column: pd.Series) -> int | None:
    """Return the first row of a column that holds a list or a mapping, None if none does."""
    if column.dtype != object:
        return None
    return next((row for row, cell in enumerate(column) if isinstance(cell, list | dict | np.ndarray)), None)


def _orientation(table: Table, asked: Asked, key: Any, others: list[Any], cells: Coded) -> Orientation:
    of_key = named(key) if key is not None else None
    noun = of_key.noun if of_key else ""
    transpose = asked.transpose
    if transpose is None and {"item", "annotator"} & asked.columns.keys():
        transpose = "annotator" in asked.columns
    if transpose is not None:
        return Orientation("rows" if transpose else "columns", noun, "", "as was asked for")
    rows = list(range(len(table.frame))) if key is None else [plain(name) for name in table.frame[key]]
    found = orientation("" if key is None else str(key), rows, others, None if asked.kind == "labels" else cells)
    if found is None and key is not None and normal(key) not in NEUTRAL:
        found = Orientation("columns", normal(key), "", f"the column {str(key)!r}")
    if found is None:
        raise AnnotationError(_two_readings(table, key, others))
    return found


def _refuse_singletons(cells: Coded, n_rows: int, n_columns: int, *, in_rows: bool) -> None:
    """Raise an AnnotationError if nobody put two items together."""
    codes = cells.codes.reshape(n_rows, n_columns)
    by_person = codes if in_rows else codes.T
    if by_person.shape[1] < FEWEST_TOGETHER or cells.missing.all():
        return
    for said in by_person:
        said = said[said >= 0]
        if len(np.unique(said)) < len(said):
            return
    raise AnnotationError(
        "The table holds no groups or labels: no annotator gave two items the same. Is it a table of features, or "
        "are its rows and columns the other way round (--transpose)? If everybody kept all items apart: "
        "--no-transpose."
    )


def _key(table: Table, asked: Asked) -> Any:
    """Find the column that names the rows of a wide table, None if there is none."""
    for role in ("item", "annotator"):
        if role in asked.columns:
            return asked.columns[role]
    columns = [name for name in table.columns if name not in asked.ignore]
    if not columns:
        raise AnnotationError("Every column is left out (--ignore).")
    if look_alike(columns) and len(columns) > 1:
        return None
    told = [name for name in columns if (found := named(name)) and found.role in {"item", "annotator"}]
    if told[:1] == columns[:1] or len(told) == 1:
        if not _names_rows(table, told[0]):
            _raise_no_key(table, told[0])
        return told[0]
    first = columns[0]
    if normal(first) in NEUTRAL or _names_things(table, first):
        if not _names_rows(table, first):
            _raise_no_key(table, first)
        return first
    raise AnnotationError(
        f"The columns {_listed(table.columns)} are not recognised. {_needed()} a wide table has a column that names "
        "the items, then one for each annotator. Say which column is which: --item, --annotator, --group, --label."
    )


def _names_things(table: Table, name: Any) -> bool:
    """Whether a column of an unknown name can be that of the items: texts, all different, such as those of wines."""
    texts = [value for value in table.frame[name] if isinstance(value, str) and not is_number(value)]
    return len(texts) == len(table.frame) >= FEWEST_ITEMS and _names_rows(table, name)


def _needed() -> str:
    return "; ".join(f"a long table of {kind} needs {needs}" for kind, needs in NEEDED.items()).capitalize() + ";"


def _names_rows(table: Table, name: Any) -> bool:
    column = table.frame[name]
    if first_list(column) is not None:
        return False
    blank = column.isna() | (column.astype(object) == "")
    return not blank.any() and column.astype(object).is_unique and not pd.api.types.is_float_dtype(column.dtype)


def _raise_no_key(table: Table, name: Any) -> None:
    column = table.column(name)
    if column.has_missing:
        row = int(np.argmax(column.missing))
        raise AnnotationError(
            f"One of the items, in {table.where(row)}, has no name; {str(name)!r} was taken for their column."
        )
    repeated = pd.Series(column.codes).duplicated().to_numpy()
    again = int(np.argmax(repeated))
    first = int(np.argmax(column.codes == column.codes[again]))
    raise AnnotationError(
        f"The names of items must differ. Got {column.name(again)!r} in {table.where(first)} and in "
        f"{table.where(again)}; {str(name)!r} was taken for their column. If the table is a long one, say which "
        "column is which: --item, --annotator, --group, --label."
    )


def _no_persons(table: Table, names: list[Any]) -> list[Any]:
    """Columns of a wide table that hold something other than what a person or an item was given.

    They are called so, hold dates or fractions, or a sentence for each row.
    """
    frame = table.frame[names]
    cells = code(frame.to_numpy(object).ravel())
    codes = cells.codes.reshape(frame.shape)
    filled = (codes >= 0).sum(0)
    fraction = np.array([_is_fraction(name) for name in cells.names] + [False])
    length = np.array([len(name) if isinstance(name, str) else 0 for name in cells.names] + [0])
    with np.errstate(invalid="ignore"):
        are_fractions = fraction[codes].sum(0) > filled / 2
        are_long = (length[codes].sum(0) / filled > LONGEST_NAME) & (filled >= FEWEST_TEXTS)
    ordered = np.sort(codes, axis=0)
    repeated = ((ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)).any(0)
    other = are_fractions | (are_long & ~repeated)
    other |= [pd.api.types.is_datetime64_any_dtype(kind) for kind in frame.dtypes]
    are_letters = sum(len(str(name)) == 1 for name in names) > 1  # then N is a person like M, and no count
    by_name = [normal(name) in NO_PERSON and not (are_letters and len(str(name)) == 1) for name in names]
    return [name for name, is_it, is_called in zip(names, other, by_name) if is_it or is_called]


def _is_fraction(value: Any) -> bool:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return math.isfinite(number) and not number.is_integer()


def _refuse_similarities(table: Table, key: Any, others: list[Any]) -> None:
    """Raise an AnnotationError for a square table of numbers whose rows and columns are the same items."""
    names = {str(name).strip() for name in others}
    rows = [] if key is None else [str(name).strip() for name in table.frame[key]]
    if len(rows) > 1 and set(rows) == names and all(is_number(name) for name in table.cells(others).names):
        raise AnnotationError(
            "This is a table of similarities: its rows and columns are the same items. Nobody's groups can be "
            "recovered from it; export what each person sorted."
        )


def _refuse_what_holds_no_groups(table: Table, asked: Asked, others: list[Any], cells: Coded) -> None:
    """Raise an AnnotationError for tables that look like groups and are counts."""
    numbers = pd.to_numeric(pd.Series(cells.names.to_numpy(object)), errors="coerce").to_numpy(float)
    if np.isnan(numbers).any():
        return
    codes = cells.codes.reshape(len(table.frame), len(others))
    values = np.append(numbers, 0.0)[codes]
    if asked.kind is None and _are_counts(values, blank=codes < 0):
        raise AnnotationError(
            "This seems to be a table of counts, of how many people put each item into each category. Nobody's "
            "groups can be recovered from it; export what each person sorted. If it does hold groups: kind='groupings' "
            "(--kind groupings)."
        )


def _are_counts(values: np.ndarray, blank: np.ndarray) -> bool:
    """Whether numbers count people: many are 0, and rows add up to the same, or the numbers have gaps all over.

    The numbers that annotators gave their groups have no gaps in rows or in columns.
    """
    if len(values) < FEWEST_ITEMS or values.max() < 2:
        return False
    if (values[~blank] == 0).mean() >= SHARE_OF_ZEROS and np.ptp(values.sum(1)) == 0:
        return True
    integers = np.where(blank, -1, values).astype(np.int64)
    gaps = min(n_with_gaps(integers) / len(integers), n_with_gaps(integers.T) / integers.shape[1])
    return bool(len(values) >= FEWEST_COUNTS and (values == 0).mean() >= SHARE_OF_ZEROS and gaps > 0.5)


def _two_readings(table: Table, key: Any, others: list[Any]) -> str:
    where = "the rows" if key is None else f"the rows, named by the column {str(key)!r},"
    n_rows, n_columns = len(table.frame), len(others)
    return (
        f"The table reads two ways: {n_rows:,} items in {where} and {n_columns:,} annotators in the columns, or "
        f"{n_rows:,} annotators in the rows and {n_columns:,} items in the columns. Say which: transpose=False "
        "(--no-transpose) for the first, transpose=True (--transpose) for the second."
    )
