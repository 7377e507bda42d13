"""Heat maps: what the annotators' groups mean, which classes they confuse, and who agrees with whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from scipy.sparse import csr_array

from consilience.analysis.fitted import estimator_with
from consilience.analysis.names import as_text, quantify, width
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Labels
from consilience.annotations.spelling import places_of_fitted
from consilience.errors import InputError
from consilience.inspection.plots.matrix import (
    COLUMN,
    MOST_NAMED,
    ROW,
    SHEET_LETTER,
    colour_bar,
    draw_cells,
    draw_square,
    rule,
)
from consilience.inspection.plots.panels import host_of, panels_in
from consilience.inspection.plots.style import Look, Place, axes_of, small
from consilience.inspection.plots.text_layout import (
    LETTER,
    LINE,
    fitting_names,
    inches,
    label_axes,
    make_room,
    name_columns,
    name_rows,
    reach,
)
from consilience.metrics.agreement import adjusted_rand, annotator_agreement, order_by_agreement

__all__ = ["plot_agreement", "plot_confusion", "plot_mapping"]

MOST_MATRICES, ROWS = 12, 3  # confusion matrices drawn by default, and rows of them
LEAST = (0.75, 0.5)  # inches of a confusion matrix, across and down
LEAST_SIDE, LARGEST = 1.25, 4.0  # inches of a confusion matrix on a figure of its own
ACROSS = 8.6  # inches of a row of them there
BOTH = 0.55  # share of the axes that names of groups and annotators may take together
GAP = 0.12  # inches between confusion matrices
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of agreement


def plot_mapping(
    model: Any, *, max_groups: int = 80, ax: Place | None = None, labels: bool = True, colorbar: bool = True
) -> Axes:
    """Draw which clusters correspond to which of the annotators' groups, q(T).

    Groupings that divide the clusters in the same way are next to each other.

    Parameters
    ----------
    model : fitted estimator with ``mapping_probabilities_``, or a Pipeline that ends in one
    max_groups : int, default=80
        About how many groups to draw. Groupings with the most labels are kept, each as a whole, and a line below the
        plot says how many are left out.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    colorbar : bool, default=True
        Whether to draw a colour bar.

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
    estimator = estimator_with(model, "mapping_probabilities_", "has no mapping between groups and clusters to draw")
    rows, starts, n_left_out = _mapping_rows(estimator, max_groups)
    mapped = estimator.mapping_probabilities_.iloc[rows]
    groups = list(mapped.index.get_level_values("group"))
    owners = [_owner(annotator, grouping) for annotator, grouping, _ in mapped.index[starts]]
    longest = sum(max(width(as_text(name)) for name in names) for names in (groups, owners))
    size = (SHEET_LETTER * min(longest, 52) + COLUMN * max(mapped.shape[1], 6) + 1.6, ROW * len(rows) + 1.0)
    ax = axes_of(ax, size)
    image = draw_cells(ax, mapped.to_numpy())
    _name_groups(ax, groups, owners, starts, labels=labels)
    columns = [str(name) for name in mapped.columns] if labels else [""] * mapped.shape[1]
    name_columns(ax, np.arange(len(columns)), columns)
    rule(ax, np.arange(1, mapped.shape[1]) - 0.5, starts[1:] - 0.5)
    if colorbar:
        colour_bar(image, ax, "probability of the group")
    n = len(starts) + n_left_out
    caption = f"{len(starts)} of {n} groupings (most labels)" if n_left_out else ""
    label_axes(ax, "cluster", None, labels=labels, caption=caption)
    return ax


def _name_groups(
    ax: Axes, groups: list[Any], owners: list[str], starts: Int[np.ndarray, " groupings"], *, labels: bool
) -> None:
    """Name the rows, and further left, in bold, the annotator at the first row of each grouping."""
    if not labels:
        ax.set_yticks([])
        return
    room = BOTH * inches(ax)[0]
    texts, whose = fitting_names(groups, 0.45 * room, 24), fitting_names(owners, 0.55 * room, 28)
    make_room(ax, left=reach(texts) + 1.1 * reach(whose))
    name_rows(ax, np.arange(len(texts)), texts)
    ax.yaxis.remove_overlapping_locs = False
    name_rows(ax, starts, whose, minor=True)
    ax.tick_params(axis="y", which="minor", pad=72 * reach(texts) + 14)
    for text in ax.get_yticklabels(minor=True):
        text.set_fontweight("bold")


def plot_agreement(agreement: Any, *, ax: Place | None = None, labels: bool = True, colorbar: bool = True) -> Axes:
    """Draw how far each pair of annotators agrees, those who agree next to each other.

    Parameters
    ----------
    agreement : Groupings or Labels, or a square DataFrame such as `annotator_agreement` returns
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw. By default pyplot's current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    colorbar : bool, default=True
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib.axes.Axes
        Adjusted Rand indices in the order of `order_by_agreement`, hatched where they are unknown. For up to 12
        annotators, the numbers are in the cells if these are large enough.

    Raises
    ------
    InputError
        `agreement` is none of these.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import plot_agreement
    >>> groupings = Groupings.from_matrix([["p", "x"], ["p", "y"], ["q", "y"]], annotators=["Ann", "Bo"])
    >>> [text.get_text() for text in plot_agreement(groupings).get_yticklabels()]
    ['Ann', 'Bo']
    """
    words = current_words()
    matrix = _agreement_matrix(agreement)
    order = order_by_agreement(matrix)
    values = matrix.to_numpy(dtype=float)[np.ix_(order, order)]
    names = list(matrix.index[order])
    n = len(names)
    longest = max((width(as_text(name)) for name in names), default=0)
    cell = float(np.clip(6.5 / max(n, 1), ROW - 0.01, 0.42)) if n <= MOST_NAMED else 6 / n
    side = max(cell * n, 1.6) + SHEET_LETTER * min(longest, 32)
    ax = axes_of(ax, (side + 1.4, side + 0.6))
    look = Look.of(ax)
    unknown = {"facecolor": look.paper, "hatch": "//////", "edgecolor": look.faint}
    image = draw_square(ax, values, names, unknown, labels=labels)
    if colorbar:
        negative = bool((values < 0).any())
        extend = "min" if negative else "neither"
        bar = colour_bar(image, ax, "agreement (0: by chance, 1: the same groups)", extend=extend)
        if negative:  # which all have the colour of 0
            bar.set_yticks(TICKS, ["≤ 0", *(f"{tick:.1f}" for tick in TICKS[1:])])
    if n > MOST_NAMED:
        label_axes(ax, f"{n} {words.annotators}, those who agree side by side", None, labels=labels)
    return ax


def plot_confusion(
    model: Any,
    annotators: Sequence[Any] | None = None,
    *,
    max_annotators: int | None = None,
    ax: Place | None = None,
    labels: bool = True,
    colorbar: bool = True,
) -> list[Axes]:
    """Draw the labels given to items of each class: the crowd's mean confusion matrix, then those of annotators.

    Parameters
    ----------
    model : fitted estimator with ``confusion_matrices_``, or a Pipeline that ends in one
    annotators : names, optional
        Whose matrices to draw, in this order. By default those of the annotators with the most labels, of as many
        those who are the least accurate, the most accurate first.
    max_annotators : int, optional
        How many to draw if `annotators` is not given: by default as many as there is room for, at most 11.
    ax : matplotlib Axes, or an empty Figure or SubFigure, optional
        Where to draw: the panels take the place of the axes, whose title is that of all panels. By default pyplot's
        current axes, or those of a new figure if none is open.
    labels : bool, default=True
        Whether to write names and the labels of the axes.
    colorbar : bool, default=True
        Whether to draw a colour bar.

    Returns
    -------
    list of matplotlib.axes.Axes
        A panel for each matrix, that of the crowd first, named in its title: a row for each class, a column for each
        label; rows sum to 1. The crowd's matrix is the mean over annotators, weighted by their numbers of labels.
        Cells contain percentages if there are at most 12 classes and labels, and room for them.

    Raises
    ------
    InputError
        The model has no confusion matrices, or none for an annotator.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> from consilience.inspection import plot_confusion
    >>> vote = MajorityVote().fit([["cat", "cat", "dog"], ["dog", None, "dog"]])
    >>> [ax.get_title() for ax in plot_confusion(vote)]
    ['the crowd', '0 (2 labels)', '1 (1 label)', '2 (2 labels)']
    """
    estimator = estimator_with(model, "confusion_matrices_", "has no confusion matrices to draw")
    table = estimator.confusion_matrices_
    names = (list(estimator._cluster_names()), list(table.columns))
    wanted = None if annotators is None else places_of_fitted(annotators, estimator.annotators_.index, "Annotator")
    fits_sheet = min(ROWS * _across(len(names[1])), MOST_MATRICES) - 1
    most = _most_labels(estimator, fits_sheet if max_annotators is None else max_annotators)
    host = host_of(ax, _sheet_of(len(most if wanted is None else wanted) + 1, *names))
    shade = ScalarMappable(Normalize(0, 1), Look.of(host).heat())
    if colorbar:
        colour_bar(shade, host, "probability of the label")
    if wanted is None:
        room = None if max_annotators is not None else _room_for(host, *names) - 1
        wanted = _most_labels(estimator, len(most) if room is None else min(room, len(most)))
    matrices = table.to_numpy().reshape(-1, *map(len, names))
    n_labels = estimator.annotators_["n_labels"].to_numpy()
    crowd = np.average(matrices, axis=0, weights=n_labels if n_labels.any() else np.ones(len(n_labels)))
    panels = _panels(host, len(wanted) + 1, *names, labels=labels)
    for panel, matrix in zip(panels, [crowd, *matrices[wanted]], strict=True):
        draw_cells(panel, matrix, lambda share: f"{100 * share:.0f}")
        rule(panel, *(np.arange(1, n) - 0.5 for n in reversed(matrix.shape)), width=0.6)
    whose = estimator.annotators_.index
    titles = [(as_text(whose[place]), f" ({quantify(int(n_labels[place]), 'label')})") for place in wanted]
    n_all = int((n_labels > 0).sum())
    shown = f" (all {n_all:,})" if annotators is None and len(wanted) < n_all else ""
    for panel, title in zip(panels, [("the crowd", shown), *titles] if labels else [], strict=False):
        _entitle(panel, *title, bold=panel is panels[0])
    return panels


def _entitle(ax: Axes, name: str, count: str, *, bold: bool) -> None:
    """Set the title of a panel, with the count if there is room."""
    room = inches(ax)[0] + GAP / 2
    whole = reach([name + count]) <= room
    title = fitting_names([name], room, 40)[0] + (count if whole else "")
    ax.set_title(title, fontsize=small(), fontweight="bold" if bold else "normal", pad=3)


def _most_labels(estimator: Any, most: int) -> Int[np.ndarray, " shown"]:
    """Return the places of the annotators with the most labels, then the least accurate; the most accurate first."""
    quality = estimator.annotators_.reset_index(drop=True)
    chosen = quality[quality["n_labels"] > 0]
    chosen = chosen.sort_values(["n_labels", "accuracy"], ascending=[False, True], kind="stable").head(most)
    return chosen.sort_values(["accuracy", "information"], ascending=False, kind="stable").index.to_numpy()


def _sheet_of(n: int, classes: list[Any], labels: list[Any]) -> tuple[float, float]:
    """Return the size in inches of n matrices with everything around them."""
    across, down = (float(np.clip(0.34 * len(names), LEAST_SIDE, LARGEST)) for names in (labels, classes))
    n_columns = min(_across(len(labels)), n)
    n_columns = -(-n // -(-n // n_columns))
    named, below = (SHEET_LETTER * min(max(width(as_text(x)) for x in names), 20) for names in (classes, labels))
    return named + n_columns * (across + GAP) + 1.8, below + -(-n // n_columns) * (down + 0.3) + 0.6


def _across(n_labels: int) -> int:
    """Return how many matrices fit side by side on a figure of their own."""
    return int(np.clip(ACROSS // (np.clip(0.34 * n_labels, LEAST_SIDE, LARGEST) + 0.3), 1, 4))


def _panels(host: Axes, n: int, classes: list[Any], labels_given: list[Any], *, labels: bool) -> list[Axes]:
    """Make axes for n matrices, as many side by side as fit; the outer ones name classes and labels."""
    words = current_words()
    wide, tall = inches(host)
    title = 1.6 * small() / 72 if labels else 0.0
    of_classes, of_labels = fitting_names(classes, 0.3 * wide, 20), fitting_names(labels_given, 0.3 * tall, 20)
    left = reach(of_classes) + 0.06 if labels else 0.0
    n_columns = _columns(host, n, len(classes), len(labels_given))
    n_rows = -(-n // n_columns)
    across = (wide - left) / n_columns - GAP
    turned = (reach(of_labels) + 0.08) * len(of_labels) > 0.75 * across
    below = (reach(of_labels) if turned else LINE * small() / 72) + 0.06 if labels else 0.0
    gaps = (GAP, GAP + title)
    grid = panels_in(host, n_rows, n_columns, between=gaps, left=left, below=below, above=title)
    for place, ax in enumerate(grid[:n]):
        ax.set_yticks([])
        ax.set_xticks([])
        if labels and place % n_columns == 0:
            name_rows(ax, np.arange(len(of_classes)), of_classes)
        if labels and place + n_columns >= n:
            name_columns(ax, np.arange(len(of_labels)), of_labels)
    for ax in grid[n:]:
        ax.remove()
    label_axes(host, "label given", f"class of the {words.item}", labels=labels)
    return grid[:n]


def _columns(host: Axes, n: int, n_classes: int, n_labels: int) -> int:
    """Return how many of n matrices to put side by side so that their cells are as large as possible."""
    wide, tall = inches(host)
    numbers = np.arange(1, n + 1)
    cell = np.minimum(wide / numbers / n_labels, tall / -(-n // numbers) / n_classes)
    best = int(numbers[cell.argmax()])
    return -(-n // -(-n // best))


def _room_for(host: Axes, classes: list[Any], labels: list[Any]) -> int:
    """Return how many matrices there is room for, at least two."""
    wide, tall = inches(host)
    across = (wide - min(max(width(as_text(x)) for x in classes) * LETTER * small() / 72, 0.3 * wide)) / (
        LEAST[0] + GAP
    )
    down = (tall - 0.2 * tall) / (LEAST[1] + GAP + 1.6 * small() / 72)
    return int(max(int(across) * int(down), 2))


def _mapping_rows(estimator: Any, max_groups: int) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " shown"], int]:
    """Return the groups to draw in order, the rows at which groupings begin, and the number of groupings left out."""
    mapping = estimator.annotator_mapping_
    keys = mapping[["annotator", "grouping"]]
    number = np.cumsum(np.append(True, (keys.iloc[1:].to_numpy() != keys.iloc[:-1].to_numpy()).any(1))) - 1
    n_labels = np.bincount(number, mapping["n_items"])
    n_groups = np.bincount(number)
    by_labels = np.argsort(-n_labels, kind="stable")
    fits = np.cumsum(n_groups[by_labels]) <= max_groups
    fits[0] = True  # one grouping is drawn, however many groups it has
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
    """Order groupings by the agreement of the partitions of the items that they imply through the clusters."""
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
        "plot_agreement needs Groupings, Labels, or a square DataFrame with the annotators as index and columns; for a "
        f"table of items × annotators, use Groupings.from_matrix(frame). Got {type(agreement).__name__}."
    )
