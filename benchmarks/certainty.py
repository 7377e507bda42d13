"""Whether another group of people repeats as much of a clustering as `consilience.inspection.certainty` states.

    python -m benchmarks.certainty [--draws 1 3 5 7] [--only NAME …] [--write FOLDER]

Of a simulated crowd, two other groups are drawn from the same population of people, and each is fitted; of recorded
people, one random half is fitted, and the other half is the other group. For each item, the share of its pairs,
together or apart, that is stated is compared with that observed. The calibration error is the mean of |stated −
observed| over bins of a tenth of what is stated, weighted by their items. Of all pairs of items, the share that each
other group repeats is held against the stated 90 % interval. The method was developed on draws with even numbers; by
default odd ones are used. `--write` writes the tables and the figure of the page on certainty into its folder.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmarks.people.grouping_crowds import CARD_SORTS, FREE_SORTS, pictures, sorts
from consilience import Groupings, Labels
from consilience.analysis.certainty import repeated_pairs
from consilience.analysis.certainty_models import fewest_people, people_behind
from consilience.annotations.names import NO_TAG
from consilience.consensus import (
    CSPA,
    KCC,
    CorrelationClustering,
    DawidSkene,
    MajorityVote,
    ProductMixture,
    SpectralEM,
    StagewiseEM,
    SubsetFusion,
    TagConsensus,
)
from consilience.datasets import load_crowd_labels
from consilience.inspection import certainty
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel

N_ITEMS, N_CLUSTERS, N_TAGS = 30, 5, 4
N_PEOPLE = (4, 6, 10, 30)
N_OTHERS = 2  # groups that a simulated crowd is compared with
N_CERTAINTY_DRAWS = 40
BINS = 10
ROUNDING = 0.005  # of a share of pairs
LABELLED = ("bluebird", "dog", "rte", "cf_amt", "sp_amt", "zencrowd_in")
MOST_ITEMS = 500  # of a recorded crowd of labels
PICTURES = ("scenes", "birds5")
FEWEST = 8  # recorded people
N_STARTS = 8  # of MECC and MCVC
SOME_KINDS = ("clear", "hard", "at random", "two schools")  # for MCVC
MARKERS = "osD^v<P>*Xph"

PEOPLE = ("simulated", "recorded")

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


def of_tags(kind: Kind, rng: np.random.Generator) -> Crowd:
    """Return a crowd of people who give tags, each to half of the items; a tag is there in two of the clusters."""
    of_each_tag = [population(kind, rng) for _ in range(N_TAGS)]

    def crowd(rng: np.random.Generator, n: int) -> Labels:
        seen = rng.random((N_ITEMS, n)) < 0.5
        given = [(people(rng, n) < 2) & seen for people in of_each_tag]
        cells = {f"tag {number}": cell for number, cell in enumerate(given)}
        cells[NO_TAG] = seen & ~np.logical_or.reduce(given)
        rows = [(item, f"person {who}", tag) for tag, cell in cells.items() for item, who in np.argwhere(cell)]
        frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
        return Labels.from_frame(frame, items=range(N_ITEMS), classes=list(cells))

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
    """What was stated and what was observed of one crowd.

    stated, observed : of items.
    within : whether the share of all pairs that each other group repeats is in the stated interval.
    width : of the interval.
    n_people : number of people who decide.
    seconds : of a fit, and of 100 draws.
    """

    stated: np.ndarray
    observed: np.ndarray
    within: tuple[bool, ...]
    width: float
    n_people: int
    seconds: tuple[float, float]


def compare(
    make: Callable[[], Any], first: Annotations, others: list[Annotations], draw: int, X: Any = None
) -> Compared | None:
    """State the certainty of the first group, and observe what the others repeat; None if too few people decide."""

    def fitted(annotations: Annotations) -> Any:
        model = make()
        with_features = isinstance(model, MCVC | MECC | PartitionLabelModel)
        return model.fit(X, annotations) if with_features else model.fit(annotations)

    start = time.perf_counter()
    model = fitted(first)
    if people_behind(model, first)[0].max() + 1 < fewest_people(model):
        return None
    between = time.perf_counter()
    found = certainty(model, first, X, n_draws=N_CERTAINTY_DRAWS, random_state=draw)
    seconds = between - start, (time.perf_counter() - between) * 100 / N_CERTAINTY_DRAWS
    classes = first.classes if isinstance(first, Labels) and not isinstance(model, TagConsensus) else None
    mine, theirs = clusters(model, classes), [clusters(fitted(other), classes) for other in others]
    known = np.logical_and.reduce([each >= 0 for each in [mine, *theirs]])
    own = np.unique(mine[known], return_inverse=True)[1]
    shares = [repeated_pairs(own, np.unique(each[known], return_inverse=True)[1]) for each in theirs]
    stated, n_others = found.items["repeats"].to_numpy()[known], max(known.sum() - 1, 1)
    # a pair or two more or less is no error of the interval
    of_all = [share.mean() / n_others for share in shares]
    within = tuple(found.low - ROUNDING <= share <= found.high + ROUNDING for share in of_all)
    observed = np.mean(shares, axis=0) / n_others
    return Compared(stated, observed, within, found.high - found.low, found.n_people, seconds)


def simulated(
    make: Callable[[], Any],
    of: Callable[..., Crowd],
    draws: list[int],
    kinds: tuple[str, ...] = (),
    numbers: tuple[int, ...] = N_PEOPLE,
) -> Iterator[tuple[str, Compared | None]]:
    """Compare on each kind of simulated crowd, or on some, of some numbers of people."""
    for number, (name, kind) in enumerate(KINDS.items()):
        if kinds and name not in kinds:
            continue
        for n_people in numbers:
            for draw in draws:
                rng = np.random.default_rng([draw, number, n_people])
                crowd = of(kind, rng)
                first, *others = (crowd(rng, n_people) for _ in range(1 + N_OTHERS))
                yield f"simulated, {name}", compare(make, first, others, draw)


def recorded(
    make: Callable[[], Any], kind: str, load: Callable[[str], Annotations], names: tuple[str, ...], draws: list[int]
) -> Iterator[tuple[str, Compared | None]]:
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


def with_features(draws: list[int]) -> Iterator[tuple[str, Compared | None]]:
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
) -> Iterator[tuple[str, Compared | None]]:
    """Compare on simulated and recorded people who sort."""
    yield from simulated(make, of_sorts, draws)
    yield from recorded(make, "sorts", lambda name: sorts(name).annotations, (*CARD_SORTS, *FREE_SORTS), draws)
    yield from recorded(make, "pictures", lambda name: pictures(name).annotations, names, draws[:1])


def all_labels(make: Callable[[], Any], draws: list[int]) -> Iterator[tuple[str, Compared | None]]:
    """Compare on simulated and recorded people who label."""
    yield from simulated(make, of_labels, draws)
    yield from recorded(make, "labels", labelled, LABELLED, draws)


def all_tags(draws: list[int]) -> Iterator[tuple[str, Compared | None]]:
    """Compare on simulated people who give tags, and on recorded ones who label, each class read as a tag."""
    yield from simulated(TagConsensus, of_tags, draws)
    yield from recorded(TagConsensus, "labels", labelled, LABELLED, draws)


def of_features(draws: list[int]) -> Iterator[tuple[str, Compared | None]]:
    """Compare on simulated people who sort items with features, and on recorded ones without."""
    yield from with_features(draws)
    names = (*CARD_SORTS, *FREE_SORTS)
    yield from recorded(partition_labels, "sorts", lambda name: sorts(name).annotations, names, draws[:1])


def of_views(make: Callable[[], Any], draws: list[int]) -> Iterator[tuple[str, Compared | None]]:
    """Compare on some kinds of people who sort, as fits take long; or on all, of as many people as a model needs."""
    if (fewest := fewest_people(make())) > N_PEOPLE[0]:
        yield from simulated(make, of_sorts, draws, numbers=(fewest, N_PEOPLE[-1]))
    else:
        yield from simulated(make, of_sorts, draws, SOME_KINDS)
    yield from recorded(make, "sorts", lambda name: sorts(name).annotations, CARD_SORTS, draws[:1])


MODELS: dict[str, Callable[[list[int]], Iterator[tuple[str, Compared | None]]]] = {
    "SubsetFusion": lambda draws: all_sorts(lambda: SubsetFusion(copies=None, random_state=0), draws),
    "CSPA": lambda draws: all_sorts(lambda: CSPA(random_state=0), draws, ()),
    "KCC": lambda draws: all_sorts(lambda: KCC(N_CLUSTERS, random_state=0), draws, ()),
    "DawidSkene": lambda draws: all_labels(lambda: DawidSkene(copies=None), draws),
    "MajorityVote": lambda draws: all_labels(lambda: MajorityVote(copies=None), draws),
    "ProductMixture": lambda draws: all_labels(lambda: ProductMixture(copies=None, random_state=0), draws),
    "SpectralEM": lambda draws: all_labels(lambda: SpectralEM(copies=None, random_state=0), draws),
    "StagewiseEM": lambda draws: all_labels(lambda: StagewiseEM(copies=None), draws),
    "TagConsensus": all_tags,
    "CorrelationClustering": lambda draws: all_sorts(lambda: CorrelationClustering(random_state=0), draws, ()),
    "MECC": lambda draws: of_views(lambda: MECC(n_init=N_STARTS, random_state=0), draws),
    "MCVC": lambda draws: of_views(lambda: MCVC(n_init=N_STARTS, random_state=0), draws),
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


@dataclass(frozen=True)
class Means:
    """Means over several crowds.

    within : share of the other groups that are in the interval.
    draws : time of 100 draws, as a multiple of that of a fit.
    """

    runs: int
    stated: float
    observed: float
    error: float
    width: float
    within: float
    draws: float

    @classmethod
    def of(cls, rows: list[Compared]) -> Means:
        """Average over crowds."""
        stated, observed = (np.concatenate([getattr(row, which) for row in rows]) for which in ("stated", "observed"))
        fit, hundred = np.sum([row.seconds for row in rows], axis=0)
        within, width = np.mean([part for row in rows for part in row.within]), np.mean([row.width for row in rows])
        error = calibration_error(stated, observed)
        return cls(len(rows), stated.mean(), observed.mean(), error, float(width), float(within), hundred / fit)


HEAD = f"{'':48s}runs  stated observed   error   width  within  100 draws / fit"


def line(name: str, rows: list[Compared]) -> str:
    """Return the means as a line of the table."""
    found = Means.of(rows)
    shares = found.stated, found.observed, found.error, found.width, found.within
    return f"{name:48s}{found.runs:4d}" + "".join(f"{share:8.3f}" for share in shares) + f"{found.draws:8.1f}"


def of_people(kinds: dict[str, list[Compared]], people: str) -> list[Compared]:
    """Return what was compared on "simulated" or on "recorded" people."""
    return [
        row for kind, rows in kinds.items() for row in rows if kind.startswith("simulated") == (people == PEOPLE[0])
    ]


def by_number(found: dict[str, dict[str, list[Compared]]]) -> dict[int, list[Compared]]:
    """Return what was compared on each number of simulated people who decide, over all models."""
    rows = [row for kinds in found.values() for row in of_people(kinds, PEOPLE[0])]
    return {number: own for number in N_PEOPLE if (own := [row for row in rows if row.n_people == number])}


def write_tables(found: dict[str, dict[str, list[Compared]]], folder: Path) -> None:
    """Write the tables of the page, of models and of numbers of people."""
    models = []
    for name, kinds in found.items():
        means = [Means.of(of_people(kinds, people)) for people in PEOPLE]
        models.append([name, *(f"{share:.3f}" for each in means for share in (each.stated, each.observed, each.error))])
        models[-1] += [f"{each.draws:.1f}" for each in means]
    columns = ["stated", "observed", "error"]
    head = ["Model", *(f"{people}: {column}" for people in PEOPLE for column in columns)]
    head += [f"{people}: 100 draws / fit" for people in PEOPLE]
    pd.DataFrame(models, columns=head).to_csv(folder / "certainty-models.csv", index=False)
    numbers = []
    for number, rows in by_number(found).items():
        each = Means.of(rows)
        shares = each.stated, each.observed, each.error, each.width, each.within
        numbers.append([number, each.runs, *(f"{share:.3f}" for share in shares)])
    head = ["People", "crowds", *columns, "width of the interval", "others in the interval"]
    pd.DataFrame(numbers, columns=head).to_csv(folder / "certainty-people.csv", index=False)


def draw_reliability(found: dict[str, dict[str, list[Compared]]], file: Path) -> None:
    """Draw what was observed against what was stated, for each model on simulated and on recorded people."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained")
    for ax, title in zip(axes, ("simulated people", "recorded people")):
        ax.plot([0, 1], [0, 1], color="0.7", lw=1)
        for name, marker in zip(found, MARKERS):
            rows = of_people(found[name], PEOPLE[0] if ax is axes[0] else PEOPLE[1])
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
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    plt.rcParams["svg.hashsalt"] = "certainty"
    found: dict[str, dict[str, list[Compared]]] = {}
    print(HEAD)
    for name in given.only:
        found[name] = kinds = {}
        for kind, row in MODELS[name](given.draws):
            if row is not None:
                kinds.setdefault(kind, []).append(row)
        for kind, rows in kinds.items():
            print(line(f"  {kind}", rows))
        for people in PEOPLE:
            print(line(f"{name}, {people} people", of_people(kinds, people)), flush=True)
    for number, rows in by_number(found).items():
        print(line(f"all models, {number} simulated people", rows))
    if given.write:
        write_tables(found, given.write)
        draw_reliability(found, given.write / "certainty.svg")


if __name__ == "__main__":
    main()
