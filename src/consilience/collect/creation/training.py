"""The cards of a sort whose right answer is known: read from a table with a column of groups."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from consilience.collect.creation.cards import DELIMITERS, TABLE, items_of, read_cards, read_rows
from consilience.collect.settings.model import Picture
from consilience.collect.settings.training import RightCard, RightSort
from consilience.errors import InputError

GROUP = ("group", "category", "cluster", "answer", "right group")  # headings, in any case


def read_right_sort(text: str, files: Mapping[str, bytes] | None = None) -> tuple[RightSort, list[Picture]]:
    r"""Read a table of cards with a column for the group in which each belongs.

    Raises InputError: there is no column of groups, a group is missing, or the cards cannot be read.

    text : CSV with a heading: name, text, picture, alt, as for the cards of a study, and group.
    files : uploaded pictures by their names.

    Returns
    -------
    sort : RightSort
    pictures : list of Picture
        Those that the cards show.
    """
    table, groups = _split(text)
    items, pictures, _ = items_of(read_cards(table), files or {})
    if len(items) != len(groups):
        raise InputError("Every row of the table must hold a card.")
    missing = next((number for number, group in enumerate(groups) if not group), None)
    if missing is not None:
        raise InputError(f"The card {items[missing].name!r} has no group: the table must say where each card belongs.")
    cards = [
        RightCard(item.name, group, item.text, item.picture, item.alt)
        for item, group in zip(items, groups, strict=True)
    ]
    return RightSort(tuple(cards)), pictures


def _split(text: str) -> tuple[str, list[str]]:
    """Return the table without the column of groups, and that column."""
    lines = text.strip("\ufeff\r\n \t")
    head = lines.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    rows = [row for row in read_rows(lines, TABLE, delimiter=delimiter) if any(cell.strip() for cell in row)]
    columns = [cell.strip().casefold().replace("_", " ") for cell in rows[0]] if rows else []
    place = next((columns.index(heading) for heading in GROUP if heading in columns), None)
    if place is None or len(columns) < 2:
        raise InputError(
            "The first line must name the columns: name or text for the cards, and group for where each belongs."
        )
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([cell for at, cell in enumerate(row) if at != place] for row in rows)
    return out.getvalue(), [row[place].strip() if place < len(row) else "" for row in rows[1:]]
