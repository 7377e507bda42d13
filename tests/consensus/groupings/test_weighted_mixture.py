"""Models of groupings where annotators have weights: weights of 1 are the model, weights of 2 are annotators twice."""

import numpy as np
import pytest

from consilience import Groupings
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.co_occurrence import Seen
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.kcc import ItemsInMemory, KCCProblem, objective, update
from consilience.consensus.groupings.weighted_co_occurrence import Partitioning
from consilience.consensus.groupings.weighted_kcc import WeightedUtility
from consilience.consensus.groupings.weighted_mixture import (
    Tables,
    WeightedLayout,
    WeightedMixtureSearch,
    best_merger,
    cluster_scores,
    settle,
    silhouette,
)
from consilience.inference.memberships import Memberships, shares_together
from consilience.inference.reweighted import WeightedEmbedding
from consilience.inference.spectral import degree_normalised_embedding

N_ITEMS, N_PEOPLE = 18, 6
TRUTH = np.arange(N_ITEMS) % 3


def cells(seed=0, right=0.6):
    rng = np.random.default_rng(seed)
    wrong = rng.integers(3, size=(N_ITEMS, N_PEOPLE)).astype(object)
    found = np.where(rng.random(wrong.shape) < right, TRUTH[:, None], wrong)
    found[rng.random(wrong.shape) < 0.2] = None
    return found


def memberships(columns):
    return Memberships.of(Groupings.from_matrix(cells()[:, columns], annotators=range(len(columns)), missing=[]))


ONCE = memberships([0, 1, 2, 3, 4, 5])
TWICE = memberships([0, 1, 2, 3, 4, 5, 0, 3])  # the first and the fourth person came twice
WEIGHTS = np.array([2.0, 1, 1, 2, 1, 1])
ALL = np.arange(N_ITEMS)


def weighed(of, weights, concentration):
    layout = mixture.GroupingLayout.of(of)
    return WeightedLayout.of(Tables.of(layout, concentration), weights), mixture.init(layout, TRUTH, 3)


def concentrations(n):
    return np.tile([0.3, 0.7, 1.1, 0.5, 0.2, 2.0], 2)[[0, 1, 2, 3, 4, 5, 6, 9][:n]]


def test_scores_under_weights_of_one_are_those_of_the_mixture():
    layout = mixture.GroupingLayout.of(ONCE)
    state = mixture.learn_concentration(layout, mixture.init(layout, TRUTH, 3))
    found, _ = weighed(ONCE, np.ones(6), state.concentration)
    np.testing.assert_allclose(cluster_scores(found, state), mixture.cluster_scores(layout, state), rtol=1e-12)
    gains = mixture.merger_gains(layout, state, rng=np.random.default_rng(0))
    first, second = np.unravel_index(gains.argmax(), gains.shape)
    assert best_merger(found, state) == (min(first, second), max(first, second))


def test_a_weight_of_two_is_an_annotator_twice():
    one, state = weighed(ONCE, WEIGHTS, concentrations(6))
    two, again = weighed(TWICE, np.ones(8), concentrations(8))
    np.testing.assert_allclose(cluster_scores(one, state), cluster_scores(two, again), rtol=1e-10)
    assert best_merger(one, state) == best_merger(two, again)


def test_terms_without_tables_are_the_same(monkeypatch):
    one, state = weighed(ONCE, WEIGHTS, concentrations(6))
    monkeypatch.setattr("consilience.consensus.groupings.weighted_mixture.MOST_ENTRIES", 0)
    other, _ = weighed(ONCE, WEIGHTS, concentrations(6))
    assert other.tables.of_groups.of_log is None
    np.testing.assert_allclose(cluster_scores(other, state), cluster_scores(one, state))
    assert best_merger(other, state) == best_merger(one, state)


def test_the_weighted_silhouette_is_that_of_annotators_twice():
    one, _ = weighed(ONCE, WEIGHTS, concentrations(6))
    expected = EvidenceSilhouette.of(TWICE, rng=np.random.default_rng(0), all_items=True)
    found = silhouette(one, ALL)
    assert found.share == pytest.approx(expected.share)
    np.testing.assert_allclose(found.dissimilarities(), expected.dissimilarities(), rtol=1e-12)
    assert found.score(TRUTH) == pytest.approx(expected.score(TRUTH))


def test_the_weighted_embedding_is_that_of_annotators_twice():
    found, expected = WeightedEmbedding.of(ONCE).points(WEIGHTS, 3), degree_normalised_embedding(TWICE.in_group, 3)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-9)  # any rotation of equal eigenvalues


def test_the_weighted_embedding_of_a_graph_in_pieces_is_connected():
    pieces = [[["ant", "bee"], ["cow", "pig"], ["elk", "fox"]]] * 3
    given = Memberships.of(Groupings.from_lists(pieces))
    found = WeightedEmbedding.of(given).points(np.array([0.5, 1.0, 1.5]), 3)
    assert np.isfinite(found).all()
    # items of one piece have one place
    np.testing.assert_allclose(found[::2], found[1::2], atol=1e-9)


def test_the_fitted_state_stays_under_weights_of_one():
    rng = np.random.default_rng(0)
    layout = mixture.GroupingLayout.of(ONCE)
    state = mixture.settle(layout, mixture.init(layout, TRUTH, 3), rng=rng)
    found, _ = weighed(ONCE, np.ones(6), state.concentration)
    again = settle(found, state, rng=rng, max_sweeps=20)
    np.testing.assert_array_equal(again.cluster, state.cluster)


def test_a_search_finds_the_clusters_under_weights_of_one():
    clear = Memberships.of(Groupings.from_matrix(cells(right=0.95), missing=[]))
    search = WeightedMixtureSearch.of(clear, TRUTH, range(2, 11), rng=np.random.default_rng(0))
    found = search.draw(np.ones(6), np.random.default_rng(0))
    assert len(np.unique(np.column_stack([found, TRUTH]), axis=0)) == 3


def test_a_search_keeps_a_number_that_was_given():
    search = WeightedMixtureSearch.of(ONCE, TRUTH, range(4, 5), rng=np.random.default_rng(0))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert len(np.unique(search.draw(rng.exponential(size=6), rng))) <= 4


def test_the_weighted_shares_of_cspa_are_those_of_annotators_twice():
    by_weight = shares_together(ONCE, WEIGHTS[ONCE.annotator_of_grouping]).toarray()
    np.testing.assert_allclose(by_weight, shares_together(TWICE).toarray())
    draws = []
    for given, weights in ((ONCE, WEIGHTS), (TWICE, np.ones(8))):
        seen = Seen(given, ALL, np.zeros(N_ITEMS, dtype=int), N_ITEMS)
        draws.append(Partitioning(seen, TRUTH, 3, 30).draw(weights, np.random.default_rng(0)))
    np.testing.assert_array_equal(*draws)


@pytest.mark.parametrize("utility", ["lp", "entropy", "categorical", "cosine"])
def test_the_weighted_objective_of_kcc_is_that_of_annotators_twice(utility):
    given = {"utility": utility, "p": 5.0, "normalize": False, "n_clusters": 3}
    once, twice = KCCProblem.of(ONCE, **given), KCCProblem.of(TWICE, **given)
    weighted = KCCProblem(**{**vars(once), "weights": once.weights * WEIGHTS[ONCE.annotator_of_grouping]})
    counted = [ItemsInMemory.of(memberships.in_group).count(TRUTH, 3) for memberships in (ONCE, TWICE)]
    by_weight, by_number = update(weighted, counted[0]), update(twice, counted[1])
    assert objective(weighted, by_weight) == pytest.approx(objective(twice, by_number))
    draws = [
        WeightedUtility(of, problem, TRUTH, 100).draw(weights, np.random.default_rng(0))
        for of, problem, weights in ((ONCE, once, WEIGHTS), (TWICE, twice, np.ones(8)))
    ]
    together = [draw[:, None] == draw for draw in draws]
    np.testing.assert_array_equal(*together)
