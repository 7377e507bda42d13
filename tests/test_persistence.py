"""Saved models are restored exactly, and a file that is not a saved model is refused in one sentence."""

import io
import json
import math
import os
import struct
import zipfile
from dataclasses import fields, is_dataclass
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from consilience import Groupings, load, save
from consilience.active import Explore, Informative
from consilience.consensus import CSPA, KCC
from consilience.errors import InputError, SavedModelError
from consilience.persistence.archive import parse_array
from consilience.persistence.codec import MAX_DEPTH, REMAINDER, UnknownValueError, ValueDecoder, ValueEncoder
from consilience.persistence.kinds import KINDS
from consilience.semisupervised import PartitionLabelModel
from tests.quick_cases import some_quick
from tests.subset_groupings import arguments

FEATURES = pd.DataFrame(
    np.random.default_rng(0).normal(size=(12, 3)) + np.repeat([[0.0], [4.0], [8.0]], 4, axis=0),
    index=[f"item {i}" for i in range(12)],
    columns=["length", "width", "mass"],
)
ANNOTATIONS = Groupings.from_matrix(
    pd.DataFrame(
        {"Ann": list("aaaabbbbcccc"), "Bo": [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, None, None], "Cy": ["x"] * 12},
        index=FEATURES.index,
    )
)


def unfitted(**parameters):
    return PartitionLabelModel(
        **({"prior_variance": 1.0, "n_init": 1, "max_clusters": 4, "tol": 1e-3, "random_state": 0} | parameters)
    )


@pytest.fixture(scope="module")
def model():
    return unfitted().fit(FEATURES, ANNOTATIONS)


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.zip"
    save(model, path)
    return path


def same(one, other):
    """Whether two values are of the same type and equal to the last bit, recursively."""
    one, other = (x.data if type(x).__name__ == REMAINDER else x for x in (one, other))  # saved as the list it holds
    if type(one) is not type(other):
        return False
    if hasattr(one, "get_params"):
        return same(*(sorted(x.__getstate__().items(), key=lambda held: held[0]) for x in (one, other)))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same([*one.keys(), *one.values()], [*other.keys(), *other.values()])
    if isinstance(one, np.random.RandomState):
        return same(one.get_state(legacy=False), other.get_state(legacy=False))
    if isinstance(one, np.random.Generator):
        return same(one.bit_generator.state, other.bit_generator.state)
    if isinstance(one, np.ndarray):
        return same_arrays(one, other)
    if isinstance(one, csr_array):
        parts = [[x.shape, x.indptr, x.indices, x.data] for x in (one, other)]
        return same(*parts)
    if is_dataclass(one):
        return same(vars(one), vars(other))
    if isinstance(one, pd.MultiIndex):
        parts = [(list(i.levels), [np.asarray(c) for c in i.codes], list(i.names)) for i in (one, other)]
        return same(*parts)
    if isinstance(one, pd.RangeIndex):
        return one.equals(other) and same([one.step, one.name], [other.step, other.name])
    if isinstance(one, pd.Index | pd.Series):
        names = [[x.name, x.index if isinstance(x, pd.Series) else None] for x in (one, other)]
        return one.dtype == other.dtype and same(*names) and same_columns(one, other)
    if isinstance(one, pd.DataFrame):
        columns = [[x.iloc[:, place] for place in range(x.shape[1])] for x in (one, other)]
        return same([one.index, one.columns], [other.index, other.columns]) and same(*columns)
    if isinstance(one, str):
        return str(one) == str(other)  # NumPy compares empty np.str_ by uninitialised memory
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and (one.tobytes() == other.tobytes())
    if isinstance(one, float) and not math.isnan(one):
        return struct.pack("d", one) == struct.pack("d", other)  # 0.0 is not -0.0
    return one is other or one == other or (isinstance(one, float) and math.isnan(other))


def same_arrays(one, other):
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if one.dtype == object:
        return same(one.ravel().tolist(), other.ravel().tolist())
    return one.tobytes() == other.tobytes()


def same_columns(one, other):
    if isinstance(one.dtype, np.dtype):
        return same_arrays(one.to_numpy(), other.to_numpy())
    if isinstance(one.dtype, pd.CategoricalDtype):
        return same(one.array.categories, other.array.categories) and same(one.array.codes, other.array.codes)
    return type(one.array) is type(other.array) and one.array.equals(other.array)


def test_the_comparison_of_these_tests_can_fail():
    pairs = [
        (1, 1.0),
        (True, 1),
        (0.0, -0.0),
        (np.float64(1), 1.0),
        ((1,), [1]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.array([1]), np.array([1.0])),
        (np.array([0.0]), np.array([-0.0])),
        (pd.Index([1], name="a"), pd.Index([1])),
        (pd.RangeIndex(1), pd.Index([0])),
        (pd.Series([1, 2], dtype="Int64"), pd.Series([1, 2])),
        (pd.DataFrame({"a": [(1,)]}), pd.DataFrame({"a": [[1]]})),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]}, index=["0"])),
        (unfitted(), unfitted(tol=0.0)),
        (csr_array([[1.0, 0.0]]), csr_array([[1.0, 0.0], [0.0, 0.0]])),
        (csr_array([[1.0, 0.0]]), csr_array([[0.0, 1.0]])),
        (ANNOTATIONS, ANNOTATIONS[::-1]),
        (Explore(), Informative()),
        (np.random.default_rng(0), np.random.default_rng(1)),
    ]
    assert [same(one, other) for one, other in pairs] == [False] * len(pairs)
    assert all(same(one, one) for pair in pairs for one in pair)


def through(value):
    """Return a value after encoding it as JSON text and arrays, and decoding."""
    encoder = ValueEncoder(KINDS)
    text = json.dumps(encoder(value), allow_nan=False)
    return ValueDecoder(KINDS, encoder.arrays)(json.loads(text))


names = st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.none(), st.dates())
scalars = st.one_of(
    names,
    st.floats(),
    st.floats(width=32).map(np.float32),
    st.integers(0, 255).map(np.uint8),
    st.booleans().map(np.bool_),
    st.text(max_size=5).map(np.str_),
    st.just(np.dtype(">f4")),
    st.sampled_from([pd.NA, pd.NaT, np.float64, np.int8, np.bool_, slice(1, None), slice(None, 3, 2)]),
)
array_dtypes = st.one_of(
    hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes(), hnp.unicode_string_dtypes(max_len=4)
)
arrays = hnp.arrays(array_dtypes, hnp.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=3)).flatmap(
    lambda array: st.sampled_from([array, array.T, array[..., ::2] if array.ndim else array])
)
keys = st.recursive(names, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)


def objects(cells):
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def columns(size):
    """Return series of one dtype, with default indexes."""

    def cells(strategy):
        return st.lists(strategy, min_size=size, max_size=size)

    letters = cells(st.sampled_from(["p", "q", None]))
    return st.one_of(
        cells(st.floats()).map(lambda c: pd.Series(c, dtype=float)),
        cells(st.integers(-9, 9)).map(lambda c: pd.Series(c, dtype="int16")),
        cells(st.integers(0, 99)).map(lambda c: pd.Series(np.array(c, dtype="M8[s]"))),
        letters.map(lambda c: pd.Series(c, dtype="str")),
        letters.map(lambda c: pd.Series(c, dtype="string[python]")),
        letters.map(lambda c: pd.Series(c, dtype="category")),
        cells(st.sampled_from([1, 2, None])).map(lambda c: pd.Series(c, dtype="Int64")),
        cells(st.sampled_from([True, None])).map(lambda c: pd.Series(c, dtype="boolean")),
        cells(st.one_of(scalars, keys, st.lists(names, max_size=2))).map(lambda c: pd.Series(objects(c), dtype=object)),
    )


def indexes(size):
    unnamed = columns(size).map(lambda column: pd.Index(column.array, dtype=column.dtype, tupleize_cols=False))
    ranges = st.integers(-3, 3).map(lambda start: pd.RangeIndex(start, start + 2 * size, 2))
    two = st.tuples(st.lists(st.sampled_from("ab"), min_size=size, max_size=size), keys, keys).map(
        lambda drawn: pd.MultiIndex.from_arrays([drawn[0], list(range(size))], names=drawn[1:])
    )
    single = st.tuples(st.one_of(unnamed, ranges), keys).map(lambda drawn: drawn[0].rename(drawn[1]))
    return st.one_of(single, two)


@st.composite
def frames(draw):
    n_rows, n_columns = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    alike = [draw(columns(n_rows))] * n_columns
    contents = draw(st.sampled_from([alike, [draw(columns(n_rows)) for _ in range(n_columns)]]))
    index, heads = draw(indexes(n_rows)), draw(indexes(n_columns))
    frame = pd.DataFrame({place: column.array for place, column in enumerate(contents)}, index=index)
    return frame.set_axis(heads, axis=1)


@st.composite
def series(draw):
    size = draw(st.integers(0, 3))
    column = draw(columns(size))
    return pd.Series(column.array, index=draw(indexes(size)), name=draw(keys), dtype=column.dtype)


values = st.recursive(
    st.one_of(scalars, arrays, st.integers(0, 3).flatmap(indexes), series(), frames()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.lists(inner, max_size=3).map(objects),
    ),
    max_leaves=5,
)


@given(values)
@example(2**63)
@example(-(2**64) + 1)
@example(10**6000)
@example("\ud800 lone surrogate")
@example(float("nan"))
@example(np.str_(""))
@example(np.array(["é\0x", ""]))
@example(np.empty((0, 3), order="F"))
@example(np.empty((2, 0), dtype=object))
@example({1: "int", "1": "text", (1, "a"): [], None: {}, False: 0.0, date(2024, 2, 29): ()})
@example(pd.DataFrame(index=pd.Index(["a"], name=("t", 1))))
@example(pd.DataFrame({"a": [1.0]}).iloc[:0])
@example(pd.DataFrame([[1, 2]], columns=["twice", "twice"]))
@example(np.random.RandomState(3))
def test_values_are_restored_exactly(value):
    assert same(through(value), value)


@settings(max_examples=40)
@given(arguments(), st.sampled_from([str, lambda i: (i, "x"), lambda i: date(2024, 1, 1 + i), int]))
def test_groupings_are_restored_exactly(drawn, name):
    lists, by, n_items = drawn
    named = [[[name(item) for item in group] for group in grouping] for grouping in lists]
    for items in (None, [name(item) for item in range(n_items)]):
        groupings = Groupings.from_lists(named, annotators=by, items=items)
        found = through(groupings)
        assert type(found) is Groupings
        assert found == groupings
        for field in fields(Groupings):
            one, other = getattr(found, field.name), getattr(groupings, field.name)
            if field.name == "incidence":
                assert same([one.data, one.indices, one.indptr], [other.data, other.indices, other.indptr])
                assert one.shape == other.shape
            else:
                assert same(one, other), field.name


def test_another_model_than_the_expected_one_is_refused(tmp_path):
    save(KCC(3), tmp_path / "m.zip")
    assert type(load(tmp_path / "m.zip", KCC)) is KCC
    with pytest.raises(SavedModelError, match=r"m\.zip holds a KCC, not the expected CSPA\.$"):
        load(tmp_path / "m.zip", CSPA)


def test_order_in_memory_is_kept(tmp_path):
    fitted = unfitted().fit(FEATURES, ANNOTATIONS)
    fitted.coef_ = np.asfortranarray(fitted.coef_)
    fitted.responsibilities_ = np.repeat(fitted.responsibilities_.T, 2, axis=0)[::2].T  # of two strides
    save(fitted, tmp_path / "model.zip")
    loaded = load(tmp_path / "model.zip")
    assert loaded.coef_.flags.f_contiguous
    assert not loaded.coef_.flags.c_contiguous
    assert loaded.responsibilities_.flags.f_contiguous
    assert same(loaded, fitted)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (np.random.PCG64(0), "numpy.random._pcg64.PCG64"),
        (np.random.RandomState(np.random.PCG64(0)), "numpy.random.mtrand.RandomState"),
        ({1, 2}, "builtins.set"),
        (b"bytes", "builtins.bytes"),
        (print, "builtins.builtin_function_or_method"),
        (np.floating, "builtins.type"),
        (int, "builtins.type"),
        (np.ma.masked_array([1]), "numpy.ma.MaskedArray"),
        (np.zeros(1, dtype="i4,f8"), "numpy.ndarray"),
        (pd.period_range("2024", periods=2, freq="D"), f"{pd.Period.__module__}.Period"),
        (pd.date_range("2024", periods=2, tz="UTC"), f"{pd.Timestamp.__module__}.Timestamp"),
        (pd.Series([pd.Timestamp("2024")], dtype=object), f"{pd.Timestamp.__module__}.Timestamp"),
        (pd.arrays.IntervalArray.from_breaks([0, 1]), f"{pd.Interval.__module__}.Interval"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_other_kinds_are_refused(value, named):
    with pytest.raises(UnknownValueError, match=f"^a value of type {named}$"):
        ValueEncoder(KINDS)([value])


def test_deep_and_endless_values_are_refused():
    deep = endless = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    endless.append(endless)
    with pytest.raises(UnknownValueError, match=f"^values nested more than {MAX_DEPTH} deep$"):
        ValueEncoder(KINDS)(deep)
    nested = 1.0
    for _ in range(MAX_DEPTH):
        nested = (nested,)
    assert same(through(nested), nested)


@pytest.mark.parametrize(
    "estimator",
    [
        unfitted(),
        unfitted(max_clusters=4, random_state=np.random.RandomState(7)),
        unfitted(prior_variance="auto", max_clusters=2, tol=0.5),
        make_pipeline(StandardScaler().set_output(transform="pandas"), unfitted()),
        make_pipeline(SimpleImputer(add_indicator=True), MinMaxScaler(), unfitted()).set_output(transform="pandas"),
        make_pipeline(RobustScaler(), "passthrough", PCA(2, whiten=True), unfitted()).set_output(transform="pandas"),
        Pipeline([("nothing", None), ("model", unfitted())], verbose=False),
    ],
    ids=["plain", "random state", "auto", "scaled", "imputed", "pca", "nothing before"],
)
@pytest.mark.parametrize("fitted", [False, True], ids=["unfitted", "fitted"])
def test_estimators_are_restored_exactly(estimator, fitted, tmp_path):
    if fitted:
        estimator.fit(FEATURES, ANNOTATIONS)
    save(estimator, tmp_path / "model.zip")
    loaded = load(tmp_path / "model.zip")
    assert same(loaded, estimator)
    if fitted:
        last, other = (e[-1] if isinstance(e, Pipeline) else e for e in (estimator, loaded))
        assert list(vars(last)) != list(vars(unfitted()))
        assert same(loaded.predict_proba(FEATURES), estimator.predict_proba(FEATURES))
        one, two = [*FEATURES.index[:3]], [*FEATURES.index[5:8]]
        assert same(last.predict_same(one, two, "Bo"), other.predict_same(one, two, "Bo"))
        assert same(last.annotator_groups(0.0), other.annotator_groups(0.0))


MIXED = FEATURES.assign(colour=list("rgb" * 4), site=[1, 2] * 6)
MIXED.iloc[2, 0] = np.nan


def columns_by_kind(remainder, output, by_name):
    """Return columns chosen by name, or by position."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", SimpleImputer(strategy="median"), ["length", "width"] if by_name else slice(0, 2)),
        ("text", make_pipeline(encoder), ["colour"] if by_name else [3]),
        ("codes", OneHotEncoder(sparse_output=False, drop="first"), ["site"] if by_name else [4]),
    ]
    return ColumnTransformer(parts, remainder=remainder).set_output(transform=output)


@pytest.mark.parametrize("remainder", ["drop", "passthrough", StandardScaler()], ids=["drop", "pass", "scale"])
@pytest.mark.parametrize("output", some_quick(["pandas", "default"]))
@pytest.mark.parametrize("by_name", [True, False], ids=["name", "place"])
def test_pipelines_of_columns_are_restored_exactly(remainder, output, by_name, tmp_path):
    pipeline = make_pipeline(columns_by_kind(remainder, output, by_name), unfitted())
    save(pipeline, tmp_path / "model.zip")
    assert same(load(tmp_path / "model.zip"), pipeline)
    pipeline.fit(MIXED, ANNOTATIONS if output == "pandas" else ANNOTATIONS.by_position())
    save(pipeline, tmp_path / "model.zip")
    loaded = load(tmp_path / "model.zip")
    assert same(loaded, pipeline)
    new = MIXED.iloc[::-1].assign(colour="purple", width=np.nan)
    assert same(loaded.predict_proba(new), pipeline.predict_proba(new))
    assert same(loaded[0].get_feature_names_out(), pipeline[0].get_feature_names_out())


def test_pickle_is_only_named_where_it_works(tmp_path):
    with pytest.raises(InputError, match=r"it contains a value of type \S+\.$"):
        save(unfitted(random_state=lambda: 0), tmp_path / "model.zip")


@pytest.mark.parametrize(
    ("step", "held"), [(Normalizer(), r"sklearn\.\S+\.Normalizer"), (FunctionTransformer(np.log1p), r"numpy\.ufunc")]
)
def test_other_steps_and_functions_inside_columns_are_refused(step, held, tmp_path):
    pipeline = make_pipeline(ColumnTransformer([("a", step, ["length"])]), unfitted())
    with pytest.raises(InputError, match=rf"cannot be saved: it contains a value of type {held}\. Python's pickle"):
        save(pipeline, tmp_path / "model.zip")
    assert not (tmp_path / "model.zip").exists()


@pytest.mark.parametrize(
    "items",
    [
        [(i, "x") for i in range(12)],
        [date(2024, 1, 1 + i) for i in range(12)],
        pd.date_range("2024", periods=12),
        [*range(6), *"abcdef"],
        pd.CategoricalIndex(list("abcdefghijkl")),
    ],
    ids=["tuples", "dates", "datetimes", "mixed", "categories"],
)
def test_names_of_every_type_are_restored_exactly(items, tmp_path):
    groupings = Groupings.from_matrix(ANNOTATIONS.to_matrix().to_numpy(), items=items, annotators=[("a", 1), 2, "b"])
    fitted = unfitted().fit(None, groupings)
    save(fitted, tmp_path / "model.zip")
    assert same(load(tmp_path / "model.zip"), fitted)


def test_equal_models_make_equal_files(model, saved, tmp_path):
    save(model, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == saved.read_bytes()


def test_numpy_reads_the_arrays_of_a_file(model, saved):
    with np.load(saved) as arrays:
        found = [arrays[name] for name in arrays.files if name.startswith("arrays/")]
    assert any(array.shape == model.coef_.shape and (array == model.coef_).all() for array in found)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KMeans(), r"that ends in one, or an ActiveSession or a LabelSession\. Got KMeans instead\.$"),
        (Pipeline([]), r"Got Pipeline instead\.$"),
        (make_pipeline(StandardScaler(), KMeans()), r"Got KMeans instead\.$"),
        (make_pipeline(Normalizer(), unfitted()), r"or 'passthrough'\. Got Normalizer as step 'normalizer'\.$"),
        (type("PartitionLabelModel", (PartitionLabelModel,), {})(), r"Got PartitionLabelModel instead\.$"),
        (
            unfitted(random_state=np.random.PCG64(0)),
            r"^The 'random_state' of PartitionLabelModel cannot be saved: it contains a value of type "
            r"numpy\.random\._pcg64\.PCG64\. Python's pickle can keep it, for those who trust the file\.$",
        ),
        (None, r"Got NoneType instead\.$"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_leaves_no_file(estimator, message, tmp_path):
    with pytest.raises(InputError, match=message):
        save(estimator, tmp_path / "model.zip")
    assert list(tmp_path.iterdir()) == []


def test_paths_that_cannot_be_written_are_refused(model, tmp_path):
    with pytest.raises(InputError, match="is a folder; give the name of a file"):
        save(model, tmp_path)
    with pytest.raises(InputError, match=r"The folder .*nowhere does not exist"):
        save(model, tmp_path / "nowhere" / "model.zip")


def test_a_failure_while_writing_keeps_the_old_file(model, saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(unfitted(), saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_file_keeps_to_the_umask(model, tmp_path):
    mask = os.umask(0o027)
    try:
        save(model, str(tmp_path / "model.zip"))
    finally:
        os.umask(mask)
    assert (tmp_path / "model.zip").stat().st_mode & 0o777 == 0o640


def document_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("model.json"))


def rewrite(path, document=None, *, without=(), extra=(), method=zipfile.ZIP_STORED):
    """Rewrite the file with another document, and with fewer or more members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name not in without}
    if document is not None:
        members["model.json"] = document if isinstance(document, bytes | str) else json.dumps(document)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in [*members.items(), *extra]:
            archive.writestr(name, content)


def refused(path, message):
    with pytest.raises(SavedModelError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith((str(path), f"There is no file {path}"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a saved model or is truncated: it is not a zip archive"),
        (b"not a zip file at all", "it is not a zip archive"),
        (np.random.default_rng(0).bytes(5000), "it is not a zip archive"),
        (b"PK\x05\x06" + bytes(18), "a zip archive without model.json"),
    ],
    ids=["empty", "text", "junk", "empty zip"],
)
def test_files_that_are_not_archives_are_refused(content, message, tmp_path):
    path = tmp_path / "model.zip"
    path.write_bytes(content)
    refused(path, message)


def test_folders_and_absent_files_are_refused(tmp_path):
    refused(tmp_path, "is a folder, not a saved model")
    refused(tmp_path / "absent.zip", "There is no file")


def change(document, key, value):
    return document | {key: value}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "something else", "its 'format' is not 'consilience model'"),
        ("format_version", 2, r"saved by a later version of consilience \(0\.1\.0, format 2\)"),
        ("format_version", 0, "its format version is 0"),
        ("format_version", "1", "its format version is '1'"),
        ("format_version", True, "its format version is True"),
        ("n_arrays", None, "its number of arrays is missing or invalid"),
        ("n_arrays", 10**15, r"its member arrays/\d+\.npy is missing"),
        ("n_arrays", 1, r"has an unknown member 'arrays/\d+\.npy'"),
        ("versions", [], "its 'versions' are missing or invalid"),
        ("model", 5, "Got int instead"),
        ("model", {"estimator": {"class": "StandardScaler", "parameters": {}, "attributes": {}}}, "Got StandardScaler"),
        ("model", {"estimator": {"class": "os.system", "parameters": {}, "attributes": {}}}, "contains a 'os.system'"),
        ("model", {"unknown tag": 0}, "its 'model' has the unknown kind 'unknown tag'"),
        ("model", {"array": 0, "float": "1"}, "its 'model' does not have exactly one key, the tag of its kind"),
        ("model", {"array": -1}, "its 'model' refers to the array -1, which does not exist"),
        ("model", {"array": 10**6}, "its 'model' refers to the array 1000000, which does not exist"),
        ("model", {"objects": [[10**12], []]}, "its 'model' is not a valid 'objects'"),
        ("model", {"dtype": "O,O"}, "its 'model' is not a valid 'dtype'"),
        ("model", {"scalar": ["O", "0000000000000000"]}, "its 'model' is not a valid 'scalar'"),
        ("model", {"dict": [[[], 1]]}, "its 'model' is not a valid 'dict'"),
        ("model", {"extension": ["float64", [1.0]]}, "its 'model' is not a valid 'extension'"),
    ],
)
def test_documents_that_are_not_ours_are_refused(saved, key, value, message):
    rewrite(saved, document_of(saved) | {key: value})
    refused(saved, message)


@pytest.mark.parametrize(
    ("part", "name", "message"),
    [
        ("parameters", "shell", "gives PartitionLabelModel the parameter 'shell', which it does not have"),
        ("attributes", "__class__", "gives PartitionLabelModel the attribute '__class__', which it does not have"),
        ("attributes", "fit", "gives PartitionLabelModel the attribute 'fit', which it does not have"),
        ("attributes", "not a name", "gives PartitionLabelModel the attribute 'not a name', which it"),
        ("attributes", "tol", "gives PartitionLabelModel the attribute 'tol', which it does not have"),
    ],
)
def test_unknown_parameters_and_odd_attributes_are_refused(saved, part, name, message):
    document = document_of(saved)
    document["model"]["estimator"][part][name] = 1
    rewrite(saved, document)
    refused(saved, message)


@pytest.mark.parametrize(
    "steps",
    [
        5,
        [],
        [{"tuple": ["a"]}],
        [{"tuple": ["a", {"estimator": {"class": "Pipeline", "parameters": {"steps": []}, "attributes": {}}}]}],
    ],
    ids=["number", "none", "without step", "nested"],
)
def test_odd_pipelines_are_refused(saved, steps):
    pipeline = {"estimator": {"class": "Pipeline", "parameters": {"steps": steps}, "attributes": {}}}
    rewrite(saved, document_of(saved) | {"model": pipeline})
    refused(saved, "The 'steps'")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"{", r"its member model\.json is not JSON"),
        (b"[" * 10**6, r"its member model\.json is not JSON, or is nested too deep"),
        (b"\xff\xfe\x00", r"its member model\.json is not JSON"),
        ("[]", "its 'format' is not"),
        ("9" * 10**4, r"its member model\.json is not JSON"),
    ],
    ids=["cut", "deep", "binary", "list", "long number"],
)
def test_documents_that_are_not_json_are_refused(saved, document, message):
    rewrite(saved, document)
    refused(saved, message)


def test_values_nested_too_deep_are_refused(saved):
    nested = 0
    for _ in range(200):
        nested = [nested]
    rewrite(saved, document_of(saved) | {"model": nested})
    refused(saved, "its 'model' is nested more than 50 deep")


@pytest.mark.parametrize("name", ["../../escape.txt", "/etc/passwd", "arrays/../0.npy", "arrays/01.npy", "code.py"])
def test_members_that_are_not_ours_are_refused_and_nothing_is_unpacked(saved, name):
    rewrite(saved, extra=[(name, b"x")])
    refused(saved, f"has an unknown member '{name}'")
    assert list(saved.parent.iterdir()) == [saved]


def test_missing_members_are_named(saved):
    rewrite(saved, without=["arrays/3.npy"])
    refused(saved, r"its member arrays/3\.npy is missing")


def test_a_repeated_member_is_refused(saved):
    with pytest.warns(UserWarning, match="Duplicate name"):
        rewrite(saved, extra=[("arrays/0.npy", b"")])
    refused(saved, "two of its members have the same name")


def test_compressed_members_which_may_be_bombs_are_refused(saved):
    rewrite(saved, extra=[("arrays/99.npy", bytes(10**7))], method=zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 10**5
    refused(saved, "its member 'model.json' is compressed or encrypted")


def test_members_that_overlap_to_seem_larger_are_refused(saved):
    content = bytearray(saved.read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 20 : entry + 28] = struct.pack("<II", 10**9, 10**9)  # both sizes of the first member
    saved.write_bytes(content)
    refused(saved, "its members claim to be larger than the file")


def npy(array, **header):
    file = io.BytesIO()
    described = np.lib.format.header_data_from_array_1_0(array) | header
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue() + array.tobytes()


def parsed(content):
    return parse_array(io.BytesIO(content), len(content))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"junk",
        npy(np.zeros(3), shape=(10**12,)),
        npy(np.zeros(3), shape=(-3,)),
        npy(np.zeros(4), shape=(-2, -2)),
        npy(np.zeros(3), shape=(2,)),
        npy(np.zeros(3), descr="|O"),
        npy(np.zeros(3), descr=[("a", "<f8")]),
        b"\x93NUMPY\x02\x00" + npy(np.zeros(3))[8:],
        npy(np.zeros(3))[:-1],
    ],
    ids=["empty", "junk", "huge", "negative", "negatives", "too long", "objects", "fields", "version", "cut"],
)
def test_arrays_that_are_not_plain_are_refused(content, saved):
    assert (parsed(npy(np.arange(3.0))) == np.arange(3.0)).all()
    with pytest.raises(ValueError, match=r"array|magic|header"):
        parsed(content)
    rewrite(saved, without=["arrays/0.npy"], extra=[("arrays/0.npy", content)])
    refused(saved, r"its member arrays/0\.npy is not an array")


def test_an_array_of_pickles_is_not_run(saved, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    file = io.BytesIO()
    np.save(file, np.array([Bomb()], dtype=object), allow_pickle=True)
    rewrite(saved, without=["arrays/0.npy"], extra=[("arrays/0.npy", file.getvalue())])
    refused(saved, r"its member arrays/0\.npy is not an array")
    assert not (tmp_path / "exploded").exists()


def test_flipped_bits_and_cut_files_load_equal_or_are_refused(model, saved):
    """About every seventh byte, and all bytes of the directory at the end; checksums of the zip format detect them."""
    content = saved.read_bytes()
    directory = content.index(b"PK\x01\x02")
    rng = np.random.default_rng(0)
    places = [*rng.choice(directory, 150, replace=False), *rng.choice(np.arange(directory, len(content)), 150, False)]
    outcomes = set()
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        outcomes.add(outcome(saved, bytes(changed), model))
    cuts = {outcome(saved, content[:length], model) for length in rng.choice(len(content), 50, replace=False)}
    assert outcomes == {"equal", "refused"}
    assert cuts == {"refused"}


def outcome(path, content, model):
    path.write_bytes(content)
    try:
        loaded = load(path)
    except SavedModelError:
        return "refused"
    return "equal" if same(loaded, model) else "different"


def test_another_version_of_scikit_learn_causes_a_warning(tmp_path):
    path = tmp_path / "model.zip"
    save(make_pipeline(StandardScaler(), unfitted()), path)
    document = document_of(path)
    document["versions"]["scikit-learn"] = "1.2.3"
    rewrite(path, document)
    with pytest.warns(InconsistentVersionWarning, match=r"1\.2\.3"):
        load(path)
    save(unfitted(), path)
    document = document_of(path)
    document["versions"]["scikit-learn"] = "1.2.3"
    rewrite(path, document)
    assert same(load(path), unfitted())
