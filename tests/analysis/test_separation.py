"""Which items people tell apart: the tests against brute force, corrections, letters, and what the report says."""

from itertools import combinations, product

import numpy as np
import pytest

from consilience import Groupings
from consilience.analysis.divisions import divide_clusters
from consilience.analysis.separation import _kept_apart, letters_of, p_of_random_signs
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.inference.multiple_tests import correct_by_holm
from consilience.inspection import report, separated_items

KINDS = np.arange(12) // 4


def in_clusters(right, n_people=40, seed=0):
    """Sorts of twelve items in three clusters; the items of a cluster are equal."""
    rng = np.random.default_rng(seed)
    shape = (12, n_people)
    return np.where(rng.random(shape) < right, np.arange(12)[:, None] // 4, rng.integers(3, size=shape))


def test_random_signs_agree_with_all_signs():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.6, 1.2):
        vectors = rng.normal(shift, 1, (12, 3)).round()
        signs = np.array(list(product([-1, 1], repeat=len(vectors))))
        drawn = ((signs @ vectors) ** 2).sum(1)
        exact = (drawn >= (vectors.sum(0) ** 2).sum() - 1e-9).mean()
        # the statistic is a count, and the distribution that stands for it continuous
        assert p_of_random_signs(vectors[None])[0] == pytest.approx(exact, abs=0.05)


def test_few_people_cannot_give_a_small_p_value():
    assert p_of_random_signs(np.eye(1, 5).repeat(4, 0)[None])[0] == 2.0**-3
    assert p_of_random_signs(np.zeros((1, 4, 2)))[0] == 1.0


def test_items_kept_apart_are_compared_with_all_outcomes():
    chance = np.array([0.5, 0.25, 0.2])
    joined, held = np.zeros((2, 3, 2), dtype=np.int8), np.ones((2, 3), dtype=bool)
    joined[:, 0] = 1  # one of three people put them together
    one = np.array([0]), np.array([1])
    people, counts, p = _kept_apart(joined, held, np.arange(3), chance, one)
    outcomes = np.array(list(product([0, 1], repeat=3)))
    probability = np.where(outcomes, chance, 1 - chance).prod(1)
    assert (people.item(), counts.item()) == (3, 1)
    assert p.item() == pytest.approx(probability[outcomes.sum(1) <= 1].sum())


def test_of_several_groupings_of_a_person_the_first_counts():
    joined, held = np.zeros((2, 2, 2), dtype=np.int8), np.ones((2, 2), dtype=bool)
    joined[:, 0] = 1
    people, counts, _ = _kept_apart(joined, held, np.zeros(2, int), np.full(2, 0.5), (np.array([0]), np.array([1])))
    assert (people.item(), counts.item()) == (1, 1)


def test_the_smaller_of_two_p_values_counts_twice_before_all_pairs_are_corrected():
    pairs = separated_items(in_clusters(0.7)).pairs
    smaller = pairs[["p_company", "p_apart"]].min(axis=1).to_numpy()
    assert pairs["p_corrected"].to_numpy() == pytest.approx(correct_by_holm(np.minimum(1, 2 * smaller)))
    assert (pairs["p_corrected"] < 1).any()


def test_items_share_a_letter_unless_they_are_separated():
    rng = np.random.default_rng(0)
    for _ in range(20):
        separated = [pair for pair in combinations(range(6), 2) if rng.random() < 0.5]
        letters = letters_of(6, separated)
        assert all(letters)
        shared = {(i, j) for i, j in combinations(range(6), 2) if set(letters[i]) & set(letters[j])}
        assert shared == set(combinations(range(6), 2)) - set(separated)


def test_equal_items_are_not_separated_and_others_are():
    found = separated_items(in_clusters(0.8))
    kind = found.pairs[["item_a", "item_b"]] // 4
    assert (found.pairs["separated"] == (kind["item_a"] != kind["item_b"])).all()
    assert found.letters.tolist() == ["a"] * 4 + ["b"] * 4 + ["c"] * 4


def test_random_groups_separate_nothing():
    assert not separated_items(in_clusters(0.0, seed=1)).pairs["separated"].any()


def test_items_that_are_always_alone_are_separated():
    alone = np.vstack([np.zeros((4, 30), int), np.ones((2, 30), int), np.full((1, 30), 2), np.full((1, 30), 3)])
    found = separated_items(alone).pairs.set_index(["item_a", "item_b"])
    assert found.loc[(6, 7), "p_company"] == 1.0
    assert found.loc[(6, 7), "separated"]


@pytest.mark.parametrize(("n_items", "level"), [(2, 0.05), (61, 0.05), (5, 0.0)])
def test_what_cannot_be_tested_is_an_error(n_items, level):
    with pytest.raises(InputError, match="separated_items"):
        separated_items(np.zeros((n_items, 3), int), level=level)


def test_the_report_says_who_is_not_told_apart():
    model = SubsetFusion(random_state=0).fit(Groupings.from_matrix(in_clusters(0.8)))
    page = report(model)
    assert "48 of 66 pairs of items are demonstrably sorted differently; the others may still be told apart." in page
    assert "Which items are sorted differently" in page


def test_pairs_that_are_not_separated_have_how_often_they_were_together(read):
    """Two items alone with everybody but one, who put each of them with others: never together, nor told apart."""
    cells = np.array([[0, 0, 0, 1, 1, 1, 2, 3]] * 14 + [[0, 0, 0, 1, 1, 1, 0, 1]]).T
    sorts = Groupings.from_matrix(cells, items=list("abcdefgh"))
    page = read(report(SubsetFusion(random_state=0, n_clusters=4).fit(sorts), certainty=None))
    head, *rows = page.table("separated")
    assert head[-1] == "Not shown to differ from (times together, of 15)"
    assert rows[[row[0] for row in rows].index("a")][-1].split() == ["15", "b", "15", "c"]
    assert "h (no evidence)" in rows[[row[0] for row in rows].index("g")][-1]
    text = page.section("separated").text
    assert "Pair by pair, and corrected for all 28 pairs, no two items within a cluster are shown to differ." in text
    assert "Nobody put together 1 of the 7 pairs that are not shown to differ: g – h." in text


def test_the_report_says_that_few_people_cannot_separate():
    page = report(SubsetFusion(random_state=0).fit(Groupings.from_matrix(in_clusters(0.9, n_people=8))))
    assert "none could be shown to differ, however well people agree" in page


@pytest.mark.slow
def test_captions_say_that_ellipses_are_not_the_test():
    page = report(SubsetFusion(random_state=0).fit(Groupings.from_matrix(in_clusters(0.8))))
    said = "whether ellipses overlap does not show whether two items are sorted differently"
    captions = page.split(said)
    assert len(captions) == 4  # below the map that can be explored; below that with ellipses, and in its description
    for after in captions[1:]:
        assert after.startswith(". That is tested, for all pairs together, in “Which items are sorted differently”.")
    alone = report(SubsetFusion(random_state=0).fit(Groupings.from_matrix(in_clusters(0.9, n_people=5))))
    assert "Which items are sorted differently" not in alone
    assert said in alone


def in_two_parts(n_people=20, seed=0):
    """Sorts of a cluster of six items, three of which most people set off, and of one of four equal items."""
    rng = np.random.default_rng(seed)
    apart = rng.random(n_people) < 0.6
    group = np.repeat([0, 2, 1], [3, 3, 4])[:, None] * np.ones((1, n_people), int)
    group[3:6, ~apart] = 0
    return np.where(rng.random(group.shape) < 0.15, rng.integers(3, size=group.shape), group)


def test_a_cluster_that_people_divide_is_divided_into_its_parts_and_one_of_equal_items_is_not():
    two, one = divide_clusters(Groupings.from_matrix(in_two_parts(seed=2)), np.repeat([0, 1], [6, 4]))
    assert sorted(two.part.tolist()) in ([0, 1, 2], [3, 4, 5])
    assert two.p_value <= 0.05 < one.p_value
    assert two.within > two.between


def test_the_shares_of_a_division_are_those_of_its_pairs():
    sorts = in_two_parts(seed=1)
    found = divide_clusters(Groupings.from_matrix(sorts), np.repeat([0, -1], [6, 4]))[0]
    shares = {(i, j): (sorts[i] == sorts[j]).mean() for i, j in combinations(range(6), 2)}
    between = {pair: (pair[0] in found.part) != (pair[1] in found.part) for pair in shares}
    assert found.within == pytest.approx(np.mean([shares[pair] for pair in shares if not between[pair]]))
    assert found.between == pytest.approx(np.mean([shares[pair] for pair in shares if between[pair]]))


@pytest.mark.slow
def test_clusters_of_equal_items_are_seldom_divided():
    """In 100 panels, at a level of 5 %; 11 or more would come by chance in 1 of 100 such series."""
    divided = [
        min(each.p_value for each in divide_clusters(Groupings.from_matrix(in_clusters(0.6, 12, seed)), KINDS)) <= 0.05
        for seed in range(100)
    ]
    assert sum(divided) <= 10


def test_the_report_says_which_cluster_is_divided_and_which_pair_is_most_often_together(read):
    sorts = Groupings.from_matrix(in_two_parts(), items=list("abcdefghij"))
    model = SubsetFusion(random_state=0, n_clusters=2).fit(sorts)
    text = read(report(model, certainty=None, words="cheeses,assessors")).section("separated").text
    assert "Tested as a whole, “" in text
    assert "Most often together were " in text
