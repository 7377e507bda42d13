"""Simulated annotators who judge whether two items belong together.

Decided here
------------
Annotators err independently of each other and of the pair; each has the same accuracy for pairs of one class and of
two. Each annotator's pairs are drawn independently, so two annotators share a pair only by chance. Pairs are drawn by
their rank among all pairs of their kind, and never listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Pairs
from consilience.annotations.names import is_default, unique_names
from consilience.annotations.pairs import pairs_of_ranks
from consilience.annotations.types import RandomSource
from consilience.errors import InputError
from consilience.simulation._checks import accuracies, classes_and_items, generator, require_count, require_size

__all__ = ["simulate_pairs"]


def simulate_pairs(
    classes: Any,
    n_annotators: Any = 5,
    pairs_each: Any = 400,
    accuracy: Any = 0.85,
    balanced: Any = True,
    random_state: RandomSource = None,
    *,
    items: Any = None,
) -> Pairs:
    """Simulate annotators who judge whether the items of random pairs are of one class, with errors.

    Parameters
    ----------
    classes : array-like of shape (n_items,)
        True class of each item, names of any type.
    n_annotators : int, default=5
    pairs_each : int, default=400
        Number of distinct pairs that each annotator judges.
    accuracy : float or array-like of shape (n_annotators,), default=0.85
        Probability of a right judgement, of pairs of one class (sensitivity) and of two (specificity): one for all
        annotators or one for each.
    balanced : bool, default=True
        Whether half of each annotator's pairs are of one class; if `pairs_each` is odd, one more than half. Else all
        pairs of items are equally probable.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same judgements each time.
    items : array-like of shape (n_items,), optional
        Names of the items. By default the index of `classes` if it is a pandas Series, else 0 to n_items - 1.

    Returns
    -------
    Pairs
        Over all items, including those without judgements; annotators "annotator 1", "annotator 2", ...

    Raises
    ------
    InputError
        If `classes` is empty, not one-dimensional or has a missing value, if `items` or `accuracy` has another shape,
        if a parameter is out of range, or if there are too few pairs of one class or of two.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.simulation import simulate_pairs
    >>> iris = load_iris()
    >>> simulate_pairs(iris.target_names[iris.target], 3, 50, [0.9, 0.8, 0.6], random_state=0)
    Pairs(150 items, 3 annotators, 150 judgements)
    """
    codes, _, names = classes_and_items(classes, items)
    require_count("n_annotators", n_annotators, "simulate_pairs")
    require_count("pairs_each", pairs_each, "simulate_pairs")
    require_size(n_annotators, pairs_each, "judgements", "simulate_pairs")
    right = accuracies(accuracy, n_annotators, "simulate_pairs")
    if not isinstance(balanced, bool | np.bool_):
        raise InputError(f"The 'balanced' parameter of simulate_pairs must be True or False. Got {balanced!r} instead.")
    rng = generator(random_state)
    drawn = [_drawn_pairs(codes, pairs_each, bool(balanced), rng) for _ in range(n_annotators)]
    item_a, item_b = np.concatenate(drawn, axis=1)
    annotator = np.repeat(np.arange(n_annotators), pairs_each)
    wrong = rng.random(len(annotator)) >= right[annotator]
    annotators = pd.Index([f"annotator {m}" for m in range(1, n_annotators + 1)])
    return Pairs(
        items=unique_names(names, "items"),
        annotators=annotators,
        named=not is_default(names),
        item_a=item_a,
        item_b=item_b,
        annotator=annotator,
        same=(codes[item_a] == codes[item_b]) != wrong,
        grouping=annotator,
        groupings=annotators,
    ).in_order()


def _drawn_pairs(codes: np.ndarray, size: int, balanced: bool, rng: np.random.Generator) -> np.ndarray:
    """Draw distinct pairs of items for one annotator; (2, size)."""
    if not balanced:
        everything = np.array([len(codes)])
        return pairs_of_ranks(everything, _ranks(everything * (everything - 1) // 2, size, "items", rng))
    by_class = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    before = sizes.cumsum() - sizes
    same = pairs_of_ranks(sizes, _ranks(sizes * (sizes - 1) // 2, size - size // 2, "items of one class", rng))
    apart = _between(sizes, _ranks(sizes * before, size // 2, "items of two classes", rng))
    return by_class[np.concatenate([same, apart], axis=1)]


def _ranks(pairs_of_class: np.ndarray, size: int, what: str, rng: np.random.Generator) -> np.ndarray:
    """Return `size` distinct ranks among the pairs of all classes, all equally probable."""
    n_pairs = int(pairs_of_class.sum())
    if size > n_pairs:
        raise InputError(
            f"The 'pairs_each' parameter of simulate_pairs needs {size} distinct pairs of {what}, but there are only "
            f"{n_pairs}. Lower it, or draw with balanced=False."
        )
    return rng.choice(n_pairs, size, replace=False)


def _between(sizes: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return pairs by their rank among the pairs of two classes, with items sorted by class; (2, pairs).

    Each item of class k is paired with all items of the classes before.
    """
    before = sizes.cumsum() - sizes
    pairs = sizes * before
    k = np.searchsorted(pairs.cumsum(), rank, side="right")
    later, earlier = np.divmod(rank - (pairs.cumsum() - pairs)[k], before[k])
    return np.stack([earlier, before[k] + later])
