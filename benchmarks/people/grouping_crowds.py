"""The crowds of the pages on groupings and on pairs: recorded and simulated ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from benchmarks.people.held_out import Crowd
from consilience import Groupings, Pairs
from consilience.datasets import (
    load_cardsort_animals,
    load_cardsort_greek_sites,
    load_dogs_birds,
    load_free_sort,
    load_mnist_crowd,
    load_orchestra,
)
from consilience.simulation import simulate_crowd, simulate_pairs

PICTURES = ("mnist-crowd", "scenes", "imagenet", "dogs3", "birds5")
CARD_SORTS = ("animals", "celestino", "skroutz")
FREE_SORTS = (
    "accents45_geller",
    "amari12_lahne2018",
    "aroma16_courcoux2014",
    "beers8_abdi2007",
    "beers9_lelievre2009_EV",
    "beers9_lelievre2009_EBr1",
    "beers9_lelievre2009_EBr2",
    "beers9_lelievre2009_EBr3",
    "beers9_lelievre2009_EBr4",
    "cards16_children_hierarchical",
    "kinship15_rosenberg1975",
    "orange_juice10",
    "perfume12_sensominer",
    "smoothies8_sensominer",
    "spices16_french",
    "wines18_free_experts",
    "wines18_ternary_experts",
)
SORTS = (*CARD_SORTS, *FREE_SORTS)
MOST_WORKERS = 1000  # of dogs3 and birds5
OF_TWO = ("radio-2", "radio-2-pilot", "drag-2")  # the questions of dogs3 and birds5 about two pictures

N_ITEMS, N_CLASSES = 60, 5
ITEMS_EACH = 15  # of those who see subsets
ACCURACY = (0.6, 0.95)  # of those who do not group at random
MERGE = 0.3
LARGEST = 0.5  # share of the largest class, where classes are unbalanced
AT_RANDOM = 8  # one person in so many

N_SMALL = 200  # small clusters
LARGEST_SMALL = 5  # items of them; each size is as frequent
OTHER_PAIRS = 3200  # pairs of items of two small clusters that are judged
N_JUDGES = 24
ACCURACY_SMALL = (0.85, 0.99)


@cache
def pictures(name: str) -> Crowd:
    """Return groupings of subsets of pictures whose class is known."""
    if name == "mnist-crowd":
        bunch = load_mnist_crowd()
    elif name in ("scenes", "imagenet"):
        bunch = load_orchestra(name)
    else:
        bunch = load_dogs_birds(name)
        return Crowd(some_people(bunch.annotations, bunch.annotations.annotators), bunch.target)
    return Crowd(bunch.annotations, bunch.target)


@cache
def sorts(name: str) -> Crowd:
    """Return groupings of all items by everybody."""
    if name == "animals":
        return Crowd(load_cardsort_animals().annotations)
    if name in CARD_SORTS:
        return Crowd(load_cardsort_greek_sites(name).annotations)
    return Crowd(load_free_sort(name).annotations)


@cache
def recorded_pairs(name: str) -> Crowd:
    """Return the answers about two pictures whose class is known."""
    bunch = load_dogs_birds(name)
    query = bunch.annotator_info["query"]
    chosen = some_people(bunch.annotations, bunch.annotations.annotators[query.isin(OF_TWO).to_numpy()])
    return Crowd(chosen.to_pairs(), bunch.target)


def some_people(groupings: Groupings, annotators: np.ndarray) -> Groupings:
    """Return the groupings of `MOST_WORKERS` random people, or of all if they are fewer."""
    size = min(MOST_WORKERS, len(annotators))
    chosen = np.sort(np.random.default_rng(0).choice(len(annotators), size, replace=False))
    return groupings.restrict(annotators=annotators[chosen])


@dataclass(frozen=True)
class Kind:
    """A kind of simulated crowd of people who group."""

    sees_all: bool
    n_people: int
    is_merged: bool
    is_balanced: bool

    @property
    def name(self) -> str:
        seen = "all items" if self.sees_all else "subsets"
        merged = "merged" if self.is_merged else "separate"
        return f"{seen}, {self.n_people} people, {merged}, {'balanced' if self.is_balanced else 'unbalanced'}"


@dataclass(frozen=True)
class KindOfPairs:
    """A kind of simulated crowd of people who judge pairs."""

    n_people: int
    each: int
    is_balanced: bool

    @property
    def name(self) -> str:
        return f"{self.n_people} people, {self.each} pairs each, {'balanced' if self.is_balanced else 'unbalanced'}"


SIMULATED = {
    kind.name: kind
    for sees_all in (True, False)
    for n_people in (16, 64)
    for is_merged in (False, True)
    for is_balanced in (True, False)
    for kind in [Kind(sees_all, n_people, is_merged, is_balanced)]
}
SIMULATED_PAIRS = {
    kind.name: kind
    for n_people in (16, 64)
    for each in (50, 200)
    for is_balanced in (True, False)
    for kind in [KindOfPairs(n_people, each, is_balanced)]
}


SMALL = {f"{N_SMALL} small clusters, {each} people a pair": each for each in (2, 5)}


def simulated(name: str, draw: int) -> Crowd:
    """Return a simulated crowd, in which the first people group at random."""
    kind = SIMULATED[name]
    rng = np.random.default_rng([draw, *map(int, (kind.sees_all, kind.n_people, kind.is_merged, kind.is_balanced))])
    truth = rng.permutation(classes(kind.is_balanced))
    crowd = simulate_crowd(
        truth,
        n_annotators=kind.n_people,
        items_each=N_ITEMS if kind.sees_all else ITEMS_EACH,
        accuracy=rng.uniform(*ACCURACY, kind.n_people),
        merge=MERGE if kind.is_merged else 0.0,
        random_state=rng,
    )
    return Crowd(shuffled(crowd, crowd.annotators[: kind.n_people // AT_RANDOM], rng), truth)


def simulated_pairs(name: str, draw: int) -> Crowd:
    """Return simulated judgements of random pairs, in which the first people judge at random."""
    kind = SIMULATED_PAIRS[name]
    rng = np.random.default_rng([draw, kind.n_people, kind.each, kind.is_balanced])
    truth = rng.permutation(classes(kind.is_balanced))
    accuracy = rng.uniform(*ACCURACY, kind.n_people)
    accuracy[: kind.n_people // AT_RANDOM] = 0.5
    pairs = simulate_pairs(truth, kind.n_people, kind.each, accuracy, balanced=False, random_state=rng)
    return Crowd(pairs, truth)


def small_clusters(name: str, draw: int) -> Crowd:
    """Return simulated judgements of all pairs within small clusters and of some others, by some people each."""
    each = SMALL[name]
    rng = np.random.default_rng([draw, each])
    sizes = 1 + np.arange(N_SMALL) % LARGEST_SMALL
    truth = rng.permutation(np.repeat(np.arange(N_SMALL), sizes))
    pairs = np.column_stack(np.triu_indices(len(truth), 1))
    within = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    others = rng.choice(np.flatnonzero(~within), OTHER_PAIRS, replace=False)
    judged = np.sort(np.concatenate([np.flatnonzero(within), others]))
    accuracy = rng.uniform(*ACCURACY_SMALL, N_JUDGES)
    accuracy[: N_JUDGES // AT_RANDOM] = 0.5
    person = rng.permuted(np.tile(np.arange(N_JUDGES), (len(judged), 1)), axis=1)[:, :each].ravel()
    row = np.repeat(judged, each)
    frame = pd.DataFrame(
        {
            "item_a": pairs[row, 0],
            "item_b": pairs[row, 1],
            "annotator": person,
            "same": within[row] ^ (rng.random(len(row)) >= accuracy[person]),
        }
    )
    return Crowd(Pairs.from_frame(frame, items=range(len(truth))), truth)


def classes(is_balanced: bool) -> np.ndarray:
    """Return the classes of the items: as many of each, or half of the first and as many of each of the others."""
    if is_balanced:
        return np.arange(N_ITEMS) % N_CLASSES
    n_others = N_ITEMS - round(LARGEST * N_ITEMS)
    return np.concatenate([np.zeros(N_ITEMS - n_others, dtype=int), 1 + np.arange(n_others) % (N_CLASSES - 1)])


def shuffled(groupings: Groupings, annotators: np.ndarray, rng: np.random.Generator) -> Groupings:
    """Return groupings in which some people's groups have the same sizes but random items."""
    frame = groupings.to_frame()
    for annotator in annotators:
        rows = np.flatnonzero(frame["annotator"] == annotator)
        frame.iloc[rows, frame.columns.get_loc("group")] = rng.permutation(frame["group"].to_numpy()[rows])
    return Groupings.from_frame(frame, items=groupings.items)
