"""Hierarchical sorts: the levels of each person are groupings of that person, if their groups are nested."""

import pandas as pd
import pytest

from consilience import read_annotations
from consilience.errors import AnnotationError

SORTS = {"Ann": ("aab", "abc"), "Bo": ("aab", "aab")}
ITEMS = ("pig", "cow", "hen")


def wide(name, sorts=None):
    sorts = SORTS if sorts is None else sorts
    columns = {name(who, level): list(groups) for who, both in sorts.items() for level, groups in enumerate(both, 1)}
    return pd.DataFrame({"product": ITEMS} | columns)


@pytest.mark.parametrize(
    "name",
    [
        lambda who, level: f"{who}_L{level}",
        lambda who, level: f"{who}.level{level}",
        lambda who, level: f"J{len(who)}L{level}",
        lambda who, level: f"{who} Niveau {level}",
    ],
    ids=["L", "level", "number", "Niveau"],
)
@pytest.mark.parametrize("upwards", [False, True])
def test_columns_of_levels_are_groupings_of_a_person(name, upwards):
    sorts = read_annotations(wide((lambda who, level: name(who, 3 - level)) if upwards else name))
    assert (sorts.n_annotators, sorts.n_groupings) == (2, 4)
    assert set(sorts.grouping_names) == {"level 1", "level 2"}
    assert any("read as levels of the sorts of 2" in text for text in sorts.reading.notes)
    pairs = sorts.to_pairs().to_frame()
    pig_and_cow = pairs[(pairs["item_a"] == "pig") & (pairs["item_b"] == "cow")]
    assert pig_and_cow.groupby("annotator")["same"].sum().sum() == 3  # together at one level, and at both


@pytest.mark.parametrize(
    "table",
    [
        wide(lambda who, level: f"Pau{who}l{level}"),  # names of people
        wide(lambda who, level: f"{who}_L{level}", SORTS | {"Bo": ("aab", "abb")}),  # not nested
        wide(lambda who, level: f"{who}_L{level}", {"Ann": ("aab", "abc")}),  # one person
    ],
)
def test_other_columns_are_people(table):
    sorts = read_annotations(table)
    assert sorts.n_annotators == sorts.n_groupings == table.shape[1] - 1


def test_a_column_of_levels_tells_the_groupings_of_a_long_table():
    rows = [
        (item, who, level, group)
        for who, both in SORTS.items()
        for level, groups in enumerate(both, 1)
        for item, group in zip(ITEMS, groups, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["product", "assessor", "level", "group"])
    sorts = read_annotations(table)
    assert (sorts.n_annotators, sorts.n_groupings) == (2, 4)
    once = read_annotations(table[table["level"] == 1])  # as it is not needed, it may be anything
    assert (once.n_annotators, once.n_groupings) == (2, 2)
    assert "level" not in once.reading.how.split("(", 1)[1]
    with pytest.raises(AnnotationError, match="occurs twice"):
        read_annotations(table.assign(level=1))
