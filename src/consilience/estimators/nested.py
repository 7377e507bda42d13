"""Estimators that users hand over as parameters of others."""

from __future__ import annotations

from typing import Any

import numpy as np


def set_seeds(estimator: Any, rng: np.random.RandomState) -> None:
    """Set the seeds of all parts of an estimator that draw at random and have none.

    estimator : scikit-learn estimator; it is changed.
    """
    draws = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())  # the order of parameters decides no seed
        if value is None and name.rsplit("__", 1)[-1] == "random_state"
    ]
    estimator.set_params(**{name: int(rng.randint(2**31 - 1)) for name in draws})
