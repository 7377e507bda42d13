"""Figures of Luo et al. (2018): images of clusters, and the weights of annotators against the true ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from sklearn.pipeline import Pipeline

from consilience.analysis.fitted import unwrap
from consilience.analysis.names import quantify
from consilience.annotations.names import name_index
from consilience.annotations.types import RandomSource
from consilience.errors import InputError
from consilience.estimators.parameters import is_whole
from consilience.inference.randomness import check_random_state
from consilience.inspection.plots.curves import legend_inside
from consilience.inspection.plots.scatter import LONGEST
from consilience.inspection.plots.style import Look, Place, axes_of, tidy
from consilience.inspection.plots.text_layout import (
    ROOM,
    fitting_names,
    inches,
    label_axes,
    make_room,
    name_columns,
    reach,
    set_names,
)

FAINTEST = 0.25  # brightness of a cluster with a share near 0; the largest cluster has 1
SIDE = (0.26, 0.7)  # inches of an image
MOST_NAMED = 60  # annotators up to which each is named


def plot_samples(
    model: Any,
    image_shape: Any,
    n_rows: Any = 8,
    random_state: RandomSource = None,
    *,
    ax: Place | None = None,
    labels: bool = True,
) -> Axes:
    """Draw a column of generated images for each cluster, brighter for a larger share.

    Parameters
    ----------
    model : fitted BayesSCDC or SCDC, or a Pipeline that ends in one
        The earlier steps of a Pipeline are undone if they can be inverted, such as scaling and principal components.
    image_shape : (height, width) or (height, width, 3)
        Shape of the images whose pixels are the features, row by row.
    n_rows : int, default=8
        Number of images of each cluster.
    random_state : int, RandomState, Generator or None, default=None
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.

    Returns
    -------
    matplotlib.axes.Axes
        Below each column are the cluster and its share of the items. Pixels from 0 to 1 are drawn as they are,
        others are scaled from the smallest to the largest.

    Raises
    ------
    InputError
        The model draws no samples, or the number of their features is not that of the pixels.

    References
    ----------
    Luo et al. (2018). Semi-crowdsourced Clustering with Deep Generative Models. NeurIPS. Fig. 4a.
    """
    estimator = unwrap(model)
    if not (hasattr(estimator, "sample") and hasattr(estimator, "weights_")):
        raise InputError(f"{type(estimator).__name__} draws no samples; BayesSCDC and SCDC do.")
    shape = _image_shape(image_shape)
    if not is_whole(n_rows, 1):
        raise InputError(f"The 'n_rows' parameter of plot_samples must be a positive int. Got {n_rows!r} instead.")
    rng = check_random_state(random_state)
    n_clusters, shares = int(estimator.n_clusters_), np.asarray(estimator.weights_, float)
    drawn = [estimator.sample(n_rows, cluster=k, random_state=rng.randint(2**31 - 1))[0] for k in range(n_clusters)]
    values = _before(model, np.concatenate(drawn))
    if values.shape[1] != np.prod(shape):
        pixels = " × ".join(map(str, shape))
        raise InputError(f"Images of {pixels} have {np.prod(shape)} pixels; a sample has {values.shape[1]} features.")
    return draw_samples(values.reshape(n_clusters, n_rows, *shape), shares, ax=ax, labels=labels)


def draw_samples(
    images: np.ndarray, shares: Float[np.ndarray, " clusters"], *, ax: Place | None = None, labels: bool = True
) -> Axes:
    """Draw what `plot_samples` draws, from images (clusters, rows, height, width, …) and the shares of the clusters."""
    n_clusters, n_rows, *shape = images.shape
    bright = FAINTEST + (1 - FAINTEST) * shares / shares.max()
    images = _from_0_to_1(images) * bright.reshape(-1, *[1] * (images.ndim - 1))
    side = float(np.clip(9 / n_clusters, *SIDE))
    ax = axes_of(ax, (max(side * n_clusters + 0.5, 1.8), side * n_rows * shape[0] / shape[1] + 0.6))
    ax.imshow(_sheet(images), cmap="gray", vmin=0, vmax=1, interpolation="none")
    middles = np.arange(n_clusters) * (shape[1] + 1) + (shape[1] - 1) / 2
    ax.set_yticks([])
    names = [f"{k}\n{_percent(share)}" for k, share in enumerate(shares)] if labels else [""] * n_clusters
    set_names(ax.xaxis, ax, middles, names, 72 * reach([line for name in names for line in name.split("\n")]) + 3)
    ax.spines[:].set_visible(False)
    label_axes(ax, "cluster, and its share", None, labels=labels)
    return ax


def plot_worker_weights(
    model: Any, true_weights: Any, *, ax: Place | None = None, labels: bool = True, legend: bool = True
) -> Axes:
    """Draw the weight of a judgement of each annotator, as estimated by the model and in truth.

    Parameters
    ----------
    model : fitted estimator whose ``annotators_`` have a weight, or a Pipeline that ends in one
        For example `BayesSCDC`, `SCDC`, `DeepMCVC`, `MCVC` and `MECC`.
    true_weights : mapping or Series by annotator, or array of shape (n_annotators,)
        ln αβ / ((1 − α)(1 − β)) nats, with the sensitivity α and the specificity β of simulated annotators. An array is
        in the order of ``annotators_``.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    legend : bool, default=True
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The annotators in the order of their true weights, the highest first. Guesses have weight 0.

    Raises
    ------
    InputError
        The model weighs no judgements, or the true weights are not those of its annotators.

    References
    ----------
    Luo et al. (2018). Semi-crowdsourced Clustering with Deep Generative Models. NeurIPS. Fig. 3c.
    """
    estimator = unwrap(model)
    table = getattr(estimator, "annotators_", pd.DataFrame())
    if not {"sensitivity", "weight"} <= set(table):
        raise InputError(f"{type(estimator).__name__} does not estimate weights of judgements.")
    if table.empty:
        raise InputError(f"This {type(estimator).__name__} was fitted without annotators, so there are none to draw.")
    true = _by_annotator(true_weights, table.index)
    return draw_worker_weights(table["weight"], true, ax=ax, labels=labels, legend=legend)


def draw_worker_weights(
    weights: pd.Series,
    true_weights: Float[np.ndarray, " annotators"],
    *,
    ax: Place | None = None,
    labels: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw what `plot_worker_weights` draws, from the weights by annotator and the true ones in the same order."""
    order = np.argsort(-true_weights, kind="stable")
    found, true = weights.to_numpy(float)[order], true_weights[order]
    places = np.arange(len(found))
    ax = axes_of(ax, (float(np.clip(0.6 * len(found) + 1.2, 3.6, 9)), 3.4))
    look = Look.of(ax)
    ax.axhline(0, color=look.faint, lw=1, ls=(0, (4, 3)), zorder=1)
    ax.vlines(places, np.minimum(found, true), np.maximum(found, true), color=look.faint, lw=1, zorder=2)
    rings: dict[str, Any] = {"marker": "D", "ms": 7, "mfc": look.paper, "mec": look.colour(3), "mew": 1.6, "zorder": 3}
    dots: dict[str, Any] = {"marker": "o", "ms": 6, "mfc": look.colour(0), "mec": look.paper, "mew": 0.5, "zorder": 4}
    ax.plot(places, true, ls="", **rings, label="true")
    ax.plot(places, found, ls="", **dots, label="estimated")
    _name_annotators(ax, list(weights.index[order]), labels=labels)
    below = f"{len(places):,} annotators, by true weight" if len(places) > MOST_NAMED else None
    label_axes(ax, below, "weight of a judgement (nats)", labels=labels)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.margins(y=0.2)
    if legend:
        legend_inside(ax)
    tidy(ax)
    return ax


def _image_shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, Sequence | np.ndarray) and not isinstance(shape, str) else ()
    if not all(is_whole(size, 1) for size in sizes) or not (len(sizes) == 2 or (len(sizes) == 3 and sizes[2] == 3)):
        raise InputError(
            "The 'image_shape' parameter of plot_samples must be (height, width) or (height, width, 3). "
            f"Got {shape!r} instead."
        )
    return tuple(map(int, sizes))


def _before(model: Any, samples: Float[np.ndarray, "samples features"]) -> Float[np.ndarray, "samples pixels"]:
    """Return samples before the steps of a pipeline that can be inverted."""
    if isinstance(model, Pipeline) and len(model.steps) > 1 and hasattr(model[:-1], "inverse_transform"):
        return np.asarray(model[:-1].inverse_transform(samples), float)
    return np.asarray(samples, float)


def _from_0_to_1(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    if low >= 0 and high <= 1:
        return values
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _sheet(images: np.ndarray) -> np.ndarray:
    """Combine images (columns, rows, height, width, …) into one, with empty lines between; with alpha if in colour."""
    if images.ndim > 4:
        images = np.concatenate([images, np.ones((*images.shape[:-1], 1))], axis=-1)
    wide, nothing = [(0, 0)] * (images.ndim - 4), np.nan if images.ndim == 4 else 0.0
    framed = np.pad(images, [(0, 0), (0, 0), (0, 1), (0, 1), *wide], constant_values=nothing)
    columns, rows, height, breadth, *colours = framed.shape
    sheet = np.moveaxis(framed, 0, 2).reshape(rows * height, columns * breadth, *colours)
    return sheet[:-1, :-1]


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "<1%"


def _by_annotator(given: Any, annotators: pd.Index) -> Float[np.ndarray, " annotators"]:
    if isinstance(given, Mapping | pd.Series):
        names, values = name_index(list(given.keys())), np.asarray([weight for _, weight in given.items()])
        if not names.is_unique:
            raise InputError(f"'true_weights' names annotator {names[names.duplicated()][0]!r} twice.")
        places = names.get_indexer(annotators)
        if (places < 0).any():
            raise InputError(f"'true_weights' has none for annotator {annotators[int(np.argmax(places < 0))]!r}.")
        values = values[places]
    else:
        values = np.asarray(given)
        if values.shape != (len(annotators),):
            expected = f"one for each of {quantify(len(annotators), 'annotator')}"
            raise InputError(f"'true_weights' must be {expected}. Got an array of shape {values.shape}.")
    try:
        numbers = values.astype(float)
    except (TypeError, ValueError) as error:
        raise InputError("'true_weights' must be numbers.") from error
    if not np.isfinite(numbers).all():
        wrong = annotators[int(np.argmax(~np.isfinite(numbers)))]
        raise InputError(f"The true weight of annotator {wrong!r} is not finite. Keep α and β between 0 and 1.")
    return numbers


def _name_annotators(ax: Axes, names: list[Any], *, labels: bool) -> None:
    if not labels:
        ax.set_xticks([])
        return
    texts = fitting_names(names, ROOM * inches(ax)[1], LONGEST)
    if name_columns(ax, np.arange(len(texts)), texts):
        make_room(ax, bottom=reach(texts) - 0.15)
