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
from jaxtyping import Bool, Float, Int
from scipy.stats import chi2

from consilience.annotations import Labels
from consilience.consensus.labels.product_mixture import SMOOTHING, m_step
from consilience.inference import Trace, iterate
from consilience.inference.pair_tables import (
    PairTables,
    Tables,
    curvature,
    log_ratio,
    mutual_information,
    pair_tables,
)
from consilience.inference.product_distributions import (
    OneHotLabels,
    Responsibilities,
    posterior,
)

SETTLED = 1e-3  # largest change of a posterior in a round
STEP = 0.5  # share of the way to the boundary
COMMON_ITEMS = 2  # a pair of annotators needs at least this many per cell of its table to be considered


@dataclass(frozen=True)
class Study:
    """Labels as the algorithm reads them.

    onehot : one-hot labels in chunks.
    tables : of the pairs of annotators.
    degrees : (pairs,) degrees of freedom of each table.
    threshold : (pairs,) of 2 n I.
    column : (labels,) column of each label; `item` and `annotator` are those of `Labels`.
    """

    onehot: OneHotLabels
    tables: PairTables
    degrees: Int[np.ndarray, " pairs"]
    threshold: Float[np.ndarray, " pairs"]
    item: Int[np.ndarray, " labels"]
    annotator: Int[np.ndarray, " labels"]
    column: Int[np.ndarray, " labels"]
    n_labels: int
    n_annotators: int

    @classmethod
    def of(cls, labels: Labels, n_components: int, level: float) -> Study:
        """Encode labels; `level` is that of the threshold."""
        n_items, n_annotators, n_labels = len(labels), labels.n_annotators, labels.n_classes
        column = labels.annotator * n_labels + labels.label
        onehot = OneHotLabels.of(labels.item, column, (n_items, n_annotators * n_labels), n_components)
        least_common = min(COMMON_ITEMS * n_labels**2, n_items)
        tables = pair_tables(
            labels.item, labels.annotator, labels.label, (n_items, n_annotators, n_labels), least_common
        )
        used = np.bincount(column, minlength=n_annotators * n_labels).reshape(-1, n_labels) > 0
        free = used.sum(1) - 1
        degrees = free[tables.first] * free[tables.second]
        # without degrees of freedom, nothing is significant
        quantile = np.append(np.inf, chi2.isf(level, np.arange(1, degrees.max(initial=1) + 1)))
        rows = (labels.item, labels.annotator, column)
        return cls(onehot, tables, degrees, quantile[degrees], *rows, n_labels, n_annotators)

    def tables_among(self, members: tuple[int, ...]) -> PairTables:
        """Tables of the pairs among some annotators."""
        rows = np.isin(self.annotator, members)
        place = np.searchsorted(sorted(members), self.annotator[rows])
        label = self.column[rows] - self.annotator[rows] * self.n_labels
        return pair_tables(self.item[rows], place, label, (self.onehot.n_items, len(members), self.n_labels), 1)


@dataclass(frozen=True)
class Settings:
    """Settings of the algorithm: target number of components, and whether (13) weighs components."""

    n_components: int
    weighted: bool


@dataclass(frozen=True)
class Stage:
    """Parameters and informative set after a round, and a record of the round.

    log_likelihood : of all labels under the parameters, nats.
    largest : largest I(i, j | Y) over the pairs at the start of the round, nats; (13).
    exhausted : whether no annotator could enter S and no component could be split.
    change : largest change of q in the round; infinite where the number of components changed.
    """

    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    members: tuple[int, ...]
    q: Responsibilities
    log_likelihood: float
    largest: float
    exhausted: bool
    change: float


@dataclass(frozen=True)
class Candidate:
    """The largest entry: a pair, and the component in which its information is largest."""

    pair: int
    component: int


def init(study: Study) -> Stage:
    """One component, S empty."""
    q = np.ones((study.onehot.n_items, 1))
    weights, table = m_step(study.onehot.expectation_of(q), study.n_labels, SMOOTHING)
    likelihood = study.onehot.expectation(weights, table).log_likelihood
    return Stage(weights, table, (), q, likelihood, np.inf, False, np.inf)


def step(state: Stage, study: Study, settings: Settings) -> Stage:
    """One round: the largest entry, S and a split, the regularised E-step and the M-step."""
    information, total = conditional_information(state.q, study)
    found = largest_entry(information, total, study, settings)
    moved = state if found is None else informed(state, found, study, settings)
    idle = moved is state and (found is None or len(state.log_weights) == settings.n_components)
    q = regularised_posterior(moved, study)
    weights, table = m_step(study.onehot.expectation_of(q), study.n_labels, SMOOTHING)
    return Stage(
        weights,
        table,
        moved.members,
        q,
        study.onehot.expectation(weights, table).log_likelihood,
        float(conditional(information, total).max(initial=0.0)),
        idle,
        float(np.abs(q - state.q).max()) if q.shape == state.q.shape else np.inf,
    )


def settled(state: Stage) -> bool:
    """Whether S and K are final, and the posteriors have settled."""
    return state.exhausted and state.change < SETTLED


def run(study: Study, settings: Settings, *, max_iter: int) -> tuple[Trace[Stage], list[Stage]]:
    """Run the algorithm; also return the state after every round, for the trace."""
    rounds: list[Stage] = []

    def kept(state: Stage) -> Stage:
        rounds.append(step(state, study, settings))
        return rounds[-1]

    trace = iterate(init(study), kept, lambda state: state.log_likelihood, max_iter=max_iter, settled=settled)
    return trace, rounds


def conditional_information(
    q: Responsibilities, study: Study
) -> tuple[Float[np.ndarray, "components pairs"], Float[np.ndarray, "components pairs"]]:
    """I_k(i, j) within each component, nats, and the number of items in its table."""
    found = [mutual_information(study.tables.of(weights)) for weights in q.T]
    return np.stack([each for each, _ in found]), np.stack([total for _, total in found])


def conditional(
    information: Float[np.ndarray, "components pairs"], total: Float[np.ndarray, "components pairs"]
) -> Float[np.ndarray, " pairs"]:
    """I(i, j | Y), nats, over the items that both label; (13)."""
    both = total.sum(0)
    return np.divide((information * total).sum(0), both, out=np.zeros_like(both), where=both > 0)


def largest_entry(
    information: Float[np.ndarray, "components pairs"],
    total: Float[np.ndarray, "components pairs"],
    study: Study,
    settings: Settings,
) -> Candidate | None:
    """Return the largest significant entry, weighted and corrected for bias; None if there is none."""
    if not information.size:
        return None
    bias = np.divide(study.degrees, 2 * total, out=np.zeros_like(total), where=total > 0)
    share = total / (study.onehot.n_items if settings.weighted else total.max(1, initial=1e-300, keepdims=True))
    significant = 2 * total * information > study.threshold
    if not significant.any():
        return None
    entry = np.where(significant, (information - bias) * share, -np.inf)
    component, pair = np.unravel_index(entry.argmax(), entry.shape)
    return Candidate(int(pair), int(component))


def informed(state: Stage, found: Candidate, study: Study, settings: Settings) -> Stage:
    """Add the pair to S, and split its component if K is below its target; the same state if neither applies."""
    pair = (int(study.tables.first[found.pair]), int(study.tables.second[found.pair]))
    new = tuple(annotator for annotator in pair if annotator not in state.members)
    if not new and state.change >= SETTLED:
        return state
    grown = replace(state, members=state.members + new) if new else state
    if len(state.log_weights) == settings.n_components:
        return grown
    grown = replace(grown, q=regularised_posterior(grown, study))
    direction = perturbation(grown, found, study)
    return moved_apart(duplicated(grown, found.component), found.component, pair, direction)


def regularised_posterior(state: Stage, study: Study) -> Responsibilities:
    """f(k | x_S): annotators outside S have no factor."""
    return posterior(study.onehot, state.log_weights, only_members(state.log_table, state.members, study.n_labels))


def only_members(log_table: np.ndarray, members: tuple[int, ...], n_labels: int) -> np.ndarray:
    """The table with zeros for annotators outside S."""
    blocks = np.zeros((len(log_table) // n_labels, n_labels, log_table.shape[1]))
    inside = list(members)
    blocks[inside] = log_table.reshape(blocks.shape)[inside]
    return blocks.reshape(log_table.shape)


def duplicated(state: Stage, component: int) -> Stage:
    """Copy a component; both copies have half of its ω and of its posteriors, and nothing else changes."""
    weights = np.append(state.log_weights, state.log_weights[component])
    weights[[component, -1]] -= np.log(2)
    q = np.column_stack([state.q, state.q[:, component] / 2])
    q[:, component] /= 2
    table = np.column_stack([state.log_table, state.log_table[:, component]])
    return replace(state, log_weights=weights, log_table=table, q=q)


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
    return replace(state, log_table=np.log(table))


def perturbation(state: Stage, found: Candidate, study: Study) -> Float[np.ndarray, "2 labels"]:
    """δ of unit length: the eigenvector of the smallest eigenvalue of the Hessian, within the simplices."""
    pair = (int(study.tables.first[found.pair]), int(study.tables.second[found.pair]))
    hessian, used = split_hessian(state, found.component, pair, study, study.tables_among(state.members))
    basis = _tangent(used)
    _, vectors = np.linalg.eigh(basis.T @ hessian @ basis)  # in rising order
    return (basis @ vectors[:, 0]).reshape(2, -1)


def split_hessian(
    state: Stage, component: int, pair: tuple[int, int], study: Study, tables: PairTables
) -> tuple[Float[np.ndarray, "coordinates coordinates"], Bool[np.ndarray, "2 labels"]]:
    """Hessian of N Σ_y f(y) Σ_{i<j} I(i, j | y) in δ when `component` is split along (δ, -δ), and mask of used labels.

    The posteriors of `state` are those before the copy, given S including the pair.
    """
    n_labels = study.n_labels
    r = state.q[:, component]
    scaled_columns, used = [], []
    for annotator in pair:
        rows = study.annotator == annotator
        onehot = np.zeros((len(r), n_labels))
        onehot[study.item[rows], study.column[rows] - annotator * n_labels] = 1.0
        probability = np.exp(state.log_table[annotator * n_labels : (annotator + 1) * n_labels, component])
        scaled_columns.append(onehot / probability)
        used.append(onehot.any(0))
    scaled = np.hstack(scaled_columns)
    hessian = curvature(tables.of(r), np.stack([tables.of(r * each) for each in scaled.T]))
    slope = r * (1 - r) * _slope(r, tables)
    for other in np.delete(np.arange(state.q.shape[1]), component):
        weights = state.q[:, other]
        slope -= r * weights * _slope(weights, tables)
    products = scaled.T @ (slope[:, None] * scaled)
    np.fill_diagonal(products, 0.0)  # h_n has products of different labels only
    return hessian + products, np.array(used)


def _slope(weights: Float[np.ndarray, " items"], tables: PairTables) -> Float[np.ndarray, " items"]:
    """Derivative of a component's weight × information with respect to the weight of each item."""
    counts: Tables = tables.of(weights)
    return tables.per_item(log_ratio(counts))


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
