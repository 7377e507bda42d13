"""The prior of an item's class that a classifier's probabilities make, and how far they are to be trusted.

    r_nk = (1 - w) exp(E ln π_k) + w s_nk,   s_n = softmax(a ln p̃_n),   p̃ = (p + ε) / (1 + K ε)

The sharpness a and the weight w maximise an objective with ln p(a, w) added, where ln a ~ N(0, 1.5²) and
logit w ~ N(2, 2²):

    of scores    Σ_n ln Σ_k r_nk exp(S_nk / T)                                      S the evidence of an item's labels
    of labels    Σ_nj ln Σ_k q_nk p_nj(k) - 4 ln t,   q_n ∝ r_n exp((S'_nk - ln p_nj(k)) / t)

The second predicts each label from the features and the other labels of its item, as `consensus.labels.calibration`
does from these alone, and finds the temperature t; or each label from the features alone, with t infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize, root
from scipy.special import expit, log_softmax, softmax

from consilience.consensus.labels.calibration import HIGHEST, PENALTY
from consilience.consensus.labels.samples import sampled_places
from consilience.inference.product_distributions import Weights

FLOOR = 1e-3  # ε
SHARPNESS_PRIOR = (0.0, 1.5)  # mean and standard deviation of ln a
WEIGHT_PRIOR = (2.0, 2.0)  # of logit w
LIMIT = 8.0  # of |ln a| and |logit w|
ROUNDING = 1e-13  # of places where a slope is zero
MOST_CELLS = 1 << 17  # items × classes: of more, a and w are learned from some of the items
NEAR = 0.1  # of such a place to the maximum
FIRST_TEMPERATURE = 2.0  # from which t and T are sought: at 1, the lowest, a search may not leave the limit

Probabilities = Float[np.ndarray, "items classes"]
Place = Float[np.ndarray, " places"]
Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Mixing:
    """How much the probabilities of a classifier tell.

    sharpness : a.
    weight : w.
    """

    sharpness: float
    weight: float

    @classmethod
    def of(cls, place: Place) -> Mixing:
        """From ln a and logit w."""
        return cls(float(np.exp(place[0])), float(expit(place[1])))

    def prior(self, log_weights: Weights, probabilities: Probabilities) -> Probabilities:
        """r, whose part of π sums to less than 1, as exp(E ln π) does."""
        return (1 - self.weight) * np.exp(log_weights) + self.weight * self.of_classifier(probabilities)

    def of_classifier(self, probabilities: Probabilities) -> Probabilities:
        """s."""
        return np.asarray(softmax(self.sharpness * floor_logs(probabilities), axis=1))

    def predict(self, log_weights: Weights, probabilities: Probabilities) -> Probabilities:
        """r with rows that sum to 1: the probabilities of items without labels."""
        prior = self.prior(log_weights, probabilities)
        return prior / prior.sum(1, keepdims=True)


def floor_logs(probabilities: Probabilities) -> Probabilities:
    """ln p̃."""
    return np.log((probabilities + FLOOR) / (1 + FLOOR * probabilities.shape[1]))


def mixing_of_scores(scores: Probabilities, log_weights: Weights, probabilities: Probabilities) -> Mixing:
    """Find a and w that explain the evidence of the items' labels; of many classes, that of some of the items.

    scores : S / T.
    log_weights : E ln π.
    probabilities : p of the same items.
    """
    some = sampled_places(len(scores), scores.size, MOST_CELLS)
    logs, likelihood = floor_logs(probabilities[some]), np.exp(scores[some] - scores[some].max(1, keepdims=True))
    of_crowd = likelihood @ np.exp(log_weights)

    def objective(place: Place) -> tuple[float, np.ndarray]:
        sharpness, weight = np.exp(place[0]), expit(place[1])
        shares = softmax(sharpness * logs, axis=1)
        mean = np.einsum("nk,nk->n", shares, logs)
        shares *= likelihood
        of_classifier, rise = shares.sum(1), np.einsum("nk,nk->n", shares, logs)
        total = (1 - weight) * of_crowd + weight * of_classifier
        slopes = weight * sharpness * (rise - mean * of_classifier), weight * (1 - weight) * (of_classifier - of_crowd)
        return float(np.log(total).sum()), np.array([float((each / total).sum()) for each in slopes])

    return Mixing.of(_climb_with_prior(objective, np.empty(0)))


@dataclass(frozen=True)
class LabelsToPredict:
    """Labels that features are to predict.

    item : of each label, a row of the probabilities.
    probability : p_nj(k), of the label given each class, without its item.
    others : S'_n - ln p_nj; None to predict from the features alone.
    """

    item: Int[np.ndarray, " labels"]
    probability: Float[np.ndarray, "labels classes"]
    others: Float[np.ndarray, "labels classes"] | None


def mixing_of_labels(
    labels: LabelsToPredict, log_weights: Weights, probabilities: Probabilities
) -> tuple[Mixing, float]:
    """Find a, w and t that predict each label; t is 1 where features predict alone."""
    logs, alone = floor_logs(probabilities), labels.others is None

    def objective(place: Place) -> tuple[float, np.ndarray]:
        prior, *slopes = prior_and_slopes(place[:2], log_weights, logs)
        scaled = 0.0 if labels.others is None else labels.others / np.exp(place[2])
        before = softmax(np.log(prior)[labels.item] + scaled, axis=1)
        predicted = (before * labels.probability).sum(1)
        moved = before * (labels.probability / predicted[:, None] - 1)
        slope = [float((moved * (each / prior)[labels.item]).sum()) for each in slopes]
        value = float(np.log(predicted).sum())
        if alone:
            return value, np.array(slope)
        return value - PENALTY * place[2], np.array([*slope, -float((moved * scaled).sum()) - PENALTY])

    place = _climb_with_prior(objective, np.log([FIRST_TEMPERATURE] * (not alone)))
    return Mixing.of(place), 1.0 if alone else float(np.exp(place[2]))


def temperature_of_scores(scores: Probabilities, target: Probabilities, log_prior: Probabilities) -> float:
    """T, at which softmax(ln r + S / T) is closest to the target."""

    def objective(place: Place) -> tuple[float, np.ndarray]:
        scaled = scores / np.exp(place[0])
        log_posterior = log_softmax(scaled + log_prior, axis=1)
        slope = -float(((target - np.exp(log_posterior)) * scaled).sum())
        return float((target * log_posterior).sum()), np.array([slope])

    return float(np.exp(_climb(objective, np.log([FIRST_TEMPERATURE]), [(0.0, np.log(HIGHEST))])[0]))


def prior_and_slopes(
    place: Place, log_weights: Weights, logs: Probabilities
) -> tuple[Probabilities, Probabilities, Probabilities]:
    """r at ln a and logit w, and its derivatives by them; `logs` are ln p̃."""
    sharpness, weight = np.exp(place[0]), expit(place[1])
    shares, of_crowd = softmax(sharpness * logs, axis=1), np.exp(log_weights)
    by_sharpness = weight * sharpness * shares * (logs - (shares * logs).sum(1, keepdims=True))
    by_weight = weight * (1 - weight) * (shares - of_crowd)
    return (1 - weight) * of_crowd + weight * shares, by_sharpness, by_weight


def _climb_with_prior(objective: Objective, further: Float[np.ndarray, " further"]) -> Place:
    """Maximise an objective of ln a, logit w and perhaps ln t, with the priors of the first two."""
    means, deviations = np.array([SHARPNESS_PRIOR, WEIGHT_PRIOR]).T

    def with_prior(place: Place) -> tuple[float, np.ndarray]:
        value, slope = objective(place)
        away = (place[:2] - means) / deviations
        return value - float(away @ away) / 2, slope - np.append(away / deviations, np.zeros(len(further)))

    limits = [(-LIMIT, LIMIT)] * 2 + [(0.0, float(np.log(HIGHEST)))] * len(further)
    return _climb(with_prior, np.append(means, further), limits)


def _climb(objective: Objective, start: Place, limits: list[tuple[float, float]]) -> Place:
    def falling(place: Place) -> tuple[float, np.ndarray]:
        value, slope = objective(place)
        return -value, -slope

    found = minimize(falling, start, jac=True, method="L-BFGS-B", bounds=limits)
    low, high = np.array(limits).T
    free = (found.x > low) & (found.x < high)
    if not free.any():
        return np.asarray(found.x)

    def with_free(values: Float[np.ndarray, " values"]) -> Place:
        there = found.x.copy()
        there[free] = values
        return there

    # where the slope is zero; values of the objective tell it from other places to 1e-7 only
    exact = root(lambda places: objective(with_free(places))[1][free], found.x[free], tol=ROUNDING)
    there = with_free(exact.x)
    is_of_it = np.abs(there - found.x).max() < NEAR and ((there >= low) & (there <= high)).all()
    return there if is_of_it else np.asarray(found.x)
