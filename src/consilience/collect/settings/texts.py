"""Sentences of participants that a study replaces one by one: which there are, and what they may be.

A study's own text must use the words in braces of the English one, and no others. `consilience.collect.wording` has the
sentences in other languages.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from consilience.collect.settings.cleaning import brief
from consilience.collect.settings.sentences import TEXTS
from consilience.errors import InputError

MOST_LETTERS = 1000  # of one text
KEPT = "Sentences of your own, on the page Texts, stay as you wrote them when the language of the study changes."
WITH_TOUCH = {"how_piles": "how_piles_touch", "how_sheet": "how_sheet_touch"}  # where there is no mouse


def placeholders(text: str) -> set[str]:
    """Return the words in braces; braces that do not belong together, or that format, are an error."""
    try:
        parts = [part[1:] for part in string.Formatter().parse(text)]
    except ValueError as error:
        raise InputError(f"The braces of the text {brief(text)} do not belong together: {error}.") from None
    found = set()
    for name, formatting, conversion in parts:
        if name is None:  # no braces
            continue
        if not name.isidentifier() or formatting or conversion:
            raise InputError(f"The text {brief(text)} holds braces around something else than one of its words.")
        found.add(name)
    return found


def own_texts(replaced: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the texts that a study replaces, by key, as pages show them.

    replaced : the study's own texts, by key. An empty text replaces nothing; a text for a mouse stands for that for
        touch, too, if there is none. One text stands for all numbers.

    Raises InputError: a key is unknown, a text is too long, or its words in braces are not those of the English text.

    Examples
    --------
    >>> own_texts({"start": " Los ", "undo": ""})
    {'start': 'Los'}
    """
    own: dict[str, str] = {}
    for key, text in (replaced or {}).items():
        if key not in TEXTS:
            near = get_close_matches(key, TEXTS, n=1)
            raise InputError(f"There is no text {brief(key)}.{f' Did you mean {near[0]!r}?' if near else ''}")
        if not isinstance(text, str) or len(text) > MOST_LETTERS:
            raise InputError(f"The text {key!r} must be a string of at most {MOST_LETTERS} letters.")
        if text.strip():
            require_same_words(key, text)
            own[key] = text.strip()
    return own | {touch: own[key] for key, touch in WITH_TOUCH.items() if key in own and touch not in own}


def require_same_words(key: str, text: str) -> None:
    """Refuse a text whose words in braces are not those of the English one.

    Raises InputError: they are not.
    """
    if placeholders(text) != placeholders(TEXTS[key]):
        wanted = ", ".join(f"{{{name}}}" for name in sorted(placeholders(TEXTS[key]))) or "none"
        raise InputError(f"The words in braces of the text {key!r} must be {wanted}. Got {brief(text)} instead.")
