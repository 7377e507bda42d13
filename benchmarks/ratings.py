"""Ratings by simulated crowds: errors, log loss and coverage of intervals of OrdinalRatings, the mean and DawidSkene.

    python benchmarks/ratings.py [--draws 10] [--parity odd] [--only "5 raters"] [--csv FILE]

The model was developed on even draws; figures are told of odd ones. An error is the distance of the level from that of
the true value, in levels. An interval of 90 % covers the true value or not, which lies within the scale. Coverage is
told of intervals with and without room for errors that raters share (``calibrate``), of which simulated ones have none,
except in "missed": there, raters say at random that there is nothing, and four fifths of the labels are the lowest
level. The "rule" is what ``annotator_model="auto"`` takes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience import Labels
from consilience.consensus import DawidSkene, OrdinalRatings
from consilience.simulation import simulate_ratings

N_ITEMS = 100
LAPSERS, LAPSE = 0.3, 0.8  # share of the raters, and of their labels

Values = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, n_items: int, n_levels: int) -> np.ndarray:
    """Return values around the middle of the scale."""
    return rng.normal((n_levels + 1) / 2, 0.24 * n_levels, n_items)


def even(rng: np.random.Generator, n_items: int, n_levels: int) -> np.ndarray:
    """Return values that are anywhere on the scale equally often."""
    return rng.uniform(0.5, n_levels + 0.5, n_items)


def low_or_high(rng: np.random.Generator, n_items: int, n_levels: int) -> np.ndarray:
    """Return values near either end of the scale."""
    ends = np.where(rng.random(n_items) < 0.5, 1.3, n_levels - 0.3)
    return rng.normal(ends, 0.1 * n_levels)


def mostly_lowest(rng: np.random.Generator, n_items: int, n_levels: int) -> np.ndarray:
    """Return values of which four fifths are of the lowest level, and the others anywhere above it."""
    is_low = rng.random(n_items) < 0.8
    return np.where(is_low, rng.uniform(0.5, 1.5, n_items), rng.uniform(1.5, n_levels + 0.5, n_items))


@dataclass(frozen=True)
class Kind:
    """A kind of simulated crowd.

    lapsers : whether some raters lapse in most labels.
    missed : share of the labels that are the lowest level whatever the item.
    raters : parameters of `simulate_ratings` in place of drawn ones.
    """

    values: Values = normal
    n_raters: int = 5
    each: int | None = None
    n_levels: int = 5
    n_items: int = N_ITEMS
    lapsers: bool = False
    missed: float = 0.0
    raters: tuple[tuple[str, float], ...] = ()

    def draw(self, seed: int) -> tuple[np.ndarray, Labels]:
        """Return true values within the scale, and ratings."""
        rng = np.random.default_rng([seed, self.n_raters, self.n_levels, self.n_items])
        values = self.values(rng, self.n_items, self.n_levels).clip(0.501, self.n_levels + 0.499)
        lapse = np.full(self.n_raters, 0.05)
        lapse[: round(LAPSERS * self.n_raters) if self.lapsers else 0] = LAPSE
        options: dict[str, Any] = {"levels": range(1, self.n_levels + 1), "n_annotators": self.n_raters, "lapse": lapse}
        labels = simulate_ratings(
            values, annotators_per_item=self.each, random_state=rng, **options, **dict(self.raters)
        )
        return values, miss(labels, self.missed, rng)


def miss(labels: Labels, share: float, rng: np.random.Generator) -> Labels:
    """Return labels of which each rater made a share of its own the lowest."""
    if not share:
        return labels
    of_rater = rng.beta(4 * share, 4 * (1 - share), labels.n_annotators)
    frame = labels.to_frame()
    missed = rng.random(len(frame)) < of_rater[labels.annotator]
    frame.loc[missed, "label"] = labels.classes[0]
    return Labels.from_frame(frame, items=labels.items).as_ratings(labels.classes)


KINDS = {
    "5 raters": Kind(),
    "5 raters, values anywhere": Kind(values=even),
    "5 raters, low or high values": Kind(values=low_or_high),
    "10 raters, 3 of them lapse": Kind(n_raters=10, lapsers=True),
    "30 raters, 5 an item": Kind(n_raters=30, each=5),
    "30 raters, 5 an item, 9 lapse": Kind(n_raters=30, each=5, lapsers=True),
    "30 raters, 2 an item": Kind(n_raters=30, each=2),
    "30 raters, 1 an item": Kind(n_raters=30, each=1),
    "30 raters, 5 an item, all alike": Kind(
        n_raters=30, each=5, raters=(("bias", 0.0), ("slope", 1.0), ("noise", 0.7))
    ),
    "30 raters, 5 an item, noisy": Kind(n_raters=30, each=5, raters=(("noise", 1.5),)),
    "2 raters": Kind(n_raters=2),
    "5 raters, 15 items": Kind(n_items=15),
    "5 raters, 2 levels": Kind(n_levels=2),
    "5 raters, 3 levels": Kind(n_levels=3),
    "5 raters, 10 levels": Kind(n_levels=10),
    "5 raters, 101 levels": Kind(n_levels=101),
    "5 raters, lowest level": Kind(values=mostly_lowest),
    "10 raters, lowest level, 3 lapse": Kind(values=mostly_lowest, n_raters=10, lapsers=True),
    "30 raters, 5 an item, lowest level": Kind(values=mostly_lowest, n_raters=30, each=5),
    "5 exact raters, lowest level": Kind(values=mostly_lowest, raters=(("bias", 0.0), ("noise", 0.2))),
    "40 raters, 10 an item, missed": Kind(n_raters=40, each=10, missed=0.7),
    "40 raters, 10 an item, half missed": Kind(n_raters=40, each=10, missed=0.5),
}


def score(values: np.ndarray, levels: np.ndarray, told: np.ndarray) -> tuple[float, float]:
    """Return the mean error in levels, and the log loss in nats."""
    true = np.floor(values + 0.5).astype(int).clip(1, told.shape[1])
    probability = told[np.arange(len(true)), true - 1]
    return float(np.abs(levels - true).mean()), float(-np.log(np.maximum(probability, 1e-12)).mean())


def coverage(values: np.ndarray, model: OrdinalRatings) -> float:
    """Return the share of the items whose interval covers the true value."""
    low, high = model.intervals_.T
    inside = values.clip(1, model.n_clusters_)
    return float(((low <= inside) & (inside <= high)).mean())


def measure(kind: Kind, seed: int) -> dict[str, float]:
    """Fit all methods to one crowd."""
    values, labels = kind.draw(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lapsers, and of levels that are no classes
        plain = DawidSkene().fit(labels)
    models = {
        "mean": OrdinalRatings(annotator_model="equal").fit(labels),
        "raters": OrdinalRatings(annotator_model="individual").fit(labels),
        "rule": OrdinalRatings().fit(labels),
    }
    found = {"error, DawidSkene": score(values, plain.labels_, plain.responsibilities_)}
    found |= {f"error, {name}": score(values, model.labels_, model.responsibilities_) for name, model in models.items()}
    figures = {name: error for name, (error, _) in found.items()}
    figures |= {name.replace("error", "log loss"): loss for name, (_, loss) in found.items()}
    sure = OrdinalRatings(calibrate=False).fit(labels)
    figures["log loss, rule, no calibration"] = score(values, sure.labels_, sure.responsibilities_)[1]
    figures["coverage, rule"], figures["coverage, no calibration"] = (
        coverage(values, models["rule"]),
        coverage(values, sure),
    )
    figures["mean taken"] = float(models["rule"].annotator_model_ == "equal")
    return figures


def tabulate(draws: list[int], only: str) -> pd.DataFrame:
    """Return the mean figures of each kind of crowd."""
    kinds = {name: kind for name, kind in KINDS.items() if only in name}
    rows = {name: pd.DataFrame([measure(kind, seed) for seed in draws]).mean() for name, kind in kinds.items()}
    return pd.DataFrame(rows).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--parity", choices=["even", "odd"], default="odd")
    parser.add_argument("--only", default="", help="part of the names of the kinds to draw")
    parser.add_argument("--csv", type=Path, help="file of the table")
    options = parser.parse_args()
    draws = [2 * draw + (options.parity == "odd") for draw in range(options.draws)]
    table = tabulate(draws, options.only)
    print(f"means of {options.draws} {options.parity} draws of {N_ITEMS} items")
    print(table.round(2).to_string())
    if options.csv:
        table.round(2).rename_axis("crowd").to_csv(options.csv)


if __name__ == "__main__":
    main()
