"""Credible intervals of the accuracy of annotators in the models of `dawid_skene`.

    accuracy of annotator j       A_j = Σ_k π_k θ_jkk,   π the mean responsibilities; k runs over subtypes, too
    given the items' classes      mean M_j and variance of A_j under q(θ), whose rows are Dirichlet distributions; with
                                  `Hierarchical` their means depend on a_j, whose variance under q(a) is added
    as a number of labels         M_j (1 - M_j) / variance - 1 = P_j + n_j: those of the prior, and n_j given ones
    classes are uncertain too     a label is right with probability q = q(z_n = y_nj), so that the share
                                  f_j = Σ_n q (1 - q) / (n_j M_j (1 - M_j)) of what n_j labels would tell is missing
    interval                      quantiles of the Beta distribution with mean M_j and P_j (1 - f)² + n_j (1 - f_j)
                                  labels; f is the share over all annotators

1 / (1 - f_j) is the factor by which missing information widens a variance (Louis 1982; Dempster, Laird & Rubin 1977).
By the same f the estimated accuracies of annotators are drawn towards each other, so that they appear to differ by
(1 - f)² of their variance, and the learned prior to be worth 1 / (1 - f)² as many labels as it is. Both are corrected.

Errors that annotators share make the labels of those who take part in them look right. The probabilities that allow for
that (`calibration`) say what share of an annotator's labels is right, too: by as much as this share lies below or above
that under the posterior, the interval is wider on that side.

Decided here
------------
The quantiles are those at 5 and 95 %. Maximum likelihood has no distribution of θ, and no interval: NaN.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.stats import beta

from consilience.annotations import Labels
from consilience.consensus.labels.annotator_models import AnnotatorModel, Hierarchical, OneCoin

LEVEL = 0.9
NARROWEST = 1e-12  # variance
FEWEST = 2.0  # labels: of a uniform distribution

PerAnnotator = Float[np.ndarray, " annotators"]


def accuracy_interval(
    model: AnnotatorModel, share: Float[np.ndarray, " components"], doubted: PerAnnotator
) -> tuple[PerAnnotator, PerAnnotator]:
    """Lower and upper ends of the 90 % credible interval of the accuracy of each annotator; NaN if none was learned.

    model : annotator model after the last sweep.
    share : mean responsibilities.
    doubted : of each annotator; see `doubted_labels`.
    """
    if isinstance(model, Hierarchical):
        mean, variance = _of_rows(model, share)
    elif isinstance(model, OneCoin) and model.learned:
        mean, variance = _of_beta(model.accuracy)
    else:
        missing = np.full(len(model.log_table), np.nan)
        return missing, missing
    if model.log_table.shape[1] == 1:  # every label is right
        return np.ones(len(mean)), np.ones(len(mean))
    spread = np.maximum(mean * (1 - mean), NARROWEST)
    given, doubt = model.n_labels(), doubted / spread  # n_j, n_j f_j
    of_prior = np.maximum(spread / np.maximum(variance, NARROWEST) - 1 - given, 0)
    missing_share = min(float(doubt @ spread / max(given @ spread, NARROWEST)), 1.0)
    size = np.maximum(of_prior * (1 - missing_share) ** 2 + np.maximum(given - doubt, 0), FEWEST)
    tail = (1 - LEVEL) / 2
    low, high = (beta.ppf(end, mean * size, (1 - mean) * size) for end in (tail, 1 - tail))
    return low, high


def widen_interval(low: PerAnnotator, high: PerAnnotator, moved: PerAnnotator) -> tuple[PerAnnotator, PerAnnotator]:
    """Move one end of each interval outwards.

    moved : share of the labels of each annotator that is right under the calibrated probabilities, minus that under the
        posterior.

    Examples
    --------
    >>> widen_interval(np.array([0.7, 0.2]), np.array([0.9, 0.4]), np.array([-0.1, 0.05]))
    (array([0.6, 0.2]), array([0.9 , 0.45]))
    """
    return np.maximum(low + np.minimum(moved, 0), 0), np.minimum(high + np.maximum(moved, 0), 1)


def add_interval(table: pd.DataFrame, low: PerAnnotator, high: PerAnnotator) -> pd.DataFrame:
    """Return the table of annotators with the interval after the accuracy."""
    others = table.drop(columns="information")
    return others.assign(accuracy_low=low, accuracy_high=high, information=table["information"])


def sum_right(labels: Labels, of_classes: Float[np.ndarray, "items classes"], n_annotators: int) -> PerAnnotator:
    """Sum what the items have for the class of each label over the labels of each annotator."""
    right = of_classes[labels.item, labels.label]
    return np.bincount(labels.annotator, right, n_annotators).astype(float)  # without rows it would be integers


def doubted_labels(
    labels: Labels,
    responsibilities: Float[np.ndarray, "items classes"],
    weight: Float[np.ndarray, " labels"] | None,
    n_annotators: int,
) -> PerAnnotator:
    """Σ q (1 - q) over the labels of each annotator, q the probability that the label is right; a sum over items.

    weight : of each label; by default 1.
    """
    right = responsibilities[labels.item, labels.label]
    doubted = right * (1 - right) * (1 if weight is None else weight)
    return np.bincount(labels.annotator, doubted, n_annotators).astype(float)  # without rows it would be integers


def _of_beta(parameters: Float[np.ndarray, "annotators 2"]) -> tuple[PerAnnotator, PerAnnotator]:
    """Mean and variance of Beta distributions."""
    total = parameters.sum(1)
    mean = parameters[:, 0] / total
    return mean, mean * (1 - mean) / (total + 1)


def _of_rows(model: Hierarchical, share: Float[np.ndarray, " components"]) -> tuple[PerAnnotator, PerAnnotator]:
    """Mean and variance of Σ_k π_k θ_jkk, from the rows given a_j, and from a_j."""
    mean_a, variance_a = _of_beta(model.accuracy)
    concentration = np.repeat(model.concentration, model.n_subtypes)
    size = concentration + model.totals()
    diagonal = (concentration * mean_a[:, None] + model.right_labels()) / size
    of_rows = (diagonal * (1 - diagonal) / (size + 1)) @ share**2
    slope = (concentration / size) @ share
    return diagonal @ share, of_rows + slope**2 * variance_a
