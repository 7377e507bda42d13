"""Items of two views, with features and without, for the tests of MCVC and MECC over partitions."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings
from consilience.errors import AnnotationWarning
from consilience.partitions import PartitionedItems, item_results
from consilience.semisupervised import MCVC, MECC
from tests.partitions import made

FEATURES, SORTERS = [f"x{number}" for number in range(4)], [f"annotator {number}" for number in range(6)]
SETTINGS = {"n_clusters": 3, "n_init": 2, "tol": 1e-5, "random_state": 0}
SEVERAL = {"n_clusters": 3, "n_init": 8}
EXACT, CLOSE = {"rtol": 1e-10, "atol": 1e-10}, {"rtol": 1e-6, "atol": 1e-6}
MODELS = {
    "MCVC": lambda **options: MCVC(**SETTINGS | options),
    "MECC": lambda **options: MECC(**SETTINGS | options),
}
OF_ITEMS = {
    "one": lambda frame: [frame],
    "interleaved": lambda frame: [frame[number::5] for number in range(5)],
    "skewed": lambda frame: [frame[:1], frame[1:]],
    "with empty ones": lambda frame: [frame[:0], frame[:0], frame[:30], frame[30:], frame[:0]],
    "one without labels": lambda frame: [
        frame[frame[SORTERS].isna().all(axis=1)],
        frame[frame[SORTERS].notna().any(axis=1)],
    ],
    "an annotator in one only": lambda frame: [frame[frame[SORTERS[0]].isna()], frame[frame[SORTERS[0]].notna()]],
}


def items(n=100, *, seed=0, right=0.85, blank=0.4):
    """Items of three clusters in each of two views, by which annotators sort in turn; every tenth has no label."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(3, size=(2, n))
    features = np.concatenate([3 * rng.normal(size=(3, 2))[own] for own in clusters], axis=1)
    frame = pd.DataFrame(features + rng.normal(size=features.shape), columns=FEATURES)
    frame.insert(0, "item", [f"item {number}" for number in rng.permutation(n)])
    for number, name in enumerate(SORTERS):
        said = np.where(rng.random(n) < right, clusters[number % 2], rng.integers(3, size=n))
        labels = np.array([f"pile {pile}" for pile in said], dtype=object)
        labels[(rng.random(n) < blank) | (np.arange(n) % 10 == 0)] = None
        frame[name] = labels
    return frame


def sorts(n=100):
    """The labels of such items as a long table, without features and with numbers for items."""
    frame = items(n, right=0.95, blank=0.1)
    table = frame.assign(item=range(len(frame))).melt("item", SORTERS, "annotator", "label").dropna()
    return table.assign(label=table["annotator"].str[-1] + " " + table["label"].astype(str))


def table_of(frames, **options):
    return PartitionedItems(frames, features=FEATURES, annotators=SORTERS, **options)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Annotators share hardly any labels", AnnotationWarning)
        return function(*arguments, **options)


def with_features(model, frame):
    named = frame.set_index("item")
    return quietly(model.fit, named[FEATURES], Groupings.from_matrix(named[SORTERS], missing=[]))


def without(model, frames):
    return quietly(lambda: model.fit(None, made.whole(frames)))


@cache
def in_memory(name, **options):
    return with_features(MODELS[name](**options), items())


def results_of(model, table, names):
    return pd.concat(item_results(model, table, responsibilities=True)).set_index("item").loc[names]
