"""strategies, large, rates: NMI and stability as subsets are presented, by strategy, case, and number at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.experiments.statistics import paired
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
    against,
    counts,
    curves_of,
    draw_mean,
    fusion_of,
    needs_of,
    quotes_of_needs,
    row_of,
    spread,
    table_of_needs,
)
from consilience import Groupings
from consilience.active import ActiveSession
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present

LEVELS = {2: (0.3, 0.35, 0.4), 5: (0.5, 0.6, 0.7, 0.8, 0.9), 10: (0.5, 0.6, 0.7, 0.8, 0.9)}
SUBSETS = {2: 200, 5: 300, 10: 160}
CASES = {1: CASE_1, 2: CASE_2}
N_DRAWS, N_LARGE, N_RATES = 5, 5, 5  # of the strategies in case 1, in case 2, and of subsets at once
OF_CASE_2 = tuple(name for name in STRATEGIES if name != "exploit-one-vs-rest")
TAUS_OF_LARGE = (2, 5)
TAUS_OF_RATES, RATES = (1, 5), (1, 2, 4, 8)
OF_RATES = (RANDOM, EXPLOIT, OURS)


def cells_of_strategies() -> Iterator[Cell]:
    for draw in range(N_DRAWS):
        for tau, n_subsets in SUBSETS.items():
            for strategy in (*STRATEGIES, ORACLE):
                yield cell_of("strategies", f"tau {tau}", strategy, draw, 1, tau, 100 + draw, n_subsets, 20)


def cells_of_large() -> Iterator[Cell]:
    for draw in range(N_LARGE):
        for tau in TAUS_OF_LARGE:
            for strategy in OF_CASE_2:
                yield cell_of("large", f"tau {tau}", strategy, draw, 2, tau, draw, 100, 10)


def cells_of_rates() -> Iterator[Cell]:
    for draw in range(N_RATES):
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


# ---- case 1


def table_of_strategies(record: Record) -> list[str]:
    lines = [
        "case 1: median subsets until NMI reaches a level, ± standard deviation (ratio to random's on the same",
        "draws). Below: subsets needed less those of random ± standard error, on the same draws; * more than two of",
        "these. In standard deviations and differences, a level that is not reached counts as the last number asked.",
        "",
    ]
    for tau, levels in LEVELS.items():
        needs = needs_of(record, "strategies", f"tau {tau}", levels)
        lines += table_of_needs(f"case 1, tau {tau}, {SUBSETS[tau]} subsets", needs)
    lines += ["case 1: NMI at the end, and stability there (NMI with the consensus 20 subsets before): mean ± sd", ""]
    lines.append(row_of("", (f"tau {tau}, {SUBSETS[tau]} subsets  " for tau in LEVELS), 30))
    ends = {tau: curves_of(record, "strategies", f"tau {tau}") for tau in LEVELS}
    for name in ends[2]:
        cells = (f"{spread(ends[tau][name][:, -1, 1])}   {spread(ends[tau][name][:, -1, 2])}" for tau in LEVELS)
        lines.append(row_of(name, cells, 30))
    return lines


def draw_strategies(record: Record) -> Figure:
    figure = Figure(figsize=(9, 5.6), layout="constrained")
    axes = figure.subplots(2, len(SUBSETS), sharex="col")
    for column, tau in enumerate(LEVELS):
        draw_curves(axes[:, column], curves_of(record, "strategies", f"tau {tau}"), f"τ = {tau}")
    label(axes)
    return figure


def draw_curves(axes: Any, found: dict[str, np.ndarray], title: str) -> None:
    """Draw NMI above, stability below."""
    for strategy, curves in found.items():
        for measure, axis in enumerate(axes, start=1):
            known = slice(measure - 1, None)  # the first consensus has no stability
            draw_mean(axis, curves[0, known, 0], curves[:, known, measure], strategy)
            axis.set_ylim(0, 1)
    axes[0].set_title(title, fontsize=9)
    axes[-1].set_xlabel("subsets", fontsize=8)


def label(axes: Any) -> None:
    axes[0, 0].set_ylabel("NMI with the truth", fontsize=8)
    axes[1, 0].set_ylabel("stability", fontsize=8)
    axes[0, -1].legend(fontsize=6, frameon=False, loc="lower right")


def quotes_of_strategies(record: Record) -> dict[str, Any]:
    needs = {tau: needs_of(record, "strategies", f"tau {tau}", levels) for tau, levels in LEVELS.items()}
    every = [need for own in needs.values() for need in own]
    stability = {
        tau: {name: own[:, -1, 2].mean() for name, own in curves_of(record, "strategies", f"tau {tau}").items()}
        for tau in LEVELS
    }
    return {
        "levels": len(every),
        "draws": N_DRAWS,
        "all": {name: quotes_of_needs(every, name) for name in every[0].table if name != RANDOM},
        "by_tau": {
            tau: {name: quotes_of_needs(own, name) for name in own[0].table if name != RANDOM}
            for tau, own in needs.items()
        },
        "stability": stability,
    }


# ---- case 2


def table_of_large(record: Record) -> list[str]:
    lines = [
        f"case 2: NMI by the number of subsets, mean ± sd of {N_LARGE} draws, and stability at the end;",
        "below: NMI less that of random ± standard error, on the same draws; * more than two of these",
    ]
    for tau in TAUS_OF_LARGE:
        found = curves_of(record, "large", f"tau {tau}")
        places = found[RANDOM][0, 1::2, 0]
        lines += ["", row_of(f"tau {tau}", [*(f"{place:.0f}    " for place in places), "stability  "], 17)]
        for name, own in found.items():
            cells = [spread(own[:, place, 1]) for place in range(1, own.shape[1], 2)]
            lines.append(row_of(name, [*cells, spread(own[:, -1, 2])], 17))
        lines.append("")
        for name, own in found.items():
            if name != RANDOM:
                gaps = (paired(own[:, place, 1], found[RANDOM][:, place, 1]) for place in range(1, own.shape[1], 2))
                lines.append(row_of(name, map(against, gaps), 17))
    return lines


def draw_large(record: Record) -> Figure:
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    for column, tau in enumerate(TAUS_OF_LARGE):
        draw_curves(axes[:, column], curves_of(record, "large", f"tau {tau}"), f"case 2, τ = {tau}")
    label(axes)
    return figure


def quotes_of_large(record: Record) -> dict[str, Any]:
    """Count the numbers of subsets at which strategies are ahead of random, and compare the ends."""
    quoted: dict[str, Any] = {"draws": N_LARGE}
    for tau in TAUS_OF_LARGE:
        found = curves_of(record, "large", f"tau {tau}")
        gaps = {
            name: [paired(own[:, place, 1], found[RANDOM][:, place, 1]) for place in range(own.shape[1])]
            for name, own in found.items()
            if name != RANDOM
        }
        ends = {name: own[:, -1, 1] for name, own in found.items()}
        places = found[RANDOM][0, :, 0].astype(int)
        quoted[f"tau{tau}"] = {
            "behind_at": {
                name: [int(place) for place, gap in zip(places, own) if gap.verdict == "below"]
                for name, own in gaps.items()
            },
            "end": {name: own.mean() for name, own in ends.items()},
            "ends": {name: own[-1] for name, own in gaps.items()},
            "end_counts": counts(own[-1] for own in gaps.values()),
            "exploit": {name: paired(ends[EXPLOIT], own) for name, own in ends.items() if name not in (EXPLOIT, OURS)},
            "stability": {name: own[:, -1, 2].mean() for name, own in found.items()},
        }
    compared = [gap for tau in TAUS_OF_LARGE for gap in quoted[f"tau{tau}"]["exploit"].values()]
    return quoted | {"exploit": counts(compared)}


# ---- subsets at once


def rates_of(record: Record, tau: int, measure: str = "nmi") -> pd.DataFrame:
    """Return NMI by draw, strategy and number of subsets at once."""
    rows = record.frame("rates")
    rows = rows[rows["data"].str.startswith(f"tau {tau},")]
    rate = rows["data"].str.extract(r", (\d) at once")[0].astype(int)
    return rows.assign(rate=rate).pivot_table(index="draw", columns=["model", "rate"], values=measure)


def table_of_rates(record: Record) -> list[str]:
    lines = [
        f"case 2, 96 subsets: NMI by the number of subsets asked at once: mean ± standard deviation, {N_RATES} draws;",
        "last: 8 less 1 at once ± standard error; below: NMI less that of random ± standard error, on the same draws;",
        "* more than two of these",
    ]
    for measure, fusion in (("nmi", "SubsetFusion()"), ("papers", "the paper's fusion of the same groupings")):
        for tau in TAUS_OF_RATES:
            found = rates_of(record, tau, measure)
            heads = [*(f"{rate}    " for rate in RATES), "8 less 1   "]
            lines += ["", row_of(f"tau {tau}, {fusion}", heads, 17, 48)]
            for name in OF_RATES:
                change = paired(found[name, RATES[-1]], found[name, RATES[0]])
                cells = [spread(found[name, rate]) for rate in RATES]
                lines.append(row_of(name, [*cells, against(change)], 17, 48))
            lines.append("")
            for name in OF_RATES[1:]:
                gaps = (paired(found[name, rate], found[RANDOM, rate]) for rate in RATES)
                lines.append(row_of(name, map(against, gaps), 17, 48))
    return lines


def draw_rates(record: Record) -> Figure:
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots(1, len(TAUS_OF_RATES), sharey=False)
    for axis, tau in zip(axes, TAUS_OF_RATES):
        found = rates_of(record, tau)
        for name in OF_RATES:
            draw_mean(axis, RATES, found[name][list(RATES)].to_numpy(), name, 4)
        axis.set_title(f"τ = {tau}", fontsize=9)
        axis.set_xlabel("subsets asked at once", fontsize=8)
        axis.set_xticks(RATES)
        axis.set_ylim(0, None)
    axes[0].set_ylabel("NMI after 96 subsets", fontsize=8)
    axes[-1].legend(fontsize=7, frameon=False)
    return figure


def changes_with_rate(tables: Iterable[pd.DataFrame]) -> dict[str, Any]:
    """Compare eight subsets at once with one, for strategies that learn from the answers."""
    changes = [
        paired(found[name, RATES[-1]], found[name, RATES[0]]) for found in tables for name in OF_RATES if name != RANDOM
    ]
    return counts(changes) | {"largest": max(changes, key=lambda change: abs(change.mean))}


def quotes_of_rates(record: Record) -> dict[str, Any]:
    """Compare eight subsets at once with one, and collect the figures at τ = 1."""
    found = {fusion: [rates_of(record, tau, fusion) for tau in TAUS_OF_RATES] for fusion in ("nmi", "papers")}
    hard = {fusion: tables[TAUS_OF_RATES.index(1)] for fusion, tables in found.items()}
    return {
        "draws": N_RATES,
        "changes": {fusion: changes_with_rate(tables) for fusion, tables in found.items()},
        "hard": {fusion: {rate: table[EXPLOIT, rate].mean() for rate in RATES} for fusion, table in hard.items()},
        "most": max(float(table.to_numpy().max()) for table in hard.values()),
    }
