"""Joining by overlap against brute force, its special cases, Gaussians divided into many, and several mixtures."""

import itertools

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from consilience.deep import joining
from consilience.deep.joining import agree, clusters_of_components, join_by_overlap, mixtures_of
from consilience.metrics.clusterings import ari


def responsibilities(groups, each=40, across=0.02, seed=0):
    """Items between two components of one group, and a few between two of different groups."""
    rng = np.random.default_rng(seed)
    groups = np.asarray(groups)
    rows = []
    for k, own in enumerate(groups):
        partners = np.flatnonzero((groups == own) & (np.arange(len(groups)) != k))
        others = np.flatnonzero(groups != own)
        for _ in range(each):
            near = rng.random() >= across and len(partners)
            row = np.zeros(len(groups))
            row[k] = rng.uniform(0.5, 1)
            row[rng.choice(partners if near else others)] += 1 - row[k]
            rows.append(row)
    return np.array(rows)


def divided(positions, n_components, seed=0):
    return GaussianMixture(n_components, reg_covar=1e-2, random_state=seed).fit(positions).predict_proba(positions)


def partitions(n, k):
    """All partitions of n objects into k parts."""
    for code in itertools.product(range(k), repeat=n):
        if len(set(code)) == k and all(code[i] <= max(code[:i], default=-1) + 1 for i in range(n)):
            yield np.array(code)


def share_left(overlap, code):
    """Mean probability that the walk leaves the cluster in which it is: the normalised cut."""
    return np.mean([overlap[code == c][:, code != c].sum() / overlap[code == c].sum() for c in np.unique(code)])


@pytest.mark.parametrize("groups", [[0, 0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 1, 1, 1]])
@pytest.mark.parametrize("seed", range(3))
def test_of_all_partitions_the_walk_leaves_these_clusters_least(groups, seed):
    given = responsibilities(groups, seed=seed)
    found = join_by_overlap(given, len(set(groups)))
    overlap = given.T @ given
    np.fill_diagonal(overlap, joining.ALONE * given.sum(0))
    best = min(partitions(len(groups), len(set(groups))), key=lambda code: share_left(overlap, code))
    assert ari(best, found.cluster) == 1


@pytest.mark.parametrize("groups", [[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 2, 2, 2, 3, 3], [0] * 3 + [1] * 8])
def test_number_and_clusters_of_groups_that_share_few_items(groups):
    found = join_by_overlap(responsibilities(groups))
    assert found.n_clusters == len(set(groups))
    assert ari(groups, found.cluster) == 1


def test_eigenvalues_are_those_of_the_walk_between_components():
    given = responsibilities([0, 0, 0, 1, 1])
    overlap = given.T @ given
    np.fill_diagonal(overlap, joining.ALONE * given.sum(0))
    walk = overlap / overlap.sum(1, keepdims=True)
    found = join_by_overlap(given)
    np.testing.assert_allclose(found.eigenvalues, np.sort(np.linalg.eigvals(walk).real)[::-1], atol=1e-10)
    assert found.eigenvalues[0] == pytest.approx(1)
    assert found.n_clusters == found.gaps.argmax() + 1


def test_components_that_share_nothing_are_clusters():
    found = join_by_overlap(np.eye(4)[[0, 0, 1, 1, 1, 2, 3, 3, 3, 3]])
    assert (found.n_clusters, found.cluster.tolist()) == (4, [2, 1, 3, 0])  # by decreasing number of items


def test_one_component_is_one_cluster():
    found = join_by_overlap(np.ones((5, 1)))
    assert (found.n_clusters, found.cluster.tolist()) == (1, [0])


def test_small_and_empty_components_join_another_and_change_nothing():
    given = responsibilities([0, 0, 0, 1, 1, 1])
    small = np.zeros((1, 8))
    small[0, [1, 6]] = 0.4, 0.6
    found = join_by_overlap(np.vstack([np.pad(given, ((0, 0), (0, 2))), small]))
    alone = join_by_overlap(np.vstack([given, small[:, :6]]))
    np.testing.assert_array_equal(found.cluster[:6], alone.cluster)
    assert found.cluster[6] == found.cluster[1]
    np.testing.assert_allclose(found.eigenvalues, alone.eigenvalues)


def test_order_of_items_and_components_changes_nothing():
    given = responsibilities([0, 0, 0, 1, 1, 2, 2, 2, 2])
    rng = np.random.default_rng(1)
    order = rng.permutation(9)
    found = join_by_overlap(given[rng.permutation(len(given))][:, order])
    np.testing.assert_array_equal(found.cluster, join_by_overlap(given).cluster[order])


def test_a_given_number_is_met_as_far_as_there_are_components():
    given = responsibilities([0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert [join_by_overlap(given, k).n_clusters for k in (1, 2, 3, 9, 20)] == [1, 2, 3, 9, 9]


@pytest.mark.parametrize("seed", range(3))
def test_divided_gaussians_are_put_together(seed):
    rng = np.random.default_rng(seed)
    z = np.arange(1500) % 5
    positions = 6 * np.eye(10)[z] + rng.normal(size=(1500, 10))
    given = divided(positions, 15, seed)
    found = join_by_overlap(given)
    assert found.n_clusters == 5
    assert ari(z, found.cluster[given.argmax(1)]) > 0.99  # a component may own an item far out in another cluster


@pytest.mark.parametrize("seed", range(3))
def test_one_divided_gaussian_in_ten_dimensions_is_one_cluster(seed):
    assert join_by_overlap(divided(np.random.default_rng(seed).normal(size=(2000, 10)), 20, seed)).n_clusters == 1


def test_nothing_is_written_into_the_argument():
    given = responsibilities([0, 0, 1, 1])
    kept = given.copy()
    join_by_overlap(given)
    np.testing.assert_array_equal(given, kept)


def test_the_number_is_where_the_mean_gap_is_largest():
    mixtures = [responsibilities(groups) for groups in ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2])]
    found = agree([*mixtures[:2], np.roll(mixtures[2], 80, axis=0)])
    alone = [join_by_overlap(one) for one in mixtures]
    np.testing.assert_allclose(found.gaps, np.mean([one.gaps for one in alone], axis=0))  # rows moved: the same overlap
    assert found.numbers.tolist() == [2, 2, 3]
    assert found.n_clusters == 1 + found.gaps.argmax()


def test_a_component_across_two_clusters_is_outvoted():
    z = np.repeat([0, 1, 2], 40)
    good = np.eye(6)[2 * z + np.arange(120) % 2] * 0.7 + np.eye(6)[2 * z + 1 - np.arange(120) % 2] * 0.3
    across = good.copy()
    across[z > 0] = np.roll(good[z > 0], 20, axis=0)  # half of the second cluster goes with half of the third
    found = agree([good, across, good[:, ::-1], good[:, [3, 4, 5, 0, 1, 2]]])
    assert found.n_clusters == 3
    assert ari(z, found.votes.argmax(1)) == 1
    assert set(found.votes.round(9).ravel()) <= {0, 0.25, 0.75, 1}


def test_votes_are_shares_of_clusters_by_decreasing_size():
    rng = np.random.default_rng(0)
    positions = 8 * np.eye(3)[np.repeat([0, 1, 2], [50, 200, 100])] + rng.normal(size=(350, 3))
    found = agree(mixtures_of(positions, 9, rng=rng, n_mixtures=4), 3)
    np.testing.assert_allclose(found.votes.sum(1), 1)
    assert (np.diff(found.votes.sum(0)) <= 0).all()
    assert found.votes.argmax(1)[[0, 60, 300]].tolist() == [2, 0, 1]


def test_one_mixture_agrees_with_itself():
    given = responsibilities([0, 0, 0, 1, 1, 1, 1])
    found, alone = agree([given]), join_by_overlap(given)
    np.testing.assert_allclose(found.votes, given @ np.eye(2)[alone.cluster])
    np.testing.assert_array_equal(clusters_of_components(given, found.votes), alone.cluster)


def test_equal_positions_are_one_cluster():
    found = agree(mixtures_of(np.ones((20, 2)), 5, rng=np.random.default_rng(0)))
    assert found.n_clusters == 1
    np.testing.assert_array_equal(found.votes, np.ones((20, 1)))


def test_the_same_generator_gives_the_same_mixtures():
    positions = np.random.default_rng(0).normal(size=(200, 2))
    one, other = (mixtures_of(positions, 4, rng=np.random.default_rng(3), n_mixtures=2) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one[0], one[1])


@pytest.mark.parametrize(
    ("n_items", "n_dims", "most", "expected"),
    [(1797, 10, 50, 27), (500, 2, 50, 16), (55_000, 10, 50, 50), (40, 10, 50, 4), (40, 2, 3, 3)],
)
def test_components_have_items_for_their_parameters(n_items, n_dims, most, expected):
    assert joining.n_components_of(n_items, n_dims, most=most) == expected


def test_agreement_is_the_chance_that_component_and_vote_say_the_same():
    votes = np.array([[1.0, 0], [1, 0], [0.5, 0.5], [0, 1]])
    of_clusters = np.array([[0.5, 0.5, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]])
    assert joining.agreement(of_clusters, votes) == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert joining.agreement(np.ones((4, 1)), votes) == pytest.approx(2.5 / 4)
