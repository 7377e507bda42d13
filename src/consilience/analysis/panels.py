"""What a report on a free sort takes from the groupings alone: the words of groups, and the segments of the panel."""

from __future__ import annotations

from typing import Any

import pandas as pd

from consilience.analysis.axes import map_axes
from consilience.analysis.certainty_models import places_of_copies
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.divisions import Division, divide_clusters
from consilience.analysis.group_words import GroupWords, group_words
from consilience.analysis.rv import fits
from consilience.analysis.segments import FEWEST, FEWEST_ITEMS, PanelSegments, panel_segments
from consilience.analysis.separation import Separation, separated_items
from consilience.annotations import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.estimators.grouping_copies import weighing_together

FEWEST_USERS = 3  # annotators of a word
MOST_CELLS = 1_000_000  # groups × items
WHOLE = 0.8  # mean share of the items that annotators sorted, from which they are compared
MOST_SIMULATED = 250_000  # annotators × items²
N_SIMULATIONS = 99
FEWEST_TESTING = 6  # annotators of a test whether items are told apart
COVERED = 0.71  # mean share of the items that people sorted, so that about half of the pairs were presented


def words_of(annotations: Groupings | Labels | Pairs) -> GroupWords | None:
    """Return the words of the groups; None if none is used by several annotators, or if there are very many groups."""
    if not isinstance(annotations, Groupings) or annotations.n_annotators < FEWEST_USERS:
        return None
    if annotations.n_groups * annotations.n_items > MOST_CELLS:
        return None
    found = group_words(annotations, min_annotators=FEWEST_USERS)
    return found if len(found.words) else None


def are_compared(annotations: Groupings | Labels | Pairs, clusters: FoundClusters) -> bool:
    """Whether annotators are compared with each other: several free sorts of nearly all items."""
    if not isinstance(annotations, Groupings) or clusters.is_named:
        return False
    if annotations.n_annotators < 2 * FEWEST or annotations.n_items < FEWEST_ITEMS or not fits(annotations):
        return False
    sorted_by_each = annotations.summary().items_per_annotator
    return bool(sorted_by_each.mean() >= WHOLE * annotations.n_items)


def segments_of(annotations: Groupings | Labels | Pairs, clusters: FoundClusters) -> PanelSegments | None:
    """Return the segments of the panel; None if annotators are not compared, or if simulations would take long."""
    if not isinstance(annotations, Groupings) or not are_compared(annotations, clusters):
        return None
    if annotations.n_items**2 * annotations.n_annotators > MOST_SIMULATED:
        return None
    return panel_segments(annotations, n_simulations=N_SIMULATIONS, clusters=clusters.codes, random_state=0)


def _is_sorted_whole(annotations: Groupings | Labels | Pairs, clusters: FoundClusters | None) -> bool:
    """Whether people sorted freely, most of the items each."""
    is_named = clusters is not None and clusters.is_named
    if not isinstance(annotations, Groupings) or is_named or annotations.n_annotators < 2:
        return False
    return annotations.summary().coverage >= COVERED


def axes_of(annotations: Groupings | Labels | Pairs, clusters: FoundClusters | None = None) -> pd.DataFrame | None:
    """Return the test of the axes of the map; None if most pairs were never presented, or there are many items."""
    if not _is_sorted_whole(annotations, clusters):
        return None
    try:
        return map_axes(annotations, n_permutations=N_SIMULATIONS, random_state=0)
    except InputError:  # too few items, or too many
        return None


def separation_of(
    estimator: Any, annotations: Groupings | Labels | Pairs, clusters: FoundClusters
) -> Separation | None:
    """Return which items are told apart, copies counted once; None if there are too few or too many."""
    if not isinstance(annotations, Groupings) or not _is_sorted_whole(annotations, clusters):
        return None
    if annotations.n_annotators < FEWEST_TESTING:
        return None
    group = places_of_copies(estimator, annotations.annotators)
    try:
        return separated_items(weighing_together(annotations, group))
    except InputError:  # too few items, or too many
        return None


def divisions_of(estimator: Any, annotations: Groupings | Labels | Pairs, clusters: FoundClusters) -> list[Division]:
    """Return the best divisions of the clusters with their tests, copies counted once; where items are tested."""
    if not isinstance(annotations, Groupings):
        return []
    group = places_of_copies(estimator, annotations.annotators)
    return divide_clusters(weighing_together(annotations, group), clusters.codes)
