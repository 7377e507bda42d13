"""What several models need before partitions can fit them."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience.errors import InputError


def require_no_copies(model: Any) -> None:
    """Raise an InputError if copies of annotators are to be found."""
    if model.copies is not None:
        raise InputError(
            f"Over partitions, the 'copies' parameter of {type(model).__name__} must be None: groups that copies "
            "repeat are not left out of partitions. Find copies in memory on some of the items (copies_), and leave "
            f"all but one of each group out of the table. Got {model.copies!r} instead."
        )


def require_same_starts(model: Any, checkpoint: Any) -> None:
    """Raise an InputError if a fit that goes on from a checkpoint would draw other starts."""
    if checkpoint is not None and not isinstance(model.random_state, int | np.integer):
        raise InputError(
            f"With a checkpoint, the 'random_state' parameter of {type(model).__name__} must be an int, so that a fit "
            f"that goes on has the same starts. Got {model.random_state!r} instead."
        )
