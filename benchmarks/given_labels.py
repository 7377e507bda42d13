"""How well `consilience.inspection.label_quality` finds wrong labels, on real crowds with known classes.

``python -m benchmarks.given_labels`` takes the known classes of nine crowds (`load_crowd_labels`; needs
CONSILIENCE_DATA), makes some of them wrong, and judges them by DawidSkene. Wrong labels are any other class (random);
or, where there are more than two classes, always the next one (shifted), or always the one that annotators find the
likeliest after the true one (hardest). It prints for each crowd and kind of error the mean over shares of wrong labels
of 0, 5, 10 and 20 % and five draws each: the share of draws in which the number of wrong labels is in the range, the
mean error of the estimated share, the Brier score of the probabilities, both of these by the posterior of the
annotations alone, and how well they rank wrong labels (area under the curve, for shares above 0) beside the share of
annotators who gave the label. Of larger crowds, each draw is of 1,000 items. The method was chosen on even draws
from the same crowds; these are the odd ones.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from consilience import Labels
from consilience.consensus import DawidSkene
from consilience.datasets import load_crowd_labels
from consilience.errors import AnnotationWarning
from consilience.estimators.labels import without_floors
from consilience.inspection import label_quality

CROWDS = ("bluebird", "dog", "rte", "cf_amt", "sp_amt", "zencrowd_in", "sentiment", "adult", "fact_eval")
KINDS = ("random", "shifted", "hardest")
SHARES = (0.0, 0.05, 0.1, 0.2)
DRAWS = range(1, 11, 2)
MOST = 1000


@dataclass(frozen=True)
class Crowd:
    """A fitted crowd, and the true class of each item, -1 where it is unknown."""

    model: DawidSkene
    labels: Labels
    truth: np.ndarray


def crowd(name: str) -> Crowd:
    """Fit a crowd."""
    data = load_crowd_labels(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        model = DawidSkene().fit(data.annotations)
    return Crowd(model, data.annotations, np.nan_to_num(data.target, nan=-1).astype(int))


def made_wrong(truth: np.ndarray, probability: np.ndarray, share: float, kind: str, rng: np.random.Generator):
    """Return classes of which a share is wrong."""
    wrong = rng.random(len(truth)) < share
    n_classes = probability.shape[1]
    other = (truth + rng.integers(1, n_classes, len(truth))) % n_classes
    if kind == "shifted":
        other = (truth + 1) % n_classes
    if kind == "hardest":
        others = probability.copy()
        others[np.arange(len(truth)), truth] = -1
        other = others.argmax(1)
    return np.where(wrong, other, truth)


def measured(crowd: Crowd, share: float, kind: str, draw: int) -> dict[str, float]:
    """Judge given labels of one draw."""
    rng = np.random.default_rng([draw, round(100 * share), kind == "hardest"])
    known = np.flatnonzero(crowd.truth >= 0)
    places = np.sort(rng.permutation(known)[:MOST])
    codes = made_wrong(crowd.truth[places], without_floors(crowd.model)[places], share, kind, rng)
    given = pd.Series(crowd.model.classes_[codes], index=crowd.model.items_[places])
    found = label_quality(crowd.model, crowd.labels, given)
    table = found.items.iloc[places]
    table = table[table["state"] == "checked"]
    checked = crowd.model.items_[places].isin(table.index)
    is_wrong = (codes != crowd.truth[places])[checked]
    right, alone = table["probability"].to_numpy(), table["by_annotations"].to_numpy()
    votes = (table["votes_for"] / table["n_votes"]).to_numpy()
    can_rank = is_wrong.any()
    return {
        "inside": float(found.low <= is_wrong.sum() <= found.high),
        "width": (found.high - found.low) / len(table),
        "error": (found.n_wrong - is_wrong.sum()) / len(table),
        "size of error": abs(found.n_wrong - is_wrong.sum()) / len(table),
        "Brier": float(((right - ~is_wrong) ** 2).mean()),
        "error of annotations": float((1 - alone).mean() - is_wrong.mean()),
        "Brier of annotations": float(((alone - ~is_wrong) ** 2).mean()),
        "AUC": roc_auc_score(is_wrong, -right) if can_rank else np.nan,
        "AUC of votes": roc_auc_score(is_wrong, -votes) if can_rank else np.nan,
    }


def main() -> None:
    """Print the table."""
    rows = {}
    for name in CROWDS:
        fitted = crowd(name)
        for kind in KINDS if fitted.labels.n_classes > 2 else KINDS[:1]:
            found = [measured(fitted, share, kind, draw) for share in SHARES for draw in DRAWS]
            rows[name, kind] = pd.DataFrame(found).mean()
            figures = "  ".join(f"{key} {value:.3f}" for key, value in rows[name, kind].items())
            sys.stdout.write(f"{name:12s} {kind:7s} {figures}\n")
            sys.stdout.flush()
    table = pd.DataFrame(rows).T
    for kind, mean in table.groupby(level=1, sort=False).mean().iterrows():
        figures = "  ".join(f"{key} {value:.3f}" for key, value in mean.items())
        sys.stdout.write(f"{'mean':12s} {kind:7s} {figures}\n")


if __name__ == "__main__":
    main()
