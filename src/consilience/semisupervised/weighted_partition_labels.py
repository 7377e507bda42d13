"""PartitionLabelModel where each annotator has a weight: groups of people other than those asked.

A weight multiplies an annotator's terms in (16), the sum over groupings:

    ln ρ_nk = Σ_m w_m Σ_j ζ_j^{mk} E[ln η_{y_nm}^{mj}] + w_k·φ_n + λ ‖w_k‖² + const

(18) and (20) are of one grouping each, and do not depend on its weight; (4) depends on it through ρ. So an annotator of
weight 2 counts as two who give the same labels.

Decided here
------------
A draw starts at the fit and takes a few sweeps. Reliability stays that of the fit. Clusters can lose all items, but no
draw has more clusters than the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from consilience.inference.exponential_family import expected_log_dirichlet_segments
from consilience.inference.reweighted import Clusters, Weights
from consilience.inference.softmax import moments, posteriors, with_offset
from consilience.semisupervised.partition_label_model import (
    PartitionLabelModelEvidence,
    PartitionLabelModelPrior,
    PartitionLabelModelProblem,
    PartitionLabelModelState,
    init,
    label_evidence,
    update_assignment,
    update_weights,
)

SWEEPS = 8  # of a draw
SWEEPS_AT_FIT = 20  # to learn the parameters again from the fitted posteriors


@dataclass(frozen=True)
class WeightedPartitionLabels:
    """A fitted model: its problem, and its state with the posteriors of the fit, and what is learned from these."""

    problem: PartitionLabelModelProblem
    evidence: PartitionLabelModelEvidence
    prior: PartitionLabelModelPrior
    state: PartitionLabelModelState

    @classmethod
    def of(
        cls,
        problem: PartitionLabelModelProblem,
        prior: PartitionLabelModelPrior,
        fitted: Float[np.ndarray, "items clusters"],
        reliability: Float[np.ndarray, " annotators"],
    ) -> WeightedPartitionLabels:
        """Learn the state again from the fitted posteriors and reliabilities."""
        n_clusters, n_columns = fitted.shape[1], problem.design.shape[1] - 1
        evidence = problem.evidence(problem.labels, n_clusters)
        even = np.ones((problem.labels.shape[1], n_clusters))
        state = init(evidence, prior, np.zeros((n_columns, n_clusters)), even)
        seen = replace(state.moments, design=problem.design.T @ fitted, labels=problem.labels.T @ fitted)
        found = cls(problem, evidence, prior, replace(state, moments=seen, reliability=reliability))
        state, unit = found.state, np.ones(problem.n_annotators)
        for _ in range(SWEEPS_AT_FIT):
            state = found._see(found._learn(state), unit)
        return replace(found, state=found._learn(state))

    def posteriors(self, weights: Weights) -> Float[np.ndarray, "items clusters"]:
        """Return ρ under weights of the annotators, a few sweeps from the fit."""
        state = self.state  # whose parameters are those of the first sweep of every draw
        for _ in range(SWEEPS - 1):
            state = self._learn(self._see(state, weights))
        said = self._said(state, weights)
        parts = posteriors(self.evidence.chunks, with_offset(state.weights, self.prior.richness), said)
        return np.concatenate(list(parts))

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the most probable cluster of each item under these weights."""
        return self.posteriors(weights).argmax(1)

    def _learn(self, state: PartitionLabelModelState) -> PartitionLabelModelState:
        """(18), (20) and (4)."""
        cells = self.problem.cells
        assignment = update_assignment(state, cells)
        confusion = self.prior.confusion.values(state.reliability) + cells.products(assignment, state.moments.labels)
        expected = expected_log_dirichlet_segments(confusion, cells.starts)
        coefficients, model = update_weights(state, self.evidence, self.prior)
        return replace(
            state, weights=coefficients, assignment=assignment, confusion=confusion, expected=expected, model=model
        )

    def _see(self, state: PartitionLabelModelState, weights: Weights) -> PartitionLabelModelState:
        """(16)."""
        scores = with_offset(state.weights, self.prior.richness)
        return replace(state, moments=moments(self.evidence.chunks, scores, self._said(state, weights)))

    def _said(self, state: PartitionLabelModelState, weights: Weights) -> Float[np.ndarray, "groups clusters"]:
        said = label_evidence(state.assignment, state.expected, self.problem.cells)
        return np.asarray(weights[self.problem.annotator_of_group][:, None] * said)
