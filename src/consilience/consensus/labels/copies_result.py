"""From groups of copies to the attributes and the warning of an estimator: all models of labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from sklearn.base import clone

from consilience.annotations import Labels
from consilience.annotations.labels import sorted_names
from consilience.annotations.names import outside, plain
from consilience.annotations.types import Name
from consilience.consensus.labels.copies import ALONE, Copies, find_copies, given_copies
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.parameters import Requirement, one_of

MOST_NAMED = 8  # annotators of a group in a warning


def _are_groups(value: Any) -> bool:
    """Whether a value is a list of lists, each of two names or more, of which none occurs twice."""
    if not isinstance(value, list | tuple) or not all(isinstance(group, list | tuple) for group in value):
        return False
    try:
        names = {name for group in value for name in group}
    except TypeError:  # names are hashable
        return False
    return all(len(group) > 1 for group in value) and len(names) == sum(map(len, value))


COPIES = one_of("auto", None) | Requirement(
    ("a list of lists of two or more annotators, none of whom is in two of them",), _are_groups
)


def copies_of(
    estimator: LabelAggregator,
    labels: Labels,
    *,
    known: Int[np.ndarray, " items"] | None = None,
    annotators: pd.Index | None = None,
) -> Copies:
    """Find the groups of copies that the `copies` parameter asks for, and set `copies_`.

    `annotators` are those of the labels and any further ones, who are in no group.
    """
    asked = estimator.copies
    if asked is None:
        found = given_copies(labels, [])
    elif isinstance(asked, str):
        found = find_copies(labels, known)
    else:
        found = given_copies(labels, [_places(estimator, group, labels) for group in asked], known)
    evidence = found.evidence
    members = [sorted_names(labels.annotators.take(found.members(number))).tolist() for number in range(len(found))]
    estimator.copies_ = pd.DataFrame(
        {
            "annotators": pd.Series([[plain(name) for name in names] for names in members], dtype=object),
            "n_items": evidence.n_items.astype(int),
            "agreement": evidence.agreement,
            "expected": evidence.expected,
            "dependence": evidence.dependence,
            "p_value": evidence.p_value,
        }
    ).rename_axis("group")
    n_further = 0 if annotators is None else len(annotators) - labels.n_annotators
    estimator._copy_group = np.append(found.group, np.full(n_further, ALONE))
    return found


def _places(estimator: LabelAggregator, group: Sequence[Name], labels: Labels) -> list[int]:
    # a tuple is one name, not two levels
    places = labels.annotators.get_indexer(pd.Index(list(group), tupleize_cols=False, dtype=object)).tolist()
    if ALONE in places:
        raise InputError(
            f"The 'copies' parameter of {type(estimator).__name__} must name annotators of the annotations. Got "
            f"{plain(group[places.index(ALONE)])!r}, who is none of them."
        )
    return places


def compare_with_apart(estimator: LabelAggregator, found: Copies, fit: Callable[[Any], object], labels: Labels) -> None:
    """Set `labels_apart_`, the classes if all annotators weighed alone; warn if groups were found by their labels.

    `fit` fits an estimator to the same annotations.
    """
    if not len(found):
        estimator.labels_apart_ = estimator.labels_.copy()
        return
    apart = clone(estimator).set_params(copies=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of `estimator` gave them
        fit(apart)
    estimator.labels_apart_ = apart.labels_
    if isinstance(estimator.copies, str):
        warnings.warn(_sentences(estimator, labels), AnnotationWarning, stacklevel=outside())


def n_changed(estimator: LabelAggregator) -> int:
    """Return the number of items whose class changes if all annotators weigh alone."""
    now, apart = pd.Series(estimator.labels_), pd.Series(estimator.labels_apart_)
    return int(((now != apart) & ~(now.isna() & apart.isna())).sum())


def _sentences(estimator: LabelAggregator, labels: Labels) -> str:
    table = estimator.copies_
    groups = [
        f"{_listed(row.annotators)} give the same label to {row.agreement:.0%} of the {row.n_items:,} items that they "
        f"share, where the other annotators explain {row.expected:.0%}"
        for row in table.itertuples()
    ]
    together = "each of these groups weighs" if len(table) > 1 else "they weigh together"
    return (
        f"{type(estimator).__name__}: {'; '.join(groups)}. Independent people do not agree like that, so {together} as "
        f"one annotator; {n_changed(estimator):,} of {len(labels):,} items have another class if all weigh alone. If "
        "they did work independently, set copies=None; to say who belongs together, give copies a list of lists of "
        "annotators."
    )


def _listed(names: list[Name]) -> str:
    shown = [repr(name) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        return f"The annotators {', '.join(shown)} and {len(names) - MOST_NAMED} others"
    return f"The annotators {', '.join(shown[:-1])} and {shown[-1]}"
