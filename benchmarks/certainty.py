"""Whether another group of people repeats as much of a clustering as `consilience.inspection.certainty` states.

    python benchmarks/certainty.py [--draws 1 3 5 7] [--only NAME …] [--plot FILE.svg]

Of a simulated crowd, two other groups are drawn from the same population of people, and each is fitted; of recorded
people, one random half is fitted, and the other half is the other group. For each item, the share of its pairs,
together or apart, that is stated is compared with that observed. The calibration error is the mean of |stated −
observed| over bins of a tenth of what is stated, weighted by their items. The method was developed on draws with even
numbers; by default odd ones are used.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmarks.people.grouping_crowds import CARD_SORTS, FREE_SORTS, pictures, sorts
from consilience import Groupings, Labels
from consilience.analysis.certainty import repeated_pairs
from consilience.consensus import CSPA, KCC, DawidSkene, MajorityVote, ProductMixture, SubsetFusion
from consilience.datasets import load_crowd_labels
from consilience.inspection import certainty
from consilience.semisupervised import PartitionLabelModel

N_ITEMS, N_CLUSTERS = 30, 5
N_PEOPLE = (8, 20, 60)
N_OTHERS = 2  # groups that a simulated crowd is compared with
N_CERTAINTY_DRAWS = 50
BINS = 10
LABELLED = ("bluebird", "dog", "rte", "cf_amt", "sp_amt", "zencrowd_in")
MOST_ITEMS = 500  # of a recorded crowd of labels
PICTURES = ("scenes", "imagenet", "birds5", "dogs3", "mnist-crowd")
FEWEST = 8  # recorded people

Annotations = Groupings | Labels
Crowd = Callable[[np.random.Generator, int], Annotations]


@dataclass(frozen=True)
class Kind:
    """A kind of simulated crowd.

    right : mean accuracy; people differ by a standard deviation of `spread`.
    schools : number of clusterings that people hold, one each.
    confused : share of the people who take an item for one of another cluster, the same for all, where it is easily so
        taken; the share varies over items.
    """

    right: float
    spread: float = 0.15
    schools: int = 1
    confused: float = 0.0


KINDS = {
    "clear": Kind(0.8),
    "middling": Kind(0.5),
    "hard": Kind(0.25),
    "at random": Kind(0.0, 0.0),
    "three schools": Kind(0.7, schools=3),
    "two schools": Kind(0.8, schools=2),
    "shared confusions": Kind(0.7, confused=1.0),
}


def population(kind: Kind, rng: np.random.Generator) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Return a function that draws the answers of people of one population, (items, people)."""
    schools = [rng.permutation(np.arange(N_ITEMS) % N_CLUSTERS) for _ in range(kind.schools)]
    others = [rng.integers(N_CLUSTERS, size=N_ITEMS) for _ in range(kind.schools)]
    taken = np.minimum(2 * kind.confused * rng.beta(0.5, 2.0, N_ITEMS), 1)

    def person(rng: np.random.Generator) -> np.ndarray:
        school = rng.integers(kind.schools)
        seen = np.where(rng.random(N_ITEMS) < taken, others[school], schools[school])
        right = np.clip(rng.normal(kind.right, kind.spread), 0, 1)
        return np.where(rng.random(N_ITEMS) < right, seen, rng.integers(N_CLUSTERS, size=N_ITEMS))

    return lambda rng, n: np.column_stack([person(rng) for _ in range(n)])


def of_sorts(kind: Kind, rng: np.random.Generator) -> Crowd:
    """Return a crowd of people who sort; a third of them do not distinguish two of the clusters."""
    people = population(kind, rng)

    def crowd(rng: np.random.Generator, n: int) -> Groupings:
        cells = people(rng, n)
        coarse = rng.random(n) < 1 / 3
        cells = np.where(coarse & (cells == N_CLUSTERS - 1), 0, cells)
        return Groupings.from_matrix(cells.astype(str), annotators=[f"person {number}" for number in range(n)])

    return crowd


def of_labels(kind: Kind, rng: np.random.Generator) -> Crowd:
    """Return a crowd of people who label, each half of the items."""
    people = population(kind, rng)

    def crowd(rng: np.random.Generator, n: int) -> Labels:
        cells = people(rng, n).astype(str).astype(object)
        cells[rng.random(cells.shape) < 0.5] = None
        names = [f"person {number}" for number in range(n)]
        classes = [str(number) for number in range(N_CLUSTERS)]
        frame = pd.DataFrame(cells, columns=names).melt(ignore_index=False, var_name="annotator", value_name="label")
        frame = frame.dropna().rename_axis("item").reset_index()
        return Labels.from_frame(frame, items=range(N_ITEMS), classes=classes)

    return crowd


def halves(annotations: Annotations, rng: np.random.Generator) -> list[Annotations]:
    """Return the annotations of two halves of the people, of all items."""
    order, half = rng.permutation(annotations.n_annotators), annotations.n_annotators // 2
    names = [annotations.annotators[np.sort(part)] for part in (order[:half], order[half : 2 * half])]
    return [annotations.restrict(annotators=part, items=annotations.items) for part in names]


def clusters(model: Any, classes: pd.Index | None) -> np.ndarray:
    """Return the cluster of each item, -1 for none; classes are numbered as in `classes`."""
    codes = model._cluster_codes()
    if classes is None:
        return codes
    place = classes.get_indexer(model._cluster_names())
    return np.where(codes < 0, -1, place[codes])


@dataclass(frozen=True)
class Compared:
    """What was stated and what was observed of the items of one crowd, and seconds of a fit and of the certainty."""

    stated: np.ndarray
    observed: np.ndarray
    seconds: tuple[float, float]


def compare(
    make: Callable[[], Any], first: Annotations, others: list[Annotations], draw: int, X: Any = None
) -> Compared:
    """State the certainty of the first group, and observe what the others repeat."""

    def fitted(annotations: Annotations) -> Any:
        model = make()
        return model.fit(X, annotations) if isinstance(model, PartitionLabelModel) else model.fit(annotations)

    start = time.perf_counter()
    model = fitted(first)
    between = time.perf_counter()
    found = certainty(model, first, X, n_draws=N_CERTAINTY_DRAWS, random_state=draw)
    seconds = between - start, (time.perf_counter() - between) * 100 / N_CERTAINTY_DRAWS
    classes = first.classes if isinstance(first, Labels) else None
    mine, theirs = clusters(model, classes), [clusters(fitted(other), classes) for other in others]
    known = np.logical_and.reduce([each >= 0 for each in [mine, *theirs]])
    own = np.unique(mine[known], return_inverse=True)[1]
    shares = [repeated_pairs(own, np.unique(each[known], return_inverse=True)[1]) for each in theirs]
    stated = found.items["repeats"].to_numpy()[known]
    return Compared(stated, np.mean(shares, axis=0) / max(known.sum() - 1, 1), seconds)


def simulated(make: Callable[[], Any], of: Callable[..., Crowd], draws: list[int]) -> Iterator[tuple[str, Compared]]:
    """Compare on each kind of simulated crowd."""
    for number, (name, kind) in enumerate(KINDS.items()):
        for n_people in N_PEOPLE:
            for draw in draws:
                rng = np.random.default_rng([draw, number, n_people])
                crowd = of(kind, rng)
                first, *others = (crowd(rng, n_people) for _ in range(1 + N_OTHERS))
                yield f"simulated, {name}", compare(make, first, others, draw)


def recorded(
    make: Callable[[], Any], kind: str, load: Callable[[str], Annotations], names: tuple[str, ...], draws: list[int]
) -> Iterator[tuple[str, Compared]]:
    """Compare halves of recorded people."""
    for name in names:
        annotations = load(name)
        for draw in draws:
            if annotations.n_annotators >= 2 * FEWEST:
                first, other = halves(annotations, np.random.default_rng([draw, 1]))
                yield f"{kind}: {name}", compare(make, first, [other], draw)


def labelled(name: str) -> Labels:
    """Return recorded labels of at most `MOST_ITEMS` items."""
    labels = load_crowd_labels(name).annotations
    return labels.restrict(items=labels.items[:MOST_ITEMS]) if len(labels) > MOST_ITEMS else labels


def with_features(draws: list[int]) -> Iterator[tuple[str, Compared]]:
    """Compare on simulated people who group items with features, near those of their cluster in the first school."""
    for number, (name, kind) in enumerate(KINDS.items()):
        for n_people in N_PEOPLE:
            for draw in draws:
                seed = [draw, number, n_people]
                truth = np.random.default_rng(seed).permutation(np.arange(N_ITEMS) % N_CLUSTERS)
                rng = np.random.default_rng(seed)
                crowd = of_sorts(kind, rng)  # whose first school is the truth, too
                first, *others = (crowd(rng, n_people) for _ in range(1 + N_OTHERS))
                X = 2 * rng.standard_normal((N_CLUSTERS, 2))[truth] + rng.standard_normal((N_ITEMS, 2))
                yield f"simulated, {name}", compare(partition_labels, first, others, draw, X)


def partition_labels() -> PartitionLabelModel:
    """Return the model; halves of recorded people hold no copies that the whole does not."""
    return PartitionLabelModel(copies=None, random_state=0)


def all_sorts(
    make: Callable[[], Any], draws: list[int], names: tuple[str, ...] = PICTURES
) -> Iterator[tuple[str, Compared]]:
    """Compare on simulated and recorded people who sort."""
    yield from simulated(make, of_sorts, draws)
    yield from recorded(make, "sorts", lambda name: sorts(name).annotations, (*CARD_SORTS, *FREE_SORTS), draws)
    yield from recorded(make, "pictures", lambda name: pictures(name).annotations, names, draws[:1])


def all_labels(make: Callable[[], Any], draws: list[int]) -> Iterator[tuple[str, Compared]]:
    """Compare on simulated and recorded people who label."""
    yield from simulated(make, of_labels, draws)
    yield from recorded(make, "labels", labelled, LABELLED, draws)


def of_features(draws: list[int]) -> Iterator[tuple[str, Compared]]:
    """Compare on simulated people who sort items with features, and on recorded ones without."""
    yield from with_features(draws)
    names = (*CARD_SORTS, *FREE_SORTS)
    yield from recorded(partition_labels, "sorts", lambda name: sorts(name).annotations, names, draws[:1])


MODELS: dict[str, Callable[[list[int]], Iterator[tuple[str, Compared]]]] = {
    "SubsetFusion": lambda draws: all_sorts(lambda: SubsetFusion(copies=None, random_state=0), draws),
    "CSPA": lambda draws: all_sorts(lambda: CSPA(random_state=0), draws, ()),
    "KCC": lambda draws: all_sorts(lambda: KCC(N_CLUSTERS, random_state=0), draws, ()),
    "DawidSkene": lambda draws: all_labels(lambda: DawidSkene(copies=None), draws),
    "MajorityVote": lambda draws: all_labels(lambda: MajorityVote(copies=None), draws),
    "ProductMixture": lambda draws: all_labels(lambda: ProductMixture(copies=None, random_state=0), draws),
    "PartitionLabelModel": of_features,
}


def bins(stated: np.ndarray, observed: np.ndarray) -> pd.DataFrame:
    """Return the means of what is stated and observed in each bin of what is stated, and its number of items."""
    place = np.minimum((stated * BINS).astype(int), BINS - 1)
    frame = pd.DataFrame({"stated": stated, "observed": observed, "items": 1.0})
    found = frame.groupby(place).agg({"stated": "mean", "observed": "mean", "items": "sum"})
    return found.rename_axis("bin")


def calibration_error(stated: np.ndarray, observed: np.ndarray) -> float:
    """Return the mean of |stated − observed| over bins, weighted by their items."""
    found = bins(stated, observed)
    return float(np.average((found["stated"] - found["observed"]).abs(), weights=found["items"]))


def line(name: str, rows: list[Compared]) -> str:
    """Return the means of what is stated and observed, and the calibration error, as a line of the table."""
    stated, observed = (np.concatenate([getattr(row, which) for row in rows]) for which in ("stated", "observed"))
    fit, hundred = np.sum([row.seconds for row in rows], axis=0)
    error = calibration_error(stated, observed)
    return (
        f"{name:48s}{len(rows):4d}{len(stated):7,d}{stated.mean():8.3f}{observed.mean():9.3f}{error:8.3f}"
        f"{hundred / fit:8.1f}"
    )


def draw_reliability(found: dict[str, dict[str, list[Compared]]], file: str) -> None:
    """Draw what was observed against what was stated, for each model on simulated and on recorded people."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained")
    for ax, title in zip(axes, ("simulated people", "recorded people")):
        ax.plot([0, 1], [0, 1], color="0.7", lw=1)
        for name, marker in zip(found, "osD^v<P"):
            rows = [
                row
                for kind, own in found[name].items()
                for row in own
                if kind.startswith("simulated") == (ax is axes[0])
            ]
            stated, observed = (
                np.concatenate([getattr(row, which) for row in rows]) for which in ("stated", "observed")
            )
            table = bins(stated, observed)
            table = table[table["items"] >= 20]
            ax.plot(table["stated"], table["observed"], marker=marker, ms=5, lw=1, label=name)
        ax.set(title=title, xlabel="stated share of an item's pairs that is repeated", xlim=(0.4, 1), ylim=(0.4, 1))
        ax.set_aspect("equal")
    axes[0].set_ylabel("observed share")
    axes[1].legend(fontsize=8, frameon=False)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, nargs="+", default=[1, 3, 5, 7])
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--plot", metavar="FILE")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    plt.rcParams["svg.hashsalt"] = "certainty"
    found: dict[str, dict[str, list[Compared]]] = {}
    print(f"{'':48s}runs  items  stated observed   error  100 draws / fit")
    for name in given.only:
        kinds: dict[str, list[Compared]] = {}
        for kind, row in MODELS[name](given.draws):
            kinds.setdefault(kind, []).append(row)
        found[name] = kinds
        for kind, rows in kinds.items():
            print(line(f"  {kind}", rows))
        for people in ("simulated", "recorded"):
            own = [
                row
                for kind, rows in kinds.items()
                for row in rows
                if kind.startswith("simulated") == (people == "simulated")
            ]
            print(line(f"{name}, {people} people", own), flush=True)
    if given.plot:
        draw_reliability(found, given.plot)


if __name__ == "__main__":
    main()
