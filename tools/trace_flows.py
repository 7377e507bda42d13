"""How many files and functions of the package does a common job go through?

    python tools/trace_flows.py

Counts what is entered while each job runs, in this process and all its threads; the bodies of modules do not count.
"""

import contextlib
import io
import sys
import tempfile
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from click.testing import CliRunner  # noqa: E402

from consilience import partitions  # noqa: E402
from consilience.annotations import Labels  # noqa: E402
from consilience.cli import main as command_line  # noqa: E402
from consilience.consensus import DawidSkene  # noqa: E402
from tests.partitions import made  # noqa: E402

SORTS = ROOT / "src" / "consilience" / "datasets" / "tutorial_tables" / "sorts.csv"
ANSWERS_ON_A_PAGE = "tests/collect/test_dashboard.py::test_the_page_says_what_is_out_of_date_until_it_is_not"
PLAIN = ["-o", "addopts=", "-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"]
SOURCE = str(ROOT / "src" / "consilience")


def entered(job):
    """Return the files and the functions of the package that a job enters."""
    seen = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE) and frame.f_code.co_name != "<module>":
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {file for file, _ in seen}, seen


def run_command(*arguments):
    done = CliRunner().invoke(command_line, arguments, catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(done.output)


def jobs(folder):
    """Yield the name of each job, and what does it."""
    table = made.crowd(60, 5)
    table.to_csv(folder / "labels.csv", index=False)
    labels, parts = Labels.from_frame(table), partitions.PartitionedTable(made.cut(table, 3))
    yield "labels → fit → report", lambda: run_command("fit", f"{folder}/labels.csv", "--out", f"{folder}/labels")
    yield "groupings → fit → report", lambda: run_command("fit", str(SORTS), "--out", f"{folder}/sorts")
    yield "DawidSkene.fit", lambda: DawidSkene().fit(labels)
    yield "partitions.fit", lambda: partitions.fit(DawidSkene(subtypes=1), parts)
    yield "browser → dashboard", lambda: pytest.main(["-q", *PLAIN, ANSWERS_ON_A_PAGE])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs(Path(folder)):
            files, functions = entered(job)
            sys.stdout.write(f"{name}: {len(files)} files, {len(functions)} functions\n")


if __name__ == "__main__":
    main()
