"""replay: strategies that choose among recorded subsets, with the recorded answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.papers.subset_parts.setting import (
    EXPLOIT,
    OURS,
    RANDOM,
    curves_of,
    draw_mean,
    fusion_of,
    needs_of,
    quotes_of_needs,
    random_tasks,
    table_of_needs,
)
from consilience import Groupings
from consilience.active import ActiveSession
from consilience.datasets import load_dogs_birds, load_orchestra
from consilience.inference.memberships import Memberships
from consilience.metrics import nmi
from consilience.simulation import ReplayAgent, present

REPLAYED = {
    "orchestra scenes": (0.2, 0.3, 0.35, 0.4),
    "orchestra imagenet": (0.2, 0.3, 0.35, 0.4, 0.45),
    "dogs3": (0.1, 0.2, 0.3),
    "birds5": (0.2, 0.3, 0.4, 0.5, 0.6),
}
N_CLUSTERS = {"orchestra scenes": 13, "orchestra imagenet": 20, "dogs3": 3, "birds5": 6}
AT_ONCE = {"orchestra scenes": 8, "orchestra imagenet": 8, "dogs3": 300, "birds5": 100}
QUERIES = {"dogs3": "radio-3", "birds5": "drag-5"}
ROUNDS, N_DRAWS = 16, 5
OF_REPLAY = (RANDOM, "explore", EXPLOIT, OURS)


def cells_of_replay() -> Iterator[Cell]:
    for draw in range(N_DRAWS):
        for name, number in N_CLUSTERS.items():
            for strategy in OF_REPLAY:
                settings = {"strategy": strategy, "at_once": AT_ONCE[name], "rounds": ROUNDS}
                yield Cell("replay", name, strategy, draw, fusion_of(number), settings)


@lru_cache(maxsize=1)
def recorded(name: str) -> tuple[Groupings, np.ndarray]:
    """Return recorded groupings and the truth."""
    if name.startswith("orchestra"):
        return random_tasks(load_orchestra(name.split()[1]))
    bunch = load_dogs_birds(name)
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["query"] == QUERIES[name]]), bunch.target


def compute_replay(cell: Cell) -> dict[str, Any]:
    """Return NMI as the strategy chooses among the recorded subsets that have answers left."""
    groupings, truth = recorded(cell.data)
    if len(np.unique(truth)) != cell.estimator.n_clusters:
        raise ValueError(f"{cell.data} has {len(np.unique(truth))} clusters.")
    start = time.process_time()
    curve = replay(groupings, truth, clone(cell.estimator), cell.draw, **cell.settings)
    return {"curve": curve, "seconds": time.process_time() - start}


def replay(
    groupings: Groupings, truth: np.ndarray, fusion: Any, seed: int, strategy: str, at_once: int, rounds: int
) -> list[list[float]]:
    """Return numbers of answers with NMI."""
    agent = ReplayAgent(groupings, random_state=seed)
    left = pd.Series([frozenset(subset) for subset in recorded_subsets(groupings)]).value_counts(sort=False)
    session = ActiveSession(groupings.items, strategy=strategy, fusion=fusion, random_state=seed)
    curve = []
    for number in range(rounds):
        pool = [sorted(subset, key=str) for subset, answers in left.items() if answers]
        subsets = session.ask(min(at_once, len(pool)), candidates=pool)
        for subset in subsets:
            left[frozenset(subset.items)] -= 1
            session.withdraw(subset)
        names = [f"answer {number}.{place}" for place in range(len(subsets))]
        answers = present(agent, [s.items for s in subsets], items=list(groupings.items), annotators=names)
        session.tell(answers)
        curve.append([session.groupings_.n_groupings, round(nmi(truth, session.consensus().labels_), 5)])
    return curve


def recorded_subsets(groupings: Groupings) -> list[list[Any]]:
    """Return the items of each grouping."""
    columns = Memberships.of(groupings).in_grouping.tocsc()
    return [
        list(groupings.items[columns.indices[a:b]]) for a, b in zip(columns.indptr[:-1], columns.indptr[1:]) if b > a
    ]


# ---- tables and quotes


def table_of_replay(record: Record) -> list[str]:
    lines = [
        "recorded groupings: median answers until NMI reaches a level, ± standard deviation (ratio to random's).",
        "Below: answers needed less those of random ± standard error, on the same draws; * more than two of these.",
        "One recording each: draws differ in the subsets that are chosen, and in the answers. A level that is not",
        "reached counts as the last number asked.",
        "",
    ]
    for name, levels in REPLAYED.items():
        lines += table_of_needs(name, needs_of(record, "replay", name, levels))
    return lines[:-1]


def draw_replay(record: Record) -> Figure:
    figure = Figure(figsize=(9, 2.7), layout="constrained")
    axes = figure.subplots(1, len(REPLAYED))
    for axis, name in zip(axes, REPLAYED):
        for strategy, curves in curves_of(record, "replay", name).items():
            draw_mean(axis, curves[:, :, 0].mean(0), curves[:, :, 1], strategy)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("answers", fontsize=8)
    axes[0].set_ylabel("NMI with the truth", fontsize=8)
    axes[0].legend(fontsize=6, frameon=False)
    return figure


def quotes_of_replay(record: Record) -> dict[str, Any]:
    needs = {name: needs_of(record, "replay", name, levels) for name, levels in REPLAYED.items()}
    every = [need for own in needs.values() for need in own]
    strategies = [name for name in OF_REPLAY if name != RANDOM]
    return {
        "draws": N_DRAWS,
        "levels": len(every),
        "all": {strategy: quotes_of_needs(every, strategy) for strategy in strategies},
        "by_data": {
            name: {strategy: quotes_of_needs(own, strategy) for strategy in strategies} for name, own in needs.items()
        },
        "slower": [
            {"data": name, "level": need.level, "ratio": need.ratio(OURS), "verdict": need.difference(OURS).verdict}
            for name, own in needs.items()
            for need in own
            if need.ratio(OURS) > 1
        ],
    }
