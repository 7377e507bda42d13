"""Names beside points, where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from consilience.inspection.names import plot_text, width
from consilience.inspection.style import SMALL

SIDES: tuple[tuple[tuple[int, int], dict[str, Any]], ...] = (
    ((1, 0), {"ha": "left", "va": "center"}),
    ((-1, 0), {"ha": "right", "va": "center"}),
    ((0, 1), {"ha": "center", "va": "bottom"}),
    ((0, -1), {"ha": "center", "va": "top"}),
)


def name_points(ax: Axes, points: np.ndarray, names: Any, *, rules: Sequence[float] = ()) -> None:
    """Write each name beside its point, on the first side where it covers no point and no name before it.

    Nor does it cover the horizontal lines at the heights `rules`.
    """
    figure = cast(Figure, ax.get_figure(root=True))
    figure.draw_without_rendering()  # fixes the layout, and so where the points are
    scale = 72 / figure.dpi
    places = ax.transData.transform(points) * scale
    frame = np.array(ax.get_window_extent().extents) * scale
    taken = np.hstack([places - 5, places + 5])
    for rule in rules:
        height = ax.transData.transform((points[0, 0], rule))[1] * scale
        taken = np.vstack([taken, [frame[0], height - 1, frame[2], height + 1]])
    for number, (place, name) in enumerate(zip(places, names, strict=True)):
        text = plot_text(name, 24)
        size = np.array([0.62 * SMALL * width(text), 1.25 * SMALL])
        for side, align in SIDES:
            low = place + 7 * np.array(side) - size * (1 - np.array(side)) / 2
            box = np.concatenate([low, low + size])
            if _is_free(box, frame, np.delete(taken, number, axis=0)):
                offset = (7 * side[0], 7 * side[1])
                ax.annotate(text, points[number], offset, textcoords="offset points", fontsize=SMALL, **align)
                taken = np.vstack([taken, box])
                break


def _is_free(box: np.ndarray, frame: np.ndarray, taken: np.ndarray) -> bool:
    """Whether a box (left, bottom, right, top) lies within the frame and covers nothing taken."""
    inside = (box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all()
    apart = (taken[:, :2] >= box[2:]) | (taken[:, 2:] <= box[:2])
    return bool(inside and apart.any(1).all())
