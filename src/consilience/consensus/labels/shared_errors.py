"""Warnings of errors that annotators may share, which their labels cannot tell.

Labels fix the class that annotators agree on, not how often it is wrong. Few annotators can share any mistake, and no
statistic of the labels of three to seven tells those who do from independent ones. So the warning goes by their number.
Another one goes by the reliability of the consensus, from the agreement κ of two labels of an item beyond chance:

    n κ / (1 + (n - 1) κ),   n labels an item                       Spearman-Brown

It says how far other annotators would repeat the consensus. It is no test of probabilities.

Decided here
------------
κ is of pairs of labels of an item, where copies have one label; n is the mean over items with several labels.
"""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Bool, Int

from consilience.annotations.names import outside
from consilience.consensus.labels.pairs_of_labels import PairSums
from consilience.errors import CalibrationWarning

FEW = 7  # annotators
WEAK = 0.5  # reliability


def count_independent(heard: Bool[np.ndarray, " annotators"], group: Int[np.ndarray, " annotators"]) -> int:
    """Count annotators who are heard; a group of copies is one."""
    return int((heard & (group < 0)).sum() + len(np.unique(group[heard & (group >= 0)])))


def agreement_of_pairs(sums: PairSums) -> tuple[float, float]:
    """Return κ, and the mean number of labels of items with several; NaN if there are none.

    Examples
    --------
    >>> agreement_of_pairs(PairSums(np.array([[4.0, 1.0], [1.0, 4.0]]), 10, 10, np.array([10.0, 10.0])))
    (0.6, 2.0)
    """
    total = float(sums.pairs.sum())
    if not total:
        return np.nan, np.nan
    shares = sums.pairs / total
    by_chance = float((shares.sum(1) ** 2).sum())
    if by_chance == 1:
        return np.nan, np.nan
    kappa = (float(np.trace(shares)) - by_chance) / (1 - by_chance)
    return round(kappa, 12), 2 * total / sums.n_several


def warn_of_shared_errors(model: str, n_annotators: int, has_gold: bool, sums: PairSums) -> None:
    """Warn of few annotators without gold, and of weak agreement.

    model : name.
    n_annotators : see `count_independent`.
    has_gold : whether classes of items are known.
    sums : of the labels that are heard, one of each group of copies for each item.
    """
    if n_annotators <= FEW and not has_gold and sums.n_several:
        people = "is 1 annotator" if n_annotators == 1 else f"are {n_annotators} annotators"
        _warn(
            f"{model}: There {people} and no gold, so the probabilities rest on the assumption that mistakes are "
            "shared no more than in other crowds, which so few labels cannot show. Known classes of about 50 "
            "items, passed as gold, would show it."
        )
    kappa, n_labels = agreement_of_pairs(sums)
    reliability = n_labels * kappa / (1 + (n_labels - 1) * kappa) if kappa > 0 else kappa
    if reliability < WEAK:
        _warn(
            f"{model}: Labels agree weakly. Two labels of an item agree by κ = {kappa:.2f} beyond chance, so the "
            f"reliability of {n_labels:.1f} labels an item is {max(reliability, 0):.2f} (Spearman-Brown), less than "
            f"{WEAK:g}: other annotators would often choose other classes. More labels an item help."
        )


def _warn(text: str) -> None:
    warnings.warn(text, CalibrationWarning, stacklevel=outside())
