"""Properties of all annotations: round trips, permutations, folds, and passing through scikit-learn unchanged."""

import copy
import csv
import re
import tempfile
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience.annotations import Groupings, Labels, concat, read_annotations, write_annotations
from consilience.annotations.files.values import CODES_OF_MISSING
from consilience.errors import AnnotationError, AnnotationWarning, InputError

TEXT = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \t\n\r\"',;|\\#0")), min_size=1, max_size=6)
NAMES = {
    "text": TEXT.filter(str.strip),
    "integers": st.integers(-(10**17), 10**17),
    "floats_like": st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{0,2})?(e[0-9])?", fullmatch=True),
    "plausible_missing": st.sampled_from(["NA", "nan", "NaN", "null", "None", "N/A", "-", "0", "007", "True"]),
    "near_numbers": st.sampled_from(["-1", "1", "1.0", "0", "0.0", "2.0", "-1.0", "NA", "null", "1e3", "1,5", "+1"]),
    "few_integers": st.integers(-2, 3),
    "nasty": st.sampled_from(
        [
            *(
                "unsorted",
                "Not sorted",
                "uncategorized",
                "Total",
                "=1+1",
                "item",
                "group",
                "label",
                "annotator",
                "same",
            ),
            *(
                '"',
                '""',
                "'",
                '"a"',
                'a"b',
                "a\nb",
                "a\tb",
                "a\r\nb",
                "a\tb\n\t",
                "\ufeffa",
                "a\ufeff",
                "a\0b",
                "sep=;",
            ),
            *(
                "a\u00a0b",
                "a\u2003",
                "\u00e9",
                "e\u0301",
                "Ant",
                "ant",
                "ant ",
                "[1, 2]",
                '["a"]',
                "{}",
                "a;b",
                "a|b,c",
            ),
        ]
    ),
}
TEXT_FILES = ("csv", "tsv", "csv.gz")
KINDS = ("groupings", "pairs", "labels")


def unique(names, minimum, maximum):
    return st.lists(names, min_size=minimum, max_size=maximum, unique=True)


def build(kind, matrix, items, people, again=None):
    """Make annotations from the parts drawn by `annotations`, since the type checks in them are themselves random.

    `again` is a second matrix: repeated labels, or groupings whose pairs were judged again.
    """
    if again is not None and kind == "labels":
        again = np.where(again == matrix, None, again)  # the same label again would be left out, with a warning
    rounds = [matrix] if again is None or kind == "groupings" else [matrix, again]
    make = partial(Labels.from_matrix, exact=True) if kind == "labels" else Groupings.from_matrix
    parts = [make(one, items=items, annotators=people, missing=[]) for one in rounds]
    if kind == "pairs":
        return concat([part.to_pairs() for part in parts])
    return parts[0] if len(parts) == 1 else concat(parts)


@st.composite
def annotations(draw, kinds=KINDS, names=tuple(NAMES), *, repeats=True):
    """Arguments of `build`: any kind, over names of any one kind for each of items, annotators and groups."""
    kind = draw(st.sampled_from(kinds))
    pool = [NAMES[draw(st.sampled_from(names))] for _ in range(3)]
    items, people, groups = draw(unique(pool[0], 2, 6)), draw(unique(pool[1], 1, 4)), draw(unique(pool[2], 1, 4))
    cells = st.lists(st.sampled_from([*range(-1, len(groups))]), min_size=len(items), max_size=len(items))
    rounds = [np.array([draw(cells) for _ in people]).T for _ in range(1 + (repeats and draw(st.booleans())))]
    matrix, *again = [np.array([*groups, None], dtype=object)[codes] for codes in rounds]
    return kind, matrix, items, people, *again


def exactly(said):
    """What keeps classes apart that differ only in case, such as "nan" and "NaN"."""
    return {"exact": True} if isinstance(said, Labels) else {}


def says_nothing(said, extension):
    """Whether a group or label is one that reading treats as missing, or refuses, by default."""
    role = {Groupings: "group", Labels: "label"}.get(type(said))
    names = set() if role is None else {*said.to_frame()[role]}
    is_text = extension in TEXT_FILES
    words = {"nan", "<na>", "#n/a", "null", "nat", "na", "n/a", "n.a."} if is_text else set()
    if role == "group":
        words = words | {"unsorted", "not sorted", "uncategorized"}
    texts = {name.strip().casefold() for name in names if isinstance(name, str)}
    whole = {re.sub(r"\.0$", "", name) if isinstance(name, str) else str(name) for name in names}
    are_integers = all(isinstance(name, int) or (is_text and re.fullmatch(WHOLE, name)) for name in names)
    return bool(texts & words) or (are_integers and "-1" in whole and min(map(int, whole)) == -1)


def has_a_code(said):
    """Whether a group or label is a number with which survey programs say that an answer is missing."""
    names = said.to_frame().iloc[:, -1]
    return any(float(name) in {-1, *CODES_OF_MISSING} for name in names if re.fullmatch(r"[-+]?\d+(\.0*)?", str(name)))


def has_decimals(said):
    numbers = [name for name in said.to_frame().iloc[:, -1] if re.fullmatch(r"-?\d+\.?\d*(e\d)?", str(name))]
    return any(float(name) % 1 for name in numbers)


WHOLE = r"(0|-?[1-9][0-9]{0,17})(\.0)?"


def refusal_of_text(said):
    """Return the error with which a text file must refuse these names, if any."""
    frame = said.to_frame().drop(columns=["same", "item", "item_a", "item_b"], errors="ignore")
    columns = [[*said.items], *(frame[name].tolist() for name in frame.columns)]
    texts = [name for column in columns for name in column if isinstance(name, str)]
    whole = [c for c in columns if c and all(isinstance(name, str) and re.fullmatch(WHOLE, name) for name in c)]
    if any("\0" in name for name in texts):
        return "null character"
    if any(name.endswith(".0") for column in whole for name in column):
        return "since it would be read as"
    return "read as integers" if whole else None


@settings(deadline=None, max_examples=300)
@given(annotations(), st.sampled_from([*TEXT_FILES, "json", "parquet"]))
def test_files_return_what_was_written(said, extension):
    said = build(*said)
    texts = [name for column in said.to_frame().to_numpy().T for name in column if isinstance(name, str)]
    items = [*map(str, said.items)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", AnnotationWarning)
        path = Path(folder) / f"said.{extension}"
        refusal = refusal_of_text(said) if extension in TEXT_FILES else None
        if extension == "tsv" and any("\t" in name and {*"\r\n"} & {*name} for name in texts + items):
            refusal = "both a tab and a line break"
        if refusal and refusal != "read as integers":
            with pytest.raises(InputError, match=r"null character|both a tab|since it would be read as"):
                write_annotations(said, path)
            assert not path.exists()
            return
        write_annotations(said, path)
        told = [str(warning.message) for warning in raised]
        silent = any("will be read as missing" in text for text in told)
        assert silent or not says_nothing(said, extension)
        assert (
            not silent or says_nothing(said, extension) or has_a_code(said)
        )  # such as 99 beside words, is asked about
        assert any("will be read as integers" in text for text in told) == (refusal is not None)
        if not refusal:
            kind = "labels" if isinstance(said, Labels) and has_decimals(said) else None  # or 0.5 is no class
            lines = {"total", "item", "group", "label", "annotator", "same"}
            like_a_line = lines & {*map(str.casefold, texts + items)}
            try:
                read = read_annotations(path, missing=[] if silent else None, kind=kind, **exactly(said))
            except AnnotationError as error:
                if like_a_line and "header of a second table" in str(error):
                    return
                raise
            is_told = any(" left out" in str(warning.message) for warning in raised)
            assert read == said or (like_a_line and is_told)


@settings(deadline=None, max_examples=40)
@given(annotations(kinds=("groupings", "labels"), repeats=False))
def test_wide_files_return_what_was_written(said):
    said = build(*said)
    wide = said.to_matrix()
    # what a text file keeps: every cell is text, and a header has no surrounding white space
    wide.index, wide.columns = [f"i{name}" for name in wide.index], [f"a{name}x" for name in wide.columns]
    wide = wide.map(lambda name: None if name is None else f"g{name}")
    if "\0" in "".join(map(str, [*wide.index, *wide.columns, *wide.to_numpy().ravel()])):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        wide.to_csv(path, index_label="item", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        kind = type(said).__name__.lower()
        with warnings.catch_warnings():
            # beside empty columns, one with words may be told to be odd; it is read all the same
            warnings.filterwarnings("ignore", ".* was read as an annotator like them", AnnotationWarning)
            read = read_annotations(path, kind=kind, item="item", missing=[], transpose=False, **exactly(said))
            assert read == type(said).from_matrix(wide, **exactly(said))


@settings(deadline=None, max_examples=40)
@given(annotations(), st.randoms(use_true_random=False))
def test_order_of_rows_and_of_items_makes_no_difference(said, random):
    said = build(*said)
    frame = said.to_frame()
    rows = random.sample(range(len(frame)), len(frame))
    assert type(said).from_frame(frame.iloc[rows], items=said.items, missing=[], **exactly(said)) == said
    items = random.sample(list(said.items), len(said))
    assert said.reindex(items).reindex(said.items) == said
    people = random.sample(list(said.annotators), said.n_annotators)
    assert said.restrict(annotators=people) == said


@settings(deadline=None, max_examples=40)
@given(annotations(kinds=("groupings", "labels")), st.data())
def test_folds_of_items_join_to_the_whole(said, data):
    said = build(*said)
    fold = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(said), max_size=len(said))))
    parts = [said[fold == number] for number in range(3)]
    assert sum(part.n_rows for part in parts) == said.n_rows
    assert concat(parts).reindex(said.items) == said
    for part in parts:
        assert list(part.annotators) == list(said.annotators)


@settings(deadline=None, max_examples=40)
@given(annotations(), st.data())
def test_parts_of_annotators_join_to_the_whole(said, data):
    said = build(*said)
    here = np.array(data.draw(st.lists(st.booleans(), min_size=said.n_annotators, max_size=said.n_annotators)))
    parts = [said.restrict(annotators=said.annotators[mask]) for mask in (here, ~here)]
    assert concat(parts) == said


@settings(deadline=None, max_examples=40)
@given(annotations(), st.data())
def test_restriction_is_that_of_the_long_table(said, data):
    said = build(*said)
    positions = data.draw(st.lists(st.integers(0, len(said) - 1), unique=True))
    kept = said[positions]
    frame = said.to_frame()
    columns = [column for column in frame.columns if column.startswith("item")]
    inside = frame[columns].isin(list(kept.items)).all(axis=1)
    assert kept == type(said).from_frame(frame[inside], items=kept.items, missing=[], **exactly(said))
    assert list(kept.items) == [said.items[position] for position in positions]


@settings(deadline=None, max_examples=40)
@given(annotations(kinds=("groupings", "labels"), repeats=False))
def test_pairs_match_a_loop_over_the_wide_table(said):
    said = build(*said)
    wide = said.to_matrix().to_numpy()
    expected = {
        (i, j, m): wide[i, m] == wide[j, m]
        for m in range(wide.shape[1])
        for j in range(len(wide))
        for i in range(j)
        if wide[i, m] is not None and wide[j, m] is not None
    }
    pairs = said.to_pairs()
    found = {(a, b, m): same for a, b, m, same in zip(pairs.item_a, pairs.item_b, pairs.annotator, pairs.same)}
    assert found == expected


@settings(deadline=None, max_examples=40)
@given(annotations(), annotations())
def test_equality_is_that_of_the_rows(one, other):
    one, other = build(*one), build(*other)

    def rows(said):
        return Counter(frozenset(row.items()) for row in said.to_frame().to_dict("records"))

    same = type(one) is type(other) and list(one.items) == list(other.items) and rows(one) == rows(other)
    assert (one == other) == same
    assert one == copy.deepcopy(one)


class Recorder(ClusterMixin, BaseEstimator):
    """Keep what fit and score are passed."""

    def __init__(self, prior=None, shift=0):
        self.prior = prior
        self.shift = shift

    def fit(self, X, y):
        self.seen_ = y
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def score(self, X, y):
        self.scored_ = y
        return float(y.n_rows) - self.shift


@pytest.fixture(params=["groupings", "pairs", "labels"])
def said(request):
    codes = np.random.default_rng(0).integers(-1, 3, (30, 5))
    items = [f"item {i}" for i in range(30)]
    if request.param == "labels":
        return Labels.from_matrix(codes, items=items, missing=-1)
    groupings = Groupings.from_matrix(codes, items=items, missing=-1)
    return groupings if request.param == "groupings" else groupings.to_pairs()


@pytest.fixture(name="X")
def features():
    return pd.DataFrame({"x": np.arange(30.0)}, index=[f"item {i}" for i in range(30)])


def test_pipeline_passes_annotations_on(said, X):
    model = make_pipeline(StandardScaler(), Recorder()).fit(X, said)
    assert model[-1].seen_ is said
    assert model.score(X, said) == said.n_rows


def test_cross_validate_gives_each_fold_its_items(said, X):
    folds = list(KFold(4).split(X))
    result = cross_validate(
        make_pipeline(StandardScaler(), Recorder()), X, said, cv=4, return_estimator=True, return_train_score=True
    )
    for (train, test), model, score in zip(folds, result["estimator"], result["test_score"]):
        assert model[-1].seen_ == said[train]
        assert score == said[test].n_rows
        assert list(model[-1].seen_.annotators) == list(said.annotators)


def test_grid_search_refits_on_all(said, X):
    search = GridSearchCV(Recorder(), {"shift": [1, 0]}, cv=ShuffleSplit(3, random_state=0)).fit(X, said)
    assert search.best_params_ == {"shift": 0}
    assert search.best_estimator_.seen_ is said


def test_split_and_clone(said, X):
    X_train, X_test, train, test = train_test_split(X, said, random_state=0)
    assert list(train.items) == list(X_train.index)
    assert list(test.items) == list(X_test.index)
    twin = clone(Recorder(prior=said)).prior
    assert twin == said
    assert twin is not said


def test_public_names():
    import consilience.annotations as layer

    assert set(layer.__all__) == {
        "Annotations", "Groupings", "Labels", "Pairs", "Reading", "Summary", "concat", "read_annotations",
        "write_annotations",
    }  # fmt: skip
