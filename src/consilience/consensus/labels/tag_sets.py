"""Sets of tags that items have, or are given: their names, and those that are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.annotations import Labels
from consilience.annotations.files.classes import place_of_classes
from consilience.annotations.names import MISSING, NO_TAG, is_no_tag, plain
from consilience.annotations.tags import place_of_tags
from consilience.annotations.types import Gold
from consilience.errors import InputError

Sets = Bool[np.ndarray, "sets tags"]


def distinct_sets(of_items: Bool[np.ndarray, "items tags"]) -> Sets:
    """Return the sets that items have, those of fewer tags first, then in the order of the tags.

    Examples
    --------
    >>> distinct_sets(np.array([[True, True], [False, True], [True, False], [False, True]])).astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    found = np.unique(of_items, axis=0)
    order = np.lexsort([*(~found.T)[::-1], found.sum(1)])
    return found[order]


def name_sets(sets: Sets, tags: pd.Index) -> pd.Index:
    """Name sets of tags: by the tag if all of them have one, else by text.

    Examples
    --------
    >>> name_sets(np.eye(2, dtype=bool), pd.Index([7, 9])).tolist()
    [7, 9]
    >>> name_sets(np.array([[False, False], [False, True], [True, True]]), pd.Index(["big", "red"])).tolist()
    ['(no tag)', 'red', 'big, red']
    """
    if len(sets) and (sets.sum(1) == 1).all():
        return tags.take(sets.argmax(1))
    texts = [str(plain(tag)) for tag in tags]
    for separator in (", ", "; ", " | "):
        names = [separator.join(texts[place] for place in np.flatnonzero(row)) or NO_TAG for row in sets]
        if len(set(names)) == len(names):
            return pd.Index(names, dtype=object)
    return pd.Index([repr([texts[place] for place in np.flatnonzero(row)]) for row in sets], dtype=object)


def answers_of(labels: Labels) -> tuple[Labels, Int[np.ndarray, " rows"]]:
    """Return what each annotator said of an item as one label, the set of the tags, and the place of each row's."""
    cells, place = np.unique(labels.item * labels.n_annotators + labels.annotator, return_inverse=True)
    tags = place_of_tags(labels.classes)
    tag = tags[labels.label]
    given = np.zeros((len(cells), int(tags.max(initial=MISSING)) + 1), dtype=bool)
    given[place[tag >= 0], tag[tag >= 0]] = True
    sets, code = np.unique(given, axis=0, return_inverse=True)
    item, annotator = np.divmod(cells, max(labels.n_annotators, 1))
    names = name_sets(sets, labels.classes[tags >= 0])
    return replace(labels, classes=names, item=item, annotator=annotator, label=code.ravel(), ordered=False), place


def known_tags(gold: Gold | None, labels: Labels) -> Int[np.ndarray, "items tags"] | None:
    """Return which tags items are known to have, 1, and not to have, 0; -1 for other items. None without gold items.

    Raises InputError: it is neither, an item is unknown, a tag is missing, or nobody gave it.

    gold : Series, or dict by item, or None; a tag, a list of tags, or `NO_TAG`. A Series may have several rows of an
        item. What is not named is absent.
    """
    if gold is None:
        return None
    if not isinstance(gold, dict | pd.Series):
        raise InputError(f"gold must be a Series or a dict of tags by item. Got {type(gold).__name__} instead.")
    pairs = [(item, tag) for item, tags in gold.items() for tag in _list_tags(item, tags)]
    if not pairs:
        return None
    items = labels.items.get_indexer(pd.Index([item for item, _ in pairs], tupleize_cols=False))
    if (items == MISSING).any():
        name = plain(pairs[int(np.argmax(items == MISSING))][0])
        raise InputError(f"The gold item {name!r} is not among the items.")
    tags = place_of_tags(labels.classes)
    classes = place_of_classes([tag for _, tag in pairs], labels.classes)
    is_none = np.array([is_no_tag(tag) for _, tag in pairs], dtype=bool)
    strange = (classes == MISSING) & ~is_none
    if strange.any():
        item, tag = map(plain, pairs[int(np.argmax(strange))])
        raise InputError(
            f"The gold item {item!r} has the tag {tag!r}, which nobody gave. Name all tags when you create the Labels, "
            "with classes=[...]."
        )
    known = np.full((len(labels), int(tags.max(initial=-1)) + 1), MISSING)
    known[items] = 0
    given = ~is_none & (tags[classes] >= 0)
    known[items[given], tags[classes[given]]] = 1
    return known


def _list_tags(item: Any, tags: Any) -> list[Any]:
    """Return the tags of a gold item, `NO_TAG` if it has none."""
    if isinstance(tags, list | tuple | set | frozenset | np.ndarray):
        return sorted(tags, key=str) or [NO_TAG]
    if pd.isna(tags):
        raise InputError(f"The gold item {plain(item)!r} has no tag; leave it out, or give {NO_TAG!r} if it has none.")
    return [tags]
