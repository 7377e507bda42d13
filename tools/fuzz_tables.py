"""Mutate tables of real data as people's tools do, read them, and count outcomes: `python tools/fuzz_tables.py`.

The true annotations of each table are known, since it is made of recorded ones (CONSILIENCE_DATA); a mutation changes
how they are written, or says which of them it takes away, or that nothing is left that can be read. Outcomes:

- right: the true annotations were read;
- refused: an error of ours, one sentence;
- wrong, noted: others were read, and a note or warning says something that it does not say of the unmutated table;
- wrong, silent: others were read, without a word;
- raw: an error that is not ours.

`--seed` chooses items, people, places and values; `--tables` and `--mutations` choose some by a part of their name, and
`--show` prints what became wrong.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from consilience import Groupings, read_annotations
from consilience.datasets import load_dataset
from consilience.errors import InputError

RIGHT, REFUSED, NOTED, SILENT, RAW = "right", "refused", "wrong, noted", "wrong, silent", "raw"
OUTCOMES = (RIGHT, REFUSED, NOTED, SILENT, RAW)
N_ITEMS, N_PEOPLE = 14, 8  # of each table, drawn by the seed
SORTS = [
    *("accents45_geller", "amari12_lahne2018", "aroma16_courcoux2014", "beers8_abdi2007", "kinship15_rosenberg1975"),
    *("beers9_lelievre2009_EV", "beers9_lelievre2009_EBr1", "beers9_lelievre2009_EBr2", "orange_juice10"),
    *("perfume12_sensominer", "smoothies8_sensominer", "spices16_french", "wines18_free_experts"),
    *("wines18_ternary_experts", "cardsort_animals", "cardsort_celestino", "cardsort_skroutz"),
]
LABELS = ["bluebird", "dog", "rte", "sp_amt", "zencrowd_in", "fact_eval", "adult"]


@dataclass(frozen=True)
class Said:
    """True annotations of a table.

    Attributes
    ----------
    kind : {"groupings", "labels", "pairs"}
    rows : list of (item, annotator, value), of text; for pairs, of ((item, item), annotator, bool)
    """

    kind: str
    rows: list[tuple[Any, str, Any]]

    @property
    def items(self) -> list[str]:
        """Items in order of first appearance."""
        return list(dict.fromkeys(row[0] for row in self.rows))

    @property
    def people(self) -> list[str]:
        """Annotators in order of first appearance."""
        return list(dict.fromkeys(row[1] for row in self.rows))


@dataclass(frozen=True)
class Case:
    """A file, with what it says; `truth` is None if nothing in it can be read."""

    content: bytes
    truth: Said | None
    name: str = "table.csv"
    options: dict[str, Any] = field(default_factory=dict)


def tables(seed: int, wanted: str = "") -> Iterator[tuple[str, Said]]:
    """Draw items and people of every recorded set."""
    for name in [*SORTS, *LABELS]:
        if wanted not in name:
            continue
        held = load_dataset(name).annotations
        kind = "groupings" if isinstance(held, Groupings) else "labels"
        random = Random(f"{seed} {name}")
        frame = held.to_frame()
        if "grouping" in frame:  # the first sort of each person
            frame = frame[frame["grouping"].groupby(frame["annotator"]).transform("first") == frame["grouping"]]
        people = frame["annotator"].value_counts().index[: 4 * N_PEOPLE].tolist()
        people = sorted(random.sample(people, min(N_PEOPLE, len(people))), key=str)
        frame = frame[frame["annotator"].isin(people)]
        items = frame["item"].value_counts().index[: 3 * N_ITEMS].tolist()
        frame = frame[frame["item"].isin(random.sample(items, min(N_ITEMS, len(items))))]
        frame = frame.drop_duplicates(["item", "annotator"])
        value = "group" if kind == "groupings" else "label"
        texts = [
            tuple(" ".join(str(cell).split()) for cell in row) for row in frame[["item", "annotator", value]].to_numpy()
        ]
        yield name, Said(kind, [(f"i{a}" if a.isdigit() else a, f"p{b}" if b.isdigit() else b, c) for a, b, c in texts])


# how a table is written


def long_rows(said: Said, header: tuple[str, str, str] | None = None) -> list[list[str]]:
    """Write a row for each statement."""
    value = "category" if said.kind == "groupings" else "label"
    return [list(header or ("item", "annotator", value)), *([a, b, c] for a, b, c in said.rows)]


def wide_rows(said: Said, key: str = "item", *, people_in_rows: bool = False) -> list[list[str]]:
    """Write a row for each item and a column for each person, or the other way round."""
    held = {(a, b): c for a, b, c in said.rows}
    if people_in_rows:
        return [
            ["participant" if key == "item" else key, *said.items],
            *([b, *(held.get((a, b), "") for a in said.items)] for b in said.people),
        ]
    return [[key, *said.people], *([a, *(held.get((a, b), "") for b in said.people)] for a in said.items)]


LAYOUTS: dict[str, Callable[[Said], list[list[str]]]] = {
    "long": long_rows,
    "wide": wide_rows,
    "by person": lambda said: wide_rows(said, people_in_rows=True),
}


def csv_of(rows: list[list[str]], delimiter: str = ",", end: str = "\n", **options: Any) -> bytes:
    """Write rows as delimited text."""
    import csv

    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end, **options).writerows(rows)
    return text.getvalue().encode()


def workbook(sheets: dict[str, list[list[Any]]]) -> bytes:
    """Write sheets as an Excel workbook."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([int(cell) if str(cell).isdigit() else cell for cell in row])
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


# mutations


Mutation = Callable[[Said, Random], Case]
MUTATIONS: dict[str, tuple[str, Mutation]] = {}  # by name: the kinds of annotations that it suits, and what it does


def add(name: str, mutation: Mutation, kinds: str = "groupings labels") -> None:
    """List a mutation."""
    MUTATIONS[name] = (kinds, mutation)


def options_of(said: Said, layout: str) -> dict[str, Any]:
    """Return what a user of labels in a wide table has to say."""
    return {"kind": "labels"} if said.kind == "labels" and layout != "long" else {}


def of_layout(layout: str, change: Callable[[list[list[str]], Random], bytes | list[list[str]]]) -> Mutation:
    """Return a mutation that changes how a table is written, and nothing that it says."""

    def mutation(said: Said, random: Random) -> Case:
        written = change(LAYOUTS[layout](said), random)
        content = written if isinstance(written, bytes) else csv_of(written)
        return Case(content, said, options=options_of(said, layout))

    return mutation


def _dresses() -> None:
    for layout in LAYOUTS:
        for name, change in {
            "semicolons": lambda rows, _: csv_of(rows, ";"),
            "tabs": lambda rows, _: csv_of(rows, "\t"),
            "bars": lambda rows, _: csv_of(rows, "|"),
            "all quoted": lambda rows, _: csv_of(rows, quoting=1),
            "CRLF": lambda rows, _: csv_of(rows, end="\r\n"),
            "byte order mark": lambda rows, _: b"\xef\xbb\xbf" + csv_of(rows),
            "UTF-16": lambda rows, _: csv_of(rows).decode().encode("utf-16"),
            "blank lines": lambda rows, _: csv_of(rows).replace(b"\n", b"\n\n"),
            "delimiters at the end": lambda rows, _: csv_of([[*row, "", ""] for row in rows]),
            "rows of delimiters below": lambda rows, _: csv_of([*rows, *[[""] * len(rows[0])] * 3]),
            "gzip": lambda rows, _: gzip.compress(csv_of(rows)),
            "a line sep=": lambda rows, _: b"sep=;\n" + csv_of(rows, ";"),
        }.items():
            add(f"dress: {name} ({layout})", of_layout(layout, change))
        add(f"dress: workbook ({layout})", _as_workbook(layout))
    add("dress: JSON", lambda said, _: Case(_json(said), said, "table.json"))
    add("dress: Parquet", lambda said, _: Case(_parquet(said), said, "table.parquet"))
    add("dress: Markdown", lambda said, _: Case(_markdown(said), said, options=options_of(said, "wide")))
    for separator in ("; ", ", ", " | ", "\n"):
        add(f"layout: a row for each pile, {separator!r}", _piles(separator), "groupings")
    add("layout: piles of which some have no name", _piles("; ", unnamed=True), "groupings")


def _as_workbook(layout: str) -> Mutation:
    return lambda said, _: Case(
        workbook({"Sheet1": LAYOUTS[layout](said)}), said, "table.xlsx", options_of(said, layout)
    )


def _json(said: Said) -> bytes:
    head, *rows = long_rows(said)
    return json.dumps([dict(zip(head, row)) for row in rows], ensure_ascii=False).encode()


def _parquet(said: Said) -> bytes:
    head, *rows = long_rows(said)
    held = io.BytesIO()
    pd.DataFrame(rows, columns=head).to_parquet(held, index=False)
    return held.getvalue()


def _markdown(said: Said) -> bytes:
    head, *rows = wide_rows(said)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in lines).encode()


def _piles(separator: str, *, unnamed: bool = False) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        piles: dict[tuple[str, str], list[str]] = {}
        for item, who, group in said.rows:
            piles.setdefault((who, group), []).append(item)
        if any(separator.strip() and separator.strip() in item for item in said.items):
            return Case(b"", None)
        named = {pile: not unnamed or random.random() < 0.7 for pile in piles}
        rows = [
            [who, group if named[who, group] else "", separator.join(items)] for (who, group), items in piles.items()
        ]
        return Case(csv_of([["participant", "category", "cards"], *rows]), said)

    return mutation


HEADINGS = {
    "German": ("Karte", "Teilnehmer", "Kategorie"),
    "French": ("carte", "participant", "catégorie"),
    "Spanish": ("tarjeta", "participante", "categoría"),
    "Italian": ("carta", "partecipante", "categoria"),
    "Portuguese": ("cartão", "participante", "grupo"),
    "Dutch": ("kaart", "deelnemer", "groep"),
    "Polish": ("karta", "uczestnik", "grupa"),
    "Turkish": ("kart", "katılımcı", "grup"),
    "Russian": ("карточка", "участник", "группа"),
    "Chinese": ("卡片", "参与者", "类别"),
    "Japanese": ("カード", "参加者", "カテゴリ"),
    "Korean": ("카드", "참가자", "그룹"),
    "Arabic": ("بطاقة", "مشارك", "مجموعة"),
    "Hindi": ("कार्ड", "प्रतिभागी", "समूह"),
    "Finnish": ("kortti", "osallistuja", "ryhmä"),
    "identifiers": ("card_id", "participant_id", "category_id"),
    "camels": ("cardName", "userId", "groupName"),
    "plain letters": ("a", "b", "c"),
}


def _headings() -> None:
    for name, words in HEADINGS.items():
        add(f"headings: {name} (long)", _renamed(words, "long"), "groupings")
        add(f"headings: {name} (wide)", _renamed(words, "wide"), "groupings")
        add(f"headings: {name} (by person)", _renamed(words, "by person"), "groupings")


def _renamed(words: tuple[str, str, str], layout: str) -> Mutation:
    def mutation(said: Said, _: Random) -> Case:
        item, person, group = words
        if layout == "long":
            rows = [[person, item, group], *([b, a, c] for a, b, c in said.rows)]
        else:
            rows = wide_rows(said, item if layout == "wide" else person, people_in_rows=layout == "by person")
        return Case(csv_of(rows), said)

    return mutation


MISSING = [
    *(
        "",
        " ",
        "NA",
        "N/A",
        "nan",
        "NULL",
        "None",
        "#REF!",
        "#DIV/0!",
        "#N/A",
        "#VALUE!",
        "#BEZUG!",
        "\\N",
        "NIL",
        "**",
    ),
    *(
        "n/s",
        "s/o",
        "X",
        "-",
        "?",
        "not sorted",
        "nicht sortiert",
        "non classé",
        "sin clasificar",
        "keine Angabe",
        "unsure",
    ),
    *(
        "don't know",
        "weiß nicht",
        "не знаю",
        "わからない",
        "skip",
        "abstain",
        "99",
        "-9",
        "999",
        "9999",
        "88",
        "-99",
        "-1",
        "98",
    ),
]


def _missing() -> None:
    for word, layout in product(MISSING, LAYOUTS):
        add(f"missing: {word!r} ({layout})", _with_missing(word, layout))


def _with_missing(word: str, layout: str) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        gone = set(random.sample(range(len(said.rows)), max(len(said.rows) // 20, 2)))
        rows = [(a, b, word if i in gone else c) for i, (a, b, c) in enumerate(said.rows)]
        truth = replace(said, rows=[row for i, row in enumerate(said.rows) if i not in gone])
        return Case(csv_of(LAYOUTS[layout](replace(said, rows=rows))), truth, options=options_of(said, layout))

    return mutation


def _strays() -> None:
    for layout, place in product(LAYOUTS, ("first", "middle", "last")):
        add(f"stray: header again, {place} ({layout})", _stray(layout, place, lambda rows: [rows[0]]))
        add(f"stray: dashes, {place} ({layout})", _stray(layout, place, lambda rows: [["---"] * len(rows[0])]))
    add("stray: header again in capitals (long)", _stray("long", "middle", lambda rows: [[c.upper() for c in rows[0]]]))
    add(
        "stray: questions (long)",
        _stray("long", "first", lambda _: [["Which item?", "Annotator ID", "Which category/label?"]]),
    )
    add("stray: ids of questions (long)", _stray("long", "first", lambda rows: [['{"ImportId":"x"}'] * len(rows[0])]))
    for note in (
        "Note: sorted in May",
        "* two left early",
        "Source: our lab",
        "This table was made by the lab in 2024.",
    ):
        for layout in LAYOUTS:
            add(f"stray: {note[:12]!r} below ({layout})", _stray(layout, "last", _padded(note)))
    add(
        "stray: a table of people below (long)",
        _stray("long", "last", lambda _: [["participant", "age", "sex"], ["p1", "31", "f"]]),
    )
    beside = {
        "Age": lambda column, random: str(random.randint(18, 70)),
        "Sex": lambda column, random: random.choice("fm"),
        "Gender": lambda column, random: random.choice("12"),
        "n groups": lambda column, random: str(len({cell for cell in column if cell})),
        "count": lambda column, random: str(len([cell for cell in column if cell])),
        "Total": lambda column, random: str(len([cell for cell in column if cell])),
        "Duration": lambda column, random: str(random.randint(200, 900)),
    }
    for (name, make), place in product(beside.items(), ("first", "last")):
        add(f"stray: a row {name!r}, {place} (wide)", _beside(name, make, place))


def _padded(note: str) -> Callable[[list[list[str]]], list[list[str]]]:
    return lambda rows: [[note, *[""] * (len(rows[0]) - 1)]]


def _stray(layout: str, place: str, make: Callable[[list[list[str]]], list[list[str]]]) -> Mutation:
    def change(rows: list[list[str]], random: Random) -> list[list[str]]:
        at = {"first": 1, "middle": random.randint(2, len(rows) - 1), "last": len(rows)}[place]
        return [*rows[:at], *make(rows), *rows[at:]]

    return of_layout(layout, change)


def _beside(name: str, make: Callable[[list[str], Random], str], place: str) -> Mutation:
    def change(rows: list[list[str]], random: Random) -> list[list[str]]:
        row = [name, *(make([line[i] for line in rows[1:]], random) for i in range(1, len(rows[0])))]
        return [rows[0], row, *rows[1:]] if place == "first" else [*rows, row]

    return of_layout("wide", change)


def _columns() -> None:
    extra = {
        "index": lambda i, _: str(i),
        "seconds": lambda _, random: f"{random.uniform(1, 90):.2f}",
        "timestamp": lambda i, _: f"2026-01-02 10:{i % 60:02d}:00",
        "comment": lambda _, random: random.choice(["", "hard to do", "fine by me"]),
        "age": lambda _, random: str(random.randint(18, 70)),
        "count": lambda _, random: str(random.randint(1, 9)),
        "email": lambda i, _: f"u{i}@x.org",
    }
    for (name, make), layout in product(extra.items(), LAYOUTS):
        add(
            f"column: {name} at the end ({layout})", _column(layout, "" if name == "index" else name, make, at_end=True)
        )
    for layout in LAYOUTS:
        add(f"column: pandas' index ({layout})", _column(layout, "", extra["index"], at_end=False))
    for layout, n in product(LAYOUTS, (1, 3)):
        add(f"titles: {n} ({layout})", of_layout(layout, lambda rows, _, n=n: b"A study of ours\n" * n + csv_of(rows)))


def _column(layout: str, name: str, make: Callable[[int, Random], str], *, at_end: bool) -> Mutation:
    def change(rows: list[list[str]], random: Random) -> list[list[str]]:
        new = [name or "index" if at_end else "", *(make(i, random) for i in range(len(rows) - 1))]
        return [[*row, cell] if at_end else [cell, *row] for row, cell in zip(rows, new)]

    return of_layout(layout, change)


def _names() -> None:
    for layout in LAYOUTS:
        add(f"names: labels in other case ({layout})", _spelled(layout, str.upper), "labels")
        add(f"names: labels with a space ({layout})", _spelled(layout, lambda text: f"{text} "), "labels")
        add(
            f"names: labels decomposed ({layout})",
            _spelled(layout, lambda text: unicodedata.normalize("NFD", text)),
            "labels",
        )
        add(f"names: two groups in a cell ({layout})", _two_groups(layout), "groupings")
    for part in (0, 1):
        for error in ("#REF!", "#N/A"):
            add(f"names: {error} as {('item', 'annotator')[part]}", _error_in_name(part, error))


def _spelled(layout: str, change: Callable[[str], str]) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        words = {c: f"class {c}" for _, _, c in said.rows}  # words of several letters
        rows = [(a, b, words[c]) for a, b, c in said.rows]
        some = [(a, b, change(c) if random.random() < 0.2 else c) for a, b, c in rows]
        written = LAYOUTS[layout](replace(said, rows=some))
        return Case(csv_of(written), replace(said, rows=rows), options=options_of(said, layout))

    return mutation


def _two_groups(layout: str) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        who = random.choice([b for b in said.people if len({c for _, p, c in said.rows if p == b}) > 2])
        place = random.choice([i for i, row in enumerate(said.rows) if row[1] == who])
        others = sorted({c for _, b, c in said.rows if b == who})
        rows = list(said.rows)
        rows[place] = (rows[place][0], who, f"{others[0]}; {others[1]}")
        counts = Counter(c for _, b, c in rows if b == who)
        if not counts[others[0]] or not counts[others[1]] or any(";" in group for group in others):
            return Case(b"", None)
        return Case(csv_of(LAYOUTS[layout](replace(said, rows=rows))), None)

    return mutation


def _error_in_name(part: int, error: str) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        rows = [list(row) for row in said.rows]
        rows[random.randrange(len(rows))][part] = error
        return Case(csv_of(long_rows(replace(said, rows=[tuple(row) for row in rows]))), None)

    return mutation


def _sheets() -> None:
    overview = [["", "Value"], ["Participants", 12], ["Cards", 30], ["Categories", 7]]
    for layout in LAYOUTS:
        for first in (True, False):
            add(
                f"sheets: overview {'before' if first else 'after'} ({layout})",
                _beside_overview(layout, overview, first),
            )
        add(f"sheets: two studies ({layout})", _two_sheets(layout))
    add("sheets: one for each person", _sheet_each)
    add("sheets: merged cells", _merged)


def _beside_overview(layout: str, overview: list[list[Any]], first: bool) -> Mutation:
    def mutation(said: Said, _: Random) -> Case:
        sheets = {"Overview": overview, "Data": LAYOUTS[layout](said)}
        content = workbook(sheets if first else dict(reversed(sheets.items())))
        return Case(content, said, "table.xlsx", options_of(said, layout))

    return mutation


def _two_sheets(layout: str) -> Mutation:
    return lambda said, _: Case(
        workbook(
            {"A": LAYOUTS[layout](said), "B": LAYOUTS[layout](replace(said, rows=said.rows[: len(said.rows) // 2]))}
        ),
        None,
        "table.xlsx",
        options_of(said, layout),
    )


def _sheet_each(said: Said, _: Random) -> Case:
    value = "category" if said.kind == "groupings" else "label"
    sheets = {who: [["card", value], *([a, c] for a, b, c in said.rows if b == who)] for who in said.people}
    return Case(workbook({name[:31]: rows for name, rows in sheets.items()}), said, "table.xlsx")


def _merged(said: Said, _: Random) -> Case:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["annotator", "item", "category" if said.kind == "groupings" else "label"])
    rows = sorted(said.rows, key=lambda row: said.people.index(row[1]))
    for item, who, value in rows:
        sheet.append([who, item, int(value) if value.isdigit() else value])
    for who in said.people:
        places = [i + 2 for i, row in enumerate(rows) if row[1] == who]
        if len(places) > 1:
            sheet.merge_cells(f"A{places[0]}:A{places[-1]}")
    held = io.BytesIO()
    book.save(held)
    return Case(held.getvalue(), said, "table.xlsx")


def _pairs() -> None:
    names = [
        "same",
        "is_same",
        "isSimilar",
        "match",
        "is_different",
        "areDifferent",
        "is_unlike",
        "notSame",
        "mismatch",
    ]
    for name in [*names, "dissimilar", "isDistinct", "unequal", "verschieden", "diferente"]:
        add(f"pairs: a column {name!r}", _judged(name, ("1", "0"), is_turned=name not in names[:4]), "groupings")
    for answers in (("yes", "no"), ("same", "different"), ("ja", "nein"), ("oui", "non"), ("T", "F"), ("Y", "N")):
        add(f"pairs: {answers}", _judged("same", answers), "groupings")
    for code in ("9", "99", "999", "-9", "-99", "8", "unsure", "weiß nicht", "?"):
        add(f"pairs: 1, 0 and {code}", _judged("same", ("1", "0"), code=code), "groupings")
        add(f"pairs: yes, no and {code}", _judged("same", ("yes", "no"), code=code), "groupings")
    add("pairs: the preferred item", _preferred(lambda a, b, random: random.choice([a, b])), "groupings")
    add(
        "pairs: the preferred side",
        _preferred(lambda a, b, random: random.choice(["left", "right", "tie"])),
        "groupings",
    )


def _of_pairs(said: Said, random: Random) -> list[tuple[tuple[str, str], str, bool]]:
    found = []
    for who in said.people:
        theirs = [(a, c) for a, b, c in said.rows if b == who]
        for (a, p), (b, q) in pairwise(theirs):
            found.append(((a, b), who, p == q))
    return found


def _judged(name: str, answers: tuple[str, str], *, is_turned: bool = False, code: str = "") -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        pairs = _of_pairs(said, random)
        if len({same for _, _, same in pairs}) < 2:
            return Case(b"", None)
        gone = set(random.sample(range(len(pairs)), 3)) if code else set()
        rows = [
            [a, b, who, code if i in gone else answers[same if is_turned else not same]]
            for i, ((a, b), who, same) in enumerate(pairs)
        ]
        truth = [pair for i, pair in enumerate(pairs) if i not in gone]
        return Case(csv_of([["item_a", "item_b", "annotator", name], *rows]), Said("pairs", truth))

    return mutation


def _preferred(choose: Callable[[str, str, Random], str]) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        rows = [[a, b, who, choose(a, b, random)] for (a, b), who, _ in _of_pairs(said, random)]
        return Case(csv_of([["item_a", "item_b", "annotator", "answer"], *rows]), None)

    return mutation


def _no_sorts() -> None:
    for name, make in {
        "counts": lambda n, of, random: str(n),
        "percentages": lambda n, of, random: f"{100 * n // of}%",
        "shares": lambda n, of, random: f"{n / of:.2f}",
    }.items():
        add(f"no sort: {name} of placements", _placements(make), "labels")
    add("no sort: similarities", _similarities(lambda n, of: str(n)), "groupings")
    add("no sort: similarities in percent", _similarities(lambda n, of: f"{100 * n // of}%"), "groupings")
    add("no sort: similarities, --no-transpose", _similarities(lambda n, of: str(n), transpose=False), "groupings")
    add("no sort: lower triangle", _similarities(lambda n, of: str(n), is_triangle=True), "groupings")
    add("no sort: rankings", _each(lambda place, random, n: str(place + 1), shuffled=True), "groupings")
    add("no sort: ratings with decimals", _each(lambda place, random, n: f"{random.randint(2, 18) / 2}"), "groupings")
    add("no sort: coordinates", _coordinates(with_groups=False), "groupings")
    add("layout: coordinates and groups", _coordinates(with_groups=True), "groupings")
    add("no sort: people's ages", lambda said, random: Case(csv_of(_ages(said, random)), None), "groupings")
    add("no sort: marks", _marks, "labels")


def _placements(make: Callable[[int, int, Random], str]) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        names = {c: f"Class {c}" for _, _, c in said.rows}
        if len(names) < 3:
            names |= {"more": "Class more", "other": "Class other"}
        counts = Counter((a, c) for a, _, c in said.rows)
        of = Counter(a for a, _, _ in said.rows)
        rows = [[a, *(make(counts[a, c], of[a], random) for c in names)] for a in said.items]
        return Case(csv_of([["Card", *names.values()], *rows]), None)

    return mutation


def _similarities(
    make: Callable[[int, int], str], *, is_triangle: bool = False, transpose: bool | None = None
) -> Mutation:
    def mutation(said: Said, _: Random) -> Case:
        held = {(a, b): c for a, b, c in said.rows}
        together = {
            (a, b): sum(held.get((a, who)) == held.get((b, who)) is not None for who in said.people)
            for a, b in product(said.items, repeat=2)
        }
        rows = [
            [
                a,
                *(
                    "" if is_triangle and j >= i else make(together[a, b], len(said.people))
                    for j, b in enumerate(said.items)
                ),
            ]
            for i, a in enumerate(said.items)
        ]
        options = {} if transpose is None else {"transpose": transpose}
        return Case(csv_of([["", *said.items], *rows]), None, options=options)

    return mutation


def _each(make: Callable[[int, Random, int], str], *, shuffled: bool = False) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        n = len(said.items)
        columns = []
        for _ in said.people:
            places = random.sample(range(n), n) if shuffled else list(range(n))
            columns.append([make(place, random, n) for place in places])
        rows = [[a, *(column[i] for column in columns)] for i, a in enumerate(said.items)]
        return Case(csv_of([["product", *said.people], *rows]), None)

    return mutation


def _coordinates(*, with_groups: bool) -> Mutation:
    def mutation(said: Said, random: Random) -> Case:
        held = {(a, b): c for a, b, c in said.rows}
        names = [f"J{i + 1}" for i in range(len(said.people))]
        header = ["product"]
        for name in names:
            header += [f"{name}_X", f"{name}_Y", *([f"{name}_group"] if with_groups else [])]
        rows = [
            [a, *(cell for who in said.people for cell in (
                str(random.randint(1, 60)), str(random.randint(1, 40)), *[held.get((a, who), "")] * with_groups
            ))]
            for a in said.items
        ]  # fmt: skip
        named = {who: f"{name}_group" for who, name in zip(said.people, names)}
        truth = replace(said, rows=[(a, named[b], c) for a, b, c in said.rows]) if with_groups else None
        return Case(csv_of([header, *rows]), truth)

    return mutation


def _ages(said: Said, random: Random) -> list[list[str]]:
    rows = [
        [b, str(random.randint(18, 70)), random.choice("fm"), random.choice(["UK", "FR", "ES"])] for b in said.people
    ]
    return [["Participant", "Age", "Gender", "Country"], *rows]


def _marks(said: Said, random: Random) -> Case:
    first = {a: c for a, _, c in reversed(said.rows)}
    names = sorted(set(first.values()) | {"one", "two", "three"})
    rows = [[a, *("x" if first[a] == c else "" for c in names)] for a in said.items]
    return Case(csv_of([["Card", *(f"Class {name}" for name in names)], *rows]), None)


for _make in (_dresses, _headings, _missing, _strays, _columns, _names, _sheets, _pairs, _no_sorts):
    _make()


# what became of them


def is_true(found: Any, truth: Said | None) -> bool:
    """Whether annotations are those that a table says; names of groups do not count, and `p01` is p1 for no reader."""
    if truth is None or type(found).__name__.lower() != truth.kind:
        return False
    frame = found.to_frame().astype(str)
    if truth.kind == "pairs":
        rows = zip(frame["item_a"], frame["item_b"], frame["annotator"], frame["same"] == "True")
        return Counter((frozenset((a, b)), who, same) for a, b, who, same in rows) == Counter(
            (frozenset(pair), who, same) for pair, who, same in truth.rows
        )
    value = "group" if truth.kind == "groupings" else "label"
    rows = list(frame[["item", "annotator", value]].itertuples(index=False, name=None))
    if truth.kind == "groupings":
        return _partition(rows) == _partition(truth.rows)
    return {(a, b, _plain(c)) for a, b, c in rows} == {(a, b, _plain(c)) for a, b, c in truth.rows} and len(
        {c for _, _, c in rows}
    ) == len({_plain(c) for _, _, c in rows})


def _plain(text: str) -> str:
    text = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return str(int(text)) if text.isdigit() else text


def _partition(rows: list[tuple[Any, str, Any]]) -> set[tuple[str, frozenset[str]]]:
    groups: dict[tuple[str, str], set[str]] = {}
    for item, who, group in rows:
        groups.setdefault((who, _group(group)), set()).add(item)
    return {(who, frozenset(items)) for (who, _), items in groups.items()}


def _group(text: str) -> str:
    return str(int(text)) if text.isdigit() else text


def outcome_of(case: Case, folder: Path, known: frozenset[str]) -> tuple[str, str]:
    """Read a file; return what became of it, and the message or what was read."""
    path = folder / case.name
    path.write_bytes(case.content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = read_annotations(path, **case.options)
        except InputError as error:
            return REFUSED, str(error).replace(str(path), "")
        except Exception as error:
            return RAW, f"{type(error).__name__}: {error}"
    notes = notes_of(found) | {str(warning.message).replace(f"{path}: ", "") for warning in caught}
    told = f"{found!r} {sorted(notes - known)}"
    if is_true(found, case.truth):
        return RIGHT, told
    return (NOTED if notes - known else SILENT), told


def notes_of(found: Any) -> frozenset[str]:
    """Return the notes and warnings of a reading."""
    return frozenset() if found.reading is None else frozenset((*found.reading.notes, *found.reading.warnings))


def main() -> None:
    """Count what became of all tables under all mutations."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", default="")
    parser.add_argument("--mutations", default="")
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    with TemporaryDirectory() as folder:
        for table, said in tables(chosen.seed, chosen.tables):
            known: frozenset[str] = frozenset()
            for layout in LAYOUTS:
                plain = Case(csv_of(LAYOUTS[layout](said)), said, options=options_of(said, layout))
                (Path(folder) / "plain.csv").write_bytes(plain.content)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        known |= notes_of(read_annotations(Path(folder) / "plain.csv", **plain.options))
                    except InputError:
                        continue
            for name, (kinds, mutation) in MUTATIONS.items():
                if said.kind not in kinds or chosen.mutations not in name:
                    continue
                case = mutation(said, Random(f"{chosen.seed} {table} {name}"))
                if not case.content:
                    continue
                outcome, told = outcome_of(case, Path(folder), known)
                counts.setdefault(name, Counter())[outcome] += 1
                if chosen.show and outcome in (NOTED, SILENT, RAW):
                    sys.stdout.write(f"{outcome}: {name}, {table}: {told[:400]}\n")
    width = max(map(len, counts))
    sys.stdout.write(f"{'':{width}}  {'  '.join(OUTCOMES)}\n")
    by_family: dict[str, Counter[str]] = {}
    for name, found in counts.items():
        by_family.setdefault(name.partition(":")[0], Counter()).update(found)
        if set(found) - {RIGHT}:
            sys.stdout.write(f"{name:{width}}  {_line(found)}\n")
    for name, found in (*by_family.items(), ("all", sum(by_family.values(), Counter()))):
        sys.stdout.write(f"{name:{width}}  {_line(found)}\n")
    sys.stdout.write(f"{len(counts)} mutations\n")


def _line(found: Counter[str]) -> str:
    return "  ".join(f"{found[outcome]:{len(outcome)}}" for outcome in OUTCOMES)


if __name__ == "__main__":
    main()
