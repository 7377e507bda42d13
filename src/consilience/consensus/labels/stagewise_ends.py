"""How stagewise EM ends: with the mixture of an informative set, with the learned prior, or with all annotators.

Decided here
------------
The set is compared with all annotators as in `fall_back`. Where the set has most of the labels, and yet explains them
better, the others may only look as if they labelled at random: items of a class differ, and annotators who err
together on some of them leave no place for those who do not. So all annotators are also given two subtypes of each
class, as `DawidSkene` would; of very many labels, those of evenly spaced items tell what is gained. Where the set has
few of the labels, as in the sparse crowds that the model is for, this is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import logsumexp

from consilience.annotations import Labels
from consilience.consensus.labels import dawid_skene
from consilience.consensus.labels.constant_annotators import Annotators, constant_among, count_pairs_without, without
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
from consilience.consensus.labels.samples import join_labels, most_labels, take_items
from consilience.consensus.labels.stagewise_evidence import Members, StudiedLabels
from consilience.consensus.labels.subtypes import SubtypeFit, divide_classes
from consilience.inference import Trace
from consilience.inference.parts import LabelsInParts, evenly_spaced
from consilience.inference.product_distributions import encode_labels
from consilience.inference.sparse_tables import are_mostly_empty

EM_ITER = 500
MOST = 0.5  # share of the labels by a set, from which the crowd is not sparse
SUBTYPES = 2  # of each class, to see whether items of a class differ


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


def lead_of_all(refining: Refining, members: Members, bound: float) -> tuple[float, bool]:
    """By how much all annotators explain the labels better than a set whose labels have this bound, nats; 0 if not.

    And whether only with subtypes. Constant annotators count as everyone outside the set does.
    """
    constant, everyone = choose_heard(refining)
    if set(everyone) <= set(members):
        return 0.0, False
    bound_of_all = _with_learned_prior(refining, everyone, (shares_of_votes, (constant,)), 0.0).lower_bound
    n_annotators = int(np.count_nonzero(refining.counts.any(1)))
    of_all, of_set = (
        one + evidence_of_others(refining.counts, who) - log_number_of_sets(n_annotators, len(who))
        for one, who in ((bound_of_all, everyone), (bound, members))
    )
    if of_all > of_set or refining.counts[list(members)].sum() < MOST * refining.counts.sum():
        return max(of_all - of_set, 0.0), False
    lead = float(of_all + gain_by_subtypes(refining, constant) - of_set)
    return max(lead, 0.0), lead > 0


def gain_by_subtypes(refining: Refining, constant: Annotators) -> float:
    """By how much all annotators explain the labels better where each class has two subtypes, nats."""
    n_annotators, n_classes = refining.counts.shape
    share = min(most_labels(n_classes) / refining.counts.sum(), 1.0)
    sample = list(refining.parts.results(take_heard, constant, share))
    labels = join_labels([labels for labels, _ in sample])
    known = None if any(one is None for _, one in sample) else np.concatenate([one for _, one in sample])
    if are_mostly_empty(n_annotators * n_classes**2, labels.n_rows):
        return 0.0

    def evidence_for(n_subtypes: int) -> dawid_skene.DawidSkeneEvidence:
        onehot = encode_labels(labels, n_classes * n_subtypes, known=known, n_classes=n_classes)
        return dawid_skene.DawidSkeneEvidence(onehot, 0.0, n_subtypes=n_subtypes)

    limits: dict[str, Any] = {"max_iter": EM_ITER, "tol": EM_TOL}
    votes, whole = dawid_skene.first_guess(labels, known), evidence_for(1)
    first = SubtypeFit(dawid_skene.run(votes, whole, one_coin=False, learned=True, **limits), whole)
    columns = labels.annotator * n_classes + labels.label
    onehot = csr_array((np.ones(labels.n_rows), columns, labels.indptr), shape=(len(labels), n_annotators * n_classes))
    divided = divide_classes(first, onehot, evidence_for, n_subtypes=SUBTYPES, **limits)
    return (divided.trace.lower_bound - first.trace.lower_bound) / share


def take_heard(
    part: StudiedLabels, constant: Annotators, share: float
) -> tuple[Labels, Int[np.ndarray, " sampled"] | None]:
    """Return a share of the items with the labels that are heard, and the classes of gold items, if there are any."""
    chosen = evenly_spaced(len(part.labels), share)
    known = None if part.known is None else part.known[chosen]
    return take_items(without(part.labels, constant), chosen), known


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
