"""Section of a report on who put two items together, and under which names."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
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
ROWS, ACROSS = 20, 20  # pairs of the table, and of that of different clusters
OFTEN = 0.5  # share of the times together, from which two items of different clusters are listed
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
    makers, places = PairMakers.of(annotations), found.places[pairs]
    often = places[share[tuple(pairs.T)] >= OFTEN]
    codes = subject.clusters.codes
    apart = often[codes[often[:, 0]] != codes[often[:, 1]]]
    tables = [_across_table(subject, makers, apart)] if len(apart) else []
    return Section(
        "pairs", HEADING.format(items=subject.words.items), [], [*tables, _table(subject, makers, places, n_never)]
    )


def _order_pairs(share: Float[np.ndarray, "shown shown"]) -> Int[np.ndarray, "pairs 2"]:
    """Return the pairs that anybody put together, those most often together first."""
    first, second = np.triu_indices(len(share), 1)
    value = np.nan_to_num(share[first, second])
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > 0]
    return np.column_stack([first[order], second[order]])


def _across_table(subject: Subject, makers: PairMakers, pairs: Int[np.ndarray, "pairs 2"]) -> ReportTable:
    """Return the table of pairs of different clusters that were often put together."""
    words, left = subject.words, len(pairs) - ACROSS
    rows = [_row(subject, makers, a, b) for a, b in pairs[:ACROSS].tolist()]
    columns, rows, constant = set_apart_constants(_columns(subject), rows)
    return ReportTable(
        "pairs-across",
        f"Pairs of {words.items} of different {subject.clusters.nouns} that were together in at least {OFTEN:.0%}",
        columns,
        rows,
        reading=f"{constant}So many put them together, although their {subject.clusters.nouns} differ.",
        more=quantify(left, "pair") if left > 0 else "",
    )


def _columns(subject: Subject) -> list[Column]:
    return [
        Column(f"Two {subject.words.items}", "names", of_items=True),
        Column("Together", "line"),
        Column("Share"),
        Column("Under the names (times)", "wide"),
        Column("Who, or who not", "wide"),
    ]


def _row(subject: Subject, makers: PairMakers, a: int, b: int) -> list[Cell]:
    """Return the row of a pair: how often it was put together, under which names, and by whom."""
    n_of, n_together = len(makers.presented(a, b)), int(makers.together(a, b).sum())
    named = _names(subject, makers, a, b)
    shown = tuple((f"{count:,}", name_text(name)) for name, count in named[:NAMES])
    left = len(named) - NAMES
    names = Cell(pairs=(*shown, *([("", f"and {left:,} more")] if left > 0 else ()))) if shown else Cell("–")
    items = tuple(name_text(makers.groupings.items[item]) for item in (a, b))
    who = _who(makers, a, b, makers.people(a, b))
    return row(Cell(names=items), f"{n_together:,} of {n_of:,}", percent(n_together / n_of), names, who)


def _names(subject: Subject, makers: PairMakers, a: int, b: int) -> list[tuple[str, int]]:
    standard = subject.standard_names
    return [] if standard is None else makers.names(a, b, standard)


def _table(subject: Subject, makers: PairMakers, pairs: Int[np.ndarray, "pairs 2"], n_never: int) -> ReportTable:
    words, annotations = subject.words, makers.groupings
    n_pairs = len(pairs)
    in_file = n_pairs <= MOST_IN_FILE
    rows = [_row(subject, makers, a, b) for a, b in pairs[:ROWS].tolist()]
    records, text = [], cache(name_text)  # the same people are in most rows
    for a, b in pairs[: n_pairs if in_file else 0].tolist():
        n_of, n_together = len(makers.presented(a, b)), int(makers.together(a, b).sum())
        said = "; ".join(f"{name} ({count})" for name, count in _names(subject, makers, a, b))
        items = [text(annotations.items[item]) for item in (a, b)]
        who = "; ".join(map(text, makers.people(a, b)))
        records.append((*items, n_together, n_of, round(n_together / n_of, 4), said, who))
    head = ["item_1", "item_2", "n_together", "n_presented", "share", "names", "who"]
    file = small(download("pairs.csv", pd.DataFrame(records, columns=head))) if in_file else None
    left = n_pairs - len(rows)
    more = [f"{quantify(left, 'other pair')} that somebody put together"] if left > 0 else []
    more += [f"{quantify(n_never, 'pair')} that nobody put together"] if n_never else []
    explored = FEWEST <= len(annotations.items) <= MOST and are_shown(annotations, len(annotations.items))
    columns, rows, constant = set_apart_constants(_columns(subject), rows)
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
