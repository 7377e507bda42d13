"""Every strategy draws subsets with the probabilities of its formula, written here as dense matrices."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active import (
    ExploitOneVsRest,
    ExploitPairwise,
    Explore,
    ExploreExploitTradeoff,
    Informative,
    Random,
    session,
)
from consilience.errors import InputError
from tests.active.situations import (
    assert_drawn_from,
    by_items,
    by_pairs,
    dense_counts,
    probabilities,
    shares,
    situation,
)

TOLD = [[[0, 1], [2]], [[0, 1]], [[0], [1, 3]], [[2, 3]], [[2], [3]], [[0, 2]]]
WAITING = [[0, 3], [3, 4]]
SOME = (5, TOLD, WAITING)
NONE = (5, [], [])
EVERY = (4, [[[0, 1], [2, 3]], [[0], [1, 2, 3]], [[0, 2], [1], [3]]], [])
AT_ONE = (4, [[[0, 1, 2, 3]]], [])  # E = 1 for all
SITUATIONS = {"some": SOME, "none": NONE, "every": EVERY, "all together": AT_ONE}
ALL = [Random(), Explore(), ExploitPairwise(), ExploitOneVsRest(), ExploreExploitTradeoff(), Informative()]


def name(strategy):
    return type(strategy).__name__


def presentation(n_items, lists, pending):
    """Return exp(−P_ij / max P)."""
    presented, _, _ = dense_counts(n_items, lists, pending)
    weights = np.exp(-presented / max(presented.max(), 1))
    np.fill_diagonal(weights, 0)
    return weights


def ambiguity(n_items, lists, pending, *, mu=0.5, sigma=0.3, shrink=1.0, smallest_sigma=0.05, prior=0.5):
    """Return AI_ij = exp(−((E_ij − μ)/σ)²), with the prior where nobody answered, and σ after so many groupings."""
    _, answered, together = dense_counts(n_items, lists, pending)
    share = np.where(answered > 0, together / np.maximum(answered, 1), prior)
    weights = np.exp(-(((share - mu) / max(sigma * shrink ** len(lists), smallest_sigma)) ** 2))
    np.fill_diagonal(weights, 0)
    return weights


def shortfall(n_items, lists, pending, few=3):
    """Return (β1 − P_ij)/β1, 0 from β1 on."""
    presented, _, _ = dense_counts(n_items, lists, pending)
    weights = np.maximum(few - presented, 0) / few
    np.fill_diagonal(weights, 0)
    return weights


def pair_values(strategy, counts):
    """Return the strategy's values of all pairs as a matrix."""
    pairs = list(combinations(range(counts[0]), 2))
    values = strategy.values(situation(*counts), [np.array(pair) for pair in pairs])
    matrix = np.zeros((counts[0], counts[0]))
    for (i, j), value in zip(pairs, values):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def drawn_by(strategy, counts, size, n_draws, allowed=None):
    rng, given_situation = np.random.default_rng(1), situation(*counts, allowed=allowed)
    return [strategy.compose(given_situation, size, rng).tolist() for _ in range(n_draws)]


@pytest.mark.parametrize("counts", SITUATIONS.values(), ids=list(SITUATIONS))
def test_pair_weights_of_explore(counts):
    np.testing.assert_allclose(pair_values(Explore(), counts), presentation(*counts), atol=1e-14)


SHARP = {"sigma": 0.01, "smallest_sigma": 1e-3}  # e^-2500 is 0


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"mu": 0.3, "sigma": 0.2, "prior": 0.9},
        {"sigma": 0.4, "shrink": 0.9},
        {"sigma": 0.4, "shrink": 0.1, "smallest_sigma": 0.07},
        SHARP,
        SHARP | {"prior": 0.0},
    ],
    ids=["defaults", "mu and prior", "shrinking", "smallest sigma", "underflow", "nothing is ambiguous"],
)
@pytest.mark.parametrize("counts", SITUATIONS.values(), ids=list(SITUATIONS))
def test_pair_weights_of_exploit_pairwise(counts, parameters):
    found = pair_values(ExploitPairwise(**parameters), counts)
    np.testing.assert_allclose(found, ambiguity(*counts, **parameters), atol=1e-14)


@pytest.mark.parametrize("counts", SITUATIONS.values(), ids=list(SITUATIONS))
def test_values_of_the_tradeoff_and_of_one_vs_rest(counts):
    strategy = ExploreExploitTradeoff(few=2, weight_ambiguity=0.7, weight_shortfall=2.0, sigma=0.4)
    expected = 0.7 * ambiguity(*counts, sigma=0.4) + 2.0 * shortfall(*counts, few=2)
    np.testing.assert_allclose(pair_values(strategy, counts), expected, atol=1e-14)
    weights = ambiguity(*counts, sigma=0.4).sum(1)
    found = ExploitOneVsRest(sigma=0.4).values(situation(*counts), [np.array([0]), np.array([3, 1, 2])])
    np.testing.assert_allclose(found, [weights[0], weights[1:4].mean()])


def test_random_draws_all_subsets_with_equal_probability():
    alike = by_items(lambda chosen: np.ones(5), [0, 2, 3, 4])
    for size in (2, 3):
        drawn = drawn_by(Random(), SOME, size, 1000, allowed=[0, 2, 3, 4])
        assert_drawn_from(probabilities(alike, size), drawn)


@pytest.mark.parametrize(
    ("strategy", "weights"),
    [
        (Explore(), presentation(*SOME)),
        (ExploitPairwise(), ambiguity(*SOME)),
        (ExploitPairwise(**SHARP | {"prior": 0.0}), ambiguity(*SOME, **SHARP | {"prior": 0.0})),
    ],
    ids=["explore", "exploit", "exploit, most weights 0"],
)
def test_pairs_are_drawn_by_weight_among_those_allowed(strategy, weights):
    """Larger subsets are checked against the enumeration in test_pair_sampling."""
    allowed = [0, 1, 2, 3]
    expected = probabilities(by_pairs(weights, allowed, 2), 2)
    assert_drawn_from(expected, drawn_by(strategy, SOME, 2, 400, allowed))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    ("counts", "parameters", "allowed"),
    [(SOME, {"sigma": 0.15, "prior": 0.1}, range(5)), (SOME, {}, [0, 1, 4]), (AT_ONE, SHARP, range(4))],
    ids=["all allowed", "some allowed", "weights that are 0"],
)
def test_one_vs_rest_draws_items_by_their_sum(counts, parameters, allowed, size):
    """Over all pairs of an item, including those with items not allowed; if all are 0, items are equally probable."""
    weights = ambiguity(*counts, **parameters).sum(1)
    expected = probabilities(by_items(lambda chosen: weights, list(allowed)), size)
    assert_drawn_from(expected, drawn_by(ExploitOneVsRest(**parameters), counts, size, 600, list(allowed)))


def tradeoff(counts, allowed, *, few=3, ambiguous=0.5, weight_ambiguity=1.0, weight_shortfall=1.0, **parameters):
    """Return the steps of the paper's section 5.2: from the last item to one of s1, else at random of s2 or s3."""
    unclear, little = ambiguity(*counts, **parameters), shortfall(*counts, few)

    def step(chosen):
        left = [item for item in allowed if item not in chosen]
        if not chosen:
            return {(item,): 1 / len(left) for item in left}
        here = chosen[-1]
        s2 = {(j,): little[here, j] for j in left if little[here, j] > 0}
        s3 = {(j,): unclear[here, j] for j in left if unclear[here, j] > ambiguous}
        s1 = {j: weight_ambiguity * s3[j] + weight_shortfall * s2[j] for j in s2 if j in s3}
        if sum(s1.values()):
            return shares(s1)
        either = [s for s in (s2, s3) if s] or [{(j,): 1.0 for j in left}]
        found = {}
        for among in either:
            for j, share in shares(among).items():
                found[j] = found.get(j, 0) + share / len(either)
        return found

    return step


@pytest.mark.parametrize(
    ("counts", "parameters", "allowed"),
    [
        (SOME, {"few": 3, "weight_shortfall": 4.0}, range(5)),
        (SOME, {"few": 3, "weight_ambiguity": 4.0, "sigma": 0.6}, [0, 1, 2, 3]),
        (SOME, {"few": 1, "ambiguous": 0.9, "prior": 0.1}, range(5)),
        (SOME, {"weight_ambiguity": 0.0, "weight_shortfall": 0.0}, [0, 1, 2, 4]),
        (EVERY, {"few": 1}, range(4)),
        (AT_ONE, {"few": 1}, range(4)),
    ],
    ids=["both", "ambiguity weighs more", "one or the other", "no weight", "all presented", "neither"],
)
def test_tradeoff_goes_from_item_to_item(counts, parameters, allowed):
    expected = probabilities(tradeoff(counts, list(allowed), **parameters), 3)
    assert_drawn_from(expected, drawn_by(ExploreExploitTradeoff(**parameters), counts, 3, 400, list(allowed)))


def test_a_tradeoff_without_ambiguous_pairs_explores():
    """0 was presented often enough with 1 and 2, and never with 3: from 0 the next is 3, and from 3 it is 0."""
    counts = (4, [[[0, 1, 2]]], [])
    strategy = ExploreExploitTradeoff(few=1, prior=0.0)
    assert all(sorted(s) != [0, 1] for s in drawn_by(strategy, counts, 2, 40, [0, 1, 3]))


@settings(max_examples=15)
@given(st.data())
@pytest.mark.parametrize("strategy", ALL, ids=name)
def test_subsets_are_distinct_allowed_items(strategy, data):
    n_items = data.draw(st.integers(2, 7))
    items = st.integers(0, n_items - 1)
    lists = data.draw(st.lists(st.lists(items, min_size=1, unique=True).map(lambda s: [s[::2], s[1::2]]), max_size=4))
    pending = data.draw(st.lists(st.lists(items, min_size=2, unique=True), max_size=2))
    allowed = data.draw(st.lists(items, min_size=2, unique=True))
    size = data.draw(st.integers(2, len(allowed)))
    samples = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items), min_size=1))
    given_situation = situation(n_items, lists, pending, allowed=allowed, samples=samples)
    subset = strategy.compose(given_situation, size, np.random.default_rng(data.draw(st.integers(0, 99)))).tolist()
    assert len(subset) == len(set(subset)) == size
    assert set(subset) <= set(allowed)


@pytest.mark.parametrize("strategy", ALL, ids=name)
def test_the_same_generator_composes_the_same_subset(strategy):
    samples = [[0, 0, 1, 1, 1], [0, 1, 1, 0, 1]]
    one, other = (
        strategy.compose(situation(*SOME, samples=samples), 3, np.random.default_rng(5)).tolist() for _ in range(2)
    )
    assert one == other


CANDIDATES = [np.array([0, 1]), np.array([0, 1, 3]), np.array([4]), np.array([2, 4])]


@pytest.mark.parametrize("strategy", ALL[:5], ids=name)
def test_candidates_are_preferred_in_proportion_to_their_values(strategy):
    values = strategy.values(situation(*SOME), CANDIDATES)
    assert (values >= 0).all()
    rng, given_situation = np.random.default_rng(0), situation(*SOME)
    chosen = [[strategy.prefer(given_situation, CANDIDATES, rng)] for _ in range(400)]
    expected = {frozenset([place]): value / values.sum() for place, value in enumerate(values) if value}
    assert_drawn_from(expected, chosen)


def test_candidates_of_value_0_are_equally_probable():
    strategy = ExploitPairwise(**SHARP)
    candidates = [np.array([0, 1]), np.array([1, 2, 3])]
    assert strategy.values(situation(*AT_ONE), candidates).tolist() == [0, 0]
    rng, given_situation = np.random.default_rng(0), situation(*AT_ONE)
    chosen = [[strategy.prefer(given_situation, candidates, rng)] for _ in range(200)]
    assert_drawn_from({frozenset([0]): 0.5, frozenset([1]): 0.5}, chosen)


SHARE = "a number in [0, 1]"
POSITIVE = "a positive number"
LEAST_0 = "a number of at least 0"


@pytest.mark.parametrize(
    ("strategy", "parameter", "value", "expected"),
    [
        (ExploitPairwise, "mu", 1.1, SHARE),
        (ExploitPairwise, "mu", -0.1, SHARE),
        (ExploitOneVsRest, "prior", "half", SHARE),
        (ExploreExploitTradeoff, "prior", 2, SHARE),
        (ExploitPairwise, "sigma", 0, POSITIVE),
        (ExploreExploitTradeoff, "smallest_sigma", -1, POSITIVE),
        (ExploitPairwise, "shrink", 1.01, "a number in (0, 1]"),
        (ExploitPairwise, "shrink", 0, "a number in (0, 1]"),
        (ExploreExploitTradeoff, "few", 0, "a positive int"),
        (ExploreExploitTradeoff, "few", 1.5, "a positive int"),
        (ExploreExploitTradeoff, "ambiguous", 1, "a number in [0, 1)"),
        (ExploreExploitTradeoff, "weight_ambiguity", -1, LEAST_0),
        (ExploreExploitTradeoff, "weight_shortfall", None, LEAST_0),
        (Informative, "power", -1, LEAST_0),
        (Informative, "power", float("nan"), LEAST_0),
    ],
)
def test_wrong_parameters_are_refused_when_a_session_begins(strategy, parameter, value, expected):
    wrong = strategy(**{parameter: value})
    with pytest.raises(InputError) as caught:
        session.ActiveSession(list("abc"), strategy=wrong)
    sentence = f"The '{parameter}' parameter of {strategy.__name__} must be {expected}. Got {value!r} instead."
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "strategy",
    [
        ExploitPairwise(mu=0, prior=1, shrink=1, sigma=1e-9),
        ExploreExploitTradeoff(few=np.int64(1), ambiguous=0, weight_ambiguity=0, weight_shortfall=0),
        Informative(power=0),
    ],
    ids=name,
)
def test_the_ends_of_the_ranges_are_allowed(strategy):
    strategy.check()


def test_every_strategy_has_a_name():
    assert sorted(strategy.__name__ for strategy in session.STRATEGIES.values()) == sorted(map(name, ALL))
    for called, strategy in session.STRATEGIES.items():
        assert isinstance(session.ActiveSession(list("abc"), strategy=called)._strategy, strategy)
