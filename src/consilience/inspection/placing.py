"""Names beside points, where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from consilience.inspection.names import plot_text, width
from consilience.inspection.style import FAINT, SMALL

LONGEST = 24  # letters of a name
RADII = (14, 22, 32, 44, 58)  # points from an item to the begin of its name, if that stands further off
ANGLES = np.pi * np.array([0, 1, 1 / 6, 5 / 6, -1 / 6, -5 / 6, 1 / 3, 2 / 3, -1 / 3, -2 / 3, 1 / 2, -1 / 2])

SIDES: tuple[tuple[tuple[int, int], dict[str, Any]], ...] = (
    ((1, 0), {"ha": "left", "va": "center"}),
    ((-1, 0), {"ha": "right", "va": "center"}),
    ((0, 1), {"ha": "center", "va": "bottom"}),
    ((0, -1), {"ha": "center", "va": "top"}),
)


def name_points(
    ax: Axes, points: np.ndarray, names: Any, *, rules: Sequence[float] = (), leaders: bool = False
) -> None:
    """Write each name beside its point, on the first side where it covers no point and no name before it.

    Nor does it cover the horizontal lines at the heights `rules`. With `leaders`, names without room stand further off,
    at the end of a thin line, as far as there is room.
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
    left = []
    for number, (place, name) in enumerate(zip(places, names, strict=True)):
        text = plot_text(name, LONGEST)
        for side, align in SIDES:
            box = _box(place, 7 * np.array(side), text)
            if _is_free(box, frame, np.delete(taken, number, axis=0)):
                offset = (7 * side[0], 7 * side[1])
                ax.annotate(text, points[number], offset, textcoords="offset points", fontsize=SMALL, **align)
                taken = np.vstack([taken, box])
                break
        else:
            left.append((number, text))
    for number, text in left if leaders else []:
        found = _further_off(places[number], text, frame, taken)
        if found is not None:
            _lead_to(ax, points[number], found - np.tile(places[number], 2), text)
            taken = np.vstack([taken, found])


def _box(place: np.ndarray, offset: np.ndarray, text: str) -> np.ndarray:
    """Box (left, bottom, right, top) of a text that begins at an offset from a place, on the far side of it."""
    size = np.array([0.62 * SMALL * width(text), 1.25 * SMALL])
    low = place + offset - size * (1 - offset / max(np.abs(offset).max(), 1e-9)) / 2
    return np.concatenate([low, low + size])


def _lead_to(ax: Axes, point: np.ndarray, box: np.ndarray, text: str) -> None:
    """Write a name into a box, given from its point on, and draw a thin line to it."""
    nearest = np.clip(-box[:2] / (box[2:] - box[:2]), 0, 1)
    line = {"arrowstyle": "-", "lw": 0.5, "color": FAINT, "shrinkA": 0, "shrinkB": 2, "relpos": tuple(nearest)}
    style: dict[str, Any] = {"fontsize": SMALL, "ha": "left", "va": "bottom", "arrowprops": line, "zorder": 2}
    ax.annotate(text, (point[0], point[1]), tuple(box[:2]), textcoords="offset points", **style)


def _further_off(place: np.ndarray, text: str, frame: np.ndarray, taken: np.ndarray) -> np.ndarray | None:
    """Nearest free box to which a line leads that crosses nothing further off; None if there is none."""
    others = taken[((place < taken[:, :2]) | (place > taken[:, 2:])).any(1)]
    for radius in RADII:
        for angle in ANGLES:
            direction = np.array([np.cos(angle), np.sin(angle)])
            box = _box(place, radius * direction, text)
            line = place + np.linspace(0, radius, 12)[:, None] * direction
            within = (line[:, None] > others[:, :2]) & (line[:, None] < others[:, 2:])
            if _is_free(box, frame, taken) and not within.all(2).any():
                return box
    return None


def _is_free(box: np.ndarray, frame: np.ndarray, taken: np.ndarray) -> bool:
    """Whether a box (left, bottom, right, top) lies within the frame and covers nothing taken."""
    inside = (box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all()
    apart = (taken[:, :2] >= box[2:]) | (taken[:, 2:] <= box[:2])
    return bool(inside and apart.any(1).all())
