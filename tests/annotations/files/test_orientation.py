"""The orientation of a wide table is found or refused, and never wrong."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience.annotations import Groupings, read_annotations
from consilience.annotations.files.orientation import look_alike, orientation
from consilience.annotations.names import code
from consilience.errors import AnnotationError, AnnotationWarning
from tests.quick_cases import some_quick

DATA = os.environ.get("CONSILIENCE_DATA")
REAL = [
    *("beers8_abdi2007", "beers9_lelievre2009_EBr1", "beers9_lelievre2009_EBr2", "beers9_lelievre2009_EBr3"),
    *("beers9_lelievre2009_EBr4", "beers9_lelievre2009_EV", "spices16_french", "amari12_lahne2018", "orange_juice10"),
    *("perfume12_sensominer", "perfume12_sensominer_words", "kinship15_rosenberg1975", "accents45_geller"),
    *("smoothies8_sensominer", "smoothies8_sensominer_raw", "aroma16_courcoux2014", "wines18_free_experts"),
    *("wines18_ternary_experts", "cards16_children_hierarchical"),
]


def found(rows, columns, cells, key=""):
    side = orientation(key, list(rows), list(columns), code(np.asarray(cells, dtype=object).ravel()))
    return None if side is None else side.annotators


DISTINCT = np.arange(6).reshape(2, 3)  # not informative


@pytest.mark.parametrize(
    ("key", "rows", "columns", "expected"),
    [
        ("card", "ab", "xyz", "columns"),
        ("Participant ID", "ab", "xyz", "rows"),
        ("rater", ["card 1", "card 2"], "xyz", "rows"),
        ("id", ["1", "2"], ["J1", "J2", "J3"], "columns"),
        ("", ["user_1", "user_2"], ["a", "b", "c"], "rows"),
        ("", ["Q1", "Q2"], ["a", "b", "c"], "columns"),
        ("", ["a", "b"], ["Q1", "Q2", "Q3"], "rows"),
        ("", ["card 1", "card 2"], ["Rater 1", "Rater 2", "Rater 3"], "columns"),
        ("", ["Rater 1", "Rater 2"], ["card 1", "card 2", "card 3"], "rows"),
        ("", ["P1", "P2"], ["x", "y", "z"], None),  # people or products
        ("", ["user 1", "user 2"], ["rater 1", "rater 2", "rater 3"], None),
        ("name", "ab", "xyz", None),
    ],
)
def test_names_decide_before_cells(key, rows, columns, expected):
    assert found(rows, columns, DISTINCT, key) == expected


def test_own_names_of_groups_decide():
    people = [
        [f"{who}{group}" for who in "ABC"] for group in "xxyyzz"
    ]  # one column each, with their own names of groups
    assert found("abcdef", "ABC", people) == "columns"
    assert found("ABC", "abcdef", np.transpose(people)) == "rows"
    shared = [["x", "x", "y"]] * 6
    assert found("abcdef", "ABC", shared) is None


def test_numbers_without_gaps_decide():
    rng = np.random.default_rng(0)
    numbers = np.transpose([1 + pd.factorize(rng.integers(k, size=12))[0] for k in (2, 3, 9, 4, 6, 2, 8, 5)])
    rows, columns = "abcdefghijkl", "ABCDEFGH"
    assert found(rows, columns, numbers) == "columns"
    assert found(columns, rows, numbers.T) == "rows"
    assert found(rows, columns, numbers - 1) == "columns"
    assert found(rows, columns, [[f"G{n}" for n in row] for row in numbers]) == "columns"
    assert found(rows, columns, numbers * 10) is None  # gaps on both sides
    assert found("ab", "xy", [[1, 1], [2, 2]]) is None


def test_few_numbers_in_long_rows_are_not_evidence():
    rng = np.random.default_rng(0)
    closed = rng.integers(1, 6, size=(10, 60))  # everybody uses some of the same five numbers
    assert any(len(set(column)) < column.max() for column in closed.T)  # gaps in columns
    assert all(set(row) == {1, 2, 3, 4, 5} for row in closed)  # and none in rows
    assert found("abcdefghij", [f"{a}{b}" for a in "abcdef" for b in "qrstuvwxyz"], closed) is None


def test_orientation_of_labels_is_decided_by_names_alone():
    rng = np.random.default_rng(0)
    numbers = np.transpose([1 + pd.factorize(rng.integers(k, size=12))[0] for k in (2, 3, 9, 4, 6, 2, 8, 5)])
    assert orientation("id", list("abcdefghijkl"), list("ABCDEFGH"), None) is None
    assert orientation("id", list("abcdefghijkl"), [f"rater {k}" for k in numbers[0]], None).annotators == "columns"


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["V1", "V2"], True), (["0", "1"], True), (["a", "b"], False), (["V1", "W1"], False), (["V", "V1"], False)],
)
def test_look_alike(names, expected):
    assert look_alike(names) is expected


def outcome(read, wide, *, is_transposed, key):
    """Classify the reading of a wide table of items × annotators, or its transpose: "right", "refused" or "wrong"."""
    table = wide.T if is_transposed else wide
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnnotationWarning)  # about columns of fractions
            said = read(table.to_csv(index_label=key), missing=[])
    except AnnotationError as error:
        assert re.search("can be read in two ways|transpose", str(error)), error  # noqa: PT017
        return "refused"
    return "right" if [str(name) for name in said.items] == [str(name) for name in wide.index] else "wrong"


def counts(read, tables, key="id"):
    outcomes = [
        outcome(read, wide, is_transposed=is_transposed, key=key) for wide in tables for is_transposed in (False, True)
    ]
    return {what: outcomes.count(what) for what in ("right", "refused", "wrong")}


def real(name):
    return pd.read_csv(Path(DATA) / "free-sort" / f"{name}.csv", index_col=0, dtype=str)


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="CONSILIENCE_DATA does not name the folder of real data sets")
def test_real_sorts_with_a_neutral_key_are_never_read_the_wrong_way(read):
    found = counts(read, [real(name) for name in REAL])
    assert found["wrong"] == 0, found
    assert found["right"] > found["refused"], found


@pytest.mark.skipif(not DATA, reason="CONSILIENCE_DATA does not name the folder of real data sets")
@pytest.mark.parametrize("site", ["celestino", "skroutz"])
@pytest.mark.parametrize("own_numbers", [False, True])
def test_real_card_sorts_as_wide_tables(read, site, own_numbers):
    long = pd.read_csv(Path(DATA) / "cardsort-greek-sites" / f"{site}.csv.gz")
    wide = long.pivot_table(index="card_id", columns="user", values="group_name", aggfunc="first")
    if own_numbers:
        wide = wide.apply(lambda groups: pd.Series(pd.factorize(groups)[0] + 1, index=groups.index))
    wide.index = [f"card {number}x" for number in wide.index]
    wide.columns = [f"somebody {number}x" for number in wide.columns]
    found = counts(read, [wide])
    assert found["wrong"] == 0, found


@pytest.mark.parametrize(
    "labelling",
    some_quick(["own numbers", "shared names", "own numbers from 0", "own names", "closed categories"]),
)
@pytest.mark.slow
def test_simulated_sorts_with_a_neutral_key_are_never_read_the_wrong_way(read, labelling):
    rng = np.random.default_rng(7)
    tables = [simulated(rng, labelling) for _ in range(40)]
    found = counts(read, tables)
    assert found["wrong"] == 0, found
    assert found["right"] > 0 or not labelling.startswith("own"), found


def simulated(rng, labelling):
    """A free sort by people who agree in part, with groups named according to `labelling`, and uninformative names."""
    n_items, n_people, n_groups = rng.integers(8, 40), rng.integers(3, 30), rng.integers(2, 7)
    truth = rng.integers(n_groups, size=n_items)
    said = rng.integers(n_groups, size=(n_items, n_people))
    codes = np.where(rng.random((n_items, n_people)) < 0.7, truth[:, None], said)
    coarse = rng.integers(1, n_groups + 1, size=n_people)
    codes = codes if labelling == "closed categories" else codes % coarse  # some people make fewer groups
    names = []
    for person, column in enumerate(codes.T):
        numbers = pd.factorize(column)[0]
        names.append(
            {
                "own numbers": [str(number + 1) for number in numbers],
                "own numbers from 0": [str(number) for number in numbers],
                "own names": [f"{chr(97 + person)}{'pqrstuv'[number]}" for number in numbers],
                "shared names": ["pqrstuv"[code] + "-like" for code in column],
                "closed categories": [str(code + 1) for code in column],
            }[labelling]
        )
    rows = [f"thing {chr(97 + k % 26)}{'x' * (k // 26)}" for k in range(n_items)]
    columns = [f"{chr(65 + k % 26)}nn{'e' * (k // 26)}" for k in range(n_people)]
    return pd.DataFrame(np.transpose(names), index=rows, columns=columns)


def test_explicit_options_come_first(read):
    wide = pd.DataFrame([["1", "1"], ["2", "2"]], index=["a", "b"], columns=["x", "y"])
    content = wide.to_csv(index_label="id")
    with pytest.raises(
        AnnotationError, match=r"can be read in two ways: 2 items in the rows.* or 2 annotators in the rows"
    ):
        read(content)
    straight, turned = read(content, transpose=False), read(content, transpose=True)
    assert straight.items.tolist() == turned.annotators.tolist() == ["a", "b"]
    assert straight.annotators.tolist() == turned.items.tolist() == ["x", "y"]
    assert read(content, item="id") == straight
    assert read(content, annotator="id") == turned


def test_participants_by_cards_under_an_id(read, tmp_path):
    rng = np.random.default_rng(3)
    wide = simulated(rng, "own numbers")
    cards, people = [f"card {k}" for k in range(len(wide))], [f"{k}" for k in range(wide.shape[1])]
    table = pd.DataFrame(wide.to_numpy().T, index=people, columns=cards)
    said = read(table.to_csv(index_label="id"))
    assert said.items.tolist() == cards
    assert said.n_annotators == len(people)
    assert "a row per annotator, a column per card" in said.reading.how
    assert said == read(table.to_csv(index_label="participant"))
    assert said == read_annotations(tmp_path / "table.csv", transpose=True)
    assert said == Groupings.from_frame(table.astype(int).reset_index(names="participant").astype({"participant": int}))
