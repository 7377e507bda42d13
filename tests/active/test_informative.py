"""Informative: items never presented come first, then the values of pairs decide, checked against a loop over pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active import Informative
from consilience.active.informative import LITTLE
from tests.active.situations import assert_drawn_from, by_items, dense_counts, no_samples, probabilities, situation

LISTS = [[[0, 1], [2]], [[0, 1, 3]], [[3], [4]], [[4, 1]]]  # presented 2, 3, 1, 2, 2 times
SAMPLES = [[0, 0, 1, 1, 2], [0, 1, 1, 1, 2], [0, 0, 1, 2, 2], [2, 2, 0, 2, 1]]


def values_of(n_items, lists, samples):
    """Return V_ij = (p (1 − p) + ε) / (1 + P), computed in a loop."""
    presented, _, _ = dense_counts(n_items, lists)
    v = np.zeros((n_items, n_items))
    for i, j in combinations(range(n_items), 2):
        p = sum(sample[i] == sample[j] for sample in samples) / len(samples)
        v[i, j] = v[j, i] = (p * (1 - p) + LITTLE) / (1 + presented[i, j])
    return v


def composed(n_draws, size, *given_situation, power=3.0, **named):
    """Return subsets composed in a situation, with one seed."""
    rng, strategy, where = np.random.default_rng(2), Informative(power), situation(*given_situation, **named)
    return [strategy.compose(where, size, rng).tolist() for _ in range(n_draws)]


@settings(max_examples=25)
@given(st.data())
def test_the_values_of_pairs(data):
    n_items = data.draw(st.integers(2, 6))
    everything = [[[i] for i in range(n_items)]]  # else items never presented would come first
    items = st.lists(st.integers(0, n_items - 1), min_size=1, unique=True)
    lists = everything + [[subset] for subset in data.draw(st.lists(items, max_size=4))]
    one_sample = st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items)
    samples = data.draw(st.lists(one_sample, min_size=1, max_size=4))
    candidates = data.draw(st.lists(items, min_size=1, max_size=4))
    v = values_of(n_items, lists, samples)
    expected = [np.mean([v[pair] for pair in combinations(c, 2)]) if len(c) > 1 else 0.0 for c in candidates]
    found = Informative().values(situation(n_items, lists, samples=samples), [np.array(c) for c in candidates])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("power", "allowed", "first"),
    [(3.0, [0, 1, 2, 3, 4], [2]), (1.0, [0, 1, 3, 4], [0, 3, 4]), (0.0, [0, 1, 2, 3, 4], [2])],
    ids=["as it is", "the least asked not allowed", "no preference"],
)
def test_items_are_added_by_the_power_of_their_values(power, allowed, first):
    """The first is a least presented item of those allowed, the next follow (Σ_i V_ij)^power over the items chosen."""
    v = values_of(5, LISTS, SAMPLES)

    def weights(chosen):
        if not chosen:
            return np.isin(np.arange(5), first) * 1.0
        return v[:, list(chosen)].sum(1) ** power

    expected = probabilities(by_items(weights, allowed), 3)
    drawn = composed(500, 3, 5, LISTS, samples=SAMPLES, allowed=allowed, power=power)
    assert_drawn_from(expected, drawn)
    assert {subset[0] for subset in drawn} == set(first)


def test_a_large_power_takes_the_largest_value():
    """Powers of values below 1 underflow from a few hundred on; only their ratios count."""
    v = values_of(5, LISTS, SAMPLES)
    best = int(v[2].argmax())
    assert {frozenset(s) for s in composed(20, 2, 5, LISTS, samples=SAMPLES, power=5000.0)} == {frozenset([2, best])}


def test_items_never_presented_come_first_then_the_least_presented():
    """4 and 5 were never presented, 3 once; samples of the posterior are not used."""
    lists = [[[0, 1, 2]], [[0, 1], [2, 3]]]
    drawn = composed(30, 3, 6, lists)
    assert {frozenset(subset) for subset in drawn} == {frozenset([3, 4, 5])}
    drawn = composed(60, 4, 6, lists)
    assert {frozenset(s) - {3, 4, 5} for s in drawn} == {frozenset([i]) for i in (0, 1, 2)}


def test_items_never_presented_are_equally_probable():
    expected = probabilities(by_items(lambda chosen: np.ones(5), range(5)), 3)
    assert_drawn_from(expected, composed(300, 3, 5))


def test_items_never_presented_are_left_out_if_not_allowed():
    lists = [[[0, 1, 2]], [[0, 1], [2, 3]]]
    assert {frozenset(s) for s in composed(20, 2, 6, lists, allowed=[0, 3, 4])} == {frozenset([3, 4])}
    samples = [[0, 1, 2, 0, 3, 3], [0, 1, 2, 4, 3, 3]]  # the value of 3, the least presented, is about 0
    drawn = composed(20, 2, 6, lists, allowed=[0, 1, 2, 3], samples=samples)
    assert {frozenset(s) for s in drawn} == {frozenset([0, 3])}


def test_pending_items_count_as_presented():
    assert {frozenset(s) for s in composed(10, 2, 4, [], [[0, 1]])} == {frozenset([2, 3])}


def test_the_one_uncertain_pair_is_presented():
    """The samples agree on all pairs except 0 with 3, whose value is 251 times that of the others: (¼ + ε)/ε."""
    lists = [[[i] for i in range(6)]]
    samples = [[0, 1, 2, 0, 3, 4], [0, 1, 2, 5, 3, 4]]
    partner = [next(iter(set(s) - {0})) for s in composed(300, 2, 6, lists, samples=samples) if s[0] == 0]
    assert len(partner) > 30
    assert set(partner) == {3}  # the chance of another is 4 in 251³
    pairs = [np.array(pair) for pair in combinations(range(6), 2)]
    where = situation(6, lists, samples=samples)
    chosen = {Informative().prefer(where, pairs, np.random.default_rng(seed)) for seed in range(10)}
    assert [pairs[place].tolist() for place in chosen] == [[0, 3]]


def test_a_pair_presented_more_often_has_less_value():
    samples = [[0, 0, 0, 1], [0, 1, 1, 1]]
    lists = [[[i] for i in range(4)], [[0, 1]], [[0], [1]], [[0], [2]]]
    values = Informative().values(situation(4, lists, samples=samples), [np.array([0, j]) for j in (1, 2)])
    once_more = 4  # presented 3 and 2 times: 1 + P
    np.testing.assert_allclose(values, [(0.25 + LITTLE) / once_more, (0.25 + LITTLE) / 3])


def test_candidates_with_items_never_presented_are_preferred():
    """By the share of such items; equal candidates are equally probable."""
    lists = [[[0, 1], [2]]]
    candidates = [np.array(c) for c in ([0, 1, 2], [0, 3], [4], [0, 1, 3], [5])]
    where = situation(6, lists)
    assert where.samples is no_samples
    np.testing.assert_allclose(Informative().values(where, candidates), [0, 1 / 2, 1, 1 / 3, 1])
    rng = np.random.default_rng(0)
    chosen = [[Informative().prefer(where, candidates, rng)] for _ in range(200)]
    assert_drawn_from({frozenset([2]): 0.5, frozenset([4]): 0.5}, chosen)
