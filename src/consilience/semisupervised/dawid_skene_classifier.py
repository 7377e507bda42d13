"""Dawid-Skene with a classifier: features of the items take part in what their labels mean.

Aggregating labels first and learning from the result later cannot mend the class of a labelled item. Here the
probabilities of a classifier are a prior of each item's class, under which the labels are read, and the classifier
learns from what comes of it.

Model
-----
    c_n  ~ Bernoulli(w)                           whether the classifier tells the class of item n
    z_n  ~ s_n if c_n, else π                     class
    s_n  = softmax(a ln p̃_n)                      see `item_prior`; p_n by a classifier that never saw a label of n
    y_nj | z_n=k ~ Categorical(θ_jk)              label of item n by annotator j
    π, θ                                          see `consensus.labels.dawid_skene`, the model with w = 0

Symbols
-------
    here                                 shape
    z       responsibilities             (items, classes)                q(z_n = k)
    r       mixing.prior(…)              (items, classes)                (1 - w) exp(E ln π) + w s_n
    p       probabilities                (items, classes)
    a, w    mixing                       numbers
    θ, π    dawid_skene                  a `DawidSkeneState`
    S       scores                       (items, classes)                Σ_j E ln θ_j,k,y_nj of Dawid-Skene alone
    T       temperature                  number                          of Dawid-Skene alone, see `calibration`

Updates
-------
    q(z_n = k)           ∝ r_nk exp(Σ_j E ln θ_j,k,y_nj)
    q(z_n = k, c_n = 0)  ∝ (1 - w) exp(E ln π_k) exp(Σ_j E ln θ_j,k,y_nj)
    q(θ) from q(z), q(π) from q(z, c = 0), as in Dawid-Skene
    a, w  every few sweeps: see `item_prior`, of the scores under the present θ

p comes from `cross_fitting`, at depth 1, 2 and 3 as long as the bound rises by `DEEPER`; of many items and classes, at
depth 1, since deeper ones take ten times as many classifiers and put few items more right.

Decided here
------------
If the bound is less than `GATE` nats above that of Dawid-Skene alone, and above that of this model with p the same for
all items, the features tell nothing of the classes, and the fit of Dawid-Skene is the result. Classes have one subtype;
if Dawid-Skene alone has more, its bound with these is the one to exceed. (With p flat, the bound may rise by several
nats: proportions of the classes that are known to be equal need not be learned.)
If no item has two labels, EM would take each label as right: S, and the first q(z), are then those of annotators who
are right with the assumed probability, see `calibration`. The class of a gold item is known, as in Dawid-Skene. Items
without labels are no part of the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import logsumexp, softmax

from consilience.annotations import Labels
from consilience.annotations.further_labels import sum_cells
from consilience.consensus.labels.annotator_models import AnnotatorModel
from consilience.consensus.labels.calibration import ASSUMED, confusion_of_good_annotators, with_best, with_ties
from consilience.consensus.labels.dawid_skene import (
    DawidSkeneEvidence,
    DawidSkeneState,
    columns_of,
    init,
    lower_bound,
    step,
)
from consilience.consensus.labels.samples import have_several, sampled_items
from consilience.inference import Trace, iterate
from consilience.inference.clusters import most_probable
from consilience.inference.product_distributions import AnyTable, Expectation, OneHotLabels, Weights, log_scores
from consilience.inference.sparse_tables import SparseTable, rows_of
from consilience.semisupervised.item_prior import (
    MOST_CELLS,
    LabelsToPredict,
    Mixing,
    Probabilities,
    mixing_of_labels,
    mixing_of_scores,
    temperature_of_scores,
)

GATE = 10.0  # nats
DEEPER = 2.0  # nats
DEPTHS = (1, 2, 3)
SWEEPS = 5  # between updates of a and w


@dataclass(frozen=True)
class LabelledItems:
    """What the crowd says of the items that have labels, or a known class.

    labels : of these items, without annotators who are not heard; of copies, one label for each item.
    onehot : all labels, with their weights.
    known : class of each gold item, -1 elsewhere.
    sizes : imagined items of each class in the prior of π, or 0.
    one_coin, learned : see `DawidSkene`.
    """

    labels: Labels
    onehot: OneHotLabels
    known: Int[np.ndarray, " items"]
    sizes: Float[np.ndarray, " classes"] | float
    one_coin: bool
    learned: bool

    @property
    def free(self) -> Bool[np.ndarray, " items"]:
        """Items whose class is not known."""
        return self.known < 0

    @property
    def is_single(self) -> bool:
        """Whether nothing but features tells how often a label is right."""
        return not (self.known >= 0).any() and not have_several(self.labels).any()

    def scores(self, log_table: AnyTable) -> Float[np.ndarray, "items components"]:
        """Σ_j E ln θ_j,k,y_nj; minus infinity for other classes than the known one of a gold item."""
        found = np.concatenate(list(log_scores(self.onehot, np.zeros(log_table.shape[-1]), log_table)))
        gold, n_subtypes = np.flatnonzero(~self.free), found.shape[1] // self.labels.n_classes
        is_other = np.arange(found.shape[1]) // n_subtypes != self.known[gold, None]
        found[gold] = np.where(is_other, -np.inf, found[gold])
        return found

    def scores_alone(self, log_table: AnyTable) -> Float[np.ndarray, "items components"]:
        """S; if no item has two labels, that of annotators who are right with the assumed probability."""
        if not self.is_single:
            return self.scores(log_table)
        n_classes = self.labels.n_classes
        logs = np.log([ASSUMED, (1 - ASSUMED) / max(n_classes - 1, 1)])
        right, wrong = np.repeat(logs[:, None], self.labels.n_annotators, axis=1)
        found = self.scores(SparseTable.of_matching(right, wrong, n_classes))
        return np.repeat(found, log_table.shape[-1] // n_classes, axis=1)


@dataclass(frozen=True)
class LabelsWithPrior:
    """The labels with a prior of each item, for the sweeps of Dawid-Skene.

    probabilities : p.
    """

    items: LabelledItems
    probabilities: Probabilities
    mixing: Mixing

    @property
    def n_components(self) -> int:
        return self.probabilities.shape[1]

    def expectation(self, log_weights: Weights, log_table: AnyTable) -> Expectation:
        """E-step, summed over items; the sizes are of q(z, c = 0)."""
        q, prior, log_likelihood = self._posterior(log_weights, log_table)
        by_crowd = (q / prior).sum(0) * (1 - self.mixing.weight) * np.exp(log_weights)
        return replace(self.items.onehot.expectation_of(q), log_likelihood=log_likelihood, sizes=by_crowd)

    def posterior(self, log_weights: Weights, log_table: AnyTable) -> Probabilities:
        """q(z)."""
        return self._posterior(log_weights, log_table)[0]

    def _posterior(self, log_weights: Weights, log_table: AnyTable) -> tuple[Probabilities, Probabilities, float]:
        prior = self.mixing.weight * self._of_classifier + (1 - self.mixing.weight) * np.exp(log_weights)
        q = self.items.scores(log_table)
        highest = q.max(1, keepdims=True)
        q -= highest
        np.exp(q, out=q)
        q *= prior
        total = q.sum(1, keepdims=True)
        q /= total
        return q, prior, float((np.log(total) + highest).sum())

    @cached_property
    def _of_classifier(self) -> Probabilities:
        return self.mixing.of_classifier(self.probabilities)


@dataclass(frozen=True)
class FeatureState:
    """Dawid-Skene under a prior of each item.

    dawid_skene : its state.
    evidence : with the labels and this prior.
    change : of the bound in the last round, nats.
    """

    dawid_skene: DawidSkeneState
    evidence: DawidSkeneEvidence
    change: float

    @property
    def labels(self) -> LabelsWithPrior:
        return self.evidence.onehot  # type: ignore[return-value]

    @property
    def log_table(self) -> AnyTable:
        """E ln θ, a row for each annotator and label."""
        return cast(AnyTable, columns_of(self.dawid_skene.model.log_table))

    def responsibilities(self) -> Probabilities:
        """q(z)."""
        return self.labels.posterior(self.dawid_skene.log_weights, self.log_table)


def init_features(
    items: LabelledItems, scores: Probabilities, log_weights: Weights, probabilities: Probabilities, temperature: float
) -> FeatureState:
    """M-step from q(z) under S and a prior with a and w of S / T.

    scores, log_weights, temperature : of Dawid-Skene alone.
    """
    mixing = mixing_of_scores(scores / temperature, log_weights, probabilities)
    labels = LabelsWithPrior(items, probabilities, mixing)
    evidence = DawidSkeneEvidence(labels, 0.0, items.sizes)
    q = softmax(scores + np.log(mixing.prior(log_weights, probabilities)), axis=1)
    sums = replace(items.onehot.expectation_of(q), sizes=(1 - mixing.weight) * q.sum(0))
    state = init(evidence, sums, one_coin=items.one_coin, learned=items.learned)
    return FeatureState(state, evidence, np.inf)


def sweep_round(state: FeatureState, temperature: float, tol: float) -> FeatureState:
    """Update a and w, then sweep."""
    labels, before = state.labels, lower_bound(state.dawid_skene)
    log_weights = state.dawid_skene.log_weights
    scores = labels.items.scores(state.log_table) / temperature
    labels = replace(labels, mixing=mixing_of_scores(scores, log_weights, labels.probabilities))
    evidence = replace(state.evidence, onehot=labels)
    learned = labels.items.learned
    renewed = replace(state.dawid_skene, expected=labels.expectation(log_weights, state.log_table))
    swept = iterate(renewed, lambda one: step(one, evidence, learned=learned), lower_bound, max_iter=SWEEPS, tol=tol)
    return FeatureState(swept.state, evidence, lower_bound(swept.state) - before)


def run_features(start: FeatureState, temperature: float, *, max_iter: int, tol: float) -> Trace[FeatureState]:
    """Repeat rounds until the bound stands still; a new a and w may lower it."""
    return iterate(
        start,
        lambda state: sweep_round(state, temperature, tol),
        lambda state: lower_bound(state.dawid_skene),
        max_iter=max(max_iter // SWEEPS, 1),
        settled=lambda state: abs(state.change) <= SWEEPS * tol * abs(lower_bound(state.dawid_skene)),
    )


@dataclass(frozen=True)
class Depth:
    """A fit with classifiers of some depth.

    probabilities : p.
    predict : the classifier of all items, or None.
    """

    trace: Trace[FeatureState]
    probabilities: Probabilities
    predict: Any


def depths_for(n_cells: int) -> tuple[int, ...]:
    """Return the depths to try, for a number of items × classes."""
    return DEPTHS[:1] if n_cells > MOST_CELLS else DEPTHS


def deepen(fit_at: Callable[[int], Depth], depths: Sequence[int], lower_bound_alone: float) -> Depth:
    """Go deeper as long as the bound rises; it is compared with that of Dawid-Skene alone at first."""
    best, bound = fit_at(depths[0]), lower_bound_alone
    for depth in depths[1:]:
        if best.trace.lower_bound - bound < DEEPER:
            break
        deeper = fit_at(depth)
        bound = best.trace.lower_bound
        if deeper.trace.lower_bound > bound:
            best = deeper
    return best


@dataclass(frozen=True)
class Trust:
    """How far probabilities are to be trusted.

    labelled : a and w for items with labels.
    temperature : T of these.
    unlabelled : a and w for items without labels.
    """

    labelled: Mixing
    temperature: float
    unlabelled: Mixing


def calibrate_features(
    items: LabelledItems,
    model: AnnotatorModel,
    log_weights: Weights,
    responsibilities: Probabilities,
    probabilities: Probabilities,
) -> Trust:
    """Find a, w and T that predict labels from features and the other labels of their item, or from features alone.

    model, log_weights, responsibilities : after the last sweep.
    """
    labels = items.labels
    labelled = items.free & (np.diff(labels.indptr) > 0)
    if not labelled.any():
        scores = items.scores(columns_of(model.log_table))
        of_gold = mixing_of_scores(scores, log_weights, probabilities)
        return Trust(of_gold, 1.0, of_gold)
    chosen = sampled_items(labels, labelled)
    some = labels[chosen]
    told = probabilities[chosen]
    probability = model.left_out(some.item, some.annotator, some.label, responsibilities[chosen][some.item])
    logs, starts = np.log(probability), some.indptr[:-1]
    said = rows_of(model.log_table, some.annotator, some.label)
    score, without = (np.add.reduceat(rows, starts) for rows in (said, logs))
    to_predict = LabelsToPredict(
        some.item, probability, without[some.item] - sum_cells(logs, some.item, some.annotator)
    )
    mixing, temperature = mixing_of_labels(to_predict, log_weights, told)
    log_prior = np.log(mixing.prior(log_weights, told))
    target = softmax(without / temperature + log_prior, axis=1)
    alone, _ = mixing_of_labels(replace(to_predict, others=None), log_weights, told)
    return Trust(mixing, temperature_of_scores(score, target, log_prior), alone)


def calibrated_probabilities(state: FeatureState, trust: Trust) -> Probabilities:
    """P of items with labels: tempered, with the share of what good annotators would say; the classes stay."""
    items, log_weights = state.labels.items, state.dawid_skene.log_weights
    n_classes, q = state.labels.n_components, state.responsibilities()
    log_prior = np.log(trust.labelled.prior(log_weights, state.labels.probabilities))
    tempered = softmax(items.scores(state.log_table) / trust.temperature + log_prior, axis=1)
    shared = 1 - 1 / trust.temperature
    good = confusion_of_good_annotators(state.dawid_skene.model, log_weights)
    mixed = tempered @ ((1 - shared) * np.eye(n_classes) + shared * good)
    mixed[~items.free] = tempered[~items.free]
    return with_ties(with_best(mixed, most_probable(q)), q)


def fit_annotators(items: LabelledItems, responsibilities: Probabilities) -> AnnotatorModel:
    """Estimate the annotators' matrices from q(z) of Dawid-Skene alone."""
    labels = LabelsWithPrior(items, np.full_like(responsibilities, 1 / responsibilities.shape[1]), Mixing(1.0, 0.0))
    evidence = DawidSkeneEvidence(labels, 0.0, items.sizes)
    sums = items.onehot.expectation_of(responsibilities)
    return init(evidence, sums, one_coin=items.one_coin, learned=items.learned).model


def add_up_subtypes(
    scores: Float[np.ndarray, "items components"], log_weights: Weights, n_classes: int
) -> tuple[Probabilities, Float[np.ndarray, " classes"]]:
    """S and E ln π of classes from those of their subtypes."""
    of_subtypes = log_weights.reshape(n_classes, -1)
    of_classes = logsumexp(of_subtypes, axis=1)
    joint = (scores + (of_subtypes - of_classes[:, None]).ravel()).reshape(len(scores), n_classes, -1)
    return logsumexp(joint, axis=2), of_classes
