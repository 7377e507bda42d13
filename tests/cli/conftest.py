"""A small study in files, and the program run in this process."""

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience.analysis.chance import chance_test
from consilience.cli import main
from tests.click_runner import invoke

PARTITION = ("--model", "PartitionLabelModel")
SETTINGS = ("n_init=1", "prior_variance=1.0", "max_clusters=6", "tol=0.001")
QUICK = (*PARTITION, *(part for setting in SETTINGS for part in ("--set", setting)))


@pytest.fixture
def quick():
    """Return settings that make a fit of a small study fast."""
    return QUICK


def further(stderr):
    """Return notes and errors without those on how the file of annotations was read, which come first."""
    first, *lines = stderr.splitlines()
    assert first.startswith("Note: read as: ")
    assert not any(line.startswith("Note: read as: ") for line in lines)
    by_default = "Note: Names of groups mean nothing to other annotators"
    return [line for line in lines if line and not line.startswith(by_default)]


CHANCES = {}


def chance_test_once(*given):
    """Return what `chance_test` finds, which takes hundreds of permutations; many tests fit the same annotations."""
    key = pickle.dumps(given)
    if key not in CHANCES:
        CHANCES[key] = chance_test(*given)
    return CHANCES[key]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the program in a separate folder: arguments → result with exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # tests/test_atomic_files.py checks that files outlive a crash
    monkeypatch.setattr("consilience.workflows.caveats.chance_test", chance_test_once)

    def call(*arguments, code=0):
        result = invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.stdout + result.stderr
        assert "Traceback" not in result.stdout + result.stderr
        return result

    return call


@pytest.fixture
def fails(run):
    """Run the program, which must fail with one sentence on standard error: arguments → sentence."""

    def call(*arguments, code=2):
        result = run(*arguments, code=code)
        *notes, last = result.stderr.splitlines()
        assert all(line.startswith("Note: ") for line in notes), result.stderr
        assert last.startswith("Error: ")
        assert result.stdout == ""
        return last.removeprefix("Error: ")

    return call


class Reports(list):
    """What reports were asked to show: model, annotations, features, scores; and in `keywords`, everything else."""

    def __init__(self):
        super().__init__()
        self.keywords = []


def without_drawing(monkeypatch):
    """Replace the report by a short text, and return what it is asked to show."""
    calls = Reports()

    def report(found, *, scores=None, path=None, **more):
        calls.append((found.model, found.as_written, found.features, scores))
        calls.keywords.append(vars(found) | more)
        Path(path).write_text("report")

    monkeypatch.setattr("consilience.workflows.fitting.report", report)
    monkeypatch.setattr("consilience.workflows.saved_models.write_report", report)
    return calls


def without_certainty(monkeypatch):
    for module in ("fitting", "saved_models"):
        monkeypatch.setattr(
            f"consilience.workflows.{module}.certainty_of_report", lambda *_: (None, "Not in this test.")
        )


@pytest.fixture
def no_drawing(monkeypatch):
    """Replace the report by a short text: it takes seconds, and is tested elsewhere."""
    return without_drawing(monkeypatch)


@pytest.fixture
def quick_report(no_drawing, monkeypatch):
    """Replace the report, and leave out the certainty, which takes a second too."""
    without_certainty(monkeypatch)
    return no_drawing


@pytest.fixture(params=["not drawn", pytest.param("drawn", marks=pytest.mark.slow)])
def is_drawn(request):
    """Whether the reports of a test are real, which takes many seconds, or replaced."""
    if request.param == "not drawn":
        request.getfixturevalue("quick_report")
    return request.param == "drawn"


def made_features():
    heaps = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 4, axis=0)
    names = pd.Index([f"item {i}" for i in range(12)], name="item")
    noise = np.random.default_rng(0).normal(size=heaps.shape)
    return pd.DataFrame(heaps + noise, index=names, columns=["length", "width"])


def write_study(folder):
    features = made_features()
    features.to_csv(folder / "features.csv")
    sorts = pd.DataFrame(
        {"Ann": [*"aaaabbbbccc", ""], "Bo": [*"xxxxyyyyzzz", ""], "Cy": [*"ppppqqqqqqq", ""]}, index=features.index
    )
    sorts.to_csv(folder / "sorts.csv")
    pd.DataFrame({"risk": [*range(11), None]}, index=features.index).to_csv(folder / "scores.csv")


@pytest.fixture
def features():
    """Features of 12 items in three well-separated clusters, in order."""
    return made_features()


@pytest.fixture
def study(tmp_path):
    """Files features.csv, sorts.csv (wide) and scores.csv; item 11 is in no group and has no score."""
    write_study(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def fitted_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    write_study(folder)
    with pytest.MonkeyPatch.context() as context:
        context.chdir(folder)
        without_drawing(context)
        without_certainty(context)
        result = invoke(main, ["fit", "sorts.csv", "--features", "features.csv", *QUICK, "--out", "out"])
    assert result.exit_code == 0, result.output
    return folder / "out"


@pytest.fixture
def fitted(study, run, quick_report, fitted_once):
    """The study after ``consilience fit`` with features, in the folder out."""
    shutil.copytree(fitted_once, study / "out")
    return study
