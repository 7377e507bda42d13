"""Files that commands write: never over an input, all of them or none, and tables of every format."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.annotations.files.formats import Writer, format_of
from consilience.annotations.files.sources import STANDARD_INPUT
from consilience.atomic_files import replacing, require_file_name
from consilience.errors import InputError
from consilience.workflows.result_folder import MODEL, REPORT, SUMMARY, checksum_of, checksums_in, fit_in, require_free
from consilience.workflows.signals import hold_signals
from consilience.workflows.text import as_json


def require_outputs(outputs: Iterable[Path | None], inputs: Iterable[Any], *, of: Path | None = None) -> None:
    """Raise an InputError unless files can be written without overwriting an input or a part of a fit.

    outputs, inputs : paths, or None if not given; ``-`` among the inputs is standard input; what is no path is no file.
    of : a saved model whose report may be overwritten.
    """
    paths = [path for path in outputs if path is not None]
    for number, path in enumerate(paths):
        require_file_name(path)
        require_no_input(path, inputs)
        if any(os.path.realpath(path) == os.path.realpath(other) or _is_same(path, other) for other in paths[:number]):
            raise InputError(f"{path} is the name of two output files; choose another for one of them.")
        fit = fit_in(path.parent)
        if path.name in fit and not (of is not None and path.name == REPORT and fit.get(MODEL) == checksum_of(of)):
            raise InputError(f"{path} belongs to the fit in {path.parent}; choose another file to write.")


def require_no_input(output: Path, inputs: Iterable[Any]) -> None:
    """Raise an InputError if a file to write is one that is read, under whatever name."""
    for path in inputs:
        if isinstance(path, Path) and _is_same(path, output):
            read = "standard input" if str(path) == STANDARD_INPUT else str(path)
            raise InputError(f"{output} would overwrite the input {read}; choose another file or folder to write.")


def require_folder(out: Path, names: Sequence[str], inputs: Sequence[Any]) -> None:
    """Raise an InputError unless files of these names can be written to a folder without overwriting an input."""
    for name in names:
        require_no_input(out / name, inputs)
    require_free(out, names)


def _is_same(path: Path, output: Path) -> bool:
    try:
        held = os.fstat(0) if str(path) == STANDARD_INPUT else os.stat(path)
        return os.path.samestat(held, os.stat(output))
    except (OSError, ValueError):  # one of them is not there
        return False


def write_files(writers: Mapping[Path, Writer]) -> None:
    """Write files, each with its own function; none of them if one cannot be written."""
    with contextlib.ExitStack() as files:
        for path, write in writers.items():
            write(files.enter_context(replacing(path)))
        with hold_signals():
            files.close()


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format given by the file name, one of `FORMATS`.

    Raises InputError: the folder does not exist, or the file name has another ending.
    """
    write_files({path: table_writer(frame, path)})


def table_writer(frame: pd.DataFrame, path: Path) -> Writer:
    """Return a function that writes a table in the format given by the file name.

    Raises InputError: the file name has another ending.
    """
    return format_of(path).writer(frame, path.name)


def save_summary(folder: Path, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Write the summary of a result, with the checksums of the other files in its folder, and return it."""
    found = {**summary, "checksums": checksums_in(folder)}
    with replacing(folder / SUMMARY) as file:
        file.write(_encode(found))
    return found


def renew_report(path: Path) -> None:
    """Update the checksum in the summary of a fit, if the folder holds one, after its report was written again."""
    fit, summary = fit_in(path.parent), path.parent / SUMMARY
    if path.name in fit:
        found = json.loads(summary.read_bytes())
        found["checksums"][path.name] = checksum_of(path)
        with replacing(summary) as file:
            file.write(_encode(found))


def _encode(found: Mapping[str, object]) -> bytes:
    return (as_json(found) + "\n").encode()
