"""Simulated annotators of items whose true classes are known.

`simulate_experts` simulates the experts of Chen, Chang, Castaldi, Cho, Hobbs & Dy (2018), Crowdclustering with
Partition Labels, AISTATS, section 4.1: each labels the items by one binary question about the classes, leaves some
classes unlabelled, and makes some errors. `simulate_crowd` generates the crowd of a sorting task: each annotator sorts
some of the items into groups, more or less finely and more or less carefully.

Decided here
------------
The paper splits the classes "randomly into 3 sets". Here each of the three has at least one class, and all such splits
are equally probable: each class is assigned to one of the sets with equal probability, and a split with an empty set is
drawn again. "Flip 10 % of the labels" and "a subset of labels from each expert" are exact shares (rounded to whole
labels) of each expert's labels, drawn without replacement, so that no expert is by chance far better or more diligent
than specified. Labels are flipped before some are hidden: the observed ones have the specified share of errors on
average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Groupings
from consilience.annotations.names import is_default
from consilience.annotations.types import RandomSource
from consilience.errors import InputError
from consilience.simulation._checks import (
    accuracies,
    classes_and_items,
    generator,
    require_count,
    require_share,
    require_size,
)

__all__ = ["simulate_crowd", "simulate_experts"]

POSITIVE, NEGATIVE, UNLABELLED = range(3)
_LABELS = np.array(["positive", "negative", None], dtype=object)


def simulate_experts(
    classes: Any,
    *,
    n_annotators: int = 10,
    observed: float = 1.0,
    flip: float = 0.1,
    items: Any = None,
    random_state: RandomSource = None,
) -> Groupings:
    """Simulate experts who each label items by one binary question about the classes, for some of the classes only.

    Each expert splits the set of classes at random into three non-empty sets, labels the items of the first
    "positive", those of the second "negative", leaves those of the third unlabelled, and errs on a share of the labels.

    Parameters
    ----------
    classes : array-like of shape (n_items,)
        True class of each item, names of any type; at least 3 classes.
    n_annotators : int, default=10
    observed : float, default=1.0
        Share of each expert's labels that is kept, in (0, 1]; rounded to whole labels, at least one. With one
        integer `random_state` the labels kept at a lower share are among those kept at a higher one.
    flip : float, default=0.1
        Share of each expert's labels that is flipped to the other label, in [0, 1]; rounded to whole labels.
    items : array-like of shape (n_items,), optional
        Names of the items. By default the index of `classes` if it is a pandas Series, else 0 to n_items - 1.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same annotations each time.

    Returns
    -------
    Groupings
        One grouping per annotator, with the groups "positive" and "negative"; annotators "expert 1", "expert 2", ...

    Raises
    ------
    InputError
        If `classes` is empty, not one-dimensional, has a missing value or fewer than 3 classes, if `items` has
        another length, or if a parameter is out of range.

    References
    ----------
    Chen, Chang, Castaldi, Cho, Hobbs & Dy (2018). Crowdclustering with partition labels. AISTATS, section 4.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.simulation import simulate_experts
    >>> classes = load_iris().target
    >>> experts = simulate_experts(classes, n_annotators=5, observed=0.3, random_state=0)
    >>> experts.n_items, experts.n_annotators
    (150, 5)

    An expert labels two of the three classes of 50, so 30 % of 100 items:

    >>> experts.to_matrix().notna().sum().tolist()
    [30, 30, 30, 30, 30]
    """
    codes, class_names, names = classes_and_items(classes, items)
    n_classes = len(class_names)
    if n_classes < 3:
        raise InputError(
            "simulate_experts needs at least 3 classes: at least one each to be labelled positive, negative and left "
            f"unlabelled. Got {n_classes} instead."
        )
    require_count("n_annotators", n_annotators, "simulate_experts")
    require_size(n_annotators, len(codes), "labels", "simulate_experts")
    require_share("observed", observed, "simulate_experts", zero=False)
    require_share("flip", flip, "simulate_experts")
    rng = generator(random_state)
    label = split_classes(n_classes, n_annotators, rng)[:, codes].T
    given = label != UNLABELLED
    flipped = _random_share(given, flip, rng)
    kept = _random_share(given, observed, rng, at_least=1)
    label = np.where(kept, np.where(flipped, POSITIVE + NEGATIVE - label, label), UNLABELLED)
    annotators = [f"expert {m}" for m in range(1, n_annotators + 1)]
    return Groupings.from_matrix(pd.DataFrame(_LABELS[label], index=names), annotators=annotators)


def simulate_crowd(
    classes: Any,
    *,
    n_annotators: int = 20,
    items_each: int | None = None,
    accuracy: Any = 0.9,
    merge: float = 0.0,
    items: Any = None,
    random_state: RandomSource = None,
) -> Groupings:
    """Simulate annotators who each sort some of the items into groups, finely or coarsely, with errors.

    Each annotator sees a random subset of the items and puts each into the group of its class. Coarse annotators
    merge some classes into one group beforehand. A misplaced item is put into one of the annotator's other groups.

    Parameters
    ----------
    classes : array-like of shape (n_items,)
        True class of each item, names of any kind.
    n_annotators : int, default=20
    items_each : int, optional
        Number of items that each annotator sees, at most n_items. By default all.
    accuracy : float or array-like of shape (n_annotators,), default=0.9
        Probability that an annotator puts an item into the right group: one for all or one for each. Annotators with
        a single group make no errors.
    merge : float, default=0.0
        How coarse the groups are, in [0, 1]. With K classes, each annotator merges Binomial(K - 1, merge) classes,
        chosen at random, into groups of the others, so at 0 groups are the true classes and at 1 there is a single one.
    items : array-like of shape (n_items,), optional
        Names of the items. By default the index of `classes` if it is a pandas Series, else 0 to n_items - 1.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same annotations each time.

    Returns
    -------
    Groupings
        One grouping per annotator, over all items, including those that nobody saw; annotators "annotator 1",
        "annotator 2", ..., groups "group 1", "group 2", ... in a different order for each annotator.

    Raises
    ------
    InputError
        If `classes` is empty, not one-dimensional or has a missing value, if `items` or `accuracy` has another
        length, or if a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from consilience.simulation import simulate_crowd
    >>> digits = load_digits()
    >>> crowd = simulate_crowd(digits.target, n_annotators=40, items_each=100, merge=0.3, random_state=0)
    >>> crowd.n_items, crowd.n_annotators, crowd.n_rows
    (1797, 40, 4000)
    """
    codes, class_names, names = classes_and_items(classes, items)
    n_classes = len(class_names)
    require_count("n_annotators", n_annotators, "simulate_crowd")
    require_share("merge", merge, "simulate_crowd")
    each = len(codes) if items_each is None else items_each
    require_count("items_each", each, "simulate_crowd", at_most=len(codes))
    require_size(n_annotators, each, "labels", "simulate_crowd")
    right = accuracies(accuracy, n_annotators, "simulate_crowd")
    rng = generator(random_state)
    group_of_class, n_groups = merge_classes(n_classes, n_annotators, merge, rng)
    seen = np.stack([rng.choice(len(codes), each, replace=False) for _ in range(n_annotators)])
    group = np.take_along_axis(group_of_class, codes[seen], axis=1)
    misplaced = (rng.random(seen.shape) >= right[:, None]) & (n_groups > 1)[:, None]
    # of a single group none is drawn, but the range must not be empty
    steps = rng.integers(1, np.maximum(n_groups, 2)[:, None], size=seen.shape)
    group = np.where(misplaced, (group + steps) % n_groups[:, None], group)
    annotators = np.array([f"annotator {m}" for m in range(1, n_annotators + 1)], dtype=object)
    group_names = np.array([f"group {g}" for g in range(1, n_classes + 1)], dtype=object)
    frame = pd.DataFrame(
        {"item": names[seen.ravel()], "annotator": annotators.repeat(each), "group": group_names[group.ravel()]}
    )
    return Groupings.from_frame(frame, items=range(len(names)) if is_default(names) else names)


def split_classes(n_classes: int, n_annotators: int, rng: np.random.Generator) -> np.ndarray:
    """Return for each annotator the set (0, 1 or 2) of each class, (n_annotators, n_classes); no set is empty.

    Uniform over all such splits: rejection from a uniform distribution is uniform over what it accepts. At worst
    (3 classes) 6 of 27 draws are accepted, so a few rounds suffice.
    """
    splits = rng.integers(3, size=(n_annotators, n_classes))
    while (rejected := _has_an_empty_set(splits)).any():
        splits[rejected] = rng.integers(3, size=(rejected.sum(), n_classes))
    return splits


def merge_classes(
    n_classes: int, n_annotators: int, merge: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each class (n_annotators, n_classes), and the number of groups (n_annotators,).

    The first classes in a random order start a group each, the others join groups at random.
    """
    n_groups = n_classes - rng.binomial(n_classes - 1, merge, size=n_annotators)
    shape, rank = (n_annotators, n_classes), np.arange(n_classes)
    joined = rng.integers(n_groups[:, None], size=shape)
    order = rng.permuted(np.broadcast_to(rank, shape), axis=1)
    group_of_class = np.empty(shape, dtype=int)
    np.put_along_axis(group_of_class, order, np.where(rank < n_groups[:, None], rank, joined), axis=1)
    return group_of_class, n_groups


def _has_an_empty_set(splits: np.ndarray) -> np.ndarray:
    return ~(splits[:, :, None] == np.arange(3)).any(axis=1).all(axis=1)


def _random_share(mask: np.ndarray, share: float, rng: np.random.Generator, *, at_least: int = 0) -> np.ndarray:
    """Choose exactly `share` (rounded) of each column's True entries at random: bool of the shape of `mask`.

    The draws are the same for every share, so that a smaller share is a subset of a larger one.
    """
    keys = np.where(mask, rng.random(mask.shape), np.inf)
    rank = keys.argsort(axis=0).argsort(axis=0)
    return rank < np.maximum(np.floor(share * mask.sum(axis=0) + 0.5), at_least)
