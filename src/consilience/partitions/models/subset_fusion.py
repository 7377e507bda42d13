"""`SubsetFusion` fitted to partitions: its search on a sample, its mixture of groupings on all items.

    survey       annotators, groups, numbers of items                               1 pass over the source
    sample       of at most `SAMPLE` items: number of clusters, first clusters      1 pass over the parts
    links        which groupings share items                                        1
    sweeps       moves of items, each with counts of the groups; see the sweeps   2 a sweep
    samples      the same, for the probabilities                                    2 a sweep
    clusters     sizes, and number of items of each cluster in each group           3

Decided here
------------
Up to `SAMPLE` items the search has them all, and the fit is that in memory. Beyond, its clusters continue with all
items, and the silhouette, its curve and notes about annotators are those of the sample; clusters that need no
inference are not looked for.

If a single cluster explains the groupings as well, k-means competes with the mixture, and a note says so. Of its
clusters only the counts of the groups remain: the result of an item is the most probable one given these.

Groups that copies repeat are not left out, so that ``copies=None`` has to be said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from consilience.annotations import Groupings
from consilience.annotations.canonical import arrange
from consilience.consensus.groupings import fusion_result
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.co_occurrence import Seen
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.grouping_mixture import GroupingCounts, GroupingLayout
from consilience.consensus.groupings.number_of_clusters import numbers_to_try, wider_and_wider
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion, require_at_most
from consilience.errors import InputError
from consilience.estimators.elsewhere import keep_for_items, told_of_items
from consilience.estimators.forecasts import on_number_of_clusters
from consilience.estimators.grouping_copies import copies_of
from consilience.estimators.little_told import notes_on_little_told
from consilience.estimators.user_order import restore
from consilience.inference.memberships import Memberships
from consilience.inference.parts import Parts
from consilience.inference.randomness import spawn_generator
from consilience.partitions.engine.checkpoint import Runs, digest, runs_at
from consilience.partitions.engine.item_rows import ItemRowFiles
from consilience.partitions.models import subset_fusion_sweeps as sweeps
from consilience.partitions.models import subset_fusion_walk
from consilience.partitions.models.requirements import require_no_copies, require_same_starts
from consilience.partitions.models.subset_fusion_results import Fused
from consilience.partitions.models.subset_fusion_sweeps import Spread, SubsetFusionSweeps
from consilience.partitions.models.subset_fusion_walk import Place, Walk
from consilience.partitions.survey.item_survey import SAMPLE, ItemSurvey, Surveyed
from consilience.partitions.survey.label_survey import hashes_of

Places = Int[np.ndarray, " seen"]
OF_ITEMS = ("embedding_", "part_", "_raw_clusters")


def require_fittable(model: SubsetFusion, checkpoint: Any) -> None:
    """Raise an InputError if the parameters need all items at once, or a checkpoint other starts."""
    require_no_copies(model)
    if not model.refine:
        raise InputError(
            "Over partitions, the 'refine' parameter of SubsetFusion must be True: otherwise clusters are those of "
            f"k-means on eigenvectors with an entry for each item. Got {model.refine!r} instead."
        )
    require_same_starts(model, checkpoint)


@dataclass(frozen=True)
class Outcome:
    """Clusters of all items, and where they come from.

    spread : with the probabilities of the items.
    drawn_from, is_certain : see `Fused`.
    curve : of the search; None if there was none.
    doubtful : whether a single cluster explains the groupings as well.
    """

    spread: Spread
    drawn_from: list[GroupingCounts]
    curve: pd.DataFrame | None
    is_certain: bool = False
    doubtful: bool = False


def fit_subset_fusion(model: SubsetFusion, table: Surveyed, checkpoint: Any) -> None:
    """Fit the model; see `registry.PartitionedModel`. A checkpoint keeps rows of items in a folder beside it."""
    own, survey = table.own, table.survey
    if not survey.groups:
        raise InputError(f"SubsetFusion needs labels, and none of the {survey.n_items} items has any.")
    sample = table.sample(SAMPLE)
    arranged = arrange(sample.groupings)
    ordered = arranged.ordered
    seen = Seen.of(ordered)
    nothing = replace(ordered, items=pd.RangeIndex(0), incidence=ordered.incidence[:0])
    hashes = hashes_of(ordered.items.take(seen.places))
    parts = own.map(sweeps.prepare_part, nothing, hashes, survey.first)
    own.forget()
    sizes = list(parts.results(sweeps.n_items_of))
    n_items, before = sum(sizes), np.cumsum([0, *sizes])[:-1]
    require_at_most(model, n_items, "items that are in some grouping")
    require_at_most(model, len(seen.places), "items of the sample that are in some grouping")
    over = SubsetFusionSweeps(GroupingLayout.of(Memberships.of(nothing)), n_items, len(seen.places))
    part_of = _parts_of_groupings(parts, len(seen.places), before)
    copies_of(model, nothing)
    keep_rows = partial(ItemRowFiles.beside, parts, subset_fusion_walk.rows_of, subset_fusion_walk.with_rows)
    labels = digest((survey.vocabulary.group_keys(), survey.sizes), hashes)
    runs: Runs[Place] = runs_at(checkpoint, model, keep_rows=keep_rows, labels=labels)
    search = _Searching(model, seen.memberships, seen.part, over, parts, part_of, before, runs)
    outcome, grouping_weights = search.outcome()
    _read_off(model, search, outcome, ordered, grouping_weights)
    _note(model, search, outcome, ordered, survey)
    restore(model, arranged)
    model.annotators_ = model.annotators_.sort_values("weight", ascending=False, kind="stable")
    del model.items_
    if hasattr(model, "groupings_"):  # of an earlier fit in memory
        del model.groupings_
    outcome.spread.parts.forget()
    parts.forget()


def _parts_of_groupings(
    parts: Parts, n_sampled: int, before: Int[np.ndarray, " partitions"]
) -> Int[np.ndarray, " groupings"]:
    """Number the parts of the evidence by falling number of items, as `memberships.parts` does."""
    _, part_of = connected_components(parts.total(sweeps.links), directed=False)
    part_of = part_of.astype(np.intp)
    order = parts.total(sweeps.owners_of, part_of, n_sampled, before).by_size()
    number = np.full(len(part_of) + 1, len(order))  # of groupings without items: the last
    number[order] = np.arange(len(order))
    return number[part_of]


@dataclass(frozen=True)
class _Searching:
    """The search of one fit: what it has in memory, and what it has in partitions.

    memberships, part : of the items of the sample.
    parts : of `sweeps.Own`, without clusters.
    """

    model: SubsetFusion
    memberships: Memberships
    part: Places
    over: SubsetFusionSweeps
    parts: Parts
    part_of: Int[np.ndarray, " groupings"]
    before: Int[np.ndarray, " partitions"]
    runs: Runs[Place]

    @property
    def has_all(self) -> bool:
        """Whether all items are in the sample."""
        return self.over.n_items == self.over.n_sampled

    def outcome(self) -> tuple[Outcome, Float[np.ndarray, " groupings"] | None]:
        """Return the outcome, as in memory, and weights of the groupings for clusters without a mixture."""
        model, rng, sampled = self.model, spawn_generator(self.model.random_state), self.memberships
        numbers = numbers_to_try(model.n_clusters, model.max_clusters, sampled.n_items)
        coordinates = fusing.coordinates(sampled, model.normalize, min(numbers[-1], sampled.n_items))
        obvious = (
            fusing.obvious_clusters(sampled, self.part, model.n_clusters)
            if self.has_all or model.n_clusters == 1
            else None
        )
        if obvious is None:
            return self.by_mixture(coordinates, numbers, rng), coordinates.grouping_weights
        return self.as_they_are(obvious), coordinates.grouping_weights

    def by_mixture(self, coordinates: fusing.Coordinates, numbers: range, rng: np.random.Generator) -> Outcome:
        """Clusters by the mixture, as `fusing.by_mixture` finds them."""
        model, sampled = self.model, self.memberships
        n_components = min(numbers[-1], sampled.n_items)
        more_starts = fusing.all_coordinates(sampled, n_components, {model.normalize: coordinates})
        found = fusing.search_mixture(
            sampled, coordinates, numbers, more_starts=more_starts, n_init=model.n_init, rng=rng
        )
        wider = wider_and_wider(model.n_clusters, model.max_clusters, sampled.n_items)
        found = fusing.widen(found, model.normalize, wider, n_init=model.n_init, rng=rng)
        ends = list(found.convincing())
        walk = Walk(self.over, self.parts, found.layout, ends, self.owned)
        if ends:
            last = self.walked(walk, rng)
            if last.number < len(ends):
                return Outcome(last.spread, list(last.drawn_from), found.curve_with(ends[last.number]))
            last.spread.parts.forget()
            rng = subset_fusion_walk.generator_at(last.generator)
        best = found.ends[0]
        plain = fusing.by_kmeans(sampled, coordinates, numbers, rng=rng)
        if best.n_clusters < numbers[0] or plain.silhouette > found.evidence.score(best.cluster):
            return replace(self.as_they_are(plain.cluster, plain.curve), doubtful=True)
        best_first = replace(walk, ends=found.ends[:1])
        spread = best_first.settled(0, subset_fusion_walk.state_of(rng))
        own = spread.parts.map(sweeps.given_the_rest, spread.counts, spread.state.concentration)
        spread.parts.forget()
        return Outcome(replace(spread, parts=own), [spread.counts], found.curve_with(best), doubtful=True)

    def walked(self, walk: Walk, rng: np.random.Generator) -> Place:
        """Return the end of the walk, which goes on from the checkpoint."""
        most = len(walk.ends) * (mixture.MOST_SWEEPS + subset_fusion_walk.DRAWS)
        trace = self.runs.run(
            lambda: walk.start(0, subset_fusion_walk.state_of(rng)),
            walk.step,
            lambda place: place.spread.state.log_pseudo_likelihood,
            max_iter=most,
            settled=lambda place: place.is_over,
        )
        return trace.state

    def as_they_are(self, cluster: Int[np.ndarray, " sampled"], curve: pd.DataFrame | None = None) -> Outcome:
        """Give the items of the sample these clusters, and others the most probable ones."""
        layout, n_clusters = GroupingLayout.of(self.memberships), int(cluster.max()) + 1
        start = mixture.learn_concentration(layout, mixture.init(layout, cluster, n_clusters))
        spread = self.over.begun(self.parts, start, mixture.count(layout, start))
        own = spread.parts.map(sweeps.certain)
        spread.parts.forget()
        return Outcome(replace(spread, parts=own), [spread.counts], curve, is_certain=True)

    def owned(self, spread: Spread) -> Int[np.ndarray, " owned"]:
        """Return the clusters of the parts of the evidence that own items, the largest first."""
        return spread.parts.total(sweeps.owners_of, self.part_of, self.over.n_sampled, self.before).by_size()


def _read_off(
    model: SubsetFusion,
    search: _Searching,
    outcome: Outcome,
    ordered: Groupings,
    grouping_weights: Float[np.ndarray, " groupings"] | None,
) -> None:
    """Set the attributes."""
    owned, state = search.owned(outcome.spread), outcome.spread.state
    found = outcome.spread.parts.total(sweeps.read, search.part_of, owned)
    model.refined_, model.n_clusters_ = not outcome.is_certain, len(owned)
    structure = search.over.nothing.memberships
    weight = fusion_result.weights(structure, state if model.refined_ else None, grouping_weights)
    counts = csr_array(found.counts)
    model.annotators_ = fusion_result.annotators_table(ordered, structure, weight, counts, refined=model.refined_)
    cluster = _clusters_of_sample(search, outcome.spread, owned)
    evidence = EvidenceSilhouette.of(search.memberships, rng=np.random.default_rng(0))
    model.silhouette_ = evidence.score(cluster)
    curve = outcome.curve
    model.n_clusters_curve_ = fusing.curve_of({len(owned): [model.silhouette_, np.nan]}) if curve is None else curve
    nothing = replace(ordered, items=pd.RangeIndex(0), incidence=ordered.incidence[:0])
    shares = found.shares / search.over.n_items
    fused = Fused(nothing, state.concentration, outcome.drawn_from, outcome.is_certain, search.part_of, owned, shares)
    keep_for_items(model, fused)


def _clusters_of_sample(search: _Searching, spread: Spread, owned: Int[np.ndarray, " owned"]) -> Places:
    """Return the clusters of the items of the sample, in canonical order."""
    cluster = np.zeros(search.over.n_sampled, dtype=np.intp)
    for place, own in spread.parts.results(sweeps.of_sample, search.part_of, owned):
        cluster[place] = own
    return cluster


def _note(model: SubsetFusion, search: _Searching, outcome: Outcome, ordered: Groupings, survey: ItemSurvey) -> None:
    """Set ``notes_``; those about annotators are of the sample."""
    of_parts = search.parts.total(sweeps.owners_of, search.part_of, search.over.n_sampled, search.before)
    sizes = of_parts.sizes[of_parts.sizes > 0]
    part = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes) if len(sizes) > 1 else np.zeros(1, dtype=np.int32)
    model.notes_ = [fusion_result.DOUBTFUL] if outcome.doubtful else []
    model.notes_ += fusion_result.notes(ordered, part, model.n_clusters, model.n_clusters_)
    unseen = survey.n_items - search.over.n_items
    if unseen:
        they = "is in no grouping; it belongs" if unseen == 1 else "are in no grouping; they belong"
        model.notes_.append(f"{unseen:,} of {survey.n_items:,} items {they} to no cluster.")
    everywhere = np.full(len(ordered), -1)
    cluster = _clusters_of_sample(search, outcome.spread, told_of_items(model).owned)
    everywhere[np.diff(ordered.incidence.indptr) > 0] = cluster
    model.notes_ += on_number_of_clusters(ordered, everywhere) + notes_on_little_told(ordered)
