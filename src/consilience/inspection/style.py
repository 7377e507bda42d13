"""One look for all plots: colours that the colour-blind can tell apart, and a shape beside each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path

# Okabe & Ito (2008) without yellow, which is too light for points on white
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")  # 10 and 7 have no common divisor: 70 pairs
SIZES = {"*": 1.5, "P": 1.25, "X": 1.25, "^": 1.1, "v": 1.1, "<": 1.1, ">": 1.1}  # for areas that look alike
SMALL = 8  # points of letters inside a plot
INK, FAINT = "#222222", "#767676"
RING: dict[str, Any] = {"ls": "", "marker": "o", "ms": 11, "mfc": "none", "mec": COLOURS[3], "mew": 2}  # what is in use
NOWHERE = "#E3D3B4"  # sand: where a heat map has nothing to show, apart from its greys and blues


def colour(cluster: int) -> str:
    """Colour of a cluster; together with `marker` unique among 70."""
    return COLOURS[cluster % len(COLOURS)]


def marker(cluster: int) -> str:
    """Shape of a cluster's points."""
    return MARKERS[cluster % len(MARKERS)]


def marker_scale(cluster: int) -> float:
    """Size of a cluster's shape beside a circle."""
    return SIZES.get(marker(cluster), 1.0)


def heat() -> Colormap:
    """Light grey to dark blue, the darker the more; grey for 0, so that such a cell shows on white paper."""
    return LinearSegmentedColormap.from_list("consilience", ["#F1F1EE", "#9CC3DC", "#3E86B8", "#08306B"])


def axes_of(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes given, or new ones on a figure of their own that pyplot does not hold."""
    return Figure(figsize=size, layout="constrained").subplots() if ax is None else ax


def tidy(ax: Axes) -> None:
    """Draw the left and lower spines only."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelsize=9)


def marker_outline(cluster: int) -> list[tuple[str, Any]]:
    """Outline of a cluster's marker in a box from (-1, -1) to (1, 1), y downwards: SVG commands and their points."""
    style = MarkerStyle(marker(cluster))
    path = style.get_path().transformed(style.get_transform())
    scale = 1 / np.abs(path.get_extents().extents).max()
    letters = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
    return [
        (letters[code], [] if code == Path.CLOSEPOLY else points * scale * ([1, -1] * (len(points) // 2)))
        for points, code in path.iter_segments(simplify=False)
    ]


@contextmanager
def plain_text() -> Iterator[None]:
    """Context in which text stays text in an SVG, ids do not depend on the run, and the browser finds the letters."""
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "consilience", "font.family": ["DejaVu Sans"]}
    with mpl.rc_context(settings | {"text.usetex": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # letters that matplotlib's font lacks
        yield
