"""Every estimator is restored exactly from its file, whatever it was fitted to and however it was configured.

The worst error of the checks in `load` would be to refuse a valid model.
"""

import warnings
from datetime import date
from functools import cache
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from consilience import Groupings, Labels, Pairs, load, registry, save
from consilience.active import ActiveSession, Explore, ExploreExploitTradeoff
from consilience.active.named_strategies import STRATEGIES
from consilience.consensus import CSPA, KCC, Crowdclustering, DawidSkene, MajorityVote, SubsetFusion
from consilience.consensus.groupings.kcc_utilities import UTILITIES
from consilience.errors import InputError
from tests.fuzz.saved_models import COMPILED, SETTINGS
from tests.test_persistence import same

QUICK = SETTINGS | COMPILED
N_ITEMS = 15
ODD_NAMES = [1, "b", (2, "c"), 2.5, False]
NAMED = [f"item {number}" for number in range(N_ITEMS)]


@cache
def features():
    heap = np.arange(N_ITEMS) % 3
    values = np.random.default_rng(0).normal(size=(N_ITEMS, 3)) + 6 * np.eye(3)[heap]
    return pd.DataFrame(values, index=NAMED, columns=["length", "width", "mass"])


def groups(n_annotators=5, *, missing=0.2, seed=0):
    """Return names of groups by annotators who misplace one item in ten and leave some out."""
    rng = np.random.default_rng(seed)
    heap = np.arange(N_ITEMS) % 3
    said = np.where(rng.random((N_ITEMS, n_annotators)) < 0.1, (heap[:, None] + 1) % 3, heap[:, None]).astype(object)
    said[rng.random(said.shape) < missing] = None
    return pd.DataFrame(said, index=NAMED, columns=[f"by {number}" for number in range(n_annotators)])


def renamed(items=None, annotators=None, table=None):
    """Return a study whose items or annotators have other names."""
    table = groups() if table is None else table
    X = features() if items is None else features().set_axis(items)
    said = Groupings.from_matrix(
        table.to_numpy(),
        items=NAMED if items is None else items,
        annotators=table.columns if annotators is None else annotators,
    )
    return X, said


def of_names(change):
    """Return a study whose groups have other names."""
    table = groups()
    return features(), Groupings.from_matrix(table.map(lambda name: None if name is None else change(name)))


def in_several_groupings():
    parts = [Groupings.from_matrix(groups(seed=seed)[2 * seed : 2 * seed + 9]).to_frame() for seed in range(3)]
    frame = pd.concat([part.assign(grouping=f"day {day}") for day, part in enumerate(parts)])
    return features(), Groupings.from_frame(frame).reindex(NAMED)


def few_judgements():
    rows = [
        ("item 0", "item 3", "by 0", True),
        ("item 0", "item 1", "by 0", False),
        ("item 3", "item 4", "by 1", False),
    ]
    return features(), Pairs.from_frame(
        pd.DataFrame(rows, columns=[*"ij", "by", "same"]), item="i", item_b="j", annotator="by"
    ).reindex(NAMED)


def some_items(items):
    return features().iloc[items], Groupings.from_matrix(groups(missing=0.0).iloc[items])


STUDIES = {
    "frames": lambda: (features(), groups()),
    "arrays": lambda: (features().to_numpy(), groups().to_numpy()),
    "single precision": lambda: (features().astype("float32"), groups()),
    "whole numbers": lambda: (features().round().astype("int64"), groups()),
    "one feature": lambda: (features()[["width"]], groups()),
    "great numbers": lambda: (features() * 1e12, groups()),
    "an outlier": lambda: (features().assign(mass=[1e12, *features()["mass"][1:]]), groups()),
    "a constant": lambda: (features().assign(mass=1.0), groups()),
    "one annotator": lambda: (features(), groups(1)),
    "two annotators": lambda: (features(), groups(2)),
    "nothing missing": lambda: (features(), groups(missing=0.0)),
    "much missing": lambda: (features(), groups(8, missing=0.7)),
    "all agree": lambda: (features(), pd.DataFrame({by: [*"abc"] * 5 for by in "wxyz"}, index=NAMED)),
    "one group": lambda: (features(), pd.DataFrame("a", index=NAMED, columns=[*"wxyz"])),
    "a group for each item": lambda: (features(), Groupings.from_lists([[[name] for name in NAMED]] * 3)),
    "items that nobody labelled": lambda: (features(), Groupings.from_matrix(groups()[4:]).reindex(NAMED)),
    "several groupings": in_several_groupings,
    "one item": lambda: some_items([0]),
    "two items": lambda: some_items([0, 1]),
    "three items": lambda: some_items([0, 1, 2]),
    "numbers as items": lambda: renamed(range(100, 100 + N_ITEMS)),
    "places as items": lambda: renamed(range(N_ITEMS)),
    "tuples as items": lambda: renamed(pd.Index([(number, "x") for number in range(N_ITEMS)], tupleize_cols=False)),
    "dates as items": lambda: renamed([date(2024, 1, 1 + number) for number in range(N_ITEMS)]),
    "times as items": lambda: renamed(pd.date_range("2024", periods=N_ITEMS)),
    "categories as items": lambda: renamed(pd.CategoricalIndex(NAMED)),
    "names of several kinds": lambda: renamed([*range(5), *"abcde", *np.arange(0.5, 5)], ODD_NAMES),
    "numbers as annotators": lambda: renamed(annotators=range(5)),
    "truth values as groups": lambda: of_names(lambda name: name > 0),
    "numbers as groups": lambda: of_names(lambda name: name + 0.5),
    "groups of several kinds": lambda: of_names(lambda name: [0, "one", (2, "two")][name]),
    "judgements of pairs": lambda: (features(), Groupings.from_matrix(groups()).to_pairs()),
    "few judgements of pairs": few_judgements,
    "no features": lambda: (None, groups()),
}
REFUSED = {
    "one group": {"PartitionLabelModel"},
    "one item": {
        "PartitionLabelModel",
        "MCVC",
        "MECC",
        "CorrelationClustering",
        "Crowdclustering",
    },  # no pair, or none to compare
    "one annotator": {"SpectralEM"},
    "two annotators": {"SpectralEM"},
    "no features": {"MPCKMeans", "ITMLClustering", "SemiCrowd", "InductiveConsensus", "DawidSkeneClassifier"},
}
"""Estimators that a study tells nothing."""


def refuses(name, study):
    of_pairs = study.endswith("of pairs") and "pairs" not in registry.ESTIMATORS[name].reads
    is_tuple = study == "groups of several kinds" and registry.ESTIMATORS[name].reads == ("labels",)  # (2, "two")
    return of_pairs or is_tuple or name in REFUSED.get(study, ())


def given(name, X, annotations):
    """Return the arguments of `fit` of an estimator for a study."""
    entry = registry.ESTIMATORS[name]
    if entry.reads[0] == "labels" and isinstance(annotations, Groupings):
        frame = annotations.to_frame()[["item", "annotator", "group"]].rename(columns={"group": "label"})
        annotations = Labels.from_frame(frame, items=annotations.items)
    return (X, annotations) if entry.kind == "semisupervised" else (annotations,)


def quick(name, most):
    """Return parameters that make a fit fast, with at most `most` clusters."""
    parameters = dict(QUICK[name])
    for key in {"n_clusters", "max_clusters"} & set(parameters):
        parameters[key] = min(parameters[key], most) if key == "n_clusters" else max(min(parameters[key], most), 2)
    return parameters | ({"consensus": KCC(min(most, 3), n_init=2)} if name == "InductiveConsensus" else {})


def fitted(name, study, **parameters):
    X, annotations = STUDIES[study]() if isinstance(study, str) else study
    most = len(annotations)
    return registry.estimator(name)(**(quick(name, most) | parameters)).fit(*given(name, X, annotations))


def comes_back(model, path, X=None):
    """Save and load a model, which must be equal, give equal predictions, and make the same file again."""
    save(model, path)
    loaded = load(path)
    assert same(loaded, model)
    pd.testing.assert_series_equal(loaded.labels_series_, model.labels_series_, check_freq=False)  # files have no freq
    first, last = model.items_[0], model.items_[-1]
    assert loaded.predict_same(first, last) == model.predict_same(first, last)
    if X is not None and hasattr(model, "predict"):
        assert same(loaded.predict(X), model.predict(X))
    written = path.read_bytes()
    save(loaded, path)
    assert path.read_bytes() == written


@pytest.fixture(autouse=True)
def quiet():
    """Ignore the warnings of models of a few items."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


OF_COMPILED = ["arrays", "whole numbers", "one annotator", "items that nobody labelled", "two items"]
OF_COMPILED += ["names of several kinds", "few judgements of pairs"]
OF_ALL = ["names of several kinds"]


def is_quick(name, *others):
    """Whether a model meets a study and the like in the quick tests: each of them two models in turn."""
    turn = list(QUICK).index(name) + sum(others)
    return name not in COMPILED and turn % 9 == 0


FITS = [
    pytest.param(name, study, marks=() if quick else pytest.mark.slow)
    for name in QUICK
    for number, study in enumerate(STUDIES)
    if name not in COMPILED or study in OF_COMPILED
    for quick in [is_quick(name, number) or (study in OF_ALL and name not in COMPILED)]
]
"""Models that compile for every shape, half a minute each, on some of the studies."""


@pytest.mark.parametrize(("name", "study"), FITS)
def test_restored_after_any_fit(name, study, tmp_path):
    if refuses(name, study):
        with pytest.raises(InputError):
            fitted(name, study)
        return
    comes_back(fitted(name, study), tmp_path / "model.zip", given(name, *STUDIES[study]())[0])


OF_LABELS = [
    {"smoothing": 0.5, "tol": 0.0, "n_init": 2, "random_state": 3},
    {"max_iter": 1, "n_jobs": 2, "verbose": np.bool_(False), "random_state": np.random.default_rng(0)},
]
OF_PAIRS = [
    {"n_clusters": 1},
    {"n_clusters": 6, "n_init": 1, "max_iter": 1, "tol": 0.0},
    {"max_pairs": 20, "random_state": np.random.RandomState(0)},
    {"n_clusters": np.int64(2), "tol": np.float64(0.1), "random_state": np.random.default_rng(0)},
]
OF_VIEWS = [
    {"n_clusters": 1, "reliability_prior": [1, 2]},
    {"n_clusters": 9, "implied_pairs": "all", "max_iter": 1, "n_init": 1},
    {"implied_pairs": "independent", "tol": 0.0, "max_iter": 3, "random_state": np.random.default_rng(0)},
]
OF_NETWORKS = [
    {"n_clusters": 1},
    {"n_clusters": 9, "hidden": [3, 4], "n_init": 2, "n_latent": 1},
    {"implied_pairs": "independent", "optimiser": "momentum", "trust_epochs": 1, "annotated_weight": 2.0},
    {"random_state": np.random.RandomState(0), "reliability_prior": [2, 1], "warm_epochs": 1},
]
CONFIGURED = {
    "PartitionLabelModel": [
        {"n_clusters": 1},
        {"n_clusters": 4, "max_clusters": None, "merge": False, "init": "random"},
        {"prior_variance": "auto", "n_init": 2, "rich_get_richer": 0.5},
        {"max_clusters": None, "tol": 0.0, "max_iter": 2, "verbose": 0},
        {"random_state": np.random.default_rng(0), "n_jobs": 2, "diagonal_concentration": 5.0},
    ],
    "DawidSkene": [
        {"confusion": "one-coin"},
        {"prior": None},
        {"tol": 0.0, "max_iter": 1},
        {"n_jobs": 2, "verbose": True},
    ],
    "ProductMixture": [
        {"n_clusters": 1},
        {"n_clusters": 5},
        {"init": "random", "n_init": 3},
        {"init": np.tile(np.eye(3), (5, 1))},
        {"init": pd.DataFrame(np.tile(np.eye(3), (5, 1)), index=NAMED)},
        {"init": np.tile(np.eye(3), (5, 1)).tolist()},
        *OF_LABELS,
    ],
    "OrdinalRatings": [
        {"annotator_model": "individual"},
        {"annotator_model": "equal", "calibrate": False},
        {"levels": [0, 1, 2, 3, 4], "copies": "auto"},
        {"tol": 0.0, "max_iter": 1},
    ],
    "TagConsensus": [{"calibrate": False}, {"tol": 0.0, "max_iter": 1}],
    "SpectralEM": [{"groups": "modulo"}, *OF_LABELS],
    "StagewiseEM": [
        {"n_clusters": 1},
        {"n_clusters": 2},
        {"refine": "informative"},
        {"refine": "all", "weighted": False},
        {"entry_level": 0.9, "level": 0.5},
    ],
    "SubsetFusion": [
        {"n_clusters": 1},
        {"n_clusters": 5},
        {"normalize": None, "refine": False},
        {"normalize": "presented", "n_init": 3},
        {"random_state": np.random.RandomState(0)},
    ],
    "MCVC": [*OF_VIEWS, {"max_views": 3}, {"max_views": 1, "stick_concentration": 0.1}],
    "MECC": OF_VIEWS,
    "MPCKMeans": [
        *OF_PAIRS,
        {"metric": None},
        {"metric": "full"},
        {"metric_per_cluster": True, "closure": True},
        {"metric": "full", "metric_per_cluster": True, "weight": 0.0},
        {"init": np.repeat([[0.0], [1.0], [2.0]], 3, axis=1)},
        {"init": [[0, 0, 0], [1, 1, 1], [2, 2, 2]]},
    ],
    "ITMLClustering": [*OF_PAIRS, {"prior": "identity"}, {"prior": "covariance", "slack": 100.0}],
    "SemiCrowd": [*OF_PAIRS, {"d0": 0.2, "d1": 0.6, "error_weight": 0.5}, {"ridge": 100.0}, {"d0": 0.45, "d1": 0.5}],
    "DawidSkeneClassifier": [
        {"consensus": DawidSkene(confusion="one-coin", calibrate=False)},
        {"classifier": LogisticRegression(C=0.1), "random_state": np.random.default_rng(0)},
        {"classifier": make_pipeline(MinMaxScaler(), LogisticRegression()), "consensus": DawidSkene(prior=None)},
    ],
    "InductiveConsensus": [
        {"consensus": CSPA(n_clusters=1)},
        {"consensus": SubsetFusion(n_clusters=4)},
        {"consensus": MajorityVote(), "random_state": None},
        {"consensus": DawidSkene(confusion="one-coin"), "classifier": LogisticRegression(C=0.5)},
        {"consensus": Crowdclustering(n_clusters=2, n_init=1, max_iter=3)},
        {"classifier": make_pipeline(MinMaxScaler(), LogisticRegression()), "random_state": np.random.default_rng(0)},
    ],
    "BayesSCDC": [
        *OF_NETWORKS,
        {"merge_clusters": False, "n_clusters": 9, "likelihood": "bernoulli"},
        {"init": "random", "concentration": 2.0, "cluster_count": 2},
    ],
    "SCDC": [*OF_NETWORKS, {"n_candidates": 1}, {"batch_size": 4, "annotated_batch_size": 3}],
    "DeepMCVC": [{"n_clusters": 1}, {"max_views": 3, "hidden": [3, 3]}, {"implied_pairs": "independent"}],
    "CorrelationClustering": [
        {"n_clusters": 1},
        {"n_clusters": 3},
        {"reliability_prior": (20.0, 2.0), "n_init": 2, "n_jobs": 2},
        {"tol": 0.0, "random_state": np.random.default_rng(0)},
    ],
    "Crowdclustering": [
        {"n_clusters": 1},
        {"n_clusters": 3},
        {"two_stage": True},
        {"n_components": 1, "max_clusters": 1},
        {"n_components": 5, "tol": 0.0, "n_jobs": 2, "random_state": np.random.default_rng(0)},
    ],
    "KCC": [
        {"n_clusters": 1},
        {"n_clusters": 9, "n_init": 1},
        {"init": "k-means++", "normalize": True},
        *({"utility": utility} for utility in UTILITIES),
        {"p": 2.0, "max_iter": 1, "n_jobs": 2},
    ],
    "CSPA": [{"n_clusters": 1}, {"n_clusters": 5}, {"random_state": np.random.RandomState(0)}],
    "MetaClustering": [
        {"n_clusters": 1},
        {"n_clusters": 5, "n_views": 1},
        {"n_views": 3, "max_views": 3},
        {"max_views": 1, "random_state": np.random.default_rng(0)},
    ],
}
CONFIGURED |= {name: [{}] for name in QUICK if name not in CONFIGURED}
SETS = [
    pytest.param(name, chosen, id=f"{name}-{', '.join(chosen)}", marks=() if quick else pytest.mark.slow)
    for name in QUICK
    for number, chosen in enumerate(CONFIGURED[name])
    for quick in [name not in COMPILED and (list(QUICK).index(name) + number) % 4 == 0]
]
"""A quarter of the parameters of a model; the saved files of tests/test_saved_files.py hold models with all of them."""


@pytest.mark.parametrize("name", QUICK)
def test_restored_with_any_parameters_before_it_is_fitted(name, tmp_path):
    for parameters in CONFIGURED[name]:
        unfitted = registry.estimator(name)(**(QUICK[name] | parameters))
        save(unfitted, tmp_path / "model.zip")
        assert same(load(tmp_path / "model.zip"), unfitted)


@pytest.mark.parametrize(("name", "parameters"), SETS)
def test_restored_with_any_parameters(name, parameters, tmp_path):
    X = features().rank(pct=True) if "likelihood" in parameters else features()
    model = fitted(name, (X, groups()), **parameters)
    comes_back(model, tmp_path / "model.zip", given(name, X, groups())[0])
    if name not in COMPILED:
        assert model.fit(*given(name, X, groups())) is model
        comes_back(model, tmp_path / "model.zip")


MISSING = [None, "?", [], ["?", -1, np.nan, date(2024, 1, 1)]]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        pytest.param(name, missing, marks=() if is_quick(name, number) else pytest.mark.slow)
        for name in QUICK
        if name not in COMPILED
        for number, missing in enumerate(MISSING)
    ],
)
def test_values_given_as_missing_are_restored(name, missing, tmp_path):
    table = groups(missing=0.0)
    table.iloc[::4, 0] = "?" if missing else table.iloc[::4, 0]
    model = registry.estimator(name)(**quick(name, N_ITEMS)).fit(*given(name, features(), table), missing=missing)
    comes_back(model, tmp_path / "model.zip")


@pytest.mark.parametrize("gold", [{"item 0": 2, "item 4": 1}, {}])
def test_models_with_gold_labels_and_history(gold, tmp_path):
    labels = Labels.from_matrix(groups())
    history = DawidSkene().fit(labels)
    gold = pd.Series(gold, dtype=object) if gold else None
    comes_back(DawidSkene().fit(labels, gold=gold, history=history.confusion_counts_), tmp_path / "model.zip", labels)


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("name", ["PartitionLabelModel", "MECC", "MPCKMeans", "ITMLClustering", "SemiCrowd"])
def test_restored_at_the_end_of_a_pipeline(name, output, tmp_path):
    said = Groupings.from_matrix(groups())
    said = said if output == "pandas" else said.by_position()
    pipeline = make_pipeline(StandardScaler(), registry.estimator(name)(**QUICK[name]))
    pipeline = pipeline.set_output(transform=output).fit(features(), said)
    save(pipeline, tmp_path / "model.zip")
    loaded = load(tmp_path / "model.zip")
    assert same(loaded, pipeline)
    assert same(loaded.predict(features()), pipeline.predict(features()))


KINDS_OF_ITEMS = [NAMED, range(N_ITEMS), [(number, "x") for number in range(N_ITEMS)]]


@pytest.mark.parametrize(
    ("strategy", "items"),
    [
        pytest.param(strategy, items, id=f"{strategy}-items{kind}", marks=() if turn == kind == 1 else pytest.mark.slow)
        for turn, strategy in zip(cycle(range(len(KINDS_OF_ITEMS))), [*STRATEGIES, Explore(), ExploreExploitTradeoff()])
        for kind, items in enumerate(KINDS_OF_ITEMS)
    ],
)
def test_sessions_in_progress_are_restored_at_every_step(strategy, items, tmp_path):
    path = tmp_path / "study.zip"
    fusion = None if strategy == "random" else SubsetFusion(3, refine=False)  # the default takes longer
    session = ActiveSession(items, strategy=strategy, fusion=fusion, max_per_item=4, random_state=0)
    for step in range(4):
        asked = session.ask(2, 5, annotators=["p", None] if step else None)
        session = again(session, path)
        for subset in asked[: 1 + step % 2]:
            session.tell([subset.items[:2], subset.items[2:4]], subset=subset)
            session = again(session, path)
        if step:
            session.consensus()
            session.should_stop()
            session = again(session, path)
    session.withdraw(session.pending_[0])
    again(session, path)


def again(session, path):
    save(session, path)
    loaded = load(path)
    assert same(loaded, session)
    return loaded
