"""The one loop of the package: sweep until the bound stands still, restart, keep the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from consilience.inference.progress import Bar, Count, counting, current, joining
from consilience.inference.threads import one_blas_thread

MOST_THREADS = 4  # for each processor

State = TypeVar("State")
Result = TypeVar("Result")


class UnsettledWarning(ConvergenceWarning):
    """A model still changed when it had to stop."""


@dataclass(frozen=True, repr=False)
class Trace(Generic[State]):
    """What a run of the loop leaves behind.

    Attributes
    ----------
    state : the last state.
    lower_bounds : tuple of float
        The bound after each sweep, nats.
    converged : bool
    reason : str
        Why the loop stopped, a sentence.
    """

    state: State
    lower_bounds: tuple[float, ...]
    converged: bool
    reason: str

    @property
    def lower_bound(self) -> float:
        """The bound after the last sweep, nats."""
        return self.lower_bounds[-1]

    def __repr__(self) -> str:
        bound = f"{self.lower_bound:.6g}" if self.lower_bounds else "none"
        return f"Trace(n_iter={self.n_iter}, lower_bound={bound}, converged={self.converged}, reason={self.reason!r})"

    @property
    def n_iter(self) -> int:
        """Number of sweeps."""
        return len(self.lower_bounds)


def iterate(
    init: State,
    step: Callable[[State], State],
    lower_bound: Callable[[State], float],
    *,
    max_iter: int,
    tol: float = 0.0,
    settled: Callable[[State], bool] | None = None,
) -> Trace[State]:
    """Sweep until the bound gains less than `tol` times its size, at most `max_iter` times.

    Parameters
    ----------
    init : state before the first sweep.
    step : state → state, pure.
    lower_bound : state → float, nats.
    max_iter : int
    tol : float
    settled : state → bool, optional
        Stop when this holds instead, for algorithms that do not raise their bound in every sweep.

    Returns
    -------
    Trace

    Raises
    ------
    FloatingPointError
        The bound is not finite.

    Examples
    --------
    >>> newton = iterate(1.0, lambda x: (x + 2 / x) / 2, lambda x: -abs(x * x - 2), max_iter=50, tol=1e-12)
    >>> round(newton.state, 6), newton.converged
    (1.414214, True)
    """
    with counting("sweeps", max_iter) as sweeps:
        return _swept(init, step, lower_bound, sweeps, max_iter=max_iter, tol=tol, settled=settled)


def _swept(
    state: State,
    step: Callable[[State], State],
    lower_bound: Callable[[State], float],
    sweeps: Count,
    *,
    max_iter: int,
    tol: float,
    settled: Callable[[State], bool] | None,
) -> Trace[State]:
    bounds: list[float] = []
    while len(bounds) < max_iter:
        state = step(state)
        bounds.append(lower_bound(state))
        sweeps.update()
        if not math.isfinite(bounds[-1]):
            raise FloatingPointError(f"The lower bound is {bounds[-1]} after sweep {len(bounds)}.")
        if settled is not None:
            if settled(state):
                return Trace(state, tuple(bounds), True, f"The state had settled after sweep {len(bounds)}.")
        elif len(bounds) > 1 and bounds[-1] - bounds[-2] <= tol * abs(bounds[-1]):
            gain = f"The bound gained at most {tol:g} of its size in sweep {len(bounds)}."
            return Trace(state, tuple(bounds), True, gain)
    end = "The bound still rose" if settled is None else "The state had not settled"
    return Trace(state, tuple(bounds), False, f"{end} after max_iter={max_iter} sweeps.")


def restarts(
    run: Callable[..., Result],
    arguments: Iterable[tuple],
    *,
    n_jobs: int | None = None,
    unit: str = "restarts",
) -> list[Result]:
    """Call ``run(*arguments[i])`` for every i, side by side where `n_jobs` says so.

    Parameters
    ----------
    run : what to call; a state comes back, nothing is shared.
    arguments : a tuple for each call.
    n_jobs : int, optional
        As in joblib. Threads are used: the work is in BLAS and ufuncs, which release the interpreter.
    unit : str
        What the calls are, for the progress bar of a model that is verbose.

    Returns
    -------
    list
        Results in the order of `arguments`.
    """
    calls, bar = list(arguments), current()
    results = []
    with (
        one_blas_thread(),  # products of chunks are too small to share: threads would only wait
        counting(unit, len(calls)) as done,
    ):
        parallel = Parallel(n_jobs=n_threads(n_jobs, len(calls)), prefer="threads", return_as="generator")
        for result in parallel(delayed(_joined)(bar, run, *call) for call in calls):
            results.append(result)
            done.update()
    return results


def n_threads(n_jobs: int | None, n_calls: int) -> int:
    """Threads that `n_jobs` stands for: not more than calls, nor many more than processors, which would only wait."""
    return max(min(effective_n_jobs(n_jobs), n_calls, MOST_THREADS * cpu_count()), 1)


def _joined(bar: Bar | None, run: Callable[..., Result], *call: Any) -> Result:
    with joining(bar):
        return run(*call)


def spawn_seeds(rng: np.random.RandomState, n: int) -> list[int]:
    """Draw `n` seeds, so that runs side by side depend on `rng` alone and not on their order."""
    return [int(seed) for seed in rng.randint(np.iinfo(np.int32).max, size=n)]
