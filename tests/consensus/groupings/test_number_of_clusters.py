"""The number of clusters of sorts against scikit-learn, and crowds on which the largest silhouette misleads."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import number_of_clusters
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.number_of_clusters import NumberJudge, numbers_to_try, wider_and_wider
from consilience.inference.memberships import Memberships
from consilience.inspection import certainty
from consilience.metrics import ari
from tests.subset_groupings import pairs_in_piles


def judge_of(groupings, weights=None):
    memberships = Memberships.of(groupings)
    return NumberJudge(memberships, EvidenceSilhouette.of(memberships, rng=np.random.default_rng(0)), weights)


@st.composite
def sorts_and_clusters(draw):
    """Groups of all items by some people, and clusterings with several numbers of clusters."""
    n_items, n_people = draw(st.integers(4, 9)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    said = rng.integers(draw(st.integers(2, 4)), size=(n_items, n_people))
    clusterings = {}
    for k in range(2, n_items):
        clusterings[k] = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n_items - k)]))
    return said, clusterings


@settings(max_examples=100)
@given(sorts_and_clusters(), st.randoms(use_true_random=False))
def test_the_clearest_of_the_numbers_that_agree_is_chosen_whatever_the_order(drawn, shuffling):
    said, clusterings = drawn
    judge = judge_of(Groupings.from_matrix(said.astype(str)))
    # none of the clusters is trivial, so that the index is defined
    agreement = {k: [adjusted_rand_score(cluster, own) for own in said.T] for k, cluster in clusterings.items()}
    best = max(agreement.values(), key=np.mean)
    near = {}
    for k, own in agreement.items():
        behind = np.subtract(best, own)
        assert judge.agreement(clusterings[k]) == pytest.approx(np.mean(own))
        if said.shape[1] == 1 or behind.mean() <= behind.std(ddof=1) / np.sqrt(len(behind)) + 1e-9:
            near[k] = judge.evidence.score(clusterings[k])
    chosen = judge.choose(clusterings)
    assert near[chosen] == pytest.approx(max(near.values()))
    items = shuffling.sample(range(len(said)), len(said))
    people = shuffling.sample(range(said.shape[1]), said.shape[1])
    other = judge_of(Groupings.from_matrix(said[items][:, people].astype(str)))
    again = other.choose({k: cluster[items] for k, cluster in clusterings.items()})
    assert near[again] == pytest.approx(near[chosen])


@settings(max_examples=30)
@given(sorts_and_clusters(), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_a_person_of_weight_two_agrees_as_two_do(drawn, counts):
    said, clusterings = drawn
    times = np.array(counts[: said.shape[1]])
    if not times.any():
        return
    weighed = judge_of(Groupings.from_matrix(said.astype(str)), times * len(times) / times.sum())
    repeated = judge_of(Groupings.from_matrix(np.repeat(said, times, axis=1).astype(str)))
    for cluster in clusterings.values():
        assert weighed.agreement(cluster) == pytest.approx(repeated.agreement(cluster))


def test_small_subsets_leave_the_number_to_the_silhouette():
    rng = np.random.default_rng(0)
    said = np.full((12, 30), np.nan)
    for person in said.T:
        seen = rng.choice(12, 4, replace=False)
        person[seen] = seen // 6
    judge = judge_of(Groupings.from_matrix(said))
    clusterings = {2: np.arange(12) // 6, 3: np.arange(12) // 4, 4: np.arange(12) // 3}
    assert not judge.sees_most
    assert judge.choose(clusterings) == max(clusterings, key=lambda k: judge.evidence.score(clusterings[k]))


def test_clusters_are_as_many_as_the_piles_that_people_make():
    sorts = pairs_in_piles()
    model = SubsetFusion(random_state=0).fit(sorts)
    assert int(model.n_clusters_curve_["silhouette"].idxmax()) > 4
    assert model.n_clusters_ == 4
    assert ari(np.arange(16) // 4, model.labels_) == 1
    assert SubsetFusion(n_clusters=8, random_state=0).fit(sorts).n_clusters_ == 8


def test_draws_of_the_certainty_choose_the_number_as_the_fit_does():
    model = SubsetFusion(random_state=0).fit(pairs_in_piles())
    numbers = certainty(model, n_draws=20, random_state=0).n_clusters["share"]
    assert numbers.idxmax() == 4
    assert numbers[4] > 0.5


def of_small_clusters(n_clusters=36, n_people=12, seed=0):
    """People who put two items of a cluster together, and err on every tenth item."""
    rng = np.random.default_rng(seed)
    truth = np.arange(2 * n_clusters) // 2
    wrong = rng.random((len(truth), n_people)) < 0.1
    said = np.where(wrong, rng.integers(n_clusters, size=wrong.shape), truth[:, None])
    return truth, Groupings.from_matrix(said.astype(str))


@pytest.mark.parametrize(
    ("n_clusters", "first"), [(9, 5), pytest.param(36, 30, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_more_clusters_are_considered_where_the_number_is_the_largest(n_clusters, first):
    truth, sorts = of_small_clusters(n_clusters)
    with patch.object(number_of_clusters, "MAX_CLUSTERS", first):
        model = SubsetFusion(max_clusters=first, random_state=0).fit(sorts)
    assert model.n_clusters_ > first
    assert ari(truth, model.labels_) > 0.9
    assert SubsetFusion(max_clusters=first - 1, random_state=0).fit(sorts).n_clusters_ == first - 1


def test_ranges_end_at_the_items_and_start_only_without_a_bound():
    assert numbers_to_try("auto", 30, 200) == range(2, 31)
    assert list(wider_and_wider("auto", 30, 200)) == [range(2, 61), range(2, 121)]
    assert list(wider_and_wider("auto", 30, 50)) == [range(2, 50)]
    assert list(wider_and_wider("auto", 30, 31)) == []
    assert list(wider_and_wider("auto", 20, 200)) == []
    assert list(wider_and_wider(5, 30, 200)) == []
