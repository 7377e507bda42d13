"""PartitionLabelModel where annotators have weights."""

from dataclasses import replace

import numpy as np
import pytest

from consilience import Groupings
from consilience.semisupervised import PartitionLabelModel
from consilience.semisupervised.partition_label_model import PartitionLabelModelProblem
from consilience.semisupervised.weighted_partition_labels import WeightedPartitionLabels

N_ITEMS, N_PEOPLE = 24, 6
WEIGHTS = np.array([2.0, 1, 1, 2, 1, 1])
TWICE = [0, 1, 2, 3, 4, 5, 0, 3]


def cells(right=0.6):
    rng = np.random.default_rng(1)
    truth = np.arange(N_ITEMS) % 3
    said = np.where(rng.random((N_ITEMS, N_PEOPLE)) < right, truth[:, None], rng.integers(3, size=(N_ITEMS, N_PEOPLE)))
    return said.astype(str), 2 * rng.standard_normal((3, 2))[truth] + rng.standard_normal((N_ITEMS, 2))


def weighted(columns, features, q):
    """The weighted model of some annotators, and a settled estimator for its prior."""
    groupings = Groupings.from_matrix(cells()[0][:, columns], annotators=range(len(columns)))
    estimator = PartitionLabelModel(prior_variance=1.0, copies=None)
    problem = PartitionLabelModelProblem.of(features, groupings)
    return WeightedPartitionLabels.of(problem, estimator.prior_of(problem, 1.0), q, np.ones(len(columns)))


@pytest.mark.parametrize("with_features", [True, False])
def test_weights_of_one_stay_at_the_fit(with_features):
    said, X = cells()
    features = X if with_features else np.empty((N_ITEMS, 0))
    model = PartitionLabelModel(prior_variance=1.0, copies=None, n_init=2, random_state=0)
    model.fit(X if with_features else None, said)
    groupings = Groupings.from_matrix(said)
    problem = PartitionLabelModelProblem.of(features, groupings)
    reliability = model.annotators_["reliability"].to_numpy()
    found = WeightedPartitionLabels.of(problem, model.prior_of(problem, 1.0), model.responsibilities_, reliability)
    np.testing.assert_array_equal(found.posteriors(np.ones(N_PEOPLE)).argmax(1), model.labels_)


def test_a_weight_of_two_is_an_annotator_twice():
    _, X = cells()
    q = np.random.default_rng(0).dirichlet(np.ones(3), N_ITEMS)
    one, two = weighted(range(6), X, q), weighted(TWICE, X, q)
    unit = WEIGHTS[TWICE] / np.array([2, 1, 1, 2, 1, 1, 2, 2])  # all 1
    np.testing.assert_array_equal(unit, np.ones(8))
    # the parameters at the fit depend on who is there; those of the annotators twice are the same from one state
    start = one.state
    groups = np.concatenate([np.flatnonzero(one.problem.annotator_of_group == person) for person in TWICE])
    seen = replace(start.moments, labels=start.moments.labels[groups])
    reliability = start.reliability[TWICE]
    place = two.problem.cells
    confusion = two.prior.confusion.values(reliability)
    two = replace(
        two,
        state=replace(
            start,
            moments=seen,
            assignment=start.assignment[groups],
            reliability=reliability,
            confusion=confusion,
            expected=_expected(one, start, place, groups),
        ),
    )
    np.testing.assert_allclose(one.posteriors(WEIGHTS), two.posteriors(np.ones(8)), rtol=1e-6)


def _expected(one, state, place, groups):
    """E[ln η] of the groupings of annotators who may occur twice, in the order of their cells."""
    of_one = one.problem.cells.matrix(state.expected).toarray()
    return of_one[groups[place.row], groups[place.column]]


def test_posteriors_are_probabilities_and_draws_their_largest():
    _, X = cells()
    q = np.random.default_rng(0).dirichlet(np.ones(3), N_ITEMS)
    model = weighted(range(6), X, q)
    found = model.posteriors(WEIGHTS)
    np.testing.assert_allclose(found.sum(1), 1)
    np.testing.assert_array_equal(model.draw(WEIGHTS, np.random.default_rng(0)), found.argmax(1))
