"""What heat maps share: sizes, the colour bar, lines between cells, numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from consilience.inspection.plots.fitting import CellNumbers, make_room, room, wrapped
from consilience.inspection.plots.style import Look, on, small

ROW, COLUMN = 0.17, 0.3  # inches
BAR = 2.3  # inches of a colour bar, enough for its label
BESIDE = (0.12, 0.14)  # inches from the axes to their colour bar, and of its breadth
MOST_NAMED = 60  # rows that have their names beside the heat map in a report
MOST_NUMBERED = 12  # rows up to which the cells bear numbers
LETTER = 0.07  # inches that a letter takes on a sheet of a size of its own


def colour_bar(image: ScalarMappable, ax: Axes, label: str, *, extend: Any = "neither", below: float = 0.0) -> Axes:
    """Colour bar beside the axes, at their upper end; leave so many inches free below.

    To be drawn when names are below the axes.
    """
    look, figure = Look.of(ax.figure), cast(Figure, ax.get_figure(root=True))
    make_room(ax, right=BESIDE[0] + BESIDE[1] + 0.65)
    tall = room(ax)[1]
    share = min(1.0, BAR / tall, max((tall - below) / tall, 0.3))
    right = figure.dpi_scale_trans + ScaledTranslation(1, 0, cast(Any, ax.transAxes))
    bar = ax.inset_axes(
        (BESIDE[0], 1 - share, BESIDE[1], share), transform=blended_transform_factory(right, ax.transAxes)
    )
    drawn = figure.colorbar(image, cax=bar, extend=extend)
    drawn.set_label(wrapped(label, 0.85 * share * tall, small()), fontsize=small(), color=look.ink)
    bar.tick_params(labelsize=small(), colors=look.ink)
    drawn.outline.set_visible(False)
    return bar


def rule(ax: Axes, across: np.ndarray, down: np.ndarray, *, width: float = 2.2) -> None:
    """Lines in the colour of the paper between columns and between rows, at these places."""
    paper = Look.of(ax.figure).paper
    for place in across:
        ax.axvline(place, color=paper, lw=0.6)
    for place in down:
        ax.axhline(place, color=paper, lw=width)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def write_numbers(ax: Axes, image: Any, values: np.ndarray, write: Callable[[float], str]) -> None:
    """Write the value of each cell into it, in ink that stands out, if cells have room for it."""
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 0.875 * small()}
    numbers = [
        ax.text(column, row, write(value), color=on(image.to_rgba(value)[:3]), **style)
        for (row, column), value in np.ndenumerate(values)
        if np.isfinite(value)
    ]
    if numbers:
        CellNumbers(ax, numbers)


def two_digits(value: float) -> str:
    """Such as .25, −.08, 0 and 1."""
    if value in (0, 1) or abs(value) < 0.005:
        return str(round(value))
    return f"{value:.2f}".replace("-", "\u2212").replace("0.", ".", 1)
