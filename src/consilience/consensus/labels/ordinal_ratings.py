"""OrdinalRatings: a latent value of each item, seen by raters who each have a bias, a slope, a noise and lapses.

Ordered probit with random raters; Johnson (1996), On Bayesian analysis of multirater ordinal data: an application to
automated essay grading. JASA 91; Rogers, Girolami & Polajnar (2010), Semi-parametric analysis of multi-rater data.
Statistics and Computing 20.

Model
-----
    x_n ~ N(μ, σ²)                                            value of item n, in levels: level k is [k − ½, k + ½)
    v_nj = o + a_j (x_n − o) + b_j + s_j ε,  ε ~ N(0, 1)      what rater j sees; o is the mean label
    y_nj = the level of v_nj, with probability 1 − λ_j        label; values beyond the ends are of the end levels
           a level drawn from the shares r of all labels      else: a lapse
    a_j ~ N(1, .35²) on [0, 1.6],  b_j ~ N(0, τ²),  ln s_j ~ N(m, ρ²),  λ_j ~ Beta(1.5, 10.5)
    τ² ~ InverseGamma(2, 2 (.4 u)²),  ρ² ~ InverseGamma(2, 2 · .4²),  m ~ N(ln .7 u, 1),  with u = K / 5
    (μ − o) / u ~ N(0, 2²),  σ² ~ InverseGamma(2, 2 u²)

Symbols
-------
    above   here             shape
    x       grid.values      (cells,)               a value for each of `each` cells of every level
    y       onehot           (items, raters × levels)
    a b s   slope bias noise (raters,)
    λ       lapse            (raters,)
    r       shares           (levels,)
    μ σ     mean spread
    τ m ρ   bias_spread noise_mean noise_spread
    o u     grid.origin grid.unit

Updates
-------
    E   q_n(c) ∝ p(c | μ, σ) Π_j p(y_nj | x_c);   N_j(c, k) = Σ_n q_n(c) [y_nj = k]
        p(y = k | x_c) = (1 − λ) d + λ r_k,   d = Φ((k + ½ − v̄) / s) − Φ((k − ½ − v̄) / s),   v̄ = o + a (x_c − o) + b
        and of N_j, M_j are those that are no lapses: the share (1 − λ) d of p
    M   λ_j = (.5 + Σ (N_j − M_j)) / (10 + Σ N_j);   a, b, ln s of each rater: a step of Fisher scoring of
        Σ M_j ln d + ln prior, of the lengths 1, ½, ¼, … 0 that gains most;
        μ, σ, τ, m, ρ: in closed form; x within its cell has the moments of a truncated normal

Decided here
------------
Parameters are maximised over, x and lapses are summed over, exactly on the grid: this is (generalised) EM, and
`lower_bound` is ln p(labels, parameters). The likelihood is taken at one value of a cell, the middle; the cells of the
end levels reach outwards, and the outermost without end. The priors are the same in units of a fifth of the scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from jaxtyping import Float
from scipy.special import log_ndtr, ndtr, xlogy

from consilience.inference.iterate import Loop, Trace, begin
from consilience.inference.product_distributions import Expectation, LabelsOfItems

CELLS = 35  # at least, of all levels
BEYOND = 0.5  # units by which the values of the end levels reach beyond the scale
SLOPE_SPREAD, STEEPEST = 0.35, 1.6
NARROWEST, WIDEST = 0.1, 4.0  # noise, in units
LAPSE, USUAL_LAPSE = (1.5, 10.5), 0.05  # of the Beta distribution; its mode
SHAPE = 2.0  # of the inverse gamma distributions
TYPICAL_BIAS, TYPICAL_NOISE, TYPICAL_NOISE_SPREAD = 0.4, 0.7, 0.4
LENGTHS = np.array([0.0, 0.02, 0.1, 0.25, 0.5, 1.0])  # of steps, relative to those of Fisher scoring
TINY = 1e-12
CHUNK_ENTRIES = 1 << 20  # of lengths × raters × cells × levels in memory at a time

PerRater = Float[np.ndarray, " raters"]
OfCells = Float[np.ndarray, "raters cells levels"]
Number = TypeVar("Number", float, np.ndarray)


@dataclass(frozen=True)
class ValueGrid:
    """Cells of the latent value, as many of each level.

    values : a value in each cell.
    edges : between cells, from −∞ to ∞.
    n_levels : int
    origin : o, the value at which the slope of raters changes nothing.
    unit : u, a fifth of the scale.
    """

    values: Float[np.ndarray, " cells"]
    edges: Float[np.ndarray, " edges"]
    n_levels: int
    origin: float
    unit: float

    @classmethod
    def of(cls, n_levels: int, origin: float) -> ValueGrid:
        each, unit = -(-CELLS // n_levels), n_levels / 5
        ends = np.arange(n_levels + 1) - 0.5
        ends[[0, -1]] += BEYOND * unit * np.array([-1, 1])
        edges = np.interp(np.arange(n_levels * each + 1) / each, np.arange(n_levels + 1), ends)
        values = (edges[:-1] + edges[1:]) / 2
        edges[[0, -1]] = -np.inf, np.inf
        return cls(values, edges, n_levels, origin, unit)

    @property
    def thresholds(self) -> Float[np.ndarray, " thresholds"]:
        """Values between the levels."""
        return np.arange(self.n_levels - 1) + 0.5


@dataclass(frozen=True)
class Raters:
    """slope, bias, noise, lapse : a, b, s, λ of each."""

    slope: PerRater
    bias: PerRater
    noise: PerRater
    lapse: PerRater


@dataclass(frozen=True)
class RatingsState:
    """Parameters, and the sums over items under them."""

    raters: Raters
    mean: float
    spread: float
    bias_spread: float
    noise_mean: float
    noise_spread: float
    expected: Expectation


@dataclass(frozen=True)
class RatingsProblem:
    """onehot : labels, with a component for each cell. shares : r of each level."""

    onehot: LabelsOfItems
    grid: ValueGrid
    shares: Float[np.ndarray, " levels"]


def init(problem: RatingsProblem, n_raters: int, mean: float, spread: float) -> RatingsState:
    """Return raters who are all alike, and items that vary by as much as labels do."""
    unit, one = problem.grid.unit, np.ones(n_raters)
    raters = Raters(one, 0 * one, TYPICAL_NOISE * unit * one, USUAL_LAPSE * one)
    noise_mean = float(np.log(TYPICAL_NOISE * unit))
    nothing = Expectation(np.nan, np.empty(0), np.empty((0, 0)))
    state = RatingsState(
        raters, mean, max(spread, 0.1 * unit), TYPICAL_BIAS * unit, noise_mean, TYPICAL_NOISE_SPREAD, nothing
    )
    return expect(state, problem)


def run(
    problem: RatingsProblem, n_raters: int, spread: float, *, max_iter: int, tol: float, loop: Loop = begin
) -> Trace[RatingsState]:
    """Sweep from `init` until ln p(labels, parameters) stands still; `loop` runs the sweeps."""
    return loop(
        lambda: init(problem, n_raters, problem.grid.origin, spread),
        lambda state: step(state, problem),
        lambda state: lower_bound(state, problem),
        max_iter=max_iter,
        tol=tol,
    )


def step(state: RatingsState, problem: RatingsProblem) -> RatingsState:
    """M, then E."""
    raters = update_raters(state, problem)
    bias_spread = float(np.sqrt(_mode_of_variance(raters.bias**2, TYPICAL_BIAS * problem.grid.unit)))
    noise_mean, noise_spread = update_noise_prior(np.log(raters.noise), state.noise_spread, problem.grid.unit)
    mean, spread = update_items_prior(state, problem.grid)
    return expect(RatingsState(raters, mean, spread, bias_spread, noise_mean, noise_spread, state.expected), problem)


def expect(state: RatingsState, problem: RatingsProblem) -> RatingsState:
    """E."""
    weights, table = log_weights(state, problem.grid), log_table(state.raters, problem)
    return replace(state, expected=problem.onehot.expectation(weights, table))


def log_weights(state: RatingsState, grid: ValueGrid) -> Float[np.ndarray, " cells"]:
    """ln p(c | μ, σ) of each cell."""
    z = (grid.edges - state.mean) / state.spread
    return _log_between(z[:-1], z[1:])


def log_table(raters: Raters, problem: RatingsProblem) -> Float[np.ndarray, "columns cells"]:
    """ln p(y = k | x_c), with a row for each rater and level."""
    table = np.log(probabilities(raters, problem.grid, problem.shares))
    return table.transpose(0, 2, 1).reshape(-1, len(problem.grid.values))


def probabilities(raters: Raters, grid: ValueGrid, shares: Float[np.ndarray, " levels"]) -> OfCells:
    """p(y = k | x_c) of each rater."""
    lapse = raters.lapse[:, None, None]
    return (1 - lapse) * attentive(raters.slope, raters.bias, raters.noise, grid) + lapse * shares


def attentive(slope: PerRater, bias: PerRater, noise: PerRater, grid: ValueGrid) -> OfCells:
    """d: the probability of each label of each rater that is no lapse."""
    below = ndtr(_scale_thresholds(slope, bias, noise, grid))
    end = np.ones((*below.shape[:2], 1))
    return np.maximum(np.diff(np.concatenate([0 * end, below, end], axis=2), axis=2), TINY)


def update_raters(state: RatingsState, problem: RatingsProblem) -> Raters:
    """λ in closed form; a step of a, b and ln s of every rater, some raters at a time."""
    n_raters, per_rater = len(state.raters.bias), len(LENGTHS) * len(problem.grid.values) * problem.grid.n_levels
    size = max(CHUNK_ENTRIES // per_rater, 1)
    parts = [update_some(slice(first, first + size), state, problem) for first in range(0, n_raters, size)]
    slope, bias, log_noise, lapse = np.concatenate(parts).T
    return Raters(slope, bias, np.exp(log_noise), lapse)


def update_some(which: slice, state: RatingsState, problem: RatingsProblem) -> Float[np.ndarray, "some 4"]:
    """a, b, ln s and λ of some raters."""
    raters, grid, n_cells = state.raters, problem.grid, len(problem.grid.values)
    slope, bias, noise = raters.slope[which], raters.bias[which], raters.noise[which]
    lapse = raters.lapse[which, None, None]
    counts = state.expected.counts.reshape(-1, grid.n_levels, n_cells)[which].transpose(0, 2, 1)
    keen = (1 - lapse) * attentive(slope, bias, noise, grid)
    heeded = counts * keen / (keen + lapse * problem.shares)
    n_labels, n_heeded = counts.sum((1, 2)), heeded.sum((1, 2))
    lapses = (LAPSE[0] - 1 + n_labels - n_heeded) / (sum(LAPSE) - 2 + n_labels)
    now = np.column_stack([slope, bias, np.log(noise)])
    best = max_gain(now, scoring_step(now, heeded, state, grid), heeded, state, grid)
    return np.column_stack([best, lapses.clip(TINY, 1 - TINY)])


def scoring_step(
    now: Float[np.ndarray, "raters 3"], heeded: OfCells, state: RatingsState, grid: ValueGrid
) -> Float[np.ndarray, "raters 3"]:
    """Return the step of Fisher scoring of a, b and ln s of each rater."""
    score, probability = score_of_labels(now, grid)
    expected = heeded.sum(2, keepdims=True) * probability
    gradient = np.einsum("jck,jckp->jp", heeded, score) - (now - _means(state)) * _precisions(state)
    information = np.einsum("jck,jckp,jckq->jpq", expected, score, score) + np.diag(_precisions(state))
    return np.linalg.solve(information, gradient[..., None])[..., 0]


def score_of_labels(
    parameters: Float[np.ndarray, "raters 3"], grid: ValueGrid
) -> tuple[Float[np.ndarray, "raters cells levels 3"], OfCells]:
    """Return the derivatives of ln d by a, b and ln s, and d."""
    slope, bias, noise = parameters[:, 0], parameters[:, 1], np.exp(parameters[:, 2])
    z = _scale_thresholds(slope, bias, noise, grid)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    of_value = -(grid.values - grid.origin)[:, None] / noise[:, None, None]
    by_parameter = np.stack(
        [density * of_value, -density / noise[:, None, None], -density * z], axis=3
    )  # of Φ at each threshold
    nothing = np.zeros((*by_parameter.shape[:2], 1, 3))
    change = np.diff(np.concatenate([nothing, by_parameter, nothing], axis=2), axis=2)
    probability = attentive(slope, bias, noise, grid)
    return change / probability[..., None], probability


def max_gain(
    now: Float[np.ndarray, "raters 3"],
    change: Float[np.ndarray, "raters 3"],
    heeded: OfCells,
    state: RatingsState,
    grid: ValueGrid,
) -> Float[np.ndarray, "raters 3"]:
    """Return the parameters of each rater after the length of the step that gains most, which may be none."""
    there = now + LENGTHS[:, None, None] * change
    there[..., 0] = np.clip(there[..., 0], 0, STEEPEST)
    there[..., 2] = np.clip(there[..., 2], *np.log(np.array([NARROWEST, WIDEST]) * grid.unit))
    there[0] = now
    slope, bias, log_noise = there.reshape(-1, 3).T
    probability = attentive(slope, bias, np.exp(log_noise), grid).reshape(len(LENGTHS), *heeded.shape)
    gain = (heeded * np.log(probability)).sum((2, 3))
    gain -= ((there - _means(state)) ** 2 * _precisions(state)).sum(2) / 2
    return there[gain.argmax(0), np.arange(len(now))]


def update_noise_prior(log_noise: PerRater, noise_spread: float, unit: float) -> tuple[float, float]:
    """Return m and ρ."""
    typical, precision = np.log(TYPICAL_NOISE * unit), 1 / noise_spread**2
    mean = float((log_noise.sum() * precision + typical) / (len(log_noise) * precision + 1))
    return mean, float(np.sqrt(_mode_of_variance((log_noise - mean) ** 2, TYPICAL_NOISE_SPREAD)))


def update_items_prior(state: RatingsState, grid: ValueGrid) -> tuple[float, float]:
    """Return μ and σ."""
    sizes, unit = state.expected.sizes, grid.unit
    first, second = moments_within(grid.edges, state.mean, state.spread)
    precision = 1 / state.spread**2
    total, prior = sizes.sum(), 1 / (2 * unit) ** 2
    mean = float((sizes @ first * precision + grid.origin * prior) / (total * precision + prior))
    squares = sizes @ (second - 2 * mean * first + mean**2)
    return mean, float(np.sqrt((squares + 2 * SHAPE * unit**2) / (total + 2 * SHAPE + 2)))


def moments_within(
    edges: Float[np.ndarray, " edges"], mean: float, spread: float
) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    """E[x] and E[x²] of N(mean, spread²) within each cell."""
    z = (edges - mean) / spread
    log_density = -(z**2) / 2 - np.log(2 * np.pi) / 2
    log_mass = _log_between(z[:-1], z[1:])
    lower, upper = np.exp(log_density[:-1] - log_mass), np.exp(log_density[1:] - log_mass)
    ends = np.nan_to_num(z, posinf=0, neginf=0)
    first = lower - upper
    second = 1 + ends[:-1] * lower - ends[1:] * upper
    return mean + spread * first, mean**2 + 2 * mean * spread * first + spread**2 * second


def lower_bound(state: RatingsState, problem: RatingsProblem) -> float:
    """ln p(labels, parameters), nats."""
    return state.expected.log_likelihood + log_prior(state, problem.grid)


def log_prior(state: RatingsState, grid: ValueGrid) -> float:
    """ln p(parameters), with all that depends on them."""
    raters, unit = state.raters, grid.unit
    now = np.column_stack([raters.slope, raters.bias, np.log(raters.noise)])
    of_raters = -((now - _means(state)) ** 2 * _precisions(state)) / 2 + np.log(_precisions(state)) / 2
    of_lapses = xlogy(LAPSE[0] - 1, raters.lapse) + xlogy(LAPSE[1] - 1, 1 - raters.lapse)
    return float(
        of_raters.sum()
        + of_lapses.sum()
        + _log_inverse_gamma(state.bias_spread**2, TYPICAL_BIAS * unit)
        + _log_inverse_gamma(state.noise_spread**2, TYPICAL_NOISE_SPREAD)
        + _log_inverse_gamma(state.spread**2, unit)
        - (state.noise_mean - np.log(TYPICAL_NOISE * unit)) ** 2 / 2
        - ((state.mean - grid.origin) / (2 * unit)) ** 2 / 2
    )


def _means(state: RatingsState) -> Float[np.ndarray, "3"]:
    return np.array([1.0, 0.0, state.noise_mean])


def _precisions(state: RatingsState) -> Float[np.ndarray, "3"]:
    return np.array([SLOPE_SPREAD, state.bias_spread, state.noise_spread]) ** -2.0


def _scale_thresholds(slope: PerRater, bias: PerRater, noise: PerRater, grid: ValueGrid) -> OfCells:
    """Return the thresholds as the noise has them: (k + ½ − v̄) / s."""
    seen = grid.origin + slope[:, None] * (grid.values - grid.origin) + bias[:, None]
    return (grid.thresholds - seen[..., None]) / noise[:, None, None]


def _mode_of_variance(squares: PerRater, typical: float) -> float:
    """Return the most probable variance of zero-mean values under InverseGamma(SHAPE, SHAPE typical²)."""
    return float((squares.sum() + 2 * SHAPE * typical**2) / (len(squares) + 2 * SHAPE + 2))


def _log_inverse_gamma(variance: float, typical: float) -> float:
    return float(-(SHAPE + 1) * np.log(variance) - SHAPE * typical**2 / variance)


def _log_between(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """ln(Φ(upper) − Φ(lower)), on the side where both are small."""
    swap = lower > 0
    low, high = np.where(swap, -upper, lower), np.where(swap, -lower, upper)
    of_high, of_low = log_ndtr(high), log_ndtr(low)
    return of_high + np.log1p(-np.exp(np.minimum(of_low - of_high, -1e-15)))
