"""Read annotations from a file or standard input, and note how they were read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from consilience import read_annotations
from consilience.annotations.files.sources import STANDARD_INPUT
from consilience.annotations.files.table import Reading
from consilience.workflows.notes import note


def read_noted(path: Path, reading: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Read annotations, and note how they were read.

    Parameters
    ----------
    path : path
        ``-`` is standard input.
    reading : dict
        Keywords of `read_annotations`.

    Returns
    -------
    annotations : Groupings, Pairs or Labels
    notes : list of str
        The notes, without the line on how they were read, which is ``annotations.reading.how``.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category=UserWarning)
        annotations = read_annotations(path, **reading)
    found = annotations.reading or Reading("")
    shown = {f"{named(path)}: {text}." for text in found.warnings}
    others = [" ".join(str(warning.message).split()) for warning in caught]
    notes = [_sentence(text) for text in (*found.notes, *found.warnings)]
    notes += [text for text in others if text not in shown]
    for text in (f"read as: {found.how}.", *notes):
        note(text)
    return annotations, notes


def named(path: Path) -> str:
    """Name a source in messages."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
