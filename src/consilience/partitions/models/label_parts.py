"""Labels of partitions as the models of labels read them: evidence for their sweeps, samples, results of items."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations import Labels
from consilience.annotations.names import outside
from consilience.consensus.labels.constant_annotators import count_labels
from consilience.consensus.labels.copies import MOST_PAIRS, merge_groups
from consilience.consensus.labels.copies_result import copies_of, say_who_weighs_together
from consilience.consensus.labels.samples import join_labels, take_items
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.labels import MAX_TABLE_ENTRIES
from consilience.estimators.parameters import is_auto
from consilience.inference.copies import Group
from consilience.inference.parts import Parts, evenly_spaced
from consilience.partitions.survey.label_survey import LabelPart, Survey
from consilience.partitions.tables.label_table import LabelPartition, read_rows


def label_counts(part: LabelPart) -> Int[np.ndarray, "annotators labels"]:
    """Number of labels of each annotator, of each class."""
    return count_labels(part.labels)


@dataclass(frozen=True)
class HeardPart(LabelPart):
    """Labels of a partition, one of each group of copies for each item.

    given : labels of all annotators.
    """

    given: Labels


def merge_copies(part: LabelPart, group: Group, stands: Int[np.ndarray, " annotators"]) -> HeardPart:
    """Keep one label of each group for each item, by the annotator who stands for the group."""
    return HeardPart(part.number, merge_groups(part.labels, group, stands), part.labels)


def given_labels(part: LabelPart) -> Labels:
    """Return the labels of all annotators."""
    return part.given if isinstance(part, HeardPart) else part.labels


def copies_among(model: Any, parts: Parts, survey: Survey) -> Group:
    """Find the groups that `copies` asks for, and set ``copies_``; the evidence is that of a sample of the items."""
    if model.copies is None:
        return copies_of(model, no_labels_by(survey.annotators, survey.classes)).group
    n_pairs = sum(parts.results(count_pairs))
    first = np.cumsum([0, *parts.results(count_items)])
    share = min(MOST_PAIRS / max(n_pairs, 1), 1.0)
    sample = join_labels(list(parts.results(take_evenly_spaced, first, share)))
    return copies_of(model, name_labels(sample, survey.annotators, survey.classes)).group


def warn_of_copies(model: Any) -> None:
    """Warn of annotators who were found to weigh together."""
    if len(model.copies_) and is_auto(model.copies):
        warnings.warn(say_who_weighs_together(model), AnnotationWarning, stacklevel=outside())


def count_pairs(part: LabelPart) -> int:
    """Return the number of pairs of labels of one item, both ways and with themselves."""
    return int((np.diff(part.labels.indptr) ** 2).sum())


def count_items(part: LabelPart) -> int:
    """Return the number of items of a partition."""
    return len(part.labels)


# ---- samples of items


def take_evenly_spaced(part: LabelPart, first: Int[np.ndarray, " partitions"], share: float) -> Labels:
    """Return a share of the items; `first` are the numbers of the first items of all partitions."""
    return take_items(part.labels, evenly_spaced(len(part.labels), share, int(first[part.number])))


def take_given(part: LabelPart, first: Int[np.ndarray, " partitions"], share: float) -> Labels:
    """Return the labels of all annotators of the items of `take_evenly_spaced`."""
    return take_evenly_spaced(LabelPart(part.number, given_labels(part)), first, share)


def name_labels(labels: Labels, annotators: pd.Index, classes: pd.Index) -> Labels:
    """Return labels with the names of their annotators and classes."""
    return replace(labels, annotators=annotators, classes=classes)


def no_labels_by(annotators: pd.Index, classes: pd.Index) -> Labels:
    """Return annotators and classes without labels."""
    none = np.empty(0, dtype=np.intp)
    return Labels(pd.RangeIndex(0), annotators, False, classes, none, none, none)


# ---- tables


def require_table(model: Any, survey: Survey, n_components: int) -> None:
    """Raise an InputError if there are no labels, or too many annotators, components and labels."""
    name, n_annotators, n_labels = type(model).__name__, len(survey.annotators), len(survey.classes)
    if not survey.n_labels:
        raise InputError(f"{name} needs labels, and none of the {survey.n_items} items has any.")
    if n_annotators * n_labels * n_components > MAX_TABLE_ENTRIES:
        raise InputError(
            f"{name} keeps a probability for each annotator, component and label: {n_annotators} × {n_components} × "
            f"{n_labels}, more than {MAX_TABLE_ENTRIES}. Are the labels names of classes?"
        )


# ---- results of items


def results_of_items(
    numbered: tuple[int, LabelPartition], model: Any, first: Int[np.ndarray, " partitions"], responsibilities: bool
) -> pd.DataFrame:
    """Return the class of each item of a partition, and its probability; `first` is not used, for items have names.

    responsibilities : whether to add the probability of each class.
    """
    labels = read_rows(numbered[1]).labels
    if not len(labels):
        nothing = pd.DataFrame({"item": labels.items, "label": model.classes_[:0], "probability": np.empty(0)})
        return _with_each(nothing, np.empty((0, len(model.classes_))), model) if responsibilities else nothing
    named, probabilities = model.tell_classes(labels)
    largest = np.where(pd.isna(named), np.nan, probabilities.max(1))
    found = pd.DataFrame({"item": labels.items, "label": named, "probability": largest})
    return _with_each(found, probabilities, model) if responsibilities else found


def _with_each(found: pd.DataFrame, probabilities: np.ndarray, model: Any) -> pd.DataFrame:
    return found.join(pd.DataFrame(probabilities, columns=[f"class {name}" for name in model.classes_]))
