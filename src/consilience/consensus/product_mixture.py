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
    μ_kir   exp(log_table)        (annotators * labels, components), a column of the one-hot data a row here
    f(k|x)  posterior             (items, components)

Updates
-------
    E-step   q_nk ∝ ω_k Π_i μ_k,i,x_ni
    M-step   ω_k = mean_n q_nk;   μ_kir ∝ Σ_n q_nk 1[x_ni = r] + ε

Decided here
------------
An annotator who did not label an item has no factor in its product: whether a label is missing is taken to be
independent of the class, so that its probability cancels. Every label has a pseudo-count ε, a Dirichlet(1 + ε) prior of
μ_ki, and every component one of ε, so that no logarithm is -∞; the bound is ln p(labels, ω, μ), with all constants.
With as many components as labels, components are matched with the labels' names by the assignment under which labels
agree best with components, beyond chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from consilience.aggregator import MAX_TABLE_ENTRIES, LabelAggregator, vote_shares
from consilience.alignment import rows_of_items
from consilience.annotations import Labels
from consilience.annotations.names import plain
from consilience.annotations.types import ArrayLike, Flag, Integer, Literal, NumberOfClusters, RandomSource, Real
from consilience.errors import InputError
from consilience.inference import Trace, iterate
from consilience.inference.iterate import UnsettledWarning, restarts, spawn_seeds
from consilience.inference.product_distributions import (
    Answers,
    Expectation,
    Responsibilities,
    expectation,
    expectation_of,
    posterior,
)
from consilience.parameters import (
    check_random_state,
    is_auto,
    is_number,
    is_numbers,
    is_one_of,
    is_whole,
    require,
    require_number_of_clusters,
)

SMOOTHING = 0.01
RANDOM_CONCENTRATION = 1.0  # of the Dirichlet distribution that random responsibilities are drawn from


@dataclass(frozen=True)
class Mixture:
    """Parameters, and what the items' posteriors under them add up to.

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
    """Return ln ω and ln μ of expected counts."""
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


def step(state: Mixture, answers: Answers, n_labels: int, smoothing: float) -> Mixture:
    """M-step on the sums at hand, then the E-step under it."""
    return mixture_of(state.expected, answers, n_labels, smoothing)


def mixture_of(expected: Expectation, answers: Answers, n_labels: int, smoothing: float) -> Mixture:
    """Return the mixture that sums of posteriors lead to."""
    weights, table = m_step(expected, n_labels, smoothing)
    prior = log_prior(weights, table, n_labels, smoothing)
    return Mixture(weights, table, prior, expectation(answers, weights, table))


def lower_bound(state: Mixture) -> float:
    """ln p(labels, ω, μ), nats; after an E-step the bound is tight."""
    return state.expected.log_likelihood + state.log_prior


def run(
    responsibilities: Responsibilities,
    answers: Answers,
    n_labels: int,
    *,
    smoothing: float = SMOOTHING,
    max_iter: int,
    tol: float,
) -> Trace[Mixture]:
    """Iterate from the M-step of given responsibilities until the bound stands still."""
    first = mixture_of(expectation_of(answers, responsibilities), answers, n_labels, smoothing)
    return iterate(
        first, lambda state: step(state, answers, n_labels, smoothing), lower_bound, max_iter=max_iter, tol=tol
    )


def matched(counts: Float[np.ndarray, "annotators labels components"]) -> Int[np.ndarray, " labels"]:
    """Component of each label's name: the assignment with the largest sum of agreement beyond chance.

    Agreement of a label and a component beyond chance: expected number of labels in it, less what the annotator's
    share of that label leads to expect.
    """
    size, share = counts.sum(1, keepdims=True), counts.sum(2, keepdims=True)
    total = np.maximum(size.sum(2, keepdims=True), 1e-300)
    beyond = (counts - size * share / total).sum(0)
    return linear_sum_assignment(-beyond)[1]


def as_confusion(log_table: Float[np.ndarray, "annotators labels components"]) -> np.ndarray:
    """Probability of each label in each component, (annotators, components, labels)."""
    table = np.exp(log_table).transpose(0, 2, 1)
    return table / table.sum(2, keepdims=True)


def read_off(
    estimator: LabelAggregator,
    labels: Labels,
    state: Mixture,
    responsibilities: Responsibilities,
    deciding: Sequence[int] | None = None,
    evidence: Float[np.ndarray, "columns components"] | None = None,
) -> None:
    """Name components after classes if there are as many, else by falling size, and set what was learned.

    `deciding` are the annotators whose labels decide an item's component, and its name; by default all. `evidence` is
    what a label of theirs says for each component; by default its log probability.
    """
    n_labels, n_components = labels.n_classes, len(state.log_weights)
    table = state.log_table.reshape(-1, n_labels, n_components)
    who = np.arange(len(table)) if deciding is None else np.asarray(deciding, dtype=int)
    order = np.argsort(-state.log_weights, kind="stable")
    classes: pd.Index = pd.RangeIndex(n_components)
    if n_components == n_labels:
        order = matched(state.expected.counts.reshape(table.shape)[who])
        classes = labels.classes
    deciding_table = np.zeros_like(table)
    deciding_table[who] = (state.log_table if evidence is None else evidence).reshape(table.shape)[who]
    estimator.weights_ = np.exp(state.log_weights[order])
    estimator._log_weights = state.log_weights[order]
    estimator._log_table = deciding_table[:, :, order].reshape(-1, n_components)
    estimator._set_result(labels, responsibilities[:, order], classes, as_confusion(table[:, :, order]))


def keep_best(estimator: LabelAggregator, traces: Sequence[Trace[Mixture]]) -> Trace[Mixture]:
    """Return the restart with the highest bound, and set what the restarts came to; to be called in `_aggregate`."""
    best = max(traces, key=lambda trace: trace.lower_bound)
    if not best.converged:  # the warning points at the call of fit, which calls _aggregate
        warnings.warn(f"{type(estimator).__name__}: {best.reason} Raise max_iter.", UnsettledWarning, stacklevel=4)
    estimator.restart_bounds_ = np.array([trace.lower_bound for trace in traces])
    estimator.lower_bounds_ = np.array(best.lower_bounds)
    estimator.lower_bound_, estimator.n_iter_, estimator.converged_ = best.lower_bound, best.n_iter, best.converged
    return best


class ProductMixture(LabelAggregator):
    """Components within which annotators label independently of each other; no annotator needs all items.

    With as many components as labels this is the model of Dawid and Skene, fitted by maximum likelihood.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of components. "auto": as many as there are classes among the labels. Components have
        the classes' names if there are as many, else they are numbered by falling size.
    init : "auto", "votes", "random" or array of shape (n_items, n_clusters), default="auto"
        First responsibilities: shares of the votes, random, or given. "auto" takes the votes where there are as many
        components as classes, else random ones. A DataFrame is indexed by item.
    n_init : int, default=10
        Random restarts; the one with the highest bound is kept. The other starts are not random and made once.
    smoothing : float, default=0.01
        Pseudo-count ε > 0 of each label of each annotator in each component.
    max_iter : int, default=500
        Sweeps of a restart.
    tol : float, default=1e-7
        A restart has converged when the bound gains less than this share of its size.
    n_jobs : int, optional
        Threads for the restarts, as in joblib; for the items if there is one start.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    labels_ : ndarray, shape (n_items,)
        Most probable class of each item by name, or number of its component. Missing (NaN for numbers, else None) for
        items without labels.
    labels_series_ : Series
        The same, indexed by item.
    responsibilities_ : ndarray, shape (n_items, n_components)
    classes_ : ndarray, shape (n_components,)
        Names of the classes, or 0, 1, …
    weights_ : ndarray, shape (n_components,)
        ω, the share of each component.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row an annotator
        n_labels, agreement, accuracy (NaN where components have no names) and information (bits).
    confusion_matrices_ : DataFrame, shape (n_annotators * n_components, n_labels)
        Probability of each label of an annotator in each component, indexed by annotator and class.
    n_clusters_ : int
        Number of components.
    log_likelihood_ : float
        ln p(labels), nats.
    lower_bound_ : float
        ln p(labels, parameters), nats, of the kept restart.
    lower_bounds_ : ndarray, shape (n_iter_,)
    restart_bounds_ : ndarray
    n_iter_ : int
    converged_ : bool

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data. Section 2.
    Topchy, Jain & Punch (2004). A mixture model for clustering ensembles. SDM.

    Examples
    --------
    >>> from consilience.consensus import ProductMixture
    >>> said = [["a", "a", "b"], ["a", "a", None], ["b", "b", "b"], ["b", None, "a"]]
    >>> ProductMixture().fit(said).labels_.tolist()
    ['a', 'a', 'b', 'b']
    """

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        init: Literal["auto", "votes", "random"] | ArrayLike = "auto",
        n_init: Integer = 10,
        smoothing: Real = SMOOTHING,
        max_iter: Integer = 500,
        tol: Real = 1e-7,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _aggregate(self, labels: Labels, known: np.ndarray | None) -> ProductMixture:
        n_components = self._n_components(labels)
        n_starts = 1 if not isinstance(self.init, str) or self.init == "votes" else int(self.n_init)
        if len(labels) * n_components * n_starts > MAX_TABLE_ENTRIES:
            raise InputError(
                f"ProductMixture keeps a probability for each item, component and restart: {len(labels)} × "
                f"{n_components} × {n_starts}, more than {MAX_TABLE_ENTRIES}. Ask for fewer components or restarts."
            )
        starts = self._starts(labels, n_components, known)
        column = labels.annotator * labels.n_classes + labels.label
        shape = (len(labels), labels.n_annotators * labels.n_classes)
        inner_jobs = self.n_jobs if len(starts) == 1 else None
        answers = Answers.of(labels.item, column, shape, n_components, n_jobs=inner_jobs)

        def once(start: np.ndarray) -> Trace[Mixture]:
            settings: dict[str, Any] = {"smoothing": self.smoothing, "max_iter": self.max_iter, "tol": self.tol}
            return run(start, answers, labels.n_classes, **settings)

        traces = restarts(once, [(start,) for start in starts], n_jobs=self.n_jobs if len(starts) > 1 else None)
        best = keep_best(self, traces)
        self.log_likelihood_ = best.state.expected.log_likelihood
        read_off(self, labels, best.state, posterior(answers, best.state.log_weights, best.state.log_table))
        return self

    def _known_of_items(self, labels: Labels) -> np.ndarray | None:
        """First responsibilities, where they are given."""
        self._check_parameters()
        return None if isinstance(self.init, str) else _given_start(self.init, labels, self._n_components(labels))

    def _n_components(self, labels: Labels) -> int:
        return labels.n_classes if is_auto(self.n_clusters) else int(self.n_clusters)

    def _starts(self, labels: Labels, n_components: int, given: np.ndarray | None) -> list[np.ndarray]:
        """First responsibilities, one array a restart."""
        if given is not None:
            return [given]
        votes = self.init == "votes" or (self.init == "auto" and n_components == labels.n_classes)
        if votes and n_components != labels.n_classes:
            require(self, "init", f"'random' or an array: {n_components} components are no votes", False)
        if votes:
            return [vote_shares(labels)]
        rng = check_random_state(self.random_state)
        concentration = np.full(n_components, RANDOM_CONCENTRATION)
        seeds = spawn_seeds(rng, self.n_init)
        return [np.random.default_rng(seed).dirichlet(concentration, len(labels)) for seed in seeds]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number_of_clusters(self)
        known = is_one_of(self.init, ("auto", "votes", "random")) and self.init is not None
        known = known or hasattr(self.init, "__array__") or is_numbers(self.init)
        require(self, "init", "'auto', 'votes', 'random' or an array", known)
        for name in ("n_init", "max_iter"):
            require(self, name, "an int of at least 1", is_whole(getattr(self, name), 1))
        require(self, "smoothing", "a positive float", is_number(self.smoothing))
        require(self, "tol", "a float of at least 0", is_number(self.tol, zero=True))


def _given_start(init: Any, labels: Labels, n_components: int) -> Responsibilities:
    if isinstance(init, pd.DataFrame):
        init = rows_of_items(init, labels.items, "The 'init' parameter of ProductMixture")
    given, shape = np.asarray(init), (len(labels), n_components)
    if given.shape != shape or given.dtype.kind not in "biuf":
        got = f"{given.dtype} of shape {given.shape}" if given.ndim else repr(init)
        raise InputError(
            "The 'init' parameter of ProductMixture must be 'auto', 'votes', 'random' or an array of numbers of shape "
            f"{shape}. Got {got} instead."
        )
    wrong = ~(np.isfinite(given) & (given >= 0)).all(1) | ~given.any(1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            "Each row of the 'init' parameter of ProductMixture must be shares, none below 0 and not all 0. Got "
            f"{given[row].tolist()} for the item {plain(labels.items[row])!r}."
        )
    return given / given.sum(1, keepdims=True)
