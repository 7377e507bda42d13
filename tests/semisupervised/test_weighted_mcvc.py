"""`MCVC` and `MECC` under weights of annotators."""

import numpy as np

from consilience import Groupings
from consilience.inference.pair_evidence import PairEvidence
from consilience.semisupervised.mcvc import MCVCPrior, MCVCProblem
from consilience.semisupervised.weighted_mcvc import WeightedMCVC

COLOUR, SHAPE = np.arange(16) % 2, np.arange(16) // 8


def weighted(columns, views):
    """A fitted model of two views, colour and shape, that these people hold."""
    given = Groupings.from_matrix(np.column_stack(columns).astype(str))
    problem = MCVCProblem.of(np.empty((16, 0)), PairEvidence.of(given), MCVCPrior(), 2)
    eta = np.stack([np.eye(2)[COLOUR], np.eye(2)[SHAPE]], axis=2)
    return WeightedMCVC.of(problem, eta, np.eye(2)[views])


def is_same(found, view):
    return np.array_equal(found[:, None] == found, view[:, None] == view)


def test_the_clusters_are_those_of_the_view_that_the_weights_prefer():
    model, rng = weighted([COLOUR] * 3 + [SHAPE] * 2, [0, 0, 0, 1, 1]), np.random.default_rng(0)
    assert is_same(model.draw(np.ones(5), rng), COLOUR)
    assert is_same(model.draw(np.array([0.2, 0.2, 0.2, 2.2, 2.2]), rng), SHAPE)


def test_people_of_little_weight_do_not_move_an_item():
    odd = COLOUR.copy()
    odd[0] = 1
    model, rng = weighted([COLOUR, COLOUR, odd, SHAPE], [0, 0, 0, 1]), np.random.default_rng(0)
    assert is_same(model.draw(np.array([1.9, 1.9, 0.1, 0.1]), rng), COLOUR)
    assert is_same(model.draw(np.array([0.01, 0.01, 3.9, 0.08]), rng), odd)
