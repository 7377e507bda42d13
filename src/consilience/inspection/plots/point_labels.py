"""Names next to points, as far as there is room; they are placed anew whenever the figure is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Annotation

from consilience.analysis.names import join_some, name_text, plot_text, plot_texts
from consilience.inspection.plots.style import Look, small
from consilience.inspection.plots.text_layout import AtDraw, text_size

LONGEST = 24  # characters of a name
AWAY = 7  # points from an item to its name
RADII = (14, 22, 32, 44, 58, 76, 98)  # the same for names at the end of a line
FARTHEST = 32  # the largest of them but for names that are written first, and where there are few
FEW = 30  # points whose names are all written if there is any room
BESIDE_ANOTHER = 10  # points from a name at the end of a line to another point, which it would seem to belong to
NEARER = 2  # points by which a name is nearer to its own point than to any other
UNWRITTEN = 12  # names without room that a caption lists
GAPS = (4, 14, 26)  # points from an outline to its name
ANGLES = np.pi / 12 * np.array([0, 12, 2, 10, -2, -10, 4, 8, -4, -8, 6, -6, *range(-11, 12, 2)])
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], dtype=float)


def name_points(
    ax: Axes,
    points: np.ndarray,
    names: Any,
    *,
    rules: Sequence[float] = (),
    uprights: Sequence[float] = (),
    leaders: bool = False,
    n_first: int = 0,
    outlines: Sequence[tuple[str, np.ndarray]] = (),
) -> None:
    """Write each name next to its point, on the first side where it covers no point and no earlier name.

    Names do not cover the legend, the horizontal lines at the heights `rules` or the vertical ones at `uprights`.
    With `leaders`, names without room, or of many as near to another point, are put further away, at the end of a thin
    line, but not beside another point.
    The first `n_first` may be further off and beside others, and come before any others; of the rest, those may that
    have no room else, if there are few. Names that still have no room are hidden. Names
    of `outlines`, each with the corners of a convex one, come before all others, bold, outside of it and of others.
    """
    look = Look.of(ax)
    line = {"arrowstyle": "-", "lw": 0.5, "color": look.faint, "shrinkA": 0, "shrinkB": 2}
    style: dict[str, Any] = {"fontsize": small(), "color": look.ink, "ha": "left", "va": "bottom", "zorder": 2.5}
    style |= {"arrowprops": line} if leaders else {}
    texts = [
        ax.annotate(name, (x, y), (AWAY, 0), textcoords="offset points", visible=False, **style)
        for (x, y), name in zip(points, plot_texts(list(names), LONGEST), strict=True)
    ]
    bold: dict[str, Any] = {**style, "fontweight": "bold", "arrowprops": None, "visible": False}
    around = [
        ax.annotate(plot_text(name, LONGEST), tuple(corners[0]), (0, 0), textcoords="offset points", **bold)
        for name, corners in outlines
    ]
    for text in (*texts, *around):
        text.set_in_layout(False)
    edges = [(text, corners) for text, (_, corners) in zip(around, outlines, strict=True)]
    ax.add_artist(PointNames(texts, list(names), points, rules=rules, uprights=uprights, n_first=n_first, edges=edges))


def n_named(ax: Axes) -> int:
    """Return how many points have a visible name; the figure is drawn for that, unless it has been."""
    return sum(text.get_visible() for names in _fit_names(ax) for text in names.texts)


def say_unwritten(ax: Axes) -> str:
    """Return a sentence on the points and words whose names had no room; empty if there are none, or no names."""
    named = [(name, text.get_visible()) for each in _fit_names(ax) for name, text in zip(each.names, each.texts)]
    left = [name_text(name) for name, is_written in named if not is_written]
    return f" Without room for a name: {join_some(left, UNWRITTEN)}." if 0 < len(left) < len(named) else ""


def _fit_names(ax: Axes) -> list[PointNames]:
    """Return the names of points once they have their places: the figure is drawn for that, unless it has been."""
    found = [names for names in ax.artists if isinstance(names, PointNames)]
    if not all(names.is_fitted for names in found):
        cast(Figure, ax.get_figure(root=True)).draw_without_rendering()
    return found


class PointNames(AtDraw):
    """Names of points; see `name_points`."""

    def __init__(
        self,
        texts: Sequence[Annotation],
        names: Sequence[Any],
        points: np.ndarray,
        *,
        rules: Sequence[float],
        uprights: Sequence[float],
        n_first: int,
        edges: Sequence[tuple[Annotation, np.ndarray]],
    ) -> None:
        super().__init__()
        self.texts, self.names, self.points = list(texts), list(names), np.asarray(points, dtype=float)
        self.rules, self.uprights = list(rules), list(uprights)
        self.n_first, self.edges = n_first, list(edges)
        self.is_fitted = False

    def fit(self, renderer: Any) -> None:
        """Give every name a place, or hide it."""
        self.is_fitted = True
        ax = cast(Axes, self.axes)
        scale = 72 / cast(Figure, ax.get_figure(root=True)).dpi
        places = ax.transData.transform(self.points) * scale
        frame = np.array(ax.get_window_extent().extents) * scale
        taken = np.vstack([np.hstack([places - 5, places + 5]), *self._others(ax, renderer, frame, scale)])
        taken = np.vstack([taken, *self._name_outlines(ax, renderer, frame, taken, scale)])
        sizes = [self._size(text, renderer, scale) for text in self.texts]
        led = bool(self.texts) and self.texts[0].arrow_patch is not None
        few = len(self.texts) - self.n_first <= FEW
        left = []
        for number, (place, size) in enumerate(zip(places, sizes, strict=True)):
            free = np.delete(taken, number, axis=0)
            boxes = [box for side in SIDES if _is_free(box := _box(place, AWAY * side, size), frame, free)]
            found = next((box for box in boxes if few or not led or _is_nearest(box, number, places)), None)
            _put_text(self.texts[number], place, found, led=False)
            if found is not None:
                taken = np.vstack([taken, found])
            elif led and number < self.n_first:
                taken = self._lead(number, places, size, frame, taken, is_first=True)
            else:
                left.append(number)
        for number in left if led else []:
            taken = self._lead(number, places, sizes[number], frame, taken)
        hidden = [number for number in left if not self.texts[number].get_visible()]
        for number in hidden if led and few else []:
            taken = self._lead(number, places, sizes[number], frame, taken, is_first=True)

    def _lead(
        self,
        number: int,
        places: np.ndarray,
        size: np.ndarray,
        frame: np.ndarray,
        taken: np.ndarray,
        *,
        is_first: bool = False,
    ) -> np.ndarray:
        """Write a name at the end of a line, or hide it; return what is taken then."""
        found = _further_off(number, places, size, frame, taken, is_first=is_first)
        _put_text(self.texts[number], places[number], found, led=True)
        return taken if found is None else np.vstack([taken, found, _line_to(found, places[number])])

    def _name_outlines(
        self, ax: Axes, renderer: Any, frame: np.ndarray, taken: np.ndarray, scale: float
    ) -> list[np.ndarray]:
        """Write the names of the outlines outside of their edges, or hide them; return their boxes."""
        rims = [ax.transData.transform(corners) * scale for _, corners in self.edges]
        boxes: list[np.ndarray] = []
        for number, (text, _) in enumerate(self.edges):
            others = [Path(rim) for place, rim in enumerate(rims) if place != number and len(rim) > 2]
            size = self._size(text, renderer, scale)
            free = (
                box
                for box in _boxes_around(rims[number], frame, size)
                if not any(path.contains_points(_corners(box)).any() for path in others)
                and _is_free(box, frame, np.vstack([taken, *boxes]))
            )
            found = next(free, None)
            _put_text(text, ax.transData.transform(text.xy) * scale, found, led=False)
            boxes += [] if found is None else [found]
        return boxes

    @staticmethod
    def _size(text: Annotation, renderer: Any, scale: float) -> np.ndarray:
        return np.array(text_size(text.get_text(), text.get_fontproperties(), renderer)) * scale

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


def _corners(box: np.ndarray) -> np.ndarray:
    """Return the corners and the middle of a box."""
    return np.vstack([box.reshape(2, 2), box[[0, 3, 2, 1]].reshape(2, 2), (box[:2] + box[2:]) / 2])


def _boxes_around(corners: np.ndarray, frame: np.ndarray, size: np.ndarray) -> Iterator[np.ndarray]:
    """Yield boxes of a text along the edges of a convex outline, outside of it, those nearest to the frame first."""
    ends = np.roll(corners, -1, axis=0)
    along, halfway = ends - corners, (ends + corners) / 2
    outward = np.column_stack([along[:, 1], -along[:, 0]])
    inward = (outward * (halfway - corners.mean(0))).sum(1) < 0
    outward[inward] *= -1
    if len(corners) == 1:
        outward = np.array([[0.0, 1.0]])
    if len(corners) < 3:  # no side is inside
        halfway, outward = np.vstack([halfway, halfway]), np.vstack([outward, -outward])
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-9)
    order = np.argsort(np.minimum(halfway - frame[:2], frame[2:] - halfway).min(1), kind="stable")
    for gap in GAPS:
        for edge in order.tolist():
            middle = halfway[edge] + outward[edge] * (gap + np.abs(outward[edge]) @ size / 2)
            yield np.concatenate([middle - size / 2, middle + size / 2])


def _further_off(
    number: int, places: np.ndarray, size: np.ndarray, frame: np.ndarray, taken: np.ndarray, *, is_first: bool = False
) -> np.ndarray | None:
    """Return the nearest free box whose line crosses nothing; None if none is, or unless it is first, beside others."""
    place, rest = places[number], np.delete(places, number, axis=0)
    others = taken[((place < taken[:, :2]) | (place > taken[:, 2:])).any(1)]
    for radius in RADII if is_first else [near for near in RADII if near <= FARTHEST]:
        for angle in ANGLES:
            direction = np.array([np.cos(angle), np.sin(angle)])
            box = _box(place, radius * direction, size)
            away = np.abs(np.clip(rest, box[:2], box[2:]) - rest).max(1, initial=0)
            beside = (away < BESIDE_ANOTHER).any() and not is_first
            if beside or not _is_free(box, frame, taken):
                continue
            line = place + np.arange(radius)[:, None] * direction  # in steps that miss no rule
            within = (line[:, None] > others[:, :2]) & (line[:, None] < others[:, 2:])
            if not within.all(2).any():
                return box
    return None


def _is_nearest(box: np.ndarray, number: int, places: np.ndarray) -> bool:
    """Whether a box is clearly nearer to its own point than to any other, which it would seem to belong to."""
    away = np.abs(np.clip(places, box[:2], box[2:]) - places).max(1)
    return bool((np.delete(away, number) >= away[number] + NEARER).all())


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
