"""Which probabilities of `DawidSkene` serve what reads them: the posterior, or those that are calibrated.

``python -m benchmarks.readers`` prints for each reader the errors of the posterior, of ``calibrate="independent"`` and
of the floors, on recorded sets (`load_crowd_labels`; needs CONSILIENCE_DATA): how well clusters predict held-out labels
(the log loss of `consilience.selection.compare`), how far the certainty over people is from what other people repeat
(the calibration error of `benchmarks.certainty`, in its draws), how far the share of an annotator's labels that are
said to be right is from that which are, and how far the share of the items that are said to be wrong, from which
forecasts of labels begin, is from that which are. `benchmarks.given_labels` has the errors of `label_quality`, and
`benchmarks.accuracy_intervals` those of intervals.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks import certainty
from benchmarks.calibration import ODD
from benchmarks.people.label_crowds import RECORDED, THINNED, Crowd, recorded, thinned
from consilience.consensus import DawidSkene
from consilience.estimators.labels import posterior_of, without_floors
from consilience.selection import compare

MOST_ITEMS = 500  # of a set, where held-out labels are predicted
FEWEST = 20  # labels of an annotator whose true share is known
CERTAINTY_DRAWS = [1, 3, 5, 7]
WAYS = {"posterior": False, "independent": "independent", "floors": True}


class OnlyTold(DawidSkene):
    """A model of which everything reads `responsibilities_`, as of one that knows no others."""

    def fit(self, *arguments: Any, **others: Any) -> OnlyTold:
        super().fit(*arguments, **others)
        del self._posterior
        return self


OnlyTold.__name__ = "DawidSkene"  # by which `certainty` knows how to repeat a fit


def say(name: str, errors: dict[str, float]) -> None:
    """Print a line of the table."""
    sys.stdout.write(f"  {name:28s}" + "  ".join(f"{way} {error:.4f}" for way, error in errors.items()) + "\n")
    sys.stdout.flush()


def say_all(title: str, judge: Callable[[str], dict[str, float]], names: Iterable[str]) -> None:
    """Print the errors of sets, and their means."""
    sys.stdout.write(title + "\n")
    lines = []
    for name in names:
        lines.append(judge(name))
        say(name, lines[-1])
    say("mean", {way: float(np.mean([errors[way] for errors in lines])) for way in WAYS})


def predict_labels(name: str) -> dict[str, float]:
    """Return the log loss of held-out labels."""
    labels = recorded(name).labels
    labels = labels.restrict(items=labels.items[:MOST_ITEMS]) if len(labels) > MOST_ITEMS else labels
    models = {way: OnlyTold(calibrate=value, copies=None) for way, value in WAYS.items()}
    found = compare(models, labels, n_folds=3, max_pairs=5000, random_state=1, memory=False)
    return {way: float(error) for way, error in found.table["log_loss"][list(WAYS)].items()}


def repeat_pairs(name: str) -> dict[str, float]:
    """Return the calibration error of the certainty over people, of halves of them."""
    return {way: _error_of_certainty(name, value) for way, value in WAYS.items()}


def _error_of_certainty(name: str, calibrate: Any) -> float:
    def make() -> DawidSkene:
        return OnlyTold(calibrate=calibrate, copies=None)

    rows = certainty.recorded(make, "labels", certainty.labelled, (name,), CERTAINTY_DRAWS)
    return certainty.Means.of([row for _, row in rows if row is not None]).error


def probabilities_of(crowd: Crowd) -> dict[str, np.ndarray]:
    """Return the three probabilities of all items of a crowd."""
    model = DawidSkene().fit(crowd.labels)
    return {"posterior": posterior_of(model), "independent": without_floors(model), "floors": model.responsibilities_}


def judge_annotators(crowd: Crowd) -> dict[str, float]:
    """Return the mean distance from the true share of the labels of an annotator that are right."""
    labels, known = crowd.labels, crowd.truth[crowd.labels.item] >= 0
    item, annotator, label = labels.item[known], labels.annotator[known], labels.label[known]
    number = np.bincount(annotator, minlength=labels.n_annotators)
    several = number >= FEWEST

    def share(right: np.ndarray) -> np.ndarray:
        return np.bincount(annotator, right, labels.n_annotators)[several] / number[several]

    truly = share(label == crowd.truth[item])
    return {way: float(np.abs(share(p[item, label]) - truly).mean()) for way, p in probabilities_of(crowd).items()}


def judge_items(crowd: Crowd) -> dict[str, float]:
    """Return the distance from the true share of the items whose class is wrong."""
    known = np.flatnonzero(crowd.truth >= 0)
    found = {way: p[known] for way, p in probabilities_of(crowd).items()}
    wrong = float((found["posterior"].argmax(1) != crowd.truth[known]).mean())
    return {way: abs(float(1 - p.max(1).mean()) - wrong) for way, p in found.items()}


def judge_items_of(name: str) -> dict[str, float]:
    """Return what `judge_items` does of a recorded set, or the mean over draws of few of its labels."""
    crowds = [thinned(name, draw) for draw in ODD] if name in THINNED else [recorded(name)]
    found = [judge_items(crowd) for crowd in crowds]
    return {way: float(np.mean([errors[way] for errors in found])) for way in WAYS}


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    say_all("certainty over people", repeat_pairs, certainty.LABELLED)
    say_all("share of an annotator's labels", lambda name: judge_annotators(recorded(name)), RECORDED)
    say_all("share of the items", judge_items_of, (*RECORDED, *THINNED))
    say_all("held-out labels", predict_labels, RECORDED[:7])


if __name__ == "__main__":
    main()
