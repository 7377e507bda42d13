"""Containers of Python: read, or refused with one sentence of ours."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from consilience import Groupings, Labels, read_annotations
from consilience.consensus import CSPA, DawidSkene
from consilience.errors import AnnotationError, InputError

ROWS = [
    {"image": "i1", "worker": "u", "answer": "cat"},
    {"image": "i1", "worker": "v", "answer": "dog"},
    {"image": "i2", "worker": "u", "answer": "cat"},
    {"image": "i2", "worker": "v", "answer": "cat"},
]
FRAME = pd.DataFrame(ROWS)
CONTAINERS = {
    "list of dicts": ROWS,
    "tuple of dicts": tuple(ROWS),
    "dict of columns": {name: FRAME[name].tolist() for name in FRAME},
    "dict of arrays": {name: FRAME[name].to_numpy(object) for name in FRAME},
    "dict of dicts": {"i1": {"u": "cat", "v": "dog"}, "i2": {"u": "cat", "v": "cat"}},
    "lists of annotators and labels": pd.DataFrame(
        {"image": ["i1", "i2"], "workers": [["u", "v"]] * 2, "answers": [["cat", "dog"], ["cat", "cat"]]}
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_are_read(name):
    expected = Labels.from_frame(FRAME)
    held = CONTAINERS[name]
    assert Labels.from_frame(held) == expected
    assert read_annotations(held) == expected
    assert DawidSkene().fit(held).labels_.tolist() == DawidSkene().fit(expected).labels_.tolist()
    assert Groupings.from_frame(held).n_rows == 4


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (
            pd.DataFrame([["a", "u", "v"]], columns=["item", "annotator", "annotator"]),
            "Two columns are called 'annotator'",
        ),
        (pd.DataFrame(index=["a", "b"]), "has no columns"),
        (pd.DataFrame(), "has no (columns|rows)"),
        (pl.DataFrame(), "has no (columns|rows)"),
        (FRAME.head(0), "has no rows"),
        (FRAME.assign(answer=pd.date_range("2026-01-01", periods=4)), "The column 'answer' holds dates"),
        ({"image": ["a", "b"], "worker": ["u"], "answer": ["x", "y"]}, "different lengths"),
        (
            pd.DataFrame({"image": ["a"], "workers": [["u", "v"]], "answers": [["x"]]}),
            "row 0: a list of annotators needs",
        ),
        (pd.DataFrame({"A": pd.date_range("2026-01-01", periods=3)}), "No column contains groups or labels. Found 'A'"),
    ],
)
def test_what_holds_no_table_is_refused_in_one_sentence(held, message):
    for read in (Labels.from_frame, read_annotations, DawidSkene().fit, CSPA(n_clusters=2).fit):
        with pytest.raises(InputError, match=message):
            read(held)


def test_matrices_are_refused_alike():
    for make in (Labels.from_matrix, Groupings.from_matrix):
        with pytest.raises(AnnotationError, match="Two columns are called 'u'"):
            make(pd.DataFrame(np.zeros((3, 2), dtype=int), columns=["u", "u"]))
        with pytest.raises(AnnotationError, match="those of a long table"):
            make(ROWS)
