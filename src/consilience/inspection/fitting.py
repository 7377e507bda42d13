"""What depends on the room there is: names of rows and columns, numbers in cells, labels broken into lines.

Axes change their size after they were drawn on: a title is set, a layout made, a figure resized. So what fits is
decided whenever the figure is drawn; only the lines of a label are broken, and very long names cut, by the size at
first.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, YAxis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import Formatter, Locator

from consilience.inspection.names import plot_text, width
from consilience.inspection.style import small

LETTER = 0.63  # width of a letter of a name, in sizes of the font
LINE = 1.25  # height of a line, in sizes of the font
LONGEST = 32  # letters of a name
ROOM = 0.4  # share of the axes that names beside them may take


def inches(ax: Axes) -> tuple[float, float]:
    """Width and height of axes."""
    dpi = cast(Figure, ax.get_figure(root=True)).dpi
    return float(ax.bbox.width) / dpi, float(ax.bbox.height) / dpi


def reach(names: Sequence[str]) -> float:
    """Inches that the widest of some names takes."""
    return max(map(width, names), default=0) * LETTER * small() / 72


def fitting_names(names: Sequence[Any], room: float, longest: int = LONGEST) -> list[str]:
    """Names as text that takes at most so many inches."""
    letters = int(72 * room / (LETTER * small()))
    return [plot_text(name, min(max(letters, 4), longest)) for name in names]


def make_room(ax: Axes, *, left: float = 0.0, right: float = 0.0, bottom: float = 0.0) -> None:
    """Shrink axes within their place, by inches on each side, where the figure has no layout that would do so."""
    engine = cast(Figure, ax.get_figure(root=True)).get_layout_engine()
    if engine is not None and not isinstance(engine, PlaceHolderLayoutEngine):
        return
    wide, tall = inches(ax)
    across = min(1.0, 0.7 * wide / max(left + right, 1e-9))
    left, right, bottom = max(left, 0) * across, max(right, 0) * across, min(max(bottom, 0), 0.5 * tall)
    if not max(left, right, bottom):
        return
    place = ax.get_subplotspec()
    if place is None:
        box = ax.get_position()
        x, y = box.width / wide, box.height / tall
        ax.set_position((box.x0 + left * x, box.y0 + bottom * y, (wide - left - right) * x, (tall - bottom) * y))
        return
    widths, heights = [left, wide - left - right, right], [tall - bottom, bottom]
    ax.set_subplotspec(place.subgridspec(2, 3, wspace=0, hspace=0, width_ratios=widths, height_ratios=heights)[0, 1])


def label_axes(ax: Axes, x: str | None, y: str | None, *, labels: bool, caption: str = "") -> None:
    """Label both axes unless that is not wanted; below stands a caption, which tells what is not drawn."""
    wide, tall = inches(ax)
    below = [wrapped(text, wide, ax.xaxis.label.get_fontsize()) for text in (x if labels else "", caption) if text]
    if below:
        ax.set_xlabel("\n".join(below))
    if labels and y:
        ax.set_ylabel(wrapped(y, tall, ax.yaxis.label.get_fontsize()))


def wrapped(text: str, room: float, points: Any) -> str:
    """Break a label into lines that take at most so many inches each, as far as words allow."""
    letters = max(int(72 * room / (0.55 * points)), 8)
    return textwrap.fill(text, letters, break_long_words=False) if len(text) > letters else text


class Names(Locator):
    """Places along an axis that bear names: all, or as many as stand apart.

    Parameters
    ----------
    ax : whose size tells the room.
    places : rising.
    gap : points from one name to the next.
    """

    def __init__(self, ax: Axes, places: Any, gap: float) -> None:
        self.ax, self.places, self.gap = ax, np.asarray(places, dtype=float), gap

    def __call__(self) -> Any:
        """Places within the view, no two closer than the gap."""
        axis = cast(Axis, self.axis)
        low, high = sorted(axis.get_view_interval())
        shown = self.places[(self.places >= low) & (self.places <= high)]
        length = 72 * inches(self.ax)[isinstance(axis, YAxis)]
        apart = self.gap * (high - low) / max(length, 1e-9) * (1 - 1e-9)
        kept, at = [], 0
        while at < len(shown):
            kept.append(at)
            at = int(np.searchsorted(shown, shown[at] + apart))
        return shown[kept]

    def tick_values(self, vmin: Any, vmax: Any) -> Any:
        """As if called: places do not depend on limits that nobody sees."""
        return self()


class NameOf(Formatter):
    """Name that belongs to a place on an axis."""

    def __init__(self, places: Any, names: Sequence[str]) -> None:
        self.names = dict(zip(np.asarray(places, dtype=float).tolist(), names, strict=True))

    def __call__(self, x: float, pos: Any = None) -> str:
        """Look the name up."""
        return self.names.get(float(x), "")


def name_rows(ax: Axes, places: Any, names: Sequence[str], *, minor: bool = False) -> None:
    """Name places along the y axis, as many as there is room for."""
    set_names(ax.yaxis, ax, places, names, LINE * small(), minor=minor)


def name_columns(ax: Axes, places: Any, names: Sequence[str], *, among: int | None = None) -> bool:
    """Name places along the x axis, upright if they would not stand side by side; say whether.

    Parameters
    ----------
    among : places that the axis has, those without names included; by default as many as names.
    """
    widest = reach(names) + 0.08
    upright = widest * (len(names) if among is None else among) > inches(ax)[0]
    set_names(ax.xaxis, ax, places, names, LINE * small() if upright else 72 * widest)
    if upright:
        ax.tick_params(axis="x", labelrotation=90)
    return upright


def set_names(axis: Axis, ax: Axes, places: Any, names: Sequence[str], gap: float, *, minor: bool = False) -> None:
    """Name places along an axis of axes whose size is that of `ax`."""
    if minor:
        axis.set_minor_locator(Names(ax, places, gap))
        axis.set_minor_formatter(NameOf(places, names))
    else:
        axis.set_major_locator(Names(ax, places, gap))
        axis.set_major_formatter(NameOf(places, names))
    axis.set_tick_params(which="minor" if minor else "major", labelsize=small(), length=0)


class AtDraw(Artist):
    """Does something whenever its axes are drawn, before anything else in them."""

    def __init__(self) -> None:
        super().__init__()
        self.set_zorder(-1000)
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Fit what belongs to the axes."""
        self.fit(renderer)

    def fit(self, renderer: Any) -> None:
        """To be written by each kind."""
        raise NotImplementedError


class CellNumbers(AtDraw):
    """Numbers in the cells of a heat map, hidden where one of them is larger than a cell."""

    def __init__(self, ax: Axes, numbers: Sequence[Text]) -> None:
        super().__init__()
        self.numbers = list(numbers)
        ax.add_artist(self)

    def fit(self, renderer: Any) -> None:
        """Show all or none."""
        ax = cast(Axes, self.axes)
        (left, low), (right, high) = ax.transData.transform([[0, 0], [1, 1]])
        sizes = np.array([text_size(text.get_text(), text.get_fontproperties(), renderer) for text in self.numbers])
        shown = bool((sizes.max(0) * [1.1, 1.0] <= [abs(right - left), abs(high - low)]).all())
        for text in self.numbers:
            text.set_visible(shown)


def text_size(text: str, font: FontProperties, renderer: Any) -> tuple[float, float]:
    """Width and height in pixels of a line of text."""
    wide, tall, _ = renderer.get_text_width_height_descent(text.replace(r"\$", "$"), font, False)
    return wide, tall
