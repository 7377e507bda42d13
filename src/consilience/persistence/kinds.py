"""The kinds of values in a file: tests for them, encoding and decoding; see `codec` for their tags."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.files.table import Reading
from consilience.estimators.learned import NOTES, array, codes, names
from consilience.inference.sparse_tables import SparseTable
from consilience.persistence.codec import Json, Kind, UnknownValueError, ValueDecoder, ValueEncoder, require

NUMERIC = "biufcmM"  # kinds of dtype whose arrays contain no pointers; arrays may also be of kind U
BIT_GENERATORS: dict[str, Any] = {
    made.__name__: made
    for made in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}
EXTENSIONS = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean|\w+\[pyarrow\]|Sparse\[[^\]]*\]")
"""Dtypes of pandas columns that a file may name; those of time zones would open files."""


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


def _is_scalar(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in NUMERIC


def _is_scalar_type(value: Any) -> bool:
    concrete = isinstance(value, type) and issubclass(value, np.number | np.bool_)
    return concrete and value in np.sctypeDict.values()  # abstract types, such as np.floating, are not among them


def _encode_scalar(value: np.generic, encode: ValueEncoder) -> Json:
    return [value.dtype.str, value.tobytes().hex()]


def _decode_scalar(content: Json, decode: ValueDecoder) -> np.generic:
    dtype, data = content
    (value,) = np.frombuffer(bytes.fromhex(data), dtype=_plain_dtype(dtype))
    return value


def _plain_dtype(text: str) -> np.dtype:
    return _simple_dtype(text, NUMERIC)


def _simple_dtype(text: str, kinds: str) -> np.dtype:
    dtype = np.dtype(text)
    require(isinstance(text, str) and dtype.kind in kinds and dtype.str == text)
    return dtype


def _is_numeric(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in NUMERIC + "U"


def _is_objects(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind == "O"


def _encode_objects(value: np.ndarray, encode: ValueEncoder) -> Json:
    return [list(value.shape), [encode(cell) for cell in value.ravel().tolist()]]


def _decode_objects(content: Json, decode: ValueDecoder) -> np.ndarray:
    shape, cells = content
    require(isinstance(shape, list) and all(type(length) is int and length >= 0 for length in shape))
    require(isinstance(cells, list) and math.prod(shape) == len(cells))
    flat = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):  # assigning the whole list would unpack its cells
        flat[place] = decode(cell)
    return flat.reshape(shape)


def _is_column(value: Any) -> bool:
    return isinstance(value, pd.api.extensions.ExtensionArray)


def _encode_strings(value: Any, encode: ValueEncoder) -> Json:
    missing = value.isna()
    cells = [None if gone else text for text, gone in zip(value.to_numpy(object).tolist(), missing.tolist())]
    return [value.dtype.storage, encode(value.dtype.na_value), cells]


def _decode_strings(content: Json, decode: ValueDecoder) -> Any:
    storage, missing, cells = content
    require(isinstance(cells, list) and all(cell is None or isinstance(cell, str) for cell in cells))
    return pd.array(cells, dtype=_string_dtype(storage, decode(missing)))


def _string_dtype(storage: Any, missing: Any) -> Any:
    missing = pd.NA if missing is pd.NA else np.nan
    try:
        return pd.StringDtype(storage, na_value=missing)
    except ImportError:  # saved with pyarrow, loaded without it
        return pd.StringDtype("python", na_value=missing)


def _encode_extension(value: Any, encode: ValueEncoder) -> Json:
    content = [str(value.dtype), [encode(cell) for cell in value.tolist()]]
    try:
        same = _decode_extension(content, ValueDecoder(KINDS, [])).equals(value)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise UnknownValueError(f"a column of dtype {value.dtype}")
    return content


def _decode_extension(content: Json, decode: ValueDecoder) -> Any:
    name, cells = content
    require(EXTENSIONS.fullmatch(name) is not None and isinstance(cells, list))
    dtype: Any = pd.api.types.pandas_dtype(name)
    values: Any = [decode(cell) for cell in cells]
    require(all(value is pd.NA or isinstance(value, bool | int | float | str | date) for value in values))
    return pd.array(values, dtype=dtype)


def _decode_categories(content: Json, decode: ValueDecoder) -> Any:
    categories, codes, is_ordered = decode(content[0]), decode(content[1]), content[2]
    require(_is_plain_column(codes) and isinstance(categories, pd.Index))
    require(not _is_longer_range(categories, len(codes)) and type(is_ordered) in (bool, type(None)))
    return pd.Categorical.from_codes(codes, categories=categories, ordered=is_ordered)


def _is_plain_column(values: Any) -> bool:
    return type(values) is np.ndarray and values.ndim == 1


def _decode_column(node: Json, decode: ValueDecoder) -> Any:
    """Decode an index or column: a one-dimensional array, and nothing that would be converted to one."""
    column = decode(node)
    require(_is_plain_column(column) or _is_column(column))
    return column


def _decode_labels(node: Json, decode: ValueDecoder, length: int) -> pd.Index:
    """Decode an index of this length."""
    index = decode(node)
    require(isinstance(index, pd.Index) and len(index) == length)
    return index


def _contents(values: pd.Index | pd.Series) -> Any:
    """Return the array of an index or column: of NumPy if it has a NumPy dtype."""
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array


def _encode_index(value: pd.Index, encode: ValueEncoder) -> Json:
    return [encode(_contents(value)), encode(value.name)]


def _decode_index(content: Json, decode: ValueDecoder) -> pd.Index:
    column, name = _decode_column(content[0], decode), decode(content[1])
    return pd.Index(column, dtype=column.dtype, name=name, tupleize_cols=False)


def _encode_range(value: pd.RangeIndex, encode: ValueEncoder) -> Json:
    return [value.start, value.stop, value.step, encode(value.name)]


def _decode_range(content: Json, decode: ValueDecoder) -> pd.RangeIndex:
    start, stop, step, name = content
    require(all(type(part) is int and abs(part) < 2**62 for part in (start, stop, step)))
    return pd.RangeIndex(start, stop, step, name=decode(name))


def _encode_levels(value: pd.MultiIndex, encode: ValueEncoder) -> Json:
    levels = [_no_longer_range(level, len(value)) for level in value.levels]
    codes = [encode(np.asarray(codes)) for codes in value.codes]
    return [[encode(level) for level in levels], codes, [encode(name) for name in value.names]]


def _no_longer_range(names: pd.Index, length: int) -> pd.Index:
    """Return names as an array instead of a range that is longer than their column, which loading would refuse."""
    return pd.Index(names.to_numpy(), name=names.name) if _is_longer_range(names, length) else names


def _is_longer_range(names: pd.Index, length: int) -> bool:
    return isinstance(names, pd.RangeIndex) and len(names) > length


def _decode_levels(content: Json, decode: ValueDecoder) -> pd.MultiIndex:
    levels, codes, names = ([decode(part) for part in parts] for parts in content)
    require(all(isinstance(level, pd.Index) for level in levels) and all(map(_is_plain_column, codes)))
    require(all(code.dtype.kind in "iu" for code in codes))
    require(not any(_is_longer_range(level, len(code)) for level, code in zip(levels, codes, strict=True)))
    return pd.MultiIndex(levels, codes, names=names)


def _encode_series(value: pd.Series, encode: ValueEncoder) -> Json:
    return [encode(_contents(value)), encode(value.index), encode(value.name)]


def _decode_series(content: Json, decode: ValueDecoder) -> pd.Series:
    column, name = _decode_column(content[0], decode), decode(content[2])
    index = _decode_labels(content[1], decode, len(column))
    return pd.Series(column, index=index, name=name, dtype=column.dtype)


def _is_table(value: Any) -> bool:
    if type(value) is not pd.DataFrame or not value.shape[1]:
        return False
    first = value.dtypes.iloc[0]
    return isinstance(first, np.dtype) and bool((value.dtypes == first).all())


def _encode_table(value: pd.DataFrame, encode: ValueEncoder) -> Json:
    return [encode(value.to_numpy()), encode(value.index), encode(value.columns)]


def _decode_table(content: Json, decode: ValueDecoder) -> pd.DataFrame:
    values = decode(content[0])
    require(type(values) is np.ndarray and values.ndim == 2)
    index, columns = (_decode_labels(part, decode, n) for part, n in zip(content[1:], values.shape, strict=True))
    return pd.DataFrame(values, index=index, columns=columns, dtype=values.dtype, copy=False)


def _encode_columns(value: pd.DataFrame, encode: ValueEncoder) -> Json:
    columns = [encode(_contents(value.iloc[:, place])) for place in range(value.shape[1])]
    return [columns, encode(value.index), encode(value.columns)]


def _decode_columns(content: Json, decode: ValueDecoder) -> pd.DataFrame:
    contents = [_decode_column(part, decode) for part in content[0]]
    index = _decode_labels(content[1], decode, len(contents[0])) if contents else decode(content[1])
    columns = _decode_labels(content[2], decode, len(contents))
    require(isinstance(index, pd.Index) and all(len(column) == len(index) for column in contents))
    series = {place: pd.Series(column, index=index, dtype=column.dtype) for place, column in enumerate(contents)}
    return pd.DataFrame(series, index=index).set_axis(columns, axis=1)


def _is_random_state(value: Any) -> bool:
    return type(value) is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937"


def _decode_random_state(content: Json, decode: ValueDecoder) -> np.random.RandomState:
    random_state = np.random.RandomState()
    random_state.set_state(decode(content))
    return random_state


def _decode_generator(content: Json, decode: ValueDecoder) -> np.random.Generator:
    state = decode(content)
    bit_generator = BIT_GENERATORS[state["bit_generator"]]()
    bit_generator.state = state
    return np.random.Generator(bit_generator)


def _encode_groupings(value: Groupings, encode: ValueEncoder) -> Json:
    incidence = value.incidence
    annotators = _no_longer_range(value.annotators, value.n_groupings)
    parts = [value.items, annotators, not value.named, incidence.indices, incidence.indptr]
    parts += [value.grouping_of_group, value.annotator_of_grouping, value.grouping_names, value.group_names]
    return [encode(part) for part in [*parts, _as_read(value)]]


def _decode_groupings(content: Json, decode: ValueDecoder) -> Groupings:
    items, annotators, unnamed, indices, indptr, *rest = (decode(part) for part in content)
    grouping_of_group, annotator_of_grouping, grouping_names, group_names, reading = rest
    _require_groupings(items, annotators, indices, indptr, grouping_of_group, annotator_of_grouping, rest[2:4])
    require(type(unnamed) is bool)
    shape = (len(items), len(group_names))
    return Groupings(
        items=items,
        annotators=annotators,
        named=not unnamed,
        incidence=csr_array((np.ones(len(indices)), indices, indptr), shape=shape),
        grouping_of_group=grouping_of_group,
        annotator_of_grouping=annotator_of_grouping,
        grouping_names=grouping_names,
        group_names=group_names,
        reading=_reading(reading),
    )


def _encode_pairs(value: Pairs, encode: ValueEncoder) -> Json:
    annotators = _no_longer_range(value.annotators, value.n_rows)
    groupings = _no_longer_range(value.groupings, value.n_rows)
    parts = [value.items, annotators, not value.named, value.item_a, value.item_b, value.annotator, value.same]
    return [encode(part) for part in [*parts, value.grouping, groupings, _as_read(value)]]


def _decode_pairs(content: Json, decode: ValueDecoder) -> Pairs:
    items, annotators, unnamed, item_a, item_b, annotator, same, grouping, groupings, reading = map(decode, content)
    sizes: dict[str, int] = {}
    for check, value in (
        (names("items"), items),
        (names("annotators"), annotators),
        (names("groupings"), groupings),
        (codes("rows", of="items"), item_a),
        (codes("rows", of="items"), item_b),
        (codes("rows", of="annotators"), annotator),
        (codes("rows", of="groupings"), grouping),
    ):
        require(check.holds(value, sizes))
    require(type(unnamed) is bool and bool((item_a < item_b).all()))
    require(type(same) is np.ndarray and same.dtype == bool and same.shape == item_a.shape)
    require(not any(_is_longer_range(name, len(same)) for name in (annotators, groupings)))
    return Pairs(
        items=items,
        annotators=annotators,
        named=not unnamed,
        item_a=item_a,
        item_b=item_b,
        annotator=annotator,
        same=same,
        grouping=grouping,
        groupings=groupings,
        reading=_reading(reading),
    )


def _encode_labels_of_items(value: Labels, encode: ValueEncoder) -> Json:
    annotators, classes = (_no_longer_range(names, value.n_rows) for names in (value.annotators, value.classes))
    parts = [value.items, annotators, classes, not value.named, value.item, value.annotator, value.label]
    return [encode(part) for part in [*parts, _as_read(value)]]


def _decode_labels_of_items(content: Json, decode: ValueDecoder) -> Labels:
    items, annotators, classes, unnamed, item, annotator, label, reading = map(decode, content)
    sizes: dict[str, int] = {}
    for check, value in (
        (names("items"), items),
        (names("annotators"), annotators),
        (names("classes"), classes),
        (codes("rows", of="items"), item),
        (codes("rows", of="annotators"), annotator),
        (codes("rows", of="classes"), label),
    ):
        require(check.holds(value, sizes))
    rows = np.stack([item, annotator, label])
    changes = np.diff(rows) != 0
    first = changes.argmax(0)
    rises = np.take_along_axis(np.diff(rows), first[None], axis=0) > 0
    require(type(unnamed) is bool and bool((changes.any(0) & rises).all()))  # each row comes after the one before
    require(not any(_is_longer_range(name, len(item)) for name in (annotators, classes)))
    return Labels(
        items=items,
        annotators=annotators,
        classes=classes,
        named=not unnamed,
        item=item,
        annotator=annotator,
        label=label,
        reading=_reading(reading),
    )


def _encode_sparse(value: SparseTable, encode: ValueEncoder) -> Json:
    rest = value.rest
    parts = [np.ascontiguousarray(value.base), rest.data, rest.indices, rest.indptr]
    return [encode(part) for part in parts]


def _decode_sparse(content: Json, decode: ValueDecoder) -> SparseTable:
    base, data, indices, indptr = map(decode, content)
    require(array(float, "annotators", "components").holds(base, {}) and array(float, "exceptions").holds(data, {}))
    n_rows = len(indptr) - 1 if _is_plain_column(indptr) else -1
    require(codes(len(data), of="components").holds(indices, {"components": base.shape[1]}))
    require(indptr.dtype.kind in "iu" and n_rows >= 0 and n_rows % max(len(base), 1) == 0)
    require(indptr[0] == 0 and indptr[-1] == len(data) and bool((np.diff(indptr.astype(np.int64)) >= 0).all()))
    return SparseTable(base, csr_array((data, indices, indptr), shape=(n_rows, base.shape[1])))


def _as_read(annotations: Groupings | Pairs | Labels) -> list[Any] | None:
    """How annotations were read."""
    reading = annotations.reading
    return None if reading is None else [reading.how, list(reading.notes), list(reading.warnings)]


def _reading(content: Any) -> Reading | None:
    if content is None:
        return None
    how, notes, warnings = content
    require(isinstance(how, str) and NOTES.holds(notes, {}) and NOTES.holds(warnings, {}))
    return Reading(how, tuple(notes), tuple(warnings))


def _require_groupings(
    items: Any,
    annotators: Any,
    indices: Any,
    indptr: Any,
    grouping_of_group: Any,
    annotator_of_grouping: Any,
    of_groupings_and_groups: Any,
) -> None:
    """Raise an error unless parts of groupings match; anything as long as the items is compared, not allocated."""
    sizes: dict[str, int] = {}
    grouping_names, group_names = of_groupings_and_groups
    for check, value in (
        (names("items"), items),
        (names("annotators"), annotators),
        (array(object, "groupings"), grouping_names),
        (array(object, "groups"), group_names),
        (codes("groups", of="groupings"), grouping_of_group),
        (codes("groupings", of="annotators"), annotator_of_grouping),
        (array(int, len(items) + 1 if hasattr(items, "__len__") else 0), indptr),
        (codes("rows", of="groups"), indices),
    ):
        require(check.holds(value, sizes))
    require(not _is_longer_range(annotators, len(grouping_names)))
    hash((*grouping_names, *group_names))  # raises a TypeError if a name is a list
    require(indptr[0] == 0 and indptr[-1] == len(indices) and bool((np.diff(indptr) >= 0).all()))
    require(bool((np.diff(grouping_of_group) >= 0).all()))
    rising = np.diff(grouping_of_group[indices]) > 0  # an item is in only one group of a grouping
    first = indptr[1:-1]
    rising[first[(first > 0) & (first < len(indices))] - 1] = True  # the next row is another item's
    require(bool(rising.all()))


def _decode_dict(content: Json, decode: ValueDecoder) -> dict[Any, Any]:
    found = {decode(key): decode(part) for key, part in content}
    require(len(found) == len(content))
    return found


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
    Kind("dict", _is(dict), lambda v, encode: [[encode(key), encode(part)] for key, part in v.items()], _decode_dict),
    Kind("date", _is(date), lambda v, encode: v.isoformat(), lambda v, decode: date.fromisoformat(v)),
    Kind("text", _is(np.str_), lambda v, encode: str(v), lambda v, decode: np.str_(v)),
    Kind("scalar", _is_scalar, _encode_scalar, _decode_scalar),
    Kind(
        "dtype",
        lambda v: isinstance(v, np.dtype) and v.kind in NUMERIC + "OU" and np.dtype(v.str) == v,
        lambda v, encode: v.str,
        lambda v, decode: _simple_dtype(v, NUMERIC + "OU"),
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
        lambda v, encode: [encode(_no_longer_range(v.categories, len(v))), encode(v.codes), v.ordered],
        _decode_categories,
    ),
    Kind("extension", _is_column, _encode_extension, _decode_extension),
    Kind("range", _is(pd.RangeIndex), _encode_range, _decode_range),
    Kind("levels", _is(pd.MultiIndex), _encode_levels, _decode_levels),
    Kind("index", lambda v: isinstance(v, pd.Index), _encode_index, _decode_index),
    Kind("series", _is(pd.Series), _encode_series, _decode_series),
    Kind("table", _is_table, _encode_table, _decode_table),
    Kind("columns", _is(pd.DataFrame), _encode_columns, _decode_columns),
    Kind("random_state", _is_random_state, lambda v, encode: encode(v.get_state(legacy=False)), _decode_random_state),
    Kind(
        "generator",
        lambda v: type(v) is np.random.Generator and type(v.bit_generator).__name__ in BIT_GENERATORS,
        lambda v, encode: encode(v.bit_generator.state),
        _decode_generator,
    ),
    Kind("groupings", _is(Groupings), _encode_groupings, _decode_groupings),
    Kind("pairs", _is(Pairs), _encode_pairs, _decode_pairs),
    Kind("labels", _is(Labels), _encode_labels_of_items, _decode_labels_of_items),
    Kind("sparse_table", _is(SparseTable), _encode_sparse, _decode_sparse),
)
