"""How many labels are needed: the error to be expected after further labels that are chosen by their gain.

The class of each item is drawn from its probabilities, and labels of these classes from the crowd's mean confusion
matrix. Each goes to an item that promises most by then, whose posterior it changes as it would the model's,

    p_nk ∝ p_nk θ_ky^(1 / T)

with T the model's temperature, if it has one: where annotators share errors, a label is worth less. The error is the
mean of 1 - max_k p_nk over the items. Annotators stay as well known as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int

from consilience.active.label_gain import Confusion, Gain, Posterior, expected_gain
from consilience.active.stability import Decision
from consilience.annotations.display import facts

DRAWS = 5
STEPS = 10  # in which the labels of a decision are given
GROWTH = 0.2  # labels of a step of a forecast, per item
MOST_EACH = 30  # labels an item; more are not forecast


@dataclass(frozen=True)
class LabelForecast:
    """How many labels a target error needs.

    Attributes
    ----------
    error : float
        Expected share of the items whose class is wrong now.
    target : float
    labels : float
        Number of labels needed in total; infinite if 30 further ones of each item are not enough.
    more : float
        How many of these are still missing.
    per_item : float
        Mean number of labels of an item then.
    """

    error: float
    target: float
    labels: float
    more: float
    per_item: float

    def _repr_html_(self) -> str:
        return facts("", {field.name.replace("_", " "): getattr(self, field.name) for field in fields(self)})


@dataclass(frozen=True)
class LabelExpectations:
    """What is expected of further labels.

    posterior : probability of each class of each item.
    confusion : probability of each label, given the class.
    temperature : by which the evidence of a label is divided.
    """

    posterior: Posterior
    confusion: Confusion
    temperature: float

    def errors(
        self, sizes: Int[np.ndarray, " steps"], rng: np.random.Generator, until: float = 0.0
    ) -> Float[np.ndarray, " steps_and_one"]:
        """Return the expected error now, and after each step of so many labels; what is below `until` stays there."""
        return np.mean([self._simulate(sizes, rng, until) for _ in range(DRAWS)], axis=0)

    def _simulate(self, sizes: Int[np.ndarray, " steps"], rng: np.random.Generator, until: float) -> np.ndarray:
        posterior = self.posterior.copy()
        classes = _draw(posterior, rng)
        gain, wrong = self._gain(posterior), 1 - posterior.max(1)
        errors = [wrong.mean()]
        for size in sizes:
            asked = np.argpartition(-gain, size - 1)[:size]
            label = _draw(self.confusion[classes[asked]], rng)
            evidence = posterior[asked] * self.confusion[:, label].T ** (1 / self.temperature)
            posterior[asked] = evidence / evidence.sum(1, keepdims=True)
            gain[asked] = self._gain(posterior[asked])
            wrong[asked] = 1 - posterior[asked].max(1)
            errors.append(wrong.mean())
            if errors[-1] < until:
                break
        return np.array(errors + errors[-1:] * (len(sizes) + 1 - len(errors)))

    def _gain(self, posterior: Posterior) -> Gain:
        return expected_gain(posterior, self.confusion, self.confusion)


def _draw(probabilities: Float[np.ndarray, "rows values"], rng: np.random.Generator) -> Int[np.ndarray, " rows"]:
    summed = probabilities.cumsum(1)
    return (rng.random((len(summed), 1)) * summed[:, -1:] >= summed[:, :-1]).sum(1)


def steps_of(n_labels: int, n_items: int, n_steps: int) -> Int[np.ndarray, " steps"]:
    """Divide labels into steps, of different items each."""
    n_steps = max(n_steps, -(-n_labels // n_items))
    return np.diff(np.linspace(0, n_labels, min(n_steps, n_labels) + 1).astype(int))


def forecast_labels(
    expected: LabelExpectations, target: float, n_labels: int, rng: np.random.Generator
) -> LabelForecast:
    """Estimate how many labels a target error needs; there are `n_labels` so far."""
    n_items = len(expected.posterior)
    sizes = np.full(round(MOST_EACH / GROWTH), max(1, round(GROWTH * n_items)))
    errors = expected.errors(sizes, rng, until=target / 2)
    more = _crossing(np.concatenate([[0], sizes.cumsum()]), errors, target)
    return LabelForecast(float(errors[0]), target, n_labels + more, more, (n_labels + more) / n_items)


def _crossing(numbers: Int[np.ndarray, " points"], errors: Float[np.ndarray, " points"], target: float) -> float:
    """Return the number at which errors first are as low as the target, between points on a line; infinite if never."""
    reached = np.flatnonzero(errors <= target)
    if not len(reached):
        return np.inf
    last = int(reached[0])
    if not last:
        return 0.0
    share = (errors[last - 1] - target) / (errors[last - 1] - errors[last])
    return float(numbers[last - 1] + share * (numbers[last] - numbers[last - 1]))


def decide_by_gain(expected: LabelExpectations, n_labels: int, floor: float, rng: np.random.Generator) -> Decision:
    """Decide to stop when the next labels are expected to put fewer than `floor` items right."""
    n_items = len(expected.posterior)
    errors = expected.errors(steps_of(n_labels, n_items, STEPS), rng) * n_items
    gain = max(float(errors[0] - errors[-1]), 0.0)
    what = f", fewer than {floor:g}." if gain < floor else f"; {floor:g} would be worth it."
    return Decision(gain < floor, f"The next {n_labels} labels are expected to put {gain:.1f} items right{what}")
