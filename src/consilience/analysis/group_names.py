"""What people call the clusters: names of groups that hold roughly the items of a cluster, however they are spelled.

A cluster is called by the name that most people give it; see `chosen_names`. Its number stays as a code: "Birds (3)".
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from jaxtyping import Int, Shaped
from scipy.sparse import csr_array

from consilience.analysis.names import HANGING, name_key, name_text
from consilience.analysis.words import singular
from consilience.annotations import Groupings

AT_LEAST = 2  # annotators who use a common name
SHARE = 0.1  # of the annotators who name groups, for the name of a cluster


def cluster_names(
    groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int, *, above_half: bool = False
) -> pd.DataFrame:
    """Count what annotators call the clusters.

    An annotator calls a cluster by the name of a group if, of the items sorted in that grouping that are in the group
    or in the cluster, at least half are in both. Case, accents, blanks and punctuation are ignored, and
    singular and plural are one name. Names without letters, and those that end in a digit, are taken for numbers and
    left out.

    Parameters
    ----------
    groupings : Groupings
    codes : cluster of each item, -1 for none.
    n_clusters : int
    above_half : bool, default=False
        Whether more than half must be in both: a gull alone is half of a gull and a viper, but not what they are.

    Returns
    -------
    DataFrame
        `cluster`; `name` in its most common spelling; `n_annotators` who call the cluster so; `n_for_any` who give the
        name to any of its items. The most common names of each cluster come first.
    """
    spelled = np.array([name_text(name) for name in groupings.group_names], dtype=object)
    keys = in_one_number([name_key(name) for name in spelled])
    code, known = pd.factorize(keys)
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
    either = sets.sum(1)[group] + in_grouping[grouping[group], cluster] - common.data
    uses = pd.DataFrame(
        {
            "cluster": cluster,
            "key": code[group],
            "annotator": groupings.annotator_of_group[group],
            "calls": 2 * common.data > either if above_half else 2 * common.data >= either,
        }
    )
    uses = uses[(known[uses["key"].to_numpy()] != "")]
    each = uses.groupby(["cluster", "key", "annotator"])["calls"].any()
    counts = each.groupby(level=["cluster", "key"]).agg(["sum", "size"]).reset_index()
    spelling = (
        pd.Series([name.rstrip(HANGING) or name for name in spelled], dtype=object)
        .groupby(code)
        .agg(lambda names: min(names.mode(), key=lambda name: (name.isupper(), name)))
    )
    found = pd.DataFrame(
        {
            "cluster": counts["cluster"].astype(int),
            "name": spelling.reindex(counts["key"]).to_numpy(),
            "n_annotators": counts["sum"].astype(int),
            "n_for_any": counts["size"].astype(int),
        }
    )
    order = ["cluster", "n_annotators", "n_for_any", "name"]
    return found.sort_values(order, ascending=[True, False, False, True], ignore_index=True)


def in_one_number(keys: list[str]) -> Shaped[np.ndarray, " groups"]:
    """Return names with the singular in place of the plural, where both occur.

    Examples
    --------
    >>> in_one_number(["birds", "bird", "glasses"]).tolist()
    ['bird', 'bird', 'glasses']
    """
    known = set(keys)
    number = {key: one for key in known if (one := singular(key)) in known}
    return np.array([number.get(key, key) for key in keys], dtype=object)


def chosen_names(names: pd.DataFrame, n_clusters: int, n_annotators: int) -> list[str]:
    """Choose a name for each cluster: the one that most annotators give it, and at least two, if there are two at all.

    No two clusters have the same name. If one name is the most common of several clusters, that of the most annotators
    has it, and the others have the next most common that is free; if there is none, or nobody names a cluster, its name
    is empty, and it is called by its number alone.

    Parameters
    ----------
    names : DataFrame
        From `cluster_names`.
    n_clusters, n_annotators : int

    Returns
    -------
    list of str, one for each cluster

    Examples
    --------
    >>> names = pd.DataFrame(
    ...     [(0, "Birds", 9), (0, "Fowl", 2), (1, "Birds", 5), (1, "Owls", 4), (2, "Birds", 3)],
    ...     columns=["cluster", "name", "n_annotators"],
    ... )
    >>> chosen_names(names, 3, 10)
    ['Birds', 'Owls', '']
    """
    says = np.array([_is_word(name) for name in names["name"]], dtype=bool)
    common = names[says & (names["n_annotators"] >= max(min(AT_LEAST, n_annotators), 1)).to_numpy()]
    chosen, taken = [""] * n_clusters, set[str]()
    ordered = common.sort_values("n_annotators", ascending=False, kind="stable")
    for cluster, name in ordered[["cluster", "name"]].itertuples(index=False):
        if not chosen[cluster] and name not in taken:
            chosen[cluster] = name
            taken.add(name)
    return chosen


def names_chosen_for(groupings: Groupings, names: pd.DataFrame, n_clusters: int) -> list[str]:
    """Choose a name for each cluster by the names of `cluster_names` above half; see `chosen_names`.

    At least a tenth of the annotators who name groups must use it.
    """
    says = np.array([_is_word(name_text(name)) for name in groupings.group_names], dtype=bool)
    n_who_name = len(np.unique(groupings.annotator_of_group[says]))
    fewest = math.ceil(SHARE * n_who_name)
    return chosen_names(names[names["n_annotators"] >= fewest], n_clusters, groupings.n_annotators)


def _is_word(name: str) -> bool:
    """Whether a name says something; a single Latin letter does not."""
    key = name_key(name)
    return len(key) > 1 or not key.isascii()


def count_group_names(names: pd.DataFrame, n_clusters: int, most: int) -> list[list[str]]:
    """Return the most common names of each cluster that at least two annotators use, with the number of these."""
    common = names[names["n_annotators"] >= AT_LEAST]
    return [
        [f"{name} ({count})" for name, count in mine[["name", "n_annotators"]].head(most).itertuples(index=False)]
        for mine in (common[common["cluster"] == cluster] for cluster in range(n_clusters))
    ]
