"""Names of accounts: how they are kept, and which of them are the same."""

from __future__ import annotations

import unicodedata
from typing import Any

from consilience.collect.settings.cleaning import clean_text
from consilience.errors import InputError

LONGEST_ACCOUNT_NAME = 100  # characters
ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC"})  # scripts that have letters that look the same
UNSEEN = frozenset(  # letters and signs that show nothing, and what stands for what could not be read
    {
        *("HANGUL FILLER", "HANGUL CHOSEONG FILLER", "HANGUL JUNGSEONG FILLER", "HALFWIDTH HANGUL FILLER"),
        *("BRAILLE PATTERN BLANK", "REPLACEMENT CHARACTER"),
    }
)


def checked_account_name(name: Any) -> str:
    """Return the name of an account, on one line.

    Raises InputError: it is empty or too long, holds characters that are not seen, or mixes letters of scripts that
    look the same, so that one account could pass for another.
    """
    found = clean_text(name, "The name of an account", LONGEST_ACCOUNT_NAME, one_line=True)
    if not found or len(name_key(found)) > 2 * LONGEST_ACCOUNT_NAME:
        raise InputError(f"The name of an account must have 1 to {LONGEST_ACCOUNT_NAME} characters.")
    if found != " ".join(name.split()) or not all(map(_is_seen, found)):
        raise InputError("The name of an account must not have characters that are not seen.")
    words = (unicodedata.name(letter, "").partition(" ")[0] for letter in unicodedata.normalize("NFKC", found))
    if len(ALIKE.intersection(words)) > 1:
        raise InputError("The name of an account must not mix Latin, Greek and Cyrillic letters.")
    return found


def name_key(name: str) -> str:
    """Return what names have in common that are the same account: case, width and ligatures make no difference.

    Examples
    --------
    >>> name_key("Ａnn\N{LATIN SMALL LIGATURE FI}") == name_key(" ANNFI ")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter)[0] != "C" and unicodedata.name(letter, "") not in UNSEEN
