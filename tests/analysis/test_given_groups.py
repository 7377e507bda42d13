"""Hybrid sorts: the groups given and people's own, counted by hand."""

import pandas as pd
import pytest

from consilience import Groupings
from consilience.errors import InputError
from consilience.inspection import compare_given_groups

SORTS = pd.DataFrame(
    {
        "Ann": ["Orders", "Orders", "Shops", "Gifts"],
        "Bo": ["orders ", "Returns", "Shops", "Returns"],
        "Cy": ["ORDERS", "gifts", "Shops", "gifts"],
        "Di": ["Orders", "2", "2", None],
    },
    index=["track", "return", "find", "voucher"],
)
GIVEN = ["Orders", "Shops", "Help"]


@pytest.fixture(scope="module")
def found():
    return compare_given_groups(Groupings.from_matrix(SORTS), GIVEN)


def test_groups_given_come_first_whether_they_were_used_or_not(found):
    assert found.groups.index.tolist()[:3] == GIVEN
    assert found.groups["given"].tolist() == [True] * 3 + [False] * 3
    assert found.groups.loc["Orders"].tolist() == [True, 4, 2, 5]
    assert found.groups.loc["Shops"].tolist() == [True, 3, 1, 3]
    assert found.groups.loc["Help"].tolist() == [True, 0, 0, 0]


def test_own_groups_have_their_standard_names(found):
    (gifts,) = [name for name in found.groups.index if name.casefold() == "gifts"]
    assert found.groups.loc[gifts].tolist() == [False, 2, 2, 3]
    assert found.groups.loc["no name"].tolist() == [False, 1, 2, 2]  # that of Di, a number
    assert (found.n_annotators, found.n_makers, found.n_own_groups) == (4, 4, 4)
    assert found.groups["n_placements"].sum() == SORTS.notna().to_numpy().sum()


def test_items_tell_how_many_put_them_into_own_groups(found):
    assert found.items.loc["track", ["n_annotators", "given", "n_given", "n_own"]].tolist() == [4, "Orders", 4, 0]
    assert found.items.loc["track", "own"] is None
    assert found.items.loc["voucher", ["n_annotators", "n_given", "n_own"]].tolist() == [3, 0, 3]
    assert found.items.loc["voucher", "given"] is None
    assert found.items.loc["voucher", "own"].casefold() == "gifts"


def test_who_makes_no_group_is_counted():
    only = compare_given_groups(Groupings.from_matrix(SORTS[["Ann"]].iloc[:3]), GIVEN)
    assert (only.n_makers, only.n_own_groups) == (0, 0)
    assert only.items["n_own"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("given", "said"), [(["Orders", "orders"], "is given twice"), ([], "Got none")])
def test_names_that_cannot_be_given_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        compare_given_groups(Groupings.from_matrix(SORTS), given)
