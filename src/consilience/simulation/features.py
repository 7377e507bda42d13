"""Simulated labels of items whose features tell more or less of their classes.

Decided here
------------
Features are Gaussian with a variance of one about the mean of the class; means are standard normal in each column,
times a shift. With many columns, even a small shift separates the classes. Annotators are those of `noisy_crowd`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from consilience.annotations.types import RandomSource
from consilience.datasets._bunch import DataBunch
from consilience.errors import InputError
from consilience.estimators.parameters import is_number
from consilience.simulation._checks import generator, require_count, require_size
from consilience.simulation.labels import noisy_crowd, simulate_labels

__all__ = ["simulate_labels_with_features"]


def simulate_labels_with_features(
    n_items: int = 300,
    *,
    n_features: int = 512,
    n_classes: int = 4,
    shift: float = 0.35,
    n_labelled: int = 200,
    n_annotators: int = 20,
    annotators_per_item: int = 3,
    random_state: RandomSource = None,
) -> DataBunch:
    """Simulate items with features, some of which annotators label.

    Parameters
    ----------
    n_items : int, default=300
    n_features : int, default=512
    n_classes : int, default=4
    shift : float, default=0.35
        Factor of the class means, at least 0: what the features tell. With 512 of them, 0.35 separates the
        classes; of 0.1, a classifier learns little from 200 items; 0 is nothing.
    n_labelled : int, default=200
        Number of random items that are labelled.
    n_annotators : int, default=20
        Each is right with a probability between 0.5 and 0.9; see `noisy_crowd`.
    annotators_per_item : int, default=3
        Number of random annotators that label each of these items.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same data each time.

    Returns
    -------
    DataBunch
        `data` (DataFrame of shape (n_items, n_features)), `target` (n_items,) true classes, `annotations` (Labels of
        all items, some of which have none).

    Raises
    ------
    InputError
        A parameter is out of range.

    Examples
    --------
    >>> from consilience.simulation import simulate_labels_with_features
    >>> data = simulate_labels_with_features(random_state=0)
    >>> data.data.shape, data.annotations
    ((300, 512), Labels(300 items, 20 annotators, 4 classes, 600 labels))
    """
    function = "simulate_labels_with_features"
    require_count("n_items", n_items, function)
    require_count("n_features", n_features, function)
    require_count("n_classes", n_classes, function, at_most=n_items)
    require_count("n_labelled", n_labelled, function, at_most=n_items)
    require_size(n_items, n_features, "numbers", function)
    if not is_number(shift, zero=True):
        raise InputError(f"The 'shift' parameter of {function} must be a number of at least 0. Got {shift!r} instead.")
    rng = generator(random_state)
    target = rng.permutation(np.arange(n_items) % n_classes)
    means = rng.standard_normal((n_classes, n_features))
    values = shift * means[target] + rng.standard_normal((n_items, n_features))
    crowd = noisy_crowd(n_annotators, n_classes, random_state=rng)
    labels = simulate_labels(target, confusion=crowd, annotators_per_item=annotators_per_item, random_state=rng)
    chosen = np.isin(labels.item, rng.choice(n_items, n_labelled, replace=False))
    labels = replace(labels, item=labels.item[chosen], annotator=labels.annotator[chosen], label=labels.label[chosen])
    data = pd.DataFrame(values, columns=[f"feature {j}" for j in range(1, n_features + 1)])
    return DataBunch(data=data, target=target, annotations=labels)
