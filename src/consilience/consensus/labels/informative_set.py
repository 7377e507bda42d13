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
At least three annotators stay in S, those with the strongest evidence: with fewer, a mixture is not identified. If S
returns to an earlier value, refinement stops. A gold item has its class in step 1, and in the tests of all annotators.
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

LEAST = 3  # annotators in S
EDGE = 1e-6  # distance of the share of informative annotators from 0 and 1
MOST_ROUNDS = 20

Known = Int[np.ndarray, " items"] | None


@dataclass(frozen=True)
class Selection:
    """An informative set and the mixture of its labels.

    members : annotators, in increasing order.
    mixture : of the labels of the members, in this order.
    scores : (items, components) ln ω_k + Σ_{i ∈ S} ln μ_k,i,x_ni.
    p_values : (annotators,) of the test.
    probability : (annotators,) that the annotator is informative.
    proposed : the set that results from the tests.
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
    labels: Labels,
    members: tuple[int, ...],
    q: Responsibilities,
    *,
    level: float,
    max_iter: int,
    tol: float,
    known: Known = None,
) -> Trace[Selection]:
    """Refine an informative set, starting from posteriors; `known` are the classes of gold items, -1 for the others."""

    def fitted(members: tuple[int, ...], q: Responsibilities, seen: frozenset[tuple[int, ...]]) -> Selection:
        onehot = onehot_of(labels, members, q.shape[1], known)
        mixture = product_mixture.run(q, onehot, labels.n_classes, max_iter=max_iter, tol=tol)
        state = mixture.state
        scores = _with_known(np.concatenate(list(log_scores(onehot, state.log_weights, state.log_table))), known)
        statistic, degrees = dependence(labels, scores, members, state.log_table)
        # chi2.sf is NaN without degrees of freedom; their statistic is 0
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
    """ln p of all labels, nats, and the same less the penalty of Schwarz's criterion."""
    n_labels, n_annotators = labels.n_classes, labels.n_annotators
    counts = np.bincount(labels.annotator * n_labels + labels.label, minlength=n_annotators * n_labels)
    counts = counts.reshape(n_annotators, n_labels).astype(float)
    total = counts.sum(1)
    alone = xlogy(counts, counts).sum(1) - xlogy(total, total)
    inside = np.isin(np.arange(n_annotators), state.members)
    log_likelihood = state.mixture.state.expected.log_likelihood + float(alone[~inside].sum())
    free = (state.scores.shape[1] - 1) * np.maximum((counts > 0).sum(1) - 1, 0)
    return log_likelihood, log_likelihood - float((free * np.log(np.maximum(total, 1)))[inside].sum()) / 2


def _with_known(scores: Responsibilities, known: Known) -> Responsibilities:
    """Return scores under which gold items have their class, whatever their labels."""
    if known is None:
        return scores
    certain = np.where(np.eye(scores.shape[1], dtype=bool), 0.0, -np.inf)
    return np.where((known >= 0)[:, None], certain[known], scores)


def onehot_of(labels: Labels, members: tuple[int, ...], n_components: int, known: Known = None) -> OneHotLabels:
    """One-hot labels of some annotators, in the order of `members`."""
    place = np.full(labels.n_annotators, -1)
    place[list(members)] = np.arange(len(members))
    rows = place[labels.annotator] >= 0
    column = place[labels.annotator[rows]] * labels.n_classes + labels.label[rows]
    shape = (len(labels), len(members) * labels.n_classes)
    return OneHotLabels.of(labels.item[rows], column, shape, n_components, known=known)


def dependence(
    labels: Labels,
    scores: Responsibilities,
    members: tuple[int, ...],
    log_table: Float[np.ndarray, "columns components"],
) -> tuple[Float[np.ndarray, " annotators"], Int[np.ndarray, " annotators"]]:
    """Test statistic of every annotator, and its degrees of freedom.

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
    """For each label, the sum of the values over all labels of the same item by the same annotator."""
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
    """T of every annotator and its degrees of freedom; both 0 for those with fewer than two labels, or all equal."""
    n_annotators, n_labels = shape
    column = annotator * n_labels + label
    by_label = np.stack([np.bincount(column, weights, n_annotators * n_labels) for weights in q.T], axis=1)
    by_label = by_label.reshape(n_annotators, n_labels, -1)
    counts = np.bincount(column, minlength=n_annotators * n_labels).reshape(n_annotators, n_labels)
    n, sums = np.maximum(counts.sum(1), 1), by_label.sum(1)
    squares = np.array([[np.bincount(annotator, one * two, n_annotators) for two in q.T] for one in q.T])
    within = squares.transpose(2, 0, 1) - sums[:, :, None] * sums[:, None, :] / n[:, None, None]
    across = by_label - counts[:, :, None] * (sums / n[:, None])[:, None, :]
    between = np.einsum("alk,alm->akm", across / np.maximum(counts, 1)[:, :, None], across)
    statistic = (n - 1) * np.einsum("akm,amk->a", np.linalg.pinv(within, rcond=1e-9, hermitian=True), between)
    rank = np.linalg.matrix_rank(within, tol=1e-9 * np.maximum(n, 1), hermitian=True)
    degrees = rank * np.maximum((counts > 0).sum(1) - 1, 0)
    return np.where(degrees > 0, statistic, 0.0), degrees


def chosen(
    p_values: Float[np.ndarray, " annotators"], probability: Float[np.ndarray, " annotators"], level: float
) -> tuple[int, ...]:
    """Annotators for whom there is evidence; if fewer than three, the next by p-value."""
    inside = informs(p_values, probability, level)
    order = np.lexsort([p_values, ~inside])
    n_kept = max(int(np.count_nonzero(inside)), min(LEAST, len(order)))
    return tuple(sorted(int(annotator) for annotator in order[:n_kept]))


def informs(
    p_values: Float[np.ndarray, " annotators"], probability: Float[np.ndarray, " annotators"], level: float
) -> Bool[np.ndarray, " annotators"]:
    """Whether independence of each annotator's labels and the classes is rejected, or improbable."""
    return holm(p_values, level) | (probability > 0.5)


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


def holm(p_values: Float[np.ndarray, " tests"], level: float) -> Bool[np.ndarray, " tests"]:
    """Hypotheses that Holm's procedure rejects: the family-wise error is at most `level`."""
    order = np.argsort(p_values, kind="stable")
    passed = p_values[order] <= level / (len(order) - np.arange(len(order)))
    rejected = np.zeros(len(order), dtype=bool)
    rejected[order[: len(order) if passed.all() else int(passed.argmin())]] = True  # the first that is not
    return rejected
