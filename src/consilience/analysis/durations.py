"""How long people took, in seconds by annotator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.names import plain
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError


def durations_of(annotators: pd.Index, given: Any, left_out: tuple[Any, ...] = ()) -> pd.Series | None:
    """Return the seconds of each annotator, NaN where they are not known; None if none are.

    Raises InputError: nobody has that name, or somebody has two times; or a time is no number of at least 0.

    given : mapping or Series from annotators to seconds, or None
    left_out : names that are no annotators any more, and may have seconds.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping | pd.Series):
        raise InputError(f"Seconds must be a dict or a Series by annotator. Got {type(given).__name__} instead.")
    found = pd.Series(given, dtype=object) if isinstance(given, Mapping) else given
    if not found.index.is_unique:
        raise InputError(f"The annotator {plain(found.index[found.index.duplicated()][0])!r} has two times.")
    for name, value in found.items():
        if name not in annotators and name not in left_out:
            known = {str(plain(one)): one for one in annotators}
            raise InputError(f"Seconds are given for {plain(name)!r}, who is no annotator.{near_spelling(name, known)}")
        if not _is_duration(value):
            raise InputError(
                f"The seconds of the annotator {plain(name)!r} must be a number of at least 0. Got {value!r}."
            )
    found = pd.to_numeric(found, errors="coerce").astype(float).reindex(annotators)
    return None if found.isna().all() else found


def _is_duration(value: Any) -> bool:
    if value is None or value is pd.NA:
        return True
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and bool(np.isnan(value) or 0 <= value < np.inf)
