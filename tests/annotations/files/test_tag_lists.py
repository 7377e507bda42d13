"""Tags in files: one a row, as lists in a cell, and items that were seen and have none."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import read_annotations
from consilience.annotations.names import NO_TAG
from consilience.consensus import DawidSkene, TagConsensus
from consilience.errors import AnnotationError, AnnotationWarning

SAID = {("ant", "Ann"): ["red", "big"], ("ant", "Bo"): ["red"], ("bee", "Ann"): [], ("bee", "Bo"): ["big", "red"]}


def frame_of(cell):
    rows = [(item, who, cell(tags)) for (item, who), tags in SAID.items()]
    return pd.DataFrame(rows, columns=["item", "annotator", "tag"])


def sets_of(labels):
    found = {}
    for item, who, tag in labels.to_frame().itertuples(index=False):
        found.setdefault((item, who), set()).add(tag)
    return found


EXPECTED = {key: set(tags) or {NO_TAG} for key, tags in SAID.items()}


@pytest.mark.parametrize(
    "cell",
    [
        *(lambda tags, sign=sign: sign.join(tags) for sign in ("|", ";", ", ", "\n", " / ")),
        lambda tags: json.dumps(tags),
        lambda tags: str(tags),
        lambda tags: json.dumps({"choices": tags}),
        lambda tags: list(tags),
        lambda tags: np.array(tags, dtype=object),
        lambda tags: [*tags, np.nan, ""],
    ],
    ids=["|", ";", ",", "line", "/", "JSON", "Python", "choices", "list", "array", "blank"],
)
def test_lists_in_cells(cell):
    assert sets_of(read_annotations(frame_of(cell), kind="tags")) == EXPECTED


def test_one_tag_a_row(tmp_path):
    rows = [(item, who, tag) for (item, who), tags in SAID.items() for tag in (tags or [""])]
    pd.DataFrame(rows, columns=["item", "annotator", "tag"]).to_csv(tmp_path / "tags.csv", index=False)
    labels = read_annotations(tmp_path / "tags.csv", kind="tags")
    assert sets_of(labels) == EXPECTED
    assert labels.reading.notes == ("1 row without a tag = the item was seen, and has none",)


def test_a_wide_table_has_lists_in_its_cells():
    """A blank cell is an item that was not seen, and an empty list one without tags."""
    wide = pd.DataFrame({"item": ["ant", "bee"], "Ann": ['["red", "big"]', "[]"], "Bo": ["red", None]})
    expected = {key: tags for key, tags in EXPECTED.items() if key != ("bee", "Bo")}
    assert sets_of(read_annotations(wide, kind="tags")) == expected
    wide["Ann"] = [["red", "big"], []]
    assert sets_of(read_annotations(wide, kind="tags")) == expected


def test_names_with_commas_are_one_tag():
    """No part of them is a tag of its own."""
    frame = frame_of(lambda tags: "|".join(tags)).assign(tag=["Paris, France", "Rome", "Lima, Peru", "Rome"])
    assert read_annotations(frame, kind="tags").classes.tolist() == ["Lima, Peru", "Paris, France", "Rome"]
    frame["tag"] = ["red,big", "red", "big", "red"]
    assert read_annotations(frame, kind="tags").classes.tolist() == ["big", "red"]
    assert read_annotations(frame, kind="tags", exact=True).classes.tolist() == ["big", "red", "red,big"]


def test_choices_of_label_studio(tmp_path):
    """Whoever completed a task without choosing anything saw it; cancelled annotations say nothing."""
    tasks = [
        {
            "id": number,
            "data": {"text": item},
            "annotations": [
                {
                    "completed_by": {"email": who},
                    "result": [{"type": "choices", "from_name": "tags", "to_name": "text", "value": {"choices": tags}}][
                        : len(tags)
                    ],
                }
                for (of, who), tags in SAID.items()
                if of == item
            ]
            + [{"completed_by": {"email": "Cy"}, "was_cancelled": True, "result": []}],
        }
        for number, item in enumerate(["ant", "bee"])
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    with pytest.warns(AnnotationWarning, match="2 annotations that were cancelled left out"):
        labels = read_annotations(tmp_path / "tasks.json", kind="tags")
    numbers = {"ant": 0, "bee": 1}
    assert sets_of(labels) == {(numbers[item], who): tags for (item, who), tags in EXPECTED.items()}


def test_other_things_than_tags_are_refused():
    with pytest.raises(AnnotationError, match="The label in row 0 is a box or a shape"):
        read_annotations(frame_of(lambda tags: {"x": 1, "width": 2}), kind="tags")
    with pytest.raises(AnnotationError, match="The label in row 0 is a list of several things"):
        read_annotations(frame_of(lambda tags: [{"start": 1}, {"start": 2}]), kind="tags")
    with pytest.raises(AnnotationError, match=r"The cell '\[\[1\]\]' in row 0 is a list of other things than tags\."):
        read_annotations(frame_of(lambda tags: "[[1]]"), kind="tags")


@pytest.mark.parametrize("tags", [["red|big", "red", "big", "red"], [["red", "big"], ["red"], ["big"], ["red"]]])
def test_models_of_classes_lead_to_tags(tags):
    with pytest.raises(AnnotationError, match=r"read_annotations\(frame, kind='tags'\), for TagConsensus"):
        DawidSkene().fit(frame_of(str).assign(tag=tags).rename(columns={"tag": "label"}))


def test_the_model_of_tags_reads_them_itself():
    model = TagConsensus().fit(frame_of(lambda tags: "|".join(tags)))
    assert model.tags_.tolist() == ["big", "red"]
    assert model.annotators_["n_items"].tolist() == [2, 2]
