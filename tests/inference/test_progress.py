"""Progress bars: shown by every iterative model if requested, and without side effects."""

import io
import pickle
import sys
import warnings
from importlib import import_module
from inspect import signature
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels, registry
from consilience.consensus import CSPA, KCC
from consilience.inference import progress
from consilience.persistence import archive, load, save
from consilience.selection.comparison import compare
from consilience.semisupervised import InductiveConsensus, PartitionLabelModel
from consilience.simulation import simulate_crowd
from tests.quick_cases import quick_in_turn

loop = import_module("consilience.inference.iterate")  # the module, which the function hides
SMALL = {
    "PartitionLabelModel": {"prior_variance": 1.0, "n_init": 3, "max_clusters": 3},
    "SpectralEM": {"n_init": 2, "n_starts": 20},
    "InductiveConsensus": {"consensus": KCC(2, n_init=3)},
    "Crowdclustering": {"n_init": 2, "max_iter": 5, "max_clusters": 2, "n_components": 2},
    "BayesSCDC": {"n_clusters": 3, "n_latent": 2, "hidden": (8,), "batch_size": 8, "n_epochs": 3},
    "SCDC": {"n_clusters": 2, "n_latent": 2, "hidden": (8,), "batch_size": 8, "n_epochs": 3},
    "DeepMCVC": {"n_clusters": 2, "max_views": 1, "hidden": (8,), "n_init": 2, "n_sweeps": 3},
}
AT_ONCE = {"MajorityVote", "CSPA", "MetaClustering"}
"""Models without sweeps or restarts."""
COMPILED = {"BayesSCDC", "SCDC", "DeepMCVC"}
SETTINGS = {"n_clusters": 2, "random_state": 0}
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in COMPILED else name for name in registry.ESTIMATORS]


class Terminal(io.StringIO):
    """A terminal that records its output."""

    def isatty(self):
        return True


def stderr_is(file, monkeypatch, **modules):
    """Set standard error as progress sees it; pytest replaces it between a fixture and its test."""
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=file, modules=sys.modules | modules))
    return file


@pytest.fixture
def terminal(monkeypatch):
    return stderr_is(Terminal(), monkeypatch)


@pytest.fixture
def notebook(monkeypatch):
    """A kernel of Jupyter, in which widgets cannot be imported."""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    shell = SimpleNamespace(kernel="python3")
    return stderr_is(io.StringIO(), monkeypatch, IPython=SimpleNamespace(get_ipython=lambda: shell))


def made(name, **more):
    model = registry.estimator(name)
    known = signature(model).parameters
    return model(**{key: value for key, value in (SETTINGS | SMALL.get(name, {})).items() if key in known}, **more)


def study():
    """Thirty items of two kinds, and six annotators who are wrong one time in ten."""
    rng = np.random.default_rng(0)
    kind = np.arange(30) % 2
    said = np.where(rng.random((30, 6)) < 0.1, 1 - kind[:, None], kind[:, None])
    names = [f"item {i}" for i in range(30)]
    X = pd.DataFrame(rng.normal(size=(30, 2)) + 4 * kind[:, None], index=names)
    return (X - X.mean()) / X.std(), said, names


def fit(model, name):
    X, said, names = study()
    labels = registry.ESTIMATORS[name].reads[0] == "labels"
    annotations = (Labels if labels else Groupings).from_matrix(said, items=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there are few sweeps
        takes_features = registry.ESTIMATORS[name].kind == "semisupervised"
        return model.fit(X, annotations) if takes_features else model.fit(annotations)


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 0, every=2))
def test_every_iterative_model_shows_progress_if_verbose_which_changes_nothing(name, terminal, monkeypatch):
    counted = []
    monkeypatch.setattr(loop, "counting", lambda *count: counted.append(count) or progress.counting(*count))
    silent = fit(made(name), name)
    assert terminal.getvalue() == ""
    if name in AT_ONCE:
        assert "verbose" not in signature(registry.estimator(name)).parameters
        assert not counted  # otherwise it iterates, and needs `verbose`
        return
    loud = fit(made(name, verbose=True), name)
    shown = terminal.getvalue()
    assert f"{name}:" in shown
    assert "100%" in shown
    assert shown.endswith("\r")  # and cleared
    if name not in COMPILED:  # which may differ in the last bits
        np.testing.assert_array_equal(loud.responsibilities_, silent.responsibilities_)


def test_verbose_must_be_boolean(terminal):
    with pytest.raises(ValueError, match=r"The 'verbose' parameter of KCC must be True or False\. Got 'no' instead\."):
        KCC(2, verbose="no").fit([[1, 1], [1, 2], [2, 2]])


def test_nothing_is_shown_without_a_terminal(monkeypatch):
    file = stderr_is(io.StringIO(), monkeypatch)
    fit(made("KCC", verbose=True), "KCC")
    assert file.getvalue() == ""
    stderr_is(None, monkeypatch)  # as under pythonw
    fit(made("KCC", verbose=True), "KCC")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parallel_restarts_update_one_bar(n_jobs, terminal):
    fit(made("PartitionLabelModel", verbose=True, n_jobs=n_jobs), "PartitionLabelModel")
    assert "3/3 restarts" in terminal.getvalue()
    assert terminal.getvalue().count("\n") == 0


@pytest.mark.slow
def test_restarts_in_other_processes_update_the_bar(terminal):
    with joblib.parallel_config(backend="loky"), progress.showing("work", shown=True):
        assert loop.restarts(abs, [(-1,), (-2,), (-3,)], n_jobs=2) == [1, 2, 3]
    assert "3/3 restarts" in terminal.getvalue()


def test_sweeps_are_shown_next_to_the_restarts(terminal):
    with progress.showing("work", shown=True):
        loop.restarts(lambda start: loop.iterate(start, slow, float, max_iter=3), [(0.0,), (1.0,)])
    assert "0/2 restarts [00:00, sweeps: 3]" in terminal.getvalue()


def slow(state):
    """A sweep as long as the interval between updates of a bar."""
    import time

    time.sleep(0.11)
    return state + 1


def test_a_count_that_stops_early_becomes_complete(terminal):
    with progress.showing("work", shown=True):
        loop.iterate(0.0, lambda state: min(state + 1, 4.0), float, max_iter=50)
    assert "work: 100%" in terminal.getvalue()
    assert "5/5 sweeps" in terminal.getvalue()


def test_a_failure_closes_the_bar(terminal):
    def fails():
        raise KeyError("a model's own")

    with progress.showing("work", shown=True):
        with pytest.raises(KeyError), progress.counting("steps", 9):
            fails()
        with progress.counting("others", 2) as others:
            others.update(2)
    assert "2/2 others" in terminal.getvalue()  # the failed count does not block it
    assert progress.current() is None


def test_a_bar_is_none_in_another_process(terminal):
    with progress.showing("work", shown=True):
        assert progress.current() is not None
        assert pickle.loads(pickle.dumps(progress.current())) is None


def test_the_outer_of_two_bars_is_shown(terminal):
    fit(InductiveConsensus(KCC(2, verbose=True), verbose=True), "InductiveConsensus")
    assert "InductiveConsensus:" in terminal.getvalue()
    assert "KCC:" not in terminal.getvalue()


def test_compare_names_the_model_being_fitted(terminal):
    crowd = simulate_crowd(np.arange(30) % 3, n_annotators=6, items_each=20, random_state=0)
    models = [KCC(3, n_init=2, random_state=0, verbose=True), CSPA(3, random_state=0)]
    compare(models, crowd, n_folds=2, random_state=0, verbose=True)
    shown = terminal.getvalue()
    assert "4/4 fits" in shown
    assert ", KCC" in shown
    assert ", CSPA" in shown
    assert "KCC:" not in shown  # its own bar would be a second one


def test_a_notebook_without_widgets_shows_text(notebook):
    fit(made("KCC", verbose=True), "KCC")  # a TqdmWarning would be an error
    assert "KCC: 100%" in notebook.getvalue()
    fit(made("KCC"), "KCC")
    assert notebook.getvalue().count("KCC:   0%") == 1


def test_models_saved_without_verbose_still_load(tmp_path):
    model = fit(made("KCC", verbose=True), "KCC")
    save(model, tmp_path / "new.zip")
    with archive.open_plain(tmp_path / "new.zip") as file:
        document = archive.read_document(tmp_path / "new.zip", file)
        arrays = archive.read_arrays(tmp_path / "new.zip", file, document["n_arrays"])
    del document["model"]["estimator"]["parameters"]["verbose"]
    archive.write(tmp_path / "old.zip", document, arrays)
    old = load(tmp_path / "old.zip")
    assert old.verbose is False
    np.testing.assert_array_equal(old.labels_, model.labels_)
    assert load(tmp_path / "new.zip").verbose is True


def test_partition_label_model_shows_the_search_for_the_prior_variance(terminal):
    X, said, names = study()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PartitionLabelModel(n_init=2, max_clusters=3, max_iter=20, random_state=0, verbose=True)
        model.fit(X, Groupings.from_matrix(said, items=names))
    assert "5/5 fits of prior variances" in terminal.getvalue()
    assert "2/2 restarts" in terminal.getvalue()
