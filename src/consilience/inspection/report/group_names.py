"""What people call the clusters: names of groups that hold roughly the items of a cluster, however they are spelled."""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.inspection.names import HANGING, name_key, name_text

AT_LEAST = 2  # annotators who use a common name


def cluster_names(groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int) -> pd.DataFrame:
    """Count what annotators call the clusters.

    An annotator calls a cluster by the name of a group if, of the items sorted in that grouping that are in the group
    or in the cluster, at least half are in both. Case, accents, blanks and punctuation at the ends are ignored. Names
    without letters, and those that end in a digit, are taken for numbers and left out.

    Parameters
    ----------
    groupings : Groupings
    codes : cluster of each item, -1 for none.
    n_clusters : int

    Returns
    -------
    DataFrame
        `cluster`; `name` in its most common spelling; `n_annotators` who call the cluster so; `n_for_any` who give the
        name to any of its items. The most common names of each cluster come first.
    """
    spelled = np.array([name_text(name) for name in groupings.group_names], dtype=object)
    keys = np.array([name_key(name) for name in spelled], dtype=object)
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
            "calls": 2 * common.data >= either,
        }
    )
    uses = uses[(known[uses["key"].to_numpy()] != "")]
    each = uses.groupby(["cluster", "key", "annotator"])["calls"].any()
    counts = each.groupby(level=["cluster", "key"]).agg(["sum", "size"]).reset_index()
    spelling = (
        pd.Series([name.rstrip(HANGING) or name for name in spelled], dtype=object)
        .groupby(code)
        .agg(lambda names: names.mode().iloc[0])
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


def called(names: pd.DataFrame, n_clusters: int, most: int) -> list[list[str]]:
    """Return the most common names of each cluster that at least two annotators use, with the number of these."""
    common = names[names["n_annotators"] >= AT_LEAST]
    return [
        [f"{name} ({count})" for name, count in mine[["name", "n_annotators"]].head(most).itertuples(index=False)]
        for mine in (common[common["cluster"] == cluster] for cluster in range(n_clusters))
    ]
