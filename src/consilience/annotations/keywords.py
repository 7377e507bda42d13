"""Keywords in messages, written as in Python or as options of a command line.

A message that names a keyword is created where a table is read or a job is done, whoever called. The caller decides how
keywords are written: ``missing=-1`` by default; a command line writes options, ``--missing -1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from consilience.annotations.names import plain

VALUES = {"groupings": "group", "labels": "label"}


def in_python(keywords: Mapping[str, Any]) -> str:
    """Write keywords as Python does: ... stands for any value, and None writes the name alone.

    Examples
    --------
    >>> in_python({"missing": -1, "item": ..., "sheet": None, "settings": {"tol": ...}})
    "missing=-1, item=…, sheet, settings={'tol': …}"
    """
    return ", ".join(name if value is None else f"{name}={_show(value)}" for name, value in keywords.items())


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_show(of)}' for key, of in value.items())}}}"
    return "…" if isinstance(value, EllipsisType) else repr(plain(value))


@dataclass(frozen=True)
class Writer:
    """How messages write keywords.

    write : callable; returns the text of keywords and their values, as `in_python` does; "" if there is no such
        keyword.
    kind : {"groupings", "labels"}, optional; the kind that the table must contain, so that messages do not mention the
        other.
    every_column : the remedy if every column is an annotator, whatever its content; "" if there is none.
    """

    write: Callable[[Mapping[str, Any]], str] = in_python
    kind: str | None = None
    every_column: str = ""


PYTHON = Writer()
_WRITER: ContextVar[Writer] = ContextVar("_WRITER", default=PYTHON)


def spell(**keywords: Any) -> str:
    """Write keywords as the reader of the message would give them.

    Examples
    --------
    >>> spell(transpose=True), spell(missing=[])
    ('transpose=True', 'missing=[]')
    """
    return _WRITER.get().write(keywords)


@contextmanager
def written_by(writer: Writer) -> Iterator[None]:
    """Make messages write keywords in another way, within a ``with`` block."""
    before = _WRITER.set(writer)
    try:
        yield
    finally:
        _WRITER.reset(before)


def wanted_kind() -> str | None:
    """Return the kind that the table must contain, None if any."""
    return _WRITER.get().kind


def no_rows() -> str:
    """Say that a table has no rows, and how to give items nevertheless.

    Examples
    --------
    >>> no_rows()
    'The table has no rows; give items=… if there are items without annotations.'
    """
    remedy = spell(items=...)
    return f"The table has no rows{f'; give {remedy} if there are items without annotations' if remedy else ''}."


def columns_of_a_long_table(item: Any = ..., annotator: Any = ..., value: Any = ..., *, kind: str | None = None) -> str:
    """Write the keywords that name the columns of a long table.

    Examples
    --------
    >>> columns_of_a_long_table("card")
    "item='card', annotator=…, group=… or label=…"
    """
    kind = kind or wanted_kind()
    if kind is not None:
        return spell(**{"item": item, "annotator": annotator, VALUES[kind]: value})
    return f"{spell(item=item, annotator=annotator, group=value)} or {spell(label=value)}"


def if_every_column() -> str:
    """Say what to do if every column is an annotator, "" if there is no remedy.

    Examples
    --------
    >>> with written_by(of_frames("labels")):
    ...     if_every_column()
    ' If every column is an annotator: Labels.from_matrix(frame, annotators=frame.columns).'
    """
    remedy = _WRITER.get().every_column
    return f" If every column is an annotator: {remedy}." if remedy else ""


def of_from_frame(kind: str) -> Writer:
    """Write keywords for the ``from_frame`` of a kind of annotations; another kind is another function.

    Examples
    --------
    >>> of_from_frame("labels").write({"missing": []}), of_from_frame("labels").write({"kind": "groupings"})
    ('missing=[]', 'Groupings.from_frame(frame)')
    """

    def write(keywords: Mapping[str, Any]) -> str:
        return _from_frame(keywords["kind"], keywords) if "kind" in keywords else in_python(keywords)

    return Writer(write, kind if kind in VALUES else None)


def of_frames(kind: str) -> Writer:
    """Write keywords as those of ``from_frame``, for a frame that was given to a function without them.

    Only `missing` is a keyword of every function that takes frames; a column to leave out is dropped from the frame.

    Examples
    --------
    >>> of_frames("groupings").write({"item": "card", "label": ...})
    "Labels.from_frame(frame, item='card', label=…)"
    """

    def write(keywords: Mapping[str, Any]) -> str:
        if keywords.keys() == {"missing"}:
            return in_python(keywords)
        if keywords.keys() == {"ignore"} and keywords["ignore"] is not ...:
            return f"frame.drop(columns={_show(keywords['ignore'])})"
        kinds = [of for of, value in VALUES.items() if value in keywords]
        return _from_frame(keywords.get("kind", kinds[0] if kinds else kind), keywords)

    return Writer(write, kind, f"{kind.capitalize()}.from_matrix(frame, annotators=frame.columns)")


def _from_frame(kind: str, keywords: Mapping[str, Any]) -> str:
    others = in_python({name: value for name, value in keywords.items() if name != "kind"})
    if kind == "tags":
        return f"read_annotations(frame, {in_python(keywords)})"
    return f"{kind.capitalize()}.from_frame({', '.join(filter(None, ('frame', others)))})"
