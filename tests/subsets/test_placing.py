"""Groups of subsets are placed by the definition, written out in loops."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience.consensus.groupings.grouping_mixture import MORE_GROUPS
from consilience.subsets import placing
from consilience.subsets.composing import collect, compose


@pytest.fixture
def study():
    """Shared items of three clusters, grouped by subsets that mistake a fifth of them and leave a few out."""
    rng = np.random.default_rng(0)
    plan = compose(120, 40, 0.5, 2, rng=rng)
    truth = rng.integers(3, size=120)
    said = []
    for subset in plan.subsets():
        labels = np.where(rng.random(len(subset)) < 0.2, rng.integers(3, size=len(subset)), truth[subset])
        labels[rng.random(len(subset)) < 0.1] = -1
        said.append(labels + 3 * (labels == 2))
    grouped = collect(plan, said)
    cluster = truth[plan.shared].copy()
    cluster[:2] = -1
    return plan, grouped, cluster


def test_scores_are_those_of_the_mixture(study):
    _, grouped, cluster = study
    linked = placing.link(grouped, cluster, 3)
    n_groups = len(grouped.subset_of_group)
    for group in range(n_groups):
        subset = grouped.subset_of_group[group]
        c = 1 / linked.consistency[subset] - 1
        b = 1 / ((grouped.subset_of_group == subset).sum() + MORE_GROUPS)
        inside = grouped.of_shared[:, subset]
        for k in range(3):
            m_gk = ((inside == group) & (cluster == k)).sum()
            m_hk = ((inside >= 0) & (cluster == k)).sum()
            assert linked.scores[group, k] == pytest.approx(np.log((c * b + m_gk) / (c + m_hk)), rel=1e-12)
    np.testing.assert_array_equal(linked.scores[-1], 0)
    np.testing.assert_allclose(linked.prior, np.log1p(np.bincount(cluster[cluster >= 0])))


def test_agreement_is_the_adjusted_rand_index(study):
    _, grouped, cluster = study
    linked = placing.link(grouped, cluster, 3)
    for subset, found in enumerate(linked.agreement):
        known = (grouped.of_shared[:, subset] >= 0) & (cluster >= 0)
        assert found == pytest.approx(adjusted_rand_score(grouped.of_shared[known, subset], cluster[known]))


def test_a_group_without_shared_items_says_nothing():
    plan = compose(40, 20, 0.25, 1, rng=np.random.default_rng(0))
    said = [np.r_[np.arange(5) % 2, np.full(len(subset) - 5, 7)] for subset in plan.subsets()]
    grouped = collect(plan, said)
    linked = placing.link(grouped, np.arange(5) % 2, 2)
    np.testing.assert_array_equal(linked.has_shared, [True, True, False] * plan.n_subsets + [False])
    np.testing.assert_array_equal(linked.scores[2], 0)
    nowhere, unlinked = placing.of_no_cluster(grouped.of_own, linked.has_shared)
    assert nowhere.all()
    assert unlinked.all()


def test_probabilities_add_the_groups_of_all_repeats(monkeypatch):
    scores = np.log([[0.8, 0.2], [0.3, 0.7], [1, 1]])
    prior = np.log([3.0, 1.0])
    groups = np.array([[0, 1, -1, 0], [0, 0, 1, -1]])
    expected = np.array([[3 * 0.64, 0.04], [3 * 0.24, 0.14], [3 * 0.3, 0.7], [3 * 0.8, 0.2]])
    expected /= expected.sum(1, keepdims=True)
    for block in (1 << 22, 4):  # all at once, and two items at a time
        monkeypatch.setattr(placing, "BLOCK", block)
        found = np.zeros((4, 2))
        for part, own in placing.probabilities(groups, scores, prior):
            assert len(own) <= max(block // 2, 1)
            found[part] = own
        np.testing.assert_allclose(found, expected)


def test_left_out_by_most():
    groups = np.array([[-1, -1, 3, -1], [-1, 2, 3, -1], [-1, -1, -1, 1]])
    np.testing.assert_array_equal(placing.mostly_left_out(groups), [True, True, False, True])
    np.testing.assert_array_equal(placing.mostly_left_out(groups[:2]), [True, False, False, True])  # half is not most
    has_shared = np.array([True, True, True, False, False])  # group 3 has none
    nowhere, unlinked = placing.of_no_cluster(groups, has_shared)
    np.testing.assert_array_equal(nowhere, [True, True, True, True])
    np.testing.assert_array_equal(unlinked, [False, False, True, False])


def test_fusion_reads_at_most_so_many_subsets(monkeypatch, study):
    _, grouped, _ = study
    monkeypatch.setattr(placing, "MOST_GROUPINGS", 3)
    fusion = placing.fuse(grouped, 3, max_clusters=10, rng=np.random.default_rng(0))
    assert len(fusion.annotators_) == 3
    assert fusion.labels_.shape == (len(grouped.of_shared),)
