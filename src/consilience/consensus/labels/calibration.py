"""Probabilities of classes that allow for errors which annotators share.

The models of `dawid_skene` take the annotators' errors to be independent given the class. People err together: ten who
take a terrier for another breed look like ten independent witnesses, and the posterior is far too sure. How far, the
labels tell in part without the truth: each is predicted from those of other annotators of its item.

    score of item n for class k      S_nk = Σ_j E ln θ_jk,y_nj
    the same without item n          S'_nk = Σ_j ln p_nj(k), with p_nj(k) the mean of θ_jk,y_nj without item n
    prediction of a label            Σ_k q_nk p_nj(k),   q_n ∝ π_k exp((S'_nk - ln p_nj(k)) / t)
    t, the temperature               maximises Σ ln prediction - 4 ln t, at least 1
    what it is worth on S            T: minimises the cross-entropy of softmax(ln π + S / T) and softmax(ln π + S' / t)

T above 1 says that the labels of an item tell less than independent ones would. Errors that most annotators share stay
invisible: the labels agree, and are wrong. Labels fix the class that a crowd agrees on, and any probability of the
truth given that class explains them equally well. So the rest is what crowds with known classes have taught: floors,
learned by `benchmarks.calibration`.

    T_n  = max(T, min(1 + slope (m_n - 1), highest))           m_n labels of item n
    w_n  = 1 - kept / T_n
    Q_nl = Σ_k softmax(ln π + S_n / T_n)_k ((1 - w_n) δ_kl + w_n Θ_kl)
    P_nl = (1 - votes) Q_nl + votes (N_nl + π_l) / (m_n + 1)   N_n: how often the item has each label

Θ is what good annotators would say of the item: the mean confusion matrix of the best ones, who gave a quarter of all
labels. The most probable class stays that of the posterior, and classes that are equally probable there stay so.
`INDEPENDENT` are floors that add nothing: if annotators err independently, T is about 1, and P the posterior. Gold
moves the floors, and multiplies P by a factor for each class, see `gold_calibration`.

The temperature is that of the model with one subtype per class, also for the posterior of more, whose probabilities are
added up for each class: subtypes explain why labels agree, but which class a subtype is of, nothing but these labels
tells.

If no item has two labels, nothing tells how often a label is right. Then T = 1, and Θ, with w = 1, is the matrix of the
imagined annotator of `annotator_models`.

Decided here
------------
The labels of an item by copies count as one label in m_n and N_n, and those of constant annotators as none. A single
label cannot share its error with another: T_n is then T, and w_n what is left of it. Where only gold or a history tells
how often labels are right, since no item has two, the posterior stays. Known items keep their class, and items without
labels have the probabilities of any item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int, Num
from scipy.optimize import brentq
from scipy.sparse import csc_array
from scipy.special import log_softmax, softmax

from consilience.annotations import Labels
from consilience.annotations.further_labels import sum_cells
from consilience.consensus.labels.annotator_models import IMAGINED, TINY, AnnotatorModel
from consilience.consensus.labels.samples import have_several, sampled_items
from consilience.consensus.labels.subtypes import of_classes
from consilience.inference.clusters import TIE, are_tied, highest, most_probable
from consilience.inference.product_distributions import (
    AnyTable,
    Chunk,
    OneHotLabels,
    Responsibilities,
    Weights,
    posterior,
)
from consilience.inference.sparse_tables import SparseTable, accuracy_of, rows_of

HIGHEST = 50.0  # temperature
PENALTY = 4.0  # nats for each unit of ln t
ASSUMED = float(IMAGINED[0] / IMAGINED.sum())  # accuracy where nothing tells it
GOOD = 0.25  # share of all labels that the best annotators gave
ROUNDING = 1e-9  # of sums of expected counts, relative

Probabilities = Float[np.ndarray, "items classes"]
ValueAndSlope = tuple[float, float]


@dataclass(frozen=True)
class Floors:
    """Least allowance for errors that annotators share.

    slope : of the floor of the temperature of an item, for each label after the first.
    highest : that this floor can be.
    kept : the share of the tempered posterior, times the temperature.
    votes : share of the item's votes.
    """

    slope: float
    highest: float
    kept: float
    votes: float

    def temperatures(self, n_labels: Float[np.ndarray, " items"], temperature: float) -> Float[np.ndarray, " items"]:
        """T_n of items with so many labels."""
        return np.maximum(temperature, np.minimum(1 + self.slope * np.maximum(n_labels - 1, 0), self.highest))


INDEPENDENT = Floors(slope=0.0, highest=1.0, kept=1.0, votes=0.0)
ASSUMING = replace(INDEPENDENT, kept=0.0)
RECORDED = Floors(**pd.read_csv(Path(__file__).with_name("floors.csv"), index_col="constant")["value"])


@dataclass(frozen=True)
class Calibration:
    """How far the probabilities are moved from the posterior.

    temperature : T, at least 1.
    floors : that are added to it.
    confusion : (classes, labels) Θ.
    factors : of P by the most probable class, as gold shows; None without gold.
    """

    temperature: float
    floors: Floors
    confusion: Float[np.ndarray, "classes labels"]
    factors: Float[np.ndarray, "classes classes"] | None = None

    @property
    def is_assumed(self) -> bool:
        """Whether the accuracy of labels is assumed, since no item has two labels."""
        return self.floors == ASSUMING

    @property
    def has_floors(self) -> bool:
        """Whether the probabilities allow for more than the labels show."""
        return self.floors not in (ASSUMING, INDEPENDENT)

    def probabilities(
        self,
        onehot: OneHotLabels,
        log_weights: Weights,
        log_table: AnyTable,
        found: Probabilities | None = None,
    ) -> Probabilities:
        """P of all items and classes; the components of `onehot` are classes or their subtypes.

        Known items keep their class, and those without labels have the probabilities of any item.

        found : the posterior of the classes, where it is known already.
        """
        n_classes = len(self.confusion)
        if found is None:
            found = of_classes(posterior(onehot, log_weights, log_table), n_classes)
        if self.temperature == 1 and self.floors == INDEPENDENT:
            return found
        votes = count_votes(onehot, n_classes)
        n_labels = votes.sum(1)
        cooled = divide_evidence(onehot, self.floors.temperatures(n_labels, self.temperature))
        tempered = of_classes(posterior(cooled, log_weights, log_table), n_classes)
        best = most_probable(found)
        mixed = self.mix(tempered, votes, of_classes(softmax(log_weights), n_classes), best)
        settled = np.flatnonzero(n_labels == 0)  # no label of these items can be a shared error
        settled = np.union1d(settled, [chunk.start + row for chunk in onehot.chunks for row in chunk.known_rows])
        settled = settled.astype(int)
        mixed[settled] = tempered[settled]
        return with_ties(with_best(mixed, best), found)

    def mix(
        self,
        tempered: Probabilities,
        votes: Probabilities,
        proportions: Float[np.ndarray, " classes"],
        best: Int[np.ndarray, " items"],
    ) -> Probabilities:
        """P from the posterior at the temperatures T_n.

        votes : how often each item has each label.
        proportions : π.
        best : the class that is most probable in the posterior, which gold corrects.
        """
        n_labels = votes.sum(1)
        shared = (1 - self.floors.kept / self.floors.temperatures(n_labels, self.temperature))[:, None]
        mixed = said_by(self.confusion, tempered)
        mixed -= tempered  # in place: of many classes, each array is large
        mixed *= shared
        mixed += tempered
        if self.floors.votes:
            by_votes = votes + proportions
            by_votes *= self.floors.votes / (n_labels + 1)[:, None]
            mixed *= 1 - self.floors.votes
            mixed += by_votes
        if self.factors is None:
            return mixed
        mixed = with_best(mixed, best) * self.factors[best]
        return mixed / mixed.sum(1, keepdims=True)


def said_by(confusion: Float[np.ndarray, "classes labels"], probabilities: Probabilities) -> Probabilities:
    """Probability that an annotator gives an item each label.

    Examples
    --------
    >>> said_by(np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [[0.5, 0.5], [0.8, 0.2]]
    """
    right, wrong = confusion.diagonal(), confusion[0, -1]
    if np.ptp(np.where(np.eye(len(right), dtype=bool), wrong, confusion)) > ROUNDING * wrong:
        return np.asarray(probabilities @ confusion)
    return probabilities * (right - wrong) + wrong  # all errors are equally probable: no product is needed


def no_calibration(n_classes: int) -> Calibration:
    """Return what leaves the posterior as it is."""
    return Calibration(1.0, INDEPENDENT, np.eye(n_classes))


def count_votes(onehot: OneHotLabels, n_classes: int) -> Probabilities:
    """Count the labels of each item, those of copies as one."""
    votes = np.empty((onehot.n_items, n_classes))
    for chunk in onehot.chunks:
        labels, n_items = chunk.onehot, chunk.onehot.shape[0]
        cell = np.repeat(np.arange(onehot.n_columns) % n_classes, np.diff(labels.indptr)) + labels.indices * n_classes
        counts = np.bincount(cell, labels.data, minlength=n_items * n_classes)
        votes[chunk.start : chunk.start + n_items] = counts.reshape(n_items, n_classes)
    return votes.round(9)  # three thirds are one vote


def divide_evidence(onehot: OneHotLabels, temperature: Float[np.ndarray, " items"]) -> OneHotLabels:
    """Divide what the labels of each item tell by a temperature."""

    def divide(chunk: Chunk) -> Chunk:
        labels = chunk.onehot
        values = labels.data / temperature[chunk.start + labels.indices]
        return replace(chunk, onehot=csc_array((values, labels.indices, labels.indptr), shape=labels.shape))

    return replace(onehot, chunks=tuple(map(divide, onehot.chunks)))


def calibration(
    labels: Labels,
    model: AnnotatorModel,
    log_weights: Weights,
    responsibilities: Responsibilities,
    *,
    free: Bool[np.ndarray, " items"],
    told: bool,
    floors: Floors = RECORDED,
) -> Calibration:
    """Find T and Θ.

    model : annotator model after the last sweep.
    log_weights : (classes,) E ln π.
    responsibilities : (items, classes) posterior.
    free : items whose class is not given.
    told : whether given classes, or a history, tell how often labels are right.
    floors : that are added.
    """
    n_classes = len(log_weights)
    several = free & have_several(labels)
    if n_classes == 1 or (told and not several.any()):
        return no_calibration(n_classes)
    if not several.any():
        wrong = (1 - ASSUMED) / (n_classes - 1)
        return Calibration(1.0, ASSUMING, np.where(np.eye(n_classes, dtype=bool), ASSUMED, wrong))
    items = sampled_items(labels, several)
    n_labels = np.diff(labels.indptr)[items]
    starts = np.cumsum(n_labels) - n_labels
    own = np.repeat(np.arange(len(items)), n_labels)
    rows, item = (labels.indptr[items] - starts)[own] + np.arange(len(own)), items[own]
    annotator, label = labels.annotator[rows], labels.label[rows]
    probability = model.left_out(item, annotator, label, responsibilities[item])
    logs = np.log(probability)
    said = rows_of(model.log_table, annotator, label)
    score, without = (np.add.reduceat(each, starts) for each in (said, logs))
    # by class: sums over few classes take a third of the time of those over the last axis
    others = np.ascontiguousarray((without[own] - sum_cells(logs, item, annotator)).T)
    probability, score = np.ascontiguousarray(probability.T), np.ascontiguousarray(score.T)
    weights = log_weights[:, None]

    def of_labels(temperature: float) -> ValueAndSlope:
        before = others / temperature
        before += weights
        before -= before.max(0)
        np.exp(before, out=before)
        both = before * probability
        total, predicted = before.sum(0), both.sum(0)
        value = PENALTY * np.log(temperature) - float(np.log(predicted / total).sum())
        before *= others
        both *= others
        slope = both.sum(0) / predicted - before.sum(0) / total
        return value, PENALTY + float(slope.sum()) / temperature

    def of_scores(temperature: float) -> ValueAndSlope:
        scaled = score / temperature
        log_posterior = log_softmax(scaled + weights, axis=0)
        return -float((target * log_posterior).sum()), float(((target - np.exp(log_posterior)) * scaled).sum())

    target = softmax(without.T / _least(of_labels) + weights, axis=0)
    return Calibration(_least(of_scores), floors, confusion_of_good_annotators(model, log_weights))


def _least(objective: Callable[[float], ValueAndSlope]) -> float:
    """Return the temperature between 1 and `HIGHEST` at which the objective, given with its slope in ln t, is least."""
    places = np.linspace(0, np.log(HIGHEST), 20)
    values, slopes = zip(*(objective(float(np.exp(place))) for place in places))
    best = int(np.argmin(values))
    other = best + 1 if slopes[best] < 0 else best - 1  # the neighbour downhill: the minimum lies between
    if not 0 <= other < len(places) or slopes[best] * slopes[other] >= 0:
        return float(np.exp(places[best]))
    return float(np.exp(brentq(lambda place: objective(float(np.exp(place)))[1], places[best], places[other])))


def confusion_of_good_annotators(model: AnnotatorModel, log_weights: Weights) -> Float[np.ndarray, "classes labels"]:
    """Mean confusion matrix of the best annotators, weighted by their labels."""
    matrices, n_labels = model.matrices(), model.n_labels()
    good = np.flatnonzero(are_good(accuracy_of(matrices, softmax(log_weights)), n_labels))
    # an average needs a weight, even where nobody has labels
    if isinstance(matrices, SparseTable):
        return np.asarray(matrices.take(good).mean_of_annotators(n_labels[good] + TINY).T)
    return np.average(matrices[good], axis=0, weights=n_labels[good] + TINY)


def are_good(
    accuracy: Float[np.ndarray, " annotators"], n_labels: Num[np.ndarray, " annotators"]
) -> Bool[np.ndarray, " annotators"]:
    """Whether annotators are the best ones, who gave a quarter of all labels; those equally accurate are all or none.

    Examples
    --------
    >>> are_good(np.array([0.7, 0.9, 0.9, 0.6]), np.array([10, 10, 10, 30])).tolist()
    [False, True, True, False]
    """
    order = np.argsort(-accuracy)
    falling, given = -accuracy[order], np.cumsum(n_labels[order])
    last = np.searchsorted(falling, falling + TIE, side="right") - 1  # of those who are as accurate
    # three of twelve are a quarter, whichever way their sums are rounded; the most accurate always count
    enough = (given[last] <= GOOD * given[-1] * (1 + ROUNDING)) | (falling <= falling[0] + TIE)
    return np.asarray(enough[np.argsort(order)])


def with_best(probabilities: Probabilities, best: Int[np.ndarray, " items"]) -> Probabilities:
    """Exchange the largest probability of an item with that of the class which is to have it."""
    rows = np.arange(len(best))
    top = probabilities.argmax(1)
    probabilities[rows, best], probabilities[rows, top] = probabilities[rows, top], probabilities[rows, best]
    return probabilities


def with_ties(probabilities: Probabilities, posterior: Probabilities) -> Probabilities:
    """Give classes that are tied in the posterior the same probability: the mean of the largest ones."""
    tied = np.flatnonzero(are_tied(posterior))
    first = highest(posterior[tied])
    # tied classes take the largest probabilities; the others keep their order
    order = np.argsort(np.where(first, -np.inf, -probabilities[tied]), axis=1, kind="stable")
    largest = -np.sort(-probabilities[tied], axis=1)
    place = np.arange(probabilities.shape[1]) < first.sum(1, keepdims=True)
    mean = (largest * place).sum(1, keepdims=True) / first.sum(1, keepdims=True)
    ranked = np.empty_like(largest)
    np.put_along_axis(ranked, order, np.where(place, mean, largest), axis=1)
    probabilities[tied] = ranked
    return probabilities
