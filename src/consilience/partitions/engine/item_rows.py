"""Rows of items in a checkpoint: files beside it, one for each partition, written and read where the partition is.

A model whose state has a row for each item keeps these rows with the partitions. Its checkpoint holds what is known of
all items, and the number of the sweep whose rows belong to it. Those of the sweep before stay until the checkpoint has
been replaced, so that a fit that is interrupted in between goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from consilience.inference.parts import Parts

SUFFIX = ".items"  # of the folder

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class ItemRowFiles:
    """Files of the rows of items.

    folder : of the files; with a cluster, one that all workers and this process share.
    parts : with any rows.
    rows_of : part → arrays.
    with_rows : part, arrays → part.
    """

    folder: Path
    parts: Parts
    rows_of: Callable[[Any], Arrays]
    with_rows: Callable[[Any, Arrays], Any]

    @classmethod
    def beside(
        cls, parts: Parts, rows_of: Callable[[Any], Arrays], with_rows: Callable[[Any, Arrays], Any], checkpoint: Path
    ) -> ItemRowFiles:
        """Files beside a checkpoint."""
        return cls(checkpoint.absolute().with_name(checkpoint.name + SUFFIX), parts, rows_of, with_rows)

    def keep(self, parts: Parts, sweep: int) -> None:
        """Write the rows of a sweep, of rising number, and remove those that no checkpoint belongs to any more."""
        self.folder.mkdir(exist_ok=True)
        list(parts.results(_write_rows, self.folder, sweep, self.rows_of))
        held = {path: int(path.stem.rpartition("-")[2]) for path in self.folder.glob("*-*.npz")}
        # the checkpoint that names the sweep before is replaced only after this
        before = max((number for number in held.values() if number < sweep), default=sweep)
        for path, number in held.items():
            if number not in (before, sweep):
                path.unlink()

    def restore(self, sweep: int) -> Parts:
        """Return parts with the rows of a sweep."""
        return self.parts.map(_read, self.folder, sweep, self.with_rows)


def _path(folder: Path, part: Any, sweep: int) -> Path:
    return folder / f"{part.number:05}-{sweep}.npz"


def _write_rows(part: Any, folder: Path, sweep: int, rows_of: Callable[[Any], Arrays]) -> None:
    np.savez(_path(folder, part, sweep), **rows_of(part))  # type: ignore[arg-type]


def _read(part: Any, folder: Path, sweep: int, with_rows: Callable[[Any, Arrays], Any]) -> Any:
    with np.load(_path(folder, part, sweep), allow_pickle=False) as held:
        return with_rows(part, {name: held[name] for name in held.files})
