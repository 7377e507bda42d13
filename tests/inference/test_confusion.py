"""Cells, and the prior by reliability, against explicit sums over groupings, labels and values of the reliability."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, softmax

from consilience.inference.confusion import IMAGINED, RELIABILITIES, ConfusionCells, ConfusionPrior

CELLS = ConfusionCells.of(np.array([0, 0, 1, 2, 2, 2]))  # groupings of 2, 1 and 3 groups
OWNERS = np.array([0, 0, 1, 0, 0, 0])  # of the groups: the first annotator gave two groupings
PRIOR = ConfusionPrior.of(CELLS, OWNERS, 2, 40.0, 10.0)


def test_cells_are_the_blocks_of_the_diagonal():
    blocks = np.kron(np.diag([1, 0, 0]), np.ones((2, 2)))[:2, :2]
    dense = CELLS.matrix(np.ones(len(CELLS.row))).toarray()
    expected = np.zeros((6, 6))
    expected[:2, :2], expected[2, 2], expected[3:, 3:] = blocks, 1, 1
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_array_equal(CELLS.first_group, [0, 2, 3])
    np.testing.assert_array_equal(CELLS.starts, [0, 2, 4, 5, 8, 11])


@pytest.mark.parametrize("groups", [1 << 16, 3])
def test_products_and_softmax_are_those_of_each_grouping(groups, monkeypatch):
    monkeypatch.setattr("consilience.inference.confusion.BLOCK_GROUPS", groups)
    cells = ConfusionCells.of(np.array([0, 0, 1, 2, 2, 2, 3, 3]))  # two groupings of 2 groups: one block, or two
    left, right = np.random.default_rng(0).normal(size=(2, 8, 4))
    np.testing.assert_allclose(cells.products(left, right), (left @ right.T)[cells.row, cells.column])
    parts = np.split(100 * left, cells.first_group[1:])
    np.testing.assert_allclose(cells.softmax(100 * left), np.vstack([softmax(part, axis=0) for part in parts]))


def test_matrices_of_one_pattern_do_not_share_values():
    one, two = CELLS.matrix(np.ones(len(CELLS.row))), CELLS.matrix(np.full(len(CELLS.row), 2.0))
    assert (one.sum(), two.sum()) == (len(CELLS.row), 2 * len(CELLS.row))


def matrices(reliability):
    values = CELLS.matrix(PRIOR.values(np.asarray(reliability, dtype=float))).toarray()
    return values[:2, :2], values[2:3, 2:3], values[3:, 3:]


def test_prior_expects_the_correct_label_of_reliable_annotators_with_four_fifths():
    two, one, three = matrices([1, 1])
    np.testing.assert_allclose(two, [[40, 10], [10, 40]])
    np.testing.assert_allclose(three, [[80, 10, 10], [10, 80, 10], [10, 10, 80]])
    assert one == 40  # one label: any positive number will do, 0 would not


def test_prior_expects_others_to_guess():
    two, one, three = matrices([0, 0])
    np.testing.assert_allclose(two, 25)
    np.testing.assert_allclose(three, 100 / 3)
    assert one == 40
    two, _, _ = matrices([0.5, 0])
    np.testing.assert_allclose(two, [[32.5, 17.5], [17.5, 32.5]])


@pytest.mark.parametrize("reliability", [0.0, 0.5, 1.0])
def test_log_density_is_that_of_imagined_labels(reliability):
    def of_labels(r):
        share = [(1 - r) / 2 + r * 0.8, (1 - r) / 3 + r * 0.8]
        return [0.8 * np.log(a) + 0.2 * np.log(1 - a) for a in share]

    less = np.subtract(of_labels(reliability), of_labels(1.0))
    found = PRIOR.log_densities(np.full(2, reliability))
    np.testing.assert_allclose(found, [IMAGINED * less.mean(), 0], atol=1e-12)  # one group tells nothing


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 8))])
def test_most_probable_reliability_is_the_best_of_all_where_most_are_believed(seed):
    sizes, owner = [2, 3, 2, 1, 4, 3], [0, 1, 2, 3, 0, 4]  # of five annotators, two may be doubted
    cells = ConfusionCells.of(np.repeat(np.arange(6), sizes))
    prior = ConfusionPrior.of(cells, np.repeat(owner, sizes), 5, 40.0, 10.0)
    rng = np.random.default_rng(seed)
    right = rng.choice([0.0, 0.5, 0.9], size=5)
    blocks = [rng.poisson(20 * (np.eye(n) * right[who] + (1 - right[who]) / n)) for n, who in zip(sizes, owner)]
    counts = np.concatenate([block.ravel() for block in blocks]).astype(float)

    def log_joint(r, who):
        """Dirichlet-multinomials of the rows of an annotator, and the density of r."""
        everyone = np.full(5, r)
        psi = cells.matrix(prior.values(everyone)).toarray()
        total, ends = prior.log_densities(everyone)[who], np.cumsum(sizes)
        for end, n, whose, block in zip(ends, sizes, owner, blocks):
            if whose == who:
                own = psi[end - n : end, end - n : end]
                total += (gammaln(own.sum(1)) - gammaln((own + block).sum(1))).sum()
                total += (gammaln(own + block) - gammaln(own)).sum()
        return total

    scores = np.array([[log_joint(r, who) for r in RELIABILITIES] for who in range(5)])
    best = max(
        itertools.product(range(len(RELIABILITIES)), repeat=5),
        key=lambda places: (
            sum(RELIABILITIES[place] < 1 for place in places) <= 2,
            round(sum(scores[who, place] for who, place in enumerate(places)), 9),
            sum(places),
        ),
    )
    np.testing.assert_allclose(prior.most_probable(counts), RELIABILITIES[list(best)])


def test_without_labels_everybody_is_reliable():
    np.testing.assert_array_equal(PRIOR.most_probable(np.zeros(len(CELLS.row))), 1)


def test_an_accuracy_below_chance_is_not_raised():
    prior = ConfusionPrior.of(CELLS, OWNERS, 2, 1.0, 9.0)
    assert np.all(prior.accuracy(np.zeros(2)) <= prior.accuracy(np.ones(2)))
    assert np.all(np.isfinite(prior.values(np.zeros(2))))
