"""Annotators and notes of a fusion, for a case small enough to count by hand."""

import numpy as np
import pandas as pd

from consilience import Groupings
from consilience.consensus.groupings import fusion_result
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.inference.clusters import count_clusters
from consilience.inference.memberships import Memberships

SORTS = Groupings.from_lists(
    [[["a", "b"], ["c"]], [["a"], ["b", "c"]], [["a", "b"], ["c", "d"]]],
    annotators=["Ann", "Bo", "Bo"],
    items=list("abcd"),
)
MEMBERSHIPS = Memberships.of(SORTS)
CLUSTER = np.array([0, 0, 1, 1])
COUNTS = count_clusters(MEMBERSHIPS, CLUSTER)


def state(concentration):
    return mixture.GroupingMixtureState(CLUSTER, 2, np.array(concentration))


def test_weights_are_the_mixtures_correlations_or_sums_over_groupings():
    """1 / (1 + concentration); otherwise the sum of the weights of the annotator's groupings."""
    np.testing.assert_allclose(fusion_result.weights(MEMBERSHIPS, state([0.25, 1.0]), None), [0.8, 0.5])
    given = np.array([0.5, 0.2, 0.3])
    np.testing.assert_allclose(fusion_result.weights(MEMBERSHIPS, state([3.0, 0.0]), given), [0.25, 1.0])
    np.testing.assert_allclose(fusion_result.weights(MEMBERSHIPS, None, given), [0.5, 0.5])
    np.testing.assert_allclose(fusion_result.weights(MEMBERSHIPS, None, None), [1 / 3, 2 / 3])


def test_the_table_of_annotators_by_hand():
    """Ann agrees on all three of her pairs. Bo's six and three: 4 pairs within clusters of 9, 3 in his groups, 2 in
    both; expected 3 · 3 / 9 = 1.
    """
    table = fusion_result.annotators_table(SORTS, MEMBERSHIPS, np.array([0.4, 0.6]), COUNTS, refined=False)
    assert table.index.tolist() == ["Ann", "Bo"]
    assert table.index.name == "annotator"
    assert list(table.columns) == ["n_groupings", "n_items", "n_groups", "consistency", "weight", "agreement"]
    assert table[["n_groupings", "n_items", "n_groups"]].to_numpy().tolist() == [[1, 3, 2], [2, 7, 4]]
    assert table["consistency"].isna().all()
    assert table["weight"].tolist() == [0.4, 0.6]
    refined = fusion_result.annotators_table(SORTS, MEMBERSHIPS, np.array([0.4, 0.6]), COUNTS, refined=True)
    assert refined["consistency"].tolist() == [0.4, 0.6]
    # Ann: both pairs of two clusters apart. Bo: b and c together in his first grouping, 5 of 6 apart
    np.testing.assert_allclose(refined["weight"], [0.4, 0.6 * 5 / 6])
    np.testing.assert_allclose(table["agreement"], [1.0, 0.5])


def test_notes_state_the_limits_of_the_groupings():
    one = np.zeros(4, dtype=int)
    assert fusion_result.notes(SORTS, one, "auto", 2) == []
    assert fusion_result.notes(SORTS, one, 2, 2) == []
    assert fusion_result.notes(SORTS, one, 3, 2) == ["3 clusters were requested; the groupings distinguish 2."]
    tail = (
        "that no chain of groupings links; each has clusters of its own, and nothing is known about pairs across parts."
    )
    assert fusion_result.notes(SORTS, np.array([0, 1, 1, 1]), "auto", 2) == [
        f"The items fall into 2 parts (of 1, 3 items) {tail}"
    ]
    many = Groupings.from_lists([[[name]] for name in "abcdef"])
    assert fusion_result.notes(many, np.arange(6), "auto", 6) == [
        f"The items fall into 6 parts (of 1, 1, 1, 1, 1, … items) {tail}"
    ]
    single = Groupings.from_frame(pd.DataFrame({"item": ["a", "b"], "annotator": "Ann", "group": [1, 2]}))
    assert fusion_result.notes(single, one[:2], "auto", 2) == [
        "There is only one grouping: the clusters are its groups, of unknown certainty."
    ]
