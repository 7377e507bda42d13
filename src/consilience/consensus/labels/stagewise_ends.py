"""How stagewise EM ends: with the mixture of an informative set, with the learned prior, or with all annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import logsumexp

from consilience.consensus.labels import dawid_skene
from consilience.consensus.labels.constant_annotators import constant_among, count_pairs_without
from consilience.consensus.labels.fall_back import evidence_of_others, log_number_of_sets
from consilience.consensus.labels.informative_set import (
    EM_TOL,
    LabelsAmong,
    OfPart,
    Refining,
    Selection,
    posterior_among,
    posterior_by_scores,
    shares_of_votes,
    start_of,
)
from consilience.consensus.labels.product_mixture import match_labels
from consilience.consensus.labels.stagewise_evidence import Members
from consilience.inference import Trace
from consilience.inference.parts import LabelsInParts

EM_ITER = 500


@dataclass(frozen=True)
class End:
    """Result of refining, for the informative set.

    log_weights : (components,).
    log_table : (columns, components) log probability of each label.
    evidence : (columns, components) evidence of each label for each component.
    posterior : of the items.
    lower_bound : of the labels of the set, nats.
    converged : whether the last EM converged.
    """

    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    evidence: Float[np.ndarray, "columns components"]
    posterior: OfPart
    lower_bound: float
    converged: bool


def plain_end(selection: Selection) -> End:
    """Return the mixture of the informative set unchanged."""
    trace = selection.mixture
    weights, table = trace.state.log_weights, trace.state.log_table
    return End(weights, table, table, selection.posterior, trace.lower_bound, trace.converged)


def end_with_prior(refining: Refining, selection: Selection, *, has_gold: bool) -> End:
    """Continue from the mixture of the informative set with the learned prior of `dawid_skene`.

    With few informative annotators, maximum likelihood overfits their confusion matrices.
    """
    n_classes = refining.counts.shape[1]
    counts = selection.mixture.state.expected.counts.reshape(-1, n_classes, n_classes)
    order = np.arange(n_classes) if has_gold else match_labels(counts)
    start = posterior_by_scores, (selection.given, order)
    return _end_of(selection.members, _with_learned_prior(refining, selection.members, start, 0.0))


def choose_heard(refining: Refining) -> tuple[Bool[np.ndarray, " annotators"], Members]:
    """Return who is constant, and the annotators that `DawidSkene` reads."""
    constant = constant_among(refining.parts, refining.counts)
    return constant, tuple(np.flatnonzero(refining.counts.any(1) & ~constant).tolist())


def end_with_prior_of_all(refining: Refining) -> End:
    """Fit the model of `dawid_skene` to all annotators, as `DawidSkene` does."""
    constant, members = choose_heard(refining)
    sizes = dawid_skene.imagined_by_pairs(refining.parts.total(count_pairs_without, constant))
    return _end_of(members, _with_learned_prior(refining, members, (shares_of_votes, (constant,)), sizes))


def lead_of_all(refining: Refining, members: Members, bound: float) -> float:
    """By how much all annotators explain the labels better than a set whose labels have this bound, nats; 0 if not.

    Constant annotators count as everyone outside the set does.
    """
    constant, everyone = choose_heard(refining)
    if set(everyone) <= set(members):
        return 0.0
    bound_of_all = _with_learned_prior(refining, everyone, (shares_of_votes, (constant,)), 0.0).lower_bound
    n_annotators = int(np.count_nonzero(refining.counts.any(1)))
    of_all, of_set = (
        one + evidence_of_others(refining.counts, who) - log_number_of_sets(n_annotators, len(who))
        for one, who in ((bound_of_all, everyone), (bound, members))
    )
    return max(of_all - of_set, 0.0)


def _with_learned_prior(
    refining: Refining, members: Members, start: OfPart, imagined: Float[np.ndarray, " classes"] | float
) -> Trace[dawid_skene.DawidSkeneState]:
    among = refining.parts.map(LabelsAmong.of, members, *start)
    sums = among.total(start_of)
    evidence = dawid_skene.DawidSkeneEvidence(LabelsInParts(among, len(sums.sizes)), 0.0, imagined)
    limits: dict[str, Any] = {"max_iter": EM_ITER, "tol": EM_TOL, "loop": refining.loop}
    trace = dawid_skene.run(sums, evidence, one_coin=False, learned=True, **limits)
    among.forget()
    return trace


def _end_of(members: Members, trace: Trace[dawid_skene.DawidSkeneState]) -> End:
    state, n_classes = trace.state, len(trace.state.log_weights)
    table = dawid_skene.columns_of(state.model.log_table)
    means = np.log(state.model.matrices().transpose(0, 2, 1)).reshape(-1, n_classes)
    weights = state.log_weights - logsumexp(state.log_weights)
    q = posterior_among, (members, weights, table)
    return End(weights, means, table, q, trace.lower_bound, trace.converged)
