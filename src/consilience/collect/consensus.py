"""What is found in the answers so far, as JSON: clusters or categories, stability, and advice to stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.active import ActiveSession
from consilience.active.session import FLOORS
from consilience.annotations import Labels
from consilience.collect.model import Study
from consilience.collect.store import Submitted
from consilience.consensus import DawidSkene
from consilience.errors import InputError
from consilience.metrics.clusterings import nmi

TARGET = FLOORS["reliability"]  # at which `should_stop` advises to stop
MOST_ROUNDS = 200  # that a summary keeps


def of_session(
    session: ActiveSession, study: Study, rows: Sequence[Submitted], previous: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Fuse the groupings of a session.

    Parameters
    ----------
    session : ActiveSession
        Its items are the numbers of those of the study.
    study : Study
    rows : answers that count
    previous : the summary before this one, or None

    Returns
    -------
    dict
        JSON values: ``kind`` "groupings"; ``n_groupings``, ``n_annotators``, ``n_items``, ``n_items_grouped``;
        ``n_clusters``; ``labels``, the cluster of each item in order, -1 for those that nobody grouped; ``clusters``,
        the numbers of the items and the names that participants gave to groups with these items; ``sources``, the
        number of groupings by the source of their subset; ``rounds``, for each consensus the number of groupings and
        of clusters and ``stability``, the normalised mutual information with the one before, or None; ``advice``, see
        `advice`, or None if the study has no stop rule.
    """
    labels = session.consensus().labels_
    found = _counts("groupings", study, rows) | {
        "n_items_grouped": int((labels >= 0).sum()),
        "n_clusters": len(np.unique(labels[labels >= 0])),
        "labels": [int(label) for label in labels],
        "clusters": _clusters(labels, rows),
    }
    found["rounds"] = _rounds(found, previous)
    found["advice"] = advice(session) if study.settings.stop_rule == "reliability" else None
    return found


def advice(session: ActiveSession) -> dict[str, Any]:
    """Say whether to stop, and how many groupings are still missing.

    Returns
    -------
    dict
        ``stop``; ``reason``, one sentence; ``reliability`` and ``more``, the number of groupings that are missing, or
        None where they cannot be estimated yet; ``target``, the reliability to stop at.
    """
    try:
        forecast = session.groupings_needed(TARGET)
    except InputError as error:
        return {"stop": False, "reason": str(error), "reliability": None, "more": None, "target": TARGET}
    stop = forecast.reliability >= TARGET
    reason = f"Reliability is {forecast.reliability:.3f}; " + (
        f"that is at least {TARGET:g}." if stop else f"{TARGET:g} is wanted."
    )
    return {
        "stop": bool(stop),
        "reason": reason,
        "reliability": float(forecast.reliability),
        "more": int(np.ceil(forecast.more)) if np.isfinite(forecast.more) else None,
        "target": TARGET,
    }


def of_labels(labels: Labels, study: Study, rows: Sequence[Submitted]) -> dict[str, Any]:
    """Estimate the category of each item of a closed sort.

    Returns
    -------
    dict
        JSON values: ``kind`` "labels"; ``n_groupings``, ``n_annotators``, ``n_items``, ``n_items_grouped``,
        ``sources`` as in `of_session`; ``categories``; ``labels``, the number of the category of each item, -1 for
        items without labels; ``probabilities``, of that category; ``counts``, how often each item was given each
        category; ``advice`` is None.
    """
    given = np.diff(labels.indptr) > 0
    model = DawidSkene().fit(labels.restrict(items=labels.items[given]))
    place = labels.classes.get_indexer(pd.Index(model.classes_))
    responsibilities = np.zeros((labels.n_items, len(labels.classes)))
    responsibilities[np.ix_(given, place)] = model.responsibilities_
    counts = np.zeros(responsibilities.shape, dtype=int)
    np.add.at(counts, (labels.item, labels.label), 1)
    best = np.where(given, responsibilities.argmax(1), -1)
    return _counts("labels", study, rows) | {
        "n_items_grouped": int(given.sum()),
        "categories": list(study.settings.categories),
        "labels": [int(label) for label in best],
        "probabilities": [
            round(float(row.max()), 6) if known else None for row, known in zip(responsibilities, given, strict=True)
        ],
        "counts": counts.tolist(),
        "advice": None,
    }


def _counts(kind: str, study: Study, rows: Sequence[Submitted]) -> dict[str, Any]:
    return {
        "kind": kind,
        "n_groupings": len(rows),
        "n_annotators": len({one.participant for one in rows}),
        "n_items": study.n_items,
        "sources": dict(sorted(Counter(one.source for one in rows).items())),
    }


def _clusters(labels: Int[np.ndarray, " items"], rows: Sequence[Submitted]) -> list[dict[str, Any]]:
    """Return the items of each cluster, the largest first, and the names of groups most of whose items it holds."""
    names: dict[int, Counter[str]] = {}
    for one in rows:
        for group in one.groups:
            held = Counter(int(labels[item]) for item in group["items"])
            cluster, count = held.most_common(1)[0]
            if group["name"] and 2 * count > len(group["items"]):
                names.setdefault(cluster, Counter())[group["name"]] += 1
    sizes = Counter(int(label) for label in labels if label >= 0)
    return [
        {
            "cluster": cluster,
            "items": [int(item) for item in np.flatnonzero(labels == cluster)],
            "names": [{"name": name, "count": count} for name, count in names.get(cluster, Counter()).most_common(5)],
        }
        for cluster, _ in sizes.most_common()
    ]


def _rounds(found: Mapping[str, Any], previous: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rounds so far; a consensus of the same number of groupings as the last takes its place."""
    rounds = list(previous["rounds"]) if previous is not None and previous["kind"] == "groupings" else []
    stability = None
    if previous is not None and rounds:
        labels, before = np.array(found["labels"]), np.array(previous["labels"])
        both = (labels >= 0) & (before >= 0)
        stability = float(nmi(before[both], labels[both])) if len(labels) == len(before) and both.any() else None
        if rounds[-1]["n_groupings"] == found["n_groupings"]:
            stability = rounds.pop()["stability"]
    rounds.append({"n_groupings": found["n_groupings"], "n_clusters": found["n_clusters"], "stability": stability})
    return rounds[-MOST_ROUNDS:]
