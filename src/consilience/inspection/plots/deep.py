"""Plots of the deep models: the latent space and the training."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from sklearn.decomposition import PCA

from consilience.analysis.fitted import estimator_with, raw_features
from consilience.analysis.words import current_words
from consilience.inspection.plots.curves import draw_curve, spaced_ticks, whole_numbers
from consilience.inspection.plots.given import fit_of
from consilience.inspection.plots.panels import curve_panels, host_of, label_curves
from consilience.inspection.plots.scatter import draw_items, say_sampled, some_of
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import label_axes

__all__ = ["plot_latent", "plot_training"]

DEVIATIONS = 2  # standard deviations at which a cluster's ellipse is drawn


def plot_latent(
    model: Any,
    X: Any = None,
    annotations: Any = None,
    *,
    max_items: int = 5000,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the items in the latent space, with a colour and a shape for each cluster, and the clusters' ellipses.

    Parameters
    ----------
    model : fitted BayesSCDC or SCDC, or a Pipeline that ends in one; or Findings on one
        With `Findings` of `consilience.analysis.findings`, X and annotations are those that they hold.
    X : DataFrame or array, shape (n_items, n_features)
        The features that were passed to `fit`, in the order of the items or indexed by name.
    annotations : Groupings, Labels or Pairs, optional
        The annotations that were passed to `fit`. Items without any are then drawn hollow.
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
        Posterior means of the items, and the Gaussians of the clusters at two standard deviations. With more than two
        latent dimensions, their first two principal components; a single one is drawn against the cluster.

    Raises
    ------
    InputError
        The model has no latent space, or X does not fit the items.
    """
    model, X, given, clusters = fit_of(model, X, annotations, "plot_latent")
    estimator = estimator_with(model, "covariances_", "has no latent space to draw; BayesSCDC and SCDC have one")
    annotated = np.ones(len(estimator.items_), dtype=bool)
    if given is not None:
        annotated = given.summary().annotators_per_item.to_numpy() > 0
    raw = raw_features(model, X)
    shown = some_of(np.arange(len(raw)), max_items)
    latent = np.asarray(model.transform(raw.iloc[shown]), float)
    n_dims = latent.shape[1]
    plane = PCA(2, random_state=0).fit(latent) if n_dims > 2 and len(latent) > 1 else None
    points = np.zeros((len(raw), 2))
    ax = axes_of(ax, (8.2, 5.2))
    if n_dims == 1:
        points[shown] = np.column_stack([latent, clusters.codes[shown]])
        names = ("latent dimension", clusters.noun)
        whole_numbers(ax.yaxis)
        _draw_spans(ax, estimator)
    else:
        points[shown] = latent[:, :2] if plane is None else plane.transform(latent)
        names = ("latent dimension 1", "latent dimension 2")
        if plane is not None:
            of_1, of_2 = plane.explained_variance_ratio_
            names = (f"component 1 ({of_1:.0%} of the latent variance)", f"component 2 ({of_2:.0%})")
        _draw_ellipses(ax, estimator, plane)
    draw_items(ax, points, shown, clusters, annotated, legend=legend)
    _bound_by(ax, points[shown])
    spaced_ticks(ax)
    label_axes(ax, *names, labels=labels, caption=say_sampled(len(shown), len(raw)))
    tidy(ax)
    return ax


def plot_training(model: Any, *, ax: Place | None = None, labels: bool = True) -> list[Axes]:
    """Draw the loss after each epoch of training, and how many clusters own items.

    Parameters
    ----------
    model : fitted BayesSCDC or SCDC, or a Pipeline that ends in one
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw: the panels take the place of the axes, whose title is that of all panels. By default pyplot's
        current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write the labels of the axes.

    Returns
    -------
    list of matplotlib.axes.Axes
        The panels of the loss and of the clusters. The loss that training lowers is a mean over the epoch's
        minibatches, in nats per item; the warm start is not drawn.

    Raises
    ------
    InputError
        The model keeps no losses.
    """
    words = current_words()
    estimator = estimator_with(model, "losses_", "has no losses of epochs to draw; BayesSCDC and SCDC have them")
    losses, left = np.asarray(estimator.losses_, float), np.asarray(estimator.clusters_left_)
    host = host_of(ax, (8.6, 2.9))
    of_loss, of_clusters = curve_panels(host, 2)
    epochs = np.arange(1, len(losses) + 1)
    draw_curve(of_loss, epochs, losses)
    draw_curve(of_clusters, epochs, left, 3, drawstyle="steps-post")
    of_clusters.set_ylim(0, 1.08 * max(int(left.max()), 1))
    whole_numbers(of_clusters.yaxis)
    label_curves(
        [of_loss, of_clusters],
        "epoch",
        [f"loss (nats per {words.item})", f"clusters that own {words.items}"],
        labels=labels,
    )
    return [of_loss, of_clusters]


def _draw_ellipses(ax: Axes, estimator: Any, plane: PCA | None) -> None:
    """Draw the Gaussian of every cluster, projected onto the plane."""
    look = Look.of(ax)
    means, covariances = np.asarray(estimator.means_, float), np.asarray(estimator.covariances_, float)
    if plane is not None:
        means = plane.transform(means)
        covariances = plane.components_ @ covariances @ plane.components_.T
    for cluster, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        variances, axes = np.linalg.eigh(covariance)
        breadth, length = 2 * DEVIATIONS * np.sqrt(np.maximum(variances, 0))
        angle = float(np.degrees(np.arctan2(axes[1, 1], axes[0, 1])))
        style: dict[str, Any] = {"fill": False, "lw": 1.3, "zorder": 2, "ec": look.colour(cluster)}
        ax.add_patch(Ellipse((mean[0], mean[1]), length, breadth, angle=angle, **style))


def _draw_spans(ax: Axes, estimator: Any) -> None:
    """Draw the Gaussian of every cluster of a latent space of one dimension."""
    look = Look.of(ax)
    deviation = DEVIATIONS * np.sqrt(np.asarray(estimator.covariances_, float)[:, 0, 0])
    for cluster, (mean, far) in enumerate(zip(np.asarray(estimator.means_)[:, 0], deviation, strict=True)):
        ax.hlines(cluster, mean - far, mean + far, color=look.colour(cluster), lw=6, alpha=0.3, zorder=1)


def _bound_by(ax: Axes, points: Float[np.ndarray, "shown 2"]) -> None:
    """Set limits that contain all points, and the parts of ellipses that are not far from them."""
    low, high = points.min(0), points.max(0)
    room = np.where(high > low, 0.08 * (high - low), 0.5)
    drawn = [patch.get_path().get_extents(patch.get_patch_transform()).get_points() for patch in ax.patches]
    reach = np.array([[low, high], *drawn])
    # ellipses of clusters that few items own may reach far beyond all items
    least = np.maximum(reach[:, 0].min(0), low - 4 * room) - room
    most = np.minimum(reach[:, 1].max(0), high + 4 * room) + room
    ax.set_xlim(least[0], most[0])
    ax.set_ylim(least[1], most[1])
