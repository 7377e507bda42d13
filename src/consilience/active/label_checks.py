"""Whether labels are as often what a model predicted as it expected, of items that it chose and of those at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience.active.label_gain import confusion_or_crowd
from consilience.annotations.names import plain
from consilience.inference.clusters import most_probable

BEYOND_CHANCE = 2.0  # standard errors

Compared = tuple[bool, float, bool]  # whether the item was drawn at random, expected and observed agreement


def compare(model: Any, place: int, annotator: Any, label: Any) -> tuple[float, bool]:
    """Return the probability that a label would be the most probable class of an item, and whether it is."""
    posterior = model.responsibilities_[place]
    best = int(most_probable(posterior[None])[0])
    known = annotator if annotator in model.annotators_.index else None
    expected = float(posterior @ confusion_or_crowd(model, known)[:, best])
    return expected, bool(plain(model.classes_[best]) == plain(label))


def tabulate_checks(answers: Sequence[Compared]) -> pd.DataFrame:
    """Return what `LabelSession.checks_` describes."""
    latter = answers[len(answers) // 2 :]  # the first models knew little
    rows = {
        name: _check([(expected, agreed) for drawn, expected, agreed in latter if drawn is at_random])
        for name, at_random in (("chosen", False), ("at random", True))
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["n_labels", "expected", "observed", "standard_error"])


def _check(answers: list[tuple[float, bool]]) -> tuple[int, float, float, float]:
    if not answers:
        return 0, np.nan, np.nan, np.nan
    expected, agreed = np.array(answers, dtype=float).T
    error = np.sqrt((expected * (1 - expected)).sum()) / len(answers)
    return len(answers), expected.mean(), agreed.mean(), error


def say_misleads(checks: pd.DataFrame) -> str:
    """Say whether labels of items drawn at random are less often as predicted than chance explains."""
    n_labels, expected, observed, error = checks.loc["at random"].to_numpy()
    if not n_labels or observed >= expected - BEYOND_CHANCE * error:
        return ""
    return (
        f" But of {n_labels:.0f} labels of items drawn at random, {observed:.0%} were the most probable class, and "
        f"{expected:.0%} were expected: the model misleads."
    )
