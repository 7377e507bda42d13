"""What the script of a report draws on the map: items on three axes, ellipses around them, and words between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.analysis.certainty import Certainty
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.group_words import GroupWords
from consilience.analysis.item_spread import can_place, spread
from consilience.analysis.names import join_some, name_text
from consilience.analysis.projection import HARDLY_SHOWN
from consilience.analysis.words import current_words
from consilience.inspection.plots.certainty import RADIUS
from consilience.inspection.report.tables import Download, download

N_AXES = 3
NAMED = 6  # items in a caption
MOST_WORDS = 60  # on the map
NEGLIGIBLE = 1e-3  # share of the largest coordinate below which an axis shows nothing


@dataclass(frozen=True)
class MapControls:
    """Which buttons the map of the explorer has.

    n_axes : number of axes; with two, there is nothing to choose.
    ellipses, words : whether there are any.
    outlined : whether the outlines of the clusters are shown at first.
    about_axes : how many axes show more than random sorts would.
    about_ellipses : what ellipses are.
    """

    n_axes: int
    ellipses: bool
    words: bool
    about_axes: str = ""
    about_ellipses: str = ""
    outlined: bool = False

    @property
    def planes(self) -> list[tuple[int, int]]:
        """Pairs of axes that can be chosen."""
        return [(1, 2), (1, 3), (2, 3)] if self.n_axes > 2 else []


def say_hardly_shown(items: pd.Index, hardly: Bool[np.ndarray, " items"]) -> str:
    """Name the items that a map hardly shows, with a space before; empty if it shows all."""
    names, words = [name_text(name) for name in items[hardly]], current_words()
    if not names:
        return ""
    own = f"Hollow: the plane hardly shows {join_some(names, NAMED)} (cos² below {HARDLY_SHOWN:g})"
    return f" {own}; that {words.items} are near these, or in the middle, does not mean that they are alike."


def n_axes_of(co_occurrence: CoOccurrence, places: Int[np.ndarray, " shown"]) -> int:
    """Return 3 if the items differ on a third axis, else 2."""
    points = co_occurrence.map(places, N_AXES).points
    return 3 if np.abs(points[:, 2]).max() > NEGLIGIBLE * np.abs(points).max() else 2


def map_data(
    co_occurrence: CoOccurrence,
    places: Int[np.ndarray, " leaves"],
    certainty: Certainty | None,
    words: GroupWords | None,
) -> dict[str, Any]:
    """Return coordinates of the items, the names of the axes, ellipses and words; all in the unit of the coordinates.

    An ellipse is its centre, and the upper triangle of the matrix whose quadratic form has the ellipse as its level 1:
    the covariance of the draws times the square of the radius that holds 90 % of a normal distribution in the plane.
    """
    by_place = np.sort(places)  # so that the map is that of the figure
    n_axes = n_axes_of(co_occurrence, by_place)
    projection = co_occurrence.map(by_place, n_axes)
    points = projection.points[np.searchsorted(by_place, places)]
    scale = float(np.abs(points).max()) or 1.0
    return {
        "points": _round(points / scale),
        "axes": list(projection.axes),
        "cos2": _round(np.nan_to_num(cast(np.ndarray, projection.cos2)[np.searchsorted(by_place, places)], nan=1.0)),
        "hardly": HARDLY_SHOWN,
        "ellipses": _ellipses(co_occurrence, places, certainty, n_axes, scale),
        "file": _file_data(co_occurrence, places, certainty),
        "words": [] if words is None else _words(co_occurrence, places, points / scale, words),
    }


def _ellipses(
    co_occurrence: CoOccurrence,
    places: Int[np.ndarray, " leaves"],
    certainty: Certainty | None,
    n_axes: int,
    scale: float,
) -> list[list[float]]:
    """Return a row for each item, in the order of the leaves; none if too few pairs of them were presented."""
    if certainty is None or not can_place(co_occurrence):
        return []
    centres, covariances = (part[..., :n_axes] for part in spread(co_occurrence, certainty))
    covariances = covariances[:, :n_axes]
    row = np.searchsorted(co_occurrence.places, places)
    upper = np.triu_indices(n_axes)
    forms = (RADIUS / scale) ** 2 * covariances[row][:, upper[0], upper[1]]
    return [
        [*centre, *form] for centre, form in zip(_round(centres[row] / scale), forms.round(7).tolist(), strict=True)
    ]


def _words(
    co_occurrence: CoOccurrence,
    places: Int[np.ndarray, " leaves"],
    points: Float[np.ndarray, "leaves axes"],
    words: GroupWords,
) -> list[list[Any]]:
    """Return text, number of annotators and coordinates of the most frequent words."""
    where = _places_of_words(co_occurrence, places, points, words)
    known = np.isfinite(where).all(1)
    found = zip(words.words.index[known], words.words["n_annotators"][known], _round(where[known]), strict=True)
    return [[name_text(word), int(count), *place] for word, count, place in found][:MOST_WORDS]


def _places_of_words(
    co_occurrence: CoOccurrence,
    places: Int[np.ndarray, " shown"],
    points: Float[np.ndarray, "shown axes"],
    words: GroupWords,
) -> Float[np.ndarray, "words axes"]:
    """Coordinates of the words; NaN for those of items that are not shown."""
    all_points = np.full((len(co_occurrence.items), points.shape[1]), np.nan)
    all_points[places] = points
    return words.places(all_points)


def words_file(co_occurrence: CoOccurrence, words: GroupWords) -> Download | None:
    """Return the words with the number of annotators and groups, and their coordinates on the map."""
    places = co_occurrence.places
    projection = co_occurrence.map(places, n_axes_of(co_occurrence, places))
    where = _places_of_words(co_occurrence, places, projection.points, words)
    axes = pd.DataFrame(where.round(4), words.words.index, list(projection.axes))
    file = download("word-map.csv", words.words.join(axes), "word")
    return file if file.address else None


def _round(values: Float[np.ndarray, "rows axes"]) -> list[list[float]]:
    return [[float(value) for value in row] for row in np.asarray(values).round(4).tolist()]


def map_file(
    co_occurrence: CoOccurrence, places: Int[np.ndarray, " shown"], clusters: FoundClusters, certainty: Certainty | None
) -> Download | None:
    """Return `map_frame` as a file; None if it is too large for the page."""
    file = download("map.csv", map_frame(co_occurrence, places, clusters, certainty))
    return file if file.address else None


def map_frame(
    co_occurrence: CoOccurrence, places: Int[np.ndarray, " shown"], clusters: FoundClusters, certainty: Certainty | None
) -> pd.DataFrame:
    """Return coordinates of items on up to three axes, their clusters, and half axes and angles of the ellipses.

    places : of the items.
    """
    projection = co_occurrence.map(places, n_axes_of(co_occurrence, places))
    points = projection.points
    n_axes, codes = points.shape[1], clusters.codes[places]
    frame = pd.DataFrame(points, columns=[f"axis_{axis + 1}" for axis in range(n_axes)])
    if certainty is not None and can_place(co_occurrence) and len(places) == len(co_occurrence.places):
        frame = pd.concat([frame, _ellipse_columns(co_occurrence, certainty, n_axes)], axis=1)
    for axis, cos2 in enumerate(cast(np.ndarray, projection.cos2).T, 1):
        frame[f"cos2_{axis}"] = cos2.round(4)
    frame = frame.astype(float).map(lambda value: float(f"{value:.5g}"))
    frame.insert(0, "item", co_occurrence.items[places].to_numpy(), allow_duplicates=True)
    frame.insert(n_axes + 1, clusters.column, clusters.names_of(codes), allow_duplicates=True)
    if clusters.called:
        frame.insert(n_axes + 2, "name", [name or "" for name in clusters.called_of(codes)])
    return frame


def _file_data(
    co_occurrence: CoOccurrence, places: Int[np.ndarray, " leaves"], certainty: Certainty | None
) -> dict[str, Any]:
    """Return the rows of `map_frame` without the items, in the order of the leaves, and the order in the file."""
    clusters = cast(FoundClusters, co_occurrence.clusters)
    # ranks: where each leaf is among the sorted places
    frame = map_frame(co_occurrence, np.sort(places), clusters, certainty).iloc[np.argsort(np.argsort(places))]
    return {
        "columns": frame.columns.tolist(),
        "rows": frame.iloc[:, 1:].astype(object).to_numpy().tolist(),
        "order": np.argsort(places).tolist(),
    }


def _ellipse_columns(co_occurrence: CoOccurrence, certainty: Certainty, n_axes: int) -> pd.DataFrame:
    """Return the centres of the ellipses, and their half axes and angles in each plane."""
    centres, covariances = spread(co_occurrence, certainty)
    found = pd.DataFrame({f"ellipse_centre_{axis + 1}": centres[:, axis] for axis in range(n_axes)})
    for first, second in MapControls(n_axes, ellipses=True, words=False).planes or [(1, 2)]:
        shown = np.array([first - 1, second - 1])
        variances, axes = np.linalg.eigh(covariances[:, shown][:, :, shown])
        half = RADIUS * np.sqrt(np.maximum(variances, 0))
        name = f"ellipse_{first}_{second}"
        found[f"{name}_half_length"], found[f"{name}_half_width"] = half[:, 1], half[:, 0]
        found[f"{name}_degrees"] = np.degrees(np.arctan2(axes[:, 1, 1], axes[:, 0, 1])) % 180
    return found
