"""Names of items, annotators and groups as text, whatever their characters and length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from consilience.analysis.folding import fold_name

MOST_JOINED = 12  # names in a sentence
LONGEST_NAME = 160  # characters of a name in a table
HANGING = ".,:;-–_([ "  # cut from the end of a name of a group where it is shown
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_SPACE = re.compile(r"\s+")


def as_text(name: Any) -> str:
    r"""Return a name as one line of characters that HTML and XML allow; others become U+FFFD.

    Characters that reverse the direction of the text after the name are replaced too.

    name : any name

    Examples
    --------
    >>> as_text("two\nlines"), as_text(3)
    ('two lines', '3')
    """
    text = " / ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    return _UNPRINTABLE.sub("\ufffd", _SPACE.sub(" ", text)).strip()


def width(text: str) -> int:
    """Return the columns that a text takes: two for wide characters such as Chinese, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def shorten(text: str, most: int) -> str:
    """Cut a text that is wider than `most` columns, with an ellipsis for the rest.

    most : columns, including the ellipsis.

    Examples
    --------
    >>> shorten("annotator", 6)
    'annot…'
    """
    if width(text) <= most:
        return text
    if text.isascii():
        return text[: max(most - 1, 0)].rstrip() + "…"
    kept, used = 0, 0
    for character in text:
        used += _columns(character)
        if used > most - 1:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def name_text(name: Any) -> str:
    """Return a name as one line of limited length."""
    return shorten(as_text(name), LONGEST_NAME)


def shortened_within(text: str, most: int, end: int = 0) -> str:
    """Cut a text that is wider than `most` columns in its middle, so that both ends stay visible.

    end : columns of the end that stay; half, if they are more, or 0.

    Examples
    --------
    >>> shortened_within("annotator number 17", 12)
    'annot…ber 17'
    >>> shortened_within("annotator number 17", 12, 2)
    'annotator…17'
    """
    if width(text) <= most:
        return text
    half = (most - 1) // 2 + 1
    head = shorten(text, max(half, most - end) if end else half)
    tail = shorten(text[::-1], most - width(head) + 1)
    return head + tail[::-1][1:]


def plot_texts(names: Sequence[Any], most: int) -> list[str]:
    """Return names for matplotlib as `plot_text` does, cut before the end that sets them off from other names.

    Examples
    --------
    >>> plot_texts(["Gouda young", "Gouda young (2)", "Gorgonzola mild", "Gouda old"], 10)
    ['Goud…young', 'Gouda…(2)', 'Gorgonzol…', 'Gouda old']
    """
    texts = [as_text(name) for name in names]
    return [_shorten_among(text, texts, most).replace("$", r"\$") for text in texts]


def _shorten_among(text: str, texts: list[str], most: int) -> str:
    cut = shorten(text, most)
    alike = [other for other in texts if other != text and other.startswith(cut[:-1])]
    if cut == text or not alike:
        return cut
    return shortened_within(text, most, min(width(_end_unlike(text, other)) for other in alike))


def _end_unlike(text: str, other: str) -> str:
    """Return the end of a text from the first word on in which it is unlike another; "" if the other goes on with more.

    Examples
    --------
    >>> _end_unlike("a (12)", "a (11)"), _end_unlike("young (2)", "young"), _end_unlike("young", "young (2)")
    ('(12)', '(2)', '')
    """
    differ = (at for at, (one, another) in enumerate(zip(text, other)) if one != another)
    shared = next(differ, min(len(text), len(other)))
    if text[shared : shared + 1].strip():  # within a word
        shared = text.rfind(" ", 0, shared) + 1
    return text[shared:].strip()


def plot_text(name: Any, most: int) -> str:
    """Return a name for matplotlib: one short line, with dollar signs escaped so that they do not start mathematics."""
    return shorten(as_text(name), most).replace("$", r"\$")


def join_names(names: list[str]) -> str:
    """Join names as in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def join_some(names: list[str], most: int = MOST_JOINED) -> str:
    """Return the first of some names for a sentence, and how many more there are.

    Examples
    --------
    >>> join_some(["ant", "bee", "cat", "dog"], 2)
    'ant, bee and 2 more'
    """
    left = len(names) - most
    return join_names(names[:most] if left <= 0 else [*names[:most], f"{left:,} more"])


def quantify(number: int, thing: str, things: str | None = None) -> str:
    """Return "1 item", "2 items", "1,797 items"."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def name_key(name: str) -> str:
    """Return what all spellings of the name of a group share; an empty string for a number.

    Examples
    --------
    >>> name_key("(Très  fort)"), name_key("G3")
    ('tres fort', '')
    """
    bare = fold_name(name)
    return bare if any(map(str.isalpha, bare)) and not bare[-1].isdigit() else ""
