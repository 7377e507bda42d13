"""Copies among annotators who group: who is found, how often independent people are taken for copies, and the models.

    python benchmarks/grouping_copies.py clusters
    python benchmarks/grouping_copies.py found
    python benchmarks/grouping_copies.py false-alarms
    python benchmarks/grouping_copies.py recorded

Draws have odd seeds; the limits of `consilience.inference.grouping_copies` were chosen on even ones. Unless stated
otherwise, there are 200 items in 4 equally large groups.
"""

import argparse
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.people import grouping_crowds as crowds
from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.errors import AnnotationWarning
from consilience.inference.grouping_copies import find_copies
from consilience.inference.memberships import Memberships
from consilience.metrics import nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

N_PEOPLE, N_FEATURES = 6, 5
MOVED = 0.02  # share of the items that a copy moves
GOOD = 0.8  # accuracy of the independent people


def classes(seed: int, n_items: int = 200, n_classes: int = 4) -> np.ndarray:
    """Return the class of each item."""
    return np.random.default_rng([seed, 1]).permutation(np.arange(n_items) % n_classes)


def features(seed: int, true: np.ndarray) -> np.ndarray:
    """Return features of normal classes, whose means are twice as far apart as their items."""
    rng = np.random.default_rng([seed, 5])
    return rng.normal(0, 2, (4, N_FEATURES))[true] + rng.normal(size=(len(true), N_FEATURES))


def sorts(
    seed: int, accuracies: list[float] | np.ndarray, true: np.ndarray | None = None, *, merge: float = 0.0
) -> np.ndarray:
    """Return the sorts of independent annotators, a column each."""
    true = classes(seed) if true is None else true
    crowd = simulate_crowd(true, n_annotators=len(accuracies), accuracy=accuracies, merge=merge, random_state=seed)
    return crowd.to_matrix().to_numpy()


def copied(
    seed: int, n_copies: int, *, original: str = "at random", moved: float = MOVED, n_items: int = 200
) -> np.ndarray:
    """Return the sorts of six people, and of one sort and copies of it, in which some items are moved.

    original : of the copies: "at random", or the class of each item with the accuracy of the others ("good").
    """
    rng, true = np.random.default_rng([seed, 2]), classes(seed, n_items)
    first = rng.integers(4, size=n_items)
    if original == "good":
        first = np.where(rng.random(n_items) < GOOD, true, (true + 1 + first % 3) % 4)
    columns = [first]
    for _ in range(n_copies):
        copy, places = first.copy(), rng.choice(n_items, round(moved * n_items), replace=False)
        copy[places] = rng.integers(4, size=len(places))
        columns.append(copy)
    return np.column_stack([sorts(seed, [GOOD] * N_PEOPLE, true), np.array(columns, dtype=object).T])


def schools(seed: int, accuracies: list[float], n_schools: int = 2, n_items: int = 200) -> np.ndarray:
    """Return the sorts of several schools of thought, each with classes of its own and people of these accuracies."""
    seeds = [seed + 1_000_000 * school for school in range(n_schools)]
    return np.hstack([sorts(one, accuracies, classes(one, n_items)) for one in seeds])


def hard_items(seed: int, trained: int = 0) -> np.ndarray:
    """Return the sorts of eight people who mistake three items in ten for the same other class with .7.

    `trained` others are right with .97 on all items.
    """
    rng, true = np.random.default_rng([seed, 3]), classes(seed)
    decoy, hard = (true + rng.integers(1, 4, len(true))) % 4, rng.random(len(true)) < 0.3
    columns = []
    for _ in range(8):
        seen = np.where(hard & (rng.random(len(true)) < 0.7), decoy, true)
        wrong = rng.random(len(true)) > GOOD
        columns.append(np.where(wrong, (true + rng.integers(1, 4, len(true))) % 4, seen))
    naive = np.array(columns, dtype=object).T
    return np.hstack([sorts(seed, [0.97] * trained), naive]) if trained else naive


def coarse(seed: int) -> np.ndarray:
    """Return the sorts of five people, and of four who tell only two pairs of classes apart."""
    true = classes(seed)
    return np.hstack([sorts(seed, [GOOD] * 5), sorts(seed + 1_000_000, [0.97] * 4, true // 2)])


def of_few_items(seed: int, n_people: int, each: int, low: float = 0.6) -> Groupings:
    """Return the sorts of people who each sort some of the items."""
    accuracy = np.random.default_rng([seed, 4]).uniform(low, 1, n_people)
    return simulate_crowd(classes(seed), n_annotators=n_people, items_each=each, accuracy=accuracy, random_state=seed)


def uniform(seed: int, low: float, high: float, n_people: int) -> np.ndarray:
    return np.random.default_rng([seed, 6]).uniform(low, high, n_people)


INDEPENDENT: dict[str, Callable[[int], Groupings | np.ndarray]] = {
    "seven at .7": lambda seed: sorts(seed, [0.7] * 7),
    "seven at .9": lambda seed: sorts(seed, [0.9] * 7),
    "six at .97": lambda seed: sorts(seed, [0.97] * 6),
    "six at .97 and three at random": lambda seed: sorts(seed, [0.97] * 6 + [0.25] * 3),
    "six at .97 among six at .5": lambda seed: sorts(seed, [0.97] * 6 + [0.5] * 6),
    "six at .97 among six at .7": lambda seed: sorts(seed, [0.97] * 6 + [0.7] * 6),
    "two at .97 among six at .7": lambda seed: sorts(seed, [0.97] * 2 + [0.7] * 6),
    "three at .99 among ten at .8": lambda seed: sorts(seed, [0.99] * 3 + [0.8] * 10),
    "two schools of six at .8": lambda seed: schools(seed, [0.8] * 6),
    "two schools of six at .97": lambda seed: schools(seed, [0.97] * 6),
    "two schools of three at .97": lambda seed: schools(seed, [0.97] * 3),
    "three schools of four at .97": lambda seed: schools(seed, [0.97] * 4, 3),
    "two schools of six, .6 to .97": lambda seed: schools(seed, list(uniform(seed, 0.6, 0.97, 6))),
    "two schools of six at .97, 50 items": lambda seed: schools(seed, [0.97] * 6, n_items=50),
    "four who know half the classes among five": coarse,
    "16 at .97 who merge classes": lambda seed: sorts(seed, [0.97] * 16, merge=0.3),
    "40 sort 50 cards into up to 12 piles": lambda seed: sorts(
        seed, uniform(seed, 0.5, 1, 40), classes(seed, 50, 12), merge=0.2
    ),
    "200 people, 20 items each": lambda seed: of_few_items(seed, 200, 20),
    "60 people at .9 or more, 60 items each": lambda seed: of_few_items(seed, 60, 60, 0.9),
    "eight who share mistakes": hard_items,
    "(1) three trained among eight who share mistakes": lambda seed: hard_items(seed, trained=3),
    "(1) school of four at .97, other of twelve at .8": lambda seed: np.hstack(
        [sorts(seed, [0.8] * 12), schools(seed, [0.97] * 4)[:, 4:]]
    ),
} | {
    f"people's page: {name}": lambda seed, name=name: crowds.simulated(name, seed).annotations
    for name in crowds.SIMULATED
}
COPIED: dict[str, Callable[[int], np.ndarray]] = {
    **{f"{n} copies": lambda seed, n=n: copied(seed, n) for n in (1, 3, 6, 20)},
    **{f"{n} copies, 60 items": lambda seed, n=n: copied(seed, n, n_items=60) for n in (1, 3, 6)},
    **{f"{n} copies, 5 % moved": lambda seed, n=n: copied(seed, n, moved=0.05) for n in (1, 3, 6)},
    **{f"{n} copies, 10 % moved": lambda seed, n=n: copied(seed, n, moved=0.1) for n in (1, 3, 6)},
    **{f"{n} copies of a good sort": lambda seed, n=n: copied(seed, n, original="good") for n in (1, 3, 6)},
}
MODELS = {
    "SubsetFusion": lambda settings, X, sorted_: SubsetFusion(**settings).fit(sorted_),
    "PartitionLabelModel": lambda settings, X, sorted_: PartitionLabelModel(**settings).fit(None, sorted_),
    "PartitionLabelModel with features": lambda settings, X, sorted_: PartitionLabelModel(**settings).fit(X, sorted_),
}


def as_groupings(made: Groupings | np.ndarray) -> Groupings:
    return made if isinstance(made, Groupings) else Groupings.from_matrix(made)


def clusters(n_draws: int) -> pd.DataFrame:
    """Return NMI and numbers of clusters with copies of a sort at random, that weigh together or apart."""
    rows = []
    for n_copies in (None, 0, 1, 3, 6):
        for seed in range(1, 2 * n_draws, 2):
            true, made = classes(seed), copied(seed, n_copies or 0)
            sorted_ = as_groupings(made[:, :N_PEOPLE] if n_copies is None else made)
            for name, fit in MODELS.items():
                for copies in ("auto", None) if n_copies else ("auto",):
                    model = fit({"random_state": seed, "copies": copies}, features(seed, true), sorted_)
                    sort = "without the sort" if n_copies is None else f"{n_copies} copies"
                    weigh = "together" if copies else "apart"
                    rows.append((name, sort, weigh, nmi(true, model.labels_), model.n_clusters_))
    table = pd.DataFrame(rows, columns=["model", "sort at random", "weigh", "NMI", "clusters"])
    by = table.groupby(["model", "sort at random", "weigh"], sort=False)
    return by.agg(
        NMI=("NMI", "mean"), lowest=("NMI", "min"), fewest=("clusters", "min"), most=("clusters", "max")
    ).round(3)


def found(n_draws: int) -> pd.DataFrame:
    """Return how often exactly the copies are found."""
    rows = {}
    for name, make in COPIED.items():
        hits = []
        for seed in range(1, 2 * n_draws, 2):
            sorted_ = as_groupings(make(seed))
            groups = find_copies(Memberships.of(sorted_))
            hits.append(len(groups) == 1 and groups.members(0) == list(range(N_PEOPLE, sorted_.n_annotators)))
        rows[name] = (sum(hits), n_draws)
    return pd.DataFrame(rows, index=["found", "draws"]).T


def false_alarms(n_draws: int) -> pd.DataFrame:
    """Return how often independent annotators are taken for copies; (1) where they are expected to be."""
    rows = {}
    for name, make in INDEPENDENT.items():
        seeds = range(1, 2 * n_draws, 2)
        rows[name] = (sum(len(find_copies(Memberships.of(as_groupings(make(seed))))) > 0 for seed in seeds), n_draws)
    return pd.DataFrame(rows, index=["false alarms", "draws"]).T


def recorded(_: int) -> pd.DataFrame:
    """Return the number of groups that are found in recorded crowds, and how long the search takes."""
    rows = {}
    for name in (*crowds.PICTURES, *crowds.SORTS):
        sorted_ = (crowds.pictures if name in crowds.PICTURES else crowds.sorts)(name).annotations
        start = perf_counter()
        groups = find_copies(Memberships.of(sorted_))
        rows[name] = (len(groups), round(perf_counter() - start, 3))
    return pd.DataFrame(rows, index=["groups", "seconds"]).T


PARTS = {
    "clusters": (clusters, 5),
    "found": (found, 100),
    "false-alarms": (false_alarms, 100),
    "recorded": (recorded, 1),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--draws", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore", AnnotationWarning)
    part, draws = PARTS[options.part]
    print(part(options.draws or draws).to_string())
