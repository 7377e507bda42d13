"""MCVC and MECC where each annotator has a weight: groups of people other than those asked.

A weight multiplies an annotator's terms in the sums over annotators, which are those of q(Z) and of q(ν):

    ln η_ik = x_i·E w_k + Σ_m w_m φ_mg Σ_j w_ij^m η_jk + const
    q(ν_g)  = Beta(1 + Σ_m w_m φ_mg, γ + Σ_m w_m Σ_{l>g} φ_ml)

q(α_m), q(β_m) and φ_m are of one annotator each. So an annotator of weight 2 counts as two who judge alike.

Decided here
------------
A draw takes a few sweeps from several starts, and keeps that of the highest bound: in each view, as many clusters as
in the fit from the leading eigenvectors of the weighted evidence, as in the spectral starts of a fit, and random ones.
There are no views but those of the fit, and no more clusters than its largest view has: people who count several times
repeat what they said at random, which further clusters would take for evidence. The fitted clusters are no start, since
draws would stay near them. The clusters of a draw are those of the view that the most people hold under the weights, as
`labels_` are those of the view that the most people hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from consilience.inference import gaussian_softmax
from consilience.inference.exponential_family import expected_log_dirichlet
from consilience.inference.pair_spectrum import evidence_operator, feature_basis, spectral_clusters
from consilience.inference.reweighted import Clusters, Weights
from consilience.semisupervised.mcvc import (
    MCVCProblem,
    MCVCState,
    PerView,
    count_right_and_wrong,
    expected_log_sticks,
    update_annotators,
    update_clusters,
)
from consilience.semisupervised.mcvc_search import join_restarts, soften_clusters, view_weights, with_clusters

SWEEPS = 8  # of a draw
N_RANDOM = 3  # starts of a draw
SWEEPS_AT_FIT = 3  # to learn the annotators and the weights again from the fitted clusters
OF_FEATURES = 8.0  # of the spectral start, in judgements: see `evidence_operator`


@dataclass(frozen=True)
class WeightedMCVC:
    """A fitted model: its problem, and its state with the clusters of the fit, one restart."""

    problem: MCVCProblem
    state: MCVCState

    @classmethod
    def of(
        cls,
        problem: MCVCProblem,
        eta: Float[np.ndarray, "items clusters views"],
        phi: Float[np.ndarray, "people views"],
    ) -> WeightedMCVC:
        """Learn the annotators and the weights again from the fitted clusters and views."""
        n_views, n_people = eta.shape[2], len(phi)
        prior, shape = problem.prior, (problem.design.x.shape[1], problem.n_clusters, n_views)
        state = MCVCState(
            eta=eta,
            weights=gaussian_softmax.Weights(np.zeros(shape), np.zeros(shape)),
            phi=phi[:, None],
            right=np.tile(prior.of_right, (2, n_people, 1, 1)),
            sticks=np.tile(prior.of_sticks, (1, n_views - 1, 1)),
            of_views=np.zeros(n_views),
            bounds=np.zeros(1),
        )
        found = cls(problem, with_clusters(problem, state, eta, np.arange(n_views)))
        state, everyone = found.state, np.ones(n_people)
        for _ in range(SWEEPS_AT_FIT):
            state = found._sweep_annotators(state, everyone)
        return cls(problem, state)

    def responsibilities(self, weights: Weights, rng: np.random.Generator) -> Float[np.ndarray, "items clusters"]:
        """Return η of the view that the most people hold, under weights of the annotators."""
        state = join_restarts([self._spectral_start(weights, rng), *(self._random_start(rng) for _ in range(N_RANDOM))])
        for _ in range(SWEEPS):
            every = np.arange(state.eta.shape[2])
            state = self.problem.update_weights(state, every)
            heavy = replace(state, phi=weights[:, None, None] * state.phi)
            moved = update_clusters(self.problem, heavy, every)
            state = self._sweep_annotators(replace(moved, phi=state.phi), weights)
        best, n_views = int(self._bounds(state, weights).argmax()), state.phi.shape[2]
        return np.asarray(state.eta[:, :, best * n_views + int((weights @ state.phi[:, best]).argmax())])

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the most probable cluster of each item under these weights."""
        return self.responsibilities(weights, rng).argmax(1)

    def _sweep_annotators(self, state: MCVCState, weights: Weights) -> MCVCState:
        """q(c), q(α) and q(β) of each annotator; q(ν) under the weights."""
        state = update_annotators(self.problem, state, self.problem.agreement(state))
        followers = weights @ state.phi.reshape(len(state.phi), -1)
        followers = followers.reshape(state.phi.shape[1:])
        later = followers[:, ::-1].cumsum(1)[:, ::-1] - followers
        sticks = np.stack([followers[:, :-1], later[:, :-1]], axis=-1) + self.problem.prior.of_sticks
        return replace(state, sticks=sticks)

    def _spectral_start(self, weights: Weights, rng: np.random.Generator) -> MCVCState:
        """Clusters of each view from its weighted evidence."""
        problem, state = self.problem, self.state
        basis = feature_basis(problem.design.x[:, :-1])
        eta = state.eta.copy()
        for view in range(eta.shape[2]):
            same, apart = weights * np.stack(view_weights(state))[:, :, view]
            of_features = OF_FEATURES if basis.shape[1] else 0.0
            operator = evidence_operator(problem.evidence, basis, same=same, apart=apart, of_features=of_features)
            n_clusters = len(np.unique(state.eta[:, :, view].argmax(1)))
            found = spectral_clusters(operator, n_clusters, rng=rng)
            eta[:, :, view] = soften_clusters(found, problem.n_clusters)
        return with_clusters(problem, state, eta, np.arange(eta.shape[2]))

    def _random_start(self, rng: np.random.Generator) -> MCVCState:
        """Clusters of each view at random."""
        n_items, n_clusters, n_views = self.state.eta.shape
        drawn = (soften_clusters(rng.integers(n_clusters, size=n_items), n_clusters) for _ in range(n_views))
        return with_clusters(self.problem, self.state, np.stack(list(drawn), axis=2), np.arange(n_views))

    def _bounds(self, state: MCVCState, weights: Weights) -> Float[np.ndarray, " restarts"]:
        """What the starts differ in: the weighted terms of the annotators, and those of the clusters."""
        counts = count_right_and_wrong(self.problem, state.phi, self.problem.agreement(state))
        of_people = (counts * expected_log_dirichlet(state.right)).sum((0, 3))
        of_people += (state.phi * expected_log_sticks(state.sticks)).sum(2) + _entropies(state.phi)
        return np.asarray(weights @ of_people + state.of_views.reshape(state.phi.shape[1:]).sum(1))


def _entropies(phi: PerView) -> Float[np.ndarray, "annotators restarts"]:
    return -np.asarray((phi * np.log(np.maximum(phi, np.finfo(float).tiny))).sum(2))
