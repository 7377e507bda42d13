"""What annotators said of each item, beside what the model makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.special import entr

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.fitted import given_or_kept, unwrap
from consilience.analysis.names import as_text
from consilience.annotations import Labels
from consilience.annotations.names import MISSING
from consilience.errors import InputError


def votes_table(labels: Labels) -> Int[np.ndarray, "items classes"]:
    """Count how often each item was given each label."""
    shape = len(labels), labels.n_classes
    cells = labels.item.astype(np.int64) * labels.n_classes + labels.label
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def item_votes(model: Any, annotations: Any) -> pd.DataFrame:
    """Tabulate the labels of each item beside the probabilities of its classes.

    Parameters
    ----------
    model : fitted estimator of labels
        Such as `DawidSkene` or `MajorityVote`.
    annotations : Labels, DataFrame or array
        What was passed to `fit`.

    Returns
    -------
    DataFrame, one row for each item, in the order of the model
        ``label``: the class found, missing if nothing is known; ``probability``: its probability, or share of votes;
        ``majority``: the label most often given, the first of several, missing without labels; ``n_votes``: the number
        of labels; ``tied``: whether several labels were given most often; ``differs``: whether the class found is none
        of these; ``disagreement``: the entropy of the labels, bits: 0 if all are equal, 1 if two labels are equally
        frequent; then the number of votes for each label, in columns "votes: …", and the probability of each class, in
        columns "probability: …".

    Raises
    ------
    InputError
        The model does not find classes from labels, or the annotations are missing or not those of the model.

    Examples
    --------
    >>> from consilience import Labels
    >>> from consilience.consensus import MajorityVote
    >>> from consilience.inspection import item_votes
    >>> labels = Labels.from_matrix([["cat", "cat", "dog"], ["dog", "dog", "dog"]], items=["Tom", "Rex"])
    >>> table = item_votes(MajorityVote().fit(labels), labels)
    >>> table[["label", "n_votes", "disagreement", "votes: cat"]].round(2).reset_index()
      item label  n_votes  disagreement  votes: cat
    0  Tom   cat        3          0.92           2
    1  Rex   dog        3          0.00           0
    """
    estimator = unwrap(model)
    labels = given_or_kept(model, annotations, "item_votes")
    if not Capabilities.of(estimator).names_classes or not isinstance(labels, Labels):
        raise InputError(
            f"item_votes needs a model that finds classes from labels, such as DawidSkene. Got "
            f"{type(estimator).__name__}."
        )
    classes = pd.Index(estimator.classes_, tupleize_cols=False)
    codes, probability = estimator._cluster_codes(), np.asarray(estimator.responsibilities_)
    votes = votes_table(labels)
    total = votes.sum(1)
    most = votes.max(1, initial=0)
    leading = (votes == most[:, None]) & (total > 0)[:, None]
    share = votes / np.maximum(total, 1)[:, None]
    same = classes.equals(labels.classes)
    backed = leading[np.arange(len(codes)), np.maximum(codes, 0)] if same else np.ones(len(codes), dtype=bool)
    figures = {
        "label": _names(classes, codes),
        "probability": np.where(codes >= 0, probability.max(1), np.nan),
        "majority": _names(labels.classes, np.where(total > 0, votes.argmax(1), MISSING)),
        "n_votes": total,
        "tied": leading.sum(1) > 1,
        "differs": (total > 0) & (codes >= 0) & ~backed,
        "disagreement": entr(share).sum(1) / np.log(2) + 0.0,
    }
    figures |= {f"votes: {as_text(name)}": votes[:, code] for code, name in enumerate(labels.classes)}
    figures |= {f"probability: {as_text(name)}": probability[:, code] for code, name in enumerate(classes)}
    return pd.DataFrame(figures, index=estimator.items_.rename("item"))


def votes_for_class(labels: Labels, names: pd.Index, codes: Int[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
    """Count the labels of each item that name its class; `codes` are places in `names`, negative for no class."""
    place = names.get_indexer(labels.classes)  # of the class that a label names
    return np.bincount(
        labels.item[(place[labels.label] == codes[labels.item]) & (codes[labels.item] >= 0)], minlength=len(labels)
    )


def _names(names: pd.Index, codes: Int[np.ndarray, " items"]) -> list[Any]:
    return [names[code] if code >= 0 else None for code in codes.tolist()]


def doubtful_first(table: pd.DataFrame) -> Int[np.ndarray, " items"]:
    """Return the places of the rows of `item_votes`, the least probable first, then those of most disagreement."""
    # probabilities that differ by less are equal: the disagreement decides
    probability = table["probability"].fillna(-1).round(3)
    return np.lexsort((np.arange(len(table)), -table["disagreement"], probability))
