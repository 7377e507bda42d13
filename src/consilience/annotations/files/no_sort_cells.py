"""Cells that are no groups: measurements, rankings, similarities, properties of people, ratings, Q sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.no_sorts import FEWEST, NEARLY_ALL, say_no_sort
from consilience.annotations.files.orientation import have_gaps
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import is_number
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded
from consilience.errors import AnnotationError

FEWEST_LEVELS, FEWEST_PEOPLE = 4, 3  # of numbers that may be ratings
MANY_WITH_GAPS, ALIKE = 0.2, 0.3  # share of people, correlation of their numbers: see `of_ratings`


def refuse_decimals(cells: Coded, request: ReadingRequest) -> None:
    """Raise an AnnotationError if all cells are numbers and some have decimals, as ratings and measurements do."""
    names = [str(name).strip().replace(",", ".", 1) for name in cells.names]
    if request.kind is not None or not names or not all(map(is_number, names)):
        return
    fractions = [shown for name, shown in zip(names, cells.names) if float(name) % 1]
    if fractions:
        raise AnnotationError(
            say_no_sort(
                f"This seems to be a table of ratings or measurements, since its numbers have decimals, such as "
                f"{fractions[0]}. They are no groups; give them as features."
            )
        )


def refuse_rankings(cells: Coded, n_columns: int, request: ReadingRequest, *, in_rows: bool) -> None:
    """Raise an AnnotationError if nearly all annotators gave every item another number, from 1 to n.

    A few people who put every card into a group of its own are no ranking.
    """
    if request.kind is not None or not pd.api.types.is_integer_dtype(cells.names) or not len(cells.names):
        return
    values = np.append(cells.names.to_numpy(np.int64), -1)[cells.codes].reshape(-1, n_columns)
    by_person = values if in_rows else values.T
    n_filled = (by_person >= 0).sum(1)
    by_person = by_person[n_filled >= FEWEST]
    if len(by_person) < 2 or by_person.shape[1] <= FEWEST:
        return
    ordered = np.sort(by_person, axis=1)
    differ = ((ordered[:, 1:] != ordered[:, :-1]) | (ordered[:, 1:] < 0)).all(1)
    whole = ~have_gaps(by_person)
    if (differ & whole).mean() >= NEARLY_ALL:
        raise AnnotationError(
            f"This is a table of rankings: nearly everybody gave each item another number, from 1 to n. Ranks are no "
            f"groups. If everybody kept all items apart, give {spell(kind='groupings')}."
        )


def refuse_similar_to_themselves(table: Table, key: Any, others: list[Any]) -> None:
    """Raise an AnnotationError for a square table of numbers that is symmetric, or whose sides share their names."""
    texts = []
    for name in others if len(others) >= FEWEST else ():
        texts.append(table.texts[name])
        held = [text.rstrip("%").strip() for text in texts[-1] if text]
        if not all(is_number(text) or text in {"-", "x", "X", "—"} for text in held):
            return  # of tens of thousands of columns, not all are read
    if not any(text for column in texts for text in column):
        return
    rows = [] if key is None else [str(name).strip().casefold() for name in table.frame[key]]
    shared = set(rows) & {str(name).strip().casefold() for name in others}
    share_names = len(shared) >= NEARLY_ALL * (max(len(rows), len(others)) - 1) and len(shared) > 1
    if share_names or _is_symmetric(texts):
        raise AnnotationError(
            "This is a table of similarities: its rows and columns are the same items. Individual groupings cannot be "
            "recovered from it; export each person's groups."
        )


def _is_symmetric(texts: list[list[str]]) -> bool:
    n = len(texts)
    if any(len(column) != n for column in texts) or n <= FEWEST:
        return False
    values = np.array(
        [[float(t.rstrip("%")) if is_number(t.rstrip("% ")) else np.nan for t in column] for column in texts]
    )
    below, above = np.tril_indices(n, -1), np.triu_indices(n, 1)
    diagonal = np.diag(values)
    diagonal = diagonal[~np.isnan(diagonal)]
    one_triangle = np.isnan(values[below]).all() != np.isnan(values[above]).all()
    symmetric = np.array_equal(values[below], values.T[below], equal_nan=True) and not np.isnan(values[below]).all()
    constant = len(set(diagonal.tolist())) <= 1
    is_extreme = not len(diagonal) or diagonal[0] in {np.nanmax(values), np.nanmin(values)}
    return bool(constant and is_extreme and (one_triangle or symmetric) and len(set(values[below].tolist())) > 1)


def refuse_properties_of_people(cells: Coded, n_columns: int, request: ReadingRequest, *, in_rows: bool) -> None:
    """Raise an AnnotationError if no two columns share a value, in a table with a row for each person."""
    if request.kind is not None or request.transpose is not None or not in_rows:
        return
    codes = cells.codes.reshape(-1, n_columns)
    if n_columns < 2 or len(codes) < FEWEST:
        return
    used = [set(column[column >= 0].tolist()) for column in codes.T]
    if sum(map(len, used)) == len(set().union(*used)) and any(len(values) > 1 for values in used):
        raise AnnotationError(
            "The columns share no value, so that nobody put two of them together: they seem to be properties of "
            "people or questions to them, not items. If everybody kept all items apart, give "
            f"{spell(transpose=True)}."
        )


def of_ratings(item: Coded, owner: Coded, group: Coded) -> str | None:
    """Ask whether groups that are numbers are ratings, None if people seem to have numbered their piles.

    Who numbers piles leaves no number out. Of 19 recorded sorts with numbers, at most one person in a hundred did; and
    where all went up to the same number, two people's numbers correlated by at most .17.
    """
    if not pd.api.types.is_integer_dtype(group.names) or len(group.names) < FEWEST_LEVELS:
        return None
    rows = np.flatnonzero(~(item.missing | owner.missing | group.missing))
    who, what, level = owner.codes[rows], item.codes[rows], group.names.to_numpy(np.int64)[group.codes[rows]]
    of_person = pd.DataFrame({"who": who, "level": level}).groupby("who")["level"].agg(["min", "max", "nunique"])
    if len(of_person) < FEWEST_PEOPLE:
        return None
    with_gaps = (of_person["min"] > 1) | (of_person["max"] - of_person["min"] + 1 > of_person["nunique"])
    low, high = int(level.min()), int(level.max())
    if with_gaps.mean() >= MANY_WITH_GAPS:
        why = f"{int(with_gaps.sum()):,} of {len(with_gaps):,} annotators leave some of {low} to {high} out"
    elif _are_numbered_as_they_came(who, level):
        return None
    elif (of_person["max"] == high).mean() >= NEARLY_ALL and _correlate(what, who, level) >= ALIKE:
        why = f"nearly everybody goes up to {high}, for the same items"
    else:
        return None
    return (
        f"the groups are numbers, and {why}; are they ratings? Ratings are no groups, as 3 is near 4 "
        f"({spell(kind='labels')} if they are classes that all share)"
    )


def _are_numbered_as_they_came(person: np.ndarray, level: np.ndarray) -> bool:
    """Whether nearly everybody's first items of the numbers stand in the order of these, unlike ratings."""
    first = pd.DataFrame({"person": person, "level": level}).drop_duplicates()
    person, level = first.sort_values("person", kind="stable").to_numpy().T
    falls = (person[1:] == person[:-1]) & (level[1:] < level[:-1])
    return bool(1 - len(set(person[1:][falls])) / len(set(person)) >= NEARLY_ALL)


def _correlate(item: np.ndarray, person: np.ndarray, level: np.ndarray) -> float:
    """Return the mean product of two people's standardised numbers of an item."""
    rows = pd.DataFrame({"person": person, "item": item, "level": level.astype(float)})
    by_person = rows.groupby("person")["level"]
    spread = by_person.transform("std", ddof=0)
    rows["score"] = ((rows["level"] - by_person.transform("mean")) / spread.where(spread > 0, 1)).to_numpy()
    total = rows.groupby("item")["score"].agg(["sum", "count"])
    n_pairs = (total["count"] * (total["count"] - 1)).sum()
    return float(((total["sum"] ** 2).sum() - (rows["score"] ** 2).sum()) / max(n_pairs, 1))


def of_q_sort(cells: Coded, n_columns: int, *, in_rows: bool) -> str | None:
    """Note that piles have an order, as in a Q-sort: everybody has as many items in each of five or more piles."""
    if not pd.api.types.is_integer_dtype(cells.names) or len(cells.names) < 5 or cells.has_missing:
        return None
    values = cells.names.to_numpy(np.int64)[cells.codes].reshape(-1, n_columns)
    by_person = values if in_rows else values.T
    if len(by_person) < 2 or by_person.shape[1] < 8:
        return None
    ordered = np.sort(by_person, axis=1)
    forced = (ordered == np.median(ordered, axis=0)).all(1).mean() >= NEARLY_ALL
    signed = values.min() < -1 and values.max() > 0 and -values.min() == values.max()
    if not (
        signed or (forced and len(set(ordered[0].tolist())) >= 5 and len(set(ordered[0].tolist())) < ordered.shape[1])
    ):
        return None
    return (
        f"the piles {values.min()} to {values.max()} seem to have an order, as in a Q-sort; it is not used: piles are "
        "read as groups"
    )
