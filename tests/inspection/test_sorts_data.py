"""The groups of each person, as the explorer of a report shows them."""

import numpy as np
import pandas as pd

from consilience import Groupings
from consilience.analysis.standardisation import standard_names
from consilience.inspection.report import sorts_data as module
from consilience.inspection.report.sorts_data import are_shown, sorts_data

ITEMS = ["ant", "bee", "cow", "dog"]


def test_groups_have_the_number_of_the_cluster_that_they_share_most_items_with():
    sorts = Groupings.from_matrix(
        [["wild", "x"], ["wild", "y"], ["tame", "y"], [None, "y"]], items=ITEMS, annotators=["Ann", "Bo"]
    )
    places = np.array([3, 2, 1, 0])
    standard = standard_names(sorts)
    assert standard.names.tolist() == ["tame", "wild"]  # single letters are no names
    found = sorts_data(sorts, places, np.array([1, 1, 0, 0]), standard)
    assert found == [
        {"name": "Ann", "labels": [-1, 1, 0, 0], "names": {0: "wild", 1: "tame"}, "called": {0: 1, 1: 0}},
        {"name": "Bo", "labels": [1, 1, 1, 0], "names": {0: "x", 1: "y"}, "called": {0: -1, 1: -1}},
    ]


def test_several_groupings_of_a_person_are_told_apart():
    frame = pd.DataFrame(
        {"annotator": ["Ann"] * 4, "grouping": ["first"] * 2 + ["second"] * 2, "item": [*"abab"], "group": [*"xyxy"]}
    )
    sorts = Groupings.from_frame(frame)
    assert [sort["name"] for sort in sorts_data(sorts, np.arange(2), np.zeros(2, int))] == ["Ann, first", "Ann, second"]


def test_people_who_sorted_none_of_the_items_are_left_out():
    sorts = Groupings.from_matrix([["x", None], ["x", "y"]], items=["a", "b"], annotators=["Ann", "Bo"])
    assert [sort["name"] for sort in sorts_data(sorts, np.array([0]), np.zeros(1, int))] == ["Ann"]


def test_there_are_none_if_they_would_make_the_page_large(monkeypatch):
    sorts = Groupings.from_matrix([["x"], ["x"]], items=["a", "b"])
    assert are_shown(sorts, 2)
    monkeypatch.setattr(module, "MOST_CELLS", 1)
    assert not are_shown(sorts, 2)
    assert sorts_data(sorts, np.arange(2), np.zeros(2, int)) == []
