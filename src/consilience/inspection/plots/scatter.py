"""Items as points with a colour and a shape for each cluster or class, and their legend."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.words import current_words
from consilience.inspection.plots.style import Look, marker, marker_scale, small
from consilience.inspection.plots.text_layout import LETTER, LINE, fitting_names, inches, make_room, reach

LEGEND_ROWS = 18
LONGEST = 24  # characters of a name
NAMED_ITEMS = 60  # items up to which they are named, as far as there is room
SHARE = 0.5  # of the axes that a legend next to them may take


def some_of(places: Int[np.ndarray, " items"], most: int) -> Int[np.ndarray, " shown"]:
    """Return the places of the items to draw: all, or a random sample if there are more than `most`."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))


def say_sampled(n_shown: int, n_items: int) -> str:
    """Return text on how many of the items are drawn; empty if all are."""
    words = current_words()
    return f"{n_shown:,} of {n_items:,} {words.items}, chosen at random" if n_shown < n_items else ""


def say_hollow(hardly: Bool[np.ndarray, " items"]) -> str:
    """Return text on how many items a plane hardly shows; empty if it shows all."""
    return f"hollow: {current_words().n_items(int(hardly.sum()))}, hardly shown here" if hardly.any() else ""


def draw_items(
    ax: Axes,
    points: Float[np.ndarray, "items 2"],
    shown: Int[np.ndarray, " shown"],
    clusters: FoundClusters | None,
    filled: Bool[np.ndarray, " items"],
    *,
    legend: bool,
    hollow: str = "no annotations",
) -> None:
    """Draw some of the items, others than the filled ones hollow, and a legend next to the axes if it is wanted.

    hollow : what these are in the legend; not there if empty.
    Items of no cluster are small grey crosses. Without clusters, all have one colour.
    """
    look = Look.of(ax)
    if clusters is None:
        for some, face, rim in ((filled, look.colour(0), look.paper), (~filled, look.paper, look.colour(0))):
            ax.plot(*points[shown[some[shown]]].T, ls="", marker="o", ms=6.5, mfc=face, mec=rim, mew=0.8, zorder=3)
        return
    size = float(np.clip(7.5 - 0.8 * np.log2(max(len(shown), 50) / 50), 3.6, 7))
    for cluster, title in enumerate(clusters.titles):
        mine = shown[clusters.codes[shown] == cluster]
        full, empty = mine[filled[mine]], mine[~filled[mine]]
        rare = len(mine) * 100 < len(shown)  # would not be found among the others
        scale = marker_scale(cluster) * (1.9 if rare else 1.0)
        style: dict[str, Any] = {"ls": "", "marker": marker(cluster), "ms": scale * size, "zorder": 3}
        edge: dict[str, Any] = {"mec": look.ink, "mew": 0.9} if rare else {"mec": look.paper, "mew": 0.4}
        ax.plot(*points[full].T, **style, **edge, mfc=look.colour(cluster), label=title)
        if len(empty):
            label = ", ".join(filter(None, [title, hollow]))
            ax.plot(*points[empty].T, **style, mfc=look.paper, mec=look.colour(cluster), mew=1.1, label=label)
    nowhere = shown[clusters.codes[shown] < 0]
    if len(nowhere):
        label = f"no {clusters.noun}"
        ax.plot(*points[nowhere].T, ls="", marker="x", ms=0.8 * size, mec=look.faint, mew=1.0, zorder=2, label=label)
    if legend:
        n_unannotated = int((~filled & (clusters.codes >= 0)).sum()) if hollow else 0
        cluster_legend(ax, clusters, n_unannotated=n_unannotated, n_nowhere=len(nowhere))


def cluster_legend(
    ax: Axes, clusters: FoundClusters, *, n_unannotated: int = 0, n_nowhere: int = 0, mixed: str = ""
) -> None:
    """Add a legend of the colour, shape and size of each cluster, next to the axes, so that it covers no item.

    mixed : meaning of faint lines, if there are any.

    If there are more clusters than lines of the legend, the last line counts those left out.
    """
    words = current_words()
    look = Look.of(ax.figure)
    names = fitting_names(clusters.shown, SHARE * inches(ax)[0] - 0.6, LONGEST)
    style: dict[str, Any] = {"ls": "", "mec": look.paper, "mew": 0.4}
    handles = [
        Line2D([], [], marker=marker(k), ms=6.5 * marker_scale(k), mfc=look.colour(k), **style)
        for k in range(len(names))
    ]
    labels = [f"{name}: {size:,}" for name, size in zip(names, clusters.sizes, strict=True)]
    n_others = 2 * bool(n_unannotated) + bool(n_nowhere) + bool(mixed)
    n_rows, n_columns = _lines(ax, labels, n_others)
    n_shown = len(labels) if len(labels) + n_others <= n_rows * n_columns else n_rows * n_columns - n_others - 1
    if n_shown < len(labels):
        left = len(labels) - n_shown
        handles, labels = [*handles[:n_shown], Line2D([], [], ls="")], [*labels[:n_shown], f"and {left:,} more"]
    if n_unannotated:
        handles.append(Line2D([], [], ls="", marker="o", ms=6, mfc=look.paper, mec=look.faint, mew=1.1))
        labels.append(f"no annotations:\n{n_unannotated:,}")
    if n_nowhere:
        handles.append(Line2D([], [], ls="", marker="x", ms=5, mec=look.faint, mew=1.0))
        labels.append(f"none: {n_nowhere:,}")
    if mixed:
        handles.append(Line2D([], [], ls="", marker="_", ms=9, mew=1.4, color=look.faint))
        labels.append(mixed)
    legend_beside(
        ax, handles, labels, f"{clusters.noun}: {words.items}", -(-(len(labels) + bool(n_unannotated)) // n_rows)
    )


def legend_beside(ax: Axes, handles: list[Any], labels: list[str], title: str, n_columns: int = 1) -> None:
    """Add a legend to the right of the axes, aligned with their upper end."""
    lines = [line for label in [*labels, title] for line in label.split("\n")]
    make_room(ax, right=n_columns * (reach(lines) + 2.5 * small() / 72) + 0.15)
    legend = ax.legend(
        handles,
        labels,
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        fontsize=small(),
        title_fontsize=small(),
        labelcolor=Look.of(ax.figure).ink,
        ncols=n_columns,
        handletextpad=0.3,
        columnspacing=1.0,
    )
    legend.get_title().set_color(Look.of(ax.figure).ink)
    legend.set_alignment("left")


def _lines(ax: Axes, labels: list[str], n_others: int) -> tuple[int, int]:
    """Return the rows of a legend next to the axes, and the columns for which there is room."""
    wide, tall = inches(ax)
    n_rows = int(np.clip(72 * tall / (1.25 * LINE * small()) - 1, n_others + 2, LEGEND_ROWS))
    column = (reach(labels) + 2.5 * LETTER * small() / 72) or 1.0
    return n_rows, int(max(SHARE * wide // column, 1))
