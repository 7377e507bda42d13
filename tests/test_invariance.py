"""Order and names change nothing: every estimator, on the same data in other orders and under other names."""

import os
from functools import cache

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels, registry
from consilience.consensus import KCC
from consilience.datasets import load_cardsort_greek_sites
from consilience.estimators.user_order import restore_order
from tests.quick_cases import QUICK
from tests.scrambled import WHAT, scramble

DATA = os.environ.get("CONSILIENCE_DATA")
N_ITEMS, N_ANNOTATORS = 43, 7

SMALL = {"n_clusters": 3, "random_state": 0}
DEEP = {"n_latent": 2, "hidden": (8,), "batch_size": 16, "annotated_batch_size": 16, "n_epochs": 4, "warm_epochs": 2}
PARAMETERS = {
    "PartitionLabelModel": {"max_clusters": 8, "n_init": 2, "max_iter": 15, "random_state": 0},
    "MajorityVote": {},
    "DawidSkene": {},
    "ProductMixture": {"n_clusters": 4, "n_init": 3, "random_state": 0},
    "OrdinalRatings": {"levels": list("pqrs")},
    "TagConsensus": {},
    "SpectralEM": {"n_init": 2, "n_starts": 20, "random_state": 0},
    "StagewiseEM": {},
    "SubsetFusion": {"max_clusters": 8, "random_state": 0},
    "MCVC": {"n_clusters": 4, "n_init": 4, "random_state": 0},
    "MECC": {"n_clusters": 4, "n_init": 4, "random_state": 0},
    "MPCKMeans": SMALL,
    "ITMLClustering": SMALL | {"n_init": 3},
    "SemiCrowd": SMALL | {"n_init": 3},
    "DawidSkeneClassifier": {"random_state": 0},
    "InductiveConsensus": {"consensus": KCC(3, n_init=3), "random_state": 0},
    "BayesSCDC": SMALL | DEEP,
    "SCDC": SMALL | DEEP,
    "DeepMCVC": {"n_clusters": 3, "hidden": (8,), "n_init": 2, "n_sweeps": 20, "random_state": 0},
    "CorrelationClustering": {"reliability_prior": (10.0, 1.0), "n_init": 2, "random_state": 0},
    "Crowdclustering": {"max_clusters": 6, "n_components": 2, "n_init": 2, "max_iter": 6, "random_state": 0},
    "KCC": SMALL | {"n_init": 4, "init": "k-means++"},
    "CSPA": {"random_state": 0},
    "MetaClustering": {"random_state": 0},
}
COMPILED = ("BayesSCDC", "SCDC", "DeepMCVC")
READ = [(name, kind) for name, known in registry.ESTIMATORS.items() for kind in known.reads]
CASES = [pytest.param(name, kind, marks=[pytest.mark.slow] if name in COMPILED else []) for name, kind in READ]
CHANGES = {
    "rows shuffled": {"move": ["items"], "rename": []},
    "items renamed": {"move": [], "rename": ["items"]},
    "annotators renamed and reordered": {"move": ["annotators"], "rename": ["annotators"]},
    "groups renamed and reordered": {"move": ["groups"], "rename": ["groups"]},
    "everything": {"move": WHAT, "rename": WHAT},
}
CHANGED = [
    pytest.param(name, kind, change, marks=() if quick and name not in COMPILED else pytest.mark.slow)
    for turn, (name, kind) in enumerate(
        (name, kind) for name, known in registry.ESTIMATORS.items() for kind in known.reads
    )
    for number, change in enumerate(CHANGES)
    for quick in [change == "everything" or (turn % 9 == 0 and number == turn // 9 % (len(CHANGES) - 1))]
]
"""All changes at once for every estimator, and for every ninth, one of them alone in turn; the others are slow."""
NAMING = {
    "items_",
    "groupings_",
    "_given",
    "informative_set_",
    "_trained_annotators",
    "_rated",
    "consensus_",
    "classifier_",
}
"""Attributes that hold names of items or annotators, or other estimators."""
NAMED = {
    "annotators_": "of SubsetFusion they stand in the order of their weights",
    "completed_": "of SemiCrowd: of the annotated items",
}
"""Tables that are compared by the names in their index, with the reason."""
BY_CHANCE = {
    "eigenvalues_": "of MetaClustering: as many as there are annotators, if these are few",
    "lower_bounds_": "one for each sweep",
    "objectives_": "one for each sweep",
    "restart_objectives_": "one for each start",
    "losses_": "one for each epoch",
    "clusters_left_": "one for each epoch",
}
"""Attributes with an axis that may be as long as one of those, but is of other things."""


def reads_features(name):
    return registry.ESTIMATORS[name].kind == "semisupervised"


def disputed_study():
    """Three blobs that overlap, sorted by seven people who disagree, some of whom leave items out or sort twice."""
    rng = np.random.default_rng(5)
    blob = rng.integers(3, size=N_ITEMS)
    X = pd.DataFrame(rng.normal(size=(N_ITEMS, 3)) + 1.5 * np.eye(3)[blob], index=[f"i{n}" for n in range(N_ITEMS)])
    said = np.where(rng.random((N_ITEMS, 9)) < 0.35, rng.integers(4, size=(N_ITEMS, 9)), blob[:, None])
    said = np.array(list("pqrs"), dtype=object)[said]
    said[rng.random(said.shape) < 0.15] = None
    frame = pd.DataFrame(said, index=X.index).rename_axis("item").melt(ignore_index=False, var_name="grouping")
    frame = frame.rename(columns={"value": "group"}).dropna().reset_index()
    frame["annotator"] = [f"w{min(int(grouping), N_ANNOTATORS - 1)}" for grouping in frame["grouping"]]
    frame["grouping"] = [f"s{grouping}" for grouping in frame["grouping"]]
    return X, Groupings.from_frame(frame, items=X.index)


@cache
def study(kind):
    """Features, and what was said as annotations of a kind."""
    X, groupings = disputed_study()
    if kind == "groupings":
        return X, groupings
    if kind == "pairs":
        pairs = groupings.to_pairs()
        return X, pairs._rows(np.random.default_rng(0).random(pairs.n_rows) < 0.25)
    frame = groupings.to_frame().drop_duplicates(["item", "annotator"]).rename(columns={"group": "label"})
    return X, Labels.from_frame(frame[["item", "annotator", "label"]], items=X.index)


def fitted(name, X, said):
    model = registry.estimator(name)(**PARAMETERS.get(name, QUICK[name]))
    return model.fit(X, said) if reads_features(name) else model.fit(said)


@cache
def fitted_as_given(name, kind):
    return fitted(name, *study(kind))


def numbers(value):
    """Numbers of what was learned, without names; None if there are none."""
    if isinstance(value, pd.DataFrame):
        value = value.select_dtypes(["number", "bool"]).to_numpy(float)
    elif isinstance(value, pd.Series):
        value = value.to_numpy()
    elif isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [found for found in map(numbers, value) if found is not None]
    if isinstance(value, np.ndarray | np.generic | int | float):
        return np.asarray(value)
    return None


def assert_same(here, there, what):
    if isinstance(there, list):
        assert len(here) == len(there), what
        for number, pair in enumerate(zip(here, there, strict=True)):
            assert_same(*pair, f"{what}[{number}]")
    elif there is not None:
        np.testing.assert_array_equal(here, there, err_msg=what)


def assert_learned_the_same(here, there, scrambled):
    """All that one model learned is what the other did, to the last bit, each thing where it now stands."""
    places = {"groupings": np.empty(0, int), "groups": np.empty(0, int)} | scrambled.places
    assert vars(here).keys() == vars(there).keys()
    for attribute, value in vars(there).items():
        if attribute in NAMING or attribute in there.get_params():
            continue
        axes = there._axes.get(attribute, ())
        if {"groupings", "groups"} & set(axes) and not places["groups"].size:
            continue  # those of labels, which have none: they follow from the labels
        if attribute in NAMED:
            value, axes = value.rename(index=scrambled.now).loc[getattr(here, attribute).index], ()
            if attribute == "completed_":
                value = value.rename(columns=scrambled.now)[value.index]
        assert_same(numbers(getattr(here, attribute)), numbers(restore_order(value, axes, places)), attribute)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize(("name", "kind", "change"), CHANGED)
def test_order_and_names_change_nothing(name, kind, change):
    X, said = study(kind)
    scrambled = scramble(said, np.random.default_rng(1), **CHANGES[change])
    there = fitted_as_given(name, kind)
    here = fitted(name, X.iloc[scrambled.items].set_axis(scrambled.annotations.items), scrambled.annotations)
    assert_learned_the_same(here, there, scrambled)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_every_axis_is_declared(name, kind):
    """What has as many rows or columns as there are items, annotators, groupings or groups stands in their order."""
    _, said = study(kind)
    sizes = {"items": said.n_items, "annotators": said.n_annotators}
    if isinstance(said, Groupings):
        sizes |= {"groupings": said.n_groupings, "groups": said.n_groups}
    model = fitted_as_given(name, kind)
    for attribute, value in vars(model).items():
        if attribute in NAMING | NAMED.keys() | BY_CHANCE.keys() or attribute in model.get_params():
            continue
        for part in value if isinstance(value, list | tuple) else [value]:
            declared = dict(enumerate(model._axes.get(attribute, ())))
            for axis, length in enumerate(np.shape(part)):
                expected = [what for what, size in sizes.items() if length == size]
                assert not expected or declared.get(axis) in expected, (attribute, axis, length)


def card_sort():
    X = np.random.default_rng(0).normal(size=(59, 2))
    said = load_cardsort_greek_sites("celestino").annotations
    return pd.DataFrame(X, index=said.items), said


@pytest.mark.skipif(not DATA, reason="CONSILIENCE_DATA does not name the folder of real data sets")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("change", [pytest.param("rows shuffled", marks=pytest.mark.slow), "everything"])
@pytest.mark.parametrize(
    "name",
    [pytest.param("PartitionLabelModel", marks=pytest.mark.slow), "SubsetFusion", "MCVC", "MetaClustering", "KCC"],
)
def test_a_real_card_sort(name, change):
    X, said = card_sort()
    scrambled = scramble(said, np.random.default_rng(2), **CHANGES[change])
    X_now = X.iloc[scrambled.items].set_axis(scrambled.annotations.items)
    there = fitted(name, None if name == "PartitionLabelModel" else X, said)
    here = fitted(name, None if name == "PartitionLabelModel" else X_now, scrambled.annotations)
    assert_learned_the_same(here, there, scrambled)
