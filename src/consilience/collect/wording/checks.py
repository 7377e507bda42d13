"""Whether a catalogue is whole: every sentence said, with the words in braces of the English one, for all numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from consilience.collect.settings.sentences import SINGULARS, TEXTS
from consilience.collect.settings.texts import MOST_LETTERS, placeholders
from consilience.collect.wording.catalogues import in_english, read_catalogue
from consilience.errors import InputError


def find_problems(code: str) -> list[str]:
    """Return a sentence on everything that is wrong with the catalogue of a language."""
    catalogue = read_catalogue(code)
    found = {message.context: message for message in catalogue if message.id}
    unknown = [f"{key!r} is no text of participants." for key in found if key not in TEXTS]
    return unknown + [
        f"{key!r} {problem}" for key in TEXTS for problem in _problems_of(key, found.get(key), catalogue.num_plurals)
    ]


def _problems_of(key: str, message: Any, n_plurals: int) -> Iterator[str]:
    english = in_english(key)
    if message is None or ([message.id] if isinstance(message.id, str) else list(message.id)) != list(english):
        yield "is not there, or translates another English text."
        return
    forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
    if len(forms) != (n_plurals if key in SINGULARS else 1):
        yield f"needs {n_plurals if key in SINGULARS else 1} texts. Got {len(forms)}."
    if message.fuzzy:
        yield "is marked as uncertain (fuzzy)."
    for text in forms:
        yield from _problems_in(text, english[-1], set() if key not in SINGULARS else {SINGULARS[key][0]})


def _problems_in(text: str, english: str, may_lack: set[str]) -> Iterator[str]:
    """Say what is wrong with a text; that for one may spell its number, as "one card" does."""
    if not text.strip():
        yield "is not translated."
        return
    if text != text.strip() or len(text) > MOST_LETTERS:
        yield f"begins or ends with a space, or has over {MOST_LETTERS} letters."
    try:
        words, wanted = placeholders(text), placeholders(english)
    except InputError as error:
        yield f"cannot be filled in: {error}"
        return
    if not wanted - may_lack <= words <= wanted:
        yield f"needs the words in braces of {english!r}. Got {text!r}."
