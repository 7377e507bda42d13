"""Mixtures of products of categorical distributions: the E-step and its sums over items, each answer met once.

    p(x_n) = Σ_k ω_k Π_i μ_k,i,x_ni          over the variables i that item n has an answer to

Answers stand in one-hot columns, the columns of a variable side by side, so that the scores of all items are one sparse
product with the table ln μ (columns, components), and the counts that the M-step needs are another, back. Items are
met in chunks whose scores fit the processor's cache; within a chunk the answers lie in the order of the columns, so
that the table streams through the cache once a chunk instead of being read here and there. Nothing of the size of
items × components is held but the chunk at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from jaxtyping import Float, Int
from joblib import effective_n_jobs
from scipy.sparse import csc_array, csr_array

CHUNK_ENTRIES = 1 << 18  # scores held at a time: two megabytes
SAFE_EXPONENT = 600.0  # scores up to this size go through exp as they are

Weights = Float[np.ndarray, " components"]
LogTable = Float[np.ndarray, "columns components"]
Responsibilities = Float[np.ndarray, "items components"]


@dataclass(frozen=True)
class Chunk:
    """Some of the items, one after another.

    start : number of the first item.
    onehot : (items, columns) sparse 0/1.
    known_rows, known_component : rows whose component is given, and which it is.
    """

    start: int
    onehot: csc_array
    known_rows: Int[np.ndarray, " known"]
    known_component: Int[np.ndarray, " known"]


@dataclass(frozen=True)
class Answers:
    """Answers of all items, in chunks.

    n_items, n_columns, n_components : int
    n_jobs : threads that share the chunks, as in joblib.
    """

    chunks: tuple[Chunk, ...]
    n_items: int
    n_columns: int
    n_components: int
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        item: Int[np.ndarray, " answers"],
        column: Int[np.ndarray, " answers"],
        shape: tuple[int, int],
        n_components: int,
        *,
        known: Int[np.ndarray, " items"] | None = None,
        n_jobs: int | None = None,
    ) -> Answers:
        """Lay out answers.

        Parameters
        ----------
        item, column : of each answer; rising by item.
        shape : (items, columns).
        n_components : int
        known : the component of each item where it is given, else -1.
        n_jobs : int, optional
        """
        n_items, n_columns = shape
        n_chunks = int(np.clip(n_items * n_components // CHUNK_ENTRIES, 1, max(2 * len(item) // max(n_columns, 1), 1)))
        edges = np.linspace(0, n_items, n_chunks + 1).astype(np.int64)
        rows = np.searchsorted(item, edges)
        ones = np.ones(int(np.diff(rows).max()))
        column = column.astype(np.int32 if n_columns < 2**31 else np.int64, copy=False)
        known = np.full(n_items, -1) if known is None else known
        chunks = []
        for first, last, start, stop in zip(edges[:-1], edges[1:], rows[:-1], rows[1:], strict=True):
            pointers = np.searchsorted(item[start:stop], np.arange(first, last + 1)).astype(column.dtype)
            by_item = csr_array((ones[: stop - start], column[start:stop], pointers), shape=(last - first, n_columns))
            by_column = by_item.tocsc()
            by_column.data = ones[: stop - start]  # shared: all are 1
            given = np.flatnonzero(known[first:last] >= 0)
            chunks.append(Chunk(int(first), by_column, given, known[first:last][given]))
        return cls(tuple(chunks), n_items, n_columns, n_components, n_jobs)


@dataclass(frozen=True)
class Expectation:
    """What the posteriors of all items add up to.

    log_likelihood : Σ_n ln Σ_k ω_k Π μ, nats; of a known component its term alone.
    sizes : (components,) Σ_n q_nk.
    counts : (columns, components) Σ_n q_nk over the items with the column's answer.
    """

    log_likelihood: float
    sizes: Weights
    counts: LogTable

    def __add__(self, other: Expectation) -> Expectation:
        return Expectation(
            self.log_likelihood + other.log_likelihood, self.sizes + other.sizes, self.counts + other.counts
        )


def expectation(answers: Answers, log_weights: Weights, log_table: LogTable) -> Expectation:
    """E-step under ln ω and ln μ, summed over items."""

    def of_chunk(chunk: Chunk) -> Expectation:
        q, log_likelihood = _posterior(chunk, log_weights, log_table)
        return Expectation(log_likelihood, _column_sums(q), chunk.onehot.T @ q)

    return _sum(answers, of_chunk)


def expectation_of(answers: Answers, responsibilities: Responsibilities) -> Expectation:
    """Sums of given posteriors; their likelihood is unknown, NaN."""

    def of_chunk(chunk: Chunk) -> Expectation:
        q = responsibilities[chunk.start : chunk.start + chunk.onehot.shape[0]]
        return Expectation(np.nan, _column_sums(q), chunk.onehot.T @ q)

    return _sum(answers, of_chunk)


def posterior(answers: Answers, log_weights: Weights, log_table: LogTable) -> Responsibilities:
    """q_nk ∝ ω_k Π_i μ_k,i,x_ni of every item."""
    q = np.empty((answers.n_items, len(log_weights)))
    for chunk in answers.chunks:
        q[chunk.start : chunk.start + chunk.onehot.shape[0]] = _posterior(chunk, log_weights, log_table)[0]
    return q


def log_scores(answers: Answers, log_weights: Weights, log_table: LogTable) -> Iterator[Responsibilities]:
    """ln ω_k + Σ_i ln μ_k,i,x_ni, chunk by chunk."""
    for chunk in answers.chunks:
        yield chunk.onehot @ log_table + log_weights


def _sum(answers: Answers, of_chunk: Callable[[Chunk], Expectation]) -> Expectation:
    """Sum over chunks; each thread adds up its own share, so that the order of the sum is fixed."""
    n_threads = min(effective_n_jobs(answers.n_jobs), len(answers.chunks))

    def of_share(first: int) -> Expectation:
        parts = map(of_chunk, answers.chunks[first::n_threads])
        total = next(parts)
        for part in parts:
            np.add(total.counts, part.counts, out=total.counts)  # its own: a copy a chunk would take a tenth of a sweep
            total = Expectation(total.log_likelihood + part.log_likelihood, total.sizes + part.sizes, total.counts)
        return total

    if n_threads == 1:
        return of_share(0)
    with ThreadPoolExecutor(n_threads) as threads:
        return reduce(add, threads.map(of_share, range(n_threads)))


def _posterior(chunk: Chunk, log_weights: Weights, log_table: LogTable) -> tuple[Responsibilities, float]:
    """Posteriors of a chunk's items, and the sum of their log likelihoods."""
    score = chunk.onehot @ log_table
    score += log_weights
    shift = 0.0
    if max(-score.min(initial=0), score.max(initial=0)) > SAFE_EXPONENT:
        largest = score.max(1)
        if len(chunk.known_rows):
            largest[chunk.known_rows] = score[chunk.known_rows, chunk.known_component]
        score -= largest[:, None]
        shift = float(largest.sum())
    kept = score[chunk.known_rows, chunk.known_component]
    score[chunk.known_rows] = -np.inf
    score[chunk.known_rows, chunk.known_component] = kept
    np.exp(score, out=score)
    total = score @ np.ones(score.shape[1])  # see _column_sums
    score /= total[:, None]
    return score, shift + float(np.log(total).sum())


def _column_sums(q: Responsibilities) -> Weights:
    """Sum over items; a product does so several times faster than sum(0) where there are few columns."""
    return np.ones(len(q)) @ q
