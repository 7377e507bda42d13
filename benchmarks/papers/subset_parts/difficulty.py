"""difficulty: NMI after 500 presentations over τ, of composed subsets, random subsets, and all items at once."""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from subset_parts.fusions import fuse
from subset_parts.setting import CASE_1, OURS, K, everywhere, look_of

from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.inspection.plots.style import tidy
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation, complete, gaussian_clusters

TAUS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


def compute_difficulty(arguments: argparse.Namespace) -> Any:
    tasks = [
        (how, tau, seed)
        for tau, how, seed in product(TAUS, ("exploit-pairwise", OURS, "random", "complete"), range(arguments.runs))
    ]
    return [[how, tau, found] for (how, tau, _), found in zip(tasks, everywhere(at_500, tasks, arguments.jobs))]


def at_500(how: str, tau: float, seed: int) -> list[float]:
    """Return NMI after 500 presentations, of our fusion and of the paper's."""
    data = gaussian_clusters(100, n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(
        data.data, n_groups=(8, 12) if how == "complete" else CASE_1["n_groups"], random_state=seed
    )
    items = list(data.data.index)
    if how == "complete":
        groupings = complete(agents, items, 500)
    else:
        session = ActiveSession(items, strategy=how, fusion=SubsetFusion(K), random_state=seed)
        for _ in range(500):
            subset = session.ask(1, CASE_1["size"])[0]
            session.tell(agents(subset.items), subset=subset)
        groupings = session.groupings_
    return [nmi(data.target, fuse(name, groupings, K)) for name in ("SubsetFusion()", "None, k-means (the paper's)")]


def show_difficulty(results: Any) -> tuple[list[str], Figure]:
    frame = pd.DataFrame([[how, tau, *found] for how, tau, found in results], columns=["how", "tau", "ours", "paper"])
    mean = frame.groupby(["how", "tau"], sort=False).mean().unstack("tau")  # noqa: PD010
    n_runs = frame.groupby(["how", "tau"]).size().max()
    figure = Figure(figsize=(7.5, 3), layout="constrained")
    lines = []
    for axis, (fusion, name) in zip(
        figure.subplots(1, 2, sharey=True), (("ours", "SubsetFusion()"), ("paper", "the paper's fusion"))
    ):
        lines += [f"case 1, 500 presentations, {name}: NMI over tau (means of {n_runs} draws)", ""]
        lines.append(" " * 24 + "".join(f"{tau:>7g}" for tau in TAUS))
        for how in mean.index:
            values = mean.loc[how, fusion]
            lines.append(f"    {how:20s}" + "".join(f"{value:7.3f}" for value in values))
            axis.semilogx(TAUS, values, **look_of(how), ms=4, lw=1, label=how)
        lines.append("")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("τ", fontsize=8)
        tidy(axis)
    figure.axes[0].set_ylabel("NMI after 500 presentations", fontsize=8)
    figure.axes[0].legend(fontsize=7, frameon=False)
    return lines, figure
