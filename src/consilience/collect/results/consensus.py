"""What is found in the answers so far, as JSON: clusters or categories, stability, and advice to stop.

There is one consensus of the same answers, wherever it is shown: `fusion_of` gives every fit the same seed, and the fit
depends neither on the order of the answers nor on the names of items and people.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.active import ActiveSession, LabelSession
from consilience.active.session import FLOORS
from consilience.active.stability import decide_by_reliability
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.group_names import AT_LEAST, cluster_names
from consilience.analysis.words import Words
from consilience.annotations import Groupings, Labels
from consilience.collect.settings.model import Study
from consilience.collect.store import Submitted
from consilience.consensus import DawidSkene, SubsetFusion
from consilience.errors import InputError
from consilience.inference.reweighted import say_few_people
from consilience.metrics.clusterings import nmi

TARGET = FLOORS["reliability"]  # at which `should_stop` advises to stop
WORDS = Words.of("cards,participants")  # as people, and the pages of a study, call what they see
WRONG = 0.05  # share of the items whose class may be wrong, of which a forecast tells how many labels it takes
MOST_ROUNDS = 200  # that a summary keeps
MOST_NAMES = 5  # of a cluster


def fusion_of(study: Study) -> SubsetFusion:
    """Return the model, not fitted, by which all of the groupings of a study are fused."""
    return SubsetFusion(random_state=study.seed)


def fingerprint(rows: Iterable[Submitted]) -> str:
    """Return what tells whether two consensuses are of the same answers."""
    numbers = ",".join(str(one.assignment) for one in sorted(rows, key=lambda one: one.assignment))
    return hashlib.blake2b(numbers.encode(), digest_size=8).hexdigest()


def of_session(
    session: ActiveSession,
    study: Study,
    rows: Sequence[Submitted],
    groupings: Groupings,
    previous: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Fuse the groupings of a session.

    session : its items are the numbers of those of the study.
    rows : answers that count
    groupings : the same with the names of groups, see `Store.groupings`
    previous : the summary before this one, or None

    Returns JSON values: ``kind`` "groupings"; ``answers``, see `fingerprint`; ``n_groupings``, ``n_annotators``,
    ``n_items``, ``n_items_grouped``; ``n_clusters``; ``labels``, the cluster of each item in order, -1 for those that
    nobody grouped; ``clusters``, for each its number, its ``title`` as in the report, the numbers of its items and the
    names that several participants give it, with the number of these; ``sources``, the number of groupings by the
    source of their subset; ``rounds``, for each consensus the number of groupings and of clusters and ``stability``,
    the normalised mutual information with the one before, or None; ``advice``, see `advice`, or None if the study has
    no stop rule.
    """
    fusion = session.consensus()
    labels = fusion.labels_
    found = count_answers("groupings", study, rows) | {
        "n_items_grouped": int((labels >= 0).sum()),
        "n_clusters": len(np.unique(labels[labels >= 0])),
        "labels": [int(label) for label in labels],
        "clusters": _clusters(FoundClusters.of(fusion).as_called(groupings), groupings),
    }
    found["rounds"] = _rounds(found, previous)
    found["advice"] = advice(session) if study.settings.stop_rule == "reliability" else None
    return found


def advice(session: ActiveSession) -> dict[str, Any]:
    """Say whether to stop, and how many groupings are still missing.

    Returns ``stop``; ``reason``, one sentence; ``reliability`` and ``more``, the number of groupings that are
    missing, or None where they cannot be estimated yet; ``target``, the reliability to stop at.
    """
    try:
        forecast = session.groupings_needed(TARGET)
    except InputError as error:
        return {"stop": False, "reason": WORDS.told(str(error)), "reliability": None, "more": None, "target": TARGET}
    n_people = 0 if session.groupings_ is None else session.groupings_.n_annotators
    decision = decide_by_reliability(forecast.reliability, floor=TARGET, n_people=n_people)
    return {
        "stop": decision.stop,
        "reason": WORDS.told(decision.reason),
        "reliability": float(forecast.reliability),
        "more": int(np.ceil(forecast.more)) if np.isfinite(forecast.more) else None,
        "target": TARGET,
    }


def of_labels(labels: Labels, study: Study, rows: Sequence[Submitted]) -> dict[str, Any]:
    """Estimate the category of each item of a closed sort, or of a study of labels.

    Returns JSON values: ``kind`` "labels"; ``n_groupings``, ``n_annotators``, ``n_items``, ``n_items_grouped``,
    ``sources`` as in `of_session`; ``categories``; ``labels``, the number of the category of each item, -1 for items
    without labels; ``probabilities``, of that category; ``counts``, how often each item was given each category;
    ``n_answers``, the number of labels; ``advice``, where people are asked for labels and there is a stop rule, whether
    to ask for more, else None.
    """
    given = np.diff(labels.indptr) > 0
    responsibilities = class_probabilities(labels)
    counts = np.zeros(responsibilities.shape, dtype=int)
    np.add.at(counts, (labels.item, labels.label), 1)
    best = np.where(given, responsibilities.argmax(1), -1)
    return count_answers("labels", study, rows) | {
        "n_items_grouped": int(given.sum()),
        "n_answers": labels.n_rows,
        "categories": list(study.classes),
        "labels": [int(label) for label in best],
        "probabilities": [
            round(float(row.max()), 6) if known else None for row, known in zip(responsibilities, given, strict=True)
        ],
        "counts": counts.tolist(),
        "advice": advice_on_labels(labels) if study.is_asked and study.settings.stop_rule != "none" else None,
    }


def class_probabilities(labels: Labels) -> Float[np.ndarray, "items classes"]:
    """Return the probability of each class of `labels`, by the model of Dawid and Skene; 0 for items without labels."""
    given = np.diff(labels.indptr) > 0
    found = np.zeros((labels.n_items, len(labels.classes)))
    if given.any():
        model = DawidSkene().fit(labels.restrict(items=labels.items[given]))
        found[np.ix_(given, labels.classes.get_indexer(pd.Index(model.classes_)))] = model.responsibilities_
    return found


def advice_on_labels(labels: Labels) -> dict[str, Any] | None:
    """Say whether more labels would hardly change the classes, as `LabelSession.should_stop` does.

    Worth to go on for is one item, or `WRONG` of them if that is less.

    Returns dict or None: as of `advice`; ``more`` is the number of labels that are missing until an expected `WRONG` of
    the items have a wrong class, None if that is reached, or cannot be told, as from fewer than four people. None if
    there are no labels.
    """
    if not labels.n_rows:
        return None
    session = LabelSession(labels.items, classes=labels.classes, random_state=0).tell(labels)
    decision = session.should_stop(floor=min(1.0, WRONG * labels.n_items))
    more = None
    if not (decision.stop or say_few_people(labels.n_annotators)):
        needed = session.labels_needed(WRONG).labels
        more = max(0, int(needed) - labels.n_rows) if np.isfinite(needed) else None
    reason = WORDS.told(decision.reason)
    return {"stop": decision.stop, "reason": reason, "reliability": None, "more": more, "target": WRONG}


def count_answers(kind: str, study: Study, rows: Sequence[Submitted]) -> dict[str, Any]:
    return {
        "kind": kind,
        "answers": fingerprint(rows),
        "n_groupings": len(rows),
        "n_annotators": len({one.participant for one in rows}),
        "n_items": study.n_items,
        "sources": dict(sorted(Counter(one.source for one in rows).items())),
    }


def _clusters(found: FoundClusters, groupings: Groupings) -> list[dict[str, Any]]:
    """Return number, title, items and names of each cluster, the largest first."""
    names = cluster_names(groupings, found.codes, len(found.index), above_half=True)
    common = names[names["n_annotators"] >= min(AT_LEAST, groupings.n_annotators)]
    return [
        {
            "cluster": int(found.index[code]),
            "title": found.titles[code],
            "items": [int(item) for item in np.flatnonzero(found.codes == code)],
            "names": [
                {"name": str(name), "count": int(count)}
                for name, count in common.loc[common["cluster"] == code, ["name", "n_annotators"]]
                .head(MOST_NAMES)
                .itertuples(index=False)
            ],
        }
        for code in range(len(found.index))
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
