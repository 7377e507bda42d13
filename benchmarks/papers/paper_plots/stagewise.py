"""Figures of Zhao & Zucker: the rounds of stagewise EM, and the agreement that the classes leave unexplained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from consilience.analysis.fitted import unwrap
from consilience.analysis.names import as_text, width
from consilience.errors import InputError
from consilience.inspection.plots.curves import draw_curve, legend_inside, whole_numbers
from consilience.inspection.plots.matrix import SHEET_LETTER, colour_bar, draw_cells, name_both
from consilience.inspection.plots.panels import curve_panels, host_of, label_curves
from consilience.inspection.plots.style import Look, Place, axes_of
from consilience.inspection.plots.text_layout import AtDraw, label_axes

MEASURES = {
    "log_likelihood": "log likelihood (nats)",
    "information": "largest conditional mutual information (nats)",
    "n_informative": "annotators in the informative set",
}
MOST_NAMED = 60  # annotators up to which the matrix names them all
CELL = 0.16  # inches of a named annotator's row


def plot_stagewise(
    model: Any,
    *,
    truth: Mapping[str, Any] | None = None,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> list[Axes]:
    """Draw the rounds of stagewise EM: Fig. 3 of its paper.

    Parameters
    ----------
    model : fitted StagewiseEM, a Pipeline that ends in one, or a DataFrame
        The table is one as the model's ``trace_``.
    truth : mapping, optional
        Values of the true model of simulated labels, drawn as dashed lines: "log_likelihood" and "information",
        or one of them, in nats.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw: the panels take the place of the axes, whose title is that of all panels. By default pyplot's
        current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend if the truth is drawn.

    Returns
    -------
    list of matplotlib.axes.Axes
        Three panels. Against the round: the log likelihood of all labels, the largest conditional mutual information
        of two annotators, and the size of the informative set. Round 0 is the single component.

    Raises
    ------
    InputError
        The model has no trace, or `truth` holds something else.

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data. Section 4.
    """
    reached = {} if truth is None else dict(truth)
    _check_truth(reached)
    trace = model if isinstance(model, pd.DataFrame) else _trace_of(unwrap(model))
    host = host_of(ax, (9.6, 2.9))
    panels, look = curve_panels(host, len(MEASURES)), Look.of(host)
    for panel, measure in zip(panels, MEASURES, strict=True):
        draw_curve(panel, trace.index, trace[measure], marker="o", ms=3.5)
        if measure in reached:
            panel.axhline(reached[measure], color=look.faint, lw=1, ls=(0, (4, 3)), zorder=1, label="the true model")
        if measure != "log_likelihood":
            panel.set_ylim(bottom=0)
    whole_numbers(panels[-1].yaxis)
    label_curves(panels, "round", list(MEASURES.values()), labels=labels)
    if legend and reached:
        legend_inside(panels[list(MEASURES).index(next(iter(measure for measure in MEASURES if measure in reached)))])
    return panels


def plot_conditional_information(
    information: Any,
    annotators: Sequence[Any] | None = None,
    *,
    ax: Place | None = None,
    labels: bool = True,
    colorbar: bool = True,
    vmax: float | int | None = None,
) -> Axes:
    """Draw the agreement of each pair of annotators that the classes leave unexplained: Fig. 4 of the paper.

    Parameters
    ----------
    information : fitted StagewiseEM, a Pipeline that ends in one, or a DataFrame
        The table is one as returned by the model's ``conditional_information()``.
    annotators : names, optional
        Annotators to draw, in this order. By default all; for a model, the informative set first, in order of entry.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    colorbar : bool, default=True
        Whether to draw a colour bar.
    vmax : float, optional
        Information of the darkest colour, in nats. By default the largest that is drawn.

    Returns
    -------
    matplotlib.axes.Axes
        Mutual information of two annotators' labels given the class. The diagonal is blank, and pairs with few items in
        common are hatched. The names of the informative set are bold.

    Raises
    ------
    InputError
        `information` is none of these, or has no such annotator.

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data. Equation (13), section 4.
    """
    table, informative = _conditional_table(information)
    shown = _order(table.index, informative) if annotators is None else _places(table.index, annotators)
    values = table.to_numpy(dtype=float)[np.ix_(shown, shown)]
    inside = table.index[shown].isin(informative)
    names = list(table.index[shown])
    margin = 0.6 + SHEET_LETTER * min(max((width(as_text(name)) for name in names), default=0), 32)
    side = float(np.clip(CELL * len(names), 1.6, 6.5)) + margin
    ax = axes_of(ax, (side + 0.9, side))
    look = Look.of(ax)
    most = np.nanmax(values, initial=0.0) if vmax is None else vmax
    image = draw_cells(ax, values, most=most or 1.0)
    _blank(ax, values, look)
    name_both(ax, names, labels=labels)
    if colorbar:
        extend = "max" if bool((values > most).any()) else "neither"
        colour_bar(image, ax, "mutual information given the class (nats)", extend=extend)
    _mark_informative(ax, inside, look)
    if len(names) > MOST_NAMED:
        first = f", the {inside.sum()} of the informative set first" if annotators is None and inside.any() else ""
        label_axes(ax, f"{len(names)} annotators{first}", None, labels=labels)
    return ax


def _trace_of(estimator: Any) -> pd.DataFrame:
    if not hasattr(estimator, "trace_"):
        raise InputError(f"{type(estimator).__name__} has no trace of rounds to draw; StagewiseEM has.")
    return estimator.trace_


def _check_truth(truth: dict[str, Any]) -> None:
    for name, value in truth.items():
        if name not in ("log_likelihood", "information") or not isinstance(value, Real):
            raise InputError(
                "The 'truth' parameter of plot_stagewise must map 'log_likelihood' or 'information' to a number. "
                f"Got {name!r}: {value!r}."
            )


def _conditional_table(information: Any) -> tuple[pd.DataFrame, list[Any]]:
    """Return the square table, and the names in the informative set."""
    if isinstance(information, pd.DataFrame):
        if not information.index.equals(information.columns):
            raise InputError(
                "plot_conditional_information needs a square DataFrame with the annotators as index and columns. "
                f"Got one of shape {information.shape} whose index and columns differ."
            )
        return information, []
    estimator = unwrap(information)
    if not hasattr(estimator, "conditional_information"):
        raise InputError(f"{type(estimator).__name__} has no conditional information to draw; StagewiseEM has.")
    return estimator.conditional_information(), estimator.informative_set_


def _order(names: pd.Index, informative: Sequence[Any]) -> Int[np.ndarray, " annotators"]:
    first = _places(names, informative)
    return np.concatenate([first, np.setdiff1d(np.arange(len(names)), first)])


def _places(names: pd.Index, wanted: Sequence[Any]) -> Int[np.ndarray, " annotators"]:
    index = pd.Index(list(wanted), tupleize_cols=False)
    places = names.get_indexer(index)
    if (places < 0).any():
        raise InputError(f"Annotator {index[np.argmax(places < 0)]!r} is not in the table.")
    return places


def _blank(ax: Axes, values: np.ndarray, look: Look) -> None:
    """Leave the diagonal blank, and hatch unknown values."""
    n = len(values)
    ax.patch.set(facecolor=look.paper, hatch="//////", edgecolor=look.faint)
    diagonal = np.where(np.eye(n, dtype=bool), 0.0, np.nan)
    ax.imshow(diagonal, cmap=ListedColormap([look.paper]), aspect="auto", interpolation="none")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _mark_informative(ax: Axes, inside: np.ndarray, look: Look) -> None:
    """Set the names of the informative set in bold, and draw a line between it and the others if they are separate."""
    names = BoldNames(inside)
    ax.add_artist(names)
    names.fit(None)
    borders = np.flatnonzero(np.diff(inside)) + 0.5
    if len(borders) == 1:
        ax.axhline(borders[0], color=look.ink, lw=0.8)
        ax.axvline(borders[0], color=look.ink, lw=0.8)


class BoldNames(AtDraw):
    """Sets some of the names next to a matrix in bold, whichever are shown."""

    def __init__(self, bold: np.ndarray) -> None:
        super().__init__()
        self.bold = bold

    def fit(self, renderer: Any) -> None:
        """Set the weight of every name by its place."""
        for axis in (self.axes.xaxis, self.axes.yaxis):  # type: ignore[union-attr]
            for place, text in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False):
                text.set_fontweight("bold" if self.bold[round(place)] else "normal")
