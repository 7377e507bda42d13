"""What estimators learn: kinds of values and shapes, described in words and compared when a model is saved or loaded.

An estimator declares its learned attributes as ``_learned``, beside those that its bases declare::

    _learned: ClassVar[Attributes] = {**learned.CLUSTERS, "objective_": learned.number()}

A fitted estimator has all of them, except those that are optional, which some data do not produce. What must hold
between attributes is in its `_contradictions`.

A `Check` describes what a value must be and tests it. Shapes are named, as in ``array(float, "items", "clusters")``:
the first value with a name determines the size, and every later one must match it. So content is compared with the
rest of the file, and nothing is allocated at a size that a file merely claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Groupings, Pairs
from consilience.inference.sparse_tables import SparseTable

Sizes = dict[str, Any]
"""Sizes by name; and under "names of …" the names of the things, if a value gives them."""

Length = str | int | None
"""A name of a size, a number, or None for any length."""

KINDS = {float: "f", int: "iu", bool: "b", str: "UOT", object: "O"}
NAMED_KINDS = {float: "floats", int: "integers", bool: "truth values", str: "text", object: "objects"}
ROUNDING = 1e-3  # largest deviation of a sum of probabilities from 1
EXCESS = 1e-9  # by which a sum of probabilities over subtypes or groups may be above 1
LARGEST = 1e151  # largest feature or factor of one, so that products are finite


@dataclass(frozen=True)
class Check:
    """A requirement on a value.

    expected : the requirement in words.
    holds : (value, Sizes) → bool; whether a value meets it; new names of sizes are stored in Sizes.
    optional : whether an attribute may be absent.
    """

    expected: str
    holds: Callable[[Any, Sizes], bool]
    optional: bool = False


def fits(length: Length, n: int, sizes: Sizes) -> bool:
    """Whether a length equals the size of this name, or a product of two sizes; a new name is stored."""
    if length is None:
        return True
    if isinstance(length, str) and " × " in length:
        return n == math.prod(sizes.get(name, -1) for name in length.split(" × "))
    return n == (length if isinstance(length, int) else sizes.setdefault(length, n))


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def are_named(rows: Length, index: pd.Index, sizes: Sizes) -> bool:
    """Whether an index has the names of the things, in order; new names are stored."""
    if not (_is_names(index) and fits(rows, len(index), sizes)):
        return False
    return rows is None or bool(index.equals(sizes.setdefault(f"names of {rows}", index)))


def number(low: int | float = -np.inf, high: int | float = np.inf, *, nan: bool = False) -> Check:
    """A number between bounds; NaN if `nan`."""
    words = "a number" + ("" if low == -np.inf else f" of at least {low:g}") + (" or NaN" if nan else "")

    def holds(value: Any, sizes: Sizes) -> bool:
        return _is_real(value) and bool(low <= value <= high or (nan and np.isnan(value)))

    return Check(words, holds)


def whole(low: int = 0) -> Check:
    """An integer not below a bound."""
    return Check(f"an integer of at least {low}", lambda value, sizes: _is_whole(value) and bool(low <= value < 2**63))


def size(name: str) -> Check:
    """An integer that is the size with this name."""
    return Check(
        f"the number of {name}",
        lambda value, sizes: _is_whole(value) and 0 <= int(value) < 2**63 and fits(name, int(value), sizes),
    )


TRUTH = Check("True or False", lambda value, sizes: isinstance(value, bool | np.bool_))
TEXT = Check("text", lambda value, sizes: isinstance(value, str))
NOTES = Check(
    "a list of text", lambda value, sizes: type(value) is list and all(isinstance(note, str) for note in value)
)
NAME = Check("a name or None", lambda value, sizes: is_plain(value) and type(value) is not list)
ANYTHING = Check("a value", lambda value, sizes: True)


def one_of(*values: Any) -> Check:
    """One of some plain values."""
    words = "one of " + ", ".join(map(repr, values))
    # True equals 1
    return Check(words, lambda value, sizes: any(type(value) is type(one) and value == one for one in values))


def optional(check: Check) -> Check:
    """An attribute that may be absent."""
    return Check(check.expected, check.holds, optional=True)


def or_none(check: Check) -> Check:
    """None, or what a check accepts."""
    return Check(f"None or {check.expected}", lambda value, sizes: value is None or check.holds(value, sizes))


def either(*checks: Check) -> Check:
    """What one of several checks accepts."""

    def holds(value: Any, sizes: Sizes) -> bool:
        for check in checks:
            trial = dict(sizes)  # what a check learns of sizes counts only if it holds
            if check.holds(value, trial):
                sizes.update(trial)
                return True
        return False

    return Check(" or ".join(check.expected for check in checks), holds)


def array(
    kind: type | None,
    *shape: Length,
    low: int | float = -np.inf,
    high: int | float = np.inf,
    nan: bool = False,
    inf: bool = False,
    shares: bool = False,
) -> Check:
    """An array of a kind, or of names and numbers if that is None, and of a shape.

    low, high : bounds of its numbers, which may also be NaN or infinite if `nan` or `inf`
    shares : whether each row sums to 1
    """
    dims = ", ".join("any" if length is None else str(length) for length in shape)
    words = f"an array of {'values' if kind is None else NAMED_KINDS[kind]} of shape ({dims})"
    words += " that are finite" if kind is float and not (nan or inf) else ""
    words += ", each row summing to 1" if shares else ""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not (type(value) is np.ndarray and value.ndim == len(shape)):
            return False
        if not (kind is None or value.dtype.kind in KINDS[kind]):
            return False
        if not all(fits(length, n, sizes) for length, n in zip(shape, value.shape)):
            return False
        largest = high + EXCESS if kind is float else high
        if kind in (float, int) and not _in_range(value, low, largest, nan=nan, inf=inf):
            return False
        if kind is None and value.dtype.kind == "O" and not all(map(is_plain, value.ravel())):
            return False
        return not shares or bool(np.abs(value.sum(-1) - 1).max(initial=0) < ROUNDING)

    return Check(words, holds)


def sparse_table(
    rows: Length, labels: Length, columns: Length, *, low: int | float = -np.inf, high: int | float = np.inf
) -> Check:
    """A sparse table of annotators × labels × components with values between bounds."""
    words = f"a sparse table of numbers of shape ({rows}, {labels}, {columns})"

    def holds(value: Any, sizes: Sizes) -> bool:
        if type(value) is not SparseTable:
            return False
        fit = all(fits(length, n, sizes) for length, n in zip((rows, labels, columns), value.shape))
        return fit and all(
            _in_range(part, low - ROUNDING, high + ROUNDING, nan=False, inf=False)
            for part in (value.base, value.exceptions())
        )

    return Check(words, holds)


def reals(*shape: Length, low: int | float = -LARGEST, nan: bool = False) -> Check:
    """An array of numbers that are multiplied with others: none so large that a product of two is infinite."""
    return array(float, *shape, low=low, high=LARGEST, nan=nan)


def _in_range(value: np.ndarray, low: int | float, high: int | float, *, nan: bool, inf: bool) -> bool:
    if not value.size:
        return True
    smallest, largest = float(np.fmin.reduce(value, axis=None)), float(np.fmax.reduce(value, axis=None))
    if not nan and bool(np.isnan(np.min(value))):
        return False
    if np.isnan(smallest):
        return True
    return low <= smallest and largest <= high and (inf or bool(np.isfinite((smallest, largest)).all()))


def codes(length: Length, of: str, *, missing: bool = False) -> Check:
    """Codes below a size, or -1 if `missing`."""
    low = -1 if missing else 0
    words = f"integers from {low} to the number of {of} - 1, one for each of the {length}"

    def holds(value: Any, sizes: Sizes) -> bool:
        right = type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "iu"
        if not (right and fits(length, len(value), sizes)):
            return False
        return not len(value) or (int(value.min()) >= low and (of not in sizes or int(value.max()) < sizes[of]))

    return Check(words, holds)


def names(length: Length, *, array: bool = False) -> Check:
    """An index of names, none missing and none repeated; or an array of such."""
    words = f"the names of the {length}, none missing and none repeated"

    def holds(value: Any, sizes: Sizes) -> bool:
        if array:
            right = type(value) is np.ndarray and value.ndim == 1
            value = pd.Index(value, tupleize_cols=False) if right else value
        return isinstance(value, pd.Index) and are_named(length, value, sizes)

    return Check(words, holds)


def _is_names(value: Any) -> bool:
    if isinstance(value, pd.RangeIndex):
        return True  # without an access to its values, which would make it an array
    if not isinstance(value, pd.Index) or isinstance(value, pd.MultiIndex):
        return False
    try:
        # in this order: of values that rise, pandas 2 then knows without a table of them that they are unique
        _, is_unique = value.is_monotonic_increasing, value.is_unique
        return bool(is_unique) and not value.hasnans
    except TypeError:  # lists among the names
        return False


def _is_keys(value: Any, levels: tuple[str, ...]) -> bool:
    return isinstance(value, pd.MultiIndex) and tuple(value.names) == levels


Columns = Mapping[str, str]
"""Kinds of the columns of a table by name: i, f, b, O for anything, c for counts and p for shares from 0 to 1."""

OF_COLUMN = {"f": "fiu", "p": "f", "i": "iu", "c": "iu", "b": "b"}


def table(rows: Length, columns: Columns | Length = None, *, keys: tuple[str, ...] = (), dtype: str = "f") -> Check:
    """A table whose rows have names, or `keys` of several levels.

    `columns` gives named columns with their kinds, besides which there may be others; or a number of numeric columns.
    """
    heads = ", ".join(columns) if isinstance(columns, Mapping) else ""
    words = f"a table with a row for each of the {rows}" if rows else "a table"
    words += f" and the columns {heads}" if heads else " of numbers"

    def holds(value: Any, sizes: Sizes) -> bool:
        if type(value) is not pd.DataFrame or not fits(rows, len(value), sizes):
            return False
        if not (_is_keys(value.index, keys) if keys else rows is None or are_named(rows, value.index, sizes)):
            return False
        if isinstance(columns, Mapping):
            named_once = value.columns.is_unique
            kinds = dict.fromkeys(value.columns, "O") | dict(columns)
            return named_once and all(_is_column(value, name, kind) for name, kind in kinds.items())
        numbers = all(isinstance(kind, np.dtype) and kind.kind in OF_COLUMN[dtype] for kind in value.dtypes)
        if not (numbers and fits(columns, value.shape[1], sizes)):
            return False
        return dtype != "p" or _is_shares(value.to_numpy())

    return Check(words, holds)


def _is_column(table: pd.DataFrame, name: str, kind: str) -> bool:
    if name not in table.columns:
        return False
    column = table[name]
    if kind == "O":
        return not isinstance(column.dtype, np.dtype) or all(map(is_plain, column.to_numpy()))
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in OF_COLUMN[kind]):
        return False
    if not len(column) or kind not in "cp":
        return True
    return (kind == "c" and int(column.min()) >= 0) or (kind == "p" and _is_shares(column.to_numpy()))


def is_plain(value: Any) -> bool:
    """Whether a value is a name, a number or missing, or a tuple or list of such values."""
    if isinstance(value, tuple | list):
        return all(map(is_plain, value))
    return value is None or value is pd.NA or isinstance(value, str | Real | np.generic | date)


def _is_shares(values: np.ndarray) -> bool:
    """Whether numbers are from 0 to 1, or NaN."""
    return _in_range(values, -ROUNDING, 1 + ROUNDING, nan=True, inf=False)


def series(kind: type, rows: Length) -> Check:
    """A column of a kind, with named rows."""
    words = f"a column of {NAMED_KINDS[kind]}, one for each of the {rows}"

    def holds(value: Any, sizes: Sizes) -> bool:
        right = type(value) is pd.Series and isinstance(value.dtype, np.dtype) and value.dtype.kind in KINDS[kind]
        return right and are_named(rows, value.index, sizes)

    return Check(words, holds)


def texts(length: Length) -> Check:
    """An array of objects that are all text."""

    def holds(value: Any, sizes: Sizes) -> bool:
        right = type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind == "O"
        return right and fits(length, len(value), sizes) and all(type(name) is str for name in value)

    return Check(f"an array of text, one for each of the {length}", holds)


def list_of(check: Check, length: Length = None) -> Check:
    """A list of values that a check accepts."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return (
            type(value) is list and fits(length, len(value), sizes) and all(check.holds(part, sizes) for part in value)
        )

    return Check(f"a list, each part {check.expected}", holds)


def tuple_of(*checks: Check) -> Check:
    """A tuple with a check for each of its parts."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return (
            type(value) is tuple
            and len(value) == len(checks)
            and all(check.holds(part, sizes) for check, part in zip(checks, value))
        )

    return Check("a tuple of " + ", ".join(check.expected for check in checks), holds)


def are_distinct(codes: np.ndarray) -> bool:
    """Whether no code occurs twice."""
    return len(np.unique(codes)) == len(codes)


def attributes_of(estimator: type) -> Attributes:
    """Return what a class and its bases declare; a class overrides its bases."""
    declared: Attributes = {}
    for one in reversed(estimator.__mro__):
        declared |= vars(one).get("_learned", {})
    return declared


# ---- what many estimators learn

Attributes = dict[str, Check]
GIVEN = Check("groupings or pairs", lambda value, sizes: isinstance(value, Groupings | Pairs))
GROUPS = ("annotator", "grouping", "group")
OF_VIEWS: Columns = {"n_annotators": "c", "weight": "f", "n_clusters": "c"}

FEATURES: Attributes = {"n_features_in_": optional(size("features")), "feature_names_in_": optional(texts("features"))}
NO_FEATURES = {name: optional(ANYTHING) for name in ("n_features_in_", "feature_names_in_")}  # columns of a matrix
CLUSTERS: Attributes = {
    "items_": names("items"),
    "n_clusters_": size("clusters"),
    "responsibilities_": array(float, "items", "clusters", low=0, high=1, nan=True),
    "labels_": codes("items", of="clusters", missing=True),
}
SETTLED: Attributes = {"n_iter_": whole(), "converged_": TRUTH}
BOUNDED: Attributes = {"lower_bounds_": array(float, None), "lower_bound_": number(), **SETTLED}


def annotators(**columns: str) -> Attributes:
    """Return the check of the table of annotators."""
    return {"annotators_": table("annotators", columns)}


def copies(agreement: str) -> Attributes:
    """Return the check of the table of annotators who weigh together."""
    columns = {"annotators": "O", "n_items": "c", "agreement": agreement, "expected": "p"}
    return {"copies_": table(None, {**columns, "dependence": "f", "p_value": "p"})}
