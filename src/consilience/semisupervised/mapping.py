"""Tables of the mapping between groups and clusters, and of annotators who make the same distinctions.

The mapping is q(T) of Chen et al. (2018), eq. 17; the groups of annotators are their Table 4.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.inference.exponential_family import segment_sizes

CHUNK_ENTRIES = 1 << 20  # items × groups in memory at a time


def group_index(groupings: Groupings) -> pd.MultiIndex:
    """(annotator, grouping, group) of every group."""
    grouping = groupings.grouping_of_group
    names = [
        groupings.annotators[groupings.annotator_of_grouping[grouping]],
        groupings.grouping_names[grouping],
        groupings.group_names,
    ]
    return pd.MultiIndex.from_arrays(names, names=["annotator", "grouping", "group"])


def mapping_table(groupings: Groupings, probability: Float[np.ndarray, "groups clusters"]) -> pd.DataFrame:
    """Tabulate the clusters that match each group.

    groupings : the annotations.
    probability : q(t_k = group).

    Returns DataFrame, one row for each group: annotator, grouping, group, n_items, clusters (tuple, empty if no cluster
    matches), probability (the smallest of these clusters, NaN if none).
    """
    table = group_index(groupings).to_frame(index=False)
    table["n_items"] = np.asarray(groupings.incidence.sum(0)).astype(int)
    chosen = best_group(groupings.grouping_of_group, probability)  # (groupings, clusters)
    matched = np.zeros(probability.shape, dtype=bool)
    matched[chosen, np.arange(probability.shape[1])] = True
    table["clusters"] = [tuple(np.flatnonzero(row).tolist()) for row in matched]
    smallest = np.where(matched, probability, np.inf).min(1)
    table["probability"] = np.where(matched.any(1), smallest, np.nan)
    return table


def best_group(
    grouping_of_group: Int[np.ndarray, " groups"], probability: Float[np.ndarray, "groups clusters"]
) -> Int[np.ndarray, "groupings clusters"]:
    """Most probable group of each grouping for each cluster; the first of equals."""
    first = np.flatnonzero(np.diff(grouping_of_group, prepend=-1))
    sizes = segment_sizes(first, len(grouping_of_group))
    largest = np.repeat(np.maximum.reduceat(probability, first), sizes, axis=0)
    place = np.where(probability >= largest, np.arange(len(probability))[:, None], len(probability))
    return np.minimum.reduceat(place, first)


def same_distinctions(mapping: pd.DataFrame, accuracy: pd.Series, min_accuracy: float) -> pd.DataFrame:
    """Collect groupings that the clusters predict well, by the partition of the clusters that they induce.

    mapping : `mapping_table`.
    accuracy : indexed by (annotator, grouping).
    min_accuracy : groupings with a lower accuracy are left out.

    Returns DataFrame, one row for each distinction and naming: distinction (0, 1, …, the most common first), clusters
    (tuple of tuples: the partition), naming (tuple of the corresponding group names), n_groupings, groupings (list of
    (annotator, grouping)).
    """
    kept = accuracy.index[accuracy.ge(min_accuracy).to_numpy()]
    matched = mapping[mapping["clusters"].map(len) > 0]
    rows = []
    for grouping, groups in matched.groupby(["annotator", "grouping"], sort=False):
        if grouping in kept:
            parts = sorted(zip(groups["clusters"], groups["group"], strict=True), key=lambda part: part[0])
            rows.append((tuple(part[0] for part in parts), tuple(part[1] for part in parts), grouping))
    found = pd.DataFrame(rows, columns=["clusters", "naming", "groupings"])
    table = found.groupby(["clusters", "naming"], sort=False)["groupings"].agg(list).reset_index()
    table["n_groupings"] = table["groupings"].map(len)
    table["of_all"] = table.groupby("clusters", sort=False)["n_groupings"].transform("sum")
    table = table.sort_values(["of_all", "clusters", "n_groupings"], ascending=[False, True, False], kind="stable")
    table.insert(0, "distinction", pd.factorize(table["clusters"])[0])
    return table[["distinction", "clusters", "naming", "n_groupings", "groupings"]].reset_index(drop=True)


def correct_labels(
    groupings: Groupings,
    posterior: Float[np.ndarray, "items clusters"],
    probability: Float[np.ndarray, "groups clusters"],
) -> Int[np.ndarray, " groups"]:
    """Number of labels of each group that are the most probable of their grouping for the item; ties count as right."""
    grouping = groupings.grouping_of_group
    first = np.flatnonzero(np.diff(grouping, prepend=-1))
    sizes = segment_sizes(first, len(grouping))
    correct = np.zeros(len(grouping), dtype=int)
    step = max(CHUNK_ENTRIES // len(grouping), 1)
    for start in range(0, len(posterior), step):
        chance = posterior[start : start + step] @ probability.T
        right = chance >= np.repeat(np.maximum.reduceat(chance, first, axis=1), sizes, axis=1)
        item, group = groupings.incidence[start : start + step].tocoo().coords
        correct += np.bincount(group[right[item, group]], minlength=len(grouping))
    return correct


def grouping_quality(
    groupings: Groupings, correct: Int[np.ndarray, " groups"], expected_accuracy: Float[np.ndarray, " used"]
) -> pd.DataFrame:
    """Tabulate the quality of every grouping, indexed by (annotator, grouping).

    groupings : the annotations.
    correct : number of labels of each group that the model predicts.
    expected_accuracy : posterior mean probability of the correct label, for each grouping with groups.

    Returns DataFrame: n_labels, n_groups, accuracy (NaN without labels), expected_accuracy (NaN without groups).
    """
    n = groupings.n_groupings
    sizes = np.asarray(groupings.incidence.sum(0))
    index = pd.MultiIndex.from_arrays(
        [groupings.annotators[groupings.annotator_of_grouping], groupings.grouping_names],
        names=["annotator", "grouping"],
    )
    table = pd.DataFrame(index=index)
    table["n_labels"] = np.bincount(groupings.grouping_of_group, sizes, n).astype(int)
    table["n_groups"] = np.bincount(groupings.grouping_of_group, minlength=n)
    table["accuracy"] = np.bincount(groupings.grouping_of_group, correct, n) / table["n_labels"].replace(0, np.nan)
    table.loc[table["n_groups"].to_numpy() > 0, "expected_accuracy"] = expected_accuracy
    return table


def annotator_quality(groupings: Groupings, quality: pd.DataFrame) -> pd.DataFrame:
    """`grouping_quality` pooled over the groupings of each annotator, weighted by their labels; in order."""
    n = groupings.n_annotators
    who, labels = groupings.annotator_of_grouping, quality["n_labels"].to_numpy()
    table = pd.DataFrame(index=groupings.annotators.rename("annotator"))
    table["n_labels"] = np.bincount(who, labels, n).astype(int)
    table["n_groupings"] = np.bincount(who, minlength=n)
    table["n_groups"] = np.bincount(who, quality["n_groups"], n).astype(int)
    for name in ("accuracy", "expected_accuracy"):
        summed = np.bincount(who, np.nan_to_num(quality[name].to_numpy()) * labels, n)
        table[name] = summed / table["n_labels"].replace(0, np.nan)
    return table
