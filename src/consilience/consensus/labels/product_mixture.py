"""Mixture of discrete product distributions, fitted by expectation maximisation.

The model of Zhao & Zucker, Stagewise Learning for Sparse Clustering of Discretely-Valued Data, section 2; with as many
components as labels, that of Dawid & Skene (1979); on partitions, that of Topchy, Jain & Punch (2004).

Model
-----
    y_n          ~ Categorical(ω)                 component of item n
    x_ni | y_n=k ~ Categorical(μ_ki)              label of item n by annotator i, one of R

Symbols
-------
    paper   here                  shape
    ω       exp(log_weights)      (components,)
    μ_kir   exp(log_table)        (annotators * labels, components), one row for each column of the one-hot labels
    f(k|x)  posterior             (items, components)

Updates
-------
    E-step   q_nk ∝ ω_k Π_i μ_k,i,x_ni
    M-step   ω_k = mean_n q_nk;   μ_kir ∝ Σ_n q_nk 1[x_ni = r] + ε

Decided here
------------
An annotator who did not label an item has no factor in its product: labels are assumed to be missing independently of
the class, so that the probability of missing cancels. Every label has a pseudo-count ε, a Dirichlet(1 + ε) prior of
μ_ki, and every component one of ε, so that no logarithm is -∞; the bound is ln p(labels, ω, μ), with all constants.
With as many components as labels, components are matched with the labels' names by the assignment that maximises the
agreement of labels and components beyond chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from consilience.inference import Trace
from consilience.inference.iterate import Loop, begin
from consilience.inference.product_distributions import Expectation, LabelsOfItems, Responsibilities, sums_of

SMOOTHING = 0.01
RANDOM_CONCENTRATION = 1.0  # of the Dirichlet distribution that random responsibilities are drawn from


@dataclass(frozen=True)
class ProductMixtureState:
    """Parameters, and the sums of the items' posteriors under them.

    log_weights : (components,) ln ω.
    log_table : (columns, components) ln μ.
    log_prior : ln p(ω, μ), nats.
    expected : sums of the posteriors under these parameters.
    """

    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    log_prior: float
    expected: Expectation


def m_step(
    expected: Expectation, n_labels: int, smoothing: float
) -> tuple[Float[np.ndarray, " components"], Float[np.ndarray, "columns components"]]:
    """Return ln ω and ln μ from expected counts."""
    size = expected.sizes + smoothing
    count = expected.counts.reshape(-1, n_labels, len(size)) + smoothing
    table = np.log(count / count.sum(1, keepdims=True))
    return np.log(size / size.sum()), table.reshape(-1, len(size))


def log_prior(log_weights: np.ndarray, log_table: np.ndarray, n_labels: int, smoothing: float) -> float:
    """ln p(ω, μ): Dirichlet(1 + ε) for ω and for every μ_ki."""

    def constant(size: int) -> float:
        return float(gammaln(size * (1 + smoothing)) - size * gammaln(1 + smoothing))

    logs = smoothing * float(log_weights.sum() + log_table.sum())
    return logs + constant(len(log_weights)) + (log_table.size // n_labels) * constant(n_labels)


def step(state: ProductMixtureState, onehot: LabelsOfItems, n_labels: int, smoothing: float) -> ProductMixtureState:
    """M-step from the current sums, then the E-step."""
    return mixture_of(state.expected, onehot, n_labels, smoothing)


def mixture_of(expected: Expectation, onehot: LabelsOfItems, n_labels: int, smoothing: float) -> ProductMixtureState:
    """Return the mixture estimated from sums of posteriors."""
    weights, table = m_step(expected, n_labels, smoothing)
    prior = log_prior(weights, table, n_labels, smoothing)
    return ProductMixtureState(weights, table, prior, onehot.expectation(weights, table))


def lower_bound(state: ProductMixtureState) -> float:
    """ln p(labels, ω, μ), nats; after an E-step the bound is tight."""
    return state.expected.log_likelihood + state.log_prior


def run(
    start: Responsibilities | Expectation,
    onehot: LabelsOfItems,
    n_labels: int,
    *,
    smoothing: float = SMOOTHING,
    max_iter: int,
    tol: float,
    loop: Loop = begin,
) -> Trace[ProductMixtureState]:
    """Iterate from the M-step of responsibilities, or of their sums, until the bound converges."""
    return loop(
        lambda: mixture_of(sums_of(start, onehot), onehot, n_labels, smoothing),
        lambda state: step(state, onehot, n_labels, smoothing),
        lower_bound,
        max_iter=max_iter,
        tol=tol,
    )


def draw_responsibilities(seed: int, n_items: int, n_components: int) -> Responsibilities:
    """Draw the responsibilities that a restart begins with."""
    return np.random.default_rng(seed).dirichlet(np.full(n_components, RANDOM_CONCENTRATION), n_items)


def match_labels(counts: Float[np.ndarray, "annotators labels components"]) -> Int[np.ndarray, " labels"]:
    """Match a component to each label: the assignment with the largest total agreement beyond chance.

    The agreement of a label and a component beyond chance is the expected number of such labels in the component, less
    the number expected from the annotator's share of that label.
    """
    size, share = counts.sum(1, keepdims=True), counts.sum(2, keepdims=True)
    total = np.maximum(size.sum(2, keepdims=True), 1e-300)  # 0 / 0 for annotators without labels
    beyond = (counts - size * share / total).sum(0)
    return linear_sum_assignment(-beyond)[1]
