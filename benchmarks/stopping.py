"""When a study may stop, and how many groupings it needs: what an `ActiveSession` says, and what came of it.

    python benchmarks/stopping.py [--dev] [CROWD ...]

Simulated people (`ClusteringPopulation`) sort 480 random subsets of eight items, in rounds of 60. Of four recordings, a
study has half the groupings, in five rounds; for these, halves are drawn twice instead of four times. `SubsetFusion`
has its defaults. After each round:

truth        NMI of the consensus with the true clusters
again        AMI with the consensus of a second study of the same size, with other people and subsets
reliability  the session's estimate of that
needed       groupings that the session says a reliability of .9 needs

Curves of truth and of agreement are fitted by the closest curve that never falls. A study has *settled* when 20 % more
groupings gain less than .01 of truth, then and in every later round; its plateau is the last value. It should stop by
then, and not more than .05 below the plateau. Settings were chosen on draws with even seeds (`--dev`), and draws with
odd seeds are reported.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from benchmarks.papers.subset_parts.replay import recorded
from consilience import Groupings
from consilience.active import ActiveSession
from consilience.active.session import FLOORS
from consilience.active.stability import only
from consilience.consensus import SubsetFusion
from consilience.metrics import ami, nmi
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present, random_subsets

SIMULATED = {  # items, clusters, separation
    "60 items": (60, 6, 5),
    "easy": (100, 10, 10),
    "medium": (100, 10, 5),
    "five clusters": (80, 5, 3.5),
    "hard": (100, 10, 2.5),
}
RECORDED = ("orchestra scenes", "orchestra imagenet", "birds5", "dogs3")
SIZE, STEP, N_SIMULATED, N_ROUNDS = 8, 60, 480, 5
REPORTED, DEV = (11, 13, 15, 17), (2, 4)
TARGET, MORE, SMALL, FAR, CLOSE = 0.9, 1.2, 0.01, 0.05, 1.5


@dataclass(frozen=True)
class Study:
    """Two studies of the same items by different people, and the numbers of groupings after which they are compared."""

    one: Groupings
    other: Groupings
    truth: np.ndarray
    sizes: list[int]
    n_splits: int


def simulated(n_items: int, n_clusters: int, separation: float, seed: int) -> Study:
    data = gaussian_clusters(n_items, n_clusters=n_clusters, separation=separation, random_state=seed)
    items = list(data.data.index)
    studies = []
    for place in range(2):
        people = ClusteringPopulation(data.data, random_state=seed + 1000 * place)
        subsets = random_subsets(items, SIZE, N_SIMULATED, random_state=seed + 1000 * place)
        studies.append(present(people, subsets, items=items))
    return Study(*studies, data.target, list(range(STEP, N_SIMULATED + 1, STEP)), 4)


def of_recording(name: str, seed: int) -> Study:
    """Divide the groupings of a recording at random between two studies."""
    groupings, truth = recorded(name)
    order = np.random.default_rng(seed).permutation(groupings.n_groupings)
    half = len(order) // 2
    sizes = [half * number // N_ROUNDS for number in range(1, N_ROUNDS + 1)]
    return Study(only(groupings, order[:half]), only(groupings, order[half : 2 * half]), truth, sizes, 2)


def rounds(study: Study, seed: int) -> Iterator[tuple[float, ...]]:
    """Yield what is known after each round: groupings, truth, again, reliability, needed, and whether rules stop."""
    session = ActiveSession(study.one.items, strategy="random", random_state=seed)
    rng = np.random.default_rng(seed)  # groupings come in any order
    orders = [rng.permutation(part.n_groupings) for part in (study.one, study.other)]
    before = 0
    for size in study.sizes:
        session.tell(only(study.one, orders[0][before:size]))
        labels, before = session.consensus().labels_, size
        other = SubsetFusion(random_state=seed).fit(only(study.other, orders[1][:size])).labels_
        found = session.groupings_needed(TARGET, n_splits=study.n_splits)
        stops = [found.reliability >= FLOORS["reliability"], bool(session.should_stop(rule="stability"))]
        truth, again = compared(nmi, study.truth, labels), compared(ami, labels, other)
        yield size, truth, again, found.reliability, found.groupings, *stops


def compared(measure: Callable[..., float], one: np.ndarray, other: np.ndarray) -> float:
    both = (one >= 0) & (other >= 0)
    return measure(one[both], other[both])


@dataclass(frozen=True)
class Outcome:
    """What came of a study.

    settled : groupings after which it had settled, infinite if it had not at the end.
    stops : groupings at which each rule stops, infinite if it does not.
    losses : truth at the plateau less that where each rule stops; NaN if it does not.
    reached : groupings that agreed with the second study as the target says, infinite if none did.
    ratio : the forecast halfway there, divided by that; of studies that did not get there, NaN.
    last : the forecast at the end, divided by the groupings then.
    """

    settled: float
    stops: list[float]
    losses: list[float]
    reached: float
    ratio: float
    last: float

    @classmethod
    def of(cls, table: np.ndarray) -> "Outcome":
        size = table[:, 0]
        truth, again = isotonic_regression(table[:, 1]), isotonic_regression(table[:, 2])
        judged = size * MORE <= size[-1]
        rises = np.interp(MORE * size[judged], size, truth) - truth[judged] >= SMALL
        last = np.flatnonzero(rises).max(initial=-1)
        settled = size[last + 1] if last + 1 < judged.sum() else np.inf
        stops = [size[np.flatnonzero(table[:, rule])[0]] if table[:, rule].any() else np.inf for rule in (5, 6)]
        losses = [float(truth[-1] - truth[size == stop][0]) if np.isfinite(stop) else np.nan for stop in stops]
        got_there = again[-1] >= TARGET
        place = np.flatnonzero(again >= TARGET)[0] if got_there else 0
        reached = np.inf
        if got_there:
            reached = np.interp(TARGET, again[place - 1 : place + 1], size[place - 1 : place + 1]) if place else size[0]
        ratio = np.exp(np.interp(reached / 2, size, np.log(table[:, 4]))) / reached if got_there else np.nan
        return cls(settled, stops, losses, reached, float(ratio), float(table[-1, 4] / size[-1]))

    def in_time(self, rule: int) -> bool:
        return np.isfinite(self.settled) and self.stops[rule] <= self.settled

    def not_early(self, rule: int) -> bool:
        return not self.losses[rule] > FAR


def studies(seeds: tuple[int, ...], chosen: list[str]) -> Iterator[tuple[str, int, Study]]:
    for name, setting in SIMULATED.items():
        for seed in seeds if not chosen or name in chosen else ():
            yield name, seed, simulated(*setting, seed=seed)
    for name in RECORDED:
        if not chosen or name in chosen:
            yield name, seeds[0], of_recording(name, seeds[0])


def main() -> None:
    warnings.simplefilter("ignore")
    options = sys.argv[1:]
    seeds, chosen = (DEV if "--dev" in options else REPORTED), [name for name in options if name != "--dev"]
    outcomes = []
    for name, seed, study in studies(seeds, chosen):
        table = np.array(list(rounds(study, seed)), dtype=float)
        found = Outcome.of(table)
        outcomes.append(found)
        print(f"\n{name}, seed {seed}")
        for label, column, digits in (
            ("groupings", 0, 0),
            ("truth", 1, 2),
            ("again", 2, 2),
            ("reliability", 3, 2),
            ("needed", 4, 0),
        ):
            print(f"  {label:12s}" + "".join(f"{value:7.{digits}f}" for value in table[:, column]))
        print(
            f"  settled {found.settled:.0f}; stops at {found.stops[0]:.0f} ({found.losses[0]:.3f} below the plateau), "
            f"by stability at {found.stops[1]:.0f} ({found.losses[1]:.3f}); {TARGET} reached at {found.reached:.0f}, "
            f"forecast halfway {found.ratio:.2f} times as many; at the end, {found.last:.2f} times those then",
            flush=True,
        )
    n_settled = sum(np.isfinite(one.settled) for one in outcomes)
    for rule, name in enumerate(("reliability", "stability")):
        n_stops = sum(np.isfinite(one.stops[rule]) for one in outcomes)
        n_in_time = sum(one.in_time(rule) for one in outcomes)
        n_early = sum(not one.not_early(rule) for one in outcomes)
        print(
            f"\nby {name}: stops in {n_stops} of {len(outcomes)}; by the time that it has settled in {n_in_time} of "
            f"{n_settled} that do; more than {FAR} below the plateau in {n_early}"
        )
    ratios = np.array([one.ratio for one in outcomes if np.isfinite(one.ratio)])
    close = np.abs(np.log(ratios)) <= np.log(CLOSE)
    print(f"forecast within a factor {CLOSE} in {close.sum()} of {len(ratios)} that reached {TARGET}")


if __name__ == "__main__":
    main()
