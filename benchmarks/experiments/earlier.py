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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from benchmarks.experiments.record import Cell

ROOT = Path(__file__).parents[2]
RUN_CELL = Path(__file__).with_name("run_cell.py")


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


def both_figures(module: str, cell: Cell, short: Mapping[str, Any], earlier: Path) -> list[dict[str, Any]]:
    """Return the figures of a cell of the page in a module by the code of today and that in a folder.

    One after the other, so that the second need not compile again what is the same.
    """
    arguments = [str(RUN_CELL), module, json.dumps(cell.key), json.dumps(dict(short))]
    return [_output(arguments, root) for root in (ROOT, earlier)]


def _output(arguments: list[str], root: Path) -> Any:
    """Run a program with the modules of a folder; the last line of its output is JSON."""
    command = [sys.executable, "-P", *arguments]
    path = {"PYTHONPATH": os.pathsep.join(map(str, (root / "src", root)))}
    run = subprocess.run(command, cwd=root, env=os.environ | path, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])
