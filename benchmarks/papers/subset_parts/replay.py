"""replay: strategies that choose among recorded subsets, with the recorded answers."""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from subset_parts.setting import OURS, everywhere, look_of, random_tasks
from subset_parts.strategies import medians

from consilience import Groupings
from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.datasets import load_dogs_birds, load_orchestra
from consilience.inference.memberships import Memberships
from consilience.inspection.plots.style import tidy
from consilience.metrics import nmi
from consilience.simulation import ReplayAgent, present

REPLAYED = {
    "orchestra scenes": (0.2, 0.3, 0.35, 0.4),
    "orchestra imagenet": (0.2, 0.3, 0.35, 0.4, 0.45),
    "dogs3": (0.1, 0.2, 0.3),
    "birds5": (0.2, 0.3, 0.4, 0.5, 0.6),
}


def recorded(name: str):
    """Return recorded groupings, the truth, the number of subsets per round, and the number of rounds."""
    if name.startswith("orchestra"):
        return *random_tasks(load_orchestra(name.split()[1])), 8, 16
    bunch = load_dogs_birds(name)
    query, at_once = {"dogs3": ("radio-3", 300), "birds5": ("drag-5", 100)}[name]
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["query"] == query]), bunch.target, at_once, 16


def replay(name: str, strategy: str, seed: int) -> list[list[float]]:
    """Return NMI as the strategy chooses among the recorded subsets that have answers left."""
    groupings, truth, at_once, rounds = recorded(name)
    agent = ReplayAgent(groupings, random_state=seed)
    left = pd.Series([frozenset(subset) for subset in recorded_subsets(groupings)]).value_counts(sort=False)
    fusion = SubsetFusion(len(np.unique(truth)), random_state=0)
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
        curve.append([session.groupings_.n_groupings, nmi(truth, session.consensus().labels_)])
    return curve


def recorded_subsets(groupings: Groupings) -> list[list[Any]]:
    """Return the items of each grouping."""
    columns = Memberships.of(groupings).in_grouping.tocsc()
    return [
        list(groupings.items[columns.indices[a:b]]) for a, b in zip(columns.indptr[:-1], columns.indptr[1:]) if b > a
    ]


def compute_replay(arguments: argparse.Namespace) -> Any:
    tasks = list(product(REPLAYED, ("random", "explore", "exploit-pairwise", OURS), range(arguments.runs)))
    curves = everywhere(replay, tasks, arguments.jobs)
    return [[name, strategy, curve] for (name, strategy, _), curve in zip(tasks, curves)]


def show_replay(results: Any) -> tuple[list[str], Figure]:
    lines, figure = [], Figure(figsize=(9, 2.7), layout="constrained")
    for axis, (name, levels) in zip(figure.subplots(1, len(REPLAYED)), REPLAYED.items()):
        found: dict[str, list[np.ndarray]] = {}
        for this, strategy, curve in results:
            if this == name:
                found.setdefault(strategy, []).append(np.array(curve, dtype=float))
        reference = medians(found["random"], levels)
        lines += [
            f"{name}: median answers until NMI reaches a level, ratio to random's ({len(found['random'])} draws)",
            "",
        ]
        lines.append(" " * 24 + "".join(f"{level:>14.2f}" for level in levels))
        for strategy, curves in found.items():
            cells = [
                f"{value:7.0f} ({value / other:.2f})" if np.isfinite([value, other]).all() else f"{value:14.0f}"
                for value, other in zip(medians(curves, levels), reference)
            ]
            lines.append(f"    {strategy:20s}" + "".join(f"{cell:>14s}" for cell in cells))
            mean = np.stack(curves).mean(0)
            axis.plot(*mean.T, **look_of(strategy), ms=3, lw=1, label=strategy)
        lines.append("")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("answers", fontsize=8)
        tidy(axis)
    figure.axes[0].set_ylabel("NMI with the truth", fontsize=8)
    figure.axes[0].legend(fontsize=6, frameon=False)
    return lines, figure
