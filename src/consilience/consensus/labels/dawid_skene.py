"""Dawid-Skene: every annotator has their own confusion matrix.

Dawid & Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm, Applied Statistics
28(1); here with a prior over the matrices that is learned from the crowd.

Model
-----
    π           ~ Dirichlet(1 + prior)            class proportions; see `pairs_of_labels`
    ρ_k         ~ Dirichlet(1, …, 1)              proportions of the subtypes of class k
    z_n         ~ Categorical(π ρ)                class and subtype of item n: its component
    y_nj | z_n=k ~ Categorical(θ_jk)              label of item n by annotator j
    θ                                             see `annotator_models`

With one subtype per class, the component is the class, and there is no ρ. `subtypes` finds how many there are.

Symbols
-------
    here                     shape
    z       responsibilities   (items, components)               q(z_n = k)
    θ       model.log_table    (annotators, labels, components)  E ln θ_jkl
    π ρ     log_weights        (components,)                     E ln π_k, + E ln ρ_k
    n       counts             (annotators, labels, components)  expected labels of items of each component

Updates
-------
    q(z_n = k) ∝ exp(E ln π_k + Σ_j E ln θ_j,k,y_nj)
    n_jkl      = Σ_n q(z_n = k) 1[y_nj = l]
    q(π)       = Dirichlet(1 + prior + Σ_n q(z_n)),  of classes;  q(ρ) likewise, of subtypes
    q(θ)       from n, by the annotator model

Decided here
------------
A missing label contributes nothing; of several labels that an annotator gives an item, each contributes its own term to
the sums over j, as an independent observation. The labels of an item by copies of one annotator (see `copies`) share
one weight: of m labels, each contributes 1 / m of its terms to q(z), n and the bound. The first responsibilities are
the shares of the votes. The class of a gold item is known: its q(z) is zero elsewhere, and the bound counts only the
terms of that class. An annotator's history is a table of counts from earlier labels, such as `confusion_counts_` of
another fit; it is evidence about θ, not about z.
The prior of π is worth `PAIRS_WORTH` items for each item with two labels, at the proportions that `pairs_of_labels`
finds.
With ``prior=None`` θ and π are point estimates, with a pseudo-count of 1e-6 for each label: maximum likelihood, as in
other packages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int
from scipy.special import gammaln

from consilience.annotations import Labels
from consilience.consensus.labels.annotator_models import (
    NO_PULL,
    AnnotatorModel,
    Counts,
    Hierarchical,
    OneCoin,
    Pull,
    Smoothed,
)
from consilience.consensus.labels.pairs_of_labels import PairSums, proportions_of_pairs
from consilience.inference import Trace
from consilience.inference.exponential_family import expected_log_dirichlet, kl_dirichlet
from consilience.inference.iterate import Loop, begin
from consilience.inference.product_distributions import (
    Expectation,
    LabelsOfItems,
    OneHotLabels,
    Responsibilities,
    sums_of,
    vote_shares,
)
from consilience.inference.sparse_tables import SparseTable

SMOOTHING = 1e-6  # pseudo-count of maximum likelihood
PAIRS_WORTH = 0.3  # items that the proportions from the pairs of an item's labels are worth


@dataclass(frozen=True)
class DawidSkeneEvidence:
    """Labels, gold items, history, and what is known of the proportions.

    onehot : labels, with the known classes of gold items: in chunks, or in partitions.
    history : (annotators, labels, components) counts of earlier labels, or 0.
    sizes : (classes,) imagined items of each class in the learned prior of π, or 0.
    n_subtypes : components of each class.
    pull : prior of the concentrations, see `annotator_models.Hierarchical`.
    """

    onehot: LabelsOfItems
    history: Counts | float
    sizes: Float[np.ndarray, " classes"] | float = 0.0
    n_subtypes: int = 1
    pull: Pull = NO_PULL

    @property
    def chunks(self) -> OneHotLabels:
        """The labels in memory, for what is asked of each item."""
        return cast(OneHotLabels, self.onehot)


@dataclass(frozen=True)
class DawidSkeneState:
    """Distributions of the annotators' matrices and of the proportions, and the sums of q(z) under them.

    model : annotator model.
    log_weights : (components,) E ln π + E ln ρ, or ln π.
    log_prior : contribution of q(θ), q(π) and q(ρ) to the bound, nats.
    expected : sums of q(z).
    """

    model: AnnotatorModel
    log_weights: Float[np.ndarray, " components"]
    log_prior: float
    expected: Expectation


def init(
    evidence: DawidSkeneEvidence, start: Responsibilities | Expectation, *, one_coin: bool, learned: bool
) -> DawidSkeneState:
    """M-step from the first responsibilities, or their sums, then the E-step."""
    expected = sums_of(start, evidence.onehot)
    counts = labels_of(expected, evidence) + evidence.history
    if one_coin:
        model: AnnotatorModel = OneCoin.of(counts, None if learned else SMOOTHING)
    else:
        model = Hierarchical.of(counts, evidence.pull) if learned else Smoothed.of(counts, SMOOTHING)
    return state_of(model, expected, evidence, learned=learned)


def run(
    start: Responsibilities | Expectation,
    evidence: DawidSkeneEvidence,
    *,
    one_coin: bool,
    learned: bool,
    max_iter: int,
    tol: float,
    loop: Loop = begin,
) -> Trace[DawidSkeneState]:
    """Iterate from the first responsibilities, or their sums, until the bound converges."""
    return loop(
        lambda: init(evidence, start, one_coin=one_coin, learned=learned),
        lambda state: step(state, evidence, learned=learned),
        lower_bound,
        max_iter=max_iter,
        tol=tol,
    )


def step(state: DawidSkeneState, evidence: DawidSkeneEvidence, *, learned: bool) -> DawidSkeneState:
    """M-step from the current sums, then the E-step."""
    model = state.model.update(labels_of(state.expected, evidence) + evidence.history)
    return state_of(model, state.expected, evidence, learned=learned)


def state_of(
    model: AnnotatorModel, expected: Expectation, evidence: DawidSkeneEvidence, *, learned: bool
) -> DawidSkeneState:
    """Update q(π) and q(ρ), and run the E-step under q(θ) and these."""
    sizes = expected.sizes.reshape(-1, evidence.n_subtypes)
    log_weights, from_weights = proportions(sizes.sum(1), evidence.sizes, learned=learned)
    if evidence.n_subtypes > 1:
        log_shares, from_shares = shares_of_subtypes(sizes)
        log_weights, from_weights = (log_weights[:, None] + log_shares).ravel(), from_weights + from_shares
    log_prior = model.log_prior(labels_of(expected, evidence)) + from_weights
    return DawidSkeneState(
        model, log_weights, log_prior, evidence.onehot.expectation(log_weights, columns_of(model.log_table))
    )


def columns_of(table: Counts | SparseTable) -> Any:
    """Return a table of annotators × labels and components, as the E-step reads it."""
    return table if isinstance(table, SparseTable) else table.reshape(-1, table.shape[2])


def proportions(
    sizes: Float[np.ndarray, " classes"], imagined: Float[np.ndarray, " classes"] | float, *, learned: bool
) -> tuple[np.ndarray, float]:
    """E ln π and -KL(q(π) ‖ p(π)); for maximum likelihood, ln π and ln p(π) under Dirichlet(1 + ε)."""
    if learned:
        prior = np.ones_like(sizes) + imagined
        return expected_log_dirichlet(prior + sizes), -float(kl_dirichlet(prior + sizes, prior))
    n_classes, seen = len(sizes), sizes + SMOOTHING
    logs = np.log(seen / seen.sum())
    constant = gammaln(n_classes * (1 + SMOOTHING)) - n_classes * gammaln(1 + SMOOTHING)
    return logs, float(SMOOTHING * logs.sum() + constant)


def shares_of_subtypes(sizes: Float[np.ndarray, "classes subtypes"]) -> tuple[np.ndarray, float]:
    """E ln ρ and -KL(q(ρ) ‖ p(ρ))."""
    flat = np.ones_like(sizes)
    return expected_log_dirichlet(1 + sizes), -float(np.sum(kl_dirichlet(1 + sizes, flat)))


def lower_bound(state: DawidSkeneState) -> float:
    """Bound on ln p(labels, history), all constants kept; for maximum likelihood, ln p(labels, history, θ, π)."""
    return state.expected.log_likelihood + state.log_prior


def labels_of(expected: Expectation, evidence: DawidSkeneEvidence) -> Any:
    """Expected number of labels of each annotator by component, in the form in which they are counted."""
    if not isinstance(expected.counts, np.ndarray):
        return expected.counts
    n_components = evidence.onehot.n_components
    return expected.counts.reshape(-1, n_components // evidence.n_subtypes, n_components)


def imagined_sizes(labels: Labels) -> Float[np.ndarray, " classes"]:
    """Imagined items of each class, from pairs of labels."""
    return imagined_by_pairs(PairSums.of(labels))


def imagined_by_pairs(sums: PairSums) -> Float[np.ndarray, " classes"]:
    """Imagined items of each class, from sums over items."""
    return PAIRS_WORTH * sums.n_several * proportions_of_pairs(sums.pairs)[0]


def first_guess(
    labels: Labels, known: Int[np.ndarray, " items"] | None, weight: Float[np.ndarray, " labels"] | None = None
) -> Float[np.ndarray, "items classes"]:
    """Shares of the votes, and the classes of gold items."""
    votes = vote_shares(labels, weight)
    if known is not None:
        votes[known >= 0] = np.eye(labels.n_classes)[known[known >= 0]]
    return votes
