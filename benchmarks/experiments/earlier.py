"""The code of an earlier commit, run on this machine beside today's.

Numbers differ in the last digits between processors, and a long fit enlarges the difference. So a row from another
machine cannot be confirmed by its figures; but it can by equal figures of both codes on one machine. A part may say by
which settings (`Part.short`) a fit runs all its code in a fraction of the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from benchmarks.experiments.record import Cell, Key

if TYPE_CHECKING:
    from benchmarks.experiments.page import Page, Part

ROOT = Path(__file__).parents[2]
RUN_CELL, LIST_CODES = (Path(__file__).with_name(name) for name in ("run_cell.py", "list_codes.py"))


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """Yield a temporary folder with the files of a commit.

    Raises
    ------
    ValueError
        There is no such commit.
    """
    found = subprocess.run(["git", "archive", "--format=zip", revision], cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        raise ValueError(f"No commit {revision}: {found.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder, ZipFile(BytesIO(found.stdout)) as files:
        files.extractall(folder)
        yield Path(folder)


def both_figures(page: Page, part: Part, cell: Cell, earlier: Path) -> list[dict[str, Any]]:
    """Return the figures of a cell by the code of today and that in a folder.

    One after the other, so that the second need not compile again what is the same.
    """
    arguments = [str(RUN_CELL), _module(page), json.dumps(cell.key), json.dumps(dict(part.short))]
    return [_output(arguments, root) for root in (ROOT, earlier)]


def codes(page: Page, earlier: Path) -> dict[Key, str]:
    """Return the rows that held for the code in a folder: the code that each of its record names, by key."""
    return {tuple(key): code for key, code in _output([str(LIST_CODES), _module(page)], earlier)}


def _module(page: Page) -> str:
    return f"benchmarks.{page.package}.{page.name}"


def _output(arguments: list[str], root: Path) -> Any:
    """Run a program with the modules of a folder; the last line of its output is JSON."""
    command = [sys.executable, "-P", *arguments]
    path = {"PYTHONPATH": os.pathsep.join(map(str, (root / "src", root)))}
    run = subprocess.run(command, cwd=root, env=os.environ | path, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])
