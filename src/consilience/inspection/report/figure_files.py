"""The numbers behind figures of a report, as CSV files inside the page; none where a file would be too large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.fitted import groupings_of, unwrap
from consilience.analysis.projection import project
from consilience.annotations import Pairs
from consilience.inspection.plots.scatter import some_of
from consilience.inspection.report.tables import Download, download

MOST_POINTS = 5000  # as many as are drawn


def plane_file(
    name: str, model: Any, X: Any, annotations: Any, clusters: FoundClusters, rows: FoundClusters | None = None
) -> Download | None:
    """Return where `draw_clusters` draws the items."""
    groupings = None if annotations is None or isinstance(annotations, Pairs) else groupings_of(annotations)
    projection = project(model, X, groupings, rows or clusters)
    axes = projection.axes if not projection.rows else (projection.axes[0], f"place_of_{clusters.noun}")
    return points_file(name, projection.points, axes, unwrap(model).items_, clusters)


def points_file(
    name: str, points: Float[np.ndarray, "points axes"], axes: Sequence[str], items: pd.Index, clusters: FoundClusters
) -> Download | None:
    """Return coordinates of items, and their clusters; if there are very many, of those that are drawn."""
    shown = some_of(np.arange(len(points)), MOST_POINTS)
    frame = pd.DataFrame(points[shown], columns=list(axes)).astype(float).map(lambda value: float(f"{value:.5g}"))
    frame.insert(0, "item", items[shown].to_numpy(), allow_duplicates=True)
    frame.insert(len(frame.columns), clusters.column, clusters.names_of(clusters.codes[shown]), allow_duplicates=True)
    return small(download(name, frame))


def small(file: Download) -> Download | None:
    """Return a file, None if it is too large for the page."""
    return file if file.address else None
