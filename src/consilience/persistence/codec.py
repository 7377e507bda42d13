"""Values as JSON and arrays, and back, exactly.

None, truth values, text, finite floats, integers of up to 64 bits and lists are themselves in JSON. Everything else is
an object with one key, the tag of its kind. Numeric arrays are kept apart, and JSON holds their numbers.

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
    strings      [storage, what stands for missing, values] of a column of text
    categories   [categories, numbers, ordered] of a categorical column
    extension    [dtype, values] of another column of pandas
    range        [start, stop, step, name] of a RangeIndex
    index        [column, name]
    levels       [levels, numbers, names] of a MultiIndex
    series       [column, index, name]
    table        [array, index, columns] of a DataFrame of one NumPy dtype
    columns      [columns' contents, index, columns] of another DataFrame
    random_state what `RandomState.get_state` gives
    groupings    [items, annotators, whether items have no names, groups of the items in a row, where each item's begin,
                 grouping of each group, annotator of each grouping, names of groupings, names of groups]
    pair_counts  [number of items, keys, presented, answered, together]
    estimator    class, parameters and attributes; see `consilience.persistence.models`

Arrays keep their dtype, shape and order in memory (C or Fortran), on which the last bits of a matrix product depend.
Indexes keep neither `freq` nor what they have cached; frames and series no `attrs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from consilience.active.pair_counts import PairCounts
from consilience.annotations import Groupings

MAX_DEPTH = 50
NUMERIC = "biufcmM"  # kinds of dtype whose arrays are bytes without pointers; also U in arrays
PLAIN = frozenset({type(None), bool, str})

Json = Any
"""What `json` reads and writes."""


class UnknownValueError(TypeError):
    """A value of a kind that cannot be saved."""


@dataclass(frozen=True)
class Kind:
    """A kind of value: the tag, which values are of it, and how they are written and read.

    Attributes
    ----------
    tag : str
    holds : value → bool
    encode : (value, Encoder) → JSON
    decode : (JSON, Decoder) → value
    """

    tag: str
    holds: Callable[[Any], bool]
    encode: Callable[[Any, Encoder], Json]
    decode: Callable[[Json, Decoder], Any]


class Encoder:
    """Turns values into JSON and gathers the arrays they hold.

    Attributes
    ----------
    arrays : list of arrays
        What the JSON refers to by number.
    """

    def __init__(self, kinds: Sequence[Kind]):
        self.arrays: list[np.ndarray] = []
        self._kinds = kinds
        self._depth = 0

    def __call__(self, value: Any) -> Json:
        """Return a value as JSON.

        Raises
        ------
        UnknownValueError
            The value, or one inside it, is of no kind that can be saved, or is nested too deep.
        """
        if type(value) in PLAIN or (type(value) is float and math.isfinite(value)):
            return value
        if type(value) is int and -(2**63) <= value < 2**63:
            return value
        if self._depth == MAX_DEPTH:
            raise UnknownValueError(f"values nested more than {MAX_DEPTH} deep")
        self._depth += 1
        try:
            if type(value) is list:
                return [self(part) for part in value]
            for kind in self._kinds:
                if kind.holds(value):
                    return {kind.tag: kind.encode(value, self)}
        finally:
            self._depth -= 1
        raise UnknownValueError(f"a value of type {type(value).__module__}.{type(value).__qualname__}")

    def array(self, array: np.ndarray) -> int:
        """Keep an array and return its number."""
        self.arrays.append(array)
        return len(self.arrays) - 1


class Decoder:
    """Turns JSON and arrays back into values.

    On JSON that no `Encoder` made it may raise anything.
    """

    def __init__(self, kinds: Sequence[Kind], arrays: Sequence[np.ndarray]):
        self._arrays = arrays
        self._decode = {kind.tag: kind.decode for kind in kinds}
        self._depth = 0

    def __call__(self, node: Json) -> Any:
        """Return the value."""
        if not isinstance(node, list | dict):
            return node
        if self._depth == MAX_DEPTH:
            raise ValueError(f"values nested more than {MAX_DEPTH} deep")
        self._depth += 1
        try:
            if isinstance(node, list):
                return [self(part) for part in node]
            ((tag, content),) = node.items()
            return self._decode[tag](content, self)
        finally:
            self._depth -= 1

    def array(self, number: int) -> np.ndarray:
        """Return the array of a number."""
        if number < 0:
            raise IndexError(number)
        return self._arrays[number]


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


def _is_scalar(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in NUMERIC


def _is_scalar_type(value: Any) -> bool:
    if not (isinstance(value, type) and issubclass(value, np.number | np.bool_)):
        return False
    try:
        return np.dtype(value).type is value
    except TypeError:  # of an abstract kind, such as numpy.floating
        return False


def _encode_scalar(value: np.generic, encode: Encoder) -> Json:
    return [value.dtype.str, value.tobytes().hex()]


def _decode_scalar(content: Json, decode: Decoder) -> np.generic:
    dtype, data = content
    (value,) = np.frombuffer(bytes.fromhex(data), dtype=_plain_dtype(dtype))
    return value


def _plain_dtype(text: str) -> np.dtype:
    dtype = np.dtype(text)
    if dtype.kind not in NUMERIC:
        raise ValueError(f"the dtype {text!r}")
    return dtype


def _is_numeric(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in NUMERIC + "U"


def _is_objects(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind == "O"


def _encode_objects(value: np.ndarray, encode: Encoder) -> Json:
    return [list(value.shape), [encode(cell) for cell in value.ravel().tolist()]]


def _decode_objects(content: Json, decode: Decoder) -> np.ndarray:
    shape, cells = content
    flat = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):  # an assignment of the list would look into its cells
        flat[place] = decode(cell)
    return flat.reshape(shape)


def _is_column(value: Any) -> bool:
    return isinstance(value, pd.api.extensions.ExtensionArray)


def _encode_strings(value: Any, encode: Encoder) -> Json:
    missing = value.isna()
    cells = [None if gone else text for text, gone in zip(value.to_numpy(object).tolist(), missing.tolist())]
    return [value.dtype.storage, encode(value.dtype.na_value), cells]


def _decode_strings(content: Json, decode: Decoder) -> Any:
    storage, missing, cells = content
    return pd.array(cells, dtype=_string_dtype(storage, decode(missing)))


def _string_dtype(storage: Any, missing: Any) -> Any:
    missing = pd.NA if missing is pd.NA else np.nan
    try:
        return pd.StringDtype(storage, na_value=missing)
    except ImportError:  # saved beside pyarrow, loaded without it
        return pd.StringDtype("python", na_value=missing)


def _encode_extension(value: Any, encode: Encoder) -> Json:
    content = [str(value.dtype), [encode(cell) for cell in value.tolist()]]
    try:
        same = _decode_extension(content, Decoder(KINDS, [])).equals(value)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise UnknownValueError(f"a column of dtype {value.dtype}")
    return content


def _decode_extension(content: Json, decode: Decoder) -> Any:
    dtype: Any = pd.api.types.pandas_dtype(content[0])
    if not isinstance(dtype, pd.api.extensions.ExtensionDtype):
        raise ValueError(f"the dtype {content[0]!r}")
    cells: Any = [decode(cell) for cell in content[1]]
    return pd.array(cells, dtype=dtype)


def _contents(values: pd.Index | pd.Series) -> Any:
    """Array of an index or column: of NumPy where it has a NumPy dtype."""
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array


def _encode_index(value: pd.Index, encode: Encoder) -> Json:
    return [encode(_contents(value)), encode(value.name)]


def _decode_index(content: Json, decode: Decoder) -> pd.Index:
    column, name = decode(content[0]), decode(content[1])
    return pd.Index(column, dtype=column.dtype, name=name, tupleize_cols=False)


def _encode_range(value: pd.RangeIndex, encode: Encoder) -> Json:
    return [value.start, value.stop, value.step, encode(value.name)]


def _decode_range(content: Json, decode: Decoder) -> pd.RangeIndex:
    start, stop, step, name = content
    return pd.RangeIndex(start, stop, step, name=decode(name))


def _encode_levels(value: pd.MultiIndex, encode: Encoder) -> Json:
    codes = [encode(np.asarray(codes)) for codes in value.codes]
    return [[encode(level) for level in value.levels], codes, [encode(name) for name in value.names]]


def _decode_levels(content: Json, decode: Decoder) -> pd.MultiIndex:
    levels, codes, names = ([decode(part) for part in parts] for parts in content)
    return pd.MultiIndex(levels, codes, names=names)


def _encode_series(value: pd.Series, encode: Encoder) -> Json:
    return [encode(_contents(value)), encode(value.index), encode(value.name)]


def _decode_series(content: Json, decode: Decoder) -> pd.Series:
    column, index, name = (decode(part) for part in content)
    return pd.Series(column, index=index, name=name, dtype=column.dtype)


def _is_table(value: Any) -> bool:
    if type(value) is not pd.DataFrame or not value.shape[1]:
        return False
    first = value.dtypes.iloc[0]
    return isinstance(first, np.dtype) and bool((value.dtypes == first).all())


def _encode_table(value: pd.DataFrame, encode: Encoder) -> Json:
    return [encode(value.to_numpy()), encode(value.index), encode(value.columns)]


def _decode_table(content: Json, decode: Decoder) -> pd.DataFrame:
    values, index, columns = (decode(part) for part in content)
    return pd.DataFrame(values, index=index, columns=columns, dtype=values.dtype, copy=False)


def _encode_columns(value: pd.DataFrame, encode: Encoder) -> Json:
    columns = [encode(_contents(value.iloc[:, place])) for place in range(value.shape[1])]
    return [columns, encode(value.index), encode(value.columns)]


def _decode_columns(content: Json, decode: Decoder) -> pd.DataFrame:
    contents, index, columns = (decode(part) for part in content)
    series = {place: pd.Series(column, index=index, dtype=column.dtype) for place, column in enumerate(contents)}
    return pd.DataFrame(series, index=index).set_axis(columns, axis=1)


def _is_random_state(value: Any) -> bool:
    return type(value) is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937"


def _decode_random_state(content: Json, decode: Decoder) -> np.random.RandomState:
    random_state = np.random.RandomState()
    random_state.set_state(decode(content))
    return random_state


def _encode_groupings(value: Groupings, encode: Encoder) -> Json:
    incidence = value.incidence
    parts = [value.items, value.annotators, not value.named, incidence.indices, incidence.indptr]
    parts += [value.grouping_of_group, value.annotator_of_grouping, value.grouping_names, value.group_names]
    return [encode(part) for part in parts]


def _decode_groupings(content: Json, decode: Decoder) -> Groupings:
    items, annotators, unnamed, indices, indptr, *rest = (decode(part) for part in content)
    grouping_of_group, annotator_of_grouping, grouping_names, group_names = rest
    shape = (len(items), len(group_names))
    return Groupings(
        items=items,
        annotators=annotators,
        # earlier versions said whether the order was given, also of items with names
        named=not (unnamed and pd.api.types.is_integer_dtype(items.dtype)),
        incidence=csr_array((np.ones(len(indices)), indices, indptr), shape=shape),
        grouping_of_group=grouping_of_group,
        annotator_of_grouping=annotator_of_grouping,
        grouping_names=grouping_names,
        group_names=group_names,
    )


KINDS: tuple[Kind, ...] = (
    Kind("int", _is(int), lambda v, encode: hex(v), lambda v, decode: int(v, 16)),
    Kind("float", _is(float), lambda v, encode: str(v), lambda v, decode: float(v)),
    Kind(
        "missing",
        lambda v: v is pd.NA or v is pd.NaT,
        lambda v, encode: str(v).strip("<>"),
        lambda v, decode: {"NA": pd.NA, "NaT": pd.NaT}[v],
    ),
    Kind("tuple", _is(tuple), lambda v, encode: [encode(p) for p in v], lambda v, decode: tuple(decode(p) for p in v)),
    Kind(
        "dict",
        _is(dict),
        lambda v, encode: [[encode(key), encode(part)] for key, part in v.items()],
        lambda v, decode: {decode(key): decode(part) for key, part in v},
    ),
    Kind("date", _is(date), lambda v, encode: v.isoformat(), lambda v, decode: date.fromisoformat(v)),
    Kind("text", _is(np.str_), lambda v, encode: str(v), lambda v, decode: np.str_(v)),
    Kind("scalar", _is_scalar, _encode_scalar, _decode_scalar),
    Kind(
        "dtype",
        lambda v: isinstance(v, np.dtype) and v.kind in NUMERIC + "OU" and np.dtype(v.str) == v,
        lambda v, encode: v.str,
        lambda v, decode: np.dtype(v),
    ),
    Kind("type", _is_scalar_type, lambda v, encode: np.dtype(v).str, lambda v, decode: _plain_dtype(v).type),
    Kind(
        "slice",
        _is(slice),
        lambda v, encode: [encode(part) for part in (v.start, v.stop, v.step)],
        lambda v, decode: slice(*(decode(part) for part in v)),
    ),
    Kind("array", _is_numeric, lambda v, encode: encode.array(v), lambda v, decode: decode.array(v)),
    Kind("objects", _is_objects, _encode_objects, _decode_objects),
    Kind("strings", lambda v: _is_column(v) and isinstance(v.dtype, pd.StringDtype), _encode_strings, _decode_strings),
    Kind(
        "categories",
        _is(pd.Categorical),
        lambda v, encode: [encode(v.categories), encode(v.codes), v.ordered],
        lambda v, decode: pd.Categorical.from_codes(decode(v[1]), categories=decode(v[0]), ordered=v[2]),
    ),
    Kind("extension", _is_column, _encode_extension, _decode_extension),
    Kind("range", _is(pd.RangeIndex), _encode_range, _decode_range),
    Kind("levels", _is(pd.MultiIndex), _encode_levels, _decode_levels),
    Kind("index", lambda v: isinstance(v, pd.Index), _encode_index, _decode_index),
    Kind("series", _is(pd.Series), _encode_series, _decode_series),
    Kind("table", _is_table, _encode_table, _decode_table),
    Kind("columns", _is(pd.DataFrame), _encode_columns, _decode_columns),
    Kind(
        "random_state",
        _is_random_state,
        lambda v, encode: encode(v.get_state(legacy=False)),
        _decode_random_state,
    ),
    Kind("groupings", _is(Groupings), _encode_groupings, _decode_groupings),
    Kind(
        "pair_counts",
        _is(PairCounts),
        lambda v, encode: [encode(part) for part in (v.n_items, v.key, v.presented, v.answered, v.together)],
        lambda v, decode: PairCounts(*(decode(part) for part in v)),
    ),
)
