"""Refining of the informative set over partitions: its own decisions, with sums over partitions.

`Refining` takes the decisions of `informative_set.refine`, and of `end_with_prior` and `lead_of_all` of the estimator,
with their states and results, without posteriors of items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax, xlogy
from scipy.stats import chi2

from consilience.consensus.labels import dawid_skene as dawid_skene_model
from consilience.consensus.labels import product_mixture as mixtures
from consilience.consensus.labels.constant_annotators import without
from consilience.consensus.labels.copies import ALONE
from consilience.consensus.labels.fall_back import evidence_of_frequencies, log_number_of_sets
from consilience.consensus.labels.informative_set import (
    MOST_ROUNDS,
    Selection,
    _sums_of_cells,
    benefit_of_doubt,
    chosen,
    onehot_of,
)
from consilience.consensus.labels.product_mixture import Mixture, matched
from consilience.consensus.labels.stagewise_em_estimator import EM_ITER, EM_TOL, ROUND_ITER, End, _end_of
from consilience.inference import Trace, iterate
from consilience.inference.product_distributions import (
    Expectation,
    LogTable,
    OneHotLabels,
    Weights,
    log_scores,
    vote_shares,
)
from consilience.partitions.engine.checkpoint import Runs
from consilience.partitions.engine.map_reduce import Additive, Parts
from consilience.partitions.models.dawid_skene import found_constant, imagined_items
from consilience.partitions.models.dawid_skene_sums import Annotators, Heard
from consilience.partitions.models.label_parts import LabelsInParts
from consilience.partitions.models.stagewise_em_sweeps import Encoded, Given

Members = tuple[int, ...]


@dataclass(frozen=True)
class Start:
    """Start of refining: an informative set, and what gives the posteriors; None for the shares of the votes."""

    name: str
    members: Members
    given: Given | None


# ---- what is computed on a partition


def onehot_among(part: Encoded, members: Members) -> OneHotLabels:
    """One-hot labels of some annotators, in the order of `members`."""
    return onehot_of(part.labels, members, part.onehot.n_components)


def given_sums(part: Encoded, members: Members, given: Given) -> Expectation:
    """Sums of posteriors over the labels of some annotators."""
    return onehot_among(part, members).expectation_of(part.q(given))


def vote_sums(part: Encoded, members: Members, silent: Annotators) -> Expectation:
    """Sums of the shares of the votes over the labels of some annotators; others have no vote."""
    return onehot_among(part, members).expectation_of(vote_shares(without(part.labels, silent)))


@dataclass(frozen=True)
class Dependence(Additive):
    """Sums for the test of every annotator's labels, over q by the labels of the others.

    by_label : of q, for each label.
    squares : of the products of q.
    """

    by_label: Float[np.ndarray, "columns components"]
    squares: Float[np.ndarray, "annotators components components"]


def dependence(part: Encoded, given: Given) -> Dependence:
    """Sums of `informative_set.dependence`; `given` has the table of the members, with zeros elsewhere."""
    labels, n_components = part.labels, len(given.log_weights)
    own = given.log_table.reshape(labels.n_annotators, labels.n_classes, n_components)
    scores = np.concatenate(list(log_scores(part.onehot, given.log_weights, given.log_table)))
    q = softmax(scores[labels.item] - _sums_of_cells(own[labels.annotator, labels.label], labels), axis=1)
    column, size = labels.annotator * labels.n_classes + labels.label, own.shape[0] * own.shape[1]
    by_label = np.stack([np.bincount(column, weights, size) for weights in q.T], axis=1)
    products = [[np.bincount(labels.annotator, one * two, own.shape[0]) for two in q.T] for one in q.T]
    squares = np.array(products).transpose(2, 0, 1)
    return Dependence(by_label.astype(float), squares.astype(float))


# ---- decisions


def statistic_of(
    sums: Dependence, counts: Int[np.ndarray, "annotators labels"]
) -> tuple[Float[np.ndarray, " annotators"], Int[np.ndarray, " annotators"]]:
    """T of every annotator and its degrees of freedom, as `informative_set.score_statistic`."""
    by_label = sums.by_label.reshape(*counts.shape, -1)
    n, totals = np.maximum(counts.sum(1), 1), by_label.sum(1)
    within = sums.squares - totals[:, :, None] * totals[:, None, :] / n[:, None, None]
    across = by_label - counts[:, :, None] * (totals / n[:, None])[:, None, :]
    between = np.einsum("alk,alm->akm", across / np.maximum(counts, 1)[:, :, None], across)
    statistic = (n - 1) * np.einsum("akm,amk->a", np.linalg.pinv(within, rcond=1e-9, hermitian=True), between)
    rank = np.linalg.matrix_rank(within, tol=1e-9 * np.maximum(n, 1), hermitian=True)
    degrees = rank * np.maximum((counts > 0).sum(1) - 1, 0)
    return np.where(degrees > 0, statistic, 0.0), degrees


def criterion(counts: Int[np.ndarray, "annotators labels"], state: Selection) -> tuple[float, float]:
    """ln p of all labels, nats, and the same less the penalty, as `informative_set.criterion`."""
    total = counts.sum(1)
    alone = xlogy(counts, counts).sum(1) - xlogy(total, total)
    inside = np.isin(np.arange(len(counts)), state.members)
    log_likelihood = state.mixture.state.expected.log_likelihood + float(alone[~inside].sum())
    free = (state.scores.shape[1] - 1) * np.maximum((counts > 0).sum(1) - 1, 0)
    return log_likelihood, log_likelihood - float((free * np.log(np.maximum(total, 1)))[inside].sum()) / 2


@dataclass(frozen=True)
class Refining:
    """The refining of an informative set over partitions.

    parts : of `Encoded`.
    counts : number of labels of each annotator, of each class.
    level : of the tests.
    """

    parts: Parts
    counts: Int[np.ndarray, "annotators labels"]
    runs: Runs
    level: float

    @property
    def everyone(self) -> Members:
        """All annotators."""
        return tuple(range(len(self.counts)))

    def given(self, log_weights: Weights, log_table: LogTable, members: Members) -> Given:
        """Return what gives the posteriors, from a table of the members alone."""
        table = np.zeros((*self.counts.shape, len(log_weights)))
        table[list(members)] = log_table.reshape(-1, *table.shape[1:])
        return Given(log_weights, table.reshape(-1, len(log_weights)))

    def sums(self, members: Members, given: Given | None) -> Expectation:
        """Sums of posteriors, or of the shares of the votes, over the labels of some annotators."""
        if given is None:
            return self.parts.total(vote_sums, members, np.zeros(len(self.counts), dtype=bool))
        return self.parts.total(given_sums, members, given)

    def mixture(self, members: Members, given: Given | None, max_iter: int) -> Trace[Mixture]:
        """EM on the labels of some annotators."""
        onehot, n_labels = self.parts.map(onehot_among, members), self.counts.shape[1]
        start = self.sums(members, given)
        evidence = LabelsInParts(onehot, len(start.sizes))
        trace = mixtures.run(start, evidence, n_labels, max_iter=max_iter, tol=EM_TOL, loop=self.runs.run)
        onehot.forget()
        return trace

    def refined(self, start: Start) -> Trace[Selection]:
        """Refine an informative set."""

        def fitted(members: Members, given: Given | None, seen: frozenset[Members]) -> Selection:
            trace = self.mixture(members, given, ROUND_ITER)
            now = self.given_by(trace.state, members)
            statistic, degrees = statistic_of(self.parts.total(dependence, now), self.counts)
            p_values = chi2.sf(statistic, np.maximum(degrees, 1))
            probability = benefit_of_doubt(statistic, degrees, self.counts.sum(1))
            proposed = chosen(p_values, probability, self.level)
            none = np.empty((0, len(now.log_weights)))
            return Selection(members, trace, none, p_values, probability, proposed, seen | {members})

        return iterate(
            fitted(tuple(sorted(start.members)), start.given, frozenset()),
            lambda state: fitted(state.proposed, self.given_by(state.mixture.state, state.members), state.seen),
            lambda state: state.mixture.lower_bound,
            max_iter=MOST_ROUNDS,
            settled=lambda state: state.proposed in state.seen,
        )

    def given_by(self, state: Mixture, members: Members) -> Given:
        """Return what gives the posteriors, from the mixture of some annotators."""
        return self.given(state.log_weights, state.log_table, members)

    def end_with_prior(self, selection: Selection) -> End:
        """Continue from the mixture of the informative set with the learned prior of `dawid_skene`."""
        state, n_classes = selection.mixture.state, self.counts.shape[1]
        order = matched(state.expected.counts.reshape(-1, n_classes, n_classes))
        given = self.given(state.log_weights[order], state.log_table[:, order], selection.members)
        first = self.sums(selection.members, given)
        return self._end(selection.members, self._with_learned_prior(selection.members, first, 0.0))

    def heard(self) -> tuple[Annotators, Members]:
        """Return who is constant, and the annotators that `DawidSkene` reads."""
        constant = found_constant(self.parts, self.counts)
        return constant, tuple(np.flatnonzero(self.counts.any(1) & ~constant).tolist())

    def lead_of_all(self, members: Members, bound: float) -> float:
        """By how much all annotators explain the labels better than a set whose labels have this bound, nats."""
        constant, everyone = self.heard()
        if set(everyone) <= set(members):
            return 0.0
        first = self.parts.total(vote_sums, everyone, constant)
        bound_of_all = self._with_learned_prior(everyone, first, 0.0).lower_bound
        n_annotators = int(np.count_nonzero(self.counts.any(1)))
        of_all, of_set = (
            one + self._evidence_of_others(who) - log_number_of_sets(n_annotators, len(who))
            for one, who in ((bound_of_all, everyone), (bound, members))
        )
        return max(of_all - of_set, 0.0)

    def end_with_prior_of_all(self) -> End:
        """Fit the model of `dawid_skene` to all annotators, as `DawidSkene` does."""
        constant, everyone = self.heard()
        imagined = imagined_items(self.parts, Heard(constant, np.full(len(constant), ALONE)))
        first = self.parts.total(vote_sums, everyone, constant)
        return self._end(everyone, self._with_learned_prior(everyone, first, imagined))

    def _evidence_of_others(self, members: Members) -> float:
        others = np.delete(self.counts.astype(float), list(members), axis=0)
        return evidence_of_frequencies(others[others.sum(1) > 0])

    def _with_learned_prior(
        self, members: Members, first: Expectation, imagined: Float[np.ndarray, " classes"] | float
    ) -> Trace[dawid_skene_model.State]:
        onehot = self.parts.map(onehot_among, members)
        evidence = dawid_skene_model.Evidence(LabelsInParts(onehot, len(first.sizes)), 0.0, imagined)
        limits: dict[str, Any] = {"max_iter": EM_ITER, "tol": EM_TOL, "loop": self.runs.run}
        trace = dawid_skene_model.run(first, evidence, one_coin=False, learned=True, **limits)
        onehot.forget()
        return trace

    def _end(self, members: Members, trace: Trace[dawid_skene_model.State]) -> End:
        n_classes = self.counts.shape[1]
        nothing = OneHotLabels((), 0, len(members) * n_classes, n_classes)
        return _end_of(dawid_skene_model.Evidence(nothing, 0.0), trace)
