"""Plots of stagewise EM: how its rounds went, and what the classes leave unexplained of the annotators' agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from consilience.errors import InputError
from consilience.inspection.names import plot_text, width
from consilience.inspection.projection import unwrap
from consilience.inspection.style import FAINT, INK, SMALL, axes_of, colour, heat, tidy

__all__ = ["plot_conditional_information", "plot_stagewise"]

MEASURES = {
    "log_likelihood": "log likelihood (nats)",
    "information": "largest conditional\nmutual information (nats)",
    "n_informative": "annotators in the\ninformative set",
}
MOST_NAMED = 60  # annotators of whom each gets a name
CELL, LETTER = 0.16, 0.07  # inches of a named annotator's row, and of a letter at `SMALL` points


def plot_stagewise(model: Any, *, truth: Mapping[str, Any] | None = None) -> Figure:
    """Draw how the rounds of stagewise EM went: Fig. 3 of its paper.

    Parameters
    ----------
    model : fitted StagewiseEM, or a Pipeline that ends in one
    truth : mapping, optional
        What the true model of simulated labels would reach, drawn as dashed lines: "log_likelihood" and "information",
        or one of them, in nats.

    Returns
    -------
    matplotlib.figure.Figure
        Against the round: the log likelihood of all labels, the largest conditional mutual information of two
        annotators, and the size of the informative set. Round 0 is the single component.

    Raises
    ------
    InputError
        The model has no trace, or `truth` holds something else.

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data. Section 4.

    Examples
    --------
    >>> from consilience.consensus import StagewiseEM
    >>> from consilience.inspection import plot_stagewise
    >>> from consilience.simulation import simulate_labels
    >>> labels = simulate_labels([0, 1] * 100, n_annotators=6, random_state=0)
    >>> figure = plot_stagewise(StagewiseEM().fit(labels))
    >>> [ax.get_ylabel() for ax in figure.axes][0]
    'log likelihood (nats)'
    """
    estimator = unwrap(model)
    if not hasattr(estimator, "trace_"):
        raise InputError(f"{type(estimator).__name__} has no trace of rounds to draw; StagewiseEM has.")
    reached = {} if truth is None else dict(truth)
    _check_truth(reached)
    trace = estimator.trace_
    figure = Figure(figsize=(9.6, 2.9), layout="constrained")
    for ax, (measure, label) in zip(figure.subplots(1, 3), MEASURES.items(), strict=True):
        ax.plot(trace.index, trace[measure], color=colour(0), marker="o", ms=3.5, lw=1.4)
        if measure in reached:
            ax.axhline(reached[measure], color=FAINT, lw=1, ls=(0, (4, 3)), zorder=1, label="the true model")
        if measure != "log_likelihood":
            ax.set_ylim(bottom=0)
        ax.set_xlabel("round", color=INK)
        ax.set_ylabel(label, color=INK)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(5, integer=measure == "n_informative"))
        tidy(ax)
    lines = [line for ax in figure.axes for line in ax.lines if line.get_label() == "the true model"]
    if lines:
        figure.legend(handles=lines[:1], loc="outside upper left", frameon=False, fontsize=9)
    return figure


def plot_conditional_information(
    information: Any,
    annotators: Sequence[Any] | None = None,
    *,
    ax: Axes | None = None,
    vmax: float | int | None = None,
) -> Axes:
    """Draw what the classes leave unexplained of the agreement of every two annotators: Fig. 4 of the paper.

    Parameters
    ----------
    information : fitted StagewiseEM, a Pipeline that ends in one, or a DataFrame
        The table is one such as the model's ``conditional_information()`` returns.
    annotators : names, optional
        Whom to draw, in this order. By default all; of a model those of the informative set first, in order of entry.
    ax : matplotlib Axes, optional
        By default a figure of its own, ``ax.figure``, with a colour bar.
    vmax : float, optional
        Information of the darkest colour, nats. By default the largest that is drawn.

    Returns
    -------
    matplotlib.axes.Axes
        Mutual information of two annotators' labels given the class. The diagonal is blank, and hatched are pairs with
        few items in common. Up to 60 annotators are named, those of the informative set in bold.

    Raises
    ------
    InputError
        What was given is neither, or it does not know one of the annotators.

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data. Equation (13), section 4.

    Examples
    --------
    >>> from consilience.consensus import StagewiseEM
    >>> from consilience.inspection import plot_conditional_information
    >>> from consilience.simulation import simulate_labels
    >>> labels = simulate_labels([0, 1] * 100, n_annotators=6, random_state=0)
    >>> plot_conditional_information(StagewiseEM().fit(labels)).images[0].get_array().shape
    (6, 6)
    """
    table, informative = _conditional_table(information)
    shown = _order(table.index, informative) if annotators is None else _places(table.index, annotators)
    values = table.to_numpy(dtype=float)[np.ix_(shown, shown)]
    inside = table.index[shown].isin(informative)
    names = [plot_text(name, 24) for name in table.index[shown]]
    named = len(names) <= MOST_NAMED
    margin = 0.35 + (LETTER * max(map(width, names), default=0) if named else 0.2)
    side = float(np.clip(CELL * len(names), 1.6, 6.5)) + margin
    own = ax is None
    ax = axes_of(ax, (side + 0.9, side))
    most = np.nanmax(values, initial=0.0) if vmax is None else vmax
    image = ax.imshow(values, cmap=heat(), vmin=0, vmax=most or 1.0, interpolation="none")
    _blank(ax, values)
    _name(ax, names if named else [], inside)
    if not named:
        first = f", the {inside.sum()} of the informative set first" if annotators is None and inside.any() else ""
        ax.set_xlabel(f"{len(names)} annotators{first}", fontsize=9, color=INK)
    if own:
        extend = "max" if bool((values > most).any()) else "neither"
        bar = cast(Figure, ax.get_figure(root=True)).colorbar(image, ax=ax, shrink=0.8, aspect=24, extend=extend)
        bar.set_label("mutual information given the class (nats)", fontsize=SMALL, color=INK)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)
    return ax


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


def _blank(ax: Axes, values: np.ndarray) -> None:
    """Leave the diagonal white, and hatch what is unknown."""
    n = len(values)
    ax.patch.set(facecolor="white", hatch="//////", edgecolor="#B0B0B0")
    diagonal = np.where(np.eye(n, dtype=bool), 0.0, np.nan)
    ax.imshow(diagonal, cmap=ListedColormap(["white"]), interpolation="none")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _name(ax: Axes, names: list[str], inside: np.ndarray) -> None:
    """Name rows and columns, and draw a line between the informative set and the others where they are apart."""
    ticks = np.arange(len(names))
    ax.set_yticks(ticks, names, fontsize=SMALL)
    ax.set_xticks(ticks, names, fontsize=SMALL, rotation=90, rotation_mode="anchor", ha="right", va="center")
    if names:
        for text, bold in zip([*ax.get_yticklabels(), *ax.get_xticklabels()], [*inside, *inside], strict=True):
            text.set_fontweight("bold" if bold else "normal")
    borders = np.flatnonzero(np.diff(inside)) + 0.5
    if len(borders) == 1:
        ax.axhline(borders[0], color=INK, lw=0.8)
        ax.axvline(borders[0], color=INK, lw=0.8)
