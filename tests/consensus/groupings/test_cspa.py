"""CSPA: similarities and cluster numbers against their definitions, spectral clustering, odd evidence."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings
from consilience.consensus.groupings import co_occurrence
from consilience.consensus.groupings.cspa_estimator import CSPA
from consilience.consensus.groupings.meta_clustering_estimator import MetaClustering
from consilience.errors import InputError
from consilience.inference.spectral import degree_normalised_eigenpairs
from consilience.metrics.clusterings import nmi
from consilience.simulation import simulate_crowd
from tests.subset_groupings import arguments, dense, lists_of, made


@pytest.fixture(scope="module")
def crowd():
    truth = np.random.default_rng(0).permutation(np.arange(90) % 7 % 3)
    return truth, simulate_crowd(truth, n_annotators=30, items_each=30, accuracy=0.8, random_state=0)


@pytest.fixture(scope="module")
def model(crowd):
    return CSPA(3, random_state=0).fit(crowd[1])


@pytest.mark.parametrize("seed", range(3))
def test_complete_groupings_give_spectral_clustering_of_the_co_association_matrix(seed):
    """scikit-learn's k-means is on eigenvectors whose rows are not of length one; clear clusters are the same."""
    truth = np.arange(60) % 4
    groupings = simulate_crowd(truth, n_annotators=12, items_each=60, accuracy=0.7, random_state=seed)
    together, _ = dense(groupings)
    association = together.mean(0)  # the paper's H Hᵀ / r
    peer = SpectralClustering(4, affinity="precomputed", random_state=0).fit_predict(association)
    assert adjusted_rand_score(peer, CSPA(4, random_state=0).fit_predict(groupings)) == 1


def test_coordinates_are_the_eigenvectors_of_the_normalised_similarities(crowd):
    _, groupings = crowd
    together, presented = dense(groupings)
    counted, of = (together - np.eye(90)).sum(0), presented.sum(0)
    share = np.divide(counted, of, out=np.zeros_like(of), where=of > 0)
    np.fill_diagonal(share, 0.0)
    scale = 1 / np.sqrt(share.sum(1))
    expected, vectors = np.linalg.eigh(scale[:, None] * share * scale)
    model = CSPA(4, random_state=0).fit(groupings)
    np.testing.assert_allclose(model.eigenvalues_, expected[::-1][:4], atol=1e-10)
    values, found = degree_normalised_eigenpairs(csr_array(share), 3)
    np.testing.assert_allclose(values, expected[::-1][:3], atol=1e-10)
    np.testing.assert_allclose(np.abs((found * vectors[:, ::-1][:, :3]).sum(0)), 1, atol=1e-9)


def test_largest_gap_between_eigenvalues():
    values = np.array([1.0, 0.4, 0.35, 0.1, 0.05])
    assert co_occurrence.eigengap(values, 1) == 1  # 0.6
    assert co_occurrence.eigengap(values, 2) == 3  # 0.25
    assert co_occurrence.eigengap(values, 4) == 4
    assert co_occurrence.eigengap(values[:2], 2) == 2  # there is no gap after the last
    assert co_occurrence.eigengap(values[:1], 2) == 1


@pytest.mark.parametrize("n_clusters", ["auto", 3])
def test_recovers_clusters_and_their_number(n_clusters, crowd):
    truth, groupings = crowd
    model = CSPA(n_clusters, max_clusters=8, random_state=0).fit(groupings)
    assert model.n_clusters_ == 3
    assert nmi(truth, model.labels_) > 0.95
    assert model.notes_ == []
    assert len(model.eigenvalues_) == (9 if n_clusters == "auto" else 3)


def many_clusters():
    """Sorts of 45 clusters, of 8 items each."""
    return simulate_crowd(np.arange(360) % 45, n_annotators=15, accuracy=0.8, random_state=0)


@pytest.mark.parametrize("model", [CSPA, MetaClustering])
def test_the_largest_gap_may_lie_beyond_the_numbers_considered_at_first(model):
    """Among the first 30 numbers, the largest gap was after 2 clusters."""
    found = model(random_state=0).fit(many_clusters())
    assert found.n_clusters_ == 45
    assert nmi(np.arange(360) % 45, found.labels_) == 1
    assert model(max_clusters=29, random_state=0).fit(many_clusters()).n_clusters_ <= 29


def test_groupings_of_few_of_the_items_do_not_widen_the_numbers_considered():
    few = simulate_crowd(np.arange(360) % 45, n_annotators=15, items_each=60, accuracy=0.8, random_state=0)
    assert len(CSPA(random_state=0).fit(few).eigenvalues_) == 31


def test_an_unseen_pair_does_not_count_as_apart():
    """Two groups of items, each pair presented once, by one of many annotators: shares matter, not counts."""
    truth = np.arange(40) % 2
    rng = np.random.default_rng(0)
    lists = []
    for _ in range(40):
        subset = rng.choice(40, 8, replace=False)
        lists.append([subset[truth[subset] == k].tolist() for k in (0, 1)])
    lists += [[[0, 2, 4, 6, 8, 10, 12], [1]]] * 30  # some are seen far more often than others
    model = CSPA(2, random_state=0).fit(Groupings.from_lists(lists, items=range(40)))
    assert nmi(truth, model.labels_) == pytest.approx(1)


@settings(max_examples=30)
@given(arguments(max_items=9))
def test_clusters_of_any_groupings(drawn):
    """Items of different parts are never of one cluster; unseen ones of none; clusters are numbered by falling size."""
    groupings = made(drawn)
    held = np.diff(groupings.incidence.indptr) > 0
    _, presented = dense(groupings)
    linked = np.linalg.matrix_power(presented.sum(0) + np.eye(len(groupings)), len(groupings)) > 0
    for n_clusters in ("auto", 1, min(3, int(held.sum()))):
        model = CSPA(n_clusters, random_state=0).fit(groupings)
        np.testing.assert_array_equal(model.labels_ >= 0, held)
        same = (model.labels_[:, None] == model.labels_) & held[:, None] & held
        assert not (same & ~linked).any()
        sizes = np.bincount(model.labels_[held])
        assert len(sizes) == model.n_clusters_
        assert (sizes > 0).all()
        assert (np.diff(sizes) <= 0).all()
        np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
        np.testing.assert_array_equal(model.responsibilities_.argmax(1)[held], model.labels_[held])


def test_unlinked_parts_have_their_own_clusters():
    said = np.full((8, 4), None, dtype=object)
    said[:4, :2], said[4:, 2:] = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "x"]], [["p", "s"]] * 2 + [["q", "t"]] * 2
    model = CSPA(4, random_state=0).fit(said)
    assert model.n_clusters_ == 4
    assert not set(model.labels_[:4]) & set(model.labels_[4:])
    assert any("2 parts that no chain of groupings links" in note for note in model.notes_)
    one = CSPA(1, random_state=0).fit(said)
    assert one.labels_.tolist() == [0] * 4 + [1] * 4
    assert "1 clusters were requested; the groupings make 2." in one.notes_


def test_loners_join_the_cluster_they_were_separated_from_least():
    """Item 6 was never put together with another: four times set apart from 0 to 2, once from 3 to 5."""
    trio = [[0, 1, 2], [3, 4, 5]]
    lists = [*([trio] * 3), *([[[0, 1, 2], [6]]] * 4), [[3, 4, 5], [6]]]
    model = CSPA(2, random_state=0).fit(Groupings.from_lists(lists, items=range(7)))
    assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert any("1 items were never put together with another" in note for note in model.notes_)


def test_loners_of_a_part_without_clusters_are_alone():
    model = CSPA(1, random_state=0).fit(Groupings.from_lists([[[0, 1], [2]], [[3], [4]]], items=range(5)))
    assert model.labels_.tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([["a"], ["b"], ["c"]], [0, 1, 2]),  # no two together
        ([["a", "x"], ["a", "x"], ["a", None]], [0, 0, 0]),  # no two apart
        ([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]], [0, 0, 1, 1]),  # no contradiction
    ],
)
def test_groupings_that_determine_the_clusters(said, expected):
    model = CSPA(random_state=0).fit(said)
    assert model.labels_.tolist() == expected
    assert not len(model.eigenvalues_)


def test_fitted_attributes(model, crowd):
    _, groupings = crowd
    assert model.items_.equals(groupings.items)
    np.testing.assert_array_equal(model.responsibilities_, np.eye(3)[model.labels_])
    names = dict(zip(model.items_, model.labels_))
    for annotator, rows in groupings.to_frame().groupby("annotator"):
        own = model.annotators_.loc[annotator]
        assert own[["n_groupings", "n_items"]].tolist() == [1, len(rows)]
        expected = adjusted_rand_score(rows["group"].astype(str), rows["item"].map(names))
        assert own["agreement"] == pytest.approx(expected)


def test_predict_same(model, crowd):
    _, groupings = crowd
    items = list(model.items_)
    pair = [(a, b) for a in range(90) for b in range(a)]
    same = model.predict_same([items[a] for a, _ in pair], [items[b] for _, b in pair])
    np.testing.assert_array_equal(same, [model.labels_[a] == model.labels_[b] for a, b in pair])
    counts = np.zeros((len(lists_of(groupings)), 2, 2))  # groupings, cluster the same, together
    for g, lists in enumerate(lists_of(groupings)):
        group_of = {i: j for j, group in enumerate(lists) for i in group}
        for a, b in pair:
            if a in group_of and b in group_of:
                counts[g, int(model.labels_[a] == model.labels_[b]), int(group_of[a] == group_of[b])] += 1
    of_all = counts.sum(0)
    crowds_habit = (of_all[:, 1] + [0, 1]) / (of_all.sum(1) + 1)
    expected = (counts[:, :, 1] + crowds_habit) / (counts.sum(2) + 1)
    within, across = np.flatnonzero(same)[0], np.flatnonzero(same == 0)[0]
    for place, annotator in enumerate(groupings.annotators):
        for which, of in ((within, 1), (across, 0)):
            a, b = pair[which]
            found = model.predict_same(items[a], items[b], annotator=annotator)
            assert found == pytest.approx(expected[place, of])
    with pytest.raises(InputError, match="Annotator 'x' was not fitted"):
        model.predict_same(items[0], items[1], annotator="x")


def test_order_of_items_and_names_of_groups_change_nothing(model, crowd):
    _, groupings = crowd
    place = np.random.default_rng(3).permutation(90)
    np.testing.assert_array_equal(CSPA(3, random_state=0).fit(groupings[place]).labels_, model.labels_[place])
    frame = groupings.to_frame()
    frame["group"] = "g" + frame["group"].astype(str).str[::-1]
    renamed = CSPA(3, random_state=0).fit(Groupings.from_frame(frame, items=groupings.items))
    np.testing.assert_array_equal(renamed.labels_, model.labels_)


def test_names_of_every_kind():
    frame = pd.DataFrame({"item": [("x", 1), "x", 2.5], "annotator": [("u",), ("u",), ("u",)], "group": ["a", 1, "a"]})
    assert CSPA(random_state=0).fit(Groupings.from_frame(frame)).labels_.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": "many"}, "The 'n_clusters' parameter of CSPA must be 'auto' or a positive int. Got 'many'"),
        ({"n_clusters": 4}, "must be at most the number of items that are in some grouping .n_samples = 3.. Got 4"),
        ({"max_clusters": 1}, "The 'max_clusters' parameter of CSPA must be an int of at least 2. Got 1 instead."),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        CSPA(**parameters).fit([["a"], ["b"], ["a"]])
