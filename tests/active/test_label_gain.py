"""The expected gain of a label, compared with sums over every class and every sequence of labels."""

import itertools

import numpy as np
import pytest

from consilience import Labels
from consilience.active.label_gain import CLASSES, LITTLE, VOTES, add_votes, expected_gain


def error_after(p, annotators):
    """Sum over all labels by these annotators, in order: the posterior by Bayes' rule, and what it gets wrong."""
    error = 0.0
    for labels in itertools.product(range(len(p)), repeat=len(annotators)):
        joint = np.array([p[k] * np.prod([a[k, y] for a, y in zip(annotators, labels)]) for k in range(len(p))])
        error += joint.sum() * (1 - (joint / joint.sum()).max())
    return error


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gain_is_that_of_all_sequences_of_labels(n_classes, waits):
    rng = np.random.default_rng(n_classes)
    posterior = rng.dirichlet(np.ones(n_classes), 8)
    own, crowd = (
        np.array([rng.dirichlet(np.ones(n_classes) + 3 * np.eye(n_classes)[k]) for k in range(n_classes)])
        for _ in range(2)
    )
    found = expected_gain(posterior, own, crowd, np.full(8, waits))
    before = [crowd] * waits
    for p, gain in zip(posterior, found):
        now = error_after(p, before)
        gains = [(now - error_after(p, [*before, own, *[crowd] * m])) / (m + 1) for m in range(3)]
        assert gain == pytest.approx(max(*gains, LITTLE * (1 - p.max())), abs=1e-12)


def test_more_classes_than_are_told_apart_change_little():
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet(np.full(CLASSES + 1, 0.4), 20)
    crowd = np.full((CLASSES + 1, CLASSES + 1), 0.05) + 0.75 * np.eye(CLASSES + 1)
    found = expected_gain(posterior, crowd, crowd)
    for p, gain in zip(posterior, found):
        exact = max((1 - p.max() - error_after(p, [crowd] * m)) / m for m in (1, 2, 3))
        assert abs(gain - exact) <= np.sort(p)[0] + 1e-12  # no more than the class that is left out can be


def test_who_labels_at_random_gains_least_and_who_errs_less_more():
    posterior = np.array([[0.5, 0.5], [0.7, 0.3], [0.9, 0.1]])
    crowd = np.array([[0.7, 0.3], [0.3, 0.7]])
    random, good = np.full((2, 2), 0.5), np.array([[0.95, 0.05], [0.05, 0.95]])
    by = [expected_gain(posterior, own, crowd) for own in (random, crowd, good)]
    assert (by[0] < by[1]).all()
    assert (by[1] < by[2]).all()


def test_many_items_gain_as_each_alone():
    posterior = np.random.default_rng(1).dirichlet([1, 1], 5000)  # more than a chunk
    crowd = np.array([[0.8, 0.2], [0.3, 0.7]])
    places = [0, 4095, 4096, 4999]
    assert np.array_equal(
        expected_gain(posterior, crowd, crowd)[places], expected_gain(posterior[places], crowd, crowd)
    )


def test_votes_are_added():
    labels = Labels.from_matrix([["a", "a", "b"], ["b", None, None], [None, None, None]], classes=["a", "b"])
    model = np.array([[1.0, 0.0], [0.5, 0.5], [0.3, 0.7]])  # mean .6, .4
    votes = np.array([[2.6 / 4, 1.4 / 4], [0.6 / 2, 1.4 / 2], [0.6, 0.4]])
    assert add_votes(model, labels) == pytest.approx((1 - VOTES) * model + VOTES * votes)
