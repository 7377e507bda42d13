"""difficulty: NMI after 500 presentations over τ, of composed subsets, random subsets, and all items at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from sklearn.base import clone

from benchmarks.experiments import Cell
from benchmarks.papers.subset_parts.setting import CASE_1, EXPLOIT, OURS, PAPERS, RANDOM, K, fusion_of
from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation, complete, gaussian_clusters

TAUS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
COMPLETE = "complete"
HOW = (EXPLOIT, OURS, RANDOM, COMPLETE)
N_SUBSETS, N_DRAWS = 500, 10


def cells_of_difficulty() -> Iterator[Cell]:
    for draw in range(N_DRAWS):
        for tau in TAUS:
            for how in HOW:
                settings = {"tau": tau, "n_subsets": N_SUBSETS}
                yield Cell("difficulty", f"tau {tau:g}", how, draw, SubsetFusion(K), settings)


def compute_difficulty(cell: Cell) -> dict[str, Any]:
    """Return NMI after all presentations, of our fusion and of the paper's."""
    start = time.process_time()
    tau, n_subsets, seed = cell.settings["tau"], cell.settings["n_subsets"], cell.draw
    data = gaussian_clusters(CASE_1["n_items"], n_clusters=K, separation=tau, random_state=seed)
    n_groups = (8, 12) if cell.model == COMPLETE else CASE_1["n_groups"]
    agents = ClusteringPopulation(data.data, n_groups=n_groups, random_state=seed)
    items = list(data.data.index)
    if cell.model == COMPLETE:
        groupings = complete(agents, items, n_subsets)
    else:
        session = ActiveSession(items, strategy=cell.model, fusion=clone(cell.estimator), random_state=seed)
        for _ in range(n_subsets):
            subset = session.ask(1, CASE_1["size"])[0]
            session.tell(agents(subset.items), subset=subset)
        groupings = session.groupings_
    fusions = {"ours": fusion_of(K), "papers": fusion_of(K, **PAPERS)}
    found = {name: nmi(data.target, fusion.fit_predict(groupings)) for name, fusion in fusions.items()}
    return found | {"seconds": time.process_time() - start}
