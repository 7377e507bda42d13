"""Situations in which subsets are composed, and the probability of each subset, computed densely and by enumeration."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from scipy.stats import chisquare

from consilience import Groupings
from consilience.active import Situation
from consilience.active.pair_counts import PairCounts

NOT_BY_CHANCE = 1e-4  # of some fifty comparisons with seeds of their own, none falls below by chance


def counts_of(n_items, lists=(), pending=()):
    """Return the counts of groupings given as lists of places, and of pending subsets."""
    counts = PairCounts.none(n_items)
    if lists:
        counts = counts.with_groupings(Groupings.from_lists(lists, items=range(n_items)))
    return counts.with_subsets([np.array(subset) for subset in pending])


def dense_counts(n_items, lists=(), pending=()):
    """Return P, its answered part, and C as matrices of all pairs."""
    presented, answered, together = np.zeros((3, n_items, n_items), dtype=int)
    for grouping in lists:
        group = {item: number for number, items in enumerate(grouping) for item in items}
        for one, other in combinations(group, 2):
            for i, j in ((one, other), (other, one)):
                presented[i, j] += 1
                answered[i, j] += 1
                together[i, j] += group[i] == group[j]
    for subset in pending:
        for one, other in combinations(subset, 2):
            presented[one, other] += 1
            presented[other, one] += 1
    return presented, answered, together


def times_asked(n_items, lists=(), pending=()):
    """Count the groupings and subsets that hold each item."""
    times = np.zeros(n_items, dtype=int)
    for items in [[item for group in grouping for item in group] for grouping in lists] + list(pending):
        times[list(items)] += 1
    return times


def no_samples():
    """Samples of a situation whose strategy does not use them."""
    raise AssertionError("this strategy uses the counts alone")


def situation(n_items, lists=(), pending=(), *, allowed=None, samples=None):
    """Return a situation; all items are allowed unless `allowed` names some."""
    mask = np.ones(n_items, dtype=bool) if allowed is None else np.isin(np.arange(n_items), allowed)
    drawn = no_samples if samples is None else lambda: np.array(samples)
    counts, times = counts_of(n_items, lists, pending), times_asked(n_items, lists, pending)
    return Situation(counts, times, len(lists), mask, drawn)


def probabilities(step, size):
    """Return the probability of every subset made in steps: chosen so far, in order → {items that come next: share}."""
    open_ends, done = {(): 1.0}, defaultdict(float)
    while open_ends:
        longer = defaultdict(float)
        for chosen, so_far in open_ends.items():
            for new, share in step(chosen).items():
                ends = done if len(chosen + new) == size else longer
                key = frozenset(chosen + new) if ends is done else chosen + new
                ends[key] += so_far * share
        open_ends = longer
    return {subset: p for subset, p in done.items() if p > 0}


def shares(weights):
    """Return weights as probabilities, all equal if the weights are 0."""
    total = sum(weights.values())
    return {key: weight / total if total else 1 / len(weights) for key, weight in weights.items()}


def by_pairs(weights, allowed, size):
    """Return the steps of strategies that draw pairs: with a new item; ½ for each of two if there is room for one.

    weights : all pairs, (items, items).
    """

    def step(chosen):
        with_new = [pair for pair in combinations(allowed, 2) if not set(pair) <= set(chosen)]
        found = defaultdict(float)
        for pair, share in shares({pair: weights[pair] for pair in with_new}).items():
            new = tuple(item for item in pair if item not in chosen)
            ways = [new] if len(chosen) + len(new) <= size else [(item,) for item in new]
            for way in ways:
                found[way] += share / len(ways)
        return found

    return step


def by_items(weights_of, allowed):
    """Return the steps of strategies that draw items one by one: chosen → weight of every item."""

    def step(chosen):
        weights = weights_of(chosen)
        return shares({(item,): weights[item] for item in allowed if item not in chosen})

    return step


def assert_drawn_from(expected, drawn):
    """Check that no impossible subset was drawn, and the others as often as is probable, by a chi-square test."""
    seen = Counter(map(frozenset, drawn))
    assert set(seen) <= set(expected), "a subset of probability 0 was drawn"
    np.testing.assert_allclose(sum(expected.values()), 1)
    n_drawn = sum(seen.values())
    frequent = [subset for subset, p in expected.items() if p * n_drawn >= 5]  # the test holds from 5 on; others: one
    rest = 1 - sum(expected[subset] for subset in frequent)
    found = [seen[subset] for subset in frequent] + [n_drawn - sum(seen[subset] for subset in frequent)]
    wanted = np.array([expected[subset] for subset in frequent] + [rest]) * n_drawn
    if wanted[-1] < 5:
        assert found[-1] <= 20
        found, wanted = found[:-1], wanted[:-1] * (sum(found[:-1]) / wanted[:-1].sum())
    if len(found) > 1:
        assert chisquare(found, wanted).pvalue > NOT_BY_CHANCE
