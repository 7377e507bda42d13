"""Names next to points, as far as there is room; they are placed anew whenever the figure is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from consilience.analysis.names import plot_texts
from consilience.inspection.plots.style import Look, small
from consilience.inspection.plots.text_layout import AtDraw, text_size

LONGEST = 24  # characters of a name
AWAY = 7  # points from an item to its name
RADII = (14, 22, 32, 44, 58)  # the same for names at the end of a line
ANGLES = np.pi * np.array([0, 1, 1 / 6, 5 / 6, -1 / 6, -5 / 6, 1 / 3, 2 / 3, -1 / 3, -2 / 3, 1 / 2, -1 / 2])
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], dtype=float)


def name_points(
    ax: Axes,
    points: np.ndarray,
    names: Any,
    *,
    rules: Sequence[float] = (),
    uprights: Sequence[float] = (),
    leaders: bool = False,
) -> None:
    """Write each name next to its point, on the first side where it covers no point and no earlier name.

    Names do not cover the legend, the horizontal lines at the heights `rules` or the vertical ones at `uprights`.
    With `leaders`, names without room are put further away, at the end of a thin line. Names that still have no room
    are hidden.
    """
    look = Look.of(ax)
    line = {"arrowstyle": "-", "lw": 0.5, "color": look.faint, "shrinkA": 0, "shrinkB": 2}
    style: dict[str, Any] = {"fontsize": small(), "color": look.ink, "ha": "left", "va": "bottom", "zorder": 2.5}
    style |= {"arrowprops": line} if leaders else {}
    texts = [
        ax.annotate(name, (x, y), (AWAY, 0), textcoords="offset points", visible=False, **style)
        for (x, y), name in zip(points, plot_texts(list(names), LONGEST), strict=True)
    ]
    for text in texts:
        text.set_in_layout(False)
    ax.add_artist(PointNames(texts, points, rules, uprights))


def n_named(ax: Axes) -> int:
    """Return how many points have a visible name; the figure is drawn for that, unless it has been."""
    if not all(names.is_fitted for names in ax.artists if isinstance(names, PointNames)):
        cast(Figure, ax.get_figure(root=True)).draw_without_rendering()
    return sum(text.get_visible() for text in ax.texts)


class PointNames(AtDraw):
    """Names of points; see `name_points`."""

    def __init__(
        self, texts: Sequence[Annotation], points: np.ndarray, rules: Sequence[float], uprights: Sequence[float]
    ) -> None:
        super().__init__()
        self.texts, self.points = list(texts), np.asarray(points, dtype=float)
        self.rules, self.uprights = list(rules), list(uprights)
        self.is_fitted = False

    def fit(self, renderer: Any) -> None:
        """Give every name a place, or hide it."""
        self.is_fitted = True
        ax = cast(Axes, self.axes)
        scale = 72 / cast(Figure, ax.get_figure(root=True)).dpi
        places = ax.transData.transform(self.points) * scale
        frame = np.array(ax.get_window_extent().extents) * scale
        taken = np.vstack([np.hstack([places - 5, places + 5]), *self._others(ax, renderer, frame, scale)])
        sizes = [np.array(text_size(t.get_text(), t.get_fontproperties(), renderer)) * scale for t in self.texts]
        left = []
        for number, (place, size) in enumerate(zip(places, sizes, strict=True)):
            free = np.delete(taken, number, axis=0)
            boxes = (_box(place, AWAY * side, size) for side in SIDES)
            found = next((box for box in boxes if _is_free(box, frame, free)), None)
            _put_text(self.texts[number], place, found, led=False)
            if found is None:
                left.append(number)
            else:
                taken = np.vstack([taken, found])
        for number in left if self.texts and self.texts[0].arrow_patch is not None else []:
            found = _further_off(places[number], sizes[number], frame, taken)
            _put_text(self.texts[number], places[number], found, led=True)
            taken = taken if found is None else np.vstack([taken, found, _line_to(found, places[number])])

    def _others(self, ax: Axes, renderer: Any, frame: np.ndarray, scale: float) -> list[np.ndarray]:
        """Return the boxes of everything else that must not be covered."""
        heights = [ax.transData.transform((self.points[0, 0], rule))[1] * scale for rule in self.rules]
        boxes = [np.array([frame[0], height - 1, frame[2], height + 1]) for height in heights]
        across = [ax.transData.transform((upright, self.points[0, 1]))[0] * scale for upright in self.uprights]
        boxes += [np.array([place - 1, frame[1], place + 1, frame[3]]) for place in across]
        legend = ax.get_legend()
        if legend is not None:
            boxes.append(np.array(legend.get_window_extent(renderer).extents) * scale)
        return boxes


def _put_text(text: Annotation, place: np.ndarray, box: np.ndarray | None, *, led: bool) -> None:
    """Write a name into a box, or hide it if there is none."""
    text.set_visible(box is not None)
    if box is not None:
        text.set_position(tuple(box[:2] - place))
    if text.arrow_patch is not None:
        text.arrow_patch.set_visible(led)


def _box(place: np.ndarray, offset: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the box (left, bottom, right, top) of a text at an offset from a place, on the side away from it."""
    low = place + offset - size * (1 - offset / max(np.abs(offset).max(), 1e-9)) / 2
    return np.concatenate([low, low + size])


def _further_off(place: np.ndarray, size: np.ndarray, frame: np.ndarray, taken: np.ndarray) -> np.ndarray | None:
    """Return the nearest free box whose line from the point crosses nothing else; None if there is none."""
    others = taken[((place < taken[:, :2]) | (place > taken[:, 2:])).any(1)]
    for radius in RADII:
        for angle in ANGLES:
            direction = np.array([np.cos(angle), np.sin(angle)])
            box = _box(place, radius * direction, size)
            if not _is_free(box, frame, taken):
                continue
            line = place + np.arange(radius)[:, None] * direction  # in steps that miss no rule
            within = (line[:, None] > others[:, :2]) & (line[:, None] < others[:, 2:])
            if not within.all(2).any():
                return box
    return None


def _line_to(box: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return small boxes along the line from a point to its name, except next to the point."""
    nearest = np.clip(place, box[:2], box[2:])
    along = place + np.linspace(0.4, 1, 5)[:, None] * (nearest - place)
    return np.hstack([along - 1, along + 1])


def _is_free(box: np.ndarray, frame: np.ndarray, taken: np.ndarray) -> bool:
    """Whether a box (left, bottom, right, top) lies within the frame and overlaps none of the boxes taken."""
    inside = (box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all()
    apart = (taken[:, :2] >= box[2:]) | (taken[:, 2:] <= box[:2])
    return bool(inside and apart.any(1).all())
