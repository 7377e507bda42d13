"""What commands on studies read: the database, folders of pictures, and files of texts."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from consilience.errors import InputError, MissingDependencyError

COMMAND_LINE = "the command line"  # in the log of who changed what
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")


@contextlib.contextmanager
def opened_store(db: str, *, new: bool = False) -> Iterator[Any]:
    """Open the database, which is made if it may be `new`, and close it at the end.

    Raises MissingDependencyError: what collecting needs is not installed. Raises InputError: the database cannot be
    opened.
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


def log_change(store: Any, study: Any, action: str) -> None:
    """Write into the log of a study what a command did."""
    store.note_action(COMMAND_LINE, action, study_id=study.id, title=study.title)


def pictures_in(folder: Path) -> dict[str, bytes]:
    """Read the pictures of a folder, without those of folders in it."""
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES and path.is_file())
    if not paths:
        raise InputError(f"{folder} holds no picture; their names must end in {', '.join(PICTURES)}.")
    return {path.name: path.read_bytes() for path in paths}


def read_texts(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the files of instructions, texts and translations are replaced by what they hold."""
    readers = {"instructions": _text, "texts": _texts}
    found = {name: readers[name](value) if name in readers else value for name, value in settings.items()}
    return found | _translations(settings["translations"]) if "translations" in settings else found


def read_training(options: Mapping[str, Any], images: Path | None) -> tuple[Any, list[Any]]:
    """Return practice and admission from the files of the options, and the pictures of their cards.

    Raises InputError: a file cannot be read, or there is a mark or a number of tries without an admission.

    options : dict; the files ``practice``, or None, and ``admission``; ``mark`` and ``tries``, or None.
    images : folder of the pictures that the tables name.
    """
    from consilience.collect.settings.training import Training

    numbers = {name: options[name] for name in ("mark", "tries") if options[name] is not None}
    if numbers and not options["admission"]:
        raise InputError("--pass-mark and --tries are about the admission; give its cards with --admission.")
    files = {} if images is None else pictures_in(images)
    admission = [_right_sort(path, files) for path in options["admission"]]
    practice = [_right_sort(path, files) for path in [options["practice"]] if path is not None]
    pictures = [picture for _, shown in (*practice, *admission) for picture in shown]
    sorts = tuple(sort for sort, _ in admission)
    return Training(practice=practice[0][0] if practice else None, admission=sorts, **numbers), pictures


def _right_sort(path: Path, files: Mapping[str, bytes]) -> tuple[Any, list[Any]]:
    from consilience.collect.creation.cards import decode_text
    from consilience.collect.creation.training import read_right_sort

    try:
        return read_right_sort(decode_text(path.read_bytes()), files)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8.") from error


def _texts(path: Path) -> dict[str, str]:
    from consilience.collect.settings.texts import own_texts

    found = _json_object(path, "sentences by their keys")
    own_texts(found)  # which names the key or the sentence at fault
    return found


def _translations(path: Path) -> dict[str, dict[str, Any]]:
    """Return the settings that a file of translations says; the store checks them."""
    found = _json_object(path, "'texts' and 'study' by language")
    parts = {"texts": "texts_in", "study": "translations"}
    for language, said in found.items():
        if not isinstance(said, dict) or not said.keys() <= parts.keys():
            raise InputError(f"{path} must hold 'texts', 'study', or both for {language!r}.")
        for part, sentences in said.items():
            if not isinstance(sentences, dict) or not all(isinstance(one, str) for one in sentences.values()):
                raise InputError(f"{path} must hold an object of texts as {part!r} of {language!r}.")
    return {
        setting: {language: said[part] for language, said in found.items() if part in said}
        for part, setting in parts.items()
    }


def _json_object(path: Path, of: str) -> dict[str, Any]:
    try:
        found = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} must hold a JSON object: {of}.")
    return found
