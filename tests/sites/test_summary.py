"""The file of a site: what it holds, what it says that it discloses, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.errors import InputError
from consilience.sites import SiteSummary, read_summary, write_summary

VALID = {
    "format": "consilience-site-summary",
    "version": 1,
    "site": "north",
    "discloses": [],
    "hashed_names": False,
    "min_group_size": 2,
    "epsilon": None,
    "items": ["a", "b", "c", "d"],
    "groups": [[0, 0, 1, 1], [0, 1, 0, -1]],
}


@st.composite
def valid_values(draw):
    """JSON values of a summary; made into one outside, since the checks of types draw random numbers."""
    items = draw(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=8, unique=True))
    a_grouping = st.lists(st.integers(-1, len(items) - 1), min_size=len(items), max_size=len(items))
    return VALID | {
        "site": draw(st.sampled_from(["north", "Zürich", "site 7"])),
        "items": items,
        "groups": draw(st.lists(a_grouping.filter(lambda groups: max(groups) >= 0), min_size=1, max_size=3)),
        "hashed_names": draw(st.booleans()),
        "min_group_size": draw(st.integers(1, 9)),
        "epsilon": draw(st.none() | st.floats(0.01, 100)),
    }


def equal(one: SiteSummary, other: SiteSummary) -> bool:
    return one.as_json() == other.as_json()


@given(valid_values())
def test_what_is_written_is_read(values):
    summary = SiteSummary.of_json(values)
    again = json.loads(json.dumps(summary.as_json()))
    assert {**again, "discloses": []} == values
    assert equal(SiteSummary.of_json(again), summary)


def test_a_file_is_written_whole_and_says_what_it_discloses(tmp_path):
    summary = SiteSummary.of_json(VALID)
    write_summary(summary, tmp_path / "north.json")
    assert equal(read_summary(tmp_path / "north.json"), summary)
    assert json.loads((tmp_path / "north.json").read_text())["discloses"] == summary.disclosures()


def test_disclosures_count_what_is_there():
    said = " ".join(SiteSummary.of_json(VALID).disclosures())
    assert "'north'" in said
    assert "The names of 4 items." in said
    assert "each of 2 groupings, among 2 and 2 groups; the smallest has 1 items" in said
    assert "In 1 cases" in said
    assert "noise" not in said


def test_disclosures_of_hashes_and_noise():
    said = " ".join(SiteSummary.of_json(VALID | {"hashed_names": True, "epsilon": 2}).disclosures())
    assert "Keyed hashes of the names of 4 items" in said
    assert "exp(2) = 7.39 times" in said


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(any_json)
def test_other_json_is_refused_in_one_sentence(values):
    with pytest.raises(InputError, match="no summary of a site"):
        SiteSummary.of_json(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 2, and this version of consilience reads 1"),
        ({"more": 1}, "entry 'more' of the summary is unknown"),
        ({"site": ""}, "name of a site must be a line of 1 to 200 characters"),
        ({"site": "a\nb"}, "name of a site must be a line"),
        ({"items": ["a", "b", "a", "d"]}, "item 'a' occurs twice"),
        ({"items": ["a", "b", 3, "d"]}, "'items' must be a list of names"),
        ({"items": ["a"], "groups": [[0]]}, "at least two items"),
        ({"groups": []}, "'groups' must be a list of groupings"),
        ({"groups": [[0, 0, 1]]}, "Grouping 1 must be a list of 4 groups"),
        (
            {"groups": [[0, 0, 1, 1], [0, 0, True, 1]]},
            "item 'c' in grouping 2 must be an integer from -1 to 3. Got True",
        ),
        ({"groups": [[0, 0, 9, 1]]}, "item 'c' in grouping 1"),
        ({"groups": [[-1, -1, -1, -1]]}, "Grouping 1 puts no item into a group"),
        ({"hashed_names": 1}, "'hashed_names' must be true or false. Got 1"),
        ({"min_group_size": 0}, "'min_group_size' must be a positive integer. Got 0"),
        ({"epsilon": -1}, "'epsilon' must be a number above 0, at most 100, or None. Got -1"),
        ({"discloses": "nothing"}, "'discloses' must be a list"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(InputError, match=message):
        SiteSummary.of_json(VALID | change)


def test_a_missing_entry_is_named():
    with pytest.raises(InputError, match="entry 'groups' of the summary is missing"):
        SiteSummary.of_json({key: value for key, value in VALID.items() if key != "groups"})


@pytest.mark.parametrize("held", [b"\xff\xfe", b"item,group\na,1\n", b"[" * 100_000])
def test_a_file_that_is_no_json_is_named(tmp_path, held):
    (tmp_path / "odd.json").write_bytes(held)
    with pytest.raises(InputError, match=r"odd\.json: This is no JSON text"):
        read_summary(tmp_path / "odd.json")
