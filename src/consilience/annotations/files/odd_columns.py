"""Columns of a wide table that are unlike those of the other annotators, in content or name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience.annotations.files.layout import names_rows, quote
from consilience.annotations.files.orientation import have_gaps
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import MOST_NUMBERED, is_like_missing, is_number, spells_missing
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded, without

FEWEST_MIXED = 4  # least number of columns, and of rows, to judge whether some are unlike the others
MOST_ODD = 0.3  # largest share of columns that may be unlike the others
FEWEST_ALIKE = 4  # least number of names of one form to call another name odd


def mixture(others: list[Any], cells: Coded) -> tuple[list[Any], str]:
    """Find a few columns of words where all others contain numbers, or the other way round.

    others : names of the columns
    cells : Coded, row by row; without missing values; cells that look like missing values are ignored.

    Returns
    -------
    names : list of column names
    what : str
        What they contain, "" if there are none.
    """
    if len(others) < FEWEST_MIXED or len(cells) < FEWEST_MIXED * len(others):
        return [], ""
    silent = [is_like_missing(name) or spells_missing(name) for name in cells.names]
    cells = without(cells, np.array(silent, dtype=bool))
    codes = cells.codes.reshape(-1, len(others))
    number = np.array([is_number(name) for name in cells.names] + [False])  # the last entry is that of blank cells, -1
    value = np.array([float(name) if is_it else 0.0 for name, is_it in zip(cells.names, number)] + [0.0])
    value = np.nan_to_num(value)  # infinities are refused where labels are read
    filled = (codes >= 0).sum(0)
    numeric = number[codes].sum(0) >= 0.9 * filled  # true of a blank column
    highest = np.where(codes >= 0, value[codes], 0.0).max(0)
    numbers = np.where(codes >= 0, value[codes], -1).astype(np.int64)
    if numeric.mean() > 0.5:
        odd = ~numeric | ((highest > MOST_NUMBERED) & (highest > 5 * np.median(highest[numeric])))
        what = "contains words, or numbers of another size, where others contain numbers"
    else:
        odd = numeric & have_gaps(numbers.T) & (filled > 0)
        what = "contains numbers where others contain words"
    if not odd.any() or odd.mean() > MOST_ODD:
        return [], ""
    names = [name for name, is_it in zip(others, odd) if is_it]
    return names, what if len(names) == 1 else what.replace("contains", "contain", 1)


def unlike_names(names: Sequence[Any]) -> list[Any]:
    """Find the name of another form than all others, such as room among P1, P2, … or among Ann, Bo, …

    Examples
    --------
    >>> unlike_names(["P1", "P2", "P3", "P4", "room"]), unlike_names(["Ann", "Bo", "Cy", "Di", "room"])
    (['room'], ['room'])
    >>> unlike_names(["Ann", "Bo", "Cy", "Di", "Eve"])
    []
    """
    for form_of in (_numbered_form, _case):
        forms = Counter(form_of(name) for name in names)
        form, count = forms.most_common(1)[0] if forms else ("", 0)
        if form and FEWEST_ALIKE <= count == len(names) - 1:
            return [name for name in names if form_of(name) != form]
    return []


def _numbered_form(name: Any) -> str:
    """Return the form of a name with a number, "" for any other."""
    form = re.sub(r"\d+", "#", str(name))
    return form if "#" in form else ""


def _case(name: Any) -> str:
    """Return whether a name begins with a capital or a small letter, "" for neither."""
    text = str(name).strip()
    return "" if not text[:1].isalpha() else "capital" if text[0].isupper() else "small" if text[0].islower() else ""


def names_of_rows(table: Table, columns: list[Any]) -> str | None:
    """Describe the column of a matrix that has a usual name for rows and differs in every row, if there is one."""
    for name in columns:
        found = role_of_name(name)
        if found is not None and found.role in {"item", "annotator"} and names_rows(table, name) and len(columns) > 1:
            return (
                f"the column {str(name)!r} seems to name the rows, and was read as an annotator like the others "
                f"(frame.set_index({name!r}) if it names the items)"
            )
    return None


def odd_annotators(others: list[Any], cells: Coded) -> str | None:
    """Describe columns of a wide table that were read as annotators but are unlike the others, None if there are none.

    others, cells : as for `mixture`
    """
    names, what = mixture(others, cells)
    if not names:
        n_filled = np.bincount(
            np.flatnonzero(~cells.missing) % len(others), minlength=len(others)
        )  # 0 in a blank column
        names = [name for name in unlike_names(others) if n_filled[others.index(name)]]
        what = "has a name unlike all others"
    if not names:
        return None
    one = len(names) == 1
    return (
        f"the {'column' if one else 'columns'} {quote(names)} {what}, and {'was' if one else 'were'} read as "
        f"{'an annotator' if one else 'annotators'} like them ({spell(ignore=names[0] if one else names)} if not)"
    )
