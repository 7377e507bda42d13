"""`CorrelationClustering` under weights of annotators."""

from dataclasses import replace

import numpy as np

from consilience.consensus.pairs import correlation_clustering as core
from consilience.consensus.pairs.correlation_clustering import CorrelationClusteringState
from consilience.consensus.pairs.weighted_correlation_clustering import WeightedCorrelationClustering
from tests.consensus.pairs.test_correlation_clustering import any_rates, random_problem


def twice(problem, right):
    """The problem in which the first annotator is two people who judge alike, and their rates."""
    first = problem.annotator == 0
    judgements = {name: getattr(problem, name) for name in ("pair", "annotator", "same")}
    more = {name: np.append(values, values[first]) for name, values in judgements.items()}
    more["annotator"][len(first) :] = problem.n_annotators
    return replace(problem, n_annotators=problem.n_annotators + 1, **more), np.concatenate(
        [right, right[:, :1]], axis=1
    )


def test_a_weight_of_two_is_an_annotator_twice():
    problem = random_problem(0)
    weights = np.array([2.0, 1.0])
    double, right = twice(problem, any_rates(problem))
    found = core.log_odds_of_pairs(problem, any_rates(problem), weights)
    np.testing.assert_allclose(found, core.log_odds_of_pairs(double, right))
    cluster = np.arange(12) % 3
    one, two = (CorrelationClusteringState(cluster, core.rates_of_partition(p, cluster)) for p in (problem, double))
    np.testing.assert_allclose(core.weigh_objective(one, problem, weights), core.objective(two, double))


def test_nobody_else_says_anything_under_a_weight_of_zero():
    problem = random_problem(1, n_judgements=200)
    weights, mine = np.array([1.0, 0.0]), problem.annotator == 0
    found = WeightedCorrelationClustering.of(problem, np.zeros(12, dtype=int)).draw(weights, np.random.default_rng(0))
    alone = core.log_odds_of_pairs(problem, core.rates_of_partition(problem, found), weights)
    assert (alone[np.setdiff1d(problem.pair[~mine], problem.pair[mine])] == 0).all()
    state = CorrelationClusteringState(found, core.rates_of_partition(problem, found))
    together = CorrelationClusteringState(np.zeros(12, int), core.rates_of_partition(problem, np.zeros(12, int)))
    values = [core.weigh_objective(each, problem, weights) for each in (state, together)]
    assert values[0] >= values[1] - 1e-9
