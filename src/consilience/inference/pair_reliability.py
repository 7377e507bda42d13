"""How far annotators who judge pairs can be trusted, given clusters.

`annotator_table` and `same_by_clusters` are for users, `log_odds` and `independent_share` for models that weigh each
judgement.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.annotations import Pairs

PSEUDO_COUNT = 1.0  # imagined right and wrong judgements of each kind, for each annotator


def log_odds(pairs: Pairs, labels: Int[np.ndarray, " items"]) -> Float[np.ndarray, " judgements"]:
    """How much each judgement tells, if its annotator is as good as the clusters say.

    ln p(judgement | of one cluster) - ln p(judgement | of two) of a yes, its negative of a no. An annotator has a
    sensitivity and a specificity, each with an imagined right and wrong judgement more. Who is more often wrong than
    right tells nothing: 0.

    Parameters
    ----------
    pairs : Pairs
    labels : int array, shape (n_items,)

    Returns
    -------
    ndarray, shape (judgements,)
    """
    together = labels[pairs.item_a] == labels[pairs.item_b]
    count = np.full((2, 2, pairs.n_annotators), PSEUDO_COUNT)
    np.add.at(count, (together.astype(np.intp), pairs.same.astype(np.intp), pairs.annotator), 1)
    rate = count[:, 1] / count.sum(1)  # of yes, where apart and together
    of_yes, of_no = np.log(rate[1] / rate[0]), np.log((1 - rate[0]) / (1 - rate[1]))
    return np.maximum(np.where(pairs.same, of_yes[pairs.annotator], of_no[pairs.annotator]), 0)


def independent_share(pairs: Pairs) -> Float[np.ndarray, " judgements"]:
    """How much of each judgement does not follow from the others of its occasion.

    Who sorts m items into groups says m (m - 1) / 2 pairs, and no more than m - 1 things: each pair counts for 2 / m.
    A pair that is judged again is judged anew: the repeated judgement counts for as much as the first.

    Parameters
    ----------
    pairs : Pairs

    Returns
    -------
    ndarray, shape (judgements,)
        (items - 1) / different pairs of the annotator's grouping, at most 1.
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
    """How the judgements of each annotator agree with clusters.

    Parameters
    ----------
    pairs : Pairs
    labels : int array, shape (n_items,)

    Returns
    -------
    DataFrame, one row an annotator
        n_pairs; n_together, those of one cluster; accuracy, the share of the judgements that agree with the clusters;
        sensitivity, of pairs of one cluster; specificity, of pairs of two. NaN where there are none.
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
    """Probability that pairs belong together, or that an annotator says so, where clusters are certain.

    Parameters
    ----------
    together : bool array, shape (pairs,)
        Whether the two items are of one cluster.
    annotators : DataFrame, as `annotator_table` makes it.
    place : int, optional
        Row of the annotator.

    Returns
    -------
    ndarray, shape (pairs,)
        1 or 0; with an annotator, the sensitivity or one minus the specificity, a right and a wrong judgement added
        to each.
    """
    if place is None:
        return together.astype(np.float64)
    one = annotators.iloc[place].fillna(0.0)
    n_together, n_apart = one["n_together"], one["n_pairs"] - one["n_together"]
    yes = (n_together * one["sensitivity"] + PSEUDO_COUNT) / (n_together + 2 * PSEUDO_COUNT)
    no = (n_apart * one["specificity"] + PSEUDO_COUNT) / (n_apart + 2 * PSEUDO_COUNT)
    return np.where(together, yes, 1 - no)
