"""CSPA: the estimator of `consilience.consensus.groupings.cspa`. Strehl & Ghosh (2002)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.annotations.types import Integer, Name, NumberOfClusters, RandomSource
from consilience.consensus.groupings import co_occurrence as core
from consilience.estimators import learned
from consilience.estimators.groupings import GroupingConsensus
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import AUTO, Requirements, whole
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import count_clusters
from consilience.inference.randomness import spawn_generator


class CSPA(GroupingConsensus):
    """Clusters of items that were put together in many of the groupings that present both.

    Two items are similar if they were put together in most of the groupings that show both; all annotators have equal
    weight.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        "auto": the number, from 2 to `max_clusters`, with the largest gap between eigenvalues.
    max_clusters : int, default=30
        Largest number that "auto" considers. At this default, up to four times as many while a larger gap may
        follow, where groupings hold most items.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size; -1 for items in no grouping.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        One-hot; the clusters' shares for items that are in no grouping.
    n_clusters_ : int
        More than `n_clusters` if the evidence falls into more parts; see `notes_`.
    eigenvalues_ : ndarray, shape (n_components,)
        Leading eigenvalues of the normalised similarities, in decreasing order; empty if the groupings determine the
        clusters.
    annotators_ : DataFrame, one row for each annotator
        n_groupings, n_items (memberships), and `agreement`: adjusted Rand index of the annotator's groupings with the
        clusters, over all pairs in them.
    notes_ : list of str
        Sentences on the limits of the evidence.
    items_ : Index, shape (n_items,)

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter or annotations without groupings.

    See Also
    --------
    SubsetFusion : Weights annotators.
    KCC : Faster, for a given number of clusters.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles: a knowledge reuse framework for combining multiple partitions, JMLR 3.
    Ng, Jordan & Weiss (2002), On spectral clustering: analysis and an algorithm, NIPS 14.

    Examples
    --------
    >>> from consilience.consensus import CSPA
    >>> annotations = [["a", "p", None], ["a", "p", "x"], ["b", None, "y"], ["b", "q", "y"], ["a", "q", "y"]]
    >>> CSPA(n_clusters=2, random_state=0).fit(annotations).labels_
    array([1, 1, 0, 0, 0])
    """

    _axes: ClassVar[Axes] = GroupingConsensus._axes | {"_habits": ("annotators",)}

    _learned: ClassVar[Attributes] = {
        **learned.annotators(n_groupings="c", n_items="c", agreement="f"),
        "eigenvalues_": learned.array(float, None),
        "notes_": learned.NOTES,
        "_habits": learned.array(float, "annotators", 2, low=0, high=1),
    }

    _requirements: ClassVar[Requirements] = {"n_clusters": AUTO | whole(1), "max_clusters": whole(2)}

    def __init__(
        self, n_clusters: NumberOfClusters = "auto", *, max_clusters: Integer = 30, random_state: RandomSource = None
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.random_state = random_state

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of an annotator: from the shares of pairs of one cluster, and of two, that the annotator puts together."""
        same = super()._same(a, b, None)
        if annotator is None:
            return same
        within, across = self._habits[self._place_of_annotator(annotator)]
        return same * within + (1 - same) * across

    def _fuse(self, groupings: Groupings) -> None:
        seen = core.Seen.of(groupings)
        auto = self.n_clusters == "auto"
        if not auto:
            core.require_at_most(self, self.n_clusters, len(seen.places))
        rng = spawn_generator(self.random_state)
        requested = None if auto else int(self.n_clusters)
        found = core.partition(seen, requested, self.max_clusters, rng=rng)
        self.items_ = groupings.items
        self.labels_ = seen.scattered(found.cluster)
        self.n_clusters_ = int(found.cluster.max()) + 1
        self.responsibilities_ = core.probabilities(self.labels_, self.n_clusters_)
        self.eigenvalues_ = found.eigenvalues
        self.annotators_ = core.annotator_table(
            groupings, seen.memberships, count_clusters(seen.memberships, found.cluster)
        )
        self._habits = core.habits(seen.memberships, found.cluster)
        self.notes_ = core.notes(seen, found, requested)
