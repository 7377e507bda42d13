"""Read annotations from a file, standard input or a frame, and note how they were read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from consilience.annotations import Annotations
from consilience.annotations.files.reading import read_with_gold
from consilience.annotations.files.sources import STANDARD_INPUT
from consilience.annotations.files.table import Reading
from consilience.annotations.keywords import spell
from consilience.errors import InputError
from consilience.workflows.notes import note


def read_noted(source: Any, reading: Mapping[str, Any], gold_classes: Iterable[Any] = ()) -> tuple[Any, list[str]]:
    """Read annotations, and note how they were read.

    Raises InputError: the file cannot be read, or something is to be read otherwise that was read already.

    source : path, DataFrame, Groupings, Labels or Pairs; ``-`` is standard input.
    reading : keywords of `read_annotations`.
    gold_classes : iterable of names; classes of gold items.

    Returns
    -------
    annotations : Groupings, Pairs or Labels
    notes : list of str
        The notes, without the line on how they were read, which is ``annotations.reading.how``.
    """
    if isinstance(source, Annotations):
        return _read_already(source, reading)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category=UserWarning)
        annotations = read_with_gold(source, gold_classes, **reading)
    found = annotations.reading or Reading("")
    shown = {text for told in found.warnings for text in (f"{name_source(source)}: {told}.", _sentence(told))}
    others = [" ".join(str(warning.message).split()) for warning in caught]
    notes = [_sentence(text) for text in (*found.notes, *found.warnings)]
    notes += [text for text in others if text not in shown]
    for text in (f"read as: {found.how}.", *notes):
        note(text)
    return annotations, notes


def _read_already(annotations: Annotations, reading: Mapping[str, Any]) -> tuple[Any, list[str]]:
    if reading:
        name = next(iter(reading))
        raise InputError(f"{spell(**{name: None})} is for files and frames. Got {type(annotations).__name__}.")
    if annotations.reading is None:
        return annotations, []
    return annotations, [_sentence(text) for text in (*annotations.reading.notes, *annotations.reading.warnings)]


def name_source(source: Any) -> str:
    """Name a source in messages."""
    if not isinstance(source, Path):
        return "the annotations"
    return "standard input" if is_standard_input(source) else str(source)


def is_standard_input(source: Any) -> bool:
    return isinstance(source, Path) and str(source) == STANDARD_INPUT


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
