"""Display of results in notebooks and consoles: short tables in HTML, short lists of names in text.

User input is escaped, so that names that contain markup are shown and not run. No colours are set, so that text is
legible on dark and light pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from numbers import Integral, Number
from typing import Any

LONGEST = 160  # characters of a cell
LONGEST_NAME = 40
LONGEST_VALUE = 80  # characters of a value in a message
UNBROKEN = 20
MOST_ROWS = 8
MOST_NAMES = 8


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], *, below: str = "") -> str:
    """Return a table in HTML.

    caption : title of the table, above it; none if empty.
    head : names of the columns; none for a table of names and values.
    rows : cells of any type; numbers are aligned to the right.
    below : text under the table.

    Examples
    --------
    >>> table("", [], [["<b>", 3]])
    '<div><table class="dataframe"><tbody><tr><td style="...">&lt;b&gt;</td>...3</td></tr></tbody></table></div>'
    """
    top = f"<thead><tr>{''.join(_cell('th', name) for name in head)}</tr></thead>" if head else ""
    body = "".join(f"<tr>{''.join(_cell('td', cell) for cell in row)}</tr>" for row in rows)
    above, under = (f"<p>{escape(text)}</p>" if text else "" for text in (caption, below))
    return f'<div>{above}<table class="dataframe">{top}<tbody>{body}</tbody></table>{under}</div>'


def facts(caption: str, values: dict[str, Any], *, below: str = "") -> str:
    """Return a table of names and values in HTML."""
    return table(caption, [], values.items(), below=below)


def head_of(caption: str, columns: dict[str, Iterable[Any]], n_rows: int) -> str:
    """Return a table in HTML of the first rows of a longer table of `n_rows` rows.

    columns : the first rows, at most `MOST_ROWS`.
    """
    more = n_rows - MOST_ROWS
    return table(caption, list(columns), zip(*columns.values()), below=f"… and {more:,} more rows" if more > 0 else "")


def names_in_short(names: Iterable[Any], n_names: int) -> str:
    """Return names as Python writes a list of them, only the first ones if there are many.

    Examples
    --------
    >>> names_in_short(range(100), 100)
    '[0, 1, 2, 3, 4, 5, 6, 7, … 92 more]'
    """
    shown = [_cut(repr(name), LONGEST_NAME) for name in islice(names, MOST_NAMES)]
    more = [f"… {n_names - MOST_NAMES:,} more"] if n_names > MOST_NAMES else []
    return f"[{', '.join(shown + more)}]"


def listed_in_short(names: Iterable[Any]) -> str:
    """Return names as a list to read, only the first ones if there are many.

    Examples
    --------
    >>> listed_in_short(["ant", "bee"]), listed_in_short(range(100))
    ('ant, bee', '0, 1, 2, 3, 4, 5, 6, 7, … 92 more')
    """
    known = list(names)
    more = [f"… {len(known) - MOST_NAMES:,} more"] if len(known) > MOST_NAMES else []
    return ", ".join([*(_cut(_text(name), LONGEST_NAME) for name in known[:MOST_NAMES]), *more])


def sizes_in_short(sizes: Sequence[int]) -> str:
    """Return the number of clusters and their sizes, only the smallest and largest size if there are many.

    Examples
    --------
    >>> sizes_in_short([24, 18, 12])
    '3, of 24, 18 and 12 items'
    >>> sizes_in_short([12] + 49 * [3]), sizes_in_short([7]), sizes_in_short([])
    ('50, of 3 to 12 items', '1, of 7 items', '0')
    """
    if not sizes:
        return "0"
    if len(sizes) > MOST_NAMES:
        return f"{len(sizes):,}, of {min(sizes):,} to {max(sizes):,} items"
    *first, last = (f"{size:,}" for size in sizes)
    return f"{len(sizes)}, of {', '.join(first)}{' and ' if first else ''}{last} items"


def show_value(value: Any) -> str:
    """Show a value in a message, however long it is.

    Examples
    --------
    >>> show_value("abc"), show_value(10**5000)
    ("'abc'", 'an int of 5001 digits')
    >>> show_value("x" * 1000)[-10:]
    'xxxxxxxxx…'
    """
    if isinstance(value, Integral) and abs(int(value)) >= 10**LONGEST_VALUE:
        digits = int(int(abs(value)).bit_length() * math.log10(2)) + 1
        return f"an int of {digits} digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _cell(tag: str, value: Any) -> str:
    side = "right" if isinstance(value, Number) and not isinstance(value, bool) else "left"
    text = _cut(_text(value), LONGEST)
    wrap = "nowrap" if len(text) <= UNBROKEN else "normal"
    return f'<{tag} style="text-align: {side}; white-space: {wrap}">{escape(text)}</{tag}>'


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else " ".join(str(value).split())


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
