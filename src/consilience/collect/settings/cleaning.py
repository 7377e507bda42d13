"""Values as they are kept: texts that users send pass `clean`, since no database keeps all that JSON can spell."""

import re
from typing import Any

from consilience.errors import InputError

UNKEPT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
MOST_WHOLE = 2**53  # above which a float does not hold every whole number


FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how text begins that a spreadsheet would run


def without_apostrophe(name: str) -> str:
    """Return a name without the apostrophe that exports as CSV put before what a spreadsheet would run.

    Examples
    --------
    >>> without_apostrophe("'-5 °C"), without_apostrophe("'tis")
    ('-5 °C', "'tis")
    """
    return name[1:] if name.startswith("'") and name[1:].startswith(FORMULAS) else name


def clean(text: str) -> str:
    """Return a text with the characters that databases, files or terminals do not keep replaced by spaces."""
    return UNKEPT.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def as_id(value: Any) -> str:
    """Return the text by which an id is looked up: no id at all if databases do not keep it, or its edges, as it is."""
    text = str(value)
    return text if text == clean(text) else ""


def line(text: str) -> str:
    """Return a text on one line, cleaned."""
    return " ".join(clean(text).split())


def clean_text(value: Any, what: str, longest: int, *, one_line: bool = False) -> str:
    """Return a text, cleaned. Raises InputError: it is no text, or too long."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be text. Got {brief(value)}.")
    if len(value) > longest:
        raise InputError(f"{what} has {len(value):,} characters; at most {longest:,} are allowed.")
    return line(value) if one_line else clean(value)


def brief(value: Any) -> str:
    """Show a value in a message, briefly."""
    shown = repr(value)
    return clean(shown if len(shown) <= 60 else f"{shown[:57]}…")


def whole(answer: Any) -> Any:
    """Return a number that is whole as an int, and anything else as it is.

    Examples
    --------
    >>> whole(34.0), whole(34.5)
    (34, 34.5)
    """
    is_whole = isinstance(answer, float) and answer.is_integer() and abs(answer) <= MOST_WHOLE
    return int(answer) if is_whole else answer
