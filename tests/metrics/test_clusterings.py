"""Metrics against their definitions over all pairs or all matchings of small cases, and their invariances."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from consilience.errors import InputError
from consilience.metrics.clusterings import ami, ari, clustering_accuracy, nmi, pairwise_f, same_log_loss, v_measure

CLUSTERING_METRICS = [nmi, ami, ari, v_measure, clustering_accuracy, pairwise_f]
SYMMETRIC = [nmi, ami, ari, v_measure, clustering_accuracy]

examples = settings(max_examples=50, deadline=None)  # a first call may import for longer than the usual deadline


@st.composite
def two_clusterings(draw, max_items=9, max_clusters=5):
    n = draw(st.integers(1, max_items))
    labels = st.lists(st.integers(0, max_clusters - 1), min_size=n, max_size=n)
    return draw(labels), draw(labels)


def pairs_alike(labels_true, labels_pred):
    """Count the pairs together in both, in pred only, in true only, in neither."""
    counts = dict.fromkeys(itertools.product([True, False], repeat=2), 0)
    for i, j in itertools.combinations(range(len(labels_true)), 2):
        counts[labels_true[i] == labels_true[j], labels_pred[i] == labels_pred[j]] += 1
    return counts[True, True], counts[False, True], counts[True, False], counts[False, False]


def entropy(labels):
    return -sum(p * math.log(p) for p in (labels.count(name) / len(labels) for name in set(labels)))


@examples
@given(two_clusterings())
def test_nmi_is_mutual_information_over_the_arithmetic_mean_of_entropies(clusterings):
    a, b = clusterings
    h_a, h_b, h_ab = entropy(a), entropy(b), entropy(list(zip(a, b, strict=True)))
    expected = 1.0 if h_a == h_b == 0 else 2 * (h_a + h_b - h_ab) / (h_a + h_b)
    assert nmi(a, b) == pytest.approx(expected, abs=1e-9)
    assert v_measure(a, b) == pytest.approx(expected, abs=1e-9)


def test_nmi_does_not_use_the_geometric_mean():
    # H = ln 2 and 3/2 ln 2, MI = ln 2: arithmetic 2 / 2.5, geometric 1 / sqrt(1.5) = .816
    assert nmi([0, 0, 1, 1], [0, 0, 1, 2]) == pytest.approx(0.8)


def test_v_measure_weights_completeness_by_beta():
    # homogeneity 1 (no cluster mixes classes), completeness MI / H(clusters) = 2/3
    true, pred = [0, 0, 1, 1], [0, 0, 1, 2]
    assert v_measure(true, pred, beta=2.0) == pytest.approx(3 * 1 * (2 / 3) / (2 * 1 + 2 / 3))


@examples
@given(two_clusterings(max_items=6, max_clusters=3))
def test_ami_is_adjusted_by_the_mean_over_all_permutations(clusterings):
    a, b = clusterings

    def information(x, y):
        return entropy(x) + entropy(y) - entropy(list(zip(x, y, strict=True)))

    by_chance = np.mean([information(a, list(shuffled)) for shuffled in itertools.permutations(b)])
    ceiling = (entropy(a) + entropy(b)) / 2
    if abs(ceiling - by_chance) > 1e-9:  # else every arrangement has the same information: 0/0
        assert ami(a, b) == pytest.approx((information(a, b) - by_chance) / (ceiling - by_chance), abs=1e-9)


@examples
@given(two_clusterings())
def test_ari_counts_pairs(clusterings):
    both, only_pred, only_true, neither = pairs_alike(*clusterings)
    total = both + only_pred + only_true + neither
    in_true, in_pred = both + only_true, both + only_pred
    if in_true == in_pred and in_true in (0, total):
        assert ari(*clusterings) == 1.0  # both all apart or all together: the same clustering
    else:
        by_chance = in_true * in_pred / total
        ceiling = (in_true + in_pred) / 2
        assert ari(*clusterings) == pytest.approx((both - by_chance) / (ceiling - by_chance))


@examples
@given(two_clusterings())
def test_pairwise_f_counts_pairs(clusterings):
    both, only_pred, only_true, _ = pairs_alike(*clusterings)
    precision, recall, f = pairwise_f(*clusterings)
    assert precision == (both / (both + only_pred) if both + only_pred else 1.0)
    assert recall == (both / (both + only_true) if both + only_true else 1.0)
    assert f == pytest.approx(2 * precision * recall / (precision + recall) if precision + recall else 0.0)


@examples
@given(two_clusterings())
def test_clustering_accuracy_is_the_best_of_all_matchings(clusterings):
    true, pred = clusterings
    names = sorted(set(pred))
    # enough dummy classes that every cluster may stay without a class
    targets = sorted(set(true)) + [None] * len(names)
    best = max(
        sum(naming[p] == t for t, p in zip(true, pred, strict=True))
        for chosen in set(itertools.permutations(targets, len(names)))
        for naming in [dict(zip(names, chosen, strict=True))]
    )
    assert clustering_accuracy(true, pred) == pytest.approx(best / len(true))


def test_clustering_accuracy_with_more_clusters_than_classes_and_the_reverse():
    assert clustering_accuracy([0, 0, 0, 0, 1], [0, 0, 1, 2, 3]) == pytest.approx(3 / 5)
    assert clustering_accuracy([0, 0, 1, 2, 3], [0, 0, 0, 0, 1]) == pytest.approx(3 / 5)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@examples
@given(clusterings=two_clusterings(), renaming=st.permutations(["x", 3, frozenset({7}), 2.5, ("t", 1)]))
def test_names_do_not_matter(metric, clusterings, renaming):
    a, b = clusterings
    assert metric([renaming[k] for k in a], b) == pytest.approx(metric(a, b), abs=1e-12)


@pytest.mark.parametrize("metric", SYMMETRIC)
@examples
@given(clusterings=two_clusterings())
def test_symmetry(metric, clusterings):
    a, b = clusterings
    assert metric(a, b) == pytest.approx(metric(b, a), abs=1e-9)


@examples
@given(two_clusterings())
def test_swapping_swaps_precision_and_recall(clusterings):
    a, b = clusterings
    forth, back = pairwise_f(a, b), pairwise_f(b, a)
    assert (forth.precision, forth.recall, forth.f) == (back.recall, back.precision, back.f)


@examples
@given(two_clusterings())
def test_ranges(clusterings):
    for value in (nmi(*clusterings), v_measure(*clusterings), *pairwise_f(*clusterings)):
        assert 0 <= value <= 1 + 1e-12
    assert 0 < clustering_accuracy(*clusterings) <= 1
    assert -0.5 <= ari(*clusterings) <= 1
    assert ami(*clusterings) <= 1 + 1e-9


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@examples
@given(clustering=st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_a_clustering_agrees_with_itself(metric, clustering):
    np.testing.assert_allclose(metric(clustering, clustering), 1.0)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@pytest.mark.parametrize(
    "kind",
    [
        np.array,
        pd.Series,
        lambda names: pd.Series(names, index=range(10, 10 + len(names)), dtype="category"),
        lambda names: np.array(names, dtype=object),
        tuple,
        pl.Series,
    ],
)
def test_kinds_of_arrays(metric, kind):
    names = ["a", "a", "b", "c", "c", "b"]
    other = [0, 0, 1, 1, 2, 1]
    assert metric(kind(names), other) == metric([0, 0, 1, 2, 2, 1], other)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
def test_mixed_names_stay_apart(metric):
    assert metric([1, "1", 1, "1"], ["a", "b", "a", "b"]) == metric([0, 1, 0, 1], [0, 1, 0, 1])


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@pytest.mark.parametrize(
    ("true", "pred", "message"),
    [
        ([0, 1], [0, 1, 1], "Got 2 entries in 'labels_true' and 3 in 'labels_pred'"),
        ([], [], "'labels_true' must have at least one entry"),
        ([0.0, np.nan], [0, 1], "'labels_true' must have no missing values. Got nan at position 1"),
        ([0, 1, 2], ["a", None, "b"], "'labels_pred' must have no missing values. Got None at position 1"),
        (np.zeros((2, 2)), [0, 1], r"'labels_true' must be one-dimensional. Got an array of shape \(2, 2\)"),
        ([[0], [1]], [0, 1], "'labels_true' must be one-dimensional and hold hashable names"),
        (3, [0, 1], r"'labels_true' must be one-dimensional. Got an array of shape \(\)"),
    ],
)
def test_bad_input(metric, true, pred, message):
    with pytest.raises(InputError, match=message):
        metric(true, pred)


@pytest.mark.parametrize("beta", [0.0, -1.0, math.nan, math.inf])
def test_v_measure_refuses_a_beta_that_is_not_positive(beta):
    with pytest.raises(InputError, match="'beta' parameter of v_measure must be a positive number"):
        v_measure([0, 0], [0, 1], beta=beta)


judgements = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=20)


@examples
@given(judgements)
def test_same_log_loss_is_the_mean_negative_log_probability(rows):
    same, probability = map(list, zip(*rows, strict=True))
    clipped = [min(max(p, 1e-6), 1 - 1e-6) for p in probability]
    expected = -np.mean([math.log(p if s else 1 - p) for s, p in zip(same, clipped, strict=True)])
    assert same_log_loss(same, probability, clip=1e-6) == pytest.approx(expected)


@examples
@given(judgements)
def test_same_log_loss_agrees_with_scikit_learn(rows):
    same, probability = map(list, zip(*rows, strict=True))
    assert same_log_loss(same, probability) == pytest.approx(log_loss(same, probability, labels=[False, True]))


def test_losses_of_certain_probabilities_are_clipped():
    assert same_log_loss([True], [0.0], clip=1e-3) == pytest.approx(math.log(1e3))
    assert same_log_loss([1, 0], [1.0, 0.0]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("same", "probability", "message"),
    [
        ([True], [0.5, 0.5], "Got 1 entries in 'same' and 2 in 'probability'"),
        ([], [], "'same' must have at least one entry"),
        ([True, 2], [0.5, 0.5], "Every entry of 'same' must be True or False. Got 2 at position 1"),
        (["yes"], [0.5], "Every entry of 'same' must be True or False. Got 'yes' at position 0"),
        ([True, None], [0.5, 0.5], "'same' must have no missing values. Got None at position 1"),
        ([True], [np.nan], "'probability' must have no missing values. Got nan at position 0"),
        (
            [True, True],
            [0.5, 1.5],
            "Every entry of 'probability' must lie between 0 and 1. Got 1.5 at position 1",
        ),
        ([True], ["half"], "'probability' must hold numbers"),
    ],
)
def test_same_log_loss_bad_input(same, probability, message):
    with pytest.raises(InputError, match=message):
        same_log_loss(same, probability)


@pytest.mark.parametrize("clip", [0.0, 0.5, -1.0, math.nan])
def test_same_log_loss_bad_clip(clip):
    with pytest.raises(InputError, match=r"'clip' parameter of same_log_loss must lie between 0 and 0\.5"):
        same_log_loss([True], [0.5], clip=clip)
