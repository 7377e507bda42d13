"""Section of a report on who put two items together, and under which names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.analysis.cuts import FEWEST, MOST
from consilience.analysis.names import name_text, quantify
from consilience.analysis.pair_makers import PairMakers
from consilience.annotations import Groupings
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.sorts_data import are_shown
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import (
    Cell,
    Column,
    ReportTable,
    download,
    names_cell,
    percent,
    row,
    set_apart_constants,
)

HEADING = "Who put two {items} together"
MOST_ITEMS = 500  # of the annotations of such a report
ROWS = 40  # pairs of the table
NAMES, PEOPLE = 4, 12  # of a pair in the table
MOST_IN_FILE = 2000  # pairs


def section(subject: Subject) -> Section | None:
    """Return the section; None unless people made groups, or if there are very many items or no two were together."""
    annotations, found = subject.as_written, subject.co_occurrence
    if not isinstance(annotations, Groupings) or found is None or annotations.n_items > MOST_ITEMS:
        return None
    share = found.shares(found.places)
    pairs = _order_pairs(share)
    if not len(pairs):
        return None
    n_never = len(share) * (len(share) - 1) // 2 - len(pairs)
    table = _table(subject, PairMakers.of(annotations), found.places[pairs], n_never)
    return Section("pairs", HEADING.format(items=subject.words.items), [], [table])


def _order_pairs(share: Float[np.ndarray, "shown shown"]) -> Int[np.ndarray, "pairs 2"]:
    """Return the pairs that anybody put together, those most often together first."""
    first, second = np.triu_indices(len(share), 1)
    value = np.nan_to_num(share[first, second])
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > 0]
    return np.column_stack([first[order], second[order]])


def _table(subject: Subject, makers: PairMakers, pairs: Int[np.ndarray, "pairs 2"], n_never: int) -> ReportTable:
    words, annotations = subject.words, makers.groupings
    standard = subject.standard_names
    rows, records = [], []
    n_pairs = len(pairs)
    in_file = n_pairs <= MOST_IN_FILE
    for place, (a, b) in enumerate(pairs[: n_pairs if in_file else ROWS].tolist()):
        n_of, n_together = len(makers.presented(a, b)), int(makers.together(a, b).sum())
        named = [] if standard is None else makers.names(a, b, standard)
        people, items = makers.people(a, b), [name_text(annotations.items[item]) for item in (a, b)]
        if place < ROWS:
            shown = tuple((f"{count:,}", name_text(name)) for name, count in named[:NAMES])
            left = len(named) - NAMES
            cell = Cell(pairs=(*shown, *([("", f"and {left:,} more")] if left > 0 else ()))) if shown else Cell("–")
            of = f"{n_together:,} of {n_of:,}"
            rows.append(row(Cell(names=tuple(items)), of, percent(n_together / n_of), cell, _who(makers, a, b, people)))
        said = "; ".join(f"{name} ({count})" for name, count in named)
        who = "; ".join(map(name_text, people))
        records.append((*items, n_together, n_of, round(n_together / n_of, 4), said, who))
    head = ["item_1", "item_2", "n_together", "n_presented", "share", "names", "who"]
    file = small(download("pairs.csv", pd.DataFrame(records, columns=head))) if in_file else None
    left = n_pairs - len(rows)
    more = [f"{quantify(left, 'other pair')} that somebody put together"] if left > 0 else []
    more += [f"{quantify(n_never, 'pair')} that nobody put together"] if n_never else []
    explored = FEWEST <= len(annotations.items) <= MOST and are_shown(annotations, len(annotations.items))
    columns = [
        Column(f"Two {words.items}", "names", of_items=True),
        Column("Together", "line"),
        Column("Share"),
        Column("Under the names (times)", "wide"),
        Column("Who, or who not", "wide"),
    ]
    columns, rows, constant = set_apart_constants(columns, rows)
    names = [column for column in columns if column.head.startswith("Under the names")]
    about_names = "Names are the standard ones; groups without a name, or with a number for one, are not among them. "
    choosing = (
        f" For any other pair, click its cell in the matrix, or choose two {words.items} below it." if explored else ""
    )
    return ReportTable(
        "pair-makers",
        f"Pairs of {words.items}: who put them together{', and under which names' if names else ''}",
        columns,
        rows,
        reading=(
            f"{constant}The pairs that were most often put together, of those who sorted both. "
            f"{about_names if names else ''}Where more than half put both together, those are listed who put them "
            f"apart.{choosing}"
        ),
        more=" and ".join(more),
        download=file,
    )


def _who(makers: PairMakers, a: int, b: int, people: list[Any]) -> Cell:
    """Return the people who put two items together, or who put them apart if these are fewer."""
    apart = makers.people_apart(a, b)
    if len(apart) >= len(people):
        return names_cell(people, PEOPLE)
    return replace(names_cell(apart, PEOPLE), text="apart: ") if apart else Cell("nobody apart")
