"""BayesSCDC with its defaults alone, beside k-means, told the number of clusters, and PartitionLabelModel.

Without judgements: the pinwheel, scikit-learn's digits, faces by pose, and MNIST. With people who each sort a third of
the items, right eight times out of ten, and merge a fifth of the classes: wine, iris, breast tissue and scikit-learn's
digits. With 48 real people: MNIST.
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
from benchmarks.papers.deep_parts.pinwheel import pinwheel_points
from benchmarks.papers.deep_parts.scores import SHORT, scores, spread
from benchmarks.papers.view_parts.faces import faces
from consilience import Groupings
from consilience.datasets import load_mnist_crowd, load_uci
from consilience.deep import BayesSCDC
from consilience.metrics import ami, clustering_accuracy, nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

DEEP, CLUSTERED, PEOPLE = "BayesSCDC, defaults", "k-means, told the number", "PartitionLabelModel"
SHARE, ACCURACY, MERGED = 1 / 3, 0.8, 0.2
PINWHEEL, MNIST = "pinwheel", "MNIST"
DRAWS = range(10, 20)


@dataclass(frozen=True)
class Task:
    """Data and their likelihood, draws, and the number of simulated people; those of MNIST are real.

    is_small : whether PartitionLabelModel fits the data, too.
    """

    items: str
    draws: range
    people: int = 0
    likelihood: str = "gaussian"
    is_small: bool = True


TASKS = {
    PINWHEEL: Task(PINWHEEL, DRAWS),
    "digits": Task("digits", range(10, 13), likelihood="bernoulli"),
    "wine, 8 people": Task("wine", DRAWS, 8),
    "iris, 6 people": Task("iris", DRAWS, 6),
    "breast tissue, 12 people": Task("breast tissue", DRAWS, 12),
    "digits, 10 people": Task("digits", DRAWS, 10, "bernoulli"),
    "faces": Task("faces", range(10, 13)),
    MNIST: Task(MNIST, range(10, 11), likelihood="bernoulli", is_small=False),
    "MNIST, 48 people": Task(MNIST, range(10, 11), 48, "bernoulli", is_small=False),
}


def models(task: Task, n_classes: int, seed: int) -> dict[str, Any]:
    found = {
        DEEP: BayesSCDC(likelihood=task.likelihood, random_state=seed),
        CLUSTERED: KMeans(n_classes, n_init=10, random_state=seed),
        PEOPLE: PartitionLabelModel(random_state=seed),
    }
    return found if task.people and task.is_small else {name: found[name] for name in (DEEP, CLUSTERED)}


N_CLASSES = {PINWHEEL: 5, "digits": 10, "wine": 3, "iris": 3, "breast tissue": 6, "faces": 4, MNIST: 10}


def cells() -> Iterator[Cell]:
    for data, task in TASKS.items():
        for seed in task.draws:
            for name, model in models(task, N_CLASSES[task.items], seed).items():
                yield Cell("defaults", data, name, seed, model)


def items(name: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return features, of pictures from 0 to 1 and else standardised; and the classes."""
    if name == PINWHEEL:
        points, arm = pinwheel_points(seed)
        return pd.DataFrame(points), arm
    if name == MNIST:
        crowd = load_mnist_crowd(all_images=True)
        return pd.DataFrame(np.asarray(crowd.data, float) / 255, index=crowd.annotations.items), np.asarray(
            crowd.target
        )
    if name == "faces":
        features, views = faces()
        return features, views["pose"].to_numpy()
    if name == "digits":
        grey, digit = load_digits(return_X_y=True)
        return pd.DataFrame(grey / 16), digit
    if name == "breast tissue":
        found = load_uci("breast_tissue")
        features, kind = np.asarray(found.data, float), np.unique(found.target, return_inverse=True)[1]
    else:
        features, kind = {"wine": load_wine, "iris": load_iris}[name](return_X_y=True)
    return pd.DataFrame((features - features.mean(0)) / features.std(0)), kind


def crowd(task: Task, truth: np.ndarray, seed: int) -> Groupings | None:
    if not task.people:
        return None
    if task.items == MNIST:
        return load_mnist_crowd(all_images=True).annotations
    each = round(SHARE * len(truth))
    return simulate_crowd(
        truth, n_annotators=task.people, items_each=each, accuracy=ACCURACY, merge=MERGED, random_state=seed
    )


def compute(cell: Cell) -> dict[str, Any]:
    task = TASKS[cell.data]
    features, truth = items(task.items, cell.draw)
    said = crowd(task, truth, cell.draw)
    start = time.perf_counter()
    model = clone(cell.estimator)
    if cell.model == CLUSTERED:
        labels = model.fit(features).labels_
        found = {"accuracy": clustering_accuracy(truth, labels), "nmi": nmi(truth, labels), "ami": ami(truth, labels)}
        return found | {"clusters": len(np.unique(labels)), "seconds": time.perf_counter() - start}
    model.fit(features, said)
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
    lines.append(f"{'':58s}{'accuracy (least)':>24s}{'NMI':>17s}{'clusters':>14s}{'a fit':>9s} seeds")
    for (data, name), own in rows.groupby(["data", "model"], sort=False):
        clusters = f"{own['clusters'].min():.0f} to {own['clusters'].max():.0f}"
        accuracy = f"{spread(own['accuracy'])} ({own['accuracy'].min():.3f})"
        lines.append(
            f"{data:26s}{name:32s}{accuracy:>24s}{spread(own['nmi']):>17s}{clusters:>14s}"
            f"{own['seconds'].mean():7.0f} s{len(own):6d}"
        )
    return lines


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
