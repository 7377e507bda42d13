"""SubsetFusion: the estimator of `consilience.consensus.groupings.subset_fusion`.

After K. Veeramachaneni & U.-M. O'Reilly, Clustering using subset groupings, and beyond. Three steps:

1. *Coordinates of the items.* ``normalize=None`` is the paper's Algorithm 1 (`distatis`), in which a pair that is not
   in a grouping counts as apart. ``"presented"`` divides by the number of times that a pair was presented,

       E_ij = Σ_h w_h C_h[i, j] / Σ_h w_h P_h[i, j],    E_ii = 1,

   and takes the leading eigenvectors of D^(-1/2) E D^(-1/2). ``"degree"`` takes the graph of items and groups,
   normalised by degrees, which is linear in the memberships.
2. *Clusters.* Without `refine`, k-means on the coordinates. With it (the default) k-means starts with too many
   clusters, and the mixture of groupings (`grouping_mixture`) moves items and merges clusters. It is run again, with
   the number of clusters found, from k-means on each of the three coordinates, and the largest silhouette is kept.
3. *Number of clusters.* The largest silhouette of the clusters in the evidence (`evidence_silhouette`), with `refine`
   of those numbers that agree with people about as well as the best (`number_of_clusters`).

Decided here
------------
If a single cluster explains the groupings as well as the clusters found (too few items are in more than one grouping,
or people contradict each other), k-means on the coordinates competes with the mixture, the largest silhouette is kept,
and `notes_` says so. Clusters do not span items that no chain of groupings links: each part of such evidence has its
own clusters. If no two items were ever put together, each is a cluster; if none were ever separated, each part is a
cluster; if all pairs were presented and no two groupings contradict each other, the clusters are the groups they agree
on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Groupings, concat
from consilience.annotations.canonical import Arrangement, arrange
from consilience.annotations.fit_arguments import require_no_second
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import MISSING, name_index, plain
from consilience.annotations.types import Flag, Integer, Literal, Name, NameGroups, NumberOfClusters, RandomSource
from consilience.consensus.groupings import fusion_result
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.co_occurrence import Seen
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.number_of_clusters import MAX_CLUSTERS, numbers_to_try, wider_and_wider
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.copies import COPIES
from consilience.estimators.grouping_copies import ReadGroupings, notes_on_copies, read_once
from consilience.estimators.groupings import GroupingConsensus
from consilience.estimators.learned import Attributes
from consilience.estimators.little_told import notes_on_little_told
from consilience.estimators.parameters import AUTO, RESTARTS, TRUTH, Requirements, one_of, whole
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import count_clusters
from consilience.inference.memberships import Memberships, count_presented, together
from consilience.inference.randomness import spawn_generator
from consilience.inference.threads import one_blas_thread

LITTLE_MORE = 0.1  # share of new memberships up to which `partial_fit` continues from the current clusters
LARGEST_TABLE = 5000  # items up to which a table of all pairs is returned


class SubsetFusion(GroupingConsensus):
    """One clustering from many groupings of different subsets of the items.

    Nobody needs to have seen more than a few of the items. Annotators who agree more with the others have more weight.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        "auto": the number with the largest silhouette in the evidence; with refinement, and where groupings hold most
        items, of those numbers that agree with people as well as the best, up to a standard error.
        With an int and refinement, there are fewer if the groupings do not distinguish as many; `notes_` says so.
    normalize : {"degree", "presented", None}, default="degree"
        Coordinates of the items: from the graph of items and groups; from the share of the presentations of a pair in
        which it was put together; or the paper's, where unseen counts as apart. The latter two weight groupings by
        their agreement.
    refine : bool, default=True
        Whether a mixture of groupings moves items and merges clusters, starting from too many clusters by k-means on
        the coordinates. Without it, clusters are those of k-means.
    max_clusters : int, default=30
        Largest number that "auto" considers. At this default, up to four times as many if the number found is the
        largest, with refinement and where groupings hold most items.
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who took part twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who sort more alike than independent people
        would; `notes_` names them. None: every annotator weighs alone. A list: these groups.
    n_init : int, default=1
        Number of starts of k-means from which the mixture is run; the most probable result is kept.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size; -1 for items in no grouping.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        Probability of each cluster, given this solution; one-hot without refinement; the clusters' shares for items
        that are in no grouping.
    n_clusters_ : int
    n_clusters_curve_ : DataFrame, indexed by n_clusters
        `silhouette`, and `log_evidence` of the mixture (nats), for each number of clusters considered.
    silhouette_ : float
        Silhouette of `labels_`; 0 for a single cluster.
    embedding_ : ndarray, shape (n_items, n_components)
        Coordinates of the items; zeros for items in no grouping.
    annotators_ : DataFrame, one row for each annotator, outliers last
        n_groupings, n_items (memberships), n_groups; `consistency`: the annotator's intraclass correlation, from 0
        (groups at random) to 1 (never separates items of a cluster), NaN without refinement; `weight`: consistency
        times the share of the pairs of items of two clusters that the annotator keeps apart, without refinement the
        weights of the annotator's groupings (all sum to 1); `agreement`: adjusted Rand index of the annotator's
        groupings with the clusters, over all pairs in them.
    copies_ : DataFrame, one row for each group of annotators who weigh together
        annotators; n_items that at least two of them grouped; agreement, the adjusted Rand index of two of them;
        expected, what the other annotators explain of it, NaN if they do not agree with each other; dependence, how far
        the agreement goes from there towards 1; p_value of agreement at the limit for independent people, before
        correction for the number of pairs.
    part_ : ndarray of int, shape (n_items,)
        Part of each item; no chain of groupings links different parts. -1 for items that are in no grouping.
    refined_ : bool
        Whether `labels_` come from the mixture.
    notes_ : list of str
        Sentences on the limits of the evidence, on annotators who weigh together, and on those who put nearly all items
        into one group or leave nearly all alone.
    groupings_ : Groupings
        All fitted groupings, including those of `partial_fit`.
    items_ : Index, shape (n_items,)

    Raises
    ------
    InputError
        On `fit`, for an invalid parameter or annotations without groupings.

    See Also
    --------
    consilience.active.ActiveSession : Which subset to ask about next.
    consilience.semisupervised.PartitionLabelModel : What each group stands for.
    CSPA : The simplest consensus.
    KCC : A given number of clusters.

    References
    ----------
    Veeramachaneni & O'Reilly, Clustering using subset groupings, Algorithm 1. Abdi, Valentin, Chollet & Chrea (2007),
    DISTATIS, Food Quality and Preference 18. Fern & Brodley (2004), Solving cluster ensemble problems by bipartite
    graph partitioning, ICML. Topchy, Jain & Punch (2004), A mixture model for clustering ensembles, SDM.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> sorts = [
    ...     [["ant", "bee"], ["cow"]],
    ...     [["bee", "wasp"], ["cow", "pig"]],
    ...     [["ant", "wasp"], ["pig"]],
    ...     [["ant"], ["cow", "pig"]],
    ... ]
    >>> fusion = SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts))
    >>> dict(zip(fusion.items_, fusion.labels_.tolist()))
    {'ant': 0, 'bee': 0, 'cow': 1, 'wasp': 0, 'pig': 1}
    """

    _axes: ClassVar[Axes] = GroupingConsensus._axes | {
        "embedding_": ("items",),
        "part_": ("items",),
        "_raw_clusters": ("items",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.annotators(n_groupings="c", n_items="c", n_groups="c", weight="f", agreement="f"),
        **learned.copies(agreement="f"),
        "groupings_": learned.ANYTHING,
        "embedding_": learned.reals("items", None, nan=True),
        "refined_": learned.TRUTH,
        "part_": learned.array(int, "items", low=-1),
        "n_clusters_curve_": learned.table(None, {}),
        "silhouette_": learned.number(nan=True),
        "notes_": learned.NOTES,
        "_notes": learned.NOTES,
        "_n_rows_at_fit": learned.whole(),
        "_shares": learned.array(float, "clusters", low=0),
        "_n_raw_clusters": learned.size("raw clusters"),
        "_raw_clusters": learned.codes("items", of="raw clusters", missing=True),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "normalize": one_of(*fusing.NORMALIZATIONS),
        "refine": TRUTH,
        "max_clusters": whole(2),
        "copies": COPIES,
        "n_init": RESTARTS,
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        *,
        normalize: Literal["degree", "presented", None] = "degree",
        refine: Flag = True,
        max_clusters: Integer = MAX_CLUSTERS,
        copies: NameGroups = "auto",
        n_init: Integer = 1,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.normalize = normalize
        self.refine = refine
        self.max_clusters = max_clusters
        self.copies = copies
        self.n_init = n_init
        self.verbose = verbose
        self.random_state = random_state

    def partial_fit(self, annotations: Any, y: Any = None, *, missing: Any = None) -> SubsetFusion:
        """Add groupings to those fitted so far.

        While the new memberships are few compared with those of the last full fit, the mixture continues from its
        clusters and keeps their number; otherwise, and without refinement, everything is fitted again.

        Parameters
        ----------
        annotations : as for `fit`
            Groupings that were not fitted before, of fitted or new items.
        y, missing : as for `fit`

        Returns
        -------
        SubsetFusion

        Raises
        ------
        InputError
            A grouping of the annotations was fitted before with the same item.
        """
        if not hasattr(self, "groupings_"):
            self.fit(annotations, y, missing=missing)
            return self
        require_no_second(y, type(self).__name__)
        self._check_parameters()
        # columns of a matrix are annotators: others may come
        new = self._read_groupings(annotations, reset=True, missing=missing)
        _require_new(new, self.groupings_)
        arranged = arrange(concat([self.groupings_, new]))
        little = arranged.given.n_rows <= (1 + LITTLE_MORE) * self._n_rows_at_fit
        learn = self._continue if self.refined_ and little else self._fuse
        with one_blas_thread(), self._progress():
            learn(arranged.ordered)
        self._restore(arranged)
        return self

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of items that no chain of groupings links: the probability for two random items."""
        same = super()._same(a, b, None)
        unlinked = (self.part_[a] != self.part_[b]) | (self.part_[a] == -1)
        same[unlinked] = (self._shares**2).sum()
        return same if annotator is None else self._seen_by(annotator, same)

    def co_occurrence(self, items: Any = None) -> pd.DataFrame:
        """Share of the presentations of each pair of items in which it was put together.

        Parameters
        ----------
        items : list of names, optional
            By default all, in the order of `items_`.

        Returns
        -------
        DataFrame, shape (n_items, n_items)
            1 on the diagonal, NaN for pairs that were never presented together.

        Raises
        ------
        InputError
            Too many items for a table, or an unknown item.
        """
        _, memberships = self._some(items)
        names = self.items_ if items is None else name_index(list_names(items, "items"))
        counted, of = together(memberships).toarray(), count_presented(memberships).toarray()
        share = np.divide(counted, of, out=np.full(of.shape, np.nan), where=of > 0)
        np.fill_diagonal(share, 1.0)
        return pd.DataFrame(share, index=names, columns=names)

    def linkage(self, items: Any = None, *, method: Any = "average") -> Float[np.ndarray, "mergers 4"]:
        """Hierarchy of items by the evidence, for a dendrogram.

        Parameters
        ----------
        items : list of names, optional
            By default all, in the order of `items_`; at least two.
        method : str, default="average"
            As in `scipy.cluster.hierarchy.linkage`.

        Returns
        -------
        ndarray, shape (n_items - 1, 4)
            Distances are 1 - the share of presentations together, where half a presentation at the overall share
            is added to every pair.
        """
        _, memberships = self._some(items)
        given = self.groupings_ if items is None else self.groupings_.restrict(items=items)
        order = arrange(given).items  # depends on the annotations alone, and breaks ties between mergers
        evidence = EvidenceSilhouette.of(memberships.of_items(order), rng=np.random.default_rng(0), all_items=True)
        result: np.ndarray = hierarchy.linkage(squareform(evidence.dissimilarities(), checks=False), method)
        # items have other positions than in the canonical order; mergers keep their numbers
        clusters = np.concatenate([order, np.arange(len(order), 2 * len(order) - 1)])
        result[:, :2] = np.sort(clusters[result[:, :2].astype(np.intp)], axis=1)
        return result

    def _fuse(self, groupings: Groupings) -> None:
        read = read_once(self, groupings)
        seen = Seen.of(read.kept)
        memberships, places = seen.memberships, seen.places
        require_at_most(self, memberships.n_items, "items that are in some grouping")
        rng = self._rng()
        to_consider = (self.n_clusters, self.max_clusters, memberships.n_items)
        numbers = numbers_to_try(*to_consider)
        n_components = min(numbers[-1], memberships.n_items)
        coordinates = fusing.coordinates(memberships, self.normalize, n_components)
        obvious = fusing.obvious_clusters(memberships, seen.part, self.n_clusters)
        if obvious is not None:
            solution = _obvious(memberships, obvious)
        elif self.refine:
            more_starts = fusing.all_coordinates(memberships, n_components, {self.normalize: coordinates})
            solution = fusing.by_mixture(
                memberships,
                coordinates,
                numbers,
                normalize=self.normalize,
                more_starts=more_starts,
                wider=wider_and_wider(*to_consider),
                n_init=self.n_init,
                rng=rng,
            )
        else:
            solution = fusing.by_kmeans(memberships, coordinates, numbers, rng=rng)
        self._n_rows_at_fit = groupings.n_rows
        self.embedding_ = np.zeros((len(groupings), coordinates.vectors.shape[1]))
        self.embedding_[places] = coordinates.vectors
        self._notes = [fusion_result.DOUBTFUL] if solution.doubtful else []
        self._set_result(read, seen, solution, coordinates.grouping_weights)

    def _continue(self, groupings: Groupings) -> None:
        read = read_once(self, groupings)
        seen = Seen.of(read.kept)
        # -1 for items that are new
        before = pd.Series(self._raw_clusters, index=self.items_).reindex(groupings.items).fillna(-1).to_numpy(np.intp)
        solution = fusing.continue_from(seen.memberships, before[seen.places], self._n_raw_clusters, rng=self._rng())
        known = self.n_clusters_curve_.drop(solution.curve.index, errors="ignore")
        solution = replace(solution, curve=pd.concat([known, solution.curve]).sort_index())
        coordinates = np.zeros((len(groupings), self.embedding_.shape[1]))
        coordinates[groupings.items.get_indexer(self.items_)] = self.embedding_
        self.embedding_ = coordinates
        self._set_result(read, seen, solution, None)

    def _rng(self) -> np.random.Generator:
        return spawn_generator(self.random_state)

    def _some(self, items: Any) -> tuple[Int[np.ndarray, " places"], Memberships]:
        check_is_fitted(self)
        places = np.arange(len(self.items_)) if items is None else self._places(items)
        if len(places) > LARGEST_TABLE:
            raise InputError(
                f"A table of all pairs of {len(places)} items is too large (the limit is {LARGEST_TABLE}): "
                "name some of the items."
            )
        return places, Memberships.of(self.groupings_).of_items(places)

    def _seen_by(self, annotator: Any, same: Float[np.ndarray, " pairs"]) -> Float[np.ndarray, " pairs"]:
        """Probability that an annotator puts two items together, from the probability that they are of one cluster."""
        place = self._place_of_annotator(annotator)
        own = self.annotators_.iloc[place]
        base = own["n_groupings"] / (own["n_groups"] + mixture.MORE_GROUPS * own["n_groupings"])
        keeps = own["consistency"] if self.refined_ else 1.0
        return same * (keeps + (1 - keeps) * base) + (1 - same) * base

    def _set_result(
        self,
        read: ReadGroupings,
        seen: Seen,
        solution: fusing.Solution,
        grouping_weights: Float[np.ndarray, " groupings"] | None,
    ) -> None:
        own = fusing.within_parts(solution.probabilities, seen.part)
        groupings, n_items, n_clusters = read.given, len(read.given), own.shape[1]
        self.items_ = groupings.items
        self.refined_ = solution.state is not None
        self.n_clusters_ = n_clusters
        self._shares = own.mean(0)
        self.responsibilities_ = np.tile(self._shares, (n_items, 1))
        self.responsibilities_[seen.places] = own
        cluster = own.argmax(1)
        self.labels_, self.part_ = seen.scattered(cluster), seen.scattered(seen.part)
        self._raw_clusters = seen.scattered(solution.cluster)
        self._n_raw_clusters = solution.probabilities.shape[1]
        self.n_clusters_curve_ = solution.curve
        self.silhouette_ = EvidenceSilhouette.of(seen.memberships, rng=np.random.default_rng(0)).score(cluster)
        weight = fusion_result.weights(seen.memberships, solution.state, grouping_weights)
        everything = seen.memberships
        if read.has_copies:
            everything = Memberships.of(groupings).of_items(seen.places)
            weight = fusion_result.weights_of_all(everything, weight, read.places, read.group, solution.state)
        self.annotators_ = fusion_result.annotators_table(
            groupings, everything, weight, count_clusters(everything, cluster), refined=self.refined_
        )
        notes = fusion_result.notes(groupings, seen.part, self.n_clusters, n_clusters)
        self.notes_ = [*notes_on_copies(self), *self._notes, *notes]

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        super()._restore(arrangement)
        self.groupings_ = arrangement.given
        self.notes_ += notes_on_little_told(self.groupings_)
        self.annotators_ = self.annotators_.sort_values("weight", ascending=False, kind="stable")

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        groupings = self.groupings_
        if not (isinstance(groupings, Groupings) and groupings.items.equals(self.items_)):
            yield "groupings_"
            return
        if (
            len(groupings.annotators) != len(self.annotators_)
            or not groupings.annotators.isin(self.annotators_.index).all()
        ):
            yield "annotators_"
        if not (len(self.n_clusters_curve_) and {"silhouette", "log_evidence"} <= set(self.n_clusters_curve_.columns)):
            yield "n_clusters_curve_"


def require_at_most(fusion: SubsetFusion, n_items: int, items: str = "items") -> None:
    """Raise an InputError if more clusters are requested than there are such items."""
    if fusion.n_clusters != "auto" and int(fusion.n_clusters) > n_items:
        raise InputError(
            f"The 'n_clusters' parameter of SubsetFusion must be at most {n_items}, the number of {items}. Got "
            f"{fusion.n_clusters} instead."
        )


def _require_new(new: Groupings, known: Groupings) -> None:
    """Raise an InputError if a membership was fitted before, for example when a batch is given twice."""
    group = new.vocabulary.place_in(known.vocabulary.group_keys())[new.incidence.indices]
    item = known.items.get_indexer(new.items)[new.item_of_row]
    rows = np.flatnonzero((group != MISSING) & (item != MISSING))
    memberships = known.item_of_row * known.n_groups + known.incidence.indices
    fitted = rows[np.isin(item[rows] * known.n_groups + group[rows], memberships)]
    if len(fitted):
        name = plain(new.items[new.item_of_row[fitted[0]]])
        annotator, grouping, _ = known.vocabulary.group_keys()[group[fitted[0]]]
        raise InputError(
            f"The item {name!r} was fitted in the grouping {grouping!r} of the annotator {annotator!r} before, one of "
            f"{len(fitted)} such; partial_fit takes groupings that are new."
        )


def _obvious(memberships: Memberships, cluster: Int[np.ndarray, " items"]) -> fusing.Solution:
    n_clusters = int(cluster.max()) + 1
    if n_clusters > LARGEST_TABLE:
        raise InputError(
            f"The groupings determine {n_clusters} clusters of {len(cluster)} items, since hardly any two items "
            "were ever put together. There is nothing to fuse."
        )
    silhouette = EvidenceSilhouette.of(memberships, rng=np.random.default_rng(0)).score(cluster)
    curve = fusing.curve_of({n_clusters: [silhouette, np.nan]})
    return fusing.Solution(fusing.onehot(cluster, n_clusters), curve, silhouette)
