"""How a table was read, in words, and what its reader should know."""

from __future__ import annotations

from typing import Any

import pandas as pd

from consilience.annotations.files.layout import Long, ReadingRequest, Wide
from consilience.annotations.files.name_notes import twins
from consilience.annotations.files.statements import Statements, owner_of
from consilience.annotations.files.values import quantify
from consilience.annotations.files.vocabulary import normal
from consilience.annotations.keywords import spell

OFFERED = {  # columns of a sort that may be read instead of others
    **dict.fromkeys(("subcategory", "subgroup", "supercategory", "hybrid", "principle", "criterion"), "group"),
    **dict.fromkeys(("level", "step", "attempt", "repetition"), "grouping"),
    **dict.fromkeys(("statement", "cardtext", "itemtext"), "item"),
}


def note_twins(found: Statements) -> str | None:
    """Note groups of one annotator whose names differ only in case, spaces or form of letters, None if none do."""
    group = found.columns["group"]
    if twins(group.names, "groups") is None:
        return None
    owner = owner_of(found.columns)
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


def describe_reading(
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
            notes.append(f"columns not used: {list_columns(layout.left_out)}{_offer(layout)}")
    return f"{what}, {shape}{f', {tool}' if tool else ''}", notes


def _offer(layout: Long) -> str:
    """Say how a column that was not used can be, if its name tells, such as that of finer groups; else empty."""
    for column in layout.left_out:
        role = OFFERED.get(normal(column).replace(" ", ""))
        if role is not None and (role in layout.columns or role == "grouping") and layout.kind == "groupings":
            return f" ({spell(**{role: column})} reads {str(column)!r})"
    return ""


def list_columns(columns: list[Any]) -> str:
    return ", ".join(repr(str(name)) for name in columns[:5]) + (", …" if len(columns) > 5 else "")
