"""Plots of the difference of two studies: which pairs of items changed, and how clusters correspond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from consilience.analysis.names import plot_text
from consilience.analysis.studies.study_difference import StudyDifference
from consilience.analysis.words import current_words
from consilience.errors import InputError
from consilience.inspection.plots.matrix import (
    MOST_NAMED,
    MOST_NUMBERED,
    colour_bar,
    name_both,
    rule,
    two_digits,
    write_numbers,
)
from consilience.inspection.plots.scatter import say_sampled, some_of
from consilience.inspection.plots.style import Look, Place, axes_of, small
from consilience.inspection.plots.text_layout import AtDraw, label_axes

__all__ = ["plot_difference", "plot_flow"]

LESS, MORE = ("#7F3000", "#D55E00", "#F2BE9A"), ("#9CC3DC", "#3E86B8", "#08306B")  # the colour-blind tell them apart
LESS_DARK, MORE_DARK = ("#FFC9A3", "#D9772E", "#6E3510"), ("#1F4F74", "#4F9FD0", "#DCEFFA")
NEITHER, NEITHER_DARK = "#F1F1EE", "#2B2D30"
LARGEST = 6.2  # inches of the matrix
CELL = 0.165  # inches of a row that has a name
GAP = 0.5  # items between two clusters
BAR = 0.035  # width of a cluster, of the distance of the studies
LONGEST = 26  # characters of a cluster's name
MOST_SORTED = 400  # items whose order is the best; of more, one that is nearly so


def plot_difference(
    difference: Any, *, max_items: int = 300, ax: Place | None = None, labels: bool = True, colorbar: bool = True
) -> Axes:
    """Draw for each pair of items how much more or less often it was together in the second study.

    Blue pairs are together more often than in the first study, orange ones less often. Items that were together in
    either study are next to each other.

    Parameters
    ----------
    difference : StudyDifference
        Returned by `study_difference`.
    max_items : int, default=300
        Largest number of items to draw. Of more, a random sample is drawn, and a line below the plot says so.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    colorbar : bool, default=True
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `difference` is not a StudyDifference.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import plot_difference, study_difference
    >>> before = Groupings.from_lists([[["ant", "bee", "owl"], ["cow", "pig"]]] * 6)
    >>> after = Groupings.from_lists([[["ant", "bee"], ["cow", "pig", "owl"]]] * 6)
    >>> ax = plot_difference(study_difference(before, after, random_state=0))
    >>> len(ax.get_yticklabels())
    5
    """
    found = _require(difference, "plot_difference")
    places = some_of(np.arange(len(found.items)), max_items)
    values = found.matrix().to_numpy()[np.ix_(places, places)]
    places_in_order = item_order(found, places)
    order = np.searchsorted(places, places_in_order)  # where each is among the sorted places
    values = values[np.ix_(order, order)]
    names = list(found.items.index[places_in_order])
    n = len(names)
    side = max(min(0.3 * n, LARGEST), 1.8, CELL * n if n <= MOST_NAMED else 0.0)
    longest = max(len(plot_text(name, 40)) for name in names)
    margin = 0.07 * min(longest, 40) + 0.3 if n <= MOST_NAMED else 0.3
    ax = axes_of(ax, (side + margin + 1.1, side + margin + 0.3))
    look = Look.of(ax)
    most = max(np.ceil(10 * np.nanmax(abs(values), initial=0.0)) / 10, 0.1)
    image = ax.imshow(
        values, cmap=diverging(dark=look.dark), vmin=-most, vmax=most, aspect="auto", interpolation="none"
    )
    ax.patch.set(facecolor=look.no_data)
    if n <= MOST_NUMBERED:
        write_numbers(ax, image, values, two_digits)
    name_both(ax, names, labels=labels and n <= MOST_NAMED)
    inner = np.arange(1, n) - 0.5 if n <= MOST_NAMED else np.empty(0)
    rule(ax, inner, inner, width=0.6)
    if colorbar:
        colour_bar(image, ax, f"{plot_text(found.names[1], 20)} less {plot_text(found.names[0], 20)}")
    caption = say_sampled(n, len(found.items))
    label_axes(
        ax,
        f"{current_words().items}, the similar ones together" if n > MOST_NAMED else "",
        None,
        labels=labels,
        caption=caption,
    )
    return ax


def item_order(found: StudyDifference, places: Int[np.ndarray, " some"]) -> Int[np.ndarray, " some"]:
    """Order items so that those who are together in either study are next to each other."""
    if len(places) < 3:
        return places
    shares = np.fmax(found.matrix("first").to_numpy(), found.matrix("second").to_numpy())[np.ix_(places, places)]
    distance = 1 - np.nan_to_num(shares, nan=0.0)
    np.fill_diagonal(distance, 0)
    flat = squareform(distance, checks=False)
    tree = hierarchy.linkage(flat, "average")
    if len(places) <= MOST_SORTED:
        tree = hierarchy.optimal_leaf_ordering(tree, flat)
    return np.asarray(places[hierarchy.leaves_list(tree)])


def diverging(*, dark: bool = False) -> Colormap:
    """Return a colour map from less (orange) to more (blue), almost the background between them."""
    less, more = (LESS_DARK, MORE_DARK) if dark else (LESS, MORE)
    return LinearSegmentedColormap.from_list("difference", [*less, NEITHER_DARK if dark else NEITHER, *more])


def plot_flow(difference: Any, *, ax: Place | None = None, labels: bool = True) -> Axes:
    """Draw how the items of each cluster of the first study are distributed over those of the second.

    Corresponding clusters have the same number and colour. The width of a band is its number of items; bands with a
    dark edge are items that went to another cluster.

    Parameters
    ----------
    difference : StudyDifference
        Returned by `study_difference`.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write the names of studies and clusters.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `difference` is not a StudyDifference.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import plot_flow, study_difference
    >>> before = Groupings.from_lists([[["ant", "bee", "owl"], ["cow", "pig"]]] * 6)
    >>> after = Groupings.from_lists([[["ant", "bee"], ["cow", "pig", "owl"]]] * 6)
    >>> ax = plot_flow(study_difference(before, after, names=("before", "after"), random_state=0))
    >>> [text.get_text() for text in ax.texts[:2]]
    ['before', 'after']
    """
    found = _require(difference, "plot_flow")
    flow = found.flow
    n_bars = max(flow.shape)
    ax = axes_of(ax, (7.2, float(np.clip(0.42 * n_bars + 0.6, 2.0, 14.0))))
    look, values = Look.of(ax), flow.to_numpy()
    tops = [_tops(values.sum(1)), _tops(values.sum(0))]
    left, right = flow.index.to_numpy(int), flow.columns.to_numpy(int)
    rows, columns = np.nonzero(values)
    starts = tops[0][rows] + (np.cumsum(values, 1) - values)[rows, columns]
    ends = tops[1][columns] + (np.cumsum(values, 0) - values)[rows, columns]
    bands = zip(
        starts.tolist(),
        ends.tolist(),
        values[rows, columns].astype(float).tolist(),
        left[rows],
        right[columns],
        strict=True,
    )
    for start, end, size, one, other in bands:
        _band(ax, start, end, size, int(one), int(other), look)
    if labels:
        for x, name, align in ((0.0, found.names[0], "right"), (1.0, found.names[1], "left")):
            head: dict[str, Any] = {"ha": align, "va": "bottom", "fontsize": 1.15 * small(), "color": look.ink}
            ax.text(x, -0.8 * GAP, plot_text(name, 40), **head, fontweight="bold")
    _bars(ax, tops[0], values.sum(1), left, found.clusters["called_first"] if labels else None, look, 0.0)
    _bars(ax, tops[1], values.sum(0), right, found.clusters["called_second"] if labels else None, look, 1.0)
    ax.set_xlim(-0.55, 1.55)
    lowest = max(top[-1] + sizes[-1] for top, sizes in zip(tops, (values.sum(1), values.sum(0)), strict=True))
    ax.set_ylim(lowest + GAP, -2.2 * GAP)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    label_axes(ax, f"bands: {current_words().items}", None, labels=labels)
    FittingTexts(ax, ax.texts)
    return ax


class FittingTexts(AtDraw):
    """Texts in axes, of which those are hidden that would leave the axes or cover an earlier one."""

    def __init__(self, ax: Axes, texts: Any) -> None:
        super().__init__()
        self.texts = list(texts)
        for text in self.texts:
            text.set_in_layout(False)
        ax.add_artist(self)

    def fit(self, renderer: Any) -> None:
        """Show the texts that fit."""
        paper = self.axes.get_window_extent(renderer) if self.axes is not None else None
        shown = np.empty((0, 4))
        for text in self.texts:
            x0, y0, x1, y1 = text.get_window_extent(renderer).extents
            fits = paper is None or (x0 >= paper.x0 and x1 <= paper.x1)
            free = (shown[:, 0] >= x1) | (shown[:, 2] <= x0) | (shown[:, 1] >= y1) | (shown[:, 3] <= y0)
            text.set_visible(bool(fits and free.all()))
            if text.get_visible():
                shown = np.vstack([shown, [x0, y0, x1, y1]])


def _bars(
    ax: Axes,
    tops: Float[np.ndarray, " clusters"],
    sizes: Int[np.ndarray, " clusters"],
    clusters: Int[np.ndarray, " clusters"],
    called: pd.Series | None,
    look: Look,
    x: float,
) -> None:
    """Draw the clusters of a study from the first (x = 0) or to the second (x = 1), with their names if given."""
    outwards = -1 if x == 0 else 1
    for top, size, cluster in zip(tops.tolist(), sizes.tolist(), clusters.tolist(), strict=True):
        face: dict[str, Any] = {"fc": look.colour(cluster), "ec": look.paper, "lw": 0.5}
        ax.add_patch(Rectangle((x - BAR if x == 0 else x, top), BAR, size, **face))
        if called is None:
            continue
        name = str(called.loc[cluster])
        text = f"{cluster}{': ' + plot_text(name, LONGEST) if name else ''} ({size})"
        style: dict[str, Any] = {"ha": "right" if x == 0 else "left", "va": "center", "fontsize": small()}
        ax.text(x + outwards * (BAR + 0.02), top + size / 2, text, color=look.ink, **style)


def _tops(sizes: Int[np.ndarray, " clusters"]) -> Float[np.ndarray, " clusters"]:
    """Return where each cluster begins, with gaps between them."""
    return np.cumsum(sizes) - sizes + GAP * np.arange(len(sizes))


def _band(ax: Axes, start: float, end: float, size: float, one: int, other: int, look: Look) -> None:
    """Draw the items that go from one cluster to another."""
    vertices = [(0, start), (0.5, start), (0.5, end), (1, end), (1, end + size), (0.5, end + size)]
    vertices += [(0.5, start + size), (0, start + size), (0, start)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    stays = one == other
    style: dict[str, Any] = (
        {"ec": "none", "alpha": 0.3} if stays else {"ec": look.ink, "alpha": 0.75, "lw": 0.8, "zorder": 2}
    )
    ax.add_patch(PathPatch(Path(vertices, codes), fc=look.colour(one), **style))


def _require(difference: Any, function: str) -> StudyDifference:
    if not isinstance(difference, StudyDifference):
        raise InputError(
            f"The 'difference' parameter of {function} must be a StudyDifference. Got {type(difference).__name__} "
            "instead."
        )
    return difference
