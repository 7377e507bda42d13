"""Mixture of an unknown number of Gaussians over uncertain points: the clusters of `crowdclustering`.

A point is given by its moments u, E[y yᵀ] of y = (x, 1), in which everything is linear: see `PointLayout`. The model
and its symbols are those of `crowdclustering`:

    v_k ~ Beta(1, γ),  Λ_k ~ Wishart(ν₀, S₀⁻¹),  μ_k ~ N(0, (β₀ Λ_k)⁻¹),  z_i ~ Categorical(π),  x_i ~ N(μ_k, Λ_k⁻¹)

Updates as in every Dirichlet-process mixture of Gaussians (Blei & Jordan 2006, Bayesian Analysis 1), truncated at K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float, Int
from scipy.special import digamma, entr, logsumexp, multigammaln
from sklearn.cluster import KMeans

from consilience.inference import iterate
from consilience.inference.exponential_family import expected_log_dirichlet, kl_dirichlet

KMEANS_STARTS = 3
SWEEPS = 200
TOL = 1e-5

Points = Float[np.ndarray, "items moments"]


@dataclass(frozen=True)
class PointMixturePrior:
    """Variances of x, W and τ; γ; and the expected variance within clusters."""

    item_variance: float = 5.0
    weight_variance: float = 10.0
    bias_variance: float = 1.0
    stick: float = 1.0
    within: float = 0.5

    @property
    def strength(self) -> float:
        """β₀, by which the variance of the centres, within / β₀, is the points' variance less that within clusters."""
        return self.within / (self.item_variance - self.within)


@dataclass(frozen=True)
class PointLayout:
    """Upper triangles of symmetric matrices as vectors, for points of D dimensions.

    moments : (moments, D + 1, D + 1)   Y = Σ_m u_m H_m, Y = E[y yᵀ]; the last D + 1 of u are E[y]
    weights : (weights, D + 1, D + 1)   A = Σ_p w_p y_aᵀ E_p y_b
    square  : (weights², moments²)      E[A²] = Σ_pq E[w_p w_q] u_aᵀ K_pq u_b
    """

    row: Int[np.ndarray, " pairs"]
    column: Int[np.ndarray, " pairs"]
    moments: Float[np.ndarray, "moments size size"]
    weights: Float[np.ndarray, "weights size size"]
    square: Float[np.ndarray, "weights2 moments2"]

    @classmethod
    def of(cls, n_components: int) -> PointLayout:
        """Build the layout for a number of dimensions."""
        row, column = np.triu_indices(n_components)
        last = np.arange(n_components + 1)
        rows, columns = np.append(row, last), np.append(column, np.full(len(last), n_components))
        h = np.zeros((len(rows), len(last), len(last)))
        h[np.arange(len(rows)), rows, columns] = h[np.arange(len(rows)), columns, rows] = 1
        e = np.concatenate([h[: len(row)], h[-1:]])
        k = np.einsum("mdf,pde,neg,qgf->pqmn", h, e, h, e, optimize=True)
        return cls(row, column, h, e, k.reshape(len(e) ** 2, -1))

    @property
    def n_components(self) -> int:
        """D."""
        return self.moments.shape[1] - 1

    def points(self, mean: np.ndarray, covariance: np.ndarray) -> Points:
        """Return the moments of Gaussians."""
        second = covariance + mean[:, :, None] * mean[:, None, :]
        return np.column_stack([second[:, self.row, self.column], mean, np.ones(len(mean))])

    def means(self, points: Points) -> Float[np.ndarray, "items components"]:
        """E[x]."""
        return points[:, len(self.row) : -1]

    def second_moments(self, points: Points) -> Float[np.ndarray, "items components components"]:
        """E[x xᵀ]."""
        second = np.empty((len(points), self.n_components, self.n_components))
        second[:, self.row, self.column] = second[:, self.column, self.row] = points[:, : len(self.row)]
        return second

    def entropies(self, points: Points) -> Float[np.ndarray, " items"]:
        """Entropies of the Gaussians with these moments."""
        mean = self.means(points)
        _, log_determinant = np.linalg.slogdet(self.second_moments(points) - mean[:, :, None] * mean[:, None, :])
        return (log_determinant + self.n_components * (1 + np.log(2 * np.pi))) / 2

    def coefficients(self, precision: np.ndarray, linear: np.ndarray, constant: np.ndarray) -> Points:
        """Return c with c·u = constant + E[linear·x − xᵀ precision x / 2]."""
        double = np.where(self.row == self.column, 0.5, 1.0)  # off the diagonal, an entry stands for two
        return np.column_stack([-double * precision[:, self.row, self.column], linear, constant])

    def maximum(self, coefficients: Points) -> Points:
        """Moments of the Gaussians that maximise coefficients·u + entropy."""
        half = self.second_moments(coefficients)  # an off-diagonal coefficient represents two entries
        precision = -half
        diagonal = np.arange(self.n_components)
        precision[:, diagonal, diagonal] *= 2
        covariance = np.linalg.inv(precision)
        covariance = (covariance + covariance.swapaxes(1, 2)) / 2
        return self.points((covariance @ self.means(coefficients)[:, :, None])[:, :, 0], covariance)


@dataclass(frozen=True)
class PointMixture:
    """q(z), q(v), q(μ, Λ); see the module docstring."""

    share: Float[np.ndarray, "items clusters"]
    sticks: Float[np.ndarray, "sticks 2"]
    centre: Float[np.ndarray, "clusters components"]
    strength: Float[np.ndarray, " clusters"]
    freedom: Float[np.ndarray, " clusters"]
    scatter: Float[np.ndarray, "clusters components components"]


def update_mixture(
    layout: PointLayout, prior: PointMixturePrior, points: Points, mixture: PointMixture
) -> PointMixture:
    """q(μ, Λ), q(v), q(z)."""
    sums = mixture.share.T @ points
    size = sums[:, -1]
    strength, freedom = prior.strength + size, layout.n_components + 2 + size
    centre = layout.means(sums) / strength[:, None]
    between = strength[:, None, None] * centre[:, :, None] * centre[:, None, :]
    scatter = _prior_scatter(layout, prior) + layout.second_moments(sums) - between
    later = size[::-1].cumsum()[::-1] - size
    sticks = np.column_stack([1 + size[:-1], prior.stick + later[:-1]])
    moved = PointMixture(mixture.share, sticks, centre, strength, freedom, scatter)
    score = expected_log_sticks(sticks) + points @ cluster_coefficients(layout, moved).T
    return replace(moved, share=np.exp(score - logsumexp(score, axis=1, keepdims=True)))


def mixture_bound(layout: PointLayout, prior: PointMixturePrior, points: Points, mixture: PointMixture) -> float:
    """Bound on the expected log density of the points, nats."""
    likely = mixture.share * (points @ cluster_coefficients(layout, mixture).T)
    return float(likely.sum() - divergence(layout, prior, mixture))


def mixtures_of(
    layout: PointLayout,
    prior: PointMixturePrior,
    points: Points,
    n_clusters: int,
    *,
    fewest: int = 1,
    rng: np.random.Generator,
) -> list[PointMixture]:
    """Fit mixtures to the means of points, from k-means with each number of clusters; the highest bounds come first.

    The numbers run from `fewest` to `n_clusters`, or to the number of distinct points if it is smaller.
    """
    means = layout.means(points)
    exact = layout.points(means, np.zeros((len(means), *2 * means.shape[1:])))
    sweep, bound = partial(update_mixture, layout, prior, exact), partial(mixture_bound, layout, prior, exact)
    traces = []
    most = min(n_clusters, len(np.unique(means.round(9), axis=0)))  # k-means finds no more clusters than points differ
    for number in range(min(fewest, most), most + 1):
        found = KMeans(number, n_init=KMEANS_STARTS, random_state=int(rng.integers(2**31))).fit_predict(means)
        by_size = np.argsort(-np.bincount(found, minlength=n_clusters), kind="stable")
        # ranks by size: sticks are broken in this order
        start = at_rest(layout, prior, np.eye(n_clusters)[np.argsort(by_size)[found]])
        traces.append(iterate(start, sweep, bound, max_iter=SWEEPS, tol=TOL))
    return [trace.state for trace in sorted(traces, key=lambda trace: -trace.lower_bound)]


def cluster_coefficients(layout: PointLayout, mixture: PointMixture) -> Float[np.ndarray, "clusters moments"]:
    """c_k: E ln N(x; μ_k, Λ_k⁻¹) = c_k·u."""
    d = layout.n_components
    precision, log_precision = expected_precision(mixture)
    linear = (precision @ mixture.centre[:, :, None])[:, :, 0]
    square = (linear * mixture.centre).sum(1) + d / mixture.strength
    return layout.coefficients(precision, linear, (log_precision - d * np.log(2 * np.pi) - square) / 2)


def expected_log_sticks(sticks: Float[np.ndarray, "sticks 2"]) -> Float[np.ndarray, " clusters"]:
    """E ln π_k."""
    logs = np.pad(expected_log_dirichlet(sticks), ((0, 1), (0, 0)))
    return np.asarray(logs[:, 0] + logs[:, 1].cumsum() - logs[:, 1])


def expected_sticks(sticks: Float[np.ndarray, "sticks 2"]) -> Float[np.ndarray, " clusters"]:
    """E π_k."""
    left, rest = (sticks / sticks.sum(1, keepdims=True)).T
    return np.append(left, 1.0) * np.append(1.0, rest.cumprod())


def prior_points(
    layout: PointLayout, prior: PointMixturePrior, mixture: PointMixture | None
) -> Float[np.ndarray, " moments"]:
    """Moments of a point without judgements; without a mixture, those of the first stage."""
    d = layout.n_components
    if mixture is None:
        return layout.points(np.zeros((1, d)), prior.item_variance * np.eye(d)[None])[0]
    within = mixture.scatter / (mixture.freedom - d - 1)[:, None, None]  # mean of an inverse Wishart distribution
    covariance = within * (1 + 1 / mixture.strength)[:, None, None]
    return np.asarray(expected_sticks(mixture.sticks) @ layout.points(mixture.centre, covariance))


def at_rest(layout: PointLayout, prior: PointMixturePrior, share: Float[np.ndarray, "items clusters"]) -> PointMixture:
    """Mixture with these shares, and everything else as in the prior."""
    n_clusters, d = share.shape[1], layout.n_components
    return PointMixture(
        share=share,
        sticks=np.tile([1.0, prior.stick], (n_clusters - 1, 1)),
        centre=np.zeros((n_clusters, d)),
        strength=np.full(n_clusters, prior.strength),
        freedom=np.full(n_clusters, d + 2.0),  # the fewest with which a covariance has a mean
        scatter=np.tile(_prior_scatter(layout, prior), (n_clusters, 1, 1)),
    )


def divergence(layout: PointLayout, prior: PointMixturePrior, mixture: PointMixture) -> float:
    """KL divergence of q(v) and q(μ, Λ), and the expected one of q(z) from π."""
    d = layout.n_components
    of_sticks = kl_dirichlet(mixture.sticks, np.tile([1.0, prior.stick], (len(mixture.sticks), 1)))
    of_items = (mixture.share @ expected_log_sticks(mixture.sticks)).sum() + entr(mixture.share).sum()
    precision, log_precision = expected_precision(mixture)
    start, freedom = _prior_scatter(layout, prior), mixture.freedom
    length = np.einsum("kd,kde,ke->k", mixture.centre, precision, mixture.centre)
    ratio = prior.strength / mixture.strength
    of_centres = (d * (ratio - 1 - np.log(ratio)) + prior.strength * length) / 2
    trace = np.einsum("kde,ked->k", precision, mixture.scatter - start)
    of_precisions = (
        _log_normalizer(mixture.scatter, freedom)
        - _log_normalizer(start[None], np.array([d + 2.0]))
        + ((freedom - d - 2) * log_precision - trace) / 2
    )
    return float(np.sum(of_sticks) - of_items + of_centres.sum() + of_precisions.sum())


def _prior_scatter(layout: PointLayout, prior: PointMixturePrior) -> Float[np.ndarray, "components components"]:
    """S₀: with ν₀ = D + 2, the expected covariance within clusters."""
    return prior.within * np.eye(layout.n_components)


def expected_precision(mixture: PointMixture) -> tuple[np.ndarray, np.ndarray]:
    """E Λ_k and E ln |Λ_k|."""
    d = mixture.centre.shape[1]
    _, log_determinant = np.linalg.slogdet(mixture.scatter)
    digammas = digamma((mixture.freedom[:, None] - np.arange(d)) / 2).sum(1)
    precision = mixture.freedom[:, None, None] * np.linalg.inv(mixture.scatter)
    return (precision + precision.swapaxes(1, 2)) / 2, digammas + d * np.log(2) - log_determinant


def _log_normalizer(scatter: np.ndarray, freedom: np.ndarray) -> Float[np.ndarray, " clusters"]:
    """Log of the normalising constant of the Wishart density."""
    d = scatter.shape[1]
    _, log_determinant = np.linalg.slogdet(scatter)
    gammas = np.array([multigammaln(nu / 2, d) for nu in freedom])
    return freedom / 2 * (log_determinant - d * np.log(2)) - gammas
