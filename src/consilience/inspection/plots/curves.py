"""Parts that line plots share."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import MaxNLocator

from consilience.inspection.plots.style import Look, small, tidy
from consilience.inspection.plots.text_layout import label_axes, room, wrap_label

MOST_POINTS = 60  # marked on a curve
MOST_TICKS = 9  # most ticks that matplotlib makes


def draw_curve(ax: Axes, x: Any, y: Any, number: int = 0, **style: Any) -> None:
    """Draw a line in the colour of the given number, with markers if the points are few."""
    points: dict[str, Any] = {"marker": "o", "ms": 3} if len(x) <= MOST_POINTS else {}
    ax.plot(x, y, color=Look.of(ax).colour(number), **{"lw": 1.4} | points | style)


def finish_curve(ax: Axes, x: str, y: str, *, labels: bool, legend: bool) -> None:
    """Label the axes of a curve, and add a legend if it is wanted."""
    label_axes(ax, x, y, labels=labels)
    if legend:
        legend_inside(ax)
    tidy(ax)


def legend_inside(ax: Axes) -> None:
    """Add a legend where it covers least, on a background of its own."""
    look = Look.of(ax)
    style: dict[str, Any] = {"facecolor": look.paper, "edgecolor": "none", "labelcolor": look.ink, "framealpha": 0.85}
    legend = ax.legend(loc="best", fontsize=small(), **style)
    for text in legend.get_texts():
        text.set_text(wrap_label(text.get_text(), room(ax)[0] - 3.5 * small() / 72, small()))


def spaced_ticks(ax: Axes) -> None:
    """Reduce the ticks of a narrow x axis, so that their numbers do not touch."""
    n_fit = int(72 * room(ax)[0] / (4.5 * float(mpl.rcParams["font.size"])))
    if n_fit < MOST_TICKS:
        ax.xaxis.set_major_locator(MaxNLocator(max(n_fit, 1), steps=[1, 2, 2.5, 5, 10], min_n_ticks=1))


def whole_numbers(axis: Axis) -> None:
    """Set ticks at whole numbers, as many as there is room for."""
    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
