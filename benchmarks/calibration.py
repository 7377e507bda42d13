"""How far probabilities of `DawidSkene` can be trusted, and the floors that recorded crowds teach it.

``python -m benchmarks.calibration learn`` learns the floors of `consilience.consensus.labels.calibration` from the nine
recorded sets (`load_crowd_labels`; needs CONSILIENCE_DATA), three of them also with two and three labels an item in
even draws, and writes them with their spread to the table that the code reads. The constants minimise the log loss of
the known classes, the mean over sets, one constant after the other over `GRIDS`, and are pulled to those that sixteen
other recorded crowds taught, which are not at hand. The spread is that of the constants when each set in turn is left
out. ``python -m benchmarks.calibration`` reports, each recorded set by the constants that
the other sets teach, and everything else in odd draws.

``python -m benchmarks.calibration panels`` learns floors from panels instead, five annotators of a set who share many
items, and reports odd draws of the panels of each set by the floors that those of the other sets teach, beside the
floors of the table; and judges who share errors, of whom nothing was learned. ``… excess`` prints whether these agree
more often than their model predicts.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.people.label_crowds import RECORDED, THINNED, Crowd, recorded, thinned
from consilience import Labels
from consilience.consensus import DawidSkene
from consilience.consensus.labels import calibration
from consilience.consensus.labels.calibration import RECORDED as LEARNED
from consilience.consensus.labels.calibration import Floors
from consilience.errors import AnnotationWarning, CalibrationWarning
from consilience.estimators.labels import posterior_of
from consilience.inference.product_distributions import vote_shares
from consilience.simulation import simulate_labels

TABLE = Path(calibration.__file__).with_name("floors.csv")
GRIDS = {
    "slope": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0),
    "highest": (1.0, 1.2, 1.4, 1.5, 1.6, 1.7, 1.8, 2.0, 2.5, 3.0),
    "kept": (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0),
    "votes": (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0),
}
ELSEWHERE = Floors(slope=0.25, highest=1.7, kept=0.8, votes=0.06)
PULL = 0.01  # nats an item for ln² of the ratio of a constant to that from elsewhere
LEAST_RATIO = 0.1
N_ITEMS, N_JUDGED, SHARE_HARD = 400, 4, 0.2
PANELS = {f"{name}, five annotators": name for name in RECORDED}
N_OF_PANEL, NEAREST = 5, 3
EVEN, ODD = (0, 2, 4), (1, 3, 5)
SMALLEST = 1e-6  # probability
SURE = 0.95


@dataclass(frozen=True)
class Fitted:
    """A model fitted to a crowd, and the items whose class is known."""

    model: DawidSkene
    crowd: Crowd
    known: np.ndarray

    @classmethod
    def of(cls, crowd: Crowd) -> Fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnnotationWarning)
            warnings.simplefilter("ignore", CalibrationWarning)
            model = DawidSkene(calibrate="independent").fit(crowd.labels)
        return cls(model, crowd, np.flatnonzero(crowd.truth >= 0))

    def probabilities(self, floors: Floors) -> np.ndarray:
        """Return the probabilities of the items whose class is known."""
        found = replace(self.model.calibrated(), floors=floors)
        return self.model.probabilities_under(found, self.crowd.labels[self.known])

    def shares(self) -> np.ndarray:
        """Return the shares of the votes of these items."""
        return vote_shares(self.crowd.labels)[self.known]

    def log_loss(self, floors: Floors) -> float:
        return judge(self.probabilities(floors), self.crowd.truth[self.known])["log loss"]


def judge(probability: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return the log loss, the accuracy, and how many items are sure and how many of these wrong."""
    of_truth = probability[np.arange(len(truth)), truth]
    sure = probability.max(1) > SURE
    wrong = probability.argmax(1) != truth
    return {
        "log loss": float(-np.log(np.maximum(of_truth, SMALLEST)).mean()),
        "accuracy": float(1 - wrong.mean()),
        "sure": int(sure.sum()),
        "sure and wrong": int((sure & wrong).sum()),
    }


@cache
def fit_of(name: str, draw: int | None) -> Fitted:
    """Return the model of a recorded set, or of one with few labels an item."""
    if draw is None:
        return Fitted.of(recorded(name))
    return Fitted.of(panel(PANELS[name], draw) if name in PANELS else thinned(name, draw))


def panel(name: str, draw: int) -> Crowd:
    """Return five annotators of a recorded set, and the items that two of them labelled.

    The first is drawn by numbers of labels, each other one from the three who labelled most items of those before.
    """
    whole, rng = recorded(name), np.random.default_rng([draw, N_OF_PANEL, 52])
    labels = whole.labels
    has_label = np.zeros((labels.n_items, labels.n_annotators), dtype=bool)
    has_label[labels.item, labels.annotator] = True
    chosen = [int(rng.choice(labels.annotator))]
    while len(chosen) < N_OF_PANEL:
        shared = has_label[has_label[:, chosen].any(1)].sum(0)
        shared[chosen] = -1
        chosen.append(int(rng.choice(np.argsort(-shared, kind="stable")[:NEAREST])))
    items = np.flatnonzero(has_label[:, chosen].sum(1) > 1)
    return Crowd(labels.restrict(annotators=labels.annotators[np.sort(chosen)])[items], whole.truth[items])


def crowds_of(name: str) -> list[list[tuple[str, int | None]]]:
    """Return the crowds that a recorded set gives: itself, and even draws of few of its labels."""
    few = [setting for setting, (of_set, _) in THINNED.items() if of_set == name]
    return [[(name, None)], *([(setting, draw) for draw in EVEN] for setting in few)]


@cache
def log_loss(name: str, floors: Floors) -> float:
    """Return the log loss of a set, the mean over its kinds of crowds."""
    kinds = [np.mean([fit_of(*crowd).log_loss(floors) for crowd in kind]) for kind in crowds_of(name)]
    return float(np.mean(kinds))


@cache
def log_loss_of_panels(name: str, floors: Floors) -> float:
    """Return the log loss of panels of a set."""
    return float(np.mean([fit_of(f"{name}, five annotators", draw).log_loss(floors) for draw in EVEN]))


def learn(names: Iterable[str], log_loss: Callable[[str, Floors], float] = log_loss) -> Floors:
    """Return the floors that are best on some of the sets."""
    names = tuple(names)

    def loss(floors: Floors) -> float:
        ratios = np.array(astuple(floors)) / np.array(astuple(ELSEWHERE))
        pull = PULL * (np.log(np.maximum(ratios, LEAST_RATIO)) ** 2).sum()
        return float(np.mean([log_loss(name, floors) for name in names])) + pull

    best, before = ELSEWHERE, None
    while best != before:
        before = best
        for constant, values in GRIDS.items():
            best = min((replace(best, **{constant: value}) for value in values), key=loss)
    return best


def learn_without(log_loss: Callable[[str, Floors], float] = log_loss) -> dict[str, Floors]:
    """Return for each set the floors that are best on the others."""
    return {left: learn((name for name in RECORDED if name != left), log_loss) for left in RECORDED}


def write_table() -> None:
    """Learn the floors, and write them with their spread."""
    chosen, others = asdict(learn(RECORDED)), pd.DataFrame([asdict(floors) for floors in learn_without().values()])
    table = pd.DataFrame({"value": chosen, "lowest": others.min(), "highest": others.max()})
    table.rename_axis("constant").to_csv(TABLE)
    sys.stdout.write(table.to_string() + "\n")


# ---- reports, in odd draws


def independent(draw: int) -> Crowd:
    """Simulate a crowd that errs independently: 400 items, 2 to 6 classes, 20 annotators right with .6 to .95."""
    rng = np.random.default_rng([draw, 7])
    n_classes = int(rng.choice([2, 4, 6]))
    truth = rng.integers(n_classes, size=N_ITEMS)
    accuracy, each = rng.uniform(0.6, 0.95, 20), int(rng.choice([3, 5, 8]))
    labels = simulate_labels(truth, n_annotators=20, accuracy=accuracy, annotators_per_item=each, random_state=rng)
    return Crowd(labels, truth)


def judges(n_judges: int, draw: int, share_hard: float = SHARE_HARD) -> Crowd:
    """Simulate judges right with .9, but for a fifth of the items, of which they take 95 % for one other class."""
    rng = np.random.default_rng([draw, n_judges, 11])
    size = (N_ITEMS, n_judges)
    truth = rng.integers(N_JUDGED, size=N_ITEMS)
    is_hard = rng.random(N_ITEMS) < share_hard
    lure = (truth + rng.integers(1, N_JUDGED, size=N_ITEMS)) % N_JUDGED
    other = (truth[:, None] + rng.integers(1, N_JUDGED, size=size)) % N_JUDGED
    said = np.where(rng.random(size) < 0.9, truth[:, None], other)
    said = np.where(is_hard[:, None] & (rng.random(size) < 0.95), lure[:, None], said)
    return Crowd(Labels.from_matrix(said), truth)


def excess_agreement(fitted: Fitted) -> float:
    """Return by how much two judges agree more often on an item than their matrices predict, the mean over pairs."""
    model, said = fitted.model, fitted.crowd.labels.to_matrix().to_numpy()
    matrices = model.confusion_matrices_.to_numpy().reshape(said.shape[1], model.n_clusters_, -1)
    expected = np.einsum("k,akl,bkl->ab", model.class_proportions_, matrices, matrices)
    excess = (said[:, :, None] == said[:, None]).mean(0) - expected
    return float(excess[np.triu_indices(len(excess), 1)].mean())


def say(name: str, fitted: list[Fitted], floors: Floors) -> pd.DataFrame:
    """Print how three calibrations do on crowds, beside shares of votes; return the means."""
    ways: dict[str, Callable[[Fitted], np.ndarray]] = {
        "votes": lambda one: one.shares(),
        "votes and one": lambda one: one.probabilities(replace(floors, votes=1.0)),
        "posterior": lambda one: posterior_of(one.model)[one.known],
        "independent": lambda one: one.model.responsibilities_[one.known],
        "floors": lambda one: one.probabilities(floors),
    }
    rows = {
        way: pd.DataFrame([judge(of(one), one.crowd.truth[one.known]) for one in fitted]) for way, of in ways.items()
    }
    table = pd.DataFrame({way: found.mean() for way, found in rows.items()})
    figures = "  ".join(
        f"{way} {found['log loss']:.3f} ({found['sure and wrong']:.1f} of {found['sure']:.1f})"
        for way, found in table.items()
    )
    sys.stdout.write(f"{name:28s} {figures}\n")
    sys.stdout.flush()
    return table


def report() -> None:
    """Print the log loss of the known classes, and how many items above .95 are wrong."""
    chosen = learn_without()
    tables = [say(name, [fit_of(name, None)], floors) for name, floors in chosen.items()]
    mean = pd.concat(tables).groupby(level=0).mean()
    total = pd.concat(tables).groupby(level=0).sum()
    for way in mean:
        wrong = total.loc["sure and wrong", way] / max(total.loc["sure", way], 1)
        sys.stdout.write(f"mean of sets, {way:14s} {mean.loc['log loss', way]:.4f}, wrong above .95: {wrong:.3f}\n")
    for setting, (name, _) in THINNED.items():
        say(setting, [fit_of(setting, draw) for draw in ODD], chosen[name])
    for number in (3, 5, 7):
        say(f"{number} judges", [Fitted.of(judges(number, draw)) for draw in range(1, 20, 2)], LEARNED)
    say("independent errors", [Fitted.of(independent(draw)) for draw in range(1, 40, 2)], LEARNED)


def report_panels() -> None:
    """Print the log loss of panels, and of judges who share errors, by the floors of the table and those of panels."""
    learned, without = learn(RECORDED, log_loss_of_panels), learn_without(log_loss_of_panels)
    sys.stdout.write(f"learned from panels: {learned}\n")
    losses = []
    for name, of_set in PANELS.items():
        fitted = [fit_of(name, draw) for draw in ODD]
        say(f"{name}: table", fitted, LEARNED)
        losses.append([np.mean([one.log_loss(floors) for one in fitted]) for floors in (LEARNED, without[of_set])])
        sys.stdout.write(f"{'':28s} floors of panels {losses[-1][1]:.3f}\n")
    sys.stdout.write("mean of panels: table {:.4f}, of panels {:.4f}\n".format(*np.mean(losses, axis=0)))
    for number in (3, 5, 7):
        say(f"{number} judges, by panels", [Fitted.of(judges(number, draw)) for draw in range(1, 20, 2)], learned)
    report_excess()


def report_excess() -> None:
    """Print whether agreement beyond what the model predicts tells judges who share errors from others."""
    for number in (3, 5, 7):
        shared, others = (
            np.array([excess_agreement(Fitted.of(judges(number, draw, hard))) for draw in range(1, 20, 2)])
            for hard in (SHARE_HARD, 0.0)
        )
        means = f"{shared.mean():.4f}, independent {others.mean():.4f}"
        told = (shared[:, None] > others).mean()
        sys.stdout.write(f"{number} judges, excess agreement {means}, AUC {told:.2f}\n")


if __name__ == "__main__":
    {"learn": write_table, "panels": report_panels, "excess": report_excess}.get("".join(sys.argv[1:]), report)()
