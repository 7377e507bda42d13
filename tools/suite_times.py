"""How long the tests take, by folder and kind, and the page of it.

    python tools/suite_times.py                  # run the suite, and write docs/developer/tests.md
    python tools/suite_times.py --from FOLDER    # write the page from an earlier run, kept in a folder
    python tools/suite_times.py --keep FOLDER -- -m ''    # what follows -- goes to pytest

This file is also the plugin of pytest that writes the times. Each process of a run has its own file, with a line of
JSON for each of its tests: seconds of processor, which a busy machine hardly changes, with those of the processes that
the test started, and the memory of the process after it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "developer" / "tests.md"
FOLDER = "SUITE_TIMES"
COLLECTION = "collection"
BEGIN, END = "<!-- made by tools/suite_times.py -->", "<!-- end -->"
KINDS = [  # the first that fits
    ("browsers", ("browser",)),
    ("documentation", ("test_docs.py", "notebooks/", "src/")),
    ("commands", ("tests/cli/",)),
    ("servers and studies", ("tests/collect/",)),
    ("drawings", ("plots.py", "drawing.py", "pictures.py", "map.py")),
    ("reports", ("tests/inspection/",)),
    ("statistics of fits", ("tests/analysis/",)),
    ("rules of the source", ("test_architecture.py", "test_typing.py", "test_deploy.py", "test_shape_checks.py")),
    ("networks", ("tests/deep/",)),
    ("records of results", ("tests/benchmarks/",)),
    ("sessions and partitions", ("tests/active/", "tests/partitions/", "tests/sites/", "tests/subsets/")),
    ("files and annotations", ("tests/annotations/",)),
    ("models", ("tests/consensus/", "tests/semisupervised/", "tests/estimators/", "tests/inference/")),
    ("every estimator", ("contract", "ways_in", "inputs", "invariance", "saved", "persistence", "random_state")),
]


@dataclass(frozen=True)
class Times:
    """A test: seconds of processors, and of the clock, and the memory of its process after it in MB."""

    test: str
    processor: float
    clock: float
    memory: float
    process: int

    @property
    def file(self):
        return self.test.partition("::")[0]

    @property
    def folder(self):
        """Folder within the tests, or the file if it stands in none."""
        parts = self.file.split("/")
        return "/".join(parts[:2])

    @property
    def kind(self):
        """What takes the time."""
        return next((kind for kind, marks in KINDS if any(mark in self.file for mark in marks)), "others")


class Plugin:
    """Writes the times of each test of a process into a file of its own."""

    def __init__(self, folder):
        self.path = Path(folder) / f"{os.getpid()}.jsonl"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        clock, processor = time.monotonic(), processor_seconds()
        try:
            return (yield)
        finally:
            seconds = processor_seconds() - processor, time.monotonic() - clock
            times = Times(item.nodeid, *(round(x, 3) for x in seconds), round(memory()), os.getpid())
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(times)) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        """What came before the first test: imports, and the search for tests."""
        if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None):
            times = Times(COLLECTION, round(processor_seconds(), 3), 0.0, round(memory()), os.getpid())
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(times)) + "\n")


def pytest_configure(config):
    """Register the plugin; pytest calls it in every process."""
    if FOLDER in os.environ:
        config.pluginmanager.register(Plugin(os.environ[FOLDER]), "suite-times")


def processor_seconds():
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def memory():
    """Memory of the process in MB: now, where Linux says so, or at most so far."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def run(folder, options):
    """Run the suite as `make test` does; return the exit status of pytest."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for earlier in Path(folder).glob("*.jsonl"):
        earlier.unlink()
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {FOLDER: str(Path(folder).resolve()), "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles the package again
    command = [sys.executable, "-m", "pytest", "-p", "suite_times", "-n", "3", "--dist", "loadfile", *options]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def read(folder):
    """The times of all processes of a run."""
    files = sorted(Path(folder).glob("*.jsonl"))
    return [Times(**json.loads(line)) for path in files for line in path.read_text("utf-8").splitlines()]


def tables(times):
    """Write the tables of the page."""
    tests = [one for one in times if one.test != COLLECTION]
    whole = sum(one.processor for one in times)
    search = sum(one.processor for one in times if one.test == COLLECTION)
    largest = max(one.memory for one in times) / 1000
    parts = [
        f"{len(tests):,} tests took {whole / 60:.1f} minutes of processor, {search:.0f} seconds of which went to find "
        f"them; the largest process had {largest:.1f} GB.",
        table("folder", groups(tests, "folder"), whole),
        table("kind", groups(tests, "kind"), whole),
        "The 20 slowest tests:",
        slowest(tests),
    ]
    return "\n\n".join(parts)


def groups(tests, by):
    found = defaultdict(list)
    for one in tests:
        found[getattr(one, by)].append(one)
    return dict(sorted(found.items(), key=lambda group: -sum(one.processor for one in group[1])))


def table(head, found, whole):
    rows = [f"| {head} | tests | seconds of processor | share | largest process, MB |", "|---|--:|--:|--:|--:|"]
    for name, tests in found.items():
        seconds = sum(one.processor for one in tests)
        most = max(one.memory for one in tests)
        rows.append(f"| {name} | {len(tests):,} | {seconds:.1f} | {seconds / whole:.0%} | {most:,.0f} |")
    return "\n".join(rows)


def slowest(tests, number=20):
    rows = ["| test | seconds of processor |", "|---|--:|"]
    for one in sorted(tests, key=lambda one: -one.processor)[:number]:
        name = one.test.replace("|", r"\|")
        rows.append(f"| `{name}` | {one.processor:.1f} |")
    return "\n".join(rows)


def write(times):
    """Write the tables into the page, between the marks."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(times)}\n\n{END}{rest.partition(END)[2]}", "utf-8")


def main(arguments=None):
    """Run, or read an earlier run, and write the page; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="earlier", metavar="FOLDER", help="an earlier run, instead of a new one")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the times of each test there")
    parser.add_argument("options", nargs="*", help="options of pytest, after --")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.earlier or asked.keep or temporary
        status = 0 if asked.earlier else run(folder, asked.options)
        write(read(folder))
    return status


if __name__ == "__main__":
    sys.exit(main())
