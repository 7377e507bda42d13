"""Plots of a fitted model: its clusters in the plane, its lower bound, the choice of the prior variance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.fitted import estimator_with, groupings_of, own_annotations, unwrap
from consilience.analysis.projection import Projection, project
from consilience.annotations import Pairs
from consilience.inspection.plots.curves import draw_curve, finish_curve, spaced_ticks, whole_numbers
from consilience.inspection.plots.given import fit_of
from consilience.inspection.plots.point_labels import name_points
from consilience.inspection.plots.scatter import LONGEST, NAMED_ITEMS, draw_items, say_sampled, some_of
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import (
    ROOM,
    fitting_names,
    inches,
    label_axes,
    make_room,
    name_rows,
    reach,
)

__all__ = ["plot_clusters", "plot_lower_bound", "plot_prior_variance"]

GRID = 240  # points per side at which regions are computed


def plot_clusters(
    model: Any,
    X: Any = None,
    groupings: Any = None,
    *,
    max_items: int = 5000,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the items in the plane, with a colour and a shape for each cluster or class.

    Two features are drawn as they are, with the regions of the clusters and their boundaries if the model predicts from
    the features. More features are projected onto their first two principal components, as the model sees them (after
    the steps of a pipeline). Without features, items that the same annotators put together are close to each other. Up
    to 60 items are named, as far as the names do not overlap.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings
        With `Findings` of `consilience.analysis.findings`, X and groupings are those that they hold.
    X : DataFrame or array, shape (n_items, n_features), optional
        The features that were passed to `fit`, in the order of the items or indexed by name.
    groupings : Groupings, Labels, Pairs or array, optional
        The annotations that were passed to `fit`. Items without any are then drawn hollow. Pairs do not place items.
    max_items : int, default=5000
        Largest number of items to draw. Of more, a random sample is drawn, and a line below the plot says so.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        Neither X nor groupings are given, or they do not fit the items.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.inspection import plot_clusters
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> X = pd.DataFrame({"size": [0.0, 0.1, 2.0, 2.1], "weight": [1.0, 1.2, 0.0, 0.3]})
    >>> groups = [["p"], ["p"], ["q"], [None]]
    >>> model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(X, groups)
    >>> ax = plot_clusters(model, X, groups)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('size', 'weight')
    """
    given = fit_of(model, X, groupings, "plot_clusters")
    return draw_clusters(*given, max_items=max_items, ax=ax, labels=labels, legend=legend)


def draw_clusters(
    model: Any,
    X: Any,
    annotations: Any,
    clusters: FoundClusters,
    *,
    rows: FoundClusters | None = None,
    max_items: int = 5000,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the items as `plot_clusters` does, in the given clusters instead of the model's own.

    rows : clusters against which a single feature is drawn, if others.
    """
    estimator = unwrap(model)
    given = None if annotations is None else own_annotations(model, annotations)
    groupings = None if given is None or isinstance(given, Pairs) else groupings_of(given)
    projection = project(model, X, groupings, rows or clusters)
    annotated = np.ones(len(estimator.items_), dtype=bool)
    if given is not None:
        annotated = given.summary().annotators_per_item.to_numpy() > 0
    shown = some_of(np.arange(len(annotated)), max_items)
    ax = axes_of(ax, (8.2, 5.2))
    _frame(ax, projection)
    if projection.log_odds is not None:
        _draw_regions(ax, projection.log_odds)
    draw_items(ax, projection.points, shown, clusters, annotated, legend=legend)
    _name_rows(ax, projection, labels=labels)
    spaced_ticks(ax)
    axes = [text.replace("$", r"\$") for text in projection.axes]  # dollar signs are no mathematics
    label_axes(ax, *axes, labels=labels, caption=say_sampled(len(shown), len(annotated)))
    if labels and len(shown) <= NAMED_ITEMS and all(isinstance(name, str) for name in estimator.items_):
        name_points(ax, projection.points[shown], estimator.items_[shown])
    return ax


def plot_lower_bound(model: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw the lower bound after each sweep of the best restart, and the final bounds of the other restarts.

    Parameters
    ----------
    model : fitted estimator with ``lower_bounds_``, or a Pipeline that ends in one
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The model has no bounds.

    Examples
    --------
    >>> from consilience.inspection import plot_lower_bound
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> sorts = [["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]]
    >>> model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)
    >>> ax = plot_lower_bound(model)
    >>> len(ax.lines[0].get_xdata()) == model.n_iter_
    True
    """
    estimator = estimator_with(model, "lower_bounds_", "has no lower bound to draw")
    bounds = np.asarray(estimator.lower_bounds_)
    ax = axes_of(ax, (5.2, 3.4))
    draw_curve(ax, np.arange(1, len(bounds) + 1), bounds, lw=1.6, label="kept restart")
    reached = np.sort(Capabilities.of(estimator).restart_bounds)[:-1]
    if len(reached):
        ends = np.full(len(reached), 1.03 * len(bounds) + 0.5)
        label = f"where the other {len(reached)} ended" if len(reached) > 1 else "where the other ended"
        ax.plot(ends, reached, ls="", marker="<", ms=5, mfc="none", mec=Look.of(ax).colour(3), label=label)
    whole_numbers(ax.xaxis)
    finish_curve(ax, "sweep", "lower bound (nats)", labels=labels, legend=legend and len(reached) > 0)
    return ax


def plot_prior_variance(model: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True) -> Axes:
    """Draw how probable held-out annotations are under each prior variance that was tried.

    Parameters
    ----------
    model : fitted estimator with ``prior_variance="auto"``, or a Pipeline that ends in one
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        Mean log probability of a label against σ², with one standard error on either side; the value in use is marked.

    Raises
    ------
    InputError
        The prior variance was given and not searched.

    Examples
    --------
    >>> from consilience.inspection import plot_prior_variance
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> sorts = [["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]]
    >>> model = PartitionLabelModel(n_init=1, tol=1e-3, random_state=0).fit(None, sorts)
    >>> plot_prior_variance(model).get_xscale()
    'log'
    """
    estimator = estimator_with(
        model, "prior_variance_search_", "has no search of the prior variance to draw: the variance was given"
    )
    search = estimator.prior_variance_search_
    ax = axes_of(ax, (5.2, 3.4))
    look = Look.of(ax)
    variance, gain = search["prior_variance"].to_numpy(), search["log_probability"].to_numpy()
    ax.errorbar(
        variance,
        gain,
        yerr=search["standard_error"].to_numpy(),
        color=look.colour(0),
        marker="o",
        ms=4,
        lw=1.4,
        elinewidth=1,
        capsize=3,
        label="tried, ± 1 standard error",
    )
    chosen = int(np.argmin(np.abs(variance - estimator.prior_variance_)))
    ax.plot(variance[chosen], gain[chosen], **look.ring(), label=f"chosen: {estimator.prior_variance_:.3g}")
    ax.set_xscale("log")
    ax.margins(y=0.2)
    finish_curve(ax, "prior variance σ²", "log probability of a held-out label (nats)", labels=labels, legend=legend)
    return ax


def _frame(ax: Axes, projection: Projection) -> None:
    low, high = projection.points.min(0), projection.points.max(0)
    room = np.where(high > low, 0.05 * (high - low), 0.5)
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])
    tidy(ax)


def _name_rows(ax: Axes, projection: Projection, *, labels: bool) -> None:
    """Name the rows if they are clusters."""
    if not projection.rows:
        return
    ax.set_ylim(-0.5, len(projection.rows) - 0.5)
    names = fitting_names(projection.rows, ROOM * inches(ax)[0], LONGEST) if labels else [""] * len(projection.rows)
    make_room(ax, left=reach(names) - 0.3)
    name_rows(ax, np.arange(len(names)), names)


def _draw_regions(ax: Axes, log_odds: Callable[[np.ndarray], np.ndarray]) -> None:
    """Draw the region in which each cluster is the most probable, and the boundaries between them."""
    x, y = np.linspace(*ax.get_xlim(), GRID), np.linspace(*ax.get_ylim(), GRID)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    look = Look.of(ax)
    odds = log_odds(grid.reshape(-1, 2)).reshape(GRID, GRID, -1)
    if odds.shape[2] == 1:
        return
    best_two = np.sort(odds, axis=2)[..., -2:]
    for cluster in range(odds.shape[2]):
        mine = odds[..., cluster]
        lead = mine - np.where(mine == best_two[..., 1], best_two[..., 0], best_two[..., 1])
        if lead.max() <= 0:
            continue
        ax.contourf(x, y, lead, levels=[0, lead.max() * 1.01], colors=[look.colour(cluster)], alpha=0.13, zorder=1)
        if lead.min() < 0:
            ax.contour(x, y, lead, levels=[0], colors=[look.faint], linewidths=0.9, zorder=2)
