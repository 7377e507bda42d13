"""Files that this version and earlier ones saved load, and their models predict what they did."""

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

import consilience
from consilience import load
from consilience.errors import SavedModelWarning
from tests import saved_files
from tests.fuzz.saved_models import COMPILED
from tests.quick_cases import quick_in_turn
from tests.saved_files import FOLDER, configurations, figures, makers
from tests.test_persistence import same

CONFIGURATIONS = configurations()
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
WITH_SKLEARN = ("InductiveConsensus", "DawidSkeneClassifier", "Pipeline", "SubsetClustering")
"""Models with parts of scikit-learn, which only loads what the same or an earlier version of it wrote."""


def saved():
    """Every saved file with its figures; of the models that compile, one in the quick tests."""
    for version in VERSIONS:
        for stem, row in saved_files.read(FOLDER / version).items():
            name, _, number = stem.partition("-")
            slow = name in COMPILED and number != "0"
            marks = pytest.mark.slow if slow else ()
            yield pytest.param(FOLDER / version / f"{stem}.zip", row, id=f"{version}-{stem}", marks=marks)


def require_libraries(path: Path) -> None:
    name = path.stem.split("-")[0]
    if name in COMPILED:
        pytest.importorskip("equinox")
    with zipfile.ZipFile(path) as archive:
        theirs = json.loads(archive.read("model.json"))["versions"]["scikit-learn"]
    if name in WITH_SKLEARN and number_of(theirs) > number_of(sklearn.__version__):
        pytest.skip(f"saved with scikit-learn {theirs}")


def number_of(version):
    return tuple(map(int, version.split(".")[:2]))


def assert_close(found, expected, tolerance):
    """Compare text and counts exactly, and numbers within a tolerance."""
    found, expected = (np.array(values, dtype=object).ravel() for values in (found, expected))
    assert found.shape == expected.shape
    numbers = np.array([isinstance(value, float) for value in expected], dtype=bool)
    assert found[~numbers].tolist() == expected[~numbers].tolist()
    np.testing.assert_allclose(found[numbers].astype(float), expected[numbers].astype(float), tolerance, 1e-9)


def assert_configured(model, parameters):
    """The number in the name of a file is the place of its configuration in a list, which may only grow at its end."""
    held = model.get_params(deep=False)
    drawn = ("random_state",)  # a generator is saved as the fit left it
    for name, value in parameters.items():
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(held[name], value, check_index_type=False)  # of text in pandas 2
        else:
            assert name in drawn or same(held[name], value), name


@pytest.mark.parametrize(("path", "expected"), quick_in_turn(saved(), 0, every=4))
def test_a_saved_model_predicts_what_it_did(path, expected):
    require_libraries(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of models of a few items
        warnings.simplefilter("ignore", SavedModelWarning)
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = load(path)
        if path.parent.name == consilience.__version__:
            assert_configured(model, CONFIGURATIONS.get(path.stem, {}))
        found = figures(path.stem, model)
    assert found.keys() == expected.keys()
    tolerance = 1e-3 if path.stem.split("-")[0] in COMPILED else 1e-6  # networks compute in single precision
    for name, values in expected.items():
        assert_close(found[name], values, tolerance)


def test_every_configuration_has_a_file_of_this_version():
    folder = FOLDER / consilience.__version__
    expected = {stem for stem, _ in makers()}
    assert {path.stem for path in folder.glob("*.zip")} == saved_files.read(folder).keys() == expected


def test_no_file_is_replaced(tmp_path):
    """Only what is missing is written; the figures of the others stay."""
    saved_files.write(tmp_path, ["MajorityVote"])
    path = tmp_path / "MajorityVote-0.zip"
    before = saved_files.read(tmp_path)
    assert before == {"MajorityVote-0": saved_files.read(FOLDER / consilience.__version__)["MajorityVote-0"]}
    path.write_bytes(b"of a release")
    saved_files.write(tmp_path, ["MajorityVote"])
    assert path.read_bytes() == b"of a release"
    assert saved_files.read(tmp_path) == before
