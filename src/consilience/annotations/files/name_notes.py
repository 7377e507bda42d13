"""What is worth a note in names: twins in spelling, totals, words for missing values."""

from __future__ import annotations

import pandas as pd

from consilience.annotations.files.values import NEVER_AN_ANSWER, PERHAPS_AN_ANSWER, fold_name, spells_missing
from consilience.annotations.files.vocabulary import TOTALS, plural

USUAL = bytes(range(ord(" "), ord("~") + 1)) + b"\n"
UNUSUAL = ("  ", " \n", "\n ", ":\n", "#")  # in lines of names: blanks that fold, colons at ends, errors


def twins(names: pd.Index, what: str) -> str | None:
    """Note names that differ only in case, spaces or the form of their letters, None if there are none."""
    if not (pd.api.types.is_object_dtype(names.dtype) or pd.api.types.is_string_dtype(names.dtype)):
        return None
    seen: dict[str, str] = {}
    alike: dict[str, tuple[str, str]] = {}
    for name in names:
        if isinstance(name, str):
            form = fold_name(name)
            if seen.setdefault(form, name) != name:
                alike.setdefault(form, (seen[form], name))
    if not alike:
        return None
    one, other = next(iter(alike.values()))
    more = f", and so do {len(alike) - 1:,} more" if len(alike) > 1 else ""
    return f"the {what} {one!r} and {other!r} differ only in case, spaces or form of letters{more}"


def totals(names: pd.Index, what: str) -> str | None:
    """Note a name that is usual for a row or column of totals, None if there is none."""
    found = next((name for name in names if isinstance(name, str) and name.strip(" :").casefold() in TOTALS), None)
    return f"there is {what} called {found!r}; if it is a total, delete it" if found else None


def called_missing(names: pd.Index, what: str) -> str | None:
    """Note an item or annotator whose name spells a missing value, None if there is none."""
    found = next((name for name in names if spells_missing(name)), None)
    return f"there is {what} called {found!r}; if it is missing, delete its rows" if found else None


def note_names(names: pd.Index, what: str) -> list[str]:
    """Note names that differ only in spelling, that are usual for totals, or that spell a missing value."""
    if _are_all_plain(names):
        return []
    found = (twins(names, plural(what)), totals(names, f"an {what}"), called_missing(names, f"an {what}"))
    return [note for note in found if note]


def _are_all_plain(names: pd.Index) -> bool:
    """Whether names are ASCII text of which nothing is to be noted; hundreds of thousands are checked at once."""
    try:
        lines = "\n".join(names.to_numpy(object).tolist())
    except TypeError:  # names that are not text
        return False
    if not lines.isascii() or lines.count("\n") != len(names) - 1 or lines.encode().translate(None, USUAL):
        return False
    if not lines or lines[0] == " " or lines[-1] in " :" or any(text in lines for text in UNUSUAL):
        return False
    alone, folded = TOTALS | NEVER_AN_ANSWER | PERHAPS_AN_ANSWER, lines.casefold()
    if folded == lines:  # names that differ do so in any case
        return not names.isin(list(alone)).any()
    forms = set(folded.split("\n"))
    return len(forms) == len(names) and alone.isdisjoint(forms)
