"""Informative: items never asked first, then by what asking is worth, held to a loop over pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active import Informative
from consilience.active.informative import LITTLE
from tests.active.situations import assert_drawn_from, by_items, dense_counts, no_samples, probabilities, situation

TOLD = [[[0, 1], [2]], [[0, 1, 3]], [[3], [4]], [[4, 1]]]  # asked 2, 3, 1, 2, 2 times
SAMPLES = [[0, 0, 1, 1, 2], [0, 1, 1, 1, 2], [0, 0, 1, 2, 2], [2, 2, 0, 2, 1]]


def worth(n_items, told, samples):
    """V_ij = (p (1 − p) + ε) / (1 + P), in a loop."""
    presented, _, _ = dense_counts(n_items, told)
    v = np.zeros((n_items, n_items))
    for i, j in combinations(range(n_items), 2):
        p = sum(sample[i] == sample[j] for sample in samples) / len(samples)
        v[i, j] = v[j, i] = (p * (1 - p) + LITTLE) / (1 + presented[i, j])
    return v


def composed(n_draws, size, *given_situation, power=3.0, **named):
    """Subsets composed in a situation, with one seed."""
    rng, strategy, where = np.random.default_rng(2), Informative(power), situation(*given_situation, **named)
    return [strategy.compose(where, size, rng).tolist() for _ in range(n_draws)]


@settings(max_examples=25)
@given(st.data())
def test_the_worth_of_pairs(data):
    n_items = data.draw(st.integers(2, 6))
    everything = [[[i] for i in range(n_items)]]  # else items never asked would come first
    items = st.lists(st.integers(0, n_items - 1), min_size=1, unique=True)
    told = everything + [[subset] for subset in data.draw(st.lists(items, max_size=4))]
    one_sample = st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items)
    samples = data.draw(st.lists(one_sample, min_size=1, max_size=4))
    candidates = data.draw(st.lists(items, min_size=1, max_size=4))
    v = worth(n_items, told, samples)
    expected = [np.mean([v[pair] for pair in combinations(c, 2)]) if len(c) > 1 else 0.0 for c in candidates]
    found = Informative().values(situation(n_items, told, samples=samples), [np.array(c) for c in candidates])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("power", "allowed", "first"),
    [(3.0, [0, 1, 2, 3, 4], [2]), (1.0, [0, 1, 3, 4], [0, 3, 4]), (0.0, [0, 1, 2, 3, 4], [2])],
    ids=["as it is", "the least asked not allowed", "no preference"],
)
def test_items_are_added_by_the_power_of_their_doubt(power, allowed, first):
    """Begins with an item asked least of those allowed, and goes on by (Σ_i V_ij)^power over the items chosen."""
    v = worth(5, TOLD, SAMPLES)

    def weights(chosen):
        if not chosen:
            return np.isin(np.arange(5), first) * 1.0
        return v[:, list(chosen)].sum(1) ** power

    expected = probabilities(by_items(weights, allowed), 3)
    drawn = composed(500, 3, 5, TOLD, samples=SAMPLES, allowed=allowed, power=power)
    assert_drawn_from(expected, drawn)
    assert {subset[0] for subset in drawn} == set(first)


def test_a_large_power_takes_the_largest_doubt():
    """Powers of doubts below 1 underflow from a few hundred on; what counts is how they compare."""
    v = worth(5, TOLD, SAMPLES)
    best = int(v[2].argmax())
    assert {frozenset(s) for s in composed(20, 2, 5, TOLD, samples=SAMPLES, power=5000.0)} == {frozenset([2, best])}


def test_items_never_asked_come_first_and_the_least_asked_with_them():
    """4 and 5 were never asked, 3 once; the draws of the posterior are not even looked at."""
    told = [[[0, 1, 2]], [[0, 1], [2, 3]]]
    drawn = composed(30, 3, 6, told)
    assert {frozenset(subset) for subset in drawn} == {frozenset([3, 4, 5])}
    drawn = composed(60, 4, 6, told)
    assert {frozenset(s) - {3, 4, 5} for s in drawn} == {frozenset([i]) for i in (0, 1, 2)}


def test_of_many_items_never_asked_all_are_alike():
    expected = probabilities(by_items(lambda chosen: np.ones(5), range(5)), 3)
    assert_drawn_from(expected, composed(300, 3, 5))


def test_items_never_asked_that_are_not_allowed_do_not_come():
    told = [[[0, 1, 2]], [[0, 1], [2, 3]]]
    assert {frozenset(s) for s in composed(20, 2, 6, told, allowed=[0, 3, 4])} == {frozenset([3, 4])}
    samples = [[0, 1, 2, 0, 3, 3], [0, 1, 2, 4, 3, 3]]  # the doubt of 3, which was asked least, is about 0
    drawn = composed(20, 2, 6, told, allowed=[0, 1, 2, 3], samples=samples)
    assert {frozenset(s) for s in drawn} == {frozenset([0, 3])}


def test_asked_and_pending_is_asked():
    assert {frozenset(s) for s in composed(10, 2, 4, [], [[0, 1]])} == {frozenset([2, 3])}


def test_the_one_doubt_is_asked_about():
    """The draws agree on all pairs but 0 with 3, whose worth is 251 times that of the others: (¼ + ε)/ε."""
    told = [[[i] for i in range(6)]]
    samples = [[0, 1, 2, 0, 3, 4], [0, 1, 2, 5, 3, 4]]
    partner = [next(iter(set(s) - {0})) for s in composed(300, 2, 6, told, samples=samples) if s[0] == 0]
    assert len(partner) > 30
    assert set(partner) == {3}  # the chance of another is 4 in 251³
    pairs = [np.array(pair) for pair in combinations(range(6), 2)]
    where = situation(6, told, samples=samples)
    chosen = {Informative().prefer(where, pairs, np.random.default_rng(seed)) for seed in range(10)}
    assert [pairs[place].tolist() for place in chosen] == [[0, 3]]


def test_a_pair_presented_more_often_is_worth_less():
    samples = [[0, 0, 0, 1], [0, 1, 1, 1]]
    told = [[[i] for i in range(4)], [[0, 1]], [[0], [1]], [[0], [2]]]
    values = Informative().values(situation(4, told, samples=samples), [np.array([0, j]) for j in (1, 2)])
    once_more = 4  # presented 3 and 2 times: 1 + P
    np.testing.assert_allclose(values, [(0.25 + LITTLE) / once_more, (0.25 + LITTLE) / 3])


def test_candidates_with_items_never_asked_are_preferred():
    """By the share of such items; equals are drawn alike."""
    told = [[[0, 1], [2]]]
    candidates = [np.array(c) for c in ([0, 1, 2], [0, 3], [4], [0, 1, 3], [5])]
    where = situation(6, told)
    assert where.samples is no_samples
    np.testing.assert_allclose(Informative().values(where, candidates), [0, 1 / 2, 1, 1 / 3, 1])
    rng = np.random.default_rng(0)
    chosen = [[Informative().prefer(where, candidates, rng)] for _ in range(200)]
    assert_drawn_from({frozenset([2]): 0.5, frozenset([4]): 0.5}, chosen)
