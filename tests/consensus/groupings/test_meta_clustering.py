"""Meta clustering: similarities by counting pairs, recovery of views, one view as the special case."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings
from consilience.annotations import concat
from consilience.consensus.groupings import meta_clustering, meta_clustering_estimator
from consilience.consensus.groupings.cspa_estimator import CSPA
from consilience.consensus.groupings.meta_clustering_estimator import MetaClustering
from consilience.errors import InputError
from consilience.inference.memberships import Memberships
from consilience.metrics.clusterings import nmi
from consilience.simulation import simulate_crowd
from tests.subset_groupings import arguments, lists_of, made


def counted(groupings):
    """The similarities of the file's docstring, pair by pair."""
    by, all_lists = groupings.annotator_of_grouping, lists_of(groupings)
    expected = np.eye(groupings.n_annotators)
    for u, v in combinations(range(groupings.n_annotators), 2):
        n = t_u = t_v = b = 0
        for g in np.flatnonzero(by == u):
            for h in np.flatnonzero(by == v):
                mine = {i: j for j, group in enumerate(all_lists[g]) for i in group}
                yours = {i: j for j, group in enumerate(all_lists[h]) for i in group}
                for a, c in combinations(sorted(mine.keys() & yours.keys()), 2):
                    together = mine[a] == mine[c], yours[a] == yours[c]
                    n, t_u, t_v, b = n + 1, t_u + together[0], t_v + together[1], b + all(together)
        chance = t_u * t_v / n if n else 0
        possible = (t_u + t_v) / 2 - chance
        agreed = (n - t_u - t_v + 2 * b) / n if n else np.nan
        expected[u, v] = expected[v, u] = (b - chance) / possible if possible > 1e-9 else agreed
    return expected


@settings(max_examples=40)
@given(arguments(max_groupings=8))
def test_similarities_by_counting_pairs(drawn):
    groupings = made(drawn)
    found = meta_clustering.similarities(Memberships.of(groupings))
    np.testing.assert_allclose(found, counted(groupings), atol=1e-9)


def test_similarity_of_single_groupings_is_the_adjusted_rand_index_of_shared_items():
    rng = np.random.default_rng(0)
    said = rng.integers(3, size=(40, 4)).astype(float)
    said[:, 1] = np.where(rng.random(40) < 0.7, said[:, 0], said[:, 1])
    said[rng.random((40, 4)) < 0.3] = np.nan
    found = MetaClustering(random_state=0).fit(said).similarity_
    for u, v in combinations(range(4), 2):
        shared = ~np.isnan(said[:, u]) & ~np.isnan(said[:, v])
        expected = adjusted_rand_score(said[shared, u], said[shared, v])
        assert found.loc[u, v] == pytest.approx(expected)
        assert found.loc[v, u] == pytest.approx(expected)


def test_missing_and_negative_similarities():
    nan = np.nan
    similarity = np.array([[1, 0.5, nan], [0.5, 1, -0.1], [nan, -0.1, 1]])
    expected = [[0, 0.5, 0.2], [0.5, 0, 0], [0.2, 0, 0]]  # the mean of 0.5 and -0.1 where it is missing
    np.testing.assert_allclose(meta_clustering.affinities(similarity), expected)
    np.testing.assert_array_equal(meta_clustering.affinities(np.array([[1, nan], [nan, 1]])), np.eye(2))


def views_of(classes, sizes, *, seed=0, accuracy=0.85, items_each=40):
    """Annotators of each classification, v0.0, v0.1, … and so on."""
    parts = []
    for number, (cluster, size) in enumerate(zip(classes, sizes)):
        crowd = simulate_crowd(
            cluster, n_annotators=size, items_each=items_each, accuracy=accuracy, random_state=seed + number
        )
        frame = crowd.to_frame()
        place = crowd.annotators.get_indexer(frame["annotator"])
        frame["annotator"] = frame["grouping"] = [f"v{number}.{p}" for p in place]
        parts.append(Groupings.from_frame(frame, items=range(len(cluster))))
    return concat(parts)


SHAPE, COLOUR = np.arange(60) % 3, np.arange(60) // 3 % 2


@pytest.fixture(scope="module")
def two_views():
    return views_of([SHAPE, COLOUR], [9, 6])


@pytest.fixture(scope="module")
def model(two_views):
    return MetaClustering(max_clusters=8, random_state=0).fit(two_views)


def test_recovers_views_their_number_and_their_clusters(model):
    assert model.n_views_ == 2
    assert model.views_["n_annotators"].tolist() == [9, 6]
    assert model.views_["n_clusters"].tolist() == [3, 2]
    for annotator, view in model.annotator_view_.items():
        assert view == int(annotator[1])
    assert nmi(SHAPE, model.view_labels_[0]) > 0.95
    assert nmi(COLOUR, model.view_labels_[1]) > 0.95
    np.testing.assert_array_equal(model.labels_, model.view_labels_[0])


@pytest.mark.parametrize("n_views", ["auto", 1])
def test_agreeing_annotators_are_one_view_with_the_clusters_of_cspa(n_views):
    groupings = views_of([SHAPE], [12])
    model = MetaClustering(3, n_views=n_views, random_state=0).fit(groupings)
    assert model.n_views_ == 1
    assert model.views_["weight"].tolist() == [1.0]
    alone = CSPA(3, random_state=0).fit(groupings)
    assert adjusted_rand_score(alone.labels_, model.labels_) == 1
    np.testing.assert_array_equal(model.annotators_["agreement"], alone.annotators_["agreement"])


@pytest.mark.parametrize("seed", range(3))
def test_random_annotators_form_no_view_and_do_little_harm(seed):
    odd = Groupings.from_matrix(
        np.random.default_rng(seed).integers(3, size=(60, 2)), items=range(60), annotators=["odd", "strange"]
    )
    crowd = views_of([SHAPE, COLOUR], [12, 12], items_each=60, seed=10 * seed)
    model = MetaClustering(random_state=0).fit(concat([crowd, odd]))
    assert model.n_views_ == 2
    for view, truth in enumerate((SHAPE, COLOUR)):
        sorted_so = [f"v{view}.{p}" for p in range(12)]
        own = model.annotator_view_[sorted_so].unique()
        assert len(own) == 1
        assert nmi(truth, model.view_labels_[own[0]]) > 0.85  # 0.89 to 1; an item of 60 misplaced costs 0.05 or so
    assert model.annotators_.loc[["odd", "strange"], "agreement"].max() < 0.2


def test_an_annotator_who_resembles_nobody_is_a_view():
    """Two ways to halve eight items, crossed: they agree on fewer pairs than by chance."""
    colour, shape = np.arange(8) // 4, np.arange(8) % 2
    model = MetaClustering(random_state=0).fit(np.column_stack([colour, shape, colour, colour]))
    assert model.annotator_view_.tolist() == [0, 1, 0, 0]
    np.testing.assert_allclose(model.eigenvalues_, [1, 1, -0.5, -0.5])
    alone = MetaClustering(random_state=0).fit(colour[:, None])
    assert alone.n_views_ == 1
    assert alone.labels_.tolist() == colour.tolist()


def test_fitted_attributes(model, two_views):
    memberships = two_views.to_frame().groupby("annotator").size()
    assert model.views_["weight"].sum() == pytest.approx(1)
    first = memberships[[f"v0.{p}" for p in range(9)]].sum()
    assert model.views_.loc[0, "weight"] == pytest.approx(first / two_views.n_rows)
    table = model.annotators_
    assert table.index.equals(model.similarity_.index)
    assert table["n_items"].to_dict() == memberships.to_dict()
    frame = two_views.to_frame()
    for annotator, rows in frame.groupby("annotator"):
        own = model.view_labels_[table.loc[annotator, "view"]]
        expected = adjusted_rand_score(rows["group"].astype(str), own[rows["item"]])
        assert table.loc[annotator, "agreement"] == pytest.approx(expected)
    np.testing.assert_array_equal(model.responsibilities_, np.eye(3)[model.labels_])
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert model.eigenvalues_[0] == pytest.approx(1)


def test_predict_same_in_a_view(model):
    items = list(range(20)), list(range(20, 40))
    for annotator, view in ((None, 0), ("v0.3", 0), ("v1.2", 1)):
        labels = model.view_labels_[view].to_numpy()
        same = model.predict_same(*items, annotator=annotator)
        np.testing.assert_array_equal(same, labels[items[0]] == labels[items[1]])
    with pytest.raises(InputError, match="Annotator 'x' was not fitted"):
        model.predict_same(0, 1, annotator="x")


def test_order_of_items_of_annotators_and_names_of_groups_change_nothing(model, two_views):
    place = np.random.default_rng(2).permutation(60)
    moved = MetaClustering(max_clusters=8, random_state=0).fit(two_views[place])
    np.testing.assert_array_equal(moved.view_labels_, model.view_labels_.iloc[place])
    names = two_views.annotators[::-1]
    turned = MetaClustering(max_clusters=8, random_state=0).fit(two_views.restrict(annotators=names))
    np.testing.assert_array_equal(turned.view_labels_, model.view_labels_)
    np.testing.assert_array_equal(turned.annotator_view_[model.annotator_view_.index], model.annotator_view_)


def test_items_and_annotators_without_annotations():
    said = [["a", "p", None], ["a", "p", None], ["b", "q", None], [None, None, None]]
    frame = Groupings.from_matrix(said, annotators=["u", "v", "silent"])
    model = MetaClustering(random_state=0).fit(frame)
    assert model.labels_.tolist() == [0, 0, 1, -1]
    if "silent" in model.annotator_view_.index:
        assert model.annotator_view_["silent"] == -1
    assert model.views_["n_annotators"].tolist() == [2]
    np.testing.assert_allclose(model.responsibilities_[3], [2 / 3, 1 / 3])
    assert any("1 of 4 items is in no grouping" in note for note in model.notes_)


def test_items_that_only_another_view_grouped_are_counted():
    one = views_of([SHAPE, COLOUR], [9, 6]).to_frame()
    kept = Groupings.from_frame(one[one["annotator"].str.startswith("v1") | (one["item"] >= 4)], items=range(60))
    model = MetaClustering(max_clusters=8, random_state=0).fit(kept)
    assert model.n_views_ == 2
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ < 0), range(4))
    assert (model.view_labels_[1] >= 0).all()
    assert [note for note in model.notes_ if note.startswith("4 items were grouped by annotators of other views alone")]


def test_views_of_a_given_number(two_views):
    model = MetaClustering(2, n_views=3, random_state=0).fit(two_views)
    assert model.n_views_ == 3
    assert model.view_labels_.shape == (60, 3)
    assert (model.views_["n_clusters"] >= 2).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "The 'n_clusters' parameter of MetaClustering must be 'auto' or a positive int. Got 0"),
        ({"n_clusters": 4}, "must be at most the number of items that are in some grouping .n_samples = 3.. Got 4"),
        ({"n_views": "two"}, "The 'n_views' parameter of MetaClustering must be 'auto' or a positive int"),
        ({"n_views": 3}, "The 'n_views' parameter of MetaClustering must be at most 2, the number of annotators"),
        ({"max_clusters": 1}, "The 'max_clusters' parameter of MetaClustering must be an int of at least 2"),
        ({"max_views": 0}, "The 'max_views' parameter of MetaClustering must be a positive int"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        MetaClustering(**parameters).fit([["a", "x"], ["b", "x"], ["a", "y"]])


def test_too_many_annotators(monkeypatch):
    monkeypatch.setattr(meta_clustering_estimator, "LARGEST_TABLE", 1)
    with pytest.raises(InputError, match=r"2 are too many .the limit is 1.: give groupings of some of them"):
        MetaClustering().fit([["a", "x"], ["b", "x"]])
