"""Names that differ only in spelling, for messages: the known name that an unknown one may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.names import MISSING, name_index, plain
from consilience.errors import InputError

PART = re.compile(r"\d+|[^\W\d_]+")
LIKE = 0.75  # least ratio of difflib for a near spelling
MOST_COMPARED = 2000  # number of names that difflib compares


def places_of_fitted(names: Iterable[Any], fitted: pd.Index, what: str) -> Int[np.ndarray, " names"]:
    """Return where names stand among those that were fitted.

    Raises InputError: a name was not fitted; the nearest one that was is suggested.

    names : to look up
    what : they are the names of, for the message, such as "Annotator"
    """
    wanted = name_index(names)
    place: np.ndarray = fitted.get_indexer(wanted)
    if (place == MISSING).any():
        unknown = plain(wanted[place == MISSING][0])
        raise InputError(f"{what} {unknown!r} was not fitted.{near_spelling(unknown, fitted)}")
    return place


def near_spelling(name: Any, known: Iterable[Any]) -> str:
    """Return a sentence, after a space, that gives the known name nearest to a name; empty if none is near.

    A name is near if it has the same words and numbers, regardless of separators, case, leading zeros and type; or else
    the same numbers and similar words.

    Examples
    --------
    >>> near_spelling("p-029", ["P-28", "P-29"])
    " The nearest name is 'P-29'."
    >>> near_spelling(1, ["1", "2"]), near_spelling("zebra ", ["ant", "Zebra"]), near_spelling("robbin", ["robin"])
    (" The nearest name is '1'.", " The nearest name is 'Zebra'.", " The nearest name is 'robin'.")
    >>> near_spelling("item 7", ["item 1", "item 8"])
    ''
    """
    near = nearest(name, known)
    return "" if near is None else f" The nearest name is {plain(near)!r}."


def nearest(name: Any, known: Iterable[Any]) -> Any:
    """Return the known name nearest to a name, None if none is near; see `near_spelling`."""
    parts = _parts(name)
    if not parts:
        return None
    alike: dict[str, Any] = {}
    for other in known:
        theirs = _parts(other)
        if theirs == parts:
            return other
        if len(alike) < MOST_COMPARED and theirs and _numbers(theirs) == _numbers(parts):
            alike.setdefault(" ".join(theirs), other)
    found = get_close_matches(" ".join(parts), alike, n=1, cutoff=LIKE)
    return alike[found[0]] if found else None


def _parts(name: Any) -> list[str]:
    """Return words in lower case, and numbers without leading zeros."""
    found = PART.findall(str(plain(name)).casefold())
    return [part.lstrip("0") or "0" if part[0].isdigit() else part for part in found]


def _numbers(parts: list[str]) -> list[str]:
    return [part for part in parts if part[0].isdigit()]
