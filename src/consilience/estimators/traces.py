"""What the loop of a fit leaves on an estimator: how many sweeps, whether it converged, its bounds; and the warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from consilience.annotations.names import outside
from consilience.inference.iterate import Outcome, Trace, UnsettledWarning


def keep_trace(estimator: Any, trace: Trace[Any]) -> None:
    """Set what a run of the loop came to, and warn if it did not converge.

    Parameters
    ----------
    estimator : gets ``n_iter_``, ``converged_``, ``lower_bound_`` and ``lower_bounds_``
    trace : Trace
        Of the run that is kept.

    Raises
    ------
    FloatingPointError
        The bound of the run is not finite.

    Warns
    -----
    UnsettledWarning
        The run stopped before it converged.
    """
    keep_end(estimator, trace)
    estimator.lower_bounds_, estimator.lower_bound_ = np.array(trace.lower_bounds), trace.lower_bound


def keep_end(estimator: Any, trace: Trace[Any]) -> None:
    """Set ``n_iter_`` and ``converged_`` alone, of a model without a bound; else as `keep_trace`."""
    sentence = f"{type(estimator).__name__}: {trace.reason}"
    if trace.outcome is Outcome.NOT_FINITE:
        raise FloatingPointError(sentence)
    if not trace.converged:
        warnings.warn(sentence, UnsettledWarning, stacklevel=outside())
    estimator.n_iter_, estimator.converged_ = trace.n_iter, trace.converged
