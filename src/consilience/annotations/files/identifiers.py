"""Things with both an identifier and a text: named by their text, as far as it distinguishes them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from consilience.annotations.names import Coded, Where, code, compress, first_repeat
from consilience.errors import AnnotationError


def by_text(number: Coded, text: Coded, owner: Coded | None, where: Where, columns: tuple[str, str]) -> Coded:
    """Name things by their texts: by the identifier if there is no text, by "text (identifier)" if several share it.

    Raises AnnotationError: a thing has two texts, or texts and identifiers together do not distinguish two things.

    number, text : Coded, one row each
    owner : the owners of the things: identifiers and texts need to distinguish only the things of one owner.
    columns : names of the columns of identifiers and of texts, for messages
    """
    lacking = number.missing & ~text.missing
    if lacking.any():
        raise AnnotationError(
            f"The {columns[0]} in {where(int(np.argmax(lacking)))} is missing or blank; every row needs one."
        )
    n_owners = 1 if owner is None else len(owner.names) + 1
    owned_by = np.zeros(len(number), dtype=np.intp) if owner is None else owner.codes % n_owners  # missing owner last
    rows = np.flatnonzero(~number.missing)
    n = max(len(number.names), 1)
    distinct, thing = compress(owned_by[rows] * n + number.codes[rows], n_owners * n)
    text_of_thing = np.zeros(len(distinct), dtype=np.intp)
    # of several rows of a thing the last write stays, which is that of the first row
    text_of_thing[thing[::-1]] = text.codes[rows][::-1]
    differs = text_of_thing[thing] != text.codes[rows]
    if differs.any():
        place = int(np.argmax(differs))
        row = int(rows[place])
        first = int(np.argmax(thing == thing[place]))
        raise AnnotationError(
            f"The {columns[0]} {number.name(row)!r} has one {columns[1]} in {where(int(rows[first]))} and another in "
            f"{where(row)}."
        )
    owner_of_thing, number_of_thing = np.divmod(distinct, n)
    texts = np.array([*text.names, None], dtype=object)[text_of_thing]
    numbers = number.names.to_numpy(object)[number_of_thing]
    named = code(_distinct_names(owner_of_thing, texts, numbers))
    keys = owner_of_thing * len(named.names) + named.codes
    if len(np.unique(keys)) < len(keys):
        one, other = first_repeat(keys)
        raise AnnotationError(
            f"The {columns[0]}s {numbers[one]!r} and {numbers[other]!r} would both be called {named.name(other)!r}; "
            f"change a {columns[1]}."
        )
    codes = np.full(len(number), -1)
    codes[rows] = named.codes[thing]
    return Coded(codes, named.names)


def _distinct_names(owner: np.ndarray, text: np.ndarray, number: np.ndarray) -> list[Any]:
    """Return text, "text (identifier)" or identifier of each thing, as text unless no name is text."""
    count = Counter(zip(owner, text))
    names = [
        i if own_text is None else own_text if count[o, own_text] == 1 else f"{own_text} ({i})"
        for o, own_text, i in zip(owner, text, number)
    ]
    return [str(name) for name in names] if any(isinstance(name, str) for name in names) else names
