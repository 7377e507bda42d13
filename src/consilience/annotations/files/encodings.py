"""The encoding of a text: the one that is given, that of a byte order mark, UTF-8, or the detected one."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from charset_normalizer import from_bytes

from consilience.annotations.keywords import spell
from consilience.errors import AnnotationError

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
CODE_PAGES = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "mac_roman"),
    *("cp932", "gb18030", "big5", "cp949"),
]
SAMPLE = 1 << 16  # bytes


def find_encoding(open_binary: Callable[[], Any], given: str | None) -> tuple[str, str]:
    """Return the encoding of a text, and a note if it is another than UTF-8 that nobody gave, else "".

    Raises AnnotationError: there is no such encoding, this is not text, or its encoding cannot be told.
    """
    if given is not None:
        try:
            found = codecs.lookup(given)
        except (LookupError, ValueError):  # ValueError: characters that no name of an encoding contains
            found = None
        if found is None or not found._is_text_encoding:  # base64 and the like are codecs, too
            raise AnnotationError(f"There is no text encoding {given!r}; examples are utf-8, cp1252 and utf-16.")
        return found.name, ""
    with open_binary() as file:
        start = file.read(SAMPLE)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding, "" if encoding == "utf-8-sig" else f"the text is in {encoding.upper()}"
    if b"\0" in start:
        return _encoding_with_zeros(start), "the text is in UTF-16"
    other = _not_utf8(open_binary)
    return ("utf-8", "") if other is None else _detect_code_page(other)


def _encoding_with_zeros(start: bytes) -> str:
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > 10 * min(even, odd) and max(even, odd) > len(start) // 8:
        return "utf-16-be" if even > odd else "utf-16-le"
    raise AnnotationError("This is not text; save the table as CSV (UTF-8).")


def _not_utf8(open_binary: Callable[[], Any]) -> bytes | None:
    """Return some lines that show the encoding if the text is not UTF-8, else None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_binary() as file:
        try:
            while piece := file.read(1 << 20):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            file.seek(0)
            telling = (line for line in file if not line.isascii())
            return b"".join(islice(telling, 400))[:SAMPLE]
    return None


def _detect_code_page(telling: bytes) -> tuple[str, str]:
    matches = from_bytes(telling, cp_isolation=CODE_PAGES)
    best = matches.best()
    if best is None:
        raise AnnotationError(
            f"The text is neither in UTF-8 nor in a Windows code page; give its encoding, {spell(encoding=...)}."
        )
    western = next((match for match in matches if "cp1252" in match.could_be_from_charset), best)
    ties = western.chaos <= best.chaos and western.coherence >= best.coherence
    encoding = "cp1252" if (ties and western is not best) or "cp1252" in best.could_be_from_charset else best.encoding
    words = re.findall(r"\w*[^\W\x00-\x7f]\w*", telling.decode(encoding, "replace"))
    shown = f", as in {max(words, key=len)[:30]!r}" if words else ""
    read_as = f"was read as {encoding}{shown} (if names look wrong: {spell(encoding=...)})"
    return encoding, f"the text is not in UTF-8 and {read_as}"
