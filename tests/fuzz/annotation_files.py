"""Random files of annotations, with what they say.

A file is made of statements by the `csv` and `json` modules alone, in a random dress: names of columns, their order,
columns that say nothing, delimiter, quotation, ends of lines, encoding. Some are then damaged; what a damaged file says
is told by `csv` again: rows that are all as long as the header say what stands in them, others say nothing.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ITEM = [
    "item",
    "card",
    "task",
    "product",
    "question",
    "Card_Label",
    "statement",
    "IMAGE",
    "sample",
    "Stimulus",
    "object",
]
ANNOTATOR = [
    "annotator",
    "participant",
    "worker",
    "user_id",
    "Rater",
    "assessor",
    "performer",
    "sorter",
    "Participant ID",
]
GROUP = ["group", "category", "pile", "cluster", "Category_Name", "Group"]
LABEL = ["label", "answer", "response", "judgment", "Label", "value"]
GROUPING = ["grouping", "sort", "session"]
SAME = ["same", "match", "is_same", "Same"]
PAIRS = [("item_a", "item_b"), ("left", "right"), ("item1", "item2"), ("image_1", "image_2"), ("card a", "card b")]
EXTRA = ["seconds", "timestamp", "comment", "age", "colour", "w", "x2", "notes"]
LETTERS = [
    "ant",
    "bee",
    "Cow",
    "dög",
    "elk nr 1",
    "fly,fly",
    "gnu;",
    'h"i',
    "it's",
    "ŁÓDŹ",
    "k\tk",
    "ll\nll",
    "0x7",
    "007",
    "1e3",
    "=1+1",
]


@dataclass(frozen=True)
class Case:
    """A file and what it says.

    Attributes
    ----------
    name : str
    content : bytes
    kind : {"groupings", "labels", "pairs"}
    statements : set, or None
        (item, annotator, grouping, group), (item, annotator, label), or (items, annotator, same), names as text; or how
        many there are at most, where the file was damaged. None if it says nothing that can be told.
    options : dict
        Keywords that reading needs.
    may_refuse : bool
        Whether it is right to refuse the file.
    """

    name: str
    content: bytes
    kind: str
    statements: Any
    options: dict[str, Any]
    may_refuse: bool


def names(random: Random, n: int, stem: str) -> list[str]:
    """Return distinct names, all integers or all text, which differ in more than case and space."""
    if random.random() < 0.3:
        return [str(value) for value in random.sample(range(1, 500), n)]
    if random.random() < 0.5:
        return [f"{stem}{i}" for i in random.sample(range(100), n)]
    pool = LETTERS + [f"{stem} {i}" for i in range(n)]
    return random.sample(pool, n)


def annotation_case(random: Random) -> Case:
    """Return a random file of annotations."""
    kind = random.choice(["groupings", "groupings", "labels", "pairs"])
    layout = "long" if kind == "pairs" or random.random() < 0.6 else random.choice(["wide", "transposed", "neutral"])
    rows, header, said, options = _long(random, kind) if layout == "long" else _wide(random, kind, layout)
    may_refuse = layout == "neutral"
    if layout == "long" and random.random() < 0.15:
        return _as_json(random, header, rows, kind, said, options)
    dress = _Dress(random)
    text, rows = dress.write(header, rows)
    content, damaged = text, False
    if random.random() < 0.25:
        content, damaged = _damaged(random, text), True
    if damaged:
        said = _said_by(content, dress, header, kind, layout)
        may_refuse = True
    return Case(dress.name, dress.encode(content), kind, said, options, may_refuse)


def _long(random: Random, kind: str) -> tuple[list[list[str]], list[str], Any, dict[str, Any]]:
    items, people = names(random, random.randint(2, 9), "i"), names(random, random.randint(1, 5), "p")
    values = names(random, random.randint(2, 4), "g")
    value = {"groupings": GROUP, "labels": LABEL, "pairs": SAME}[kind]
    if kind == "pairs":
        header = [*random.choice(PAIRS), random.choice(ANNOTATOR), random.choice(value)]
        yes, no = random.choice([("1", "0"), ("yes", "no"), ("TRUE", "FALSE"), ("same", "different"), ("t", "f")])
        rows = [
            [*random.sample(items, 2), random.choice(people), random.choice([yes, no])]
            for _ in range(random.randint(1, 20))
        ]
        rows += [[*random.sample(items, 2), people[0], word] for word in (yes, no)]  # both words occur
        said = _pairs_said(rows, yes)
        used = {name for row in rows for name in row[:2]}
        rows = [row for row in rows if used]
    else:
        with_grouping = kind == "groupings" and random.random() < 0.3
        header = [random.choice(ITEM), random.choice(ANNOTATOR), *([random.choice(GROUPING)] if with_grouping else [])]
        header.append(random.choice(value))
        sorts = ["morning", "evening"] if with_grouping else [""]
        cells = [(item, person, sort) for item in items for person in people for sort in sorts]
        cells = random.sample(cells, random.randint(1, len(cells)))
        rows = [[*(part for part in cell if part), random.choice(values)] for cell in cells]
        said = {_statement(row) for row in rows}
    options = {"kind": kind} if random.random() < 0.2 else {}
    extra = random.sample(EXTRA, random.randint(0, 2))
    header, rows = [*header, *extra], [[*row, *(f"{random.random():.3f}" for _ in extra)] for row in rows]
    order = random.sample(range(len(header)), len(header))
    return [[row[i] for i in order] for row in rows], [header[i] for i in order], said, options


def _statement(row: list[str]) -> tuple[str, ...]:
    item, person, *sort, value = row
    return (item, person, *(sort or []), value)


def _pairs_said(rows: list[list[str]], yes: str) -> Any:
    return sorted((frozenset(row[:2]), row[2], row[3] == yes) for row in rows for _ in [0])


def _wide(random: Random, kind: str, layout: str) -> tuple[list[list[str]], list[str], Any, dict[str, Any]]:
    items, people = names(random, random.randint(4, 12), "i"), names(random, random.randint(2, 8), "p")
    n_groups = random.randint(2, 3)
    own = kind == "groupings" and random.random() < 0.5
    table = {}
    for person in people:
        pool = [f"{person} pile {k}" for k in range(n_groups)] if own else [str(k + 1) for k in range(n_groups)]
        for item in items:
            table[item, person] = "" if random.random() < 0.1 else random.choice(pool)
    rows_are, columns_are = (people, items) if layout == "transposed" else (items, people)
    if layout == "neutral" and random.random() < 0.5:
        rows_are, columns_are = people, items
    key = {
        "wide": random.choice(ITEM),
        "transposed": random.choice(ANNOTATOR),
        "neutral": random.choice(["id", "", "index"]),
    }
    header = [key[layout], *columns_are]
    by_row = rows_are is items
    rows = [[row, *(table[(row, column) if by_row else (column, row)] for column in columns_are)] for row in rows_are]
    said = {(item, person, group) for (item, person), group in table.items() if group}
    return rows, header, said, {"kind": kind} if kind == "labels" else {}


class _Dress:
    """How a table is written as text."""

    def __init__(self, random: Random):
        self.delimiter = random.choice([",", ",", ";", "\t"])
        self.end = random.choice(["\n", "\n", "\r\n", "\r"])
        self.encoding = random.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
        self.quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        if self.end == "\r":  # csv would not quote a cell that holds another end of line
            self.quoting = csv.QUOTE_ALL
        self.blank_lines = random.random() < 0.1
        self.separator_line = random.random() < 0.1
        self.packed = random.random() < 0.1
        self.name = "said" + random.choice([".csv", ".txt", ".tsv" if self.delimiter == "\t" else ".csv", ""])
        self.random = random

    def write(self, header: list[str], rows: list[list[str]]) -> tuple[str, list[list[str]]]:
        text = io.StringIO()
        if self.separator_line:
            text.write(f"sep={self.delimiter}{self.end}")
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator=self.end, quoting=self.quoting)
        writer.writerow(header)
        for row in rows:
            if self.blank_lines and self.random.random() < 0.3:
                text.write(self.end)
            writer.writerow(row)
        return text.getvalue(), rows

    def encode(self, text: str) -> bytes:
        content = text.encode(self.encoding, "surrogatepass")
        return gzip.compress(content, mtime=0) if self.packed else content


def _damaged(random: Random, text: str) -> str:
    """Return a text with one thing wrong."""
    place = random.randrange(len(text))
    lines = text.splitlines(keepends=True)
    line = random.randrange(len(lines))
    return random.choice(
        [
            lambda: text[:place],
            lambda: text[:place] + text[place + 1 :],
            lambda: text[:place] + random.choice(',;\t"\n\0x ') + text[place:],
            lambda: "".join([*lines[:line], lines[line], *lines[line:]]),
            lambda: "".join(
                [
                    *lines[:line],
                    lines[line].rstrip("\r\n") + random.choice([",x", ";x", "\tx", ",", '"']) + "\n",
                    *lines[line + 1 :],
                ]
            ),
            lambda: "".join(lines[1:]),
        ]
    )()


def _said_by(text: str, dress: _Dress, header: list[str], kind: str, layout: str) -> Any:
    """Tell by `csv` how many things a damaged long file can say at most, None if it says nothing.

    Of a damaged wide file nothing is known: any reading of what stands there is taken for right.
    """
    if layout != "long":
        return ("at most", len(text))
    text = text.split(dress.end, 1)[1] if text.startswith("sep=") and dress.end in text else text
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=dress.delimiter))
        rows = [row for row in rows if any(cell.strip() for cell in row)]
    except csv.Error:
        return None
    while rows and sum(bool(cell.strip()) for cell in rows[0]) == 1:  # a title
        rows = rows[1:]
    rows = [[*row[: len(header)], *(cell for cell in row[len(header) :] if cell.strip())] for row in rows]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return None
    return ("at most", len(rows) - 1)


def _as_json(
    random: Random, header: list[str], rows: list[list[str]], kind: str, said: Any, options: dict[str, Any]
) -> Case:
    records = [dict(zip(header, row)) for row in rows]
    if random.random() < 0.5:
        content, name = json.dumps(records, ensure_ascii=random.random() < 0.5), "said.json"
    else:
        content, name = "\n".join(json.dumps(record) for record in records), "said.jsonl"
    return Case(name, content.encode(), kind, said, options, may_refuse=False)


def is_what_was_said(case: Case, found: Any) -> bool:
    """Whether annotations are those that a file holds."""
    kind = type(found).__name__.lower()
    if case.statements is None:
        return False
    if isinstance(case.statements, tuple):  # a damaged file, of which the number of rows is known
        return found.n_rows <= case.statements[1]
    frame = found.to_frame().astype(str)
    if kind == "labels":
        return {tuple(row) for row in frame[["item", "annotator", "label"]].to_numpy()} == case.statements
    if kind == "pairs":
        rows = zip(frame["item_a"], frame["item_b"], frame["annotator"], frame["same"] == "True")
        return _counted((frozenset((a, b)), who, same) for a, b, who, same in rows) == _counted(case.statements)
    width = len(next(iter(case.statements))) if case.statements else 3
    parts = ["item", "annotator", "grouping", "group"] if width == 4 else ["item", "annotator", "group"]
    return {tuple(row) for row in frame[parts].to_numpy()} == case.statements


def _counted(statements: Any) -> list[Any]:
    return sorted((sorted(items), who, same) for items, who, same in statements)


def write(case: Case, folder: Path) -> Path:
    """Write the file of a case."""
    path = folder / case.name
    path.write_bytes(case.content)
    return path
