"""What happens to clusters in draws of other people, by hand: coming back, leaving together, new company."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis.certainty_moves import Moves
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.findings import findings
from consilience.consensus import SubsetFusion
from consilience.inspection import certainty

CODES = np.array([0, 0, 0, 0, 0, 1, 1, 2])  # a to e, f and g, h


def moves(*draws):
    return Moves.of(np.array(draws), clusters_of(CODES))


def clusters_of(codes):
    names = ("cluster", "clusters", "cluster", "clusters.csv", "probability")
    return FoundClusters(codes, pd.RangeIndex(codes.max() + 1), *names)


SAME = [0, 0, 0, 0, 0, 1, 1, 2]
SPLIT = [0, 0, 0, 3, 3, 1, 1, 2]  # d and e leave together
MERGED = [0, 0, 0, 0, 0, 0, 0, 2]  # f and g are swallowed
ALONE = [0, 0, 0, 0, 3, 1, 1, 2]  # e leaves alone
WITH_H = [0, 0, 0, 3, 3, 1, 1, 3]  # d, e and h make a new one


def test_a_cluster_is_found_again_if_neither_merged_nor_split():
    found = moves(SAME, SPLIT, MERGED, [0, 0, 3, 4, 5, 1, 1, 2])
    # three of five are more than half, two of five are not, and five of seven have the other cluster with them
    assert found.found_again.tolist() == [2 / 4, 3 / 4, 1]
    assert moves([*MERGED[:7], 0]).found_again.tolist() == [0, 0, 0]
    assert moves([0, 0, 0, 0, 0, 1, 1, 0]).found_again.tolist() == [1, 1, 0]  # a single item joins nothing


def test_new_clusters_are_told_by_whom_an_item_is_with():
    assert moves(SPLIT, WITH_H, SAME).companions(3).tolist() == [4]
    assert moves(WITH_H, WITH_H, SPLIT).companions(3).tolist() == [4, 7]
    assert moves(ALONE, ALONE, SPLIT).companions(4).tolist() == []
    assert moves(WITH_H).companions(7).tolist() == [3, 4]


def test_the_part_that_leaves_together_most_often_is_found():
    (split,) = moves(SPLIT, WITH_H, SAME, ALONE, MERGED).splits
    assert (split.cluster, split.items.tolist(), split.share) == (0, [3, 4], 2 / 5)
    assert moves(SAME, MERGED, ALONE).splits == []  # nobody leaves with another; merging is not splitting
    assert moves(SPLIT, *[SAME] * 5).splits == []  # one in six


def test_a_larger_part_goes_before_a_pair_that_leaves_hardly_more_often():
    draws = [[0, 0, 0, 0, 0, 0, 0, 1]] * 6 + [[0, 0, 0, 0, 2, 2, 2, 1]] * 3 + [[0, 0, 0, 0, 0, 2, 2, 1]]
    (split,) = Moves.of(np.array(draws), clusters_of(np.array([0] * 7 + [1]))).splits
    assert split.items.tolist() == [4, 5, 6]
    assert split.share == pytest.approx(0.3)


def test_the_people_who_name_the_part_are_counted():
    coats = [["coat", "fur", "cape"], ["shirt", "top", "vest"]]
    rows = [(item, f"P{p}", name) for p in range(6) for items, name in zip(coats, ("Coats", "Tops")) for item in items]
    sorts = Groupings.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "group"]))
    model = SubsetFusion(n_clusters=2, random_state=0).fit(sorts)
    found = findings(model, certainty=certainty(model, n_draws=4, random_state=0))
    assert found.name_of(model.items_.get_indexer(coats[0])) == " (called Coats by 6)"
    assert found.name_of(model.items_.get_indexer(["coat", "vest"])) == ""
    assert found.moves.found_again.tolist() == [1, 1]


def test_items_that_leave_with_most_of_their_cluster_or_a_part_of_it_do_not_leave_singly():
    """f and g are swallowed together, d and e split off; e leaves alone once, and h is the only one of its cluster."""
    found = moves(SAME, SPLIT, MERGED, ALONE, [0, 0, 0, 0, 0, 1, 1, 1])
    assert found.moves_with_others(8).tolist() == [0, 0, 0, 0.2, 0.2, 0.2, 0.2, 0]
    assert moves(SAME, ALONE).moves_with_others(8).tolist() == [0] * 8  # nothing splits off


def test_a_cluster_is_whole_if_all_of_its_items_are_in_the_one_that_is_found_again():
    found = moves(SAME, SPLIT, MERGED, [0, 0, 3, 4, 5, 1, 1, 2])
    assert found.found_whole.tolist() == [1 / 4, 3 / 4, 1]
    assert (found.found_whole <= found.found_again).all()


def test_an_item_that_is_a_cluster_of_its_own_is_in_that_only_if_it_is_alone():
    """h is alone, with d and e in a new cluster that has its number, and in another cluster."""
    found = moves(SAME, [0, 0, 0, 2, 2, 1, 1, 2], [0, 0, 0, 0, 0, 1, 1, 1])
    assert found.places[:, 7].tolist() == [2, -1, 1]
    assert found.places[1].tolist() == [0, 0, 0, -1, -1, 1, 1, -1]
    named = FoundClusters(CODES, pd.RangeIndex(3), "class", "classes", "label", "labels.csv", "probability")
    assert Moves.of(found.draws, named).places[1].tolist() == found.draws[1].tolist()  # a class may gain items


def test_where_an_item_goes_on_its_own_is_counted_without_joins_and_splits():
    """e leaves with d twice and alone twice, for a new cluster, and once for another."""
    found = moves(SAME, SPLIT, SPLIT, ALONE, [0, 0, 0, 0, 1, 1, 1, 2], ALONE, MERGED)
    assert found.goes_singly_to(4) == (-1, 2 / 7)
    assert found.goes_singly_to(5) is None  # swallowed with g
    assert found.goes_singly_to(0) is None
