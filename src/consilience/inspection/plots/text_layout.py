"""Text that must fit the space available: names of rows and columns, numbers in cells, labels broken into lines.

Axes change their size after they were drawn on: a title is set, a layout is applied, a figure is resized. So what fits
is decided whenever the figure is drawn; only line breaks in labels, and cuts of very long names, depend on the size at
first.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
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

from consilience.analysis.names import plot_texts, width
from consilience.inspection.plots.style import small

LETTER = 0.63  # width of a character of a name, in font sizes
LINE = 1.25  # height of a line, in font sizes
LONGEST = 32  # characters of a name
BESIDE = 0.75  # share of the axes in which names of columns must fit, since a layout may shrink them
SMALL_AXES = 3.0  # inches of width below which captions are small
MARGIN = 0.3  # inches around axes that are free in addition to their ticks
ROOM = 0.4  # share of the axes that names next to them may take


def inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes in inches."""
    dpi = cast(Figure, ax.get_figure(root=True)).dpi
    return float(ax.bbox.width) / dpi, float(ax.bbox.height) / dpi


def room(ax: Axes) -> tuple[float, float]:
    """Return the width and height in inches that axes will have once a layout has made room for what is around them."""
    figure = cast(Figure, ax.get_figure(root=True))
    wide, tall = inches(ax)
    around, box, edge = (ax.get_tightbbox() if is_laid_out(ax) else None), ax.bbox, figure.bbox
    if around is None:
        return wide, tall
    outside = [
        (box.x0 - around.x0, box.x0 - edge.x0),
        (around.x1 - box.x1, edge.x1 - box.x1),
        (box.y0 - around.y0, box.y0 - edge.y0),
        (around.y1 - box.y1, edge.y1 - box.y1),
    ]
    left, right, below, above = (
        max(taken - min(free, MARGIN * figure.dpi), 0.0) / figure.dpi for taken, free in outside
    )
    return float(max(wide - left - right, 0.2 * wide)), float(max(tall - below - above, 0.2 * tall))


def is_laid_out(ax: Axes) -> bool:
    """Whether the figure has a layout that makes room around its axes."""
    engine = cast(Figure, ax.get_figure(root=True)).get_layout_engine()
    return not (engine is None or isinstance(engine, PlaceHolderLayoutEngine))


def reach(names: Sequence[str]) -> float:
    """Return the width in inches of the widest of some names."""
    return max(map(width, names), default=0) * LETTER * small() / 72


def fitting_names(names: Sequence[Any], room: float, longest: int = LONGEST) -> list[str]:
    """Return names as text, cut to at most `room` inches."""
    letters = int(72 * room / (LETTER * small()))
    return plot_texts(names, min(max(letters, 4), longest))


def make_room(ax: Axes, *, left: float = 0.0, right: float = 0.0, bottom: float = 0.0, top: float = 0.0) -> None:
    """Shrink axes within their place, by inches on each side, if the figure has no layout that would do so."""
    if is_laid_out(ax):
        return
    wide, tall = inches(ax)
    across = min(1.0, 0.7 * wide / max(left + right, 1e-9))
    left, right, bottom = max(left, 0) * across, max(right, 0) * across, min(max(bottom, 0), 0.5 * tall)
    if not max(left, right, bottom, top):
        return
    place = ax.get_subplotspec()
    if place is None:
        box = ax.get_position()
        x, y = box.width / wide, box.height / tall
        ax.set_position((box.x0 + left * x, box.y0 + bottom * y, (wide - left - right) * x, (tall - bottom - top) * y))
        return
    widths, heights = [left, wide - left - right, right], [top, tall - bottom - top, bottom]
    ax.set_subplotspec(place.subgridspec(3, 3, wspace=0, hspace=0, width_ratios=widths, height_ratios=heights)[1, 1])


def label_axes(ax: Axes, x: str | None, y: str | None, *, labels: bool, caption: str = "") -> None:
    """Label both axes if `labels` is true, and add a caption below, which says what is not drawn.

    Everything else around the axes must already be there.
    """
    wide, tall = room(ax)
    below = [text for text in ([x] if x and labels else []) + caption.split("\n") if text]
    if below:
        if caption and wide < SMALL_AXES:
            ax.xaxis.label.set_fontsize(small())
        ax.set_xlabel("\n".join(wrap_label(text, wide, ax.xaxis.label.get_fontsize()) for text in below))
        make_room(ax, bottom=ax.get_xlabel().count("\n") * LINE * cast(float, ax.xaxis.label.get_fontsize()) / 72)
    if labels and y:
        points = ax.yaxis.label.get_fontsize()
        n_lines = ax.get_xlabel().count("\n") + 2 if ax.get_xlabel() else 0  # of the label below, and one more
        taken = n_lines * LINE * cast(float, ax.xaxis.label.get_fontsize()) / 72
        if wrap_label(y, tall - taken, points) != y:  # it is not clear that there is room in one line
            y = wrap_label(y, room(ax)[1], points)
        ax.set_ylabel(y)


def wrap_label(text: str, room: float, points: Any) -> str:
    """Break a label into lines of at most `room` inches each, as far as words allow."""
    letters = max(int(72 * room / (0.58 * points)), 8)
    return textwrap.fill(text, letters, break_long_words=False) if len(text) > letters else text


class Names(Locator):
    """Named places along an axis: all, or as many as fit.

    ax : axes whose size decides how many fit.
    places : in increasing order.
    gap : least distance between names, in points.
    """

    def __init__(self, ax: Axes, places: Any, gap: float) -> None:
        self.ax, self.places, self.gap = ax, np.asarray(places, dtype=float), gap

    def __call__(self) -> Any:
        """Return places within the limits of the axis, no two closer than the gap."""
        axis = cast(Axis, self.axis)
        low, high = sorted(axis.get_view_interval())
        shown = self.places[(self.places >= low) & (self.places <= high)]
        length = 72 * inches(self.ax)[isinstance(axis, YAxis)]
        # names exactly a gap apart fit, whatever the rounding
        apart = self.gap * (high - low) / max(length, 1e-9) * (1 - 1e-9)
        kept, at = [], 0
        while at < len(shown):
            kept.append(at)
            at = int(np.searchsorted(shown, shown[at] + apart))
        return shown[kept]

    def tick_values(self, vmin: Any, vmax: Any) -> Any:
        """Return the places within the view; the limits given play no part."""
        return self()


class NameOf(Formatter):
    """Formatter that names places on an axis."""

    def __init__(self, places: Any, names: Sequence[str]) -> None:
        self.names = dict(zip(np.asarray(places, dtype=float).tolist(), names, strict=True))

    def __call__(self, x: float, pos: Any = None) -> str:
        """Return the name of a place."""
        return self.names.get(float(x), "")


def name_rows(ax: Axes, places: Any, names: Sequence[str], *, minor: bool = False) -> None:
    """Name places along the y axis, as many as there is room for."""
    set_names(ax.yaxis, ax, places, names, LINE * small(), minor=minor)


def upright(ax: Axes, names: Sequence[str]) -> bool:
    """Whether names of columns do not fit side by side."""
    return (reach(names) + 0.08) * len(names) > BESIDE * inches(ax)[0]


def name_columns(ax: Axes, places: Any, names: Sequence[str]) -> bool:
    """Name places along the x axis, upright if they do not fit side by side; return whether they are upright."""
    widest = reach(names) + 0.08
    turned = upright(ax, names)
    set_names(ax.xaxis, ax, places, names, LINE * small() if turned else 72 * widest)
    if turned:
        ax.tick_params(axis="x", labelrotation=90)
    return turned


def set_names(axis: Axis, ax: Axes, places: Any, names: Sequence[str], gap: float, *, minor: bool = False) -> None:
    """Name places along an axis; the size of `ax` decides how many."""
    if minor:
        axis.set_minor_locator(Names(ax, places, gap))
        axis.set_minor_formatter(NameOf(places, names))
    else:
        axis.set_major_locator(Names(ax, places, gap))
        axis.set_major_formatter(NameOf(places, names))
    axis.set_tick_params(which="minor" if minor else "major", labelsize=small(), length=0)


class AtDraw(Artist, ABC):
    """Artist that is called whenever its axes are drawn, before anything else in them."""

    def __init__(self) -> None:
        super().__init__()
        self.set_zorder(-1000)
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Fit what belongs to the axes."""
        self.fit(renderer)

    @abstractmethod
    def fit(self, renderer: Any) -> None:
        """Move, show or hide what belongs to the axes, given their present size."""


class CellNumbers(AtDraw):
    """Numbers in the cells of a heat map, all hidden if one of them is larger than its cell."""

    def __init__(self, ax: Axes, numbers: Sequence[Text]) -> None:
        super().__init__()
        self.numbers = list(numbers)
        ax.add_artist(self)

    def fit(self, renderer: Any) -> None:
        """Show all or none."""
        ax = cast(Axes, self.axes)
        (left, low), (right, high) = ax.transData.transform([[0, 0], [1, 1]])
        sizes = np.array([text_size(text.get_text(), text.get_fontproperties(), renderer) for text in self.numbers])
        shown = bool((sizes.max(0) * [1.15, 1.05] <= [abs(right - left), abs(high - low)]).all())
        for text in self.numbers:
            text.set_visible(shown)


def text_size(text: str, font: FontProperties, renderer: Any) -> tuple[float, float]:
    """Return the width and height of a line of text in pixels; the height allows for ascenders and descenders."""
    wide, tall, _ = renderer.get_text_width_height_descent(text.replace(r"\$", "$"), font, False)
    _, usual, _ = renderer.get_text_width_height_descent("lp", font, False)
    return wide, max(tall, usual)
