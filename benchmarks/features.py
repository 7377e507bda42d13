"""Classes of labelled items with features: DawidSkeneClassifier beside DawidSkene, stacking and CROWDLAB.

    python -m benchmarks.features [--seeds 5] [--only KIND]

Simulated items have 512 columns of features (`simulate_labels_with_features`: 300 items, 4 classes, 20 annotators,
3 labels on 200 of the items). The digits are scikit-learn's (1,797 items of 8 × 8 pixels, 10 classes), each labelled by
3 of 20 annotators of `noisy_crowd`, who are right with probabilities from 0.35 to 0.65. Figures are of the labelled
items, means over seeds, which decide what is drawn and the folds.

Stacked: the most probable class by a classifier, out of fold, that learned the classes of DawidSkene, is one more
annotator of a second DawidSkene. CROWDLAB: see `benchmarks/crowdlab.py`.

With --useless N: the largest gain of the bound, in N simulations with features that tell nothing, of several sizes.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from benchmarks.crowdlab import Crowdlab, Shares, predict_out_of_fold
from consilience import Labels
from consilience.annotations import concat
from consilience.consensus import DawidSkene
from consilience.semisupervised import DawidSkeneClassifier
from consilience.simulation import noisy_crowd, simulate_labels, simulate_labels_with_features

SHIFTS = {"separable": 0.35, "weak": 0.1, "useless": 0.0}
DIGITS = "digits"
SMALLEST = 1e-6  # probability


@dataclass(frozen=True)
class Study:
    """Features, labels and true classes of the items that have labels."""

    features: np.ndarray
    labels: Labels
    truth: np.ndarray


def draw_study(kind: str, seed: int) -> Study:
    """Draw labels, and features too unless they are those of the digits."""
    if kind == DIGITS:
        features, truth = load_digits(return_X_y=True)
        crowd = noisy_crowd(20, 10, low=0.35, high=0.65, random_state=seed)
        labels = simulate_labels(truth, confusion=crowd, annotators_per_item=3, random_state=seed)
        return Study(features, labels, truth)
    drawn = simulate_labels_with_features(shift=SHIFTS[kind], random_state=seed)
    items = np.flatnonzero(np.diff(drawn.annotations.indptr))
    return Study(drawn.data.to_numpy()[items], drawn.annotations[items].by_position(), drawn.target[items])


def by_labels_alone(study: Study, seed: int) -> Shares:
    """DawidSkene."""
    return DawidSkene().fit(study.labels).responsibilities_


def by_both(study: Study, seed: int) -> Shares:
    """DawidSkeneClassifier."""
    return DawidSkeneClassifier(random_state=seed).fit(study.features, study.labels).responsibilities_


def by_stacking(study: Study, seed: int) -> Shares:
    """The classifier as one more annotator."""
    labels, codes = study.labels, by_labels_alone(study, seed).argmax(1)
    told = predict_out_of_fold(study.features, codes, labels.n_classes, seed).argmax(1)
    more = Labels.from_matrix(pd.DataFrame({"classifier": labels.classes[told]}))
    return DawidSkene().fit(concat([labels, more])).responsibilities_


def by_crowdlab(study: Study, seed: int) -> Shares:
    """CROWDLAB."""
    return Crowdlab(seed).fit(study.features, study.labels).responsibilities_


METHODS: dict[str, Callable[[Study, int], Shares]] = {
    "DawidSkene": by_labels_alone,
    "CROWDLAB": by_crowdlab,
    "stacked": by_stacking,
    "DawidSkeneClassifier": by_both,
}


def judge(study: Study, shares: Shares) -> tuple[float, float]:
    """Accuracy and log loss."""
    own = np.maximum(shares[np.arange(len(study.truth)), study.truth], SMALLEST)
    return float((shares.argmax(1) == study.truth).mean()), -float(np.log(own).mean())


def compare_methods(kind: str, n_seeds: int) -> pd.DataFrame:
    """Means over seeds, the worst accuracy, and the worst lead over DawidSkene."""
    rows = []
    for seed in range(n_seeds):
        study = draw_study(kind, seed)
        for name, method in METHODS.items():
            start = time.process_time()
            rows.append((seed, name, *judge(study, method(study, seed)), time.process_time() - start))
    table = pd.DataFrame(rows, columns=["seed", "method", "accuracy", "log loss", "seconds"])
    by_seed = table.pivot_table(index="seed", columns="method", values="accuracy")
    lead = by_seed.sub(by_seed["DawidSkene"], axis=0)
    found = table.groupby("method", sort=False)[["accuracy", "log loss", "seconds"]].mean()
    found.insert(1, "worst seed", by_seed.min())
    found.insert(2, "worst lead", lead.min())
    return found


def gains_of_useless_features(n_draws: int) -> pd.Series:
    """Gain of the bound by features that tell nothing, of random sizes."""
    rng, found = np.random.default_rng(0), []
    for seed in range(n_draws):
        n_items = int(rng.choice([30, 100, 300]))
        drawn = simulate_labels_with_features(
            n_items,
            n_features=int(rng.choice([1, 5, 50])),
            n_classes=int(rng.choice([2, 3, 6])),
            shift=0.0,
            n_labelled=n_items,
            annotators_per_item=int(rng.choice([1, 2, 3, 6])),
            random_state=seed,
        )
        found.append(DawidSkeneClassifier(random_state=seed).fit(drawn.data, drawn.annotations).gain_)
    return pd.Series(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=[*SHIFTS, DIGITS])
    parser.add_argument("--useless", type=int, default=0, metavar="N")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.useless:
        gains = gains_of_useless_features(chosen.useless)
        print(f"largest gains of {len(gains)}: {gains.nlargest(5).round(1).tolist()} nats")
        return
    for kind in [chosen.only] if chosen.only else [*SHIFTS, DIGITS]:
        print(f"{kind}\n{compare_methods(kind, chosen.seeds).round(3).to_string()}\n", flush=True)


if __name__ == "__main__":
    main()
