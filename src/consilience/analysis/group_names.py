"""What people call the clusters: names of groups that hold roughly the items of a cluster, however they are spelled.

A cluster is called by the name that most people give it; see `chosen_names`. Spellings of one name, and names of
nearly the same items, are counted as one; see `standard_names`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from scipy.sparse import csr_array

from consilience.analysis.folding import fold_name, is_name
from consilience.analysis.names import HANGING, as_text, name_key, name_text
from consilience.analysis.standardisation import StandardNames, standard_names
from consilience.annotations import Groupings
from consilience.annotations.names import MISSING

AT_LEAST = 2  # annotators who use a common name
CLOSE = 2 / 3  # of those who use the name of a cluster, for the next name to be given, too


def cluster_names(
    groupings: Groupings,
    codes: Int[np.ndarray, " items"],
    n_clusters: int,
    *,
    above_half: bool = False,
    standard: StandardNames | None = None,
) -> pd.DataFrame:
    """Count what annotators call the clusters.

    An annotator calls a cluster by the name of a group if, of the items sorted in that grouping that are in the group
    or in the cluster, at least half are in both. Names are standardised before they are counted. Names without
    letters, and those that end in a digit, are taken for numbers and left out.

    codes : cluster of each item, -1 for none.
    above_half : whether more than half must be in both: a gull alone is half of a gull and a viper, but not what they
        are.
    standard : those of the groups, if they are known.

    Returns DataFrame: `cluster`; `name`, the standard name; `n_annotators` who call the cluster so; `n_for_half` and
    `n_for_any`, who give the name to a group with at least half of its items, or with any; `wordings`, what those who
    call the cluster so wrote, case, accents and blanks aside, each with their number, the most common first. The most
    common names of each cluster come first.
    """
    standard = standard_names(groupings) if standard is None else standard
    code = standard.code_of_group
    group, cluster, calls, has_half = _match_groups(groupings, codes, n_clusters, above_half=above_half)
    uses = pd.DataFrame(
        {
            "cluster": cluster,
            "key": code[group],
            "annotator": groupings.annotator_of_group[group],
            "written": _wordings(groupings)[group],
            "calls": calls,
            "has_half": has_half,
        }
    )
    uses = uses[uses["key"] != MISSING]
    each = uses.groupby(["cluster", "key", "annotator"])[["calls", "has_half"]].any().assign(any=True)
    counts = each.groupby(level=["cluster", "key"]).sum().reset_index()
    written = uses[uses["calls"]].groupby(["cluster", "key", "written"])["annotator"].nunique()
    written = written.sort_values(ascending=False, kind="stable")
    wordings: dict[tuple[Any, Any], list[tuple[str, int]]] = {}
    for of_cluster, key, text, n_annotators in written.reset_index().itertuples(index=False):
        wordings.setdefault((of_cluster, key), []).append((text, int(n_annotators)))
    shown = np.array([name_text(name).rstrip(HANGING) for name in standard.names], dtype=object)
    found = pd.DataFrame(
        {
            "cluster": counts["cluster"].astype(int),
            "name": shown[counts["key"].to_numpy(dtype=int)],
            "n_annotators": counts["calls"].astype(int),
            "n_for_half": counts["has_half"].astype(int),
            "n_for_any": counts["any"].astype(int),
            "wordings": [wordings.get(pair, []) for pair in zip(counts["cluster"], counts["key"], strict=True)],
        }
    )
    order = ["cluster", "n_annotators", "n_for_any", "name"]
    return found.sort_values(order, ascending=[True, False, False, True], ignore_index=True)


def count_makers(groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int) -> pd.DataFrame:
    """Count the annotators who made a cluster, exactly or roughly, and those who put all of its items into one group.

    Returns DataFrame, a row for each cluster: `roughly`: annotators with a group, of any name, that overlaps with it by
    more than half: of the items of either that were sorted in the grouping, more than half are in both. `whole`: those
    with all of its items in one group, whatever else is there. `exactly`: those with nothing else there. `n_sorted`:
    those who sorted all of its items in one grouping.
    """
    group, cluster, is_like, _ = _match_groups(groupings, codes, n_clusters, above_half=True)
    size = np.bincount(codes[codes >= 0], minlength=n_clusters)
    member = csr_array(codes[:, None] == np.arange(n_clusters), dtype=np.int64)
    held = (csr_array(groupings.incidence.astype(np.int64).T) @ member).toarray()
    sorted_of = np.zeros((groupings.n_groupings, n_clusters), dtype=np.int64)
    np.add.at(sorted_of, groupings.grouping_of_group, held)

    def count(of_cluster: Any, annotator: Any) -> Int[np.ndarray, " clusters"]:
        made = np.zeros((n_clusters, groupings.n_annotators), dtype=bool)
        made[of_cluster, annotator] = True
        return made.sum(1)

    of_group, of_grouping = groupings.annotator_of_group, groupings.annotator_of_grouping
    group_of_whole, whole = np.nonzero(held == np.maximum(size, 1))
    alone = np.asarray(groupings.incidence.sum(0)).ravel()[group_of_whole] == size[whole]
    grouping_of_all, seen = np.nonzero(sorted_of >= np.maximum(size, 1))
    return pd.DataFrame(
        {
            "roughly": count(cluster[is_like], of_group[group[is_like]]),
            "whole": count(whole, of_group[group_of_whole]),
            "exactly": count(whole[alone], of_group[group_of_whole[alone]]),
            "n_sorted": count(seen, of_grouping[grouping_of_all]),
        }
    )


def _match_groups(
    groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int, *, above_half: bool
) -> tuple[
    Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"], Bool[np.ndarray, " pairs"], Bool[np.ndarray, " pairs"]
]:
    """Return the pairs of a group and a cluster with common items, and whether at least half of their items are common.

    Last, whether at least half of the cluster is in the group, of the items that were sorted in the grouping.

    above_half : whether more than half of their items must be common.
    """
    clustered = np.flatnonzero(codes >= 0)
    member = csr_array(
        (np.ones(len(clustered), dtype=np.int64), (clustered, codes[clustered])), shape=(len(codes), n_clusters)
    )
    sets = csr_array(groupings.incidence.astype(np.int64).T)
    grouping = groupings.grouping_of_group
    of_grouping = csr_array(
        (np.ones(len(grouping), dtype=np.int64), (grouping, np.arange(len(grouping)))),
        shape=(groupings.n_groupings, len(grouping)),
    )
    common = (sets @ member).tocoo()
    in_grouping = (of_grouping @ common).toarray()
    group, cluster = common.coords
    of_cluster = in_grouping[grouping[group], cluster]
    either = sets.sum(1)[group] + of_cluster - common.data
    is_like = 2 * common.data > either if above_half else 2 * common.data >= either
    return group, cluster, is_like, 2 * common.data >= of_cluster


def _wordings(groupings: Groupings) -> np.ndarray:
    """Return the name of each group as it is written most often, of those of the same spelling."""
    code, texts = pd.factorize(np.array([as_text(name) for name in groupings.group_names], dtype=object))
    spelling, _ = pd.factorize(np.array([fold_name(text) for text in texts], dtype=object))
    commonest_first = np.lexsort((-np.bincount(code), spelling))
    _, first = np.unique(spelling[commonest_first], return_index=True)
    shown = np.array([name_text(text).rstrip(HANGING) for text in texts], dtype=object)
    return shown[commonest_first[first]][spelling[code]]


def chosen_names(names: pd.DataFrame, n_clusters: int, n_annotators: int) -> list[str]:
    """Choose a name for each cluster: the one that most annotators give it, and at least two, if there are two at all.

    No two clusters have the same name. If one name is the most common of several clusters, that of the most annotators
    has it, and the others have the next most common that is free; if there is none, or nobody names a cluster, its name
    is empty.

    names : from `cluster_names`.

    Returns list of str, one for each cluster.
    """
    says = np.array([is_name(name_key(name)) for name in names["name"]], dtype=bool)
    common = names[says & (names["n_annotators"] >= max(min(AT_LEAST, n_annotators), 1)).to_numpy()]
    chosen, taken = [""] * n_clusters, set[str]()
    ordered = common.sort_values("n_annotators", ascending=False, kind="stable")
    for cluster, name in ordered[["cluster", "name"]].itertuples(index=False):
        if not chosen[cluster] and name not in taken:
            chosen[cluster] = name
            taken.add(name)
    return chosen


def tied_names(names: pd.DataFrame, chosen: list[str]) -> list[list[str]]:
    """Return for each cluster its name and all names that as many annotators call it; none if it has no name.

    Examples
    --------
    >>> rows = [(0, "Birds", 9), (0, "Fowl", 6), (1, "Owls", 4), (1, "Night", 4), (1, "Rest", 2)]
    >>> names = pd.DataFrame(rows, columns=["cluster", "name", "n_annotators"])
    >>> tied_names(names, ["Birds", "Owls"])
    [['Birds'], ['Owls', 'Night']]
    """
    found = []
    for cluster, name in enumerate(chosen):
        counts = _count_names(names, cluster)
        tied = counts.index[counts == counts[name]].drop(name).tolist() if name else []
        found.append([name, *tied] if name else [])
    return found


def next_names(names: pd.DataFrame, chosen: list[str]) -> list[str]:
    """Return for each cluster the next name, if nearly as many annotators use it as use the one chosen; else "".

    Names that as many use are `tied_names`.

    Examples
    --------
    >>> rows = [(0, "Birds", 9), (0, "Fowl", 6), (1, "Owls", 4), (1, "Rest", 2)]
    >>> names = pd.DataFrame(rows, columns=["cluster", "name", "n_annotators"])
    >>> next_names(names, ["Birds", "Owls"])
    ['Fowl', '']
    """
    found = [""] * len(chosen)
    for cluster, name in enumerate(chosen):
        counts = _count_names(names, cluster)
        others = counts[counts < counts[name]].drop(chosen, errors="ignore") if name else counts[:0]
        if len(others) and others.iloc[0] >= max(AT_LEAST, CLOSE * counts[name]):
            found[cluster] = str(others.index[0])
    return found


def _count_names(names: pd.DataFrame, cluster: int) -> pd.Series:
    """Return how many annotators call a cluster by each name, the most common first."""
    return names[names["cluster"] == cluster].groupby("name", sort=False)["n_annotators"].max()


def count_group_names(names: pd.DataFrame, n_clusters: int, most: int) -> list[list[str]]:
    """Return the most common names of each cluster that at least two annotators use, with the number of these."""
    common = names[names["n_annotators"] >= AT_LEAST]
    return [
        [f"{name} ({count})" for name, count in mine[["name", "n_annotators"]].head(most).itertuples(index=False)]
        for mine in (common[common["cluster"] == cluster] for cluster in range(n_clusters))
    ]
