"""Tags under weights of annotators: what weights mean, and which sets are drawn."""

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.analysis.certainty import certainty
from consilience.consensus import TagConsensus
from consilience.consensus.labels.weighted_tags import WeightedTags
from consilience.simulation import simulate_tags


@pytest.fixture(scope="module")
def said():
    truth = np.random.default_rng(0).random((40, 3)) < 0.4
    frame = simulate_tags(truth, n_annotators=6, annotators_per_item=4, random_state=0).to_frame()
    return Labels.from_frame(frame, items=[*range(40), "unseen"])


@pytest.fixture(scope="module")
def model(said):
    with pytest.warns(UserWarning, match="no annotations"):
        return TagConsensus().fit(said, gold={3: ["tag 1", "tag 3"]})


def weighted(model, said, places=slice(None)):
    evidence = model.evidence_of(said, model._known)
    log_rates = model._log_rates[:, :, places]
    told = model._cluster_codes() >= 0
    return WeightedTags(evidence, log_rates, model._log_prevalence, model.codes_of_sets, model.n_clusters_, told)


def test_weights_of_one_give_the_posterior(model, said):
    found = weighted(model, said).probabilities(np.ones(6))
    np.testing.assert_allclose(found, model._tag_posterior, atol=1e-4)  # the fit stops a sweep before


def test_a_weight_of_two_is_an_annotator_twice(model, said):
    weights = np.ones(6)
    weights[0] = 2
    again = said.to_frame().query("annotator == @said.annotators[0]").assign(annotator="again")
    twice = Labels.from_frame(pd.concat([said.to_frame(), again]), items=said.items)
    places = said.annotators.get_indexer(twice.annotators)
    places[places < 0] = 0
    found = weighted(model, twice, places).probabilities(np.ones(7))
    np.testing.assert_allclose(weighted(model, said).probabilities(weights), found)


def test_sets_are_drawn_from_their_probability(model, said):
    problem, rng = weighted(model, said), np.random.default_rng(0)
    draws = np.array([problem.draw(np.ones(6), rng) for _ in range(400)])
    assert (draws[:, -1] == -1).all()
    own = model._cluster_codes()
    assert (draws[:, 3] == own[3]).all()  # gold
    p = problem.probabilities(np.ones(6))
    of_own = np.where(model.indicator_, p, 1 - p).prod(1)
    np.testing.assert_allclose((draws == own).mean(0)[:-1], of_own[:-1], atol=0.1)


def test_certainty_is_about_sets_of_tags(model, said):
    found = certainty(model, said, n_draws=30, random_state=0)
    assert found.n_people == 6
    assert found.items.loc["unseen", "cluster"] is None
    assert found.items.loc[3, "stays"] == 1
    assert found.chance < found.repeats < 1
    assert found.annotators["agreement"].notna().all()
