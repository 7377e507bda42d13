"""Spectral-EM: expectation maximisation of Dawid and Skene's model from a start that moments of the labels give.

Zhang, Chen, Zhou & Jordan (2014), Spectral Methods Meet EM: A Provably Optimal Algorithm for Crowdsourcing, NIPS 27;
JMLR 17 (2016).

Model
-----
    y_j          ~ Categorical(w)             class of item j
    z_ij | y_j=l ~ Categorical(μ_il)          label of item j by annotator i; column l of the matrix C_i is μ_il

Symbols
-------
    paper    here                  shape
    w        weights               (classes,)
    C_i      matrices              (annotators, labels, classes)
    G_g      group                 (annotators,)              number g of each annotator's group, -1 without labels
    Z_gj     views                 (groups, items, labels)    mean label of the group
    C°_c     columns               (groups, labels, classes)  expectation of Z_cj given the class

Updates
-------
    (1)        Z_gj = mean of z_ij over i in G_g
    (2a), (2b) Z'_aj = E[Z_c ⊗ Z_b] E[Z_a ⊗ Z_b]⁻¹ Z_aj, and so for b
    (2c), (2d) M2 = E[Z'_a ⊗ Z'_b],   M3 = E[Z'_a ⊗ Z'_b ⊗ Z_c]
    step 2     w and C°_c of M2 and M3, for c = 1, 2, 3: see `inference.tensor`
    (3)        C_i ∝ E[z_i Z_aᵀ] (W C°_aᵀ)⁻¹, every column scaled to the sum 1
    EM         E-step under w and C, then the sweeps of `product_mixture`

The numbers in brackets are this page's own, for reference; they follow the order of the paper's algorithm.

Decided here
------------
A label that an annotator did not give is no part of (1): the mean is over the labels given, several of one annotator
included, and each E over the items that have labels by all groups it names. Sums instead of means start a little better
where items have as many labels each, but then one item that everybody labels outweighs thousands that few label.

(3) uses both groups that the annotator is not in: the counts behind the two E add up. W scales columns only, and
drops out. The weights are the mean of those of the three groups. Every probability is at least 1e-6 before a column is
scaled.

The columns of C°_c are named after classes one to one, by the assignment with the largest sum of diagonal entries.
In `product_mixture` w is learned too, which the paper takes to be uniform, and labels have a pseudo-count.

A class that no label names has no start: nothing is put there. A grouping under which M2 has not as many positive
eigenvalues as there are classes gives no start either; if no grouping does, EM starts from the votes, with a warning.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from numpy.linalg import LinAlgError
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from consilience.aggregator import LabelAggregator, vote_shares
from consilience.annotations import Labels
from consilience.annotations.names import compress
from consilience.annotations.types import Flag, Integer, Literal, RandomSource, Real
from consilience.consensus.product_mixture import SMOOTHING, Mixture, keep_best, read_off, run
from consilience.errors import AnnotationWarning, InputError
from consilience.inference import Trace
from consilience.inference.iterate import restarts, spawn_seeds
from consilience.inference.product_distributions import Answers, LogTable, Responsibilities, Weights, posterior
from consilience.inference.tensor import N_STARTS, symmetric_moments, third_moment, weights_and_columns
from consilience.parameters import check_random_state, is_number, is_one_of, is_whole, require

N_GROUPS = 3
LEAST_PROBABILITY = 1e-6
MAX_CLASSES = 400  # a moment of three labels then takes half a gigabyte

Group = Int[np.ndarray, " annotators"]
Views = Float[np.ndarray, "groups items labels"]
Columns = Float[np.ndarray, "groups labels classes"]


def spectral_start(labels: Labels, group: Group, rng: np.random.Generator, n_starts: int) -> tuple[Weights, LogTable]:
    """ln w and ln C by the moments of three groups of annotators; no weight for classes that no label names.

    Raises
    ------
    LinAlgError
        The moments do not show as many classes as labels name.
    """
    named, code = compress(labels.label, labels.n_classes)
    if len(labels) < len(named):
        raise LinAlgError(f"{len(labels)} items cannot show {len(named)} classes.")
    given = replace(labels, classes=labels.classes.take(named), label=code)
    views = views_of(given, group)
    weights, columns = group_columns(views, rng, n_starts)
    matrices = annotator_matrices(given, group, views, columns)
    log_weights = np.full(labels.n_classes, -np.inf)
    log_weights[named] = np.log(weights)
    log_table = np.zeros((labels.n_annotators, labels.n_classes, labels.n_classes))
    log_table[:, named[:, None], named] = np.log(matrices)
    return log_weights, log_table.reshape(-1, labels.n_classes)


def partition(labels: Labels, rng: np.random.Generator | None) -> Group:
    """Group of each annotator: at random, or by place modulo 3; groups differ by one annotator at most."""
    active = np.unique(labels.annotator)
    group = np.full(labels.n_annotators, -1)
    turn = np.arange(len(active)) % N_GROUPS
    group[active] = turn if rng is None else rng.permutation(turn)
    return group


def views_of(labels: Labels, group: Group) -> Views:
    """(1): mean label of each item in each group, 0 where the group has no label."""
    shape = (N_GROUPS, len(labels), labels.n_classes)
    cell = (group[labels.annotator] * len(labels) + labels.item) * labels.n_classes + labels.label
    counts = np.bincount(cell, minlength=np.prod(shape)).reshape(shape)
    return counts / np.maximum(counts.sum(2, keepdims=True), 1)


def group_columns(views: Views, rng: np.random.Generator, n_starts: int) -> tuple[Weights, Columns]:
    """(2) and step 2: class proportions, and the expectation of each group's mean label given the class.

    Raises
    ------
    LinAlgError
        The moments do not show as many classes as there are labels.
    """
    triple = third_moment(*views)
    if not triple.any():
        raise LinAlgError("No item has labels by all three groups.")
    triple /= triple.sum()
    weights, columns = [], []
    for a, b, c in ((1, 2, 0), (2, 0, 1), (0, 1, 2)):
        m2, m3 = symmetric_moments(
            mean_product(views[a], views[b]),
            mean_product(views[a], views[c]),
            mean_product(views[b], views[c]),
            triple.transpose(a, b, c),
        )
        w, column = weights_and_columns(m2, m3, rng, n_starts=n_starts)
        class_of = linear_sum_assignment(-column)[1]
        weights.append(w[class_of])
        columns.append(as_distributions(column[:, class_of]))
    return as_distributions(np.mean(weights, axis=0)[:, None])[:, 0], np.stack(columns)


def mean_product(
    a: Float[np.ndarray, "items labels"], b: Float[np.ndarray, "items labels"]
) -> Float[np.ndarray, "labels labels"]:
    """E[a ⊗ b] over the items that have labels in both views; there the entries of a ⊗ b sum to 1."""
    product = a.T @ b
    return product / product.sum()


def annotator_matrices(
    labels: Labels, group: Group, views: Views, columns: Columns
) -> Float[np.ndarray, "annotators labels classes"]:
    """(3): confusion matrix of each annotator; uniform where no other group labels the annotator's items."""
    n_classes = labels.n_classes
    column = labels.annotator * n_classes + labels.label
    shape = (len(labels), labels.n_annotators * n_classes)
    onehot = csr_array((np.ones(labels.n_rows), (labels.item, column)), shape=shape)
    joint = np.zeros((labels.n_annotators, n_classes, n_classes))
    for g in range(N_GROUPS):
        counts = (onehot.T @ views[g]).reshape(joint.shape)
        joint += np.where((group != g)[:, None, None], counts @ np.linalg.pinv(columns[g].T), 0)
    total = joint.sum((1, 2), keepdims=True)
    return as_distributions(joint / np.maximum(total, 1))


def as_distributions(columns: Float[np.ndarray, "*batch labels classes"]) -> Float[np.ndarray, "*batch labels classes"]:
    """Nearby columns of probabilities."""
    positive = np.maximum(columns, LEAST_PROBABILITY)
    return positive / positive.sum(-2, keepdims=True)


class SpectralEM(LabelAggregator):
    """Class of each item by the model of Dawid and Skene, from a start that does not rest on a vote.

    The labels of three groups of annotators, taken two and three at a time, tell the groups' confusion matrices and
    from them every annotator's; expectation maximisation goes on from there.

    Parameters
    ----------
    groups : {"random", "modulo"}, default="random"
        The three groups of annotators: at random, or by turns, in an order that depends on their labels alone.
    n_starts : int, default=100
        Random starts of the tensor power method, for each class of each group.
    n_init : int, default=5
        Random groupings; the one with the highest bound after EM is kept. Groups by turns are made once.
    smoothing : float, default=0.01
        Pseudo-count ε > 0 of each label of each annotator in each class, in EM.
    max_iter : int, default=500
        Most sweeps of EM after its first step; the authors' program makes 10.
    tol : float, default=1e-7
        Converged when the bound gains less than this share of its size.
    n_jobs : int, optional
        Threads for the groupings, as in joblib; for the items if there is one grouping.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    labels_ : ndarray of class names, shape (n_items,)
        Most probable class. Missing (NaN where classes are numbers, else None) for items without labels.
    labels_series_ : Series
        The same, indexed by item.
    responsibilities_ : ndarray, shape (n_items, n_classes)
        Probability of each class.
    classes_ : ndarray of class names, shape (n_classes,)
    weights_ : ndarray, shape (n_classes,)
        w, the share of each class.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row an annotator
        n_labels, agreement, accuracy and information (bits).
    confusion_matrices_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Probability of each label of an annotator for items of each class, indexed by annotator and class.
    n_clusters_ : int
        Number of classes.
    log_likelihood_ : float
        ln p(labels), nats.
    lower_bound_ : float
        ln p(labels, parameters), nats, of the kept grouping.
    lower_bounds_ : ndarray, shape (n_iter_,)
    restart_bounds_ : ndarray
        Last bound from each grouping whose moments showed all classes.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    DawidSkene : from the votes, with a prior that few labels of an annotator suffice for.

    Notes
    -----
    The moments take memory as the third power of the number of classes, and their decomposition time as the fourth:
    some seven seconds a grouping for 60 classes.

    References
    ----------
    Zhang, Chen, Zhou & Jordan (2016). Spectral methods meet EM: a provably optimal algorithm for crowdsourcing. JMLR
    17(102).

    Examples
    --------
    >>> from consilience.consensus import SpectralEM
    >>> from consilience.simulation import simulate_labels
    >>> true = ["cat", "dog", "dog"] * 50
    >>> labels = simulate_labels(true, n_annotators=15, annotators_per_item=7, accuracy=0.8, random_state=0)
    >>> model = SpectralEM(random_state=0).fit(labels)
    >>> round(float((model.labels_ == true).mean()), 2)
    0.96
    """

    def __init__(
        self,
        groups: Literal["random", "modulo"] = "random",
        n_starts: Integer = N_STARTS,
        n_init: Integer = 5,
        smoothing: Real = SMOOTHING,
        max_iter: Integer = 500,
        tol: Real = 1e-7,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ):
        self.groups = groups
        self.n_starts = n_starts
        self.n_init = n_init
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _aggregate(self, labels: Labels, known: np.ndarray | None) -> SpectralEM:
        _check_size(labels)
        by_chance = self.groups == "random"
        seeds = spawn_seeds(check_random_state(self.random_state), self.n_init if by_chance else 1)
        column = labels.annotator * labels.n_classes + labels.label
        shape = (len(labels), labels.n_annotators * labels.n_classes)
        inner_jobs = self.n_jobs if len(seeds) == 1 else None
        answers = Answers.of(labels.item, column, shape, labels.n_classes, n_jobs=inner_jobs)

        def em(first: Responsibilities) -> Trace[Mixture]:
            return run(first, answers, labels.n_classes, smoothing=self.smoothing, max_iter=self.max_iter, tol=self.tol)

        def once(seed: int) -> Trace[Mixture] | None:
            rng = np.random.default_rng(seed)
            try:
                start = spectral_start(labels, partition(labels, rng if by_chance else None), rng, self.n_starts)
            except LinAlgError:
                return None
            return em(posterior(answers, *start))

        found = restarts(once, [(seed,) for seed in seeds], n_jobs=self.n_jobs if len(seeds) > 1 else None)
        traces = [trace for trace in found if trace is not None]
        if not traces:
            warnings.warn(
                "SpectralEM started from the votes: the labels by three groups of annotators are too few, or too "
                f"little related, to show {labels.n_classes} classes.",
                AnnotationWarning,
                stacklevel=3,
            )
            traces = [em(vote_shares(labels))]
        best = keep_best(self, traces)
        self.log_likelihood_ = best.state.expected.log_likelihood
        read_off(self, labels, best.state, posterior(answers, best.state.log_weights, best.state.log_table))
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require(self, "groups", "'random' or 'modulo'", is_one_of(self.groups, ("random", "modulo")))
        for name in ("n_starts", "n_init", "max_iter"):
            require(self, name, "an int of at least 1", is_whole(getattr(self, name), 1))
        require(self, "smoothing", "a positive float", is_number(self.smoothing))
        require(self, "tol", "a float of at least 0", is_number(self.tol, zero=True))


def _check_size(labels: Labels) -> None:
    n_annotators, n_classes = len(np.unique(labels.annotator)), len(np.unique(labels.label))
    if n_annotators < N_GROUPS:
        raise InputError(
            f"SpectralEM needs labels by at least {N_GROUPS} annotators, one for each of the groups that it compares. "
            f"Got labels by {n_annotators}."
        )
    if n_classes > MAX_CLASSES:
        raise InputError(
            f"SpectralEM keeps a moment for every three classes, and takes at most {MAX_CLASSES} of them. Got labels "
            f"of {n_classes} classes."
        )
