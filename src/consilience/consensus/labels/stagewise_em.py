"""Stagewise EM: a mixture of product distributions learned from informative annotators, found one pair at a time.

Zhao & Zucker, Stagewise Learning for Sparse Clustering of Discretely-Valued Data.

Model: see `product_mixture`. S is the informative set: annotators whose labels differ between the components.

Symbols
-------
    paper         here          shape
    ω             log_weights   (components,)                    ln ω
    μ_kir         log_table     (annotators * labels, components)  ln μ
    S             members       a tuple of annotators, in order of entry
    f(k | x_S)    q             (items, components)              the hybrid distribution's posterior
    I_k(i, j)     information   (pairs,) for each component      between the labels of i and j within component k
    μ_new, δ      direction     (2, labels)                      of the perturbation, for annotators i and j

Algorithm
---------
    K = 1, S = ∅, μ the frequencies of the labels. Repeat:
    1. I_k(i, j) from the tables Xᵀ diag(q_k) X of all pairs; the pair and component of the largest      (11), (13)
    2. if i or j is new: both enter S; if K is below its target: copy component k, move the copies apart
       along the eigenvector of the smallest eigenvalue of the Hessian of Σ I in (μ_ki, μ_kj, μ_new,i, μ_new,j)
    3. q_nk ∝ ω_k Π_{i ∈ S} μ_k,i,x_ni; then ω, μ of all annotators from q                             Theorem 3

The Hessian
-----------
By symmetry the direction is (δ, -δ). With u_n = Σ_c δ_c(x_nc) / μ_kc(x_nc), h_n the product of its two terms (of more,
where i or j gives the item several labels, the sum of the products of every two), and r the posterior of component k
before the copy, to second order

    q_n± = r_n / 2 (1 ± u_n + (1 - r_n) h_n),    the other posteriors shrink by the factor 1 - r_n h_n,

so that the curvature of N Σ_y f(y) Σ I(i, j | y) along δ is half that of N_k I_k in the direction of the tables
weighted by r u, plus the first-order effect of h. Both are sums over items, and exact; labels that i or j never gives
are left out.

Decided here
------------
- Information is overestimated by (R_i - 1)(R_j - 1) / 2n on average when a table counts n items, R the number of
  labels that an annotator uses. This bias is subtracted before pairs are ranked; a pair counts in proportion to the
  share of all items in its table, with (13) or without its component's weight; and an entry counts only if 2 n I
  exceeds the quantile of χ² with (R_i - 1)(R_j - 1) degrees of freedom that chance exceeds with probability `level`.
  Each entry is tested separately: a joint level leaves out many informative annotators, and refining removes the rest.
- The step stops half way to the boundary of the simplices.
- Where the largest entry lies within S and q has settled, its component is split, as long as K is below its target:
  otherwise there could be fewer components than requested.
- The Hessian is that of Σ I over the pairs within S: by Proposition 1 the other pairs add only noise.
- It ends when q has settled and no annotator can enter S and no component can be split, or after `max_iter` rounds.
- Labels have the pseudo-count of `product_mixture`; a missing label has no factor, and each of several has one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from consilience.consensus.labels.product_mixture import SMOOTHING, m_step
from consilience.consensus.labels.stagewise_evidence import (
    Members,
    Posterior,
    PosteriorTerms,
    Split,
    StagewiseEvidence,
    StagewiseStudy,
    compare_posteriors,
    log_likelihood_of,
    split_products,
    split_tables,
)
from consilience.inference import Trace
from consilience.inference.iterate import Loop, begin
from consilience.inference.pair_tables import curvature, log_ratio
from consilience.inference.product_distributions import Expectation

SETTLED = 1e-3  # largest change of a posterior in a round
STEP = 0.5  # share of the way to the boundary


@dataclass(frozen=True)
class StagewiseSettings:
    """Settings of the algorithm: target number of components, and whether (13) weighs components."""

    n_components: int
    weighted: bool


@dataclass(frozen=True)
class Stage:
    """Parameters and informative set after a round, and a record of the rounds.

    log_likelihood : of all labels under the parameters, nats.
    exhausted : whether no annotator could enter S and no component could be split.
    change : largest change of q in the round; infinite where the number of components changed.
    record : number of components; log likelihood; largest I(i, j | Y) over the pairs at the start, nats, (13); and
        size of S, of each round so far.
    """

    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    members: Members
    q: Posterior
    log_likelihood: float
    exhausted: bool
    change: float
    record: Float[np.ndarray, "rounds 4"]

    def given(self, n_labels: int) -> PosteriorTerms:
        """Return what gives f(k | x_S) under these parameters."""
        return PosteriorTerms.by(self.log_weights, self.log_table, self.members, n_labels)


@dataclass(frozen=True)
class Candidate:
    """The largest entry: a pair, and the component in which its information is largest."""

    pair: int
    component: int


def init(evidence: StagewiseEvidence) -> Stage:
    """One component, S empty."""
    q = evidence.posterior(PosteriorTerms(np.zeros(1), np.zeros((evidence.study.counts.size, 1))))
    sums = evidence.parts.total(compare_posteriors, q, q).expected
    return _stage_of(evidence, sums, q, (), np.inf, False, np.inf, np.empty((0, 4)))


def step(state: Stage, evidence: StagewiseEvidence, settings: StagewiseSettings) -> Stage:
    """One round: the largest entry, S and a split, the regularised E-step and the M-step."""
    information, total = evidence.information(state.q)
    found = largest_entry(information, total, evidence.study, settings)
    moved = state if found is None else inform(state, found, evidence, settings)
    idle = moved is state and (found is None or len(state.log_weights) == settings.n_components)
    q = evidence.posterior(moved.given(evidence.study.n_labels))
    new = evidence.parts.total(compare_posteriors, state.q, q)
    largest = float(conditional(information, total).max(initial=0.0))
    return _stage_of(evidence, new.expected, q, moved.members, largest, idle, new.change, state.record)


def _stage_of(
    evidence: StagewiseEvidence,
    sums: Expectation,
    q: Posterior,
    members: Members,
    largest: float,
    exhausted: bool,
    change: float,
    record: Float[np.ndarray, "rounds_before 4"],
) -> Stage:
    """M-step."""
    weights, table = m_step(sums, evidence.study.n_labels, SMOOTHING)
    likelihood = float(evidence.parts.total(log_likelihood_of, PosteriorTerms(weights, table)))
    row = [[len(weights), likelihood, largest, len(members)]]
    return Stage(weights, table, members, q, likelihood, exhausted, change, np.concatenate([record, row]))


def has_settled(state: Stage) -> bool:
    """Whether S and K are final, and the posteriors have settled."""
    return state.exhausted and state.change < SETTLED


def run(evidence: StagewiseEvidence, settings: StagewiseSettings, *, max_iter: int, loop: Loop = begin) -> Trace[Stage]:
    """Run the algorithm."""
    return loop(
        lambda: init(evidence),
        lambda state: step(state, evidence, settings),
        lambda state: state.log_likelihood,
        max_iter=max_iter,
        settled=has_settled,
    )


def conditional(
    information: Float[np.ndarray, "components pairs"], total: Float[np.ndarray, "components pairs"]
) -> Float[np.ndarray, " pairs"]:
    """I(i, j | Y), nats, over the items that both label; (13)."""
    both = total.sum(0)
    return np.divide((information * total).sum(0), both, out=np.zeros_like(both), where=both > 0)


def largest_entry(
    information: Float[np.ndarray, "components pairs"],
    total: Float[np.ndarray, "components pairs"],
    study: StagewiseStudy,
    settings: StagewiseSettings,
) -> Candidate | None:
    """Return the largest significant entry, weighted and corrected for bias; None if there is none."""
    if not information.size:
        return None
    bias = np.divide(study.degrees, 2 * total, out=np.zeros_like(total), where=total > 0)
    share = total / (study.n_items if settings.weighted else total.max(1, initial=1e-300, keepdims=True))
    significant = 2 * total * information > study.threshold
    if not significant.any():
        return None
    entry = np.where(significant, (information - bias) * share, -np.inf)
    component, pair = np.unravel_index(entry.argmax(), entry.shape)
    return Candidate(int(pair), int(component))


def inform(state: Stage, found: Candidate, evidence: StagewiseEvidence, settings: StagewiseSettings) -> Stage:
    """Add the pair to S, and split its component if K is below its target; the same state if neither applies."""
    pair = evidence.study.pair(found.pair)
    new = tuple(annotator for annotator in pair if annotator not in state.members)
    if not new and state.change >= SETTLED:
        return state
    grown = replace(state, members=state.members + new) if new else state
    if len(state.log_weights) == settings.n_components:
        return grown
    direction = perturbation(grown, found.component, pair, evidence)
    return moved_apart(duplicate(grown, found.component), found.component, pair, direction)


def duplicate(state: Stage, component: int) -> Stage:
    """Copy a component; both copies have half of its ω. The posteriors are still to be computed."""
    weights = np.append(state.log_weights, state.log_weights[component])
    weights[[component, -1]] -= np.log(2)
    table = np.column_stack([state.log_table, state.log_table[:, component]])
    return replace(state, log_weights=weights, log_table=table, q=PosteriorTerms(weights, table))


def moved_apart(state: Stage, component: int, pair: tuple[int, int], direction: Float[np.ndarray, "2 labels"]) -> Stage:
    """Move a component and its copy, the last, along (δ, -δ), `STEP` of the way to the simplices' boundary."""
    n_labels = direction.shape[1]
    table = np.exp(state.log_table)
    rows = np.array([np.arange(annotator * n_labels, (annotator + 1) * n_labels) for annotator in pair])
    # no boundary in this direction
    share = np.divide(table[rows, component], np.abs(direction), out=np.full(rows.shape, np.inf), where=direction != 0)
    step = direction * STEP * share.min()
    table[rows, component] += step
    table[rows, -1] -= step
    logs = np.log(table)
    return replace(state, log_table=logs, q=PosteriorTerms(state.log_weights, logs))


def perturbation(
    state: Stage, component: int, pair: tuple[int, int], evidence: StagewiseEvidence
) -> Float[np.ndarray, "2 labels"]:
    """δ of unit length: the eigenvector of the smallest eigenvalue of the Hessian, within the simplices."""
    hessian = split_hessian(state, component, pair, evidence)
    basis = _tangent(evidence.study.counts[list(pair)] > 0)
    _, vectors = np.linalg.eigh(basis.T @ hessian @ basis)
    return (basis @ vectors[:, 0]).reshape(2, -1)


def split_hessian(
    state: Stage, component: int, pair: tuple[int, int], evidence: StagewiseEvidence
) -> Float[np.ndarray, "coordinates coordinates"]:
    """Hessian of N Σ_y f(y) Σ_{i<j} I(i, j | y) in δ when `component` is split along (δ, -δ), given S with the pair."""
    study, members = evidence.study, state.members
    probability = np.exp(state.log_table[:, component].reshape(-1, study.n_labels)[list(pair)])
    q = evidence.posterior(state.given(study.n_labels))
    split = Split(q, component, pair, probability, members, study.pairs_among(members))
    tables = evidence.parts.total(split_tables, split)
    ratios = np.stack([log_ratio(each) for each in tables.components])
    products = evidence.parts.total(split_products, split, ratios).copy()
    np.fill_diagonal(products, 0.0)  # h_n has products of different labels only
    return curvature(tables.components[component], tables.directions) + products


def _tangent(used: Bool[np.ndarray, "2 labels"]) -> Float[np.ndarray, "coordinates free"]:
    """Orthonormal directions that keep both annotators' probabilities summing to 1, over the labels they use."""
    n_labels = used.shape[1]
    columns = []
    for place, mask in enumerate(used):
        labels = np.flatnonzero(mask)
        centred = np.eye(len(labels)) - 1 / len(labels)
        # the last direction is that of the sum, whose singular value is 0
        for vector in np.linalg.svd(centred)[0][:, : len(labels) - 1].T:
            column = np.zeros((2, n_labels))
            column[place, labels] = vector
            columns.append(column.ravel())
    return np.column_stack(columns)
