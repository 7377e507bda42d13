"""Simulated annotators of tags, as in `consilience.consensus.TagConsensus`.

Decided here
------------
Unless given, annotators have a mean sensitivity of Beta(6, 3) and a mean specificity of Beta(18, 1.5), and of each tag
a sensitivity and a specificity of Beta(s m, s (1 - m)) around these, where s is `likeness`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from consilience.annotations import Labels
from consilience.annotations.names import NO_TAG, is_default, unique_names
from consilience.annotations.types import RandomSource, Real
from consilience.errors import InputError
from consilience.simulation._checks import generator, names_of_items, require_count
from consilience.simulation.labels import cells

__all__ = ["simulate_tags"]


def simulate_tags(
    truth: Any,
    *,
    n_annotators: int = 20,
    annotators_per_item: int | None = None,
    sensitivity: Any = None,
    specificity: Any = None,
    likeness: Real = 50.0,
    items: Any = None,
    random_state: RandomSource = None,
) -> Labels:
    """Simulate annotators who give each item the tags that they see in it, and miss some, and invent others.

    Parameters
    ----------
    truth : array-like or DataFrame of bool, shape (n_items, n_tags)
        Whether each item has each tag. The columns of a DataFrame are the names of the tags, else they are "tag 1",
        "tag 2", ...
    n_annotators : int, default=20
    annotators_per_item : int, optional
        Number of random annotators who see each item. By default all.
    sensitivity, specificity : float, or array-like of shape (n_annotators,) or (n_annotators, n_tags), optional
        Probability of giving a tag that an item has, and of not giving one that it has not. By default drawn.
    likeness : float, default=50
        How much alike the drawn rates of an annotator are for all tags: the concentration around the annotator's mean.
    items : array-like of shape (n_items,), optional
        Names of the items. By default the index of a DataFrame, else 0 to n_items - 1.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same tags each time.

    Returns
    -------
    Labels
        A label for each tag, and "(no tag)" where an annotator gave an item none.

    Raises
    ------
    InputError
        `truth` or a parameter of annotators is not of the stated shape or range.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.simulation import simulate_tags
    >>> truth = np.random.default_rng(0).random((100, 4)) < 0.3
    >>> simulate_tags(truth, n_annotators=8, annotators_per_item=3, random_state=0)
    Labels(100 items, 8 annotators, 5 classes, 419 labels)
    """
    rng = generator(random_state)
    require_count("n_annotators", n_annotators, "simulate_tags")
    has = _truth(truth)
    tags = truth.columns if isinstance(truth, pd.DataFrame) else [f"tag {t}" for t in range(1, has.shape[1] + 1)]
    items = truth.index if items is None and isinstance(truth, pd.DataFrame) else items
    names = names_of_items(items, truth, len(has))
    shape = (n_annotators, has.shape[1])
    sees = _of_each("sensitivity", sensitivity, _draw_rates(rng, (6.0, 3.0), shape, likeness))
    spares = _of_each("specificity", specificity, _draw_rates(rng, (18.0, 1.5), shape, likeness))
    item, annotator = cells(len(has), n_annotators, None, annotators_per_item, rng)
    gives = rng.random((len(item), has.shape[1])) < np.where(has[item], sees[annotator], 1 - spares[annotator])
    row, tag = np.nonzero(np.column_stack([gives, ~gives.any(1)]))
    return Labels(
        items=unique_names(names, "items"),
        annotators=pd.Index([f"annotator {m}" for m in range(1, n_annotators + 1)]),
        named=not is_default(names),
        classes=unique_names([*tags, NO_TAG], "tags"),
        item=item[row],
        annotator=annotator[row],
        label=tag,
    ).in_order()


def _truth(given: Any) -> Bool[np.ndarray, "items tags"]:
    values = np.asarray(given)
    if values.ndim != 2 or not values.size or not np.isin(values, (0, 1)).all():
        raise InputError("The 'truth' of simulate_tags must be a table of items and tags with cells True or False.")
    return values.astype(bool)


def _draw_rates(
    rng: np.random.Generator, of: tuple[float, float], shape: tuple[int, int], likeness: float
) -> np.ndarray:
    """Draw the rates of each annotator and tag around the annotator's mean."""
    if not likeness > 0:
        raise InputError(f"The 'likeness' parameter of simulate_tags must be a positive number. Got {likeness!r}.")
    mean = rng.beta(*of, size=(shape[0], 1)).clip(1e-3, 1 - 1e-3)
    return rng.beta(likeness * mean, likeness * (1 - mean), size=shape)


def _of_each(name: str, given: Any, drawn: np.ndarray) -> np.ndarray:
    """Return the rate of each annotator and tag, as given or else drawn."""
    if given is None:
        return drawn
    values = np.asarray(given, dtype=float)
    values = values[:, None] if values.ndim == 1 else values
    is_valid = values.shape in ((), (len(drawn), 1), drawn.shape) and bool(((values >= 0) & (values <= 1)).all())
    if not is_valid:
        raise InputError(
            f"The '{name}' parameter of simulate_tags must be a number from 0 to 1, or one for each of the "
            f"{len(drawn)} annotators, or for each of these and each of the {drawn.shape[1]} tags. Got {given!r} "
            "instead."
        )
    return np.broadcast_to(values, drawn.shape)
