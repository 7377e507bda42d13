"""Parts that heat maps share: shaded cells, their names and numbers, lines between them, the colour bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from consilience.inspection.plots.style import Look, on, small
from consilience.inspection.plots.text_layout import (
    LONGEST,
    ROOM,
    CellNumbers,
    fitting_names,
    inches,
    is_laid_out,
    make_room,
    name_columns,
    name_rows,
    reach,
    room,
    upright,
    wrap_label,
)

ROW, COLUMN = 0.17, 0.3  # inches
BAR = 2.3  # inches of a colour bar, enough for its label
BESIDE = (0.12, 0.14)  # inches from the axes to their colour bar, and its width
MOST_NAMED = 60  # rows up to which a heat map of a report names them
MOST_NUMBERED = 12  # rows up to which the cells contain numbers
SHEET_LETTER = 0.07  # inches of a character on a `Sheet`
LOW = 2.2  # inches of height below which a matrix has no upright names of columns


def draw_cells(
    ax: Axes, values: np.ndarray, write: Callable[[float], str] | None = None, *, most: float = 1.0
) -> AxesImage:
    """Shade a cell for each value, from 0 to `most`; if cells are few, `write` formats the values written in them."""
    heat = Look.of(ax).heat()
    image = ax.imshow(values, cmap=heat, vmin=0, vmax=most, aspect="auto", interpolation="none")
    if write is not None and max(values.shape) <= MOST_NUMBERED:
        write_numbers(ax, image, values, write)
    return image


def draw_square(
    ax: Axes, values: np.ndarray, names: Sequence[Any], unknown: dict[str, Any], *, labels: bool
) -> AxesImage:
    """Shade a matrix whose rows and columns are the same, with names to the left and below.

    unknown : properties of the patch of cells without a value
    """
    image = draw_cells(ax, values, two_digits)
    ax.patch.set(**unknown)
    name_both(ax, names, labels=labels)
    inner = np.arange(1, len(names)) - 0.5 if len(names) <= MOST_NAMED else np.empty(0)
    rule(ax, inner, inner, width=0.6)
    return image


def name_both(ax: Axes, names: Sequence[Any], *, labels: bool) -> None:
    """Name the rows of a square matrix and its columns, upright or not; do nothing if `labels` is false.

    If there is no room, columns are not named: their names are those of the rows.
    """
    if not labels:
        ax.set_xticks([])
        ax.set_yticks([])
        return
    wide, tall = inches(ax)
    texts = fitting_names(names, ROOM * min(wide, tall), LONGEST)
    turned = upright(ax, texts)
    make_room(ax, left=reach(texts) - 0.4, bottom=reach(texts) - 0.15 if turned else 0.0)
    name_rows(ax, np.arange(len(texts)), texts)
    if turned and tall < LOW:
        ax.set_xticks([])
    else:
        name_columns(ax, np.arange(len(texts)), texts)


def colour_bar(
    image: ScalarMappable,
    ax: Axes,
    label: str,
    *,
    extend: Any = "neither",
    below: float = 0.0,
    tall: float | None = None,
) -> Axes:
    """Draw a colour bar next to the axes, at their upper end, and leave `below` inches free below it.

    Names below the axes must already be there. `tall` is the height that the axes will have, if it is known.
    """
    look, figure = Look.of(ax.figure), cast(Figure, ax.get_figure(root=True))
    make_room(ax, right=BESIDE[0] + BESIDE[1] + 0.65)
    tall = tall if tall is not None and is_laid_out(ax) else room(ax)[1]
    share = min(1.0, BAR / tall, max((tall - below) / tall, 0.3))
    right = figure.dpi_scale_trans + ScaledTranslation(1, 0, cast(Any, ax.transAxes))
    bar = ax.inset_axes(
        (BESIDE[0], 1 - share, BESIDE[1], share), transform=blended_transform_factory(right, ax.transAxes)
    )
    drawn = figure.colorbar(image, cax=bar, extend=extend)
    drawn.set_label(wrap_label(label, 0.85 * share * tall, small()), fontsize=small(), color=look.ink)
    bar.tick_params(labelsize=small(), colors=look.ink)
    drawn.outline.set_visible(False)
    return bar


def rule(ax: Axes, across: np.ndarray, down: np.ndarray, *, width: float = 2.2) -> None:
    """Draw lines in the colour of the background between columns and between rows, at the given places."""
    paper = Look.of(ax.figure).paper
    ax.vlines(across, 0, 1, color=paper, lw=0.6, transform=ax.get_xaxis_transform())
    ax.hlines(down, 0, 1, color=paper, lw=width, transform=ax.get_yaxis_transform())
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def write_numbers(ax: Axes, image: Any, values: np.ndarray, write: Callable[[float], str]) -> None:
    """Write the value of each cell into it, in a colour that stands out, if cells have room for it."""
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 0.875 * small()}
    numbers = [
        ax.text(column, row, write(value), color=on(image.to_rgba(value)[:3]), **style)
        for (row, column), value in np.ndenumerate(values)
        if np.isfinite(value)
    ]
    if numbers:
        CellNumbers(ax, numbers)


def two_digits(value: float) -> str:
    """Format a number as in .25, −.08, 0 and 1."""
    if value in (0, 1) or abs(value) < 0.005:
        return str(round(value))
    return f"{value:.2f}".replace("-", "\u2212").replace("0.", ".", 1)
