"""What the parts share: the paper's cases, simulated groupings and recorded answers, looks and cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from benchmarks.experiments import Record
from benchmarks.experiments.statistics import Difference, paired
from consilience.consensus import SubsetFusion
from consilience.inspection.plots.style import colour, marker, tidy
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present, random_subsets

K = 10
CASE_1: dict[str, Any] = {"n_items": 100, "size": 8, "n_groups": (3, 6)}
CASE_2: dict[str, Any] = {"n_items": 1000, "size": 50, "n_groups": (5, 10)}
OURS = "informative"
ORACLE = "knowing the clusters"
RANDOM = "random"
EXPLOIT = "exploit-pairwise"
STRATEGIES = (RANDOM, "explore", EXPLOIT, "exploit-one-vs-rest", "explore-exploit", OURS)
PAPERS: dict[str, Any] = {"normalize": None, "refine": False}  # settings of SubsetFusion that give the paper's fusion


def look_of(strategy: str) -> dict[str, str]:
    """Return the colour and marker of a strategy, the same in every figure."""
    number = STRATEGIES.index(strategy) if strategy in STRATEGIES else len(STRATEGIES)  # black: no strategy
    return {"color": colour(number), "marker": marker(number)}


@lru_cache(maxsize=1)
def simulated(n_items: int, size: int, n_groups: tuple[int, int], tau: float, n_subsets: int, seed: int):
    """Return groupings of random subsets, and the clusters."""
    data = gaussian_clusters(n_items, n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=n_groups, random_state=seed)
    items = list(data.data.index)
    subsets = random_subsets(items, size, n_subsets, random_state=seed)
    return present(agents, subsets, items=items), data.target


def random_tasks(bunch: Any) -> tuple[Any, Any]:
    """Return Orchestra's answers to its 205 random tasks."""
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["sample"] == "random_samples"]), bunch.target


def fusion_of(n_clusters: int, **settings: Any) -> SubsetFusion:
    """Return the fusion of every session: with the number of clusters, and one seed."""
    return SubsetFusion(n_clusters, random_state=0, **settings)


# ---- tables and plots


def spread(values: Iterable[float], digits: int = 3) -> str:
    """Return mean and standard deviation, such as ".912 ± .010"."""
    found = np.asarray(list(values), dtype=float)
    return short(f"{round(found.mean(), digits) + 0.0:.{digits}f} ± {found.std(ddof=1):.{digits}f}")


def against(difference: Difference, digits: int = 3) -> str:
    """Return a mean difference with its standard error, and a star if it is more than two of these."""
    star = " " if difference.verdict == "level" else "*"
    return short(f"{difference.mean:+.{digits}f} ± {difference.error:.{digits}f}") + star


def short(text: str) -> str:
    """Leave out the zero before a decimal point."""
    return re.sub(r"(?<!\d)0\.", ".", text)


def row_of(name: str, cells: Iterable[str], width: int, indent: int = 24) -> str:
    return (f"    {name:{indent}s}" + "".join(f"{cell:>{width}s}" for cell in cells)).rstrip()


def counts(differences: Iterable[Difference]) -> dict[str, int]:
    """Count comparisons by verdict."""
    verdicts = [difference.verdict for difference in differences]
    return {name: verdicts.count(name) for name in ("above", "level", "below")} | {"all": len(verdicts)}


def versus(table: pd.DataFrame, first: str, second: str) -> Difference:
    """Compare two columns over the draws that both have."""
    both = table[[first, second]].dropna()
    return paired(both[first], both[second])


def draw_mean(axis: Axes, places: Any, values: np.ndarray, name: str, size: float = 3) -> None:
    """Draw the mean of draws, (draws, places), shaded up to one standard error from it."""
    look = look_of(name)
    mean, error = values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values))
    axis.plot(places, mean, **look, ms=size, lw=1, label=name)
    axis.fill_between(places, mean - error, mean + error, color=look["color"], alpha=0.12, lw=0)
    tidy(axis)


# ---- curves of strategies


def curves_of(record: Record, part: str, data: str) -> dict[str, np.ndarray]:
    """Return the curves of each strategy, (draws, places, measures)."""
    rows = record.frame(part, data=data)
    return {
        str(name): np.stack([np.array(curve, dtype=float) for curve in own.sort_values("draw")["curve"]])
        for name, own in rows.groupby("model", sort=False)
    }


def needed(curve: np.ndarray, level: float) -> float:
    """Return the number of subsets at which NMI first reaches a level, interpolated; infinite if it does not."""
    reached = np.flatnonzero(curve[:, 1] >= level)
    if not len(reached):
        return np.inf
    place = reached[0]
    before = curve[place - 1, :2] if place else np.zeros(2)
    return float(np.interp(level, [before[1], curve[place, 1]], [before[0], curve[place, 0]]))


@dataclass(frozen=True)
class Need:
    """How many subsets or answers strategies need for a level, by draw: infinite where one does not reach it."""

    level: float
    table: pd.DataFrame
    end: float

    @classmethod
    def of(cls, curves: dict[str, np.ndarray], level: float) -> Need:
        found = {name: pd.Series([needed(curve, level) for curve in own]) for name, own in curves.items()}
        return cls(level, pd.DataFrame(found), max(own[:, -1, 0].max() for own in curves.values()))

    def ratio(self, strategy: str, other: str = RANDOM) -> float:
        """Return the ratio of medians over the draws that both have; NaN if one of them is infinite."""
        both = self.table.dropna(subset=[strategy, other])
        median, reference = both[strategy].median(), both[other].median()
        return float(median / reference) if np.isfinite([median, reference]).all() else np.nan

    def difference(self, strategy: str, other: str = RANDOM) -> Difference:
        """Compare two strategies; a level that is not reached counts as the end."""
        return versus(self.table.clip(upper=self.end), strategy, other)

    def cell(self, strategy: str) -> str:
        """Return the median, the standard deviation, and the ratio to random's median."""
        found, ratio = self.table[strategy].dropna(), self.ratio(strategy)
        middle = f"{found.median():.0f}" if np.isfinite(found.median()) else f">{self.end:.0f}"
        return f"{middle} ± {found.clip(upper=self.end).std():.0f}" + (
            f" ({ratio:.2f})" if np.isfinite(ratio) else " " * 7
        )


def needs_of(record: Record, part: str, data: str, levels: Iterable[float]) -> list[Need]:
    curves = curves_of(record, part, data)
    return [Need.of(curves, level) for level in levels]


def table_of_needs(title: str, needs: list[Need]) -> list[str]:
    """Return the medians with their ratios, and the paired differences from random."""
    names = needs[0].table.columns
    lines = [f"{title} ({len(needs[0].table)} draws)", ""]
    lines.append(row_of("", (f"{need.level:.2f}       " for need in needs), 20))
    lines += [row_of(name, (need.cell(name) for need in needs), 20) for name in names]
    lines += ["", row_of("less random ± se", (f"{need.level:.2f}       " for need in needs), 20)]
    for name in names.drop(RANDOM):
        lines.append(row_of(name, (against(need.difference(name), 0) + " " * 6 for need in needs), 20))
    return [*lines, ""]


def quotes_of_needs(needs: Iterable[Need], strategy: str) -> dict[str, Any]:
    """Count levels at which a strategy needs fewer, and the range of its ratios to random's median."""
    needs = list(needs)
    ratios = {need.level: need.ratio(strategy) for need in needs}
    known = [ratio for ratio in ratios.values() if np.isfinite(ratio)]
    return counts(need.difference(strategy) for need in needs) | {
        "ratios": ratios,
        "least": min(known),
        "most": max(known),
        "known": len(known),
        "over_one": sum(ratio > 1 for ratio in known),
    }
