"""What the axes of a map oppose, in words: the items at the two ends of each, and the words that go with these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.analysis.group_words import GroupWords
from consilience.analysis.names import join_names, name_text
from consilience.analysis.projection import HARDLY_SHOWN
from consilience.analysis.words import current_words

MOST_ITEMS = 8  # at an end
MOST_WORDS = 3
FAR = 0.5  # of the coordinate of the outermost item, from which another is at the same end


def say_ends(
    axis: str, items: pd.Index, points: Float[np.ndarray, "items axes"], cos2: np.ndarray, words: GroupWords | None
) -> str:
    """Say which items each axis has at its two ends; empty without axes.

    axis : what an axis is called.
    cos2 : as `points`; see `squared_cosines`. Items that the axis itself hardly shows are at none of its ends.
    words : those that go with most of the items at an end, and with none at the other, stand in brackets.
    """
    said = pd.DataFrame(columns=["word", "item", "n_annotators"]) if words is None else words.of_items()
    texts, any_words = [], False
    for number, (along, shown) in enumerate(zip(points.T, cos2.T, strict=True), 1):
        low, high = (_outermost(items, side * along, shown) for side in (-1, 1))
        own, other = words_of(low, said, high), words_of(high, said, low)
        any_words |= bool(own or other)
        ends = [_say_end(end, with_it) for end, with_it in ((low, own), (high, other)) if len(end)]
        apart = f"{ends[0]} apart from the rest" if len(ends) == 1 else " against ".join(ends) or "none shown well"
        texts.append(f"{axis} {number}: {apart}")
    if not texts:
        return ""
    brackets = ", in brackets words said more often than by chance of most of them" if any_words else ""
    these = current_words().items.capitalize()
    return f"{these} at the two ends, those of negative values first{brackets}. {'. '.join(texts)}."


def _outermost(items: pd.Index, along: Float[np.ndarray, " items"], cos2: Float[np.ndarray, " items"]) -> pd.Index:
    """Return the items at the upper end of an axis that shows them, the outermost first."""
    there = np.flatnonzero((cos2 >= HARDLY_SHOWN) & (along > 0))
    there = there[np.argsort(-along[there], kind="stable")]
    return items[there[along[there] >= FAR * along[there].max(initial=0)][:MOST_ITEMS]]


def words_of(items: pd.Index, said: pd.DataFrame, other: Sequence[Any] | pd.Index = ()) -> list[str]:
    """Return the words that go with more than half of some items, and with none of others.

    said : see `GroupWords.of_items`.
    """
    here = said[said["item"].isin(items) & ~said["word"].isin(said.loc[said["item"].isin(other), "word"])]
    each = (
        here.groupby("word", sort=False)["n_annotators"]
        .agg(["size", "sum"])
        .sort_values(["size", "sum"], ascending=False, kind="stable")
    )
    return [name_text(word) for word in each.index[2 * each["size"] > len(items)][:MOST_WORDS]]


def _say_end(items: pd.Index, words: list[str]) -> str:
    return join_names(list(map(name_text, items))) + (f" ({', '.join(words)})" if words else "")
