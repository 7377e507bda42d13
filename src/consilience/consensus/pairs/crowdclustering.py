"""Crowdclustering: items as points, annotators as classifiers of pairs of points, clusters as a mixture of the points.

Gomes, Welinder, Krause & Perona (2011), Crowdclustering, NIPS 24. The bound of the logistic function is that of
Jaakkola & Jordan (2000), Bayesian parameter estimation via variational methods, Statistics and Computing 10.

Model
-----
    v_k ~ Beta(1, γ),  π_k = v_k Π_{l<k} (1 − v_l)     k = 1 … K; the last stick takes the rest
    Λ_k ~ Wishart(ν₀, S₀⁻¹),  μ_k ~ N(0, (β₀ Λ_k)⁻¹)
    z_i ~ Categorical(π)                               cluster of item i
    x_i ~ N(μ_k, Λ_k⁻¹), k = z_i                       its point; N(0, 5 I) in the first of two stages
    W_j ~ N(0, 10), entries of the upper triangle      weights of the dimensions for annotator j; symmetric
    τ_j ~ N(0, 1)                                      bias of j towards "same"
    l_t ∈ {−1, 1}, p(l_t = 1) = σ(A_t)                 judgement t, of items a and b by annotator j
    A_t = x_aᵀ W_j x_b + τ_j

Symbols
-------
    paper     here             shape
    x_i       points           (items, moments)        E[y yᵀ], y = (x_i, 1), upper triangle: second moments, means, 1
    W_j, τ_j  mean, covariance (annotators, weights)   q is one Gaussian of both: upper triangle of W, then τ
    Δ_t       delta            (judgements)
    λ(Δ)      slopes           (½ − σ(Δ)) / 2Δ
    q(z_i)    share            (items, clusters)
    v_k       sticks           (clusters − 1, 2)       Beta
    μ_k, Λ_k  centre, strength, freedom, scatter       Normal-Wishart: m_k, β_k, ν_k, S_k

Updates
-------
In the moments u of the points everything is linear: A_t² has the expectation u_aᵀ M_j u_b, M_j linear in E[w wᵀ], and
E ln N(x_i; μ_k, Λ_k⁻¹) = c_k·u_i. The bound of a judgement is

    ln σ(l A) ≥ ln σ(Δ) + (l A − Δ) / 2 + λ(Δ) (A² − Δ²)

    q(x_i)      coefficients of u_i: Σ_k q(z_i = k) c_k + Σ_t λ_t M_j u_b + l_t / 2 · E[A_t] as a function of x_i
    q(W_j, τ_j) precision: prior's − 2 Σ_t λ_t E[φ φᵀ]; its product with the mean: Σ_t l_t / 2 · E φ;  A_t = w·φ_t
    q(z_i = k)  ∝ exp(E ln π_k + c_k·u_i);  q(v), q(μ_k, Λ_k) as in `point_mixture`
    Δ_t² = E A_t²

Decided here
------------
q(W_j, τ_j) and q(x_i) are Gaussians with full covariances, W and τ jointly: the bound is tighter than the paper's, and
no step costs more. Items move in batches. The items of a batch move towards their updates at once, by the share of the
step at which the bound is highest (all of it if no two of them were judged; if some were, mixtures of moments are
moments, and the bound along the step is a quadratic plus entropies). γ = 1, ν₀ = D + 2; S₀ and β₀ are such that the
clusters have variance 1/2 and all points together the 5 of the first stage.

After the mixture, points are scaled up and W down, in closed form, so that no judgement changes and the bound is
highest. Without this the scale drifts for hundreds of sweeps.

Each start has stages. First the points alone. They start around the axes of largest agreement of the judgements
(`agree`): each annotator counts with the sign and weight that fit the axes, so that one who gives the opposite
judgements does no harm. Then the mixture alone, over the posterior means, from k-means with each number of clusters.
The best three are fitted to the judgements for a few sweeps, and the best of these continues: points and clusters
together. With `two_stage` the best mixture of the posterior means is the result.

An item without judgements does not enter the sums; its moments are `prior_points`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import log_expit

from consilience.annotations import Pairs
from consilience.consensus.pairs import point_mixture
from consilience.consensus.pairs.point_mixture import PointLayout, PointMixture, PointMixturePrior, Points
from consilience.inference import Trace, iterate

N_BATCHES = 4  # of items that move at once
SHAKE = 0.5  # standard deviation of the first points around the axes, which have standard deviation 1
TURNS = 50  # iterations of the axes
SHARES = np.array([1.0, 0.75, 0.5, 0.25, 0.1, 0.01, 0.0])  # of a batch's step; at 0 its points stay
LOOSE_TOL = 3e-5  # of the points alone, before the mixture is added
TRIED = 3  # mixtures that are fitted to the judgements
TRIAL_SWEEPS = 10  # sweeps after which the best of them is kept

PerJudgement = Float[np.ndarray, " judgements"]


@dataclass(frozen=True)
class CrowdclusteringProblem:
    """Judgements, and the links between items that they make.

    A cell is an item in the judgements of an annotator; cells are sorted by item. Each judgement is two links, from
    either item to the cell of the other. Links are sorted by item.

    sign : l_t. batches : slices of items. cell_of_a, cell_of_b : of each judgement.
    link_starts, cell_starts : where those of each item begin; link_cell, link_judgement : of each link.
    """

    layout: PointLayout
    prior: PointMixturePrior
    n_items: int
    n_annotators: int
    item_a: Int[np.ndarray, " judgements"]
    annotator: Int[np.ndarray, " judgements"]
    sign: PerJudgement
    cell_of_b: Int[np.ndarray, " judgements"]
    cell_item: Int[np.ndarray, " cells"]
    cell_annotator: Int[np.ndarray, " cells"]
    cell_starts: Int[np.ndarray, " starts"]
    link_cell: Int[np.ndarray, " links"]
    link_judgement: Int[np.ndarray, " links"]
    link_starts: Int[np.ndarray, " starts"]

    @classmethod
    def of(
        cls, pairs: Pairs, *, n_components: int = 4, prior: PointMixturePrior | None = None
    ) -> CrowdclusteringProblem:
        """Prepare judgements; the items of a batch are contiguous."""
        here = np.concatenate([pairs.item_a, pairs.item_b])
        keys = here * pairs.n_annotators + np.tile(pairs.annotator, 2)
        cells, cell = np.unique(keys, return_inverse=True)
        cell_of_a, cell_of_b = cell.reshape(2, -1)
        cell_item, cell_annotator = np.divmod(cells, pairs.n_annotators)
        order = np.argsort(here, kind="stable")
        edges = np.arange(pairs.n_items + 1)
        return cls(
            layout=PointLayout.of(n_components),
            prior=prior or PointMixturePrior(),
            n_items=pairs.n_items,
            n_annotators=pairs.n_annotators,
            item_a=pairs.item_a,
            annotator=pairs.annotator,
            sign=np.where(pairs.same, 1.0, -1.0),
            cell_of_b=cell_of_b,
            cell_item=cell_item,
            cell_annotator=cell_annotator,
            cell_starts=np.searchsorted(cell_item, edges),
            link_cell=np.concatenate([cell_of_b, cell_of_a])[order],
            link_judgement=np.tile(np.arange(pairs.n_rows), 2)[order],
            link_starts=np.searchsorted(here[order], edges),
        )

    @property
    def batches(self) -> list[slice]:
        """Slices of items that move at once."""
        edges = np.linspace(0, self.n_items, min(N_BATCHES, self.n_items) + 1).astype(int)
        return [slice(start, stop) for start, stop in pairwise(edges.tolist())]

    def links(self, items: slice, *weights: PerJudgement) -> csr_array:
        """(items, cells) sparse, weighted by judgement; matrices of several weights are stacked."""
        starts = self.link_starts[items.start : items.stop + 1]
        own, n_links = slice(starts[0], starts[-1]), starts[-1] - starts[0]
        judgement, cell = self.link_judgement[own], np.tile(self.link_cell[own], len(weights))
        rows = [starts[:-1] - starts[0] + place * n_links for place in range(len(weights))]
        shape = (len(weights) * (items.stop - items.start), len(self.cell_item))
        data = np.concatenate([weight[judgement] for weight in weights])
        return csr_array((data, cell, np.concatenate([*rows, [len(cell)]])), shape=shape)

    def cells(self, items: slice) -> slice:
        return slice(int(self.cell_starts[items.start]), int(self.cell_starts[items.stop]))

    @property
    def everything(self) -> slice:
        """All cells."""
        return slice(0, len(self.cell_item))

    def in_blocks(self, values: np.ndarray, cells: slice) -> csr_array:
        """(cells, annotators · width) sparse: values of the item of each cell, in the columns of its annotator."""
        n_cells, width = cells.stop - cells.start, values.shape[1]
        columns = self.cell_annotator[cells, None] * width + np.arange(width)
        data = values[self.cell_item[cells]].ravel()
        shape = (n_cells, self.n_annotators * width)
        return csr_array((data, columns.ravel(), np.arange(n_cells + 1) * width), shape=shape)


@dataclass(frozen=True)
class CrowdclusteringState:
    """q of all variables; without a mixture the points have the prior of the first stage."""

    points: Points
    mean: Float[np.ndarray, "annotators weights"]
    covariance: Float[np.ndarray, "annotators weights weights"]
    delta: PerJudgement
    mixture: PointMixture | None = None
    bound: float = -np.inf


def init(problem: CrowdclusteringProblem, *, rng: np.random.Generator) -> CrowdclusteringState:
    """Initialise points and annotators from `Agreed`, with noise on the points; W is a multiple of I."""
    layout, n_items, n_annotators = problem.layout, problem.n_items, problem.n_annotators
    agreed = agree(problem, rng=rng)
    places = SHAKE * rng.normal(size=(n_items, layout.n_components))
    places[:, : agreed.axes.shape[1]] += np.sqrt(n_items) * agreed.axes
    weight = agreed.weight / np.abs(agreed.weight).max() if agreed.weight.any() else np.ones(n_annotators)
    identity = np.append((layout.row == layout.column).astype(float), 0.0)
    return CrowdclusteringState(
        points=layout.points(places, np.tile(0.1 * np.eye(layout.n_components), (n_items, 1, 1))),
        mean=weight[:, None] * identity,
        covariance=np.tile(0.1 * np.eye(len(identity)), (n_annotators, 1, 1)),
        delta=np.ones(len(problem.sign)),
    )


@dataclass(frozen=True)
class Agreed:
    """Axes of largest agreement, and the weight of each annotator, negative for those who judge the opposite."""

    axes: Float[np.ndarray, "items axes"]
    weight: Float[np.ndarray, " annotators"]
    objective: float = -np.inf


def agree(problem: CrowdclusteringProblem, *, rng: np.random.Generator) -> Agreed:
    """Maximise Σ_j n_j ω_j² over axes X, ω_j = tr Xᵀ L_j X / n_j, L_j the judgements of j less their mean."""
    n_each = np.bincount(problem.annotator, minlength=problem.n_annotators)
    mean = np.bincount(problem.annotator, problem.sign, problem.n_annotators) / np.maximum(n_each, 1)
    links = problem.links(slice(0, problem.n_items), problem.sign - mean[problem.annotator])

    def turned(agreed: Agreed) -> Agreed:
        weighted = agreed.weight[problem.cell_annotator, None] * agreed.axes[problem.cell_item]
        axes, _ = np.linalg.qr(links @ weighted)
        of_cells = (np.asarray(links.T @ axes) * axes[problem.cell_item]).sum(1) / 2
        weight = np.bincount(problem.cell_annotator, of_cells, problem.n_annotators) / np.maximum(n_each, 1)
        return Agreed(axes, weight, float((n_each * weight**2).sum()))

    n_axes = min(problem.layout.n_components, problem.n_items)
    first = Agreed(rng.normal(size=(problem.n_items, n_axes)), np.ones(problem.n_annotators))
    return iterate(first, turned, attrgetter("objective"), max_iter=TURNS, tol=1e-4).state


def step(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> CrowdclusteringState:
    """One sweep: annotators, points, clusters, the bound of the logistic function."""
    state = update_points(problem, update_annotators(problem, state))
    if state.mixture is not None:
        mixture = point_mixture.update_mixture(problem.layout, problem.prior, state.points, state.mixture)
        state = replace(state, mixture=mixture)
        state = update_scale(problem, state)
    return update_delta(problem, state)


def update_points(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> CrowdclusteringState:
    """q(x), batch by batch."""
    layout = problem.layout
    tables = _tables(problem, state)
    points = state.points.copy()  # batches are written into it
    prior = _coefficients_of_items(problem, state)
    slope, half = slopes(state.delta), problem.sign / 2
    sent = _messages_of(problem, points, tables, problem.everything)
    for items in problem.batches:
        cells, links = problem.cells(items), problem.links(items, slope, half)
        pull = prior[items] + _receive(layout, links @ sent)
        way = np.zeros_like(points)
        way[items] = layout.maximum(pull) - points[items]
        sent_on_way = _messages_of(problem, way, tables, cells)
        push = _receive(layout, links[:, cells] @ sent_on_way)
        share = _best_share(layout, points[items], way[items], pull, push)
        points[items] += share * way[items]
        sent[cells] += share * sent_on_way
    return replace(state, points=points)


def update_annotators(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> CrowdclusteringState:
    """q(W, τ)."""
    layout, n_annotators = problem.layout, problem.n_annotators
    everything, size = slice(0, problem.n_items), layout.n_components + 1
    squares = _sums_of_annotators(problem, state.points, problem.links(everything, slopes(state.delta)))
    linear = _sums_of_annotators(problem, state.points[:, -size:], problem.links(everything, problem.sign / 2))
    variance = np.full(layout.weights.shape[0], problem.prior.weight_variance)
    variance[-1] = problem.prior.bias_variance
    precision = -2 * (squares.reshape(n_annotators, -1) @ layout.square.T).reshape(n_annotators, *2 * variance.shape)
    precision = (precision + precision.swapaxes(1, 2)) / 2 + np.diag(1 / variance)
    covariance = np.linalg.inv(precision)
    covariance = (covariance + covariance.swapaxes(1, 2)) / 2
    field = np.einsum("pde,jde->jp", layout.weights, linear)
    return replace(state, mean=(covariance @ field[:, :, None])[:, :, 0], covariance=covariance)


def update_delta(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> CrowdclusteringState:
    """Δ, and the bound."""
    score, square = judgement_moments(problem, state)
    state = replace(state, delta=np.sqrt(square))
    return replace(state, bound=_bound(problem, state, score, square))


def update_scale(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> CrowdclusteringState:
    """Multiply the points by a factor and divide W by its square, which changes no judgement."""
    mixture, layout, prior = state.mixture, problem.layout, problem.prior
    if mixture is None:
        return state
    d, n_entries = layout.n_components, len(layout.row)
    weights = _squared_weights(state)[:, :-1].sum() / prior.weight_variance
    scatter = prior.within * np.trace(point_mixture.expected_precision(mixture)[0], axis1=1, axis2=2).sum()
    count = 2 * n_entries * problem.n_annotators + (d + 2) * d * len(mixture.centre)
    shrink = 2 * count / (scatter + np.sqrt(scatter**2 + 8 * weights * count))
    of_points = np.concatenate([np.full(n_entries, 1 / shrink), np.full(d, shrink**-0.5), [1.0]])
    of_weights = np.append(np.full(n_entries, shrink), 1.0)
    return replace(
        state,
        points=state.points * of_points,
        mean=state.mean * of_weights,
        covariance=state.covariance * of_weights[:, None] * of_weights,
        mixture=replace(mixture, centre=mixture.centre * shrink**-0.5, scatter=mixture.scatter / shrink),
    )


def lower_bound(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> float:
    """Bound on ln p(judgements), nats."""
    return _bound(problem, state, *judgement_moments(problem, state))


def run(
    problem: CrowdclusteringProblem,
    n_clusters: int,
    seed: int,
    *,
    fewest: int = 1,
    two_stage: bool,
    max_iter: int,
    tol: float,
) -> tuple[Trace[CrowdclusteringState], PointMixture]:
    """Fit from one start; return the trace of the last stage that uses judgements, and the mixture of its points.

    It begins with `fewest` to `n_clusters` clusters.
    """
    rng = np.random.default_rng(seed)
    sweep, bound = partial(step, problem), attrgetter("bound")
    first = iterate(init(problem, rng=rng), sweep, bound, max_iter=max_iter, tol=tol if two_stage else LOOSE_TOL)
    starts = point_mixture.mixtures_of(
        problem.layout, problem.prior, first.state.points, n_clusters, fewest=fewest, rng=rng
    )
    if two_stage:
        return first, starts[0]
    begun = [
        iterate(replace(first.state, mixture=start), sweep, bound, max_iter=min(TRIAL_SWEEPS, max_iter))
        for start in starts[:TRIED]
    ]
    best = max(begun, key=lambda trace: trace.lower_bound)
    last = iterate(best.state, sweep, bound, max_iter=max_iter, tol=tol)
    if last.state.mixture is None:
        raise RuntimeError("The mixture is missing after a step.")
    return last, last.state.mixture


def judgement_moments(
    problem: CrowdclusteringProblem, state: CrowdclusteringState
) -> tuple[PerJudgement, PerJudgement]:
    """E A and E A² of every judgement."""
    n_moments, size = problem.layout.moments.shape[:2]
    sent = _messages_of(problem, state.points, _tables(problem, state), problem.everything)
    there, here = np.split(sent, [n_moments], axis=1), state.points[problem.item_a]
    square = np.einsum("tm,tm->t", here, there[0][problem.cell_of_b])
    return np.einsum("td,td->t", here[:, -size:], there[1][problem.cell_of_b]), square


def scores_of_pairs(
    points_a: Points, points_b: Points, mean: Float[np.ndarray, " weights"], covariance: np.ndarray
) -> tuple[Float[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """E A and E A² of pairs of points, for one annotator."""
    size = int(np.sqrt(2 * points_a.shape[1]))  # moments = size (size + 1) / 2
    layout = PointLayout.of(size - 1)
    square = ((covariance + np.outer(mean, mean)).ravel() @ layout.square).reshape(points_a.shape[1], -1)
    linear = np.tensordot(mean, layout.weights, 1)
    score = np.einsum("td,de,te->t", points_a[:, -size:], linear, points_b[:, -size:])
    return score, np.einsum("tm,mn,tn->t", points_a, square, points_b)


def slopes(delta: PerJudgement) -> PerJudgement:
    """λ(Δ), at most 0."""
    # at 0, λ is 0 / 0; its limit is −1/8
    small = delta < 1e-4
    return np.where(small, -0.125, -np.tanh(delta / 2) / (4 * np.where(small, 1.0, delta)))


def _tables(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> Float[np.ndarray, "annotators2 columns"]:
    """Stack over annotators of M_j next to E of W with τ, the latter in the rows of E[y]."""
    layout, n_annotators = problem.layout, problem.n_annotators
    n_moments, size = layout.moments.shape[:2]
    second = state.covariance + state.mean[:, :, None] * state.mean[:, None, :]
    tables = np.zeros((n_annotators, n_moments, n_moments + size))
    tables[:, :, :n_moments] = (second.reshape(n_annotators, -1) @ layout.square).reshape(-1, n_moments, n_moments)
    tables[:, -size:, n_moments:] = np.tensordot(state.mean, layout.weights, 1)
    return tables.reshape(-1, n_moments + size)


def _messages_of(
    problem: CrowdclusteringProblem, points: Points, tables: np.ndarray, cells: slice
) -> Float[np.ndarray, "cells columns"]:
    """Message of each cell to the other item of a judgement: coefficients of its u in E A², and of its E[y] in E A."""
    return np.asarray(problem.in_blocks(points, cells) @ tables)


def _receive(layout: PointLayout, sums: Float[np.ndarray, "items2 columns"]) -> Points:
    """Coefficients of u, from sums of messages weighted by λ, and stacked below them those weighted by l / 2."""
    n_items, (n_moments, size) = len(sums) // 2, layout.moments.shape[:2]
    received = sums[:n_items, :n_moments].copy()
    received[:, -size:] += sums[n_items:, n_moments:]
    return received


def _bound(
    problem: CrowdclusteringProblem, state: CrowdclusteringState, score: PerJudgement, square: PerJudgement
) -> float:
    delta = state.delta
    judgements = log_expit(delta) + (problem.sign * score - delta) / 2 + slopes(delta) * (square - delta**2)
    points = (_coefficients_of_items(problem, state) * state.points).sum() + problem.layout.entropies(
        state.points
    ).sum()
    bound = judgements.sum() + points - _divergence_of_annotators(problem, state).sum()
    if state.mixture is None:
        return float(bound)
    return float(bound - point_mixture.divergence(problem.layout, problem.prior, state.mixture))


def _best_share(layout: PointLayout, points: Points, way: Points, pull: Points, push: Points) -> float:
    """Return the entry of SHARES at which the bound is highest."""
    slope, curve = float((pull * way).sum()), float((push * way).sum()) / 2
    if not push.any():  # no links within the batch: the whole step is best
        return 1.0
    there = points + SHARES[:, None, None] * way
    entropy = layout.entropies(there.reshape(-1, points.shape[1])).reshape(len(SHARES), -1).sum(1)
    return float(SHARES[np.argmax(SHARES * slope + SHARES**2 * curve + entropy)])


def _sums_of_annotators(problem: CrowdclusteringProblem, values: np.ndarray, links: csr_array) -> np.ndarray:
    """Σ_t weight · v_a v_bᵀ over the judgements of each annotator, symmetric: (annotators, width, width)."""
    width = values.shape[1]
    blocks = problem.in_blocks(values, problem.everything)
    sums = np.asarray(blocks.T @ (links.T @ values)).reshape(-1, width, width)
    return (sums + sums.swapaxes(1, 2)) / 4  # each judgement is two links


def _coefficients_of_items(problem: CrowdclusteringProblem, state: CrowdclusteringState) -> Points:
    """Coefficients of the moments of each item in the expected log density of the points."""
    layout, variance = problem.layout, problem.prior.item_variance
    if state.mixture is not None:
        return state.mixture.share @ point_mixture.cluster_coefficients(layout, state.mixture)
    d = layout.n_components
    constant = np.full(1, -d * np.log(2 * np.pi * variance) / 2)
    alone = layout.coefficients(np.eye(d)[None] / variance, np.zeros((1, d)), constant)
    return np.repeat(alone, problem.n_items, axis=0)


def _divergence_of_annotators(
    problem: CrowdclusteringProblem, state: CrowdclusteringState
) -> Float[np.ndarray, " annotators"]:
    """KL(q(W, τ) ‖ p)."""
    variance = np.full(state.mean.shape[1], problem.prior.weight_variance)
    variance[-1] = problem.prior.bias_variance
    spread = _squared_weights(state)
    _, log_determinant = np.linalg.slogdet(state.covariance)
    return ((spread / variance + np.log(variance) - 1).sum(1) - log_determinant) / 2


def _squared_weights(state: CrowdclusteringState) -> Float[np.ndarray, "annotators weights"]:
    """E of the squares of the entries of W, and of τ²."""
    return state.mean**2 + np.diagonal(state.covariance, axis1=1, axis2=2)
