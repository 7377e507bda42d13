"""What `stagewise_em` needs of labels, wherever the items are: posteriors, tables of pairs, and sums of both.

In memory all items are one part, whose posteriors are kept. Over partitions posteriors follow from parameters, and each
part computes them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.stats import chi2

from consilience.annotations import Labels
from consilience.consensus.labels.constant_annotators import count_labels
from consilience.inference.pair_tables import (
    MOST_CELLS,
    AnnotatorPairs,
    PairTables,
    Precision,
    common_items,
    dense_pairs,
    is_dense,
    kept_pairs,
    listed_pairs,
    mutual_information,
    tables_of_pairs,
)
from consilience.inference.parts import Additive, OnePart, Parts
from consilience.inference.product_distributions import (
    Expectation,
    LogTable,
    OneHotLabels,
    Responsibilities,
    Weights,
    encode_labels,
    posterior,
)

COMMON_ITEMS = 2  # a pair of annotators needs at least this many per cell of its table to be considered

IN_MEMORY, IN_PARTS = np.float32, np.float64  # precision of dense tables; see `pair_tables`

Members = tuple[int, ...]
ComponentTables = Float[np.ndarray, "components pairs labels labels"]
Information = Float[np.ndarray, "components pairs"]


@dataclass(frozen=True)
class PosteriorTerms:
    """What gives the posteriors of items: ln ω, and ln μ with zeros for annotators outside S."""

    log_weights: Weights
    log_table: LogTable

    @classmethod
    def by(cls, log_weights: Weights, log_table: LogTable, members: Members, n_labels: int) -> PosteriorTerms:
        """Keep what f(k | x_S) depends on: annotators outside S have no factor."""
        return cls(log_weights, only_members(log_table, members, n_labels))


def only_members(log_table: np.ndarray, members: tuple[int, ...], n_labels: int) -> np.ndarray:
    """The table with zeros for annotators outside S."""
    blocks = np.zeros((len(log_table) // n_labels, n_labels, log_table.shape[1]))
    inside = list(members)
    blocks[inside] = log_table.reshape(blocks.shape)[inside]
    return blocks.reshape(log_table.shape)


Posterior = Responsibilities | PosteriorTerms
"""q of all items, kept, or what gives it to each part of them anew."""


# ---- what is computed on a part of the items


@dataclass(frozen=True)
class StudiedLabels:
    """Labels of a part of the items, as the algorithm reads them.

    onehot : in chunks.
    pairs : of annotators.
    tables_held : of the pairs; None if a dense product is faster, and is not kept.
    known : class of each gold item, -1 for the others; None without gold.
    """

    labels: Labels
    onehot: OneHotLabels
    pairs: AnnotatorPairs
    tables_held: PairTables | None
    precision: Precision
    known: Int[np.ndarray, " items"] | None = None

    @property
    def tables(self) -> PairTables:
        return dense_pairs(self.labels, self.pairs, self.precision) if self.tables_held is None else self.tables_held

    def q(self, of: Posterior) -> Responsibilities:
        """Posteriors of the items."""
        return posterior(self.onehot, of.log_weights, of.log_table) if isinstance(of, PosteriorTerms) else of

    def tables_among(self, members: Members, pairs: AnnotatorPairs) -> PairTables:
        """Tables of pairs among some annotators, who are numbered in increasing order."""
        rows = np.isin(self.labels.annotator, members)
        labels = replace(
            self.labels,
            annotators=pd.RangeIndex(len(members)),
            item=self.labels.item[rows],
            annotator=np.searchsorted(sorted(members), self.labels.annotator[rows]),
            label=self.labels.label[rows],
        )
        return tables_of_pairs(labels, pairs, self.precision)


def tables_of_components(part: StudiedLabels, q: Posterior, start: int, stop: int) -> ComponentTables:
    """Tables of all pairs within some of the components."""
    tables = part.tables
    return np.stack([tables.of(weights) for weights in part.q(q).T[start:stop]])


@dataclass(frozen=True)
class Reassigned:
    """Sums of new posteriors, and their largest change; infinite where the number of components changed."""

    expected: Expectation
    change: float

    def __add__(self, other: Reassigned) -> Reassigned:
        return Reassigned(self.expected + other.expected, max(self.change, other.change))


def compare_posteriors(
    part: StudiedLabels, before: Float[np.ndarray, "items components_before"] | PosteriorTerms, now: Posterior
) -> Reassigned:
    """Sums of the posteriors now, and how far they are from those before."""
    q, earlier = part.q(now), part.q(before)
    change = float(np.abs(q - earlier).max(initial=0.0)) if q.shape == earlier.shape else np.inf
    return Reassigned(part.onehot.expectation_of(q), change)


def sum_part(
    part: StudiedLabels, function: Callable[..., Responsibilities], parameters: tuple[Any, ...]
) -> Expectation:
    """Sums of posteriors, which a function makes of a part and these parameters."""
    return part.onehot.expectation_of(function(part, *parameters))


def count_gold(part: StudiedLabels, given: PosteriorTerms) -> tuple[Expectation, LogTable]:
    """Sums of the posteriors, and of those of the gold items of each class; in memory alone there is gold."""
    q, n_classes = part.q(given), part.labels.n_classes
    known = np.full(len(q), -1) if part.known is None else part.known
    of_classes = np.eye(n_classes)[known] * (known >= 0)[:, None]
    return part.onehot.expectation_of(q), np.asarray(of_classes.T @ q)


def log_likelihood_of(part: StudiedLabels, given: PosteriorTerms) -> float:
    """ln p of the labels, nats."""
    return part.onehot.expectation(given.log_weights, given.log_table).log_likelihood


@dataclass(frozen=True)
class Split:
    """A component that is to be copied, given S including a pair of annotators.

    probability : (2, labels) of the labels of the pair in the component.
    among : pairs within S, as numbered in increasing order.
    """

    q: Posterior
    component: int
    pair: tuple[int, int]
    probability: Float[np.ndarray, "2 labels"]
    members: Members
    among: AnnotatorPairs


@dataclass(frozen=True)
class SplitTables(Additive):
    """Tables within S, of all components, and of the component that is copied, weighted by each label of the pair."""

    components: ComponentTables
    directions: Float[np.ndarray, "directions pairs labels labels"]


def split_tables(part: StudiedLabels, split: Split) -> SplitTables:
    """Tables for the Hessian: those weighted by r u give its first term."""
    tables, q = part.tables_among(split.members, split.among), part.q(split.q)
    directions = [tables.of(q[:, split.component] * each) for each in _scale(part, split).T]
    return SplitTables(np.stack([tables.of(weights) for weights in q.T]), np.stack(directions))


def split_products(
    part: StudiedLabels, split: Split, ratios: ComponentTables
) -> Float[np.ndarray, "coordinates coordinates"]:
    """Sums of the terms of h in the Hessian, with the `log_ratio` of the tables of each component."""
    tables, q = part.tables_among(split.members, split.among), part.q(split.q)
    r, scaled = q[:, split.component], _scale(part, split)
    slope = r * (1 - r) * tables.per_item(ratios[split.component])
    for other in np.delete(np.arange(q.shape[1]), split.component):
        slope -= r * q[:, other] * tables.per_item(ratios[other])
    return np.asarray(scaled.T @ (slope[:, None] * scaled))


def _scale(part: StudiedLabels, split: Split) -> Float[np.ndarray, "items coordinates"]:
    """One-hot labels of the pair, divided by their probabilities."""
    labels, n_labels = part.labels, part.labels.n_classes
    onehot = np.zeros((len(labels), 2, n_labels))
    for place, annotator in enumerate(split.pair):
        rows = labels.annotator == annotator
        onehot[labels.item[rows], place, labels.label[rows]] = 1.0
    return (onehot / split.probability).reshape(len(labels), 2 * n_labels)


# ---- what is known of all items


@dataclass(frozen=True)
class StagewiseStudy:
    """What the algorithm knows of the labels beside sums of posteriors.

    counts : number of labels of each annotator, of each class.
    common : number of common items of every two annotators.
    pairs : of annotators with enough common items.
    degrees : (pairs,) degrees of freedom of each table.
    threshold : (pairs,) of 2 n I.
    """

    n_items: int
    n_components: int
    counts: Int[np.ndarray, "annotators labels"]
    common: csr_array
    pairs: AnnotatorPairs
    degrees: Int[np.ndarray, " pairs"]
    threshold: Float[np.ndarray, " pairs"]

    @classmethod
    def of(
        cls,
        counts: Int[np.ndarray, "annotators labels"],
        common: csr_array,
        n_items: int,
        n_components: int,
        level: float,
    ) -> StagewiseStudy:
        """Choose the pairs; `level` is that of the threshold."""
        n_labels = counts.shape[1]
        pairs = kept_pairs(common, min(COMMON_ITEMS * n_labels**2, n_items), n_labels)
        free = (counts > 0).sum(1) - 1
        degrees = free[pairs.first] * free[pairs.second]
        quantile = np.append(np.inf, chi2.isf(level, np.arange(1, degrees.max(initial=1) + 1)))
        return cls(n_items, n_components, counts, common, pairs, degrees, quantile[degrees])

    @property
    def n_labels(self) -> int:
        """Number of classes that labels name."""
        return self.counts.shape[1]

    def pair(self, number: int) -> tuple[int, int]:
        """Return the two annotators of a pair."""
        return int(self.pairs.first[number]), int(self.pairs.second[number])

    def pairs_among(self, members: Members) -> AnnotatorPairs:
        """Pairs of some annotators, who are numbered in increasing order."""
        inside = sorted(members)
        return kept_pairs(csr_array(self.common[inside][:, inside]), 1, self.n_labels)


@dataclass(frozen=True)
class StagewiseEvidence:
    """Labels in parts, and what is known of all.

    parts : of `StudiedLabels`.
    has_gold : whether the classes of some items are known.
    """

    parts: Parts
    study: StagewiseStudy
    has_gold: bool = False

    @classmethod
    def in_memory(
        cls, labels: Labels, n_components: int, level: float, known: Int[np.ndarray, " items"] | None = None
    ) -> StagewiseEvidence:
        """Encode labels; `level` is that of the threshold, `known` are the classes of gold items, -1 for the others."""
        study = StagewiseStudy.of(count_labels(labels), common_items(labels), len(labels), n_components, level)
        tables = tables_of_pairs(labels, study.pairs, IN_MEMORY)
        onehot = encode_labels(labels, n_components)
        part = StudiedLabels(labels, onehot, study.pairs, tables, IN_MEMORY, known)
        return cls(OnePart(part), study, known is not None)

    @classmethod
    def over(
        cls, parts: Parts, study: StagewiseStudy, given: Callable[[Any], Labels] | None = None
    ) -> StagewiseEvidence:
        """Encode the labels of parts, which have `labels`.

        given : from a part to labels that tables count in place of those that decide the posteriors.
        """
        return cls(parts.map(encode_part, study.n_components, study.pairs, given), study)

    def posterior(self, given: PosteriorTerms) -> Posterior:
        """q of all items in memory; else what gives it, part by part."""
        return self.parts.held.q(given) if isinstance(self.parts, OnePart) else given

    def information(self, q: Posterior) -> tuple[Information, Information]:
        """I_k(i, j) within each component, nats, and the number of items in its table."""
        n_components = len(q.log_weights) if isinstance(q, PosteriorTerms) else q.shape[1]
        n_cells = len(self.study.pairs.first) * self.study.n_labels**2
        at_once = max(MOST_CELLS // max(n_cells, 1), 1)  # components
        found = [
            mutual_information(tables)
            for start in range(0, n_components, at_once)
            for tables in self.parts.total(tables_of_components, q, start, start + at_once)
        ]
        return np.stack([each for each, _ in found]), np.stack([total for _, total in found])


def encode_part(
    part: Any, n_components: int, pairs: AnnotatorPairs, given: Callable[[Any], Labels] | None = None
) -> StudiedLabels:
    """Encode the labels of a partition; co-labels are kept, dense tables are made again when they are needed."""
    labels, precision = part.labels if given is None else given(part), IN_PARTS
    tables = None if is_dense(labels, precision) else listed_pairs(labels, pairs)
    return StudiedLabels(labels, encode_labels(part.labels, n_components), pairs, tables, precision)
