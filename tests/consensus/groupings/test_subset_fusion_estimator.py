"""Fusion of groupings of subsets: Algorithm 1 end to end, crowds whose truth is known, special cases and real data."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings, load, save
from consilience.annotations import concat
from consilience.annotations.canonical import arrange
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import subset_fusion_estimator as subset_fusion
from consilience.datasets import load_dogs_birds, load_orchestra
from consilience.errors import InputError, MissingDataError
from consilience.metrics.clusterings import nmi
from consilience.simulation import (
    ClusteringPopulation,
    gaussian_clusters,
    present,
    random_subsets,
    simulate_crowd,
)
from tests.consensus.groupings.test_distatis import definition
from tests.subset_groupings import arguments, dense, drawn_from_mixture, made

NORMALIZATIONS = ["degree", "presented", None]
SORTS = [[["ant", "bee"], ["cow"]], [["bee", "wasp"], ["cow", "pig"]], [["ant", "wasp"], ["pig"]], [["ant"], ["cow"]]]


def fusion(n_clusters="auto", **parameters):
    return SubsetFusion(n_clusters, **({"max_clusters": 8, "random_state": 0} | parameters))


def crowd(seed=0, concentration=(0.1,) * 6, n_items=60, n_clusters=3, **settings):
    """Clusters of different sizes, annotators a0 to a5 of the mixture itself."""
    cluster = np.random.default_rng(seed).permutation(np.arange(n_items) % 7 % n_clusters)
    return cluster, drawn_from_mixture(cluster, concentration, seed=seed, **({"n_each": 25, "size": 10} | settings))


@pytest.fixture(scope="module")
def sorted_crowd():
    return crowd()


@pytest.fixture(scope="module")
def model(sorted_crowd):
    return fusion().fit(sorted_crowd[1])


@settings(max_examples=30)
@given(arguments(min_items=2))
def test_algorithm_1_end_to_end(drawn):
    """Without refinement and normalisation: weights, and F Fᵀ = S of the items that some grouping holds."""
    given_groupings = made(drawn)
    held = np.flatnonzero(np.diff(given_groupings.incidence.indptr))
    s, first, r = definition(given_groupings[held])
    model = fusion(len(held), normalize=None, refine=False).fit(given_groupings)
    values, vectors = np.linalg.eigh(r)
    w = np.abs(vectors[:, -1]) / np.abs(vectors[:, -1]).sum()
    by = pd.Series(given_groupings.annotators[given_groupings.annotator_of_grouping])
    found = model.annotators_["weight"]
    assert found.sum() == pytest.approx(1)
    if len(values) > 1 and values[-1] - values[-2] < 1e-3:  # several first eigenvectors
        return
    pd.testing.assert_series_equal(
        found.sort_index(), pd.Series(w).groupby(by).sum().rename("weight"), check_names=False, atol=1e-8
    )
    expected = np.tensordot(np.divide(w, first, out=np.zeros_like(w), where=first > 0), s, 1)
    np.testing.assert_allclose((model.embedding_ @ model.embedding_.T)[np.ix_(held, held)], expected, atol=1e-8)
    np.testing.assert_array_equal(np.delete(model.embedding_, held, axis=0), 0)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("refine", [True, False])
def test_recovers_clusters_and_their_number(normalize, refine, sorted_crowd):
    cluster, given_groupings = sorted_crowd
    for n_clusters in ("auto", 3):
        model = fusion(n_clusters, normalize=normalize, refine=refine).fit(given_groupings)
        assert nmi(cluster, model.labels_) > 0.95
        assert model.n_clusters_ == 3
        assert model.refined_ == refine
        assert model.notes_ == []
        assert model.embedding_.shape == (60, 8 if n_clusters == "auto" else 3)
        assert model.n_clusters_curve_.index.name == "n_clusters"
        assert (np.diff(np.bincount(model.labels_)) <= 0).all()


@pytest.mark.parametrize(("n_clusters", "seed"), [(4, 0), (5, 1)])
def test_finds_the_number_of_clusters_of_clustering_agents(n_clusters, seed):
    """Twenty annotators who use different features and make a different number of groups each time."""
    task = gaussian_clusters(20 * n_clusters, n_clusters=n_clusters, separation=10, random_state=seed)
    agents = ClusteringPopulation(task.data, random_state=seed)
    subsets = random_subsets(task.data.index, 10, 30 * n_clusters, random_state=seed)
    by = [f"annotator {number % 20}" for number in range(len(subsets))]
    model = fusion(max_clusters=12).fit(present(agents, subsets, items=task.data.index, annotators=by))
    assert model.n_clusters_ == n_clusters
    assert nmi(task.target, model.labels_) > 0.95  # 1.00 in both
    assert model.n_clusters_curve_["silhouette"].idxmax() == n_clusters


def test_recovers_the_classes_of_a_sorting_task():
    classes = np.repeat(["cup", "bowl", "jar"], 15)
    model = fusion().fit(simulate_crowd(classes, n_annotators=20, items_each=20, accuracy=0.85, random_state=0))
    assert nmi(classes, model.labels_) > 0.9
    assert model.n_clusters_ == 3


def test_fitted_attributes(model, sorted_crowd):
    _, given_groupings = sorted_crowd
    assert model.items_.equals(given_groupings.items)
    assert model.groupings_ is given_groupings
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    np.testing.assert_array_equal(model.responsibilities_.argmax(1), model.labels_)
    np.testing.assert_array_equal(model.part_, 0)
    table = model.annotators_
    frame = given_groupings.to_frame()
    for annotator, rows in frame.groupby("annotator"):
        groups = rows[["grouping", "group"]].drop_duplicates()
        expected = [rows["grouping"].nunique(), len(rows), len(groups)]
        assert table.loc[annotator, ["n_groupings", "n_items", "n_groups"]].tolist() == expected
    assert (np.diff(table["weight"]) <= 0).all()
    assert table.index.name == "annotator"
    # c = 0.1 makes 1 / 1.1 = 0.91, which 25 groupings tell to a third of c or so
    np.testing.assert_allclose(table["consistency"], 1 / 1.1, atol=0.05)
    assert table["weight"].between(0, table["consistency"]).all()
    distance = 1 - model.co_occurrence().fillna(0).to_numpy()
    assert 0.3 < model.silhouette_ <= 1
    assert distance[model.labels_[:, None] == model.labels_].mean() < 0.4 < distance.mean()


def test_agreement_of_one_grouping_is_the_adjusted_rand_index():
    said = np.random.default_rng(0).integers(2, size=(30, 1)).repeat(5, axis=1)
    said[:, 4] = np.random.default_rng(1).integers(2, size=30)
    model = fusion().fit(said)
    for annotator, agreement in model.annotators_["agreement"].items():
        assert agreement == pytest.approx(adjusted_rand_score(said[:, annotator], model.labels_))


def test_spammers_are_listed_last():
    cluster, given_groupings = crowd(3, (0.1, 1000.0, 0.1, 0.1, 1000.0, 0.1))
    model = fusion().fit(given_groupings)
    assert nmi(cluster, model.labels_) > 0.95
    table = model.annotators_
    assert sorted(table.index[-2:]) == ["a1", "a4"]
    assert table["weight"].iloc[-2] < 0.2 < 0.5 < table["weight"].iloc[3]
    assert table["consistency"].iloc[:4].min() > 0.8
    assert table["agreement"].iloc[:4].min() > 0.5
    assert table["agreement"].iloc[-2:].max() < 0.1


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_order_of_items_and_names_of_groups_change_nothing(normalize, sorted_crowd):
    _, given_groupings = sorted_crowd
    place = np.random.default_rng(5).permutation(60)
    there = fusion(normalize=normalize).fit(given_groupings)
    here = fusion(normalize=normalize).fit(given_groupings[place])
    np.testing.assert_allclose(here.responsibilities_, there.responsibilities_[place], atol=1e-8)
    np.testing.assert_allclose(here.embedding_, there.embedding_[place], atol=1e-8)
    frame = given_groupings.to_frame()
    frame["group"] = "g" + (7 - frame["group"]).astype(str)
    renamed = fusion(normalize=normalize).fit(Groupings.from_frame(frame, items=given_groupings.items))
    np.testing.assert_array_equal(renamed.labels_, there.labels_)


@pytest.mark.parametrize("name", [str, lambda i: (i, "x"), lambda i: f"{i}" if i % 2 else i])
def test_names_of_items_of_every_kind(name, sorted_crowd):
    cluster, given_groupings = sorted_crowd
    frame = given_groupings.to_frame()
    frame["item"] = pd.Index([name(i) for i in frame["item"]], tupleize_cols=False, dtype=object)
    items = [name(i) for i in range(60)]
    model = fusion().fit(Groupings.from_frame(frame, items=items))
    assert nmi(cluster, model.labels_) > 0.95
    assert list(model.items_) == items
    same = model.predict_same([items[0]] * 60, items)
    np.testing.assert_allclose(same, model.responsibilities_ @ model.responsibilities_[0])
    assert model.predict_same(items[0], items[1]) == pytest.approx(same[1])
    assert model.linkage(items[:5]).shape == (4, 4)


def test_groupings_given_twice_count_twice_and_change_no_cluster(sorted_crowd):
    cluster, given_groupings = sorted_crowd
    frame = given_groupings.to_frame()
    twice = pd.concat([frame, frame.assign(annotator=frame["annotator"] + " again")])
    model = fusion().fit(Groupings.from_frame(twice, items=range(60)))
    assert nmi(cluster, model.labels_) > 0.95
    assert len(model.annotators_) == 12
    weight = model.annotators_["weight"]
    np.testing.assert_allclose(weight[[f"a{k}" for k in range(6)]], weight[[f"a{k} again" for k in range(6)]])


def by_name(model):
    return dict(zip(model.items_, model.labels_.tolist()))


EVERY_WAY = [{}, *({"normalize": way, "refine": False} for way in NORMALIZATIONS)]


@pytest.mark.parametrize("parameters", EVERY_WAY)
class TestSpecialCases:
    def test_one_grouping(self, parameters):
        model = fusion(**parameters).fit(Groupings.from_lists([[["a", "b"], ["c", "d", "e"], ["f"]]]))
        assert by_name(model) == {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "f": 2}
        note = "There is only one grouping: the clusters are its groups, of unknown certainty."
        assert model.notes_ == [note]
        assert model.annotators_["weight"].tolist() == [1]

    def test_identical_groupings(self, parameters):
        lists = [[["a", "b"], ["c", "d", "e"], ["f"]]] * 4
        model = fusion(**parameters).fit(Groupings.from_lists(lists, annotators=list("wxyz")))
        assert by_name(model) == {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "f": 2}
        np.testing.assert_allclose(model.annotators_["weight"], 0.25)
        assert model.annotators_["agreement"].tolist() == [1] * 4
        assert not model.refined_
        assert model.notes_ == []
        assert model.n_clusters_curve_.index.tolist() == [3]

    def test_all_apart(self, parameters):
        model = fusion(**parameters).fit(Groupings.from_lists([[["a"], ["b"], ["c"]], [["b"], ["d"]]]))
        assert sorted(model.labels_) == [0, 1, 2, 3]
        assert model.silhouette_ == 0
        assert model.annotators_["agreement"].isna().all()

    def test_all_together_in_parts(self, parameters):
        lists = [[["a", "b"]], [["x", "y", "z"]], [["z", "w"]]]
        model = fusion(**parameters).fit(Groupings.from_lists(lists))
        assert by_name(model) == {"a": 1, "b": 1, "w": 0, "x": 0, "y": 0, "z": 0}
        assert model.part_.tolist() == model.labels_.tolist()

    def test_two_parts_have_their_own_clusters(self, parameters):
        """The same disagreement among a to d and p to s, which no grouping links."""
        one = [[["a", "b"], ["c", "d"]], [["a", "b", "c"], ["d"]], [["a", "b"], ["c", "d"]]]
        other = [[[chr(ord(item) + 15) for item in group] for group in grouping] for grouping in one]
        model = fusion(**parameters).fit(Groupings.from_lists(one + other))
        assert set(model.labels_[:4]).isdisjoint(model.labels_[4:])
        assert model.part_.tolist() == [0] * 4 + [1] * 4
        parts = [note for note in model.notes_ if "parts" in note]
        assert parts == [
            "The items fall into 2 parts (of 4, 4 items) that no chain of groupings links; each has clusters of its "
            "own, and nothing is known about pairs across parts."
        ]
        assert model.predict_same("a", "p") == pytest.approx((model.responsibilities_.mean(0) ** 2).sum())
        assert (model.responsibilities_[:4] * model.responsibilities_[4:]).sum() == 0

    def test_items_in_no_grouping(self, parameters):
        given_groupings = Groupings.from_lists(
            [[["a", "b"], ["c", "d"]], [["a"], ["b", "c", "d"]]], items=["x", *"abcd", "z"]
        )
        model = fusion(**parameters).fit(given_groupings)
        unseen = [0, 5]
        assert model.labels_[unseen].tolist() == model.part_[unseen].tolist() == [-1, -1]
        assert (model.labels_[1:5] >= 0).all()
        shares = model.responsibilities_[1:5].mean(0)
        np.testing.assert_allclose(model.responsibilities_[unseen], [shares, shares])
        np.testing.assert_array_equal(model.embedding_[unseen], 0)
        assert model.notes_[-1] == "2 of 6 items are in no grouping; they belong to no cluster (label -1): 'x', 'z'."
        for pair in (("x", "z"), ("x", "a"), ("x", "x")):
            assert model.predict_same(*pair) == pytest.approx((shares**2).sum())
        assert np.isnan(model.co_occurrence().loc["x", "a"])

    def test_one_and_two_items(self, parameters):
        assert fusion(**parameters).fit([["p"]]).labels_.tolist() == [0]
        assert fusion(**parameters).fit([["p"], ["q"]]).labels_.tolist() == [0, 1]
        assert fusion(**parameters).fit([["p", "q"], ["p", "r"]]).labels_.tolist() in ([0, 0], [0, 1])


def test_annotators_of_equal_weight_keep_their_order():
    lists = [[["a", "b"], ["c"]], [["b", "c"], ["a"]], [["a", "c"], ["b"]], [["a", "b"], ["c"]]]
    model = fusion(2, refine=False).fit(Groupings.from_lists(lists, annotators="zxyw"))
    assert model.annotators_["weight"].tolist() == [0.25] * 4
    assert model.annotators_.index.tolist() == list("zxyw")


def test_a_doubtful_solution_is_noted():
    cluster = np.arange(40) % 2
    given_groupings = drawn_from_mixture(cluster, [1000.0] * 4, n_each=2, size=12)
    model = fusion(2).fit(given_groupings)
    assert model.notes_[0] == (
        "A single cluster explains the groupings as well as these do: they are too few for so many items, or "
        "contradict each other too often. The clusters are uncertain."
    )
    assert model.n_clusters_ == 2
    plain = fusion(2, refine=False).fit(given_groupings)
    assert model.silhouette_ >= plain.silhouette_
    assert not any("single cluster" in note for note in plain.notes_)
    # without refinement the groupings' weights: equal ones where coordinates weigh none
    np.testing.assert_allclose(plain.annotators_["weight"], 0.25)


def test_more_clusters_than_distinguishable_items(sorted_crowd):
    cluster, given_groupings = sorted_crowd
    model = fusion(25).fit(given_groupings)
    assert model.refined_
    assert 3 <= model.n_clusters_ < 25
    assert f"25 clusters were requested; the groupings distinguish {model.n_clusters_}." in model.notes_
    assert set(model.labels_) == set(range(model.n_clusters_))
    assert nmi(cluster, model.labels_) > 0.6


def test_the_largest_number_considered(sorted_crowd):
    assert fusion(max_clusters=5, refine=False).fit(sorted_crowd[1]).n_clusters_curve_.index.tolist() == [2, 3, 4, 5]
    curve = fusion(max_clusters=5).fit(sorted_crowd[1]).n_clusters_curve_
    assert set(curve.index) <= {2, 3, 4, 5}  # clusters that lose their items are left out, several at a time
    assert curve["log_evidence"].idxmax() == 3
    assert fusion(max_clusters=2).fit(sorted_crowd[1]).n_clusters_ == 2
    contradiction = [[["ant", "bee"], ["cow"]], [["ant"], ["bee", "cow", "pig"]], [["cow", "pig"], ["bee"]]]
    small = fusion(max_clusters=30, refine=False).fit(Groupings.from_lists(contradiction))
    assert small.n_clusters_curve_.index.tolist() == [2, 3]  # one fewer than the items


@settings(max_examples=25)
@given(arguments(min_items=2, max_items=6), st.sampled_from([*EVERY_WAY, {"n_clusters": 2}]))
def test_probabilities_are_probabilities_whatever_was_sorted(drawn, parameters):
    given_groupings = made(drawn)
    held = np.diff(given_groupings.incidence.indptr) > 0
    if parameters.get("n_clusters", 1) > held.sum():
        return
    model = fusion(**parameters).fit(given_groupings)
    np.testing.assert_array_equal(model.labels_ >= 0, held)
    assert (np.diff(np.bincount(model.labels_[held], minlength=model.n_clusters_)) <= 0).all()
    assert set(model.labels_[held]) == set(range(model.n_clusters_))
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    items = list(range(len(held)))
    for annotator in (None, *model.annotators_.index):
        same = model.predict_same(items, items[::-1], annotator)
        assert ((same >= 0) & (same <= 1)).all()
        np.testing.assert_allclose(model.predict_same(items[::-1], items, annotator), same)


def test_predicts_what_annotators_do():
    """Of pairs of a cluster and of two clusters, against 200 further groupings of an annotator who is consistent, of
    one who is half so, and of one who sorts at random. Six groups are possible in all, of which a grouping shows some,
    and its base 1/(r + 2) is not quite the sixth: hence 0.08.
    """
    concentration = (0.05, 0.05, 0.05, 0.05, 1.0, 1000.0)
    cluster, given_groupings = crowd(1, concentration, n_each=60, n_labels=6)
    model = fusion().fit(given_groupings)
    assert nmi(cluster, model.labels_) > 0.95
    later = drawn_from_mixture(cluster, concentration, n_each=200, size=10, n_labels=6, seed=99)
    first, second = np.triu_indices(60, 1)
    alike = cluster[first] == cluster[second]
    for annotator in ("a0", "a4", "a5"):
        pairs = later.restrict(annotators=[annotator]).to_pairs()
        of_cluster = cluster[pairs.item_a] == cluster[pairs.item_b]
        predicted = model.predict_same(first.tolist(), second.tolist(), annotator)
        for which in (True, False):
            frequency = pairs.same[of_cluster == which].mean()
            assert predicted[alike == which].mean() == pytest.approx(frequency, abs=0.08)


def test_predictions_of_a_model_that_is_not_refined(sorted_crowd):
    """Annotators keep clusters whole; of two clusters one group in (groups of a grouping + 2) is shared."""
    model = fusion(3, refine=False).fit(sorted_crowd[1])
    own = model.annotators_.loc["a0"]
    base = 1 / (own["n_groups"] / own["n_groupings"] + 2)
    for other in range(1, 10):
        expected = 1 if model.labels_[0] == model.labels_[other] else base
        assert model.predict_same(0, other, "a0") == pytest.approx(expected)


def test_tables_of_pairs_are_those_of_the_definition(model, sorted_crowd):
    together, presented = (table.sum(0) for table in dense(sorted_crowd[1]))
    put = np.where(presented > 0, together, 0)
    with np.errstate(invalid="ignore"):
        share = np.where(presented > 0, put / presented, np.nan)
    unseen = (presented == 0) & ~np.eye(60, dtype=bool)
    share[unseen], share[np.eye(60, dtype=bool)] = np.nan, 1
    table = model.co_occurrence()
    np.testing.assert_allclose(table.to_numpy(), share)
    assert list(table.index) == list(table.columns) == list(range(60))
    pd.testing.assert_frame_equal(model.co_occurrence([7, 3, 40]), table.loc[[7, 3, 40], [7, 3, 40]])
    off = ~np.eye(60, dtype=bool)
    overall = put[off].sum() / presented[off].sum()
    distance = (1 - (put + 0.5 * overall) / (presented + 0.5)) * off
    order = arrange(sorted_crowd[1]).items  # ties are broken in this order
    for method in ("average", "complete"):
        found = model.linkage(method=method)
        expected = hierarchy.linkage(squareform(distance[np.ix_(order, order)], checks=False), method)
        np.testing.assert_allclose(found[:, 2:], expected[:, 2:], atol=1e-10)
        heights = squareform(hierarchy.cophenet(found))[np.ix_(order, order)]
        np.testing.assert_allclose(heights, squareform(hierarchy.cophenet(expected)), atol=1e-10)
    assert nmi(hierarchy.fcluster(model.linkage(), 3, "maxclust"), model.labels_) > 0.9
    some = [5, 1, 30, 44]
    found = model.linkage(some)
    assert found.shape == (3, 4)


def test_a_linkage_of_some_items_takes_their_evidence():
    """Two of three pairs together, among these: the share that is added is theirs."""
    model = fusion().fit(Groupings.from_lists([[["a", "b", "c"], ["d"]], [["a", "b"], ["c", "d"]]]))
    share = 4 / 6  # of the pairs of a, b, c
    near, far = 1 - (2 + share / 2) / 2.5, 1 - (1 + share / 2) / 2.5
    np.testing.assert_allclose(model.linkage(["c", "a", "b"], method="single"), [[1, 2, near, 2], [0, 3, far, 3]])


def test_too_large_tables_raise(model, monkeypatch):
    monkeypatch.setattr(subset_fusion, "LARGEST_TABLE", 59)
    message = r"^A table of all pairs of 60 items is too large \(the limit is 59\): name some of the items\.$"
    for method in (model.co_occurrence, model.linkage):
        with pytest.raises(InputError, match=message):
            method()
        assert len(method([1, 2, 3])) in (2, 3)


def test_too_many_determined_clusters_raise(monkeypatch):
    monkeypatch.setattr(subset_fusion, "LARGEST_TABLE", 2)
    with pytest.raises(InputError, match=r"^The groupings determine 3 clusters of 3 items"):
        fusion().fit([["a"], ["b"], ["c"]])


def halves(given_groupings, n_later):
    """The first groupings of every annotator, and the last ones."""
    names = [(a, g) for a, g in given_groupings.vocabulary.grouping_index]
    later = set(names[::-1][:n_later]) if n_later < 10 else set(names[1::2])
    frame = given_groupings.to_frame()
    is_later = np.array([key in later for key in zip(frame["annotator"], frame["grouping"])])
    return (
        Groupings.from_frame(frame[~is_later], items=given_groupings.items),
        Groupings.from_frame(frame[is_later].reset_index(drop=True)),
    )


class TestPartialFit:
    def test_first_is_a_fit(self, model, sorted_crowd):
        first = fusion().partial_fit(sorted_crowd[1])
        np.testing.assert_array_equal(first.responsibilities_, model.responsibilities_)

    @pytest.mark.parametrize("refine", [True, False])
    @pytest.mark.parametrize("n_later", [5, 75])
    def test_is_about_a_fit_to_everything(self, refine, n_later, sorted_crowd):
        cluster, given_groupings = sorted_crowd
        first, later = halves(given_groupings, n_later)
        model = fusion(refine=refine).fit(first)
        n_rows, calls = model._n_rows_at_fit, []
        model._fuse, fuse = (lambda groupings: calls.append(groupings) or fuse(groupings)), model._fuse
        assert model.partial_fit(later) is model
        assert nmi(cluster, model.labels_) > 0.95
        assert model.groupings_ == concat([first, later])
        assert model.groupings_.n_rows == given_groupings.n_rows
        assert model.annotators_["n_groupings"].sum() == 150
        assert model.refined_ == refine
        # five groupings of 145 are few, which refinement goes on with; 75 of 75 are not
        assert len(calls) == (0 if refine and n_later == 5 else 1)
        assert model._n_rows_at_fit == (given_groupings.n_rows if calls else n_rows)
        assert model.n_clusters_curve_["silhouette"].idxmax() == 3
        assert model.n_clusters_curve_.index.is_monotonic_increasing

    def test_accumulated_batches_trigger_a_full_fit(self, sorted_crowd):
        """7 × 2 groupings of ten items added to 1360 memberships: the full fit is when they are more than a tenth."""
        _, given_groupings = sorted_crowd
        frame = given_groupings.to_frame()
        key = frame["annotator"].astype(str) + frame["grouping"].astype(str)
        number = key.map({name: place for place, name in enumerate(key.drop_duplicates())})
        model = fusion().fit(Groupings.from_frame(frame[number < 136], items=list(range(60))))
        assert model._n_rows_at_fit == 1360
        at_fit = []
        for start in range(136, 150, 2):
            model.partial_fit(Groupings.from_frame(frame[(number >= start) & (number < start + 2)]))
            at_fit.append(model._n_rows_at_fit)
        assert at_fit == [1360] * 6 + [1500]

    def test_new_items_and_annotators(self, sorted_crowd):
        """Two items that a new annotator repeatedly puts with items of two clusters, and one in no grouping."""
        cluster, given_groupings = sorted_crowd
        model = fusion().fit(Groupings.from_frame(given_groupings.to_frame(), items=list(range(60))))
        before = model.labels_.copy()
        rng = np.random.default_rng(0)
        lists = []
        for _ in range(10):
            of_first, of_second = (rng.choice(np.flatnonzero(cluster == k), 2, replace=False).tolist() for k in (0, 1))
            lists.append([[*of_first, "new 0"], [*of_second, "new 1"]])
        later = Groupings.from_lists(
            lists, annotators=["newcomer"] * 10, items=[*range(60), "new 0", "new 1", "unseen"]
        )
        model.partial_fit(later)
        assert list(model.items_) == [*range(60), "new 0", "new 1", "unseen"]
        assert model.refined_
        assert nmi(before, model.labels_[:60]) == pytest.approx(1)
        for place, k in ((60, 0), (61, 1)):
            assert model.labels_[place] == model.labels_[np.flatnonzero(cluster == k)[0]]
        assert model.labels_[62] == -1
        assert model.embedding_.shape[0] == 63
        np.testing.assert_array_equal(model.embedding_[60:], 0)
        assert (np.abs(model.embedding_[:60]).sum(1) > 0).all()
        assert model.annotators_.loc["newcomer", "n_groupings"] == 10
        assert model.annotators_.loc["newcomer", "weight"] > 0.8
        assert model.predict_same(0, "new 0", "newcomer") <= 1

    def test_a_part_that_is_linked_later(self):
        lists = [[["a", "b"], ["c"]], [["a", "b"], ["c"]], [["p", "q"], ["r"]], [["p", "q"], ["r"]]]
        model = fusion().fit(Groupings.from_lists(lists, annotators=list("wxyz")))
        assert (model.part_ == model.part_[0]).tolist() == [True] * 3 + [False] * 3
        model.partial_fit(Groupings.from_lists([[["a", "p"], ["c", "r"]]] * 2, annotators=["s", "t"]))
        assert model.part_.tolist() == [0] * 6
        assert model.notes_ == [] or not any("parts" in note for note in model.notes_)

    def test_a_repeated_grouping_raises_and_changes_nothing(self, sorted_crowd):
        model = fusion().fit(sorted_crowd[1])
        before = dict(vars(model))
        n = sorted_crowd[1].n_rows
        with pytest.raises(
            InputError, match=rf"was fitted in the grouping 0 of the annotator 'a0' before, one of {n} "
        ):
            model.partial_fit(sorted_crowd[1])
        assert vars(model) == before

    def test_goes_on_after_saving_and_pickling(self, sorted_crowd, tmp_path):
        first, later = halves(sorted_crowd[1], 5)
        model = fusion().fit(first)
        save(model, tmp_path / "model.zip")
        copies = [load(tmp_path / "model.zip"), pickle.loads(pickle.dumps(model))]
        model.partial_fit(later)
        for copy in copies:
            assert copy.groupings_ == first
            copy.partial_fit(later)
            np.testing.assert_array_equal(copy.responsibilities_, model.responsibilities_)
            pd.testing.assert_frame_equal(copy.n_clusters_curve_, model.n_clusters_curve_)
            pd.testing.assert_frame_equal(copy.annotators_, model.annotators_)
            assert copy.groupings_ == model.groupings_
            pd.testing.assert_frame_equal(copy.co_occurrence(), model.co_occurrence())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_clusters": 0},
            "The 'n_clusters' parameter of SubsetFusion must be 'auto' or a positive int. Got 0 instead.",
        ),
        ({"n_clusters": "some"}, "'n_clusters' .* must be 'auto' or a positive int. Got 'some' instead."),
        ({"n_clusters": 2.0}, "'n_clusters' .* Got 2.0 instead."),
        ({"n_clusters": 6}, r"must be at most 5, the number of items that are in some grouping. Got 6 instead.$"),
        ({"normalize": "rows"}, "'normalize' .* must be 'degree', 'presented' or None. Got 'rows' instead."),
        ({"refine": "yes"}, "'refine' .* must be True or False. Got 'yes' instead."),
        ({"refine": 1}, "'refine' .* must be True or False. Got 1 instead."),
        ({"max_clusters": 1}, "'max_clusters' .* must be an int of at least 2. Got 1 instead."),
        ({"n_init": 0}, "'n_init' .* must be an int from 1 to 1,000,000. Got 0 instead."),
        ({"n_init": True}, "'n_init' .* must be an int from 1 to 1,000,000. Got True instead."),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        SubsetFusion(**parameters).fit(Groupings.from_lists(SORTS, items=["ant", "bee", "cow", "pig", "wasp", "yak"]))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.predict_same(0, 99), r"^Item 99 was not fitted\.$"),
        (lambda m: m.predict_same(0, 1, "nobody"), r"^Annotator 'nobody' was not fitted\.$"),
        (lambda m: m.predict_same([0, 1], [1]), "two names of items, or two lists of names of one length"),
        (lambda m: m.co_occurrence([0, "x"]), r"^Item 'x' was not fitted\.$"),
        (lambda m: m.linkage([0, "x"]), r"^Item 'x' was not fitted\.$"),
    ],
)
def test_invalid_queries(ask, message, model):
    with pytest.raises(InputError, match=message):
        ask(model)


@pytest.mark.parametrize("ask", [lambda m: m.predict_same(0, 1), lambda m: m.co_occurrence(), lambda m: m.linkage()])
def test_queries_before_fit(ask):
    with pytest.raises(NotFittedError):
        ask(fusion())


def test_results_are_deterministic_given_a_seed(sorted_crowd):
    one, two = (fusion(random_state=np.random.RandomState(5)).fit(sorted_crowd[1]) for _ in range(2))
    np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)
    other = fusion(random_state=6).fit(sorted_crowd[1])
    np.testing.assert_array_equal(other.labels_, one.labels_)


@pytest.mark.parametrize(
    ("loader", "name", "parameters", "least"),
    [
        # each lies a little below the least of four seeds: .566 to .653 (dogs of three breeds, hard to tell)
        pytest.param(load_dogs_birds, "dogs3", {"n_clusters": 3}, 0.53, marks=pytest.mark.slow),
        (load_dogs_birds, "dogs3", {"n_clusters": 3, "normalize": "presented", "refine": False}, 0.59),  # .618
        (load_dogs_birds, "dogs3", {"n_clusters": 3, "normalize": None, "refine": False}, 0.56),  # .591 to .613
        pytest.param(
            load_orchestra, "scenes", {}, 0.56, marks=pytest.mark.slow
        ),  # .585 in three clusters of thirteen classes
        pytest.param(load_orchestra, "scenes", {"n_clusters": 13}, 0.52, marks=pytest.mark.slow),  # .550 to .573
        (load_orchestra, "scenes", {"n_clusters": 13, "normalize": None, "refine": False}, 0.38),  # .406 to .439
    ],
)
def test_real_groupings(loader, name, parameters, least):
    try:
        data = loader(name)
    except MissingDataError as error:
        pytest.skip(str(error))
    model = SubsetFusion(random_state=0, **parameters).fit(data.annotations)
    assert nmi(data.target, model.labels_) > least
