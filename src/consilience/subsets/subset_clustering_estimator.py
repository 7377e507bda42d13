"""SubsetClustering: any clusterer, on subsets of items that are too many for it, and one clustering of all of them.

The scenario "Clustering a big dataset" of K. Veeramachaneni & U.-M. O'Reilly, Clustering using subset groupings:

1. *Subsets.* Some shared items, drawn at random, are in every subset. All others are dealt to subsets at random,
   `n_repeats` times.
2. *Groupings.* A copy of the clusterer groups each subset by its features, side by side.
3. *Clusters of the shared items.* `SubsetFusion` fuses their groupings.
4. *Clusters of the others.* Every group is compared with the clusters of the shared items in it, and every item is in
   the cluster most probable given its groups (`consilience.subsets.placing`).

Decided here
------------
The paper leaves open how subsets overlap. If every item were in several random subsets and nothing were shared, two
subsets of m out of n items would have m²/n items in common, fewer the more items there are, and all n items would have
to be fused. With shared items any two subsets have the same number in common, the fusion has a fixed size, and what
grows is proportional to the number of items. A second and third repeat are votes: they cost as much as the first, and
correct much of the errors of single subsets.

An item that the clusterer leaves out (labels below 0) in more than half of its subsets is in no cluster. If all items
fit into one subset, the clusterer is run on all of them, and its groups are the clusters.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import get_tags

from consilience.annotations import Annotations
from consilience.annotations.display import show_value
from consilience.annotations.names import outside
from consilience.annotations.types import (
    FeaturesLike,
    Flag,
    Integer,
    Literal,
    Name,
    NumberOfClusters,
    RandomSource,
    Real,
    Self,
)
from consilience.errors import AnnotationWarning, InputError, SubsetWarning
from consilience.estimators import learned
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.learned import Attributes
from consilience.estimators.nested import set_seeds
from consilience.estimators.parameters import AUTO, NONE, Requirements, interval, whole
from consilience.inference.progress import counting
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.inference.threads import one_blas_thread
from consilience.subsets import composing, placing

Heard = tuple[type[Warning], str]
"""A warning by a clusterer: its category and its text."""

LITTLE_AGREEMENT = 0.6  # median adjusted Rand index of the subsets with the clusters, below which a warning says so
MUCH_FINER = 2  # times as many groups as clusters, from which the index is low even if every group is in one cluster
FEW_UNLINKED = 0.001  # share of items without a cluster for want of shared ones, up to which no warning says so
MANY_LEFT_OUT = 0.5  # share of items that the clusterer leaves out, above which a warning says so


class SubsetClustering(CrowdEstimator):
    """Clusters of more items than a clusterer can hold: it clusters overlapping subsets, and their groupings are fused.

    It reads features and no annotations. Subsets share some items, by which their clusters are matched.

    Parameters
    ----------
    clusterer : estimator
        Any scikit-learn clusterer of features, or a Pipeline that ends with one.
    n_clusters : int, "auto" or None, default=None
        Number of clusters. "auto": the number, up to `max_clusters`, in which the groupings of the subsets agree best.
        None: that of the clusterer, and "auto" if it has no such parameter.
    subset_size : int, default=2000
        Largest number of items that the clusterer gets at once.
    overlap : float, default=0.2
        Share of each subset that is shared by all subsets.
    n_repeats : int, default=3
        How often every other item is clustered, each time with others.
    max_clusters : int, default=30
        Largest number that "auto" considers.
    n_jobs : int or None, default=None
        Number of processes that cluster subsets side by side; -1 for all processors. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        For the subsets, the fusion, and the clusterer if its own is None.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size; -1 for items that the clusterer leaves out, or puts into
        groups without shared items, in most of their subsets.
    n_clusters_ : int
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        Probability of each cluster given the groups of an item, made when it is asked for; the clusters' shares for
        items of no cluster.
    subsets_ : DataFrame, one row for each subset
        n_items, n_groups, n_left_out by the clusterer; `agreement`: adjusted Rand index of the groups of the shared
        items with the clusters; `consistency`: from 0 (groups at random) to 1 (never separates items of a cluster).
    shared_ : ndarray of int, shape (n_shared,)
        Places of the shared items; empty if all items are in one subset.
    n_unlinked_ : int
        Number of items of no cluster because their groups have no shared items.
    notes_ : list of str
        What limits the answer.
    items_ : Index, shape (n_items,)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter, features that are not finite numbers, or if no shared item is in any group.

    Warns
    -----
    SubsetWarning
        The subsets agree little with each other, or many items are in groups without shared items.

    See Also
    --------
    consilience.consensus.SubsetFusion : The fusion, for groupings by people.

    References
    ----------
    Veeramachaneni & O'Reilly, Clustering using subset groupings: "Clustering a big dataset".

    Examples
    --------
    >>> from sklearn.cluster import SpectralClustering
    >>> from sklearn.datasets import make_blobs
    >>> from consilience.subsets import SubsetClustering
    >>> X, _ = make_blobs(1000, centers=4, random_state=0)
    >>> model = SubsetClustering(SpectralClustering(4, affinity="nearest_neighbors"), subset_size=250, random_state=0)
    >>> model.fit_predict(X).shape
    (1000,)
    >>> model.n_clusters_, len(model.subsets_)
    (4, 15)
    """

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        "items_": learned.names("items"),
        "n_clusters_": learned.size("clusters"),
        "labels_": learned.codes("items", of="clusters", missing=True),
        "n_unlinked_": learned.whole(),
        "notes_": learned.NOTES,
        "subsets_": learned.table(None, {"n_items": "c", "n_groups": "c", "n_left_out": "c", "consistency": "p"}),
        "shared_": learned.codes("shared", of="items"),
        "_of_shared": learned.array(float, "shared", "clusters", low=0, high=1),
        "_scores": learned.array(float, "groups and none", "clusters", high=0, inf=True),
        "_prior": learned.array(float, "clusters", low=0),
        "_groups": learned.array(int, None, "items", low=-1),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | NONE | whole(1),
        "subset_size": whole(4),
        "overlap": interval(0, 1, "neither"),
        "n_repeats": whole(1, 1000),
        "max_clusters": whole(2),
    }

    def __init__(
        self,
        clusterer: Any = None,
        n_clusters: Literal["auto"] | int | None = None,
        *,
        subset_size: Integer = 2000,
        overlap: Real = 0.2,
        n_repeats: Integer = 3,
        max_clusters: Integer = 30,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.subset_size = subset_size
        self.overlap = overlap
        self.n_repeats = n_repeats
        self.max_clusters = max_clusters
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    def fit(self, X: FeaturesLike, y: Any = None) -> Self:
        """Cluster subsets of the items, and fuse their groupings.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
            Features, finite. An array of doubles that is mapped from a file is read in parts. The clusterer gets single
            precision if X has it.
        y : ignored

        Returns
        -------
        SubsetClustering

        Raises
        ------
        InputError
            Invalid parameters or features, or no shared item is in any group.
        """
        self._check_parameters()
        features = self._features(X, reset=True)
        if getattr(X, "dtype", None) == np.float32:  # what the clusterer would be given without subsets
            features = features.astype(np.float32)
        seed, fusion_seed, cluster_seed = spawn_seeds(self.random_state, 3)
        self.items_ = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(features))
        self.notes_: list[str] = []
        with self._progress():
            if len(features) <= self.subset_size:
                self._cluster_all(features, cluster_seed)
            else:
                sizes = (int(self.subset_size), float(self.overlap), int(self.n_repeats))
                plan = composing.compose(len(features), *sizes, rng=np.random.default_rng(seed))
                heard: Counter[Heard] = Counter()
                grouped = composing.collect(plan, self._groupings_of(features, plan, cluster_seed, heard))
                _warn_once(heard, plan.n_subsets)  # only now: subsets are grouped while they are collected
                with one_blas_thread():
                    self._fuse(plan, grouped, np.random.default_rng(fusion_seed))
        for note in self.notes_:
            warnings.warn(note, SubsetWarning, stacklevel=outside())
        return self

    @property
    def responsibilities_(self) -> Float[np.ndarray, "items clusters"]:
        """Probability of each cluster given the groups of an item, for all items."""
        if not hasattr(self, "labels_"):
            raise AttributeError("responsibilities_")
        return self._probabilities_of(slice(None))

    def _groupings_of(
        self,
        features: Float[np.ndarray, "items features"],
        plan: composing.SubsetPlan,
        seed: int,
        heard: Counter[Heard],
    ) -> Iterator[composing.Codes]:
        """Yield the groups of each subset, clustered side by side, and count the warnings."""
        seeds = spawn_seeds(seed, plan.n_subsets)
        calls = (
            delayed(_grouped_quietly)(self.clusterer, features[part], own) for part, own in zip(plan.subsets(), seeds)
        )
        found = Parallel(n_jobs=self.n_jobs, return_as="generator", max_nbytes=None)(calls)
        with counting("subsets", plan.n_subsets) as count:
            for labels, warned in found:
                heard.update(warned)
                yield labels
                count.update()

    def _cluster_all(self, features: Float[np.ndarray, "items features"], seed: int) -> None:
        """Let the groups of all items together be the clusters."""
        code, n_clusters = composing.number_groups(_group_items(self.clusterer, features, seed))
        with np.errstate(divide="ignore"):  # ln 0 is meant: no other cluster than that of the group
            self._scores = np.vstack([np.log(np.eye(n_clusters)), np.zeros((1, n_clusters))])
        self._prior = np.log1p(np.bincount(code[code >= 0], minlength=n_clusters))
        self._groups = code[None].astype(np.int32)
        self.shared_, self._of_shared = np.zeros(0, dtype=np.int64), np.zeros((0, n_clusters))
        self._set_labels(code < 0)
        self.n_unlinked_ = 0
        self.subsets_ = _table(
            n_items=[len(code)],
            n_groups=[n_clusters],
            n_left_out=[(code < 0).sum()],
            agreement=[1.0],
            consistency=[1.0],
        )

    def _fuse(self, plan: composing.SubsetPlan, grouped: composing.Grouped, rng: np.random.Generator) -> None:
        n_items = plan.own.shape[1] + len(plan.shared)
        if (grouped.of_shared < 0).all():
            raise InputError(
                f"{type(self.clusterer).__name__} left all of the {len(plan.shared)} shared items out in every subset, "
                f"so that nothing links the subsets. Change its parameters, or raise 'subset_size'."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnnotationWarning)
            fusion = placing.fuse(grouped, self._n_wanted(), max_clusters=int(self.max_clusters), rng=rng)
        linked = placing.link(grouped, fusion.labels_, fusion.n_clusters_)
        self.shared_, self._of_shared = plan.shared, fusion.responsibilities_
        self._scores, self._prior = linked.scores, linked.prior
        self._groups = np.full((len(plan.own), n_items), composing.NO_GROUP, dtype=np.int32)
        for of_repeat, items, found in zip(self._groups, plan.own, grouped.of_own):
            of_repeat[items] = found
        nowhere, unlinked = placing.of_no_cluster(self._groups, linked.has_shared)
        nowhere[plan.shared] = (fusion.labels_ < 0) | placing.mostly_left_out(grouped.of_shared.T)
        unlinked[plan.shared] = False
        self._set_labels(nowhere)
        self.n_unlinked_ = int(unlinked.sum())
        self.subsets_ = _table(
            **composing.sizes(plan, grouped), agreement=linked.agreement, consistency=linked.consistency
        )
        self.notes_ = self._limits(n_items)

    def _set_labels(self, nowhere: np.ndarray) -> None:
        """Number the clusters by decreasing size, and drop those without items; some items are of none."""
        labels = self._most_probable()
        labels[nowhere] = -1
        sizes = np.bincount(labels[~nowhere], minlength=len(self._prior))
        order = np.argsort(-sizes, kind="stable")[: (sizes > 0).sum()]
        place = np.full(len(sizes) + 1, -1)  # the last is that of -1
        place[order] = np.arange(len(order))
        self.labels_, self.n_clusters_ = place[labels], len(order)
        self._scores, self._prior, self._of_shared = (
            self._scores[:, order],
            self._prior[order],
            self._of_shared[:, order],
        )

    def _most_probable(self) -> Int[np.ndarray, " items"]:
        labels = np.full(self._groups.shape[1], -1)
        if not len(self._prior):
            return labels
        for block, found in placing.probabilities(self._groups, self._scores, self._prior):
            labels[block] = found.argmax(1)
        labels[self.shared_] = self._of_shared.argmax(1)
        return labels

    def _probabilities_of(self, places: Any) -> Float[np.ndarray, "chosen clusters"]:
        """Probabilities of the items at these places."""
        groups, labels = self._groups[:, places], self.labels_[places]
        found = np.zeros((len(labels), self.n_clusters_))
        if not self.n_clusters_:
            return found
        for block, own in placing.probabilities(groups, self._scores, self._prior):
            found[block] = own
        among_shared = pd.Index(self.shared_).get_indexer(np.arange(len(self.labels_))[places])
        is_shared = among_shared >= 0
        found[is_shared] = self._of_shared[among_shared[is_shared]]
        found[labels < 0] = np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_clusters_)
        return np.asarray(found / found.sum(1, keepdims=True))

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        if annotator is not None:
            raise InputError(f"SubsetClustering has no annotators. Got annotator={show_value(annotator)}.")
        return np.asarray((self._probabilities_of(a) * self._probabilities_of(b)).sum(1))

    def _limits(self, n_items: int) -> list[str]:
        """Sentences on what the subsets do not determine."""
        notes = []
        agreement, n_shared = self.subsets_["agreement"].dropna().median(), len(self.shared_)
        n_left_out = int((self.labels_ < 0).sum()) - self.n_unlinked_
        is_finer = self.subsets_["n_groups"].median() >= MUCH_FINER * self.n_clusters_
        if agreement < LITTLE_AGREEMENT and not is_finer:
            notes.append(
                "The subsets agree little, so that the clusters depend on chance: the median adjusted Rand index of "
                f"their groups of the {n_shared} shared items with the clusters is {agreement:.2f}. Raise "
                "'subset_size' or 'overlap', or let the clusterer look for what is in every random subset, such as "
                "fewer clusters."
            )
        if self.n_unlinked_ > FEW_UNLINKED * n_items:
            notes.append(
                f"{self.n_unlinked_:,} of {n_items:,} items are in no cluster (-1), since their groups have none of "
                f"the {n_shared} shared items. Raise 'overlap' or 'subset_size', or let the clusterer make larger "
                "groups."
            )
        if n_left_out > MANY_LEFT_OUT * n_items:
            notes.append(
                f"The clusterer leaves {n_left_out:,} of {n_items:,} items out of its groups. If it would leave out "
                f"fewer of all items at once, subsets of {self.subset_size} are too sparse for it."
            )
        return notes

    def _n_wanted(self) -> NumberOfClusters:
        """Number of clusters to look for: that of the clusterer if none is given."""
        if self.n_clusters is not None:
            return self.n_clusters
        named = [
            value
            for name, value in self.clusterer.get_params(deep=True).items()
            if name.rsplit("__", 1)[-1] == "n_clusters" and value is not None
        ]
        return int(named[0]) if len(named) == 1 else "auto"

    def _depends_on_scale(self) -> bool:
        """No: whether the scale matters is up to the clusterer, which may standardise."""
        return False

    def _require_features(self, X: Any) -> None:
        if isinstance(X, Annotations):
            raise InputError(
                f"SubsetClustering clusters features and reads no annotations. Got {type(X).__name__}; SubsetFusion "
                f"fuses groupings."
            )
        super()._require_features(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        is_class = isinstance(self.clusterer, type)
        if is_class or not all(hasattr(self.clusterer, name) for name in ("fit_predict", "get_params")):
            raise InputError(
                "The 'clusterer' parameter of SubsetClustering must be a scikit-learn clusterer, such as "
                f"SpectralClustering(8). Got {show_value(self.clusterer)} instead."
            )
        tags = get_tags(self.clusterer)
        if isinstance(self.clusterer, CrowdEstimator) and (tags.target_tags.required or tags.input_tags.string):
            raise InputError(
                "The 'clusterer' parameter of SubsetClustering must need features alone, no annotations. Got "
                f"{show_value(self.clusterer)} instead."
            )
        if tags.input_tags.pairwise:
            raise InputError(
                "The 'clusterer' parameter of SubsetClustering must take features, not distances or similarities of "
                f"all pairs of items. Got {show_value(self.clusterer)}."
            )

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        if int(self._groups.max(initial=-1)) >= len(self._scores) - 1:
            yield "_groups"
        if not learned.are_distinct(self.shared_):
            yield "shared_"


def _group_items(clusterer: Any, features: Float[np.ndarray, "members features"], seed: int) -> composing.Codes:
    """Groups of the items of one subset, by a copy of the clusterer."""
    own = clone(clusterer)
    set_seeds(own, check_random_state(seed))
    return np.asarray(own.fit_predict(features), dtype=np.int64)


def _grouped_quietly(
    clusterer: Any, features: Float[np.ndarray, "members features"], seed: int
) -> tuple[composing.Codes, set[Heard]]:
    """Groups of the items of one subset, and the warnings that the clusterer gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = _group_items(clusterer, features, seed)
    return labels, {(one.category, str(one.message)) for one in caught}


def _warn_once(heard: Counter[Heard], n_subsets: int) -> None:
    """Pass each warning of the clusterer on, with the number of subsets in which it was given."""
    for (category, message), count in heard.items():
        warnings.warn(f"{message} (in {count:,} of {n_subsets:,} subsets)", category, stacklevel=outside())


def _table(**columns: Any) -> pd.DataFrame:
    table = pd.DataFrame(columns)
    return table.rename_axis("subset")
