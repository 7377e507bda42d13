"""Sweeps of `PartitionLabelModel` over partitions: its own updates, with moments that are sums over partitions.

All of a sweep but the moments depends on no item: `update_assignment`, `update_confusion`, the objective of the M-step
and the bound are those of `consilience.semisupervised.partition_label_model`. `Sweeps.climbed` and `Sweeps.merged` take
the decisions of `fit_weights` and of `merge`, with moments, and runs, over partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.metrics import pairwise_distances_argmin

from consilience.annotations import Groupings
from consilience.annotations.memberships import incidence_of
from consilience.inference import Trace
from consilience.inference.confusion import Cells
from consilience.inference.softmax import Items, Moments, in_chunks, log_posterior, moments, scores, with_offset
from consilience.partitions.item_survey import Keys, OwnItems, group_places
from consilience.partitions.map_reduce import Additive, Parts
from consilience.semisupervised import mapping
from consilience.semisupervised.partition_label_model import (
    LIVE,
    WEIGHT_STEPS,
    Evidence,
    Prior,
    State,
    _with_moments,
    alike,
    label_evidence,
    leaning_moments,
    lower_bound,
    update_assignment,
    update_confusion,
    with_joined,
)

Coefficients = Float[np.ndarray, "columns clusters"]
OfLabels = Float[np.ndarray, "groups clusters"]
Run = Callable[[State], Trace[State]]


# ---- what is computed on a partition


def prepared(own: OwnItems, keys: Keys, columns: Int[np.ndarray, " features"], n_clusters: int) -> list[Items]:
    """Return the items in chunks, with their features and groups in a given order."""
    given = own.rows.groupings
    design = np.hstack([own.rows.features[:, columns], np.ones((given.n_items, 2))])
    labels = incidence_of(given.item_of_row, group_places(given, keys), given.n_items, len(keys))
    items = Items(design, labels)
    chunks = in_chunks(items, n_clusters) or [items]
    for chunk in chunks:
        _ = chunk.length  # is kept with the chunk
    return chunks


def model_moments(chunks: list[Items], coefficients: Coefficients) -> Moments:
    """Moments of π."""
    return moments(chunks, coefficients)


def seen_moments(chunks: list[Items], coefficients: Coefficients, said: OfLabels) -> Moments:
    """Moments of ρ, (16)."""
    return moments(chunks, coefficients, said)


def leaning(chunks: list[Items], centres: np.ndarray, cells: Cells, n_clusters: int) -> Moments:
    """Moments of a start from the features, with each item in the cluster of the nearest centre."""
    design = np.concatenate([chunk.design for chunk in chunks])
    seeds = pairwise_distances_argmin(design, centres) if len(design) else np.empty(0, dtype=np.intp)
    return leaning_moments(Evidence(chunks, cells), seeds, 0.0, n_clusters)


def group_sizes(chunks: list[Items]) -> Int[np.ndarray, " groups"]:
    """Return the number of items in each group."""
    of_chunks = [np.asarray(chunk.labels.sum(0)) for chunk in chunks]
    return np.sum(of_chunks, axis=0).astype(int)


def owned(chunks: list[Items], coefficients: Coefficients, said: OfLabels) -> Int[np.ndarray, " clusters"]:
    """Return the number of items whose most probable cluster each is."""
    clusters = np.concatenate([scores(chunk, coefficients, said).argmax(1) for chunk in chunks])
    return np.bincount(clusters, minlength=said.shape[1])


@dataclass(frozen=True)
class Quality(Additive):
    """Sums over items and labels.

    correct : labels of each group that the model predicts.
    together : items of each group whose most probable cluster each is.
    """

    correct: Int[np.ndarray, " groups"]
    together: Float[np.ndarray, "groups clusters"]


def quality(
    chunks: list[Items], coefficients: Coefficients, said: OfLabels, probability: OfLabels, nothing: Groupings
) -> Quality:
    """Sums for ``groupings_`` and ``notes_``, over the clusters found; `nothing` has the groups."""
    labels = _stacked(chunks)
    found = np.concatenate([softmax(scores(chunk, coefficients, said), axis=1) for chunk in chunks])
    one_of = np.eye(found.shape[1])[found.argmax(1)]
    correct = mapping.correct_labels(replace(nothing, incidence=labels), found, probability)
    return Quality(correct, labels.T @ one_of)


def _stacked(chunks: list[Items]) -> csr_array:
    group = np.concatenate([chunk.labels.indices for chunk in chunks])
    given = np.concatenate([np.diff(chunk.labels.indptr) for chunk in chunks])
    shape = (len(given), chunks[0].labels.shape[1])
    return csr_array((np.ones(len(group)), group, np.append(0, np.cumsum(given))), shape=shape)


# ---- sweeps


@dataclass(frozen=True)
class Sweeps:
    """The model over partitions.

    parts : of `prepared`.
    nothing : the evidence of no items, in one chunk: functions of the model then give parameters, and moments of 0.
    """

    parts: Parts
    nothing: Evidence
    prior: Prior

    def filled(self, state: State) -> State:
        """Return the state with the moments of all items, of the model and of (16)."""
        coefficients = with_offset(state.weights, self.prior.richness)
        return self.with_seen(replace(state, model=self.parts.total(model_moments, coefficients)))

    def with_seen(self, state: State) -> State:
        """Return the state with the moments of (16)."""
        coefficients = with_offset(state.weights, self.prior.richness)
        return replace(state, moments=self.parts.total(seen_moments, coefficients, self.said(state)))

    def said(self, state: State) -> OfLabels:
        """Evidence of labels, the first term of (16)."""
        return label_evidence(state.assignment, state.expected, self.nothing.cells)

    def leaning(self, state: State, centres: np.ndarray) -> State:
        """Return the state with posteriors close to clusters around centres."""
        seen = self.parts.total(leaning, centres, self.nothing.cells, state.weights.shape[1])
        return replace(state, moments=replace(seen, log_normalizer=state.moments.log_normalizer))

    def step(self, state: State) -> State:
        """(18), (20), (4) and (16)."""
        assignment = update_assignment(state, self.nothing.cells)
        reliability, confusion = update_confusion(state.moments, assignment, self.nothing.cells, self.prior)
        weights, model = self.climbed(state)
        return self.with_seen(
            _with_moments(weights, assignment, reliability, confusion, model, self.nothing, self.prior)
        )

    def climbed(self, state: State) -> tuple[Float[np.ndarray, "features clusters"], Moments]:
        """(4): `WEIGHT_STEPS` steps of L-BFGS, and the moments of π after them."""
        at, found = state.weights, state.model
        richness, variance = self.prior.richness, self.prior.variance

        def moments_at(flat: np.ndarray) -> Moments:
            nonlocal at, found
            if not np.array_equal(flat, at.ravel()):
                at = flat.reshape(at.shape).copy()
                found = self.parts.total(model_moments, with_offset(at, richness))
            return found

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            seen = moments_at(flat)
            value, gradient = log_posterior(at, seen, state.moments.design, richness, variance)
            return -value, -gradient.ravel()

        options = {"maxiter": WEIGHT_STEPS}
        best = minimize(objective, at.ravel(), jac=True, method="L-BFGS-B", options=options).x
        return best.reshape(at.shape), moments_at(best)

    def lower_bound(self, state: State) -> float:
        """Bound on ln p(Y, W, r | Φ), nats."""
        return lower_bound(state, self.nothing, self.prior)

    def merged(self, trace: Trace[State], run: Run, *, tol: float) -> Trace[State]:
        """Join clusters while the bound increases: the decisions of `partition_label_model.merge`."""
        tried: set[tuple[int, int]] = set()
        while True:
            live = np.flatnonzero(trace.state.moments.design[-1] > LIVE)
            if len(live) <= 1:
                return trace
            pairs = [pair for pair in alike(trace.state, self.nothing.cells, live)[: len(live)] if pair not in tried]
            joined = None
            for pair in pairs:
                tried.add(pair)
                attempt = run(with_joined(trace.state, *pair))
                if attempt.lower_bound - trace.lower_bound > tol * abs(trace.lower_bound):
                    joined = replace(attempt, lower_bounds=(*trace.lower_bounds, attempt.lower_bound))
                    break
            if joined is None:
                return trace
            trace = joined
