"""How good the answers of a study are: who is flagged, and the consensus with everybody and without those flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from jaxtyping import Int

from consilience.collect.results.answer_flags import flags_of_answers
from consilience.collect.results.consensus import fusion_of
from consilience.collect.results.flags import Flag, flags_of
from consilience.collect.settings.model import Study
from consilience.collect.settings.training import APART
from consilience.collect.store import Store, Submitted
from consilience.collect.store.results import groupings_of
from consilience.metrics import ami

UNDECIDED = ("unfinished",)  # kinds of people who are in no consensus


def flags_in(store: Store, study: Study, labels: Sequence[int]) -> list[Flag]:
    """Return what is suspicious about the people of a study.

    labels : the class or the cluster of each item in the consensus, where people are asked questions.
    """
    rows, assignments = store.submitted(study.id), store.assignments(study.id)
    people = {one.id for one in store.participants(study.id) if not one.preview}
    mine = [one for one in assignments if one.participant in people]
    if study.is_asked:
        return flags_of_answers(study, rows, mine, store.trials_by_person(study.id), labels)
    return flags_of(rows, mine, n_items=study.n_items, kind=study.kind)


def quality_of(store: Store, study: Study, labels: Sequence[int]) -> dict[str, Any]:
    """Return flags and both consensuses as JSON values; ``labels`` are those for `flags_in`.

    Returns ``flags``, a list of dict with participant, annotator, kind and sentence; ``comparison``, None if
    nobody who is flagged has submitted anything, if too few are left, or where groups are given; else ``everybody``,
    those left out included, ``now``, those in the consensus, and ``without`` all who are flagged, each with
    ``n_groupings``, ``n_annotators`` and ``sizes`` of the clusters, and ``agreement``, the adjusted mutual information
    of the clusters of everybody and without those flagged.
    """
    flags = flags_in(store, study, labels)
    return {
        "flags": [asdict(one) for one in flags],
        "comparison": None if study.has_fixed_groups else _comparison(store.submitted(study.id), flags, study),
    }


def _comparison(rows: Sequence[Submitted], flags: Sequence[Flag], study: Study) -> dict[str, Any] | None:
    everybody = [one for one in rows if not one.preview and one.source not in APART and one.groups]
    flagged = {one.participant for one in flags if one.kind not in UNDECIDED}
    chosen = {
        "everybody": everybody,
        "now": [one for one in everybody if not one.excluded],
        "without": [one for one in everybody if one.participant not in flagged],
    }
    if not flagged or len(chosen["without"]) < 2 or not chosen["now"]:
        return None
    labels = dict[str, Int[np.ndarray, " items"]]()
    for name, mine in chosen.items():
        same = next((other for other in labels if chosen[other] == mine), None)
        labels[name] = _fuse(mine, study) if same is None else labels[same]
    both = (labels["everybody"] >= 0) & (labels["without"] >= 0)
    agreement = ami(labels["everybody"][both], labels["without"][both]) if both.any() else None
    return {name: _summary(mine, labels[name]) for name, mine in chosen.items()} | {"agreement": agreement}


def _fuse(rows: Sequence[Submitted], study: Study) -> Int[np.ndarray, " items"]:
    """Return the cluster of each item, -1 for items that nobody grouped; that of the consensus of the same answers."""
    groupings = groupings_of(rows, [str(number) for number in range(study.n_items)])
    return np.asarray(fusion_of(study).fit(groupings).labels_)


def _summary(rows: Sequence[Submitted], labels: Int[np.ndarray, " items"]) -> dict[str, Any]:
    sizes = np.bincount(labels[labels >= 0])
    return {
        "n_groupings": len(rows),
        "n_annotators": len({one.participant for one in rows}),
        "sizes": sorted((int(size) for size in sizes if size), reverse=True),
    }
