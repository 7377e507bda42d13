"""Forms that pages send: read within bounds, field by field."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from consilience.errors import InputError

MOST_FIELDS = 6000  # a board without scripts sends one for each card
MOST_FILES = 1000


async def sent_form(request: Request) -> AsyncIterator[FormData]:
    """Give the form that a request holds, no field of which is longer than 1 MB, and close its files in the end."""
    async with request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS) as form:
        yield form


def text_of(form: Mapping[str, Any], name: str) -> str:
    """Return a field as text, empty if it is missing or a file."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def whole_of(form: Mapping[str, Any], name: str) -> int | None:
    """Return a field as a whole number, None if it is empty."""
    text = text_of(form, name)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise InputError(f"The field {name.replace('_', ' ')!r} must be a whole number. Got {text[:40]!r}.")
    return int(text)


def lines_of(form: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the lines of a field that are not empty."""
    return tuple(line.strip() for line in text_of(form, name).splitlines() if line.strip())


def parameters_of(form: Mapping[str, Any], name: str = "parameters") -> tuple[str, ...]:
    """Return the names of parameters in a field."""
    return tuple(text_of(form, name).replace(",", " ").split())


def files_of(form: FormData, name: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files that were chosen in a field."""
    files = [value for value in form.getlist(name) if isinstance(value, UploadFile)]
    return [(file.filename or "", file.file.read()) for file in files if file.filename or file.size]
