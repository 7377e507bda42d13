"""Multiple clustering views from multiple uncertain experts: each annotator judges pairs by one of several clusterings.

Chang, Chen, Cho, Castaldi, Silverman & Dy (2017), Multiple Clustering Views from Multiple Uncertain Experts, ICML
(MCVC); with one view, Chang et al. (2017), Clustering from Multiple Uncertain Experts, AISTATS (MECC).

Model
-----
    ν_g ~ Beta(1, γ),  v_g = ν_g Π_{l<g} (1 − ν_l)     g = 1 … G; the last stick takes the rest
    c_m ~ Categorical(v)                              the view by which annotator m judges
    w_lk^g ~ N(0, 1)                                  weights of cluster k in view g, with an intercept
    z_i^g ~ softmax(x_i·w_1^g, …, x_i·w_K^g)          cluster of item i in view g
    α_m, β_m ~ Beta(10, 1)                            sensitivity and specificity
    S_ij^m = 1 with probability α_m if z_i = z_j in view c_m, else with probability 1 − β_m

Symbols
-------
    paper     here             shape
    η         eta              (items, clusters, columns)     q(z_i^g = k); a column is a view of a restart
    W, b      weights          (features + 1, clusters, columns)   Gaussian
    φ         phi              (annotators, restarts, views)  q(c_m = g)
    α, β      right            (2, annotators, restarts, 2)   Beta: of α, then of β
    ν         sticks           (restarts, views − 1, 2)       Beta
    a_ij^g    Σ_k η_ik η_jk
    w_ij^m    pair weights     E ln(α / (1 − β)) if S = 1, else E ln((1 − α) / β)

Updates
-------
    q(α_m) = Beta(10 + Σ A S, 1 + Σ A (1 − S)),  q(β_m) = Beta(10 + Σ (1−A)(1−S), 1 + Σ (1−A) S),  A = Σ_g φ_mg a^g
    ln φ_mg = E ln v_g + Σ w_ij^m a_ij^g + const
    q(ν_g)  = Beta(1 + Σ_m φ_mg, γ + Σ_m Σ_{l>g} φ_ml)
    ln η_ik = x_i·E w_k + Σ_m φ_mg Σ_j w_ij^m η_jk + const
    q(W)    raises a bound on the expected log-softmax (`inference.gaussian_softmax`)

Decided here
------------
All items move at once: each takes the largest share of its update, of 1, 1/2, 1/4 …, at which the bound does not fall;
the direction is one of ascent, so some share always works. Restarts run in parallel as columns: `mcvc_search` starts
them, and improves the best. A view that no annotator follows is no longer swept; it is set to a
state that is good for an unused view, unless its own is better. Without features the first η are random, else they are
those of the first weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float, Int
from scipy.special import entr, softmax

from consilience.inference import gaussian_softmax
from consilience.inference.exponential_family import expected_log_dirichlet, kl_dirichlet
from consilience.inference.gaussian_softmax import Design, Weights
from consilience.inference.pair_evidence import PairEvidence

FIRST_DEVIATION = 0.001  # of the weights
WEIGHT_STEPS = 3  # per sweep
SHARES = 0.5 ** np.arange(12)  # of the update of η
FOLLOWED = 1e-8  # expected number of annotators above which a view is swept

Eta = Float[np.ndarray, "items clusters columns"]
Columns = Float[np.ndarray, " columns"]
PerView = Float[np.ndarray, "annotators restarts views"]
AgreementOfRestarts = tuple[PerView, PerView]  # judged, same: see `pair_evidence.PairAgreement`


@dataclass(frozen=True)
class MCVCPrior:
    """stick : γ. right, wrong : of the Betas of sensitivity and specificity."""

    stick: float = 1.0
    right: float = 10.0
    wrong: float = 1.0

    @property
    def of_sticks(self) -> np.ndarray:
        """Parameters of p(ν)."""
        return np.array([1.0, self.stick])

    @property
    def of_right(self) -> np.ndarray:
        """Parameters of p(α) and p(β)."""
        return np.array([self.right, self.wrong])


class Unused(NamedTuple):
    """A view that no annotator follows, and its contribution to the bound: one column.

    eta : None if η stays where the items are.
    """

    weights: Weights
    eta: Eta | None
    bound: float


class Direction(ABC):
    """Where η of some columns is to move, and what the bound gains there."""

    @property
    @abstractmethod
    def slope(self) -> Columns:
        """Of the bound but for the entropy, as a function of the share of the way."""

    @property
    @abstractmethod
    def curve(self) -> Columns:
        """Likewise."""

    @property
    @abstractmethod
    def entropy(self) -> Columns:
        """Entropy of η now."""

    @abstractmethod
    def entropy_after(
        self, some: Int[np.ndarray, " some"], shares: Float[np.ndarray, " shares"]
    ) -> Float[np.ndarray, "shares some"]:
        """Entropy of η of some of the columns after each of some shares of the way."""

    @abstractmethod
    def moved(self, state: MCVCState, way: Columns) -> MCVCState:
        """Move each column by a share of the way."""


class MCVCItems(ABC):
    """What the sweeps need of the items, wherever they are, and of the annotators."""

    evidence: PairEvidence
    prior: MCVCPrior
    batches: ClassVar[Sequence[Float[np.ndarray, " _"]]]
    """Shares of an update of η that are tried at once."""

    @property
    @abstractmethod
    def unused(self) -> Unused:
        """Weights and η of a view that no annotator follows, and its contribution to the bound: one column."""

    @abstractmethod
    def with_unused(self, state: MCVCState, empty: Int[np.ndarray, " empty"]) -> MCVCState:
        """Return the state with `unused` in place of η of some columns; its weights are set already."""

    @abstractmethod
    def update_weights(self, state: MCVCState, swept: Int[np.ndarray, " swept"]) -> MCVCState:
        """Raise the bound by q(W) of some columns: `gaussian_softmax.climb`."""

    @abstractmethod
    def direction(
        self, state: MCVCState, swept: Int[np.ndarray, " swept"], *, same: np.ndarray, apart: np.ndarray
    ) -> Direction:
        """Return where η of some columns is to move, under weights of judgements, (annotators, columns)."""

    @abstractmethod
    def agreement(self, state: MCVCState) -> AgreementOfRestarts:
        """Expected number of judged pairs within clusters, and of those judged "same"."""


@dataclass(frozen=True)
class MCVCProblem(MCVCItems):
    """Features with an intercept, judgements of pairs, priors; all items are in memory."""

    design: Design
    evidence: PairEvidence
    prior: MCVCPrior
    n_clusters: int

    batches: ClassVar = np.split(SHARES, len(SHARES))  # one after another: each costs as much as those before

    @classmethod
    def of(
        cls, features: Float[np.ndarray, "items features"], evidence: PairEvidence, prior: MCVCPrior, n_clusters: int
    ) -> MCVCProblem:
        """Combine features, judgements and priors."""
        return cls(Design.of(features), evidence, prior, n_clusters)

    @cached_property
    def unused(self) -> Unused:
        """Weights and η of a view that no annotator follows, and its contribution to the bound: one column."""
        weights, eta = gaussian_softmax.weights_of_unused(self.design, self.n_clusters)
        return Unused(weights, eta, float(clusters_bounds(self, weights, eta)[0]))

    def with_unused(self, state: MCVCState, empty: Int[np.ndarray, " empty"]) -> MCVCState:
        """See `Items.with_unused`."""
        eta = state.eta.copy()
        eta[:, :, empty] = self.unused.eta
        return replace(state, eta=eta)

    def update_weights(self, state: MCVCState, swept: Int[np.ndarray, " swept"]) -> MCVCState:
        """See `Items.update_weights`."""
        before = state.weights.of_problems(swept)
        own = gaussian_softmax.step(self.design, before, state.eta[:, :, swept], n_steps=WEIGHT_STEPS)
        return replace(state, weights=state.weights.with_problems(swept, own))

    def direction(
        self, state: MCVCState, swept: Int[np.ndarray, " swept"], *, same: np.ndarray, apart: np.ndarray
    ) -> DirectionInMemory:
        """See `Items.direction`."""
        eta = state.eta[:, :, swept]
        weights = state.weights.of_problems(swept)
        field = gaussian_softmax.scores(self.design, weights)
        field += self.evidence.messages(eta, same=same, apart=apart)
        direction = softmax(field, axis=1) - eta
        push = self.evidence.messages(direction, same=same, apart=apart)
        return DirectionInMemory(self, swept, weights, eta, field, direction, push)

    def agreement(self, state: MCVCState) -> AgreementOfRestarts:
        """See `Items.agreement`."""
        judged, same = self.evidence.agreement(state.eta)
        return judged.reshape(state.phi.shape), same.reshape(state.phi.shape)


@dataclass(frozen=True)
class DirectionInMemory(Direction):
    """See `Direction`; `weights` and `eta` are those of the columns `swept`.

    field, push : what is told of η, and of its direction.
    """

    # arrays that were let go before the step is over would go back to the system: a step then took 40 % longer

    problem: MCVCProblem
    swept: Int[np.ndarray, " swept"]
    weights: Weights
    eta: Eta
    field: Eta
    direction: Eta
    push: Eta

    @property
    def slope(self) -> Columns:
        """See `Direction`."""
        return np.asarray((self.field * self.direction).sum((0, 1)))

    @property
    def curve(self) -> Columns:
        """See `Direction`."""
        return np.asarray((self.push * self.direction).sum((0, 1)) / 2)

    @property
    def entropy(self) -> Columns:
        """See `Direction`."""
        return np.asarray(entr(self.eta).sum((0, 1)))

    def entropy_after(
        self, some: Int[np.ndarray, " some"], shares: Float[np.ndarray, " shares"]
    ) -> Float[np.ndarray, "shares some"]:
        """See `Direction.entropy_after`."""
        eta, direction = self.eta[:, :, some], self.direction[:, :, some]
        return np.stack([entr(eta + share * direction).sum((0, 1)) for share in shares])

    def moved(self, state: MCVCState, way: Columns) -> MCVCState:
        """See `Direction.moved`."""
        moved, of_views = state.eta.copy(), state.of_views.copy()
        moved[:, :, self.swept] = self.eta + way * self.direction
        of_views[self.swept] = clusters_bounds(self.problem, self.weights, moved[:, :, self.swept])
        return replace(state, eta=moved, of_views=of_views)


class EtaElsewhere:
    """Base of what stands for η in a state if items are not in memory."""


if TYPE_CHECKING:  # a state in memory has an array, which all that searches for starts reads
    AnyEta: TypeAlias = Any
else:
    AnyEta = Eta | EtaElsewhere


@dataclass(frozen=True)
class MCVCState:
    """q of several restarts; the contribution of each view's clusters to the bound; the bound of each restart."""

    eta: AnyEta
    weights: Weights
    phi: PerView
    right: Float[np.ndarray, "2 annotators restarts 2"]
    sticks: Float[np.ndarray, "restarts sticks 2"]
    of_views: Columns
    bounds: Float[np.ndarray, " restarts"]

    def of_restarts(self, some: Int[np.ndarray, " some"]) -> MCVCState:
        """Return the state of some restarts."""
        n_views = self.phi.shape[2]
        columns = (some[:, None] * n_views + np.arange(n_views)).ravel()
        return MCVCState(
            self.eta[:, :, columns],
            self.weights.of_problems(columns),
            self.phi[:, some],
            self.right[:, :, some],
            self.sticks[some],
            self.of_views[columns],
            self.bounds[some],
        )


def init(problem: MCVCProblem, n_views: int, n_restarts: int, *, rng: np.random.Generator) -> MCVCState:
    """Start with α, β at their priors, small weights and random views of annotators."""
    n_items, n_columns = problem.design.x.shape
    shape = (n_columns, problem.n_clusters, n_restarts * n_views)
    # scores of standardised features then vary by about 1
    mean = rng.normal(size=shape) / np.sqrt(max(n_columns - 1, 1))
    weights = Weights(mean, np.full(shape, 2 * np.log(FIRST_DEVIATION)))
    scores = gaussian_softmax.scores(problem.design, weights)
    if n_columns == 1:  # the intercept alone tells no items apart
        scores = rng.normal(size=(n_items, *shape[1:]))
    n_annotators, prior = problem.evidence.n_annotators, problem.prior
    return MCVCState(
        eta=softmax(scores, axis=1),
        weights=weights,
        phi=rng.dirichlet(np.ones(n_views), size=(n_annotators, n_restarts)),
        right=np.tile(prior.of_right, (2, n_annotators, n_restarts, 1)),
        sticks=np.tile(prior.of_sticks, (n_restarts, n_views - 1, 1)),
        of_views=np.full(shape[2], -np.inf),
        bounds=np.full(n_restarts, -np.inf),
    )


def step(items: MCVCItems, state: MCVCState) -> MCVCState:
    """One sweep: weights, clusters, annotators."""
    followed = state.phi.sum(0).ravel() > FOLLOWED
    state = reset_unused(items, state, np.flatnonzero(~followed))
    swept = np.flatnonzero(followed)
    state = items.update_weights(state, swept)
    state = update_clusters(items, state, swept)
    agreement = items.agreement(state)
    state = update_annotators(items, state, agreement)
    return replace(state, bounds=lower_bounds(items, state, agreement))


def reset_unused(items: MCVCItems, state: MCVCState, empty: Int[np.ndarray, " empty"]) -> MCVCState:
    """Set views that no annotator follows to a good state for unused views, unless their own is better."""
    if not len(empty):
        return state
    weights, _, bound = items.unused
    empty = empty[state.of_views[empty] < bound]
    if not len(empty):
        return state
    of_views = state.of_views.copy()
    of_views[empty] = bound
    state = replace(state, weights=state.weights.with_problems(empty, weights), of_views=of_views)
    return items.with_unused(state, empty)


def update_clusters(items: MCVCItems, state: MCVCState, swept: Int[np.ndarray, " swept"]) -> MCVCState:
    """q(Z) of the views that are swept, with the largest share of the update at which the bound does not fall."""
    phi = state.phi.reshape(len(state.phi), -1)[:, swept]
    restart = swept // state.phi.shape[2]
    same, apart = (phi * weight[:, restart] for weight in pair_weights(state))
    direction = items.direction(state, swept, same=same, apart=apart)
    return direction.moved(state, largest_share(direction, items.batches))


def update_annotators(items: MCVCItems, state: MCVCState, agreement: AgreementOfRestarts) -> MCVCState:
    """q(c), q(ν), q(α), q(β)."""
    judged, same = agreement
    of_same, of_apart = pair_weights(state)
    score = expected_log_sticks(state.sticks) + of_same[:, :, None] * same + of_apart[:, :, None] * (judged - same)
    phi = softmax(score, axis=2)
    followers = phi.sum(0)
    later = followers[:, ::-1].cumsum(1)[:, ::-1] - followers
    sticks = np.stack([followers[:, :-1], later[:, :-1]], axis=-1) + items.prior.of_sticks
    right = items.prior.of_right + count_right_and_wrong(items, phi, agreement)
    return replace(state, phi=phi, sticks=sticks, right=right)


def lower_bounds(items: MCVCItems, state: MCVCState, agreement: AgreementOfRestarts) -> Float[np.ndarray, " restarts"]:
    """Bound on ln p(S | X) of each restart, nats."""
    prior, shape = items.prior, state.phi.shape[1:]
    counts = count_right_and_wrong(items, state.phi, agreement)
    of_right = np.broadcast_to(prior.of_right, state.right.shape)
    judgements = (counts * expected_log_dirichlet(state.right)).sum(-1) - kl_dirichlet(state.right, of_right)
    choice = (state.phi * expected_log_sticks(state.sticks)).sum((0, 2)) + entr(state.phi).sum((0, 2))
    sticks = kl_dirichlet(state.sticks, np.broadcast_to(prior.of_sticks, state.sticks.shape)).sum(1)
    return np.asarray(judgements.sum((0, 1)) + choice - sticks + state.of_views.reshape(shape).sum(1))


def clusters_bounds(problem: MCVCProblem, weights: Weights, eta: Eta) -> Columns:
    """Contribution of the clusters and weights of each view to the bound."""
    return gaussian_softmax.bound(problem.design, weights, eta) + np.asarray(entr(eta).sum((0, 1)))


def pair_weights(state: MCVCState) -> tuple[np.ndarray, np.ndarray]:
    """w_ij^m of a judgement "same", and of one "apart": (annotators, restarts)."""
    (alpha, not_alpha), (beta, not_beta) = np.moveaxis(expected_log_dirichlet(state.right), -1, 1)
    return alpha - not_beta, not_alpha - beta


def expected_log_sticks(sticks: Float[np.ndarray, "restarts sticks 2"]) -> Float[np.ndarray, "restarts views"]:
    """E ln v_g."""
    # the last stick is all that is left, and ln 1 = 0
    logs = np.pad(expected_log_dirichlet(sticks), ((0, 0), (0, 1), (0, 0)))
    return np.asarray(logs[:, :, 0] + logs[:, :, 1].cumsum(1) - logs[:, :, 1])


def count_right_and_wrong(items: MCVCItems, phi: np.ndarray, agreement: AgreementOfRestarts) -> np.ndarray:
    """Expected number of right and wrong judgements: of pairs within clusters, then of others."""
    judged, same = agreement
    n_same, n_apart = items.evidence.n_same[:, None], (items.evidence.n_pairs - items.evidence.n_same)[:, None]
    within_same, within_apart = (phi * same).sum(2), (phi * (judged - same)).sum(2)
    within = np.stack([within_same, within_apart], axis=-1)
    across = np.stack([n_apart - within_apart, n_same - within_same], axis=-1)
    return np.maximum(np.stack([within, across]), 0.0)  # rounding can make them negative


def largest_share(direction: Direction, batches: Sequence[Float[np.ndarray, " _"]]) -> Columns:
    """Largest share of the way at which the bound does not fall; 0 where rounding lets it fall at all of them."""
    slope, curve, entropy = direction.slope, direction.curve, direction.entropy
    way, open_ = np.zeros(len(slope)), np.arange(len(slope))
    for shares in batches:
        if not len(open_):
            break
        there, share = direction.entropy_after(open_, shares), shares[:, None]
        rises = share * slope[open_] + share**2 * curve[open_] + there - entropy[open_] >= 0
        found = rises.any(0)
        way[open_[found]] = shares[rises[:, found].argmax(0)]
        open_ = open_[~found]
    return way
