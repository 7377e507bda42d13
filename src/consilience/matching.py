"""Items of features and of annotations brought together: by name, or by position where neither side has names.

| features | annotations with names | annotations without | an array or list |
|---|---|---|---|
| DataFrame, its index names of its own | by name | if the index equals their numbers | by position, but see below |
| DataFrame, its index 0 … n-1 | by name | by position | by position |
| array, or a frame without an index | refused | by position | by position |

An array is refused where the index is 0 … n-1 in another order: the rows were reordered, and nobody can see whether the
array was.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from consilience.annotations import Annotations
from consilience.annotations.names import is_default, plain
from consilience.errors import MatchingError

Kind = TypeVar("Kind", bound=Annotations)


def matched(annotations: Kind, X: Any) -> Kind:
    """Annotations of the items of X, in their order: by name, or by position where neither side has names.

    Raises
    ------
    MatchingError
        One side has names of items and the other has none, the names differ, a name is twice in the index of X, or
        there are more items on one side.
    """
    if X is None:
        return annotations
    if not isinstance(X, pd.DataFrame):
        _require_no_names(annotations)
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
            f"The items of the annotations are numbered rows, and those of X have names (such as {_first(X.index)!r}). "
            "Name the items, from_matrix(…, items=X.index); or drop the names of X, X.reset_index(drop=True), if both "
            "are in the same order."
        )
    return annotations


def rows_of_matrix(matrix: Any, X: Any) -> pd.Index | None:
    """Names for the rows of a matrix of annotations given beside X: those of X where the matrix has none; else None.

    Raises
    ------
    MatchingError
        The index of X is 0 … n-1 in another order.
    """
    has_names = isinstance(matrix, pd.DataFrame | pd.Series) and not is_default(matrix.index)
    if has_names or not isinstance(X, pd.DataFrame) or is_default(X.index) or len(X) != len(matrix):
        return None
    if X.index.name is None and X.index.sort_values().equals(pd.RangeIndex(len(X))):
        raise MatchingError(
            "The rows of X were reordered, as its index 0 … n-1 in another order says. The annotations have no names, "
            "so nobody can tell which row they belong to: give them as a DataFrame or Series with the same index; or "
            "give X.reset_index(drop=True), if both are in the same order."
        )
    return X.index


def _by_name(annotations: Kind, names: pd.Index) -> Kind:
    absent = ~annotations.items.isin(names)
    if absent.all():
        raise MatchingError(
            f"No item of the annotations (such as {_first(annotations.items)!r}) is in the index of X (such as "
            f"{_first(names)!r}). Set the items' names as index of X{_in_pipeline()}."
        )
    lost = annotations.items[absent & (annotations.summary().annotators_per_item > 0).to_numpy()]
    if len(lost):
        count = f", one of {len(lost)} such items" if len(lost) > 1 else ""
        raise MatchingError(
            f"The item {_first(lost)!r} has annotations but no row in X{count}. Leave items out with "
            "annotations.restrict(items=…); before a cross-validation, which divides X and annotations by position, "
            "bring both into one order with annotations.reindex(X.index)."
        )
    return annotations.reindex(names)


def _require_length(annotations: Annotations, X: Any) -> None:
    n_items = len(X) if hasattr(X, "__len__") else len(np.asarray(X))
    if len(annotations) != n_items:
        raise MatchingError(
            f"X has {n_items} rows and the annotations {len(annotations)} items, so they cannot be matched by "
            "position. Give X as a DataFrame indexed by item, and annotations that name their items."
        )


def _require_no_names(annotations: Annotations) -> None:
    if not annotations.named:
        return
    why = _in_pipeline() or "; give X as a DataFrame indexed by item"
    raise MatchingError(
        f"The items of the annotations have names (such as {_first(annotations.items)!r}) and the rows of X have none, "
        f"so that they cannot be matched{why}. {_as_rows(annotations)}"
    )


def _as_rows(annotations: Annotations) -> str:
    """Say how to match by position where that is meant."""
    if pd.api.types.is_integer_dtype(annotations.items.dtype):
        return "If the names are numbers of rows of X, annotations.reindex(range(len(X))) says so."
    return "If the order of the rows is known, annotations.reindex(names_in_that_order).by_position() says so."


def _first(names: pd.Index) -> Any:
    return plain(names[0]) if len(names) else None


def _in_pipeline() -> str:
    """Name the step of a pipeline that dropped the names of items, and the remedy; empty if there is none."""
    step = step_without_names(sys._getframe())
    if step is None:
        return ""
    return (
        f": the step {step!r} of the pipeline returned an array without them; keep them with "
        'pipeline.set_output(transform="pandas")'
    )


def step_without_names(frame: FrameType | None) -> str | None:
    """Name of the pipeline's first step that turns the DataFrame it was given into what has no index of its own.

    The pipeline is looked for among the callers, since a step is not told what it is part of. Two rows are sent through
    its fitted steps.
    """
    while frame is not None:
        pipeline, X = frame.f_locals.get("self"), frame.f_locals.get("X")
        if isinstance(pipeline, Pipeline) and isinstance(X, pd.DataFrame):
            return _first_dropping(pipeline, X.iloc[:2])
        frame = frame.f_back
    return None


def _first_dropping(pipeline: Pipeline, rows: pd.DataFrame) -> str | None:
    for name, step in pipeline.steps[:-1]:
        if step in (None, "passthrough"):
            continue
        try:
            passed = step.transform(rows)
        except Exception:  # another's step: it is only asked in order to name it
            return str(name)
        if not isinstance(passed, pd.DataFrame) or not passed.index.equals(rows.index):
            return str(name)
        rows = passed
    return None
