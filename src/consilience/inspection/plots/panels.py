"""Plots of several panels, which take the place of one axes; that stays, for a title and labels common to all."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec, GridSpecFromSubplotSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from consilience.inspection.plots.curves import whole_numbers
from consilience.inspection.plots.style import Place, axes_of, small, tidy
from consilience.inspection.plots.text_layout import fitting_names, inches, label_axes

BESIDE, BELOW = 0.9, 0.15  # inches between curves side by side, and one below the other
COUNTED = ("annotators", "clusters")  # prefixes of measures that are whole numbers
LEAST = 1.2  # inches, the smallest width of a curve


def host_of(ax: Place | None, size: tuple[float, float]) -> Axes:
    """Return the axes whose place the panels take: those of `axes_of`, emptied of everything of their own."""
    host = axes_of(ax, size)
    host.set_xticks([])
    host.set_yticks([])
    host.spines[:].set_visible(False)
    host.patch.set_visible(False)
    host.set_navigate(False)
    return host


def panels_in(
    host: Axes,
    n_rows: int,
    n_columns: int,
    *,
    between: tuple[float, float],
    left: float = 0.0,
    below: float = 0.0,
    above: float = 0.0,
) -> list[Axes]:
    """Make the axes of panels, row by row.

    host : axes from `host_of`; if they are pyplot's current axes, they stay so.
    between : inches from a panel to the next, across and down.
    left, below, above : inches inside the host for names and titles of the outer panels.
    """
    figure = host.get_figure(root=False)
    if figure is None:
        raise ValueError("The axes are not part of a figure.")
    if isinstance(cast(Figure, host.get_figure(root=True)).get_layout_engine(), ConstrainedLayoutEngine):
        grid = _grid(host, n_rows, n_columns)
        cells = [grid[row, column] for row in range(n_rows) for column in range(n_columns)]
    else:
        wide, tall = inches(host)
        widths = _ratios(n_columns, left, between[0], 0.0, wide)
        heights = _ratios(n_rows, above, between[1], below, tall)
        fixed: dict[str, Any] = {"wspace": 0, "hspace": 0, "width_ratios": widths, "height_ratios": heights}
        grid = _grid(host, len(heights), len(widths), **fixed)
        cells = [grid[1 + 2 * row, 1 + 2 * column] for row in range(n_rows) for column in range(n_columns)]
    if host.get_subplotspec() is None:
        panels = [figure.add_axes(cell.get_position(figure).bounds) for cell in cells]
    else:
        panels = [figure.add_subplot(cell) for cell in cells]
    figure.sca(host)
    return panels


def curve_panels(host: Axes, n: int) -> list[Axes]:
    """Make axes of n curves: side by side if they are wide enough then, else one below the other."""
    wide = inches(host)[0]
    if (wide - (n - 1) * BESIDE) / n >= LEAST:
        return panels_in(host, 1, n, between=(BESIDE, 0.0))
    title = 1.5 * small() / 72
    panels = panels_in(host, n, 1, between=(0.0, BELOW + title), above=title)
    for panel in panels[:-1]:
        panel.sharex(panels[-1])
        panel.tick_params(labelbottom=False)
    return panels


def label_curves(panels: list[Axes], x: str, measures: list[str], *, labels: bool) -> None:
    """Label curves over the same whole numbers; if one is below the other, the measure is the title of each."""
    stacked = panels[0].get_shared_x_axes().joined(panels[0], panels[-1])
    for panel, measure in zip(panels, measures, strict=True):
        whole_numbers(panel.xaxis)
        tidy(panel)
        if not stacked:
            label_axes(panel, x, measure, labels=labels)
            continue
        panel.tick_params(axis="y", labelsize=small())
        ticks = max(int(inches(panel)[1] * 72 / (4 * small())), 1)
        panel.yaxis.set_major_locator(MaxNLocator(ticks, min_n_ticks=1, integer=measure.startswith(COUNTED)))
        if labels:
            text = fitting_names([measure], inches(panel)[0], 60)[0]
            panel.set_title(text, loc="left", fontsize=small(), pad=2)
    if stacked:
        label_axes(panels[-1], x, None, labels=labels)


def _grid(host: Axes, n_rows: int, n_columns: int, **fixed: Any) -> Any:
    place = host.get_subplotspec()
    if place is not None:
        return GridSpecFromSubplotSpec(n_rows, n_columns, subplot_spec=place, **fixed)
    box = host.get_position()
    edges = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
    return GridSpec(n_rows, n_columns, figure=cast(Any, host.get_figure(root=False)), **edges, **fixed)


def _ratios(n: int, before: float, between: float, after: float, whole: float) -> list[float]:
    """Return the inches of the margins, the panels and the gaps between them, in order."""
    free = before + (n - 1) * between + after
    shrunk = min(1.0, 0.75 * whole / max(free, 1e-9))
    panel = (whole - shrunk * free) / n
    inner = np.ravel([[panel, shrunk * between]] * n)[:-1].tolist()
    return [shrunk * before, *inner, shrunk * after]
