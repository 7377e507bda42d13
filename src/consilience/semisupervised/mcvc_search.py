"""Search for the best state of `consilience.semisupervised.mcvc`: random starts, spectral starts, splits of clusters.

Random starts come first. The best of them tells who holds which view. Then spectral starts take the clusters of each
view from the leading eigenvectors of its evidence (`inference.pair_spectrum`), with annotators weighted at random, and
as many clusters as the best start has, or half as many more. The best of both kinds continue, and compete by the
bound, which is never lower than that of the random starts alone.

The winner is improved by splits: clusters of any view are divided by the leading eigenvector of their own evidence, and
the smaller part of each moves to an empty cluster. All divisions that the evidence favours are tried at once; if the
bound does not rise, the better half of them, and so on down to one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from consilience.inference import Trace, gaussian_softmax, iterate
from consilience.inference.gaussian_softmax import Weights
from consilience.inference.pair_spectrum import evidence_operator, feature_basis, halves, spectral_clusters
from consilience.semisupervised.mcvc import FIRST_DEVIATION, FOLLOWED, MCVCProblem, MCVCState, init, pair_weights, step

LOOSE_TOL = 1e-4  # at which restarts are compared
KEPT, KEPT_SPECTRAL = 5, 3  # random and spectral starts that continue to `tol`
BATCH_ENTRIES = 1 << 24  # of η in memory at a time: an eighth of a gigabyte; a sweep needs nine times as much
RANDOM_FOR_SPECTRAL = 8  # random starts for each spectral one
OF_FEATURES = (np.inf, 16.0, 8.0)  # of the spectral starts, in judgements: see `evidence_operator`
MORE = 1.0, 1.5  # clusters of spectral starts, as a multiple of those of the leader
CERTAINTY = 0.5  # of the clusters of a spectral start; the rest is spread evenly
EMPTY = 0.5  # items below which a cluster takes the second part of another
WEIGHT_STEPS = 20  # for weights that go with new clusters


def run(
    problem: MCVCProblem, n_views: int, *, n_init: int, max_iter: int, tol: float, rng: np.random.Generator
) -> tuple[Trace[MCVCState], Float[np.ndarray, " restarts"]]:
    """Fit from several starts; return the trace of the best, and the bound of each at `LOOSE_TOL`."""
    winner, bounds = search(problem, n_views, n_init=n_init, max_iter=max_iter, tol=tol, rng=rng)
    return sweep_restarts(problem, winner, max_iter, tol), bounds


def search(
    problem: MCVCProblem, n_views: int, *, n_init: int, max_iter: int, tol: float, rng: np.random.Generator
) -> tuple[MCVCState, Float[np.ndarray, " restarts"]]:
    """Return the best state, and the bound of each start at `LOOSE_TOL`."""
    entries = problem.evidence.n_items * problem.n_clusters * n_views
    size = max(BATCH_ENTRIES // entries, 1)
    best: list[MCVCState] = []
    left: list[np.ndarray] = []
    for first in range(0, n_init, size):
        start = init(problem, n_views, min(size, n_init - first), rng=rng)
        ends = sweep_restarts(problem, start, max_iter, LOOSE_TOL).state
        left.append(ends.bounds)
        best.append(highest(ends, KEPT))
    few = [sweep_restarts(problem, own, max_iter, tol).state for own in best]
    if n_spectral := n_init // RANDOM_FOR_SPECTRAL:
        starts = spectral_starts(problem, best_of(few), n_spectral, rng=rng)
        ends = join_restarts(
            [sweep_restarts(problem, own, max_iter, LOOSE_TOL).state for own in in_batches(starts, size)]
        )
        left.append(ends.bounds)
        few.append(sweep_restarts(problem, highest(ends, KEPT_SPECTRAL), max_iter, tol).state)
    return with_splits(problem, best_of(few), max_iter), np.concatenate(left)


def sweep_restarts(problem: MCVCProblem, state: MCVCState, max_iter: int, tol: float) -> Trace[MCVCState]:
    """Sweep until the restarts together have converged."""
    return iterate(state, partial(step, problem), lambda own: float(own.bounds.sum()), max_iter=max_iter, tol=tol)


def highest(state: MCVCState, number: int) -> MCVCState:
    """Return the restarts with the highest bounds."""
    return state.of_restarts(np.argsort(-state.bounds)[:number])


def join_restarts(states: list[MCVCState]) -> MCVCState:
    """Return the restarts of several states in one."""
    if len(states) == 1:
        return states[0]
    weights = Weights(
        np.concatenate([own.weights.mean for own in states], axis=2),
        np.concatenate([own.weights.log_variance for own in states], axis=2),
    )
    return MCVCState(
        eta=np.concatenate([own.eta for own in states], axis=2),
        weights=weights,
        phi=np.concatenate([own.phi for own in states], axis=1),
        right=np.concatenate([own.right for own in states], axis=2),
        sticks=np.concatenate([own.sticks for own in states]),
        of_views=np.concatenate([own.of_views for own in states]),
        bounds=np.concatenate([own.bounds for own in states]),
    )


def best_of(states: list[MCVCState]) -> MCVCState:
    """Return the restart with the highest bound."""
    few = max(states, key=lambda own: own.bounds.max())
    return few.of_restarts(np.array([few.bounds.argmax()]))


def in_batches(state: MCVCState, size: int) -> list[MCVCState]:
    """Divide the restarts into batches."""
    n_restarts = len(state.bounds)
    return [state.of_restarts(np.arange(first, min(first + size, n_restarts))) for first in range(0, n_restarts, size)]


def spectral_starts(problem: MCVCProblem, leader: MCVCState, n_starts: int, *, rng: np.random.Generator) -> MCVCState:
    """Clusters of each view that is followed from its evidence; views of annotators as in `leader`, one restart.

    Reliabilities are in turn those of the prior and of `leader`, and are multiplied by exponential weights of the
    annotators, as in the Bayesian bootstrap, so that starts differ.
    """
    like_prior = replace(leader, right=np.broadcast_to(problem.prior.of_right, leader.right.shape))
    models = [(like_prior, leader)[start % 2] for start in range(n_starts)]
    starts = leader.of_restarts(np.zeros(n_starts, int))
    starts = replace(starts, right=np.concatenate([model.right for model in models], axis=2))
    n_views, eta = leader.phi.shape[2], starts.eta.copy()
    basis = feature_basis(problem.design.x[:, :-1])
    followed = followed_views(leader)
    for start, model in enumerate(models):
        # people weigh differently, so that starts differ
        weights = rng.exponential(size=(len(leader.phi), 1)) * view_weights(model)
        of_features = OF_FEATURES[start % len(OF_FEATURES)] if basis.shape[1] else 0.0
        for view in followed:
            same, apart = weights[:, :, view]
            operator = evidence_operator(problem.evidence, basis, same=same, apart=apart, of_features=of_features)
            n_found = len(np.unique(leader.eta[:, :, view].argmax(1)))
            n_clusters = min(round(MORE[start // 2 % 2] * n_found), problem.n_clusters)
            found = spectral_clusters(operator, n_clusters, rng=rng)
            eta[:, :, start * n_views + view] = soften_clusters(found, problem.n_clusters)
    columns = (np.arange(n_starts)[:, None] * n_views + followed).ravel()
    return with_clusters(problem, starts, eta, columns)


def soften_clusters(clusters: Int[np.ndarray, " items"], n_clusters: int) -> Float[np.ndarray, "items clusters"]:
    """η that prefers these clusters."""
    even = np.full((len(clusters), n_clusters), (1 - CERTAINTY) / n_clusters)
    even[np.arange(len(clusters)), clusters] += CERTAINTY
    return even


def with_clusters(
    problem: MCVCProblem, state: MCVCState, eta: np.ndarray, columns: Int[np.ndarray, " columns"]
) -> MCVCState:
    """State with η, and with weights of some columns that go with it."""
    mean = state.weights.mean[:, :, columns]
    fresh = Weights(np.zeros_like(mean), np.full_like(mean, 2 * np.log(FIRST_DEVIATION)))
    own = gaussian_softmax.step(problem.design, fresh, eta[:, :, columns], n_steps=WEIGHT_STEPS)
    return replace(state, eta=eta, weights=state.weights.with_problems(columns, own))


def with_splits(problem: MCVCProblem, state: MCVCState, max_iter: int) -> MCVCState:
    """Split clusters of one restart as long as the bound rises."""
    most = problem.n_clusters * state.phi.shape[2]
    while most:
        eta, n_splits, columns = split_views(problem, state, most)
        if not n_splits:
            break
        candidate = sweep_restarts(problem, with_clusters(problem, state, eta, columns), max_iter, LOOSE_TOL).state
        if candidate.bounds[0] > state.bounds[0]:
            state = candidate
        else:
            most = min(most, n_splits) // 2
    return state


def split_views(
    problem: MCVCProblem, state: MCVCState, most: int
) -> tuple[np.ndarray, int, Int[np.ndarray, " columns"]]:
    """η after at most so many splits, those first that the evidence favours; their number and views."""
    views = followed_views(state)
    hard = state.eta[:, :, views].argmax(1)
    same, apart = (weights[:, views] for weights in view_weights(state))
    second, gain = halves(problem.evidence, hard, problem.n_clusters, same=same, apart=apart)
    free = [list(np.flatnonzero(own < EMPTY)) for own in state.eta[:, :, views].sum(0).T]
    eta, n_splits, changed = state.eta.copy(), 0, set[int]()
    for cluster, place in zip(*np.unravel_index(np.argsort(-gain, axis=None), gain.shape), strict=True):
        if n_splits == most or gain[cluster, place] <= 0:
            break
        if free[place]:
            move = second[:, place] & (hard[:, place] == cluster)
            view, other = views[place], free[place].pop()
            eta[move, other, view], eta[move, cluster, view] = eta[move, cluster, view], eta[move, other, view]
            n_splits, changed = n_splits + 1, changed | {int(view)}
    return eta, n_splits, np.array(sorted(changed), dtype=int)


def followed_views(state: MCVCState) -> Int[np.ndarray, " views"]:
    """Views that annotators hold, of one restart."""
    return np.flatnonzero(state.phi[:, 0].sum(0) > FOLLOWED)


def view_weights(state: MCVCState) -> tuple[np.ndarray, np.ndarray]:
    """Weights of judgements "same" and "apart" in each view, of one restart: (annotators, views)."""
    same, apart = pair_weights(state)
    return state.phi[:, 0] * same, state.phi[:, 0] * apart
