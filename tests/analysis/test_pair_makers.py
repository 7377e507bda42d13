"""Who put two items together, and under which names, against a count by hand."""

import pandas as pd
import pytest

from consilience import Groupings, Pairs
from consilience.analysis.pair_makers import PairMakers
from consilience.analysis.standardisation import standard_names
from consilience.errors import InputError
from consilience.inspection import who_put_together

SORTS = pd.DataFrame(
    {
        "Ann": ["Pets", "pets", "Farm"],
        "Bo": ["Pets", "Pets", "Pets"],
        "Cy": ["1", "1", "2"],
        "Di": ["Cats", "Dogs", None],
    },
    index=["cat", "dog", "cow"],
)


@pytest.fixture(scope="module")
def groupings():
    return Groupings.from_matrix(SORTS.replace("pets", "Pets"))


def test_those_who_put_them_together_come_first_with_their_names(groupings):
    found = who_put_together(groupings, "cat", "dog")
    assert found["annotator"].tolist() == ["Ann", "Bo", "Cy", "Di"]
    assert found["together"].tolist() == [True, True, True, False]
    assert found[["group_a", "group_b"]].values.tolist() == [["Pets"] * 2, ["Pets"] * 2, ["1"] * 2, ["Cats", "Dogs"]]
    assert who_put_together(groupings, "cow", "dog")["annotator"].tolist() == [
        "Bo",
        "Ann",
        "Cy",
    ]  # Di did not sort cows


def test_names_are_counted_and_numbers_are_no_names(groupings):
    makers, standard = PairMakers.of(groupings), standard_names(groupings)
    cat, dog, cow = groupings.items.get_indexer(["cat", "dog", "cow"]).tolist()
    assert makers.names(cat, dog, standard) == [("Pets", 2)]
    assert makers.people(cat, dog) == ["Ann", "Bo", "Cy"]
    assert makers.people(cat, cow) == ["Bo"]


def test_several_groupings_of_a_person_have_a_row_each():
    rows = [("Ann", sort, item, group) for sort, group in (("first", "x"), ("second", "y")) for item in "ab"]
    found = who_put_together(
        Groupings.from_frame(pd.DataFrame(rows, columns=["annotator", "grouping", "item", "group"])), "a", "b"
    )
    assert found["grouping"].tolist() == ["first", "second"]
    assert found["group_a"].tolist() == ["x", "y"]


def test_what_is_no_pair_of_items_is_refused(groupings):
    with pytest.raises(InputError, match=r"such as 'cat'. Got 'hen'"):
        who_put_together(groupings, "cat", "hen")
    with pytest.raises(InputError, match=r"Got 'cat' twice"):
        who_put_together(groupings, "cat", "cat")
    with pytest.raises(InputError):
        who_put_together(Pairs.from_frame([("a", "b", "Ann", True)]), "a", "b")
