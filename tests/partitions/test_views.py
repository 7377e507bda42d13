"""MCVC and MECC fitted to partitions are MCVC and MECC fitted in memory."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings
from consilience.annotations.canonical import arrange
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.iterate import UnsettledWarning
from consilience.inference.pair_evidence import PairEvidence
from consilience.metrics import ami
from consilience.partitions import (
    PartitionedItems,
    PartitionedTable,
    fit,
    item_results,
    item_survey,
    view_results,
    view_sums,
    views,
    write_item_results,
)
from consilience.partitions.map_reduce import LocalParts
from consilience.partitions.view_sweeps import Sweeps, Swept, clusters_bounds
from consilience.semisupervised import MCVC, MECC, mcvc
from consilience.semisupervised.mcvc import Prior, Problem
from tests.partitions import made
from tests.partitions.test_fitting import PARTITIONINGS as OF_LABELS

FEATURES, SORTERS = [f"x{number}" for number in range(4)], [f"annotator {number}" for number in range(6)]
SETTINGS = {"n_clusters": 3, "n_init": 2, "tol": 1e-5, "random_state": 0}
SEVERAL = {"n_clusters": 3, "n_init": 8}
EXACT, CLOSE = {"rtol": 1e-10, "atol": 1e-10}, {"rtol": 1e-6, "atol": 1e-6}
MODELS = {
    "MCVC": lambda **options: MCVC(**SETTINGS | options),
    "MECC": lambda **options: MECC(**SETTINGS | options),
}
OF_ITEMS = {
    "one": lambda frame: [frame],
    "interleaved": lambda frame: [frame[number::5] for number in range(5)],
    "skewed": lambda frame: [frame[:1], frame[1:]],
    "with an empty one": lambda frame: [frame[:0], frame[:30], frame[30:], frame[:0]],
    "one without labels": lambda frame: [
        frame[frame[SORTERS].isna().all(axis=1)],
        frame[frame[SORTERS].notna().any(axis=1)],
    ],
    "an annotator in one only": lambda frame: [frame[frame[SORTERS[0]].isna()], frame[frame[SORTERS[0]].notna()]],
}


def items(n=100, *, seed=0, right=0.85, blank=0.4):
    """Items of three clusters in each of two views, by which annotators sort in turn; every tenth has no label."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(3, size=(2, n))
    features = np.concatenate([3 * rng.normal(size=(3, 2))[own] for own in clusters], axis=1)
    frame = pd.DataFrame(features + rng.normal(size=features.shape), columns=FEATURES)
    frame.insert(0, "item", [f"item {number}" for number in rng.permutation(n)])
    for number, name in enumerate(SORTERS):
        said = np.where(rng.random(n) < right, clusters[number % 2], rng.integers(3, size=n))
        labels = np.array([f"pile {pile}" for pile in said], dtype=object)
        labels[(rng.random(n) < blank) | (np.arange(n) % 10 == 0)] = None
        frame[name] = labels
    return frame


def sorts(n=100):
    """The labels of such items as a long table, without features and with numbers for items."""
    frame = items(n, right=0.95, blank=0.1)
    table = frame.assign(item=range(len(frame))).melt("item", SORTERS, "annotator", "label").dropna()
    return table.assign(label=table["annotator"].str[-1] + " " + table["label"].astype(str))


def table_of(frames, **options):
    return PartitionedItems(frames, features=FEATURES, annotators=SORTERS, **options)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Annotators share hardly any labels", AnnotationWarning)
        return function(*arguments, **options)


def with_features(model, frame):
    named = frame.set_index("item")
    return quietly(model.fit, named[FEATURES], Groupings.from_matrix(named[SORTERS], missing=[]))


def without(model, frames):
    return quietly(lambda: model.fit(None, made.whole(frames)))


@cache
def in_memory(name, **options):
    return with_features(MODELS[name](**options), items())


def results_of(model, table, names):
    return pd.concat(item_results(model, table, responsibilities=True)).set_index("item").loc[names]


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


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cut", OF_ITEMS.values(), ids=OF_ITEMS)
def test_the_fit_with_features_is_that_in_memory(cut, name):
    here, table = in_memory(name), table_of(cut(items()))
    there = quietly(fit, MODELS[name](), table)
    assert_same_attributes(here, there, CLOSE)
    assert_same_results(here, there, table)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cut", OF_LABELS.values(), ids=OF_LABELS)
def test_the_fit_without_features_is_that_in_memory(cut, name):
    frames = cut(sorts())
    here, there = (MODELS[name](n_init=8) for _ in range(2))
    without(here, frames)
    quietly(fit, there, PartitionedTable(frames))
    assert_same_attributes(here, there, CLOSE)
    assert_same_results(here, there, PartitionedTable(frames))


@pytest.mark.parametrize("n_sweeps", [1, 3])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cut", OF_ITEMS.values(), ids=OF_ITEMS)
def test_each_sweep_of_a_fit_is_that_in_memory(cut, name, n_sweeps):
    options = {"max_iter": n_sweeps, "tol": 0.0}
    there = quietly(fit, MODELS[name](**options), table_of(cut(items())))
    assert_same_attributes(in_memory(name, **options), there, EXACT)


@pytest.mark.parametrize(
    "options",
    [
        {"max_views": 4, "stick_concentration": 3.0},
        {"n_init": 8, "implied_pairs": "independent"},
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


# ---- sweeps from a state that no search has found


def sweeps_of(frames, n_views, implied, folder, *, first):
    """The model over partitions and in memory, and a random state of both; `first` changes that."""
    table = table_of(frames)
    own = [item_survey.read_own_items(one) for one in enumerate(table.partitions)]
    survey = sum((item_survey.item_survey_of(one) for one in own[1:]), item_survey.item_survey_of(own[0]))
    everything = item_survey.joined_sample(
        [item_survey.sampled_items(one, survey.first, 2**64 - 1) for one in own], survey.nothing()
    )
    arranged = arrange(everything.groupings, everything.features)
    ordered = arranged.ordered
    evidence = PairEvidence.of(ordered, implied=implied)
    problem = Problem.of(everything.features[arranged.items], evidence, Prior(1.0, 10.0, 1.0), 4)
    state = first(mcvc.init(problem, n_views, 1, rng=np.random.default_rng(0)))

    keys = ordered.vocabulary.group_keys()
    items = LocalParts([views.prepared(one, keys, survey.first, 2**64 - 1) for one in own], folder)
    sizes = items.total(views.counted).sizes
    among = views.among_groups(ordered, sizes, implied)
    nothing = replace(problem.design, x=problem.design.x[:0], squares=problem.design.x[:0])
    over = Sweeps(replace(problem, design=nothing, evidence=among), problem, survey.n_items)
    eta = np.empty_like(state.eta)
    eta[arranged.items] = state.eta
    messages = view_sums.Messages.of(among, np.zeros((len(keys), 4, n_views)), *np.zeros((2, len(SORTERS), n_views)))
    parts = items.map(views.started, eta, survey.first, state.weights, messages)
    columns = np.arange(n_views)
    sums, logs = parts.total(view_sums.summed, columns), parts.total(view_sums.log_sums, state.weights)
    of_views = clusters_bounds(state.weights, sums, logs)
    there = Swept(parts, replace(state, eta=state.eta[:0], of_views=of_views), sums, logs)
    return problem, replace(state, of_views=of_views), over, there, arranged.items


def eta_of(part):
    return part.eta


def assert_same_state(here, there, order, close, views):
    eta = np.concatenate(list(there.parts.results(eta_of)))[order]
    np.testing.assert_allclose(eta[:, :, views], here.eta[:, :, views], **close)
    np.testing.assert_allclose(there.own.weights.mean[:, :, views], here.weights.mean[:, :, views], **close)
    for name in ("phi", "right", "sticks", "of_views", "bounds"):
        np.testing.assert_allclose(getattr(there.own, name), getattr(here, name), **close, err_msg=name)


@pytest.mark.parametrize("implied", ["all", "independent"])
@pytest.mark.parametrize("cut", OF_ITEMS.values(), ids=OF_ITEMS)
def test_each_sweep_is_that_in_memory(cut, implied, tmp_path):
    problem, here, over, there, order = sweeps_of(cut(items()), 3, implied, tmp_path, first=lambda state: state)
    for _ in range(4):
        here, there = mcvc.step(problem, here), over.step(there)
        assert_same_state(here, there, order, EXACT, np.arange(3))


@pytest.mark.parametrize("cut", OF_ITEMS.values(), ids=OF_ITEMS)
def test_a_view_that_nobody_follows_is_that_in_memory(cut, tmp_path):
    """Its bound is as exact as that of any other; L-BFGS finds the same weights up to its threshold."""

    def abandoned(state):
        phi = state.phi.copy()
        phi[:, :, 1] = 0.0
        return replace(state, phi=phi / phi.sum(2, keepdims=True))

    problem, here, over, there, order = sweeps_of(cut(items()), 3, "all", tmp_path, first=abandoned)
    for _ in range(3):
        here, there = mcvc.step(problem, here), over.step(there)
        assert there.own.of_views[1] == pytest.approx(problem.unused[2], rel=1e-10)
        assert_same_state(here, there, order, EXACT, np.array([0, 2]))
        assert_same_state(here, there, order, {"rtol": 1e-3, "atol": 1e-3}, np.array([1]))


def test_chunks_change_nothing_but_rounding(tmp_path, monkeypatch):
    problem, here, over, there, order = sweeps_of([items()], 3, "all", tmp_path, first=lambda state: state)
    monkeypatch.setattr(view_sums, "CHUNK_ENTRIES", 7 * 4 * 3)
    assert_same_state(mcvc.step(problem, here), over.step(there), order, EXACT, np.arange(3))


def test_threads_change_no_digit():
    table = table_of(OF_ITEMS["interleaved"](items()))
    one, several = (quietly(fit, MODELS["MCVC"](), table, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert one.lower_bounds_.tolist() == several.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(one.view_probabilities_, several.view_probabilities_, rtol=0, atol=0)


# ---- beyond the sample


@pytest.mark.parametrize(("name", "options"), [("MCVC", {"max_views": 2}), ("MECC", {"tol": 1e-4})])
def test_a_large_table_starts_from_a_sample(name, options, monkeypatch):
    """The bound is about that in memory, and the same for any partitioning."""
    frame = items(600)
    monkeypatch.setattr(views, "SAMPLE", 200)
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
    monkeypatch.setattr(views, "SAMPLE", 200)
    fitted = [
        quietly(fit, MODELS["MCVC"](**SEVERAL, max_views=2), PartitionedTable(made.cut(frame, n))) for n in (2, 5)
    ]
    assert fitted[0].lower_bound_ == pytest.approx(fitted[1].lower_bound_, rel=1e-8)
    here = without(MODELS["MCVC"](**SEVERAL, max_views=2), [frame])
    assert fitted[0].lower_bound_ == pytest.approx(here.lower_bound_, rel=0.01)


def test_a_sample_without_a_pair_is_a_start_like_any_other(monkeypatch):
    frame = items()
    monkeypatch.setattr(views, "SAMPLE", 3)
    model = quietly(fit, MODELS["MECC"](), table_of([frame[:100], frame[100:]]))
    assert np.isfinite(model.lower_bound_)


# ---- results of items


@pytest.fixture(scope="module")
def table():
    frame = items()
    return table_of([frame[:60], frame[60:]])


@pytest.fixture(scope="module")
def fitted(table):
    return quietly(fit, MODELS["MCVC"](), table)


def test_new_items_are_predicted_as_in_memory(fitted):
    X, here = items(seed=1).set_index("item")[FEATURES], in_memory("MCVC")
    for view in range(len(here.views_)):
        np.testing.assert_allclose(fitted.predict_proba(X, view), here.predict_proba(X, view), **CLOSE)
    assert fitted.predict(X).tolist() == here.predict(X).tolist()


def test_attributes_of_items_are_not_had(fitted):
    assert not {"items_", "labels_", "responsibilities_", "view_labels_", "view_responsibilities_", "_given"} & set(
        vars(fitted)
    )


def test_results_have_a_column_for_each_view(fitted, table):
    found = next(item_results(fitted, table))
    assert found.columns.tolist() == [
        "item",
        *(f"{what} in view {view}" for view in range(len(fitted.views_)) for what in ("cluster", "probability")),
    ]
    each = next(item_results(fitted, table, responsibilities=True))
    assert each.columns[-1] == f"cluster {fitted.views_['n_clusters'].iloc[-1] - 1} in view {len(fitted.views_) - 1}"
    model = quietly(fit, MODELS["MECC"](), table)
    assert next(item_results(model, table)).columns.tolist() == ["item", "cluster", "probability"]


def test_an_item_without_labels_has_a_cluster_if_it_has_features(fitted, table):
    frame = items()
    blank = frame.assign(**dict.fromkeys(SORTERS))[:20]
    found = next(item_results(fitted, table_of([blank])))["cluster in view 0"]
    assert found.dtype == np.dtype(int)
    of_labels = sorts()
    nothing = pd.DataFrame({"item": ["u", "v"], "annotator": None, "label": None})
    blanks = PartitionedTable([of_labels, nothing, of_labels[:0]])
    model = quietly(fit, MODELS["MECC"](), blanks)
    _, missing, none = item_results(model, blanks, responsibilities=True)
    assert missing["cluster"].isna().all()
    assert missing["probability"].isna().all()
    np.testing.assert_allclose(missing.filter(like="cluster ").sum(axis=1), 1.0)
    assert len(none) == 0
    assert none.columns.tolist() == missing.columns.tolist()


def test_results_are_written(tmp_path):
    pytest.importorskip("pyarrow")
    frame = items().drop(columns="item")
    numbered = table_of([frame[:0], frame[:30], frame[30:]])
    model = quietly(fit, MODELS["MCVC"](), numbered)
    write_item_results(model, numbered, tmp_path, responsibilities=True)
    expected = pd.concat(item_results(model, numbered, responsibilities=True))
    assert expected["item"].tolist() == list(range(100))
    written = pd.concat(map(pd.read_parquet, sorted(tmp_path.iterdir())))
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)


def test_what_an_item_tells_its_groups_is_not_told_to_it():
    """A fixed point for weights of the own part of either sign, with one cluster that is certain, and without items."""
    rng = np.random.default_rng(0)
    told, own = 20 * rng.normal(size=(500, 4)), 10 * rng.normal(size=500)
    own[:50] = 0.0
    found = view_results.settled(told, own)
    np.testing.assert_allclose(softmax(told - own[:, None] * found, axis=1), found, atol=1e-8)
    np.testing.assert_allclose(found[:50], softmax(told[:50], axis=1), atol=1e-10)
    assert view_results.settled(told[:0], own[:0]).shape == (0, 4)


def test_a_model_fitted_in_memory_has_no_results_of_partitions(table):
    model = quietly(fit, MODELS["MECC"](), table)
    with_features(model, items())
    with pytest.raises(InputError, match="This one was fitted in memory: see its view_labels_"):
        next(item_results(model, table))
    quietly(fit, model, table)
    assert not {"items_", "labels_", "view_labels_"} & set(vars(model))


# ---- what is told


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


def test_a_fit_shows_its_sweeps(table, capsys):
    quietly(fit, MODELS["MECC"](verbose=True), table)
    assert capsys.readouterr().out == ""


def test_what_partitions_cannot_fit_is_refused(tmp_path, table, fitted):
    with pytest.raises(InputError, match=r"A checkpoint of an MECC would hold a row for each item. Fit it without one"):
        fit(MODELS["MECC"](), table, checkpoint=tmp_path / "fit.npz")
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
    with pytest.raises(InputError, match="Say whether it means that the annotator gave no label"):
        fit(MODELS["MECC"](), PartitionedTable([sorts().assign(label=-1)]))
    with pytest.raises(InputError, match="All rows of an item must be in one partition"):
        fit(MODELS["MECC"](), PartitionedTable([sorts()[:101], sorts()[101:]]))
    assert quietly(fit, MODELS["MECC"](), table_of([items().replace("pile 0", -1)], missing=-1)).n_iter_ > 0


# ---- clusters


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does_and_survives_a_killed_worker(client, tmp_path, monkeypatch):
    """η that is lost with its worker is made again, sweep by sweep."""
    table, path = table_of(OF_ITEMS["interleaved"](items())), tmp_path / "sweeping"
    here = quietly(fit, MODELS["MECC"](), table)
    killed, step, swept = made.kill_one_of(client, path), Sweeps.step, []

    def watched(self, state):
        swept.append(state)
        if len(swept) == 4:
            path.touch()
            killed.wait()
        return step(self, state)

    monkeypatch.setattr(Sweeps, "step", watched)
    there = quietly(fit, MODELS["MECC"](), table, client=client)
    assert killed.is_set()
    assert here.n_iter_ > 10
    assert here.lower_bounds_.tolist() == there.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(here.view_probabilities_, there.view_probabilities_, rtol=0, atol=0)
