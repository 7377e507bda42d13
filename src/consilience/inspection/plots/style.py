"""The look of all plots: colours that the colour-blind can distinguish, each with a shape, on light or dark paper."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import TightLayoutEngine
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path

BLACK = "#000000"  # white on dark paper
# Okabe & Ito (2008) without yellow, which is too light for points on white; then those that colour-blind people tell as
# well from them and from each other, as simulated by Machado, Oliveira & Fernandes (2009)
COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", BLACK),
    *("#A000F0", "#845A30", "#A0A050", "#A078F0", "#B4008C"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p")  # 11 and 12 have no common divisor: 132 pairs
SIZES = {"p": 1.1, "*": 1.5, "P": 1.25, "X": 1.25, "^": 1.1, "v": 1.1, "<": 1.1, ">": 1.1}  # so that areas look equal
SMALL = 8  # font size inside a plot, relative to 10 in the style
INK, FAINT = "#222222", "#767676"  # of a report
HEAT = ("#F1F1EE", "#9CC3DC", "#3E86B8", "#08306B")  # grey for 0, so that the cell is visible on white paper
GLOW = ("#2B2D30", "#1F5C86", "#4F9FD0", "#DCEFFA")  # the same on dark paper
NO_DATA, NO_DATA_DARK = "#E3D3B4", "#6B5A36"  # sand: cells of a heat map without a value
LEGIBLE = 4.5  # least contrast of text, by the Web Content Accessibility Guidelines
Place = Axes | FigureBase
"""Where to draw: axes, or an empty figure."""


@dataclass(frozen=True)
class Look:
    """Colours that are visible on the background of some axes.

    paper : colour behind the axes.
    ink, faint : of text and lines, and of what is less important.
    dark : whether the paper is dark.
    """

    paper: str
    ink: str
    faint: str
    dark: bool

    @classmethod
    def of(cls, where: Axes | Any) -> Look:
        """Return the look of axes or of a figure: text in the colour of the style in use, if it is legible there."""
        paper = _paper(where)
        dark = _luminance(paper) < 0.18  # where black and white text are equally legible
        styled = to_rgb(mpl.rcParams["text.color"])
        ink = styled if _contrast(styled, paper) >= LEGIBLE else to_rgb("#EEEEEE" if dark else INK)
        faint = tuple(0.62 * above + 0.38 * below for above, below in zip(ink, paper, strict=True))
        return cls(to_hex(paper), to_hex(ink), to_hex(cast(Any, faint)), dark)

    def colour(self, cluster: int) -> str:
        """Colour of a cluster; with `marker`, unique among 132 clusters."""
        plain = colour(cluster)
        return "#FFFFFF" if self.dark and plain == BLACK else plain

    def heat(self) -> Colormap:
        """Colour map from almost the background to what stands out most."""
        return LinearSegmentedColormap.from_list("consilience", GLOW if self.dark else HEAT)

    @property
    def no_data(self) -> str:
        """Colour of cells without a value, distinct from the greys and blues of a heat map."""
        return NO_DATA_DARK if self.dark else NO_DATA

    def ring(self) -> dict[str, Any]:
        """Style of the ring around the value in use."""
        return {"ls": "", "marker": "o", "ms": 11, "mfc": "none", "mec": self.colour(3), "mew": 2}


def small() -> float:
    """Font size inside a plot and of names next to it."""
    return SMALL * float(mpl.rcParams["font.size"]) / 10


def colour(cluster: int) -> str:
    """Return the colour of a cluster on white paper."""
    return COLOURS[cluster % len(COLOURS)]


def marker(cluster: int) -> str:
    """Return the shape of a cluster's points."""
    return MARKERS[cluster % len(MARKERS)]


def marker_scale(cluster: int) -> float:
    """Return the size of a cluster's shape relative to a circle."""
    return SIZES.get(marker(cluster), 1.0)


class Sheet(Figure):
    """A figure outside pyplot, of the size that the plot on it needs."""

    def __init__(self) -> None:
        super().__init__(layout=TightLayoutEngine(rect=cast(Any, None)))  # with a rectangle, it lays out twice
        FigureCanvasAgg(self)  # which measures all text of the figure with one renderer


def axes_of(ax: Place | None, size: tuple[float, float]) -> Axes:
    """Return the given axes, new ones on the given figure, or pyplot's current ones if they are empty.

    If no figure is open, or something is drawn on the current axes, pyplot makes a figure of the given size; a `Sheet`
    is resized to it. A current figure with nothing else on it and no layout gets one, so that labels are not cut off.
    """
    if isinstance(ax, Sheet):
        ax.set_size_inches(*size)
    if isinstance(ax, FigureBase):
        return ax.add_subplot()
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    if not plt.get_fignums() or (plt.gcf().axes and plt.gca().has_data()):
        plt.figure(figsize=size, layout="tight")
    current, figure = plt.gca(), plt.gcf()
    if figure.get_layout_engine() is None and figure.axes == [current]:
        figure.set_layout_engine("tight")
    return current


def tidy(ax: Axes) -> None:
    """Draw the left and lower spines only."""
    ax.spines[["top", "right"]].set_visible(False)


def on(face: Any) -> str:
    """Return black or white, whichever stands out more on a colour."""
    rgb = to_rgb(face)
    return "#000000" if _contrast((0, 0, 0), rgb) >= _contrast((1, 1, 1), rgb) else "#FFFFFF"


def marker_outline(cluster: int) -> list[tuple[str, Any]]:
    """Return the outline of a cluster's marker in a box from (-1, -1) to (1, 1), y downwards, as SVG commands."""
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
    """Make figures independent of the style in use, and keep text as text in an SVG.

    Ids are deterministic, and the browser renders the text.
    """
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "consilience", "font.family": ["DejaVu Sans"]}
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    sizes = dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 9)
    with matplotlib.style.context(["default", settings | inks | sizes]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # characters missing from matplotlib's font
        yield


def _paper(where: Any) -> tuple[float, float, float]:
    """Return the opaque colour behind axes or a figure; if all is transparent, one on which text is visible."""
    shown = to_rgb("black" if _luminance(to_rgb(mpl.rcParams["text.color"])) > 0.5 else "white")
    behind = where.get_figure(root=False) if isinstance(where, Axes) else None
    faces = [where.get_facecolor()]
    while behind is not None:
        faces.append(behind.get_facecolor())
        above = behind.get_figure(root=False)
        behind = None if above is behind else above
    for face in reversed(faces):
        *rgb, alpha = to_rgba(face)
        shown = cast(Any, tuple(alpha * above + (1 - alpha) * below for above, below in zip(rgb, shown, strict=True)))
    return shown


def _luminance(rgb: Any) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def _contrast(one: Any, other: Any) -> float:
    darker, lighter = sorted([_luminance(one), _luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)
