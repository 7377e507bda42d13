"""Mixtures of products of categorical distributions: the E-step and its sums over items, in one pass over the labels.

    p(x_n) = Σ_k ω_k Π_i μ_k,i,x_ni          over the variables (annotators) i that label item n

Labels are one-hot encoded, with adjacent columns for the labels of a variable, so that the scores of all items are one
sparse product with the table ln μ (columns, components), and the counts that the M-step needs are a second product,
with the transpose. Items are processed in chunks whose scores fit the processor's cache; within a chunk the labels are
sorted by column, so that the table streams through the cache once per chunk instead of being read at random. Only one
chunk of the items × components scores is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int
from joblib import effective_n_jobs
from scipy.sparse import csc_array, csr_array

from consilience.annotations import Labels
from consilience.inference.label_counts import Counting, ProbableLabels, RightLabels
from consilience.inference.sparse_tables import SparseTable

CHUNK_ENTRIES = 1 << 18  # scores in memory at a time: two megabytes
SAFE_EXPONENT = 600.0  # exp of scores up to this size neither overflows nor vanishes

Weights = Float[np.ndarray, " components"]
LogTable = Float[np.ndarray, "columns components"]
AnyTable = LogTable | SparseTable
Responsibilities = Float[np.ndarray, "items components"]


@runtime_checkable
class LabelsOfItems(Protocol):
    """What the sweeps of a model need of the labels, wherever the items are: in chunks, or in partitions."""

    @property
    def n_components(self) -> int: ...

    def expectation(self, log_weights: Weights, log_table: Any) -> Expectation:
        """E-step under ln ω and ln μ, summed over items."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive items.

    start : number of the first item.
    onehot : (items, columns) sparse 0/1, or the weights of the labels.
    known_rows, known_class : rows whose class is given, and that class.
    n_classes : classes that the components stand for, those of a class adjacent.
    """

    start: int
    onehot: csc_array
    known_rows: Int[np.ndarray, " known"]
    known_class: Int[np.ndarray, " known"]
    n_classes: int


@dataclass(frozen=True)
class OneHotLabels:
    """One-hot labels of all items, in chunks.

    n_items, n_columns, n_components : int
    n_jobs : number of threads that share the chunks, as in joblib.
    counting : which labels are counted; components are classes unless all are.
    """

    chunks: tuple[Chunk, ...]
    n_items: int
    n_columns: int
    n_components: int
    n_jobs: int | None = None
    counting: Counting = "all"

    @classmethod
    def of(
        cls,
        item: Int[np.ndarray, " labels"],
        column: Int[np.ndarray, " labels"],
        shape: tuple[int, int],
        n_components: int,
        *,
        known: Int[np.ndarray, " items"] | None = None,
        n_classes: int | None = None,
        weight: Float[np.ndarray, " labels"] | None = None,
        n_jobs: int | None = None,
        counting: Counting = "all",
    ) -> OneHotLabels:
        """Encode labels.

        item, column : of each label; sorted by item.
        shape : (items, columns).
        known : the class of each item if it is given, else -1.
        n_classes : classes that the components stand for, those of a class adjacent; by default each is a class.
        weight : of each label; by default 1. A label of weight w counts as w labels.
        counting : which labels to count.
        """
        n_items, n_columns = shape
        # where all labels are counted, every chunk sums into a table of all columns: it has at least half as many
        # labels, on average
        most = 2 * len(item) // max(n_columns, 1) if counting == "all" else len(item)
        n_chunks = int(np.clip(n_items * n_components // CHUNK_ENTRIES, 1, max(most, 1)))
        edges = np.linspace(0, n_items, n_chunks + 1).astype(np.int64)
        first_row = np.append(0, np.cumsum(np.bincount(item, minlength=n_items)))
        rows = first_row[edges]
        ones = np.ones(int(np.diff(rows).max()))
        column = column.astype(np.int32 if n_columns < 2**31 else np.int64, copy=False)
        known = np.full(n_items, -1) if known is None else known
        chunks = []
        for first, last, start, stop in zip(edges[:-1], edges[1:], rows[:-1], rows[1:], strict=True):
            pointers = (first_row[first : last + 1] - start).astype(column.dtype)
            values = ones[: stop - start] if weight is None else weight[start:stop]
            by_item = csr_array((values, column[start:stop], pointers), shape=(last - first, n_columns))
            by_column = by_item.tocsc()
            if weight is None:
                by_column.data = values  # shared: all are 1
            given = np.flatnonzero(known[first:last] >= 0)
            chunks.append(Chunk(int(first), by_column, given, known[first:last][given], n_classes or n_components))
        return cls(tuple(chunks), n_items, n_columns, n_components, n_jobs, counting)

    def expectation(self, log_weights: Weights, log_table: AnyTable) -> Expectation:
        """E-step under ln ω and ln μ, summed over items."""

        def of_chunk(chunk: Chunk) -> Expectation:
            q, log_likelihood = _posterior(chunk, log_weights, log_table)
            return Expectation(log_likelihood, _column_sums(q), self._counts(chunk, q))

        return _sum(self, of_chunk)

    def expectation_of(self, responsibilities: Responsibilities) -> Expectation:
        """Sums of given posteriors; the likelihood is unknown: NaN."""

        def of_chunk(chunk: Chunk) -> Expectation:
            q = responsibilities[chunk.start : chunk.start + chunk.onehot.shape[0]]
            return Expectation(np.nan, _column_sums(q), self._counts(chunk, q))

        return _sum(self, of_chunk)

    def log_likelihood(self, log_weights: Weights, log_table: AnyTable) -> float:
        """Σ_n ln Σ_k ω_k Π μ, nats."""
        return float(sum(_posterior(chunk, log_weights, log_table)[1] for chunk in self.chunks))

    def _counts(self, chunk: Chunk, q: Responsibilities) -> LogTable | RightLabels | ProbableLabels:
        if self.counting == "right":
            return RightLabels.of(chunk.onehot, q)
        return ProbableLabels.of(chunk.onehot, q) if self.counting == "probable" else np.asarray(chunk.onehot.T @ q)


def encode_labels(
    labels: Labels,
    n_components: int,
    *,
    n_annotators: int | None = None,
    known: Int[np.ndarray, " items"] | None = None,
    n_classes: int | None = None,
    weight: Float[np.ndarray, " labels"] | None = None,
    n_jobs: int | None = None,
    counting: Counting = "all",
) -> OneHotLabels:
    """One-hot labels, with a column for each annotator and label; parameters as for `OneHotLabels.of`.

    n_annotators : those of the labels and any further ones.
    """
    n_columns = (labels.n_annotators if n_annotators is None else n_annotators) * labels.n_classes
    return OneHotLabels.of(
        labels.item,
        labels.annotator * labels.n_classes + labels.label,
        (len(labels), n_columns),
        n_components,
        known=known,
        n_classes=n_classes,
        weight=weight,
        n_jobs=n_jobs,
        counting=counting,
    )


@dataclass(frozen=True)
class Expectation:
    """Sums of the posteriors over items.

    log_likelihood : Σ_n ln Σ_k ω_k Π μ, nats; for items of known class, its terms alone.
    sizes : (components,) Σ_n q_nk.
    counts : (columns, components) Σ_n q_nk over the items with the column's label, or of what `OneHotLabels` counts.
    """

    log_likelihood: float
    sizes: Weights
    counts: Any

    def __add__(self, other: Expectation) -> Expectation:
        return Expectation(
            self.log_likelihood + other.log_likelihood, self.sizes + other.sizes, self.counts + other.counts
        )


def sums_of(start: Responsibilities | Expectation, labels: LabelsOfItems) -> Expectation:
    """Sums of the responsibilities that a run starts from; of labels in partitions, they are known already."""
    return start if isinstance(start, Expectation) else cast(OneHotLabels, labels).expectation_of(start)


def posterior(onehot: OneHotLabels, log_weights: Weights, log_table: AnyTable) -> Responsibilities:
    """q_nk ∝ ω_k Π_i μ_k,i,x_ni for every item."""
    q = np.empty((onehot.n_items, len(log_weights)))
    for chunk in onehot.chunks:
        q[chunk.start : chunk.start + chunk.onehot.shape[0]] = _posterior(chunk, log_weights, log_table)[0]
    return q


def log_scores(onehot: OneHotLabels, log_weights: Weights, log_table: AnyTable) -> Iterator[Responsibilities]:
    """ln ω_k + Σ_i ln μ_k,i,x_ni, chunk by chunk."""
    for chunk in onehot.chunks:
        yield _scores(chunk, log_table) + log_weights


def _sum(onehot: OneHotLabels, of_chunk: Callable[[Chunk], Expectation]) -> Expectation:
    """Sum over chunks; each thread sums its own share, so that the order of summation is fixed."""
    n_threads = min(effective_n_jobs(onehot.n_jobs), len(onehot.chunks))

    def of_share(first: int) -> Expectation:
        parts = map(of_chunk, onehot.chunks[first::n_threads])
        total = next(parts)
        for part in parts:
            if isinstance(total.counts, np.ndarray):
                # in place: copies would take a tenth of a sweep
                counts = np.add(total.counts, part.counts, out=total.counts)
            else:
                counts = total.counts + part.counts
            total = Expectation(total.log_likelihood + part.log_likelihood, total.sizes + part.sizes, counts)
        return total

    if n_threads == 1:
        return of_share(0)
    with ThreadPoolExecutor(n_threads) as threads:
        return reduce(add, threads.map(of_share, range(n_threads)))


def _scores(chunk: Chunk, log_table: AnyTable) -> Responsibilities:
    if isinstance(log_table, SparseTable):
        return log_table.sums_of(chunk.onehot)
    return np.asarray(chunk.onehot @ log_table)


def _posterior(chunk: Chunk, log_weights: Weights, log_table: AnyTable) -> tuple[Responsibilities, float]:
    """Posteriors of a chunk's items, and the sum of their log likelihoods."""
    score = _scores(chunk, log_table)
    score += log_weights
    # before known rows are −inf, which must not count as large
    shift, largest_size = 0.0, max(-score.min(initial=0), score.max(initial=0))
    if len(chunk.known_rows):
        class_of = np.repeat(np.arange(chunk.n_classes), score.shape[1] // chunk.n_classes)
        is_other = class_of != chunk.known_class[:, None]
        score[chunk.known_rows] = np.where(is_other, -np.inf, score[chunk.known_rows])
    if largest_size > SAFE_EXPONENT:
        largest = score.max(1)
        score -= largest[:, None]
        shift = float(largest.sum())
    np.exp(score, out=score)
    total = score @ np.ones(score.shape[1])  # see _column_sums
    score /= total[:, None]
    return score, shift + float(np.log(total).sum())


def _column_sums(q: Responsibilities) -> Weights:
    """Sum over items; with few columns a product is several times faster than sum(0)."""
    return np.ones(len(q)) @ q


def shared_weights(
    item: Int[np.ndarray, " labels"], group: Int[np.ndarray, " labels"]
) -> Float[np.ndarray, " labels"] | None:
    """Weight of each label, such that those of a group of annotators weigh 1 together on each item.

    item : of each label.
    group : number of the group of its annotator, -1 for annotators who are alone.

    Returns array, or None if all annotators are alone: all labels weigh 1.
    """
    if not (group >= 0).any():
        return None
    inside = group >= 0
    _, cell, n_labels = np.unique(
        group[inside] * (np.int64(item.max()) + 1) + item[inside], return_inverse=True, return_counts=True
    )
    weight = np.ones(len(item))
    weight[inside] = 1 / n_labels[cell]
    return weight


def one_of_each(
    item: Int[np.ndarray, " labels"], group: Int[np.ndarray, " labels"], label: Int[np.ndarray, " labels"]
) -> Bool[np.ndarray, " labels"]:
    """Which labels to keep, so that each group has one for each item: that of most members, the first of equal ones.

    item, label : of each label.
    group : number of the group of its annotator, -1 for annotators who are alone, whose labels are all kept.
    """
    rows = np.flatnonzero(group >= 0)
    cell = group[rows] * (np.int64(item.max(initial=0)) + 1) + item[rows]
    key = cell * (np.int64(label.max(initial=0)) + 1) + label[rows]
    _, inverse, frequency = np.unique(key, return_inverse=True, return_counts=True)
    order = np.lexsort([rows, label[rows], -frequency[inverse], cell])
    kept = group < 0
    kept[rows[order[np.diff(cell[order], prepend=-1) > 0]]] = True
    return kept


def vote_shares(
    labels: Labels, weight: Float[np.ndarray, " labels"] | None = None
) -> Float[np.ndarray, "items classes"]:
    """Share of the votes of each item for each class; equal shares for items without votes."""
    votes = np.bincount(labels.item * labels.n_classes + labels.label, weight, len(labels) * labels.n_classes)
    shares = votes.reshape(len(labels), labels.n_classes).astype(float)
    if weight is not None:
        shares = shares.round(9)  # three thirds are one vote
    shares[shares.sum(1) == 0] = 1.0
    shares /= shares.sum(1, keepdims=True)
    return shares
