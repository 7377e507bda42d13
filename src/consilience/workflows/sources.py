"""Where a table comes from: a file, or a frame that is at hand. Nothing here imports NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias


@dataclass(frozen=True, eq=False)
class TableAtHand:
    """A frame in place of a file, under the name that messages have for it."""

    frame: Any
    name: str

    def __str__(self) -> str:
        return self.name


TableSource: TypeAlias = Path | TableAtHand


def source_of(table: Any, name: str) -> TableSource:
    """Return the source of a table that was given as a path or as a frame."""
    return table if isinstance(table, Path | TableAtHand) else TableAtHand(table, name)
