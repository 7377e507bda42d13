"""The test of random annotations: its measures by brute force, its level, its power, and its limits."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels, Pairs
from consilience.analysis.chance import SMALL, chance_test, measure_of, permute_within_strata
from consilience.simulation import simulate_pairs
from tests.quick_cases import some_quick

RNG = np.random.default_rng(0)


def sorts(rng, n_items=15, n_annotators=4, n_groups=3):
    cells = rng.integers(n_groups, size=(n_items, n_annotators)).astype(object)
    cells[rng.random(cells.shape) < 0.2] = None
    return cells


def measured(annotations, z=None):
    return measure_of(annotations, z, RNG)(None)


@pytest.mark.parametrize("small", [SMALL, 0], ids=["dense", "sparse"])
def test_measure_of_groupings_counts_shared_items(small, monkeypatch):
    monkeypatch.setattr("consilience.analysis.chance.SMALL", small)
    annotations = Groupings.from_matrix(sorts(np.random.default_rng(1)))
    z = np.random.default_rng(2).normal(size=(15, 2))
    shared = (annotations.incidence.T @ annotations.incidence).toarray()
    sums = [
        (z[annotations.incidence.toarray()[:, g] > 0].sum(0) ** 2).sum() / shared[g, g]
        for g in range(annotations.n_groups)
    ]
    found = measured(annotations, z)
    assert found["groups"] == pytest.approx((shared**2).sum())
    assert found["features"] == pytest.approx(sum(sums))


def test_measure_of_labels_counts_equal_labels():
    cells = sorts(np.random.default_rng(3))
    counts = [[(row == k).sum() for k in range(3)] for row in cells]
    assert measured(Labels.from_matrix(cells))["names"] == (np.array(counts) ** 2).sum()


def test_measures_of_pairs_are_sums_over_pairs_triangles_and_squares():
    annotations = simulate_pairs([0, 0, 0, 1, 1, 1, 1], 3, 14, 0.8, False, random_state=1)
    z = np.random.default_rng(2).normal(size=(7, 2))
    x = [np.zeros((7, 7)) for _ in range(3)]
    for u in range(3):
        mine = annotations.annotator == u
        values = annotations.same[mine] - annotations.same[mine].mean()
        x[u][annotations.item_a[mine], annotations.item_b[mine]] = values
        x[u] += x[u].T
    total = sum(x)
    found = measured(annotations, z)
    assert found["same pairs"] == pytest.approx(2 * sum((x[u] * x[v]).sum() / 2 for u, v in combinations(range(3), 2)))
    triangles = sum(total[i, j] * total[j, k] * total[k, i] for i, j, k in combinations(range(7), 3))
    assert found["triangles"] == pytest.approx(6 * triangles)
    squares = sum(
        total[i, k] * total[k, j] * total[j, m] * total[m, i]
        for i in range(7)
        for j in range(7)
        for k in range(7)
        for m in range(7)
        if i != j and k != m
    )
    assert found["squares"] == pytest.approx(squares)
    apart = ((z[:, None] - z[None]) ** 2).sum(-1)
    assert found["features"] == pytest.approx(-(total * apart).sum() / 2)


def test_permutations_stay_within_strata():
    stratum = np.random.default_rng(0).integers(5, size=200)
    order = permute_within_strata(stratum, np.random.default_rng(1))
    assert sorted(order) == list(range(200))
    assert (stratum[order] == stratum).all()
    assert (order != np.arange(200)).mean() > 0.5


def test_annotators_who_agree_with_themselves_alone_are_at_chance():
    rng = np.random.default_rng(4)
    base = rng.integers(4, size=(30, 3))  # three random annotators, who each sort twice in the same way
    rows = [
        {"item": i, "annotator": a, "grouping": f"{a} {time}", "group": f"{time} {base[i, a]}"}
        for a in range(3)
        for time in range(2)
        for i in range(30)
    ]
    assert chance_test(Groupings.from_frame(pd.DataFrame(rows))).at_chance
    shared = pd.DataFrame(rows).assign(group=[f"{base[row['item'], 0]}" for row in rows])
    assert not chance_test(Groupings.from_frame(shared)).at_chance


def test_pairs_of_random_groupings_are_at_chance_although_consistent():
    cells = np.random.default_rng(6).integers(4, size=(20, 6))
    assert chance_test(Groupings.from_matrix(cells).to_pairs()).at_chance


def test_annotators_who_share_no_items_are_not_tested():
    rows = [{"item": f"{a} {i}", "annotator": a, "group": i % 2} for a in range(3) for i in range(6)]
    apart = Groupings.from_frame(pd.DataFrame(rows))
    assert chance_test(apart) is None
    assert chance_test(Groupings.from_matrix([["p"], ["p"], ["q"]])) is None
    features = np.array([[i % 2 + 0.01 * i] for _ in range(3) for i in range(6)])
    assert not chance_test(apart, features).at_chance  # each annotator follows the feature
    assert chance_test(apart, np.ones((18, 1))) is None


def test_unrelated_features_are_no_agreement():
    rng = np.random.default_rng(7)
    assert chance_test(Groupings.from_matrix(rng.integers(3, size=(40, 4))), rng.normal(size=(40, 3))).at_chance


def test_annotators_who_swap_the_names_of_classes_still_agree():
    truth = np.arange(60) % 2
    annotations = Labels.from_matrix(np.stack([truth, 1 - truth], axis=1))
    assert not chance_test(annotations).at_chance


DRAWS = 12


@pytest.mark.parametrize("kind", some_quick(["groupings", "labels", "pairs"]))
def test_random_annotations_are_at_chance_as_often_as_the_level_says(kind):
    """At a level of .01, 3 or more false alarms in 12 have probability .0002."""
    rng = np.random.default_rng(20)
    made = {
        "groupings": lambda: Groupings.from_matrix(rng.integers(3, size=(12, 8))),
        "labels": lambda: Labels.from_matrix(rng.integers(2, size=(20, 4))),
        "pairs": lambda: simulate_pairs(np.arange(20) % 3, 4, 50, 0.5, random_state=rng),
    }[kind]
    assert sum(not chance_test(made()).at_chance for _ in range(DRAWS)) < 3


@pytest.mark.parametrize("kind", ["groupings", "labels", "pairs"])
def test_informative_annotations_are_not_at_chance(kind):
    rng = np.random.default_rng(21)
    truth = np.arange(30) % 3

    def noisy(n_annotators):
        cells = np.tile(truth[:, None], (1, n_annotators))
        return np.where(rng.random(cells.shape) < 0.7, cells, rng.integers(3, size=cells.shape))

    made = {
        "groupings": lambda: Groupings.from_matrix(noisy(6)),
        "labels": lambda: Labels.from_matrix(noisy(3)),
        "pairs": lambda: simulate_pairs(truth, 5, 80, 0.85, random_state=rng),
    }[kind]
    assert sum(chance_test(made()).at_chance for _ in range(10)) == 0


def test_the_p_value_is_deterministic_and_opposite_judges_are_at_chance():
    frame = pd.DataFrame(
        [
            {"item_a": i, "item_b": j, "annotator": u, "same": int((i % 2 == j % 2) != u)}
            for u in range(2)
            for i, j in combinations(range(5), 2)
        ]
    )
    pairs = Pairs.from_frame(frame)
    assert chance_test(pairs) == chance_test(pairs)
    assert chance_test(pairs).at_chance


@pytest.mark.parametrize("kind", ["groupings", "labels", "pairs"])
def test_a_sample_of_many_annotations_is_enough(kind, monkeypatch):
    monkeypatch.setattr("consilience.analysis.chance.MOST_PRODUCTS", 5_000)
    monkeypatch.setattr("consilience.analysis.chance.MOST_JUDGEMENTS", 900)
    rng = np.random.default_rng(22)
    truth = np.arange(100) % 4
    random = rng.integers(4, size=(100, 20))
    for known in (True, False):
        cells = np.where(rng.random((100, 20)) < 0.8, truth[:, None], random) if known else random
        annotations = {
            "groupings": lambda cells=cells: Groupings.from_matrix(cells),
            "labels": lambda cells=cells: Labels.from_matrix(cells),
            "pairs": lambda known=known: simulate_pairs(truth, 8, 400, 0.9 if known else 0.5, random_state=rng),
        }[kind]()
        assert chance_test(annotations).at_chance != known
