"""Names that differ only in spelling."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings
from consilience.annotations.spelling import near_spelling, nearest
from consilience.consensus import CSPA
from consilience.errors import InputError

KNOWN = ["P-27", "P-28", "P-29", "robin", "Mona Lisa", "a", "b", 7]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P-029", "P-29"),
        ("p 29", "P-29"),
        (" P_29\t", "P-29"),
        ("ROBIN", "robin"),
        ("robbin", "robin"),
        ("mona-lisa", "Mona Lisa"),
        ("Mona Liza", "Mona Lisa"),
        ("7", 7),
        (np.int64(7), 7),
        ("P-30", None),
        ("zebra", None),
        ("", None),
        ("—", None),
    ],
)
def test_the_nearest_name(name, expected):
    assert nearest(name, pd.Index(KNOWN)) == expected


def test_a_different_number_is_a_different_name():
    assert near_spelling("item 1", [f"item {i}" for i in range(2, 200)]) == ""


def test_nothing_is_near_if_nothing_is_known():
    assert near_spelling("ant", []) == ""


@given(st.text(), st.lists(st.text()))
def test_near_names_are_known_names(name, known):
    found = nearest(name, known)
    assert found is None or found in known


def test_questions_about_fitted_items_and_annotators_give_the_nearest_name():
    groupings = Groupings.from_matrix([["p", "p"], ["q", "q"]], items=["P-01", "P-02"], annotators=["Ann", "Bo"])
    model = CSPA(2, random_state=0).fit(groupings)
    with pytest.raises(InputError, match=r"^Item 'P-1' was not fitted. The nearest name is 'P-01'.$"):
        model.predict_same("P-1", "P-02")
    with pytest.raises(InputError, match=r"one of 1 missing. The nearest name is 'P-2'.$"):
        model.association(pd.Series([1.0, 2.0], index=["P-01", "P-2"]))
