"""How far people agree with each other within each of two studies, and between the two.

Agreement is the adjusted Rand index of two people, over the items that both grouped. Intervals are those of the
Bayesian bootstrap over people: of both studies at once, with one weight for a person who took part in both. They are
widened as Student's t is wider than the normal distribution, and by √((n + 1) / (n - 1)), since the weights vary less
than people do; without that, intervals of ten people are too narrow. A person's
agreement with themselves does not count within or between; it is a row of its own if the same people took part twice.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.stats import norm
from scipy.stats import t as student_t

LOW, HIGH = 0.025, 0.975

Weights = Float[np.ndarray, "draws people"]


def agreement_table(
    index: Float[np.ndarray, "people people"],
    first: Bool[np.ndarray, " people"],
    partner: Int[np.ndarray, " people"],
    names: tuple[str, str],
    n_draws: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the mean agreement within and between two studies, with 95 % intervals.

    index : adjusted Rand index of each pair of people, NaN if they have no two items in common.
    first, partner : as for `assignments`.
    names : of the studies.
    n_draws : number of weightings.

    Returns DataFrame: columns agreement, low, high; NaN where no two people have items in common.
    """
    one, other = np.flatnonzero(first), np.flatnonzero(~first)
    person = np.arange(len(first))
    person[other] = np.where(partner[other] >= 0, partner[other], other)
    others = np.isfinite(index) & (person[:, None] != person)
    parts = {
        f"within {names[0]}": (one, one),
        f"within {names[1]}": (other, other),
        f"between {names[0]} and {names[1]}": (one, other),
    }
    weights = people_weights(person, n_draws, rng)
    rows = {name: _of_part(index, others, weights, mine, theirs) for name, (mine, theirs) in parts.items()}
    twice = one[partner[one] >= 0]
    if len(twice):
        with_self = index[twice, partner[twice]]
        known = np.isfinite(with_self)
        rows["of a person with themselves"] = _interval(
            _share(weights[:, twice[known]] @ with_self[known], weights[:, twice[known]].sum(1)),
            with_self[known].mean() if known.any() else np.nan,
            len(twice),
        )
    return pd.DataFrame.from_dict(rows, orient="index", columns=["agreement", "low", "high"])


def people_weights(person: Int[np.ndarray, " rows"], n_draws: int, rng: np.random.Generator) -> Weights:
    """Draw weights of people, exponentially distributed; rows of one person have one weight."""
    return np.asarray(rng.exponential(size=(n_draws, int(person.max(initial=0)) + 1))[:, person])


def _of_part(
    index: np.ndarray, counts: np.ndarray, weights: Weights, mine: np.ndarray, theirs: np.ndarray
) -> tuple[float, float, float]:
    some = np.ix_(mine, theirs)
    kept = counts[some].astype(float)
    value = np.where(kept > 0, index[some], 0.0)
    if not kept.any():
        return np.nan, np.nan, np.nan
    above = ((weights[:, mine] @ value) * weights[:, theirs]).sum(1)
    below = ((weights[:, mine] @ kept) * weights[:, theirs]).sum(1)
    return _interval(_share(above, below), float(value.sum() / kept.sum()), min(len(mine), len(theirs)))


def _share(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def _interval(draws: np.ndarray, value: float, n_people: int) -> tuple[float, float, float]:
    wider = student_t.ppf(HIGH, n_people - 1) / norm.ppf(HIGH) * np.sqrt((n_people + 1) / (n_people - 1))
    low, high = value + wider * (np.quantile(draws, [LOW, HIGH]) - value)
    return float(value), float(max(low, -1.0)), float(min(high, 1.0))
