"""What a report on a free sort takes from the groupings alone: the words of groups, and the segments of the panel."""

from __future__ import annotations

from consilience.annotations import Groupings, Labels, Pairs
from consilience.inspection.clustering import FoundClusters
from consilience.inspection.group_words import GroupWords, group_words
from consilience.inspection.rv import fits
from consilience.inspection.segments import FEWEST, FEWEST_ITEMS, PanelSegments, panel_segments

FEWEST_USERS = 3  # annotators of a word
MOST_CELLS = 1_000_000  # groups × items
WHOLE = 0.8  # mean share of the items that annotators sorted, from which they are compared
MOST_SIMULATED = 250_000  # annotators × items²
N_SIMULATIONS = 99


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
