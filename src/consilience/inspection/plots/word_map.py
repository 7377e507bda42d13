"""The map of the items with the words that people said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from consilience.analysis.findings import Findings
from consilience.analysis.fitted import given_or_kept
from consilience.analysis.group_words import GroupWords, group_words
from consilience.analysis.projection import checked_axes
from consilience.annotations.types import Integer
from consilience.errors import InputError
from consilience.inspection.plots.fusion import MOST_ITEMS, draw_map
from consilience.inspection.plots.given import co_occurrence_of
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import NAMED_ITEMS
from consilience.inspection.plots.style import Look, Place, small

__all__ = ["plot_word_map"]

LARGEST = 1.6  # size of the most frequent word, relative to that of the rarest


def plot_word_map(
    model: Any,
    groupings: Any = None,
    *,
    words: GroupWords | None = None,
    max_words: Integer = 25,
    axes: tuple[int, int] = (1, 2),
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the map of the items, with the words of groups amid the items of which they were said.

    The map is that of `plot_item_map`. A word is at the mean of its items, weighted by how many people said it of each;
    words are in italics, with a cross at their place, and the larger, the more people use them. Words and names for
    which there is no room are left out, those of items last.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings; or Groupings or array
        A model whose clusters colour the items, findings on one, or annotations alone.
    groupings : Groupings or array, optional
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models do not.
    words : GroupWords, optional
        From `consilience.inspection.group_words`, which is called if they are not given.
    max_words : int, default=25
        Largest number of words, the most frequent ones.
    axes : (int, int), default=(1, 2)
        The axes of the map to draw, numbered from 1.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write words, names of items and the labels of the axes; without, crosses mark the words.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model does not keep its annotations and none are given, they have other items or annotators, or no groups;
        the words are of other items; or a parameter is out of range.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import plot_word_map
    >>> cells = [["sweet", "Sweet; fruity", "sweet"], ["sweet", "Sweet; fruity", "sweet"], ["sour", "sour", "sour"]]
    >>> ax = plot_word_map(Groupings.from_matrix(cells * 2, items=list("abcdef")))
    >>> [text.get_text() for text in ax.texts[:2]]
    ['sour', 'sweet']
    """
    drawn = checked_axes(axes, "plot_word_map")
    if isinstance(max_words, bool) or not isinstance(max_words, int | np.integer) or max_words < 1:
        raise InputError(
            f"The 'max_words' parameter of plot_word_map must be a positive int. Got {max_words!r} instead."
        )
    co_occurrence = co_occurrence_of(model, groupings, "plot_word_map")
    if words is None:
        words = _words_of(model, groupings)
    elif not words.counts.columns.equals(co_occurrence.items):
        raise InputError("The words given to plot_word_map are of other items than the map.")
    ax, shown, points = draw_map(co_occurrence, drawn, MOST_ITEMS, ax, labels=labels, legend=legend)
    places = np.full((len(co_occurrence.items), 2), np.nan)
    places[shown] = points
    where = words.places(places)
    chosen = np.flatnonzero(np.isfinite(where).all(1))[:max_words]
    look, counts = Look.of(ax), words.words["n_annotators"].to_numpy()[chosen]
    ax.plot(*where[chosen].T, ls="", marker="+", ms=4, mec=look.faint, mew=0.8, zorder=2, label="_words")
    if not labels:
        return ax
    named = len(shown) <= NAMED_ITEMS
    names = [*words.words.index[chosen], *(co_occurrence.items[shown] if named else [])]
    places = np.vstack([where[chosen], points if named else points[:0]])
    name_points(ax, places, names, leaders=True, n_first=len(chosen))
    least, most = (counts.min(), counts.max()) if len(counts) else (0, 0)
    share = (counts - least) / max(most - least, 1)
    for text, size in zip(ax.texts[: len(chosen)], small() * (1 + (LARGEST - 1) * share), strict=True):
        text.set(fontsize=size, fontstyle="italic", color=look.faint)  # no cluster has the colour
    return ax


def _words_of(model: Any, groupings: Any) -> GroupWords:
    """Return the words of the groups of what the plot was given."""
    if isinstance(model, Findings):
        return group_words(model.annotations) if model.group_words is None else model.group_words
    return group_words(given_or_kept(model, groupings, "plot_word_map") if hasattr(model, "get_params") else model)
