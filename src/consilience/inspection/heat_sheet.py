"""What heat maps share: sizes, the sheet they are drawn on, the colour bar, numbers in cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from consilience.inspection.style import INK, SMALL

ROW, COLUMN = 0.17, 0.3  # inches
BAR = 2.3  # inches of a colour bar, enough for its label
LETTER = 0.07  # inches that a letter takes at `SMALL` points
MOST_NAMED = 60  # rows of which each has its name beside the heat map
MOST_NUMBERED = 12  # rows up to which the cells bear numbers


def sheet(
    left: float, across: float, down: float, *, bottom: float, top: float, right: float = 0.95
) -> tuple[Axes, Axes]:
    """Axes of the size wanted and a place for the colour bar, on a figure with margins in inches around them."""
    wide, tall = left + across + right, bottom + max(down, BAR) + top
    figure = Figure(figsize=(wide, tall))
    total = np.array([wide, tall, wide, tall])
    ax = figure.add_axes(tuple(np.array([left, tall - top - down, across, down]) / total))
    bar = figure.add_axes(tuple(np.array([left + across + 0.18, tall - top - BAR, 0.14, BAR]) / total))
    return ax, bar


def colour_bar(image: AxesImage, ax: Axes, bar: Axes | None, label: str, *, extend: Any = "neither") -> None:
    """Bar in the place `bar`, or beside the axes if there is none."""
    figure = cast(Figure, ax.get_figure(root=True))
    dress(figure.colorbar(image, cax=bar, ax=None if bar is not None else ax, extend=extend), label)


def dress(drawn: Colorbar, label: str) -> None:
    """Label of a colour bar, in small letters and without a frame."""
    drawn.set_label(label, fontsize=SMALL, color=INK)
    drawn.ax.tick_params(labelsize=SMALL)
    drawn.outline.set_visible(False)


def rule(ax: Axes, across: np.ndarray, down: np.ndarray, *, width: float = 2.2) -> None:
    """White lines between columns and between rows, at these places."""
    for place in across:
        ax.axvline(place, color="white", lw=0.6)
    for place in down:
        ax.axhline(place, color="white", lw=width)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def write_numbers(ax: Axes, values: np.ndarray, write: Callable[[float], str]) -> None:
    """Write the value of each cell into it, in ink that stands out."""
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ink = "white" if value > 0.7 else "black"
            ax.text(column, row, write(value), ha="center", va="center", fontsize=7, color=ink)


def two_digits(value: float) -> str:
    """Such as .25, −.08, 0 and 1."""
    if value in (0, 1) or abs(value) < 0.005:
        return str(round(value))
    return f"{value:.2f}".replace("-", "\u2212").replace("0.", ".", 1)
