"""A fit that is killed, interrupted or terminated, or runs out of disk space, leaves the old or the new fit."""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from consilience.cli import main
from tests.click_runner import invoke
from tests.quick_cases import some_quick
from tests.workflows.whole_folders import fit_of, leftovers

FIT = (sys.executable, "-m", "consilience", "fit")
OPTIONS = ("--kind", "labels", "--certainty-draws", "0", "--out", "out")
N_MOMENTS = 20
SIGNALS = {
    "killed": signal.SIGKILL,
    "interrupted": signal.SIGINT,
    "terminated": signal.SIGTERM,
    "hung up": signal.SIGHUP,
}
SAID = {"interrupted": "Interrupted.", "terminated": "Terminated.", "hung up": "Hung up."}

forks = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")  # of JAX, which other tests load


@dataclass(frozen=True)
class Study:
    """A folder with a fit, and a file for another fit."""

    folder: Path
    source: Path | None = None

    def restore(self):
        """Restore the old fit, whatever is there."""
        shutil.rmtree(self.folder / "out")
        shutil.copytree(self.source / "out", self.folder / "out")

    def start(self, **options):
        """Start the other fit; it is running when this returns."""
        command = [*FIT, "new.csv", *OPTIONS]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, cwd=self.folder, **pipes, **options)
        first = process.stderr.readline()
        if not first.startswith("Note: read as"):
            pytest.fail(first + process.communicate()[1])
        return process

    def fit_here(self, name):
        """Fit in this process, which has imported the package; return the messages."""
        with contextlib.chdir(self.folder):
            result = invoke(main, ["fit", f"{name}.csv", *OPTIONS])
        assert result.exit_code == 0, result.output
        return result.stderr

    def seconds(self):
        """Return how long the other fit takes after its first note."""
        process = self.start()
        began = time.monotonic()
        process.communicate()
        return time.monotonic() - began

    def fit(self):
        """Return which fit the folder contains, by its number of items: the old one or the new one."""
        return {8: "old", 9: "new"}[fit_of(self.folder / "out")["n_items"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study to copy."""
    folder = tmp_path_factory.mktemp("study")
    for name, n_items in (("old", 8), ("new", 9)):
        rows = [f"item {i},{i % 2},{i % 2},{i % 2 if i else 1}" for i in range(n_items)]
        (folder / f"{name}.csv").write_text("\n".join(["item,Ann,Bo,Cy", *rows]) + "\n")
    Study(folder).fit_here("old")
    return Study(folder)


@pytest.fixture
def study(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "study")
    return Study(tmp_path / "study", made.folder)


NOTES = (
    "Note: Chose DawidSkene, since the file holds labels, whose names all annotators share. Use --model for another; "
    "'consilience compare' compares them.\n"
    "Note: DawidSkene: There are 3 annotators and no gold, so the probabilities rest on the assumption that mistakes "
    "are shared no more than in other crowds, which so few labels cannot show. Known classes of about 50 items, "
    "passed as gold, would show it.\n"
)


def ended(study, how, wait):
    """End the other fit after `wait` has waited, and check what it leaves; return which fit is in the folder."""
    study.restore()
    process = study.start()
    wait(process)
    process.send_signal(SIGNALS[how])
    errors = process.communicate(timeout=60)[1].splitlines()
    left = leftovers(study.folder)
    found = study.fit()
    if process.returncode == 0 or (how != "killed" and process.returncode == -SIGNALS[how]):
        assert found == "new"  # the program was done, and the interpreter, which handles signals itself, nearly so
        assert left == []
    elif how == "killed":
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 128 + SIGNALS[how]
        assert errors[-1] == SAID[how]
        assert all(line.startswith("Note: ") for line in errors[:-1]), errors
        assert left == []
    return found


def after(seconds):
    return lambda _: time.sleep(seconds)


def while_writing(study, seconds=0.0):
    """Wait until the fit has begun to write, and then `seconds` more."""

    def wait(process):
        while not leftovers(study.folder) and process.poll() is None:
            time.sleep(0.001)
        time.sleep(seconds)

    return wait


def finished(study):
    """Fit again, to the end; nothing is left of earlier fits."""
    assert study.fit_here("new").split("\n", 1)[1] == NOTES
    assert study.fit() == "new"
    assert leftovers(study.folder) == []


@pytest.mark.parametrize("how", some_quick(["killed", "interrupted", "terminated", "hung up"]))
def test_fit_that_is_ended_while_it_writes(how, study, quick_report):
    assert ended(study, how, while_writing(study)) == "old"
    if how == "killed":
        assert leftovers(study.folder) != []
        finished(study)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "interrupted", "terminated"])
def test_fit_that_is_ended_at_random_moments(how, study):
    rng = np.random.default_rng(SIGNALS[how])
    whole = rng.uniform(0, 1.05 * study.seconds(), N_MOMENTS)
    for seconds in whole:
        ended(study, how, after(seconds))
    for seconds in rng.uniform(0, 0.5, N_MOMENTS // 2):  # most of the writing time is spent on the report
        ended(study, how, while_writing(study, seconds))
    finished(study)


@pytest.mark.slow
@forks
def test_a_program_started_in_the_background_ignores_interruptions(study):
    process = study.start(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 0
    assert study.fit() == "new"


# ---- a full disk


def full_disk(study, **options):
    """Fit with possibly too little room; return which fit is in the folder, and the messages."""
    process = study.start(**options)
    errors = process.communicate()[1].splitlines()
    found = study.fit()
    assert leftovers(study.folder) == []
    if process.returncode == 0:
        assert found == "new"
        return found, ""
    assert process.returncode == 1
    assert found == "old"
    return found, errors[-1]


def with_largest_file(n_bytes):
    """Limit the size of files, as on a disk with room for files of that size only."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))}


def sizes(folder):
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}


@pytest.mark.slow
@forks
@pytest.mark.parametrize(
    ("n_bytes", "name"), [(100, "labels.csv"), pytest.param(30_000, "report.html", marks=pytest.mark.slow)]
)
def test_too_little_room_for_a_file(n_bytes, name, study):
    _, said = full_disk(study, **with_largest_file(n_bytes))
    assert said == f"Error: out/{name} would be larger than a file may be."


@pytest.mark.slow
@forks
def test_too_little_room_for_files_of_random_sizes(study):
    largest = max(sizes(study.folder / "out").values())
    for n_bytes in np.random.default_rng(0).integers(0, largest, N_MOMENTS).tolist():
        _, said = full_disk(study, **with_largest_file(n_bytes))
        assert re.fullmatch(r"Error: out/[a-z]+\.(csv|zip|html|json) would be larger than a file may be\.", said)
    finished(study)


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of a given size, or change its size."""
    place, mounted = tmp_path / "disk", []

    def size(n_bytes):
        place.mkdir(exist_ok=True)
        again = "remount," if mounted else ""
        command = ["mount", "-t", "tmpfs", "-o", f"{again}size={n_bytes}", "tmpfs", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            pytest.skip(f"no file system can be mounted: {error}")
        if done.returncode:
            pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield size
    if mounted:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def study_on_disk(small_disk, made):
    """Return a function that puts a study on a separate disk with a given number of free bytes, rounded to pages."""
    folder = small_disk(1 << 22)
    shutil.copytree(made.folder, folder, dirs_exist_ok=True)

    def leave(n_bytes):
        small_disk(1 << 22)
        study = Study(folder, source=made.folder)
        study.restore()
        held = os.statvfs(folder)
        small_disk((held.f_blocks - held.f_bfree) * held.f_frsize + n_bytes)
        return study

    return leave


def on_full_disk(leave, n_bytes):
    found, said = full_disk(leave(n_bytes))
    if found == "old":
        assert re.fullmatch(r"Error: There is no space left to write out(/[a-z]+\.(csv|zip|html|json))?\.", said)
    return found


@pytest.mark.slow
def test_a_full_disk(study_on_disk, quick_report):
    assert on_full_disk(study_on_disk, 1 << 15) == "old"
    finished(study_on_disk(1 << 20))


@pytest.mark.slow
def test_a_disk_that_is_full_at_random_moments(study_on_disk):
    found = [
        on_full_disk(study_on_disk, n) for n in np.random.default_rng(0).integers(4096, 1 << 17, N_MOMENTS).tolist()
    ]
    assert "old" in found
    finished(study_on_disk(1 << 20))
