"""Sentinels agree with their record; what differs is found, and declared for the rows for which it stands."""

import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Cell, Page, Part, Record, declaring, page, sentinels, small_crowds
from benchmarks.experiments.inputs import Reached, are_close, first_input, input_of, sums_of
from benchmarks.experiments.record import SentinelRecord
from benchmarks.experiments.sentinels import NETWORKS, Sentinel, all_sentinels, estimators_in, family_of
from consilience import Labels, datasets
from consilience.consensus import CSPA, KCC, DawidSkene, MajorityVote
from consilience.semisupervised import MCVC, InductiveConsensus
from tests.benchmarks.recorded_versions import require_recorded

# ---- the record

OF_NETWORKS = "inputs of networks"


def group_of(sentinel):
    if sentinel.subject == "input":
        return OF_NETWORKS if sentinel.family.startswith("deep, ") else "inputs"
    return sentinel.subject if sentinel.subject in NETWORKS else "others"


@pytest.fixture
def loaded_once(monkeypatch):
    """Load each data set once that the scripts of several parts read."""
    all_sentinels()  # imports the scripts
    known = [module for name, module in sys.modules.items() if name.startswith("benchmarks.")]
    for name in ("load_dogs_birds", "load_mnist_crowd", "load_orchestra", "load_uci"):
        once = cache(getattr(datasets, name))
        for module in known:
            if name in vars(module):
                monkeypatch.setattr(module, name, once)


@pytest.mark.parametrize("group", [*NETWORKS, "inputs", "others", pytest.param(OF_NETWORKS, marks=pytest.mark.slow)])
def test_sentinels_agree_with_the_record(group, loaded_once):
    """If figures are meant to change: `python -m benchmarks.papers --changed`, which marks rows as out of date."""
    if group in NETWORKS:
        require_recorded("jax")
    keys = [key for key, sentinel in all_sentinels().items() if group_of(sentinel) == group]
    figures, record = declaring.take_all(keys), SentinelRecord()
    assert [said for _, said in declaring.differences(figures, record)] == []
    assert keys


def test_every_recorded_sentinel_is_still_taken():
    assert set(SentinelRecord().entries) == set(all_sentinels())


def test_every_row_of_a_model_has_a_sentinel_of_it():
    """A new setting on a page brings its own; that of another family does not stand for it."""
    known = all_sentinels()
    for one_page, part, cell in sentinels.cells():
        keys = sentinels.keys_of(one_page, part, cell)
        models = [] if cell.estimator is None else list(estimators_in(cell.estimator))
        assert {type(model).__name__ for model in models} <= {known[key].subject for key in keys if key in known}


# ---- what a sentinel stands for


def test_a_family_is_what_differs_from_defaults_with_words_and_without_numbers():
    assert family_of(DawidSkene()) == ""
    assert family_of(DawidSkene(prior=None)) == "prior=None"
    assert family_of(KCC(7, utility="entropy", random_state=3)) == "n_clusters, utility=entropy"
    nested = InductiveConsensus(CSPA(4, random_state=0), LogisticRegression(C=0.1))
    assert family_of(nested) == "LogisticRegression, CSPA"


def test_estimators_are_found_in_pipelines_and_in_one_another():
    nested = make_pipeline(StandardScaler(), InductiveConsensus(CSPA(4), LogisticRegression()))
    assert [type(one).__name__ for one in estimators_in(nested)] == ["InductiveConsensus", "CSPA"]


def test_a_row_depends_on_its_model_on_scores_and_on_its_input():
    one_page, part, cell = next(
        (one_page, part, cell)
        for one_page, part, cell in sentinels.cells()
        if part.name == "simulated" and isinstance(cell.estimator, KCC)
    )
    found = sentinels.keys_of(one_page, part, cell)
    assert found == {f"input(groupings, simulated, {cell.data})", "KCC()", "nmi()", "ari()"}


def test_rows_that_are_compared_with_the_vote_depend_on_it():
    (keys,) = {
        frozenset(sentinels.keys_of(one_page, part, cell))
        for one_page, part, cell in sentinels.cells()
        if one_page.name == "labels" and cell.key == ("recorded", "bluebird", "crowd-kit GLAD", 1)
    }
    assert "MajorityVote()" in keys


# ---- figures


def test_sums_tell_values_and_places_apart():
    values = np.array([[1.0, 2.0], [3.0, np.nan]])
    assert sums_of(values)[:2] == [3.0, float(f"{14**0.5:.10g}")]
    assert not are_close(sums_of(values), sums_of(values[:, ::-1]), 1e-6)
    assert not are_close(sums_of(values), sums_of(values.T), 1e-6)
    assert are_close(sums_of(values), sums_of(values * (1 + 1e-8)), 1e-6)
    assert not are_close(sums_of(values), sums_of(values * (1 + 1e-5)), 1e-6)
    assert not are_close(sums_of(values), sums_of(np.nan_to_num(values)), 1e-6)


def test_names_count_by_the_order_in_which_they_occur():
    assert sentinels.numbers_of(np.array(["b", "a", "b"])).tolist() == [0, 1, 0]
    assert sentinels.numbers_of(pd.DataFrame({"x": [1.5, 2.0], "y": ["p", "q"]})).tolist() == [1.5, 2.0, 0, 1]
    assert sentinels.numbers_of([np.array([True]), {"a": 2}]).tolist() == [1, 2]


@pytest.mark.parametrize("changed", ["one figure", "a figure less", "a figure more"])
def test_a_figure_that_differs_is_named(changed):
    then = {"a": [1.0, 1.0, 1.0, 1.0], "annotations": "abc"}
    now = {
        "one figure": then | {"a": [1.0, 1.0, 1.0, 1.00001]},
        "a figure less": {"annotations": "abc"},
        "a figure more": then | {"b": [1.0, 0.0, 0.0, 0.0]},
    }[changed]
    sentinel = Sentinel("Model", "", dict)
    assert sentinel.differences(then, dict(then)) == []
    assert sentinel.differences(now, then) == ["b" if changed == "a figure more" else "a"]
    assert sentinel.changes(now, then) == (["a"] if changed == "one figure" else [])
    assert sentinel.differences(then | {"annotations": "abd"}, then) == ["annotations"]


def test_the_sizes_of_a_sentinel_are_small_and_its_words_stay():
    model = sentinels.shrunk(MCVC(20, max_views=9, implied_pairs="all"))
    assert (model.n_clusters, model.max_views, model.implied_pairs, model.n_init) == (4, 2, "all", 2)


# ---- inputs


def test_an_input_is_told_by_its_codes_and_not_by_names():
    labels = small_crowds.labels()
    frame = labels.to_frame()
    renamed = frame.assign(item="x" + frame["item"], annotator="y" + frame["annotator"])
    items = [f"x{name}" for name in labels.items]
    assert input_of(Labels.from_frame(renamed, items=items)) == input_of(labels)
    flipped = frame.assign(label=frame["label"].where(frame.index > 0, "s"))
    assert input_of(Labels.from_frame(flipped, items=labels.items)) != input_of(labels)


def test_features_may_differ_in_the_last_digits():
    table = small_crowds.features()
    other = input_of(table * (1 + 1e-12))["features"]
    assert are_close(input_of(table)["features"], other, 1e-9)
    assert not are_close(input_of(table)["features"], input_of(table + 1e-3)["features"], 1e-6)


def test_a_computation_ends_at_its_first_fit():
    after = []
    with first_input(stop=True) as found:
        MajorityVote().fit(small_crowds.labels())
        after.append("fitted")
    assert found == input_of(small_crowds.labels())
    assert after == []
    with first_input() as found:
        model = MajorityVote().fit(small_crowds.labels())
    assert found == input_of(small_crowds.labels())
    assert MajorityVote.fit is type(model).fit
    with pytest.raises(ValueError, match="of its own"), first_input(stop=True):
        raise ValueError("of its own")
    assert not issubclass(Reached, Exception)  # a script that records failures of fits must not record this


# ---- declaring


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A page of two models whose sentinels give numbers that a test can change."""
    numbers = {"KCC": 1.0, "CSPA": 2.0}
    made = {f"{name}()": Sentinel(name, "", lambda name=name: {"score": sums_of([numbers[name]])}) for name in numbers}
    cells = [Cell("part", "data", model, 0, estimator) for model, estimator in (("KCC", KCC()), ("CSPA", CSPA()))]
    (tmp_path / "toy.rst.jinja").write_text("A page.\n", "utf-8")

    class Toy(Page):
        def record(self):
            return Record("toy", tmp_path)

        @property
        def folder(self):
            return tmp_path

    found = Toy("toy", parts=(Part("part", lambda: cells, compute_nothing),), tables=lambda record: {})
    monkeypatch.setattr(sentinels, "all_sentinels", lambda: made)
    monkeypatch.setattr(sentinels, "pages", lambda: [found])
    monkeypatch.setattr(declaring, "SentinelRecord", lambda: SentinelRecord(tmp_path))
    monkeypatch.setattr(declaring, "commit", lambda: "abc")
    page.compute(found, n_jobs=1)
    declaring.declare([])
    return found, numbers


def compute_nothing(cell):
    return {"value": 1.0}


def test_a_changed_model_is_declared_and_its_rows_are_out_of_date(toy):
    found, numbers = toy
    assert list(page.notes(found)) == []  # first figures declare nothing
    numbers["KCC"] = 1.1
    figures = declaring.take_all(["KCC()", "CSPA()"])
    (said,) = declaring.problems(figures, declaring.SentinelRecord())
    assert said.startswith("KCC() differs from the record in score; declare it by")
    assert declaring.declare([]) == ["KCC() differs from the record in score", "toy: 1 rows are out of date"]
    assert declaring.problems(figures, declaring.SentinelRecord()) == []
    assert list(page.notes(found)) == ["toy: part, KCC: 1 rows, out of date since abc; to be computed again"]
    assert "Out of date: 1 of part, KCC" in (found.folder / "toy.rst").read_text("utf-8")
    assert page.compute(found, n_jobs=1) == 1
    assert list(page.notes(found)) == []


def test_a_sentinel_with_more_figures_is_recorded_and_puts_no_row_out_of_date(toy, monkeypatch):
    found, _ = toy
    more = {"score": sums_of([1.0]), "size": sums_of([3.0])}
    changed = {**sentinels.all_sentinels(), "KCC()": Sentinel("KCC", "", lambda: more)}
    monkeypatch.setattr(sentinels, "all_sentinels", lambda: changed)
    assert declaring.declare([]) == ["KCC() differs from the record in size"]
    assert list(page.notes(found)) == []
    assert declaring.SentinelRecord().figures("KCC()") == more


def test_a_subject_can_be_declared_although_no_sentinel_saw_it(toy):
    found, numbers = toy
    numbers["KCC"] = 1.1
    assert declaring.declare(["CSPA"]) == ["CSPA is declared as changed", "toy: 1 rows are out of date"]
    assert list(page.notes(found)) == ["toy: part, CSPA: 1 rows, out of date since abc; to be computed again"]
    with pytest.raises(ValueError, match="There is no sentinel of Kcc"):
        declaring.declare(["Kcc"])


def test_a_sentinel_that_is_no_longer_taken_is_named(toy):
    record = declaring.SentinelRecord()
    record.add("CSPA(old)", {}, "abc")
    figures = declaring.take_all(["KCC()", "CSPA()"])
    (said,) = declaring.problems(figures, record)
    assert said.startswith("CSPA(old) is recorded but no longer taken")
    assert replace(all_sentinels()["MajorityVote()"], family="x").key == "MajorityVote(x)"
