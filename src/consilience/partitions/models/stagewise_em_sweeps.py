"""Rounds of the stagewise algorithm over partitions: its own decisions, with sums over partitions.

Posteriors follow from parameters: a round keeps what gave its q, and each partition computes q anew. All of a round but
sums over items is that of `consilience.consensus.labels.stagewise_em`, with a `Study` and a `Stage` without items.
`Sweeps.step`, `informed` and `perturbation` take the decisions of the functions of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.stats import chi2

from consilience.consensus.labels.product_mixture import SMOOTHING, m_step
from consilience.consensus.labels.stagewise_em import (
    COMMON_ITEMS,
    SETTLED,
    Candidate,
    Settings,
    Stage,
    Study,
    _tangent,
    conditional,
    duplicated,
    largest_entry,
    moved_apart,
    only_members,
)
from consilience.inference.pair_tables import (
    MOST_CELLS,
    ListedPairs,
    PairTables,
    curvature,
    log_ratio,
    mutual_information,
)
from consilience.inference.product_distributions import (
    Expectation,
    LogTable,
    OneHotLabels,
    Responsibilities,
    Weights,
    posterior,
)
from consilience.partitions.engine.map_reduce import Additive, Parts
from consilience.partitions.models import product_mixture
from consilience.partitions.models.annotator_pairs import (
    Pairs,
    among,
    dense,
    is_dense,
    kept_pairs,
    listed,
    tables_of_pairs,
)
from consilience.partitions.survey.label_survey import LabelPart

ComponentTables = Float[np.ndarray, "components pairs labels labels"]
Information = Float[np.ndarray, "components pairs"]


@dataclass(frozen=True)
class Given:
    """What gives the posteriors of items: ln ω, and ln μ with zeros for annotators outside S."""

    log_weights: Weights
    log_table: LogTable

    @classmethod
    def by(cls, stage: Stage, n_labels: int) -> Given:
        """Keep of the parameters what `regularised_posterior` reads."""
        return cls(stage.log_weights, only_members(stage.log_table, stage.members, n_labels))


@dataclass(frozen=True)
class Split:
    """A component that is to be copied, given S including a pair of annotators.

    probability : (2, labels) of the labels of the pair in the component.
    among : pairs within S, as numbered in increasing order.
    """

    given: Given
    component: int
    pair: tuple[int, int]
    probability: Float[np.ndarray, "2 labels"]
    members: tuple[int, ...]
    among: Pairs


# ---- what is computed on a partition


@dataclass(frozen=True)
class Encoded(LabelPart):
    """Labels as the algorithm reads them.

    onehot : in chunks.
    pairs : of annotators.
    listed : their co-labels, unless a dense product is faster.
    """

    onehot: OneHotLabels
    pairs: Pairs
    listed: ListedPairs | None

    @property
    def tables(self) -> PairTables:
        """Tables of the pairs."""
        return dense(self.labels, self.pairs) if self.listed is None else self.listed

    def q(self, given: Given) -> Responsibilities:
        """Posteriors of the items."""
        return posterior(self.onehot, given.log_weights, given.log_table)


def encoded(part: LabelPart, n_components: int, pairs: Pairs) -> Encoded:
    """Encode a part."""
    onehot = product_mixture.encoded(part, n_components)
    return Encoded(
        part.number, part.labels, onehot, pairs, None if is_dense(part.labels) else listed(part.labels, pairs)
    )


def tables_of(part: Encoded, given: Given, start: int, stop: int) -> ComponentTables:
    """Tables of all pairs within some of the components."""
    tables = part.tables
    return np.stack([tables.of(weights) for weights in part.q(given).T[start:stop]])


@dataclass(frozen=True)
class Reassigned:
    """Sums of new posteriors, and their largest change; infinite where the number of components changed."""

    expected: Expectation
    change: float

    def __add__(self, other: Reassigned) -> Reassigned:
        return Reassigned(self.expected + other.expected, max(self.change, other.change))


def reassigned(part: Encoded, before: Given, now: Given) -> Reassigned:
    """Compute posteriors anew."""
    q = part.q(now)
    change = np.inf
    if len(before.log_weights) == q.shape[1]:
        change = float(np.abs(q - part.q(before)).max(initial=0.0))
    return Reassigned(part.onehot.expectation_of(q), change)


def expected(part: Encoded, given: Given) -> Expectation:
    """Sums of posteriors, and the log likelihood under the same parameters."""
    return part.onehot.expectation(given.log_weights, given.log_table)


@dataclass(frozen=True)
class SplitTables(Additive):
    """Tables within S, of all components, and of the component that is copied, weighted by each label of the pair."""

    components: ComponentTables
    directions: Float[np.ndarray, "directions pairs labels labels"]


def split_tables(part: Encoded, split: Split) -> SplitTables:
    """Tables for the Hessian; see `stagewise_em.split_hessian`."""
    tables, q = tables_of_pairs(among(part.labels, split.members), split.among), part.q(split.given)
    directions = [tables.of(q[:, split.component] * each) for each in _scaled(part, split).T]
    return SplitTables(np.stack([tables.of(weights) for weights in q.T]), np.stack(directions))


def split_products(
    part: Encoded, split: Split, ratios: ComponentTables
) -> Float[np.ndarray, "coordinates coordinates"]:
    """Sums of the terms of h in the Hessian, with the `log_ratio` of the tables of each component."""
    tables, q = tables_of_pairs(among(part.labels, split.members), split.among), part.q(split.given)
    r, scaled = q[:, split.component], _scaled(part, split)
    slope = r * tables.per_item(ratios[split.component])
    for weights, ratio in zip(q.T, ratios, strict=True):
        slope -= r * weights * tables.per_item(ratio)
    return np.asarray(scaled.T @ (slope[:, None] * scaled))


def _scaled(part: Encoded, split: Split) -> Float[np.ndarray, "items coordinates"]:
    """One-hot labels of the pair, divided by their probabilities."""
    labels, n_labels = part.labels, part.labels.n_classes
    onehot = np.zeros((len(labels), 2, n_labels))
    for place, annotator in enumerate(split.pair):
        rows = labels.annotator == annotator
        onehot[labels.item[rows], place, labels.label[rows]] = 1.0
    return (onehot / split.probability).reshape(len(labels), 2 * n_labels)


# ---- rounds


@dataclass(frozen=True)
class Round:
    """Parameters after a round, and a record of the rounds so far.

    stage : without posteriors.
    given : what gave the posteriors.
    record : number of components, log likelihood, largest information at the start, and size of S, of each round.
    """

    stage: Stage
    given: Given
    record: Float[np.ndarray, "rounds 4"]


@dataclass(frozen=True)
class Sweeps:
    """The algorithm over partitions.

    parts : of `Encoded`.
    study : without items.
    common : number of common items of every two annotators.
    counts : number of labels of each annotator, of each class.
    """

    parts: Parts
    study: Study
    settings: Settings
    common: csr_array
    counts: Int[np.ndarray, "annotators labels"]

    def init(self) -> Round:
        """One component, S empty."""
        everything = Expectation(
            np.nan, np.array([float(self.study.onehot.n_items)]), self.counts.reshape(-1, 1).astype(float)
        )
        given = Given(np.zeros(1), np.zeros((self.counts.size, 1)))
        return self._round(everything, given, (), np.inf, False, np.inf, np.empty((0, 4)))

    def step(self, state: Round) -> Round:
        """One round: the largest entry, S and a split, the regularised E-step and the M-step."""
        stage = state.stage
        information, total = self.information(state.given)
        found = largest_entry(information, total, self.study, self.settings)
        moved = stage if found is None else self.informed(stage, found)
        idle = moved is stage and (found is None or len(stage.log_weights) == self.settings.n_components)
        given = Given.by(moved, self.study.n_labels)
        new = self.parts.total(reassigned, state.given, given)
        largest = float(conditional(information, total).max(initial=0.0))
        return self._round(new.expected, given, moved.members, largest, idle, new.change, state.record)

    def information(self, given: Given) -> tuple[Information, Information]:
        """I_k(i, j) within each component, nats, and the number of items in its table."""
        n_cells = len(self.study.tables.first) * self.study.n_labels**2
        at_once = max(MOST_CELLS // max(n_cells, 1), 1)  # components
        found = [
            mutual_information(tables)
            for start in range(0, len(given.log_weights), at_once)
            for tables in self.parts.total(tables_of, given, start, start + at_once)
        ]
        return np.stack([each for each, _ in found]), np.stack([total for _, total in found])

    def informed(self, stage: Stage, found: Candidate) -> Stage:
        """Add the pair to S, and split its component if K is below its target; the same stage if neither applies."""
        pair = (int(self.study.tables.first[found.pair]), int(self.study.tables.second[found.pair]))
        new = tuple(annotator for annotator in pair if annotator not in stage.members)
        if not new and stage.change >= SETTLED:
            return stage
        grown = replace(stage, members=stage.members + new) if new else stage
        if len(stage.log_weights) == self.settings.n_components:
            return grown
        direction = self.perturbation(grown, found.component, pair)
        return moved_apart(duplicated(grown, found.component), found.component, pair, direction)

    def perturbation(self, stage: Stage, component: int, pair: tuple[int, int]) -> Float[np.ndarray, "2 labels"]:
        """δ of unit length: the eigenvector of the smallest eigenvalue of the Hessian, within the simplices."""
        n_labels, inside = self.study.n_labels, sorted(stage.members)
        table = stage.log_table[:, component].reshape(-1, n_labels)
        split = Split(
            Given.by(stage, n_labels),
            component,
            pair,
            np.exp(table[list(pair)]),
            stage.members,
            kept_pairs(csr_array(self.common[inside][:, inside]), 1, n_labels),
        )
        tables = self.parts.total(split_tables, split)
        ratios = np.stack([log_ratio(each) for each in tables.components])
        products = self.parts.total(split_products, split, ratios)
        products = products - np.diag(np.diag(products))  # h_n has products of different labels only
        hessian = curvature(tables.components[component], tables.directions) + products
        basis = _tangent(self.counts[list(pair)] > 0)
        _, vectors = np.linalg.eigh(basis.T @ hessian @ basis)
        return (basis @ vectors[:, 0]).reshape(2, -1)

    def _round(
        self,
        sums: Expectation,
        given: Given,
        members: tuple[int, ...],
        largest: float,
        idle: bool,
        change: float,
        before: Float[np.ndarray, "rounds_before 4"],
    ) -> Round:
        weights, table = m_step(sums, self.study.n_labels, SMOOTHING)
        likelihood = float(self.parts.total(expected, Given(weights, table)).log_likelihood)
        none = np.empty((0, len(weights)))
        row = [[len(weights), likelihood, largest, len(members)]]
        stage = Stage(weights, table, members, none, likelihood, largest, idle, change)
        return Round(stage, given, np.concatenate([before, row]))


def study_of(
    counts: Int[np.ndarray, "annotators labels"], common: csr_array, n_items: int, n_components: int, level: float
) -> Study:
    """Return what `Study.of` makes of all labels, without the items."""
    n_annotators, n_labels = counts.shape
    pairs = kept_pairs(common, min(COMMON_ITEMS * n_labels**2, n_items), n_labels)
    nothing = np.empty(0, dtype=np.intp)
    free = (counts > 0).sum(1) - 1
    degrees = free[pairs.first] * free[pairs.second]
    quantile = np.append(np.inf, chi2.isf(level, np.arange(1, degrees.max(initial=1) + 1)))
    return Study(
        OneHotLabels((), n_items, counts.size, n_components),
        ListedPairs(nothing, nothing, 0, n_labels, pairs.first, pairs.second),
        degrees,
        quantile[degrees],
        nothing,
        nothing,
        nothing,
        n_labels,
        n_annotators,
    )
