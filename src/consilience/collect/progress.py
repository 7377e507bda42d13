"""How far a study is, as its page shows it: counts, clusters, stability and the advice to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from consilience.collect.model import CLOSED, Item, Study
from consilience.collect.store import Store

MOST_SHOWN = 24  # items of a cluster
WIDTH, HEIGHT, MARGIN = 360, 120, 26  # of the curve


def progress_of(store: Store, study: Study) -> dict[str, Any]:
    """Return what the part of the page on progress shows.

    Returns
    -------
    dict
        ``counts``; ``n_groupings``, imported ones included; ``wanted``; ``clusters``, or None if there is no consensus
        yet; ``found``, what the worker wrote; ``curve``, see `curve`; ``failures``, what the worker could not do.
    """
    counts, found = store.progress(study.id), store.consensus(study.id)
    items = store.items(study.id) if found else []
    return {
        "counts": counts,
        "n_groupings": counts["submitted"] + counts["imported"],
        "wanted": study.settings.groupings_wanted,
        "found": found,
        "clusters": None if found is None else _clusters(study, found, items),
        "curve": None if found is None else curve(found.get("rounds", [])),
        "failures": list(store.failures(study.id)),
    }


def _clusters(study: Study, found: Mapping[str, Any], items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return title, items and names of each cluster, or of each category of a closed sort that is given to an item."""
    if study.kind == CLOSED:
        members: list[tuple[str, list[int], list[Any]]] = [
            (name, [place for place, label in enumerate(found["labels"]) if label == number], [])
            for number, name in enumerate(found["categories"])
        ]
    else:
        members = [(f"Cluster {place}", one["items"], one["names"]) for place, one in enumerate(found["clusters"], 1)]
    return [
        {
            "title": title,
            "size": len(numbers),
            "cards": [items[number] for number in numbers[:MOST_SHOWN] if number < len(items)],
            "names": names,
        }
        for title, numbers, names in members
    ]


def curve(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the stability of the consensus by the number of groupings as points of a drawing, None if it is too early.

    Examples
    --------
    >>> rounds = [{"n_groupings": n, "n_clusters": 3, "stability": s} for n, s in [(4, None), (5, 0.5), (6, 1.0)]]
    >>> curve(rounds)["points"]
    [(26.0, 60.0), (334.0, 26.0)]
    """
    known = [(one["n_groupings"], one["stability"]) for one in rounds if one["stability"] is not None]
    if len(known) < 2:
        return None
    first, last = known[0][0], known[-1][0]
    span = max(last - first, 1)
    points = [
        (
            round(MARGIN + (WIDTH - 2 * MARGIN) * (number - first) / span, 1),
            round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * max(stability, 0.0), 1),
        )
        for number, stability in known
    ]
    return {"points": points, "first": first, "last": last, "width": WIDTH, "height": HEIGHT, "margin": MARGIN}
