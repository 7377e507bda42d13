"""Plots of the page on speed: peers beside models, and growth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.experiments import Record
from consilience.inspection.plots.style import FAINT, SMALL, colour, marker, tidy

AGAINST_PEERS = ("annotations", "labels", "labels_large", "fusion", "pair_peers", "pair_packages")
GROWING = ("fusion_growth", "fusion_large", "pair_growth")
Pair = tuple[str, str, float]


def draw_peers(record: Record) -> Figure:
    """Draw how many times as long each peer takes as the model beside it."""
    found = sorted(peers_of(record), key=lambda one: one[2])
    figure = Figure(figsize=(8.2, 0.8 + 0.24 * len(found)), layout="constrained")
    axes = figure.subplots()
    places, times = np.arange(len(found)), np.array([value for *_, value in found])
    axes.barh(places, times - 1, left=1, color=[colour(0) if value >= 1 else colour(1) for value in times], height=0.6)
    axes.axvline(1, color=FAINT, lw=0.8)
    axes.set_xscale("log")
    axes.set_yticks(places, [f"{peer} / {model}" for model, peer, _ in found], fontsize=SMALL)
    axes.set_xlabel("seconds of the peer / of the model", fontsize=SMALL)
    for place, value in zip(places, times, strict=True):
        text = f"{value:.2g}" if value < 10 else f"{value:.0f}"
        axes.annotate(text, (max(value, 1), place), (3, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.margins(x=0.12)
    tidy(axes)
    return figure


def peers_of(record: Record) -> Iterator[Pair]:
    """Yield model, peer and ratio of seconds, mean over draws."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for part in AGAINST_PEERS:
        for row in record.frame(part).to_dict("records"):
            name = f"{row['model']}, {row['data']}" if part.startswith("pair_") else row["model"]
            name += " (1 000 000 items)" if part == "labels_large" else ""
            for peer, ratio in row["ratio"].items():
                found.setdefault((part, name, peer), []).append(ratio)
    for (_, model, peer), ratios in found.items():
        yield model, peer, float(np.mean(ratios))


def draw_growth(record: Record) -> Figure:
    """Draw seconds and further memory against the number of items."""
    runs: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for part in GROWING:
        for row in record.frame(part).to_dict("records"):
            name = f"sweep of {row['model']}" if part == "pair_growth" else row["model"]
            runs.setdefault(name, []).extend((int(size), run) for size, run in row["runs"].items())
    figure = Figure(figsize=(8.2, 3.2), layout="constrained")
    for axes, (what, label) in zip(
        figure.subplots(1, 2), (("seconds", "seconds"), ("megabytes", "further memory, MB")), strict=True
    ):
        for number, (name, points) in enumerate(runs.items()):
            x, y = np.array([(size, max(run[what], 1e-3)) for size, run in sorted(points, key=lambda one: one[0])]).T
            axes.loglog(x, y, color=colour(number), marker=marker(number), ms=4, lw=1, label=name)
        ends = np.array(axes.get_xlim())
        axes.loglog(ends, axes.get_ylim()[0] * 2 * ends / ends[0], color=FAINT, ls="dotted", label="linear")
        axes.set_xlabel("items", fontsize=SMALL)
        axes.set_ylabel(label, fontsize=SMALL)
        tidy(axes)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=SMALL)
    return figure
