"""Functions over the partitions of a table, and sums of their results: on one machine, or on a Dask cluster.

`LocalParts` runs in one thread or several, and keeps parts in files; `DaskParts` runs on the workers of a cluster, and
keeps parts there. See `consilience.inference.parts` for what both do.

Decided here
------------
Sums are added in a binary tree over the partitions in their order, whoever adds them. Floating-point sums are therefore
the same to the last digit for any number of threads or workers.

NumPy rounds sums and products by how an array lies in memory: in which order, and whether at a multiple of eight bytes.
A journey may change both. So all parameters, parts and results lie as NumPy itself would lay them, whether they
travelled or not (`lay_out_arrays`).

Nothing but the functions, their parameters and results travels.

What a lost worker of Dask held is made again from the sources by another worker. That is why parameters are sent as
the result of a task, not scattered: scattered data is lost with its worker.
"""

from __future__ import annotations

import operator
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from consilience.errors import InputError
from consilience.inference.iterate import n_threads
from consilience.inference.parts import Parts
from consilience.inference.threads import one_blas_thread

BRANCHES = 8  # results that one task of Dask adds; a power of two keeps the tree binary


def tree_sum(values: Iterable[Any]) -> Any:
    """Add values in a binary tree over their order; few of them are in memory at a time."""
    waiting: list[tuple[int, Any]] = []  # sums of 2 ** depth values, the depth falling
    for value in values:
        depth = 0
        while waiting and waiting[-1][0] == depth:
            value, depth = waiting.pop()[1] + value, depth + 1
        waiting.append((depth, value))
    total = waiting.pop()[1]
    while waiting:
        total = waiting.pop()[1] + total
    return total


def lay_out_arrays(value: Any) -> Any:
    """Return a value whose arrays, however deep inside, are in the order of rows and aligned; others are copied."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.hasobject else np.require(value, requirements=["C", "ALIGNED"])
    if isinstance(value, tuple | list):
        own = [lay_out_arrays(one) for one in value]
        return value if all(map(operator.is_, own, value)) else type(value)(own)
    if not hasattr(value, "__dict__") or callable(value) or isinstance(value, pd.Index | pd.DataFrame | pd.Series):
        return value
    moved = {name: new for name, held in vars(value).items() if (new := lay_out_arrays(held)) is not held}
    if not moved:
        return value
    other = copy(value)
    vars(other).update(moved)  # of a frozen dataclass, too
    return other


class LocalParts(Parts):
    """Parts on this machine, in files of a folder except for those that were given.

    held : a part, or the path of its file, for each partition
    folder : where to keep the parts that are made
    n_jobs : number of threads, as in joblib
    """

    def __init__(self, held: Sequence[Any], folder: Path, n_jobs: int | None = 1) -> None:
        self._held, self._folder, self._n_jobs = list(held), folder, n_jobs

    def __len__(self) -> int:
        return len(self._held)

    def map(self, function: Callable[..., Any], *parameters: Any) -> LocalParts:
        """Make parts in files."""
        own = Path(tempfile.mkdtemp(dir=self._folder))
        paths = [own / str(number) for number in range(len(self))]
        list(self._each(_made_in_file, [(path, function) for path in paths], parameters))
        return LocalParts([_InFile(path) for path in paths], self._folder, self._n_jobs)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Yield results in order."""
        return self._each(_call, [(function,)] * len(self), parameters)

    def total(self, function: Callable[..., Any], *parameters: Any) -> Any:
        """Add results as they come."""
        return tree_sum(self.results(function, *parameters))

    def forget(self) -> None:
        """Remove the files."""
        for part in self._held:
            if isinstance(part, _InFile):
                part.path.unlink(missing_ok=True)

    def _each(self, call: Callable[..., Any], first: Sequence[tuple[Any, ...]], parameters: tuple) -> Iterator[Any]:
        with one_blas_thread():
            threads = n_threads(self._n_jobs, len(self))
            parallel = Parallel(n_jobs=threads, prefer="threads", return_as="generator")
            sent = lay_out_arrays(parameters)
            calls = (delayed(call)(*own, part, *sent) for own, part in zip(first, self._held))
            yield from parallel(calls)


@dataclass(frozen=True)
class _InFile:
    path: Path

    def read(self) -> Any:
        with self.path.open("rb") as file:
            return pickle.load(file)


def _call(function: Callable[..., Any], part: Any, *parameters: Any) -> Any:
    return lay_out_arrays(function(part.read() if isinstance(part, _InFile) else part, *parameters))


def _made_in_file(path: Path, function: Callable[..., Any], part: Any, *parameters: Any) -> None:
    made = _call(function, part, *parameters)
    with path.open("wb") as file:
        pickle.dump(made, file, protocol=pickle.HIGHEST_PROTOCOL)


class DaskParts(Parts):
    """Parts on the workers of a Dask cluster, except for those that were given.

    client : dask.distributed.Client
    held : a part, or the future of one, for each partition
    """

    def __init__(self, client: Any, held: Sequence[Any]) -> None:
        if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
            raise InputError(f"'client' must be a dask.distributed.Client or None. Got a {type(client).__name__}.")
        self._client, self._held = client, list(held)

    def __len__(self) -> int:
        return len(self._held)

    def map(self, function: Callable[..., Any], *parameters: Any) -> DaskParts:
        """Make parts on the workers."""
        return DaskParts(self._client, self._futures(function, parameters))

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Yield results in order."""
        for future in self._futures(function, parameters):
            yield lay_out_arrays(future.result())

    def total(self, function: Callable[..., Any], *parameters: Any) -> Any:
        """Add results on the workers."""
        level = self._futures(function, parameters)
        while len(level) > 1:
            groups = [level[start : start + BRANCHES] for start in range(0, len(level), BRANCHES)]
            level = [self._submit(_sum_of, *group) for group in groups]
        return lay_out_arrays(level[0].result())

    def forget(self) -> None:
        """Let the workers forget the parts, unless something else needs them."""
        self._held = []

    def _futures(self, function: Callable[..., Any], parameters: tuple) -> list[Any]:
        sent = self._submit(_same, lay_out_arrays(parameters))  # once, and not with every part
        return [self._submit(_with_parameters, function, part, sent) for part in self._held]

    def _submit(self, *call: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # the parameters have to be sent
            # else Dask hashes every argument to see if it knows the result
            return self._client.submit(*call, pure=False)


def _same(value: Any) -> Any:
    return value


def _sum_of(*values: Any) -> Any:
    return tree_sum(values)


def _with_parameters(function: Callable[..., Any], part: Any, parameters: tuple) -> Any:
    with one_blas_thread():
        return lay_out_arrays(function(lay_out_arrays(part), *lay_out_arrays(parameters)))
