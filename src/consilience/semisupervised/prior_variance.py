"""Choice of the prior variance of linear scores by cross-validation over annotations.

No single σ² suits all data: what matters is the prior variance of a typical item's score w·φ, which is σ² times the
item's squared length. The grid is defined on that scale, so that it does not depend on the number of features or their
scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.sparse import coo_array, csr_array

from consilience.inference.iterate import restarts
from consilience.inference.randomness import spawn_seeds

SCORE_VARIANCES = (1.0, 3.0, 10.0, 30.0, 100.0)
FOLDS = 3

Evaluate = Callable[[float, csr_array, coo_array, int], Float[np.ndarray, " items"]]


def search(
    variances: Float[np.ndarray, " candidates"],
    labels: csr_array,
    evaluate: Evaluate,
    rng: np.random.RandomState,
    *,
    n_jobs: int | None,
) -> pd.DataFrame:
    """Mean log probability of a held-out label under each prior variance, by cross-validation over the labels.

    Parameters
    ----------
    variances : the candidates.
    labels : (items, groups) sparse 0/1.
    evaluate : (variance, training labels, held-out labels, seed) → Σ ln p(held-out labels) of each item.
    rng : splits the labels and seeds the runs; every candidate gets the same splits and seeds.

    Returns
    -------
    DataFrame, one row for each candidate
        prior_variance, log_probability (nats per held-out label), standard_error (of its difference from the best,
        assuming independent items).
    """
    folds = list(held_out(labels, FOLDS, rng))
    seeds = spawn_seeds(rng, len(folds))
    jobs = [(float(v), kept, out, seed) for v in variances for (kept, out), seed in zip(folds, seeds)]
    results = restarts(evaluate, jobs, n_jobs=n_jobs, unit="fits of prior variances")
    by_item = np.reshape(results, (len(variances), len(folds), -1)).sum(1) / labels.nnz
    total = by_item.sum(1)
    behind = by_item - by_item[total.argmax()]
    error = np.sqrt(behind.shape[1]) * behind.std(1)
    return pd.DataFrame({"prior_variance": variances, "log_probability": total, "standard_error": error})


def choose(table: pd.DataFrame) -> float:
    """Smallest prior variance whose log probability is within a standard error of the best."""
    behind = table["log_probability"].max() - table["log_probability"]
    return float(table.loc[behind <= table["standard_error"], "prior_variance"].min())


def candidates(features: Float[np.ndarray, "items features"]) -> Float[np.ndarray, " candidates"]:
    """σ² for each of `SCORE_VARIANCES`; a typical φ is the features and a 1."""
    return np.array(SCORE_VARIANCES) / (1 + float((features**2).sum(1).mean()))


def held_out(labels: csr_array, n_folds: int, rng: np.random.RandomState) -> Iterator[tuple[csr_array, coo_array]]:
    """Split the labels into folds at random; yield the training and the held-out labels of each."""
    given = labels.tocoo()
    fold = rng.permutation(given.nnz) % n_folds
    for left_out in range(n_folds):
        yield _entries(given, fold != left_out).tocsr(), _entries(given, fold == left_out)


def _entries(given: coo_array, which: np.ndarray) -> coo_array:
    row, column = given.coords
    return coo_array((given.data[which], (row[which], column[which])), shape=given.shape)
