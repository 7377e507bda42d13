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
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_array, csr_array

from consilience.inference.iterate import restarts
from consilience.inference.randomness import spawn_seeds

SCORE_VARIANCES = (1.0, 3.0, 10.0, 30.0, 100.0)
N_FOLDS = 3
FAR_BEHIND = 3  # standard errors beyond which a candidate is given up: so many that it would hardly be chosen


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
    """Cross-validate over the labels, fold by fold, without the candidates that earlier folds leave far behind.

    variances : the candidates, ascending.
    folds : of the labels.
    evaluate : (places of the candidate and of the fold) → Σ ln p(held-out labels) of each item.
    """
    kept = np.arange(len(variances))
    tried = np.zeros((len(folds), len(variances)), dtype=bool)
    found = np.zeros((len(folds), len(variances), folds[0].left_out.shape[0]))
    for fold in range(len(folds)):
        jobs = [(int(candidate), fold) for candidate in kept]
        found[fold, kept] = restarts(evaluate, jobs, n_jobs=n_jobs, unit="fits of prior variances")
        tried[fold, kept] = True
        kept = kept[~are_far_behind(found[:, kept].sum(0))]
    n_labels = np.array([fold.left_out.nnz for fold in folds])
    return VarianceSearch(variances, extend_to_all_folds(found, tried, n_labels) / n_labels.sum())


def are_far_behind(by_item: Float[np.ndarray, "candidates items"]) -> Bool[np.ndarray, " candidates"]:
    """Which candidates are behind the best by more than `FAR_BEHIND` standard errors of the difference.

    Those next to the best are not: they differ so little from it that the standard errors are too small.
    """
    best = by_item.sum(1).argmax()
    difference = by_item - by_item[best]
    is_next = np.abs(np.arange(len(by_item)) - best) <= 1
    return np.asarray((difference.sum(1) < -FAR_BEHIND * standard_error(difference)) & ~is_next)


def extend_to_all_folds(
    found: Float[np.ndarray, "folds candidates items"],
    tried: Bool[np.ndarray, "folds candidates"],
    n_labels: Int[np.ndarray, " folds"],
) -> Float[np.ndarray, "candidates items"]:
    """Sum over the folds; where some were not tried, the difference from the best grows in proportion to the labels."""
    total = found.sum(0)
    best = np.where(tried.all(0), total.sum(1), -np.inf).argmax()
    difference = np.where(tried[:, :, None], found - found[:, [best]], 0).sum(0)
    return np.asarray(total[best] + difference * (n_labels.sum() / (n_labels @ tried))[:, None])


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
