"""Matching of the items of features and annotations."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from consilience import Groupings, Labels, Pairs, read_annotations
from consilience.active import ActiveSession
from consilience.annotations import concat
from consilience.annotations.matching import match_items, rows_of_matrix
from consilience.consensus import SubsetFusion
from consilience.datasets import load_wine
from consilience.errors import AnnotationError, InputError, MatchingError
from consilience.selection.comparison import compare
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

CELLS = np.array([["p", "r"], ["p", "s"], ["q", "r"]], dtype=object)
NAMES = ["ant", "bee", "cow"]
X = pd.DataFrame({"f": [1.0, 2.0, 3.0]}, index=NAMES)
PLAIN = X.reset_index(drop=True)
NAMED = Groupings.from_matrix(CELLS, items=NAMES)
NUMBERED = Groupings.from_matrix(CELLS)
LONG = pd.DataFrame({"item": [2, 0, 1], "annotator": "Ann", "group": ["p", "p", "q"]})


def model(**parameters):
    return PartitionLabelModel(**{"prior_variance": 1.0, "n_init": 2, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def wine():
    """Wines with names, a crowd that names them, and their cultivars."""
    bunch = load_wine()
    names = pd.Index([f"wine {i}" for i in range(len(bunch.target))])
    crowd = simulate_crowd(bunch.target, n_annotators=8, items_each=60, items=names, random_state=0)
    return bunch.data.set_axis(names), crowd, pd.Series(bunch.target, index=names)


# ---- whether items have names


@pytest.mark.parametrize(
    ("annotations", "named"),
    [
        (Groupings.from_matrix(CELLS), False),
        (Groupings.from_matrix(pd.DataFrame(CELLS)), False),
        (Groupings.from_matrix(pd.DataFrame(CELLS, index=NAMES)), True),
        (Groupings.from_matrix(pd.DataFrame(CELLS, index=[2, 0, 1])), True),
        (Groupings.from_matrix(pd.DataFrame(CELLS, index=pd.RangeIndex(3, name="card"))), True),
        (Groupings.from_matrix(CELLS, items=NAMES), True),
        (Groupings.from_matrix(CELLS, items=[0, 1, 2]), True),
        (Groupings.from_matrix(CELLS, items=range(3)), False),
        (Labels.from_matrix(pd.Series(["p", "q"])), False),
        (Labels.from_matrix(pd.Series(["p", "q"], index=[1, 0])), True),
        (Groupings.from_frame(LONG), True),
        (Groupings.from_frame(LONG, items=range(3)), False),
        (Groupings.from_frame(LONG, items=[0, 1, 2]), True),
        (Groupings.from_frame(LONG).reindex(range(3)), False),
        (Groupings.from_frame(LONG).reindex(pd.RangeIndex(3)), True),
        (Groupings.from_lists([[["ant"], ["bee"]]]), True),
        (Groupings.from_lists([[[0], [1]]], items=range(2)), False),
        (Pairs.from_frame(pd.DataFrame({"item_a": [0], "item_b": [1], "annotator": "u", "same": True})), True),
        (NAMED[1:], True),
        (NUMBERED[1:], False),
        (NAMED.to_pairs(), True),
        (NUMBERED.to_pairs(), False),
        (NUMBERED.reindex(range(5)), False),
        (NAMED.by_position(), False),
        (concat([NAMED[:1], NAMED[1:]]), True),
    ],
)
def test_whether_items_have_names(annotations, named):
    assert annotations.named is named


@pytest.mark.parametrize(
    "content",
    [
        "card,Ann,Bo\nant,p,r\nbee,q,r\n",
        "participant,ant,bee\nAnn,p,q\n",
        "item,person,pile\nant,Ann,p\nbee,Ann,q\n",
    ],
)
def test_files_name_items(content, tmp_path):
    (tmp_path / "sorts.csv").write_text(content)
    assert read_annotations(tmp_path / "sorts.csv", kind="groupings").named


def test_rows_of_an_array_in_a_file_are_numbered(tmp_path):
    np.save(tmp_path / "sorts.npy", [[0, 1], [0, 2], [1, 0]])
    assert not read_annotations(tmp_path / "sorts.npy", kind="groupings", transpose=False).named


def test_by_position_drops_only_the_names():
    bare = NAMED.by_position()
    assert bare.items.equals(pd.RangeIndex(3))
    assert bare == NUMBERED


def test_names_and_numbered_rows_are_not_joined():
    with pytest.raises(AnnotationError, match="The items of part 0 have names, but those of part 1 are numbered rows"):
        concat([NAMED, NUMBERED])


# ---- matched


@pytest.mark.parametrize(
    ("annotations", "features"),
    [
        (NAMED, X),
        (NAMED, X.iloc[[2, 0, 1]]),
        (NUMBERED, PLAIN),
        (NUMBERED, X.to_numpy()),
        (NUMBERED, X.to_numpy().tolist()),
        (NUMBERED[[2, 0]], PLAIN.iloc[[2, 0]]),
        (NUMBERED[[2, 0]], X.to_numpy()[[2, 0]]),
        (NAMED.by_position(), X.to_numpy()),
        (Groupings.from_frame(LONG), PLAIN),
        (Groupings.from_frame(LONG), PLAIN.iloc[[1, 2, 0]]),
    ],
)
def test_rows_are_matched_with_their_annotations(annotations, features):
    found = match_items(annotations, features)
    wanted = features.index if isinstance(features, pd.DataFrame) else annotations.items
    assert found.items.equals(wanted)
    assert found == annotations.reindex(wanted)


@pytest.mark.parametrize(
    ("annotations", "features", "message"),
    [
        (NAMED, X.to_numpy(), r"have names \(such as 'ant'\), but the rows of X do not"),
        (NAMED, PLAIN, r"No item of the annotations \(such as 'ant'\) is in the index of X \(such as 0\)"),
        (NAMED, X.iloc[:2], "The item 'cow' has annotations but no row in X. Leave items out with"),
        (NUMBERED, X, r"are numbered rows, but those of X have names \(such as 'ant'\)"),
        (NUMBERED, PLAIN.iloc[[2, 0, 1]], "are numbered rows, but those of X have names"),
        (NUMBERED, PLAIN.iloc[:2], "X has 2 rows and the annotations 3 items"),
        (NUMBERED, X.iloc[:2], "X has 2 rows and the annotations 3 items"),
        (NUMBERED, X.to_numpy()[:2], "X has 2 rows and the annotations 3 items"),
        (Groupings.from_frame(LONG), X.to_numpy(), r"annotations.reindex\(range\(len\(X\)\)\)"),
        (NAMED, pd.concat([X, X]), "Item 'ant' has more than one row in X"),
    ],
)
def test_items_that_cannot_be_matched_are_refused(annotations, features, message):
    with pytest.raises(MatchingError, match=message):
        match_items(annotations, features)


@pytest.mark.parametrize("as_given", [lambda cells: cells, lambda cells: cells.tolist(), pd.DataFrame])
def test_an_array_takes_the_names_of_x(as_given):
    assert rows_of_matrix(as_given(CELLS), X).equals(X.index)
    assert rows_of_matrix(as_given(CELLS), PLAIN) is None
    assert rows_of_matrix(as_given(CELLS), X.to_numpy()) is None
    assert rows_of_matrix(as_given(CELLS), PLAIN.iloc[:2]) is None
    with pytest.raises(MatchingError, match="The rows of X were reordered"):
        rows_of_matrix(as_given(CELLS), PLAIN.iloc[[2, 0, 1]])


def test_an_array_is_matched_with_a_part_of_the_rows_by_position():
    part = pd.DataFrame({"f": np.arange(9.0)}).iloc[[8, 2, 5]]  # as train_test_split leaves them
    assert rows_of_matrix(CELLS, part).equals(part.index)


def test_a_table_with_names_keeps_them():
    table = pd.DataFrame(CELLS, index=NAMES[::-1])
    assert rows_of_matrix(table, X) is None
    assert match_items(Groupings.from_matrix(table), X).to_matrix().loc["ant"].tolist() == ["q", "r"]


# ---- pipelines


def orders(features):
    return {
        "as they stand": features,
        "sorted": features.sort_values("alcohol"),
        "shuffled": features.sample(frac=1, random_state=1),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
def test_a_pipeline_that_keeps_names_gives_the_same_result_in_any_order(wine):
    features, crowd, cultivar = wine
    for order, rows in orders(features).items():
        pipeline = make_pipeline(StandardScaler(), model(max_clusters=8)).set_output(transform="pandas")
        labels = pipeline.fit(rows, crowd)[-1].labels_
        assert adjusted_rand_score(cultivar[rows.index], labels) > 0.9, order


class Halved(TransformerMixin, BaseEstimator):
    """A user's step that returns arrays whatever set_output asks for."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X) / 2


@pytest.mark.filterwarnings("ignore::consilience.errors.FeatureScaleWarning")
@pytest.mark.parametrize(
    ("steps", "at_fault"),
    [
        ([StandardScaler()], "standardscaler"),
        ([StandardScaler().set_output(transform="pandas"), PCA(2)], "pca"),
        ([FunctionTransformer(np.log1p), StandardScaler(), PCA(2)], "standardscaler"),
        ([FunctionTransformer(np.log1p), make_pipeline(PCA(3), StandardScaler())], "pipeline"),
        (["passthrough", Halved()], "halved"),
        ([StandardScaler().set_output(transform="pandas"), Halved()], "halved"),
    ],
)
def test_the_step_that_dropped_the_names_is_named(wine, steps, at_fault):
    features, crowd, _ = wine
    pipeline = make_pipeline(*steps, model())
    with pytest.raises(MatchingError, match=rf"the step '{at_fault}' of the pipeline .*set_output\(transform=.pandas"):
        pipeline.fit(features, crowd)


def renumbered(table):
    return table.reset_index(drop=True)


@pytest.mark.parametrize(
    ("names", "as_pandas"),
    [
        (lambda i: f"wine {i}", False),
        (lambda i: f"wine {i}", True),
        (lambda i: (i + 5) % 178, False),
        (lambda i: i if i < 2 else 179 - i, False),
    ],
)
def test_the_step_that_renumbered_the_rows_is_named_before_those_that_drop_the_index(wine, names, as_pandas):
    index = [names(i) for i in range(178)]
    features, crowd, _ = wine
    features = features.set_axis(index)
    crowd = Groupings.from_matrix(crowd.to_matrix().set_axis(index))
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), FunctionTransformer(renumbered), PCA(2))
    if as_pandas:
        pipeline.set_output(transform="pandas")
    pipeline.steps.append(("model", model(max_clusters=4)))
    with pytest.raises(MatchingError) as refused:
        pipeline.fit(features, crowd)
    said = str(refused.value)
    assert "the step 'functiontransformer' of the pipeline returned a DataFrame with another index, as reset" in said
    assert ("through later steps with pipeline.set_output" in said) is not as_pandas


def test_numbered_rows_may_be_renumbered(wine):
    features, crowd, _ = wine
    features = features.reset_index(drop=True)
    crowd = Groupings.from_matrix(crowd.to_matrix().to_numpy(), items=list(range(178)))
    pipeline = make_pipeline(FunctionTransformer(renumbered), StandardScaler(), model(max_clusters=4))
    with pytest.raises(MatchingError, match="the step 'standardscaler' of the pipeline returned an array"):
        pipeline.fit(features, crowd)


def test_no_step_is_named_if_the_frame_had_no_names(wine):
    features, crowd, _ = wine
    with pytest.raises(MatchingError, match="cannot be matched; give X as a DataFrame indexed by item"):
        make_pipeline(StandardScaler(), model()).fit(features.reset_index(drop=True), crowd)


def test_no_step_is_named_if_names_were_never_there(wine):
    features, crowd, _ = wine
    with pytest.raises(MatchingError, match="do not, so they cannot be matched; give X as a DataFrame indexed"):
        make_pipeline(StandardScaler(), model()).fit(features.to_numpy(), crowd)


def test_cross_validation_refuses_lost_names(wine):
    features, crowd, _ = wine
    pipeline = make_pipeline(StandardScaler(), model())
    with pytest.raises(MatchingError, match="the step 'standardscaler'"):
        cross_val_score(pipeline, features, crowd, cv=KFold(2), error_score="raise")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cross_validation_of_shuffled_rows(wine):
    features, crowd, _ = wine
    pipeline = make_pipeline(StandardScaler(), model(max_clusters=6, n_init=1)).set_output(transform="pandas")
    folds = KFold(2, shuffle=True, random_state=0)
    scores = [
        cross_val_score(pipeline, rows, crowd.reindex(rows.index), cv=folds, error_score="raise").mean()
        for rows in orders(features).values()
    ]
    assert min(scores) > np.log(0.5), scores  # better than guessing one of two groups
    with pytest.raises(MatchingError, match="Before a cross-validation"):
        cross_val_score(pipeline, orders(features)["shuffled"], crowd, cv=folds, error_score="raise")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_compare_refuses_lost_names_and_names_no_winner(wine):
    features, crowd, _ = wine
    models = {"people": SubsetFusion(3), "both": make_pipeline(StandardScaler(), model())}
    with pytest.raises(MatchingError, match="the step 'standardscaler'"):
        compare(models, crowd, features, n_folds=2, memory=False, random_state=0)


# ---- spelling, and frames of other libraries


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        (["P-29", "P-30"], "'P-029' in the annotations seems to be 'P-29' in X"),
        (["p-029", "p-030"], "seems to be 'p-029' in X. Give both the same names"),
        ([" P-029", " P-030"], "seems to be ' P-029' in X"),
    ],
)
def test_names_that_differ_in_spelling_are_shown_side_by_side(theirs, said):
    mine = Groupings.from_matrix([["p"], ["q"]], items=["P-029", "P-030"])
    with pytest.raises(MatchingError, match=rf"^No item of the annotations .*{said}"):
        match_items(mine, pd.DataFrame({"f": [1.0, 2.0]}, index=theirs))
    with pytest.raises(MatchingError, match=rf"^The item 'P-030' .*\. The nearest name is {theirs[1]!r}\. Leave items"):
        match_items(mine, pd.DataFrame({"f": [1.0, 2.0]}, index=["P-029", theirs[1]]))


@pytest.mark.parametrize(("mine", "theirs"), [([1, 2], ["1", "2"]), (["1", "2"], [1, 2])])
def test_numbers_and_texts_are_shown_side_by_side(mine, theirs):
    annotations = Groupings.from_matrix([["p"], ["q"]], items=mine)
    with pytest.raises(MatchingError, match=f"{mine[0]!r} in the annotations seems to be {theirs[0]!r} in X"):
        match_items(annotations, pd.DataFrame({"f": [1.0, 2.0]}, index=theirs))


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas])
def test_a_frame_without_an_index_is_refused_with_the_remedy(library):
    named = library(X.reset_index(names="id"))
    with pytest.raises(
        InputError, match=r"of item 0 is 'ant'. .* make it the index: X.to_pandas\(\).set_index\('id'\)"
    ):
        model().fit(named, NAMED)
    with pytest.raises(MatchingError, match=r"such as 'id', X.to_pandas\(\).set_index\(\"id\"\)"):
        model().fit(library(X.reset_index(drop=True)), NAMED)
    with pytest.raises(InputError, match=r"drop the column. .* the index: X.set_index\('id'\)"):
        model().fit(X.reset_index(names="id"), NAMED)
    assert model().fit(named.to_pandas().set_index("id"), NAMED).items_.tolist() == NAMES


def test_a_column_that_does_not_name_items_is_not_an_index():
    words = X.assign(kind=["p", "p", "q"])
    with pytest.raises(InputError, match=r"encode or drop the column.$"):
        model().fit(words, NAMED)


# ---- sessions


def test_a_session_with_names_refuses_numbered_rows():
    with pytest.raises(MatchingError, match=r"those of the session have names \(such as 1\)"):
        ActiveSession([1, 2, 0]).tell(NUMBERED)
    assert ActiveSession([0, 1, 2]).tell(NUMBERED).groupings_ == NUMBERED
