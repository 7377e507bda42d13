"""Small crowds and features on which sentinels are taken, one for each kind of annotations.

They are written out here, and not simulated by the package, so that a change of its simulators moves no sentinel.
People see some of the items, are wrong more or less often, and one answers at random; half of them cluster by another
property than the others. Items without annotations, repeated and contradictory judgements occur.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from consilience import Groupings, Labels, Pairs
from consilience.annotations import Annotations

N_ITEMS, N_CLASSES, N_PEOPLE = 60, 4, 8
ITEMS = [f"item {i}" for i in range(N_ITEMS)]
WRONG = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.1, 0.75])  # the last answers at random
SEEN = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.7, 0.8])
N_PAIRS = 420


def classes() -> np.ndarray:
    """Return two ways of dividing the items, of shape (n_items, 2): of unequal sizes, and independent of each other."""
    return np.column_stack([np.sqrt(np.arange(N_ITEMS) * N_CLASSES**2 / N_ITEMS).astype(int), np.arange(N_ITEMS) % 3])


@cache
def features() -> pd.DataFrame:
    """Return six features: two that tell the first classes, two that tell the second, and two of noise."""
    rng = np.random.default_rng(1)
    centers = rng.normal(scale=3.0, size=(2, N_CLASSES, 2))
    first, second = classes().T
    table = np.hstack([centers[0][first], centers[1][second], np.zeros((N_ITEMS, 2))])
    return pd.DataFrame(table + rng.normal(size=table.shape), index=ITEMS, columns=[f"x{j}" for j in range(6)])


def answers(n_views: int) -> pd.DataFrame:
    """Return which class each person gave each item that they saw: item, annotator, label."""
    rng = np.random.default_rng(2)
    view = np.arange(N_PEOPLE) % n_views
    truth = classes()[:, view]
    wrong = rng.random(truth.shape) < WRONG
    given = np.where(wrong, (truth + rng.integers(1, N_CLASSES, truth.shape)) % N_CLASSES, truth)
    seen = rng.random(truth.shape) < SEEN
    seen[-3:] = False  # of whom nobody said anything
    item, person = np.nonzero(seen)
    people = np.array(list("abcdefgh"))
    return pd.DataFrame(
        {"item": np.array(ITEMS)[item], "annotator": people[person], "label": np.array(list("pqrs"))[given[seen]]}
    )


@cache
def labels() -> Labels:
    return Labels.from_frame(answers(n_views=1), items=ITEMS[:-3])


@cache
def groupings(n_views: int = 1) -> Groupings:
    """Return groupings; two people gave two each, in which some groups are joined."""
    table = answers(n_views).rename(columns={"label": "group"})
    number = table["item"].str.split().str[1].astype(int)
    table["grouping"] = np.where(table["annotator"].isin(["b", "e"]) & (number % 2 == 0), "second", "first")
    joined = table["annotator"].eq("c") & table["group"].eq("q")
    return Groupings.from_frame(table.assign(group=table["group"].mask(joined, "p")), items=ITEMS)


@cache
def pairs() -> Pairs:
    """Return judgements of pairs by people of two views, some of them repeated."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, N_ITEMS - 3, (2, N_PAIRS))
    person = rng.integers(0, N_PEOPLE, N_PAIRS)
    a, b, person = (values[a != b] for values in (a, b, person))
    truth = classes()[:, person % 2]
    places = np.arange(len(a))
    same = (truth[a, places] == truth[b, places]) ^ (rng.random(len(a)) < np.minimum(WRONG, 0.5)[person])
    table = pd.DataFrame(
        {
            "item_a": np.array(ITEMS)[a],
            "item_b": np.array(ITEMS)[b],
            "annotator": np.array(list("abcdefgh"))[person],
            "same": same,
        }
    )
    return Pairs.from_frame(pd.concat([table, table[:20].assign(same=~same[:20])]), items=ITEMS)


def crowd_of(kind: str) -> Annotations:
    """Return the annotations of a kind: "labels", "groupings" or "pairs"."""
    made: dict[str, Annotations] = {"labels": labels(), "groupings": groupings(), "pairs": pairs()}
    return made[kind]
