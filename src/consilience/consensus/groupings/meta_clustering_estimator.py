"""MetaClustering: the estimator of `consilience.consensus.groupings.meta_clustering`. Caruana et al. (2006)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.annotations.types import Integer, Literal, Name, NumberOfClusters, RandomSource
from consilience.consensus.groupings import co_occurrence as core
from consilience.consensus.groupings.meta_clustering import LARGEST_TABLE, Similarity, affinities, similarities
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.groupings import GroupingConsensus
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import AUTO, Requirements, whole
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import agreement_with, kmeans
from consilience.inference.memberships import Memberships
from consilience.inference.randomness import spawn_generator
from consilience.inference.spectral import degree_normalised_eigenpairs, rows_of_length_one


class MetaClustering(GroupingConsensus):
    """Several clusterings, one for each set of annotators who group alike.

    Annotators whose groups agree share a view, and each view has its own clusters.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of clusters of each view. "auto": the number, from 2 to `max_clusters`, with the largest gap between
        eigenvalues.
    n_views : "auto" or int, default="auto"
        "auto": the number, from 1 to `max_views`, with the largest gap between eigenvalues.
    max_clusters : int, default=30
        Largest number of clusters that "auto" considers. At this default, up to four times as many while a larger gap
        may follow, where groupings hold most items.
    max_views : int, default=10
        Largest number of views that "auto" considers.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item in the largest view, numbered by decreasing size; -1 for items that none of its
        annotators grouped.
    view_labels_ : DataFrame, shape (n_items, n_views)
        The same for every view, indexed by item.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        One-hot, of the largest view; the clusters' shares for items that none of its annotators grouped.
    n_clusters_ : int
        Of the largest view.
    n_views_ : int
    views_ : DataFrame, one row for each view
        n_annotators, `weight` (share of all memberships that its annotators gave), n_clusters.
    annotator_view_ : Series
        View of each annotator.
    similarity_ : DataFrame, shape (n_annotators, n_annotators)
        Adjusted Rand index of the annotators' groupings over the pairs of items that both grouped; NaN without any.
    eigenvalues_ : ndarray
        Of the normalised similarities of the annotators, in decreasing order.
    annotators_ : DataFrame, one row for each annotator
        n_groupings, n_items (memberships), view, and `agreement`: adjusted Rand index of the annotator's groupings with
        the clusters of this view, over all pairs in them.
    notes_ : list of str
        Sentences on the limits of the evidence for the largest view.
    items_ : Index, shape (n_items,)

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter, annotations without groupings, or too many annotators.

    See Also
    --------
    consilience.semisupervised.MCVC : Views that features predict.
    SubsetFusion : One view.

    References
    ----------
    Caruana, Elhawary, Nguyen & Smith (2006), Meta clustering, ICDM. Strehl & Ghosh (2002), Cluster ensembles, JMLR 3.

    Examples
    --------
    Three people sort by colour, two by shape:

    >>> from consilience.consensus import MetaClustering
    >>> colour, shape = list("rrrrbbbb"), list("ostostos")
    >>> annotations = list(zip(colour, colour, colour, shape, shape))
    >>> model = MetaClustering(random_state=0).fit(annotations)
    >>> model.views_["n_annotators"].tolist()
    [3, 2]
    >>> model.view_labels_.to_numpy().T
    array([[1, 1, 1, 1, 0, 0, 0, 0],
           [0, 1, 2, 0, 1, 2, 0, 1]])
    """

    _axes: ClassVar[Axes] = GroupingConsensus._axes | {
        "view_labels_": ("items",),
        "annotator_view_": ("annotators",),
        "similarity_": ("annotators", "annotators"),
    }

    _learned: ClassVar[Attributes] = {
        **learned.annotators(n_groupings="c", n_items="c", view="i", agreement="f"),
        "eigenvalues_": learned.array(float, None),
        "similarity_": learned.table("annotators", "annotators"),
        "annotator_view_": learned.series(int, "annotators"),
        "n_views_": learned.size("views"),
        "view_labels_": learned.table("items", "views", dtype="i"),
        "views_": learned.table("views", learned.OF_VIEWS),
        "notes_": learned.NOTES,
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "n_views": AUTO | whole(1),
        "max_clusters": whole(2),
        "max_views": whole(1),
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        *,
        n_views: Literal["auto"] | Integer = "auto",
        max_clusters: Integer = 30,
        max_views: Integer = 10,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.max_clusters = max_clusters
        self.max_views = max_views
        self.random_state = random_state

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """In the view of the annotator, or in the largest view."""
        place = None if annotator is None else self._place_of_annotator(annotator)
        view = 0 if place is None else int(self.annotators_["view"].iloc[place])
        labels, n_clusters = self.view_labels_.to_numpy()[:, view], int(self.views_["n_clusters"].iloc[view])
        probabilities = core.probabilities(labels, n_clusters)
        return (probabilities[a] * probabilities[b]).sum(1)

    def _fuse(self, groupings: Groupings) -> None:
        requested = self._requested(groupings)
        rng = spawn_generator(self.random_state)
        memberships = Memberships.of(groupings)
        rows = np.bincount(memberships.annotator_of_grouping[memberships.grouping], minlength=groupings.n_annotators)
        active = np.flatnonzero(rows)
        similarity = similarities(memberships)
        view_of_active, self.eigenvalues_ = self._views(affinities(similarity[np.ix_(active, active)]), rng)
        view = np.full(groupings.n_annotators, -1)
        view[active] = _by_size(view_of_active, rows[active])
        names = groupings.annotators.rename("annotator")
        self.similarity_ = pd.DataFrame(similarity, index=names, columns=names)
        self.annotator_view_ = pd.Series(view, index=names, name="view")
        self.n_views_ = int(view.max()) + 1
        found = [
            self._of_view(groupings.restrict(annotators=names[view == v]), requested, rng) for v in range(self.n_views_)
        ]
        self._set_result(groupings, memberships, rows, found, requested)

    def _views(self, affinity: Similarity, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """View of each annotator, and the eigenvalues."""
        auto = isinstance(self.n_views, str)
        wanted = min(int(self.max_views) + 1 if auto else int(self.n_views), len(affinity))
        values, vectors = degree_normalised_eigenpairs(csr_array(affinity), wanted)
        # negative eigenvalues carry no information, and there is none after the last
        positive = np.append(np.maximum(values, 0.0), [0.0] * (len(affinity) == wanted))
        number = min(core.eigengap(positive, 1), int(self.max_views)) if auto else wanted
        return kmeans(rows_of_length_one(vectors[:, :number]), number, rng=rng, n_init=10), values

    def _of_view(
        self, groupings: Groupings, requested: int | None, rng: np.random.Generator
    ) -> tuple[core.Seen, core.Partition]:
        seen = core.Seen.of(groupings)
        number = None if requested is None else min(requested, len(seen.places))
        return seen, core.partition(seen, number, self.max_clusters, rng=rng)

    def _requested(self, groupings: Groupings) -> int | None:
        """Return the number of clusters requested, None for "auto"; check that the groupings allow it."""
        if groupings.n_annotators > LARGEST_TABLE:
            raise InputError(
                f"MetaClustering compares all pairs of annotators, and {groupings.n_annotators} are too many (the "
                f"limit is {LARGEST_TABLE}): give groupings of some of them."
            )
        n_active = len(np.unique(groupings.annotator_of_group[groupings.incidence.indices]))
        if not isinstance(self.n_views, str) and self.n_views > n_active:
            raise InputError(
                f"The 'n_views' parameter of MetaClustering must be at most {n_active}, the number of annotators who "
                f"grouped anything. Got {self.n_views} instead."
            )
        if self.n_clusters == "auto":
            return None
        core.require_at_most(self, self.n_clusters, int((np.diff(groupings.incidence.indptr) > 0).sum()))
        return int(self.n_clusters)

    def _set_result(
        self,
        groupings: Groupings,
        memberships: Memberships,
        rows: Int[np.ndarray, " annotators"],
        found: list[tuple[core.Seen, core.Partition]],
        requested: int | None,
    ) -> None:
        view, n_views = self.annotator_view_.to_numpy(), self.n_views_
        self.items_ = groupings.items
        labels = np.column_stack([seen.scattered(clusters.cluster) for seen, clusters in found])
        self.view_labels_ = pd.DataFrame(labels, index=groupings.items.rename("item"))
        self.labels_ = labels[:, 0].copy()  # not a view of the table of all views
        numbers = [int(clusters.cluster.max()) + 1 for _, clusters in found]
        self.n_clusters_ = numbers[0]
        self.responsibilities_ = core.probabilities(self.labels_, self.n_clusters_)
        grouped = view >= 0
        weight = np.bincount(view[grouped], rows[grouped], n_views) / rows.sum()
        self.views_ = pd.DataFrame(
            {"n_annotators": np.bincount(view[grouped], minlength=n_views), "weight": weight, "n_clusters": numbers},
            index=pd.RangeIndex(n_views, name="view"),
        )
        agreement = np.full(groupings.n_annotators, np.nan)
        for number, (seen, clusters) in enumerate(found):
            agreement[view == number] = agreement_with(seen.memberships, clusters.cluster)
        by = memberships.annotator_of_grouping
        self.annotators_ = pd.DataFrame(
            {
                "n_groupings": np.bincount(by, minlength=groupings.n_annotators),
                "n_items": rows,
                "view": view,
                "agreement": agreement,
            },
            index=self.annotator_view_.index,
        )
        self.notes_ = core.notes(*found[0], requested)
        if nowhere := int(((self.labels_ < 0) & (labels.max(1) >= 0)).sum()):
            was = "1 item was" if nowhere == 1 else f"{nowhere:,} items were"
            self.notes_.append(
                f"{was} grouped by annotators of other views alone, and {'has' if nowhere == 1 else 'have'} no cluster "
                "in the largest view. view_labels_ has the clusters of all views."
            )

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        labels, view = self.view_labels_.to_numpy(), self.annotator_view_
        n_clusters = self.views_["n_clusters"].to_numpy()
        if n_clusters[0] != self.n_clusters_ or n_clusters.max() > max(len(self.items_), 1):
            yield "views_"
        if not np.array_equal(labels[:, 0], self.labels_) or (labels.max(0) >= n_clusters).any() or labels.min() < -1:
            yield "view_labels_"
        if len(view) and not -1 <= view.min() <= view.max() < self.n_views_:
            yield "annotator_view_"


def _by_size(
    view: Int[np.ndarray, " annotators"], rows: Int[np.ndarray, " annotators"]
) -> Int[np.ndarray, " annotators"]:
    """Number views by decreasing number of annotators, then of their memberships, then by their first annotator."""
    _, first, code, sizes = np.unique(view, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.lexsort((first, -np.bincount(code, rows), -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[code])
