"""Groups that several people made exactly, against a count by hand over all sets of items."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings, Pairs
from consilience.analysis.exact_groups import WholeSorts
from consilience.errors import InputError
from consilience.inspection import exact_groups

cells = st.lists(
    st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=4, max_size=4), min_size=2, max_size=6
)  # people × items


def by_hand(sorts, n_items):
    """Each set of items that two people made: who made it, and who sorted all of it."""
    found = {}
    for size in range(2, n_items + 1):
        for items in combinations(range(n_items), size):
            sorted_all = [row for row in sorts if all(row[item] is not None for item in items)]
            made = [
                row
                for row in sorted_all
                if {item for item in range(n_items) if row[item] == row[items[0]]} == set(items)
                and len({row[item] for item in items}) == 1
            ]
            if len(made) >= 2:
                found[items] = (len(made), len(sorted_all))
    return found


@given(cells)
def test_counts_are_those_by_hand_and_the_tree_is_nested(sorts):
    groupings = Groupings.from_matrix(list(map(list, zip(*sorts, strict=True))))
    found = exact_groups(groupings)
    counts = zip(found["n_annotators"], found["n_sorted"], strict=True)
    assert dict(zip(map(tuple, found["items"]), counts, strict=True)) == by_hand(sorts, 4)
    assert found["share"].is_monotonic_decreasing
    tree = [set(items) for items in found.loc[found["in_tree"], "items"]]
    assert all(a <= b or b <= a or not a & b for a, b in combinations(tree, 2))
    left = [set(items) for items in found.loc[~found["in_tree"], "items"]]
    assert all(any(a & b and not a <= b and not b <= a for b in tree) for a in left)
    for items, within in zip(found["items"], found["within"], strict=True):
        assert within == -1 or set(items) < set(found["items"][within])


def test_the_tree_holds_a_group_within_a_larger_one():
    sorts = [[0, 0, 0, 0, 1], [0, 0, 1, 0, 1], [0, 0, 1, 0, 2], [0, 1, 1, 0, 2], [0, 0, 0, 1, 0]]
    groupings = Groupings.from_matrix(list(map(list, zip(*sorts, strict=True))), items=list("vwxyz"))
    found = exact_groups(groupings)
    assert found["items"].tolist() == [["v", "w", "y"]]
    nested = exact_groups([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 2, 2]])
    assert nested["items"].tolist() == [[0, 1, 2], [0, 1]]
    assert nested["within"].tolist() == [-1, 0]
    assert nested["in_tree"].all()


def test_nothing_in_common_gives_no_rows_and_pairs_are_refused():
    assert exact_groups([[0, 0], [0, 1], [1, 1]]).empty
    with pytest.raises(InputError, match="exact_groups"):
        exact_groups(
            Pairs.from_frame(pd.DataFrame({"item_a": ["a"], "item_b": ["b"], "annotator": ["x"], "same": [True]}))
        )


def test_whole_sorts_are_counted_by_people_whatever_the_groups_are_called():
    sorts = [list("xxyy"), list("yyxx"), list("xyyy"), ["x", "x", None, "y"], list("abab")]
    found = WholeSorts.of(Groupings.from_matrix([list(row) for row in zip(*sorts, strict=True)]))
    assert (found.n_sorted, found.n_annotators.tolist()) == (4, [2, 1, 1])
    assert found.first[0].tolist() == [0, 0, 2, 2]
    assert [found.place_of(np.array(codes)) for codes in ([1, 1, 0, 0], [0, 1, 2, 2])] == [0, -1]
