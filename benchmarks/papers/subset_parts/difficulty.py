"""difficulty: NMI after 500 presentations over τ, of composed subsets, random subsets, and all items at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.experiments.statistics import Difference
from benchmarks.papers.subset_parts.setting import (
    CASE_1,
    EXPLOIT,
    OURS,
    PAPERS,
    RANDOM,
    K,
    against,
    counts,
    draw_mean,
    fusion_of,
    row_of,
    spread,
    versus,
)
from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation, complete, gaussian_clusters

TAUS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
COMPLETE = "complete"
HOW = (EXPLOIT, OURS, RANDOM, COMPLETE)
N_SUBSETS, N_DRAWS = 500, 5


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


# ---- tables and quotes


FUSIONS = {"ours": "SubsetFusion()", "papers": "the paper's fusion"}


def nmi_of(record: Record, fusion: str) -> pd.DataFrame:
    """Return NMI by draw, of each τ and way of presenting."""
    return record.frame("difficulty").pivot_table(index="draw", columns=["data", "model"], values=fusion)


def gaps_of(record: Record, fusion: str, first: str, second: str = RANDOM) -> dict[float, Difference]:
    """Compare two ways of presenting on the same draws, by τ."""
    found = nmi_of(record, fusion)
    return {tau: versus(found[f"tau {tau:g}"], first, second) for tau in TAUS}


def table_of_difficulty(record: Record) -> list[str]:
    lines = [
        f"case 1, {N_SUBSETS} presentations: NMI over tau, mean ± standard deviation of {N_DRAWS} draws; below: NMI",
        "less that of random ± standard error, on the same draws; * more than two of these",
    ]
    for fusion, name in FUSIONS.items():
        found = nmi_of(record, fusion)
        lines += ["", row_of(name, (f"{tau:g}    " for tau in TAUS), 15, 20)]
        lines += [row_of(how, (spread(found[f"tau {tau:g}", how]) for tau in TAUS), 15, 20) for how in HOW]
        lines.append("")
        for how in HOW:
            if how != RANDOM:
                gaps = gaps_of(record, fusion, how)
                lines.append(row_of(how, map(against, gaps.values()), 15, 20))
    return lines


def draw_difficulty(record: Record) -> Figure:
    figure = Figure(figsize=(7.5, 3), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (fusion, name) in zip(axes, FUSIONS.items()):
        found = nmi_of(record, fusion)
        for how in HOW:
            draw_mean(axis, TAUS, np.stack([found[f"tau {tau:g}", how] for tau in TAUS], axis=1), how, 4)
        axis.set_xscale("log")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("τ", fontsize=8)
    axes[0].set_ylabel(f"NMI after {N_SUBSETS} presentations", fontsize=8)
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def quotes_of_difficulty(record: Record) -> dict[str, Any]:
    """Count the τ at which a way of presenting is ahead of random, and compare adaptive with complete at τ = 1."""
    quoted: dict[str, Any] = {"draws": N_DRAWS, "taus": len(TAUS)}
    for fusion in FUSIONS:
        gaps = {how: gaps_of(record, fusion, how) for how in HOW if how != RANDOM}
        means = nmi_of(record, fusion).mean()
        quoted[fusion] = {
            how: counts(own.values())
            | {
                verdict: [tau for tau, gap in own.items() if gap.verdict == of]
                for verdict, of in (("ahead_at", "above"), ("behind_at", "below"))
            }
            | {"larger": sum(gap.mean > 0 for gap in own.values())}
            for how, own in gaps.items()
        }
        quoted[fusion]["hard"] = {how: gaps_of(record, fusion, how, COMPLETE)[1] for how in (EXPLOIT, OURS)}
        quoted[fusion]["easy"] = gaps_of(record, fusion, RANDOM, COMPLETE)[20]
        quoted[fusion]["mean"] = {tau: means[f"tau {tau:g}"].to_dict() for tau in TAUS}
    return quoted
