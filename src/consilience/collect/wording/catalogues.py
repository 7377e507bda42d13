"""Catalogues of gettext: the texts of participants in each language, read from the files of translators as they are.

A file is ``catalogues/CODE.po``. Each text has its key as context (``msgctxt``), so that the same English can be said
in two ways. Nothing is compiled: a language is read when it is first asked for, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from gettext import c2py
from pathlib import Path
from typing import TYPE_CHECKING

from consilience.collect.settings.languages import ENGLISH
from consilience.collect.settings.sentences import SINGULARS, TEXTS

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

FOLDER = Path(__file__).parent / "catalogues"
MACHINE_MADE = "Machine-made: not yet read by a native speaker."
"""The line of a file's first comment that its reader deletes."""
ENGLISH_PLURAL = "n != 1"
EXACT = 200


@dataclass(frozen=True)
class Translation:
    """All texts in one language.

    texts : by key; several for those that depend on a number, one of which `form` chooses.
    plural : expression of C that gives which text is for a number ``n``.
    """

    texts: Mapping[str, tuple[str, ...]]
    plural: str

    def form(self, number: int | float) -> int:
        """Return which text of several is for a number, from 0."""
        return rule_of(self.plural)(abs(int(number)))

    @cached_property
    def last(self) -> dict[str, str]:
        """Each text, the last of several."""
        return {key: forms[-1] for key, forms in self.texts.items()}

    @cached_property
    def forms(self) -> list[int]:
        """Which text is for each number below `EXACT`; those above have that of their last two digits and a hundred."""
        return [self.form(number) for number in range(EXACT)]


@cache
def rule_of(plural: str) -> Callable[[int], int]:
    """Return the function that an expression of a catalogue stands for."""
    return c2py(plural)


@cache
def translation_of(code: str) -> Translation:
    """Return the texts in one of the languages of `consilience.collect.settings.languages.LANGUAGES`."""
    if code == ENGLISH:
        return Translation({key: in_english(key) for key in TEXTS}, ENGLISH_PLURAL)
    catalogue = read_catalogue(code)
    return Translation({key: _read_text(catalogue, key) for key in TEXTS}, catalogue.plural_expr)


def in_english(key: str) -> tuple[str, ...]:
    """Return the English text of a key, or those for one and for more."""
    return (SINGULARS[key][1], TEXTS[key]) if key in SINGULARS else (TEXTS[key],)


def read_catalogue(code: str) -> Catalog:
    """Return the file of a language as Babel reads it."""
    from babel.messages.pofile import read_po

    with path_of(code).open("rb") as file:
        return read_po(file, locale=code)


def path_of(code: str) -> Path:
    """Return the path of the file of a language."""
    return FOLDER / f"{code}.po"


@cache
def is_machine_made(code: str) -> bool:
    """Whether no native speaker has read a language yet, as the first comment of its file says."""
    return code != ENGLISH and MACHINE_MADE in path_of(code).read_text(encoding="utf-8").partition("msgid")[0]


def _read_text(catalogue: Catalog, key: str) -> tuple[str, ...]:
    """Return what a catalogue says for a key; the English where it says nothing."""
    english = in_english(key)
    message = catalogue.get(english[0] if len(english) == 1 else english, context=key)
    said = (message.string or "") if message is not None else ""
    forms = (said,) if isinstance(said, str) else tuple(said)
    return forms if all(forms) else english
