"""Items with features and partition labels, for the tests of partitions."""

import numpy as np
import pandas as pd

from consilience import Groupings
from consilience.partitions import PartitionedItems
from consilience.semisupervised import PartitionLabelModel

FEATURES, SORTERS = [f"x{number}" for number in range(5)], [f"annotator {number}" for number in range(8)]
SETTINGS = {"prior_variance": 1.0, "copies": None, "merge": False, "max_clusters": 6, "n_init": 1, "random_state": 3}


def items(n=240, *, seed=0):
    """Items of four clusters, and annotators who tell some of them apart; every tenth item has no label."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=n)
    features = 2 * rng.normal(size=(4, len(FEATURES)))[cluster] + rng.normal(size=(n, len(FEATURES)))
    frame = pd.DataFrame(features, columns=FEATURES)
    frame.insert(0, "item", [f"item {number}" for number in rng.permutation(n)])
    for name in SORTERS:
        said = np.where(rng.random(n) < 0.85, rng.integers(3, size=4)[cluster], rng.integers(3, size=n))
        labels = np.array([f"pile {number}" for number in said], dtype=object)
        labels[(rng.random(n) < 0.5) | (np.arange(n) % 10 == 0)] = None
        frame[name] = labels
    return frame


def table_of(frames, **options):
    return PartitionedItems(frames, features=FEATURES, annotators=SORTERS, **options)


def in_memory(frame, settings):
    named = frame.set_index("item")
    return PartitionLabelModel(**settings).fit(named[FEATURES], Groupings.from_matrix(named[SORTERS], missing=[]))
