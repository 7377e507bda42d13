"""The steps of SubsetFusion against dense definitions, loops over pairs and scikit-learn."""

import itertools
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings
from consilience.consensus.groupings import distatis
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.inference import clusters, spectral
from consilience.inference.clusters import agreement_with, determined_clusters, kmeans
from consilience.inference.memberships import Memberships, parts
from consilience.metrics.clusterings import nmi
from tests.subset_groupings import arguments, dense, drawn_from_mixture, lists_of, made


def rng(seed=0):
    return np.random.default_rng(seed)


def crowd(concentration=(0.1,) * 6, n_items=90, n_clusters=3, **settings):
    cluster = np.arange(n_items) % n_clusters
    given_groupings = drawn_from_mixture(cluster, concentration, **({"n_each": 20, "size": 10} | settings))
    held = np.flatnonzero(np.diff(given_groupings.incidence.indptr))
    return cluster[held], Memberships.of(given_groupings[held])


@settings(max_examples=30)
@given(arguments())
def test_coordinates_from_shares_of_presentations(drawn):
    given_groupings = made(drawn)
    memberships = Memberships.of(given_groupings)
    found = fusing.coordinates(memberships, "presented", memberships.n_items)
    together, presented = dense(given_groupings)
    w = distatis.weights(memberships)
    np.testing.assert_allclose(found.grouping_weights, w)
    w = np.where(w < 1e-12, 0, w)
    off = ~np.eye(len(given_groupings), dtype=bool)
    both, shown = np.tensordot(w, together, 1) * off, np.tensordot(w, presented, 1)
    e = np.divide(both, shown, out=np.zeros_like(both), where=both > 0) + np.eye(len(both))
    scaled = e / np.sqrt(np.outer(e.sum(0), e.sum(0)))
    assume((found.grouping_weights >= 1e-12).all())  # else what a share is rests on rounding
    vectors = found.vectors
    np.testing.assert_allclose(vectors.T @ scaled @ vectors, np.diag(np.linalg.eigvalsh(scaled)[::-1]), atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(e)), atol=1e-8)
    assert found.directions


def test_coordinates_of_the_paper_and_of_the_graph():
    _, memberships = crowd()
    paper = fusing.coordinates(memberships, None, 4)
    w = distatis.weights(memberships)
    np.testing.assert_allclose(paper.vectors, distatis.coordinates(memberships, w, 4)[0])
    np.testing.assert_allclose(paper.grouping_weights, w)
    np.testing.assert_array_equal(paper.for_clusters(2), paper.vectors)  # lengths are the eigenvalues' there
    graph = fusing.coordinates(memberships, "degree", 4)
    np.testing.assert_allclose(graph.vectors, spectral.degree_normalised_embedding(memberships.in_group, 4))
    assert graph.grouping_weights is None
    points = graph.for_clusters(3)
    np.testing.assert_allclose(points, graph.vectors[:, :3] / np.linalg.norm(graph.vectors[:, :3], axis=1)[:, None])


def test_coordinates_of_few_items_are_exact():
    _, memberships = crowd()
    for least, tol in ((memberships.n_items, 0.0), (memberships.n_items - 1, spectral.EMBEDDING_TOLERANCE)):
        for normalize, where, reads in ((None, distatis, fusing), ("presented", spectral, spectral)):
            with (
                patch.object(reads, "MACHINE_ACCURACY_ITEMS", least),
                patch.object(where, "leading_eigenpairs", wraps=spectral.leading_eigenpairs) as called,
            ):
                fusing.coordinates(memberships, normalize, 2)
            assert called.call_args.kwargs["tol"] == tol


def test_kmeans_of_a_sample_assigns_all_items_and_accepts_duplicates():
    points = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 9.0]], [40, 30, 20], axis=0) + rng().normal(0, 0.1, (90, 2))
    with patch.object(clusters, "KMEANS_ITEMS", 25):
        found = kmeans(points, 3, rng=rng(), n_init=5)
    assert nmi(np.repeat([0, 1, 2], [40, 30, 20]), found) == pytest.approx(1)
    same = kmeans(np.repeat([[1.0], [2.0]], 5, axis=0), 4, rng=rng())
    assert nmi(np.repeat([0, 1], 5), same) == pytest.approx(1)


def test_the_number_by_kmeans_is_that_of_the_largest_silhouette():
    cluster, memberships = crowd()
    places = fusing.coordinates(memberships, "degree", 6)
    found = fusing.by_kmeans(memberships, places, range(2, 7), rng=rng())
    assert found.curve.index.tolist() == [2, 3, 4, 5, 6]
    assert found.curve["silhouette"].idxmax() == 3
    assert found.curve["log_evidence"].isna().all()
    assert found.state is None
    assert nmi(cluster, found.cluster) > 0.95
    score = EvidenceSilhouette.of(memberships, rng=rng()).score(found.cluster)
    assert found.curve.loc[3, "silhouette"] == pytest.approx(score)
    assert set(np.unique(found.probabilities)) == {0, 1}
    assert found.probabilities.shape == (len(cluster), 3)


def test_the_number_by_the_mixture_is_that_of_the_largest_silhouette():
    cluster, memberships = crowd()
    layout, places = mixture.GroupingLayout.of(memberships), fusing.coordinates(memberships, "degree", 8)
    found = fusing.by_mixture(memberships, places, range(2, 9), n_init=2, rng=rng())
    assert found.curve["silhouette"].idxmax() == 3
    assert found.state.n_clusters == found.probabilities.shape[1] == 3
    assert nmi(cluster, found.cluster) > 0.95
    one = mixture.learn_concentration(layout, mixture.init(layout, cluster * 0, 1))
    # sweeps after the choice may still raise it; concentrations are means, not where it is largest
    assert mixture.log_evidence(layout, found.state) > found.curve.loc[3, "log_evidence"] - 1
    assert mixture.log_evidence(layout, found.state) > mixture.log_evidence(layout, one) + 100
    np.testing.assert_allclose(found.probabilities.sum(1), 1)


def test_of_several_starts_the_most_probable_is_kept():
    """The curve of four starts is nowhere below that of the first of them, and above it somewhere."""
    _, memberships = crowd((0.3,) * 6, n_clusters=6, n_each=12)
    places = fusing.coordinates(memberships, "degree", 8)
    one, four = (
        fusing.by_mixture(memberships, places, range(2, 9), n_init=n, rng=rng()).curve["log_evidence"] for n in (1, 4)
    )
    difference = (four - one).dropna()
    assert len(difference) >= 4
    assert (difference >= 0).all()
    assert difference.max() > 1


def test_the_mixture_gives_the_requested_number_of_clusters():
    cluster, memberships = crowd()
    places = fusing.coordinates(memberships, "degree", 3)
    found = fusing.by_mixture(memberships, places, range(3, 4), n_init=1, rng=rng())
    assert found.curve.index.tolist() == [3]
    assert nmi(cluster, found.cluster) > 0.95


def test_a_doubtful_solution_has_the_larger_silhouette():
    """Random groups, and items that are in few groupings."""
    _, memberships = crowd((1000.0,) * 3, n_each=3)
    places = fusing.coordinates(memberships, "degree", 5)
    numbers = range(2, 6)
    found = fusing.by_mixture(memberships, places, numbers, n_init=1, rng=rng())
    evidence = EvidenceSilhouette.of(memberships, rng=rng())
    assert found.doubtful
    assert 2 <= len(np.unique(found.cluster)) <= 5
    assert evidence.score(found.cluster) >= fusing.by_kmeans(memberships, places, numbers, rng=rng()).silhouette - 1e-9


def test_the_start_with_the_largest_silhouette_is_kept():
    """With equal coordinates k-means is random; with those of the groupings it is not."""
    cluster, memberships = crowd()
    nowhere = fusing.Coordinates(rng().normal(size=(len(cluster), 3)), directions=False)
    alone = fusing.by_mixture(memberships, nowhere, range(3, 4), n_init=1, rng=rng())
    at_hand = fusing.coordinates(memberships, "presented", 3)
    starts = list(fusing.all_coordinates(memberships, 3, {"presented": at_hand}))
    assert [start.directions for start in starts] == [True, True, False]
    assert starts[1] is at_hand
    helped = fusing.by_mixture(memberships, nowhere, range(3, 4), more_starts=starts, n_init=1, rng=rng())
    assert not helped.doubtful
    assert helped.silhouette >= alone.silhouette
    assert nmi(cluster, helped.cluster) > 0.95


def test_coordinates_of_pairs_are_skipped_if_there_are_too_many(monkeypatch):
    _, memberships = crowd()
    monkeypatch.setattr(fusing, "MOST_PAIRS", 10)
    assert list(fusing.all_coordinates(memberships, 3, {})) == []


def test_continuing_keeps_clusters_and_adds_items():
    cluster, memberships = crowd()
    start = np.where(np.arange(len(cluster)) % 10 == 0, -1, cluster)
    found = fusing.continue_from(memberships, start, 3, rng=rng())
    assert np.mean(found.cluster == cluster) > 0.95  # by the same names
    assert found.curve.index.tolist() == [3]
    assert found.state.n_clusters == 3
    layout = mixture.GroupingLayout.of(memberships)
    evidence = [mixture.log_evidence(layout, s) for s in (mixture.init(layout, np.maximum(start, 0), 3), found.state)]
    assert evidence[0] + 50 < found.curve.loc[3, "log_evidence"] <= evidence[1] + 1
    silhouette = EvidenceSilhouette.of(memberships, rng=rng()).score(found.cluster)
    assert found.curve.loc[3, "silhouette"] == pytest.approx(silhouette, abs=0.03)  # sweeps that follow move an item


def said_by_all(given_groupings):
    """`determined_clusters` by loops over pairs."""
    together, presented = (table.sum(0) for table in dense(given_groupings))
    n_items = len(together)
    put = (together - given_groupings.n_groupings * np.eye(n_items)) > 0
    apart = presented - together * (presented > 0)
    np.fill_diagonal(apart, 0)
    shown = (presented > 0) & ~np.eye(n_items, dtype=bool)
    part = parts(Memberships.of(given_groupings))
    if not (put & shown).any():
        return np.arange(n_items)
    if not (apart > 0).any():
        return part
    if ((part[:, None] == part) & ~shown & ~np.eye(n_items, dtype=bool)).any():
        return None
    linked = (put & shown) | np.eye(n_items, dtype=bool)
    for _ in range(n_items):
        linked = (linked.astype(int) @ linked) > 0
    if (linked & (apart > 0)).any():
        return None
    return linked.argmax(1)


@settings(max_examples=100)
@given(st.one_of(arguments(max_items=4, max_groupings=4), arguments(max_items=6)))
def test_determined_clusters_equal_the_definition(drawn):
    given_groupings = made(drawn)
    given_groupings = given_groupings[np.flatnonzero(np.diff(given_groupings.incidence.indptr))]
    memberships = Memberships.of(given_groupings)
    found, expected = determined_clusters(memberships, parts(memberships)), said_by_all(given_groupings)
    assert (found is None) == (expected is None)
    if expected is not None:
        np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([["a"], ["b"], ["c"]], [0, 1, 2]),
        ([["a", "b"], ["c"]], [0, 0, 1]),
        ([["a", "b", "c"]], [0, 0, 0]),
    ],
)
def test_a_single_grouping_determines_the_clusters(lists, expected):
    memberships = Memberships.of(Groupings.from_lists([lists, lists]))
    assert determined_clusters(memberships, parts(memberships)).tolist() == expected


def test_where_nobody_tells_items_apart_each_part_is_a_cluster_though_not_all_pairs_were_seen():
    memberships = Memberships.of(
        Groupings.from_lists([[["a", "b"]], [["x", "y", "z"]], [["z", "w"]]], items=list("abwxyz"))
    )
    assert determined_clusters(memberships, parts(memberships)).tolist() == [1, 1, 0, 0, 0, 0]


def test_a_contradiction_through_a_third_item_leaves_clusters_undetermined():
    lists = [[["a", "b"]], [["b", "c"]], [["a"], ["c"]]]
    memberships = Memberships.of(Groupings.from_lists(lists))
    assert determined_clusters(memberships, parts(memberships)) is None


def test_each_part_has_its_own_clusters_the_largest_first():
    probabilities = np.array([[0.9, 0.1, 0.0], [0.2, 0.6, 0.2], [0.2, 0.7, 0.1], [0.5, 0.3, 0.2], [0.6, 0.4, 0.0]])
    found = fusing.within_parts(probabilities, np.array([0, 0, 0, 1, 0]))
    # cluster 0 of part 0 has items 0 and 4, cluster 1 items 1 and 2, and part 1 is item 3 alone; cluster 2 owns none
    expected = [[0.9, 0.1, 0], [0.25, 0.75, 0], [2 / 9, 7 / 9, 0], [0, 0, 1], [0.6, 0.4, 0]]
    np.testing.assert_allclose(found, expected)


@settings(max_examples=30)
@given(arguments(), st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_agreement_of_annotators_by_pairs(drawn, cluster):
    """The adjusted Rand index with the pairs of all groupings of an annotator in one table."""
    given_groupings = made(drawn)
    cluster = np.array(cluster[: len(given_groupings)])
    found = agreement_with(Memberships.of(given_groupings), cluster)
    both, in_cluster, in_group, total = np.zeros((4, given_groupings.n_annotators))
    for grouping, annotator in zip(lists_of(given_groupings), given_groupings.annotator_of_grouping):
        items = [(cluster[i], g) for g, group in enumerate(grouping) for i in group]
        for one, two in itertools.combinations(items, 2):
            both[annotator] += one == two
            in_cluster[annotator] += one[0] == two[0]
            in_group[annotator] += one[1] == two[1]
            total[annotator] += 1
    expected = in_cluster * in_group / np.maximum(total, 1)
    beyond, possible = both - expected, (in_cluster + in_group) / 2 - expected
    np.testing.assert_array_equal(np.isnan(found), possible < 1e-9)
    defined = possible >= 1e-9
    np.testing.assert_allclose(found[defined], beyond[defined] / possible[defined], atol=1e-10)


def test_agreement_of_one_grouping_is_the_adjusted_rand_index():
    said = rng().integers(3, size=(30, 4))
    cluster = rng(1).integers(4, size=30)
    found = agreement_with(Memberships.of(Groupings.from_matrix(said)), cluster)
    np.testing.assert_allclose(found, [adjusted_rand_score(cluster, column) for column in said.T])


def test_one_hot_probabilities():
    np.testing.assert_array_equal(fusing.onehot(np.array([1, 0]), 3), [[0, 1, 0], [1, 0, 0]])
    solution = fusing.Solution(np.array([[0.2, 0.8], [0.5, 0.5]]), pd.DataFrame(), silhouette=0.5)
    assert solution.cluster.tolist() == [1, 0]
