import numpy as np

from consilience.inference.confusion import Cells, confusion_prior

CELLS = Cells.of(np.array([0, 0, 1, 2, 2, 2]))  # groupings of 2, 1 and 3 groups


def test_cells_are_the_blocks_of_the_diagonal():
    blocks = np.kron(np.diag([1, 0, 0]), np.ones((2, 2)))[:2, :2]
    dense = CELLS.matrix(np.ones(len(CELLS.row))).toarray()
    expected = np.zeros((6, 6))
    expected[:2, :2], expected[2, 2], expected[3:, 3:] = blocks, 1, 1
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_array_equal(CELLS.first_group, [0, 2, 3])
    np.testing.assert_array_equal(CELLS.starts, [0, 2, 4, 5, 8, 11])


def test_products_are_the_blocks_of_the_outer_product(monkeypatch):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 6, 4))
    for entries in (1 << 22, 5):
        monkeypatch.setattr("consilience.inference.confusion.PRODUCT_ENTRIES", entries)
        whole = left @ right.T
        np.testing.assert_allclose(CELLS.products(left, right), whole[CELLS.row, CELLS.column])


def test_prior_expects_the_correct_label_with_four_fifths():
    prior = CELLS.matrix(confusion_prior(CELLS, 40.0, 10.0)).toarray()
    np.testing.assert_array_equal(prior[:2, :2], [[40, 10], [10, 40]])
    np.testing.assert_array_equal(prior[3:, 3:], [[80, 10, 10], [10, 80, 10], [10, 10, 80]])
    assert prior[2, 2] == 40  # one label: any positive number will do, 0 would not
