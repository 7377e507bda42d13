"""Plot of how often people found the item that does not belong, by cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from consilience.errors import InputError
from consilience.inspection.plots.curves import legend_inside
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import label_axes, name_rows
from consilience.metrics import OddOneOut
from consilience.metrics.odd_one_out import CHANCE

__all__ = ["plot_odd_one_out"]

ROW, EDGE = 0.28, 1.2  # height of a row, and of what is around the rows, in inches


def plot_odd_one_out(
    found: Any,
    *,
    names: Mapping[Any, str] | None = None,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the share of right answers over all and by cluster, with intervals, and what guessing would reach.

    Parameters
    ----------
    found : OddOneOut
        Returned by `consilience.metrics.odd_one_out`.
    names : dict, optional
        What to call the clusters, by cluster; those that are not in it are called what the table calls them.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write the names of clusters and the label of the axis.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `found` is not an OddOneOut, or of no answers.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.inspection import plot_odd_one_out
    >>> from consilience.metrics import odd_one_out, odd_one_out_questions
    >>> questions = odd_one_out_questions([0] * 5 + [1] * 5, 10, random_state=0)
    >>> right = [(number, who, odd) for who in ("Ann", "Bo") for number, odd in questions["odd"].items()]
    >>> answers = pd.DataFrame(right, columns=["question", "annotator", "answer"])
    >>> ax = plot_odd_one_out(odd_one_out(questions, answers), names={0: "insects", 1: "cattle"})
    >>> ax.get_xlabel()
    'right answers'
    """
    if not isinstance(found, OddOneOut):
        raise InputError(
            f"The 'found' parameter of plot_odd_one_out must be an OddOneOut. Got {type(found).__name__} instead."
        )
    if found.clusters.empty:
        raise InputError("There are no answers to draw.")
    table = pd.concat([found.overall.to_frame().T, found.clusters])
    ax = axes_of(ax, (5.6, EDGE + ROW * len(table)))
    look, places, share = Look.of(ax), np.arange(len(table)), table["right"].to_numpy()
    ends = table[["right_low", "right_high"]].to_numpy()
    along = np.column_stack([ends, np.full(len(ends), np.nan)]).ravel()  # one line with gaps, which the legend avoids
    ax.plot(along, places.repeat(3), color=look.colour(0), lw=1.6, label=f"{found.level:.0%} interval")
    ax.plot(share, places, "o", ms=5, color=look.colour(0), label="share")
    ax.axvline(CHANCE, color=look.faint, lw=1.0, ls="--", label="guessing: 1 of 4")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.xaxis.set_major_locator(MaxNLocator("auto", min_n_ticks=1))  # one where the names leave no place for two
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    if labels:
        called = names or {}
        name_rows(ax, places, ["all", *(str(called.get(cluster, cluster)) for cluster in found.clusters.index)])
    else:
        ax.set_yticks([])
    label_axes(ax, "right answers", None, labels=labels)
    if legend:
        legend_inside(ax)
    tidy(ax)
    return ax
