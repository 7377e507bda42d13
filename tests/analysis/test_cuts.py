"""Cuts of the tree of a report, their figures, and the data of the explorer."""

import base64
import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score, silhouette_score

from consilience import Groupings
from consilience.analysis.cuts import CutJudge, Tree, are_moved, matched_numbers
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.consensus import SubsetFusion
from consilience.inspection import report
from consilience.metrics.clusterings import ari
from tests.quick_cases import some_quick


@pytest.fixture(scope="module")
def cards():
    """Sorts of 24 cards by six people, of whom each errs on another sixth of the cards, and their co-occurrence."""
    rng = np.random.default_rng(1)
    truth = np.arange(24) % 4
    sorts = {f"p{who}": np.where(rng.random(24) < 1 / 6, rng.integers(4, size=24), truth) for who in range(6)}
    groupings = Groupings.from_matrix(pd.DataFrame(sorts, index=[f"card {i}" for i in range(24)]).astype(str))
    model = SubsetFusion(random_state=0).fit(groupings)
    return model, groupings, CoOccurrence.of(model, None, "")


@pytest.fixture(scope="module")
def cards_data(cards, read):
    """Data of the explorer in the report on the cards."""
    return data_of(read(report(*cards[:2])))


@pytest.fixture(scope="module")
def fusion_page(fusion, read):
    return read(report(*fusion))


@pytest.fixture(scope="module")
def tree(cards):
    return Tree.of(cards[2].dissimilarities(cards[2].places))


def of_items(tree, cut):
    cluster = np.empty(tree.n_leaves, dtype=int)
    cluster[tree.order] = cut
    return cluster


def data_of(page):
    return json.loads(next(e for e in page.root.all("script") if e.attributes.get("id")).children[0])


def test_every_branch_is_a_range_of_leaves(tree):
    below = [{leaf} for leaf in range(tree.n_leaves)]
    for first, second in tree.children.tolist():
        below.append(below[first] | below[second])
    for node, leaves in enumerate(below):
        first, size = tree.start[node], tree.size[node]
        assert set(tree.order[first : first + size].tolist()) == leaves
    assert sorted(tree.order) == list(range(tree.n_leaves))


def test_cuts_are_those_of_scipy(cards, tree):
    co_occurrence = cards[2]
    distance = co_occurrence.dissimilarities(co_occurrence.places)
    linked = hierarchy.linkage(squareform(distance, checks=False), "average")
    cuts = CutJudge(co_occurrence.memberships).cuts(tree, 100)
    assert len(cuts) > 5
    for cut in cuts:
        expected = hierarchy.fcluster(linked, (cut.low + cut.high) / 2, "distance")
        assert expected.max() == cut.n_clusters
        assert ari(expected, of_items(tree, tree.cut(cut.n_clusters))) == 1


def test_heights_of_cuts_are_apart_and_leave_no_gap(cards, tree):
    cuts = CutJudge(cards[2].memberships).cuts(tree, 100)
    assert [cut.n_clusters for cut in cuts] == sorted({cut.n_clusters for cut in cuts})
    for cut, finer in pairwise(cuts):
        assert cut.high > cut.low == pytest.approx(finer.high)


def test_branches_that_meet_at_one_height_are_split_together():
    distance = np.array([[0, 0.2, 1, 1], [0.2, 0, 1, 1], [1, 1, 0, 0.2], [1, 1, 0.2, 0]])
    assert Tree.of(distance).numbers_of_clusters(10) == [1, 2, 4]
    assert Tree.of(np.zeros((3, 3))).numbers_of_clusters(10) == [1]


def test_figures_of_cuts_are_those_of_scikit_learn(cards, tree):
    _, groupings, co_occurrence = cards
    distance = co_occurrence.dissimilarities(co_occurrence.places)
    sorts = groupings.to_matrix().to_numpy().astype(str)
    judge = CutJudge(co_occurrence.memberships)
    for cut in judge.cuts(tree, 10)[1:]:
        cluster = of_items(tree, tree.cut(cut.n_clusters))
        expected = np.mean([adjusted_rand_score(sorts[:, who], cluster) for who in range(sorts.shape[1])])
        assert cut.agreement == pytest.approx(expected)
        assert judge.silhouette(cluster) == pytest.approx(silhouette_score(distance, cluster, metric="precomputed"))


def test_the_figures_of_the_report_are_those_of_its_model(cards, cards_data):
    model = cards[0]
    clusters, _, alike = cards_data["report"]
    assert clusters == model.n_clusters_
    assert alike == "1.00"


def test_each_cut_says_how_far_it_is_the_report(cards, tree, cards_data):
    model = cards[0]
    for n_clusters, *_, alike in cards_data["cuts"]:
        expected = adjusted_rand_score(model.labels_, of_items(tree, tree.cut(n_clusters)))
        assert alike.replace("\u2212", "-") == f"{expected:.2f}"


def test_items_that_are_elsewhere_in_other_clusters_are_those_that_no_match_holds(cards, tree):
    labels = cards[0].labels_
    of_cut = of_items(tree, tree.cut(cards[0].n_clusters_))
    table = pd.crosstab(labels, of_cut).to_numpy()
    assert are_moved(of_cut, labels).sum() == len(labels) - table[linear_sum_assignment(-table)].sum()
    away = labels.copy()
    away[:3] = labels.max() + 1
    assert not are_moved(labels, labels + 5).any()
    assert are_moved(labels, away).tolist() == [True] * 3 + [False] * (len(labels) - 3)


def test_numbers_of_a_cut_are_those_of_the_clusters_that_it_repeats():
    cut, cluster = np.array([0, 0, 0, 1, 1, 2, 3]), np.array([2, 2, 2, 0, 0, 1, 1])
    numbers = matched_numbers(cut, cluster, 6)
    assert numbers[cut].tolist()[:5] == cluster.tolist()[:5]
    assert 1 in numbers[[2, 3]]
    assert sorted(numbers) == list(range(6))


@pytest.mark.slow
def test_the_page_has_the_counts_of_all_pairs(fusion, fusion_page):
    model, groupings = fusion
    data = data_of(fusion_page)
    n = len(data["items"])
    assert sorted(data["items"]) == sorted(set(model.items_) - {"yeti"})
    matrix = groupings.to_matrix().loc[data["items"]].to_numpy()
    upper = np.triu_indices(n, 1)
    counts = {name: np.frombuffer(base64.b64decode(data[name]), "u1") for name in ("together", "presented")}
    assert data["bytes"] == 1
    same = np.array([[sum(matrix[i] == matrix[j]) for j in range(n)] for i in range(n)])
    assert counts["together"].tolist() == same[upper].tolist()
    assert counts["presented"].tolist() == [groupings.n_annotators] * len(upper[0])


def test_the_table_of_items_names_the_nearest(fusion, fusion_page):
    (model, groupings), page = fusion, fusion_page
    head, *rows = page.table("items")
    assert head == ["Item", "Cluster", "Most often put together with"]
    assert "The same in every row: Moves by itself, 0%; Annotators, 9." in page.root.text
    assert "The 9 items that are in a grouping" in page.root.text  # and not yeti
    assert sorted(row[0] for row in rows) == sorted(set(model.items_) - {"yeti"})
    number = dict(zip(model.items_, model.labels_))
    codes = [number[row[0]] for row in rows]
    assert codes == sorted(codes)
    cow = next(row for row in rows if row[0] == "cow")
    matrix = groupings.to_matrix()
    share = (matrix == matrix.loc["cow"]).mean(axis=1)["pig"]
    assert cow[-1].startswith(f"{share:.0%} pig")


def test_hostile_names_cannot_end_the_data(read):
    names = ["</script><script>alert(1)</script>", "<!--", "a & b", "é"]
    sorts = Groupings.from_matrix([["x", "x"], ["x", "x"], ["y", "y"], ["y", "z"]], items=names)
    page = read(report(SubsetFusion(random_state=0).fit(sorts), sorts, certainty=None))
    assert set(data_of(page)["items"]) == set(names)
    assert len(list(page.root.all("script"))) == 2


@pytest.mark.parametrize(("n_items", "explored"), some_quick([(501, False), (3, True), (500, True), (2, False)], 2))
def test_too_few_and_too_many_items_are_not_explored(n_items, explored, read):
    sorts = Groupings.from_matrix(np.array([["a", "b"][i % 2] for i in range(n_items)])[:, None].repeat(2, axis=1))
    page = read(report(SubsetFusion(random_state=0).fit(sorts), sorts, certainty=None))
    assert any(e.attributes.get("id") == "explorer" for e in page.root.all("div")) == explored
    assert ("items" in page.tables()) == explored
    assert ("With more than 500 items" in page.root.text) == (n_items > 500)
    assert any("still" in e.attributes["class"] for e in page.root.all("figure")) == explored


def painted(tree, cluster):
    """Labels of the leaves in every cut, as the script of the page finds them."""
    base, splits = tree.painted(cluster)
    label, found = np.full(tree.n_leaves, base), []
    found.append(label.copy())
    for first, end, number in splits.tolist():
        label[first:end] = number
        found.append(label.copy())
    return found


def test_a_branch_that_is_mostly_a_cluster_has_its_number_in_all_cuts(tree):
    rng = np.random.default_rng(3)
    for n_clusters in (1, 3, 5, 8):
        cluster = tree.cut(n_clusters)
        moved = np.where(rng.random(tree.n_leaves) < 0.2, rng.integers(n_clusters, size=tree.n_leaves), cluster)
        np.testing.assert_array_equal(painted(tree, cluster)[n_clusters - 1], cluster)
        for given in (cluster, moved):
            numbers = {}
            for k, labels in enumerate(painted(tree, given), start=1):
                assert len(np.unique(labels)) == k
                assert ari(labels, tree.cut(k)) == pytest.approx(1)
                for number in np.unique(labels).tolist():
                    numbers.setdefault(tuple(np.flatnonzero(labels == number)), set()).add(number)
            for number in np.unique(given).tolist():
                own = set(np.flatnonzero(given == number).tolist())
                alike = {leaves: len(own & set(leaves)) / len(own | set(leaves)) for leaves in numbers}
                best = max(alike, key=alike.get)
                if alike[best] > 1 / 2:
                    assert numbers[best] == {number}


def test_the_silhouette_by_plain_shares_is_the_textbooks():
    """Rousseeuw's, item by item; there is none if a pair was never presented together."""
    sorts = Groupings.from_matrix([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 2, 1], [1, 1, 2]])
    model = SubsetFusion(n_clusters=2, random_state=0).fit(sorts)
    found = CoOccurrence.of(model, None, "")
    distance, codes = 1 - found.shares(found.places), model.labels_
    widths = []
    for item, code in enumerate(codes):
        own = [distance[item, other] for other in range(5) if codes[other] == code and other != item]
        a, b = np.mean(own), np.mean(distance[item, codes != code])
        widths.append((b - a) / max(a, b))
    assert found.silhouette() == pytest.approx(np.mean(widths))
    cells = np.array([[0, None], [0, 0], [1, 1], [None, 1]], dtype=object)
    parts = SubsetFusion(n_clusters=2, random_state=0).fit(Groupings.from_matrix(cells))
    assert np.isnan(CoOccurrence.of(parts, None, "").silhouette())
