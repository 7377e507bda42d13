"""How far annotators of pairs can be trusted, against explicit counting."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Pairs
from consilience.inference.pair_reliability import (
    annotator_table,
    independent_share,
    log_odds,
    same_by_clusters,
)


def pairs_of(rows):
    frame = pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"])
    return Pairs.from_frame(frame, items=range(7))


def test_table_and_log_odds_of_annotators():
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    rows = [(0, 1, "a", 1), (0, 2, "a", 0), (0, 3, "a", 0), (1, 3, "a", 0), (3, 4, "b", 0), (0, 6, "b", 1)]
    pairs = pairs_of(rows)
    table = annotator_table(pairs, labels)
    expected = pd.DataFrame(
        {
            "n_pairs": [4, 2],
            "n_together": [2, 1],
            "accuracy": [0.75, 0.0],
            "sensitivity": [0.5, 0.0],
            "specificity": [1.0, 0.0],
        },
        index=pd.Index(["a", "b"], name="annotator"),
    )
    pd.testing.assert_frame_equal(table, expected)
    # a: P(yes | together) = 2/4, P(yes | apart) = 1/4; b is more often wrong than right
    worth = dict(zip(zip(pairs.annotator.tolist(), pairs.same.tolist()), log_odds(pairs, labels)))
    assert worth[0, True] == pytest.approx(np.log(2))
    assert worth[0, False] == pytest.approx(np.log((3 / 4) / (2 / 4)))
    assert (worth[1, True], worth[1, False]) == (0, 0)
    together = np.array([True, False])
    np.testing.assert_allclose(same_by_clusters(together, table, 0), [2 / 4, 1 / 4])
    np.testing.assert_array_equal(same_by_clusters(together, table), [1, 0])


def test_pairs_of_a_grouping_count_for_one_judgement_fewer_than_items():
    table = np.array([[0, 0], [0, 1], [1, None], [1, 1], [None, None]], dtype=object)
    pairs = Groupings.from_matrix(table, annotators=["a", "b"]).to_pairs()
    share = independent_share(pairs)
    np.testing.assert_allclose(share, np.where(pairs.annotator == 0, 3 / 6, 2 / 3))
    tree = pairs_of([(0, 1, "a", 1), (1, 2, "a", 1), (3, 4, "a", 0)])
    np.testing.assert_array_equal(independent_share(tree), [1, 1, 1])
    assert independent_share(tree.restrict(annotators=[])).shape == (0,)


def test_a_repeated_judgement_counts_as_much_as_the_first():
    once = pairs_of([(0, 1, "a", 1), (1, 2, "a", 1), (0, 2, "a", 0), (3, 4, "b", 1)])
    again = pairs_of([(0, 1, "a", 1), (1, 0, "a", 0), (1, 2, "a", 1), (0, 2, "a", 0), (3, 4, "b", 1), (3, 4, "b", 1)])
    np.testing.assert_allclose(independent_share(once), [2 / 3, 2 / 3, 2 / 3, 1])
    np.testing.assert_allclose(independent_share(again), [2 / 3, 2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert annotator_table(again, np.array([0, 0, 0, 1, 1, 1, 1]))["n_pairs"].to_dict() == {"a": 4, "b": 2}
