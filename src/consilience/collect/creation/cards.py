"""Cards of a new study: from lists and tables that people paste or upload, and from files of pictures."""

from __future__ import annotations

import csv
import io
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consilience.collect.creation import pictures
from consilience.collect.creation.duplicates import note_on_look_alikes
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.model import MOST_ITEMS, Item, Picture
from consilience.collect.store import new_picture
from consilience.errors import InputError

COLUMNS = {  # headings, in any case and with blanks or underscores
    "name": ("name", "id", "item", "item id", "card id", "key"),
    "text": ("text", "card", "card label", "label", "title", "word", "caption"),
    "description": ("description", "explanation", "tooltip", "details"),  # of a table without a text, the text
    "picture": ("picture", "image", "img", "file", "filename", "photo", "picture file", "image file"),
    "alt": ("alt", "alt text", "alternative text"),
}
KNOWN = {heading: column for column, headings in COLUMNS.items() for heading in headings}
WITH_CLUSTERS = KNOWN | dict.fromkeys(("cluster", "clusters", "group", "category"), "cluster")
WORDED = ("name", "text", "picture", "description")  # columns by which a table is known
DELIMITERS = ("\t", ";", ",")
LONGEST_TABLE = 5_000_000  # bytes
TABLE = "The table of cards"


@dataclass(frozen=True)
class Card:
    """A row of a table of cards, as it is written there.

    name, text : at least one of them, or the picture, is given.
    picture : name of a file; empty if there is none.
    alt : the picture in words.
    description : what the card means.
    cluster : to which cluster it belongs, where that is asked for.
    """

    name: str = ""
    text: str = ""
    picture: str = ""
    alt: str = ""
    description: str = ""
    cluster: str = ""


@dataclass(frozen=True)
class Cards:
    """What was read: the cards, and sentences on what was not used."""

    cards: list[Card]
    notes: tuple[str, ...] = ()


def decode_text(data: bytes) -> str:
    """Return the text of a file in UTF-8 or UTF-16, else in the code page of western Windows.

    Raises InputError: it is too long, or no text.
    """
    if len(data) > LONGEST_TABLE:
        raise InputError(f"The table of cards has {len(data):,} bytes; at most {LONGEST_TABLE:,} are allowed.")
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(
            "This is a spreadsheet or an archive; save the table as CSV, or copy its cells and paste them."
        )
    # cp1252 last: it decodes nearly everything
    encodings = ["utf-16"] if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeError:
            continue
        if "\x00" not in text:
            return text
    raise InputError("The table of cards is not a text file; save it as CSV in UTF-8.")


def read_rows(text: str, what: str, **options: Any) -> list[list[str]]:
    """Return the rows of delimited text, by the options of `csv.reader`.

    Raises InputError: `what` cannot be read, such as with a cell of more than 131,072 characters.
    """
    try:
        return list(csv.reader(io.StringIO(text), **options))
    except csv.Error as error:
        raise InputError(f"{what} cannot be read: {error}.") from error


def read_cards(text: str, *, clusters: bool = False) -> Cards:
    r"""Read a list with a card on each line, or a table whose first line names the columns.

    Raises InputError: there are no cards, too many, or several columns without known headings.

    clusters : whether a column says to which cluster each card belongs.

    Examples
    --------
    >>> [card.text for card in read_cards("Apple\nSalt, pepper\n\nPear").cards]
    ['Apple', 'Salt, pepper', 'Pear']
    >>> read_cards("id;label;colour\na1;Apple;red").cards
    [Card(name='a1', text='Apple', picture='', alt='', description='', cluster='')]
    >>> read_cards("id;label;colour\na1;Apple;red").notes
    ("Columns that were not used: 'colour'.",)
    """
    lines = text.strip("\ufeff\r\n").splitlines()
    delimiter = next((mark for mark in DELIMITERS if _is_table(lines, mark)), None)
    if delimiter is not None:
        return _table("\n".join(lines), delimiter, WITH_CLUSTERS if clusters else KNOWN)
    if any("\t" in line for line in lines):
        raise InputError(
            "The cards have several columns, but the first line does not name them; name them text, name, picture or "
            "alt."
        )
    cards = [Card(text=cell) for line in lines if (cell := _cell(line))]
    _require_some(cards)
    return Cards(cards)


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    """Whether the first line names columns, and the next has as many; else it is the first of a list of cards."""
    rows = read_rows("\n".join(lines[:2]), TABLE, delimiter=delimiter)
    named = bool(rows) and any(KNOWN.get(_heading(cell)) in WORDED for cell in rows[0])
    return named and (len(rows) < 2 or len(rows[0]) == len(rows[1]) or len(rows[1]) > 2)


def _heading(cell: str) -> str:
    return " ".join(cell.replace("_", " ").replace("-", " ").casefold().split())


def _cell(line: str) -> str:
    """Return a line of a list of one column, without the quotes that a spreadsheet puts around text with commas."""
    line = line.strip()
    if len(line) > 1 and line[0] == line[-1] == '"':
        line = line[1:-1].replace('""', '"')
    return line.strip()


def _table(text: str, delimiter: str, known: Mapping[str, str]) -> Cards:
    head, *rows = read_rows(text, TABLE, delimiter=delimiter)
    place: dict[str, int] = {}
    unused = []
    for number, cell in enumerate(head):
        column = known.get(_heading(cell))
        if column is None or column in place:
            unused.append(cell.strip() or f"number {number + 1}")
        else:
            place[column] = number
    if "text" not in place and "description" in place:
        place["text"] = place.pop("description")
    if "text" not in place and "name" in place and "picture" not in place:
        place["text"] = place["name"]  # the only words there are
    cards = []
    for row in rows:
        cells = {column: row[at].strip() for column, at in place.items() if at < len(row)}
        if any(cells.values()):
            cards.append(Card(**cells))
    _require_some(cards)
    notes = (f"Columns that were not used: {', '.join(map(repr, unused))}.",) if unused else ()
    return Cards(cards, notes)


def _require_some(cards: Sequence[Card]) -> None:
    if not cards:
        raise InputError("There are no cards yet: write one on each line, choose a CSV file, or choose pictures.")
    if len(cards) > MOST_ITEMS:
        raise InputError(f"There are {len(cards):,} cards; at most {MOST_ITEMS:,} are allowed.")


# ---- pictures


def read_uploads(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return the uploaded pictures by their names without folders; archives are unpacked, nothing is checked yet.

    Raises InputError: two pictures have one name, or an archive is damaged.
    """
    found: dict[str, bytes] = {}
    for path, data in files:
        name = posixpath.basename(path.replace("\\", "/"))
        inside = pictures.in_archive(data) if name.lower().endswith(".zip") else [(name, data)]
        for each, content in inside:
            if each in found:
                raise InputError(f"Two pictures have the name {each!r}.")
            found[each] = content
    return found


def items_of(read: Cards | None, files: Mapping[str, bytes]) -> tuple[list[Item], list[Picture], tuple[str, ...]]:
    """Return items with their pictures checked and encoded anew.

    A card gets the picture that its row names, or else the one that is called like the card. Without a list of cards,
    each picture is a card.

    Raises InputError: there are neither cards nor pictures, a picture is missing, or it is no picture.

    files : uploaded pictures by their names.

    Returns
    -------
    items : list of Item
    pictures : list of Picture
    notes : tuple of str
        Sentences on what was not used, and on cards that look the same.
    """
    if read is None:
        in_order = sorted(files, key=lambda name: _natural(_stem(name)))
        read = Cards([Card(name=_stem(name), picture=name, alt=_words(_stem(name))) for name in in_order])
        _require_some(read.cards)
    by_stem = {_stem(name).casefold(): name for name in files}
    held: dict[str, Picture] = {}
    items: list[Item] = []
    names: set[str] = set()
    for number, card in enumerate(read.cards):
        file = _file_of(card, files, by_stem)
        if file and file not in held:
            kept = pictures.check_picture(files[file], f"The picture {file!r}")
            held[file] = new_picture(kept.data, kept.mime, kept.width, kept.height)
        item = _item(number, card, names, held[file].hash if file else None)
        names.add(item.name)
        items.append(item)
    unused = [name for name in files if name not in held]
    note = f"Pictures that no card uses: {', '.join(map(repr, unused[:10]))}{', …' if len(unused) > 10 else ''}."
    notes = (*read.notes, note if unused else "", note_on_look_alikes(items))
    return items, list(held.values()), tuple(filter(None, notes))


def _file_of(card: Card, files: Mapping[str, bytes], by_stem: Mapping[str, str]) -> str | None:
    """Return the name of the file of a card's picture, None if it has none."""
    wanted = posixpath.basename(card.picture.replace("\\", "/"))
    if not wanted:
        return next((by_stem[key] for text in (card.name, card.text) if (key := text.casefold()) in by_stem), None)
    if wanted in files:
        return wanted
    if _stem(wanted).casefold() in by_stem:
        return by_stem[_stem(wanted).casefold()]
    raise InputError(f"The picture {wanted!r} of the card {card.text or card.name!r} was not uploaded.")


def _item(number: int, card: Card, taken: set[str], picture: str | None) -> Item:
    """Return an item; one without a name is called by its text or picture, with a number if another is too."""
    if card.name:
        return Item(number, card.name, card.text, picture, card.alt, card.description)
    called = " ".join((card.text or _stem(card.picture)).split())[: LONGEST_NAME - 8]
    name, count = called, 2
    while name in taken:
        name, count = f"{called} ({count})", count + 1
    return Item(number, name, card.text, picture, card.alt, card.description)


def _stem(name: str) -> str:
    return posixpath.splitext(posixpath.basename(name))[0]


def _words(stem: str) -> str:
    return " ".join(stem.replace("_", " ").replace("-", " ").split())


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return a key by which card2 comes before card10."""
    parts: list[str] = [""]
    for letter in name.casefold():
        if parts[-1] and parts[-1][-1].isdecimal() == letter.isdecimal():
            parts[-1] += letter
        else:
            parts.append(letter)
    return [(0, int(part)) if part.isascii() and part.isdecimal() else (1, part) for part in parts[1:]]
