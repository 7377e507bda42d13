"""Heat maps: what the annotators' groups stand for, and who agrees with whom."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from scipy.sparse import csr_array

from consilience.annotations import Groupings, Labels
from consilience.errors import InputError
from consilience.inspection.agreement import adjusted_rand, annotator_agreement, order_by_agreement
from consilience.inspection.names import as_text, plot_text, width
from consilience.inspection.projection import unwrap
from consilience.inspection.style import INK, heat

__all__ = ["plot_agreement", "plot_mapping"]

ROW, COLUMN = 0.17, 0.3  # inches
BAR = 2.3  # inches of a colour bar, enough for its label
LETTER = 0.07  # inches that a letter takes at `SMALL` points
SMALL = 8
MOST_NAMED = 60  # annotators of whom each gets a name beside the heat map of agreement
MOST_NUMBERED = 12  # annotators up to whom the cells bear numbers


def plot_mapping(model: Any, *, max_groups: int = 80, ax: Axes | None = None) -> Axes:
    """Draw which clusters go by which of the annotators' groups, q(T).

    Groupings that draw the same lines between the clusters stand together.

    Parameters
    ----------
    model : fitted estimator with ``mapping_probabilities_``, or a Pipeline that ends in one
    max_groups : int, default=80
        About how many groups to draw. Groupings that hold more labels go first, none is cut in two, and the title
        says how many are left out.
    ax : matplotlib Axes, optional
        By default a figure of its own, ``ax.figure``, as large as the rows need.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each group, a column for each cluster.

    Raises
    ------
    InputError
        The model maps no groups to clusters.

    Examples
    --------
    >>> from consilience.inspection import plot_mapping
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> sorts = [["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]]
    >>> model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)
    >>> plot_mapping(model).images[0].get_array().shape
    (4, 2)
    """
    estimator = unwrap(model)
    if not hasattr(estimator, "mapping_probabilities_"):
        raise InputError(f"{type(estimator).__name__} has no mapping between groups and clusters to draw.")
    rows, starts, n_left_out = _mapping_rows(estimator, max_groups)
    mapped = estimator.mapping_probabilities_.iloc[rows]
    groups = [plot_text(name, 24) for name in mapped.index.get_level_values("group")]
    owners = [plot_text(_owner(annotator, grouping), 28) for annotator, grouping, _ in mapped.index[starts]]
    widest = max(map(width, groups))
    if ax is None:
        left = LETTER * (widest + max(map(width, owners))) + 0.35
        ax, bar = _sheet(left, COLUMN * max(mapped.shape[1], 6), ROW * len(rows), bottom=0.6, top=0.35)
    else:
        bar = None
    image = ax.imshow(mapped.to_numpy(), cmap=heat(), vmin=0, vmax=1, aspect="auto", interpolation="none")
    ax.set_yticks(np.arange(len(rows)), groups, fontsize=SMALL)
    ax.set_xticks(np.arange(mapped.shape[1]), mapped.columns.astype(str), fontsize=SMALL)
    for start, owner in zip(starts, owners, strict=True):
        place = (-(72 * LETTER * widest + 14), 0)
        ax.annotate(
            owner,
            (0, start),
            xycoords=("axes fraction", "data"),
            xytext=place,
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=SMALL,
            fontweight="bold",
            annotation_clip=False,
        )
    _rule(ax, np.arange(1, mapped.shape[1]) - 0.5, starts[1:] - 0.5)
    ax.set_xlabel("cluster", fontsize=9, color=INK)
    if n_left_out:
        n = len(starts) + n_left_out
        ax.set_title(f"{len(starts)} of {n} groupings (most labels)", loc="left", fontsize=9, color=INK)
    _colour_bar(image, ax, bar, "probability of the group", extend="neither")
    return ax


def plot_agreement(agreement: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how far every two annotators agree, those who agree side by side.

    Parameters
    ----------
    agreement : Groupings or Labels, or a square DataFrame such as `annotator_agreement` returns
    ax : matplotlib Axes, optional
        By default a figure of its own, ``ax.figure``, as large as the names need.

    Returns
    -------
    matplotlib.axes.Axes
        Adjusted Rand indices in the order of `order_by_agreement`, hatched where they are unknown. Up to 60 annotators
        are named, up to 12 have the numbers in the cells.

    Raises
    ------
    InputError
        What was given is neither.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import plot_agreement
    >>> groupings = Groupings.from_matrix([["p", "x"], ["p", "y"], ["q", "y"]], annotators=["Ann", "Bo"])
    >>> [text.get_text() for text in plot_agreement(groupings).get_yticklabels()]
    ['Ann', 'Bo']
    """
    matrix = _agreement_matrix(agreement)
    order = order_by_agreement(matrix)
    values = matrix.to_numpy(dtype=float)[np.ix_(order, order)]
    names = [plot_text(matrix.index[place], 24) for place in order]
    n, named = len(names), len(names) <= MOST_NAMED
    cell = float(np.clip(6.5 / max(n, 1), ROW - 0.01, 0.42)) if named else 6 / n
    if ax is None:
        margin = LETTER * max(map(width, names), default=0) + 0.25 if named else 0.6
        ax, bar = _sheet(margin, cell * n, cell * n, bottom=margin if named else 0.6, top=0.3)
    else:
        bar = None
    image = ax.imshow(values, cmap=heat(), vmin=0, vmax=1, aspect="auto", interpolation="none")
    ax.set_facecolor("white")
    ax.patch.set_hatch("//////")
    ax.patch.set_edgecolor("#B0B0B0")
    if named:
        ax.set_xticks(np.arange(n), names, fontsize=SMALL, rotation=90, rotation_mode="anchor", ha="right", va="center")
        ax.set_yticks(np.arange(n), names, fontsize=SMALL)
        _rule(ax, np.arange(1, n) - 0.5, np.arange(1, n) - 0.5, width=0.6)
    else:
        ax.set_xlabel(f"{n} annotators, those who agree side by side", fontsize=9, color=INK)
    if n <= MOST_NUMBERED:
        _write_numbers(ax, values)
    below = bool((values < 0).any())
    _colour_bar(image, ax, bar, "agreement (adjusted Rand index)", extend="min" if below else "neither")
    return ax


def _mapping_rows(estimator: Any, max_groups: int) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " shown"], int]:
    """Groups to draw in order, the rows at which their groupings begin, and how many groupings are left out."""
    mapping = estimator.annotator_mapping_
    keys = mapping[["annotator", "grouping"]]
    number = np.cumsum(np.append(True, (keys.iloc[1:].to_numpy() != keys.iloc[:-1].to_numpy()).any(1))) - 1
    n_labels = np.bincount(number, mapping["n_items"])
    n_groups = np.bincount(number)
    by_labels = np.argsort(-n_labels, kind="stable")
    fits = np.cumsum(n_groups[by_labels]) <= max_groups
    fits[0] = True
    shown = np.sort(by_labels[fits & (n_labels[by_labels] > 0)])
    shown = shown[_order_of_distinctions(estimator, np.flatnonzero(np.isin(number, shown)), number)]
    first_cluster = mapping["clusters"].map(lambda clusters: clusters[0] if clusters else estimator.n_clusters_)
    place = np.empty(len(n_groups), dtype=int)
    place[shown] = np.arange(len(shown))
    rows = np.flatnonzero(np.isin(number, shown))
    rows = rows[np.lexsort([first_cluster.to_numpy()[rows], place[number[rows]]])]
    starts = np.flatnonzero(np.diff(place[number[rows]], prepend=-1))
    return rows, starts, len(estimator.groupings_) - len(shown)


def _order_of_distinctions(
    estimator: Any, rows: Int[np.ndarray, " rows"], number: Int[np.ndarray, " groups"]
) -> Int[np.ndarray, " shown"]:
    """Order of groupings by the agreement of the partitions of the items that their groups of clusters make."""
    clusters = estimator.annotator_mapping_["clusters"].iloc[rows]
    group = np.repeat(np.arange(len(rows)), clusters.map(len))
    cluster = np.concatenate([np.array(found, dtype=int) for found in clusters])
    weight = np.sqrt(np.bincount(estimator.labels_, minlength=estimator.n_clusters_))
    matched = csr_array((weight[cluster], (cluster, group)), shape=(estimator.n_clusters_, len(rows)))
    found, grouping = np.unique(number[rows], return_inverse=True)
    n = len(found)
    return order_by_agreement(adjusted_rand(matched, grouping, np.arange(n), n))


def _owner(annotator: Any, grouping: Any) -> str:
    return as_text(annotator) if annotator == grouping else f"{as_text(annotator)} / {as_text(grouping)}"


def _agreement_matrix(agreement: Any) -> pd.DataFrame:
    if isinstance(agreement, Groupings | Labels):
        return annotator_agreement(agreement)
    if isinstance(agreement, pd.DataFrame) and agreement.index.equals(agreement.columns):
        return agreement
    raise InputError(
        "plot_agreement needs Groupings, Labels, or a square DataFrame with the annotators as index and columns. "
        f"Got {type(agreement).__name__}."
    )


def _sheet(left: float, across: float, down: float, *, bottom: float, top: float) -> tuple[Axes, Axes]:
    """Axes of the size wanted and a place for the colour bar, on a figure with margins in inches around them."""
    wide, tall = left + across + 0.95, bottom + max(down, BAR) + top
    figure = Figure(figsize=(wide, tall))
    total = np.array([wide, tall, wide, tall])
    ax = figure.add_axes(tuple(np.array([left, tall - top - down, across, down]) / total))
    bar = figure.add_axes(tuple(np.array([left + across + 0.18, tall - top - BAR, 0.14, BAR]) / total))
    return ax, bar


def _colour_bar(image: AxesImage, ax: Axes, bar: Axes | None, label: str, *, extend: Any) -> None:
    drawn = cast(Figure, ax.get_figure(root=True)).colorbar(
        image, cax=bar, ax=None if bar is not None else ax, extend=extend
    )
    drawn.set_label(label, fontsize=SMALL, color=INK)
    drawn.ax.tick_params(labelsize=SMALL)
    drawn.outline.set_visible(False)


def _rule(ax: Axes, across: np.ndarray, down: np.ndarray, *, width: float = 2.2) -> None:
    """White lines between the columns, and between the annotators."""
    for place in across:
        ax.axvline(place, color="white", lw=0.6)
    for place in down:
        ax.axhline(place, color="white", lw=width)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _write_numbers(ax: Axes, values: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ink = "white" if value > 0.7 else "black"
            ax.text(column, row, _two_digits(value), ha="center", va="center", fontsize=7, color=ink)


def _two_digits(value: float) -> str:
    """Such as .25, −.08, 0 and 1."""
    if value in (0, 1) or abs(value) < 0.005:
        return str(round(value))
    return f"{value:.2f}".replace("-", "\u2212").replace("0.", ".", 1)
