"""Reliability of annotators who judge pairs, given clusters.

`annotator_table` and `same_by_clusters` are for users, `log_odds` and `independent_share` for models that weigh each
judgement.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.annotations import Pairs

PSEUDO_COUNT = 1.0  # imagined right and wrong judgements added to each rate of each annotator


def log_odds(pairs: Pairs, labels: Int[np.ndarray, " items"]) -> Float[np.ndarray, " judgements"]:
    """Weight of evidence of each judgement, if its annotator is as reliable as the clusters suggest.

    ln p(judgement | one cluster) - ln p(judgement | two clusters) of "same", its negative of "different". Each
    annotator has a sensitivity and a specificity, estimated with one imagined right and one wrong judgement added.
    Judgements of annotators who are more often wrong than right have weight 0.

    labels : int array, shape (n_items,)
    """
    together = labels[pairs.item_a] == labels[pairs.item_b]
    count = np.full((2, 2, pairs.n_annotators), PSEUDO_COUNT)
    np.add.at(count, (together.astype(np.intp), pairs.same.astype(np.intp), pairs.annotator), 1)
    rate = count[:, 1] / count.sum(1)  # of "same", for pairs of two clusters and of one
    of_yes, of_no = np.log(rate[1] / rate[0]), np.log((1 - rate[0]) / (1 - rate[1]))
    return np.maximum(np.where(pairs.same, of_yes[pairs.annotator], of_no[pairs.annotator]), 0)


def independent_share(pairs: Pairs) -> Float[np.ndarray, " judgements"]:
    """Share of each judgement that does not follow from the others of its grouping.

    A grouping of m items implies m (m - 1) / 2 pairs, but holds at most m - 1 independent judgements: each pair counts
    for 2 / m. A pair that is judged again counts anew, as much as the first time.

    Returns ndarray, shape (judgements,): (items - 1) / different pairs of the annotator's grouping, at most 1.
    """
    occasion, judged = np.unique(
        pairs.annotator.astype(np.int64) * max(len(pairs.groupings), 1) + pairs.grouping, return_inverse=True
    )
    met = np.unique(np.tile(judged, 2) * max(pairs.n_items, 1) + np.concatenate([pairs.item_a, pairs.item_b]))
    n_items = np.bincount(met // max(pairs.n_items, 1), minlength=len(occasion))
    rows = [pairs.item_a, pairs.item_b, pairs.annotator, pairs.grouping]
    repeated = np.logical_and.reduce([row[1:] == row[:-1] for row in rows])  # rows are sorted by these
    n_pairs = np.bincount(judged[np.append(True, ~repeated)[: len(judged)]], minlength=len(occasion))
    return np.minimum((n_items - 1) / n_pairs, 1.0)[judged]


def annotator_table(pairs: Pairs, labels: Int[np.ndarray, " items"]) -> pd.DataFrame:
    """Tabulate how the judgements of each annotator agree with clusters.

    labels : int array, shape (n_items,)

    Returns DataFrame, one row for each annotator: n_pairs; n_together, pairs of one cluster; accuracy, the share of
    judgements that agree with the clusters; sensitivity, the same for pairs of one cluster; specificity, for pairs of
    two. NaN if there are no such pairs.
    """
    together = labels[pairs.item_a] == labels[pairs.item_b]
    right = together == pairs.same
    shares = {}
    for name, chosen in (("accuracy", np.ones_like(together)), ("sensitivity", together), ("specificity", ~together)):
        judged = np.bincount(pairs.annotator[chosen], minlength=pairs.n_annotators)
        agreed = np.bincount(pairs.annotator[chosen], right[chosen], pairs.n_annotators)
        shares[name] = np.divide(agreed, judged, out=np.full(len(judged), np.nan), where=judged > 0)
    n_pairs = np.bincount(pairs.annotator, minlength=pairs.n_annotators)
    n_together = np.bincount(pairs.annotator[together], minlength=pairs.n_annotators)
    counts = {"n_pairs": n_pairs, "n_together": n_together}
    return pd.DataFrame(counts | shares, index=pairs.annotators.rename("annotator"))


def same_by_clusters(
    together: Bool[np.ndarray, " pairs"], annotators: pd.DataFrame, place: int | None = None
) -> Float[np.ndarray, " pairs"]:
    """Probability that pairs belong together, or that an annotator judges them "same", given certain clusters.

    together : bool array, shape (pairs,); whether the two items are of one cluster.
    annotators : DataFrame, as `annotator_table` makes it.
    place : row of the annotator.

    Returns ndarray, shape (pairs,): 1 or 0; with an annotator, the sensitivity or one minus the specificity, with one
    right and one wrong judgement added to each.
    """
    if place is None:
        return together.astype(np.float64)
    one = annotators.iloc[place].fillna(0.0)  # a rate without judgements is NaN, even times 0
    n_together, n_apart = one["n_together"], one["n_pairs"] - one["n_together"]
    yes = (n_together * one["sensitivity"] + PSEUDO_COUNT) / (n_together + 2 * PSEUDO_COUNT)
    no = (n_apart * one["specificity"] + PSEUDO_COUNT) / (n_apart + 2 * PSEUDO_COUNT)
    return np.where(together, yes, 1 - no)
