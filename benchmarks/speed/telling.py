"""Cost of adding an answer to a session, as answers accumulate.

Subsets of 8 items out of 300 are answered one after the other by people who sort them without error into 6 clusters.
Medians of the processor time over the answers since the line before: of `tell`, of `ask` by the strategy "random" for a
named annotator, and of `ask` by the strategy "explore" for nobody in particular.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.experiments import Cell
from benchmarks.speed.measuring import busy_machine
from consilience.active import ActiveSession
from consilience.inference.threads import one_blas_thread

N_CLUSTERS, SIZE = 6, 8


def cells_of_telling() -> Iterator[Cell]:
    sizes = {"n_items": 300, "answers": 1450, "every": 290}
    yield Cell("telling", f"300 items, subsets of {SIZE}", "ActiveSession", 0, settings=sizes)


def compute_telling(cell: Cell) -> dict[str, Any]:
    """Return medians of processor milliseconds, and how many answers had been given at the end of each stretch."""
    names = [f"item {i}" for i in range(cell.settings["n_items"])]
    cluster = dict(zip(names, np.random.default_rng(0).integers(N_CLUSTERS, size=len(names)).tolist()))
    named, anyone = (ActiveSession(names, strategy=strategy, random_state=0) for strategy in ("random", "explore"))
    with one_blas_thread():
        spent = [one_more(named, anyone, cluster) for _ in range(cell.settings["answers"])]
    every = cell.settings["every"]
    medians = 1e3 * np.median(np.reshape(spent, (-1, every, 3)), axis=1)
    tell, ask_named, ask = medians.T.tolist()
    answers = [every * (number + 1) for number in range(len(medians))]
    return {"answers": answers, "tell": tell, "ask_named": ask_named, "ask": ask} | busy_machine()


def one_more(named: ActiveSession, anyone: ActiveSession, cluster: dict[str, int]) -> tuple[float, float, float]:
    """Return processor seconds of adding an answer by a new annotator, and of composing subsets."""
    begun = time.process_time()
    (subset,) = anyone.ask(1, SIZE)
    asked = time.process_time()
    answer = {item: cluster[item] for item in subset.items}
    told = time.process_time()
    anyone.tell(answer, subset=subset)
    after = time.process_time()
    named.tell(answer)
    again = time.process_time()
    (of_ann,) = named.ask(1, SIZE, annotators=["Ann"])
    ended = time.process_time()
    named.withdraw(of_ann)
    return after - told, ended - again, asked - begun
