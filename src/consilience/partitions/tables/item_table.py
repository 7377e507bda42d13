"""Tables of items in partitions: features, and a column of labels for each annotator or a long table of labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.memberships import vocabulary_of
from consilience.annotations.names import (
    MISSING,
    Coded,
    code,
    frame_row,
    name_index,
    plain,
    union,
    unique_names,
    without,
)
from consilience.annotations.types import Missing, Name
from consilience.errors import AnnotationError, InputError
from consilience.estimators.elsewhere import read_features
from consilience.partitions.tables.label_table import (
    LabelPartition,
    PartitionedTable,
    Source,
    describe_source,
    frame_of,
    names_of_columns,
    read_rows,
    require_columns,
    says,
    sources_of,
)
from consilience.semisupervised import PartitionLabelModel


@dataclass(frozen=True)
class ItemPartition:
    """Where the items of a partition come from.

    name : for messages.
    source : path of a Parquet file, DataFrame, or function that returns one.
    item : name of the column of items; None if they are numbered.
    features : names of the columns of features.
    annotators : names of the columns of labels.
    missing : labels that mean that there is none; None if that was not said.
    labels : long table of the labels of these items; None if they are in columns.
    """

    name: str
    source: Source
    item: Name | None
    features: tuple[Name, ...]
    annotators: tuple[Name, ...]
    missing: tuple[Any, ...] | None
    labels: LabelPartition | None


@dataclass(frozen=True)
class ItemsOfPartition:
    """Items of a partition, and what was left out of it.

    named : whether the items have names, and are not numbered from 0.
    features : X.
    groupings : of these items, over its own annotators and groups.
    n_repeated, n_blank : rows of the long table of labels that were left out; see `read_rows`.
    """

    named: bool
    features: Float[np.ndarray, "items features"]
    groupings: Groupings
    n_repeated: int = 0
    n_blank: int = 0


class PartitionedItems:
    """A table of items in partitions that are read one at a time: a row for each item, with features and labels.

    Nothing is read before it is needed.

    Parameters
    ----------
    source : folder of Parquet files, path of one, Dask DataFrame, or list
        Each file is a partition, as for `PartitionedTable`. Each row is an item.
    features : list of names of columns
        Numbers, finite.
    annotators : list of names of columns, optional
        A column for each annotator, with the annotator's label of each item; blank where there is none.
    labels : PartitionedTable, optional
        Instead of `annotators`: a long table of labels. It has as many partitions as the items; each has the labels of
        the items in the partition of the same number.
    item : name of a column, optional
        Names of the items, unique. By default the column whose name says so, such as ``item``, if there is one;
        without, items are numbered over all partitions.
    missing : optional
        A value, or a list of them, that means that the annotator gave no label, in addition to blank cells.

    Raises
    ------
    InputError
        There are no partitions or no features; a column is missing, or named twice; labels are given twice, or not at
        all; or the partitions of the labels are not as many.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.partitions import PartitionedItems
    >>> first = pd.DataFrame({"item": ["a", "b"], "x": [0.1, 0.9], "Ann": ["p", "q"], "Bo": [None, 1]})
    >>> PartitionedItems([first], features=["x"], annotators=["Ann", "Bo"])
    PartitionedItems(1 partition, 1 feature, 2 columns of labels)
    """

    def __init__(
        self,
        source: Any,
        *,
        features: Iterable[Name],
        annotators: Iterable[Name] | None = None,
        labels: Any = None,
        item: Name | None = None,
        missing: Missing | None = None,
    ) -> None:
        sources = list(sources_of(source))
        if not sources:
            raise InputError(f"There is no partition in {describe_source(source)}.")
        self.features, by = _list_names(features, "features"), _list_names(annotators or (), "annotators")
        name, first = sources[0]
        names = names_of_columns(first, name)
        item = _item_column(names, {*self.features, *by}) if item is None else item
        _require_distinct([*([] if item is None else [item]), *self.features, *by])
        require_columns(names, [*([] if item is None else [item]), *self.features, *by], name)
        if item is None and labels is not None:
            raise InputError(
                "With 'labels', the items need names: say which column has them, PartitionedItems(…, item=…)."
            )
        long = _long_partitions(by, labels, len(sources), missing)
        values = values_of_missing(missing if labels is None else labels.missing)
        self.missing = None if values is None else tuple(values)
        self.partitions = tuple(
            ItemPartition(name, held, item, self.features, by, self.missing, own)
            for (name, held), own in zip(sources, long)
        )

    def __len__(self) -> int:
        return len(self.partitions)

    def __repr__(self) -> str:
        first, n = self.partitions[0], len(self.features)
        several = "1 partition" if len(self) == 1 else f"{len(self)} partitions"
        by = f"{len(first.annotators)} columns of labels" if first.labels is None else "a long table of labels"
        return f"PartitionedItems({several}, {n} feature{'s' * (n > 1)}, {by})"


def _list_names(names: Any, what: str) -> tuple[Any, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"'{what}' must be a list of names of columns. Got {names!r}.")
    listed = tuple(names)
    if what == "features" and not listed:
        raise InputError("PartitionedItems needs features: give the names of their columns. Got none.")
    return listed


def _item_column(names: pd.Index, others: set[Any]) -> Any:
    found = [name for name in names if name not in others and says(name, "item")]
    exact = [name for name in found if name == "item"]
    if len(found) > 1 and not exact:
        listed = ", ".join(repr(plain(name)) for name in found)
        raise InputError(f"The column of items may be one of {listed}; name it, as in PartitionedItems(…, item=…).")
    return (exact or found or [None])[0]


def _require_distinct(columns: list[Any]) -> None:
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(f"A column is the item, a feature or an annotator, once. Got {plain(twice[0])!r} twice.")


def _long_partitions(annotators: tuple[Any, ...], labels: Any, n: int, missing: Any) -> list[LabelPartition | None]:
    if bool(annotators) == (labels is not None):
        both = "both" if annotators else "neither"
        raise InputError(f"PartitionedItems takes either 'annotators', columns of labels, or 'labels'. Got {both}.")
    if labels is None:
        return [None] * n
    if not isinstance(labels, PartitionedTable):
        raise InputError(f"'labels' must be a PartitionedTable. Got a {type(labels).__name__}.")
    if missing is not None:
        raise InputError("With 'labels', say which labels are missing in PartitionedTable(…, missing=…).")
    if len(labels) != n:
        raise InputError(
            f"The labels must have the partitions of the items, {n}, each with the labels of the items in that of "
            f"the same number. Got {len(labels)}."
        )
    return list(labels.partitions)


def read_items(partition: ItemPartition) -> ItemsOfPartition:
    """Read a partition.

    Raises InputError: a name is missing or occurs twice, a feature is no finite number, or a label is of no item of the
    partition; the message says where.
    """
    columns = [*([] if partition.item is None else [partition.item]), *partition.features, *partition.annotators]
    frame = frame_of(partition.source, columns, partition.name).reset_index(drop=True)
    try:
        items = (
            pd.RangeIndex(len(frame)) if partition.item is None else unique_names(code(frame[partition.item]), "items")
        )
        features = features_of(frame[list(partition.features)].set_axis(items))
        if partition.labels is None:
            return ItemsOfPartition(partition.item is not None, features, _wide(partition, frame, items))
    except (AnnotationError, InputError) as error:
        raise InputError(f"{partition.name}: {error}") from error
    rows = read_rows(partition.labels)
    return ItemsOfPartition(
        partition.item is not None,
        features,
        _of_these(rows.labels.to_groupings(), items, partition),
        rows.n_repeated,
        rows.n_blank,
    )


def features_of(frame: pd.DataFrame) -> Float[np.ndarray, "items features"]:
    """Return features as `PartitionLabelModel` reads them; the index names the items.

    Raises InputError: one is no finite number.
    """
    if not len(frame):
        return np.empty(frame.shape)
    reader = PartitionLabelModel()
    reader.n_features_in_ = frame.shape[1]
    if all(isinstance(name, str) for name in frame.columns):
        reader.feature_names_in_ = frame.columns.to_numpy(object)
    # sums over items round by how a frame lies in memory, which for a part of another one is not as on a worker
    return np.ascontiguousarray(read_features(reader, frame, reset=False))


def _wide(partition: ItemPartition, frame: pd.DataFrame, items: pd.Index) -> Groupings:
    """Groupings of columns of labels: one of each annotator, of the annotator's name."""
    columns = [_labels_of(frame[name], partition.missing) for name in partition.annotators]
    names = union(column.names for column in columns)
    given = [np.flatnonzero(~column.missing) for column in columns]
    number = [names.get_indexer(column.names) for column in columns]
    group = [place[column.codes[rows]] if len(rows) else rows for place, column, rows in zip(number, columns, given)]
    by = Coded(np.repeat(np.arange(len(columns)), list(map(len, given))), name_index(list(partition.annotators)))
    vocabulary, of_row = vocabulary_of(by, by, Coded(np.concatenate(group), names))
    return Groupings.of_codes(Coded(np.concatenate(given), items), of_row, vocabulary, True, frame_row)


def _labels_of(column: pd.Series, missing: tuple[Any, ...] | None) -> Coded:
    labels = code(column)
    if not missing:
        return labels
    return without(labels, np.asarray(labels.names.isin(name_index(list(missing))), dtype=bool))


def _of_these(groupings: Groupings, items: pd.Index, partition: ItemPartition) -> Groupings:
    """Return groupings over the items of the partition, in their order."""
    place = items.get_indexer(groupings.items) if len(groupings.items) else np.empty(0, dtype=np.intp)
    if (place == MISSING).any():
        name = plain(groupings.items[int(np.argmax(place == MISSING))])
        raise InputError(
            f"The item {name!r} has labels in the partition of {partition.name}, and is not among its {len(items)} "
            "items. The labels of an item must be in the partition of the same number."
        )
    return groupings.renumber_items(place, items)
