"""Write the table of file formats for the documentation, by reading a sample of each format.

Run in the root of the repository: ``python -m tests.annotations.files.formats_table``
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

from consilience import read_annotations
from consilience.annotations.keywords import written_by
from consilience.cli.keywords import OPTIONS
from consilience.errors import AnnotationError
from tests.annotations.files.formats import SECTIONS, Format

COMMAND = "python -m tests.annotations.files.formats_table"
PAGE = Path(__file__).parents[3] / "docs" / "formats_table.inc"


def table() -> str:
    """Return the sections of the table in reStructuredText."""
    with written_by(OPTIONS):
        return _table()


def _table() -> str:
    parts = [f".. Written by {COMMAND}; do not edit."]
    with tempfile.TemporaryDirectory() as folder:
        for title, found in SECTIONS.items():
            parts += [f"{title}\n{'~' * len(title)}", _section(found, Path(folder))]
    return "\n\n".join(parts) + "\n"


def _section(found: list[Format], folder: Path) -> str:
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 18 16 42 12 22", ""]
    for row in [("format", "file", "what is read", "options", "layout after"), *(_row(one, folder) for one in found)]:
        lines += [f"   {'* -' if place == 0 else '  -'} {cell}".rstrip() for place, cell in enumerate(row)]
    return "\n".join(lines)


def _row(found: Format, folder: Path) -> tuple[str, ...]:
    path = found.write(folder)
    options = " ".join(f"``{option}``" for option in _options(found)) or ("none" if found.rows else "–")
    said = []
    if found.refused:
        said.append(f"Refused: {_escaped(_refusal(path))}")
    if found.rows:
        said.append(_escaped(_reading(path, found)))
    return found.tool, f"``{found.file}``", " With the options: ".join(said), options, found.source


def _options(found: Format) -> list[str]:
    return [OPTIONS.write({name: value}) for name, value in sorted(found.options.items())]


def _refusal(path: Path) -> str:
    try:
        read_annotations(path)
    except AnnotationError as error:
        return str(error).removeprefix(f"{path}: ")
    raise ValueError(f"{path.name} is read.")


def _reading(path: Path, found: Format) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reading = read_annotations(path, **found.options).reading
    return "; ".join([reading.how, *reading.warnings])


def _escaped(text: str) -> str:
    """Return text with all markup escaped."""
    for mark in "\\*`|_":
        text = text.replace(mark, f"\\{mark}")
    return text


if __name__ == "__main__":
    PAGE.write_text(table(), encoding="utf-8")
