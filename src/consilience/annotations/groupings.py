"""Groupings: each annotator puts items into groups whose names mean nothing outside their grouping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Int, Shaped
from scipy.sparse import csr_array

from consilience.annotations.base import Annotations, distinct_cells
from consilience.annotations.files.frames import in_frame, require_matrix, without_missing
from consilience.annotations.memberships import (
    Vocabulary,
    checked_incidence,
    incidence_of,
    nested_lists,
    vocabulary_of,
    vocabulary_of_lists,
)
from consilience.annotations.names import MISSING, Coded, Where, are_row_numbers, code, frame_row, inverse, name_index
from consilience.annotations.pairs import Pairs, pairs_within
from consilience.annotations.tables import WideCells, place_items, wide_cells, wide_rows
from consilience.errors import AnnotationError


@dataclass(frozen=True, eq=False, repr=False)
class Groupings(Annotations):
    """Partial groupings of items by annotators.

    Create them with `from_frame`, `from_matrix`, `from_lists` or `consilience.read_annotations`; the constructor takes
    codes that are already consistent.

    Attributes
    ----------
    items : Index, shape (n_items,)
    annotators : Index, shape (n_annotators,)
    named : bool
        Whether the items have names, and are not the numbered rows of an array.
    incidence : csr_array of float64, shape (n_items, n_groups)
        1 if the item is in the group; an item is in at most one group of each grouping.
    grouping_of_group : int array, shape (n_groups,)
        Nondecreasing: the groups of a grouping are contiguous.
    annotator_of_grouping : int array, shape (n_groupings,)
    grouping_names : object array, shape (n_groupings,)
        Unique within an annotator.
    group_names : object array, shape (n_groups,)
        Unique within a grouping.

    Examples
    --------
    >>> from consilience import Groupings
    >>> groupings = Groupings.from_lists(
    ...     [[["ant", "bee"], ["cow"]], [["ant"], ["bee", "cow"]]], annotators=["Ann", "Bo"]
    ... )
    >>> groupings
    Groupings(3 items, 2 annotators, 2 groupings, 4 groups, 6 memberships)
    >>> groupings.incidence.toarray()
    array([[1., 0., 1., 0.],
           [1., 0., 0., 1.],
           [0., 1., 0., 1.]])
    """

    incidence: csr_array
    grouping_of_group: Int[np.ndarray, " groups"]
    annotator_of_grouping: Int[np.ndarray, " groupings"]
    grouping_names: Shaped[np.ndarray, " groupings"]
    group_names: Shaped[np.ndarray, " groups"]

    _row: ClassVar[str] = "memberships"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        items: Iterable[Any] | None = None,
        item: Any = None,
        annotator: Any = None,
        grouping: Any = None,
        group: Any = None,
        ignore: Any = (),
        transpose: bool | None = None,
        missing: Any = None,
    ) -> Groupings:
        """Make groupings from a table, long or wide, as `consilience.read_annotations` recognises it.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or another library that narwhals reads
            A long table has a row for each membership: columns ``item``, ``group`` and at least one of ``annotator``
            and ``grouping``, or synonyms (card, category, participant, …); other columns are not used.
            Without ``grouping`` each annotator gives one grouping, which has the annotator's name; without
            ``annotator`` each grouping has its own annotator, with its name. Names of groupings are local to an
            annotator, names of groups to a grouping. A row with only an ``item`` adds an item without annotations.
        items : iterable of names, optional
            All items in order, including those without annotations. By default the items of the table in order of
            first appearance.
        item, annotator, grouping, group : names of columns, optional
            The columns, if their names are not recognised.
        ignore : name of a column, or list of them
            Columns to leave out.
        transpose : bool, optional
            Whether the rows of a wide table are annotators.
        missing : optional
            A value, or a list of them, that means that the annotator left the item out; see
            `consilience.read_annotations`.

        Returns
        -------
        Groupings

        Raises
        ------
        AnnotationError
            A column is missing, the table is ambiguous, a name is missing, an item is in two groups of one grouping
            or not in `items`, or the table has no rows and `items` is not given.

        Warns
        -----
        AnnotationWarning
            Rows that repeat a membership or have no group are left out; cells look like missing values; or a column
            is unlike those of the other annotators.

        Examples
        --------
        >>> import pandas as pd
        >>> from consilience import Groupings
        >>> frame = pd.DataFrame(
        ...     {"item": ["ant", "bee", "cow"], "annotator": "Ann", "group": ["small", "small", "large"]}
        ... )
        >>> Groupings.from_frame(frame)
        Groupings(3 items, 1 annotators, 1 groupings, 2 groups, 3 memberships)
        """
        columns = {"item": item, "annotator": annotator, "grouping": grouping, "group": group}
        found = in_frame(
            frame,
            "groupings",
            columns,
            caller="Groupings.from_frame",
            ignore=ignore,
            transpose=transpose,
            missing=missing,
        )
        return cls._from_statements(found, items)

    @classmethod
    def _from_columns(
        cls, columns: dict[str, Coded], items: Iterable[Any] | None, where: Where, *, named: bool = True
    ) -> Groupings:
        if "annotator" not in columns and "grouping" not in columns:
            raise AnnotationError(
                f"Groupings need a column 'annotator' or 'grouping' that tells whose group an item is in. "
                f"Found {', '.join(columns)}."
            )
        columns, where = place_items(columns, ("item",), items, where)
        annotator = columns["annotator" if "annotator" in columns else "grouping"]
        grouping = columns.get("grouping", annotator)
        vocabulary, group = vocabulary_of(annotator, grouping, columns["group"])
        return cls.of_codes(columns["item"], group, vocabulary, named, where)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        items: Iterable[Any] | None = None,
        annotators: Iterable[Any] | None = None,
        missing: Any = None,
    ) -> Groupings:
        """Make groupings from a wide table: the group in which each annotator put each item.

        Parameters
        ----------
        matrix : array or DataFrame, shape (n_items, n_annotators) or (n_items,)
            Names of groups, of any kind. NaN, None, NA and blank text mean that the annotator left the item out.
        items, annotators : iterables of names, optional
            By default the index and columns of a DataFrame, else 0, 1, 2, … If `annotators` are given, every column is
            an annotator, whatever its content.
        missing : optional
            A further value that means the same, or a list of them. By default -1 if it is the only negative integer;
            ``missing=[]`` makes it a group.

        Returns
        -------
        Groupings
            One grouping per annotator, with the annotator's name.

        Raises
        ------
        AnnotationError
            Wrong shape, a number of names that does not match it, a long table, or ambiguous cells: -1 with only 1, or
            with only 0 and 1, or the text NA among other text.

        Warns
        -----
        AnnotationWarning
            Cells were read as missing, or look like missing values; a column is unlike those of the other annotators.

        Examples
        --------
        >>> from consilience import Groupings
        >>> Groupings.from_matrix([[0, 1], [0, -1], [1, 0]], missing=-1)
        Groupings(3 items, 2 annotators, 2 groupings, 4 groups, 5 memberships)
        """
        if annotators is None:
            require_matrix(matrix, "groupings", "Groupings.from_matrix", missing)
        cells = wide_cells(matrix, items, annotators, "Groupings.from_matrix")
        return cls._from_cells(replace(cells, cell=without_missing(cells.cell, cells.columns, missing, "group")))

    @classmethod
    def _from_cells(cls, cells: WideCells) -> Groupings:
        item, annotator, name = wide_rows(cells)
        vocabulary, group = vocabulary_of(annotator, annotator, name)
        return cls.of_codes(Coded(item, cells.rows), group, vocabulary, cells.named, frame_row)

    @classmethod
    def of_codes(cls, item: Coded, group: np.ndarray, vocabulary: Vocabulary, named: bool, where: Where) -> Groupings:
        """Make groupings of memberships: an item and a group of the vocabulary for each.

        `where` says in which row of the user's table a membership is.
        """
        return cls(
            items=item.names,
            annotators=vocabulary.annotators,
            named=named,
            incidence=checked_incidence(item, group, vocabulary, where),
            grouping_of_group=vocabulary.grouping_of_group,
            annotator_of_grouping=vocabulary.annotator_of_grouping,
            grouping_names=vocabulary.grouping_names,
            group_names=vocabulary.group_names,
        )

    @classmethod
    def from_lists(
        cls,
        groupings: Sequence[Sequence[Sequence[Any]]],
        *,
        annotators: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Groupings:
        """Make groupings from lists: for each grouping a list of groups, for each group a list of item names.

        Parameters
        ----------
        groupings : list of lists of lists of names
            Groups are named 0, 1, 2, … within their grouping; a group may be empty.
        annotators : iterable of names, optional
            The annotator of each grouping. An annotator of several groupings is repeated; groupings are then named by
            their position in the list. By default each grouping has its own annotator, numbered from 0.
        items : iterable of names, optional
            All items in order. By default in order of first appearance.

        Returns
        -------
        Groupings

        Raises
        ------
        AnnotationError
            There are fewer levels of lists, or dicts; a name is missing, an item is in two groups of one grouping or
            not in `items`, or `annotators` has another length.

        Warns
        -----
        AnnotationWarning
            An item occurs twice in one group, and counts once.

        Examples
        --------
        >>> from consilience import Groupings
        >>> Groupings.from_lists([[["ant", "bee"], ["cow"]]]).to_frame()
          item  annotator  grouping  group
        0  ant          0         0      0
        1  bee          0         0      0
        2  cow          0         0      1
        """
        nested = nested_lists(groupings)
        vocabulary, group = vocabulary_of_lists(nested, annotators)
        names = code([name for grouping in nested for group in grouping for name in group])

        def where(row: int) -> str:
            at = group[row]
            return f"group {vocabulary.group_names[at]} of grouping {vocabulary.grouping_of_group[at]}"

        columns = {"item": names, "group": Coded(group, pd.RangeIndex(len(vocabulary.group_names)))}
        columns, _ = place_items(columns, ("item",), items, where)
        return cls.of_codes(columns["item"], group, vocabulary, not are_row_numbers(items), where)

    @property
    def n_rows(self) -> int:
        """Number of memberships."""
        return self.incidence.nnz

    @property
    def n_groupings(self) -> int:
        """Number of groupings."""
        return len(self.grouping_names)

    @property
    def n_groups(self) -> int:
        """Number of groups in all groupings."""
        return len(self.group_names)

    @property
    def annotator_of_group(self) -> Int[np.ndarray, " groups"]:
        """Annotator who made each group."""
        return self.annotator_of_grouping[self.grouping_of_group]

    def to_frame(self) -> pd.DataFrame:
        """Return the long table.

        Returns
        -------
        DataFrame, shape (n_rows, 4)
            Columns item, annotator, grouping, group; rows in the order of `items`, then of groups.

        Examples
        --------
        >>> from consilience import Groupings
        >>> Groupings.from_matrix([["p"], [None], ["q"]], annotators=["Ann"]).to_frame()
           item annotator grouping group
        0     0       Ann      Ann     p
        1     2       Ann      Ann     q
        """
        return self._table(slice(None))

    def _table(self, rows: slice) -> pd.DataFrame:
        group = self.incidence.indices[rows]
        return pd.DataFrame(
            {
                "item": self.items.take(self.item_of_row[rows]),
                "annotator": self.annotators.take(self.annotator_of_group[group]),
                "grouping": name_index(self.grouping_names).take(self.grouping_of_group[group]),
                "group": name_index(self.group_names).take(group),
            }
        )

    def to_matrix(self) -> pd.DataFrame:
        """Return the wide table of group names.

        Returns
        -------
        DataFrame, shape (n_items, n_groupings)
            Indexed by item; columns are the annotators' names if each gave one grouping, else (annotator, grouping).
            None if the item is not in the grouping.

        Examples
        --------
        >>> from consilience import Groupings
        >>> Groupings.from_lists([[["ant", "bee"], ["cow"]], [["bee"], ["cow"]]]).to_matrix()
             0     1
        ant  0  None
        bee  0     0
        cow  1     1
        """
        names = np.full((self.n_items, self.n_groupings), None, dtype=object)
        group = self.incidence.indices
        names[self.item_of_row, self.grouping_of_group[group]] = self.group_names[group]
        columns = self.annotators.take(self.annotator_of_grouping)
        if not columns.is_unique:
            columns = self.vocabulary.grouping_index
        return pd.DataFrame(names, index=self.items, columns=columns, dtype=object)

    def to_pairs(self, *, max_pairs: int = 10_000_000) -> Pairs:
        """Return a same/different judgement for every two items of a grouping.

        Parameters
        ----------
        max_pairs : int, default=10_000_000
            Largest number of pairs to make: a pair takes 33 bytes, and about 140 while it is made.

        Returns
        -------
        Pairs
            ``grouping`` distinguishes the judgements of an annotator who gave several groupings.

        Raises
        ------
        AnnotationError
            There are more than `max_pairs`.

        Examples
        --------
        >>> from consilience import Groupings
        >>> Groupings.from_lists([[["ant", "bee"], ["cow"]]]).to_pairs().to_frame()
          item_a item_b  annotator   same
        0    ant    bee          0   True
        1    ant    cow          0  False
        2    bee    cow          0  False
        """
        group = self.incidence.indices.astype(np.intp)
        order = np.argsort(self.grouping_of_group[group], kind="stable")
        group, item = group[order], self.item_of_row[order]
        sizes = np.bincount(self.grouping_of_group[group], minlength=self.n_groupings)
        n_pairs = int((sizes * (sizes - 1) // 2).sum())
        if n_pairs > max_pairs:
            raise AnnotationError(
                f"These groupings imply {n_pairs} pairs, more than max_pairs={max_pairs}; use a model that reads "
                "groupings directly, restrict the items, or raise max_pairs."
            )
        first, second = pairs_within(sizes)
        grouping = self.grouping_of_group[group[first]]
        named = code(self.grouping_names)
        return Pairs(
            items=self.items,
            annotators=self.annotators,
            named=self.named,
            item_a=item[first],
            item_b=item[second],
            annotator=self.annotator_of_grouping[grouping],
            same=group[first] == group[second],
            grouping=named.codes[grouping],
            groupings=named.names,
        ).in_order()

    @property
    def item_of_row(self) -> Int[np.ndarray, " rows"]:
        """Item of each membership, in the order of ``incidence.indices``, which holds the groups."""
        return np.repeat(np.arange(self.n_items), np.diff(self.incidence.indptr))

    @property
    def vocabulary(self) -> Vocabulary:
        """Names of annotators, groupings and groups, without the items."""
        return Vocabulary(
            annotators=self.annotators,
            annotator_of_grouping=self.annotator_of_grouping,
            grouping_names=self.grouping_names,
            grouping_of_group=self.grouping_of_group,
            group_names=self.group_names,
        )

    def _counts(self) -> dict[str, int]:
        counts = super()._counts()
        rows = counts.pop(self._row)
        return counts | {"groupings": self.n_groupings, "groups": self.n_groups, self._row: rows}

    def _groups_per_grouping(self) -> pd.Series:
        sizes = np.bincount(self.grouping_of_group, minlength=self.n_groupings)
        return pd.Series(sizes, index=self.vocabulary.grouping_index)

    def renumber_items(self, place: np.ndarray, names: pd.Index) -> Groupings:
        """Move item i to position ``place[i]`` of `names`, or drop its memberships if that is -1."""
        item = place[self.item_of_row]
        kept = item != MISSING
        incidence = incidence_of(item[kept], self.incidence.indices[kept], len(names), self.n_groups)
        return replace(self, items=names, incidence=incidence)

    def _take_annotators(self, positions: np.ndarray) -> Groupings:
        annotator = inverse(positions, self.n_annotators)[self.annotator_of_grouping]
        groupings = np.flatnonzero(annotator != MISSING)
        groups = np.flatnonzero(annotator[self.grouping_of_group] != MISSING)
        return replace(
            self,
            annotators=self.annotators.take(positions),
            annotator_of_grouping=annotator[groupings],
            grouping_names=self.grouping_names[groupings],
            grouping_of_group=np.searchsorted(groupings, self.grouping_of_group[groups]),
            group_names=self.group_names[groups],
            incidence=self.incidence[:, groups],
        )

    def _item_annotator(self) -> csr_array:
        annotator = self.annotator_of_group[self.incidence.indices]
        return distinct_cells(self.item_of_row, annotator, (self.n_items, self.n_annotators))

    def _same_rows(self, other: Groupings) -> bool:
        group = other.vocabulary.place_in(self.vocabulary.group_keys())[other.incidence.indices]
        if (group == MISSING).any():
            return False
        theirs = incidence_of(other.item_of_row, group, self.n_items, self.n_groups)
        return all(
            np.array_equal(getattr(self.incidence, part), getattr(theirs, part)) for part in ("indptr", "indices")
        )
