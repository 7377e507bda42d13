"""Texts of items that annotations only number: a table of ids, texts and perhaps pictures.

Everything is read by ids, and then the items get their texts, so that every result names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from consilience.annotations import Annotations
from consilience.annotations.files.table import Table
from consilience.annotations.names import MISSING, name_index, plain
from consilience.errors import InputError
from consilience.inspection.pictures import Pictures, pictures_of
from consilience.workflows.item_columns import item_column
from consilience.workflows.item_extras import PICTURE_COLUMNS
from consilience.workflows.notes import note
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import names_as, names_in, read_table
from consilience.workflows.text import others

TEXT_COLUMNS = ("text", "name", "title", "card", "statement", "item", "description", "label")
Kind = TypeVar("Kind", bound=Annotations)


@dataclass(frozen=True)
class ItemNames:
    """Ids of items, and the texts that stand for them.

    ids, texts : unique; the text of an item without one is its id.
    pictures : Pictures of the ids, or None
    """

    ids: pd.Index
    texts: pd.Index
    pictures: Pictures | None = None

    def rename(self, ids: pd.Index) -> pd.Index:
        """Return the texts of ids; other names stay."""
        return _translate(ids, self.ids, self.texts)

    def find_ids(self, texts: pd.Index) -> pd.Index:
        """Return the ids of texts; names that are ids already stay."""
        return texts if texts.isin(self.ids).all() else _translate(texts, self.texts, self.ids)

    def rename_table(self, table: Any) -> Any:
        """Return a Series or DataFrame with a row for each item by their texts; None stays."""
        return None if table is None else table.set_axis(self.rename(table.index).rename(table.index.name), axis=0)

    def rename_column(self, table: pd.DataFrame | None) -> pd.DataFrame | None:
        """Return a table with the texts in its column of items, which may have several rows; None stays."""
        return None if table is None else table.assign(item=self.rename(pd.Index(table["item"])))

    def rename_annotations(self, annotations: Kind) -> Kind:
        """Return annotations of the items by their texts."""
        return replace(annotations, items=self.rename(annotations.items), named=True)

    def rename_pictures(self, pictures: Pictures | None) -> Pictures | None:
        """Return pictures of the items by their texts: those given, else those of the table."""
        pictures = self.pictures if pictures is None else pictures
        return None if pictures is None else replace(pictures, items=self.rename(pictures.items))

    def add_ids(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table with a column of ids after its column of items, if it has one."""
        if "item" not in table:
            return table
        table = table.copy()
        table.insert(list(table.columns).index("item") + 1, "id", self.find_ids(pd.Index(table["item"])))
        return table


def _translate(names: pd.Index, known: pd.Index, translations: pd.Index) -> pd.Index:
    place = known.get_indexer(names)
    return name_index([names[row] if at == MISSING else translations[at] for row, at in enumerate(place.tolist())])


def read_item_names(path: TableSource | None, items: pd.Index) -> ItemNames | None:
    """Read the texts of items, and pictures of them if the table has a column of their files.

    The ids are in the column that holds the items, the texts in the one called text, name or the like, or the only
    other.

    Raises InputError: there is no such file or column, an id is missing or repeated, or none is an item of the
    annotations.
    """
    if path is None:
        return None
    table = read_table(path, items)
    column = item_column(table, path, items=items, parameter="")
    ids = names_as(names_in(table, column, path), items)
    place = ids.get_indexer(items)
    if (place == MISSING).all():
        raise InputError(
            f"{path}: None of its {len(ids):,} ids (such as {plain(ids[0])!r}) is an item of the annotations (such as "
            f"{plain(items[0])!r})."
        )
    others = [name for name in table.columns if name != column]
    picture = next((name for name in others if str(name).strip().casefold() in PICTURE_COLUMNS), None)
    cells = table.frame[_text_column(table, [column, picture], path)].iloc[place].to_numpy(object)
    texts = ["" if at == MISSING or pd.isna(cell) else " ".join(str(cell).split()) for at, cell in zip(place, cells)]
    _note_what_matched(path, ids, items, [not text for text in texts])
    pictures = None if picture is None else _read_pictures(table, picture, ids, items, path)
    return ItemNames(
        items, name_index(_tell_apart([text or item for text, item in zip(texts, items)], items)), pictures
    )


def _text_column(table: Table, besides: Sequence[Any], path: TableSource) -> Any:
    rest = [name for name in table.columns if name not in besides]
    by_name = {str(name).strip().casefold(): name for name in reversed(rest)}
    called = [by_name[name] for name in TEXT_COLUMNS if name in by_name]
    if not called and len(rest) != 1:
        raise InputError(
            f"{path}: The column with the texts of the items must be called 'text'. Found "
            f"{', '.join(map(str, table.columns))}."
        )
    return (called or rest)[0]


def _note_what_matched(path: TableSource, ids: pd.Index, items: pd.Index, without: Sequence[bool]) -> None:
    lacking = items[np.array(without, dtype=bool)]
    note(f"Items whose text is known from {path}: {len(items) - len(lacking):,} of {len(items):,}.")
    if len(lacking):
        note(f"The item {plain(lacking[0])!r} has no text in {path}{others(len(lacking), ', nor have')}.")
    if elsewhere := int((~ids.isin(items)).sum()):
        note(f"Rows of {path} about other items, left out: {elsewhere:,}.")


def _tell_apart(texts: list[Any], ids: pd.Index) -> list[Any]:
    """Put its id after a text that several items share, until all differ."""
    while (repeated := pd.Series(texts, dtype=object).map(str).duplicated(keep=False).to_numpy()).any():
        texts = [f"{text} ({plain(name)})" if again else text for text, name, again in zip(texts, ids, repeated)]
        first = int(np.argmax(repeated))
        note(
            f"{int(repeated.sum()):,} items share their text with another; their ids follow it, as in {texts[first]!r}."
        )
    return texts


def _read_pictures(table: Table, column: Any, ids: pd.Index, items: pd.Index, path: TableSource) -> Pictures:
    files = table.frame[column].set_axis(ids).dropna()
    files = files[files.map(str).str.strip() != ""]
    found = pictures_of(items, files.map(str), folder=path.parent if isinstance(path, Path) else Path())
    if text := found.in_words():
        note(f"Pictures: {text}")
    return found
