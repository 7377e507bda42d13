"""CROWDLAB: the weighted mean of what annotators and a classifier say (Goh, Tkachenko & Mueller 2022).

Written anew after cleanlab's `get_label_quality_multiannotator`, with which it is compared by tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from consilience import Labels
from consilience.semisupervised.learning_classifiers import default_classifier

SMALLEST = 1e-6  # of weights, as cleanlab has it
Shares = np.ndarray


class Combined(NamedTuple):
    """Weights of the classifier and of annotators, their weighted mean, and the consensus that gave the weights."""

    by_model: float
    of_annotator: np.ndarray
    shares: Shares
    consensus: np.ndarray


class Crowdlab(BaseEstimator):
    """Probabilities of the classes by labels and features.

    The classifier is out of fold, and learned the most frequent labels. Without features, the shares of the classes
    among the labels take its place. There is one round: cleanlab's consensus is the most probable class after it.
    """

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, features: Any, labels: Labels | None = None) -> Crowdlab:
        """Fit to features and labels, or to labels alone."""
        features, labels = (None, features) if labels is None else (features, labels)
        votes = count_votes(labels)
        shares = votes.sum(0) / votes.sum()
        if features is None:
            shares = np.tile(shares, (len(votes), 1))
        else:
            consensus = most_frequent(votes, shares)
            shares = predict_out_of_fold(features, consensus, labels.n_classes, self.random_state)
        self.responsibilities_ = combine(labels, shares, n_rounds=1).shares
        return self


def predict_out_of_fold(features: np.ndarray, classes: np.ndarray, n_classes: int, seed: int | None) -> Shares:
    """Probabilities by the default classifier, trained on the other four fifths."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    found = np.zeros((len(features), n_classes))
    found[:, np.unique(classes)] = cross_val_predict(
        default_classifier(), features, classes, cv=folds, method="predict_proba"
    )
    return found


def count_votes(labels: Labels) -> np.ndarray:
    """Return how many labels name each class of each item."""
    votes = np.zeros((labels.n_items, labels.n_classes))
    np.add.at(votes, (labels.item, labels.label), 1.0)
    return votes


def most_frequent(votes: np.ndarray, shares: Shares) -> np.ndarray:
    """Return the class with the most votes; of several, that of the largest share."""
    return np.where(votes == votes.max(1, keepdims=True), 1 + shares, 0).argmax(1)


def combine(labels: Labels, shares: Shares, n_rounds: int = 2) -> Combined:
    """Combine labels with the probabilities by a classifier, weighted by how well each agrees with the consensus.

    That is the most frequent label at first, and then the class that this made the most probable.
    """
    votes = count_votes(labels)
    consensus = most_frequent(votes, shares)
    found = Combined(1.0, np.ones(labels.n_annotators), shares, consensus)
    if votes.sum(1).max() < 2:
        return found
    agreement = agreement_with_others(labels, votes)
    for _ in range(n_rounds):
        found = weigh(labels, votes, shares, consensus, agreement)
        best = found.shares == found.shares.max(1, keepdims=True)
        consensus = np.where(best.sum(1) == 1, found.shares.argmax(1), consensus)
    return found


def agreement_with_others(labels: Labels, votes: np.ndarray) -> np.ndarray:
    """Return the share of the other labels with which each annotator agrees; the mean if there are none."""
    others = votes.sum(1)[labels.item] - 1
    same = votes[labels.item, labels.label] - 1
    equal, compared = (np.bincount(labels.annotator, of, labels.n_annotators) for of in (same, others))
    share = np.divide(equal, compared, out=np.full(len(equal), np.nan), where=compared > 0)
    return np.where(np.isnan(share), np.nanmean(share), share)


def weigh(labels: Labels, votes: np.ndarray, shares: Shares, consensus: np.ndarray, agreement: np.ndarray) -> Combined:
    """Return the weights by the agreement with a consensus, and the weighted mean."""
    n_labels, n_classes = votes.sum(1), votes.shape[1]
    several = n_labels > 1
    agreed = float((votes[np.arange(len(votes)), consensus] / n_labels)[several].mean())
    sizes = np.bincount(consensus[several], minlength=n_classes)
    guess = max(1 - sizes.max() / sizes.sum(), SMALLEST)  # error of naming the largest class
    of_annotator = np.maximum(1 - (1 - agreement) / guess, SMALLEST)
    error = np.mean(shares[several].argmax(1) != consensus[several])
    by_model = max(1 - error / guess, SMALLEST) * np.sqrt(n_labels.mean())
    said = np.full((labels.n_rows, n_classes), (1 - agreed) / (n_classes - 1))
    said[np.arange(labels.n_rows), labels.label] = agreed
    weight = of_annotator[labels.annotator]
    combined, total = shares * by_model, np.full(len(votes), by_model)
    np.add.at(combined, labels.item, said * weight[:, None])
    np.add.at(total, labels.item, weight)
    return Combined(by_model, of_annotator, combined / total[:, None], consensus)
