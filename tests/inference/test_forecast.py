"""Forecasts are the formula, learned from the judgements of others, and as good as co-occurrence and as clusters."""

import numpy as np
import pytest

from consilience import Groupings
from consilience.inference.forecast import (
    NONE,
    Clustered,
    ForecastEvidence,
    ForecastSettings,
    assign_items,
    learn_weights,
)
from consilience.inference.pair_evidence import PairEvidence
from consilience.simulation import simulate_crowd
from tests.quick_cases import some_quick


def crowd_of(n_items, n_clusters, n_annotators, accuracy, seed, items_each=None):
    truth = np.arange(n_items) % n_clusters
    crowd = simulate_crowd(
        truth, n_annotators=n_annotators, items_each=items_each or n_items, accuracy=accuracy, random_state=seed
    )
    return truth, crowd.restrict(items=np.arange(n_items))


def pairs_of(n_items):
    return np.triu_indices(n_items, 1)


def log_loss(same, probability):
    return -np.log(np.where(same, probability, 1 - probability)).mean()


@pytest.fixture
def clustered():
    truth, crowd = crowd_of(12, 3, 6, 0.8, 0)
    of_item = 0.8 * np.eye(3)[truth] + 0.2 / 3
    return Clustered(crowd, of_item)


def test_the_probability_is_the_formula(clustered):
    a, b = np.array([0]), np.array([3])
    pairs = clustered.annotations.to_pairs()
    k = clustered.cluster
    is_within = k[pairs.item_a] == k[pairs.item_b]
    own = (pairs.item_a == 0) & (pairs.item_b == 3)
    block = (k[pairs.item_a] == 0) & (k[pairs.item_b] == 0)
    base = (pairs.same.sum() + 1) / (len(pairs.same) + 2)
    within, between = ((pairs.same[where].sum() + 2 * base) / (where.sum() + 2) for where in (is_within, ~is_within))
    t = float(clustered.of_item[0] @ clustered.of_item[3])
    m = (pairs.same[block].sum() + 10 * (t * within + (1 - t) * between)) / (block.sum() + 10)
    expected = (pairs.same[own].sum() + 5 * (0.25 * base + 0.75 * m)) / (own.sum() + 5)
    found = ForecastEvidence.of(clustered, a, b).probability(ForecastSettings(5.0, 10.0, 0.75))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["groupings", "pairs"])
def test_without_an_annotator_is_fitted_to_the_others(clustered, kind):
    """Leaving a person out by subtraction gives what the annotations without that person give."""
    crowd = clustered.annotations if kind == "groupings" else clustered.annotations.to_pairs()
    a, b = pairs_of(12)
    for annotator in range(crowd.n_annotators):
        others = crowd.restrict(annotators=np.delete(crowd.annotators, annotator))
        left_out = ForecastEvidence.of_others(Clustered(crowd, clustered.of_item), a, b, np.full(len(a), annotator))
        never_there = ForecastEvidence.of(Clustered(others, clustered.of_item), a, b)
        for settings in (ForecastSettings(2.0, 10.0, 0.5), ForecastSettings(0.1, np.inf, 1.0)):
            np.testing.assert_allclose(
                left_out.probability(settings), never_there.probability(settings), rtol=1e-9, atol=1e-12
            )


def test_items_are_assigned_to_the_likeliest_cluster():
    """By brute force: the Bernoulli likelihood of an item's judgements, cluster by cluster."""
    truth, crowd = crowd_of(15, 3, 5, 0.7, 1)
    evidence, of_item = PairEvidence.of(crowd), np.eye(3)[truth]
    pairs = crowd.to_pairs()
    together, judged = np.zeros((2, 15, 3))
    for i, j, same in zip(pairs.item_a, pairs.item_b, pairs.same):
        for one, other in ((i, j), (j, i)):
            judged[one, truth[other]] += 1
            together[one, truth[other]] += same
    n, s = of_item.T @ judged, of_item.T @ together
    own = np.eye(3, dtype=bool)
    mean = np.where(own, (s[own].sum() + 1) / (n[own].sum() + 2), (s[~own].sum() + 1) / (n[~own].sum() + 2))
    rate = (s + 10 * mean) / (n + 10)
    likelihood = [
        [
            sum(t * np.log(q) + (m - t) * np.log(1 - q) for t, m, q in zip(together[i], judged[i], rate[k]))
            for k in range(3)
        ]
        for i in range(15)
    ]
    found = assign_items(evidence, np.ones(5), of_item)
    np.testing.assert_array_equal(found, np.argmax(likelihood, axis=1))
    np.testing.assert_array_equal(assign_items(evidence, np.zeros(5), of_item), np.full(15, NONE))


@pytest.mark.parametrize(
    ("n_annotators", "accuracy", "behind"), some_quick([(15, 0.9, 0.005), (40, 0.6, 0.003), (40, 0.95, 0.003)])
)
def test_new_people_are_forecast_as_well_as_by_counts_and_by_clusters(n_annotators, accuracy, behind):
    """The clusters are the truth here, which the fewer people there are, the less they can be sure of."""
    truth, crowd = crowd_of(30, 3, n_annotators, accuracy, 2)
    _, new = crowd_of(30, 3, 50, accuracy, 3)
    clustered = Clustered(crowd, np.eye(3)[truth])
    asked = new.to_pairs()
    evidence = ForecastEvidence.of(clustered, asked.item_a, asked.item_b)
    loss = {
        name: log_loss(asked.same, evidence.probability(settings))
        for name, settings in {
            "forecast": learn_weights(clustered),
            "counts": ForecastSettings(1.0, 1.0, 0.0),
            "clusters": ForecastSettings(1e9, np.inf, 1.0),
        }.items()
    }
    assert loss["forecast"] < loss["counts"]
    assert loss["forecast"] < loss["clusters"] + behind


def test_clusters_that_mean_nothing_are_left_out():
    """Random clusters do not make the forecast worse than co-occurrence."""
    _, crowd = crowd_of(20, 4, 30, 0.8, 4)
    random = np.random.default_rng(0).integers(4, size=20)
    assert learn_weights(Clustered(crowd, np.eye(4)[random])).share <= 0.25
    assert learn_weights(Clustered(crowd, np.ones((20, 1)))).share == 0


@pytest.mark.slow
def test_many_people_need_no_clusters():
    """The more people saw each pair, the less its forecast depends on its clusters."""
    truth, many = crowd_of(12, 3, 400, 0.7, 5)
    _, few = crowd_of(12, 3, 5, 0.7, 5)
    shares = []
    for crowd in (few, many):
        clustered = Clustered(crowd, np.eye(3)[truth])
        settings = learn_weights(clustered)
        evidence = ForecastEvidence.of(clustered, np.array([0]), np.array([1]))
        shares.append(settings.amount / (settings.amount + evidence.of_pair.judged[0]))
    assert shares[1] < shares[0]


def test_no_judgements():
    alone = Groupings.from_lists([[["ant"]], [["bee"]]])
    clustered = Clustered(alone, np.eye(2))
    settings = learn_weights(clustered)
    found = ForecastEvidence.of(clustered, np.array([0]), np.array([1])).probability(settings)
    np.testing.assert_allclose(found, 0.5)
