"""Items of which several classes are equally probable, in a sentence for reports and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.words import current_words

MOST_NAMED = 8  # items of a sentence


def sentences_on_ties(number: int, names: Sequence[Any]) -> list[str]:
    """Say how many items are undecided, and which; nothing if none is.

    number : of items
    names : of the first of them, or of all

    Examples
    --------
    >>> sentences_on_ties(1, ["Tom"])
    ['No class leads for 1 item; the first of the leading classes is told: Tom.']
    """
    if not number:
        return []
    shown = [name_text(name) for name in names[:MOST_NAMED]]
    shown += [quantify(number - len(shown), "other")] if number > len(shown) else []
    return [
        f"No class leads for {current_words().n_items(number)}; the first of the leading classes is told: "
        f"{join_names(shown)}."
    ]
