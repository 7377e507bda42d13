"""Stability: the growth of reliability by hand, the cases of the rules, halves that agree and random ones."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings
from consilience.active.stability import (
    Decision,
    decide,
    decide_by_reliability,
    factor_for,
    lengthen_reliability,
    only,
    split_half_reliability,
)
from consilience.metrics import ami


@pytest.mark.parametrize(
    ("reliability", "factor", "expected"),
    [(0.5, 4, 32 / 33), (0.2, 4, 8 / 9), (32 / 33, 0.25, 0.5), (0.7, 1, 0.7), (0, 9, 0), (1, 5, 1)],
)
def test_lengthened_by_hand(reliability, factor, expected):
    """The odds are multiplied by f^2.5: four times as many groupings make 1 : 1 into 32 : 1, and 1 : 4 into 8 : 1."""
    assert lengthen_reliability(float(reliability), float(factor)) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("reliability", "target", "expected"),
    [(0.5, 32 / 33, 4), (32 / 33, 0.5, 1 / 4), (0.2, 8 / 9, 4), (0.9, 0.9, 1), (0, 0.5, np.inf), (1, 0.9, 0)],
)
def test_factor_by_hand(reliability, target, expected):
    """(R (1 − r) / (r (1 − R)))^0.4."""
    assert factor_for(float(reliability), target) == pytest.approx(expected, abs=1e-12)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_factor_lengthens_to_the_target(reliability, target):
    assert lengthen_reliability(reliability, factor_for(reliability, target)) == pytest.approx(target)


@pytest.mark.parametrize(
    ("values", "stop", "reason"),
    [
        ([], False, "There are 0 rounds to compare; 3 are needed."),
        ([np.nan, 0.95, 0.95], False, "There are 2 rounds to compare; 3 are needed."),
        ([np.nan, 0.95, 0.95, 0.9], False, "Stability fell by up to 0.050 in the last 2 rounds."),
        ([np.nan, 0.97, 0.92, 0.92], False, "Stability fell by up to 0.050 in the last 2 rounds."),
        (
            [np.nan, 0.90, 0.95, 1.0],
            True,
            "Stability has been 0.900 or more for 3 rounds, falling by at most 0.000.",
        ),
        ([np.nan, 0.70, 0.69, 0.7], False, "Stability is steady but only 0.690; 0.9 is wanted."),
        ([np.nan, 0.91, 0.895, 0.91], False, "Stability is steady but only 0.895; 0.9 is wanted."),
        (
            [np.nan, 0.1, 0.95, 0.93, 0.94],
            True,
            "Stability has been 0.930 or more for 3 rounds, falling by at most 0.020.",
        ),
        ([np.nan, 0.9, 0.9, 0.9], True, "Stability has been 0.900 or more for 3 rounds, falling by at most 0.000."),
    ],
    ids=["none", "few", "last fell", "first fell", "rose", "low", "once low", "settled", "at the floor"],
)
def test_when_to_stop(values, stop, reason):
    decision = decide(pd.Series(values, dtype=float), tolerance=0.0201, patience=2, floor=0.9)
    assert decision == Decision(stop, reason)
    assert bool(decision) is stop


def test_when_the_consensus_is_reliable_enough():
    assert decide_by_reliability(0.9, floor=0.9, n_people=4) == Decision(True, "Reliability is 0.900, at least 0.9.")
    assert decide_by_reliability(0.8, floor=0.9, n_people=4) == Decision(False, "Reliability is 0.800; 0.9 is wanted.")


def test_a_larger_patience_considers_more_rounds():
    stability = pd.Series([np.nan, 0.5, 0.95, 0.95, 0.95])
    assert [bool(decide(stability, tolerance=0.01, patience=p, floor=0.9)) for p in (1, 2, 3, 4)] == [1, 1, 0, 0]


def answers(n_groupings, at_random, seed=0):
    """Return groupings of 6 of 12 items by three kinds, or at random."""
    rng, lists = np.random.default_rng(seed), []
    for _ in range(n_groupings):
        subset = rng.choice(12, 6, replace=False)
        group = rng.integers(3, size=6) if at_random else subset % 3
        lists.append([subset[group == g].tolist() for g in range(3)])
    return Groupings.from_lists(lists, items=range(12))


def links(groupings):
    """A simple fusion: an item's cluster is the lowest item that it was ever put together with."""
    members = groupings.incidence.toarray()
    together = members @ members.T > 0
    return np.where(together.any(1), together.argmax(1), -1)


def test_halves_of_perfect_groupings_agree():
    """Each half of 40 connects every two items of a kind by a chain: NMI 1 in each split, and after lengthening."""
    rng = np.random.default_rng(0)
    assert split_half_reliability(answers(40, False), links, n_splits=3, rng=rng) == pytest.approx(1.0)


def test_halves_are_compared_over_items_that_both_hold():
    """Two groupings share only items 0, 1, 2, whose clusters agree; items of one half alone are left out."""
    groupings = Groupings.from_lists([[[0, 1, 3], [2]], [[0, 1], [2, 4, 5]]], items=range(7))
    assert split_half_reliability(groupings, links, n_splits=2, rng=np.random.default_rng(0)) == pytest.approx(1.0)
    apart = Groupings.from_lists([[[0, 1], [2]], [[3, 4], [5]]])
    assert split_half_reliability(apart, links, n_splits=2, rng=np.random.default_rng(0)) == 0.0


def test_the_mean_agreement_is_extrapolated_to_all_groupings():
    """If halves agree in one of two splits, and are as different as can be in the other, AMI is 1 and −½: of the mean,
    ¼, the odds 1 : 3 are multiplied by 2^2.5, instead of the mean of what becomes of 1 and −½.
    """
    lists = [[[0, 1], [2, 3]], [[0, 2], [1, 3]]] * 2
    agreeing = {"n": 0}

    def fuse(half):
        agreeing["n"] += 1
        return np.array([0, 0, 1, 1]) if agreeing["n"] < 4 else np.array([0, 1, 0, 1])

    found = split_half_reliability(Groupings.from_lists(lists), fuse, n_splits=2, rng=np.random.default_rng(0))
    assert agreeing["n"] == 4
    assert ami([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-1 / 2)
    assert found == pytest.approx(2**2.5 / (2**2.5 + 3))


def test_halves_are_random_disjoint_and_complete():
    seen = []

    def fuse(half):
        seen.append(set(half.grouping_names.tolist()))
        return np.zeros(half.n_items, dtype=int)

    split_half_reliability(answers(9, True), fuse, n_splits=6, rng=np.random.default_rng(0))
    for one, other in zip(seen[::2], seen[1::2]):
        assert one | other == set(range(9))
        assert (len(one), len(other)) == (5, 4)
    assert len({frozenset(one) for one in seen[::2]}) > 1


def test_random_groupings_have_little_reliability():
    """Groups at random say nothing twice: halves agree by 0 on average, and reliability is above it only since negative
    means count as 0, and odds grow 5.7 times; by NMI, without adjustment for chance, it would be .65.
    """

    def by_last(half):  # a fusion that uses only the last answer
        cluster = np.full(12, -1)
        group = half.incidence.indices
        cluster[half.item_of_row] = half.group_names[group]
        return cluster

    def reliability(at_random, seed):
        rng = np.random.default_rng(1)
        return split_half_reliability(answers(40, at_random, seed), by_last, n_splits=30, rng=rng)

    assert np.mean([reliability(True, seed) for seed in range(12)]) < 0.3
    assert reliability(False, 0) == pytest.approx(1.0)


def test_some_of_the_groupings():
    whole = Groupings.from_lists([[[0, 1], [2]], [[3]], [], [[0], [], [4, 5]]], annotators=["x", "y", "x", "z"])
    some = only(whole, np.array([3, 0]))
    assert some.items.tolist() == whole.items.tolist()
    assert some.to_frame().values.tolist() == [
        [0, "x", 0, 0],
        [0, "z", 3, 0],
        [1, "x", 0, 0],
        [2, "x", 0, 1],
        [4, "z", 3, 2],
        [5, "z", 3, 2],
    ]
    assert some.grouping_names.tolist() == [0, 3]
    assert some.n_groups == 5
    assert only(whole, np.array([2])).n_rows == 0
