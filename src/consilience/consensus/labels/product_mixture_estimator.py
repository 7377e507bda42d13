"""ProductMixture: the estimator of `consilience.consensus.labels.product_mixture`. Zhao & Zucker, section 2."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations import Labels
from consilience.annotations.alignment import rows_of_items
from consilience.annotations.names import plain
from consilience.annotations.types import (
    ArrayLike,
    Flag,
    Integer,
    Literal,
    NameGroups,
    NumberOfClusters,
    RandomSource,
    Real,
)
from consilience.consensus.labels.copies import merge_groups
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.consensus.labels.mixture_result import OF_MIXTURE, keep_fit
from consilience.consensus.labels.product_mixture import SMOOTHING, ProductMixtureState, draw_responsibilities, run
from consilience.errors import InputError
from consilience.estimators.copies import COPIES
from consilience.estimators.gold import require_named, with_known
from consilience.estimators.labels import MAX_TABLE_ENTRIES, LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import (
    ARRAY,
    AUTO,
    NOT_NEGATIVE,
    POSITIVE,
    RESTARTS,
    Requirements,
    is_auto,
    one_of,
    require,
    whole,
)
from consilience.inference import Trace
from consilience.inference.iterate import restarts
from consilience.inference.product_distributions import Responsibilities, encode_labels, vote_shares
from consilience.inference.randomness import spawn_seeds


class ProductMixture(LabelAggregator):
    """Components within which annotators label independently; annotators need not label all items.

    With as many components as labels this is the model of Dawid and Skene, fitted by maximum likelihood.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of components. "auto": as many as there are classes among the labels. Components have
        the classes' names if there are as many, else they are numbered by decreasing size.
    init : "auto", "votes", "random" or array of shape (n_items, n_clusters), default="auto"
        First responsibilities: shares of the votes, random, or given. "auto" uses the votes if there are as many
        components as classes, else random ones. A DataFrame is indexed by item.
    n_init : int, default=10
        Number of random restarts; the one with the highest bound is kept. The other starts are not random, and run
        once.
    smoothing : float, default=0.01
        Pseudo-count ε > 0 of each label of each annotator in each component.
    max_iter : int, default=500
        Maximum number of sweeps of a restart.
    tol : float, default=1e-7
        A restart has converged when the relative gain of the bound is less than this.
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who answered twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who agree with each other more than
        independent people would, with a warning that names them. None: every annotator weighs alone. A list: these
        groups. The member with the most labels stands for the group, with the label that most of them gave; all have
        the same confusion matrix.
    n_jobs : int, optional
        Number of threads for the restarts, as in joblib; for the items if there is one start.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray, shape (n_items,)
        Name of the most probable class of each item, or number of its component. Missing (NaN for numbers, else None)
        for items without labels.
    labels_series_ : Series
        The same, indexed by item.
    undecided_ : ndarray of bool, shape (n_items,)
        Items of which several classes are equally probable, to a millionth: `labels_` has the first of them.
    responsibilities_ : ndarray, shape (n_items, n_components)
    classes_ : ndarray, shape (n_components,)
        Names of the classes, or 0, 1, …
    weights_ : ndarray, shape (n_components,)
        ω, the share of each component.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels, agreement, accuracy (NaN if components have no names) and information (bits).
    confusion_matrices_ : DataFrame, shape (n_annotators * n_components, n_labels)
        Probability of each label of an annotator in each component, indexed by annotator and class.
    copies_, labels_apart_ : as in `DawidSkene`
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

    See Also
    --------
    DawidSkene : As many classes as labels.
    consilience.semisupervised.PartitionLabelModel : With features, and a number of clusters that is estimated.

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data. Section 2.
    Topchy, Jain & Punch (2004). A mixture model for clustering ensembles. SDM.

    Examples
    --------
    >>> from consilience.consensus import ProductMixture
    >>> annotations = [["a", "a", "b"], ["a", "a", None], ["b", "b", "b"], ["b", None, "a"]]
    >>> ProductMixture().fit(annotations).labels_.tolist()
    ['a', 'a', 'b', 'b']
    """

    _merges_copies: ClassVar[bool] = True

    _learned: ClassVar[Attributes] = OF_MIXTURE

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "init": one_of("auto", "votes", "random") | ARRAY,
        "n_init": RESTARTS,
        "smoothing": POSITIVE,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
        "copies": COPIES,
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        init: Literal["auto", "votes", "random"] | ArrayLike = "auto",
        n_init: Integer = 10,
        smoothing: Real = SMOOTHING,
        max_iter: Integer = 500,
        tol: Real = 1e-7,
        copies: NameGroups = "auto",
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
        self.copies = copies
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _aggregate(
        self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: Responsibilities | None
    ) -> ProductMixture:
        n_components = self.number_of_components(labels.classes)
        require_named(known, n_components, labels, type(self).__name__)
        n_starts = 1 if not isinstance(self.init, str) or self.init == "votes" else int(self.n_init)
        if len(labels) * n_components * n_starts > MAX_TABLE_ENTRIES:
            raise InputError(
                f"ProductMixture keeps a probability for each item, component and restart: {len(labels)} × "
                f"{n_components} × {n_starts}, more than {MAX_TABLE_ENTRIES}. Use fewer components or restarts."
            )
        copies = copies_of(self, labels, known=known)
        heard = merge_groups(labels, copies.group)
        starts = [with_known(start, known) for start in self._starts(heard, n_components, values)]
        inner_jobs = self.n_jobs if len(starts) == 1 else None  # either restarts or chunks share the threads
        onehot = encode_labels(heard, n_components, known=known, n_jobs=inner_jobs)

        def once(start: np.ndarray) -> Trace[ProductMixtureState]:
            settings: dict[str, Any] = {"smoothing": self.smoothing, "max_iter": self.max_iter, "tol": self.tol}
            return run(start, onehot, labels.n_classes, **settings)

        traces = restarts(once, [(start,) for start in starts], n_jobs=self.n_jobs if len(starts) > 1 else None)
        keep_fit(self, traces, onehot, labels, heard, copies, known)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, values), labels)
        return self

    def _values_of_items(self, labels: Labels) -> np.ndarray | None:
        """First responsibilities, if they are given."""
        if isinstance(self.init, str):
            return None
        return _given_start(self.init, labels, self.number_of_components(labels.classes))

    def number_of_components(self, classes: pd.Index) -> int:
        """Return the number of components that the parameters ask for, given the names of the classes."""
        return len(classes) if is_auto(self.n_clusters) else int(self.n_clusters)

    def _starts(self, labels: Labels, n_components: int, given: np.ndarray | None) -> list[np.ndarray]:
        """First responsibilities, one array for each restart."""
        if given is not None:
            return [given]
        if self.starts_from_votes(n_components, labels.n_classes):
            return [vote_shares(labels)]
        seeds = spawn_seeds(self.random_state, self.n_init)
        return [draw_responsibilities(seed, len(labels), n_components) for seed in seeds]

    def starts_from_votes(self, n_components: int, n_classes: int, others: str = "'random' or an array") -> bool:
        """Whether the shares of the votes are the first responsibilities; `others` are possible, too.

        Raises
        ------
        InputError
            They are asked for, and there are more or fewer components than classes.
        """
        named, init = n_components == n_classes, cast(str, self.init)
        require(self, "init", f"{others}: votes give no start for {n_components} components", named or init != "votes")
        return named and init != "random"


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
