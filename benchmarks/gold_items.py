"""What gold items do for the probabilities of `DawidSkene`, and whether wrong ones are named.

``python -m benchmarks.gold_items`` prints the log loss of the items that are not gold, with 0, 20, 50 and 100 gold
items drawn at random, at most half of those whose class is known: of the nine recorded sets, each from floors that the
other sets teach, of judges who share errors, and of crowds that err independently (the crowds of
`benchmarks.calibration`). ``python -m benchmarks.gold_items wrong`` prints how often right gold and wrong gold has a
note, and how many of the items that it names are wrong. The rules were chosen on even draws; these are odd ones.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.calibration import independent, judge, judges, learn_without
from benchmarks.people.label_crowds import RECORDED, Crowd, recorded
from consilience.consensus import DawidSkene
from consilience.consensus.labels.calibration import RECORDED as LEARNED
from consilience.consensus.labels.calibration import Calibration, Floors

NUMBERS = (0, 20, 50, 100)  # of gold items
WRONG = ((20, 0), (50, 0), (20, 1), (20, 6), (50, 3))  # gold items, and how many of them are wrong
DRAWS, DRAWS_SIMULATED = (1, 3, 5), range(1, 40, 2)


class FromFloors(DawidSkene):
    """DawidSkene that starts from other floors."""

    floors: Floors = LEARNED

    def calibration_of(self, *arguments: Any, **others: Any) -> Calibration:
        found = super().calibration_of(*arguments, **others)
        return replace(found, floors=self.floors) if found.has_floors else found


@dataclass(frozen=True)
class WithGold:
    """A model fitted with gold, the gold items, and the other items whose class is known."""

    model: DawidSkene
    gold: np.ndarray
    rest: np.ndarray
    truth: np.ndarray

    @classmethod
    def of(cls, crowd: Crowd, number: int, draw: int, *, n_wrong: int = 0, floors: Floors = LEARNED) -> WithGold:
        """Fit with so many gold items at random, of which the first are wrong."""
        rng = np.random.default_rng([draw, number, n_wrong, 13])
        labels = crowd.labels
        known = rng.permutation(np.flatnonzero((crowd.truth >= 0) & (np.diff(labels.indptr) > 0)))
        number = min(number, len(known) // 2)
        gold, rest = known[:number], np.sort(known[number:])
        codes = crowd.truth[gold]
        codes[:n_wrong] += rng.integers(1, labels.n_classes, size=n_wrong)
        codes %= labels.n_classes
        model = FromFloors()
        model.floors = floors
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(labels, gold=pd.Series(labels.classes[codes], labels.items[gold]) if number else None)
        return cls(model, gold, rest, crowd.truth[rest])

    def judge(self) -> dict[str, float]:
        """Return the figures of the items that are not gold."""
        return judge(self.model.responsibilities_[self.rest], self.truth)

    def named(self, n_wrong: int) -> tuple[bool, int, int]:
        """Whether there is a note, and how many wrong and right items it names."""
        notes = self.model.notes_
        names = set(notes[0].split(": ")[1].split(". Check")[0].split(", ")) if notes else set()
        mine = [repr(name) in names for name in self.model.items_[self.gold].tolist()]
        return bool(notes), sum(mine[:n_wrong]), sum(mine[n_wrong:])


def crowds() -> Iterable[tuple[str, Callable[[int], Crowd], Iterable[int]]]:
    """Yield the name of each kind of crowd, what makes it, and its draws."""
    for name in RECORDED:
        yield name, lambda draw, name=name: recorded(name), DRAWS  # type: ignore[misc]
    yield "5 judges", lambda draw: judges(5, draw), DRAWS_SIMULATED
    yield "independent errors", independent, DRAWS_SIMULATED


def report_loss() -> None:
    """Print the log loss by the number of gold items, with the share wrong above .95."""
    chosen, means = learn_without(), {}
    sys.stdout.write("log loss (share wrong above .95)    " + "".join(f"{number:4d} gold      " for number in NUMBERS))
    for name, make, draws in crowds():
        line = ""
        for number in NUMBERS:
            fits = [WithGold.of(make(draw), number, draw, floors=chosen.get(name, LEARNED)) for draw in draws]
            found = pd.DataFrame([fit.judge() for fit in fits])
            means[name, number] = found.mean()
            line += say(means[name, number])
        sys.stdout.write(f"\n{name:32s}{line}")
        sys.stdout.flush()
    of_sets = pd.DataFrame(means).T.loc[list(RECORDED)].groupby(level=1).mean()
    sys.stdout.write(f"\n{'mean of the nine sets':32s}{''.join(say(of_sets.loc[number]) for number in NUMBERS)}\n")


def say(found: pd.Series) -> str:
    """Return the log loss, and the share of the items above .95 that is wrong."""
    return f"{found['log loss']:8.3f} ({found['sure and wrong'] / max(found['sure'], 1e-9):.3f})"


def report_wrong() -> None:
    """Print how often there is a note, and how many items it names."""
    for number, n_wrong in WRONG:
        sys.stdout.write(f"{n_wrong} of {number} gold items wrong\n")
        for name, make, draws in crowds():
            fits = [WithGold.of(make(draw), number, draw, n_wrong=n_wrong) for draw in draws]
            found = np.array([fit.named(n_wrong) for fit in fits], dtype=float)
            sys.stdout.write(
                f"  {name:20s} a note in {found[:, 0].sum():.0f} of {len(fits)}, which names "
                f"{found[:, 1].sum() / max(found[:, 0].sum(), 1):.1f} wrong and "
                f"{found[:, 2].sum() / max(found[:, 0].sum(), 1):.1f} right ones\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    {"wrong": report_wrong}.get("".join(sys.argv[1:]), report_loss)()
