"""strategies, large, rates: NMI and stability as subsets are presented, by strategy, case, and number at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.experiments import Cell
from benchmarks.papers.subset_parts.setting import (
    CASE_1,
    CASE_2,
    EXPLOIT,
    ORACLE,
    OURS,
    PAPERS,
    RANDOM,
    STRATEGIES,
    K,
    fusion_of,
)
from consilience import Groupings
from consilience.active import ActiveSession
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present

LEVELS = {2: (0.3, 0.35, 0.4), 5: (0.5, 0.6, 0.7, 0.8, 0.9), 10: (0.5, 0.6, 0.7, 0.8, 0.9)}
SUBSETS = {2: 200, 5: 300, 10: 160}
CASES = {1: CASE_1, 2: CASE_2}
N_DRAWS = {RANDOM: 20, OURS: 20}
N_OTHERS, N_LARGE = 10, 10  # draws of the other strategies in case 1, and of all in case 2
OF_CASE_2 = tuple(name for name in STRATEGIES if name != "exploit-one-vs-rest")
TAUS_OF_RATES, RATES = (1, 5), (1, 2, 4, 8)
OF_RATES = (RANDOM, EXPLOIT, OURS)


def cells_of_strategies() -> Iterator[Cell]:
    for draw in range(max(N_DRAWS.values())):
        for tau, n_subsets in SUBSETS.items():
            for strategy in (*STRATEGIES, ORACLE):
                if draw < N_DRAWS.get(strategy, N_OTHERS):
                    yield cell_of("strategies", f"tau {tau}", strategy, draw, 1, tau, 100 + draw, n_subsets, 20)


def cells_of_large() -> Iterator[Cell]:
    for draw in range(N_LARGE):
        for tau in (2, 5):
            for strategy in OF_CASE_2:
                yield cell_of("large", f"tau {tau}", strategy, draw, 2, tau, draw, 100, 10)


def cells_of_rates() -> Iterator[Cell]:
    for draw in range(N_LARGE):
        for rate in RATES:
            for tau in TAUS_OF_RATES:
                for strategy in OF_RATES:
                    yield cell_of("rates", f"tau {tau}, {rate} at once", strategy, draw, 2, tau, draw, 96, 96, rate)


def cell_of(
    part: str, data: str, strategy: str, draw: int, case: int, tau: float, seed: int, n: int, every: int, rate: int = 1
) -> Cell:
    names = ("strategy", "case", "tau", "seed", "n_subsets", "every", "rate")
    settings = dict(zip(names, (strategy, case, tau, seed, n, every, rate)))
    return Cell(part, data, strategy, draw, fusion_of(K), settings)


def compute_curve(cell: Cell) -> dict[str, Any]:
    """Return NMI with the truth and stability at regular numbers of subsets."""
    start = time.process_time()
    curve = ask_and_tell(clone(cell.estimator), **cell.settings)[0]
    return {"curve": curve, "seconds": time.process_time() - start}


def compute_rates(cell: Cell) -> dict[str, Any]:
    """Return NMI at the end, of our fusion and of the paper's on the same groupings."""
    start = time.process_time()
    curve, groupings, truth = ask_and_tell(clone(cell.estimator), **cell.settings)
    papers = nmi(truth, fusion_of(K, **PAPERS).fit_predict(groupings))
    return {"nmi": curve[-1][1], "papers": papers, "seconds": time.process_time() - start}


def ask_and_tell(
    fusion: Any, strategy: str, case: int, tau: float, seed: int, n_subsets: int, every: int, rate: int
) -> tuple[list[list[Any]], Groupings, np.ndarray]:
    """Return numbers of subsets with NMI and stability; the groupings at the end; the truth."""
    setting = CASES[case]
    data = gaussian_clusters(setting["n_items"], n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=setting["n_groups"], random_state=seed)
    items = list(data.data.index)
    known = RANDOM if strategy == ORACLE else strategy
    session = ActiveSession(items, strategy=known, fusion=fusion, random_state=seed)
    rng = np.random.default_rng(seed)
    curve = []
    for asked in range(rate, n_subsets + 1, rate):
        if strategy == ORACLE:
            subsets = [two_of_each_of_four(items, data.target, rng) for _ in range(rate)]
        else:
            subsets = [subset.items for subset in session.ask(rate, setting["size"])]
            for subset in session.pending_:
                session.withdraw(subset)
        names = [f"answer {asked - rate + number}" for number in range(rate)]
        session.tell(present(agents, subsets, items=items, annotators=names))
        if asked % every < rate:
            labels = session.consensus().labels_
            stability = float(session.stability_["stability"].iloc[-1])
            found = None if np.isnan(stability) else round(stability, 5)
            curve.append([asked, round(nmi(data.target, labels), 5), found])
    return curve, session.groupings_, data.target


def two_of_each_of_four(items: list[Any], classes: np.ndarray, rng: np.random.Generator) -> list[Any]:
    """Return two random items of each of four random clusters."""
    chosen = [rng.choice(np.flatnonzero(classes == k), 2, replace=False) for k in rng.choice(K, 4, replace=False)]
    return [items[place] for place in np.concatenate(chosen)]
