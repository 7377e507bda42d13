"""Models of labels where annotators have weights: weights of 1 are the model, weights of 2 are annotators twice."""

from dataclasses import replace

import numpy as np
import pytest

from consilience import Labels
from consilience.consensus import DawidSkene, ProductMixture
from consilience.consensus.labels.annotator_models import Hierarchical
from consilience.consensus.labels.dawid_skene import imagined_sizes
from consilience.consensus.labels.weighted_labels import (
    Encoded,
    Votes,
    WeightedDawidSkene,
    WeightedMixture,
)

N_ITEMS, N_PEOPLE = 24, 6
WEIGHTS = np.array([2.0, 1, 1, 2, 1, 1])
TWICE = [0, 1, 2, 3, 4, 5, 0, 3]


def labels(columns=range(N_PEOPLE), right=0.7):
    rng = np.random.default_rng(0)
    truth = np.arange(N_ITEMS) % 3
    cells = np.where(rng.random((N_ITEMS, N_PEOPLE)) < right, truth[:, None], rng.integers(3, size=(N_ITEMS, N_PEOPLE)))
    cells = np.array(["a", "b", "c"], dtype=object)[cells]
    cells[rng.random(cells.shape) < 0.2] = None
    return Labels.from_matrix(cells[:, list(columns)], annotators=range(len(columns)))


def nothing_known(given):
    return np.full(len(given), -1)


def encoded(given, n_components=3):
    return Encoded(given, n_components, np.ones(given.n_rows), nothing_known(given), np.diff(given.indptr) > 0)


def dawid_skene(given, q, **settings):
    sizes = imagined_sizes(given) if settings.get("learned", True) else 0.0
    return WeightedDawidSkene.of(encoded(given), q, sizes, **{"one_coin": False, "learned": True, **settings})


def test_dawid_skene_under_weights_of_one_stays_at_the_fit():
    given = labels()
    model = DawidSkene(copies=None, subtypes=1, calibrate=False).fit(given)
    found = dawid_skene(given, model.responsibilities_).responsibilities(np.ones(N_PEOPLE))
    # a few sweeps from the votes, where the fit converged
    np.testing.assert_allclose(found, model.responsibilities_, atol=0.03)


def test_a_weight_of_two_is_an_annotator_twice_for_dawid_skene():
    once, twice = labels(), labels(TWICE)
    q = DawidSkene(copies=None, subtypes=1, calibrate=False).fit(once).responsibilities_
    one = dawid_skene(once, q)
    two = dawid_skene(twice, q)
    model = one.state.model
    # the crowd's prior is that of the fit; annotators who come twice have their matrices twice
    prior = replace(two.state.model, crowd=model.crowd, concentration=model.concentration, errors=model.errors)
    sizes = replace(two.evidence, sizes=one.evidence.sizes)
    two = replace(two, state=replace(two.state, model=prior), evidence=sizes)
    np.testing.assert_allclose(one.responsibilities(WEIGHTS), two.responsibilities(np.ones(8)), rtol=1e-9)


def test_the_rows_are_those_of_the_model_under_its_prior():
    given = labels()
    model = dawid_skene(given, np.full((N_ITEMS, 3), 1 / 3)).state.model
    assert isinstance(model, Hierarchical)
    counts = model.counts + np.random.default_rng(0).random(model.counts.shape)
    updated, found = model.update(counts), model.with_annotators(counts)
    # the update also learns the crowd's prior: less that, the accuracies are the same
    np.testing.assert_allclose(found.accuracy - model.crowd, updated.accuracy - updated.crowd, rtol=1e-12)
    np.testing.assert_array_equal(found.crowd, model.crowd)
    np.testing.assert_allclose(found.log_table, replace(model, accuracy=found.accuracy).with_counts(counts).log_table)


@pytest.mark.parametrize("settings", [{"one_coin": True}, {"learned": False}])
def test_other_models_of_annotators_can_be_weighed(settings):
    given = labels(right=0.9)
    model = DawidSkene(
        confusion="one-coin" if settings.get("one_coin") else "full",
        prior="learned" if settings.get("learned", True) else None,
        copies=None,
        calibrate=False,
    ).fit(given)
    found = dawid_skene(given, model.responsibilities_, **settings).responsibilities(np.ones(N_PEOPLE))
    np.testing.assert_array_equal(found.argmax(1), model.responsibilities_.argmax(1))


@pytest.mark.parametrize("from_votes", [True, False])
def test_a_weight_of_two_is_an_annotator_twice_for_mixtures(from_votes):
    once, twice = labels(), labels(TWICE)
    q = ProductMixture(copies=None).fit(once).responsibilities_
    one, two = (WeightedMixture(encoded(given), q, 0.01, from_votes) for given in (once, twice))
    np.testing.assert_allclose(one.responsibilities(WEIGHTS), two.responsibilities(np.ones(8)), rtol=1e-9)


def test_a_mixture_under_weights_of_one_stays_at_the_fit():
    given = labels()
    q = ProductMixture(copies=None, tol=1e-13).fit(given).responsibilities_
    found = WeightedMixture(encoded(given), q, 0.01, from_votes=False).responsibilities(np.ones(N_PEOPLE))
    np.testing.assert_allclose(found, q, atol=1e-4)  # the fit stops at a relative gain of 1e-13


def test_votes_of_two_are_two_votes():
    draws = [
        Votes(given, np.ones(given.n_rows), nothing_known(given)).draw(weights, np.random.default_rng(0))
        for given, weights in ((labels(), WEIGHTS), (labels(TWICE), np.ones(8)))
    ]
    # the imagined votes follow the shares of the labels, which differ a little
    assert (draws[0] == draws[1]).mean() > 0.9


def test_the_imagined_vote_can_outvote_one_but_not_many():
    few, many = labels([0]), labels([0] * 30)
    rng = np.random.default_rng(0)
    flips = []
    for given in (few, many):
        votes = Votes(given, np.ones(given.n_rows), nothing_known(given))
        labelled = np.diff(given.indptr) > 0
        draws = np.array([votes.draw(np.ones(given.n_annotators), rng) for _ in range(200)])
        said = np.full(N_ITEMS, -1)
        said[given.item] = given.label
        assert (draws[:, ~labelled] == -1).all()
        flips.append((draws != said)[:, labelled].mean())
    assert 0.02 < flips[0] < 0.5
    assert flips[1] == 0


def test_items_without_labels_have_no_class():
    given = labels([0, 1])
    without = np.diff(given.indptr) == 0
    assert without.any()
    q = np.full((N_ITEMS, 3), 1 / 3)
    drawn = WeightedMixture(encoded(given), q, 0.01, from_votes=True).draw(np.ones(2), np.random.default_rng(0))
    np.testing.assert_array_equal(drawn == -1, without)
