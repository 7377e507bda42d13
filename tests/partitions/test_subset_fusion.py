"""`SubsetFusion` over partitions: as in memory, for any partitioning."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from consilience import save
from consilience.annotations.canonical import arrange
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.elsewhere import told_of_items
from consilience.inference.memberships import Memberships
from consilience.metrics import ami
from consilience.partitions import PartitionedTable, fit, item_results
from consilience.partitions import write_item_results as write
from consilience.partitions.engine.map_reduce import LocalParts
from consilience.partitions.models import subset_fusion, subset_fusion_results, subset_fusion_sweeps, subset_fusion_walk
from consilience.partitions.survey.item_survey import read_labelled_items
from consilience.partitions.survey.label_survey import hashes_of
from consilience.simulation import simulate_labels
from tests.partitions import made
from tests.partitions.test_fitting import PARTITIONINGS
from tests.partitions.test_kcc import groups, whole
from tests.quick_cases import quick_in_turn, some_quick

SETTINGS = {"max_clusters": 8, "copies": None, "random_state": 0}
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def clear_groups(n_items=400, seed=0, accuracy=0.95):
    """Sorts by ten people who hardly err, as a rule."""
    kinds = np.random.default_rng(seed).choice(["cat", "cow", "dog"], n_items, p=[0.5, 0.3, 0.2])
    labels = simulate_labels(kinds, n_annotators=10, accuracy=accuracy, annotators_per_item=6, random_state=seed)
    frame = labels.to_frame().astype({"annotator": object, "label": object})
    return frame.assign(label=frame["annotator"].str[-1] + " " + frame["label"])


def assert_same_fit(settings, frames, **arguments):
    """Fit both ways, compare all attributes without an axis of items, and return both with the results of items."""
    table = PartitionedTable(frames)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        here = SubsetFusion(**settings).fit(whole(frames))
        there = fit(SubsetFusion(**settings), table, **arguments)
        results = pd.concat(item_results(there, table, responsibilities=True)).set_index("item").loc[here.items_]
    for name in ("n_clusters_", "refined_"):
        assert getattr(here, name) == getattr(there, name)
    assert here.silhouette_ == pytest.approx(there.silhouette_, rel=1e-10)
    pd.testing.assert_frame_equal(here.n_clusters_curve_, there.n_clusters_curve_, **CLOSE)
    pd.testing.assert_frame_equal(
        here.annotators_, there.annotators_.loc[here.annotators_.index], check_index_type=False, **CLOSE
    )
    np.testing.assert_allclose(here._shares, told_of_items(there).shares, **CLOSE)
    return here, there, results


@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 2), ids=PARTITIONINGS)
def test_the_fit_is_that_in_memory(cut):
    here, there, results = assert_same_fit(SETTINGS, cut(clear_groups()))
    assert here.notes_ == there.notes_
    assert results["cluster"].tolist() == here.labels_.tolist()
    np.testing.assert_allclose(results["probability"], here.responsibilities_.max(1), atol=0.1)
    assert np.abs(results.iloc[:, 2:].to_numpy() - here.responsibilities_).mean() < 0.01


@pytest.mark.parametrize(
    "settings",
    some_quick([{"normalize": None}, {"n_clusters": 1}, {"n_clusters": 5}, {"normalize": "presented", "n_init": 2}], 2),
)
def test_the_parameters_mean_the_same(settings):
    here, _, results = assert_same_fit(SETTINGS | settings, made.cut(groups(), 3))
    assert (results["cluster"].to_numpy() == here.labels_).mean() > 0.99


@pytest.mark.slow
def test_clusters_that_are_no_better_than_one_are_those_in_memory_up_to_a_few_items():
    """Of k-means' clusters only the counts of the groups remain."""
    here, there, results = assert_same_fit(SETTINGS, made.cut(groups(seed=5), 3))
    assert not here.refined_
    assert here.notes_ == there.notes_ != []
    assert (results["cluster"].to_numpy() == here.labels_).mean() > 0.9
    assert set(results["probability"]) == {1.0}


def test_clusters_that_need_no_inference_are_those_in_memory():
    sort = pd.DataFrame({"item": range(12), "label": list("aaaabbbbcccc")})
    agreed = pd.concat([sort.assign(annotator=name) for name in ("Ann", "Bo")])
    apart = pd.concat([sort.assign(annotator="Ann"), sort.assign(annotator="Bo", item=sort["item"] + 12)])
    alone = agreed.assign(label=agreed["item"].astype(str))
    for frame, n_clusters in ((agreed, 3), (apart, 6), (alone, 12)):
        here, there, results = assert_same_fit(SETTINGS, made.cut(frame, 4))
        assert there.n_clusters_ == n_clusters
        assert results["cluster"].tolist() == here.labels_.tolist()
        assert here.notes_ == there.notes_


def test_parts_that_nothing_links_have_clusters_of_their_own():
    frame = clear_groups(120)
    other = clear_groups(60, seed=1).assign(
        item=lambda own: own["item"] + 120,
        annotator=lambda own: "other " + own["annotator"],
        label=lambda own: "other " + own["label"],
    )
    here, there, results = assert_same_fit(SETTINGS | {"n_clusters": 3}, made.cut(pd.concat([frame, other]), 3))
    assert here.notes_ == there.notes_
    assert "fall into 2 parts (of 120, 60 items)" in there.notes_[0]
    assert (results["cluster"].to_numpy() == here.labels_).mean() == 1.0


def test_second_labels_items_without_labels_and_late_annotators_count_as_in_memory():
    frame = clear_groups()
    again = frame[:30].assign(label="another")
    blank = pd.DataFrame({"item": range(400, 406), "annotator": None, "label": None})
    late = frame[-10:].assign(annotator="a late one", label="late")
    frames = made.cut(pd.concat([frame, again, blank, late]), 3)
    here, there, results = assert_same_fit(SETTINGS, frames)
    assert (here.labels_ == -1).sum() == results["cluster"].isna().sum() == 6
    assert "6 of 406 items are in no grouping; they belong to no cluster." in there.notes_
    unseen = results[results["cluster"].isna()]
    np.testing.assert_allclose(unseen.iloc[:, 2:], told_of_items(there).shares[None].repeat(6, 0), **CLOSE)


# ---- sweeps


def spread_and_state(frame, tmp_path, n_parts=4):
    """A state in memory, and the same over partitions; with the items in canonical order."""
    ordered = arrange(whole([frame]).to_groupings()).ordered
    memberships = Memberships.of(ordered)
    layout = mixture.GroupingLayout.of(memberships)
    cluster = np.random.default_rng(0).integers(4, size=len(ordered))
    state = mixture.learn_concentration(layout, mixture.init(layout, cluster, 4))
    nothing = replace(ordered, items=pd.RangeIndex(0), incidence=ordered.incidence[:0])
    own = map(read_labelled_items, enumerate(PartitionedTable(made.cut(frame, n_parts)).partitions))
    first = np.zeros(n_parts, dtype=int)
    parts = [subset_fusion_sweeps.prepare_part(one, nothing, hashes_of(ordered.items), first) for one in own]
    over = subset_fusion_sweeps.SubsetFusionSweeps(
        mixture.GroupingLayout.of(Memberships.of(nothing)), len(ordered), len(ordered)
    )
    counts = mixture.count(layout, state)
    return layout, state, over, over.begun(LocalParts(parts, tmp_path), state, counts)


def clusters_of(spread, n_items):
    found = np.empty(n_items, dtype=int)
    for place, own in spread.parts.results(lambda own: (own.place, own.cluster)):
        found[place] = own
    return found


def test_each_sweep_is_that_in_memory(tmp_path):
    """Including the fifth, which learns concentrations."""
    layout, state, over, spread = spread_and_state(groups(), tmp_path)
    here, there = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(2 * mixture.LEARN_EVERY):
        state = mixture.sweep(layout, state, rng=here)
        spread = over.step(spread, subset_fusion_sweeps.Draws(there.random(400), (0,)))
        assert clusters_of(spread, 400).tolist() == state.cluster.tolist()
        for name, counts in vars(mixture.count(layout, state)).items():
            np.testing.assert_allclose(getattr(spread.counts, name), counts, **CLOSE)
        np.testing.assert_allclose(spread.state.concentration, state.concentration, rtol=1e-10)
        assert spread.state.log_pseudo_likelihood == pytest.approx(state.log_pseudo_likelihood, rel=1e-10)
        assert spread.state.restless == pytest.approx(state.restless, rel=1e-10)


def test_settling_and_sampling_are_those_in_memory(tmp_path):
    layout, state, over, spread = spread_and_state(groups(), tmp_path)
    here, start = np.random.default_rng(1), subset_fusion_walk.state_of(np.random.default_rng(1))
    over = replace(over, n_items=401)  # as if there were an item outside the sample
    walk = subset_fusion_walk.Walk(over, spread.parts, layout, [state], lambda spread: np.arange(2))
    place = walk.start(0, start)
    while not place.is_settled:
        place = walk.step(place)
    settled = mixture.drop_empty_clusters(mixture.settle(layout, state, rng=here))
    assert clusters_of(place.spread, 400).tolist() == settled.cluster.tolist()
    while not place.is_over:
        place = walk.step(place)
    probability = mixture.probabilities(layout, settled, rng=here)
    assert len(place.drawn_from) == mixture.SAMPLES
    for number, own in place.spread.parts.results(lambda own: (own.place, own.probability)):
        np.testing.assert_allclose(own / mixture.SAMPLES, probability[number], **CLOSE)


def test_the_probabilities_of_an_item_leave_it_out():
    """Brute force over the clusters that it may have been in."""
    ordered = arrange(whole([groups(60, 5)]).to_groupings()).ordered
    layout = mixture.GroupingLayout.of(Memberships.of(ordered))
    cluster = np.random.default_rng(0).integers(3, size=len(ordered))
    state = mixture.learn_concentration(layout, mixture.init(layout, cluster, 3))
    counts = mixture.count(layout, state)
    found = subset_fusion_results.without_own(layout, counts, state.concentration)
    for item in range(0, 60, 7):
        groups_of_it = ordered.incidence[[item]].indices
        weight, conditional = [], []
        for k in range(3):
            possible = (counts.of_groups[groups_of_it, k] >= 1).all()
            there = replace(state, cluster=np.where(np.arange(60) == item, k, cluster))
            scores = mixture.cluster_scores(layout, there, counts)[item] if possible else np.full(3, -np.inf)
            weight.append(scores[k])
            conditional.append(np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum() if possible else 0)
        weight = np.exp(np.array(weight) - max(weight))
        expected = sum(w * p for w, p in zip(weight / weight.sum(), conditional))
        np.testing.assert_allclose(found[item], expected, rtol=1e-10)


# ---- many items, results, clusters, refusals


@pytest.mark.slow
def test_a_large_table_begins_with_a_sample(monkeypatch):
    """The clusters of all items in memory up to a few, for any partitioning."""
    frame = clear_groups(1500, accuracy=0.75)
    here = SubsetFusion(**SETTINGS).fit(whole([frame]))
    monkeypatch.setattr(subset_fusion, "SAMPLE", 250)
    found = []
    for n in (2, 7):
        table = PartitionedTable(made.cut(frame, n))
        model = fit(SubsetFusion(**SETTINGS), table)
        assert model.n_clusters_ == here.n_clusters_
        found.append(pd.concat(item_results(model, table)).set_index("item")["cluster"].loc[here.items_].to_numpy(int))
        np.testing.assert_allclose(
            model.annotators_["consistency"], here.annotators_["consistency"][model.annotators_.index], atol=0.1
        )
    assert min(ami(here.labels_, one) for one in found) > 0.9
    assert ami(*found) > 0.97


@pytest.mark.slow
def test_threads_change_no_digit():
    table = PartitionedTable(made.cut(groups(), 5))
    one, several = fit(SubsetFusion(**SETTINGS), table), fit(SubsetFusion(**SETTINGS), table, n_jobs=3)
    assert one.silhouette_ == several.silhouette_
    pd.testing.assert_frame_equal(one.annotators_, several.annotators_, rtol=0, atol=0)


def test_results_are_written(tmp_path):
    table = PartitionedTable(made.cut(groups(), 3))
    model = fit(SubsetFusion(**SETTINGS), table)
    written = pd.concat(map(pd.read_parquet, write(model, table, tmp_path)))
    pd.testing.assert_frame_equal(written, pd.concat(item_results(model, table)), check_dtype=False)
    stranger = pd.DataFrame({"item": [1], "annotator": ["Zoe"], "label": ["x"]})
    with pytest.raises(InputError, match="partition 0: the group 'x' of annotator 'Zoe' was not fitted"):
        list(item_results(model, PartitionedTable([stranger])))


def test_items_of_a_fit_in_memory_have_their_labels_there(tmp_path):
    frame = clear_groups()
    table = PartitionedTable([frame])
    model = fit(SubsetFusion(**SETTINGS), table)
    with pytest.raises(InputError, match="This one was fitted in memory: see its labels_series_"):
        list(item_results(model.fit(whole([frame])), table))
    save(model, tmp_path / "model.zip")  # nothing of the fit to partitions is left
    assert not hasattr(fit(model, table), "labels_")


@pytest.mark.slow
@pytest.mark.parametrize("sample", some_quick([200, 1000]))
def test_an_interrupted_fit_goes_on(tmp_path, monkeypatch, sample):
    monkeypatch.setattr(subset_fusion, "SAMPLE", sample)
    table, path = PartitionedTable(made.cut(clear_groups(accuracy=0.85), 3)), tmp_path / "fit.npz"
    whole = fit(SubsetFusion(**SETTINGS), table)
    step, done = subset_fusion_walk.Walk.step, []

    def failing(walk, place):
        done.append(place)
        if len(done) in (5, 12, 25):
            raise KeyboardInterrupt
        return step(walk, place)

    with monkeypatch.context() as patched:
        patched.setattr(subset_fusion_walk.Walk, "step", failing)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                fit(SubsetFusion(**SETTINGS), table, checkpoint=path)
    resumed = fit(SubsetFusion(**SETTINGS), table, checkpoint=path)
    assert resumed.silhouette_ == whole.silhouette_
    pd.testing.assert_frame_equal(resumed.annotators_, whole.annotators_, rtol=0, atol=0)
    found = [pd.concat(item_results(model, table)) for model in (whole, resumed)]
    pd.testing.assert_frame_equal(*found, rtol=0, atol=0)
    monkeypatch.setattr(subset_fusion_walk.Walk, "step", None)  # no sweep is left
    assert fit(SubsetFusion(**SETTINGS), table, checkpoint=path).silhouette_ == whole.silhouette_
    rows = sorted((tmp_path / "fit.npz.items").iterdir())
    assert len(rows) == 2 * 3  # of two sweeps
    rows[-1].write_bytes(b"")
    with pytest.raises(InputError, match="is no checkpoint of a fit, or it is damaged"):
        fit(SubsetFusion(**SETTINGS), table, checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(SubsetFusion(n_clusters=4, **SETTINGS), table, checkpoint=path)


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does_and_survives_a_killed_worker(client, tmp_path):
    table = PartitionedTable(made.cut(groups(2000, 20), 5))
    here = fit(SubsetFusion(**SETTINGS), table)
    killed = made.kill_one_of(client, tmp_path / "fit.npz")
    there = fit(SubsetFusion(**SETTINGS), table, client=client, checkpoint=tmp_path / "fit.npz")
    assert killed.is_set()
    assert here.silhouette_ == there.silhouette_
    pd.testing.assert_frame_equal(here.annotators_, there.annotators_, rtol=0, atol=0)


def test_what_partitions_cannot_fit_is_refused(tmp_path):
    table = PartitionedTable(made.cut(groups(), 3))
    with pytest.raises(InputError, match="the 'copies' parameter of SubsetFusion must be None"):
        fit(SubsetFusion(), table)
    with pytest.raises(InputError, match="the 'refine' parameter of SubsetFusion must be True"):
        fit(SubsetFusion(refine=False, copies=None), table)
    with pytest.raises(InputError, match="the 'random_state' parameter of SubsetFusion must be an int"):
        fit(SubsetFusion(copies=None), table, checkpoint=tmp_path / "fit.npz")
    with pytest.raises(InputError, match="must be at most 400, the number of items that are in some grouping"):
        fit(SubsetFusion(500, copies=None), table)
    blank = pd.DataFrame({"item": [1, 2], "annotator": None, "label": None})
    with pytest.raises(InputError, match="SubsetFusion needs labels, and none of the 2 items has any"):
        fit(SubsetFusion(copies=None), PartitionedTable([blank]))
