"""Labels of partitions as the models of labels read them: evidence for their sweeps, samples, results of items."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.annotations import Labels
from consilience.annotations.names import outside
from consilience.consensus.labels.constant_annotators import count_labels, without
from consilience.consensus.labels.copies import MOST_PAIRS, merge_groups, one_label_of_each
from consilience.consensus.labels.copies_result import copies_of, say_who_weighs_together
from consilience.consensus.labels.samples import join_labels, take_items
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.annotator_tables import tabulate_quality
from consilience.estimators.labels import MAX_TABLE_ENTRIES
from consilience.estimators.parameters import is_auto
from consilience.inference.copies import Group
from consilience.inference.parts import Additive, Parts, evenly_spaced
from consilience.inference.product_distributions import OneHotLabels, Weights, encode_labels, shared_weights
from consilience.inference.sparse_tables import Confusion
from consilience.partitions.survey.label_survey import LabelPart, Survey
from consilience.partitions.tables.label_table import LabelPartition, read_rows


def label_counts(part: LabelPart) -> Int[np.ndarray, "annotators labels"]:
    """Number of labels of each annotator, of each class."""
    return count_labels(part.labels)


@dataclass(frozen=True)
class Heard:
    """Which labels a model reads, and how they weigh.

    constant : annotators who are not heard.
    group : number of the group of copies of each annotator, -1 for those who are alone.
    """

    constant: Bool[np.ndarray, " annotators"]
    group: Group

    def labels(self, labels: Labels) -> Labels:
        """Return the labels that are heard."""
        return without(labels, self.constant)

    def weight(self, heard: Labels) -> Float[np.ndarray, " labels"] | None:
        """Return the weight of each label that is heard; None if all weigh 1."""
        return shared_weights(heard.item, self.group[heard.annotator])

    def once(self, labels: Labels) -> Labels:
        """Return the labels that are heard, one of each group for each item."""
        return one_label_of_each(self.labels(labels), self.group)


def encode_part(part: LabelPart, n_components: int, heard: Heard | None = None) -> OneHotLabels:
    """Encode the labels for the E-step, by default all, with equal weights."""
    if heard is None:
        return encode_labels(part.labels, n_components)
    read = heard.labels(part.labels)
    return encode_labels(read, n_components, weight=heard.weight(read))


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


# ---- the quality of annotators


@dataclass(frozen=True)
class QualitySums(Additive):
    """Sums of the probabilities of classes over items and labels.

    sizes : of each class.
    right : expected number of labels of each annotator that are right.
    """

    n_items: int
    sizes: Weights
    right: Float[np.ndarray, " annotators"]

    @classmethod
    def of(cls, labels: Labels, probabilities: Float[np.ndarray, "items classes"]) -> QualitySums:
        """Sum over the items; a label is right if it is the number of the item's class."""
        named = labels.label < probabilities.shape[1]
        right = probabilities[labels.item[named], labels.label[named]]
        by_annotator = np.bincount(labels.annotator[named], right, labels.n_annotators)
        return cls(len(labels), probabilities.sum(0), by_annotator.astype(float))  # without rows it would be integers

    @property
    def share(self) -> Weights:
        """Mean probability of each class."""
        return self.sizes / self.n_items


def keep_annotators(
    model: Any, survey: Survey, classes: pd.Index, confusion: Confusion, n_given: np.ndarray, found: QualitySums
) -> None:
    """Set what is told of classes and annotators; `n_given` is the number of labels of each annotator."""
    right = found.right if classes.equals(survey.classes) else None
    table = tabulate_quality(n_given, right, found.share, confusion, survey.annotators)
    model.keep_annotators(classes, survey.classes, confusion, table)


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
