"""Which annotators inform: those whose labels depend on the class that the others give.

A mixture fitted to a set S of annotators is refined by turns, until S stays as it is:

    1. EM on the labels of S alone;
    2. for every annotator a test of independence between the labels and the items' classes as the others in S see them:
       for a member, the posteriors without the member's own labels of the item; S = those for whom it is rejected.

The test
--------
With posteriors q_n (components,) and one-hot labels x_n (labels,) of the n items of an annotator, the score statistic
of the multinomial model, T = (n - 1) tr(cov(q)⁺ cov(q, x) cov(x)⁺ cov(x, q)), is exact in its mean under permutation
of the labels and follows χ² with rank(cov(q)) (R - 1) degrees of freedom, R the number of labels that the annotator
uses. It takes posteriors as they are, however unsure: a G-test of soft counts would be conservative. The tests of all
annotators are held together at a level by Holm's procedure, so that S holds an uninformative annotator with at most
that probability.

The benefit of the doubt
------------------------
Of an annotator with few labels no test can tell much. Such a one counts as the crowd does: with Schwarz's approximation
of the Bayes factor, ln B_j = (T_j - d_j ln n_j) / 2 for d_j degrees of freedom, and ρ the share of annotators who
inform, at its most likely value Π_j (1 - ρ + ρ B_j), an annotator informs with probability ρ B_j / (1 - ρ + ρ B_j). S
takes in those for whom that is above a half, too. In a crowd of experts this keeps the new ones; in a crowd of few
experts it needs stronger evidence than the test.

Several starts
--------------
What comes out depends on the first posteriors. `criterion` compares the ends of several starts by Schwarz's criterion:
ln p of all labels, those outside S by the frequencies of each annotator, less ln n_j / 2 for each probability that is
free only because annotator j is in S.

Decided here
------------
At least three annotators stay in S, those with the strongest evidence: with fewer a mixture is not determined. If S
comes back to what it was before, it stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax, xlogy
from scipy.stats import chi2

from consilience.annotations import Labels
from consilience.consensus.labels import product_mixture
from consilience.consensus.labels.product_mixture import Mixture
from consilience.inference import Trace, iterate
from consilience.inference.product_distributions import OneHotLabels, Responsibilities, log_scores

LEAST = 3  # annotators
EDGE = 1e-6  # of the share of annotators who inform
MOST_ROUNDS = 20


@dataclass(frozen=True)
class Selection:
    """An informative set and the mixture of its labels.

    members : annotators, rising.
    mixture : of the labels of the members, in this order.
    scores : (items, components) ln ω_k + Σ_{i ∈ S} ln μ_k,i,x_ni.
    p_values : (annotators,) of the test.
    probability : (annotators,) that the annotator informs.
    proposed : the set that the tests leave.
    seen : sets so far.
    """

    members: tuple[int, ...]
    mixture: Trace[Mixture]
    scores: Responsibilities
    p_values: Float[np.ndarray, " annotators"]
    probability: Float[np.ndarray, " annotators"]
    proposed: tuple[int, ...]
    seen: frozenset[tuple[int, ...]]


def refine(
    labels: Labels, members: tuple[int, ...], q: Responsibilities, *, level: float, max_iter: int, tol: float
) -> Trace[Selection]:
    """Refine an informative set from posteriors that it, or something else, gave."""

    def fitted(members: tuple[int, ...], q: Responsibilities, seen: frozenset[tuple[int, ...]]) -> Selection:
        onehot = onehot_of(labels, members, q.shape[1])
        mixture = product_mixture.run(q, onehot, labels.n_classes, max_iter=max_iter, tol=tol)
        state = mixture.state
        scores = np.concatenate(list(log_scores(onehot, state.log_weights, state.log_table)))
        statistic, degrees = dependence(labels, scores, members, state.log_table)
        p_values = chi2.sf(statistic, np.maximum(degrees, 1))
        probability = benefit_of_doubt(statistic, degrees, np.bincount(labels.annotator, minlength=len(degrees)))
        proposed = chosen(p_values, probability, level)
        return Selection(members, mixture, scores, p_values, probability, proposed, seen | {members})

    def step(state: Selection) -> Selection:
        return fitted(state.proposed, softmax(state.scores, axis=1), state.seen)

    first = fitted(tuple(sorted(members)), q, frozenset())
    return iterate(
        first,
        step,
        lambda state: state.mixture.lower_bound,
        max_iter=MOST_ROUNDS,
        settled=lambda state: state.proposed in state.seen,
    )


def criterion(labels: Labels, state: Selection) -> tuple[float, float]:
    """ln p of all labels, nats, and that less the penalty of Schwarz's criterion."""
    n_labels, n_annotators = labels.n_classes, labels.n_annotators
    said = np.bincount(labels.annotator * n_labels + labels.label, minlength=n_annotators * n_labels)
    said = said.reshape(n_annotators, n_labels).astype(float)
    total = said.sum(1)
    alone = xlogy(said, said).sum(1) - xlogy(total, total)
    inside = np.isin(np.arange(n_annotators), state.members)
    log_likelihood = state.mixture.state.expected.log_likelihood + float(alone[~inside].sum())
    free = (state.scores.shape[1] - 1) * np.maximum((said > 0).sum(1) - 1, 0)
    return log_likelihood, log_likelihood - float((free * np.log(np.maximum(total, 1)))[inside].sum()) / 2


def onehot_of(labels: Labels, members: tuple[int, ...], n_components: int) -> OneHotLabels:
    """Labels of some annotators, one-hot, in their order."""
    place = np.full(labels.n_annotators, -1)
    place[list(members)] = np.arange(len(members))
    rows = place[labels.annotator] >= 0
    column = place[labels.annotator[rows]] * labels.n_classes + labels.label[rows]
    return OneHotLabels.of(labels.item[rows], column, (len(labels), len(members) * labels.n_classes), n_components)


def dependence(
    labels: Labels,
    scores: Responsibilities,
    members: tuple[int, ...],
    log_table: Float[np.ndarray, "columns components"],
) -> tuple[Float[np.ndarray, " annotators"], Int[np.ndarray, " annotators"]]:
    """Statistic of every annotator's test, and its degrees of freedom.

    `scores` are those of the members, whose rows of the mixture are in `log_table`.
    """
    n_labels, n_annotators = labels.n_classes, labels.n_annotators
    own = np.zeros((n_annotators, n_labels, scores.shape[1]))
    own[list(members)] = log_table.reshape(len(members), n_labels, -1)
    of_others = scores[labels.item] - _sums_of_cells(own[labels.annotator, labels.label], labels)
    q = softmax(of_others, axis=1)
    return score_statistic(q, labels.annotator, labels.label, (n_annotators, n_labels))


def _sums_of_cells(
    values: Float[np.ndarray, "labels components"], labels: Labels
) -> Float[np.ndarray, "labels components"]:
    """Sum over all labels that the annotator gives the item, for each label: several, where one is given again."""
    starts = np.flatnonzero(np.diff(labels.item * labels.n_annotators + labels.annotator, prepend=-1))
    if len(starts) == len(values):
        return values
    sums: np.ndarray = np.add.reduceat(values, starts, axis=0)
    return sums.repeat(np.diff(starts, append=len(values)), axis=0)


def score_statistic(
    q: Float[np.ndarray, "labels components"],
    annotator: Int[np.ndarray, " labels"],
    label: Int[np.ndarray, " labels"],
    shape: tuple[int, int],
) -> tuple[Float[np.ndarray, " annotators"], Int[np.ndarray, " annotators"]]:
    """T and its degrees of freedom of every annotator; both 0 for those with fewer than two labels, or all the same."""
    n_annotators, n_labels = shape
    column = annotator * n_labels + label
    by_label = np.stack([np.bincount(column, weights, n_annotators * n_labels) for weights in q.T], axis=1)
    by_label = by_label.reshape(n_annotators, n_labels, -1)
    said = np.bincount(column, minlength=n_annotators * n_labels).reshape(n_annotators, n_labels)
    n, sums = np.maximum(said.sum(1), 1), by_label.sum(1)
    squares = np.array([[np.bincount(annotator, one * two, n_annotators) for two in q.T] for one in q.T])
    within = squares.transpose(2, 0, 1) - sums[:, :, None] * sums[:, None, :] / n[:, None, None]
    across = by_label - said[:, :, None] * (sums / n[:, None])[:, None, :]
    between = np.einsum("alk,alm->akm", across / np.maximum(said, 1)[:, :, None], across)
    statistic = (n - 1) * np.einsum("akm,amk->a", np.linalg.pinv(within, rcond=1e-9, hermitian=True), between)
    rank = np.linalg.matrix_rank(within, tol=1e-9 * np.maximum(n, 1), hermitian=True)
    degrees = rank * np.maximum((said > 0).sum(1) - 1, 0)
    return np.where(degrees > 0, statistic, 0.0), degrees


def chosen(
    p_values: Float[np.ndarray, " annotators"], probability: Float[np.ndarray, " annotators"], level: float
) -> tuple[int, ...]:
    """Annotators for whom there is evidence, and others by their p-values up to three."""
    inside = informs(p_values, probability, level)
    order = np.lexsort([p_values, ~inside])
    n_kept = max(int(np.count_nonzero(inside)), min(LEAST, len(order)))
    return tuple(sorted(int(annotator) for annotator in order[:n_kept]))


def informs(
    p_values: Float[np.ndarray, " annotators"], probability: Float[np.ndarray, " annotators"], level: float
) -> Bool[np.ndarray, " annotators"]:
    """Whether independence of an annotator's labels and the classes is rejected, or improbable."""
    return holm(p_values, level) | (probability > 0.5)


def benefit_of_doubt(
    statistic: Float[np.ndarray, " annotators"],
    degrees: Int[np.ndarray, " annotators"],
    n_labels: Int[np.ndarray, " annotators"],
) -> Float[np.ndarray, " annotators"]:
    """Probability that each annotator informs, given the share of the crowd that does."""
    log_factor = (statistic - degrees * np.log(np.maximum(n_labels, 1))) / 2
    told = degrees > 0

    def slope(share: float) -> float:
        """Derivative of Σ ln(1 - ρ + ρ B) with respect to ρ; it falls."""
        odds = expit(logit(share) + log_factor[told])
        return float((odds / share - (1 - odds) / (1 - share)).sum())

    share = 0.5
    if told.any():
        share = (
            brentq(slope, EDGE, 1 - EDGE)
            if slope(EDGE) > 0 > slope(1 - EDGE)
            else (EDGE if slope(0.5) < 0 else 1 - EDGE)
        )
    return np.where(told, expit(logit(share) + log_factor), 0.0)


def holm(p_values: Float[np.ndarray, " tests"], level: float) -> Bool[np.ndarray, " tests"]:
    """Hypotheses that Holm's procedure rejects: the family-wise error is at most `level`."""
    order = np.argsort(p_values, kind="stable")
    passed = p_values[order] <= level / (len(order) - np.arange(len(order)))
    rejected = np.zeros(len(order), dtype=bool)
    rejected[order[: len(order) if passed.all() else int(passed.argmin())]] = True
    return rejected
