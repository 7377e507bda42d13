"""Seconds of processor and memory of models of labels with few and many classes, and what they find.

    python -m benchmarks.many_classes [--classes 10 100 1000] [--seed 0] [--only full]

3,000 items of even classes have labels by five of 100 annotators each, who are right in 40 to 92 % and err evenly:
15,000 labels. Each fit has a process of its own; its memory is the most that this held, less what it held before the
fit. With features: `DawidSkeneClassifier`, of 16 columns, in which items lie around the mean of their class, N(0, 1)
around N(0, 1). Log loss is of all items, with classes that no label names at a probability of 1e-12.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.speed.measuring import Run, in_own_process, megabytes, timed
from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote
from consilience.semisupervised import DawidSkeneClassifier
from consilience.simulation import simulate_labels

N_ITEMS, N_ANNOTATORS, N_EACH = 3000, 100, 5
ACCURACY = (0.40, 0.92)
N_FEATURES = 16
MODELS = {
    "vote": MajorityVote(),
    "one-coin": DawidSkene(confusion="one-coin"),
    "full": DawidSkene(),
    "features": DawidSkeneClassifier(random_state=0),
}


def crowd(n_classes: int, seed: int) -> tuple[Labels, np.ndarray, np.ndarray]:
    """Return labels, features, and the class of each item."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(n_classes, size=N_ITEMS)
    accuracy = rng.uniform(*ACCURACY, N_ANNOTATORS)
    labels = simulate_labels(
        classes, n_annotators=N_ANNOTATORS, accuracy=accuracy, annotators_per_item=N_EACH, random_state=rng
    )
    features = rng.normal(size=(n_classes, N_FEATURES))[classes] + rng.normal(size=(N_ITEMS, N_FEATURES))
    return labels, features, classes


def run(model: Any, n_classes: int, seed: int) -> Run:
    """Fit a model in this process."""
    labels, features, classes = crowd(n_classes, seed)

    def fit(labels: Labels, features: np.ndarray, *_: np.ndarray) -> Any:
        return clone(model).fit(*((features, labels) if isinstance(model, DawidSkeneClassifier) else (labels,)))

    warnings.simplefilter("ignore")  # classes that are numbers
    fit(*crowd(3, seed))  # imports what is imported late
    before = megabytes()
    found, fitted = timed(lambda: fit(labels, features))
    truth = classes[fitted.items_.astype(int)]
    place = np.searchsorted(fitted.classes_, truth).clip(max=len(fitted.classes_) - 1)
    named = fitted.classes_[place] == truth
    probability = np.where(named, fitted.responsibilities_[np.arange(len(truth)), place], 0.0)
    return found | {
        "megabytes": megabytes() - before,
        "right": float((fitted.labels_ == truth).mean()),
        "loss": float(-np.log(probability.clip(min=1e-12)).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=MODELS)
    given = parser.parse_args()
    print("model     classes  seconds of processor  megabytes  right  log loss")
    for name, model in MODELS.items():
        for n_classes in given.classes if given.only in (None, name) else ():
            found = in_own_process(run, model, n_classes, given.seed)
            figures = f"{found['busy']:22.2f}{found['megabytes']:11.0f}{found['right']:7.3f}{found['loss']:10.3f}"
            print(f"{name:10}{n_classes:7,}{figures}", flush=True)


if __name__ == "__main__":
    main()
