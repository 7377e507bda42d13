"""Encoding of values as JSON and arrays, and exact decoding.

None, truth values, text, finite floats, integers of up to 64 bits and lists are written as such in JSON. Every other
value is an object with one key, the tag of its kind. Numeric arrays are stored separately, and JSON refers to them by
number.

    tag          content
    int          hexadecimal text
    float        "nan", "inf" or "-inf"
    missing      "NA" or "NaT" of pandas
    tuple        list of values
    dict         list of [key, value]
    date         ISO text
    scalar       [dtype, hexadecimal bytes] of a NumPy scalar
    text         text of a NumPy scalar
    dtype        text of a NumPy dtype
    type         text of a NumPy dtype whose scalar type it is
    slice        [start, stop, step]
    array        number of the array
    objects      [shape, values] of an array of objects
    strings      [storage, value that means missing, values] of a column of text
    categories   [categories, numbers, ordered] of a categorical column
    extension    [dtype, values] of another column of pandas
    range        [start, stop, step, name] of a RangeIndex
    index        [column, name]
    levels       [levels, numbers, names] of a MultiIndex
    series       [column, index, name]
    table        [array, index, columns] of a DataFrame of one NumPy dtype
    columns      [columns' contents, index, columns] of another DataFrame
    random_state result of `RandomState.get_state`
    generator    the state of the bit generator of a `numpy.random.Generator`
    groupings    [items, annotators, whether items have no names, groups of the items in a row, offsets of the items,
                 grouping of each group, annotator of each grouping, names of groupings, names of groups, None or
                 how they were read: [one line, notes, warnings]]
    pairs        [items, annotators, whether items have no names, two items, annotator, judgement and grouping of each
                 row, names of groupings, None or how they were read]
    labels       [items, annotators, classes, whether items have no names, item, annotator and label of each row, None
                 or how they were read]
    estimator    class, parameters and attributes; see `consilience.persistence.models`

Arrays keep their dtype, shape and order in memory (C or Fortran), which affects the last bits of a matrix product.
Indexes keep neither `freq` nor cached values; frames and series no `attrs`.

The JSON refers to each array once. So values take no more memory than the file: whatever is longer than the JSON is an
array of the file, or a RangeIndex, which stores only its ends and is combined only with arrays of the same length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience.errors import InputError

MAX_DEPTH = 50
PLAIN = frozenset({type(None), bool, str})
REMAINDER = "_RemainderColsList"
"""A list of the columns that pass through a ColumnTransformer of scikit-learn 1.6, which warns when it is read."""

Json = Any
"""A value that `json` reads and writes."""


class UnknownValueError(TypeError):
    """A value of a kind that cannot be saved."""


class ContentError(ValueError):
    """JSON that is not a valid value; the message is a predicate, to follow the name of the entry."""


@dataclass(frozen=True)
class Kind:
    """A kind of value: its tag, a test for values of it, and how they are written and read.

    holds : value → bool
    encode : (value, Encoder) → JSON
    decode : (JSON, Decoder) → value
    """

    tag: str
    holds: Callable[[Any], bool]
    encode: Callable[[Any, ValueEncoder], Json]
    decode: Callable[[Json, ValueDecoder], Any]


class ValueEncoder:
    """Converts values to JSON and collects their arrays.

    arrays : list of arrays; arrays to which the JSON refers by number.
    """

    def __init__(self, kinds: Sequence[Kind]):
        self.arrays: list[np.ndarray] = []
        self._kinds = kinds
        self._depth = 0

    def __call__(self, value: Any) -> Json:
        """Return a value as JSON.

        Raises UnknownValueError: the value, or one inside it, is of a kind that cannot be saved, or is nested too deep.
        """
        if type(value) in PLAIN or (type(value) is float and math.isfinite(value)):
            return value
        if type(value) is int and -(2**63) <= value < 2**63:
            return value
        if self._depth == MAX_DEPTH:
            raise UnknownValueError(f"values nested more than {MAX_DEPTH} deep")
        self._depth += 1
        try:
            if type(value).__name__ == REMAINDER:
                value = value.data  # the transformer takes the list itself, too
            if type(value) is list:
                return [self(part) for part in value]
            for kind in self._kinds:
                if kind.holds(value):
                    return {kind.tag: kind.encode(value, self)}
        finally:
            self._depth -= 1
        raise UnknownValueError(f"a value of type {type(value).__module__}.{type(value).__qualname__}")

    def array(self, array: np.ndarray) -> int:
        """Store an array and return its number."""
        self.arrays.append(array)
        return len(self.arrays) - 1


class ValueDecoder:
    """Converts JSON and arrays back to values.

    unused : set of int; numbers of the arrays that have not been used yet.
    """

    def __init__(self, kinds: Sequence[Kind], arrays: Sequence[np.ndarray]):
        self._arrays = arrays
        self.unused = set(range(len(arrays)))
        self._decode = {kind.tag: kind.decode for kind in kinds}
        self._depth = 0

    def __call__(self, node: Json) -> Any:
        """Return the value. Raises ContentError: no `ValueEncoder` produces such JSON."""
        if not isinstance(node, list | dict):
            return node
        if self._depth == MAX_DEPTH:
            raise ContentError(f"is nested more than {MAX_DEPTH} deep")
        self._depth += 1
        try:
            return [self(part) for part in node] if isinstance(node, list) else self._tagged(node)
        finally:
            self._depth -= 1

    def _tagged(self, node: dict[str, Json]) -> Any:
        if len(node) != 1:
            raise ContentError("does not have exactly one key, the tag of its kind")
        ((tag, content),) = node.items()
        if tag not in self._decode:
            raise ContentError(f"has the unknown kind {tag!r}")
        try:
            return self._decode[tag](content, self)
        except (ContentError, InputError, MemoryError):
            raise
        except Exception as error:  # constructors of pandas and NumPy raise various errors
            raise ContentError(f"is not a valid {tag!r}") from error

    def array(self, number: Json) -> np.ndarray:
        """Return the array with a number, which can be used only once."""
        if type(number) is not int or number not in self.unused:
            raise ContentError(f"refers to the array {number!r}, which does not exist or was used before")
        self.unused.remove(number)
        return self._arrays[number]


def require(holds: bool) -> None:
    """Raise an error, which `ValueDecoder` turns into one about the kind of the value, unless `holds`."""
    if not holds:
        raise ValueError("invalid content")
