"""Names as integer codes, the first step in reading any table of annotations.

A name is any hashable value except a missing one (NaN, None, NA) and blank text. Names keep their type; whole floats
become integers, since pandas stores an integer column with missing cells as floats.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from scipy.sparse import csr_array, get_index_dtype

from consilience.annotations.name_lists import require_list
from consilience.errors import AnnotationError, AnnotationWarning

MISSING = -1
MANY_ROWS = 20_000  # NumPy sorts fewer in less time, and millions in more than twice as long (AMD, AVX-512)
MOST_BITS = 18  # of a digit by which rows are sorted
NO_TAG = "(no tag)"
"""Label that says that an annotator saw an item, and gave it no tag."""

Where = Callable[[int], str]
"""Describes the place of a row, such as "row 5" of a frame or "line 7" of a file."""


def is_no_tag(name: Any) -> bool:
    """Whether a name is `NO_TAG`."""
    return isinstance(name, str) and name == NO_TAG


def frame_row(row: int) -> str:
    """Describe the place of a row of a frame by its 0-based number."""
    return f"row {row}"


@dataclass(frozen=True)
class Coded:
    """A column of names: ``names[codes]``, with code -1 for a missing name."""

    codes: Int[np.ndarray, " rows"]
    names: pd.Index

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> Bool[np.ndarray, " rows"]:
        """Rows without a name."""
        return self.codes == MISSING

    @property
    def has_missing(self) -> bool:
        """Whether a row has no name."""
        return bool(self.codes.min(initial=0) == MISSING)

    def name(self, row: int) -> Any:
        """Return the name in one row, as a plain Python value."""
        return plain(self.names[self.codes[row]])

    def take(self, rows: Int[np.ndarray, " taken"]) -> Coded:
        """Return some rows; `names` is kept whole."""
        return Coded(self.codes[rows], self.names)

    def renamed(self, place: Int[np.ndarray, " names"], names: pd.Index) -> Coded:
        """Return the column over other names: name i becomes ``names[place[i]]``, or missing if that is -1."""
        codes = np.append(place, MISSING)[self.codes]  # the last place is that of missing codes, -1
        return replace(self, codes=codes, names=names)

    def tally(self) -> Int[np.ndarray, " names"]:
        """Return the number of rows with each name."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))


@dataclass(frozen=True)
class CountedNames(Coded):
    """Names that stand for many rows each, of a column that is not at hand; `counts` are their numbers."""

    counts: Int[np.ndarray, " rows"]

    def tally(self) -> Int[np.ndarray, " names"]:
        """Return the number of rows with each name."""
        known = self.codes >= 0
        counts = np.bincount(self.codes[known], self.counts[known], minlength=len(self.names))
        return counts.astype(np.int64)


def plain(name: Any) -> Any:
    """Return a NumPy scalar as the Python value it stands for, so that messages show 3 instead of np.int64(3)."""
    return name.item() if isinstance(name, np.generic) else name


def is_default(index: pd.Index) -> bool:
    """Whether an index is the default of pandas, 0 … n-1 without a name, and so names nothing."""
    return bool(index.name is None and index.nlevels == 1 and index.equals(pd.RangeIndex(len(index))))


def are_row_numbers(items: Any) -> bool:
    """Whether items were given as ``range(n)``, that is, as the rows of an array."""
    return isinstance(items, range) and items == range(len(items))


def name_index(names: Any) -> pd.Index:
    """Return names as an index, in which a tuple is a single name."""
    if isinstance(names, list) and _rounds(names):
        return pd.Index(names, dtype=object)
    return _infer_type(pd.Index(names, tupleize_cols=False))


def _infer_type(names: pd.Index) -> pd.Index:
    """Return names in the type that holds them exactly."""
    found = names.infer_objects()
    return names if names.dtype == object and pd.api.types.is_float_dtype(found) and _rounds(names) else found


def _rounds(names: Iterable[Any]) -> bool:
    """Whether pandas would make floats of large integers, since there are floats beside them."""
    is_float = False
    is_large = False
    for name in names:
        if isinstance(name, float):
            is_float = True
        elif isinstance(name, int | np.integer) and abs(int(name)) >= 2**53:
            is_large = True
    return is_float and is_large


def code(values: Any) -> Coded:
    """Number the names of one column in order of first appearance.

    Raises AnnotationError: a name is not hashable, or is text that UTF-8 cannot encode.
    """
    if isinstance(values, pd.Series | pd.Index):
        values = values.array
    if isinstance(values, pd.arrays.NumpyExtensionArray):  # of which pandas 2 warns in factorize
        values = values.to_numpy()
    if isinstance(values, pd.Categorical):
        return _without_blanks(by_appearance(Coded(values.codes.astype(np.intp), values.categories)))
    if not isinstance(values, np.ndarray | pd.api.extensions.ExtensionArray):
        values = np.fromiter(values, dtype=object, count=len(values))  # np.array would make tuples a second dimension
    try:
        codes, found = pd.factorize(values)
        names = name_index(found)
        _require_utf8(names)
        return _without_blanks(Coded(codes, names))
    except TypeError as error:
        raise AnnotationError("Names must be text, numbers or other hashable values, not lists or tables.") from error
    except UnicodeEncodeError as error:
        raise AnnotationError(f"The name {error.object!r} is text that UTF-8 cannot encode.") from error


def _require_utf8(names: pd.Index) -> None:
    """Raise UnicodeEncodeError for text that UTF-8 cannot hold; pandas does so itself where an index is of type str."""
    if names.dtype == object:
        for name in names:
            if isinstance(name, str):
                name.encode()


def by_appearance(column: Coded) -> Coded:
    """Renumber names in order of first appearance, and drop unused names."""
    first = np.full(len(column.names) + 1, len(column))
    first[column.codes[::-1]] = np.arange(len(column))[::-1]  # the last of several writes to one place is the first row
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < len(column)]
    return column.renamed(inverse(order, len(column.names)), column.names.take(order))


def inverse(order: np.ndarray, n: int) -> np.ndarray:
    """Return the position of each of n numbers in `order`, -1 for those that are not in it."""
    place = np.full(n, MISSING)
    place[order] = np.arange(len(order))
    return place


def without(column: Coded, unwanted: Bool[np.ndarray, " names"]) -> Coded:
    """Treat some names as missing."""
    if not unwanted.any():
        return column
    kept = np.flatnonzero(~unwanted)
    return column.renamed(inverse(kept, len(column.names)), _infer_type(column.names.take(kept)))


def _without_blanks(column: Coded) -> Coded:
    names = _whole_floats_as_integers(column.names)
    column = Coded(column.codes, names)
    if isinstance(names.dtype, pd.StringDtype):
        return without(column, np.asarray(names.str.strip() == "", dtype=bool))
    if pd.api.types.is_object_dtype(names.dtype) or pd.api.types.is_string_dtype(names.dtype):
        return without(column, np.array([isinstance(name, str) and not name.strip() for name in names], dtype=bool))
    return column


def _whole_floats_as_integers(names: pd.Index) -> pd.Index:
    if pd.api.types.is_float_dtype(names.dtype):
        values = names.to_numpy(float)
        # floats hold ints exactly below
        whole = np.isfinite(values).all() and (values == np.rint(values)).all() and (np.abs(values) < 2**53).all()
        return pd.Index(values.astype(np.int64)) if whole else names
    if pd.api.types.is_object_dtype(names.dtype):
        whole_as_int = [int(n) if isinstance(n, float) and n.is_integer() else plain(n) for n in names]
        return name_index(np.fromiter(whole_as_int, dtype=object, count=len(names)))
    return names


def union(indexes: Iterable[pd.Index]) -> pd.Index:
    """Return all names in order of first appearance."""
    first, *others = indexes
    for names in others:
        new = names[first.get_indexer(names) == MISSING]
        if not len(first) or not len(new):
            first = max(first, new, key=len)  # an empty one has no type
        else:
            is_rounded = first.dtype != new.dtype and _rounds([*first, *new])
            first = pd.Index([*first, *new], dtype=object) if is_rounded else first.append(new)
    return first


def unique_names(names: Iterable[Any] | Coded, what: str, where: Where | None = None) -> pd.Index:
    """Return a list of names as an index; `what` they name, such as "items", is for messages.

    Raises AnnotationError: a name is missing or occurs twice, or this is not a list of names.
    """
    if not isinstance(names, Coded):
        require_list(names, what)
    column = names if isinstance(names, Coded) else code(names if hasattr(names, "dtype") else list(names))
    where = where or (lambda place: f"position {place}")
    if column.has_missing:
        raise AnnotationError(f"One of the {what}, in {where(int(np.argmax(column.missing)))}, has no name.")
    if len(column.names) < len(column):
        first, again = first_repeat(column.codes)
        raise AnnotationError(
            f"The names of {what} must differ. Got {column.name(again)!r} in {where(first)} and in {where(again)}."
        )
    return column.names


def sort_rows(columns: Sequence[Int[np.ndarray, " rows"]], sizes: Sequence[int]) -> list[Int[np.ndarray, " rows"]]:
    """Sort rows of codes by their first column, then by the second, and so on; column c lies in ``range(sizes[c])``."""
    widths = [max(size - 1, 0).bit_length() for size in sizes]
    if sum(widths) > 63:
        order = np.lexsort(columns[::-1])
        return [column[order] for column in columns]
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, width in zip(columns, widths):
        key <<= width
        key |= column
    key = _sort_numbers(key, sum(widths))
    rising = []
    for width in widths[::-1]:
        rising.append(key & ((1 << width) - 1))
        key >>= width
    return rising[::-1]


def _sort_numbers(numbers: Int[np.ndarray, " rows"], n_bits: int) -> Int[np.ndarray, " rows"]:
    """Sort numbers below ``2**n_bits``."""
    if len(numbers) < MANY_ROWS:
        return np.sort(numbers)
    n_digits = max(-(-n_bits // MOST_BITS), 1)
    width, rows = -(-n_bits // n_digits), np.arange(len(numbers) + 1, dtype=get_index_dtype(maxval=len(numbers)))
    for shift in range(0, n_digits * width, max(width, 1)):
        digit = ((numbers >> shift) & ((1 << width) - 1)).astype(rows.dtype)
        # a transposed sparse matrix has its entries by column: they are counted
        numbers = csr_array((numbers, digit, rows), shape=(len(numbers), 1 << width)).tocsc().data
    return numbers


def compress(keys: Int[np.ndarray, " rows"], n_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys in rising order and, for each row, the position of its key among them.

    Keys lie in ``range(n_keys)``.
    """
    if n_keys > 8 * len(keys) + 1024:  # a table of all keys would be much larger than the keys
        distinct, codes = np.unique(keys, return_inverse=True)
        return distinct, codes
    seen = np.zeros(n_keys, dtype=bool)
    seen[keys] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]


def first_repeat(keys: Int[np.ndarray, " rows"]) -> tuple[int, int]:
    """Return the first row whose key occurred before, and where it did: (earlier, later)."""
    later = int(np.argmax(find_duplicates([keys])))
    return int(np.argmax(keys == keys[later])), later


def find_duplicates(columns: Sequence[np.ndarray]) -> Bool[np.ndarray, " rows"]:
    """Return the rows that equal an earlier row in all columns."""
    return pd.DataFrame(dict(enumerate(columns))).duplicated().to_numpy()


def warn_of_duplicates(n: int, what: str, first: str) -> None:
    """Warn how many rows are left out because they repeat another, and describe the first."""
    count = f"{n} exact duplicates of {what}s are" if n > 1 else f"1 exact duplicate of a {what} is"
    warnings.warn(f"{count} left out: {first}", AnnotationWarning, stacklevel=outside())


def warn_of(notes: Iterable[str]) -> None:
    """Warn of how annotations were read, by notes that begin in lower case and have no full stop."""
    for text in notes:
        warnings.warn(f"{text[0].upper()}{text[1:]}.", AnnotationWarning, stacklevel=outside())


def outside() -> int:
    """Return the stack level, for a warning by the caller, of the code that called the package."""
    frame: FrameType | None = sys._getframe(1)
    level, found = 0, 1
    while frame is not None:  # past frames of other packages between ours
        level += 1
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == __name__.partition(".")[0]:
            found = level + 1
        frame = frame.f_back
    return found


def order_of_names(names: pd.Index) -> Int[np.ndarray, " names"]:
    """Return the positions of the names in sorted order, whatever their types."""
    if names.is_monotonic_increasing:
        return np.arange(len(names))
    try:
        return np.asarray(names.argsort())
    except TypeError:
        # names of several types do not compare
        return np.argsort(np.array([f"{type(name).__name__} {name!r}" for name in names]), kind="stable")
