"""What other tools export, turned into the columns of a long table of groupings."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.names import Coded, Where, code, compress, first_repeat
from consilience.annotations.tables import require_names
from consilience.errors import AnnotationError, AnnotationWarning

CARD_SORT = ("card_id", "card_label", "category_id", "category_label", "user_id")
UNSORTED = "_"


def card_sort(columns: dict[str, Coded], where: Where) -> dict[str, Coded]:
    """Return the groupings in a card-sort export (Casolysis, kardSort), one grouping a user.

    A card is named by its label and a group by the label of its category; by its id if there is no label, and by label
    and id, "label (id)", if several cards, or several categories of one user, have the label.

    Raises
    ------
    AnnotationError
        An id is missing, a card or a category of one user has two labels, or labels and ids together do not tell two
        cards or categories apart.
    """
    require_names({name: columns[name] for name in ("card_id", "category_id", "user_id")}, where)
    user = columns["user_id"]
    everybody = Coded(np.zeros(len(user), dtype=np.intp), pd.RangeIndex(1))
    return {
        "item": _labelled("card", columns, everybody, where),
        "annotator": user,
        "group": _labelled("category", columns, user, where),
    }


def _labelled(what: str, columns: dict[str, Coded], owner: Coded, where: Where) -> Coded:
    """Name the cards or categories of each owner by their labels, as far as these tell them apart."""
    number, label = columns[f"{what}_id"], columns[f"{what}_label"]
    n = len(number.names)
    distinct, thing = compress(owner.codes * n + number.codes, len(owner.names) * n)
    label_of_thing = np.zeros(len(distinct), dtype=np.intp)
    label_of_thing[thing[::-1]] = label.codes[::-1]  # of several rows of a thing the last write stays: the first row
    if (label_of_thing[thing] != label.codes).any():
        row = int(np.argmax(label_of_thing[thing] != label.codes))
        first = int(np.argmax(thing == thing[row]))
        raise AnnotationError(
            f"The {what}_id {number.name(row)!r} has one {what}_label in {where(first)} and another in {where(row)}."
        )
    owner_of_thing, number_of_thing = np.divmod(distinct, n)
    labels = np.array([*label.names, None], dtype=object)[label_of_thing]
    numbers = number.names.to_numpy(object)[number_of_thing]
    named = code(_tell_apart(owner_of_thing, labels, numbers))
    keys = owner_of_thing * len(named.names) + named.codes
    if len(np.unique(keys)) < len(keys):
        one, other = first_repeat(keys)
        raise AnnotationError(
            f"The {what}_ids {numbers[one]!r} and {numbers[other]!r} would both be called {named.name(other)!r}; "
            f"change a {what}_label."
        )
    return Coded(named.codes[thing], named.names)


def _tell_apart(owner: np.ndarray, label: np.ndarray, number: np.ndarray) -> list[Any]:
    """Return label, "label (id)" or id of each thing; all of them text unless none is."""
    count = Counter(zip(owner, label))
    names = [
        i if text is None else text if count[o, text] == 1 else f"{text} ({i})"
        for o, text, i in zip(owner, label, number)
    ]
    return [str(name) for name in names] if any(isinstance(name, str) for name in names) else names


def is_label_studio(records: list[dict[str, Any]]) -> bool:
    """Whether a list of objects is a JSON export of Label Studio: tasks with annotations."""
    return all(isinstance(record.get("annotations"), list) for record in records)


def label_studio(tasks: list[dict[str, Any]]) -> dict[str, Coded]:
    """Return the groupings in a JSON export of Label Studio: one for each result of a ``Ranker`` with buckets.

    The annotator is who completed the annotation (the e-mail address where the export has it, else the number).
    Groups are named by their buckets, groupings by their tasks, or by "task/annotation/ranker" where an annotator has
    several for one task. What stands in the original list, "_", is an item that the annotator left out.

    Raises
    ------
    AnnotationError
        The export has no ``Ranker`` results, or they are rankings without buckets.
    """
    try:
        sorts = [sort for task in tasks for sort in _sorts(task)]
    except (AttributeError, KeyError, TypeError) as error:
        raise AnnotationError(
            "The annotations in this Label Studio export are not as Label Studio writes them."
        ) from error
    if not sorts:
        raise AnnotationError("The Label Studio export holds no result of a Ranker with buckets.")
    cancelled = sum(bool(done.get("was_cancelled")) for task in tasks for done in task["annotations"])
    if cancelled:
        message = f"{cancelled} annotations that were cancelled in Label Studio are left out."
        warnings.warn(message, AnnotationWarning, stacklevel=4)
    one_a_task = len({(sort.annotator, sort.task) for sort in sorts}) == len(sorts)
    rows = [
        (item, None, None, None) if bucket == UNSORTED else (item, sort.annotator, name, bucket)
        for sort in sorts
        for name in [sort.task if one_a_task else f"{sort.task}/{sort.annotation}/{sort.ranker}"]
        for bucket, items in sort.buckets.items()
        for item in items
    ]
    return {name: code(column) for name, column in zip(("item", "annotator", "grouping", "group"), zip(*rows))}


@dataclass(frozen=True)
class _Sort:
    """One annotator's result of one ``Ranker`` in one task."""

    annotator: Any
    task: Any
    annotation: Any
    ranker: Any
    buckets: dict[str, list[Any]]


def _sorts(task: dict[str, Any]) -> Iterator[_Sort]:
    for done in task["annotations"]:
        who = done.get("completed_by")
        who = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
        for result in [] if done.get("was_cancelled") else done.get("result", []):
            if result.get("type") != "ranker":
                continue
            buckets, ranker = result["value"]["ranker"], result.get("from_name")
            if not isinstance(buckets, dict) or set(buckets) == {ranker}:
                raise AnnotationError(
                    f"The Ranker {ranker!r} of task {task.get('id')!r} has no buckets: it ranks and does not group."
                )
            yield _Sort(who, task.get("id"), done.get("id"), ranker, buckets)
