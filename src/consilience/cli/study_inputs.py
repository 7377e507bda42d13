"""What commands on studies read: the database, folders of pictures, and files of texts."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from consilience.errors import InputError, MissingDependencyError

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")


@contextlib.contextmanager
def opened_store(db: str, *, new: bool = False) -> Iterator[Any]:
    """Open the database, which is made if it may be `new`, and close it at the end.

    Raises
    ------
    MissingDependencyError
        What collecting needs is not installed.
    InputError
        The database cannot be opened.
    """
    try:
        from consilience.collect.store import Store
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"Studies need packages that are not installed ({error.name}); install them with: "
            "pip install 'consilience[collect]'"
        ) from error
    store = Store.open(db, new=new)
    try:
        yield store
    finally:
        store.close()


def pictures_in(folder: Path) -> dict[str, bytes]:
    """Read the pictures of a folder, without those of folders in it."""
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES and path.is_file())
    if not paths:
        raise InputError(f"{folder} holds no picture; their names must end in {', '.join(PICTURES)}.")
    return {path.name: path.read_bytes() for path in paths}


def read_texts(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the files of instructions and texts are replaced by what they hold."""
    readers = {"instructions": _text, "texts": _texts}
    return {name: readers[name](value) if name in readers else value for name, value in settings.items()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8.") from error


def _texts(path: Path) -> dict[str, str]:
    from consilience.collect.texts import texts_of

    try:
        found = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} must hold a JSON object: sentences by their keys.")
    texts_of(found)  # which names the key or the sentence at fault
    return found
