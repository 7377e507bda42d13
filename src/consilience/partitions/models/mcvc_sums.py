"""What a partition computes for `MCVC` and `MECC`: sums over its items, and the η of its items, which stay there.

For each view these are sums of η and of its direction over groups, of features × η, and of the softmax of the weights.
With s_g the sum of η over group g, h its grouping and w the weights of judgements, an item in the groups G is told

    Σ_m Σ_j w_m(S_ij) η_j = Σ_{g ∈ G} [w_m(same) s_g + w_m(apart) (s_h − s_g)] − η_i Σ_{g ∈ G} w_m(same)

so that a message for each group, and a weight for the item's own part, are all that a partition needs. The first sum is
`GroupedItems.messages` with the groups in place of items: each is the sum of its items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import entr, softmax

from consilience.annotations.types import Self
from consilience.inference import gaussian_softmax
from consilience.inference.gaussian_softmax import Design, UnusedSums, Weights
from consilience.inference.pair_evidence import GroupedItems
from consilience.inference.parts import Additive
from consilience.partitions.engine.item_rows import Arrays
from consilience.partitions.engine.map_reduce import tree_sum
from consilience.semisupervised.mcvc import Columns, Eta

CHUNK_ENTRIES = 1 << 20  # of η at a time: eight megabytes; a sweep needs a few times as much

OfFeatures = Float[np.ndarray, "features clusters columns"]
OfGroups = Float[np.ndarray, "groups clusters columns"]
PerGroup = Float[np.ndarray, "groups columns"]
Some = Int[np.ndarray, " some"]
NO_ITEMS = np.empty(0, dtype=np.intp)


# ---- what travels


@dataclass(frozen=True)
class OfColumns(Additive):
    """Base of sums whose last axis runs over columns."""

    def of_columns(self, some: Some) -> Self:
        """Return the sums of some columns."""
        return type(self)(*(getattr(self, one.name)[..., some] for one in fields(self)))

    def with_columns(self, columns: Some, own: Self) -> Self:
        """Return these sums with others for some of the columns."""
        values = {one.name: getattr(self, one.name).copy() for one in fields(self)}
        for name, value in values.items():
            value[..., columns] = getattr(own, name)
        return type(self)(**values)


@dataclass(frozen=True)
class Sums(OfColumns):
    """Sums of η: of features × η, in each group, of squares in each group; and its entropy."""

    drawn: OfFeatures
    groups: OfGroups
    squares: PerGroup
    entropy: Columns


@dataclass(frozen=True)
class LogSums(OfColumns, gaussian_softmax.SoftmaxLogSums):
    """Σ_i ln Σ_k exp(…) of `gaussian_softmax`, and sums of features, and of their squares, × the softmax inside."""

    log_sum: Columns
    of_x: OfFeatures
    of_squares: OfFeatures


@dataclass(frozen=True)
class Directions(Additive):
    """Sums of the direction of η: in each group, its squares × the weight of an item's own part, its slope.

    entropy : of η after each of some shares of the direction.
    """

    groups: OfGroups
    own: Columns
    slope: Columns
    entropy: Float[np.ndarray, "shares columns"]


@dataclass(frozen=True)
class Messages:
    """What each group tells its items, and the weight of an item's own part in that."""

    of_groups: OfGroups
    own: PerGroup

    @classmethod
    def of(cls, evidence: GroupedItems, sums: OfGroups, same: np.ndarray, apart: np.ndarray) -> Messages:
        """Messages from the sums of groups; `same` and `apart` are weights of judgements, (annotators, columns)."""
        by = evidence.memberships.annotator_of_grouping
        own = (same[by] * evidence.weight[:, None])[evidence.memberships.grouping_of_group]
        return cls(evidence.messages(sums, same=same, apart=apart) + sums * own[:, None, :], own)

    def of_columns(self, some: Some) -> Messages:
        """Return the messages of some columns."""
        return Messages(self.of_groups[:, :, some], self.own[:, some])


# ---- what is computed on a partition


@dataclass(frozen=True)
class Items:
    """Items of a partition before the first sweep.

    number : of the partition.
    x : features, with a last column of ones.
    in_group : groups of each item.
    sampled : places of the items of the sample.
    """

    number: int
    x: Float[np.ndarray, "items features"]
    in_group: csr_array
    sampled: Int[np.ndarray, " sampled"]

    def slices(self, n_entries: int) -> Iterator[slice]:
        """Yield slices of the items with so many entries of η each that are a chunk; one without items if none are."""
        size = max(CHUNK_ENTRIES // n_entries, 1)
        for start in range(0, max(len(self.x), 1), size):
            yield slice(start, start + size)

    def designs(self, weights: Weights) -> Iterator[Design]:
        """Yield the features in chunks."""
        for rows in self.slices(int(np.prod(weights.mean.shape[1:]))):
            yield design_of(self.x[rows])


@dataclass(frozen=True)
class Part(Items):
    """Items of a partition, with their η."""

    eta: Eta

    def chunks(self, columns: Some) -> Iterator[Part]:
        """Yield the items in chunks, with η of some columns."""
        for rows in self.slices(self.eta.shape[1] * len(columns)):
            yield Part(self.number, self.x[rows], self.in_group[rows], NO_ITEMS, self.eta[rows][:, :, columns])


def rows_of(part: Part) -> Arrays:
    """Return the rows of the items that a checkpoint keeps."""
    return {"eta": part.eta}


def with_rows(part: Part, rows: Arrays) -> Part:
    """Return the items with these rows."""
    return replace(part, eta=rows["eta"])


def design_of(x: Float[np.ndarray, "items features"]) -> Design:
    """Design with a matrix in place of the factor, which nothing here needs."""
    return Design(x, np.square(x), np.eye(x.shape[1]))


def field_of(
    x: Float[np.ndarray, "items features"], in_group: csr_array, weights: Weights, messages: Messages
) -> Float[np.ndarray, "items clusters columns"]:
    """Logarithms of η, but for a constant and for the item's own part."""
    told = in_group @ messages.of_groups.reshape(len(messages.own), -1)
    return gaussian_softmax.scores(design_of(x), weights) + told.reshape(len(x), *weights.mean.shape[1:])


def sum_eta(part: Part, columns: Some) -> Sums:
    return tree_sum(_sums_of(chunk) for chunk in part.chunks(columns))


def _sums_of(part: Part) -> Sums:
    return Sums(
        np.tensordot(part.x.T, part.eta, 1),
        _in_groups(part, part.eta),
        part.in_group.T @ np.square(part.eta).sum(1),
        entr(part.eta).sum((0, 1)),
    )


def _in_groups(part: Part, values: Eta) -> OfGroups:
    shape = values.shape[1:]
    return np.asarray(part.in_group.T @ values.reshape(len(values), int(np.prod(shape)))).reshape(-1, *shape)


def log_sums(items: Items, weights: Weights) -> LogSums:
    """Sums of the softmax of weights."""
    chunks = (gaussian_softmax.log_sums(design, weights) for design in items.designs(weights))
    return tree_sum(LogSums(chunk.log_sum, chunk.of_x, chunk.of_squares) for chunk in chunks)


def unused_sums(items: Items, weights: Weights) -> UnusedSums:
    """Sums of an unused view."""
    return tree_sum(gaussian_softmax.unused_sums(design, weights) for design in items.designs(weights))


def direction_sums(part: Part, columns: Some, weights: Weights, messages: Messages, shares: np.ndarray) -> Directions:
    """Sums of the direction of η of some columns."""
    return tree_sum(_directions_of(chunk, weights, messages, shares) for chunk in part.chunks(columns))


def _directions_of(part: Part, weights: Weights, messages: Messages, shares: np.ndarray) -> Directions:
    field, own = _own_field(part, weights, messages)
    direction = softmax(field, axis=1) - part.eta
    return Directions(
        _in_groups(part, direction),
        (np.square(direction).sum(1) * own).sum(0),
        (field * direction).sum((0, 1)),
        np.stack([entr(part.eta + share * direction).sum((0, 1)) for share in shares]),
    )


def _own_field(part: Part, weights: Weights, messages: Messages) -> tuple[Eta, Float[np.ndarray, "items columns"]]:
    """Logarithms of the next η, but for a constant; and the weight of each item's own part."""
    own = part.in_group @ messages.own
    return field_of(part.x, part.in_group, weights, messages) - part.eta * own[:, None, :], own


def move_eta(part: Part, columns: Some, weights: Weights, messages: Messages, way: Columns) -> Part:
    """Move η of some columns by a share of its direction."""
    now = [_moved_eta(chunk, weights, messages, way) for chunk in part.chunks(columns)]
    eta = part.eta.copy()
    eta[:, :, columns] = np.concatenate(now)
    return replace(part, eta=eta)


def _moved_eta(part: Part, weights: Weights, messages: Messages, way: Columns) -> Eta:
    field, _ = _own_field(part, weights, messages)
    return part.eta + way * (softmax(field, axis=1) - part.eta)


def reset(part: Part, columns: Some, weights: Weights) -> Part:
    """Set η of some columns to the softmax of the scores of one problem."""
    eta = part.eta.copy()
    eta[:, :, columns] = softmax(gaussian_softmax.scores(design_of(part.x), weights), axis=1)
    return replace(part, eta=eta)


def count_owned(part: Part) -> Int[np.ndarray, "clusters columns"]:
    """Return the number of items whose most probable cluster each is, in each view."""
    n_clusters = part.eta.shape[1]
    views = part.eta.argmax(1).T
    counts = [np.bincount(clusters, minlength=n_clusters) for clusters in views]
    return np.stack(counts, axis=1)


def clusters_of_sample(part: Part) -> Int[np.ndarray, "sampled columns"]:
    """Most probable cluster of each item of the sample, in each view."""
    return part.eta[part.sampled].argmax(1)
