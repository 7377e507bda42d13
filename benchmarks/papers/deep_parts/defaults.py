"""BayesSCDC with its defaults alone, beside k-means, told the number of clusters, and PartitionLabelModel.

Small data: the pinwheel and scikit-learn's digits without judgements; wine and iris with eight people who each sort a
third of the items, right eight times out of ten, and merge a fifth of the classes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine

from benchmarks.experiments import Cell, Part, Record
from benchmarks.experiments.statistics import mean_sd
from benchmarks.papers.deep_parts.pinwheel import pinwheel_points
from benchmarks.papers.deep_parts.scores import SHORT, scores
from consilience import Groupings
from consilience.deep import BayesSCDC
from consilience.metrics import ami, clustering_accuracy, nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

DEEP, CLUSTERED, PEOPLE = "BayesSCDC, defaults", "k-means, told the number", "PartitionLabelModel"
SHARE, ACCURACY, MERGED = 1 / 3, 0.8, 0.2
PINWHEEL = "pinwheel"


@dataclass(frozen=True)
class Task:
    """Items as both kinds of model expect them, their classes, and draws and number of people, 0 for none."""

    draws: range
    people: int
    likelihood: str = "gaussian"


TASKS = {
    PINWHEEL: Task(range(10, 13), 0),
    "digits": Task(range(10, 11), 0, "bernoulli"),
    "wine, 8 people": Task(range(10, 11), 8),
    "iris, 8 people": Task(range(10, 11), 8),
}


def models(task: Task, n_classes: int, seed: int) -> dict[str, Any]:
    found = {
        DEEP: BayesSCDC(likelihood=task.likelihood, random_state=seed),
        CLUSTERED: KMeans(n_classes, n_init=10, random_state=seed),
        PEOPLE: PartitionLabelModel(random_state=seed),
    }
    return found if task.people else {name: found[name] for name in (DEEP, CLUSTERED)}


def cells() -> Iterator[Cell]:
    for data, task in TASKS.items():
        for seed in task.draws:
            for name, model in models(task, len(np.unique(items(data, seed)[1])), seed).items():
                yield Cell("defaults", data, name, seed, model)


def items(data: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features from 0 to 1 of the digits, or standardised ones; and the classes."""
    if data == PINWHEEL:
        return pinwheel_points(seed)
    name = data.partition(",")[0]
    if name == "digits":
        pixels, digit = load_digits(return_X_y=True)
        return pixels / 16, digit
    features, kind = {"wine": load_wine, "iris": load_iris}[name](return_X_y=True)
    return (features - features.mean(0)) / features.std(0), kind


def crowd(data: str, truth: np.ndarray, seed: int) -> Groupings | None:
    n = TASKS[data].people
    if not n:
        return None
    each = round(SHARE * len(truth))
    return simulate_crowd(truth, n_annotators=n, items_each=each, accuracy=ACCURACY, merge=MERGED, random_state=seed)


def compute(cell: Cell) -> dict[str, Any]:
    features, truth = items(cell.data, cell.draw)
    said = crowd(cell.data, truth, cell.draw)
    start = time.perf_counter()
    model = clone(cell.estimator)
    if cell.model == CLUSTERED:
        labels = model.fit(features).labels_
        found = {"accuracy": clustering_accuracy(truth, labels), "nmi": nmi(truth, labels), "ami": ami(truth, labels)}
        return found | {"clusters": len(np.unique(labels)), "seconds": time.perf_counter() - start}
    model.fit(pd.DataFrame(features), said)
    if cell.model == DEEP:
        return scores(model, truth, time.perf_counter() - start)
    found = {score.__name__: score(truth, model.labels_) for score in (nmi, ami)}
    return found | {
        "accuracy": clustering_accuracy(truth, model.labels_),
        "clusters": int(model.n_clusters_),
        "seconds": time.perf_counter() - start,
    }


def table(record: Record) -> list[str]:
    rows = record.frame("defaults")
    lines = ["defaults alone; the crowds sort a third of the items each, right in .8 of them; mean ± sd of seeds", ""]
    lines.append(f"{'':52s}{'accuracy (least)':>24s}{'NMI':>17s}{'clusters':>14s}{'a fit':>9s} seeds")
    for (data, name), own in rows.groupby(["data", "model"], sort=False):
        clusters = f"{own['clusters'].min():.0f} to {own['clusters'].max():.0f}"
        accuracy = f"{spread(own['accuracy'])} ({own['accuracy'].min():.3f})"
        lines.append(
            f"{data:20s}{name:32s}{accuracy:>24s}{spread(own['nmi']):>17s}{clusters:>14s}"
            f"{own['seconds'].mean():7.0f} s{len(own):6d}"
        )
    return lines


def spread(values: pd.Series) -> str:
    """Return mean and standard deviation, or a single value."""
    return mean_sd(values) if len(values) > 1 else f"{values.iloc[0]:.3f}"


def quotes(record: Record) -> dict[str, Any]:
    rows = record.frame("defaults")
    found: dict[str, Any] = {}
    for (data, name), own in rows.groupby(["data", "model"]):
        key = {DEEP: "deep", CLUSTERED: "kmeans", PEOPLE: "people"}[name]
        found.setdefault(data, {})[key] = {
            "least": own["accuracy"].min(),
            "accuracy": own["accuracy"].mean(),
            "nmi": own["nmi"].mean(),
            "clusters": own["clusters"].astype(int).tolist(),
            "draws": len(own),
        }
    return found


PART = Part("defaults", cells, compute, short=SHORT)
