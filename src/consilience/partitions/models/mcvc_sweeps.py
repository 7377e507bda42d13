"""Items of `MCVC` and `MECC` in partitions, as the sweeps of `semisupervised.mcvc` read them.

η of an item stays with its partition: each sweep makes new parts, and forgets the former. See `mcvc_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from consilience.inference import gaussian_softmax
from consilience.inference.gaussian_softmax import Weights
from consilience.inference.pair_evidence import GroupedItems
from consilience.inference.parts import Parts
from consilience.partitions.models.mcvc_sums import (
    Directions,
    LogSums,
    Messages,
    OfGroups,
    Some,
    Sums,
    direction_sums,
    log_sums,
    move_eta,
    reset,
    sum_eta,
    unused_sums,
)
from consilience.semisupervised.mcvc import (
    SHARES,
    WEIGHT_STEPS,
    AgreementOfRestarts,
    Columns,
    Direction,
    EtaElsewhere,
    MCVCItems,
    MCVCPrior,
    MCVCProblem,
    MCVCState,
    Unused,
)

FIRST_SHARES, OTHER_SHARES = SHARES[:1], SHARES[1:]


@dataclass(frozen=True)
class EtaInParts(EtaElsewhere):
    """η of one restart.

    parts : of `Part`.
    sums, logs : of η, and of the weights.
    """

    parts: Parts
    sums: Sums
    logs: LogSums


@dataclass(frozen=True)
class ItemsInParts(MCVCItems):
    """Items in partitions: `mcvc.MCVCItems`. States have `EtaInParts`.

    items : parts of `mcvc_sums.Items`.
    evidence : has the groups in place of items.
    curvature : of all items; see `gaussian_softmax.Design`.
    sample : the problem of a sample, from whose weights those of an unused view are sought.
    n_items : number of all items.
    """

    items: Parts
    evidence: GroupedItems
    prior: MCVCPrior
    curvature: Float[np.ndarray, "features features"]
    sample: MCVCProblem
    n_items: int

    batches: ClassVar[Sequence[Float[np.ndarray, " _"]]] = (FIRST_SHARES, OTHER_SHARES)  # a pass for each

    @cached_property
    def unused(self) -> Unused:
        """`gaussian_softmax.weights_of_unused` of all items, sought from that of the sample."""
        of_sample, times = self.sample.unused.weights, self.n_items / self.sample.evidence.n_items
        log_variance = -np.log1p(times * np.expm1(-np.minimum(of_sample.log_variance, 0.0)))
        start = np.stack([of_sample.mean, log_variance])
        weights, bound = gaussian_softmax.best_unused(start, partial(self.items.total, unused_sums))
        return Unused(weights, None, bound)

    def with_unused(self, state: MCVCState, empty: Some) -> MCVCState:
        """See `mcvc.Items.with_unused`."""
        eta, weights = state.eta, self.unused.weights
        parts = eta.parts.map(reset, empty, weights)
        eta.parts.forget()
        sums = eta.sums.with_columns(empty, parts.total(sum_eta, empty))
        logs = eta.logs.with_columns(empty, self.items.total(log_sums, weights))
        return replace(state, eta=EtaInParts(parts, sums, logs))

    def update_weights(self, state: MCVCState, swept: Some) -> MCVCState:
        """See `mcvc.Items.update_weights`."""
        eta = state.eta
        weights, logs = gaussian_softmax.climb(
            state.weights.of_problems(swept),
            eta.sums.drawn[..., swept],
            eta.logs.of_columns(swept),
            partial(self.items.total, log_sums),
            self.curvature,
            n_steps=WEIGHT_STEPS,
        )
        eta = replace(eta, logs=eta.logs.with_columns(swept, logs))
        return replace(state, weights=state.weights.with_problems(swept, weights), eta=eta)

    def direction(self, state: MCVCState, swept: Some, *, same: np.ndarray, apart: np.ndarray) -> DirectionInParts:
        """See `mcvc.Items.direction`."""
        eta, weights = state.eta, state.weights.of_problems(swept)
        messages = Messages.of(self.evidence, eta.sums.groups[:, :, swept], same, apart)
        found = eta.parts.total(direction_sums, swept, weights, messages, FIRST_SHARES)
        push = Messages.of(self.evidence, found.groups, same, apart).of_groups
        return DirectionInParts(eta, swept, weights, messages, found, push)

    def agreement(self, state: MCVCState) -> AgreementOfRestarts:
        """See `mcvc.Items.agreement`."""
        sums, shape = state.eta.sums, state.phi.shape
        judged, same = self.evidence.agreement_of_sums(sums.groups, sums.squares)
        return judged.reshape(shape), same.reshape(shape)


@dataclass(frozen=True)
class DirectionInParts(Direction):
    """Where η of the columns `swept` is to move: `mcvc.Direction`.

    weights, messages : of these columns.
    found : sums over the parts.
    push : what the direction tells the groups.
    """

    eta: EtaInParts
    swept: Some
    weights: Weights
    messages: Messages
    found: Directions
    push: OfGroups

    @property
    def slope(self) -> Columns:
        """See `mcvc.Direction`."""
        return self.found.slope

    @property
    def curve(self) -> Columns:
        """See `mcvc.Direction`."""
        return ((self.push * self.found.groups).sum((0, 1)) - self.found.own) / 2

    @property
    def entropy(self) -> Columns:
        """See `mcvc.Direction`."""
        return self.eta.sums.entropy[self.swept]

    def entropy_after(self, some: Some, shares: Float[np.ndarray, " shares"]) -> Float[np.ndarray, "shares some"]:
        """See `mcvc.Direction.entropy_after`; that after the first shares is known."""
        if shares is FIRST_SHARES:
            return self.found.entropy[:, some]
        asked = self.swept[some], self.weights.of_problems(some), self.messages.of_columns(some), shares
        found: Directions = self.eta.parts.total(direction_sums, *asked)
        return found.entropy

    def moved(self, state: MCVCState, way: Columns) -> MCVCState:
        """See `mcvc.Direction.moved`."""
        parts = self.eta.parts.map(move_eta, self.swept, self.weights, self.messages, way)
        self.eta.parts.forget()
        sums = self.eta.sums.with_columns(self.swept, parts.total(sum_eta, self.swept))
        of_views = state.of_views.copy()
        of_views[self.swept] = clusters_bounds(state.weights, sums, self.eta.logs)[self.swept]
        return replace(state, eta=EtaInParts(parts, sums, self.eta.logs), of_views=of_views)


def clusters_bounds(weights: Weights, sums: Sums, logs: LogSums) -> Columns:
    """Contribution of the clusters and weights of each view to the bound."""
    return gaussian_softmax.bound_of_sums(sums.drawn, weights, logs.log_sum) + sums.entropy
