"""Text that files and terminals can hold, and pieces of sentences."""

from __future__ import annotations

import json
import re
from typing import Any

# control characters, marks of direction, and halves of pairs, which UTF-8 cannot hold
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return text with escapes for the characters that would control a terminal or reverse the text after them.

    Examples
    --------
    >>> print(printable("a\x1b[31mb"), printable("two\nlines"))
    a\x1b[31mb two
    lines
    """
    return CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def as_json(value: Any, *, ascii_only: bool = False) -> str:
    r"""Return JSON with escapes for characters that no file can hold or that control a terminal.

    Examples
    --------
    >>> print(as_json(["\udcff.csv", "é"]))
    [
      "\udcff.csv",
      "é"
    ]
    """
    text = json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def others(count: int, joint: str) -> str:
    """Say that the same holds for `count` things in all; nothing if that is one."""
    return f"{joint} {count - 1:,} more" if count > 1 else ""
