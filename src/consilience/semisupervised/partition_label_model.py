"""Crowdclustering with partition labels: a linear model of the clusters, and the meaning of each annotator's labels.

Chen, Chang, Castaldi, Cho, Hobbs & Dy (2018), Crowdclustering with Partition Labels, AISTATS, PMLR 84.

Model
-----
    w_k        ~ N(0, σ² I)                                     weights of cluster k, k = 1 … K
    z_n        ~ Categorical(π_n), π_nk ∝ exp(w_k·φ_n + λ ‖w_k‖²)       cluster of item n; (1), (2)
    t_k^m      ~ Uniform{1 … J_m}                               the correct label of cluster k in grouping m; (5)
    r_a        ~ p(r), 0 ≤ r ≤ 1                                reliability of annotator a; 1 for all in the paper
    η^{mj}     ~ Dirichlet(Ψ^{mj}(r)), Ψ_l^{mj}(1) = α if l = j else β  the label given when j is correct; (9), (10)
    y_n^m | z_n = k, t_k^m = j  ~ Categorical(η^{mj})           the label given; (8)

The term λ ‖w_k‖² makes the rich richer: only some of the K clusters keep items.

Symbols
-------
    paper   here            shape
    Φ       design          (items, columns)      features and 1, or coordinates in their row space; then 1 for λ ‖w_k‖²
    Y       labels          (items, groups)       sparse 0/1; one column for each group of each grouping
    W       weights         (features, clusters)
    ρ       posteriors      (items, clusters)     q(z_n = k); computed in chunks, stored as moments
    ζ       assignment      (groups, clusters)    q(t_k^m = j)
    α_η     confusion       (cells,)              Dirichlet parameters of q(η^{mj}); a cell: j, l of one grouping
    Ψ       prior.confusion (cells,), a function of r
    r       reliability     (annotators,)
    λ       richness        scalar
    σ²      prior.variance  scalar

Updates
-------
    (16)  ln ρ_nk = Σ_m Σ_j ζ_j^{mk} E[ln η_{y_nm}^{mj}] + w_k·φ_n + λ ‖w_k‖² + const
    (18)  ln ζ_j^{mk} = Σ_n ρ_nk E[ln η_{y_nm}^{mj}] + const
    (20)  α_η^{mj} = Ψ^{mj} + Σ_n Σ_k ρ_nk ζ_j^{mk} 1[y_nm = ·],   with the r that maximises the bound
    (4)   W maximises Σ_nk ρ_nk ln π_nk − ‖W‖² / (2σ²)

Decided here
------------
A sweep is (18), (20), (4), (16), so that a state's posteriors are those under its parameters. (4) takes a few steps of
L-BFGS in each sweep, which raise the bound as the maximum does, at a lower cost.

Reliability is learned (`inference.confusion`), but no annotator is expected to be more accurate than in the paper, 0.8.
With up to .99, posteriors were too sure, and NMI was lower on the paper's data with other draws of experts.

With many features, those to use are selected beforehand (`feature_selection`): a point estimate of W explains any
clusters by columns of noise. It needs them: intercepts have the same σ², which is then so small that they alone cannot
keep most of the K clusters empty. With more features than items, W is restricted to the row space of Φ: outside it
there are no data, and the prior and λ ‖w_k‖² depend only on the norm. J_m = 1 has α = 40, not 0.

A run starts from small random W and ζ, as in the paper, or from posteriors weighted towards a k-means clustering of the
features, under which held-out annotations are more probable where labels are few. Afterwards clusters are joined while
the bound increases: coordinate ascent does not find these steps, and they bring the number of clusters closer to the
truth. σ² = "auto" is chosen by the probability of held-out annotations.

Sweeps and mergers are judged by a share of the bound, as in all models, although -½ (D + 1) K ln 2πσ² makes it large
where there are many features. Nats per label find fewer and worse clusters of faces with few labels: the longer these
runs climb, the fewer clusters keep items (docs/models/partition_labels.rst).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import entr
from sklearn.cluster import KMeans

from consilience.annotations import Groupings
from consilience.inference import Trace, iterate
from consilience.inference.confusion import ConfusionCells, ConfusionPrior
from consilience.inference.exponential_family import (
    expected_log_dirichlet_segments,
    kl_dirichlet_segments,
    segment_sizes,
)
from consilience.inference.iterate import Loop, begin
from consilience.inference.softmax import Moments, SoftmaxItems, fit_weights, in_chunks, moments, with_offset

WEIGHT_STEPS = 5  # L-BFGS steps per sweep
INITIAL_WEIGHT = 0.1  # standard deviation
LEANING = 0.9  # probability of an item's seed cluster at a start from the features
SEEDED = 0.8  # share of the K clusters that have items in such a start
KMEANS_ROUNDS = 20
LIVE = 0.5  # expected number of items from which a cluster is live
TRIED = 5  # pairs of clusters that are tried for each join


@dataclass(frozen=True)
class PartitionLabelModelPrior:
    """Prior, and whether reliability is learned.

    variance : σ².
    richness : λ.
    confusion : Ψ by reliability.
    n_weights : D + 1, with D the user's number of features.
    learned : whether r is learned; else it is 1.
    """

    variance: float
    richness: float
    confusion: ConfusionPrior
    n_weights: int
    learned: bool


@runtime_checkable
class Observations(Protocol):
    """What the updates need of the items, wherever they are: in chunks, or in partitions."""

    @property
    def cells(self) -> ConfusionCells:
        """Cells of all groupings."""

    def moments(
        self,
        coefficients: Float[np.ndarray, "columns clusters"],
        said: Float[np.ndarray, "groups clusters"] | None = None,
    ) -> Moments:
        """Moments of π, or with what labels say those of ρ, (16)."""


@dataclass(frozen=True)
class PartitionLabelModelEvidence:
    """Observations in memory: chunks of items with their labels, and the cells of all groupings."""

    chunks: list[SoftmaxItems]
    cells: ConfusionCells

    def moments(
        self,
        coefficients: Float[np.ndarray, "columns clusters"],
        said: Float[np.ndarray, "groups clusters"] | None = None,
    ) -> Moments:
        """Moments of π, or with what labels say those of ρ, (16)."""
        return moments(self.chunks, coefficients, said)


@dataclass(frozen=True)
class PartitionLabelModelState:
    """Parameters; E[ln η] under them; the moments of the posteriors, and of π."""

    weights: Float[np.ndarray, "features clusters"]
    assignment: Float[np.ndarray, "groups clusters"]
    reliability: Float[np.ndarray, " annotators"]
    confusion: Float[np.ndarray, " cells"]
    expected: Float[np.ndarray, " cells"]
    moments: Moments
    model: Moments


def init(
    evidence: Observations,
    prior: PartitionLabelModelPrior,
    weights: Float[np.ndarray, "features clusters"],
    draws: Float[np.ndarray, "groups clusters"],
) -> PartitionLabelModelState:
    """First state: the given weights, ζ ~ Dirichlet(1) from exponential draws, confusion at its prior."""
    totals = np.add.reduceat(draws, evidence.cells.first_group)
    sizes = segment_sizes(evidence.cells.first_group, len(draws))
    assignment = draws / np.repeat(totals, sizes, axis=0)
    model = evidence.moments(with_offset(weights, prior.richness))
    reliability = np.ones(prior.confusion.n_annotators)
    confusion = prior.confusion.values(reliability)
    return _with_moments(weights, assignment, reliability, confusion, model, evidence, prior)


def step(
    state: PartitionLabelModelState, evidence: Observations, prior: PartitionLabelModelPrior
) -> PartitionLabelModelState:
    """(18), (20), (4) and (16)."""
    assignment = update_assignment(state, evidence.cells)
    reliability, confusion = update_confusion(state.moments, assignment, evidence.cells, prior)
    weights, model = update_weights(state, evidence, prior)
    return _with_moments(weights, assignment, reliability, confusion, model, evidence, prior)


def update_assignment(state: PartitionLabelModelState, cells: ConfusionCells) -> Float[np.ndarray, "groups clusters"]:
    """(18)."""
    return cells.softmax(cells.matrix(state.expected) @ state.moments.labels)


def update_confusion(
    seen: Moments,
    assignment: Float[np.ndarray, "groups clusters"],
    cells: ConfusionCells,
    prior: PartitionLabelModelPrior,
) -> tuple[Float[np.ndarray, " annotators"], Float[np.ndarray, " cells"]]:
    """r, and (20) under it: together they maximise the bound, r among `RELIABILITIES`."""
    counts = cells.products(assignment, seen.labels)
    known = np.ones(prior.confusion.n_annotators)
    reliability = prior.confusion.most_probable(counts) if prior.learned else known
    return reliability, prior.confusion.values(reliability) + counts


def update_weights(
    state: PartitionLabelModelState, evidence: Observations, prior: PartitionLabelModelPrior
) -> tuple[np.ndarray, Moments]:
    """(4): improved weights, and the moments of π under them."""
    return fit_weights(
        state.weights,
        state.model,
        evidence.moments,
        state.moments.design,
        prior.richness,
        prior.variance,
        max_iter=WEIGHT_STEPS,
    )


def label_evidence(
    assignment: Float[np.ndarray, "groups clusters"], expected: Float[np.ndarray, " cells"], cells: ConfusionCells
) -> Float[np.ndarray, "groups clusters"]:
    """Evidence of label l for cluster k: Σ_j ζ_j^{mk} E[ln η_l^{mj}], the first term of (16)."""
    return cells.matrix(expected).T @ assignment


def label_probability(state: PartitionLabelModelState, cells: ConfusionCells) -> Float[np.ndarray, "groups clusters"]:
    """Expectation of (8) under q: probability of each label of a grouping in each cluster."""
    totals = np.add.reduceat(state.confusion, cells.starts)
    return cells.matrix(state.confusion / totals[cells.row]).T @ state.assignment


def expected_accuracy(state: PartitionLabelModelState, cells: ConfusionCells) -> Float[np.ndarray, " groupings"]:
    """Posterior mean of η_j^{mj}, over the clusters' items and their correct labels."""
    totals = np.add.reduceat(state.confusion, cells.starts)
    right = state.confusion[cells.row == cells.column] / totals
    due = state.assignment @ state.moments.design[-1]
    return np.add.reduceat(due * right, cells.first_group) / np.add.reduceat(due, cells.first_group)


def _with_moments(
    weights: np.ndarray,
    assignment: np.ndarray,
    reliability: np.ndarray,
    confusion: np.ndarray,
    model: Moments,
    evidence: Observations,
    prior: PartitionLabelModelPrior,
) -> PartitionLabelModelState:
    """(16), stored as moments."""
    expected = expected_log_dirichlet_segments(confusion, evidence.cells.starts)
    said = label_evidence(assignment, expected, evidence.cells)
    seen = evidence.moments(with_offset(weights, prior.richness), said)
    return PartitionLabelModelState(weights, assignment, reliability, confusion, expected, seen, model)


def lower_bound(state: PartitionLabelModelState, evidence: Observations, prior: PartitionLabelModelPrior) -> float:
    """Bound on ln p(Y, W, r | Φ), nats, all constants kept but that of p(r).

    With ρ from (16), Σ ρ (labels + ln π − ln ρ) is the log-normaliser of (16) less that of π.
    """
    cells = evidence.cells
    n_clusters = state.weights.shape[1]
    sizes = segment_sizes(cells.first_group, len(state.assignment))
    items = state.moments.log_normalizer - state.model.log_normalizer
    labels_of_clusters = entr(state.assignment).sum() - n_clusters * np.log(sizes).sum()
    confusion = kl_dirichlet_segments(state.confusion, prior.confusion.values(state.reliability), cells.starts)
    reliability = prior.confusion.log_densities(state.reliability).sum()
    log_density = -(state.weights**2).sum() / (2 * prior.variance)
    log_density -= prior.n_weights * n_clusters * np.log(2 * np.pi * prior.variance) / 2
    return float(items + labels_of_clusters - confusion + reliability + log_density)


def run_from(
    evidence: Observations,
    prior: PartitionLabelModelPrior,
    start: Callable[[], PartitionLabelModelState],
    *,
    max_iter: int,
    tol: float,
    loop: Loop = begin,
) -> Trace[PartitionLabelModelState]:
    """Sweep from a first state until the bound converges."""
    return loop(
        start,
        lambda before: step(before, evidence, prior),
        lambda after: lower_bound(after, evidence, prior),
        max_iter=max_iter,
        tol=tol,
    )


def run(
    state: PartitionLabelModelState,
    evidence: Observations,
    prior: PartitionLabelModelPrior,
    *,
    max_iter: int,
    tol: float,
    loop: Loop = begin,
) -> Trace[PartitionLabelModelState]:
    """Sweep from a state that is known until the bound converges."""
    return run_from(evidence, prior, lambda: state, max_iter=max_iter, tol=tol, loop=loop)


def read_groupings(
    state: PartitionLabelModelState,
    posteriors: Float[np.ndarray, "items clusters"],
    problem: PartitionLabelModelProblem,
    prior: PartitionLabelModelPrior,
    *,
    max_iter: int,
    tol: float,
) -> PartitionLabelModelState:
    """Read the groupings of a problem in the light of posteriors that were found without some of them.

    (18) and (20) at the reliability of the state, until their part of the bound converges.
    """
    cells, seen = problem.cells, replace(state.moments, labels=problem.labels.T @ posteriors)
    psi = prior.confusion.values(state.reliability)
    totals = np.add.reduceat(seen.labels + 1, cells.first_group)
    sizes = segment_sizes(cells.first_group, len(seen.labels))

    def with_assignment(assignment: Float[np.ndarray, "groups clusters"]) -> PartitionLabelModelState:
        confusion = psi + cells.products(assignment, seen.labels)
        expected = expected_log_dirichlet_segments(confusion, cells.starts)
        return replace(state, assignment=assignment, confusion=confusion, expected=expected, moments=seen)

    def bound(after: PartitionLabelModelState) -> float:
        said = label_evidence(after.assignment, after.expected, cells)
        divergence = kl_dirichlet_segments(after.confusion, psi, cells.starts)
        return float((said * seen.labels).sum() + entr(after.assignment).sum() - divergence)

    return iterate(
        # imagined, so that no group starts impossible
        with_assignment((seen.labels + 1) / np.repeat(totals, sizes, axis=0)),
        lambda before: with_assignment(update_assignment(before, cells)),
        bound,
        max_iter=max_iter,
        tol=tol,
    ).state


@dataclass(frozen=True)
class PartitionLabelModelProblem:
    """Features and labels, prepared for the updates.

    design : (items, columns) coordinates of Φ = [features, 1], and a last column of 1.
    basis : (D + 1, columns - 1) from coordinates to the features' weights, or None if they are the same.
    labels : (items, groups) sparse 0/1.
    annotator_of_group : (groups,)
    n_annotators : some may have no grouping.
    """

    design: Float[np.ndarray, "items columns"]
    basis: Float[np.ndarray, "weights rank"] | None
    labels: csr_array
    cells: ConfusionCells
    annotator_of_group: Int[np.ndarray, " groups"]
    n_annotators: int

    @classmethod
    def of(cls, features: Float[np.ndarray, "items D"], groupings: Groupings) -> PartitionLabelModelProblem:
        phi = np.hstack([features, np.ones((len(features), 1))])
        coordinates, basis = row_space(phi)
        design = np.hstack([coordinates, np.ones((len(phi), 1))])
        cells = ConfusionCells.of(groupings.grouping_of_group)
        owners = groupings.annotator_of_group
        return cls(design, basis, groupings.incidence, cells, owners, groupings.n_annotators)

    @property
    def n_weights(self) -> int:
        """D + 1."""
        return self.design.shape[1] - 1 if self.basis is None else len(self.basis)

    def of_groupings(self, groupings: Groupings) -> PartitionLabelModelProblem:
        """Return the problem with the labels of other groupings of the same items."""
        cells, owners = ConfusionCells.of(groupings.grouping_of_group), groupings.annotator_of_group
        return replace(
            self,
            labels=groupings.incidence,
            cells=cells,
            annotator_of_group=owners,
            n_annotators=groupings.n_annotators,
        )

    def evidence(self, labels: csr_array, n_clusters: int) -> PartitionLabelModelEvidence:
        """Evidence of the items with these labels."""
        return PartitionLabelModelEvidence(in_chunks(SoftmaxItems(self.design, labels), n_clusters), self.cells)

    def start_at_random(
        self, evidence: Observations, prior: PartitionLabelModelPrior, n_clusters: int, seed: int
    ) -> PartitionLabelModelState:
        """First state of a run: small random weights and random ζ."""
        rng = np.random.RandomState(seed)
        # drawn for the user's features, then projected: a start does not depend on the basis
        weights = rng.normal(0, INITIAL_WEIGHT, (self.n_weights, n_clusters))
        draws = rng.exponential(size=(self.labels.shape[1], n_clusters))
        return init(evidence, prior, weights if self.basis is None else self.basis.T @ weights, draws)

    def start_from_features(
        self, evidence: PartitionLabelModelEvidence, prior: PartitionLabelModelPrior, n_clusters: int, seed: int
    ) -> PartitionLabelModelState:
        """First state of a run: as at random, but with posteriors close to a k-means clustering of the features."""
        state = self.start_at_random(evidence, prior, n_clusters, seed)
        k = max(round(SEEDED * n_clusters), 1)
        seeds = KMeans(k, n_init=1, max_iter=KMEANS_ROUNDS, random_state=seed).fit_predict(self.design)
        return replace(state, moments=leaning_moments(evidence, seeds, state.moments.log_normalizer, n_clusters))


def leaning_moments(
    evidence: PartitionLabelModelEvidence, seeds: Int[np.ndarray, " items"], log_normalizer: float, n_clusters: int
) -> Moments:
    """Moments of posteriors that put `LEANING` on each item's seed cluster, and spread the rest over all clusters."""
    ends = np.cumsum([len(chunk.design) for chunk in evidence.chunks])
    parts = []
    for chunk, own in zip(evidence.chunks, np.split(seeds, ends)):
        posterior = np.full((len(own), n_clusters), (1 - LEANING) / n_clusters)
        posterior[np.arange(len(own)), own] += LEANING
        parts.append(Moments(0.0, chunk.design.T @ posterior, chunk.labels.T @ posterior))
    return replace(reduce(add, parts), log_normalizer=log_normalizer)


def row_space(phi: Float[np.ndarray, "items weights"]) -> tuple[np.ndarray, np.ndarray | None]:
    """Coordinates of the rows in their span, and its basis in columns; phi and None unless there are more columns."""
    if phi.shape[1] <= len(phi):
        return phi, None
    left, singular, right = np.linalg.svd(phi, full_matrices=False)
    kept = singular > singular[0] * max(phi.shape) * np.finfo(float).eps  # as in NumPy's matrix_rank
    return left[:, kept] * singular[kept], right[kept].T


def merge(
    trace: Trace[PartitionLabelModelState],
    evidence: Observations,
    prior: PartitionLabelModelPrior,
    *,
    max_iter: int,
    tol: float,
    fewest: int = 1,
    loop: Loop = begin,
) -> Trace[PartitionLabelModelState]:
    """Join clusters while the bound increases and more than `fewest` are left.

    Each pair is tried once, the most similar first and in each round as many as there are clusters, with sweeps after
    every attempt. Only the bound decides: it weighs what annotators say by their reliability, while a single one who
    sorts at random makes distinctions between any two clusters.
    """
    tried: set[tuple[int, int]] = set()
    while True:
        live = np.flatnonzero(trace.state.moments.design[-1] > LIVE)
        if len(live) <= fewest:
            return trace
        # no more pairs than clusters: each is a run
        candidates = [pair for pair in alike(trace.state, evidence.cells, live)[: len(live)] if pair not in tried]
        joined = None
        for pair in candidates:
            tried.add(pair)
            attempt = run(with_joined(trace.state, *pair), evidence, prior, max_iter=max_iter, tol=tol, loop=loop)
            if attempt.lower_bound - trace.lower_bound > tol * abs(trace.lower_bound):
                joined = replace(attempt, lower_bounds=(*trace.lower_bounds, attempt.lower_bound))
                break
        if joined is None:
            return trace
        trace = joined


def merge_to(
    trace: Trace[PartitionLabelModelState],
    n_clusters: int,
    owners: Callable[[PartitionLabelModelState], Int[np.ndarray, " owning"]],
    evidence: Observations,
    prior: PartitionLabelModelPrior,
    *,
    max_iter: int,
    tol: float,
    loop: Loop = begin,
) -> Trace[PartitionLabelModelState]:
    """Join clusters until at most `n_clusters` own items, each time the two whose join lowers the bound least.

    `owners` gives the clusters that own items; the most similar pairs of these are tried. A join that would leave fewer
    than `n_clusters` is made only if there is no other.
    """
    tried: set[tuple[int, int]] = set()
    while True:
        live = owners(trace.state)
        pairs = [pair for pair in alike(trace.state, evidence.cells, live) if pair not in tried][:TRIED]
        if len(live) <= n_clusters or not pairs:
            return trace
        joined = [with_joined(trace.state, *pair) for pair in pairs]
        attempts = [run(state, evidence, prior, max_iter=max_iter, tol=tol, loop=loop) for state in joined]
        enough = [len(owners(attempt.state)) >= n_clusters for attempt in attempts]
        # runs that still have enough clusters come first, whatever their bounds
        best = max(range(len(pairs)), key=lambda place: (enough[place], attempts[place].lower_bound))
        tried.add(pairs[best])
        trace = replace(attempts[best], lower_bounds=(*trace.lower_bounds, attempts[best].lower_bound))


def alike(
    state: PartitionLabelModelState, cells: ConfusionCells, live: Int[np.ndarray, " live"]
) -> list[tuple[int, int]]:
    """Pairs of clusters, the larger cluster first, sorted by the similarity of the labels that annotators give them."""
    live = live[np.argsort(-state.moments.design[-1][live], kind="stable")]  # the larger cluster of a pair is kept
    chance = np.sqrt(label_probability(state, cells)[:, live])
    likeness = chance.T @ chance
    a, b = np.triu_indices(len(live), 1)
    order = np.argsort(-likeness[a, b], kind="stable")
    return [(int(live[a[i]]), int(live[b[i]])) for i in order]


def with_joined(state: PartitionLabelModelState, kept: int, emptied: int) -> PartitionLabelModelState:
    """Return the state whose moments give all items of one cluster to another."""
    design, labels = state.moments.design.copy(), state.moments.labels.copy()
    for table in (design, labels):
        table[:, kept] += table[:, emptied]
        table[:, emptied] = 0
    return replace(state, moments=replace(state.moments, design=design, labels=labels))
