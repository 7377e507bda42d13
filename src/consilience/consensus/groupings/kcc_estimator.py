"""KCC: the estimator of `consilience.consensus.groupings.kcc`. Wu, Liu, Xiong, Cao & Chen (2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Groupings
from consilience.annotations.names import MISSING, name_index, plain
from consilience.annotations.types import (
    AnnotationsLike,
    Count,
    Flag,
    Integer,
    Literal,
    Missing,
    Name,
    RandomSource,
    Real,
)
from consilience.consensus.groupings import co_occurrence
from consilience.consensus.groupings import kcc_utilities as utilities
from consilience.consensus.groupings.kcc import (
    HABIT,
    Assigned,
    Clusters,
    Counts,
    ItemsInMemory,
    KCCItems,
    KCCProblem,
    KCCState,
    objective,
    run,
    spread_seeds,
    utility_of_groupings,
)
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.groupings import GroupingConsensus
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import RESTARTS, TRUTH, Requirement, Requirements, is_number, one_of, whole
from consilience.estimators.traces import keep_end
from consilience.estimators.user_order import Axes
from consilience.inference import Trace
from consilience.inference.clusters import kmeans, numbered_by_size
from consilience.inference.iterate import Loop, begin, restarts
from consilience.inference.memberships import Memberships
from consilience.inference.randomness import spawn_seeds
from consilience.inference.spectral import degree_normalised_embedding, rows_of_length_one


class KCC(GroupingConsensus):
    """Clusters that are most similar to all groupings, found by k-means on the memberships.

    Groupings may be partial, and their groups' names mean nothing to others. The number of clusters is not estimated.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    utility : {"lp", "entropy", "categorical", "cosine"}, default="lp"
        Similarity of the clusters and a grouping. "entropy": mutual information. "categorical": category utility, whose
        k-means has the squared Euclidean distance. "cosine" and "lp": the same with the length of the vectors of
        shares, Euclidean or of order `p`.
    p : float, default=5
        Order of "lp", above 1; the paper uses 5 and 8.
    normalize : bool, default=False
        Whether utilities are divided by their value for clusters identical to the grouping, or an approximation of it:
        see `kcc_utilities`. Groupings with few groups then have more weight.
    init : {"spectral", "k-means++"}, default="spectral"
        Start of the runs: k-means on coordinates from the graph of items and groups; or items drawn far from each
        other, for complete groupings.
    n_init : int, default=10
        Number of runs; the one with the largest utility is kept.
    max_iter : int, default=100
        Maximum number of sweeps of a run.
    n_jobs : int, optional
        Number of runs in parallel threads, as in joblib.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size; -1 for items in no grouping.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        One-hot; the clusters' shares for items that are in no grouping.
    n_clusters_ : int
        Fewer than `n_clusters` if the groupings distinguish fewer items.
    centroids_ : DataFrame, shape (n_groups, n_clusters_)
        Share of each group, indexed by (annotator, grouping, group), among the items of each cluster that are in the
        grouping; among all items in it, if the cluster has none.
    objective_ : float
        Sum of the distances of the items from their centroids.
    utility_ : float
        Sum over groupings of the utility times the share of items in the grouping. `objective_` is a constant
        minus this times the number of items that are in some grouping.
    annotators_ : DataFrame, one row for each annotator
        n_groupings, n_items (memberships); `utility`: the contribution of the annotator's groupings to `utility_`;
        `agreement`: adjusted Rand index of these with the clusters, over all pairs in them.
    n_iter_ : int
        Sweeps of the run that was kept.
    converged_ : bool
    items_ : Index, shape (n_items,)

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter or annotations without groupings.

    Warns
    -----
    ConvergenceWarning
        The run that was kept still improved after `max_iter` sweeps.

    See Also
    --------
    SubsetFusion : Estimates the number of clusters.
    CSPA : Shares of pairs.

    References
    ----------
    Wu, Liu, Xiong, Cao & Chen (2015), K-means-based consensus clustering: a unified view, IEEE TKDE 27(1).

    Examples
    --------
    >>> from consilience.consensus import KCC
    >>> annotations = [["a", "p", None], ["a", "p", "x"], ["b", None, "y"], ["b", "q", "y"], ["a", "q", "y"]]
    >>> model = KCC(n_clusters=2, random_state=0).fit(annotations)
    >>> model.labels_
    array([1, 1, 0, 0, 0])
    >>> model.predict([["b", None, None], [None, "p", "x"]])
    array([0, 1])
    """

    _axes: ClassVar[Axes] = GroupingConsensus._axes | {
        "centroids_": ("groups",),
        "_table": ("groups",),
        "_expected_shares": ("groups",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.SETTLED,
        **learned.annotators(n_groupings="c", n_items="c", utility="f", agreement="f"),
        "centroids_": learned.table("groups", "clusters", keys=learned.GROUPS),
        "objective_": learned.number(),
        "utility_": learned.number(),
        "_table": learned.reals("groups", "clusters"),
        "_expected_shares": learned.array(float, "groups", "clusters", low=0, high=1),
        "_sizes": learned.array(float, "clusters", low=0),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": whole(1),
        "utility": one_of(*utilities.UTILITIES),
        "p": Requirement(("a number above 1",), lambda value: is_number(value) and value > 1),
        "normalize": TRUTH,
        "init": one_of("spectral", "k-means++"),
        "n_init": RESTARTS,
        "max_iter": whole(1),
    }

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        utility: Literal["lp", "entropy", "categorical", "cosine"] = "lp",
        p: Real = 5.0,
        normalize: Flag = False,
        init: Literal["spectral", "k-means++"] = "spectral",
        n_init: Integer = 10,
        max_iter: Integer = 100,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.p = p
        self.normalize = normalize
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def predict(self, annotations: AnnotationsLike, *, missing: Missing | None = None) -> Clusters:
        """Nearest cluster of fitted or new items, by the groups of fitted groupings that they are in.

        Parameters
        ----------
        annotations : Groupings, Labels, DataFrame or array, as for `fit`
            By annotators, in groupings and groups that were fitted.
        missing : as for `fit`

        Returns
        -------
        ndarray of int, shape (n_items,)
            -1 for items in no grouping.

        Raises
        ------
        InputError
            A group was not fitted.
        """
        check_is_fitted(self)
        groupings, place = self._known(annotations, missing)
        distance = np.asarray(groupings.incidence @ self._table[place])
        return np.where(np.diff(groupings.incidence.indptr) > 0, distance.argmin(1), -1)

    def tell_clusters(self, groupings: Groupings) -> tuple[Clusters, Float[np.ndarray, "items clusters"]]:
        """Return the cluster of each item, -1 for items in no grouping, and one-hot; see ``responsibilities_``."""
        found = self.predict(groupings) if groupings.n_rows else np.full(groupings.n_items, -1)
        probability = np.eye(self.n_clusters_)[found]
        probability[found < 0] = self._sizes / self._sizes.sum()
        return found, probability

    def score(self, annotations: AnnotationsLike, y: Any = None, *, missing: Missing | None = None) -> float:
        """Mean log probability of the groups that items are in, each predicted from the other groups of the item.

        Each group of an item is held out in turn: the others assign the item to a cluster, and the share of this
        cluster in the group is the predicted probability. An item with one group is predicted from all clusters, by
        their sizes. Higher is better, also across numbers of clusters.

        Parameters
        ----------
        annotations : Groupings, Labels, DataFrame or array, as for `fit`
            By annotators, in groupings and groups that were fitted.
        y : ignored
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        float
            Nats per group of an item, at most 0.

        Raises
        ------
        InputError
            A group was not fitted.
        """
        check_is_fitted(self)
        groupings, place = self._known(annotations, missing)
        item, group = groupings.item_of_row, place[groupings.incidence.indices]
        distance = np.asarray(groupings.incidence @ self._table[place])
        cluster = (distance[item] - self._table[group]).argmin(1)  # without the group that is predicted
        alone = np.diff(groupings.incidence.indptr)[item] == 1
        expected = self._expected_shares[group, cluster]
        expected[alone] = self._expected_shares[group[alone]] @ self._sizes / self._sizes.sum()
        return float(np.log(expected).mean())

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of an annotator: that two items of these clusters are in one group, averaged over the groupings."""
        if annotator is None:
            return super()._same(a, b, None)
        place = self._place_of_annotator(annotator)
        whose = self.annotators_.index.get_indexer(self.centroids_.index.get_level_values("annotator"))
        shares = self.centroids_.to_numpy()[whose == place]
        same = np.einsum("ik,kl,il->i", self.responsibilities_[a], shares.T @ shares, self.responsibilities_[b])
        return same / max(self.annotators_["n_groupings"].to_numpy()[place], 1)

    def _fuse(self, groupings: Groupings) -> None:
        seen = co_occurrence.Seen.of(groupings)
        problem = self.problem_of(seen.memberships)
        state = self.learn(problem, seen.memberships, n_jobs=self.n_jobs)
        cluster = numbered_by_size(state.assigned.cluster)
        kept = state.assigned.cluster[np.unique(cluster, return_index=True)[1]]  # number of each cluster in the run
        self.items_ = groupings.items
        self.labels_ = seen.scattered(cluster)
        self.responsibilities_ = co_occurrence.probabilities(self.labels_, len(kept))
        self.keep_clusters(problem, state, kept, groupings)

    def learn(
        self,
        problem: KCCProblem,
        memberships: Memberships,
        items: KCCItems | None = None,
        *,
        loop: Loop = begin,
        n_jobs: int | None = None,
    ) -> KCCState:
        """Return the best of the runs, and set how it ended.

        Parameters
        ----------
        problem : of all items.
        memberships : of the items whose clusters the runs begin with.
        items : all, if these are not all.
        loop : what runs the sweeps.
        n_jobs : number of runs at a time.
        """
        start, in_memory = self._start(memberships, problem), ItemsInMemory.of(memberships.in_group)

        def from_seed(seed: int) -> Trace[KCCState]:
            def first() -> Assigned:
                return in_memory.count(start(np.random.default_rng(seed)), problem.n_clusters)

            return run(problem, items or in_memory, first, max_iter=self.max_iter, loop=loop)

        seeds = spawn_seeds(self.random_state, self.n_init)
        traces = restarts(from_seed, [(seed,) for seed in seeds], n_jobs=n_jobs)
        best = max(traces, key=lambda trace: trace.lower_bound)
        keep_end(self, best)
        return best.state

    def _known(self, annotations: Any, missing: Any) -> tuple[Groupings, Int[np.ndarray, " groups"]]:
        """Groupings of known groups, and the rows of their groups in `centroids_`."""
        groupings = self._read_groupings(annotations, reset=False, missing=missing)
        place = groupings.vocabulary.place_in(self.centroids_.index.tolist())
        used = groupings.incidence.indices
        if (place[used] == MISSING).any():
            annotator, grouping, group = groupings.vocabulary.group_keys()[used[np.argmax(place[used] == MISSING)]]
            raise InputError(
                f"Group {plain(group)!r} of grouping {plain(grouping)!r} by annotator {plain(annotator)!r} was not "
                "fitted."
            )
        return groupings, place

    def problem_of(
        self,
        memberships: Memberships,
        n_items: int | None = None,
        group_sizes: Int[np.ndarray, " groups"] | None = None,
    ) -> KCCProblem:
        """Return what is constant in a run.

        Parameters
        ----------
        memberships : of items in some grouping.
        n_items, group_sizes : numbers of all items, and of those in each group, if the memberships are of some only.

        Raises
        ------
        InputError
            More clusters are requested than there are items.
        """
        co_occurrence.require_at_most(self, self.n_clusters, memberships.n_items if n_items is None else n_items)
        return KCCProblem.of(
            memberships,
            self.utility,
            self.p,
            normalize=self.normalize,
            n_clusters=int(self.n_clusters),
            group_sizes=group_sizes,
        )

    def _start(self, memberships: Memberships, problem: KCCProblem) -> Callable[[np.random.Generator], Clusters]:
        if self.init == "k-means++":
            return lambda rng: spread_seeds(problem, memberships.in_group, rng)
        number = problem.n_clusters
        points = rows_of_length_one(degree_normalised_embedding(memberships.in_group, number))
        return lambda rng: kmeans(points, number, rng=rng)

    def keep_clusters(
        self, problem: KCCProblem, state: KCCState, kept: Int[np.ndarray, " clusters"], groupings: Groupings
    ) -> None:
        """Set what has no axis of items.

        kept : numbers of the clusters in the state, in falling order of their sizes.
        """
        self.n_clusters_ = len(kept)
        keys = groupings.vocabulary.grouping_index[groupings.grouping_of_group]
        levels = [keys.get_level_values(0), keys.get_level_values(1), name_index(groupings.group_names)]
        index = pd.MultiIndex.from_arrays(levels, names=["annotator", "grouping", "group"])
        self.centroids_ = pd.DataFrame(state.shares[:, kept], index=index)
        self._table = problem.table(state.shares)[:, kept]
        counts = state.assigned.counts[:, kept]
        self._expected_shares = expected_shares(groupings, counts)
        self._sizes = state.assigned.sizes[kept].astype(float)
        self.objective_ = objective(problem, state)
        by_grouping = utility_of_groupings(problem, state)
        self.utility_ = float(by_grouping.sum())
        of_annotators = np.bincount(groupings.annotator_of_grouping, by_grouping, groupings.n_annotators)
        structure = Memberships.of(groupings)
        self.annotators_ = co_occurrence.annotator_table(groupings, structure, csr_array(counts), utility=of_annotators)


def expected_shares(groupings: Groupings, counts: Counts) -> Float[np.ndarray, "groups clusters"]:
    """Expected share of each cluster in each group, from the number of its items there.

    `HABIT` imagined items at the grouping's overall shares are added, so that no share is 0.
    """
    grouping = groupings.grouping_of_group
    held = np.zeros((groupings.n_groupings, counts.shape[1]))
    np.add.at(held, grouping, counts)
    groups = np.bincount(grouping, minlength=groupings.n_groupings)[grouping]
    habit = (counts.sum(1) + 1) / (held.sum(1)[grouping] + groups)  # one imagined item in each group
    return np.asarray((counts + HABIT * habit[:, None]) / (held[grouping] + HABIT))
