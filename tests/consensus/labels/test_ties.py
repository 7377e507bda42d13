"""Ties and names: no figure of anybody depends on which of equal classes, items or annotators comes first."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.analysis import findings
from consilience.annotations.canonical import NOTHING, Arrangement
from consilience.annotations.names import NO_TAG
from consilience.consensus import (
    DawidSkene,
    MajorityVote,
    OrdinalRatings,
    ProductMixture,
    SpectralEM,
    StagewiseEM,
    TagConsensus,
)
from consilience.consensus.labels import dawid_skene_estimator
from consilience.consensus.labels.calibration import with_ties
from consilience.errors import InputError
from consilience.estimators import labels as estimators_of_labels
from tests.scrambled import scramble

pytestmark = [
    pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
MODELS = {
    "MajorityVote": MajorityVote(),
    "DawidSkene": DawidSkene(),
    "maximum likelihood": DawidSkene(prior=None),
    "one coin": DawidSkene("one-coin"),
    "ProductMixture": ProductMixture(random_state=0),
    "StagewiseEM": StagewiseEM(),
    "SpectralEM": SpectralEM(random_state=0),
    "TagConsensus": TagConsensus(),
}
BY_ORDER = ("ProductMixture", "SpectralEM", "StagewiseEM")
"""Models that need the canonical order: they draw at random, or sweep from a saddle (1 of 290 crowds)."""


def tiny_crowd(seed):
    rng = np.random.default_rng(seed)
    n_items, n_annotators, n_classes = rng.integers([3, 2, 2], [13, 6, 4])
    true = rng.integers(n_classes, size=n_items)
    right = rng.random((n_items, n_annotators)) < rng.choice([0.4, 0.8])
    said = np.where(right, true[:, None], rng.integers(n_classes, size=right.shape))
    said[rng.random(said.shape) > rng.choice([0.5, 0.8, 1.0])] = -1
    said[0, 0] = 0
    return Labels.from_matrix(said, missing=-1, classes=range(n_classes))


def tiny_tags(seed):
    """Tags of the items of a crowd: what annotators say of a class, and each other tag with some probability."""
    labels, rng = tiny_crowd(seed), np.random.default_rng([seed, 1])
    given = np.eye(labels.n_classes, dtype=bool)[labels.label] & (rng.random((labels.n_rows, 1)) < 0.8)
    given |= rng.random(given.shape) < rng.choice([0.1, 0.3])
    given[0, 0] = True
    row, tag = np.nonzero(np.column_stack([given, ~given.any(1)]))
    columns = {"item": labels.item[row], "annotator": labels.annotator[row]}
    names = np.append(np.arange(labels.n_classes).astype(str), NO_TAG)
    frame = pd.DataFrame(columns | {"label": names[tag]})
    return Labels.from_frame(frame, items=range(len(labels)), classes=names.tolist())


def figures_of(model):
    """Table of annotators, and probabilities of the items' classes, or tags."""
    told = model.probabilities_ if isinstance(model, TagConsensus) else model.responsibilities_
    return model.annotators_.select_dtypes("number").to_numpy(float), told


def keep_order(annotations, of_items=None):
    """Put annotations into the order in which they are given, instead of the canonical one."""
    items, annotators = np.arange(len(annotations)), np.arange(annotations.n_annotators)
    return Arrangement(annotations, annotations, annotations.items, items, annotators, NOTHING, NOTHING)


@pytest.fixture
def without_canonical_order(monkeypatch):
    for module in (estimators_of_labels, dawid_skene_estimator):
        monkeypatch.setattr(module, "arrange", keep_order)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seeds", [[0, 1, 2, 11], pytest.param(range(290), marks=pytest.mark.slow)])
def test_names_change_no_figure_of_anybody(name, seeds, request):
    """Eight models of 290 crowds: 2320 cases. Of crowd 11, two annotators are equally good, and err differently."""
    if name not in BY_ORDER:
        request.getfixturevalue("without_canonical_order")
    for seed in seeds:
        labels, rng, model = tiny_crowd(seed), np.random.default_rng(seed), MODELS[name]
        place = rng.permutation(labels.n_classes)
        if name == "TagConsensus":
            labels = tiny_tags(seed)
            place = np.append(place, labels.n_classes - 1)  # no tag stays none
        scrambled = scramble(labels, rng)
        moved = replace(scrambled.annotations, label=place[scrambled.annotations.label]).in_order()
        try:
            annotators, probability = figures_of(model.fit(labels))
        except InputError:
            with pytest.raises(InputError):
                model.fit(moved)
            continue
        has_names = name == "TagConsensus" or np.array_equal(model.classes_, labels.classes)
        annotators_now, probability_now = figures_of(model.fit(moved))
        # sweeps away from a saddle, and slow ones to the end, multiply rounding
        near = {"atol": 1e-4 if name == "TagConsensus" else 1e-5, "err_msg": str(seed)}
        np.testing.assert_allclose(annotators_now, annotators[scrambled.places["annotators"]], **near)
        if has_names:
            told = probability_now[:, place[: probability.shape[1]]]
            np.testing.assert_allclose(told, probability[scrambled.items], **near)


@pytest.mark.usefixtures("without_canonical_order")
def test_a_slow_fit_stops_after_the_same_sweep_in_any_order():
    """Of a concentration of a million, the bound had 9 digits: the sweeps were 181 to 187."""
    tags = tiny_tags(3)
    scrambled = scramble(tags, np.random.default_rng(0)).annotations
    assert len({TagConsensus(tol=1e-9).fit(each).n_iter_ for each in (tags, scrambled)}) == 1


def tiny_ratings(seed):
    rng = np.random.default_rng(seed)
    n_items, n_raters, n_levels = rng.integers([3, 2, 2], [13, 6, 6])
    seen = rng.uniform(-0.5, n_levels - 0.5, (n_items, 1)) + rng.normal(0, rng.choice([0.3, 1.0]), (n_items, n_raters))
    said = np.round(seen + rng.normal(0, 0.5, n_raters)).clip(0, n_levels - 1).astype(int)
    said[rng.random(said.shape) > rng.choice([0.5, 0.8, 1.0])] = -1
    said[0, 0] = 0
    return Labels.from_matrix(said, missing=-1, classes=range(n_levels))


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 2000), marks=pytest.mark.slow)])
@pytest.mark.usefixtures("without_canonical_order")
def test_turned_levels_turn_every_figure(seeds):
    """2000 crowds; items and annotators have other places and names, too."""
    for seed in seeds:
        labels = tiny_ratings(seed)
        scrambled = scramble(labels, np.random.default_rng(seed))
        turned = replace(scrambled.annotations, label=labels.n_classes - 1 - scrambled.annotations.label).in_order()
        if turns(labels, turned, scrambled, "auto") == "equal":  # else it is the same fit
            turns(labels, turned, scrambled, "individual")


def turns(labels, turned, scrambled, annotator_model):
    """Check a fit to turned levels, and return which raters were taken."""
    levels, items = list(range(labels.n_classes)), scrambled.items
    here, there = (OrdinalRatings(levels, annotator_model).fit(each) for each in (labels, turned))
    assert there.annotator_model_ == here.annotator_model_
    raters = here.annotators_.select_dtypes("number").assign(bias=-here.annotators_["bias"])
    for found, expected in (
        (there.annotators_[raters.columns], raters.iloc[scrambled.places["annotators"]]),
        (there.responsibilities_, here.responsibilities_[items][:, ::-1]),
        (there.values_, levels[-1] - here.values_[items]),
        (there.intervals_, levels[-1] - here.intervals_[items][:, ::-1]),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-4)
    return here.annotator_model_


def test_exact_ties_are_undecided_and_told():
    """By symmetry both classes of the last item are equally probable; sums give .5 but for the last digits."""
    said = [["a", "a", "a"], ["a", "a", "b"], ["b", "b", "b"], ["b", "b", "a"], ["a", "b", None]]
    labels = Labels.from_matrix(said, items=["v", "w", "x", "y", "Tom"])
    for model in (DawidSkene(), DawidSkene(prior=None), MajorityVote()):
        model.fit(labels)
        assert model.undecided_.tolist() == [False] * 4 + [True]
        assert model.labels_[-1] == "a"
        assert model.predict(labels).tolist() == model.labels_.tolist()
        found = findings(model, labels)
        assert (found.facts["n_ties"], found.facts["ties"]) == (1, ["Tom"])
        assert "No class leads for 1 item; the first of the leading classes is told: Tom." in str(found)


def test_an_item_that_nobody_labelled_is_no_tie():
    said = [["a", "a", "a"], ["a", "a", "b"], ["b", "b", "b"], ["b", "b", "a"], ["a", "b", None], [None] * 3]
    for model in (DawidSkene(), DawidSkene(prior=None), MajorityVote()):
        assert model.fit(Labels.from_matrix(said)).undecided_.tolist() == [False] * 4 + [True, False]


def test_what_is_tied_stays_tied_when_errors_are_shared():
    posterior = np.array([[0.45, 0.45 + 1e-9, 0.1], [0.1, 0.45, 0.45], [0.2, 0.3, 0.5]])
    mixed = np.array([[0.3, 0.4, 0.3], [0.5, 0.2, 0.3], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(with_ties(mixed, posterior), [[0.35, 0.35, 0.3], [0.2, 0.4, 0.4], [0.2, 0.3, 0.5]])
