"""Items as points, a colour and a shape for each cluster or class, and the legend beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from consilience.inspection.answer import Answer
from consilience.inspection.names import plot_text
from consilience.inspection.style import FAINT, INK, colour, marker, marker_scale

LEGEND_ROWS = 18
LONGEST = 24  # letters of a name
NAMED_ITEMS = 60  # up to so many items bear their names, as far as there is room


def some_of(places: Int[np.ndarray, " items"], most: int) -> Int[np.ndarray, " shown"]:
    """Places of items to draw: all, or of more than `most` so many at random."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))


def sampled(n_shown: int, n_items: int) -> str:
    """Say how many of the items are drawn; nothing if all are."""
    return f"{n_shown:,} of {n_items:,} items, chosen at random" if n_shown < n_items else ""


def draw_items(
    ax: Axes,
    points: Float[np.ndarray, "items 2"],
    shown: Int[np.ndarray, " shown"],
    answer: Answer,
    annotated: Bool[np.ndarray, " items"],
) -> None:
    """Draw some of the items, hollow those without annotations, and a legend beside the axes.

    Items of no cluster are small grey crosses.
    """
    size = float(np.clip(7.5 - 0.8 * np.log2(max(len(shown), 50) / 50), 3.6, 7))
    for cluster, title in enumerate(answer.titles):
        mine = shown[answer.codes[shown] == cluster]
        given, silent = mine[annotated[mine]], mine[~annotated[mine]]
        rare = len(mine) * 100 < len(shown)  # would not be found among the others
        scale = marker_scale(cluster) * (1.9 if rare else 1.0)
        style: dict[str, Any] = {"ls": "", "marker": marker(cluster), "ms": scale * size, "zorder": 3}
        edge: dict[str, Any] = {"mec": INK, "mew": 0.9} if rare else {"mec": "white", "mew": 0.4}
        ax.plot(*points[given].T, **style, **edge, mfc=colour(cluster), label=title)
        if len(silent):
            label = f"{title}, no annotations"
            ax.plot(*points[silent].T, **style, mfc="white", mec=colour(cluster), mew=1.1, label=label)
    nowhere = shown[answer.codes[shown] < 0]
    if len(nowhere):
        label = f"no {answer.noun}"
        ax.plot(*points[nowhere].T, ls="", marker="x", ms=0.8 * size, mec=FAINT, mew=1.0, zorder=2, label=label)
    n_silent = int((~annotated & (answer.codes >= 0)).sum())
    cluster_legend(ax, answer, n_silent=n_silent, n_nowhere=len(nowhere))


def cluster_legend(ax: Axes, answer: Answer, *, n_silent: int = 0, n_nowhere: int = 0) -> None:
    """Colour, shape and size of each cluster, beside the axes, so that it covers no item."""
    handles = [
        Line2D([], [], ls="", marker=marker(k), ms=6.5 * marker_scale(k), mfc=colour(k), mec="white", mew=0.4)
        for k in range(len(answer.names))
    ]
    labels = [f"{plot_text(name, LONGEST)}  ({size:,})" for name, size in zip(answer.names, answer.sizes, strict=True)]
    if n_silent:
        handles.append(Line2D([], [], ls="", marker="o", ms=6, mfc="white", mec=FAINT, mew=1.1))
        labels.append(f"no annotations\n({n_silent:,})")
    if n_nowhere:
        handles.append(Line2D([], [], ls="", marker="x", ms=5, mec=FAINT, mew=1.0))
        labels.append(f"none  ({n_nowhere:,})")
    legend = ax.legend(
        handles,
        labels,
        title=f"{answer.noun} (items)",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        fontsize=9,
        title_fontsize=9,
        ncols=-(-len(labels) // LEGEND_ROWS),
        handletextpad=0.3,
        columnspacing=1.0,
    )
    legend.set_alignment("left")
