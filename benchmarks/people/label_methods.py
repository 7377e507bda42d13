"""The methods of the page on labels, ours, those of crowd-kit and CROWDLAB, and how their probabilities are judged."""

from __future__ import annotations

import time
from typing import Any

import crowdkit.aggregation as crowdkit
import numpy as np
from sklearn.base import BaseEstimator, clone

from benchmarks.crowdlab import Crowdlab
from benchmarks.experiments.statistics import paired
from benchmarks.people.label_crowds import Crowd
from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, OrdinalRatings, SpectralEM, StagewiseEM
from consilience.semisupervised import DawidSkeneClassifier, InductiveConsensus

VOTE, DEFAULT, LIMIT = "MajorityVote", "DawidSkene", "(annotators known)"
MODELS = {
    VOTE: MajorityVote(),
    DEFAULT: DawidSkene(),
    "DawidSkene(prior=None)": DawidSkene(prior=None),
    "DawidSkene(confusion='one-coin')": DawidSkene(confusion="one-coin"),
    "StagewiseEM": StagewiseEM(),
    "SpectralEM": SpectralEM(),
}
CROWDLAB, RATINGS = "CROWDLAB", "OrdinalRatings"
OF_RATINGS = {RATINGS: OrdinalRatings(), "OrdinalRatings(the mean)": OrdinalRatings(annotator_model="equal")}
OF_FEATURES = {
    "DawidSkeneClassifier": DawidSkeneClassifier(),
    "InductiveConsensus(DawidSkene)": InductiveConsensus(DawidSkene()),
    "InductiveConsensus(MajorityVote)": InductiveConsensus(MajorityVote()),
    CROWDLAB: Crowdlab(),
}
PEERS = ("DawidSkene", "OneCoinDawidSkene", "Wawa", "ZeroBasedSkill", "GLAD", "MACE", "MMSR")
SEEDED = ("SpectralEM", "crowd-kit MACE", "crowd-kit MMSR", *OF_FEATURES)
SKILLS = ("Wawa", "ZeroBasedSkill", "MMSR")  # votes weighted by skill; their own predict needs an older scikit-learn
SCORES = ("crowd-kit MMSR",)  # crowd-kit calls them scores, not probabilities: skills may be negative
N_BINS = 10
SMALLEST = 1e-6  # probability
TIE = 1e-9  # probabilities that differ by less are equal


class WithFeatures(BaseEstimator):
    """A model of features and labels, as one of labels."""

    def __init__(self, model: Any, features: np.ndarray) -> None:
        self.model = model
        self.features = features

    def fit(self, labels: Labels) -> WithFeatures:
        self.responsibilities_ = clone(self.model).fit(self.features, labels).responsibilities_
        return self


def fitted(model: Any, labels: Labels) -> np.ndarray | None:
    """Return the probabilities of a model, of shape (n_items, n_classes); None if its components are not classes."""
    found = clone(model).fit(labels).responsibilities_
    return found if found.shape[1] == labels.n_classes else None


def of_crowdkit(name: str, labels: Labels, **settings: Any) -> np.ndarray:
    """Return the probabilities or scores of a method of crowd-kit at its defaults, of shape (n_items, n_classes)."""
    frame = labels.to_frame().set_axis(["task", "worker", "label"], axis=1)
    method = getattr(crowdkit, name)(**settings).fit(frame)
    if name in SKILLS:
        found = crowdkit.MajorityVote().fit_predict_proba(frame, skills=method.skills_)
    else:
        found = method.probas_
    return found.reindex(index=labels.items, columns=labels.classes, fill_value=0.0).to_numpy()


def best_possible(crowd: Crowd) -> np.ndarray:
    """Return the probabilities of the classes if confusion matrices and shares of the classes are known."""
    labels = crowd.labels
    score = np.tile(np.log(np.bincount(crowd.truth) / len(crowd.truth)), (labels.n_items, 1))
    np.add.at(score, labels.item, np.log(crowd.confusion[labels.annotator, :, labels.label]))
    shares = np.exp(score - score.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def figures(name: str, crowd: Crowd, model: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return how a method does, and its lead over the vote with the standard error over items.

    No answer counts as equal shares of all classes.
    """
    start = time.perf_counter()
    try:
        if name == LIMIT:
            shares = best_possible(crowd)
        elif model is None:
            shares = of_crowdkit(name.split()[1], crowd.labels, **settings)
        else:
            shares = fitted(model, crowd.labels)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        shares, why = None, type(error).__name__
    else:
        why = "components are not classes" if shares is None else ""
        if shares is not None and not np.isfinite(shares).all():
            shares, why = None, "not finite"
    seconds = time.perf_counter() - start
    if shares is None:
        shares = np.full((crowd.labels.n_items, crowd.labels.n_classes), 1 / crowd.labels.n_classes)
    found = judged(shares, crowd.truth, name not in SCORES)
    lead = paired(right_of(shares, crowd.truth), right_of(fitted(MODELS[VOTE], crowd.labels), crowd.truth))
    return found | {"lead": lead.mean, "lead_error": lead.error, "no_answer": why, "seconds": seconds}


def right_of(shares: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return how right the most probable class of each item is whose class is known: 1, 0, or a share of a tie."""
    known = truth >= 0
    shares, truth = shares[known], truth[known]
    tied = most_probable(shares)
    return tied[np.arange(len(truth)), truth] / tied.sum(axis=1)


def most_probable(shares: np.ndarray) -> np.ndarray:
    """Return whether each class is one of the most probable of its item."""
    return shares >= shares.max(axis=1, keepdims=True) - TIE


def judged(shares: np.ndarray, truth: np.ndarray, are_probabilities: bool = True) -> dict[str, Any]:
    """Judge probabilities over the items whose class is known."""
    right = right_of(shares, truth)
    found: dict[str, Any] = {"accuracy": right.mean()}
    if are_probabilities:
        known = truth >= 0
        of_truth = shares[known][np.arange(known.sum()), truth[known]]
        found["log_loss"] = -np.log(np.maximum(of_truth, SMALLEST)).mean()
        decided = most_probable(shares[known]).sum(axis=1) == 1
        found["ties"] = 1 - decided.mean()
        found["calibration"] = calibration_error(shares[known].max(axis=1)[decided], right[decided])
    return found


def calibration_error(top: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error: in bins of the top probability, |share right - mean probability|."""
    if not len(top):
        return np.nan
    bins = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    gap = np.bincount(bins, right - top, N_BINS)
    return float(np.abs(gap).sum() / len(top))
