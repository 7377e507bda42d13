"""Matching of the items of features and annotations, by name, or by position if neither side has names.

| features | annotations with names | annotations without | an array or list |
|---|---|---|---|
| DataFrame with names in its index | by name | if the index equals their numbers | by position, but see below |
| DataFrame with the index 0 … n-1 | by name | by position | by position |
| array, or a frame without an index | refused | by position | by position |

An array is refused if the index of X is 0 … n-1 in another order: the rows were reordered, and the array may or may not
have been.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from consilience.annotations import Annotations
from consilience.annotations.names import is_default, plain
from consilience.annotations.spelling import near_spelling, nearest
from consilience.errors import MatchingError

Kind = TypeVar("Kind", bound=Annotations)


def match_items(annotations: Kind, X: Any) -> Kind:
    """Return annotations of the items of X, in their order: matched by name, or by position if neither side has names.

    Raises MatchingError: only one side has names of items, the names differ, a name occurs twice in the index of X, or
    the numbers of items differ.
    """
    if X is None:
        return annotations
    if not isinstance(X, pd.DataFrame):
        _require_no_names(annotations, X)
        _require_length(annotations, X)
        return annotations
    if X.index.has_duplicates:
        twice = plain(X.index[X.index.duplicated()][0])
        raise MatchingError(f"Item {twice!r} has more than one row in X. Expected unique names in its index.")
    if annotations.items.equals(X.index):
        return annotations
    if annotations.named:
        return _by_name(annotations, X.index)
    _require_length(annotations, X)
    if not is_default(X.index):
        raise MatchingError(
            f"The items of the annotations are numbered rows, but those of X have names (such as {_first(X.index)!r}). "
            "Name the items: from_matrix(…, items=X.index); or drop the names of X: X.reset_index(drop=True), if both "
            "are in the same order."
        )
    return annotations


def rows_of_matrix(matrix: Any, X: Any) -> pd.Index | None:
    """Return names for the rows of a matrix of annotations given with X: those of X if the matrix has none; else None.

    Raises MatchingError: the index of X is 0 … n-1 in another order.
    """
    has_names = isinstance(matrix, pd.DataFrame | pd.Series) and not is_default(matrix.index)
    if has_names or not isinstance(X, pd.DataFrame) or is_default(X.index) or len(X) != len(matrix):
        return None
    if X.index.name is None and X.index.sort_values().equals(pd.RangeIndex(len(X))):
        raise MatchingError(
            "The rows of X were reordered: its index is 0 … n-1 in another order. The annotations have no names to "
            "match it: give them as a DataFrame or Series with the same index; or give X.reset_index(drop=True), if "
            "both are in the same order."
        )
    return X.index


def _by_name(annotations: Kind, names: pd.Index) -> Kind:
    absent = ~annotations.items.isin(names)
    if absent.all():
        raise MatchingError(
            f"No item of the annotations (such as {_first(annotations.items)!r}) is in the index of X (such as "
            f"{_first(names)!r}). {_why_none(annotations, names)}"
        )
    lost = annotations.items[absent & (annotations.summary().annotators_per_item > 0).to_numpy()]
    if len(lost):
        count = f", one of {len(lost)} such items" if len(lost) > 1 else ""
        raise MatchingError(
            f"The item {_first(lost)!r} has annotations but no row in X{count}."
            f"{near_spelling(_first(lost), names.difference(annotations.items, sort=False))} Leave items out with "
            "annotations.restrict(items=…). Before a cross-validation, which splits X and annotations by position, "
            "bring both into one order with annotations.reindex(X.index)."
        )
    return annotations.reindex(names)


def _why_none(annotations: Annotations, names: pd.Index) -> str:
    """Say why no item of the annotations is in the index of X: spelling, a step of a pipeline, or another index."""
    if len(annotations) and not is_default(names):
        near = nearest(annotations.items[0], names)
        if near is not None:
            return (
                f"The names are spelled differently: {_first(annotations.items)!r} in the annotations seems to be "
                f"{plain(near)!r} in X. Give both the same names."
            )
    return f"Set the names of the items as the index of X{_in_pipeline(annotations)}."


def _require_length(annotations: Annotations, X: Any) -> None:
    n_items = len(X) if hasattr(X, "__len__") else len(np.asarray(X))
    if len(annotations) != n_items:
        raise MatchingError(
            f"X has {n_items} rows and the annotations {len(annotations)} items, so they cannot be matched by "
            "position. Give X as a DataFrame indexed by item, and annotations that name their items."
        )


def _require_no_names(annotations: Annotations, X: Any) -> None:
    if not annotations.named:
        return
    why = _in_pipeline(annotations) or f"; {_as_index(X)}"
    raise MatchingError(
        f"The items of the annotations have names (such as {_first(annotations.items)!r}), but the rows of X do not, "
        f"so they cannot be matched{why}. {_as_rows(annotations)}"
    )


def _as_index(X: Any) -> str:
    """Say how to give X an index: a frame of polars or another library has none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return "give X as a DataFrame indexed by item"
    return "a frame of pandas has an index: with a column of names, such as 'id', X.to_pandas().set_index(\"id\")"


def _as_rows(annotations: Annotations) -> str:
    """Say how to match by position if that is intended."""
    if pd.api.types.is_integer_dtype(annotations.items.dtype):
        return "If the names are row numbers of X, call annotations.reindex(range(len(X)))."
    return "If the order of the rows is known, call annotations.reindex(names_in_that_order).by_position()."


def _first(names: pd.Index) -> Any:
    return plain(names[0]) if len(names) else None


@dataclass(frozen=True)
class Dropping:
    """The step of a pipeline that returned rows without their names.

    name : of the step.
    renumbers : whether it returned a DataFrame with a new index.
    array_after : whether it, or a later step, did not return a DataFrame.
    """

    name: str
    renumbers: bool
    array_after: bool


def _in_pipeline(annotations: Annotations) -> str:
    """Name the step of a pipeline that dropped the names of items, and the remedy; empty if there is no such step."""
    found = step_without_names(sys._getframe(), annotations.items)
    if found is None:
        return ""
    kept = 'pipeline.set_output(transform="pandas")'
    if not found.renumbers:
        return f": the step {found.name!r} of the pipeline returned an array without names; keep them with {kept}"
    after = f", and through later steps with {kept}" if found.array_after else ""
    return (
        f": the step {found.name!r} of the pipeline returned a DataFrame with another index, as reset_index does; keep "
        f"the index in that step{after}"
    )


def step_without_names(frame: FrameType | None, items: pd.Index) -> Dropping | None:
    """Find the pipeline's first step that does not keep the index of the DataFrame that it is given.

    The pipeline is looked for among the callers, since a step does not know what it is part of. Two rows are passed
    through its fitted steps. A pipeline that was given rows without names has not dropped any.
    """
    from sklearn.pipeline import Pipeline  # half of scikit-learn; whoever has one has imported it

    while frame is not None:
        pipeline, X = frame.f_locals.get("self"), frame.f_locals.get("X")
        if isinstance(pipeline, Pipeline) and isinstance(X, pd.DataFrame) and _has_names(X, items):
            return _first_dropping(pipeline, X)
        frame = frame.f_back
    return None


def _has_names(X: pd.DataFrame, items: pd.Index) -> bool:
    return not is_default(X.index) or bool(items.isin(X.index).any())


def _first_dropping(pipeline: Any, X: pd.DataFrame) -> Dropping | None:
    rows: Any = _two_rows(X)
    found: Dropping | None = None
    for name, step in pipeline.steps[:-1]:
        if step in (None, "passthrough"):
            continue
        try:
            passed = step.transform(rows)
        except Exception:  # of somebody's own step, run here only to find its name
            return found or Dropping(str(name), renumbers=False, array_after=True)
        is_array = not isinstance(passed, pd.DataFrame)
        if found is None and (is_array or not passed.index.equals(rows.index)):
            found = Dropping(str(name), renumbers=not is_array, array_after=is_array)
        elif found is not None and is_array:
            return replace(found, array_after=True)
        rows = passed
    return found


def _two_rows(X: pd.DataFrame) -> pd.DataFrame:
    """Return two rows whose index a new index 0, 1 would change, unless it would leave that of all rows unchanged."""
    numbers = pd.RangeIndex(len(X))
    return X.iloc[-2:] if X.index[:2].equals(numbers[:2]) and not X.index.equals(numbers) else X.iloc[:2]
