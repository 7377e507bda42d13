"""Annotators who weigh together as one, in sentences for reports and summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from consilience.analysis.capabilities import attributes
from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.words import current_words

MOST_NAMED = 8  # annotators of a group in a sentence


def groups_of_copies(model: Any) -> list[dict[str, Any]]:
    """Return the rows of `copies_` of a fitted estimator; none if it has no such table."""
    has = attributes(model, ("copies_",))
    rows = has["copies_"].to_dict("records") if has else []
    return [{str(name): value for name, value in row.items()} for row in rows]


def n_changed_by_copies(model: Any) -> int:
    """Return the number of items whose class is another one if all annotators weigh alone."""
    has = attributes(model, ("labels_", "labels_apart_"))
    if "labels_apart_" not in has:
        return 0
    now, apart = pd.Series(has["labels_"]), pd.Series(has["labels_apart_"])
    return int(((now != apart) & ~(now.isna() & apart.isna())).sum())


def sentences_on_copies(groups: Sequence[Mapping[str, Any]], n_changed: int, n_items: int) -> list[str]:
    """Say who weighs together, why, and for how many items that matters; nothing if all weigh alone.

    Examples
    --------
    >>> groups = [{"annotators": ["a", "b", "c"], "n_items": 500, "agreement": 0.93, "expected": 0.27}]
    >>> for sentence in sentences_on_copies(groups, 31, 500):
    ...     print(sentence)  # doctest: +ELLIPSIS
    Weigh together as one annotator: a, b and c. They agree on 93% of the 500 items that they share, ...
    If all annotators weighed alone, 31 of 500 items would have another class.
    """
    words = current_words()
    if not groups:
        return []
    sentences = []
    for group in groups:
        names = [name_text(name) for name in group["annotators"]]
        if len(names) > MOST_NAMED:
            names = [*names[:MOST_NAMED], quantify(len(names) - MOST_NAMED, "other")]
        shared = quantify(group["n_items"], f"{words.item} that they share", f"{words.items} that they share")
        known = (
            ""
            if pd.isna(group["expected"])
            else f", where the other {words.annotators} explain {group['expected']:.0%}"
        )
        agreement = f" They agree on {group['agreement']:.0%} of the {shared}{known}." if group["n_items"] else ""
        sentences.append(f"Weigh together as one {words.annotator}: {join_names(names)}.{agreement}")
    changed = f"{n_changed:,} of {words.n_items(n_items)}" if n_changed else f"no {words.item}"
    return [*sentences, f"If all {words.annotators} weighed alone, {changed} would have another class."]
