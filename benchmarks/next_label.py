"""Which label next: labels that a `LabelSession` needs for an error, against random items and against ActiveLab.

    python -m benchmarks.next_label [CROWD ...] [--draws SEED ...]

Recorded crowds are replayed: whoever is drawn next labels the item that is asked about, with the label that they gave.
A draw has 300 items of a set (bluebird has 108), one label of each to begin with, and rounds of 15 % as many labels.
The labels of cifar10h have no annotators: the first, second, … label of a picture is taken to be by the same one.
Simulated people label everything; "shared errors" are on a fifth of the items, for which half of the labels are as if
the item were of another class.

random       items are drawn at random
session      `LabelSession` with its defaults, of whose questions a tenth are at random
and whom     the session chooses among all annotators too, where everybody labelled everything
ActiveLab    the items with the lowest scores of Goh & Mueller (2023, ActiveLab: Active Learning with Re-Labeling by
             Multiple Annotators), which is cleanlab's `get_active_learning_scores`, written anew. It needs the
             probabilities of a classifier, and there are no features: so it has the class shares, or ("with ours") the
             probabilities of the DawidSkene of all labels so far, as the session has

All are judged by the same DawidSkene (``copies=None, subtypes=1``, for speed). For the mean error of random items at 2,
3, 4 and 5 labels an item, the table has the labels that each needs, divided by those that random needs, mean of the
four; ± is the standard error over draws by the jackknife. Settings were chosen on draws 2 and 4, and odd ones are
reported.

Below: forecasts of the session at 2 and 3 labels an item, and when it stops.
"""

import argparse
import warnings
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import log_softmax, softmax
from sklearn.isotonic import isotonic_regression

from benchmarks.crowdlab import combine, count_votes
from consilience import Labels
from consilience.active import LabelSession
from consilience.consensus import DawidSkene
from consilience.datasets import load_cifar10h, load_crowd_labels
from consilience.simulation import simulate_labels

RECORDED = ("bluebird", "dog", "rte", "cf_amt", "sp_amt", "sentiment")
SIMULATED = {
    "2 classes": (2, (0.5, 0.9), 0.0),
    "5 classes": (5, (0.4, 0.85), 0.0),
    "shared errors": (3, (0.5, 0.9), 0.2),
}
CROWDS = (*RECORDED, "cifar10h", *SIMULATED)
STRATEGIES = ("random", "session", "ActiveLab", "ActiveLab with ours", "and whom")
N_ITEMS, N_ANNOTATORS, MOST_LABELS, ROUND = 300, 30, 6, 0.15
LEVELS = (2, 3, 4, 5)
FORECAST_AT = (2, 3)
REPORTED = (11, 13, 15)


@dataclass(frozen=True)
class Crowd:
    """Labels that can be asked for, in the order in which annotators come to each item.

    labels : rows sorted by item.
    order : rows, sorted by item and then by who comes first.
    truth : code of the class of each item, -1 where it is not known.
    """

    labels: Labels
    order: np.ndarray
    truth: np.ndarray

    @property
    def is_complete(self) -> bool:
        return self.labels.n_rows == self.labels.n_items * self.labels.n_annotators


def crowd_of(name: str, draw: int) -> Crowd:
    rng = np.random.default_rng([draw, 52])
    if name in SIMULATED:
        labels, truth = simulated(name, rng)
    elif name == "cifar10h":
        labels, truth = counted(rng)
    else:
        bunch = load_crowd_labels(name)
        labels, truth = bunch.annotations, np.nan_to_num(bunch.target, nan=-1).astype(int)
        if labels.n_items > N_ITEMS:
            some = np.sort(rng.permutation(labels.n_items)[:N_ITEMS])
            labels, truth = labels[some], truth[some]
    return Crowd(labels, np.lexsort([rng.random(labels.n_rows), labels.item]), truth)


def simulated(name: str, rng: np.random.Generator) -> tuple[Labels, np.ndarray]:
    n_classes, accuracy, shared = SIMULATED[name]
    truth = rng.integers(n_classes, size=N_ITEMS)
    settings = {"accuracy": rng.uniform(*accuracy, N_ANNOTATORS), "n_annotators": N_ANNOTATORS}
    other = (truth + rng.integers(1, n_classes, size=N_ITEMS)) % n_classes
    right, wrong = (simulate_labels(seen, **settings, random_state=rng) for seen in (truth, other))
    misread = (rng.random(N_ITEMS) < shared)[right.item] & (rng.random(right.n_rows) < 0.5)
    label = np.where(misread, wrong.classes.to_numpy()[wrong.label], right.classes.to_numpy()[right.label])
    frame = right.to_frame().assign(label=label)
    return Labels.from_frame(frame, items=right.items, classes=range(n_classes)), truth


def counted(rng: np.random.Generator) -> tuple[Labels, np.ndarray]:
    counts = load_cifar10h().counts.to_numpy().astype(int)
    counts = counts[np.sort(rng.permutation(len(counts))[:N_ITEMS])]
    rows = [
        (item, place, label)
        for item, number in enumerate(counts)
        for place, label in enumerate(rng.permutation(np.repeat(np.arange(len(number)), number))[:N_ANNOTATORS])
    ]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    return Labels.from_frame(frame, items=range(N_ITEMS), classes=range(counts.shape[1])), counts.argmax(1)


# ---- ActiveLab


def active_lab_scores(labels: Labels, probabilities: np.ndarray) -> np.ndarray:
    """Return the quality of each item's consensus after one more label that tells nothing: low, if it is to be next."""
    votes = count_votes(labels)
    probabilities = np.clip(probabilities, 1e-30, None)
    probabilities /= probabilities.sum(1, keepdims=True)
    if votes.sum(1).max() > 1:
        probabilities = softmax(np.log(probabilities) / best_temperature(votes, probabilities), axis=1)
    found = combine(labels, probabilities)
    weight = np.bincount(labels.item, found.of_annotator[labels.annotator], len(votes)) + found.by_model
    one_more, quality = found.of_annotator.mean(), found.shares[np.arange(len(votes)), found.consensus]
    return (quality * weight + one_more / labels.n_classes) / (weight + one_more)


def best_temperature(votes: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the temperature that predicts the shares of the votes best, by a coarse and a fine grid."""
    shares = votes / votes.sum(1, keepdims=True)

    def loss(temperature: float) -> float:
        log_scaled = np.maximum(log_softmax(np.log(probabilities) / temperature, axis=1), np.log(1e-30))
        return -float((shares * log_scaled).sum(1).mean())

    coarse = [0.1, 0.2, 0.5, 0.8, 1, 2, 3, 5, 8]
    best = int(np.argmin([loss(value) for value in coarse]))
    fine = [] if best == 0 else [*np.linspace(coarse[best - 1], coarse[best], 4, endpoint=False)]
    fine += [] if best == len(coarse) - 1 else [*np.linspace(coarse[best], coarse[best + 1], 5)]
    return min(fine, key=loss)


# ---- replay


@dataclass
class Replay:
    """What came of a strategy: labels an item and errors of each round, forecasts, and where the session stops."""

    curve: list[tuple[float, float]]
    forecasts: list[tuple[float, float, float, float]]  # labels an item, estimate now, labels then, estimate then
    stop: float = np.inf


def replay(crowd: Crowd, strategy: str, draw: int) -> Replay:
    labels, n_items = crowd.labels, crowd.labels.n_items
    size = max(1, round(ROUND * n_items))
    session = LabelSession(
        labels.items, classes=labels.classes, model=DawidSkene(copies=None, subtypes=1), random_state=draw
    )
    rng = np.random.default_rng([draw, 53])
    first = crowd.order[labels.indptr[:-1]]
    taken = np.zeros(labels.n_rows, dtype=bool)
    found = Replay([], [])
    rows = first
    while True:
        taken[rows] = True
        tell(session, labels, rows)
        model, each = session.consensus(), taken.sum() / n_items
        found.curve.append((each, error_of(model, labels, crowd.truth)))
        if each >= MOST_LABELS or taken.all():
            return found
        if strategy == "session":
            look_ahead(session, each, n_items, found)
        rows = next_rows(crowd, strategy, session, model, taken, size, rng)


def look_ahead(session: LabelSession, each: float, n_items: int, found: Replay) -> None:
    """Keep what the session forecasts, and whether it would stop."""
    if len(found.forecasts) < len(FORECAST_AT) and each >= FORECAST_AT[len(found.forecasts)]:
        now = session.labels_needed(0.01).error
        found.forecasts.append((each, now, each + 1, session.forecast_error(n_items)))
    if np.isinf(found.stop) and session.should_stop():
        found.stop = each


def next_rows(
    crowd: Crowd,
    strategy: str,
    session: LabelSession,
    model: DawidSkene,
    taken: np.ndarray,
    size: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the rows of the labels that are asked for next."""
    labels = crowd.labels
    if strategy == "and whom":
        questions = session.ask(size, annotators=list(labels.annotators))
        item = labels.items.get_indexer([question.item for question in questions])
        annotator = labels.annotators.get_indexer([question.annotator for question in questions])
        return item * labels.n_annotators + annotator  # everybody labelled everything
    waiting = crowd.order[~taken[crowd.order]]
    items, place = np.unique(labels.item[waiting], return_index=True)  # who comes next to each
    size = min(size, len(items))
    if strategy == "session":
        questions = session.ask(size, candidates=list(labels.items[items]))
        for question in questions:
            session.withdraw(question)  # the answer is told with who gave it
        chosen = np.searchsorted(items, labels.items.get_indexer([question.item for question in questions]))
    elif strategy == "random":
        chosen = rng.permutation(len(items))[:size]
    else:
        probabilities = model.responsibilities_
        if strategy == "ActiveLab":
            probabilities = np.tile(model.class_proportions_, (labels.n_items, 1))
        score = active_lab_scores(session.labels_, probabilities)[items]
        chosen = np.lexsort([rng.random(len(items)), score])[:size]
    return waiting[place[chosen]]


def tell(session: LabelSession, labels: Labels, rows: np.ndarray) -> None:
    frame = labels.to_frame().iloc[np.sort(rows)]
    session.tell(Labels.from_frame(frame, items=labels.items, classes=labels.classes))


def error_of(model: DawidSkene, labels: Labels, truth: np.ndarray) -> float:
    known = truth >= 0
    return float(np.mean(labels.classes.get_indexer(model.labels_)[known] != truth[known]))


# ---- figures

GRID = np.linspace(1, MOST_LABELS, 501)


def mean_curve(replays: list[Replay]) -> np.ndarray:
    """Return the mean error by labels an item, as the closest curve that never rises."""
    curves = [np.interp(GRID, *np.transpose(one.curve)) for one in replays]
    return isotonic_regression(np.mean(curves, axis=0), increasing=False)


def ratio(replays: list[Replay], random: list[Replay]) -> float:
    """Return the labels needed divided by those that random items need, mean over the levels."""
    base, own = mean_curve(random), mean_curve(replays)
    errors = np.interp(LEVELS, GRID, base)
    needed = [[first_at(curve, error) for curve in (own, base)] for error in errors]
    return float(np.mean([mine / theirs for mine, theirs in needed]))


def first_at(curve: np.ndarray, error: float) -> float:
    reached = curve <= error + 1e-12
    return float(GRID[np.argmax(reached)] if reached.any() else GRID[-1])


def with_error(replays: list[Replay], random: list[Replay]) -> tuple[float, float]:
    """Return the ratio and its standard error over draws, by the jackknife."""
    n_draws = len(random)
    without = [
        ratio(*([one for place, one in enumerate(of) if place != left] for of in (replays, random)))
        for left in range(n_draws)
    ]
    return ratio(replays, random), float(np.sqrt((n_draws - 1) * np.var(without)))


def replays_of(name: str, draws: tuple[int, ...]) -> dict[str, list[Replay]]:
    """Return the replays of a crowd by strategy; none where it cannot choose annotators."""
    warnings.simplefilter("ignore")
    found: dict[str, list[Replay]] = {strategy: [] for strategy in STRATEGIES}
    for draw in draws:
        crowd = crowd_of(name, draw)
        for strategy in STRATEGIES:
            if strategy != "and whom" or crowd.is_complete:
                found[strategy].append(replay(crowd, strategy, draw))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crowds", nargs="*", metavar="CROWD", help=f"of {', '.join(CROWDS)}; by default all")
    parser.add_argument("--draws", type=int, nargs="+", default=REPORTED)
    given = parser.parse_args()
    names, draws = given.crowds or list(CROWDS), tuple(given.draws)
    ratios, forecasts = defaultdict(list), []
    print("crowd".ljust(15), *(name.rjust(20) for name in STRATEGIES[1:]), "  error of random at 2, 3, 4, 5")
    run = Parallel(n_jobs=-1, return_as="generator")(delayed(replays_of)(name, draws) for name in names)
    for name, found in zip(names, run):
        cells = []
        for strategy in STRATEGIES[1:]:
            value, error = with_error(found[strategy], found["random"]) if found[strategy] else (np.nan, np.nan)
            ratios[strategy].append(value)
            cells.append((f"{value:.2f} ± {error:.2f}" if found[strategy] else "").rjust(20))
        levels = np.interp(LEVELS, GRID, mean_curve(found["random"]))
        print(name.ljust(15), *cells, " ", " ".join(f"{level:.3f}" for level in levels), flush=True)
        forecasts.append((name, found["session"]))
    means = [np.exp(np.nanmean(np.log(ratios[strategy]))) for strategy in STRATEGIES[1:]]
    print("geometric mean".ljust(15), *(f"{mean:.2f}".rjust(20) for mean in means))
    difference = np.log(ratios["session"])[:, None] - np.log([ratios[name] for name in STRATEGIES[2:4]]).T
    for name, values in zip(STRATEGIES[2:4], difference.T):
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        print(f"session against {name}: {np.exp(values.mean()):.2f} times as many labels, ± {error:.2f} over crowds")
    print("\nmean error: estimated and true at 2 and 3 labels an item, forecast and true one label an item later")
    for name, replays in forecasts:
        rows = []
        for place, at in enumerate(FORECAST_AT):
            now, later, true_now, true_later = np.mean(
                [
                    (one.forecasts[place][1], one.forecasts[place][3], *errors_at(one, one.forecasts[place][0::2]))
                    for one in replays
                ],
                axis=0,
            )
            rows.append(f"{at}: {now:.3f} {true_now:.3f}, {later:.3f} {true_later:.3f}")
        stops = [one.stop for one in replays]
        lost = [errors_at(one, [stop])[0] - one.curve[-1][1] for one, stop in zip(replays, stops) if np.isfinite(stop)]
        ends = f"stops in {len(lost)} of {len(stops)}"
        if lost:
            ends += (
                f", at {np.mean([stop for stop in stops if np.isfinite(stop)]):.1f}, {np.mean(lost):+.3f} above the end"
            )
        print(name.ljust(15), "   ".join(rows), "  ", ends)


def errors_at(one: Replay, numbers) -> list[float]:
    return list(np.interp(numbers, *np.transpose(one.curve)))


if __name__ == "__main__":
    main()
