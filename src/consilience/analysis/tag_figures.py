"""Figures of tags: how many items have each, which are in doubt, and how well annotators see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Labels
from consilience.annotations.tags import TagSets

DOUBT = 0.25  # distance of a probability from 1/2, within which a tag is in doubt


def tag_figures(model: Any) -> pd.DataFrame:
    """Tabulate the tags.

    model : fitted `TagConsensus`

    Returns DataFrame, one row for each tag: n_items that have it; n_doubtful, items of which its probability is between
    1/4 and 3/4; prevalence, its mean probability; sensitivity and specificity, means over annotators weighted by the
    items that they saw.
    """
    rates = model.rates_.to_numpy().reshape(len(model.annotators_), len(model.tags_), 2)
    mean = np.average(rates, axis=0, weights=model.annotators_["n_items"].to_numpy(float))
    in_doubt = np.abs(model.probabilities_ - 0.5) < DOUBT
    return pd.DataFrame(
        {
            "n_items": model.indicator_.sum(0),
            "n_doubtful": in_doubt.sum(0),
            "prevalence": model.prevalence_.to_numpy(),
            "sensitivity": mean[:, 0],
            "specificity": mean[:, 1],
        },
        index=pd.Index(model.tags_, tupleize_cols=False, name="tag"),
    )


def item_tags(model: Any, labels: Labels) -> pd.DataFrame:
    """Tabulate every item and tag.

    model : fitted `TagConsensus`
    labels : what was passed to `fit`.

    Returns DataFrame, one row for each item and tag: item, tag; probability that the item has it; present, whether that
    is above 1/2; n_given, how many annotators gave the tag, and n_seen, how many saw the item.
    """
    sets = TagSets.of(labels)
    place = pd.Index(model.tags_, tupleize_cols=False).get_indexer(sets.tags)
    given = np.zeros(model.probabilities_.shape, dtype=int)
    np.add.at(given, (sets.item, place[sets.tag]), 1)
    n_seen = np.asarray(sets.seen.sum(1)).ravel().astype(int)
    item, tag = np.indices(given.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "item": model.items_[item],
            "tag": model.tags_[tag],
            "probability": model.probabilities_.ravel(),
            "present": model.indicator_.ravel() == 1,
            "n_given": given.ravel(),
            "n_seen": n_seen[item],
        }
    )


def doubtful_tags(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the rows of `item_tags` that are in doubt, the most doubtful first, at most so many.

    Examples
    --------
    >>> table = pd.DataFrame({"tag": ["big", "red"], "probability": [0.1, 0.6], "n_seen": [3, 3]})
    >>> doubtful_tags(table, 5)["tag"].tolist()
    ['red']
    """
    distance = (table["probability"] - 0.5).abs()
    order = distance.round(3).sort_values(kind="stable").index
    return table.loc[order][(distance < DOUBT)[order] & (table["n_seen"] > 0)[order]].head(most)
