"""Crowdclustering with partition labels: a linear model of the clusters, and what each annotator's labels mean.

Chen, Chang, Castaldi, Cho, Hobbs & Dy (2018), Crowdclustering with Partition Labels, AISTATS, PMLR 84.

Model
-----
    w_k        ~ N(0, σ² I)                                     weights of cluster k, k = 1 … K
    z_n        ~ Categorical(π_n), π_nk ∝ exp(w_k·φ_n + λ ‖w_k‖²)       cluster of item n; (1), (2)
    t_k^m      ~ Uniform{1 … J_m}                               the label of grouping m that cluster k goes by; (5)
    η^{mj}     ~ Dirichlet(Ψ^{mj}), Ψ_l^{mj} = α if l = j else β        what is said where label j is due; (9), (10)
    y_n^m | z_n = k, t_k^m = j  ~ Categorical(η^{mj})           the label given; (8)

The term λ ‖w_k‖² makes the rich richer: of K clusters only some keep items.

Symbols
-------
    paper   here            shape
    Φ       design          (items, columns)      features and 1, or coordinates in their row space; then 1 for λ ‖w_k‖²
    Y       labels          (items, groups)       sparse 0/1; the groups of all groupings side by side
    W       weights         (features, clusters)
    ρ       posteriors      (items, clusters)     q(z_n = k); seen a chunk at a time, kept as moments
    ζ       assignment      (groups, clusters)    q(t_k^m = j)
    α_η     confusion       (cells,)              Dirichlet parameters of q(η^{mj}); a cell: j, l of one grouping
    Ψ       prior.confusion (cells,)
    λ       richness        scalar
    σ²      prior.variance  scalar

Updates
-------
    (16)  ln ρ_nk = Σ_m Σ_j ζ_j^{mk} E[ln η_{y_nm}^{mj}] + w_k·φ_n + λ ‖w_k‖² + const
    (18)  ln ζ_j^{mk} = Σ_n ρ_nk E[ln η_{y_nm}^{mj}] + const
    (20)  α_η^{mj} = Ψ^{mj} + Σ_n Σ_k ρ_nk ζ_j^{mk} 1[y_nm = ·]
    (4)   W maximises Σ_nk ρ_nk ln π_nk − ‖W‖² / (2σ²)

Decided here
------------
A sweep is (18), (20), (4), (16), so that the posteriors belong to the parameters beside them. (4) takes a few steps
of L-BFGS a sweep, which raise the bound as surely as the maximum does and cost less.
With more features than items, W lives in the row space of Φ: outside it the data say nothing, and the prior and
λ ‖w_k‖² see the norm alone. J_m = 1 has α = 40, not 0.

A run begins from small random W and ζ, as in the paper, or from posteriors that lean on a k-means clustering of the
features, under which annotations left out are more probable where labels are few. Afterwards clusters that no annotator
tells apart are joined while the bound gains: coordinate ascent does not find these steps, and the number of clusters
comes out nearer to the truth. σ² = "auto" is chosen by the probability of annotations left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import entr
from sklearn.cluster import KMeans

from consilience.annotations import Groupings
from consilience.inference import Trace, iterate
from consilience.inference.confusion import Cells
from consilience.inference.exponential_family import (
    expected_log_dirichlet_segments,
    kl_dirichlet_segments,
    segment_sizes,
    softmax_segments,
)
from consilience.inference.softmax import Items, Moments, fit_weights, in_chunks, moments, with_offset

WEIGHT_STEPS = 5  # L-BFGS steps a sweep
INITIAL_WEIGHT = 0.1  # standard deviation
LEANING = 0.9  # probability of an item's seed cluster at a start from the features
SEEDED = 0.8  # share of the K clusters that such a start gives items to
KMEANS_ROUNDS = 20
LIVE = 0.5  # items, that a cluster must be expected to own
TRIED = 5  # pairs of clusters that may be joined, each time
CERTAIN = 0.9  # probability from which on a cluster is said to go by a label


@dataclass(frozen=True)
class Prior:
    """variance : σ². richness : λ. confusion : Ψ, (cells,). n_weights : D + 1, as the user's features count them."""

    variance: float
    richness: float
    confusion: Float[np.ndarray, " cells"]
    n_weights: int


@dataclass(frozen=True)
class Evidence:
    """What is observed: chunks of items with their labels, and how the labels hang together."""

    chunks: list[Items]
    cells: Cells


@dataclass(frozen=True)
class State:
    """Weights, assignment and confusion; the moments of the posteriors that they give; Σ_n ln Σ_k exp of W's scores."""

    weights: Float[np.ndarray, "features clusters"]
    assignment: Float[np.ndarray, "groups clusters"]
    confusion: Float[np.ndarray, " cells"]
    moments: Moments
    log_normalizer: float


def init(
    evidence: Evidence,
    prior: Prior,
    weights: Float[np.ndarray, "features clusters"],
    draws: Float[np.ndarray, "groups clusters"],
) -> State:
    """First state: the given weights, ζ ~ Dirichlet(1) made of exponential draws, confusion as the prior has it."""
    totals = np.add.reduceat(draws, evidence.cells.first_group)
    sizes = segment_sizes(evidence.cells.first_group, len(draws))
    assignment = draws / np.repeat(totals, sizes, axis=0)
    log_normalizer = moments(evidence.chunks, with_offset(weights, prior.richness)).log_normalizer
    return _with_moments(weights, assignment, prior.confusion, log_normalizer, evidence, prior)


def step(state: State, evidence: Evidence, prior: Prior) -> State:
    assignment = update_assignment(state, evidence.cells)
    confusion = update_confusion(state.moments, assignment, evidence.cells, prior)
    weights, log_normalizer = update_weights(state, evidence, prior)
    return _with_moments(weights, assignment, confusion, log_normalizer, evidence, prior)


def update_assignment(state: State, cells: Cells) -> Float[np.ndarray, "groups clusters"]:
    """(18)."""
    expected = cells.matrix(expected_log_dirichlet_segments(state.confusion, cells.starts))
    return softmax_segments(expected @ state.moments.labels, cells.first_group)


def update_confusion(
    seen: Moments, assignment: Float[np.ndarray, "groups clusters"], cells: Cells, prior: Prior
) -> Float[np.ndarray, " cells"]:
    """(20)."""
    return prior.confusion + cells.products(assignment, seen.labels)


def update_weights(state: State, evidence: Evidence, prior: Prior) -> tuple[np.ndarray, float]:
    """(4): better weights, and Σ_n ln Σ_k exp of their scores."""
    target = state.moments.design
    weights, value = fit_weights(
        state.weights, evidence.chunks, target, prior.richness, prior.variance, max_iter=WEIGHT_STEPS
    )
    coefficients = with_offset(weights, prior.richness)
    penalty = (weights**2).sum() / (2 * prior.variance)
    return weights, float((target * coefficients).sum() - penalty - value)


def label_evidence(
    assignment: Float[np.ndarray, "groups clusters"], confusion: Float[np.ndarray, " cells"], cells: Cells
) -> Float[np.ndarray, "groups clusters"]:
    """What giving label l says for cluster k: Σ_j ζ_j^{mk} E[ln η_l^{mj}], the first term of (16)."""
    return cells.matrix(expected_log_dirichlet_segments(confusion, cells.starts)).T @ assignment


def label_probability(state: State, cells: Cells) -> Float[np.ndarray, "groups clusters"]:
    """(8) expected under q: probability of each label of a grouping in each cluster."""
    totals = np.add.reduceat(state.confusion, cells.starts)
    return cells.matrix(state.confusion / totals[cells.row]).T @ state.assignment


def expected_accuracy(state: State, cells: Cells) -> Float[np.ndarray, " groupings"]:
    """Posterior mean of η_j^{mj}, over the clusters' items and the labels that they go by."""
    totals = np.add.reduceat(state.confusion, cells.starts)
    right = state.confusion[cells.row == cells.column] / totals
    due = state.assignment @ state.moments.design[-1]
    return np.add.reduceat(due * right, cells.first_group) / np.add.reduceat(due, cells.first_group)


def _with_moments(
    weights: np.ndarray,
    assignment: np.ndarray,
    confusion: np.ndarray,
    log_normalizer: float,
    evidence: Evidence,
    prior: Prior,
) -> State:
    """(16), kept as moments."""
    said = label_evidence(assignment, confusion, evidence.cells)
    seen = moments(evidence.chunks, with_offset(weights, prior.richness), said)
    return State(weights, assignment, confusion, seen, log_normalizer)


def lower_bound(state: State, evidence: Evidence, prior: Prior) -> float:
    """Bound on ln p(Y, W | Φ), nats, all constants kept.

    With ρ from (16), Σ ρ (labels + ln π − ln ρ) is the log-normaliser of (16) less that of π.
    """
    cells = evidence.cells
    n_clusters = state.weights.shape[1]
    sizes = segment_sizes(cells.first_group, len(state.assignment))
    items = state.moments.log_normalizer - state.log_normalizer
    labels_of_clusters = entr(state.assignment).sum() - n_clusters * np.log(sizes).sum()
    confusion = kl_dirichlet_segments(state.confusion, prior.confusion, cells.starts)
    log_density = -(state.weights**2).sum() / (2 * prior.variance)
    log_density -= prior.n_weights * n_clusters * np.log(2 * np.pi * prior.variance) / 2
    return float(items + labels_of_clusters - confusion + log_density)


def run(state: State, evidence: Evidence, prior: Prior, *, max_iter: int, tol: float) -> Trace[State]:
    """Sweeps from a first state until the bound stands still."""
    return iterate(
        state,
        lambda before: step(before, evidence, prior),
        lambda after: lower_bound(after, evidence, prior),
        max_iter=max_iter,
        tol=tol,
    )


@dataclass(frozen=True)
class Problem:
    """Features and labels made ready.

    design : (items, columns) coordinates of Φ = [features, 1], and a last column of 1.
    basis : (D + 1, columns - 1) from coordinates to the features' weights, or None where they are the same.
    labels : (items, groups) sparse 0/1.
    """

    design: Float[np.ndarray, "items columns"]
    basis: Float[np.ndarray, "weights rank"] | None
    labels: csr_array
    cells: Cells

    @classmethod
    def of(cls, features: Float[np.ndarray, "items D"], groupings: Groupings) -> Problem:
        phi = np.hstack([features, np.ones((len(features), 1))])
        coordinates, basis = row_space(phi)
        design = np.hstack([coordinates, np.ones((len(phi), 1))])
        return cls(design, basis, groupings.incidence, Cells.of(groupings.grouping_of_group))

    @property
    def n_weights(self) -> int:
        """D + 1."""
        return self.design.shape[1] - 1 if self.basis is None else len(self.basis)

    def evidence(self, labels: csr_array, n_clusters: int) -> Evidence:
        """The items with these labels."""
        return Evidence(in_chunks(Items(self.design, labels), n_clusters), self.cells)

    def start_at_random(self, evidence: Evidence, prior: Prior, n_clusters: int, seed: int) -> State:
        """First state of a run: small random weights and random ζ."""
        rng = np.random.RandomState(seed)
        weights = rng.normal(0, INITIAL_WEIGHT, (self.n_weights, n_clusters))
        draws = rng.exponential(size=(self.labels.shape[1], n_clusters))
        return init(evidence, prior, weights if self.basis is None else self.basis.T @ weights, draws)

    def start_from_features(self, evidence: Evidence, prior: Prior, n_clusters: int, seed: int) -> State:
        """First state of a run: as at random, but with posteriors that lean on a k-means clustering of the features."""
        state = self.start_at_random(evidence, prior, n_clusters, seed)
        k = max(round(SEEDED * n_clusters), 1)
        seeds = KMeans(k, n_init=1, max_iter=KMEANS_ROUNDS, random_state=seed).fit_predict(self.design)
        return replace(state, moments=leaning_moments(evidence, seeds, state.moments.log_normalizer, n_clusters))


def leaning_moments(
    evidence: Evidence, seeds: Int[np.ndarray, " items"], log_normalizer: float, n_clusters: int
) -> Moments:
    """Moments of posteriors that put `LEANING` on each item's seed cluster and the rest evenly on all clusters."""
    ends = np.cumsum([len(chunk.design) for chunk in evidence.chunks])
    parts = []
    for chunk, own in zip(evidence.chunks, np.split(seeds, ends)):
        posterior = np.full((len(own), n_clusters), (1 - LEANING) / n_clusters)
        posterior[np.arange(len(own)), own] += LEANING
        parts.append(Moments(0.0, chunk.design.T @ posterior, chunk.labels.T @ posterior))
    return replace(reduce(add, parts), log_normalizer=log_normalizer)


def row_space(phi: Float[np.ndarray, "items weights"]) -> tuple[np.ndarray, np.ndarray | None]:
    """Coordinates of the rows in the space that they span, and its basis in columns; phi and None where it is wide."""
    if phi.shape[1] <= len(phi):
        return phi, None
    left, singular, right = np.linalg.svd(phi, full_matrices=False)
    kept = singular > singular[0] * max(phi.shape) * np.finfo(float).eps
    return left[:, kept] * singular[kept], right[kept].T


def merge(
    trace: Trace[State], evidence: Evidence, prior: Prior, *, max_iter: int, tol: float, fewest: int = 1
) -> Trace[State]:
    """Join clusters that no annotator tells apart, as long as the bound gains by it and more than `fewest` are left.

    Pairs are tried once each, the most alike first, with sweeps after every attempt.
    """
    tried: set[tuple[int, int]] = set()
    while True:
        candidates = [pair for pair in undistinguished(trace.state, evidence.cells) if pair not in tried]
        joined = None
        if (trace.state.moments.design[-1] > LIVE).sum() <= fewest:
            return trace
        for pair in candidates:
            tried.add(pair)
            attempt = run(with_joined(trace.state, *pair), evidence, prior, max_iter=max_iter, tol=tol)
            if attempt.lower_bound - trace.lower_bound > tol * abs(trace.lower_bound):
                joined = replace(attempt, lower_bounds=(*trace.lower_bounds, attempt.lower_bound))
                break
        if joined is None:
            return trace
        trace = joined


def merge_to(
    trace: Trace[State],
    n_clusters: int,
    owners: Callable[[State], Int[np.ndarray, " owning"]],
    evidence: Evidence,
    prior: Prior,
    *,
    max_iter: int,
    tol: float,
) -> Trace[State]:
    """Join clusters until at most so many own items, each time two of whose joining the bound suffers least.

    Of those that own items by `owners`, the pairs that are most alike are tried; a joining by which fewer than
    `n_clusters` are left only where there is no other.
    """
    tried: set[tuple[int, int]] = set()
    while True:
        live = owners(trace.state)
        pairs = [pair for pair in alike(trace.state, evidence.cells, live) if pair not in tried][:TRIED]
        if len(live) <= n_clusters or not pairs:
            return trace
        attempts = [run(with_joined(trace.state, *pair), evidence, prior, max_iter=max_iter, tol=tol) for pair in pairs]
        enough = [len(owners(attempt.state)) >= n_clusters for attempt in attempts]
        best = max(range(len(pairs)), key=lambda place: (enough[place], attempts[place].lower_bound))
        tried.add(pairs[best])
        trace = replace(attempts[best], lower_bounds=(*trace.lower_bounds, attempts[best].lower_bound))


def alike(state: State, cells: Cells, live: Int[np.ndarray, " live"]) -> list[tuple[int, int]]:
    """Pairs of clusters, the larger first, the most alike in the labels that annotators give them first."""
    live = live[np.argsort(-state.moments.design[-1][live], kind="stable")]
    chance = np.sqrt(label_probability(state, cells)[:, live])
    likeness = chance.T @ chance
    a, b = np.triu_indices(len(live), 1)
    order = np.argsort(-likeness[a, b], kind="stable")
    return [(int(live[a[i]]), int(live[b[i]])) for i in order]


def undistinguished(state: State, cells: Cells) -> list[tuple[int, int]]:
    """Pairs of clusters, the larger first, to which no grouping surely gives different labels; the most alike first."""
    sizes = state.moments.design[-1]
    live = np.flatnonzero(sizes > LIVE)
    live = live[np.argsort(-sizes[live], kind="stable")]
    sure = (state.assignment[:, live] >= CERTAIN).astype(float)
    decided = np.add.reduceat(sure, cells.first_group)
    apart = decided.T @ decided - sure.T @ sure > 0.5
    chance = np.sqrt(label_probability(state, cells)[:, live])
    likeness = chance.T @ chance
    a, b = np.triu_indices(len(live), 1)
    a, b = a[~apart[a, b]], b[~apart[a, b]]
    order = np.argsort(-likeness[a, b], kind="stable")[: len(live)]
    return [(int(live[i]), int(live[j])) for i, j in zip(a[order], b[order])]


def with_joined(state: State, kept: int, emptied: int) -> State:
    """The state whose moments give all of one cluster's items to another."""
    design, labels = state.moments.design.copy(), state.moments.labels.copy()
    for table in (design, labels):
        table[:, kept] += table[:, emptied]
        table[:, emptied] = 0
    return replace(state, moments=replace(state.moments, design=design, labels=labels))
