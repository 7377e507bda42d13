"""Steps of the mixture of groupings for some of the items, with counts of all: see `grouping_mixture`.

`consensus.groupings.grouping_mixture` has the same steps for all items at once. Here scores, moves, draws and
concentrations take counts that may include items elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp, softmax

from consilience.consensus.groupings.grouping_mixture import CONCENTRATIONS, Counts, Layout, Scores, State, _cells
from consilience.inference.iterate import iterate


def scores_of_new(layout: Layout, counts: Counts, concentration: Float[np.ndarray, " annotators"]) -> Scores:
    """ln p(z_n = k | the items counted) up to a constant for each item, which is not among these."""
    c, cb = pseudo_counts(layout, concentration)
    scores: Scores = layout.memberships.in_group @ np.log(cb[:, None] + counts.of_groups)
    scores -= layout.memberships.in_grouping @ np.log(c[:, None] + counts.of_groupings)
    scores += np.log1p(counts.of_clusters)
    return scores


def cluster_scores(layout: Layout, state: State, counts: Counts) -> Scores:
    """ln p(z_n = k | rest) up to a constant for each item; `counts` are of all items."""
    scores = scores_of_new(layout, counts, state.concentration)
    own = np.arange(len(state.cluster)), state.cluster
    scores[own] += _own_contribution(layout, state, counts) - np.log1p(1 / counts.of_clusters[state.cluster])
    return scores


def moved(state: State, scores: Scores, chance: Float[np.ndarray, " items"]) -> State:
    """Move the items whose number from 0 to 1 is below a half to the cluster most probable given the rest."""
    best = scores.argmax(1)
    elsewhere = best != state.cluster
    now = scores[np.arange(len(best)), state.cluster]
    return replace(
        state,
        cluster=np.where(elsewhere & (chance < 0.5), best, state.cluster),
        log_pseudo_likelihood=float(now.sum()),
        restless=float(elsewhere.mean()),
        n_sweeps=state.n_sweeps + 1,
    )


def as_probabilities(scores: Scores) -> Scores:
    """Turn scores into the probabilities of the clusters of each item, in place."""
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores


def drawn(
    state: State, probability: Scores, moving: Int[np.ndarray, " moving"], chance: Float[np.ndarray, " moving"]
) -> State:
    """Give some items the clusters that numbers from 0 to 1 draw from their probabilities."""
    below = np.cumsum(probability[moving], axis=1) < chance[:, None]
    cluster = state.cluster.copy()
    cluster[moving] = np.minimum(below.sum(1), state.n_clusters - 1)  # rounding may leave the last sum below 1
    return replace(state, cluster=cluster)


def learn_concentration(layout: Layout, state: State, counts: Counts) -> State:
    """Posterior mean of ln c for each annotator over the grid, with the crowd's shares at each c as the prior."""
    cells = _cells(layout, counts)
    table = np.stack([cells.log_evidence(np.full(len(state.concentration), c)) for c in CONCENTRATIONS], axis=1)

    def reestimate(log_shares: np.ndarray) -> np.ndarray:
        return np.log(softmax(log_shares + table, axis=1).mean(0) + 1e-9)

    def log_likelihood(log_shares: np.ndarray) -> float:
        return float(logsumexp(log_shares + table, axis=1).sum())

    even = np.full(len(CONCENTRATIONS), -np.log(len(CONCENTRATIONS)))
    log_shares = iterate(even, reestimate, log_likelihood, max_iter=30, tol=1e-6).state
    return replace(state, concentration=np.exp(softmax(log_shares + table, axis=1) @ np.log(CONCENTRATIONS)))


def pseudo_counts(
    layout: Layout, concentration: Float[np.ndarray, " annotators"]
) -> tuple[Float[np.ndarray, " groupings"], Float[np.ndarray, " groups"]]:
    """Return c of each grouping, and c b of each group."""
    c = concentration[layout.memberships.annotator_of_grouping]
    return c, (c * layout.base)[layout.memberships.grouping_of_group]


def _own_contribution(layout: Layout, state: State, counts: Counts) -> Float[np.ndarray, " items"]:
    """Contribution of each item to the score of its own cluster through its groups, to be subtracted."""
    c, cb = pseudo_counts(layout, state.concentration)
    k = state.cluster[layout.item]
    in_group = cb[layout.group] + counts.of_groups.ravel()[layout.group * state.n_clusters + k]
    in_grouping = c[layout.grouping] + counts.of_groupings.ravel()[layout.grouping * state.n_clusters + k]
    excess = np.log((in_group - 1) / in_group * (in_grouping / (in_grouping - 1)))
    return np.bincount(layout.item, excess, len(state.cluster)).astype(float)  # without rows it would be integers
