"""TagConsensus: brute force, bound, recovery, special cases; what is told of items, tags and annotators."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.annotations.names import NO_TAG
from consilience.annotations.tags import TagSets
from consilience.consensus import DawidSkene, TagConsensus
from consilience.consensus.labels import tag_consensus as core
from consilience.consensus.labels.tag_calibration import rates_of_good
from consilience.errors import AnnotationWarning, InputError
from consilience.simulation import simulate_tags


def crowd(seed=0, n_items=60, n_tags=4, **options):
    rng = np.random.default_rng(seed)
    truth = rng.random((n_items, n_tags)) < 0.35
    options = {"n_annotators": 6, "annotators_per_item": 4} | options
    return truth, simulate_tags(truth, **options, random_state=rng)


def evidence_of(labels, known=None):
    sets = TagSets.of(labels)
    return core.TagEvidence(sets.seen, sets.item, sets.annotator, sets.tag, len(sets.tags), known)


def answers_of(labels):
    """Answers as a table (items, annotators, tags) of 1 and 0, NaN where the annotator did not see the item."""
    sets = TagSets.of(labels)
    found = np.where(sets.seen.toarray()[:, :, None] > 0, 0.0, np.nan) * np.ones(len(sets.tags))
    found[sets.item, sets.annotator, sets.tag] = 1
    return found


@pytest.mark.parametrize("known", [None, np.array([[1, 0], [-1, -1], [-1, -1]])])
def test_posterior_is_that_of_the_joint_distribution(known):
    """Sum over all 2^6 truths of three items and two tags, at rates and prevalences that are given."""
    _, labels = crowd(seed=3, n_items=3, n_tags=2, n_annotators=3, annotators_per_item=2)
    evidence, said = evidence_of(labels, known), answers_of(labels)
    rng = np.random.default_rng(0)
    rates, shares = rng.uniform(0.55, 0.95, (2, 3, 2)), rng.uniform(0.2, 0.8, 2)  # sensitivity and specificity
    log_rates = np.log([[rates[1], 1 - rates[1]], [1 - rates[0], rates[0]]])
    log_shares = np.log(np.column_stack([shares, 1 - shares]))
    total, present = 0.0, np.zeros((3, 2))
    for cells in product((0, 1), repeat=6):
        z = np.reshape(cells, (3, 2))
        if known is not None and ((known >= 0) & (z != known)).any():
            continue
        yes = np.where(z[:, None] == 1, rates[0], 1 - rates[1])
        each = np.where(np.isnan(said), 1.0, np.where(said == 1, yes, 1 - yes))
        probability = each.prod() * np.where(z == 1, shares, 1 - shares).prod()
        total += probability
        present += probability * z
    log_absent, log_present = core.log_joint_of(evidence, log_rates, log_shares)
    found = core.with_known(1 / (1 + np.exp(log_absent - log_present)), known)
    np.testing.assert_allclose(found, present / total, atol=1e-12)
    log_likelihood = np.logaddexp(log_absent, log_present)
    if known is not None:
        log_likelihood[0] = log_present[0, 0], log_absent[0, 1]
    assert log_likelihood.sum() == pytest.approx(np.log(total))


def test_counts_are_sums_over_the_answers():
    _, labels = crowd(n_items=10)
    evidence, said = evidence_of(labels), answers_of(labels)
    q = np.random.default_rng(0).random((10, 4))
    present, absent = core.counts_of(evidence, q)
    for table, share, place in ((present, q, 1), (absent, 1 - q, 0)):
        own = slice(4 * place, 4 * place + 4)
        np.testing.assert_allclose(table[:, 1, own], np.einsum("njt,nt->jt", said == 1, share), atol=1e-12)
        np.testing.assert_allclose(table[:, 0, own], np.einsum("njt,nt->jt", said == 0, share), atol=1e-12)
        assert table.sum() == pytest.approx(table[:, :, own].sum())


@pytest.mark.parametrize("likeness", [2.0, 200.0])
@pytest.mark.parametrize("seed", range(2))
def test_no_step_lowers_the_bound(seed, likeness):
    _, labels = crowd(seed, likeness=likeness)
    evidence = evidence_of(labels)
    state, bounds = core.init(evidence), []
    for _ in range(25):
        state = core.step(state, evidence)
        bounds.append(core.lower_bound(state))
    assert np.diff(bounds).min() >= -1e-6 * np.abs(bounds).max()  # expected counts below 1, see `annotator_models`


def test_recovers_rates_and_tags_from_its_own_simulator():
    sensitivity, specificity = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.98, 0.9, 0.95, 0.85])
    truth, labels = crowd(
        n_items=800, n_annotators=4, annotators_per_item=None, sensitivity=sensitivity, specificity=specificity
    )
    model = TagConsensus().fit(labels)
    np.testing.assert_allclose(model.annotators_["sensitivity"], sensitivity, atol=0.04)
    np.testing.assert_allclose(model.annotators_["specificity"], specificity, atol=0.04)
    assert (model.indicator_ == truth).mean() > 0.96
    assert not model.annotators_["weak"].any()
    np.testing.assert_allclose(model.prevalence_, truth.mean(0), atol=0.05)


def test_likeness_is_learned():
    """Annotators with one rate for all tags have a larger concentration than those with a skill for each."""
    (_, alike), (_, different) = (crowd(n_items=300, n_tags=6, likeness=likeness) for likeness in (500.0, 2.0))
    alike, different = (TagConsensus().fit(labels).likeness_ for labels in (alike, different))
    assert (alike > 20).all()
    assert (different < 6).all()


def test_two_tags_that_exclude_each_other_are_two_classes():
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.5
    labels = simulate_tags(
        np.column_stack([truth, ~truth]), n_annotators=5, sensitivity=0.85, specificity=1.0, random_state=0
    )
    single = labels._rows(np.flatnonzero(labels.classes[labels.label] != NO_TAG))
    tags, classes = TagConsensus(calibrate=False).fit(labels), DawidSkene(calibrate=False).fit(single)
    assert (tags.indicator_[:, 0] == (classes.labels_ == "tag 1")).mean() > 0.97


def test_calibration_moves_probabilities_but_no_tags():
    _, labels = crowd()
    told, posterior = TagConsensus().fit(labels), TagConsensus(calibrate=False).fit(labels)
    np.testing.assert_array_equal(told.indicator_, posterior.indicator_)
    far = np.abs(posterior.probabilities_ - 0.5) > 0.45
    assert (np.abs(told.probabilities_ - 0.5)[far] < np.abs(posterior.probabilities_ - 0.5)[far]).all()


def test_an_item_without_tags_was_seen():
    """Of two annotators who saw it, none gave the item a tag: it has none; the item that nobody saw may have any."""
    frame = pd.DataFrame(
        {"item": [*"aabbccdd", "e", "e"], "annotator": ["Ann", "Bo"] * 5, "label": [*["red"] * 8, NO_TAG, NO_TAG]}
    )
    labels = Labels.from_frame(frame, items=[*"abcdef"])
    with pytest.warns(AnnotationWarning, match="1 item has no annotations and no class"):
        model = TagConsensus().fit(labels)
    assert model.labels_.tolist() == ["red"] * 4 + [NO_TAG, None]
    assert model.probabilities_[4, 0] < 0.3 < model.probabilities_[5, 0]
    assert model.tags_.tolist() == ["red"]
    assert model.annotators_["n_items"].tolist() == [5, 5]


def test_gold_tags_stay_and_inform():
    truth, labels = crowd(n_items=100, sensitivity=[0.6] * 4 + [0.95, 0.95], specificity=0.9)
    names = labels.classes[:4]
    gold = {item: names[truth[item]].tolist() for item in range(60)}
    model, without = TagConsensus().fit(labels, gold=gold), TagConsensus().fit(labels)
    np.testing.assert_array_equal(model.probabilities_[:60], truth[:60])
    assert (model.indicator_ == truth).mean() > (without.indicator_ == truth).mean()
    series = pd.Series({0: "tag 1", 1: NO_TAG}, dtype=object)
    np.testing.assert_array_equal(TagConsensus().fit(labels, gold=series).indicator_[:2], [[1, 0, 0, 0], [0] * 4])


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ({0: "tag 9"}, r"The gold item 0 has the tag 'tag 9', which nobody gave\."),
        ({"x": "tag 1"}, r"The gold item 'x' is not among the items\."),
        ({0: None}, r"The gold item 0 has no tag; leave it out, or give '\(no tag\)' if it has none\."),
        (["tag 1"], r"gold must be a Series or a dict of tags by item\. Got list"),
    ],
)
def test_gold_that_does_not_match_is_refused(gold, told):
    with pytest.raises(InputError, match=told):
        TagConsensus().fit(crowd()[1], gold=gold)


def test_predictions_of_the_fitted_items_are_those_of_the_fit():
    _, labels = crowd()
    model = TagConsensus().fit(labels)
    np.testing.assert_allclose(model.predict_tags(labels), model.probabilities_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-12)


def test_newcomers_are_like_the_crowd():
    _, labels = crowd()
    model = TagConsensus().fit(labels)
    new = pd.DataFrame({"item": ["x", "y"], "annotator": ["new", "new"], "label": ["tag 1", None]})
    with pytest.warns(AnnotationWarning, match="1 annotator was not fitted"):
        found = model.predict_tags(new)
    assert found[0, 0] > model.prevalence_["tag 1"] > found[1, 0]


def test_the_same_tags():
    """Two items have the same tags if they agree in every one of them."""
    _, labels = crowd(n_tags=2)
    model = TagConsensus().fit(labels)
    (a, b), (c, d) = model.probabilities_[:2]
    assert model.predict_same(0, 1) == pytest.approx((a * c + (1 - a) * (1 - c)) * (b * d + (1 - b) * (1 - d)))


def test_sets_of_tags_are_named():
    _, labels = crowd()
    model = TagConsensus().fit(labels)
    for name, row in zip(model.labels_, model.indicator_, strict=True):
        assert name == (", ".join(model.tags_[row == 1]) or NO_TAG)
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    assert model.n_clusters_ == len(set(model.labels_))


def test_somebody_who_gives_tags_at_random_is_weak():
    _, labels = crowd(n_items=200, sensitivity=[0.9] * 5 + [0.3], specificity=[0.95] * 5 + [0.7])
    assert TagConsensus().fit(labels).annotators_["weak"].tolist() == [False] * 5 + [True]


def test_no_tags_at_all_are_refused():
    with pytest.raises(InputError, match=r"TagConsensus needs tags, and no annotator gave any\."):
        TagConsensus().fit(pd.DataFrame({"item": [1, 2], "annotator": "Ann", "tag": [None, None]}))


def test_equally_accurate_annotators_are_good_together():
    """The first of them alone was, so that what is shared followed the order of annotators."""
    sensitivity, specificity = np.array([[[0.9], [0.7], [0.5]], [[0.7], [0.9], [0.5]]])
    found = rates_of_good(sensitivity, specificity, np.array([0.5]), np.array([10, 10, 10]))
    np.testing.assert_allclose(found, [[0.8], [0.8]])
