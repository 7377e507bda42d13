"""Which clusters a judging study can be made from, and sentences that name what is wrong."""

from __future__ import annotations

from typing import Any

from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.cleaning import brief, clean_text
from consilience.collect.store.judging import MOST_CLUSTERS, MOST_QUESTIONS, Cluster
from consilience.errors import InputError


def checked_clusters(clusters: Any, n_items: int) -> tuple[Cluster, ...]:
    """Return clusters with their names cleaned.

    Raises InputError: a name is missing or occurs twice, or an item is in no cluster or in two.
    """
    found = tuple(Cluster(_checked_name(one.name), tuple(one.items)) for one in clusters)
    if not 2 <= len(found) <= MOST_CLUSTERS:
        raise InputError(f"From 2 to {MOST_CLUSTERS} clusters can be judged. Got {len(found)}.")
    names = [one.name for one in found]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"Two clusters have the name {name!r}.")
    if sorted(item for one in found for item in one.items) != list(range(n_items)):
        raise InputError("Every item of a judging study must be in one cluster.")
    return found


def checked_n_questions(n_questions: Any) -> int:
    """Return how many questions are wanted. Raises InputError: it is no whole number, or out of bounds."""
    whole = isinstance(n_questions, int) and not isinstance(n_questions, bool)
    if not whole or not 1 <= n_questions <= MOST_QUESTIONS:
        raise InputError(f"The number of questions must be from 1 to {MOST_QUESTIONS:,}. Got {brief(n_questions)}.")
    return int(n_questions)


def _checked_name(name: Any) -> str:
    found = clean_text(name, "The name of a cluster", LONGEST_NAME, one_line=True)
    if not found:
        raise InputError("The name of a cluster must not be empty.")
    return found
