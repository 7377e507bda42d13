"""The same data, passed to every estimator in many ways: the same clustering, or one sentence; never another one.

Each way in is read, or may be refused in one sentence. What is silently different fails.

What an estimator learns from is what it arranges in canonical order. That is compared for every way, and for every
estimator in `make test-all` (see tests/quick_cases.py); each way is fitted in full by one estimator at least, and each
estimator in one way at least. `make test-all` fits them all.
"""

import pickle
import sys
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from consilience import Groupings, Labels, Pairs, read_annotations, registry, write_annotations
from consilience.annotations import canonical
from consilience.errors import InputError
from tests.quick_cases import COMPILED, QUICK, in_turn

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning"),
    pytest.mark.filterwarnings("ignore::consilience.errors.FeatureScaleWarning"),
]
SHORT = {"max_iter": 10, "n_init": 1}
"""Parameters for all that have them: the same data give the same clusters long before a fit converges."""
QUICK_HERE = {
    "Crowdclustering": {"max_clusters": 3, "n_components": 2, "random_state": 0},
}
ITEMS = [f"item {i}" for i in range(48)]
PEOPLE = ["Ann", "Bo", "Cy", "Di", "Ed"]


def features():
    """Three groups of items that overlap a little, in columns of two units."""
    rng = np.random.default_rng(3)
    kind = np.arange(48) % 3
    centres = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 4.0, -1.0]])
    found = pd.DataFrame(centres[kind] + rng.normal(size=(48, 3)), columns=["a", "b", "c"], index=ITEMS)
    return found.assign(c=found["c"] * 100)


def cells():
    """What five people said of the items, each right five times in six, a seventh of them left out."""
    rng = np.random.default_rng(5)
    kind = np.arange(48)[:, None] % 3
    said = np.where(rng.random((48, 5)) < 5 / 6, kind, rng.integers(0, 3, (48, 5)))
    names = np.array(["cats", "dogs", "owls"], dtype=object)[said]
    names[rng.random(said.shape) < 1 / 7] = None
    return pd.DataFrame(names, index=ITEMS, columns=PEOPLE)


X, WIDE = features(), cells()
ORDER = np.random.default_rng(8).permutation(48)


def long(value):
    """The long table of what was said, in the words of the importer; rows item by item."""
    rows = WIDE.rename_axis("item").reset_index().melt("item", var_name="annotator", value_name=value).dropna()
    return rows.sort_values(["item", "annotator"], key=lambda column: column.astype(str)).reset_index(drop=True)


def value_of(name):
    return "label" if registry.ESTIMATORS[name].reads[0] == "labels" else "group"


def kind_of(name):
    return Labels if value_of(name) == "label" else Groupings


# ---- ways to give what people said


def as_integers(frame):
    """Return the cells as numbers, -1 where nothing was said."""
    return frame.apply(lambda column: pd.Categorical(column, ["cats", "dogs", "owls"]).codes.astype(int))


SAID = {
    "annotations": lambda name: kind_of(name).from_matrix(WIDE),
    "annotations, items in another order": lambda name: kind_of(name).from_matrix(WIDE.iloc[ORDER]),
    "annotations, people in another order": lambda name: kind_of(name).from_matrix(WIDE.iloc[:, ::-1]),
    "annotations, pickled": lambda name: pickle.loads(pickle.dumps(kind_of(name).from_matrix(WIDE))),
    "wide frame": lambda name: WIDE,
    "wide frame, rows in another order": lambda name: WIDE.iloc[ORDER],
    "wide frame with the items in a column": lambda name: WIDE.rename_axis("item").reset_index(),
    "wide frame, categories": lambda name: WIDE.astype("category"),
    "wide frame, strings": lambda name: WIDE.astype("string"),
    "wide frame, Arrow": lambda name: WIDE.astype(pd.ArrowDtype(pa.string())),
    "wide frame, integers with -1": lambda name: as_integers(WIDE).set_axis(WIDE.index),
    "wide frame, nullable integers": lambda name: (
        as_integers(WIDE).set_axis(WIDE.index).replace(-1, pd.NA).astype("Int64")
    ),
    "wide polars frame": lambda name: pl.from_pandas(WIDE.rename_axis("item").reset_index()),
    "wide Arrow table": lambda name: pa.table(WIDE.rename_axis("item").reset_index()),
    "long frame": lambda name: long(value_of(name)),
    "long frame, rows in another order": lambda name: long(value_of(name)).sample(frac=1, random_state=2),
    "long frame, one column more": lambda name: long(value_of(name)).assign(seconds=range(len(long("label")))),
    "long frame, capitals": lambda name: long(value_of(name)).rename(columns=str.upper),
    "long frame, other words": lambda name: long(value_of(name)).set_axis(["task", "worker", value_of(name)], axis=1),
    "long frame, words of one's own": lambda name: long(value_of(name)).set_axis(["tweet", "user", "mood"], axis=1),
    "long frame, categories": lambda name: long(value_of(name)).astype("category"),
    "long polars frame": lambda name: pl.from_pandas(long(value_of(name))),
    "long polars frame, lazy": lambda name: pl.from_pandas(long(value_of(name))).lazy(),
    "long frame, two levels of rows": lambda name: long(value_of(name)).set_index(["item", "annotator"]),
    "transposed frame": lambda name: WIDE.T,
}
NUMBERED = {
    "array": lambda name: WIDE.to_numpy(),
    "lists": lambda name: WIDE.to_numpy().tolist(),
    "array of integers with -1": lambda name: as_integers(WIDE).to_numpy(),
    "annotations without names": lambda name: kind_of(name).from_matrix(WIDE.to_numpy()),
    "annotations by position": lambda name: kind_of(name).from_matrix(WIDE).by_position(),
    "frame with the default index": lambda name: WIDE.reset_index(drop=True),
}
MAY_BE_REFUSED = {
    "long frame, words of one's own",
    "long polars frame, lazy",
    "long frame, two levels of rows",
    "transposed frame",
    "wide frame with the items in a column",
}


def unfitted(name):
    model = registry.estimator(name)(**QUICK[name] | QUICK_HERE.get(name, {}))
    return model.set_params(**{key: value for key, value in SHORT.items() if key in model.get_params(deep=False)})


def given(name, X, said):
    return (X, said) if reads_features(name) else (said,)


def reads_features(name):
    return registry.ESTIMATORS[name].kind == "semisupervised"


def fitted(name, X, said):
    return unfitted(name).fit(*given(name, X, said))


class Read(Exception):  # noqa: N818
    """Raised instead of learning, with what was read: annotations, and features or None."""


def reading(name, fit):
    """Annotations and features that `fit` reads, without learning from them."""

    def stop(said, features=None):
        if reads_features(name) and features is None:  # a consensus model inside
            return canonical.arrange(said)
        raise Read(said, features)

    holders = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("consilience.")  # first, as others are only imported when their attributes are asked for
        and module is not canonical
        and vars(module).get("arrange") is canonical.arrange
    ]
    patches = [patch.object(module, "arrange", stop) for module in holders]
    for each in patches:
        each.start()
    try:
        fit()
    except Read as read:
        return read.args
    finally:
        for each in patches:
            each.stop()
    raise AssertionError(f"{name} learned without arranging what it read")


def content(name, read, items=None):
    """What was read of every item, in the order of the study; `items` names the rows where they came without names."""
    said, features = read
    places = said.items.get_indexer(ITEMS) if items is None else pd.Index(items).get_indexer(ITEMS)
    named = set(said.annotators) == set(PEOPLE)
    people = said.annotators.get_indexer(PEOPLE) if named else np.arange(5)
    assert len(said.items) == 48
    assert (places >= 0).all()
    assert len(said.annotators) == 5
    features = None if features is None or not reads_features(name) else features[places]
    if isinstance(said, Pairs):
        ends = np.sort(np.argsort(places)[np.stack([said.item_a, said.item_b])], axis=0)
        rows = np.stack([*ends, np.argsort(people)[said.annotator], said.same])
        return rows[:, np.lexsort(rows)], features
    table = said.to_matrix().to_numpy(object)[places][:, people]
    if isinstance(said, Labels):
        return pd.factorize(table.ravel())[0], features
    return np.stack([pd.factorize(column)[0] for column in table.T]), features


def clusters(model, items):
    """The cluster of every item by name; groups of labels that are alike compare equal whatever they are called."""
    found = pd.Series(np.asarray(model.labels_), index=items)
    return found.reindex(ITEMS).to_numpy()


def same_partition(one, two):
    pairs = set(zip(map(str, one), map(str, two)))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def or_one_sentence(fit):
    """Fit, or return None where it was refused in a sentence of ours."""
    try:
        return fit()
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert len(sentence) < 800
    return None


@cache
def model_of_annotations(name):
    """The estimator, fitted to annotations and features that name their items."""
    return fitted(name, X, kind_of(name).from_matrix(WIDE))


def reference(name):
    """The clusters that an estimator finds in annotations and features that name their items."""
    model = model_of_annotations(name)
    return clusters(model, model.items_)


@cache
def read_of_annotations(name):
    """What an estimator reads of annotations and features that name their items."""
    return content(name, reading(name, lambda: fitted(name, X, kind_of(name).from_matrix(WIDE))))


def marked(name, *, slow=False):
    return pytest.mark.slow if slow or name in COMPILED else ()


NAMES = [name for name in registry.ESTIMATORS if name != "OrdinalRatings"]  # these names have no order
WITH_FEATURES = [name for name in NAMES if reads_features(name)]
every = pytest.mark.parametrize("name", [pytest.param(name, marks=marked(name)) for name in NAMES])
with_features = pytest.mark.parametrize("name", [pytest.param(name, marks=marked(name)) for name in WITH_FEATURES])


def in_each_way(names, ways):
    """Every estimator with every way, slow but for one estimator a way and one way an estimator."""
    quick, ways = [name for name in names if name not in COMPILED], list(ways)
    chosen = {(quick[i % len(quick)], ways[i % len(ways)]) for i in range(max(len(quick), len(ways)))}
    return pytest.mark.parametrize(
        ("name", "way"),
        [pytest.param(name, way, marks=marked(name, slow=(name, way) not in chosen)) for way in ways for name in names],
    )


def require_same(name, model, items, expected):
    assert same_partition(clusters(model, items), expected), f"{name}: silently another clustering"


def require_same_content(name, read, items=None):
    """What was read is what annotations and features that name their items hold."""
    said, features = content(name, read, items)
    expected, expected_features = read_of_annotations(name)
    np.testing.assert_array_equal(said, expected)
    if features is not None:
        np.testing.assert_array_equal(features, expected_features)


@in_turn(NAMES, SAID, "way")
def test_annotations_with_names_are_read(name, way):
    read = or_one_sentence(lambda: reading(name, lambda: fitted(name, X, SAID[way](name))))
    if read is None:
        assert way in MAY_BE_REFUSED
    else:
        require_same_content(name, read)


@in_each_way(NAMES, SAID)
def test_annotations_with_names(name, way):
    model = or_one_sentence(lambda: fitted(name, X, SAID[way](name)))
    if model is None:
        assert way in MAY_BE_REFUSED
    else:
        require_same(name, model, model.items_, reference(name))


@in_turn(NAMES, NUMBERED, "way")
def test_annotations_by_position_are_read(name, way):
    read = reading(name, lambda: fitted(name, X.to_numpy(), NUMBERED[way](name)))
    require_same_content(name, read, ITEMS)


@in_each_way(NAMES, NUMBERED)
def test_annotations_by_position(name, way):
    model = fitted(name, X.to_numpy(), NUMBERED[way](name))
    require_same(name, model, pd.Index(ITEMS), reference(name))


@every
def test_annotations_in_a_file(name, tmp_path):
    write_annotations(kind_of(name).from_matrix(WIDE), tmp_path / "said.csv")
    require_same_content(name, reading(name, lambda: fitted(name, X, read_annotations(tmp_path / "said.csv"))))


@every
def test_other_names(name):
    """Items, people and groups are called something else, which sorts otherwise."""
    names = {item: f"{(7 * i) % 48:02d}" for i, item in enumerate(ITEMS)}
    people = dict(zip(PEOPLE, ["v", "b", "z", "k", "c"]))
    is_class = value_of(name) == "label"  # of which the first in order wins where two are as probable
    groups = dict(zip(["cats", "dogs", "owls"], ["1st", "2nd", "3rd"] if is_class else ["3rd", "1st", "2nd"]))
    other = WIDE.rename(index=names, columns=people).apply(lambda column: column.map(groups, na_action="ignore"))
    said = kind_of(name).from_matrix(other)
    model = fitted(name, X.rename(index=names), said)
    back = {new: old for old, new in names.items()}
    require_same(name, model, [back[item] for item in model.items_], reference(name))


# ---- ways to give features

FEATURES = {
    "rows in another order": (lambda: X.iloc[ORDER], True),
    "sorted by a feature": (lambda: X.sort_values("a"), True),
    "nullable floats": (lambda: X.astype("Float64"), True),
    "Arrow floats": (lambda: X.astype(pd.ArrowDtype(pa.float64())), True),
    "objects": (lambda: X.astype(object), True),
    "Fortran order": (lambda: pd.DataFrame(np.asfortranarray(X.to_numpy()), X.index, X.columns), True),
    "array": (lambda: X.to_numpy(), False),
    "lists": (lambda: X.to_numpy().tolist(), False),
    "default index": (lambda: X.reset_index(drop=True), False),
    "polars": (lambda: pl.from_pandas(X), False),
    "items in a column": (lambda: X.rename_axis("item").reset_index(), False),
    "polars, items in a column": (lambda: pl.from_pandas(X.rename_axis("item").reset_index()), False),
    "rows missing": (lambda: X.iloc[:40], False),
    "rows twice": (lambda: pd.concat([X, X.iloc[:2]]), False),
}


@in_turn(WITH_FEATURES, FEATURES, "way")
def test_features_beside_annotations_with_names_are_read(name, way):
    make, is_read = FEATURES[way]
    said = kind_of(name).from_matrix(WIDE)
    read = or_one_sentence(lambda: reading(name, lambda: fitted(name, make(), said)))
    assert (read is not None) == is_read
    if read is not None:
        require_same_content(name, read)


@in_each_way(WITH_FEATURES, [way for way, (_, is_read) in FEATURES.items() if is_read])
def test_features_beside_annotations_with_names(name, way):
    model = fitted(name, FEATURES[way][0](), kind_of(name).from_matrix(WIDE))
    require_same(name, model, model.items_, reference(name))


BARE = {
    "array": lambda: X.to_numpy(),
    "lists": lambda: X.to_numpy().tolist(),
    "default index": lambda: X.reset_index(drop=True),
    "polars": lambda: pl.from_pandas(X),
    "float array in Fortran order": lambda: np.asfortranarray(X.to_numpy()),
}


@in_turn(WITH_FEATURES, BARE, "way")
def test_features_beside_numbered_rows_are_read(name, way):
    read = reading(name, lambda: fitted(name, BARE[way](), kind_of(name).from_matrix(WIDE).by_position()))
    require_same_content(name, read, ITEMS)


@in_each_way(WITH_FEATURES, BARE)
def test_features_beside_numbered_rows(name, way):
    model = fitted(name, BARE[way](), kind_of(name).from_matrix(WIDE).by_position())
    require_same(name, model, pd.Index(ITEMS), reference(name))


@with_features
def test_an_array_beside_reordered_rows_is_refused(name):
    frame = X.reset_index(drop=True).iloc[ORDER]
    for said in (WIDE.to_numpy(), kind_of(name).from_matrix(WIDE.to_numpy())):
        assert or_one_sentence(lambda said=said: fitted(name, frame, said)) is None


# ---- pipelines

KEPT = {
    "scaled": lambda: StandardScaler(),
    "passed through": lambda: FunctionTransformer(),
}


def pipelines(name, rows):
    """A pipeline that keeps names with what it is fitted to, and one that does not, with rows by position."""
    said = kind_of(name).from_matrix(WIDE)
    bare = make_pipeline(StandardScaler(), unfitted(name))
    assert or_one_sentence(lambda: clone(bare).fit(rows, said)) is None
    return (
        (clone(bare).set_output(transform="pandas"), said, None),
        (clone(bare), WIDE.loc[rows.index].to_numpy(), rows.index),
    )


@with_features
def test_pipelines(name):
    scaled = X.sub(X.mean()).div(X.std(ddof=0))
    expected, expected_features = content(
        name, reading(name, lambda: fitted(name, scaled, kind_of(name).from_matrix(WIDE)))
    )
    for rows in (X, X.iloc[ORDER], X.sort_values("b")):
        for pipeline, said, items in pipelines(name, rows):
            read = reading(name, lambda pipeline=pipeline, rows=rows, said=said: pipeline.fit(rows, said))
            found, features = content(name, read, items)
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_allclose(features, expected_features, atol=1e-12)


@pytest.mark.slow
@with_features
def test_pipelines_fit_alike(name):
    scaled = fitted(name, X.sub(X.mean()).div(X.std(ddof=0)), kind_of(name).from_matrix(WIDE))
    for rows in (X, X.iloc[ORDER], X.sort_values("b")):
        for pipeline, said, items in pipelines(name, rows):
            final = pipeline.fit(rows, said)[-1]
            require_same(name, final, final.items_ if items is None else items, clusters(scaled, scaled.items_))


@every
def test_clones_and_pickles_fit_alike(name):
    said, model = kind_of(name).from_matrix(WIDE), model_of_annotations(name)
    for again in (clone(model), pickle.loads(pickle.dumps(model))):
        again.fit(*given(name, X, said))
        require_same(name, again, again.items_, reference(name))


def test_every_way_is_told_apart_from_a_wrong_one():
    """The study would show it if rows were matched with the wrong items."""
    for name in ("PartitionLabelModel", "MajorityVote", "KCC"):
        wrong = WIDE.set_axis([ITEMS[i] for i in ORDER])
        with pytest.raises(AssertionError):
            require_same_content(name, reading(name, lambda name=name, wrong=wrong: fitted(name, X, wrong)))
        model = fitted(name, X, wrong)
        assert not same_partition(clusters(model, model.items_), reference(name))
