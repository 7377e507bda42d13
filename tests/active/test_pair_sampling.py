"""Draws against the probabilities implied by the weights, by enumeration; unseen pairs by listing and by rejection."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active import pair_sampling
from consilience.active.pair_sampling import PairWeights, draw_subset
from tests.active.situations import assert_drawn_from, by_pairs, counts_of, probabilities


def weighted(n_items, seen, unseen):
    """Return weights of some pairs, {pair: weight}, and of all others."""
    counts = counts_of(n_items, pending=sorted(seen))
    return PairWeights(counts, np.array([float(seen[pair]) for pair in sorted(seen)]), float(unseen))


def dense(n_items, seen, unseen):
    """Return the same as a matrix with diagonal 0."""
    matrix = np.full((n_items, n_items), float(unseen))
    np.fill_diagonal(matrix, 0)
    for (i, j), weight in seen.items():
        matrix[i, j] = matrix[j, i] = weight
    return matrix


SOME = {(0, 1): 4.0, (0, 2): 0.0, (1, 3): 2.0, (3, 4): 0.5}
EVERY = {pair: float(number % 4) for number, pair in enumerate(combinations(range(5), 2))}
ONE_MISSING = {pair: 0.2 for pair in combinations(range(7), 2) if pair != (2, 5)}  # 1 of 21: fewer than 5 %
CASES = {
    "some seen, pairs": (5, SOME, 1.0, range(5), 2),
    "some seen": (5, SOME, 1.0, range(5), 3),
    "some seen, even number": (5, SOME, 1.0, range(5), 4),
    "some allowed": (6, SOME | {(2, 5): 3.0}, 0.5, [0, 1, 3, 5], 3),
    "all seen": (5, EVERY, 1.0, range(5), 3),
    "all allowed seen": (6, SOME | EVERY, 1.0, [0, 2, 3, 4], 2),
    "none seen": (5, {}, 1.0, range(5), 2),
    "one unseen": (7, ONE_MISSING, 4.0, range(7), 2),
    "no weight at all": (5, dict.fromkeys(SOME, 0.0), 0.0, range(5), 3),
    "only the seen have weight": (5, SOME, 0.0, range(5), 3),
    "the weight is used up": (5, {(0, 1): 1.0}, 0.0, range(5), 3),
    "only the unseen have weight": (5, dict.fromkeys(SOME, 0.0), 1e-300, range(5), 2),
}


def drawn_from(case, n_draws=400, seed=0):
    n_items, seen, unseen, allowed, size = case
    rng, weights = np.random.default_rng(seed), weighted(n_items, seen, unseen)
    mask = np.isin(np.arange(n_items), list(allowed))
    return [draw_subset(weights, mask, size, rng).tolist() for _ in range(n_draws)]


def expected_of(case):
    n_items, seen, unseen, allowed, size = case
    return probabilities(by_pairs(dense(n_items, seen, unseen), list(allowed), size), size)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_draws_follow_the_weights(case):
    assert_drawn_from(expected_of(case), drawn_from(case))


@pytest.mark.parametrize("few", [0.0, 1.1], ids=["guessed", "listed"])
def test_unseen_pairs_by_rejection_and_by_listing(few):
    """With 0 % pairs are never listed, with 110 % always."""
    case = (5, SOME, 1.5, [0, 1, 2, 4], 3)
    other = {"guessed": "_listed_pair", "listed": "_uniform_pair"}["listed" if few else "guessed"]
    with patch.object(pair_sampling, "FEW_UNSEEN", few), patch.object(pair_sampling, other, side_effect=AssertionError):
        assert_drawn_from(expected_of(case), drawn_from(case))


@pytest.mark.parametrize(("n_items", "listed"), [(6, False), (7, True)])
def test_unseen_pairs_are_listed_when_they_are_fewer_than_one_in_twenty(n_items, listed):
    """One pair of 15 or of 21 was not seen: one guess in 21 would hit it."""
    unseen = (1, 4)
    seen = {pair: 0.0 for pair in combinations(range(n_items), 2) if pair != unseen}
    with patch.object(pair_sampling, "_listed_pair", wraps=pair_sampling._listed_pair) as listing:
        drawn = drawn_from((n_items, seen, 1.0, range(n_items), 2), n_draws=5)
    assert all(sorted(subset) == [1, 4] for subset in drawn)
    assert listing.called == listed


@settings(max_examples=30)
@given(st.data())
def test_subsets_are_distinct_allowed_items(data):
    n_items = data.draw(st.integers(2, 7))
    pairs = list(combinations(range(n_items), 2))
    weight = st.sampled_from([0.0, 1e-310, 1.0, 1e12])
    seen = data.draw(st.dictionaries(st.sampled_from(pairs), weight))
    allowed = data.draw(st.lists(st.integers(0, n_items - 1), min_size=1, unique=True))
    size = data.draw(st.integers(1, len(allowed)))
    case = (n_items, seen, data.draw(weight), allowed, size)
    for subset in drawn_from(case, n_draws=3, seed=data.draw(st.integers(0, 99))):
        assert len(subset) == len(set(subset)) == size
        assert set(subset) <= set(allowed)


@settings(max_examples=30)
@given(st.data())
def test_weights_of_items_and_subsets_against_the_matrix(data):
    n_items = data.draw(st.integers(2, 6))
    pairs = list(combinations(range(n_items), 2))
    seen = data.draw(st.dictionaries(st.sampled_from(pairs), st.floats(0, 9)))
    unseen = data.draw(st.floats(0, 9))
    weights, matrix = weighted(n_items, seen, unseen), dense(n_items, seen, unseen)
    np.testing.assert_allclose(weights.of_items(), matrix.sum(1), atol=1e-12)
    for item in range(n_items):
        np.testing.assert_array_equal(weights.of_item(item), matrix[item])
    subset = st.lists(st.integers(0, n_items - 1), min_size=1, unique=True)
    subsets = data.draw(st.lists(subset, min_size=1, max_size=4))
    mean = [np.mean([matrix[p] for p in combinations(s, 2)]) if len(s) > 1 else 0.0 for s in subsets]
    np.testing.assert_allclose(weights.of_subsets([np.array(s) for s in subsets]), mean, atol=1e-12)
