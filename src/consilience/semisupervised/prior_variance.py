"""Choice of the prior variance of linear scores by cross-validation over annotations.

No single σ² suits all data: what matters is the prior variance of a typical item's score w·φ, which is σ² times the
item's squared length. The grid is defined on that scale, so that it does not depend on the number of features or their
scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.sparse import coo_array, csr_array

from consilience.inference.iterate import restarts
from consilience.inference.randomness import spawn_seeds

SCORE_VARIANCES = (1.0, 3.0, 10.0, 30.0, 100.0)
N_FOLDS = 3


@dataclass(frozen=True)
class Fold:
    """Labels to fit, labels to predict, and the seed of the fit."""

    kept: csr_array
    left_out: coo_array
    seed: int


Evaluate = Callable[[int, int], Float[np.ndarray, " items"]]


def split(labels: csr_array, rng: np.random.RandomState) -> list[Fold]:
    """Split the labels into folds at random, and seed the runs: every candidate gets the same splits and seeds."""
    parts = list(held_out(labels, N_FOLDS, rng))
    return [Fold(kept, left_out, seed) for (kept, left_out), seed in zip(parts, spawn_seeds(rng, N_FOLDS))]


@dataclass(frozen=True)
class VarianceSearch:
    """Log probability of held-out labels under each prior variance.

    variances : the candidates, ascending.
    by_item : log probability of the held-out labels of each item, divided by the number of all labels.
    """

    variances: Float[np.ndarray, " candidates"]
    by_item: Float[np.ndarray, "candidates items"]

    @property
    def table(self) -> pd.DataFrame:
        """One row for each candidate.

        prior_variance, log_probability (nats per held-out label), standard_error (of its difference from the best,
        assuming independent items).
        """
        total = self.by_item.sum(1)
        error = standard_error(self.by_item - self.by_item[total.argmax()])
        return pd.DataFrame({"prior_variance": self.variances, "log_probability": total, "standard_error": error})

    @property
    def chosen(self) -> int:
        """Place of the smallest prior variance whose log probability is within a standard error of the best."""
        table = self.table
        behind = table["log_probability"].max() - table["log_probability"]
        return int(np.argmax((behind <= table["standard_error"]).to_numpy()))

    @property
    def variance(self) -> float:
        """The prior variance chosen."""
        return float(self.variances[self.chosen])

    def lead(self, other: VarianceSearch) -> tuple[float, float]:
        """How much more probable labels are than under another search, each with its choice; and the standard error."""
        difference = self.by_item[self.chosen] - other.by_item[other.chosen]
        return float(difference.sum()), float(standard_error(difference))


def search(
    variances: Float[np.ndarray, " candidates"], folds: list[Fold], evaluate: Evaluate, *, n_jobs: int | None
) -> VarianceSearch:
    """Cross-validate over the labels.

    variances : the candidates, ascending.
    folds : of the labels.
    evaluate : (places of the candidate and of the fold) → Σ ln p(held-out labels) of each item.
    """
    jobs = [(candidate, fold) for candidate in range(len(variances)) for fold in range(len(folds))]
    results = restarts(evaluate, jobs, n_jobs=n_jobs, unit="fits of prior variances")
    n_labels = sum(fold.left_out.nnz for fold in folds)
    return VarianceSearch(variances, np.reshape(results, (len(variances), len(folds), -1)).sum(1) / n_labels)


def compare(searches: dict[str, VarianceSearch], n_features: list[int]) -> pd.DataFrame:
    """Log probability of a held-out label with each set of features, one row for each.

    features, n_features, prior_variance (the choice), log_probability (with it), standard_error (of its difference from
    the best).
    """
    found = list(searches.values())
    total = [float(search.by_item[search.chosen].sum()) for search in found]
    best = found[int(np.argmax(total))]
    return pd.DataFrame(
        {
            "features": list(searches),
            "n_features": n_features,
            "prior_variance": [search.variance for search in found],
            "log_probability": total,
            "standard_error": [best.lead(search)[1] for search in found],
        }
    )


def standard_error(differences: Float[np.ndarray, "*batch items"]) -> Float[np.ndarray, "*batch"] | np.floating:
    """Standard error of a sum over items, assuming independent items."""
    return np.sqrt(differences.shape[-1]) * differences.std(-1)


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
