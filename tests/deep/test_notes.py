"""What the notes of deep models say, and when."""

import jax.numpy as jnp
import pandas as pd
import pytest

from consilience.deep.judgements import PairJudgements
from consilience.deep.model import Data
from consilience.deep.notes import FEW_ITEMS, notes


def data(n_items=FEW_ITEMS, *, judged=True):
    one = jnp.ones(1)
    said = PairJudgements(one, one, 1, jnp.array([0]), jnp.array([1]), jnp.array([0]), one) if judged else None
    annotated = jnp.arange(2 if judged else 0)
    return Data(jnp.zeros((n_items, 2)), jnp.arange(len(annotated), n_items), annotated, said)


def people(*right, specificity=None):
    return pd.DataFrame({"sensitivity": right, "specificity": right if specificity is None else specificity})


NOBODY = people()


def test_nothing_limits_a_good_answer():
    assert notes(data(), people(0.9, 0.8, 0.5), n_found=3, n_clusters=10) == []
    assert notes(data(judged=False), NOBODY, n_found=3, n_clusters=10) == []
    assert notes(data(), people(0.9), n_found=1, n_clusters=1) == []  # as requested


@pytest.mark.parametrize(("judged", "other"), [(True, "PartitionLabelModel"), (False, "k-means")])
def test_few_items(judged, other):
    (note,) = notes(data(FEW_ITEMS - 1, judged=judged), people(0.9) if judged else NOBODY, 3, 10)
    assert note.startswith("999 items are few")
    assert other in note


def test_one_cluster_says_what_to_try():
    (judged,) = notes(data(), people(0.9, 0.2, 0.3), n_found=1, n_clusters=10)
    assert judged.startswith("All 1,000 items are in one cluster.")
    assert "init='judgements', trust_epochs" in judged
    (alone,) = notes(data(judged=False), NOBODY, n_found=1, n_clusters=10)
    assert "warm_epochs" in alone
    assert "init='judgements'" not in alone  # which needs judgements


@pytest.mark.parametrize(("right", "said"), [((0.5, 0.52, 0.9), True), ((0.5, 0.56, 0.9), False), ((0.3,), True)])
def test_judgements_of_most_people_without_weight(right, said):
    found = notes(data(), people(*right), n_found=3, n_clusters=10)
    assert len(found) == said
    if said:
        assert found[0].startswith("Most people's judgements fit the clusters hardly better than chance")


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "said"),
    [
        ((0.4, 0.4, 0.9), 0.97, True),
        ((0.4, 0.6, 0.9), 0.97, False),  # most people leave the clusters whole
        ((0.4, 0.4, 0.4), 0.8, False),  # some groups cross the clusters, so that these are not simply too coarse
    ],
)
def test_clusters_that_most_people_divide(sensitivity, specificity, said):
    found = notes(data(), people(*sensitivity, specificity=specificity), n_found=3, n_clusters=10)
    assert [note.startswith("Most people divide the clusters") for note in found] == [True] * said
    assert notes(data(), people(*sensitivity, specificity=specificity), n_found=1, n_clusters=1) == []
