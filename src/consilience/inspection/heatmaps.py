"""Heat maps: what the annotators' groups stand for, what they take for what, and who agrees with whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.sparse import csr_array

from consilience.annotations import Groupings, Labels
from consilience.errors import InputError
from consilience.inspection.agreement import adjusted_rand, annotator_agreement, order_by_agreement
from consilience.inspection.heat_sheet import (
    COLUMN,
    LETTER,
    MOST_NAMED,
    MOST_NUMBERED,
    ROW,
    colour_bar,
    dress,
    rule,
    sheet,
    two_digits,
    write_numbers,
)
from consilience.inspection.names import as_text, counted, plot_text, width
from consilience.inspection.projection import unwrap
from consilience.inspection.style import INK, SMALL, heat

__all__ = ["plot_agreement", "plot_confusion", "plot_mapping"]

ROWS, COLUMNS = 3, 4  # of confusion matrices
LARGEST = 4.0  # inches of a confusion matrix
MOST_TICKED = 32  # classes that have their names beside it
ACROSS = 8.6  # inches that they take side by side


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
        ax, bar = sheet(left, COLUMN * max(mapped.shape[1], 6), ROW * len(rows), bottom=0.6, top=0.35)
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
    rule(ax, np.arange(1, mapped.shape[1]) - 0.5, starts[1:] - 0.5)
    ax.set_xlabel("cluster", fontsize=9, color=INK)
    if n_left_out:
        n = len(starts) + n_left_out
        ax.set_title(f"{len(starts)} of {n} groupings (most labels)", loc="left", fontsize=9, color=INK)
    colour_bar(image, ax, bar, "probability of the group", extend="neither")
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
        ax, bar = sheet(margin, cell * n, cell * n, bottom=margin if named else 0.6, top=0.3)
    else:
        bar = None
    image = ax.imshow(values, cmap=heat(), vmin=0, vmax=1, aspect="auto", interpolation="none")
    ax.set_facecolor("white")
    ax.patch.set_hatch("//////")
    ax.patch.set_edgecolor("#B0B0B0")
    if named:
        ax.set_xticks(np.arange(n), names, fontsize=SMALL, rotation=90, rotation_mode="anchor", ha="right", va="center")
        ax.set_yticks(np.arange(n), names, fontsize=SMALL)
        rule(ax, np.arange(1, n) - 0.5, np.arange(1, n) - 0.5, width=0.6)
    else:
        ax.set_xlabel(f"{n} annotators, those who agree side by side", fontsize=9, color=INK)
    if n <= MOST_NUMBERED:
        write_numbers(ax, values, two_digits)
    below = bool((values < 0).any())
    colour_bar(image, ax, bar, "agreement (adjusted Rand index)", extend="min" if below else "neither")
    return ax


def plot_confusion(
    model: Any,
    annotators: Sequence[Any] | None = None,
    *,
    max_annotators: int | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw what annotators say of items of each class: the crowd's mean confusion matrix, then annotators' own.

    Parameters
    ----------
    model : fitted estimator with ``confusion_matrices_``, or a Pipeline that ends in one
    annotators : names, optional
        Whose matrices to draw, in this order. By default those with the most labels, the most accurate first.
    max_annotators : int, optional
        How many are drawn if `annotators` are not given: by default as many as there is room for in three rows, at
        most 11.
    figure : matplotlib Figure, optional
        An empty one to draw on. By default one that is as large as the matrices need.

    Returns
    -------
    matplotlib.figure.Figure
        A row for each class, a column for each label; rows add up to 1. The crowd's matrix is the mean over annotators,
        each as often as they gave labels. Cells bear percentages if there are at most 12 classes and labels.

    Raises
    ------
    InputError
        The model has no confusion matrices, or none of an annotator.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> from consilience.inspection import plot_confusion
    >>> vote = MajorityVote().fit([["cat", "cat", "dog"], ["dog", None, "dog"]])
    >>> [ax.get_title() for ax in plot_confusion(vote).axes if ax.images]
    ['the crowd', '0 (2 labels)', '1 (1 label)', '2 (2 labels)']
    """
    estimator = unwrap(model)
    if not hasattr(estimator, "confusion_matrices_"):
        raise InputError(f"{type(estimator).__name__} has no confusion matrices to draw.")
    table = estimator.confusion_matrices_
    if annotators is not None:
        shown = _known(estimator, annotators)
    else:
        room = ROWS * _most_across(table.shape[1]) - 1
        shown = _most_labels(estimator, room if max_annotators is None else max_annotators)
    classes, labels = ([plot_text(name, 20) for name in names] for names in (estimator._cluster_names(), table.columns))
    matrices = table.to_numpy().reshape(-1, len(classes), len(labels))
    n_labels = estimator.annotators_["n_labels"].to_numpy()
    weights = n_labels if n_labels.any() else np.ones(len(n_labels))
    n_said = [counted(int(n_labels[place]), "label") for place in shown]
    names = [as_text(estimator.annotators_.index[place]) for place in shown]
    titles = [f"{plot_text(name, 18)} ({count})" for name, count in zip(names, n_said, strict=True)]
    drawn = [np.average(matrices, axis=0, weights=weights), *matrices[shown]]
    grid = _panels(len(drawn), classes, labels, figure)
    for ax, matrix, title in zip(grid, drawn, ["the crowd", *titles], strict=True):
        image = ax.imshow(matrix, cmap=heat(), vmin=0, vmax=1, aspect="auto", interpolation="none")
        ax.set_title(title, fontsize=SMALL, color=INK, fontweight="bold" if ax is grid[0] else "normal")
        rule(ax, np.arange(1, len(labels)) - 0.5, np.arange(1, len(classes)) - 0.5, width=0.6)
        if max(matrix.shape) <= MOST_NUMBERED:
            write_numbers(ax, matrix, lambda share: f"{100 * share:.0f}")
    figure = cast(Figure, grid[0].get_figure(root=True))
    bar = figure.colorbar(image, ax=grid, shrink=min(1.0, 2.0 / figure.get_size_inches()[1]), aspect=16, pad=0.02)
    dress(bar, "probability of the label")
    figure.supylabel("class of the item", fontsize=9, color=INK)
    figure.supxlabel("label given", fontsize=9, color=INK)
    return figure


def _most_labels(estimator: Any, most: int) -> Int[np.ndarray, " shown"]:
    """Places of the annotators with the most labels, the most accurate first."""
    quality = estimator.annotators_.reset_index(drop=True)
    chosen = quality[quality["n_labels"] > 0].sort_values("n_labels", ascending=False, kind="stable").head(most)
    return chosen.sort_values(["accuracy", "information"], ascending=False, kind="stable").index.to_numpy()


def _known(estimator: Any, annotators: Sequence[Any]) -> Int[np.ndarray, " shown"]:
    wanted = pd.Index(list(annotators), tupleize_cols=False)
    places = estimator.annotators_.index.get_indexer(wanted)
    if (places < 0).any():
        raise InputError(f"Annotator {wanted[np.argmax(places < 0)]!r} was not fitted.")
    return places


def _panels(n: int, classes: list[str], labels: list[str], figure: Figure | None) -> list[Axes]:
    """Axes for n matrices, side by side as far as there is room; the outer ones name classes and labels."""
    across, down = _side(len(labels)), _side(len(classes))
    n_rows = -(-n // _most_across(len(labels)))
    n_columns = -(-n // n_rows)
    if figure is None:
        left = LETTER * max(map(width, classes)) + 1.3
        below = LETTER * max(map(width, labels)) + 0.4
        size = (left + n_columns * (across + 0.3), below + n_rows * (down + 0.35))
        figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    upright: dict[str, Any] = {"rotation": 90} if max(map(width, labels)) * LETTER > across / len(labels) else {}
    for place, ax in enumerate(grid[:n]):
        leftmost, lowest = place % n_columns == 0, place + n_columns >= n
        named = classes if leftmost and len(classes) <= MOST_TICKED else []
        ax.set_yticks(np.arange(len(named)), named, fontsize=SMALL)
        named = labels if lowest and len(labels) <= MOST_TICKED else []
        ax.set_xticks(np.arange(len(named)), named, fontsize=SMALL, **upright)
    for ax in grid[n:]:
        ax.remove()
    return list(grid[:n])


def _side(n_names: int) -> float:
    """Inches of a confusion matrix of so many classes or labels."""
    return float(np.clip(0.34 * n_names, 1.25, LARGEST))


def _most_across(n_labels: int) -> int:
    """How many confusion matrices there is room for side by side."""
    return int(np.clip(ACROSS // (_side(n_labels) + 0.3), 1, COLUMNS))


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
