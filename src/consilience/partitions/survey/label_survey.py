"""What all partitions together hold: annotators, classes, numbers of items and labels; and items in several of them.

An item's rows must lie in one partition, since the class of an item follows from all its labels. Whether they do is
checked on items whose 64-bit hashes are among the `CHECKED` smallest: up to that many items, on all of them; beyond, on
an even sample, which is the same in all partitions. So a table that was cut without regard to items is found out, and
the check needs the same memory for any number of items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int, UInt64

from consilience.annotations import Labels
from consilience.annotations.labels import sorted_names
from consilience.annotations.names import plain, union
from consilience.errors import InputError
from consilience.inference.parts import Parts
from consilience.partitions.engine.checkpoint import digest
from consilience.partitions.tables.label_table import LabelPartition, read_rows

CHECKED = 1 << 18  # hashes of a sketch, 2 MB
SUSPECTS = 16  # hashes that are looked at by name


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes of items, rising, and the partition of each.

    suspects : hashes that occur in several partitions.
    """

    hashes: UInt64[np.ndarray, " kept"]
    partition: Int[np.ndarray, " kept"]
    suspects: UInt64[np.ndarray, " suspects"]

    @classmethod
    def of(cls, items: pd.Index, number: int) -> Sketch:
        """Keep the smallest hashes of the items of a partition."""
        kept = np.unique(hashes_of(items))[:CHECKED]
        return cls(kept, np.full(len(kept), number), np.empty(0, dtype=np.uint64))

    def __add__(self, other: Sketch) -> Sketch:
        hashes = np.concatenate([self.hashes, other.hashes])
        order = np.argsort(hashes, kind="stable")  # of equal hashes, that of the earlier partition stays
        hashes, partition = hashes[order], np.concatenate([self.partition, other.partition])[order]
        again = np.zeros(len(hashes), dtype=bool)
        again[1:] = hashes[1:] == hashes[:-1]
        suspects = np.concatenate([self.suspects, other.suspects, hashes[again]])[:SUSPECTS]
        return Sketch(hashes[~again][:CHECKED], partition[~again][:CHECKED], suspects)


@dataclass(frozen=True)
class Survey:
    """Names and numbers of a table, without its items.

    annotators, classes : in order of first appearance; classes sorted if they can be compared.
    ordered : whether the classes are the levels of all partitions that have labels, in their order.
    """

    annotators: pd.Index
    classes: pd.Index
    n_items: int
    n_labels: int
    n_repeated: int
    n_blank: int
    sketch: Sketch
    ordered: bool = False

    def __add__(self, other: Survey) -> Survey:
        said = [one for one in (self, other) if len(one.classes)]
        ordered = all(one.ordered and one.classes.equals(said[0].classes) for one in said)
        classes = union([self.classes, other.classes])
        return Survey(
            union([self.annotators, other.annotators]),
            classes if ordered else sorted_names(classes),
            self.n_items + other.n_items,
            self.n_labels + other.n_labels,
            self.n_repeated + other.n_repeated,
            self.n_blank + other.n_blank,
            self.sketch + other.sketch,
            ordered,
        )

    def a_label_of_each_class(self) -> Labels:
        """Return as many items, each with one label."""
        each = np.arange(len(self.classes))
        person, zero = pd.RangeIndex(1), np.zeros_like(each)
        return Labels(pd.RangeIndex(len(each)), person, False, self.classes, each, zero, each, self.ordered)


@dataclass(frozen=True)
class LabelPart:
    """Labels of a partition over all annotators and classes, all numbered; and its number."""

    number: int
    labels: Labels


@dataclass(frozen=True)
class OwnCodes:
    """Labels of a partition over its own annotators and classes, without the names of its items."""

    number: int
    labels: Labels
    survey: Survey


def read_own(numbered: tuple[int, LabelPartition]) -> OwnCodes:
    """Read a partition, and survey it."""
    number, partition = numbered
    rows = read_rows(partition)
    labels = rows.labels
    survey = Survey(
        labels.annotators,
        labels.classes,
        len(labels),
        labels.n_rows,
        rows.n_repeated,
        rows.n_blank,
        Sketch.of(labels.items, number),
        labels.ordered,
    )
    return OwnCodes(number, without_names(labels), survey)


def survey_of(own: OwnCodes) -> Survey:
    """Return the survey of a partition."""
    return own.survey


def without_names(labels: Labels) -> Labels:
    """Return labels whose items are numbered."""
    return Labels(
        items=pd.RangeIndex(len(labels)),
        annotators=labels.annotators,
        named=False,
        classes=labels.classes,
        item=labels.item,
        annotator=labels.annotator,
        label=labels.label,
    )


def recode_labels(own: OwnCodes, annotators: pd.Index, classes: pd.Index) -> LabelPart:
    """Return the labels of a partition over all annotators and classes, all numbered."""
    labels = own.labels
    coded = Labels(
        items=labels.items,
        annotators=pd.RangeIndex(len(annotators)),
        named=False,
        classes=pd.RangeIndex(len(classes)),
        item=labels.item,
        annotator=_places(annotators, labels.annotators)[labels.annotator],
        label=_places(classes, labels.classes)[labels.label],
    )
    return LabelPart(own.number, coded.in_order())


def _places(names: pd.Index, own: pd.Index) -> Int[np.ndarray, " own"]:
    return names.get_indexer(own) if len(own) else np.empty(0, dtype=np.intp)


def digest_of(survey: Survey, counts: Int[np.ndarray, "annotators labels"]) -> str:
    """Return what tells tables apart: their names, and the number of labels of each annotator, of each class."""
    return digest((survey.annotators.tolist(), survey.classes.tolist(), survey.n_items), counts)


def names_with(numbered: tuple[int, LabelPartition], hashes: UInt64[np.ndarray, " hashes"]) -> list[object]:
    """Return the names of the items of a partition that have one of some hashes."""
    items = read_rows(numbered[1]).labels.items
    return items[np.isin(hashes_of(items), hashes)].tolist()


def require_items_apart(
    sketch: Sketch, partitions: Sequence[Any], parts: Parts, names_with: Callable[..., list[object]] = names_with
) -> None:
    """Raise an InputError if an item occurs in two partitions; `names_with` finds names by hashes in a part."""
    suspects = np.unique(sketch.suspects)
    if not len(suspects):
        return
    first: dict[object, int] = {}
    for number, names in enumerate(parts.results(names_with, suspects)):
        for name in names:
            if name in first:
                one, other = (partitions[place].name for place in (first[name], number))
                raise InputError(
                    f"The item {plain(name)!r} has rows in {one} and in {other}. All rows of an item must be in one "
                    "partition: sort or partition the table by its items."
                )
            first[name] = number


def hashes_of(names: pd.Index) -> UInt64[np.ndarray, " names"]:
    """Return 64-bit hashes of names, the same for equal ones of any type."""
    if pd.api.types.is_integer_dtype(names.dtype):
        return pd.util.hash_array(names.to_numpy(np.int64))
    values = names.to_numpy(object)
    if all(isinstance(value, str) for value in values):
        return pd.util.hash_array(values, categorize=False)
    return np.array([_hash_of(value) for value in values], dtype=np.uint64)


def _hash_of(value: object) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and -(2**63) <= int(value) < 2**63:
        return int(pd.util.hash_array(np.array([int(value)]))[0])
    text = value if isinstance(value, str) else repr(plain(value))
    return int(pd.util.hash_array(np.array([text], dtype=object), categorize=False)[0])
