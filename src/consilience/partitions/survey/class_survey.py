"""Which labels of a table in partitions are one class, or none: decided over all partitions, as in memory."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.files.frames import read_cells
from consilience.annotations.files.name_notes import note_names
from consilience.annotations.names import MISSING, CountedNames, union, warn_of
from consilience.inference.parts import Parts
from consilience.partitions.tables.item_table import ItemPartition
from consilience.partitions.tables.label_table import LabelPartition, PartitionedTable, read_label_column


@dataclass(frozen=True)
class ClassTally:
    """Names of labels as they were written, and the number of cells with each."""

    names: pd.Index
    counts: Int[np.ndarray, " names"]

    def __add__(self, other: ClassTally) -> ClassTally:
        names = union([self.names, other.names])
        counts = np.zeros(len(names), dtype=np.int64)
        for each in (self, other):
            if len(each.names):
                counts[names.get_indexer(each.names)] += each.counts
        return ClassTally(names, counts)


def tally_labels(numbered: tuple[int, LabelPartition | ItemPartition]) -> ClassTally:
    """Count the labels of a partition by name."""
    label = read_label_column(_labels_of(numbered[1]))
    return ClassTally(label.names, label.tally())


def _labels_of(partition: Any) -> LabelPartition:
    return cast(LabelPartition, partition.labels if isinstance(partition, ItemPartition) else partition)


def has_long_labels(table: Any) -> bool:
    """Whether labels of a table are in rows of their own, not in a column for each annotator."""
    return isinstance(table, PartitionedTable) or table.partitions[0].labels is not None


def decide_classes(table: Any, sources: Parts, classes: Iterable[Any] = (), *, tell: bool) -> Any:
    """Return the table with what each label is read as: a class under one spelling, or missing.

    Raises AnnotationError: a label can be read in two ways, or is a list of labels.

    table : PartitionedTable or PartitionedItems
    sources : its numbered partitions
    classes : of a fitted model
    tell : whether to warn of what was decided
    """
    if not has_long_labels(table):
        return table
    first = _labels_of(table.partitions[0])
    found: ClassTally = sources.total(tally_labels)
    rows = np.arange(len(found.names))
    column, notes = read_cells(
        CountedNames(rows, found.names, found.counts),
        "label",
        lambda _: f"the column {first.columns[-1]!r}",
        first.missing,
        classes=classes,
        exact=first.exact,
        spells_missing=not first.marks_missing,
    )
    if tell:
        warn_of([*notes, *note_names(column.names, "label")])
    codes = column.codes.tolist()
    read_as = {name: None if at == MISSING else column.names[at] for name, at in zip(found.names, codes)}
    changed = {name: now for name, now in read_as.items() if now is None or now != name}
    decided = copy.copy(table)
    decided.partitions = tuple(_with_classes(one, changed) for one in table.partitions)
    return decided


def _with_classes(partition: Any, read_as: dict[Any, Any]) -> Any:
    if isinstance(partition, ItemPartition):
        return replace(partition, labels=_with_classes(partition.labels, read_as))
    return replace(partition, read_as=read_as)
