"""Ties and names: no figure of anybody depends on which of equal classes, items or annotators comes first."""

from dataclasses import replace

import numpy as np
import pytest

from consilience import Labels
from consilience.analysis import findings
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture, SpectralEM, StagewiseEM
from consilience.consensus.labels.calibration import with_ties
from consilience.errors import InputError
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
}


def tiny_crowd(seed):
    rng = np.random.default_rng(seed)
    n_items, n_annotators, n_classes = rng.integers([3, 2, 2], [13, 6, 4])
    true = rng.integers(n_classes, size=n_items)
    right = rng.random((n_items, n_annotators)) < rng.choice([0.4, 0.8])
    said = np.where(right, true[:, None], rng.integers(n_classes, size=right.shape))
    said[rng.random(said.shape) > rng.choice([0.5, 0.8, 1.0])] = -1
    said[0, 0] = 0
    return Labels.from_matrix(said, missing=-1, classes=range(n_classes))


def figures_of(model):
    """Table of annotators, and probabilities of the items' classes."""
    return model.annotators_.select_dtypes("number").to_numpy(float), model.responsibilities_


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 290), marks=pytest.mark.slow)])
def test_names_change_no_figure_of_anybody(name, seeds):
    """Seven models of 290 crowds: 2030 cases."""
    for seed in seeds:
        labels, rng, model = tiny_crowd(seed), np.random.default_rng(seed), MODELS[name]
        scrambled, place = scramble(labels, rng), rng.permutation(labels.n_classes)
        moved = replace(scrambled.annotations, label=place[scrambled.annotations.label]).in_order()
        try:
            annotators, probability = figures_of(model.fit(labels))
        except InputError:
            with pytest.raises(InputError):
                model.fit(moved)
            continue
        has_names = np.array_equal(model.classes_, labels.classes)
        annotators_now, probability_now = figures_of(model.fit(moved))
        # sweeps away from a saddle multiply rounding
        np.testing.assert_allclose(
            annotators_now, annotators[scrambled.places["annotators"]], atol=1e-5, err_msg=str(seed)
        )
        if has_names:
            np.testing.assert_allclose(
                probability_now[:, place], probability[scrambled.items], atol=1e-5, err_msg=str(seed)
            )


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
