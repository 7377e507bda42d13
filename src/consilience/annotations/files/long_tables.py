"""Long tables: the role of each column, by its name."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from consilience.annotations.files.layout import NEEDED, Long, ReadingRequest, names_rows, quote
from consilience.annotations.files.long_frames import FEW_COLUMNS, guess_columns
from consilience.annotations.files.table import Table
from consilience.annotations.files.vocabulary import (
    CANONICAL,
    COUNTS,
    IDENTIFIERS,
    KNOWN_CLASSES,
    LEVELS,
    WEAK,
    WORDS,
    Named,
    normal,
    pair_sides,
    role_of_name,
    says_preferred,
)
from consilience.annotations.keywords import VALUES, spell, wanted_kind
from consilience.errors import AnnotationError


def long_table(table: Table, request: ReadingRequest) -> Long | None:
    """Return the parts of a long table, None if the names of columns are not those of one.

    Raises AnnotationError: the names are those of a long table, but a part is missing, or occurs in two columns.
    """
    _require_columns(table, request)
    parts = _parts(table, request)
    kind = _kind(parts, request)
    if kind is not None:
        return _long(table, parts, kind)
    _refuse_half_a_long_table(table, parts, request)
    return None


def _require_columns(table: Table, request: ReadingRequest) -> None:
    for name in [*request.columns.values(), *request.ignore]:
        if name not in table.columns:
            near = get_close_matches(str(name), [str(column) for column in table.columns], n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise AnnotationError(f"There is no column {name!r}. Found {quote(table.columns)}.{hint}")
    twice = [name for name in request.columns.values() if list(request.columns.values()).count(name) > 1]
    if twice:
        raise AnnotationError(f"The column {twice[0]!r} was given for two roles.")


@dataclass(frozen=True)
class _Parts:
    """Columns by their possible roles."""

    columns: dict[str, list[Any]]
    names: dict[Any, Named]
    request: dict[str, Any]

    def has(self, *roles: str) -> bool:
        return all(self.columns.get(role) for role in roles)


def _parts(table: Table, request: ReadingRequest) -> _Parts:
    taken = {*request.columns.values(), *request.ignore}
    free = [column for column in table.columns if column not in taken]
    names = {column: found for column in table.columns if (found := role_of_name(column))}
    columns: dict[str, list[Any]] = {role: [column] for role, column in request.columns.items()}
    if "item_b" not in columns and request.kind in (None, "pairs"):
        pair = _item_pair(free, names, columns, request)
        if pair:
            columns |= {"item": [pair[0]], "item_b": [pair[1]]}
            free = [column for column in free if column not in pair]
    for column in free:
        role = names[column].role if column in names else None
        if role is not None and role not in request.columns and not (role == "item" and "item_b" in columns):
            columns.setdefault(role, []).append(column)
    if "annotator" in columns and not {"item", "item_b"} & columns.keys() and request.kind != "pairs":
        ids = _ids_of_items(table, free, columns["annotator"][0])
        columns |= {"item": ids} if len(ids) == 1 else {}
    if {"item", "annotator", "group"} <= columns.keys() and "grouping" not in columns:
        levels = _levels_of_sorts(table, free, [columns["item"][0], columns["annotator"][0]])
        columns |= {"grouping": levels} if len(levels) == 1 else {}
    return _Parts(columns, names, dict(request.columns))


def _ids_of_items(table: Table, free: list[Any], annotator: Any) -> list[Any]:
    """Return columns such as "id" that number what several annotators answered, and not the rows."""
    ids = [column for column in free if normal(column) in IDENTIFIERS]
    cells = table.frame[[*ids, annotator]].astype(str)
    return [
        column
        for column in ids
        if cells[column].duplicated().any() and not cells[[column, annotator]].duplicated().any()
    ]


def _levels_of_sorts(table: Table, free: list[Any], sorted_by: list[Any]) -> list[Any]:
    """Return columns such as "level" that number the groups of an item within those of a person."""
    levels = [column for column in free if normal(column) in LEVELS]
    cells = table.frame[[*levels, *sorted_by]].astype(str)
    if not cells[sorted_by].duplicated().any():
        return []
    return [column for column in levels if not cells[[column, *sorted_by]].duplicated().any()]


def _item_pair(
    free: list[Any], names: dict[Any, Named], columns: dict[str, list[Any]], request: ReadingRequest
) -> tuple[Any, Any] | None:
    """Find the two columns of items in a table of pairs."""
    judged = {"same", "label"} & columns.keys() or any(
        names[column].role in {"same", "label"} for column in free if column in names
    )
    if "item" in columns:
        return None
    pairs = [
        (a, b, word)
        for a, b, word in pair_sides(free)
        if not word or word in IDENTIFIERS or (found := role_of_name(word)) is None or found.role == "item"
    ]
    candidates = [(a, b) for a, b, word in pairs if word == "item"]
    if not candidates and judged:
        candidates = [(a, b) for a, b, word in pairs if word in IDENTIFIERS] or [(a, b) for a, b, _ in pairs]
    identifying = [(a, b) for a, b in candidates if a in names and names[a].part == "identifier"]
    candidates = identifying if len(candidates) > 1 and len(identifying) == 1 else candidates
    if len(candidates) > 1:
        shown = " or ".join(f"{a!r} and {b!r}" for a, b in candidates[:3])
        raise AnnotationError(
            f"The items of the pairs may be in {shown}. Name the columns: "
            f"{spell(item=candidates[0][0], item_b=candidates[0][1])}."
        )
    return candidates[0] if candidates else None


def _kind(parts: _Parts, request: ReadingRequest) -> str | None:
    """Return the kind of long table that the parts form, None if they form none."""
    value = {"groupings": "group", "labels": "label"}
    if parts.has("item", "item_b"):
        if request.kind in (None, "pairs"):
            return "pairs" if parts.has("same") or parts.has("label") else None
        raise AnnotationError(f"The file contains pairs, not {request.kind}.")
    whose = parts.has("annotator") or parts.has("grouping")
    if request.kind in value:
        other = value["labels" if request.kind == "groupings" else "groupings"]
        enough = whose if request.kind == "groupings" else parts.has("annotator")
        if parts.has("item") and enough and (parts.has(value[request.kind]) or parts.has(other)):
            return request.kind
        return None
    grouped = parts.has("item", "group") and whose
    labelled = parts.has("item", "annotator", "label")
    if grouped and labelled and request.kind is None:
        return _groups_or_labels(parts)
    found = "groupings" if grouped else "labels" if labelled else None
    if found and request.kind == "pairs":
        raise AnnotationError(f"The file contains {found}, not pairs.")
    return found


def _groups_or_labels(parts: _Parts) -> str:
    group, label = parts.columns["group"], parts.columns["label"]
    if "group" in parts.request or "label" in parts.request:
        return "groupings" if "group" in parts.request else "labels"
    raise AnnotationError(
        f"The table can be read in two ways: as groupings by {group[0]!r} or as labels by {label[0]!r}. Choose one: "
        f"{spell(kind='groupings')} or {spell(kind='labels')}, or leave one column out, {spell(ignore=...)}."
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
        if column in parts.names and held not in parts.request:
            words[role] = parts.names[column].noun
    if kind == "pairs" and "annotator" not in chosen and "grouping" not in chosen:
        raise AnnotationError(_lacks("annotator", table, kind))
    used = {*chosen.values(), *texts.values()}
    return Long(kind, chosen, texts, words, [name for name in table.columns if name not in used])


def _one_of(parts: _Parts, role: str) -> tuple[Any, Any]:
    """Choose the column of a part, and one of texts that goes with identifiers."""
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
    what = {"item": "items", "same": "judgements", "group": "groups", "label": "labels"}.get(role, f"{role}s")
    raise AnnotationError(
        f"The {what} may be in {shown}. Name the column: {spell(**{role: columns[0]})}, or leave the other out, "
        f"{spell(ignore=columns[1])}."
    )


def _refuse_half_a_long_table(table: Table, parts: _Parts, request: ReadingRequest) -> None:
    """Raise an AnnotationError if names of columns are those of a long table of which a part is missing."""
    values = {"group", "label", "same"}
    _refuse_preferences(table, parts, request)
    roles = {role for role, columns in parts.columns.items() if columns}
    if request.kind == "pairs" or parts.has("item_b"):
        lacking = [role for role in ("item", "item_b", "same", "annotator") if not parts.has(role)]
        raise AnnotationError(_lacks(lacking[0] if lacking else "annotator", table, "pairs"))
    says_wide = request.transpose is not None or bool({"item", "annotator"} & request.columns.keys())
    if says_wide and not values & request.columns.keys() and not {"item", "annotator"} <= request.columns.keys():
        return
    if request.kind is None and not request.columns:
        _refuse_known_classes(table, parts)
    canonical = {normal(column) for column in table.columns} & CANONICAL
    of_one_person = len(table.columns) == 2 and parts.has("item") and names_rows(table, parts.columns["item"][0])
    is_half = len(roles) >= 2 and (len(table.columns) <= FEW_COLUMNS or len(canonical) >= 2)
    if (is_half and not of_one_person) or {*values, "grouping"} & request.columns.keys():
        kind = request.kind or wanted_kind() or ("labels" if "label" in roles and "group" not in roles else "groupings")
        if {"item", "annotator"} <= roles and not values & roles:
            raise AnnotationError(_lacks_values(table, request.kind or wanted_kind()))
        if kind == "groupings" and not {"annotator", "grouping"} & roles:
            _refuse_counted_groups(table)
        needed = {"groupings": ["item", "group", "annotator"], "labels": ["item", "annotator", "label"]}[kind]
        lacking = [role for role in needed if not parts.has(role)]
        raise AnnotationError(_lacks(lacking[0] if lacking else "item", table, kind))


def _refuse_preferences(table: Table, parts: _Parts, request: ReadingRequest) -> None:
    """Raise an AnnotationError if a column of winners stands beside two columns of items."""
    free = [column for column in table.columns if column not in request.ignore]
    preferred = [column for column in free if says_preferred(column)]
    if request.kind in (None, "pairs") and preferred and not request.columns and pair_sides(free):
        raise AnnotationError(
            f"The column {str(preferred[0])!r} says which of two items was preferred, not whether they are the same; "
            "preferences cannot be clustered."
        )


def _refuse_known_classes(table: Table, parts: _Parts) -> None:
    """Raise an AnnotationError for a table of items and their classes, without annotators."""
    others = [column for column in table.columns if column not in parts.columns.get("item", ())]
    if len(table.columns) != 2 or len(others) != 1:
        return
    if others == parts.columns.get("label") or normal(others[0]) in KNOWN_CLASSES:
        raise AnnotationError(
            f"The table gives each item one label, in {str(others[0])!r}, but no annotator, as files of known classes "
            f"do ({spell(gold=...)}). If one person gave the labels, give {spell(kind='labels')}."
        )


def _refuse_counted_groups(table: Table) -> None:
    """Raise an AnnotationError for a table of how many people put an item into a group."""
    counts = [column for column in table.columns if normal(column) in COUNTS]
    if counts:
        raise AnnotationError(
            f"This is a table of counts: {str(counts[0])!r} is the number of people who put an item into a group. "
            "Individual groupings cannot be recovered from it; export each person's groups."
        )


def _lacks(role: str, table: Table, kind: str) -> str:
    canonical = "item_a" if role == "item" and kind == "pairs" else role
    what = "judgements" if role == "same" else f"{role.removesuffix('_b')}s"
    guess = guess_columns(table, table.columns)
    remedy = guess.keywords(kind) if kind in VALUES and guess.has_both else spell(**{role: ...})
    return (
        f"A long table of {kind} needs the columns {NEEDED[kind]}, but no column has a usual name for {what}. Found "
        f"{quote(table.columns)}.{_near(canonical, table)} Name the column: {remedy}."
    )


def _lacks_values(table: Table, kind: str | None) -> str:
    near = [_near(role, table) for role in ("group", "label")]
    if kind is not None:
        remedy = guess_columns(table, table.columns).keywords(kind)
    else:
        remedy = (
            f"{spell(group=...)} if the names mean nothing to other annotators, {spell(label=...)} if all "
            "annotators share them"
        )
    return (
        "The table has items and annotators, but no column has a usual name for groups or labels. Found "
        f"{quote(table.columns)}.{near[0] or near[1]} Name the column: {remedy}."
    )


def _near(role: str, table: Table) -> str:
    """Suggest a column whose name is similar to that of a role."""
    strange = [str(name) for name in table.columns if role_of_name(name) is None]
    near = get_close_matches(role, strange, n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
