"""Agreement against scikit-learn pair by pair, and orders against brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import pair_confusion_matrix

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.inspection import annotator_agreement, order_by_agreement
from consilience.metrics import agreement, mean_agreement

TABLE_OF_PAIRS = agreement._table_of_pairs


def partitions(seed, n_items=40, n_annotators=7, missing=0.4):
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(size, size=n_items) for size in rng.integers(1, 6, size=n_annotators)])
    return np.where(rng.random(cells.shape) < missing, -1, cells)


@pytest.mark.parametrize(("chunk", "pairs"), [(1, 0), (100, 0), (1, 1 << 24), (100, 1 << 24)])
@pytest.mark.parametrize(("seed", "missing"), [(0, 0.4), (1, 0.4), (2, 0.4), (3, 0.0), (4, 0.0)])
def test_equals_scikit_learn_on_the_common_items(monkeypatch, seed, missing, chunk, pairs):
    """By sparse counts, and from the third case on by a table of pairs of items."""
    tables = []
    monkeypatch.setattr(agreement, "_table_of_pairs", lambda *given: tables.append(1) or TABLE_OF_PAIRS(*given))
    for entries in ("CHUNK_ENTRIES", "TABLE_ENTRIES"):
        monkeypatch.setattr(agreement, entries, chunk)
    monkeypatch.setattr(agreement, "TABLE_OF_PAIRS", pairs)
    cells = partitions(seed, missing=missing)
    found = annotator_agreement(Groupings.from_matrix(cells, missing=-1)).to_numpy()
    assert bool(tables) == bool(pairs)
    for a, b in itertools.combinations(range(cells.shape[1]), 2):
        both = (cells[:, [a, b]] >= 0).all(1)
        expected = adjusted_rand_score(cells[both, a], cells[both, b])
        np.testing.assert_allclose([found[a, b], found[b, a]], expected, atol=1e-12)
    np.testing.assert_array_equal(np.diag(found), 1)


def test_fewer_than_two_common_items_is_unknown():
    cells = [["p", "x", None], ["q", None, "u"], [None, "y", "v"], [None, "x", None]]
    found = annotator_agreement(Groupings.from_matrix(cells)).to_numpy()
    assert np.isnan(found[~np.eye(3, dtype=bool)]).all()  # every two annotators share one item
    np.testing.assert_array_equal(np.diag(found), 1)


def test_annotator_of_one_item_is_unknown_to_itself():
    found = annotator_agreement(Groupings.from_matrix([["p", "x"], ["q", None], ["q", None]]))
    assert np.isnan(found.iloc[1, 1])


def test_several_groupings_pool_the_counts_of_pairs():
    rng = np.random.default_rng(3)
    sheets = [("Ann", 0, range(12)), ("Ann", 1, range(12, 30)), ("Bo", 0, range(5, 25)), ("Bo", 1, range(20, 30))]
    groups = {(who, sheet): dict(zip(items, rng.integers(2 + sheet, size=len(items)))) for who, sheet, items in sheets}
    frame = pd.DataFrame(
        [(item, who, sheet, group) for (who, sheet), told in groups.items() for item, group in told.items()],
        columns=["item", "annotator", "grouping", "group"],
    )
    excess = possible = 0.0
    for (_, mine), (_, theirs) in itertools.product(
        [sheet for sheet in groups.items() if sheet[0][0] == "Ann"],
        [sheet for sheet in groups.items() if sheet[0][0] == "Bo"],
    ):
        common = sorted(set(mine) & set(theirs))
        if len(common) > 1:
            (_, only_b), (only_a, together) = pair_confusion_matrix(
                [mine[item] for item in common], [theirs[item] for item in common]
            ).astype(float)  # counts every pair twice, which cancels
            total = len(common) * (len(common) - 1)
            expected = (together + only_a) * (together + only_b) / total
            excess += together - expected
            possible += (together + only_a + together + only_b) / 2 - expected
    found = annotator_agreement(Groupings.from_frame(frame))
    np.testing.assert_allclose(found.loc["Ann", "Bo"], excess / possible, rtol=1e-12)


def test_names_and_labels():
    frame = pd.DataFrame({"item": [1, 2, 1, 2], "annotator": ["b", "b", "a", "a"], "label": ["x", "y", "x", "x"]})
    found = annotator_agreement(Labels.from_frame(frame))
    assert found.index.tolist() == found.columns.tolist() == ["b", "a"]
    assert found.loc["a", "b"] == 0  # all together and all apart: as by chance


def test_pairs_are_refused():
    pairs = Pairs.from_frame(pd.DataFrame({"item_a": [1], "item_b": [2], "annotator": ["a"], "same": [True]}))
    with pytest.raises(InputError, match="annotator_agreement reads partition labels"):
        annotator_agreement(pairs)


def test_order_maximises_the_agreement_of_neighbours_that_the_tree_allows():
    # two pairs of like annotators; the tree joins each pair, then both: 8 orders keep the pairs together
    matrix = np.array([[1, 0.1, 0.9, 0.2], [0.1, 1, 0.3, 0.8], [0.9, 0.3, 1, 0.6], [0.2, 0.8, 0.6, 1]])
    orders = [[*a, *b] for x, y in [((0, 2), (1, 3)), ((1, 3), (0, 2))] for a in (x, x[::-1]) for b in (y, y[::-1])]

    def neighbours(order):
        return sum(matrix[i, j] for i, j in itertools.pairwise(order))

    assert neighbours(order_by_agreement(matrix)) == max(map(neighbours, orders)) == pytest.approx(0.9 + 0.6 + 0.8)


def test_order_recovers_blocks():
    block = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], 5))
    matrix = np.where(block[:, None] == block, 0.8, 0.1)
    ordered = block[order_by_agreement(matrix)]
    assert (np.diff(ordered) != 0).sum() == 2


def test_order_handles_unknown_agreement():
    matrix = np.full((5, 5), np.nan)
    assert sorted(order_by_agreement(matrix)) == [0, 1, 2, 3, 4]
    matrix[0, 1] = matrix[1, 0] = 0.9
    matrix[2, 3] = matrix[3, 2] = 0.1
    order = order_by_agreement(pd.DataFrame(matrix)).tolist()
    assert abs(order.index(0) - order.index(1)) == 1


def test_order_of_very_many_is_that_of_the_tree(monkeypatch):
    block = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], 5))
    monkeypatch.setattr(agreement, "MOST_OPTIMAL", 14)
    ordered = block[order_by_agreement(np.where(block[:, None] == block, 0.8, 0.1))]
    assert (np.diff(ordered) != 0).sum() == 2


@pytest.mark.parametrize("n", [0, 1, 2])
def test_order_of_few(n):
    assert order_by_agreement(np.eye(n)).tolist() == list(range(n))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [(np.ones((2, 3)), r"square matrix.*\(2, 3\)"), ([[1, 0.2], [0.3, 1]], "row 0, column 1 is 0.2")],
)
def test_order_refuses_other_matrices(matrix, message):
    with pytest.raises(InputError, match=message):
        order_by_agreement(matrix)


def test_mean_agreement_pools_pairs_of_annotators():
    matrix = [["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]]
    pairs = annotator_agreement(matrix).to_numpy()[np.triu_indices(3, 1)]
    assert mean_agreement(matrix) == pytest.approx(pairs.mean())  # all have the same items and numbers of pairs
    assert mean_agreement([["p", "x"], ["p", "x"], ["q", "y"]]) == 1
    assert mean_agreement([["p", "x"], ["p", "x"], ["p", "x"]]) == 1  # both put all together, as in scikit-learn


def test_mean_agreement_is_unknown_without_common_pairs_and_ignores_repetitions_by_one_annotator():
    assert np.isnan(mean_agreement([["p", None], ["p", None], ["q", "y"]]))
    twice = Groupings.from_lists([[["a", "b"], ["c", "d"]]] * 2, annotators=["Ann", "Ann"])
    assert np.isnan(mean_agreement(twice))
