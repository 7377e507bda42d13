"""Pairs: each annotator judges whether two items belong together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from scipy.sparse import csr_array

from consilience.annotations.base import Annotations, distinct_cells
from consilience.annotations.files.frames import in_frame
from consilience.annotations.files.values import quantify
from consilience.annotations.names import MISSING, Coded, Where, inverse, sort_rows
from consilience.annotations.tables import place_items
from consilience.errors import AnnotationError

PARALLEL = ("item_a", "item_b", "annotator", "same", "grouping")


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Annotations):
    """Same/different judgements of pairs of items.

    Create them with `from_frame`, `Groupings.to_pairs`, `Labels.to_pairs` or `consilience.read_annotations`; the
    constructor takes codes that are already consistent.

    An annotator may judge a pair several times, and differently: each judgement is a row, and counts. If each annotator
    has only one grouping (a long table without a column ``grouping``), it has the annotator's name.

    Attributes
    ----------
    items : Index, shape (n_items,)
    annotators : Index, shape (n_annotators,)
    named : bool
        Whether the items have names, and are not the numbered rows of an array.
    item_a, item_b : int arrays, shape (n_rows,)
        ``item_a < item_b``; rows are sorted by both, then by annotator and grouping, then "different" before "same".
    annotator : int array, shape (n_rows,)
    same : bool array, shape (n_rows,)
    grouping : int array, shape (n_rows,)
        The occasion of the judgement.
    groupings : Index
        Names of the groupings. Two annotators have different groupings under the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Pairs
    >>> frame = pd.DataFrame({"item_a": ["ant", "ant"], "item_b": ["bee", "cow"], "annotator": "Ann", "same": [1, 0]})
    >>> pairs = Pairs.from_frame(frame)
    >>> pairs
    Pairs(3 items, 1 annotators, 2 judgements)
    >>> pairs.same
    array([ True, False])
    """

    item_a: Int[np.ndarray, " rows"]
    item_b: Int[np.ndarray, " rows"]
    annotator: Int[np.ndarray, " rows"]
    same: Bool[np.ndarray, " rows"]
    grouping: Int[np.ndarray, " rows"]
    groupings: pd.Index

    _row: ClassVar[str] = "judgements"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        items: Iterable[Any] | None = None,
        item: Any = None,
        item_b: Any = None,
        annotator: Any = None,
        grouping: Any = None,
        same: Any = None,
        ignore: Any = (),
        missing: Any = None,
        same_if: str | None = None,
    ) -> Pairs:
        """Make pairs from a long table with a row for each judgement, as `consilience.read_annotations` recognises it.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or another library that narwhals reads
            Columns ``item_a``, ``item_b``, ``annotator``, ``same`` and optionally ``grouping``, or synonyms
            (left, right; image1, image2; worker; match; …); other columns are not used. Judgements are booleans,
            1 and 0, words such as yes/no and same/different in any case, or grades. A judgement that occurs twice
            counts twice. A row with only an ``item_a`` adds an item without judgements.
        items : iterable of names, optional
            All items in order, including those without judgements. By default in order of first appearance.
        item, item_b, annotator, grouping, same : names of columns, optional
            The columns, if their names are not recognised.
        ignore : name of a column, or list of them
            Columns to leave out.
        missing : optional
            A value, or a list of them, that means that the annotator did not decide.
        same_if : str, optional
            Judgements that mean "same", such as ``">=3"`` or ``"=yes"``. By default the meaning of the words, or, for
            grades, those above the middle of the scale that was used; grades in the middle are left out.

        Returns
        -------
        Pairs

        Raises
        ------
        AnnotationError
            A column is missing, the table is ambiguous, a name is missing, ``same`` is none of the values above, an
            item is paired with itself, or an item is not in `items`.

        Warns
        -----
        AnnotationWarning
            Undecided judgements are left out, or grades were split at the middle of their scale.

        Examples
        --------
        >>> import pandas as pd
        >>> from consilience import Pairs
        >>> frame = pd.DataFrame({"item_a": [3, 1], "item_b": [1, 2], "annotator": "Ann", "same": ["yes", "no"]})
        >>> Pairs.from_frame(frame, items=[1, 2, 3]).to_frame()
           item_a  item_b annotator   same
        0       1       2       Ann  False
        1       1       3       Ann   True
        """
        columns = {"item": item, "item_b": item_b, "annotator": annotator, "grouping": grouping, "same": same}
        found = in_frame(
            frame, "pairs", columns, caller="Pairs.from_frame", ignore=ignore, missing=missing, same_if=same_if
        )
        return cls._from_statements(found, items)

    @classmethod
    def _from_columns(
        cls, columns: dict[str, Coded], items: Iterable[Any] | None, where: Where, *, named: bool = True
    ) -> Pairs:
        columns, where = place_items(columns, ("item_a", "item_b"), items, where)
        item_a, item_b = columns["item_a"], columns["item_b"]
        annotator = columns["annotator" if "annotator" in columns else "grouping"]
        grouping = columns.get("grouping", annotator)
        itself = item_a.codes == item_b.codes
        if itself.any():
            row = int(np.argmax(itself))
            raise AnnotationError(f"The item {item_a.name(row)!r} is paired with itself in {where(row)}.")
        return cls(
            items=item_a.names,
            annotators=annotator.names,
            named=named,
            item_a=item_a.codes,
            item_b=item_b.codes,
            annotator=annotator.codes,
            same=np.asarray(columns["same"].names, dtype=bool)[columns["same"].codes],
            grouping=grouping.codes,
            groupings=grouping.names,
        ).in_order()

    @property
    def n_rows(self) -> int:
        """Number of judgements."""
        return len(self.same)

    def to_frame(self) -> pd.DataFrame:
        """Return the long table.

        Returns
        -------
        DataFrame, shape (n_rows, 4 or 5)
            Columns item_a, item_b, annotator, grouping, same; without grouping if it equals the annotator's name in
            every row.

        Examples
        --------
        >>> from consilience import Groupings
        >>> twice = Groupings.from_lists([[["ant", "bee"]], [["ant"], ["bee"]]], annotators=["Ann", "Ann"])
        >>> twice.to_pairs().to_frame()
          item_a item_b annotator  grouping   same
        0    ant    bee       Ann         0   True
        1    ant    bee       Ann         1  False
        """
        return self._table(slice(None))

    def _table(self, rows: slice) -> pd.DataFrame:
        columns = {
            "item_a": self.items.take(self.item_a[rows]),
            "item_b": self.items.take(self.item_b[rows]),
            "annotator": self.annotators.take(self.annotator[rows]),
            "grouping": self.groupings.take(self.grouping[rows]),
            "same": self.same[rows],
        }
        if (self.annotators.get_indexer(self.groupings)[self.grouping] == self.annotator).all():
            del columns["grouping"]
        return pd.DataFrame(columns)

    def in_order(self) -> Pairs:
        """Put the smaller item first and sort the rows."""
        low, high = np.minimum(self.item_a, self.item_b), np.maximum(self.item_a, self.item_b)
        columns = [low, high, self.annotator, self.grouping, self.same.astype(np.int64)]
        sizes = [self.n_items, self.n_items, self.n_annotators, len(self.groupings), 2]
        item_a, item_b, annotator, grouping, same = sort_rows(columns, sizes)
        same = same.astype(bool)
        return replace(self, item_a=item_a, item_b=item_b, annotator=annotator, grouping=grouping, same=same)

    def _note_repeated(self) -> tuple[str, ...]:
        again = np.append(False, self.annotator[1:] == self.annotator[:-1])
        again[1:] &= (self.item_a[1:] == self.item_a[:-1]) & (self.item_b[1:] == self.item_b[:-1])
        if not again.any():
            return ()
        n_same, n_judged = (np.bincount(np.cumsum(~again), weight) for weight in (self.same, None))
        n_differ = int(((n_same > 0) & (n_same < n_judged)).sum())
        differently = f", {n_differ:,} of them differently" if n_differ else ""
        times = quantify(int(again.sum()), "time")
        return (f"{times} an annotator judged a pair again{differently}; every judgement counts",)

    def _rows(self, rows: np.ndarray) -> Pairs:
        return replace(self, **{name: getattr(self, name)[rows] for name in PARALLEL})

    def renumber_items(self, place: np.ndarray, names: pd.Index) -> Pairs:
        """Move item i to position ``place[i]`` of `names`, or drop its judgements if that is -1."""
        item_a, item_b = place[self.item_a], place[self.item_b]
        moved = replace(self, items=names, item_a=item_a, item_b=item_b)
        return moved._rows((item_a != MISSING) & (item_b != MISSING)).in_order()

    def _take_annotators(self, positions: np.ndarray) -> Pairs:
        annotator = inverse(positions, self.n_annotators)[self.annotator]
        moved = replace(self, annotators=self.annotators.take(positions), annotator=annotator)
        return moved._rows(annotator != MISSING).in_order()

    def _item_annotator(self) -> csr_array:
        item = np.concatenate([self.item_a, self.item_b])
        return distinct_cells(item, np.tile(self.annotator, 2), (self.n_items, self.n_annotators))

    def _same_rows(self, other: Pairs) -> bool:
        annotator = self.annotators.get_indexer(other.annotators)[other.annotator]
        grouping = self.groupings.get_indexer(other.groupings)[other.grouping]
        if (annotator == MISSING).any() or (grouping == MISSING).any():
            return False
        theirs = replace(
            other, annotators=self.annotators, annotator=annotator, groupings=self.groupings, grouping=grouping
        ).in_order()
        return all(np.array_equal(getattr(self, name), getattr(theirs, name)) for name in PARALLEL)


def pairs_within(sizes: Int[np.ndarray, " blocks"]) -> tuple[np.ndarray, np.ndarray]:
    """Return every two rows of one block, the earlier first, for contiguous blocks of rows of these sizes."""
    n_rows = int(sizes.sum())
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    before = np.arange(n_rows) - start
    later = np.repeat(np.arange(n_rows), before)
    first_of_row = np.cumsum(before) - before
    return start[later] + np.arange(len(later)) - first_of_row[later], later


def pairs_of_ranks(sizes: Int[np.ndarray, " blocks"], rank: Int[np.ndarray, " pairs"]) -> Int[np.ndarray, "two pairs"]:
    """Return the two rows of pairs by their rank in the list of `pairs_within`, without making that list.

    Within a block, the pair of rows i < j has rank j (j - 1) / 2 + i.
    """
    pairs = sizes * (sizes - 1) // 2
    k = np.searchsorted(pairs.cumsum(), rank, side="right")
    rank = rank - (pairs.cumsum() - pairs)[k]
    later = ((1 + np.sqrt(1 + 8.0 * rank)) // 2).astype(np.int64)
    later -= later * (later - 1) // 2 > rank  # the root of large ranks may be rounded
    later += later * (later + 1) // 2 <= rank
    start = (sizes.cumsum() - sizes)[k]
    return np.stack([start + rank - later * (later - 1) // 2, start + later])
