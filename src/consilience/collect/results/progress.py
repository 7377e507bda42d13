"""How far a study is, as its pages show it: counts, quotas, clusters and the advice to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from consilience.collect.settings.model import Item, Study
from consilience.collect.store import Store

MOST_SHOWN = 24  # items of a cluster


def progress_of(store: Store, study: Study) -> dict[str, Any]:
    """Return what the part of the page on progress shows.

    Returns ``counts``; ``quotas``, each with how many of its places are taken; ``n_groupings``, imported ones
    included; ``n_of_wanted``, those that count towards ``wanted``, which repeats, imported ones and those of people who
    are left out do not; ``wanted``; ``clusters``, or None if there is no consensus yet; ``found``, what the worker
    wrote; ``failures``, what the worker could not do.
    """
    counts, found = store.progress(study.id), store.consensus(study.id)
    items = store.items(study.id) if found else []
    return {
        "counts": counts,
        "quotas": store.quota_counts(study.id),
        "n_groupings": counts["submitted"] + counts["imported"],
        "n_of_wanted": store.n_submitted_of_quota(study.id),
        "wanted": study.settings.groupings_wanted,
        "found": found,
        "clusters": None if found is None else clusters_of(study, found, items),
        "failures": list(store.failures(study.id)),
    }


def next_step_of(study: Study, progress: Mapping[str, Any], *, previewed: bool) -> str:
    """Return what to do next: "preview", "open", "link", "watch", "close" or "results".

    progress : dict; see `progress_of`.
    previewed : whether somebody looked at the preview.
    """
    if study.status == "draft":
        return "open" if previewed else "preview"
    if study.status == "closed":
        return "results"
    wanted, advice = progress["wanted"], (progress["found"] or {}).get("advice")
    if (wanted and progress["n_of_wanted"] >= wanted) or (advice and advice["stop"]):
        return "close"
    return "watch" if progress["counts"]["participants"] else "link"


def clusters_of(study: Study, found: Mapping[str, Any], items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return title, items and names of each cluster, or of each category of a closed sort that is given to an item."""
    if study.gives_labels:
        members: list[tuple[str, list[int], list[Any]]] = [
            (name, [place for place, label in enumerate(found["labels"]) if label == number], [])
            for number, name in enumerate(found["categories"])
        ]
    else:
        members = [
            (one.get("title", f"cluster {one['cluster']}"), one["items"], one["names"]) for one in found["clusters"]
        ]
    total = sum(len(numbers) for _, numbers, _ in members)
    return [
        {
            "title": title,
            "size": len(numbers),
            "share": len(numbers) / total if study.gives_labels and total else None,
            "cards": [items[number] for number in numbers[:MOST_SHOWN] if number < len(items)],
            "names": names,
        }
        for title, numbers, names in members
    ]


def quotas_of(store: Store, study: Study) -> dict[str, Any]:
    """Return how often cards were presented, in what counts towards the quota of each.

    Returns ``least``, ``median`` and ``most`` times; ``unseen``, the number of cards that nobody was shown;
    ``limit``, the quota or None; ``full``, the number of cards that reached it.
    """
    times, limit = store.times_presented(study.id), study.settings.max_per_item
    return {
        "least": int(times.min()),
        "median": float(np.median(times)),
        "most": int(times.max()),
        "unseen": int((times == 0).sum()),
        "limit": limit,
        "full": 0 if limit is None else int((times >= limit).sum()),
    }
