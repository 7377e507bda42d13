"""The one loop of the package: sweep until the bound stands still, restart, keep the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from consilience.inference.progress import Bar, counting, current, joining
from consilience.inference.threads import one_blas_thread

MOST_THREADS = 4  # for each processor
ROUNDING = 1e-9  # of a bound: a fall by less may come from rounding in its sums

State = TypeVar("State")
Result = TypeVar("Result")
Loop = Callable[..., "Trace[Any]"]
"""`begin`, or what begins after the last sweep of a checkpoint."""


class UnsettledWarning(ConvergenceWarning):
    """A model had not converged when it stopped."""


class Outcome(Enum):
    """How a run of the loop ended; the value is the sentence that says so."""

    CONVERGED = "The objective improved by at most {tol:g} of its size in sweep {n_iter}."
    SETTLED = "The state had settled after sweep {n_iter}."
    STILL_RISING = "The objective still improved after max_iter={n_iter} sweeps. Raise max_iter."
    NOT_SETTLED = "The state had not settled after max_iter={n_iter} sweeps. Raise max_iter."
    FELL = "The objective would have got worse by {change:.3g} after sweep {n_iter}, which no exact update does."
    NOT_FINITE = "The objective was {last} after sweep {n_iter}: the numbers overflow or are too close to zero."


@dataclass(frozen=True, repr=False)
class Trace(Generic[State]):
    """What a run of the loop leaves behind.

    Attributes
    ----------
    state : the last state whose bound is finite, and the one before a bound that fell.
    lower_bounds : tuple of float
        The bound after each sweep, nats; the last is that of the state, unless it is not finite.
    outcome : Outcome
        How the loop ended.
    reason : str
        Why, and the remedy if it had not converged.
    """

    state: State
    lower_bounds: tuple[float, ...]
    outcome: Outcome
    reason: str

    @property
    def converged(self) -> bool:
        """Whether the loop stopped because nothing changed any more."""
        return self.outcome in (Outcome.CONVERGED, Outcome.SETTLED)

    @property
    def lower_bound(self) -> float:
        """The bound after the last sweep, nats; minus infinity of a run whose bound became anything but finite."""
        return -math.inf if self.outcome is Outcome.NOT_FINITE else self.lower_bounds[-1]

    @property
    def n_iter(self) -> int:
        """Number of sweeps."""
        return len(self.lower_bounds)

    def __repr__(self) -> str:
        bound = f"{self.lower_bound:.6g}" if self.lower_bounds else "none"
        return f"Trace(n_iter={self.n_iter}, lower_bound={bound}, converged={self.converged}, reason={self.reason!r})"


def iterate(
    init: State,
    step: Callable[[State], State],
    lower_bound: Callable[[State], float],
    *,
    max_iter: int,
    tol: float = 0.0,
    settled: Callable[[State], bool] | None = None,
) -> Trace[State]:
    """Sweep until the bound gains at most `tol` times its size, falls or is not finite, and at most `max_iter` times.

    A sweep that lowers the bound is not kept.

    Parameters
    ----------
    init : state
        State before the first sweep.
    step : callable
        State → state, pure.
    lower_bound : callable
        State → float, in nats.
    max_iter : int
    tol : float
    settled : state → bool, optional
        Stop when this holds instead, for algorithms that do not raise their bound in every sweep.

    Returns
    -------
    Trace
        Its ``outcome`` says how the loop ended. A fall within the rounding of floating-point sums is none.

    Examples
    --------
    >>> newton = iterate(1.0, lambda x: (x + 2 / x) / 2, lambda x: -abs(x * x - 2), max_iter=50, tol=1e-12)
    >>> round(newton.state, 6), newton.converged
    (1.414214, True)
    """
    state, bounds = init, list[float]()
    with counting("sweeps", max_iter) as sweeps:
        while len(bounds) < max_iter:
            following = step(state)
            bounds.append(float(lower_bound(following)))
            sweeps.update()
            if not math.isfinite(bounds[-1]):
                # the state before is the last with a finite bound
                return _end(state, bounds, Outcome.NOT_FINITE, tol)
            if settled is None and falls(bounds):
                return _end(state, bounds[:-1], Outcome.FELL, tol, change=bounds[-2] - bounds[-1])
            state = following
            outcome = _outcome(bounds, tol) if settled is None else Outcome.SETTLED if settled(state) else None
            if outcome is not None:
                return _end(state, bounds, outcome, tol)
    return _end(state, bounds, Outcome.STILL_RISING if settled is None else Outcome.NOT_SETTLED, tol)


def begin(
    init: Callable[[], State], step: Callable[[State], State], lower_bound: Callable[[State], float], **limits: Any
) -> Trace[State]:
    """Sweep as `iterate` does, from the state that a function makes."""
    return iterate(init(), step, lower_bound, **limits)


def falls(bounds: Sequence[float]) -> bool:
    """Whether the last of the bounds is below the one before by more than rounding."""
    return len(bounds) > 1 and bounds[-1] - bounds[-2] < -ROUNDING * max(abs(bounds[-1]), abs(bounds[-2]))


def _end(
    state: State, bounds: Sequence[float], outcome: Outcome, tol: float, *, change: float = math.nan
) -> Trace[State]:
    last = bounds[-1] if bounds else math.nan  # a run may have no sweep
    reason = outcome.value.format(tol=tol, n_iter=len(bounds), change=change, last=last)
    return Trace(state, tuple(bounds), outcome, reason)


def _outcome(bounds: Sequence[float], tol: float) -> Outcome | None:
    """How the loop ends after the last of the bounds, none of which fell; None if it goes on."""
    if len(bounds) < 2:
        return None
    return Outcome.CONVERGED if bounds[-1] - bounds[-2] <= tol * abs(bounds[-1]) else None


def restarts(
    run: Callable[..., Result], arguments: Iterable[tuple], *, n_jobs: int | None = None, unit: str = "restarts"
) -> list[Result]:
    """Call ``run(*arguments[i])`` for every i, side by side where `n_jobs` says so.

    Parameters
    ----------
    run : callable
        Returns a state; nothing is shared between calls.
    arguments : sequence of tuples
        The arguments of each call.
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
        # a generator yields in order while other calls still run, so that the bar moves
        parallel = Parallel(n_jobs=n_threads(n_jobs, len(calls)), prefer="threads", return_as="generator")
        for result in parallel(delayed(_join_bar)(bar, run, *call) for call in calls):
            results.append(result)
            done.update()
    return results


def n_threads(n_jobs: int | None, n_calls: int) -> int:
    """Threads that `n_jobs` stands for: not more than calls, nor many more than processors, which would only wait."""
    return max(min(effective_n_jobs(n_jobs), n_calls, MOST_THREADS * cpu_count()), 1)


def _join_bar(bar: Bar | None, run: Callable[..., Result], *call: Any) -> Result:
    with joining(bar):  # threads of a pool do not inherit context variables
        return run(*call)
