"""Columns of a file as numbers, compared with what Python reads."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.annotations.files.table import Table
from consilience.annotations.names import frame_row
from consilience.workflows.cells import LARGEST, MISSING, TRUTH, read_cells, with_decimal_points
from consilience.workflows.item_columns import is_called_id

numbers = st.floats(-LARGEST, LARGEST)
odd = st.one_of(
    st.text(max_size=8),
    st.text("0123456789.,+-eE%_ \u00a0'/:xinfa", max_size=8),
    st.sampled_from([*MISSING, *TRUTH, "True", "1e400", "-inf", "1_000", "0x1f", "１２", "12%", "1,5", "2024-01-01"]),
)


@given(st.lists(numbers, min_size=1, max_size=20), st.sampled_from([repr, "{:.17g}".format, "{:.20e}".format]))
def test_numbers_are_read_exactly_in_every_notation(values, write):
    cells = read_cells(pd.Series([write(value) for value in values], dtype=object))
    assert cells.values.tolist() == pytest.approx(values, rel=1e-15, abs=0)
    assert not cells.wrong.any()
    assert not cells.missing.any()


@given(st.lists(odd, min_size=1, max_size=6), st.lists(numbers, max_size=6))
def test_a_cell_is_a_number_as_python_reads_it_or_missing_or_refused(texts, values):
    column = [*texts, *map(repr, values)]
    cells = read_cells(pd.Series(column, dtype=object))
    for text, value, missing, wrong in zip(column, cells.values, cells.missing, cells.wrong, strict=True):
        word = text.strip().casefold()
        if missing:
            assert not wrong
            assert np.isnan(value)
            assert not word or (word in MISSING and not cells.is_text)
        elif not wrong:
            assert value == (TRUTH[word] if cells.is_truth else pytest.approx(float(text), rel=1e-15, abs=0))
            assert math.isfinite(value)
            assert "_" not in text
        else:
            assert word not in {repr(number) for number in values}


@given(st.lists(st.sampled_from(["true", "FALSE", " True", "", "nan"]), min_size=1, max_size=8))
def test_truth_values_are_numbers_only_if_all_are(texts):
    cells = read_cells(pd.Series(texts, dtype=object))
    filled = [text.strip().casefold() for text in texts if text.strip()]
    assert cells.is_truth == (bool(filled) and set(filled) <= set(TRUTH))


@pytest.mark.parametrize(
    "typed",
    [
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1.0, 2.0, np.nan]),
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series([True, False, None], dtype=object),
        pd.Series([1, "2", None], dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_typed_columns_are_read_like_their_text(typed):
    text = pd.Series(["" if pd.isna(cell) else str(cell) for cell in typed], dtype=object)
    one, other = read_cells(typed), read_cells(text)
    np.testing.assert_array_equal(one.values, other.values)
    assert one.missing.tolist() == other.missing.tolist() == [False, False, True]
    assert not one.wrong.any()


@pytest.mark.parametrize(
    ("names", "called"),
    [
        (["item", "Items", "CARD", "statement", "Question", "task", "product", "sample", "use", "object"], True),
        (
            ["image", "id", "Name", "index", "patient_id", "patient-ID", "patientId", "PATIENTID", "", "Unnamed: 0"],
            True,
        ),
        (["grid", "humid", "acid", "uses", "size", "identity", "id of use", "Unnamed: 12", "Void"], False),
    ],
)
def test_usual_names_of_id_columns(names, called):
    assert {name: is_called_id(name) for name in names} == dict.fromkeys(names, called)


def text_table(delimiter, **columns):
    return Table(pd.DataFrame(columns, dtype=str), frame_row, is_text=True, delimiter=delimiter)


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=9))
def test_decimal_commas_with_semicolons_become_decimal_points(values):
    texts = [str(value) for value in values]
    table = text_table(";", item=[f"i{i}" for i in range(len(texts))], x=[text.replace(".", ",") for text in texts])
    read = with_decimal_points(table)
    assert read.frame["x"].tolist() == texts
    assert read.frame["item"].tolist() == table.frame["item"].tolist()
    assert read.notes == ("decimal commas were read as decimal points",)


@pytest.mark.parametrize(
    ("delimiter", "columns"),
    [
        (",", {"x": ["0,5", "1,5"]}),  # commas are the delimiter of this file
        (";", {"x": ["0,5", "1,5"], "y": ["0.5", "1"]}),  # a number has a point
        (";", {"x": ["1,234", "2,345"]}),  # may be thousands separators
        (";", {"x": ["0,5", "a,b"]}),  # text
        (None, {"x": ["0,5", "1,5"]}),  # not a text file
    ],
)
def test_other_commas_are_kept_and_refused_later(delimiter, columns):
    table = text_table(delimiter, **columns)
    assert with_decimal_points(table) is table
    assert read_cells(table.frame["x"]).wrong.any() or read_cells(table.frame["x"]).is_text
