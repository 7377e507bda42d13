"""MCVC and MECC fitted to partitions are MCVC and MECC fitted in memory."""

import numpy as np
import pandas as pd
import pytest

from consilience.errors import InputError
from consilience.inference.iterate import UnsettledWarning
from consilience.metrics import ami
from consilience.partitions import PartitionedTable, fit, item_results
from consilience.partitions.models import mcvc
from consilience.semisupervised import MCVC
from tests.partitions import made
from tests.partitions.test_fitting import PARTITIONINGS as OF_LABELS
from tests.partitions.view_tables import (
    CLOSE,
    EXACT,
    MODELS,
    OF_ITEMS,
    SEVERAL,
    SORTERS,
    in_memory,
    items,
    quietly,
    results_of,
    sorts,
    table_of,
    with_features,
    without,
)


def assert_same_attributes(here, there, close):
    assert (here.n_iter_, here.converged_, here.n_clusters_) == (there.n_iter_, there.converged_, there.n_clusters_)
    for name in ("lower_bounds_", "restart_bounds_", "lower_bound_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), **close)
    pd.testing.assert_frame_equal(there.views_, here.views_, **close)
    for name in ("annotators_", "view_probabilities_"):
        found, expected = getattr(there, name), getattr(here, name)
        pd.testing.assert_frame_equal(found.loc[expected.index], expected, check_index_type=False, **close)
    for found, expected in zip(there._owned, here._owned, strict=True):
        assert found.tolist() == expected.tolist()
    for found, expected in zip(there._weights, here._weights, strict=True):
        np.testing.assert_allclose(found[0], expected[0], **close)
        np.testing.assert_allclose(found[1], expected[1], **close)
    assert getattr(here, "notes_", None) == getattr(there, "notes_", None)


def assert_same_results(here, there, table):
    """Clusters of all items with groups or features; probabilities are those of a settled η."""
    results = results_of(there, table, here.items_)
    for view, expected in enumerate(here.view_responsibilities_):
        place = f" in view {view}" if isinstance(here, MCVC) else ""
        known = results[f"cluster{place}"].notna()
        assert known.all() or not hasattr(here, "n_features_in_")
        assert results[f"cluster{place}"][known].tolist() == here.view_labels_[view][known.to_numpy()].tolist()
        found = results[[f"cluster {number}{place}" for number in range(expected.shape[1])]]
        np.testing.assert_allclose(found, expected, atol=1e-3)
        largest = results[f"probability{place}"][known]
        np.testing.assert_allclose(largest, found[known].max(axis=1), rtol=1e-12)


# ---- as in memory


def in_turn(cuts):
    """Every model with every partitioning, slow but for one model a partitioning."""
    names = list(MODELS)
    return pytest.mark.parametrize(
        ("cut", "name"),
        [
            pytest.param(cut, name, id=f"{called}-{name}", marks=() if turn % 2 == number else pytest.mark.slow)
            for turn, (called, cut) in enumerate(cuts.items())
            for number, name in enumerate(names)
        ],
    )


@in_turn(OF_ITEMS)
def test_the_fit_with_features_is_that_in_memory(cut, name):
    here, table = in_memory(name), table_of(cut(items()))
    there = quietly(fit, MODELS[name](), table)
    assert_same_attributes(here, there, CLOSE)
    assert_same_results(here, there, table)


@in_turn(OF_LABELS)
def test_the_fit_without_features_is_that_in_memory(cut, name):
    frames = cut(sorts())
    here, there = (MODELS[name](n_init=8) for _ in range(2))
    without(here, frames)
    quietly(fit, there, PartitionedTable(frames))
    assert_same_attributes(here, there, CLOSE)
    assert_same_results(here, there, PartitionedTable(frames))


@pytest.mark.parametrize("n_sweeps", [pytest.param(1, marks=pytest.mark.slow), 3])
@in_turn(OF_ITEMS)
def test_each_sweep_of_a_fit_is_that_in_memory(cut, name, n_sweeps):
    options = {"max_iter": n_sweeps, "tol": 0.0}
    there = quietly(fit, MODELS[name](**options), table_of(cut(items())))
    assert_same_attributes(in_memory(name, **options), there, EXACT)


@pytest.mark.parametrize(
    "options",
    [
        {"max_views": 4, "stick_concentration": 3.0},
        pytest.param({"n_init": 8, "implied_pairs": "independent"}, marks=pytest.mark.slow),
        {"n_clusters": 2, "reliability_prior": (5.0, 2.0)},
        {"random_state": np.random.RandomState},
    ],
    ids=str,
)
def test_the_parameters_mean_the_same(options):
    def model():
        return MODELS["MCVC"](**{name: value(1) if callable(value) else value for name, value in options.items()})

    frame = items()
    table = table_of([frame[:60], frame[60:]])
    here, there = with_features(model(), frame), quietly(fit, model(), table)
    assert_same_attributes(here, there, CLOSE)
    assert_same_results(here, there, table)


def test_threads_change_no_digit():
    table = table_of(OF_ITEMS["interleaved"](items()))
    one, several = (quietly(fit, MODELS["MCVC"](), table, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert one.lower_bounds_.tolist() == several.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(one.view_probabilities_, several.view_probabilities_, rtol=0, atol=0)


# ---- beyond the sample


@pytest.mark.parametrize(("name", "options"), [("MCVC", {"max_views": 2}), ("MECC", {"tol": 1e-4})])
@pytest.mark.slow
@pytest.mark.slow
def test_a_large_table_starts_from_a_sample(name, options, monkeypatch):
    """The bound is about that in memory, and the same for any partitioning."""
    frame = items(600)
    monkeypatch.setattr(mcvc, "SAMPLE", 200)
    tables = [table_of(cut) for cut in ([frame[:250], frame[250:]], OF_ITEMS["interleaved"](frame))]
    fitted = [quietly(fit, MODELS[name](**SEVERAL | options), table) for table in tables]
    assert fitted[0].lower_bound_ == pytest.approx(fitted[1].lower_bound_, rel=1e-8)
    here = with_features(MODELS[name](**SEVERAL | options), frame)
    assert fitted[0].lower_bound_ == pytest.approx(here.lower_bound_, rel=0.01)
    found = [results_of(*one, here.items_) for one in zip(fitted, tables)]
    place = " in view 0" if name == "MCVC" else ""
    assert found[0][f"cluster{place}"].tolist() == found[1][f"cluster{place}"].tolist()
    assert ami(here.labels_, found[0][f"cluster{place}"].to_numpy()) > 0.95


def test_a_large_table_without_features_starts_from_a_sample(monkeypatch):
    frame = sorts(600)
    monkeypatch.setattr(mcvc, "SAMPLE", 200)
    fitted = [
        quietly(fit, MODELS["MCVC"](**SEVERAL, max_views=2), PartitionedTable(made.cut(frame, n))) for n in (2, 5)
    ]
    assert fitted[0].lower_bound_ == pytest.approx(fitted[1].lower_bound_, rel=1e-8)
    here = without(MODELS["MCVC"](**SEVERAL, max_views=2), [frame])
    assert fitted[0].lower_bound_ == pytest.approx(here.lower_bound_, rel=0.01)


@pytest.mark.parametrize("n_sampled", [1, 3])
def test_a_sample_without_a_pair_is_a_start_like_any_other(n_sampled, monkeypatch):
    frame = items()
    monkeypatch.setattr(mcvc, "SAMPLE", n_sampled)
    model = quietly(fit, MODELS["MECC"](tol=1e-3, n_init=8), table_of([frame[:40], frame[40:]]))
    assert np.isfinite(model.lower_bound_)


# ---- what is told


@pytest.fixture(scope="module")
def table():
    frame = items()
    return table_of([frame[:60], frame[60:]])


@pytest.fixture(scope="module")
def fitted(table):
    return quietly(fit, MODELS["MCVC"](), table)


def test_a_single_cluster_is_noted():
    """Annotators who sort at random have nothing in common."""
    said, rng = sorts(), np.random.default_rng(0)
    frames = made.cut(said.assign(label=said["annotator"] + rng.integers(3, size=len(said)).astype(str)), 2)
    here, there = without(MODELS["MECC"](), frames), quietly(fit, MODELS["MECC"](), PartitionedTable(frames))
    assert [note[:34] for note in there.notes_] == ["All 90 items are in one cluster, a"]
    assert here.notes_ == there.notes_


def test_a_fit_that_still_rises_is_told(table):
    with pytest.warns(UnsettledWarning, match="MECC: The objective still improved after max_iter=2 sweeps"):
        fit(MODELS["MECC"](max_iter=2, tol=0.0), table)


def test_what_partitions_cannot_fit_is_refused(tmp_path, table, fitted):
    with pytest.raises(InputError, match="The 'n_clusters' parameter of MCVC must be"):
        fit(MODELS["MCVC"](n_clusters=0), table)
    with pytest.raises(InputError, match="must be a PartitionedItems or a PartitionedTable"):
        fit(MODELS["MCVC"](), items())
    with pytest.raises(InputError, match=r"needs judgements of pairs; the annotations hold none \(n_samples=100\)"):
        fit(MODELS["MCVC"](), table_of([items().assign(**dict.fromkeys(SORTERS))]))
    alone = items().assign(**dict.fromkeys(SORTERS[1:])).assign(**{SORTERS[0]: ["a pile"] + [None] * 99})
    with pytest.raises(InputError, match=r"needs judgements of pairs; the annotations hold none \(n_samples=100\)"):
        fit(MODELS["MECC"](), table_of([alone[:30], alone[30:]]))
    strange = items().assign(**{SORTERS[0]: "a new pile"})
    with pytest.raises(InputError, match="partition 0: the group 'a new pile' of annotator 'annotator 0' was not fit"):
        next(item_results(fitted, table_of([strange])))
    with pytest.raises(InputError, match="The table of a MCVC must be a PartitionedItems"):
        next(item_results(fitted, PartitionedTable([sorts()])))
    with pytest.raises(InputError, match="can be read in two ways with 0 and 1"):
        fit(MODELS["MECC"](), PartitionedTable([sorts().assign(label=[row % 3 - 1 for row in range(len(sorts()))])]))
    with pytest.raises(InputError, match="All rows of an item must be in one partition"):
        fit(MODELS["MECC"](), PartitionedTable([sorts()[:101], sorts()[101:]]))
    assert quietly(fit, MODELS["MECC"](), table_of([items().replace("pile 0", -1)], missing=-1)).n_iter_ > 0


# ---- clusters


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("MECC", 1000),
        ("MCVC", 40),
        *(pytest.param(name, sample, marks=pytest.mark.slow) for name, sample in [("MECC", 40), ("MCVC", 1000)]),
    ],
)
@pytest.mark.slow
@pytest.mark.slow
def test_an_interrupted_fit_goes_on(tmp_path, monkeypatch, name, sample):
    monkeypatch.setattr(mcvc, "SAMPLE", sample)
    table, path = table_of(OF_ITEMS["interleaved"](items())), tmp_path / "fit.npz"
    whole = quietly(fit, MODELS[name](), table)
    step, done = mcvc.step, []

    def failing(over, state):
        done.append(state)
        if len(done) in (2, 3):
            raise KeyboardInterrupt
        return step(over, state)

    with monkeypatch.context() as patched:
        patched.setattr(mcvc, "step", failing)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                fit(MODELS[name](), table, checkpoint=path)
    with monkeypatch.context() as patched:
        patched.setattr(mcvc.mcvc_search, "search", None)  # the search is not repeated
        resumed = quietly(fit, MODELS[name](), table, checkpoint=path)
    assert resumed.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    assert resumed.restart_bounds_.tolist() == whole.restart_bounds_.tolist()
    pd.testing.assert_frame_equal(resumed.annotators_, whole.annotators_, rtol=0, atol=0)
    found = [pd.concat(item_results(model, table)) for model in (whole, resumed)]
    pd.testing.assert_frame_equal(*found, rtol=0, atol=0)
    monkeypatch.setattr(mcvc, "step", None)  # no sweep is left
    assert quietly(fit, MODELS[name](), table, checkpoint=path).lower_bound_ == whole.lower_bound_
    assert len(list((tmp_path / "fit.npz.items").iterdir())) == 2 * 5  # of two sweeps
    with pytest.raises(InputError, match="is the checkpoint of another fit: its data differ"):
        fit(MODELS[name](), table_of([items(seed=1)]), checkpoint=path)


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does_and_survives_a_killed_worker(client, tmp_path, monkeypatch):
    """η that is lost with its worker is made again, sweep by sweep."""
    table, path = table_of(OF_ITEMS["interleaved"](items())), tmp_path / "sweeping"
    here = quietly(fit, MODELS["MECC"](), table)
    killed, step, swept = made.kill_one_of(client, path), mcvc.step, []

    def watched(over, state):
        swept.append(state)
        if len(swept) == 4:
            path.touch()
            killed.wait()
        return step(over, state)

    monkeypatch.setattr(mcvc, "step", watched)
    there = quietly(fit, MODELS["MECC"](), table, client=client)
    assert killed.is_set()
    assert here.n_iter_ > 10
    assert here.lower_bounds_.tolist() == there.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(here.view_probabilities_, there.view_probabilities_, rtol=0, atol=0)
