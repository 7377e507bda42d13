"""The methods of the pages on groupings and on pairs, and how they do on a crowd of which a fifth is held out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.people.co_occurrence import CoOccurrence, by_kmeans, by_linkage
from benchmarks.people.held_out import Crowd, Judgements, held_out, judged
from consilience import Groupings, Pairs
from consilience.consensus import CSPA, KCC, CorrelationClustering, Crowdclustering, MetaClustering, SubsetFusion
from consilience.metrics import ari, nmi
from consilience.semisupervised import MECC, PartitionLabelModel

CO_OCCURRENCE, BASE, LINKAGE, KMEANS, LIMIT = (
    "co-occurrence",
    "base rate",
    "average linkage (told)",
    "k-means of rows (told)",
    "(classes known)",
)
TOLD = {"n_clusters": "told"}
OF_GROUPINGS = {
    "SubsetFusion": SubsetFusion(),
    "SubsetFusion(told)": SubsetFusion(),
    "PartitionLabelModel": PartitionLabelModel(),
    "CSPA": CSPA(),
    "CSPA(told)": CSPA(),
    "KCC(told)": KCC(),
    "MetaClustering": MetaClustering(),
    "MECC": MECC(),
}
OF_PAIRS = {
    "CorrelationClustering": CorrelationClustering(),
    "MECC": MECC(),
    "MECC(told)": MECC(),
    "Crowdclustering": Crowdclustering(),
}
BASELINES = (CO_OCCURRENCE, BASE, LINKAGE, KMEANS)


@dataclass(frozen=True)
class Answer:
    """What a method says after it read the judgements of the others.

    Attributes
    ----------
    same : probability that the items of each pair belong together, or None
    of_item : probability of each cluster of each item, of shape (n_items, n_clusters), or None
    forecast : probability that a new person puts the items of each pair together, or None
    """

    same: np.ndarray | None
    of_item: np.ndarray | None
    forecast: np.ndarray | None = None


def figures(name: str, crowd: Crowd, draw: int, model: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a method that is fitted to four fifths of the people predicts the judgements of the others.

    Probabilities are judged in three ways: as the method predicts ("own"), by its clusters, and as it forecasts. A fit
    that ends with an error has one cluster, and the base rate for probability.
    """
    annotations, n_items = crowd.annotations, crowd.annotations.n_items
    out = held_out(annotations.n_annotators, draw)
    judgements = Judgements.of(annotations)
    asked, read = judgements.where(out[judgements.person]), judgements.where(~out[judgements.person])
    kept = annotations.restrict(annotators=annotations.annotators[~out])
    told = n_told(kept, crowd.truth)
    plain = CoOccurrence.learned(read, n_items)
    pairs, place = np.unique(np.column_stack([asked.first, asked.second]), axis=0, return_inverse=True)
    start = time.perf_counter()
    why = ""
    try:
        if model is not None:
            number = told if settings.get("n_clusters") == TOLD["n_clusters"] else None
            found = of_model(model, kept, pairs, number, draw)
        else:
            found = of_baseline(name, read, pairs, told, crowd, draw)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        base = np.full(len(pairs), plain.base)
        found, why = Answer(base, np.ones((n_items, 1)), base), type(error).__name__
    seconds = time.perf_counter() - start
    reference = plain.probability(*pairs.T)[place]
    result: dict[str, Any] = {
        "n_items": n_items,
        "n_people": annotations.n_annotators,
        "n_held_out": len(np.unique(asked.person)),
        "n_judgements": len(judgements.same),
        "amount": plain.amount,
        "groups": annotations.n_groups / annotations.n_groupings if isinstance(annotations, Groupings) else None,
        "told": told,
        "no_answer": why,
        "seconds": seconds,
    }
    if found.same is not None:
        result |= prefixed("own", judged(asked, found.same[place], reference))
    if found.forecast is not None:
        result |= prefixed("forecast", judged(asked, found.forecast[place], reference))
    if found.of_item is not None:
        result |= prefixed("clusters", judged(asked, by_clusters(found.of_item, read, pairs)[place], reference))
        seen = np.union1d(read.first, read.second)
        labels = found.of_item[seen].argmax(axis=1)
        result["n_clusters"] = len(np.unique(labels))
        if crowd.truth is not None:
            result |= {"nmi": nmi(crowd.truth[seen], labels), "ari": ari(crowd.truth[seen], labels)}
    return result


def prefixed(prefix: str, found: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix}_{key}": value for key, value in found.items()}


def n_told(kept: Groupings | Pairs, truth: np.ndarray | None) -> int:
    """Return the number of clusters that methods are told: of classes, or of the groups that a person makes."""
    if truth is not None:
        return len(np.unique(truth))
    return max(2, round(kept.n_groups / kept.n_groupings))


def of_model(model: Any, kept: Groupings | Pairs, pairs: np.ndarray, n_clusters: int | None, seed: int) -> Answer:
    """Fit a model of the package, and return what it says of pairs of items and of a person whom it does not know."""
    own = clone(model).set_params(random_state=seed)
    if n_clusters is not None:
        own.set_params(n_clusters=n_clusters)
    if next(iter(signature(own.fit).parameters)) == "X":
        own.fit(None, kept)
    else:
        own.fit(kept)
    first, second = (own.items_.take(side).tolist() for side in pairs.T)
    same, forecast = np.clip(own.predict_same(first, second), 0, 1), own.forecast_same(first, second)
    return Answer(same, np.asarray(own.responsibilities_, dtype=float), forecast)


def of_baseline(name: str, read: Judgements, pairs: np.ndarray, told: int, crowd: Crowd, seed: int) -> Answer:
    """Return what a plain baseline says, or what can be said if the classes are known."""
    if name == LIMIT and crowd.truth is not None:
        return Answer(None, np.eye(crowd.truth.max() + 1)[crowd.truth])
    plain = CoOccurrence.learned(read, crowd.annotations.n_items)
    if name == CO_OCCURRENCE:
        return Answer(plain.probability(*pairs.T), None)
    if name == BASE:
        return Answer(np.full(len(pairs), plain.base), None)
    similarity = plain.matrix()
    labels = by_linkage(similarity, told) if name == LINKAGE else by_kmeans(similarity, told, seed)
    return Answer(None, np.eye(labels.max() + 1)[labels])


def by_clusters(of_item: np.ndarray, read: Judgements, pairs: np.ndarray) -> np.ndarray:
    """Return the probability of "together" by clusters: the rates of "together" within them and between them.

    As in `consilience.selection.prediction`, of the crowd; people are weighted equally.
    """
    together = (of_item[read.first] * of_item[read.second]).sum(axis=1)
    within, between = (
        ((weight * read.same).sum() + 1) / (weight.sum() + 2)
        for weight in (read.weight * together, read.weight * (1 - together))
    )
    same = (of_item[pairs[:, 0]] * of_item[pairs[:, 1]]).sum(axis=1)
    return same * within + (1 - same) * between
