"""Agents that cluster by features, and populations of them."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.cluster import Birch, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture

from consilience.errors import InputError
from consilience.simulation import ClusteringAgent, ClusteringPopulation
from consilience.simulation.clustering_agents import Features

NAMES = [f"item {i}" for i in range(12)]
TRUTH = np.repeat([0, 1, 2], 4)
CENTRES = np.array([[0.0, 0, 0, 0], [50, 70, 60, 90], [110, 130, 140, 160]])
X = pd.DataFrame(CENTRES[TRUTH] + np.random.default_rng(0).random((12, 4)), index=NAMES, columns=list("pqrs"))

# two features that tell different stories: the halves of 8 items, and odd from even ones
STORIES = np.column_stack([np.repeat([0.0, 10.0], 4), np.tile([0.0, 10.0], 4)])
HALVES, PARITY = {frozenset(range(4)), frozenset(range(4, 8))}, {frozenset(range(0, 8, 2)), frozenset(range(1, 8, 2))}


def partition(groups):
    """Return groups without their order."""
    return {frozenset(group) for group in groups}


def truth_of(subset):
    return {frozenset(NAMES[i] for i in subset if TRUTH[i] == k) for k in range(3)}


@pytest.mark.parametrize("n_features", [None, 1, 3])
@pytest.mark.parametrize(
    "algorithm",
    ["kmeans", "ward", "average", "gaussian", KMeans(n_init=3), Birch(), GaussianMixture(covariance_type="spherical")],
    ids=str,
)
def test_well_separated_data_are_grouped_by_their_truth(algorithm, n_features):
    # one start of k-means or of a mixture can end elsewhere: of five answers most are the truth
    agent = ClusteringAgent(X, n_groups=3, n_features=n_features, algorithm=algorithm, random_state=0)
    for subset in ([11, 0, 5, 1, 4, 10, 9], range(12)):
        right = [partition(agent([NAMES[i] for i in subset])) == truth_of(subset) for _ in range(5)]
        assert sum(right) >= (5 if algorithm in ("ward", "average") else 3)


@given(st.integers(1, 6), st.sets(st.sampled_from(range(12))), st.sampled_from(["kmeans", "ward", "gaussian"]))
@settings(max_examples=40)
def test_an_answer_holds_each_item_once_in_n_groups(n_groups, subset, algorithm):
    asked = [NAMES[i] for i in subset]
    answer = ClusteringAgent(X, n_groups=n_groups, algorithm=algorithm, random_state=0)(asked)
    assert sorted(item for group in answer for item in group) == sorted(asked)
    assert all(answer)
    if algorithm == "gaussian":
        assert len(answer) <= min(n_groups, len(asked))  # a component can end without items
    else:
        assert len(answer) == min(n_groups, len(asked))


def test_fewer_items_than_groups_are_groups_of_one():
    assert ClusteringAgent(X, n_groups=5)(NAMES[:4]) == [[name] for name in NAMES[:4]]
    assert ClusteringAgent(X, n_groups=5)([]) == []
    assert ClusteringAgent(X, n_groups=1)(NAMES) == [NAMES]


@pytest.mark.parametrize("algorithm", ["kmeans", "ward", "average", "gaussian"])
def test_equal_items_are_grouped_without_a_warning(algorithm):
    answer = ClusteringAgent(np.ones((6, 2)), n_groups=3, algorithm=algorithm, random_state=0)(range(6))
    assert sorted(item for group in answer for item in group) == list(range(6))


@pytest.mark.parametrize(("weights", "story"), [([1, 0], HALVES), ([0, 0.3], PARITY)])
def test_features_of_weight_zero_are_never_used(weights, story):
    agent = ClusteringAgent(
        STORIES, n_groups=2, n_features=1, feature_weights=weights, algorithm="ward", random_state=0
    )
    assert all(partition(agent(range(8))) == story for _ in range(30))
    whole = ClusteringAgent(STORIES, n_groups=2, feature_weights=weights, algorithm="ward")
    assert whole.n_features == 1
    assert partition(whole(range(8))) == story


def test_features_are_drawn_anew_for_each_answer_with_their_weights():
    agent = ClusteringAgent(STORIES, n_groups=2, n_features=1, feature_weights=[3, 1], algorithm="ward", random_state=0)
    stories = Counter(frozenset(partition(agent(range(8)))) for _ in range(200))
    assert set(stories) == {frozenset(HALVES), frozenset(PARITY)}
    assert stories[frozenset(HALVES)] / 200 == pytest.approx(0.75, abs=0.12)  # 4 standard errors


def test_features_are_drawn_one_after_another_without_replacement():
    features = Features(np.zeros((1, 3)), {0: 0}, np.array([0.5, 0.3, 0.2]))
    rng = np.random.default_rng(0)
    drawn = Counter(tuple(features.draw(2, rng).tolist()) for _ in range(4000))
    pairs = {(0, 1): 0.5 * 0.3 / 0.5 + 0.3 * 0.5 / 0.7, (0, 2): 0.5 * 0.2 / 0.5 + 0.2 * 0.5 / 0.8}
    pairs[1, 2] = 1 - sum(pairs.values())
    assert set(drawn) == set(pairs)
    assert chisquare([drawn[pair] for pair in pairs], [4000 * share for share in pairs.values()]).pvalue > 0.001


def test_a_given_clusterer_is_cloned_and_keeps_its_settings():
    given_one = KMeans(n_clusters=7, init="random", n_init=1)
    agent = ClusteringAgent(X, n_groups=3, algorithm=given_one, random_state=0)
    agent(NAMES)
    assert given_one.n_clusters == 7
    assert given_one.random_state is None
    assert not hasattr(given_one, "labels_")


@pytest.mark.parametrize(
    "algorithm", ["kmeans", "gaussian", KMeans(init="random", n_init=1), SpectralClustering()], ids=str
)
def test_an_int_gives_the_same_answers_each_time(algorithm):
    noise = np.random.default_rng(1).normal(size=(30, 6))

    def answers(seed):
        agent = ClusteringAgent(noise, n_groups=4, n_features=3, algorithm=algorithm, random_state=seed)
        return [agent(range(30)) for _ in range(3)]

    assert answers(0) == answers(0)
    assert answers(0) != answers(1)


def test_a_clusterer_without_a_random_state_is_given_one_for_each_answer():
    noise = np.random.default_rng(1).normal(size=(40, 2))
    agent = ClusteringAgent(noise, n_groups=6, algorithm=KMeans(init="random", n_init=1), random_state=0)
    assert len({frozenset(partition(agent(range(40)))) for _ in range(5)}) > 1
    fixed = KMeans(init="random", n_init=1, random_state=0)
    agent = ClusteringAgent(noise, n_groups=6, algorithm=fixed, random_state=0)
    assert len({frozenset(partition(agent(range(40)))) for _ in range(5)}) == 1


# ---- populations


def test_agents_of_a_population_differ_uniformly_in_all_three_ways():
    wide = np.random.default_rng(0).normal(size=(20, 9))
    population = ClusteringPopulation(wide, n_groups=(3, 6), n_features=(4, 8), random_state=0)
    agents = [population.draw() for _ in range(1000)]
    for values, expected in [
        ([agent.n_groups for agent in agents], [3, 4, 5, 6]),
        ([agent.n_features for agent in agents], [4, 5, 6, 7, 8]),
        ([agent.algorithm for agent in agents], ["kmeans", "ward"]),
    ]:
        counts = Counter(values)
        assert sorted(counts) == expected
        assert chisquare(list(counts.values())).pvalue > 0.001
    assert len({(agent.n_groups, agent.n_features, agent.algorithm) for agent in agents}) == 4 * 5 * 2


def test_every_answer_of_a_population_comes_from_another_agent():
    wide = np.random.default_rng(0).normal(size=(20, 9))
    population = ClusteringPopulation(wide, random_state=0)
    sizes = {len(population(range(20))) for _ in range(60)}
    assert sizes == {3, 4, 5, 6}


def test_the_numbers_of_a_population_can_be_fixed_and_are_cut_at_the_features():
    population = ClusteringPopulation(X, n_groups=2, n_features=3, algorithms=["average"], random_state=0)
    drawn = {(a.n_groups, a.n_features, a.algorithm) for a in (population.draw() for _ in range(20))}
    assert drawn == {(2, 3, "average")}
    few = ClusteringPopulation(X, n_features=(2, 8), feature_weights=[1, 0, 1, 1], random_state=0)
    assert {few.draw().n_features for _ in range(50)} == {2, 3}
    assert ClusteringPopulation(X, n_features=(6, 8)).draw().n_features == 4


def test_agents_of_a_population_use_its_weights():
    population = ClusteringPopulation(
        STORIES, n_groups=2, n_features=1, algorithms=["ward"], feature_weights=[0, 1], random_state=0
    )
    assert all(partition(population(range(8))) == PARITY for _ in range(20))


def test_drawn_agents_do_not_depend_on_other_agents():
    noise = np.random.default_rng(1).normal(size=(30, 8))
    first, again = (ClusteringPopulation(noise, random_state=3) for _ in range(2))
    one, other = first.draw(), first.draw()
    alone = again.draw()
    other(range(30))
    assert [one(range(30)) for _ in range(3)] == [alone(range(30)) for _ in range(3)]
    assert repr(one) == repr(alone)
    assert first(range(30)) != ClusteringPopulation(noise, random_state=4)(range(30))


def test_drawn_agents_are_independent():
    noise = np.random.default_rng(1).normal(size=(30, 8))
    population = ClusteringPopulation(noise, n_groups=4, n_features=3, algorithms=["ward"], random_state=0)
    assert len({frozenset(partition(population.draw()(range(30)))) for _ in range(10)}) > 5


# ---- errors

both = pytest.mark.parametrize("make", [lambda X, **s: ClusteringAgent(X, n_groups=2, **s), ClusteringPopulation])


@both
@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        ([1.0, 2.0], {}, r"'X' parameter of Clustering\w+ must be a table of numbers. Got shape \(2,\)"),
        ([["p"], ["q"]], {}, "must be a table of numbers"),
        (X.where(X < 100), {}, "must hold finite numbers. Got nan for the item 'item 8' and the feature 'p'"),
        (X, {"feature_weights": [1, 1]}, r"must hold a number for each of the 4 features. Got shape \(2,\)"),
        (X, {"feature_weights": [1, -1, 0, 0]}, r"must be nonnegative, with one above 0. Got \[1.0, -1.0"),
        (X, {"feature_weights": [0, 0, 0, 0]}, "must be nonnegative, with one above 0"),
        (X.set_axis(["a"] * 12), {}, "names of items must differ. Got 'a'"),
    ],
)
def test_bad_features(make, table, settings, message):
    with pytest.raises(InputError, match=message):
        make(table, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_groups": 0}, "'n_groups' parameter of ClusteringAgent must be a positive int. Got 0"),
        (
            {"n_features": 3, "feature_weights": [1, 1, 0, 0]},
            "'n_features' parameter .* of at most 2, the number of features of positive weight. Got 3",
        ),
        (
            {"algorithm": "dbscan"},
            "'algorithm' parameter of ClusteringAgent must be one of kmeans, ward, .* Got 'dbscan'",
        ),
        ({"algorithm": KMeans}, "must be one of kmeans"),
        ({"algorithm": None}, "must be one of kmeans"),
    ],
)
def test_bad_parameters_of_an_agent(settings, message):
    with pytest.raises(InputError, match=message):
        ClusteringAgent(X, **{"n_groups": 2, **settings})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_groups": (6, 3)}, "'n_groups' parameter of ClusteringPopulation must be a positive int, or the lowest"),
        ({"n_groups": (0, 3)}, re.escape("Got (0, 3) instead")),
        ({"n_features": (1, 2, 3)}, re.escape("'n_features' parameter") + r".* Got \(1, 2, 3\)"),
        ({"n_features": (1.5, 2)}, r"Got \(1.5, 2\)"),
        ({"n_features": 0.5}, r"Got 0.5"),
        ({"algorithms": []}, r"'algorithms' parameter .* list of at least one algorithm. Got \[\]"),
        ({"algorithms": "ward"}, "list of at least one algorithm. Got 'ward'"),
        (
            {"algorithms": ["ward", "x"]},
            "'algorithms' parameter of ClusteringPopulation must be one of kmeans.* Got 'x'",
        ),
    ],
)
def test_bad_parameters_of_a_population(settings, message):
    with pytest.raises(InputError, match=message):
        ClusteringPopulation(X, **settings)


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        (
            ["item 0", "cow"],
            "The subset given to ClusteringAgent holds the item 'cow', which is not among its 12 items",
        ),
        (["item 0", "item 0"], "The subset given to ClusteringAgent holds the item 'item 0' twice"),
    ],
)
def test_bad_subsets(subset, message):
    with pytest.raises(InputError, match=message):
        ClusteringAgent(X, n_groups=3)(subset)
