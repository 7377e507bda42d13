"""Corrections of the standard names of groups: which name people wrote stands for which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.names import as_text
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError

NAME, STANDARD = "name", "standard"
DEFUSED = re.compile(r"^'(?=\s*[=+\-@＝＋－＠])")  # before what a spreadsheet would take for a formula


def corrections_of(given: Any) -> dict[str, str]:
    """Return corrections as a dict from each name to its standard name; blank for names to leave out.

    Raises InputError: a column or a name is missing, or a name is given two standard names.

    given : mapping or Series from names to standard names, DataFrame with the columns name and standard, or None
    """
    if given is None:
        return {}
    if isinstance(given, pd.DataFrame):
        return _of_frame(given)
    if isinstance(given, pd.Series):
        return corrections_from(given.items(), lambda row: f"row {row}")
    if not isinstance(given, Mapping):
        raise InputError(
            "Corrections of names must be a dict from names to standard names, or a table with the columns 'name' and "
            f"'standard'. Got {type(given).__name__} instead."
        )
    return corrections_from(given.items(), lambda row: f"entry {row}")


def _of_frame(frame: pd.DataFrame) -> dict[str, str]:
    absent = [column for column in (NAME, STANDARD) if column not in frame]
    if absent:
        found = ", ".join(map(str, frame.columns)) or "no columns"
        raise InputError(f"Corrections of names need the columns 'name' and 'standard'. Found {found}.")
    pairs = zip(frame[NAME].tolist(), frame[STANDARD].tolist(), strict=True)
    return corrections_from(pairs, lambda row: f"row {row}")


def corrections_from(pairs: Iterable[tuple[Any, Any]], where: Callable[[int], str]) -> dict[str, str]:
    """Return corrections from pairs of a name and its standard name; `where` describes the place of a pair.

    Raises InputError: a name is missing, or is given two standard names.
    """
    found: dict[str, str] = {}
    for row, (name, standard) in enumerate(pairs):
        texts = [_text(name), _text(standard)]
        if not texts[0]:
            raise InputError(f"The name is missing in {where(row)} of the corrections of names.")
        if found.setdefault(texts[0], texts[1]) != texts[1]:
            raise InputError(
                f"The name {texts[0]!r} has two standard names, {found[texts[0]]!r} and {texts[1]!r} (in {where(row)})."
            )
    return found


def _text(value: Any) -> str:
    """Return a cell as one line of text, without the apostrophe that keeps a spreadsheet from computing it."""
    if value is None or (isinstance(value, float) and np.isnan(value)) or value is pd.NA:
        return ""
    return DEFUSED.sub("", as_text(value), count=1)


def require_known(corrections: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise an InputError if a correction is of a name that nobody gave."""
    known = set(names)
    unknown = [name for name in corrections if name not in known]
    if unknown:
        more = len(unknown) - 1
        others = f", nor {more:,} other names of the corrections" if more else ""
        raise InputError(f"Nobody gave a group the name {unknown[0]!r}{others}.{near_spelling(unknown[0], known)}")
