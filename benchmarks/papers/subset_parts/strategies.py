"""strategies, large, rates: NMI and stability as subsets are presented, by strategy, case, and number at once."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from subset_parts.setting import CASE_1, CASE_2, ORACLE, OURS, STRATEGIES, K, everywhere, look_of

from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.inspection.plots.style import tidy
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present

LEVELS = {2: (0.3, 0.35, 0.4), 5: (0.5, 0.6, 0.7, 0.8, 0.9), 10: (0.5, 0.6, 0.7, 0.8, 0.9)}
SUBSETS = {2: 200, 5: 300, 10: 160}


def ask_and_tell(
    strategy: str, case: dict[str, Any], tau: float, seed: int, n_subsets: int, every: int, rate: int = 1
) -> list[list[float]]:
    """Return NMI with the truth and stability at regular numbers of subsets."""
    data = gaussian_clusters(case["n_items"], n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=case["n_groups"], random_state=seed)
    items = list(data.data.index)
    session = ActiveSession(
        items,
        strategy="random" if strategy == ORACLE else strategy,
        fusion=SubsetFusion(K, random_state=0),
        random_state=seed,
    )
    rng = np.random.default_rng(seed)
    curve = []
    for asked in range(rate, n_subsets + 1, rate):
        if strategy == ORACLE:
            subsets = [two_of_each_of_four(items, data.target, rng) for _ in range(rate)]
        else:
            subsets = [subset.items for subset in session.ask(rate, case["size"])]
            for subset in session.pending_:
                session.withdraw(subset)
        names = [f"answer {asked - rate + number}" for number in range(rate)]
        session.tell(present(agents, subsets, items=items, annotators=names))
        if asked % every < rate:
            labels = session.consensus().labels_
            curve.append([asked, nmi(data.target, labels), session.stability_["stability"].iloc[-1]])
    return curve


def two_of_each_of_four(items: list[Any], classes: np.ndarray, rng: np.random.Generator) -> list[Any]:
    """Return two random items of each of four random clusters."""
    chosen = [rng.choice(np.flatnonzero(classes == k), 2, replace=False) for k in rng.choice(K, 4, replace=False)]
    return [items[place] for place in np.concatenate(chosen)]


def compute_strategies(arguments: argparse.Namespace) -> Any:
    tasks = []
    for tau, strategy in product(SUBSETS, (*STRATEGIES, ORACLE)):
        n_runs = arguments.draws if strategy in ("random", OURS) else arguments.runs
        tasks += [(strategy, CASE_1, tau, 100 + seed, SUBSETS[tau], 20) for seed in range(n_runs)]
    curves = everywhere(ask_and_tell, tasks, arguments.jobs)
    return [[task[2], task[0], curve] for task, curve in zip(tasks, curves)]


def needed(curve: np.ndarray, level: float) -> float:
    """Return the number of subsets at which NMI first reaches a level, interpolated; infinite if it does not."""
    reached = np.flatnonzero(curve[:, 1] >= level)
    if not len(reached):
        return np.inf
    place = reached[0]
    before = curve[place - 1, :2] if place else np.zeros(2)
    return float(np.interp(level, [before[1], curve[place, 1]], [before[0], curve[place, 0]]))


def medians(curves: list[np.ndarray], levels: Iterable[float]) -> list[float]:
    return [float(np.median([needed(curve, level) for curve in curves])) for level in levels]


def show_strategies(results: Any) -> tuple[list[str], Figure]:
    lines, figure = [], Figure(figsize=(9, 5.6), layout="constrained")
    axes = figure.subplots(2, len(SUBSETS), sharex="col")
    for column, (tau, levels) in enumerate(LEVELS.items()):
        found = by_strategy(results, tau)
        reference = medians(found["random"], levels)
        lines += [f"case 1, tau {tau}: median subsets until NMI reaches a level, and their ratio to random's", ""]
        lines.append(" " * 28 + "".join(f"{level:>14.2f}" for level in levels) + "   draws")
        for strategy, curves in found.items():
            numbers = medians(curves, levels)
            cells = [
                f"{number:7.0f} ({number / other:.2f})" if np.isfinite([number, other]).all() else f"{number:14.0f}"
                for number, other in zip(numbers, reference)
            ]
            lines.append(f"    {strategy:24s}" + "".join(f"{cell:>14s}" for cell in cells) + f"   {len(curves)}")
        lines.append("")
        draw_curves(axes[:, column], found, f"τ = {tau}")
    label(axes)
    return lines, figure


def by_strategy(results: Any, tau: float) -> dict[str, list[np.ndarray]]:
    found: dict[str, list[np.ndarray]] = {}
    for this, strategy, curve in results:
        if this == tau:
            found.setdefault(strategy, []).append(np.array(curve, dtype=float))
    return found


def draw_curves(axes: Any, found: dict[str, list[np.ndarray]], title: str) -> None:
    """Draw mean NMI above, mean stability below."""
    for strategy, curves in found.items():
        mean = np.nanmean(np.stack(curves)[:, 1:], axis=0)
        for row, axis in enumerate(axes):
            axis.plot(mean[:, 0], mean[:, 1 + row], **look_of(strategy), ms=3, lw=1, label=strategy)
            axis.set_ylim(0, 1)
            tidy(axis)
    axes[0].set_title(title, fontsize=9)
    axes[-1].set_xlabel("subsets", fontsize=8)


def label(axes: Any) -> None:
    axes[0, 0].set_ylabel("NMI with the truth", fontsize=8)
    axes[1, 0].set_ylabel("stability", fontsize=8)
    axes[0, -1].legend(fontsize=6, frameon=False, loc="lower right")


def compute_large(arguments: argparse.Namespace) -> Any:
    strategies = [s for s in STRATEGIES if s != "exploit-one-vs-rest"]
    tasks = [
        (strategy, CASE_2, tau, seed, 100, 10)
        for tau, strategy, seed in product((2, 5), strategies, range(arguments.runs))
    ]
    curves = everywhere(ask_and_tell, tasks, arguments.jobs)
    return [[task[2], task[0], curve] for task, curve in zip(tasks, curves)]


def show_large(results: Any) -> tuple[list[str], Figure]:
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    lines = []
    for column, tau in enumerate((2, 5)):
        found = by_strategy(results, tau)
        n_runs = len(found["random"])
        lines += [
            f"case 2, tau {tau}: mean NMI after 20, 40, 60, 80, 100 subsets ({n_runs} draws); ± its standard error",
            "",
        ]
        for strategy, curves in found.items():
            values = np.stack(curves)[:, 1::2, 1]
            error = values.std(0, ddof=1)[-1] / np.sqrt(n_runs) if n_runs > 1 else np.nan
            lines.append(f"    {strategy:20s}" + "".join(f"{v:7.3f}" for v in values.mean(0)) + f"  ± {error:.3f}")
        lines.append("")
        draw_curves(axes[:, column], found, f"case 2, τ = {tau}")
    label(axes)
    return lines, figure


def compute_rates(arguments: argparse.Namespace) -> Any:
    tasks = [
        (strategy, CASE_2, tau, seed, 96, 96, rate)
        for rate, tau, strategy, seed in product(
            (1, 2, 4, 8), (1, 5), ("random", "exploit-pairwise", OURS), range(arguments.runs)
        )
    ]
    ends = everywhere(ask_and_tell, tasks, arguments.jobs)
    return [[task[6], task[2], task[0], curve[-1][1]] for task, curve in zip(tasks, ends)]


def show_rates(results: Any) -> tuple[list[str], Figure]:
    frame = pd.DataFrame(results, columns=["rate", "tau", "strategy", "nmi"])
    mean = frame.groupby(["tau", "strategy", "rate"], sort=False)["nmi"].mean().unstack("rate")  # noqa: PD010
    n_runs = frame.groupby(["tau", "strategy", "rate"]).size().max()
    lines = [f"case 2, 96 subsets: mean NMI by the number of subsets asked at once ({n_runs} draws)", ""]
    lines.append(" " * 30 + "".join(f"{rate:>8d}" for rate in mean.columns))
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = dict(zip((1, 5), figure.subplots(1, 2, sharey=False)))
    for (tau, strategy), values in mean.iterrows():
        lines.append(f"    tau {tau}  {strategy:18s}" + "".join(f"{value:8.3f}" for value in values))
        axes[tau].plot(mean.columns, values, **look_of(strategy), ms=4, lw=1, label=strategy)
        axes[tau].set_title(f"τ = {tau}", fontsize=9)
        axes[tau].set_xlabel("subsets asked at once", fontsize=8)
        axes[tau].set_xticks(list(mean.columns))
        tidy(axes[tau])
    for axis in axes.values():
        axis.set_ylim(0, None)
    axes[1].set_ylabel("NMI after 96 subsets", fontsize=8)
    axes[5].legend(fontsize=7, frameon=False)
    return lines, figure
