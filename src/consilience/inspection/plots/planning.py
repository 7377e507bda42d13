"""Plot of a plan: how far studies of growing size agree."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from consilience.errors import InputError
from consilience.inspection.plots.curves import draw_curve, finish_curve
from consilience.inspection.plots.style import Look, Place, axes_of

__all__ = ["plot_plan"]


def plot_plan(plan: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw how far the consensus of a study agrees with that of a second one, by the number of people in each.

    Parameters
    ----------
    plan : Plan
        Returned by `consilience.active.plan`. Four in five of the simulated studies are in the shaded band; a line
        marks the target, and another how many people it needs.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        `plan` is not a Plan.

    Examples
    --------
    >>> from consilience.active import plan
    >>> from consilience.inspection import plot_plan
    >>> needed = plan(12, n_clusters=3, agreement=0.6, target=0.6, n_draws=2, random_state=0)
    >>> ax = plot_plan(needed)
    >>> ax.get_xlabel()
    'people (logarithmic)'
    """
    from consilience.active import Plan  # with simulations and data sets, which no report needs

    if not isinstance(plan, Plan):
        raise InputError(f"The 'plan' parameter of plot_plan must be a Plan. Got {type(plan).__name__} instead.")
    ax = axes_of(ax, (5.0, 3.2))
    look, table = Look.of(ax), plan.table
    people = table.index.to_numpy()
    band: dict[str, Any] = {"color": look.colour(0), "alpha": 0.18, "lw": 0, "label": "four in five studies"}
    ax.fill_between(people, table["low"], table["high"], **band)
    draw_curve(ax, people, table["agreement"].to_numpy(), label="mean")
    line: dict[str, Any] = {"color": look.faint, "lw": 1.0, "ls": "--"}
    ax.axhline(plan.target, **line, label=f"target: {plan.target:g}")
    if math.isfinite(plan.annotators):
        ax.axvline(plan.annotators, **line | {"ls": ":"}, label=f"about {math.ceil(plan.annotators)} people")
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.set_ylim(min(0.0, float(table["low"].min())), 1.03)
    finish_curve(ax, "people (logarithmic)", "agreement with a second study (AMI)", labels=labels, legend=legend)
    return ax
