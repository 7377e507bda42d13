"""Labels: each annotator names the class of items, and the names mean the same to all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations.base import Annotations, distinct_cells
from consilience.annotations.files.frames import in_frame, require_matrix, without_missing
from consilience.annotations.files.values import quantify
from consilience.annotations.further_labels import is_further, occasions
from consilience.annotations.groupings import Groupings
from consilience.annotations.levels import numbers_in_text, order_levels, ordered_categories
from consilience.annotations.memberships import vocabulary_of
from consilience.annotations.name_lists import require_list
from consilience.annotations.names import (
    MISSING,
    Coded,
    Where,
    find_duplicates,
    frame_row,
    inverse,
    plain,
    sort_rows,
    unique_names,
    warn_of,
    warn_of_duplicates,
)
from consilience.annotations.pairs import Pairs
from consilience.annotations.shared_names import own_names
from consilience.annotations.tables import WideCells, place_items, recode, wide_cells, wide_rows
from consilience.errors import AnnotationError

PARALLEL = ("item", "annotator", "label")


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Annotations):
    """Labels of items by annotators, with one set of classes.

    Create them with `from_frame`, `from_matrix` or `consilience.read_annotations`; the constructor takes codes that are
    already consistent.

    An annotator may give an item several labels: each is a row, and counts. The same label by the same annotator counts
    once.

    Attributes
    ----------
    items : Index, shape (n_items,)
    annotators : Index, shape (n_annotators,)
    named : bool
        Whether the items have names, and are not the numbered rows of an array.
    classes : Index, shape (n_classes,)
        Unique names of the classes; sorted if they can be compared and were not given.
    item, annotator, label : int arrays, shape (n_rows,)
        Sorted by item, then by annotator, then by label; each (item, annotator, label) occurs once.
    ordered : bool
        Whether the classes are levels of ratings, in rising order: see `as_ratings`. Those of an ordered categorical
        are.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Labels
    >>> labels = Labels.from_frame(pd.DataFrame({"task": [1, 1, 2], "worker": ["u", "v", "u"], "label": [0, 1, 1]}))
    >>> labels
    Labels(2 items, 2 annotators, 2 classes, 3 labels)
    >>> labels.indptr
    array([0, 2, 3])
    """

    classes: pd.Index
    item: Int[np.ndarray, " rows"]
    annotator: Int[np.ndarray, " rows"]
    label: Int[np.ndarray, " rows"]
    ordered: bool = False

    _row: ClassVar[str] = "labels"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        items: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
        item: Any = None,
        annotator: Any = None,
        label: Any = None,
        ignore: Any = (),
        transpose: bool | None = None,
        missing: Any = None,
        exact: bool = False,
    ) -> Labels:
        """Make labels from a table, long or wide, as `consilience.read_annotations` recognises it.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or another library that narwhals reads
            A long table has a row for each label: columns ``item``, ``annotator``, ``label``, or synonyms
            (crowd-kit's ``task``, ``worker``; question, rater, answer, …); other columns are not used. A row with
            only an ``item`` adds an item without labels.
        items : iterable of names, optional
            All items in order, including those without labels. By default in order of first appearance.
        classes : iterable of names, optional
            All classes in order, including those that nobody gave.
        item, annotator, label : names of columns, optional
            The columns, if their names are not recognised.
        ignore : name of a column, or list of them
            Columns to leave out.
        transpose : bool, optional
            Whether the rows of a wide table are annotators.
        missing : optional
            A value, or a list of them, that means that the annotator gave no label; see `consilience.read_annotations`.
            By default also "unsure", "don't know" and the like, unless `classes` contains them.
        exact : bool, default=False
            Whether classes are kept apart that differ only in case, spaces or form of letters, such as Yes and yes;
            a label such as "a,b" is then the name of one class.

        Returns
        -------
        Labels

        Raises
        ------
        AnnotationError
            A column is missing, the table is ambiguous, a name is missing, or a name is not in `items` or
            `classes`.

        Warns
        -----
        AnnotationWarning
            Rows that repeat an item, annotator and label, or have no label, are left out; cells look like missing
            values; a column is unlike those of the other annotators; or annotators share hardly any names, as if these
            were names of groups. A second, different label of an item by the same annotator is kept, as a separate
            row.

        Examples
        --------
        >>> import pandas as pd
        >>> from consilience import Labels
        >>> frame = pd.DataFrame({"item": ["ant", "cow"], "annotator": "Ann", "label": ["small", "large"]})
        >>> Labels.from_frame(frame, classes=["small", "medium", "large"]).label
        array([0, 2])
        """
        columns = {"item": item, "annotator": annotator, "label": label}
        classes = None if classes is None else list(require_list(classes, "classes"))
        options = {"ignore": ignore, "transpose": transpose, "missing": missing, "classes": classes, "exact": exact}
        found = in_frame(frame, "labels", columns, caller="Labels.from_frame", **options)
        return cls._from_statements(found, items, classes=classes).with_order_of(frame)

    @classmethod
    def _from_columns(
        cls,
        columns: dict[str, Coded],
        items: Iterable[Any] | None,
        where: Where,
        *,
        classes: Iterable[Any] | None = None,
        named: bool = True,
    ) -> Labels:
        columns, where = place_items(columns, ("item",), items, where)
        return _assemble(columns["item"], columns["annotator"], columns["label"], classes, named, where)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        items: Iterable[Any] | None = None,
        annotators: Iterable[Any] | None = None,
        missing: Any = None,
        classes: Iterable[Any] | None = None,
        exact: bool = False,
    ) -> Labels:
        """Make labels from a wide table: the class that each annotator gave each item.

        Parameters
        ----------
        matrix : array or DataFrame, shape (n_items, n_annotators) or (n_items,)
            Names of classes. NaN, None, NA and blank text mean that the annotator did not label the item.
        items, annotators : iterables of names, optional
            By default the index and columns of a DataFrame, else 0, 1, 2, … If `annotators` are given, every column is
            an annotator, whatever its content.
        missing : optional
            A further value that means the same, or a list of them. By default -1 if it is the only negative integer;
            ``missing=[]`` makes it a class.
        classes : iterable of names, optional
            All classes in order, including those that nobody gave.
        exact : bool, default=False
            As for `from_frame`.

        Returns
        -------
        Labels

        Raises
        ------
        AnnotationError
            Wrong shape, a number of names that does not match it, a class that is not in `classes`, a long table, or
            ambiguous cells: -1 with only 1, or with only 0 and 1, or the text NA among other text.

        Warns
        -----
        AnnotationWarning
            Cells were read as missing, or look like missing values; a column is unlike those of the other annotators;
            or annotators share hardly any names.

        Examples
        --------
        >>> from consilience import Labels
        >>> Labels.from_matrix([[0, 1], [0, -1]], missing=-1).to_matrix()
           0     1
        0  0     1
        1  0  None
        """
        classes = None if classes is None else list(require_list(classes, "classes"))
        return cls._from_matrix(matrix, items, annotators, missing, classes, exact=exact)

    @classmethod
    def _from_matrix(
        cls,
        matrix: Any,
        items: Iterable[Any] | None = None,
        annotators: Iterable[Any] | None = None,
        missing: Any = None,
        classes: list[Any] | None = None,
        **options: Any,
    ) -> Labels:
        if annotators is None:
            require_matrix(matrix, "labels", "Labels.from_matrix", missing)
        cells = wide_cells(matrix, items, annotators, "Labels.from_matrix")
        cell = without_missing(cells.cell, cells.columns, missing, "label", classes=classes or (), **options)
        return cls._from_cells(replace(cells, cell=cell), classes).with_order_of(matrix)

    @classmethod
    def _from_cells(cls, cells: WideCells, classes: Iterable[Any] | None = None) -> Labels:
        item, annotator, label = wide_rows(cells)
        own = own_names(Coded(item, cells.rows), annotator, label)
        if own is not None:
            warn_of([own.note("Groupings.from_matrix")])
        return _assemble(Coded(item, cells.rows), annotator, label, classes, cells.named, frame_row)

    def as_ratings(self, levels: Iterable[Any] | None = None) -> Labels:
        """Return the labels as ratings, whose classes are levels in rising order.

        Parameters
        ----------
        levels : iterable of names, optional
            All levels from the lowest to the highest, including those that nobody gave. By default the classes if they
            are ordered; else they must be numbers, in text or not, and whole numbers between them are levels, too.

        Returns
        -------
        Labels
            Their attribute `ordered` is True.

        Raises
        ------
        AnnotationError
            The classes are not numbers and there are no `levels`, a label is not among these, or there are more than
            101.

        Examples
        --------
        >>> from consilience import Labels
        >>> Labels.from_matrix([[1, 2], [4, 5]]).as_ratings().classes.tolist()
        [1, 2, 3, 4, 5]
        """
        if self.ordered and levels is None:
            return self
        names = numbers_in_text(self.classes) if levels is None else self.classes
        are_numbers = levels is None and pd.api.types.is_numeric_dtype(names)
        found = order_levels(names if are_numbers else names[np.unique(self.label)], levels)
        label = found.get_indexer(names)[self.label]
        return replace(self, classes=found, label=label, ordered=True).in_order()

    def with_order_of(self, frame: Any) -> Labels:
        """Return the labels as ratings if they come from an ordered categorical column of a frame, else unchanged."""
        levels = ordered_categories(frame, self.classes)
        return self if levels is None or self.ordered else self.as_ratings(levels)

    @property
    def n_rows(self) -> int:
        """Number of labels."""
        return len(self.label)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def indptr(self) -> Int[np.ndarray, " items_and_one"]:
        """Offsets of each item's labels: those of item i are rows ``indptr[i]`` to ``indptr[i + 1]``."""
        return np.append(0, np.cumsum(np.bincount(self.item, minlength=self.n_items)))

    def to_frame(self) -> pd.DataFrame:
        """Return the long table.

        Returns
        -------
        DataFrame, shape (n_rows, 3)
            Columns item, annotator, label; rows in the order of `items`, then of annotators.

        Examples
        --------
        >>> from consilience import Labels
        >>> Labels.from_matrix([["p", None], ["q", "p"]], annotators=["Ann", "Bo"]).to_frame()
           item annotator label
        0     0       Ann     p
        1     1       Ann     q
        2     1        Bo     p
        """
        return self._table(slice(None))

    def _table(self, rows: slice) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "item": self.items.take(self.item[rows]),
                "annotator": self.annotators.take(self.annotator[rows]),
                "label": self.classes.take(self.label[rows]),
            }
        )

    def to_matrix(self) -> pd.DataFrame:
        """Return the wide table of class names.

        Returns
        -------
        DataFrame, shape (n_items, n_annotators)
            Indexed by item, one column per annotator; None if the annotator did not label the item.

        Raises
        ------
        AnnotationError
            An annotator gives an item several labels.

        Examples
        --------
        >>> import pandas as pd
        >>> from consilience import Labels
        >>> frame = pd.DataFrame({"item": ["ant", "bee"], "annotator": ["Ann", "Bo"], "label": ["small", "large"]})
        >>> Labels.from_frame(frame).to_matrix()
               Ann     Bo
        ant  small   None
        bee   None  large
        """
        self._require_single_labels()
        names = np.full((self.n_items, self.n_annotators), None, dtype=object)
        names[self.item, self.annotator] = self.classes.to_numpy(object)[self.label]
        return pd.DataFrame(names, index=self.items, columns=self.annotators, dtype=object)

    def to_groupings(self) -> Groupings:
        """Turn labels into groupings: items with the same label by an annotator form a group.

        Returns
        -------
        Groupings
            One grouping per annotator, with the annotator's name, with a group for each class that the annotator
            used. If an annotator gives items several labels, one of each item is in that grouping, a second in a
            further one, called "… (2)", and so on: every label is a membership. The order of these labels is
            pseudo-random and follows only from the names of item, annotator and class, since labels do not keep the
            order in which they were given.

        Examples
        --------
        >>> from consilience import Labels
        >>> Labels.from_matrix([["p", "p"], ["q", "p"]]).to_groupings()
        Groupings(2 items, 2 annotators, 2 groupings, 3 groups, 4 memberships)

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"item": ["ant", "bee", "ant"], "annotator": "Ann", "label": ["p", "q", "q"]})
        >>> Labels.from_frame(frame).to_groupings().to_frame()
          item annotator grouping group
        0  ant       Ann      Ann     q
        1  ant       Ann  Ann (2)     p
        2  bee       Ann      Ann     q
        """
        item, annotator = Coded(self.item, self.items), Coded(self.annotator, self.annotators)
        label = Coded(self.label, self.classes)
        vocabulary, group = vocabulary_of(annotator, occasions(item, annotator, label), label)
        return Groupings.of_codes(item, group, vocabulary, self.named, frame_row)

    def to_pairs(self, *, max_pairs: int = 10_000_000) -> Pairs:
        """Return a same/different judgement for every two items that an annotator labelled.

        If an annotator gives items several labels, those of each grouping are compared with one another: see
        `to_groupings`.

        Parameters
        ----------
        max_pairs : int, default=10_000_000
            Largest number of pairs to make: a pair takes 33 bytes, and about 140 while it is made.

        Returns
        -------
        Pairs

        Raises
        ------
        AnnotationError
            There are more than `max_pairs`.

        Examples
        --------
        >>> from consilience import Labels
        >>> Labels.from_matrix([["p", "p"], ["q", "p"]]).to_pairs().same
        array([False,  True])
        """
        return self.to_groupings().to_pairs(max_pairs=max_pairs)

    def _counts(self) -> dict[str, int]:
        counts = super()._counts()
        return counts | {"classes": self.n_classes, self._row: counts.pop(self._row)}

    def _rows(self, rows: np.ndarray) -> Labels:
        return replace(self, **{name: getattr(self, name)[rows] for name in PARALLEL})

    def in_order(self, where: Where = frame_row) -> Labels:
        """Sort the rows, and leave out exact duplicates, with a warning."""
        sizes = [self.n_items, self.n_annotators, self.n_classes]
        item, annotator, label = sort_rows([self.item, self.annotator, self.label], sizes)
        ordered = replace(self, item=item, annotator=annotator, label=label)
        repeated = is_further(item, annotator)
        if not repeated.any():
            return ordered
        repeated[1:] &= label[1:] == label[:-1]  # another label of the same item is kept
        if repeated.any():
            self._warn_of_duplicates(where)
        return ordered._rows(~repeated)

    def _note_repeated(self) -> tuple[str, ...]:
        n = int(is_further(self.item, self.annotator).sum())
        return (f"{quantify(n, 'time')} an annotator gave the same item another label; both are kept",) if n else ()

    def _require_single_labels(self) -> None:
        further = is_further(self.item, self.annotator)
        if further.any():
            row = int(np.argmax(further))
            one = (self.item == self.item[row]) & (self.annotator == self.annotator[row])
            labels = ", ".join(repr(plain(self.classes[label])) for label in self.label[one])
            raise AnnotationError(
                f"The annotator {plain(self.annotators[self.annotator[row]])!r} gives the item "
                f"{plain(self.items[self.item[row]])!r} several labels ({labels}), but a cell of a matrix can "
                "hold only one; use to_frame."
            )

    def _warn_of_duplicates(self, where: Where) -> None:
        columns = [self.item, self.annotator, self.label]
        repeated = find_duplicates(columns)
        again = int(np.argmax(repeated))
        first = int(np.argmax(np.logical_and.reduce([column == column[again] for column in columns])))
        warn_of_duplicates(
            int(repeated.sum()),
            self._row[:-1],
            f"the annotator {plain(self.annotators[self.annotator[again]])!r} gives the item "
            f"{plain(self.items[self.item[again]])!r} the label {plain(self.classes[self.label[again]])!r} in "
            f"{where(first)} and again in {where(again)}.",
        )

    def renumber_items(self, place: np.ndarray, names: pd.Index) -> Labels:
        """Move item i to position ``place[i]`` of `names`, or drop its labels if that is -1."""
        item = place[self.item]
        moved = replace(self, items=names, item=item)
        return moved._rows(item != MISSING).in_order()

    def _take_annotators(self, positions: np.ndarray) -> Labels:
        annotator = inverse(positions, self.n_annotators)[self.annotator]
        moved = replace(self, annotators=self.annotators.take(positions), annotator=annotator)
        return moved._rows(annotator != MISSING).in_order()

    def _item_annotator(self) -> csr_array:
        return distinct_cells(self.item, self.annotator, (self.n_items, self.n_annotators))

    def _same_rows(self, other: Labels) -> bool:
        annotator = self.annotators.get_indexer(other.annotators)[other.annotator]
        label = self.classes.get_indexer(other.classes)[other.label]
        if (annotator == MISSING).any() or (label == MISSING).any():
            return False
        theirs = replace(
            other, annotators=self.annotators, annotator=annotator, classes=self.classes, label=label
        ).in_order()
        return all(np.array_equal(getattr(self, name), getattr(theirs, name)) for name in PARALLEL)


def _assemble(
    item: Coded, annotator: Coded, label: Coded, classes: Iterable[Any] | None, named: bool, where: Where
) -> Labels:
    names = sorted_names(label.names) if classes is None else unique_names(classes, "classes")
    return Labels(
        items=item.names,
        annotators=annotator.names,
        named=named,
        classes=names,
        item=item.codes,
        annotator=annotator.codes,
        label=recode(label, names, "label", "classes", where).codes,
    ).in_order(where)


def sorted_names(names: pd.Index) -> pd.Index:
    """Return names in rising order if they can be compared, else unchanged."""
    try:
        return names.sort_values()
    except TypeError:
        return names
