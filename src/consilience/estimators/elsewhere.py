"""What a fit that an estimator does not run itself, such as one to partitions, needs of it, and leaves in it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.annotations.fit_arguments import values_of_missing
from consilience.estimators.base import CrowdEstimator


def check_parameters(estimator: CrowdEstimator) -> None:
    """Raise an InputError if a parameter is invalid, by itself or beside others."""
    estimator._check_parameters()


def show_progress(estimator: CrowdEstimator) -> AbstractContextManager[None]:
    """Context in which sweeps, restarts and the like are shown, if the estimator is verbose."""
    return estimator._progress()


def begin_fit(estimator: CrowdEstimator, missing: Any) -> None:
    """Forget the columns of an earlier fit, and keep in mind which values mean missing."""
    estimator._forget_columns()
    estimator._missing = values_of_missing(missing)


def read_features(estimator: CrowdEstimator, X: pd.DataFrame, *, reset: bool) -> Float[np.ndarray, "items features"]:
    """Return features as the estimator reads them; with `reset` their names are kept in mind, otherwise compared."""
    return estimator._features(X, reset=reset)


def keep_for_items(estimator: CrowdEstimator, told: Any) -> None:
    """Keep what tells of items that the estimator does not hold."""
    estimator._for_items = told


def told_of_items(estimator: CrowdEstimator) -> Any:
    """Return what was kept for items that the estimator does not hold; None after a fit in memory."""
    return vars(estimator).get("_for_items")
