"""Every item is in the subsets that it should be in, and groups are numbered throughout."""

import numpy as np
import pytest

from consilience.subsets.composing import collect, compose, number_groups, sizes

PLANS = [(1000, 100, 0.2, 3), (101, 100, 0.5, 1), (57, 10, 0.3, 2), (12, 4, 0.9, 2), (50, 10, 0.01, 2)]


@pytest.mark.parametrize(("n_items", "size", "overlap", "n_repeats"), PLANS)
def test_shared_items_are_in_every_subset_and_others_in_one_of_each_repeat(n_items, size, overlap, n_repeats):
    plan = compose(n_items, size, overlap, n_repeats, rng=np.random.default_rng(0))
    subsets = list(plan.subsets())
    assert len(subsets) == plan.n_subsets
    times = np.bincount(np.concatenate(subsets), minlength=n_items)
    others = np.setdiff1d(np.arange(n_items), plan.shared)
    assert (times[plan.shared] == plan.n_subsets).all()
    assert (times[others] == n_repeats).all()
    lengths = [len(subset) for subset in subsets]
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    assert all(len(set(subset.tolist())) == len(subset) for subset in subsets)


def test_share_of_shared_items():
    plan = compose(1000, 100, 0.2, 3, rng=np.random.default_rng(0))
    assert len(plan.shared) == 20
    assert plan.n_subsets == 3 * 13  # 980 others, at most 80 a subset
    assert len(compose(50, 10, 0.01, 1, rng=np.random.default_rng(0)).shared) == 2  # fewer would link nothing
    assert len(compose(50, 10, 0.99, 1, rng=np.random.default_rng(0)).shared) == 9  # one place is left for others


def test_repeats_deal_differently():
    plan = compose(1000, 100, 0.2, 2, rng=np.random.default_rng(0))
    first, second = (set(own[: plan.ends[0]].tolist()) for own in plan.own)
    assert 0 < len(first & second) < len(first)


def test_labels_become_numbers_and_items_left_out_minus_one():
    code, n_groups = number_groups(np.array([7, -1, 3, 7, -5, 9]))
    np.testing.assert_array_equal(code, [1, -1, 0, 1, -1, 2])
    assert n_groups == 3
    code, n_groups = number_groups(np.array([-1, -1]))
    np.testing.assert_array_equal(code, [-1, -1])
    assert n_groups == 0


def test_groups_are_those_of_each_subset():
    plan = compose(60, 20, 0.25, 2, rng=np.random.default_rng(0))
    said = [np.random.default_rng(number).integers(-1, 3, size=len(s)) for number, s in enumerate(plan.subsets())]
    grouped = collect(plan, iter(said))
    for number, (repeat, part) in enumerate(plan.own_parts()):
        found = np.concatenate([grouped.of_shared[:, number], grouped.of_own[repeat, part]])
        np.testing.assert_array_equal(found < 0, said[number] < 0)
        inside = found >= 0
        assert (grouped.subset_of_group[found[inside]] == number).all()
        same = found[inside][:, None] == found[inside]
        np.testing.assert_array_equal(same, said[number][inside][:, None] == said[number][inside])
    counted = sizes(plan, grouped)
    np.testing.assert_array_equal(counted["n_items"], [len(one) for one in said])
    np.testing.assert_array_equal(counted["n_groups"], [len(set(one.tolist()) - {-1}) for one in said])
    np.testing.assert_array_equal(counted["n_left_out"], [(one < 0).sum() for one in said])
