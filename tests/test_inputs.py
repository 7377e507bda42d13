"""What people first pass to fit: frames of any shape and library, arrays with -1, two arguments, items without labels.

Each is read like the corresponding annotations object, or refused in one sentence.
"""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from consilience import Groupings, Labels, load, registry, save
from consilience.consensus import CSPA, KCC, Crowdclustering, DawidSkene, MajorityVote, SubsetFusion
from consilience.errors import AnnotationError, AnnotationWarning, InputError, UnannotatedWarning
from consilience.inspection import report
from consilience.semisupervised import MECC, InductiveConsensus, MPCKMeans, PartitionLabelModel
from tests.quick_cases import QUICK, in_turn

# ratings need labels with an order, which the names here have not; they are read as by the other models of labels
CONSENSUS = [
    name for name, entry in registry.ESTIMATORS.items() if entry.kind == "consensus" and name != "OrdinalRatings"
]
FEATURES = ["PartitionLabelModel", "MECC", "MPCKMeans", "SemiCrowd", "InductiveConsensus"]
WITHOUT_FEATURES = ["PartitionLabelModel", "MECC"]
N_ITEMS = 24
ITEMS = [f"t{i}" for i in range(N_ITEMS)]
TRUTH = np.arange(N_ITEMS) % 2
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def long_frame():
    """Labels by five annotators of each item, right in eight of nine cases."""
    rng = np.random.default_rng(0)
    rows = [(item, f"u{who}", "xy"[k ^ (rng.random() < 1 / 9)]) for item, k in zip(ITEMS, TRUTH) for who in range(5)]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


LONG = long_frame()
WIDE = Labels.from_frame(LONG).to_matrix().rename_axis("item")
NUMBERS = WIDE.map({"x": 0, "y": 1}.get).astype(int)
SECONDS = np.random.default_rng(1).integers(1, 500, size=len(LONG))
GROUPED = LONG.rename(columns={"label": "group"})
READ = {  # the value of a long table is called label for models of labels, and group for models of groupings
    "further column": lambda long: long.assign(seconds=SECONDS),
    "capitals": lambda long: long.rename(columns=str.upper),
    "other order": lambda long: long[long.columns[::-1]],
    "known words": lambda long: long.rename(columns={"item": "Tweet", "annotator": "userId"}),
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "categories": lambda long: long.astype("category"),
    "arrow dtypes": lambda long: long.convert_dtypes(dtype_backend="pyarrow"),
    "nullable text": lambda long: long.astype("string"),
    "rows by item and annotator": lambda long: long.set_index(["item", "annotator"]),
    "Series by item and annotator": lambda long: long.set_index(["item", "annotator"]).iloc[:, 0],
    "index of a filter": lambda long: long.set_axis(range(1000, 1000 + len(long))),
    "wide": lambda long: WIDE,
    "wide, index without a name": lambda long: WIDE.rename_axis(None),
    "wide, column of items": lambda long: WIDE.reset_index(),
    "wide, column of texts": lambda long: WIDE.reset_index(names="which"),
    "wide, polars": lambda long: pl.from_pandas(WIDE.reset_index()),
    "wide, arrow": lambda long: pa.table(WIDE.reset_index()),
    "wide, categories": lambda long: WIDE.astype("category"),
    "wide, nullable text": lambda long: WIDE.astype("string"),
    "wide, arrow dtypes": lambda long: WIDE.convert_dtypes(dtype_backend="pyarrow"),
    "people in rows": lambda long: WIDE.T.rename_axis("participant"),
}
LEFT_OUT = {
    "wide, seconds": WIDE.assign(seconds=range(N_ITEMS)),
    "wide, country": WIDE.assign(country=["de", "us"] * (N_ITEMS // 2)),
    "wide, comments": WIDE.reset_index().assign(comment="nice"),
}
REFUSED = {
    "own names": (
        LONG.set_axis(["foo", "bar", "baz"], axis=1),
        "long table.*same 'foo' and 'bar'.*item=…, annotator=…",
    ),
    "own names, polars": (pl.from_pandas(LONG.set_axis(["a", "b", "c"], axis=1)), "seems to be a long table"),
    "own names and seconds": (
        LONG.set_axis(["foo", "bar", "baz"], axis=1).assign(ms=SECONDS),
        r"from_frame\(frame, item=…, annotator=…, (label|group)=…\)",
    ),
    "own name of labels": (
        LONG.rename(columns={"label": "sentiment"}),
        "no column has a usual name for groups or lab",
    ),
    "numbers under own names": (
        pd.DataFrame({"f": np.repeat(np.arange(24), 5), "g": np.tile(np.arange(5), 24), "h": LONG["label"] == "x"}),
        "seems to be a long table.*same 'f' and 'g'.*item=…, annotator=…",
    ),
    "milliseconds": (NUMBERS.assign(ms=SECONDS[:N_ITEMS]), "'ms' contains words, or numbers of another size"),
    "milliseconds of two": (
        NUMBERS[["u0", "u1"]].assign(ms=SECONDS[:N_ITEMS]),
        "'ms' (has|contains|differs|shares no label)",
    ),
    "numbers of rows": (NUMBERS.assign(z=range(N_ITEMS)), "'z' differs in every row"),
    "features": (
        pd.DataFrame(np.random.default_rng(0).normal(size=(9, 3))),
        "seems to contain features.*PartitionLabelM",
    ),
    "lazy": (pl.from_pandas(LONG).lazy(), "a LazyFrame does not; give frame.collect"),
    "columns of two levels": (pd.concat({"a": WIDE}, axis=1), "columns have one level of names. Got 2 levels"),
    "rows of two levels": (pd.concat({"a": WIDE}, names=["study", "item"]), "index of 2 levels, .* join the levels"),
    "rows of two levels without names": (pd.concat({"a": WIDE.rename_axis(None)}), "index of 2 unnamed levels"),
    "index and column of one name": (WIDE.assign(item=1), "index and a column are both called 'item'"),
    "Series": (WIDE["u0"], "a Series holds those of one. Give a DataFrame with a column for each annotator"),
    "dict": ({"u0": 1}, r"Got a dict; give pd.DataFrame"),
    "no rows": (WIDE.iloc[:0], "has no rows"),
}


def model_of(name):
    """Return an estimator that stops early: only the reading is tested."""
    model = registry.estimator(name)(**QUICK[name])
    return model.set_params(max_iter=5) if "max_iter" in model.get_params(deep=False) else model


def annotations_for(name):
    """Return the annotations that all frames contain, and their long table."""
    if registry.ESTIMATORS[name].reads[0] == "labels":
        return Labels.from_frame(LONG), LONG
    return Groupings.from_frame(GROUPED), GROUPED


@cache
def fitted_to_annotations(name):
    """An estimator, fitted to the annotations that all frames contain."""
    if name in FEATURES:
        return model_of(name).fit(TestFramesBesideFeatures.X, Groupings.from_frame(GROUPED))
    return model_of(name).fit(annotations_for(name)[0])


def same_answer(model, expected, order):
    """Whether each item has the same responsibilities as in another fit."""
    place = model.items_.get_indexer(order)
    assert (place >= 0).all()
    assert len(place) == len(model.items_)
    np.testing.assert_allclose(model.responsibilities_[place], expected.responsibilities_, atol=1e-9)


class TestFrames:
    @in_turn(CONSENSUS, READ)
    def test_read_like_the_annotations(self, name, case):
        expected, model = fitted_to_annotations(name), model_of(name)
        with warnings.catch_warnings():
            warnings.simplefilter("error", AnnotationWarning)
            model.fit(READ[case](annotations_for(name)[1]))
        same_answer(model, expected, expected.items_)
        assert set(model.annotators_.index) == {f"u{who}" for who in range(5)}

    @in_turn(CONSENSUS, LEFT_OUT)
    def test_columns_that_are_not_annotators_are_left_out_with_a_warning(self, name, case):
        expected, model = fitted_to_annotations(name), model_of(name)
        with pytest.warns(AnnotationWarning, match=r"^Columns not read as annotators left out: "):
            model.fit(LEFT_OUT[case])
        same_answer(model, expected, expected.items_)

    @in_turn(CONSENSUS, REFUSED)
    def test_refused_in_one_sentence(self, name, case):
        frame, sentence = REFUSED[case]
        with pytest.raises(InputError, match=sentence):
            model_of(name).fit(frame)


class TestFramesBesideFeatures:
    X = pd.DataFrame(np.random.default_rng(2).normal(size=(N_ITEMS, 2)) + 4 * TRUTH[:, None], index=ITEMS)
    names = pytest.mark.parametrize("name", FEATURES)

    @in_turn(FEATURES, READ)
    def test_read_like_the_annotations(self, name, case):
        model = model_of(name).fit(self.X, y=READ[case](GROUPED))
        same_answer(model, fitted_to_annotations(name), ITEMS)

    @names
    def test_rows_without_names_are_in_the_order_of_the_features(self, name):
        expected = fitted_to_annotations(name)
        for y in (
            WIDE.to_numpy(),
            WIDE.to_numpy().tolist(),
            pl.from_pandas(WIDE),
            pa.table(WIDE.reset_index(drop=True)),
        ):
            same_answer(model_of(name).fit(self.X, y), expected, ITEMS)

    @in_turn(FEATURES, sorted(REFUSED.keys() - {"Series", "dict", "features"}))
    def test_refused_in_one_sentence(self, name, case):
        frame, sentence = REFUSED[case]
        with pytest.raises(InputError, match=sentence):
            model_of(name).fit(self.X, frame)

    @names
    @pytest.mark.parametrize("wide", [WIDE, WIDE.to_numpy(), pd.DataFrame([["p", "x"], ["q", "x"]] * 6)], ids=type)
    def test_annotations_given_alone_must_come_second(self, name, wide):
        sentence = rf"{name} requires y to be passed, .* Give the annotations second, as in fit\(X, annotations\)"
        sentence += r"; without features, fit\(None, annotations\)\." if name in WITHOUT_FEATURES else r"\.$"
        with pytest.raises(InputError, match=sentence):
            model_of(name).fit(wide)

    @names
    def test_features_given_twice_are_refused(self, name):
        with pytest.raises(
            InputError, match=f"seems to contain features.*{name} takes them as X, before the annotations"
        ):
            model_of(name).fit(self.X, self.X)

    @names
    def test_a_series_is_one_annotator(self, name):
        expected = model_of(name).fit(self.X, Groupings.from_matrix(WIDE[["u0"]]))
        same_answer(model_of(name).fit(self.X, WIDE["u0"].iloc[::-1]), expected, ITEMS)
        same_answer(model_of(name).fit(self.X, WIDE["u0"].astype("category")), expected, ITEMS)
        same_answer(model_of(name).fit(self.X, pl.Series(WIDE["u0"].tolist())), expected, ITEMS)


def test_labels_of_a_long_frame_reach_a_model_of_labels():
    X = TestFramesBesideFeatures.X
    model = InductiveConsensus(MajorityVote()).fit(X, LONG)
    assert sorted(model.classes_ if hasattr(model, "classes_") else np.unique(model.labels_)) == ["x", "y"]
    with pytest.raises(InputError, match=r"reads Labels, .* Got Groupings"):
        InductiveConsensus(MajorityVote()).fit(X, GROUPED)


def test_an_index_of_numbers_names_items_if_no_column_does():
    frame = WIDE.reset_index(drop=True).iloc[::-1]
    assert DawidSkene().fit(frame).items_.tolist() == list(range(N_ITEMS))[::-1]
    assert DawidSkene().fit(WIDE.reset_index().iloc[::-1]).items_.tolist() == ITEMS[::-1]


def test_annotators_in_rows_are_detected_by_cells_and_refused():
    sorts = pd.DataFrame(
        [
            ["a1", "a1", "a2", "a2", "a3", "a3"],
            ["b1", "b2", "b1", "b2", "b1", "b2"],
            ["c1", "c1", "c1", "c2", "c2", "c2"],
        ],
        columns=["tea", "milk", "beer", "wine", "rum", "gin"],
    )
    with pytest.raises(
        AnnotationError, match=r"rows of the frame seem to be annotators and its columns items.*frame\.T"
    ):
        KCC(2).fit(sorts)
    assert KCC(2, random_state=0).fit(sorts.T).items_.tolist() == sorts.columns.tolist()


@pytest.mark.parametrize(
    "frame", [WIDE.iloc[:1], WIDE.iloc[[0, 1]][["u3"]], pl.from_pandas(WIDE.iloc[:3].reset_index())]
)
def test_columns_of_known_annotators_are_not_checked(frame):
    model = DawidSkene().fit(Labels.from_frame(LONG))
    assert set(model.predict(frame)) <= {"x", "y"}


def test_a_frame_of_all_different_labels_may_be_predicted():
    said = pd.DataFrame({"Ann": list("abcdefghij"), "Bo": list("abcdefghij")})
    model = MajorityVote().fit(Labels.from_matrix(said))
    assert model.predict(said).tolist() == list("abcdefghij")
    with pytest.raises(AnnotationError, match="no annotator gave two items the same"):
        MajorityVote().fit(said)


ALL = [*CONSENSUS, *FEATURES]


def fitted(name, y, **given):
    X = np.random.default_rng(2).normal(size=(N_ITEMS, 2)) + 4 * TRUTH[:, None]
    return model_of(name).fit(X, y, **given) if name in FEATURES else model_of(name).fit(y, **given)


class TestMissing:
    """-1 follows the rule for files, and `missing` names other values."""

    names = pytest.mark.parametrize("name", ALL)
    numbers = np.where(np.random.default_rng(3).random(WIDE.shape) < 0.1, -1, NUMBERS.to_numpy())

    @staticmethod
    @cache
    def expected(name):
        numbers = TestMissing.numbers
        return fitted(name, np.where(numbers < 0, None, numbers.astype(object)))

    @names
    def test_ambiguous_minus_one_is_refused(self, name):
        for given in (self.numbers, self.numbers.astype(float), pd.DataFrame(self.numbers), self.numbers.tolist()):
            with pytest.raises(AnnotationError, match=r"-1 in row .* can be read in two ways with 0 and 1"):
                fitted(name, given)

    @names
    def test_unambiguous_minus_one_is_missing_with_a_warning(self, name):
        more = np.where(self.numbers == 1, 2, self.numbers)
        with pytest.warns(AnnotationWarning, match="cells with -1 read as missing"):
            model = fitted(name, more)
        np.testing.assert_allclose(model.responsibilities_, self.expected(name).responsibilities_)

    @in_turn(ALL, [-1, [-1, 99], "-1"], "missing")
    def test_missing_is_used(self, name, missing):
        expected = self.expected(name).responsibilities_
        for given in (self.numbers, pd.DataFrame(self.numbers), pl.DataFrame(self.numbers, schema=list("vwxyz"))):
            np.testing.assert_allclose(fitted(name, given, missing=missing).responsibilities_, expected)

    @names
    def test_missing_is_for_tables_alone(self, name):
        annotations, _ = annotations_for(name)
        with pytest.raises(AnnotationError, match=f"{name} was given (Labels|Groupings)"):
            fitted(name, annotations, missing=-1)


def test_missing_in_predict_and_fit_predict():
    said = TestMissing.numbers
    model = DawidSkene()
    labels = model.fit_predict(said, missing=-1)
    np.testing.assert_array_equal(model.predict(said, missing=-1), labels)
    np.testing.assert_allclose(model.predict_proba(said, missing=-1), model.responsibilities_, rtol=1e-12)
    clusters = KCC(2, random_state=0)
    np.testing.assert_array_equal(clusters.fit_predict(said, missing=-1), clusters.predict(said, missing=-1))


def test_missing_passes_through_a_pipeline():
    X = TestFramesBesideFeatures.X.to_numpy()
    scaled = make_pipeline(StandardScaler(), MPCKMeans(2, random_state=0))
    scaled.fit(X, TestMissing.numbers, mpckmeans__missing=-1)
    assert scaled[-1].n_clusters_ == 2


SECOND = {
    "labels": Labels.from_frame(LONG),
    "groupings": Groupings.from_frame(GROUPED),
    "wide": WIDE,
    "long": LONG,
    "polars": pl.from_pandas(LONG),
    "array": WIDE.to_numpy(),
    "dict": {},
    "text": "y",
}

TRUTHS = {"array": TRUTH, "list": TRUTH.tolist(), "Series": pd.Series(TRUTH), "text": TRUTH.astype(str)}


class TestSecondArgument:
    X = TestFramesBesideFeatures.X.to_numpy()

    @in_turn(CONSENSUS, SECOND)
    def test_is_refused_and_models_that_use_features_are_named(self, name, case):
        for call in (model_of(name).fit, model_of(name).fit_predict):
            with pytest.raises(InputError, match=f"^{name} got two arguments; .*fit\\(X, annotations\\): ") as caught:
                call(self.X, SECOND[case])
        using = [entry.name for entry in registry.ESTIMATORS.values() if entry.kind == "semisupervised"]
        assert str(caught.value).endswith(": " + ", ".join(using) + ".")

    @in_turn(CONSENSUS, TRUTHS)
    def test_one_value_per_item_is_ignored_with_a_warning(self, name, case):
        annotations, _ = annotations_for(name)
        model = model_of(name)
        with pytest.warns(AnnotationWarning, match=f"^y was not used: {name} reads annotations alone"):
            model.fit(annotations, TRUTHS[case])
        same_answer(model, fitted_to_annotations(name), annotations.items)


def test_partial_fit_refuses_a_second_argument_too():
    groupings = Groupings.from_frame(GROUPED)
    for model in (SubsetFusion(random_state=0), SubsetFusion(random_state=0).fit(groupings)):
        with pytest.raises(InputError, match="SubsetFusion got two arguments"):
            model.partial_fit(groupings, groupings)


@pytest.mark.parametrize("model", [KCC(2), Crowdclustering(), DawidSkene()], ids=lambda model: type(model).__name__)
def test_features_in_an_array_cause_a_warning(model):
    features = TestFramesBesideFeatures.X.to_numpy()
    with pytest.warns(AnnotationWarning, match=r"^Fractions such as .* were read as names.*PartitionLabelModel"):
        make_pipeline(FunctionTransformer(), model.set_params(**{"max_iter": 2})).fit(features)


def test_scorers_may_use_the_truth():
    with pytest.warns(AnnotationWarning, match="A scorer may still compare with it"):
        found = cross_validate(KCC(2, random_state=0), WIDE.to_numpy(), TRUTH, scoring="rand_score", cv=2)
    assert np.isfinite(found["test_score"]).all()
    assert np.isfinite(
        cross_validate(PartitionLabelModel(prior_variance=1.0), NUMBERS, NUMBERS, cv=2)["test_score"]
    ).all()


class TestItemsThatNobodyLabelled:
    silent = ("t3", "t7")
    names = ("DawidSkene", "MajorityVote", "ProductMixture", "SpectralEM", "StagewiseEM")

    def said(self, wide=WIDE):
        return Labels.from_matrix(wide.astype(object).drop(list(self.silent)).reindex(wide.index))

    @pytest.mark.parametrize("name", names)
    def test_have_no_label_and_cause_a_warning(self, name):
        model, labels = model_of(name), self.said()
        with pytest.warns(UnannotatedWarning, match=r"^2 items have no annotations and no class .*: 't3', 't7'\."):
            model.fit(labels)
        missing = pd.isna(model.labels_)
        assert model.items_[missing].tolist() == list(self.silent)
        assert [model.labels_[place] for place in np.flatnonzero(missing)] == [None, None]
        assert set(model.labels_[~missing]) == {"x", "y"}
        prior = model.responsibilities_[missing]
        np.testing.assert_array_equal(prior[0], prior[1])
        share = getattr(model, "weights_", getattr(model, "class_proportions_", np.full(2, 0.5)))
        np.testing.assert_allclose(prior[0], share, atol=0.02)
        assert (model._cluster_codes() == -1).sum() == 2
        sizes = model.cluster_profile(TestFramesBesideFeatures.X)["items"]
        assert sizes.sum() == N_ITEMS - 2

    @pytest.mark.parametrize("name", names)
    def test_predict_gives_no_label_to_new_ones(self, name):
        model = model_of(name).fit(Labels.from_frame(LONG))
        with pytest.warns(UnannotatedWarning, match="'t3', 't7'"):
            found = model.predict(self.said())
        assert [label is None for label in found] == [item in self.silent for item in ITEMS]

    @pytest.mark.parametrize(
        ("values", "kind", "nothing"),
        [((0, 1), "f", np.nan), ((0.5, 1.5), "f", np.nan), ((False, True), "O", None), ((2**60, 2**60 + 1), "O", None)],
    )
    def test_missing_labels_match_the_type_of_the_classes(self, values, kind, nothing):
        said = self.said(WIDE.map({"x": values[0], "y": values[1]}.get))
        with pytest.warns(UnannotatedWarning):
            vote = MajorityVote().fit(said)
        assert vote.labels_.dtype.kind == kind
        assert set(vote.labels_[~pd.isna(vote.labels_)]) == set(values)
        assert vote.labels_[3] is None if nothing is None else np.isnan(vote.labels_[3])

    def test_labels_of_all_items_keep_the_dtype_of_the_classes(self):
        assert MajorityVote().fit(Labels.from_matrix(NUMBERS)).labels_.dtype == np.int64

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")
    def test_are_saved_and_reported(self, tmp_path):
        labels = self.said()
        model = DawidSkene().fit(labels)
        save(model, tmp_path / "model.zip")
        np.testing.assert_array_equal(load(tmp_path / "model.zip").labels_, model.labels_)
        report(model, labels, X=TestFramesBesideFeatures.X, path=tmp_path / "report.html")
        assert "2 items have no labels and no class" in (tmp_path / "report.html").read_text()

    @pytest.mark.parametrize(
        "name", ["KCC", "CSPA", "MetaClustering", "SubsetFusion", "Crowdclustering", "CorrelationClustering"]
    )
    @pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")
    def test_items_in_no_grouping_have_label_minus_one(self, name):
        model = model_of(name).fit(self.said().to_groupings())
        assert model.items_[model.labels_ == -1].tolist() == list(self.silent)
        if name not in ("KCC", "Crowdclustering", "CorrelationClustering"):
            assert "2 of 24 items are in no grouping" in " ".join(model.notes_)

    @pytest.mark.parametrize("name", ["KCC", "Crowdclustering", "CorrelationClustering"])
    def test_other_models_warn_of_items_in_no_grouping(self, name):
        with pytest.warns(
            UnannotatedWarning, match="^2 items have no (annotations|judged pair) and no cluster .*: 't3', 't7'"
        ):
            model_of(name).fit(self.said().to_groupings())

    def test_features_decide_for_them(self):
        X = TestFramesBesideFeatures.X
        for model in (InductiveConsensus(MajorityVote()), MECC(2, random_state=0), CSPA(2, random_state=0)):
            args = (self.said().to_groupings(),) if isinstance(model, CSPA) else (X, self.said())
            model.fit(*args)  # a warning would be an error


def test_code_without_a_module_is_also_warned():
    """A profiler and `exec` run code whose globals have no ``__name__``."""
    code = "model.fit([['p', 'x'], ['p', 'x'], ['q', 'y'], [None, None]])"
    with pytest.warns(UnannotatedWarning, match="1 item has no annotations"):
        exec(code, {"model": KCC(2, random_state=0)})
