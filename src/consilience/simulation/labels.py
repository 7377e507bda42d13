"""Simulated annotators who label the classes of items, and sparse crowds, in which few annotators know the classes.

Decided here
------------
Annotators err independently of each other given the class, as in the model of Dawid and Skene; `simulate_copies` adds
some who do not. Which items an
annotator labels does not depend on the class.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Labels
from consilience.annotations.labels import sorted_names
from consilience.annotations.names import is_default, unique_names
from consilience.annotations.types import Name, RandomSource
from consilience.errors import InputError
from consilience.simulation._checks import (
    accuracies,
    classes_and_items,
    generator,
    require_count,
    require_share,
    require_size,
)

__all__ = ["noisy_crowd", "simulate_copies", "simulate_labels", "sparse_crowd"]


def simulate_labels(
    classes: Any,
    *,
    n_annotators: int = 20,
    accuracy: Any = 0.7,
    confusion: Any = None,
    labels_each: int | None = None,
    annotators_per_item: int | None = None,
    items: Any = None,
    random_state: RandomSource = None,
) -> Labels:
    """Simulate annotators who label the classes of items, with errors.

    Parameters
    ----------
    classes : array-like of shape (n_items,)
        True class of each item, names of any type; they are the names of the labels.
    n_annotators : int, default=20
        Ignored if `confusion` is given.
    accuracy : float or array-like of shape (n_annotators,), default=0.7
        Probability of the right label: one for all annotators or one for each. All wrong labels are equally probable;
        with a single class there is none. Ignored if `confusion` is given.
    confusion : array-like of shape (n_annotators, n_classes, n_classes), optional
        Probability of each label (last axis) by each annotator for items of each class (middle axis), classes in
        sorted order. See `sparse_crowd`.
    labels_each : int, optional
        Number of random items that each annotator labels. By default all.
    annotators_per_item : int, optional
        Number of random annotators that label each item, instead of `labels_each`.
    items : array-like of shape (n_items,), optional
        Names of the items. By default the index of `classes` if it is a pandas Series, else 0 to n_items - 1.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same labels each time.

    Returns
    -------
    Labels
        Over all items and annotators, including those without labels; annotators "annotator 1", "annotator 2", ...

    Raises
    ------
    InputError
        If `classes` is empty, not one-dimensional or has a missing value, if `items`, `accuracy` or `confusion` has
        another shape, or if a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.simulation import simulate_labels
    >>> iris = load_iris()
    >>> simulate_labels(iris.target_names[iris.target], n_annotators=40, annotators_per_item=5, random_state=0)
    Labels(150 items, 40 annotators, 3 classes, 750 labels)
    """
    codes, found, names = classes_and_items(classes, items)
    appeared = unique_names(found, "classes")
    class_names = sorted_names(appeared)
    true = class_names.get_indexer(appeared)[codes]
    matrices = None if confusion is None else _matrices(confusion, len(class_names))
    n = n_annotators if matrices is None else len(matrices)
    require_count("n_annotators", n, "simulate_labels")
    rng = generator(random_state)
    item, annotator = cells(len(true), n, labels_each, annotators_per_item, rng)
    if matrices is None:
        right = accuracies(accuracy, n, "simulate_labels")
        label = with_errors(true[item], right[annotator], len(class_names), rng)
    else:
        label = draw_labels(matrices, annotator, true[item], rng)
    return Labels(
        items=unique_names(names, "items"),
        annotators=pd.Index([f"annotator {m}" for m in range(1, n + 1)]),
        named=not is_default(names),
        classes=class_names,
        item=item,
        annotator=annotator,
        label=label,
    ).in_order()


def simulate_copies(
    labels: Labels, annotator: Name, *, n_copies: int = 2, alike: float = 0.95, random_state: RandomSource = None
) -> Labels:
    """Add copies of an annotator: the same person again, or one language model with further prompts.

    Parameters
    ----------
    labels : Labels
    annotator : name
        Who is copied.
    n_copies : int, default=2
        Number of further annotators; those of "a" are called "a (copy 1)", "a (copy 2)", ...
    alike : float, default=0.95
        Probability that a copy repeats a label. Otherwise it gives a random one of the classes, which may be the same.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same labels each time.

    Returns
    -------
    Labels
        With the copies after the other annotators, each with labels of the same items as the original.

    Raises
    ------
    InputError
        The annotator is not among those of the labels, there already is one with the name of a copy, or a parameter is
        out of range.

    Examples
    --------
    >>> from consilience.simulation import simulate_copies, simulate_labels
    >>> labels = simulate_labels(["cat", "dog"] * 50, n_annotators=3, random_state=0)
    >>> copied = simulate_copies(labels, "annotator 2", n_copies=2, random_state=0)
    >>> copied.annotators.tolist()
    ['annotator 1', 'annotator 2', 'annotator 3', 'annotator 2 (copy 1)', 'annotator 2 (copy 2)']
    >>> matrix = copied.to_matrix()
    >>> float((matrix["annotator 2"] == matrix["annotator 2 (copy 1)"]).mean().round(2))
    0.96
    """
    require_count("n_copies", n_copies, "simulate_copies")
    require_share("alike", alike, "simulate_copies")
    place = labels.annotators.get_indexer(pd.Index([annotator], tupleize_cols=False))[0]
    if place < 0:
        raise InputError(
            f"The 'annotator' parameter of simulate_copies must name an annotator of the labels. Got {annotator!r} "
            "instead."
        )
    names = [*labels.annotators, *(f"{annotator} (copy {number})" for number in range(1, n_copies + 1))]
    rows = np.flatnonzero(labels.annotator == place)
    rng = generator(random_state)
    shape = (n_copies, len(rows))
    repeated = rng.random(shape) < alike
    label = np.where(repeated, labels.label[rows], rng.integers(labels.n_classes, size=shape))
    return replace(
        labels,
        annotators=unique_names(names, "annotators"),
        item=np.append(labels.item, np.tile(labels.item[rows], n_copies)),
        annotator=np.append(labels.annotator, np.repeat(labels.n_annotators + np.arange(n_copies), len(rows))),
        label=np.append(labels.label, label.ravel()),
    ).in_order()


def sparse_crowd(
    n_annotators: int = 100,
    n_classes: int = 3,
    *,
    alpha: float = 0.1,
    accuracy: Any = 0.6,
    random_state: RandomSource = None,
) -> np.ndarray:
    """Return confusion matrices of a crowd in which few annotators can distinguish the classes: the α-sparse crowd.

    Parameters
    ----------
    n_annotators : int, default=100
    n_classes : int, default=3
    alpha : float, default=0.1
        Share of experts, in [0, 1]: the first ⌈alpha * n_annotators⌉ annotators. All others draw labels from the same
        distribution for all classes, which is drawn for each annotator from a Dirichlet(1, ..., 1).
    accuracy : float or array-like of shape (n_experts,), default=0.6
        Probability of an expert's right label: one for all or one for each. All wrong labels are equally probable.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same crowd each time.

    Returns
    -------
    ndarray, shape (n_annotators, n_classes, n_classes)
        Probability of each label (last axis) by each annotator for items of each class, for `simulate_labels`.

    Raises
    ------
    InputError
        A parameter is out of range, or `accuracy` has another length.

    References
    ----------
    Zhao & Zucker. Stagewise learning for sparse clustering of discretely-valued data. Section 4.

    Examples
    --------
    >>> from consilience.simulation import simulate_labels, sparse_crowd
    >>> crowd = sparse_crowd(alpha=0.05, random_state=0)
    >>> crowd[4].round(2).tolist()
    [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]
    >>> crowd[5].round(2).tolist()
    [[0.4, 0.59, 0.01], [0.4, 0.59, 0.01], [0.4, 0.59, 0.01]]
    >>> simulate_labels([0, 1, 2, 2], confusion=crowd, random_state=0)
    Labels(4 items, 100 annotators, 3 classes, 400 labels)
    """
    require_count("n_annotators", n_annotators, "sparse_crowd")
    require_count("n_classes", n_classes, "sparse_crowd")
    require_size(n_annotators, n_classes**2, "probabilities", "sparse_crowd")
    require_share("alpha", alpha, "sparse_crowd")
    n_experts = math.ceil(round(alpha * n_annotators, 9))  # 0.07 * 100 is a little more than 7
    right = accuracies(accuracy, n_experts, "sparse_crowd", of="experts")[:, None, None]
    wrong = (1 - right) / max(n_classes - 1, 1)
    experts = np.where(np.eye(n_classes, dtype=bool), right if n_classes > 1 else 1.0, wrong)
    habits = generator(random_state).dirichlet(np.ones(n_classes), n_annotators - n_experts)
    return np.concatenate([experts, np.repeat(habits[:, None], n_classes, axis=1)])


def noisy_crowd(
    n_annotators: int = 20,
    n_classes: int = 4,
    *,
    low: float = 0.5,
    high: float = 0.9,
    random_state: RandomSource = None,
) -> np.ndarray:
    """Return confusion matrices of a crowd in which everybody has an accuracy and errors of their own.

    Parameters
    ----------
    n_annotators : int, default=20
    n_classes : int, default=4
    low, high : float, default=0.5, 0.9
        The probability of a right label, the same for all classes, is drawn for each annotator from a uniform
        distribution between these; the shares of the wrong labels for each annotator and class from a
        Dirichlet(1, ..., 1).
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same crowd each time.

    Returns
    -------
    ndarray, shape (n_annotators, n_classes, n_classes)
        Probability of each label (last axis) by each annotator for items of each class, for `simulate_labels`.

    Raises
    ------
    InputError
        A parameter is out of range.

    Examples
    --------
    >>> from consilience.simulation import noisy_crowd
    >>> noisy_crowd(2, 3, random_state=0)[0].round(2).tolist()
    [[0.75, 0.22, 0.03], [0.12, 0.75, 0.13], [0.25, 0.0, 0.75]]
    """
    require_count("n_annotators", n_annotators, "noisy_crowd")
    require_count("n_classes", n_classes, "noisy_crowd")
    require_size(n_annotators, n_classes**2, "probabilities", "noisy_crowd")
    require_share("low", low, "noisy_crowd")
    require_share("high", high, "noisy_crowd")
    rng = generator(random_state)
    right = rng.uniform(min(low, high), max(low, high), n_annotators)[:, None]
    if n_classes == 1:
        return np.ones((n_annotators, 1, 1))
    matrices = np.empty((n_annotators, n_classes, n_classes))
    for k in range(n_classes):
        matrices[:, k, np.arange(n_classes) != k] = (1 - right) * rng.dirichlet(np.ones(n_classes - 1), n_annotators)
        matrices[:, k, k] = right[:, 0]
    return matrices


def distinct_choices(n_rows: int, n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw for each row `size` distinct numbers of range(n), all subsets equally probable; (n_rows, size).

    Floyd's algorithm: take a random one of the first j + 1, or the last of them if the random one is already taken.
    """
    chosen = np.empty((n_rows, size), dtype=np.int64)
    for column, last in enumerate(range(n - size, n)):
        drawn = rng.integers(last + 1, size=n_rows)
        taken = (chosen[:, :column] == drawn[:, None]).any(axis=1)
        chosen[:, column] = np.where(taken, last, drawn)
    return chosen


def with_errors(true: np.ndarray, right: np.ndarray, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Return labels that are right with probability `right`, else one of the others; of the shape of `true`."""
    wrong = rng.random(len(true)) >= right
    # of a single class none is drawn, but the range must not be empty
    steps = rng.integers(1, max(n_classes, 2), size=len(true))
    return np.where(wrong, (true + steps) % n_classes, true)


def draw_labels(matrices: np.ndarray, annotator: np.ndarray, true: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw labels from the row of each annotator's matrix for the true class."""
    cumulative = matrices.cumsum(axis=2)
    cumulative /= cumulative[:, :, -1:]  # end at exactly 1, so that no label of probability 0 is drawn
    drawn = rng.random(len(true))
    label = np.zeros(len(true), dtype=np.int64)
    for k in range(matrices.shape[2] - 1):
        label += drawn >= cumulative[annotator, true, k]
    return label


def cells(
    n_items: int, n_annotators: int, labels_each: int | None, annotators_per_item: int | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    if annotators_per_item is not None and labels_each is not None:
        raise InputError("simulate_labels takes labels_each or annotators_per_item. Got both.")
    if annotators_per_item is not None:
        name, limit = "annotators_per_item", "the number of annotators"
        require_count(name, annotators_per_item, "simulate_labels", at_most=n_annotators, limit=limit)
        require_size(n_items, annotators_per_item, "labels", "simulate_labels")
        annotator = distinct_choices(n_items, n_annotators, annotators_per_item, rng)
        return np.repeat(np.arange(n_items), annotators_per_item), annotator.ravel()
    if labels_each is None:
        require_size(n_annotators, n_items, "labels", "simulate_labels")
        return np.repeat(np.arange(n_items), n_annotators), np.tile(np.arange(n_annotators), n_items)
    require_count("labels_each", labels_each, "simulate_labels", at_most=n_items)
    require_size(n_annotators, labels_each, "labels", "simulate_labels")
    item = [rng.choice(n_items, labels_each, replace=False) for _ in range(n_annotators)]
    return np.concatenate(item), np.repeat(np.arange(n_annotators), labels_each)


def _matrices(confusion: Any, n_classes: int) -> np.ndarray:
    matrices = np.asarray(confusion, dtype=float)
    if matrices.ndim != 3 or len(matrices) == 0 or matrices.shape[1:] != (n_classes, n_classes):
        raise InputError(
            "The 'confusion' parameter of simulate_labels must have the shape (n_annotators, "
            f"{n_classes}, {n_classes}) for {n_classes} classes. Got shape {matrices.shape} instead."
        )
    distributions = (matrices >= 0).all(axis=2) & np.isclose(matrices.sum(axis=2), 1, atol=1e-6)
    if not distributions.all():
        annotator, k = np.argwhere(~distributions)[0]
        raise InputError(
            "Each row of the 'confusion' parameter of simulate_labels must be probabilities that sum to 1. Got "
            f"{matrices[annotator, k].tolist()} for annotator {annotator} and class {k}."
        )
    return matrices
