"""Cells: which mean missing, which judgements mean "same", and which are ambiguous."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.annotations.files.name_notes import called_missing, note_names, totals, twins
from consilience.annotations.files.sameness import read_judgements
from consilience.annotations.files.values import (
    given_as_missing,
    is_number,
    minus_one,
    refuse_codes,
    says_unsorted,
    spelled_missing,
    spells_missing,
)
from consilience.annotations.names import code, frame_row
from consilience.errors import AnnotationError


def column(*values):
    return code(np.array(values, dtype=object))


def values_of(found):
    return [None if place < 0 else found.names[place] for place in found.codes]


# -1


@pytest.mark.parametrize("others", [s for n in range(5) for s in itertools.combinations([-2, 0, 1, 2], n)])
def test_minus_one_among_every_set_of_integers(others):
    cells = column(-1, *others, -1)
    if -2 in others:
        assert values_of(minus_one(cells, "group", frame_row).column) == [-1, *others, -1]
    elif 1 in others and set(others) <= {0, 1}:
        with pytest.raises(
            AnnotationError, match=r"group -1 in row 0 can be read in two ways .* missing=-1 .* missing=\[\]"
        ):
            minus_one(cells, "group", frame_row)
    else:
        found = minus_one(cells, "group", frame_row)
        assert values_of(found.column) == [None, *others, None]
        assert found.notes == ("2 cells with -1 read as missing (missing=[] if -1 is a group)",)


def test_minus_one_among_text_is_a_name():
    for cells in (column("-1", "x"), column("-1", "1"), column(0, 1, 2)):
        assert minus_one(cells, "label", frame_row).column == cells


def test_given_missing_values_come_first():
    cells = column(-1, 0, 1)
    assert values_of(given_as_missing(cells, [])) == [-1, 0, 1]
    assert values_of(given_as_missing(cells, [-1])) == [None, 0, 1]
    assert values_of(given_as_missing(cells, ["-1", "0"])) == [None, None, 1]
    assert values_of(given_as_missing(column("99", "99.0", "x"), [99])) == [None, None, "x"]
    assert values_of(given_as_missing(column("a", "b"), [""])) == ["a", "b"]


# NA, NaN, null


@pytest.mark.parametrize("word", ["nan", "NaN", "NAN", " nan ", "<NA>", "#N/A", "null", "NULL", "NaT"])
@pytest.mark.parametrize("other", ["x", "7", "no"])
def test_words_that_always_mean_missing(word, other):
    found = spelled_missing(column(other, word, word), "label", frame_row)
    assert values_of(found.column) == [other, None, None]
    assert found.notes == (f"2 cells with {word!r} read as missing",)
    assert spells_missing(word)


@pytest.mark.parametrize("word", ["NA", "N/A", "na", "n.a."])
def test_words_that_may_be_names(word):
    assert spells_missing(word)
    for number in ("7", "7.0", "-1", "1e3", ".5"):
        assert values_of(spelled_missing(column(number, word), "label", frame_row).column) == [number, None]
    with pytest.raises(
        AnnotationError, match=rf"label '{word}' in row 1 can be read in two ways.*missing='{word}'.*missing=\[\]"
    ):
        spelled_missing(column("EU", word), "label", frame_row)


@pytest.mark.parametrize("word", ["None", "none", "-", "?", "missing", "0", "Nancy", "nano", ""])
def test_other_words_are_names(word):
    cells = column("x", word)
    assert spelled_missing(cells, "label", frame_row).column is cells
    assert not spells_missing(word)


def test_piles_of_unsorted_items():
    assert all(map(says_unsorted, ("unsorted", "Unsorted", "Not sorted", "not_sorted", "UNCATEGORIZED", "ungrouped")))
    assert not any(map(says_unsorted, ("sorted", "other", "misc", "none", "", 0, None)))


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_numbers_are_numbers_as_text_too(number):
    assert is_number(number)
    assert is_number(str(number))


@pytest.mark.parametrize("text", ["", "x", "1,5", "nan", "inf", "1_000", "0x1", "--1", "1e", True, None])
def test_texts_that_are_not_numbers(text):
    assert not is_number(text)


# judgements

SAME = ["yes", "Y", "TRUE", "t", "1", "1.0", "same", "Match", "must-link", "must_link", "duplicate", True, 1, 1.0]
DIFFERENT = ["no", "N", "False", "f", "0", "0.0", "different", "non-match", "cannot link", "not the same", False, 0]
UNDECIDED = ["?", "unsure", "can't say", "skip", "Don't know", "maybe"]


@pytest.mark.parametrize(("one", "other"), list(itertools.product(SAME, DIFFERENT)))
def test_every_word_for_same_with_every_word_for_different(one, other):
    found = read_judgements(column(one, other), frame_row, None)
    assert values_of(found.column) == [True, False]
    assert not found.notes


@pytest.mark.parametrize("word", UNDECIDED)
def test_undecided_judgements_are_counted(word):
    found = read_judgements(column("yes", word, "no", word), frame_row, None)
    assert values_of(found.column) == [True, None, False, None]
    assert found.notes == ("2 judgements left out: undecided",)


@pytest.mark.parametrize("scale", [(1, 5), (0, 10), (1, 4), (-2, 2), (0, 3)])
@pytest.mark.parametrize("kind", [int, str, float])
def test_grades_above_the_middle_of_the_scale_mean_same(scale, kind):
    low, high = scale
    grades = [kind(grade) for grade in range(low, high + 1)]
    found = read_judgements(code(np.array(grades, dtype=object)), frame_row, None)
    middle = (low + high) / 2
    expected = [None if float(grade) == middle else float(grade) > middle for grade in grades]
    assert values_of(found.column) == expected
    assert f"same if above the middle, {middle:g} (same_if=…)" in found.notes[0]
    assert len(found.notes) == 1 + (None in expected)


@pytest.mark.parametrize("grades", [(1, 2), (2, 3), (-1, 0, 1), (-1, 1), (0.5, 1)])
def test_ambiguous_numbers(grades):
    with pytest.raises(AnnotationError, match=r"can be read in two ways\. Give those that mean"):
        read_judgements(column(*grades), frame_row, None)


@pytest.mark.parametrize("sign", [">=", "<=", ">", "<", "=", "==", "!="])
@pytest.mark.parametrize("bound", ["2", "2.5", "-1"])
def test_conditions_match_python(sign, bound):
    grades = [-1, 0, 1, 2, 2.5, 3]
    found = read_judgements(column(*grades), frame_row, f"{sign}{bound}")
    python = {"=": "=="}.get(sign, sign)
    assert values_of(found.column) == [eval(f"{grade} {python} {bound}") for grade in grades]
    assert values_of(read_judgements(column(*map(str, grades)), frame_row, f" {sign} {bound} ").column) == values_of(
        found.column
    )


def test_condition_on_words():
    found = read_judgements(column("Related", "synonym", "none"), frame_row, "=synonym")
    assert values_of(found.column) == [False, True, False]
    assert values_of(read_judgements(column("Related", "none"), frame_row, "!=NONE").column) == [True, False]


@pytest.mark.parametrize(
    ("values", "condition", "message"),
    [
        (("yes", "perhaps"), None, r"must be true or false .*Got 'perhaps' in row 1 instead; same_if='=WORD'"),
        ((1, 2), "3", "must be a comparison such as '>=3'"),
        ((1, 2), "", "must be a comparison"),
        ((1, 2), ">=x", "compares with a number"),
        (("high", 2), ">=1", "judgement 'high' in row 0 is not a number"),
    ],
)
def test_judgements_that_cannot_be_read(values, condition, message):
    with pytest.raises(AnnotationError, match=message):
        read_judgements(column(*values), frame_row, condition)


# names


@pytest.mark.parametrize(
    "pair",
    [("ant", "Ant"), ("ant", "ant "), ("a  b", "a b"), ("\u00e9", "e\u0301"), ("a\u00a0b", "a b"), ("\ufb01n", "fin")],
)
def test_near_twins_are_noted(pair):
    note = twins(pd.Index(["cow", *pair]), "items")
    assert note == f"the items {pair[0]!r} and {pair[1]!r} differ only in case, spaces or form of letters"
    more = twins(pd.Index([*pair, "X", "x"]), "items")
    assert more.endswith(", and so do 1 more")


def test_different_names_are_not_noted():
    assert twins(pd.Index(["ant", "ants", "a nt"]), "items") is None
    assert twins(pd.Index([1, 2]), "items") is None
    assert twins(pd.Index([1, "1"], dtype=object), "items") is None


@pytest.mark.parametrize("name", ["Total", "TOTALS", "grand total", "Sum", "mean"])
def test_totals_are_noted(name):
    assert (
        totals(pd.Index(["ant", name]), "an item") == f"there is an item called {name!r}; if it is a total, delete it"
    )
    assert totals(pd.Index(["totality", "summer", 7], dtype=object), "an item") is None


@pytest.mark.parametrize(("code_of_missing", "most"), [(99, 5), (99, 30), (77, 25), (998, 5), (-9, 30)])
def test_an_integer_far_beyond_the_others_is_asked_about(code_of_missing, most):
    names = code(np.array([*range(1, most + 1), code_of_missing]))
    with pytest.raises(AnnotationError, match=rf"label {code_of_missing} in row {most} can be read in two ways"):
        refuse_codes(names, "label", frame_row)


@pytest.mark.parametrize(("other", "most"), [(77, 26), (88, 30), (50, 5)])
def test_an_integer_that_may_be_the_next_one_is_read(other, most):
    refuse_codes(code(np.array([*range(1, most + 1), other])), "label", frame_row)


ODD_NAMES = ["a", "A", "ab", "Ab ", " ab", "a  b", "a b", "a\tb", "Total:", " total :", "#REF!", "nan", "NA", "é", "x:"]
ODD_NAMES += ["\\N", "null", "a\nb", "1", "01", "ß", "ss", "n.a.", "Sum"]


@given(st.lists(st.sampled_from(ODD_NAMES), min_size=1, max_size=4, unique=True))
def test_names_checked_at_once_are_those_checked_one_by_one(names):
    index = pd.Index(names)
    one_by_one = (twins(index, "items"), totals(index, "an item"), called_missing(index, "an item"))
    assert note_names(index, "item") == [note for note in one_by_one if note]
