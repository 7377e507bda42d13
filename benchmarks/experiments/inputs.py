"""What reaches a model: a digest of the annotations, and sums of the features, of the first fit of a computation.

Names are left out: they have no effect. Codes are exact and are kept as a digest. Features may differ in the last
digits between processors (standardised ones, principal components), and are kept as sums that can be compared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from benchmarks.experiments.scripts import digest
from consilience.annotations import Annotations
from consilience.registry import ESTIMATORS

DIGITS = 10  # significant, of a sum

Input = dict[str, Any]


class Reached(BaseException):
    """A fit was reached that need not run; no handler of errors of a fit catches it."""


@contextmanager
def first_input(stop: bool = False) -> Iterator[Input]:
    """Yield a dict that holds the input of the first fit of one of our estimators, once there was one.

    stop : whether to end the block at that fit
    """
    found: Input = {}

    def watch(fit: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fit)
        def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not found:
                found.update(input_of(*args, *kwargs.values()))
                if stop:
                    raise Reached
            return fit(self, *args, **kwargs)

        return watched

    with ExitStack() as stack:
        for owner in _owners_of_fit():
            stack.enter_context(mock.patch.object(owner, "fit", watch(owner.fit)))
        with suppress(Reached):
            yield found


def input_of(*given: Any) -> Input:
    """Return the digest of the annotations, and shape and sums of the features, among the arguments of a fit."""
    found: Input = {}
    for value in given:
        if isinstance(value, Annotations):
            found["annotations"] = digest_of_annotations(value)
        elif isinstance(value, pd.DataFrame | np.ndarray | list):
            table = np.asarray(value)
            if table.ndim == 2 and table.dtype.kind in "biuf":
                found["features"] = sums_of(table)
            else:
                codes = pd.factorize(table.ravel().astype(str), sort=False)[0]
                found["annotations"] = digest(repr((table.shape, codes.tobytes().hex())))
    return found


def digest_of_annotations(annotations: Annotations) -> str:
    """Return a digest of all codes, counts and weights, without names."""
    parts = [type(annotations).__name__]
    for member in fields(annotations):  # type: ignore[arg-type]
        value = getattr(annotations, member.name)
        arrays = [value.data, value.indices, value.indptr] if issparse(value) else [value]
        for array in arrays:
            if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
                wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
                parts.append(f"{member.name}{wide.shape}{wide.tobytes().hex()}")
    return digest("\n".join(parts))


def sums_of(table: np.ndarray | list[float]) -> list[float]:
    """Return how many numbers there are, the root of the sum of their squares, and two sums weighted by position.

    What is missing or infinite counts nowhere.
    """
    values = np.asarray(table, dtype=float)
    values = values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
    is_known = np.isfinite(values)
    values = values if is_known.all() else np.where(is_known, values, 0.0)
    rows, columns = map(np.arange, values.shape)
    of_rows, others = np.cos(rows) @ values, np.sin(1 + rows / 7) @ values
    sums = [np.linalg.norm(values), of_rows @ np.cos(columns), others @ np.cos(columns / 3)]
    return [float(is_known.sum()), *(float(f"{value:.{DIGITS}g}") for value in sums)]


def are_close(one: list[float], other: list[float], relative: float) -> bool:
    """Whether sums of numbers agree, relative to the root of the sum of their squares."""
    margin = relative * max(abs(one[1]), abs(other[1])) + 1e-12
    return one[0] == other[0] and all(abs(a - b) <= margin for a, b in zip(one[1:], other[1:], strict=True))


@cache
def _owners_of_fit() -> tuple[type[Any], ...]:
    """Return the classes in which the `fit` of an estimator of the package is written."""
    classes = [entry.load() for entry in ESTIMATORS.values()]
    owners = [next(one for one in found.__mro__ if "fit" in vars(one)) for found in classes]
    return tuple(dict.fromkeys(owners))
