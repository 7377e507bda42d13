"""Judgements in JAX against those of NumPy, which are held to loops over pairs."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Pairs
from consilience.annotations import concat
from consilience.deep.judgements import annotated_items, judgements, right_and_wrong
from consilience.inference.pair_evidence import PairEvidence
from consilience.simulation import simulate_pairs
from tests.deep.precision import enable_x64
from tests.quick_cases import some_quick


def pairs():
    return simulate_pairs(np.arange(12) % 3, n_annotators=3, pairs_each=20, accuracy=0.8, random_state=0)


def groupings():
    """Groupings of six of twelve items, and one of a single item, by two annotators."""
    rng = np.random.default_rng(0)
    sheets = [rng.permutation(10)[:6] for _ in range(4)]
    return Groupings.from_lists(
        [[sheet[:3].tolist(), sheet[3:].tolist()] for sheet in sheets] + [[[11]]],
        items=range(12),
        annotators=["a", "b", "a", "b", "a"],
    )


@pytest.mark.parametrize("implied", some_quick(["independent", "all"]))
@pytest.mark.parametrize(
    "annotations", [pairs(), groupings(), concat([pairs(), pairs()[:8]])], ids=["pairs", "groupings", "repeated pairs"]
)
def test_equals_the_numpy_evidence(annotations, implied):
    rng = np.random.default_rng(1)
    items = annotated_items(annotations)
    evidence, ours = PairEvidence.of(annotations, implied=implied), judgements(annotations, items, implied=implied)
    eta = rng.dirichlet(np.ones(4), size=12)
    same, apart = rng.normal(size=(2, evidence.n_annotators))
    theirs = evidence.messages(eta[:, :, None], same=same[:, None], apart=apart[:, None])[items, :, 0]
    with enable_x64(True):
        found = ours.messages(jnp.asarray(eta[items]), jnp.asarray(same), jnp.asarray(apart))
        np.testing.assert_allclose(found, theirs, atol=1e-6)  # counts are held as float32
        agreement = ours.agreement(jnp.asarray(eta[items]))
    expected = evidence.agreement(eta[:, :, None])
    np.testing.assert_allclose(agreement.judged, expected.judged[:, 0], atol=1e-5)
    np.testing.assert_allclose(agreement.same, expected.same[:, 0], atol=1e-5)
    np.testing.assert_allclose(ours.n_pairs, evidence.n_pairs, rtol=1e-6)
    np.testing.assert_allclose(ours.n_same, evidence.n_same, rtol=1e-6)


@pytest.mark.parametrize(
    ("groups", "weight"),
    [
        ([[0, 1, 2], [3, 4], [5]], 3 / 6),  # each item is compared with one of each group
        ([[0, 1, 2, 3, 4, 5]], 2 / 6),
        ([[0, 1]], 1),
        ([[0], [1]], 1),
        ([[0], [1], [2]], 1),  # and no pair counts more than once
        ([[0, 1, 2, 3], [4, 5, 6, 7], []], 2 / 8),  # nothing was compared with an empty group
    ],
)
def test_pairs_of_a_grouping_weigh_by_its_groups(groups, weight):
    said = Groupings.from_lists([groups], annotators=["a"])
    items = annotated_items(said)
    n = len(items)
    ours = judgements(said, items, implied="groups")
    assert float(ours.n_pairs[0]) == pytest.approx(weight * n * (n - 1) / 2)
    eta = jnp.eye(n)  # every item in a cluster of its own: a message names the other items
    same = np.zeros((n, n))
    for group in groups:
        same[np.ix_(group, group)] = 1
    expected = weight * np.where(same > 0, 2.0, -1.0) * (1 - np.eye(n))
    np.testing.assert_allclose(ours.messages(eta, jnp.array([2.0]), jnp.array([-1.0])), expected, atol=1e-6)


def test_annotated_items_are_those_in_a_pair():
    assert 11 not in annotated_items(groupings())
    frame = pd.DataFrame({"item_a": ["a"], "item_b": ["b"], "annotator": ["x"], "same": [True]})
    assert annotated_items(Pairs.from_frame(frame, items=["b", "c", "a"])).tolist() == [0, 2]


def test_right_and_wrong_of_certain_clusters_are_counts():
    said = pairs()
    items = annotated_items(said)
    truth = np.arange(12) % 3
    ours = judgements(said, items, implied="all")
    within, across = right_and_wrong(ours, ours.agreement(jnp.eye(3)[truth[items]]))
    together = truth[said.item_a] == truth[said.item_b]
    for m in range(3):
        own = said.annotator == m
        for counts, of, right in ((within, together, said.same), (across, ~together, ~said.same)):
            assert counts[m, 0] == (own & of & right).sum()
            assert counts[m, 1] == (own & of & ~right).sum()
