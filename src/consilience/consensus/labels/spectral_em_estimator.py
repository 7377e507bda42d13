"""SpectralEM: the estimator of `consilience.consensus.labels.spectral_em`. Zhang, Chen, Zhou & Jordan (2016)."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from jaxtyping import Int
from numpy.linalg import LinAlgError

from consilience.annotations import Labels
from consilience.annotations.names import outside
from consilience.annotations.types import Flag, Integer, Literal, NameGroups, RandomSource, Real
from consilience.consensus.labels.copies import merge_groups
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.consensus.labels.mixture_result import OF_MIXTURE, keep_fit
from consilience.consensus.labels.product_mixture import SMOOTHING, ProductMixtureState, run
from consilience.consensus.labels.spectral_em import MAX_CLASSES, N_GROUPS, partition, spectral_start
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.copies import COPIES
from consilience.estimators.gold import with_known
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import NOT_NEGATIVE, POSITIVE, RESTARTS, Requirements, one_of, whole
from consilience.inference import Trace
from consilience.inference.iterate import restarts
from consilience.inference.product_distributions import Responsibilities, encode_labels, posterior, vote_shares
from consilience.inference.randomness import spawn_seeds
from consilience.inference.tensor import N_STARTS

UNNAMED = -1e4  # ln of the weight of a class that no label names


class SpectralEM(LabelAggregator):
    """Class of each item by the model of Dawid and Skene, from a start that does not depend on votes.

    The labels of three groups of annotators, taken two and three at a time, determine the groups' confusion matrices,
    and from these every annotator's; expectation maximisation continues from there.

    Parameters
    ----------
    groups : {"random", "modulo"}, default="random"
        How annotators are divided into three groups: at random, or in turn, in an order that depends only on their
        labels.
    n_starts : int, default=100
        Number of random starts of the tensor power method, for each class of each group.
    n_init : int, default=5
        Number of random divisions; the one with the highest bound after EM is kept. "modulo" runs once.
    smoothing : float, default=0.01
        Pseudo-count ε > 0 of each label of each annotator in each class, in EM.
    max_iter : int, default=500
        Maximum number of sweeps of EM after its first step; the authors' program makes 10.
    tol : float, default=1e-7
        Converged when the relative gain of the bound is less than this.
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who answered twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who agree with each other more than
        independent people would, with a warning that names them. None: every annotator weighs alone. A list: these
        groups. The member with the most labels stands for the group, with the label that most of them gave; all have
        the same confusion matrix.
    n_jobs : int, optional
        Number of threads for the divisions, as in joblib; for the items if there is one division.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of class names, shape (n_items,)
        Most probable class. Missing (NaN if classes are numbers, else None) for items without labels.
    labels_series_ : Series
        The same, indexed by item.
    undecided_ : ndarray of bool, shape (n_items,)
        Items of which several classes are equally probable, to a millionth: `labels_` has the first of them.
    responsibilities_ : ndarray, shape (n_items, n_classes)
        Probability of each class.
    classes_ : ndarray of class names, shape (n_classes,)
    weights_ : ndarray, shape (n_classes,)
        w, the share of each class.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels, agreement, accuracy and information (bits).
    confusion_matrices_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Probability of each label of an annotator for items of each class, indexed by annotator and class.
    copies_, labels_apart_ : as in `DawidSkene`
    n_clusters_ : int
        Number of classes.
    log_likelihood_ : float
        ln p(labels), nats.
    lower_bound_ : float
        ln p(labels, parameters), nats, of the kept division.
    lower_bounds_ : ndarray, shape (n_iter_,)
    restart_bounds_ : ndarray
        Final bound of each division whose moments identify all classes.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    DawidSkene : Starts from the votes, with a prior for annotators with few labels.

    Notes
    -----
    Memory grows with the third power of the number of classes (moments), time with the fourth (their decomposition):
    about seven seconds per division for 60 classes.

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

    _merges_copies: ClassVar[bool] = True

    _learned: ClassVar[Attributes] = OF_MIXTURE

    _requirements: ClassVar[Requirements] = {
        "groups": one_of("random", "modulo"),
        "n_starts": whole(1),
        "n_init": RESTARTS,
        "smoothing": POSITIVE,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
        "copies": COPIES,
    }

    def __init__(
        self,
        groups: Literal["random", "modulo"] = "random",
        n_starts: Integer = N_STARTS,
        n_init: Integer = 5,
        smoothing: Real = SMOOTHING,
        max_iter: Integer = 500,
        tol: Real = 1e-7,
        copies: NameGroups = "auto",
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
        self.copies = copies
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: None) -> SpectralEM:
        copies = copies_of(self, labels, known=known)
        heard = merge_groups(labels, copies.group)
        _check_size(heard)
        by_chance = self.groups == "random"
        seeds = spawn_seeds(self.random_state, self.n_init if by_chance else 1)
        inner_jobs = self.n_jobs if len(seeds) == 1 else None  # either restarts or chunks share the threads
        onehot = encode_labels(heard, labels.n_classes, known=known, n_jobs=inner_jobs)

        def em(first: Responsibilities) -> Trace[ProductMixtureState]:
            return run(first, onehot, labels.n_classes, smoothing=self.smoothing, max_iter=self.max_iter, tol=self.tol)

        def once(seed: int) -> Trace[ProductMixtureState] | None:
            rng = np.random.default_rng(seed)
            try:
                start = spectral_start(heard, partition(heard, rng if by_chance else None), rng, self.n_starts)
            except LinAlgError:  # these groups share too few labels; other seeds may not
                return None
            weights, table = start
            if known is not None:  # a gold item may be of a class that no label names
                weights = np.maximum(weights, UNNAMED)
            return em(posterior(onehot, weights, table))

        found = restarts(once, [(seed,) for seed in seeds], n_jobs=self.n_jobs if len(seeds) > 1 else None)
        traces = [trace for trace in found if trace is not None]
        if not traces:
            warnings.warn(
                "SpectralEM started from the votes: the labels by three groups of annotators are too few, or too "
                f"weakly related, to identify {labels.n_classes} classes.",
                AnnotationWarning,
                stacklevel=outside(),
            )
            traces = [em(with_known(vote_shares(heard), known))]
        keep_fit(self, traces, onehot, labels, heard, copies, known)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, None), labels)
        return self


def _check_size(labels: Labels) -> None:
    n_annotators, n_classes = len(np.unique(labels.annotator)), len(np.unique(labels.label))
    if n_annotators < N_GROUPS:
        raise InputError(
            f"SpectralEM needs labels by at least {N_GROUPS} annotators, one for each of the groups that it compares. "
            f"Got labels by {n_annotators}."
        )
    if n_classes > MAX_CLASSES:
        raise InputError(
            f"SpectralEM keeps a moment for every three classes, and accepts at most {MAX_CLASSES} classes. Got labels "
            f"of {n_classes} classes."
        )
