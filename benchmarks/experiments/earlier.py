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
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.experiments.record import Cell

if TYPE_CHECKING:
    from benchmarks.experiments.page import Page, Part

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
    found = subprocess.run(["git", "archive", "--format=tar", revision], cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        raise ValueError(f"No commit {revision}: {found.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=BytesIO(found.stdout)) as files:
        files.extractall(folder, filter="data")
        yield Path(folder)


def both_figures(page: Page, part: Part, cell: Cell, earlier: Path) -> list[dict[str, Any]]:
    """Return the figures of a cell by the code of today and that in a folder, computed side by side."""
    module = f"benchmarks.{page.package}.{page.name}"
    command = [sys.executable, "-P", str(RUN_CELL), module, json.dumps(cell.key), json.dumps(dict(part.short))]
    runs = [
        subprocess.Popen(command, cwd=root, env=_path_of(root), stdout=subprocess.PIPE, text=True)
        for root in (ROOT, earlier)
    ]
    outputs = [run.communicate()[0] for run in runs]
    for run in runs:
        if run.returncode:
            raise subprocess.CalledProcessError(run.returncode, command)
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def _path_of(root: Path) -> dict[str, str]:
    """Environment in which modules are those of a folder."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (root / "src", root)))}
