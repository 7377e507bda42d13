"""Small crowds: which figures reveal a random annotator, what restarts of a model find, and what columns of noise do.

    python benchmarks/small_crowds.py annotators
    python benchmarks/small_crowds.py restarts
    python benchmarks/small_crowds.py noise-columns

In the first two, "sorters" sort items of several kinds, with 4 features: they misplace about one item in nine, and one
more annotator sorts at random. "experts" each split the kinds by their own question and flip one label in ten, and one
more labels at random. There are seven of them and 60 items of 4 kinds unless stated otherwise.

In the third, nobody labels at random, and the items are 178 wines of 3 classes, with 13 features and 1987 columns of
standard normal noise. Settings were chosen on even draws, and odd ones are reported.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from benchmarks import random_sorters
from consilience import Groupings
from consilience.errors import AnnotationWarning
from consilience.inspection import annotator_agreement
from consilience.metrics import ari, nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_experts

N_GOOD = 7
N_COLUMNS = 2000
DRAWS = (11, 13, 15, 17, 19)


def crowd(
    seed: int, sort: str = "sorters", n_good: int = N_GOOD, n_items: int = 60, n_kinds: int = 4
) -> tuple[np.ndarray, np.ndarray, Groupings]:
    """Return standardised features, kinds, and the groupings of all annotators."""
    rng = np.random.default_rng(seed)
    features, kind = make_blobs(n_items, centers=n_kinds, n_features=4, cluster_std=2.0, random_state=seed)
    if sort == "sorters":
        any_kind = rng.integers(n_kinds, size=(n_items, n_good))
        groups = pd.DataFrame(np.where(rng.random(any_kind.shape) < 0.15, any_kind, kind[:, None]).astype(object))
        groups[n_good] = rng.integers(n_kinds, size=n_items)
    else:
        groups = simulate_experts(kind, n_annotators=n_good, random_state=seed).to_matrix()
        groups = groups.set_axis(range(n_good), axis=1)
        groups[n_good] = np.array(["positive", "negative"])[rng.integers(2, size=n_items)]
    return StandardScaler().fit_transform(features), kind, Groupings.from_matrix(groups)


def figures(model: PartitionLabelModel, groupings: Groupings) -> pd.DataFrame:
    """Return the figures of each annotator that a user sees."""
    table = model.annotators_[["reliability", "accuracy", "expected_accuracy"]].copy()
    table["with clusters"] = [_agreement(column, model.labels_) for _, column in groupings.to_matrix().items()]
    others = annotator_agreement(groupings).to_numpy(copy=True)
    np.fill_diagonal(others, np.nan)
    table["with others"] = np.nanmean(others, axis=1)
    return table


def _agreement(groups: pd.Series, labels: np.ndarray) -> float:
    """Return the adjusted Rand index of groups and clusters, over the items that were grouped."""
    seen = groups.notna().to_numpy()
    return ari(groups[seen].to_numpy(), labels[seen])


def annotators(n_crowds: int = 20) -> None:
    """Print lowest, mean and highest figures of good annotators and the random one, and how often that is last."""
    for sort, n_good, n_items, n_kinds, given in (
        ("sorters", 7, 60, 4, True),
        ("sorters", 7, 60, 4, False),
        ("sorters", 4, 60, 4, True),
        ("sorters", 4, 120, 3, False),
        ("experts", 7, 60, 4, True),
    ):
        tables = []
        for seed in range(n_crowds):
            features, _, groupings = crowd(seed, sort, n_good, n_items, n_kinds)
            model = PartitionLabelModel(random_state=seed).fit(features if given else None, groupings)
            tables.append(figures(model, groupings))
        found = pd.concat(tables, keys=range(n_crowds), names=["crowd"])
        whose = np.where(found.index.get_level_values("annotator") == n_good, "at random", "others")
        items = f"{n_items} items of {n_kinds} kinds, {'with' if given else 'no'} features"
        print(f"\n{n_good} {sort} and one at random, {items}, {n_crowds} crowds")
        print(found.groupby(whose).agg(["min", "mean", "max"]).round(2).T.to_string())
        last = [table.loc[n_good] < table.drop(index=n_good).min() for table in tables]
        print(f"lowest of all, in so many crowds: {pd.concat(last, axis=1).sum(axis=1).to_dict()}")


def restarts(n_crowds: int = 5, n_seeds: int = 10) -> None:
    """Print the clusters found, and their adjusted Rand index with the kinds, by the number of restarts."""
    for n_init in (1, 5, 20):
        fits = [
            (seed, kind, PartitionLabelModel(random_state=again, n_init=n_init).fit(features, groupings))
            for seed, (features, kind, groupings) in ((seed, crowd(seed)) for seed in range(n_crowds))
            for again in range(n_seeds)
        ]
        rows = [(seed, model.n_clusters_, ari(kind, model.labels_), model.lower_bound_) for seed, kind, model in fits]
        table = pd.DataFrame(rows, columns=["crowd", "clusters", "ari", "bound"])
        by_crowd = table.groupby("crowd")
        print(f"\nn_init={n_init}: mean adjusted Rand index {table['ari'].mean():.2f}, lowest {table['ari'].min():.2f}")
        print(
            by_crowd["clusters"].agg(["min", "max"]).join(by_crowd["ari"].agg(["min", "max"]), rsuffix=" ari").round(2)
        )
        print(f"spread of the bound within a crowd, nats: {by_crowd['bound'].agg(np.ptp).round(1).tolist()}")


def noise_columns() -> None:
    """Print NMI with the classes of wines, and the number of clusters, with and without columns of noise."""
    X, classes = load_wine(return_X_y=True)
    wines = StandardScaler().fit_transform(X)
    crowds: dict[str, Callable[[int], Any]] = {
        "8 annotators who name the class": lambda draw: random_sorters.crowd(classes, 0, draw)
    }
    for share in (1.0, 0.6, 0.2):
        crowds[f"10 experts, {share:.0%} of their labels"] = partial(_of_experts, classes, share)
    for crowd_name, said in crowds.items():
        print(f"\n{crowd_name}")
        for name, n_columns, settings in (
            ("no features", 0, {}),
            ("13 features", 13, {}),
            ("2000 features", N_COLUMNS, {}),
            ("2000 features, select_features=False", N_COLUMNS, {"select_features": False}),
        ):
            fits = []
            for draw in DRAWS:
                noise = np.random.default_rng([draw, N_COLUMNS]).normal(size=(len(wines), N_COLUMNS))
                features = np.hstack([wines, StandardScaler().fit_transform(noise)])[:, :n_columns]
                model = PartitionLabelModel(random_state=draw, **settings)
                fits.append(model.fit(features if n_columns else None, said(draw)))
            scores = [nmi(classes, model.labels_) for model in fits]
            clusters = " ".join(str(model.n_clusters_) for model in fits)
            used = " ".join(str(model.features_used_.sum()) for model in fits)
            print(
                f"  {name:38s} NMI {np.mean(scores):.3f}, lowest {min(scores):.3f}; clusters {clusters}; used {used}",
                flush=True,
            )


def _of_experts(classes: np.ndarray, share: float, draw: int) -> Groupings:
    return simulate_experts(classes, observed=share, random_state=draw)


if __name__ == "__main__":
    warnings.simplefilter("ignore", AnnotationWarning)
    {"annotators": annotators, "restarts": restarts, "noise-columns": noise_columns}[sys.argv[1]]()
