"""What the three kinds of annotations share: names, restriction to items and annotators, a summary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations.display import MOST_ROWS, facts, head_of
from consilience.annotations.files.statements import Statements
from consilience.annotations.files.table import Reading
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import MISSING, Coded, Where, are_row_numbers, inverse, plain, unique_names
from consilience.annotations.types import Names
from consilience.errors import AnnotationError

Kind = TypeVar("Kind", bound="Annotations")
"""A class of annotations."""


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Counts of annotations, by annotator and by item.

    Attributes
    ----------
    kind : str
        Name of the class of annotations.
    n_items, n_annotators : int
    n_rows : int
        Memberships, judgements or labels.
    coverage : float
        Share of all (item, annotator) cells with annotations, 0 if there are none.
    items_per_annotator : Series, shape (n_annotators,)
        Number of items that each annotator annotated, indexed by annotator.
    annotators_per_item : Series, shape (n_items,)
        Number of annotators of each item, indexed by item.
    n_unannotated_items : int
        Number of items without annotations.
    groups_per_grouping : Series, shape (n_groupings,), or None
        Number of groups of each grouping, indexed by (annotator, grouping); None except for `Groupings`.
    reading : Reading, or None
        How the table or file was read from which the annotations come.
    """

    kind: str
    n_items: int
    n_annotators: int
    n_rows: int
    coverage: float
    items_per_annotator: pd.Series
    annotators_per_item: pd.Series
    n_unannotated_items: int
    groups_per_grouping: pd.Series | None = None
    reading: Reading | None = None

    def __str__(self) -> str:
        lines = [f"  {name:<19}  {value}" for name, value in self._facts().items()]
        if self.reading is not None:
            lines += [f"                       {note}" for note in (*self.reading.warnings, *self.reading.notes)]
        return "\n".join([self._caption(), *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = () if self.reading is None else (*self.reading.warnings, *self.reading.notes)
        return facts(self._caption(), self._facts(), below="; ".join(notes))

    def _caption(self) -> str:
        return f"{self.kind}: {self.n_rows} rows on {self.n_items} items by {self.n_annotators} annotators"

    def _facts(self) -> dict[str, str]:
        found = {
            "coverage": f"{self.coverage:.1%} of the item x annotator cells",
            "items per annotator": _spread(self.items_per_annotator),
            "annotators per item": _spread(self.annotators_per_item),
            "items without any": str(self.n_unannotated_items),
        }
        if self.groups_per_grouping is not None:
            found["groups per grouping"] = _spread(self.groups_per_grouping)
        if self.reading is not None:
            found["read as"] = self.reading.how
        return found


def _spread(counts: pd.Series) -> str:
    return f"{counts.min()} to {counts.max()}, mean {counts.mean():.1f}" if len(counts) else "none"


class NotAnArrayError(AnnotationError, TypeError):
    """Annotations were given instead of an array of features."""


class NoFeaturesError(AnnotationError, IndexError):
    """The number of features of annotations was requested."""


class Shape(tuple[int]):
    """``(n_items,)``, with a helpful error if the number of features is looked up."""

    def __getitem__(self, axis: Any) -> Any:
        if isinstance(axis, int) and axis >= len(self):
            raise NoFeaturesError(
                "Annotations have one axis, the items, and no features. Give features first and annotations second: "
                "fit(X, annotations)."
            )
        return super().__getitem__(axis)


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(ABC):
    """Base of `Groupings`, `Pairs` and `Labels`: what annotators said about items.

    Immutable. As scikit-learn's `y`, annotations are a sequence of items: ``len(a)`` is the number of items, and
    ``a[positions]`` restricts them to some items but keeps all annotators, groupings, groups and classes.
    Two annotations are equal if they have the same items in the same order and the same statements about them by
    annotators of the same names; the order of annotators, and unused names, make no difference.

    Attributes
    ----------
    items : Index, shape (n_items,)
        Unique names of the items, in order.
    annotators : Index, shape (n_annotators,)
        Unique names of the annotators.
    named : bool
        Whether the items have names, by which they are matched with features. False if they are the numbered rows of
        an array or of a frame with the default index, or if ``range(n)`` was given as items: these are matched by
        position.
    reading : Reading, or None
        How a table or file was read by `from_frame` or `consilience.read_annotations`; None for annotations made in
        other ways or derived from these.
    """

    items: pd.Index
    annotators: pd.Index
    named: bool
    reading: Reading | None = field(default=None, kw_only=True)

    _row: ClassVar[str]

    def __post_init__(self) -> None:
        _freeze(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _freeze(self)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        """Number of annotators."""
        return len(self.annotators)

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows of the long table: memberships, judgements or labels."""

    @property
    def shape(self) -> tuple[int]:
        """``(n_items,)``."""
        return Shape((self.n_items,))

    def __len__(self) -> int:
        return self.n_items

    def __contains__(self, name: Any) -> bool:
        """Whether there is an item with this name."""
        return name in self.items

    def __getitem__(self: Kind, key: Any) -> Kind:
        """Restrict to items by position: an integer array, a slice or a boolean mask, also in a tuple."""
        if isinstance(key, tuple):
            if len(key) > 2 or (len(key) == 2 and key[1] is not Ellipsis):
                raise AnnotationError(f"Annotations have one axis, the items. Got the index {key!r} instead.")
            key = key[0]
        positions = np.atleast_1d(np.arange(self.n_items)[_array_key(key, self.items)])
        repeated = pd.Series(positions).duplicated().to_numpy()
        if repeated.any():
            name = plain(self.items[positions[np.argmax(repeated)]])
            raise AnnotationError(
                f"Annotations cannot contain an item twice, but the index repeats the item {name!r}; "
                "resample without replacement."
            )
        return replace(self._take_items(positions), reading=None)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Refuse to become an array, since an estimator that does not know annotations would take them for features."""
        raise NotAnArrayError(
            f"{type(self).__name__} are not an array. Give features first and annotations second: "
            "fit(X, annotations); for a table of the annotations use to_frame."
        )

    def restrict(self: Kind, items: Names | None = None, annotators: Names | None = None) -> Kind:
        """Keep some items, some annotators, or both, in the order given.

        Parameters
        ----------
        items, annotators : iterable of names, or one name, optional
            By default all are kept. Annotators that are not kept are dropped with all their annotations; of items that
            are not kept only the annotations are dropped, so that groupings, groups and classes stay complete.

        Returns
        -------
        Annotations
            Of the same kind.

        Raises
        ------
        AnnotationError
            A name is unknown, or is given twice.

        Examples
        --------
        >>> from consilience import Groupings
        >>> groupings = Groupings.from_matrix([["p", "q"], ["p", None]], items=["ant", "bee"], annotators=["Ann", "Bo"])
        >>> groupings.restrict(items=["bee"])
        Groupings(1 items, 2 annotators, 2 groupings, 2 groups, 1 memberships)
        >>> groupings.restrict(annotators=["Bo"])
        Groupings(2 items, 1 annotators, 1 groupings, 1 groups, 1 memberships)
        """
        restricted = self
        if annotators is not None:
            restricted = restricted._take_annotators(_positions(self.annotators, annotators, "annotators"))
        if items is not None:
            restricted = restricted._take_items(_positions(self.items, items, "items"))
        return replace(restricted, reading=None)

    def leave_out(self: Kind, annotators: Names) -> Kind:
        """Leave out some annotators, with all their annotations; items that only they annotated stay.

        Parameters
        ----------
        annotators : iterable of names, or one name

        Returns
        -------
        Annotations
            Of the same kind.

        Raises
        ------
        AnnotationError
            A name is unknown, or is given twice, or nobody is left.

        Examples
        --------
        >>> from consilience import Groupings
        >>> groupings = Groupings.from_matrix([["p", "q"], ["p", None]], items=["ant", "bee"], annotators=["Ann", "Bo"])
        >>> groupings.leave_out("Bo")
        Groupings(2 items, 1 annotators, 1 groupings, 1 groups, 2 memberships)
        """
        kept = np.ones(self.n_annotators, dtype=bool)
        kept[_positions(self.annotators, annotators, "annotators")] = False
        if not kept.any():
            raise AnnotationError(f"All {self.n_annotators} annotators would be left out.")
        return replace(self._take_annotators(np.flatnonzero(kept)), reading=self.reading)

    def reindex(self: Kind, items: Names) -> Kind:
        """Return the same annotations over another list of items, in that order.

        Parameters
        ----------
        items : iterable of names
            New names have no annotations. ``range(n)`` means that items are row numbers, matched with features by
            position.

        Returns
        -------
        Annotations
            Of the same kind.

        Raises
        ------
        AnnotationError
            An item that has annotations is not in the list, or a name is given twice.

        Examples
        --------
        >>> from consilience import Groupings
        >>> Groupings.from_matrix([["p"], ["q"]], items=["ant", "bee"]).reindex(["bee", "cow", "ant"]).to_matrix()
                0
        bee     q
        cow  None
        ant     p
        """
        names = unique_names(list_names(items, "items"), "items")
        place = names.get_indexer(self.items)
        left_out = (place == MISSING) & (np.diff(self._item_annotator().indptr) > 0)
        if left_out.any():
            name = plain(self.items[int(np.argmax(left_out))])
            raise AnnotationError(
                f"The item {name!r} has annotations but is not in the list of {len(names)} items "
                f"({int(left_out.sum())} such items); use restrict to leave items out."
            )
        moved = self.renumber_items(place, names)
        return replace(moved, named=False) if are_row_numbers(items) else moved

    def by_position(self: Kind) -> Kind:
        """Return the same annotations without names of items: items are numbered 0 … n-1 in their order.

        Use this for features in an array: row i of the array is item i. Bring the items into the order of the rows
        first, with `reindex`.

        Returns
        -------
        Annotations
            Of the same kind, with ``named`` False.

        Examples
        --------
        >>> from consilience import Groupings
        >>> groupings = Groupings.from_lists([[["bee", "ant"], ["cow"]]])
        >>> groupings.reindex(["ant", "bee", "cow"]).by_position().to_frame()
           item  annotator  grouping  group
        0     0          0         0      0
        1     1          0         0      0
        2     2          0         0      1
        """
        return replace(self, items=pd.RangeIndex(self.n_items), named=False, reading=None)

    def summary(self) -> Summary:
        """Return counts of the annotations.

        Returns
        -------
        Summary

        Examples
        --------
        >>> from consilience import Groupings
        >>> print(Groupings.from_matrix([["p", "q"], ["p", None]]).summary())
        Groupings: 3 rows on 2 items by 2 annotators
          coverage             75.0% of the item x annotator cells
          items per annotator  1 to 2, mean 1.5
          annotators per item  1 to 2, mean 1.5
          items without any    0
          groups per grouping  1 to 1, mean 1.0
        """
        cells = self._item_annotator()
        per_item = np.diff(cells.indptr)
        per_annotator = np.bincount(cells.indices, minlength=self.n_annotators)
        return Summary(
            kind=type(self).__name__,
            n_items=self.n_items,
            n_annotators=self.n_annotators,
            n_rows=self.n_rows,
            coverage=cells.nnz / max(self.n_items * self.n_annotators, 1),
            items_per_annotator=pd.Series(per_annotator, index=self.annotators),
            annotators_per_item=pd.Series(per_item, index=self.items),
            n_unannotated_items=int((per_item == 0).sum()),
            groups_per_grouping=self._groups_per_grouping(),
            reading=self.reading,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.n_rows != other.n_rows or not self.items.equals(other.items):
            return False
        return self._same_rows(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in self._counts().items())
        return f"{type(self).__name__}({counts})"

    def _repr_html_(self) -> str:
        counts = ", ".join(f"{count:,} {what}" for what, count in self._counts().items())
        first = self._table(slice(MOST_ROWS))
        return head_of(f"{type(self).__name__}: {counts}", {str(name): first[name] for name in first}, self.n_rows)

    def _counts(self) -> dict[str, int]:
        return {"items": self.n_items, "annotators": self.n_annotators, self._row: self.n_rows}

    def _take_items(self: Kind, positions: np.ndarray) -> Kind:
        return self.renumber_items(inverse(positions, self.n_items), self.items.take(positions))

    def _groups_per_grouping(self) -> pd.Series | None:
        return None

    def _note_repeated(self) -> tuple[str, ...]:
        """Count what annotators said again of the same."""
        return ()

    @classmethod
    def _from_statements(cls: type[Kind], found: Statements, items: Iterable[Any] | None, **more: Any) -> Kind:
        """Make annotations from a table that was read, over `items` if given."""
        if items is not None and found.wide:
            annotations = cls._from_columns(found.columns, None, found.where, named=found.named, **more).reindex(items)
        else:
            named = found.named and not are_row_numbers(items)
            annotations = cls._from_columns(found.columns, items, found.where, named=named, **more)
        notes = list(found.reading.notes)
        if found.place_of_repeats is not None:
            notes[found.place_of_repeats : found.place_of_repeats] = annotations._note_repeated()
        return replace(annotations, reading=replace(found.reading, notes=tuple(notes)))

    @classmethod
    @abstractmethod
    def _from_columns(
        cls: type[Kind], columns: dict[str, Coded], items: Iterable[Any] | None, where: Where, *, named: bool = True
    ) -> Kind:
        """Make annotations from parallel columns of names."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the long table."""

    @abstractmethod
    def _table(self, rows: slice) -> pd.DataFrame:
        """Return these rows of the long table."""

    @abstractmethod
    def renumber_items(self: Kind, place: Int[np.ndarray, " items"], names: pd.Index) -> Kind:
        """Move item i to position ``place[i]`` of `names`, or drop its annotations if that is -1."""

    @abstractmethod
    def _take_annotators(self: Kind, positions: Int[np.ndarray, " kept"]) -> Kind:
        """Keep the annotators at some positions, in that order."""

    @abstractmethod
    def _item_annotator(self) -> csr_array:
        """Return which annotator annotated which item, (n_items, n_annotators), one entry per cell."""

    @abstractmethod
    def _same_rows(self, other: Any) -> bool:
        """Compare with other annotations of the same kind, items and number of rows."""


def _freeze(instance: Any) -> None:
    for held in fields(instance):
        value = getattr(instance, held.name)
        for array in (value.data, value.indices, value.indptr) if isinstance(value, csr_array) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False


def _array_key(key: Any, items: pd.Index) -> Any:
    """Return an index of positions as NumPy accepts it."""
    if isinstance(key, slice | int | np.integer):
        return key
    if isinstance(key, pd.Series) and key.dtype == bool:
        key = _mask_of_items(key, items)
    array = np.asarray(key)
    if array.size == 0:
        return array.astype(np.intp)
    if array.dtype.kind not in "biu":
        raise AnnotationError(
            f"Annotations are indexed by the positions of items. Got {key!r} instead; to keep items by name use "
            "restrict, such as restrict(items=[...])."
        )
    if array.dtype == bool and array.shape != items.shape:
        raise AnnotationError(f"A mask needs one entry for each of {len(items)} items. Got shape {array.shape}.")
    return array


def _mask_of_items(mask: pd.Series, items: pd.Index) -> np.ndarray:
    """Return a mask in the order of the items, matched by its index if that has names."""
    if mask.index.equals(items) or mask.index.equals(pd.RangeIndex(len(mask))):
        return mask.to_numpy()
    place = mask.index.get_indexer(items) if mask.index.is_unique else np.full(len(items), MISSING)
    if len(mask) != len(items) or (place == MISSING).any():
        raise AnnotationError("The index of the mask does not match the items. Give an array to match by position.")
    return mask.to_numpy()[place]


def _positions(known: pd.Index, names: Any, what: str) -> np.ndarray:
    wanted = unique_names(list_names(names, what), what)
    positions = known.get_indexer(wanted)
    if (positions == MISSING).any():
        name = plain(wanted[int(np.argmax(positions == MISSING))])
        raise AnnotationError(f"{name!r} is not among the {len(known)} {what} of these annotations.")
    return positions


def distinct_cells(item: np.ndarray, annotator: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """Return an (n_items, n_annotators) matrix that is True for each distinct (item, annotator)."""
    matrix = csr_array((np.ones(len(item), dtype=np.int64), (item, annotator)), shape=shape)
    return matrix.astype(bool)  # several rows of a cell were added up
