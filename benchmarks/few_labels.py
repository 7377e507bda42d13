"""Few labels an item: the ordinary learned prior of DawidSkene, the choice of a cautious one, and maximum likelihood.

    python -m benchmarks.few_labels                    recorded sets, thinned and whole, and simulated crowds
    python -m benchmarks.few_labels simulated          one of the parts
    python -m benchmarks.few_labels single             recorded sets, most of whose items keep one label
    python -m benchmarks.few_labels weighed            adult, items with a known class weighed to be like all

Errors, means of odd draws: the rule was chosen on even ones, on seeds 100 to 103 of `benchmarks.tags`, and of the
recorded sets on bluebird, dog, rte, cf_amt, zencrowd_in and sentiment; sp_amt, adult and fact_eval were not used, nor
sentiment with single labels. In simulated crowds annotators have habits of their own, and very unequal numbers of
labels. With single labels, the last column has the largest difference of a draw from the vote. Weighed, items with a
known class have as many of each most frequent label, among all that were recorded, as all items.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.people.label_crowds import RECORDED, Crowd, of_rows, recorded, some_of_each
from benchmarks.people.label_methods import most_probable, right_of
from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote
from consilience.consensus.labels.annotator_models import NO_PULL, Pull
from consilience.errors import AnnotationWarning
from consilience.inference.product_distributions import vote_shares

DRAWS = (1, 3, 5, 7, 9)
OF_LARGE = (1, 3)
LARGE = 5000  # items: fewer draws of larger sets
EACH = (2, 3, 0)  # labels an item; 0 for all
SINGLE = (1.02, 1.05, 1.1, 1.2, 1.3, 1.45)  # means; every item has one or two
WEIGHED = ("adult",)  # the class of 333 of 11,040 items is known, many of them of rare classes
N_ITEMS, N_ANNOTATORS = 600, 60


class Ordinary(DawidSkene):
    """DawidSkene that always has the ordinary prior."""

    def _choose_prior(self, *of_crowd: Any) -> tuple[Pull, None]:
        return NO_PULL, None


METHODS = {
    "vote": MajorityVote(),
    "max. likelihood": DawidSkene(prior=None, calibrate=False),
    "ordinary": Ordinary(calibrate=False),
    "DawidSkene": DawidSkene(calibrate=False),
}


def lean_of_raters(n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Draw confusion matrices of ordered classes: a bias, a slope and a noise for each annotator; a quarter guess."""
    middle, levels = (n_classes - 1) / 2, np.arange(n_classes)
    slope, lean = rng.uniform(0.6, 1.2, N_ANNOTATORS), rng.normal(0, 0.8, N_ANNOTATORS)
    noise = rng.uniform(0.4, 1.2, N_ANNOTATORS)
    place = middle + slope[:, None] * (levels - middle) + lean[:, None]
    near = np.exp(-0.5 * ((levels - place[:, :, None]) / noise[:, None, None]) ** 2) + 1e-9
    near /= near.sum(2, keepdims=True)
    guesses = rng.random(N_ANNOTATORS) < 0.25
    near[guesses] = rng.dirichlet(np.ones(n_classes), guesses.sum())[:, None]
    return near


def habits(n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Draw confusion matrices: an accuracy and errors for each annotator and class, mixed with a label of habit."""
    right = rng.beta(2.0, 1.5, (N_ANNOTATORS, n_classes, 1))
    wrong = rng.exponential(size=(N_ANNOTATORS, n_classes, n_classes)) ** 2 * (1 - np.eye(n_classes))
    matrices = right * np.eye(n_classes) + (1 - right) * wrong / wrong.sum(2, keepdims=True)
    share = rng.beta(1.0, 2.3, (N_ANNOTATORS, 1, 1))
    return (1 - share) * matrices + share * rng.dirichlet(0.3 * np.ones(n_classes), N_ANNOTATORS)[:, None]


KINDS: dict[str, tuple[Callable[[int, np.random.Generator], np.ndarray], int]] = {
    "5 ordered classes": (lean_of_raters, 5),
    "2 classes": (habits, 2),
    "3 classes": (habits, 3),
    "5 classes": (habits, 5),
}


def habitual(seed: int, kind: str = "3 classes", each: int = 3) -> Crowd:
    """Return a crowd of annotators with habits, of whom few give most of the labels."""
    confuse, n_classes = KINDS[kind]
    rng = np.random.default_rng([seed, n_classes, each])
    truth = rng.choice(n_classes, N_ITEMS, p=rng.dirichlet(np.full(n_classes, 5.0)))
    weight = -np.log(rng.permutation(np.arange(N_ANNOTATORS) + 1))
    annotator = np.argsort(-(weight + rng.gumbel(size=(N_ITEMS, N_ANNOTATORS))), axis=1)[:, :each].ravel()
    item = np.repeat(np.arange(N_ITEMS), each)
    below = confuse(n_classes, rng)[annotator, truth[item]].cumsum(1)
    label = np.minimum((rng.random((len(item), 1)) > below).sum(1), n_classes - 1)
    table = pd.DataFrame({"item": item, "annotator": annotator, "label": label})
    return Crowd(Labels.from_frame(table, items=pd.RangeIndex(N_ITEMS), classes=list(range(n_classes))), truth)


def thinned(name: str, each: float, draw: int) -> Crowd:
    """Return a recorded set with so many random labels of each item, in the mean if that is no whole number, or all."""
    whole = recorded(name)
    if not each:
        return whole
    labels, rng = whole.labels, np.random.default_rng([draw, int(each) if each % 1 == 0 else round(100 * each)])
    # of each item, or of the item of each label
    number: Any = int(each) if each % 1 == 0 else (int(each) + (rng.random(len(labels)) < each % 1))[labels.item]
    return Crowd(of_rows(labels, some_of_each(labels, number, rng)), whole.truth)


def crowds(part: str) -> Iterator[tuple[str, list[Crowd]]]:
    """Yield the crowds of a part, with a name for those of which the mean is taken."""
    if part == "simulated":
        for kind in KINDS:
            for each in (2, 3, 6):
                yield f"{kind}, {each} labels an item", [habitual(draw, kind, each) for draw in DRAWS]
        return
    for name in WEIGHED if part == "weighed" else RECORDED:
        for each in {"single": SINGLE, "weighed": SINGLE + EACH}.get(part, EACH):
            several = DRAWS if len(recorded(name).truth) < LARGE else OF_LARGE
            draws = several[: None if each else 1]
            yield f"{name}, {each or 'all'} labels", [thinned(name, each, draw) for draw in draws]


def weights_of(name: str) -> np.ndarray:
    """Return for how many items each stands whose class is known."""
    whole = recorded(name)
    tops = most_probable(vote_shares(whole.labels)).astype(float)
    tops /= tops.sum(axis=1, keepdims=True)
    known = tops[whole.truth >= 0]
    return known @ (tops.sum(axis=0) / known.sum(axis=0))


def errors(crowd: Crowd, weights: np.ndarray | None) -> list[float]:
    """Return the error of each method, and whether the cautious prior was taken."""
    fits = [method.fit(crowd.labels) for method in METHODS.values()]
    right = [np.average(right_of(fit.responsibilities_, crowd.truth), weights=weights) for fit in fits]
    return [*(1 - np.array(right)), float(fits[-1].is_cautious_)]


def main(parts: list[str]) -> None:
    """Print a table of each part."""
    warnings.simplefilter("ignore", AnnotationWarning)
    for part in parts or ["recorded", "simulated"]:
        of_vote = part in ("single", "weighed")
        last = "- vote" if of_vote else "- better"
        print(f"{part:32s}" + "".join(f"{name:>17s}" for name in METHODS) + f"{'cautious':>10s}{last:>10s}")
        rows = []
        for name, some in crowds(part):
            weights = weights_of(name.partition(",")[0]) if part == "weighed" else None
            of_draws = np.array([errors(crowd, weights) for crowd in some])
            found = of_draws.mean(axis=0)
            beyond = (of_draws[:, 3] - of_draws[:, 0]).max() if of_vote else found[3] - min(found[1:3])
            rows.append([*found, beyond])
            print(f"{name:32s}" + line(rows[-1]), flush=True)
        if part == "simulated":
            print(f"{'mean':32s}" + line(np.mean(rows, axis=0)))
        print()


def line(row: Any) -> str:
    """Format errors, the share of draws with the cautious prior, and the difference from what they are held to."""
    return "".join(f"{error:17.3f}" for error in row[:4]) + f"{row[4]:10.1f}{row[5]:+10.3f}"


if __name__ == "__main__":
    main(sys.argv[1:])
