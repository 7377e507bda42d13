"""Random files of features, with the numbers that they hold as Python reads them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from random import Random
from typing import Any

KEYS = ["item", "patient_id", "sampleID", "id", "name", "Card", "x7"]
ODD = [
    *(
        "",
        " ",
        "NA",
        "nan",
        "inf",
        "-inf",
        "1e308",
        "1e400",
        "1e12",
        "12%",
        "1,234",
        "1_000",
        "0x1f",
        "abc",
        "2024-01-01",
    ),
    *("TRUE", "false", "-", "?", "１２", "=1+1", "1.5.2", "+5", "-0", ".5", "5.", "1e-5", "null"),
]


@dataclass(frozen=True)
class Case:
    """A file of features and what it holds.

    Attributes
    ----------
    name : str
    content : bytes
    items : list of str
        The items that the annotations name.
    numbers : dict of str to dict of str to float, or None
        The feature, then the item; None where some cell is no plain finite number, so that a refusal is right.
    """

    name: str
    content: bytes
    items: list[str]
    numbers: dict[str, dict[str, float]] | None


def feature_case(random: Random) -> Case:
    """Return a random file of features."""
    items = [f"i{i}" for i in random.sample(range(50), random.randint(3, 10))]
    if random.random() < 0.3:
        items = [item[1:] for item in items]
    columns = random.sample(["height", "weight", "x1", "x2", "age", "Längε", "a b", "score"], random.randint(1, 5))
    table = {column: {item: _number(random) for item in items} for column in columns}
    is_plain = random.random() < 0.5
    if not is_plain:
        for _ in range(random.randint(1, 3)):
            table[random.choice(columns)][random.choice(items)] = random.choice(ODD)
    numbers = _all_plain(table)
    delimiter = random.choice([",", ",", ";", "\t"])
    decimal_comma = delimiter != "," and is_plain and random.random() < 0.3
    key = random.choice(KEYS)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=random.choice(["\n", "\r\n"]))
    order = random.sample(columns, len(columns))
    place = random.randint(0, len(order)) if key != "x7" else 0
    writer.writerow([*order[:place], key, *order[place:]])
    for item in random.sample(items, len(items)):
        cells = [table[column][item] for column in order]
        cells = [cell.replace(".", ",") for cell in cells] if decimal_comma else cells
        writer.writerow([*cells[:place], item, *cells[place:]])
    encoding = random.choice(["utf-8", "utf-8-sig", "utf-16"])
    return Case("features.csv", text.getvalue().encode(encoding), items, numbers)


def _number(random: Random) -> str:
    return random.choice([f"{random.gauss(0, 10):.4f}", str(random.randint(-9, 99)), f"{random.gauss(0, 1):.4e}"])


def _all_plain(table: dict[str, dict[str, str]]) -> dict[str, dict[str, float]] | None:
    plain = {}
    for column, cells in table.items():
        plain[column] = {}
        for item, cell in cells.items():
            if cell in ODD and cell not in ("+5", "-0", ".5", "5.", "1e-5", "1e12"):
                return None
            plain[column][item] = float(cell)
    return plain


def holds(case: Case, table: Any) -> bool:
    """Whether a table that was read holds the numbers of a file; any is right where some cell is odd and was read."""
    if case.numbers is None:
        return bool(table.notna().to_numpy().all())
    if {str(name) for name in table.columns} != set(case.numbers):
        return False
    found = {str(column): {str(item): value for item, value in table[column].items()} for column in table.columns}
    return found == case.numbers
