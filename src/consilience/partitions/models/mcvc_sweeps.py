"""Sweeps of `MCVC` and `MECC` over partitions: the updates of `semisupervised.mcvc`, with sums in place of items.

η of an item stays with its partition: each sweep makes new parts, and forgets the former. See `mcvc_sums`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_solve
from scipy.optimize import minimize

from consilience.inference import gaussian_softmax
from consilience.inference.gaussian_softmax import CLIMB, Weights
from consilience.inference.pair_evidence import GroupedItems
from consilience.inference.parts import Parts
from consilience.partitions.models.mcvc_sums import (
    LogSums,
    Messages,
    Some,
    Sums,
    directed,
    log_sums,
    loss_of,
    moved,
    reset,
    summed,
    unused_loss,
)
from consilience.semisupervised.mcvc import (
    FOLLOWED,
    SHARES,
    WEIGHT_STEPS,
    AgreementOfRestarts,
    Columns,
    Problem,
    State,
    lower_bounds,
    update_annotators,
)
from consilience.semisupervised.mcvc_search import view_weights


@dataclass(frozen=True)
class Unused:
    """Weights of a view that no annotator follows, their sums, and its contribution to the bound: one column."""

    weights: Weights
    logs: LogSums
    bound: float


@dataclass(frozen=True)
class Swept:
    """A state of one restart.

    parts : of `Part`.
    own : the state of the model, with η of no items.
    sums, logs : of η, and of the weights.
    restart_bounds : of the search.
    unused : as soon as a view is not followed.
    """

    parts: Parts
    own: State
    sums: Sums
    logs: LogSums
    restart_bounds: Float[np.ndarray, " restarts"]
    unused: Unused | None = None


@dataclass(frozen=True)
class Sweeps:
    """The model over partitions.

    problem : with the design of no items, and with evidence that has the groups in place of items.
    sample : the problem of a sample, from whose weights those of an unused view are sought.
    n_items : number of all items.
    """

    problem: Problem
    sample: Problem
    n_items: int

    def step(self, state: Swept) -> Swept:
        """One sweep, as `mcvc.step`."""
        followed = state.own.phi.sum(0).ravel() > FOLLOWED
        state = self.reset_unused(state, np.flatnonzero(~followed))
        columns = np.flatnonzero(followed)
        state = self.update_weights(state, columns)
        state = self.update_clusters(state, columns)
        agreement = self.agreement_of(state)
        own = update_annotators(self.problem, state.own, agreement)
        own = replace(own, bounds=lower_bounds(self.problem, own, agreement))
        return replace(state, own=own)

    def reset_unused(self, state: Swept, empty: Some) -> Swept:
        """Set views that no annotator follows to a good state for unused views, unless their own is better."""
        if not len(empty):
            return state
        unused = self.best_unused(state.parts) if state.unused is None else state.unused
        empty = empty[state.own.of_views[empty] < unused.bound]
        if not len(empty):
            return replace(state, unused=unused)
        parts = state.parts.map(reset, empty, unused.weights)
        state.parts.forget()
        of_views = state.own.of_views.copy()
        of_views[empty] = unused.bound
        weights = _with_columns(state.own.weights, empty, unused.weights)
        return replace(
            state,
            parts=parts,
            own=replace(state.own, weights=weights, of_views=of_views),
            sums=state.sums.with_columns(empty, parts.total(summed, empty)),
            logs=state.logs.with_columns(empty, unused.logs),
            unused=unused,
        )

    def best_unused(self, parts: Parts) -> Unused:
        """`gaussian_softmax.unused` of all items, sought from that of the sample."""
        of_sample, times = self.sample.unused[0], self.n_items / self.sample.evidence.n_items
        log_variance = -np.log1p(times * np.expm1(-np.minimum(of_sample.log_variance, 0.0)))
        start = np.stack([of_sample.mean, log_variance])
        nothing = np.zeros((1, start.shape[1]))

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            found = loss_of(nothing, start.shape, flat) + parts.total(unused_loss, start.shape, flat)
            return float(found[0]), found[1:]

        climb: Any = loss
        best = minimize(climb, start.ravel(), jac=True, method="L-BFGS-B", options=CLIMB)
        weights = Weights(*best.x.reshape(start.shape))
        return Unused(weights, parts.total(log_sums, weights), -float(best.fun))

    def update_weights(self, state: Swept, columns: Some) -> Swept:
        """q(W) of some views: `gaussian_softmax.step`, with sums over the items."""
        weights = state.own.weights.of_problems(columns)
        drawn = state.sums.drawn[..., columns]
        logs = LogSums(*(getattr(state.logs, one.name)[..., columns] for one in fields(LogSums)))
        factor, value = self.problem.design.curvature, gaussian_softmax._bound(drawn, weights, logs.log_sum)
        for _ in range(WEIGHT_STEPS):
            slope = drawn - logs.of_x - weights.mean
            move = cho_solve((factor, True), slope.reshape(len(slope), -1)).reshape(slope.shape)
            narrow = -np.log1p(logs.of_squares)
            moved_weights = Weights(weights.mean + move, narrow)
            logs = state.parts.total(log_sums, moved_weights)
            after = gaussian_softmax._bound(drawn, moved_weights, logs.log_sum)
            if (worse := after < value).any():
                moved_weights = Weights(moved_weights.mean, np.where(worse, weights.log_variance, narrow))
                logs = state.parts.total(log_sums, moved_weights)
                after = gaussian_softmax._bound(drawn, moved_weights, logs.log_sum)
            weights, value = moved_weights, after
        own = replace(state.own, weights=_with_columns(state.own.weights, columns, weights))
        return replace(state, own=own, logs=state.logs.with_columns(columns, logs))

    def update_clusters(self, state: Swept, columns: Some) -> Swept:
        """q(Z) of some views, with the largest share of the update at which the bound does not fall."""
        same, apart = (weights[:, columns] for weights in view_weights(state.own))
        weights = state.own.weights.of_problems(columns)
        messages = Messages.of(self.evidence, state.sums.groups[:, :, columns], same, apart)
        found = state.parts.total(directed, columns, weights, messages, SHARES[:1])
        push = Messages.of(self.evidence, found.groups, same, apart).of_groups
        curve = ((push * found.groups).sum((0, 1)) - found.own) / 2
        entropy = state.sums.entropy[columns]
        way = _largest_share(SHARES[:1], found.slope, curve, found.entropy - entropy)
        if len(some := np.flatnonzero(way == 0)):
            asked = columns[some], weights.of_problems(some), messages.of_columns(some), SHARES[1:]
            there = state.parts.total(directed, *asked).entropy
            way[some] = _largest_share(SHARES[1:], found.slope[some], curve[some], there - entropy[some])
        parts = state.parts.map(moved, columns, weights, messages, way)
        state.parts.forget()
        sums = state.sums.with_columns(columns, parts.total(summed, columns))
        of_views = state.own.of_views.copy()
        of_views[columns] = clusters_bounds(state.own.weights, sums, state.logs)[columns]
        return replace(state, parts=parts, own=replace(state.own, of_views=of_views), sums=sums)

    @property
    def evidence(self) -> GroupedItems:
        """Evidence with the groups in place of items."""
        evidence: Any = self.problem.evidence
        return evidence

    def agreement_of(self, state: Swept) -> AgreementOfRestarts:
        """Expected number of judged pairs within clusters, and of those judged "same"."""
        evidence, sums = self.evidence, state.sums
        among, weight = evidence.memberships, evidence.weight
        by, of_group = among.annotator_of_grouping, among.grouping_of_group
        judged = evidence._within(among.in_grouping, weight, by, sums.groups, sums.squares)
        same = evidence._within(among.in_group, weight[of_group], by[of_group], sums.groups, sums.squares)
        shape = state.own.phi.shape
        return judged.reshape(shape), same.reshape(shape)


def clusters_bounds(weights: Weights, sums: Sums, logs: LogSums) -> Columns:
    """Contribution of the clusters and weights of each view to the bound."""
    return gaussian_softmax._bound(sums.drawn, weights, logs.log_sum) + sums.entropy


def _with_columns(weights: Weights, columns: Some, own: Weights) -> Weights:
    mean, log_variance = weights.mean.copy(), weights.log_variance.copy()
    mean[:, :, columns], log_variance[:, :, columns] = own.mean, own.log_variance
    return Weights(mean, log_variance)


def _largest_share(
    shares: np.ndarray, slope: Columns, curve: Columns, entropy: Float[np.ndarray, "shares columns"]
) -> Columns:
    """Largest of the shares at which the bound does not fall; 0 if it falls at all. `entropy` is what it gains."""
    share = shares[:, None]
    rises = share * slope + share**2 * curve + entropy >= 0
    return np.where(rises.any(0), shares[rises.argmax(0)], 0.0)
