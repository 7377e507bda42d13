"""JSON of items that hold lists of answers, and columns called id that number items."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import read_annotations
from consilience.errors import AnnotationError

answers = st.dictionaries(st.sampled_from(["Ann", "Bo", "Cy"]), st.sampled_from(["cat", "dog"]), max_size=3)
ITEMS = [
    {"id": 7, "votes": [{"worker": "x", "label": "a"}, {"worker": "y", "label": "b"}]},
    {"id": 8, "votes": [{"worker": "x", "label": "b"}]},
]


@pytest.mark.parametrize("as_lines", [False, True])
@given(st.lists(answers, min_size=2, max_size=5).filter(lambda drawn: sum(map(len, drawn)) > len(drawn)))
def test_answers_of_items_are_read(tmp_path_factory, as_lines, drawn):
    items = [
        {"id": f"i{number}", "annotations": [{"annotator": who, "label": label} for who, label in given.items()]}
        for number, given in enumerate(drawn)
    ]
    text = "\n".join(map(json.dumps, items)) if as_lines else json.dumps(items)
    path = tmp_path_factory.mktemp("lists") / ("items.jsonl" if as_lines else "items.json")
    path.write_text(text, encoding="utf-8")
    labels = read_annotations(path, kind="labels")
    expected = {(f"i{number}", *answer) for number, given in enumerate(drawn) for answer in given.items()}
    assert set(labels.to_frame()[["item", "annotator", "label"]].itertuples(index=False, name=None)) == expected
    assert set(labels.items) == {f"i{number}" for number in range(len(drawn))}  # with those that nobody labelled


def test_a_key_of_both_belongs_to_the_item(tmp_path):
    path = tmp_path / "items.json"
    numbered = [
        item | {"votes": [vote | {"id": number} for number, vote in enumerate(item["votes"])]} for item in ITEMS
    ]
    path.write_text(json.dumps(numbered))
    assert read_annotations(path).items.tolist() == [7, 8]


def test_a_place_is_that_of_the_item(tmp_path):
    path = tmp_path / "items.jsonl"
    repeated = [ITEMS[0], {"id": 8, "votes": [{"worker": "x", "label": None}, {"worker": None, "label": "b"}]}]
    path.write_text("\n".join(map(json.dumps, repeated)))
    with pytest.raises(AnnotationError, match="line 2"):
        read_annotations(path)


@pytest.mark.parametrize(
    "items",
    [
        [item | {"more": item["votes"]} for item in ITEMS],  # two lists
        [item | {"votes": [vote | {"spans": [1]} for vote in item["votes"]]} for item in ITEMS],
        [item | {"votes": [vote["label"] for vote in item["votes"]]} for item in ITEMS],
    ],
)
def test_other_lists_are_refused(tmp_path, items):
    path = tmp_path / "items.json"
    path.write_text(json.dumps(items))
    with pytest.raises(AnnotationError):
        read_annotations(path)


@pytest.mark.parametrize("name", ["id", "ID", "uid", "No"])
def test_an_id_that_several_answered_is_an_item(tmp_path, name):
    path = tmp_path / "labels.csv"
    path.write_text(f"{name},annotator,label\n1,x,a\n1,y,b\n2,x,a\n2,y,a\n")
    assert read_annotations(path).items.tolist() == [1, 2]


@pytest.mark.parametrize("ids", [(1, 2, 3, 4), (1, 1, 1, 2)])  # of rows; twice by one person
def test_an_id_that_may_be_of_rows_is_asked_about(tmp_path, ids):
    path = tmp_path / "labels.csv"
    people = ("x", "y", "x", "y")
    path.write_text("id,annotator,label\n" + "".join(f"{n},{who},a\n" for n, who in zip(ids, people, strict=True)))
    with pytest.raises(AnnotationError, match="no column has a usual name for items"):
        read_annotations(path)
