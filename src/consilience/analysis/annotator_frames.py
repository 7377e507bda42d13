"""The figures of every annotator, and a remark on those who stand out, by what the model knows of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import entr
from scipy.stats import binom

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Labels
from consilience.annotations.names import MISSING
from consilience.inference.clusters import are_tied, most_probable

CHANCE = 0.01  # that any annotator who draws labels at the crowd's shares is said to give always the same one
INFORMATIVE = 0.05  # share of the entropy of the classes that informative labels tell at least
MIN_ACCURACY = 0.8  # of the labels of a grouping, from which the clusters predict it
NO_BETTER_THAN_GUESSING = "no better than guessing"
NO_ANNOTATIONS = "no annotations"
NEARER_TO_CHANCE = "nearer to chance than to the others"
UNLUCKY = 0.05  # probability of so few labels that name the class
OF_A_SORT = {  # whose people are neither right nor wrong
    "almost uninformative": "says little of the classes",
    "often wrong, but informative": "uses names in another sense",
    NO_BETTER_THAN_GUESSING: "no closer to the classes than chance",
}
RANKED_BY = ("accuracy", "weight", "agreement", "utility")  # the first that the model has
SORTED_AT_RANDOM = "sorts unlike most others, as if at random"  # by the test of random sorters
AT_CHANCE = "at chance: not shown to agree better than random sorts"
APART = "disagrees with the clusters: agreement of 0 or less"
FAR_FROM_OTHERS = "agrees far less with the others than most"
FAR_BELOW = 1.5  # interquartile ranges below the lower quartile: Tukey's fence


def frame_of_labels(estimator: Any, labels: Labels) -> pd.DataFrame:
    """Return the figures of every annotator, the most accurate first.

    The columns are those of ``annotators_``; ``said``, ``instead_of`` and ``times``: the most frequent wrong label, the
    class of the item instead, and how often that is; and ``remark``.
    """
    frame = estimator.annotators_.copy()
    share = estimator.responsibilities_.mean(0)
    guess, entropy = share.max(), entr(share).sum() / np.log(2)
    lone = _always_the_same(labels).reindex(frame.index, fill_value=False)
    frame["said"], frame["instead_of"], frame["times"] = None, None, np.nan
    if is_named(frame):
        found = _errors(estimator, labels).reindex(frame.index)
        frame[found.columns] = found
    # bits times labels: the mutual information that random labels appear to have
    chance = (len(share) - 1) * (labels.n_classes - 1) / (2 * np.log(2))
    little = INFORMATIVE * entropy
    seldom_wrong = frame["accuracy"].isna() | (frame["accuracy"] > guess)
    frame["remark"] = remarks(
        (frame["n_labels"] == 0, "no labels here"),
        (lone, "always the same label"),
        (seldom_wrong & (frame["information"] < little), "almost uninformative"),
        (seldom_wrong & _are_nearer_to_chance(frame, guess), NEARER_TO_CHANCE),
        (seldom_wrong, ""),
        (frame["information"] >= little + chance / frame["n_labels"], "often wrong, but informative"),
        (True, NO_BETTER_THAN_GUESSING),
    )
    if current_words().are_of_a_sort:
        frame["remark"] = frame["remark"].replace(OF_A_SORT)
        return frame.sort_values("agreement", ascending=False, kind="stable", na_position="last")
    return frame.sort_values(["accuracy", "information"], ascending=False, kind="stable", na_position="last")


def _are_nearer_to_chance(frame: pd.DataFrame, guess: float) -> np.ndarray:
    """Whether each annotator's labels name the class less often than halfway from guessing to the others.

    By more than the luck of 19 in 20 with so few labels (binomial); nobody where classes have no names.
    """
    share, n_labels = frame["agreement"].to_numpy(float), frame["n_labels"].to_numpy(float)
    known = np.isfinite(share) & (n_labels > 0)
    if not known.any():
        return known
    halfway = (guess + max(float(np.average(share[known], weights=n_labels[known])), guess)) / 2
    lucky = binom.cdf(np.ceil(np.where(known, share, 1.0) * n_labels), n_labels, halfway)
    return known & (lucky < UNLUCKY)


def _errors(estimator: Any, labels: Labels) -> pd.DataFrame:
    """Return the wrong label that each annotator gives most often, of items whose class is not tied, and how often."""
    names = estimator._cluster_names()
    place = names.get_indexer(labels.classes)  # of the class that a label names
    best = pd.DataFrame({"said": None, "instead_of": None, "times": 0.0}, index=labels.annotators, dtype=object)
    cell = labels.annotator * labels.n_classes + labels.label
    tops = np.where(are_tied(estimator.responsibilities_), MISSING, most_probable(estimator.responsibilities_))
    for true in range(len(names)):
        weights = tops[labels.item] == true
        counts = np.bincount(cell, weights, labels.n_annotators * labels.n_classes).reshape(-1, labels.n_classes)
        counts[:, place == true] = 0
        label = counts.argmax(1)
        times = counts[np.arange(len(counts)), label]
        worse = times > best["times"].to_numpy(float)
        best.loc[worse, "said"] = labels.classes.take(label[worse]).to_numpy(object)
        best.loc[worse, "instead_of"] = names[true]
        best.loc[worse, "times"] = times[worse]
    return best.astype({"times": float})


def _always_the_same(labels: Labels) -> pd.Series:
    """Return which annotators gave only one label, and more of it than the label's share among all makes probable."""
    counts = np.bincount(
        labels.annotator * labels.n_classes + labels.label, minlength=labels.n_annotators * labels.n_classes
    ).reshape(-1, labels.n_classes)
    total = counts.sum(1)
    by_chance = (counts.sum(0) / max(labels.n_rows, 1))[counts.argmax(1)] ** total
    rare = by_chance * np.count_nonzero(total) <= CHANCE
    return pd.Series((counts.max(1) == total) & rare, index=labels.annotators)


def frame_of_tags(estimator: Any) -> pd.DataFrame:
    """Return the figures of every annotator of tags, the most accurate first, and `remark`."""
    frame = estimator.annotators_.copy()
    frame["remark"] = remarks((frame["n_items"] == 0, "no labels here"), (frame["weak"], "tells little"), (True, ""))
    return frame.sort_values(["accuracy", "information"], ascending=False, kind="stable", na_position="last")


def frame_of_fusion(
    estimator: Any, groupings: Groupings, agreement: pd.DataFrame, tested: pd.Series | None = None
) -> pd.DataFrame:
    """Return the figures of every annotator, the highest weight first.

    The columns are those of ``annotators_``, the agreement NaN if groupings hold two items; `with_others`, the mean
    adjusted Rand index with the other annotators; and `remark`.

    tested : whether each could be tested for sorting at random; where not, agreement below 0 may be luck.
    """
    words = current_words()
    frame = estimator.annotators_.copy()
    is_told = True if tested is None else tested.reindex(frame.index).to_numpy(dtype=bool)
    place = groupings.annotators.get_indexer(frame.index)
    # a grouping of two items has a single pair, so its agreement equals that expected by chance
    frame["agreement"] = frame["agreement"].where(frame["n_items"] > 2 * frame["n_groupings"])
    frame["with_others"] = mean_with_others(agreement)[place]
    each = weight_of_one(frame, refined=estimator.refined_)
    outlier = "follows the clusters far less" if estimator.refined_ else "far smaller part in the fusion"
    frame["remark"] = remarks(
        (frame["n_items"] == 0, f"no {words.items}"),
        (frame["n_groups"] == frame["n_groupings"], "one group only"),
        (frame["n_groups"] == frame["n_items"], f"every {words.item} alone"),
        ((frame["agreement"] <= 0) & is_told, APART),
        (are_far_below(each), f"outlier: {outlier} than most"),
        (are_far_below(frame["with_others"]), FAR_FROM_OTHERS),
    )
    return frame


def frame_of_mapping(estimator: Any, groupings: Groupings, agreement: pd.DataFrame) -> pd.DataFrame:
    """Return the figures of every annotator, those first whose accuracy is the furthest above that of guessing.

    The columns are those of ``annotators_``, ``by_guessing`` (accuracy of always predicting the largest group),
    ``agreement`` (mean adjusted Rand index with the others) and ``remark``.
    """
    frame = estimator.annotators_.copy()
    sizes = pd.Series(np.asarray(groupings.incidence.sum(0)), index=groupings.grouping_of_group)
    largest = sizes.groupby(level=0).max().reindex(range(groupings.n_groupings), fill_value=0.0).to_numpy()
    common = np.bincount(groupings.annotator_of_grouping, largest, groupings.n_annotators)
    place = groupings.annotators.get_indexer(frame.index)
    frame["by_guessing"] = common[place] / frame["n_labels"].replace(0, np.nan)
    frame["agreement"] = mean_with_others(agreement)[place]
    frame["remark"] = remarks(
        (frame["accuracy"].isna(), "no labels"),
        (frame["by_guessing"] == 1, "one group only"),
        (frame["accuracy"] <= frame["by_guessing"], NO_BETTER_THAN_GUESSING),
        (frame["accuracy"] < MIN_ACCURACY, f"below {MIN_ACCURACY:.0%}"),
    )
    above = (frame["accuracy"] - frame["by_guessing"]) / (1 - frame["by_guessing"]).where(frame["by_guessing"] < 1)
    order = pd.DataFrame({"above": above, "accuracy": frame["accuracy"]}).reset_index(drop=True)
    places = order.sort_values(["above", "accuracy"], ascending=False, kind="stable", na_position="last").index
    return frame.iloc[places]


def frame_of_judges(estimator: Any) -> pd.DataFrame:
    """Return ``annotators_`` with a remark on each, by view, the weakest last."""
    frame = estimator.annotators_.copy()
    counts = frame.reindex(columns=["n_pairs", "n_items", "n_labels"])
    known = frame.reindex(columns=["sensitivity", "specificity", "agreement"])
    beyond_chance = known["sensitivity"] + known["specificity"] - 1  # Youden's index; of few judgements near the prior
    frame["remark"] = remarks(
        ((counts == 0).any(axis=1), NO_ANNOTATIONS),
        ((known["sensitivity"] + known["specificity"] <= 1) | (known["agreement"] <= 0), NO_BETTER_THAN_GUESSING),
        (beyond_chance < beyond_chance.median() / 2, NEARER_TO_CHANCE),
    )
    by = next((name for name in RANKED_BY if name in frame), None)
    if by is not None:
        frame = frame.sort_values(by, ascending=False, kind="stable", na_position="last")
    if Capabilities.of(estimator).has_views:
        frame["holds"] = estimator.view_probabilities_.max(axis=1)
        return frame.sort_values("view", kind="stable")
    return frame.drop(columns="view", errors="ignore")


def remarks(*rules: tuple[Any, str]) -> list[str]:
    """Return for each annotator the text of the first rule that holds; "" where none does."""
    holds, texts = zip(*rules, strict=True)
    return np.select([np.asarray(each, dtype=bool) for each in holds], texts, "").tolist()


def weight_of_one(frame: pd.DataFrame, *, refined: bool) -> pd.Series:
    """Return the weights in a fusion; those without refinement are shares, of which this is that of one grouping."""
    return frame["weight"] if refined else frame["weight"] / frame["n_groupings"].clip(lower=1)


def lower_fence(values: pd.Series) -> float:
    """Return Tukey's fence: 1.5 interquartile ranges below the lower quartile."""
    low, high = values.quantile([0.25, 0.75])
    return float(low - FAR_BELOW * (high - low))


def are_far_below(values: pd.Series) -> pd.Series:
    """Whether each value is below Tukey's fence."""
    return values < lower_fence(values)


def mean_with_others(agreement: pd.DataFrame) -> Float[np.ndarray, " annotators"]:
    """Return the mean agreement of each annotator with the others, NaN where it is unknown."""
    values = agreement.to_numpy()
    others = np.isfinite(values)
    np.fill_diagonal(others, False)
    known = others.sum(1)
    return np.divide(values.sum(1, where=others), known, out=np.full(len(known), np.nan), where=known > 0)


def is_named(frame: pd.DataFrame) -> bool:
    """Whether classes have the names of labels, so that a label can be right."""
    return bool(frame["accuracy"].notna().all())
