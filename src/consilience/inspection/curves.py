"""What line plots share."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import MaxNLocator

from consilience.inspection.fitting import room, wrapped
from consilience.inspection.style import Look, small


def legend_inside(ax: Axes) -> None:
    """Legend where it covers least, on paper of its own."""
    look = Look.of(ax)
    style: dict[str, Any] = {"facecolor": look.paper, "edgecolor": "none", "labelcolor": look.ink, "framealpha": 0.85}
    legend = ax.legend(loc="best", fontsize=small(), **style)
    for text in legend.get_texts():
        text.set_text(wrapped(text.get_text(), room(ax)[0] - 3.5 * small() / 72, small()))


def whole_numbers(axis: Axis) -> None:
    """Ticks at whole numbers, as many as there is room for."""
    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
