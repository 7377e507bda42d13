"""The informative set: annotators whose labels depend on the class that the others give.

The set S of annotators and a mixture fitted to S are refined alternately until S no longer changes:

    1. EM on the labels of S alone;
    2. for every annotator, a test of independence between the labels and the items' classes according to the others
       in S: for a member, the posteriors without the member's own labels; S = those for whom it is rejected.

The test
--------
With posteriors q_n (components,) and one-hot labels x_n (labels,) of the n items of an annotator, the score statistic
of the multinomial model, T = (n - 1) tr(cov(q)⁺ cov(q, x) cov(x)⁺ cov(x, q)), is exact in its mean under permutation
of the labels and follows χ² with rank(cov(q)) (R - 1) degrees of freedom, R the number of labels that the annotator
uses. It is valid for posteriors of any uncertainty: a G-test of soft counts would be conservative. Holm's procedure
controls the level of all annotators' tests jointly, so that S contains an uninformative annotator with at most that
probability.

The benefit of the doubt
------------------------
For an annotator with few labels no test has much power. Such an annotator is judged by the crowd: with Schwarz's
approximation of the Bayes factor, ln B_j = (T_j - d_j ln n_j) / 2 for d_j degrees of freedom, and with ρ, the share of
informative annotators, at the maximum of its likelihood Π_j (1 - ρ + ρ B_j), an annotator is informative with
probability ρ B_j / (1 - ρ + ρ B_j). S also includes those for whom this is above a half. In a crowd of experts this
keeps newcomers; in a crowd of few experts it requires stronger evidence than the test.

Several starts
--------------
The result depends on the first posteriors. `criterion` compares the results of several starts by Schwarz's criterion:
ln p of all labels, those outside S by each annotator's label frequencies, less ln n_j / 2 for each parameter that is
free only because annotator j is in S.

Decided here
------------
At least three annotators stay in S, those with the strongest evidence, and of equal evidence the most labels: with
fewer, a mixture is not identified. If S returns to an earlier value, refinement stops. A gold item has
its class in step 1, and in the tests of all annotators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Num
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax, xlogy
from scipy.stats import chi2

from consilience.annotations import Labels
from consilience.annotations.further_labels import sum_cells
from consilience.consensus.labels import dawid_skene, product_mixture
from consilience.consensus.labels.constant_annotators import without
from consilience.consensus.labels.product_mixture import ProductMixtureState
from consilience.consensus.labels.stagewise_evidence import Members, PosteriorTerms, StudiedLabels
from consilience.estimators.gold import with_known
from consilience.inference import Trace, iterate
from consilience.inference.iterate import Loop, begin
from consilience.inference.multiple_tests import correct_by_holm
from consilience.inference.parts import Additive, LabelsInParts, Parts
from consilience.inference.product_distributions import (
    Expectation,
    LogTable,
    OneHotLabels,
    Responsibilities,
    Weights,
    log_scores,
    posterior,
)

LEAST = 3  # annotators in S
TIED = 9  # digits in which p-values of annotators are equal whom rounding alone tells apart
EDGE = 1e-6  # distance of the share of informative annotators from 0 and 1
MOST_ROUNDS = 20
ROUND_ITER = 100  # EM sweeps between two tests of the annotators
EM_TOL = 1e-6
SINGULAR = 1e-6  # of an item, below which a variance is that of a class without items, and hangs on rounding

Known = Int[np.ndarray, " items"] | None
Counts = Int[np.ndarray, "annotators labels"]
OfPart = tuple[Callable[..., Responsibilities], tuple[Any, ...]]
"""A function from a part to the posteriors of its items, and the parameters with which it is called."""


@dataclass(frozen=True)
class Selection:
    """An informative set and the mixture of its labels.

    members : annotators, in increasing order.
    mixture : of the labels of the members, in this order.
    given : what gives ln ω_k + Σ_{i ∈ S} ln μ_k,i,x_ni.
    p_values : (annotators,) of the test.
    probability : (annotators,) that the annotator is informative.
    proposed : the set that results from the tests.
    seen : sets so far.
    """

    members: Members
    mixture: Trace[ProductMixtureState]
    given: PosteriorTerms
    p_values: Float[np.ndarray, " annotators"]
    probability: Float[np.ndarray, " annotators"]
    proposed: Members
    seen: frozenset[Members]

    @property
    def posterior(self) -> OfPart:
        """The posteriors of the mixture, in which gold items have their class."""
        return posterior_by_scores, (self.given,)


@dataclass(frozen=True)
class Start:
    """Start of refining: an informative set and posteriors."""

    name: str
    members: Members
    posterior: OfPart


# ---- what is computed on a part of the items


def onehot_of(labels: Labels, members: Members, n_components: int, known: Known = None) -> OneHotLabels:
    """One-hot labels of some annotators, in the order of `members`."""
    place = np.full(labels.n_annotators, -1)
    place[list(members)] = np.arange(len(members))
    rows = place[labels.annotator] >= 0
    column = place[labels.annotator[rows]] * labels.n_classes + labels.label[rows]
    shape = (len(labels), len(members) * labels.n_classes)
    return OneHotLabels.of(labels.item[rows], column, shape, n_components, known=known)


def onehot_among(part: StudiedLabels, members: Members) -> OneHotLabels:
    """One-hot labels of some annotators, in the order of `members`."""
    return onehot_of(part.labels, members, part.onehot.n_components, part.known)


def posterior_with_gold(part: StudiedLabels, given: PosteriorTerms) -> Responsibilities:
    """f(k | x_S), in which gold items have their class."""
    return with_known(part.q(given), part.known)


def posterior_among(
    part: StudiedLabels, members: Members, log_weights: Weights, log_table: LogTable
) -> Responsibilities:
    """Posteriors by the labels of some annotators, whose rows are those of the table."""
    return posterior(onehot_among(part, members), log_weights, log_table)


def posterior_by_scores(
    part: StudiedLabels, given: PosteriorTerms, order: np.ndarray | None = None
) -> Responsibilities:
    """Posteriors by the scores that the tests read; components in another order if it is given."""
    q = softmax(scores_of(part, given), axis=1)
    return q if order is None else q[:, order]


def shares_of_votes(part: StudiedLabels, silent: Bool[np.ndarray, " annotators"]) -> Responsibilities:
    """Shares of the votes, and the classes of gold items; silent annotators have no vote."""
    return dawid_skene.first_guess(without(part.labels, silent), part.known)


@dataclass(frozen=True)
class LabelsAmong:
    """Labels of some annotators, and the sums of the posteriors that EM starts from."""

    onehot: OneHotLabels
    start: Expectation

    @classmethod
    def of(
        cls,
        part: StudiedLabels,
        members: Members,
        function: Callable[..., Responsibilities],
        parameters: tuple[Any, ...],
    ) -> LabelsAmong:
        """Encode labels; a function of the part gives the posteriors."""
        onehot = onehot_among(part, members)
        return cls(onehot, onehot.expectation_of(function(part, *parameters)))

    @property
    def n_components(self) -> int:
        """Number of components."""
        return self.onehot.n_components

    def expectation(self, log_weights: Weights, log_table: LogTable) -> Expectation:
        """E-step."""
        return self.onehot.expectation(log_weights, log_table)


def start_of(labels: LabelsAmong) -> Expectation:
    """Return the sums that EM starts from."""
    return labels.start


def scores_of(part: StudiedLabels, given: PosteriorTerms) -> Responsibilities:
    """ln ω_k + Σ_i ln μ_k,i,x_ni, under which gold items have their class, whatever their labels."""
    scores = np.concatenate(list(log_scores(part.onehot, given.log_weights, given.log_table)))
    if part.known is None:
        return scores
    certain = np.where(np.eye(scores.shape[1], dtype=bool), 0.0, -np.inf)
    return np.where((part.known >= 0)[:, None], certain[part.known], scores)


@dataclass(frozen=True)
class Dependence(Additive):
    """Sums for the test of every annotator's labels, over q of each label by the labels of the others.

    by_label : of q, for each label.
    squares : of the products of q.
    """

    by_label: Float[np.ndarray, "columns components"]
    squares: Float[np.ndarray, "components components annotators"]

    @classmethod
    def of(
        cls,
        q: Float[np.ndarray, "components labels"],
        annotator: Int[np.ndarray, " labels"],
        label: Int[np.ndarray, " labels"],
        shape: tuple[int, int],
    ) -> Dependence:
        """Add up over labels; `shape` is (annotators, labels)."""
        column, n_columns = annotator * shape[1] + label, shape[0] * shape[1]
        by_label = np.stack([np.bincount(column, weights, n_columns) for weights in q], axis=1)
        squares = np.array([[np.bincount(annotator, one * two, shape[0]) for two in q] for one in q])
        return cls(by_label.astype(float), squares.astype(float))  # without labels they would be integers


def dependence(part: StudiedLabels, given: PosteriorTerms) -> Dependence:
    """Sums for the tests of all annotators; `given` has the table of the members, with zeros elsewhere."""
    labels = part.labels
    shape = (labels.n_annotators, labels.n_classes)
    said = given.log_table.take(labels.annotator * labels.n_classes + labels.label, axis=0)
    of_others = scores_of(part, given).take(labels.item, axis=0) - sum_cells(said, labels.item, labels.annotator)
    # sums over a short last axis take several times as long
    q = softmax(np.ascontiguousarray(of_others.T), axis=0)
    return Dependence.of(q, labels.annotator, labels.label, shape)


# ---- refining


@dataclass(frozen=True)
class Refining:
    """The refining of an informative set.

    parts : of `StudiedLabels`.
    counts : number of labels of each annotator, of each class.
    level : of the tests.
    loop : what runs EM.
    """

    parts: Parts
    counts: Counts
    level: float
    loop: Loop = begin

    @property
    def everyone(self) -> Members:
        """All annotators."""
        return tuple(range(len(self.counts)))

    def given(self, log_weights: Weights, log_table: LogTable, members: Members) -> PosteriorTerms:
        """Return what gives the posteriors, from a table of the members alone."""
        table = np.zeros((*self.counts.shape, len(log_weights)))
        table[list(members)] = log_table.reshape(-1, *table.shape[1:])
        return PosteriorTerms(log_weights, table.reshape(-1, len(log_weights)))

    def mixture(self, members: Members, start: OfPart, max_iter: int) -> Trace[ProductMixtureState]:
        """EM on the labels of some annotators."""
        among = self.parts.map(LabelsAmong.of, members, *start)
        sums = among.total(start_of)
        labels = LabelsInParts(among, len(sums.sizes))
        settings: dict[str, Any] = {"max_iter": max_iter, "tol": EM_TOL, "loop": self.loop}
        trace = product_mixture.run(sums, labels, self.counts.shape[1], **settings)
        among.forget()
        return trace

    def refine(self, start: Start, max_iter: int = ROUND_ITER) -> Trace[Selection]:
        """Refine an informative set; `max_iter` is that of EM in a round."""

        def select(members: Members, posterior: OfPart, seen: frozenset[Members]) -> Selection:
            trace = self.mixture(members, posterior, max_iter)
            given = self.given(trace.state.log_weights, trace.state.log_table, members)
            statistic, degrees = score_statistic(self.parts.total(dependence, given), self.counts)
            p_values = chi2.sf(statistic, np.maximum(degrees, 1))
            probability = benefit_of_doubt(statistic, degrees, self.counts.sum(1))
            proposed = choose_annotators(p_values, probability, self.counts.sum(1), self.level)
            return Selection(members, trace, given, p_values, probability, proposed, seen | {members})

        return iterate(
            select(tuple(sorted(start.members)), start.posterior, frozenset()),
            lambda state: select(state.proposed, state.posterior, state.seen),
            lambda state: state.mixture.lower_bound,
            max_iter=MOST_ROUNDS,
            settled=lambda state: state.proposed in state.seen,
        )


def criterion(counts: Counts, state: Selection) -> tuple[float, float]:
    """ln p of all labels, nats, and the same less the penalty of Schwarz's criterion."""
    total = counts.sum(1)
    alone = xlogy(counts, counts).sum(1) - xlogy(total, total)
    inside = np.isin(np.arange(len(counts)), state.members)
    log_likelihood = state.mixture.state.expected.log_likelihood + float(alone[~inside].sum())
    free = (len(state.given.log_weights) - 1) * np.maximum((counts > 0).sum(1) - 1, 0)
    return log_likelihood, log_likelihood - float((free * np.log(np.maximum(total, 1)))[inside].sum()) / 2


def score_statistic(
    sums: Dependence, counts: Counts
) -> tuple[Float[np.ndarray, " annotators"], Int[np.ndarray, " annotators"]]:
    """T of every annotator and its degrees of freedom; both 0 for those with fewer than two labels, or all equal."""
    by_label = sums.by_label.reshape(*counts.shape, -1)
    n, totals = np.maximum(counts.sum(1), 1), by_label.sum(1)
    within = sums.squares.transpose(2, 0, 1) - totals[:, :, None] * totals[:, None, :] / n[:, None, None]
    across = by_label - counts[:, :, None] * (totals / n[:, None])[:, None, :]
    between = np.einsum("alk,alm->akm", across / np.maximum(counts, 1)[:, :, None], across)
    values, vectors = np.linalg.eigh(within)
    kept = values > SINGULAR * n[:, None]
    inverse = np.divide(1, values, out=np.zeros_like(values), where=kept)
    statistic = (n - 1) * np.einsum("akr,ar,amr,amk->a", vectors, inverse, vectors, between, optimize=True)
    degrees = kept.sum(1) * np.maximum((counts > 0).sum(1) - 1, 0)
    return np.where(degrees > 0, statistic, 0.0), degrees


def choose_annotators(
    p_values: Float[np.ndarray, " annotators"],
    probability: Float[np.ndarray, " annotators"],
    n_labels: Num[np.ndarray, " annotators"],
    level: float,
) -> tuple[int, ...]:
    """Annotators for whom there is evidence, or, below three, the next by p-value and labels with their equals."""
    outside, p_values = ~informs(p_values, probability, level), p_values.round(TIED)
    keys = np.column_stack([outside, p_values, -n_labels])
    first = np.lexsort(keys.T[::-1])[:LEAST]
    chosen = ~outside | (keys == keys[first[-1]]).all(1)
    chosen[first] = True
    return tuple(np.flatnonzero(chosen).tolist())


def informs(
    p_values: Float[np.ndarray, " annotators"], probability: Float[np.ndarray, " annotators"], level: float
) -> Bool[np.ndarray, " annotators"]:
    """Whether independence of each annotator's labels and the classes is rejected, or improbable."""
    return (correct_by_holm(p_values) <= level) | (probability > 0.5)


def benefit_of_doubt(
    statistic: Float[np.ndarray, " annotators"],
    degrees: Int[np.ndarray, " annotators"],
    n_labels: Int[np.ndarray, " annotators"],
) -> Float[np.ndarray, " annotators"]:
    """Probability that each annotator is informative, given the share of the crowd that is."""
    log_factor = (statistic - degrees * np.log(np.maximum(n_labels, 1))) / 2
    testable = degrees > 0

    def slope(share: float) -> float:
        """Derivative of Σ ln(1 - ρ + ρ B) with respect to ρ; it decreases."""
        odds = expit(logit(share) + log_factor[testable])
        return float((odds / share - (1 - odds) / (1 - share)).sum())

    share = 0.5
    if testable.any():
        share = (
            brentq(slope, EDGE, 1 - EDGE)
            # brentq needs a change of sign; without one, the share is at an edge
            if slope(EDGE) > 0 > slope(1 - EDGE)
            else (EDGE if slope(0.5) < 0 else 1 - EDGE)
        )
    return np.where(testable, expit(logit(share) + log_factor), 0.0)
