"""Attributes that the loop of a fit sets on an estimator: sweeps, convergence, bounds; and its warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from consilience.annotations.names import outside
from consilience.inference.iterate import Outcome, Trace, UnsettledWarning


def keep_trace(estimator: Any, trace: Trace[Any]) -> None:
    """Set the attributes of a run of the loop, and warn if it did not converge.

    Raises FloatingPointError: the bound of the run is not finite.

    Warns UnsettledWarning: the run stopped before it converged.

    estimator : gets ``n_iter_``, ``converged_``, ``lower_bound_`` and ``lower_bounds_``
    trace : trace of the run that is kept.
    """
    keep_end(estimator, trace)
    estimator.lower_bounds_, estimator.lower_bound_ = np.array(trace.lower_bounds), trace.lower_bound


def keep_end(estimator: Any, trace: Trace[Any]) -> None:
    """Set only ``n_iter_`` and ``converged_``, for models without a bound; otherwise as `keep_trace`."""
    sentence = f"{type(estimator).__name__}: {trace.reason}"
    if trace.outcome is Outcome.NOT_FINITE:
        raise FloatingPointError(sentence)
    if not trace.converged:
        warnings.warn(sentence, UnsettledWarning, stacklevel=outside())
    estimator.n_iter_, estimator.converged_ = trace.n_iter, trace.converged
