"""Rates of annotators of tags: their tables, and what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import entr

from consilience.annotations import Labels
from consilience.annotations.names import is_no_tag
from consilience.consensus.labels.tag_consensus import OfTags, TagEvidence
from consilience.consensus.labels.tag_sets import Sets

WEAK = 0.25  # sensitivity + specificity - 1, below which an annotator's tags tell little
SMALLEST = 1e-15  # sum of shares that is divided by


def log_answers(
    sensitivity: Float[np.ndarray, "annotators tags"], specificity: Float[np.ndarray, "annotators tags"]
) -> Float[np.ndarray, "classes answers annotators tags"]:
    """Log probability of not giving, and giving, a tag that is absent, and one that is present."""
    rates = np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])
    return np.log(np.maximum(rates, np.finfo(float).tiny))


def tabulate_rates(
    sensitivity: Float[np.ndarray, "annotators tags"],
    specificity: Float[np.ndarray, "annotators tags"],
    annotators: pd.Index,
    tags: pd.Index,
) -> pd.DataFrame:
    levels: Any = [annotators, tags]
    rows: Any = np.indices(sensitivity.shape).reshape(2, -1)
    index = pd.MultiIndex(levels, rows, names=["annotator", "tag"])
    return pd.DataFrame({"sensitivity": sensitivity.ravel(), "specificity": specificity.ravel()}, index)


def tabulate_shares(
    sets: Sets,
    sensitivity: Float[np.ndarray, "annotators tags"],
    specificity: Float[np.ndarray, "annotators tags"],
    classes: pd.Index,
) -> Float[np.ndarray, "annotators sets labels"]:
    """Share of each label among those that an annotator gives items of each set."""
    given = np.where(sets[None], sensitivity[:, None], 1 - specificity[:, None])
    found = np.empty((*given.shape[:2], len(classes)))
    is_none = np.array([is_no_tag(name) for name in classes], dtype=bool)
    found[:, :, ~is_none] = given
    found[:, :, is_none] = (1 - given).prod(2)[:, :, None]
    return found / found.sum(2, keepdims=True)


def tabulate_annotators(
    labels: Labels,
    evidence: TagEvidence,
    posterior: OfTags,
    sensitivity: Float[np.ndarray, "annotators tags"],
    specificity: Float[np.ndarray, "annotators tags"],
) -> pd.DataFrame:
    """Return the table of annotators; see `TagConsensus`."""
    n_items = np.asarray(evidence.seen.sum(0)).ravel().astype(int)
    given, _ = evidence.count(posterior)
    _, not_given = evidence.count(1 - posterior)
    n_answers = n_items * evidence.n_tags
    right = np.full(len(n_items), np.nan)
    np.divide((given + not_given).sum(1), n_answers, out=right, where=n_answers > 0)
    share = posterior.mean(0)
    says_yes = share * sensitivity + (1 - share) * (1 - specificity)
    unsure = share * _entropy(sensitivity) + (1 - share) * _entropy(specificity)
    over_tags = (sensitivity @ share / share.sum(), specificity @ (1 - share) / max((1 - share).sum(), SMALLEST))
    return pd.DataFrame(
        {
            "n_labels": np.bincount(labels.annotator, minlength=labels.n_annotators),
            "agreement": right,
            "accuracy": (share * sensitivity + (1 - share) * specificity).mean(1),
            "information": np.maximum((_entropy(says_yes) - unsure).sum(1), 0.0),
            "n_items": n_items,
            "sensitivity": over_tags[0],
            "specificity": over_tags[1],
            "weak": sum(over_tags) - 1 < WEAK,
        },
        index=labels.annotators.rename("annotator"),
    )


def _entropy(probability: np.ndarray) -> np.ndarray:
    """Entropy of an answer of yes with this probability, bits."""
    return np.asarray((entr(probability) + entr(1 - probability)) / np.log(2))
