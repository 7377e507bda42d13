"""Tables of labels in partitions, each read on its own: Parquet files, a Dask DataFrame, DataFrames or functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations import Labels
from consilience.annotations.files.sources import import_pyarrow
from consilience.annotations.files.values import given_as_missing
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.labels import sorted_names
from consilience.annotations.levels import ordered_categories
from consilience.annotations.names import Coded, code, name_index, plain
from consilience.annotations.types import Missing, Name
from consilience.errors import AnnotationError, InputError

ROLES = ("item", "annotator", "label")
PARQUET = ".parquet"

Source: TypeAlias = Path | pd.DataFrame | Callable[[], pd.DataFrame]


@dataclass(frozen=True)
class LabelPartition:
    """Where the rows of a partition come from.

    name : for messages.
    source : path of a Parquet file, DataFrame, or function that returns one.
    columns : names of the columns of items, annotators and labels.
    missing : labels that mean that there is none; None if that was not said.
    exact : whether classes of several spellings are kept apart.
    read_as : classes for which labels stand that are written otherwise; None for missing.
    """

    name: str
    source: Source
    columns: tuple[Name, Name, Name]
    missing: tuple[Any, ...] | None
    exact: bool = False
    read_as: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def marks_missing(self) -> bool:
        """Whether missing labels are marked, so that NA is a name."""
        return isinstance(self.source, Path)

    def frame(self) -> pd.DataFrame:
        """Read the columns of items, annotators and labels."""
        return frame_of(self.source, list(self.columns), self.name)


@dataclass(frozen=True)
class LabelsOfPartition:
    """Labels of a partition, and what was left out of it.

    n_repeated : rows that repeat an item, annotator and label.
    n_blank : rows of an annotator without a label.
    """

    labels: Labels
    n_repeated: int
    n_blank: int


class PartitionedTable:
    """A long table of labels in partitions that are read one at a time.

    All rows of an item must be in one partition. Nothing is read before it is needed.

    Parameters
    ----------
    source : folder of Parquet files, path of one, Dask DataFrame, or list
        Each file is a partition, in the order of their names; so is each partition of a Dask DataFrame. A list holds
        DataFrames, functions without arguments that return one, or paths of Parquet files: each is a partition.
    item, annotator, label : names of columns, optional
        By default they are recognised by their names, as in `Labels.from_frame`. Other columns are not read.
    missing : optional
        A value, or a list of them, that means that the annotator gave no label, in addition to blank cells. By default
        as for `Labels.from_frame`, over all partitions.
    exact : bool, default=False
        Whether classes are kept apart that differ only in case, spaces or form of letters, such as Yes and yes.

    Raises
    ------
    InputError
        There are no partitions, or no columns of items, annotators and labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.partitions import PartitionedTable
    >>> first = pd.DataFrame({"task": [1, 1, 2], "worker": ["u", "v", "u"], "label": ["cat", "cat", "dog"]})
    >>> second = pd.DataFrame({"task": [3, 3], "worker": ["u", "w"], "label": ["dog", "dog"]})
    >>> PartitionedTable([first, second])
    PartitionedTable(2 partitions, columns 'task', 'worker', 'label')
    """

    def __init__(
        self,
        source: Any,
        *,
        item: Name | None = None,
        annotator: Name | None = None,
        label: Name | None = None,
        missing: Missing | None = None,
        exact: bool = False,
    ) -> None:
        sources = list(sources_of(source))
        if not sources:
            raise InputError(f"There is no partition in {describe_source(source)}.")
        given = {"item": item, "annotator": annotator, "label": label}
        name, first = sources[0]
        columns = _columns(names_of_columns(first, name), given, name)
        values = values_of_missing(missing)
        self.missing = None if values is None else tuple(values)
        self.partitions = tuple(LabelPartition(name, held, columns, self.missing, exact) for name, held in sources)

    def __len__(self) -> int:
        return len(self.partitions)

    def __repr__(self) -> str:
        several = "1 partition" if len(self) == 1 else f"{len(self)} partitions"
        return f"PartitionedTable({several}, columns {', '.join(map(repr, self.partitions[0].columns))})"

    def labels(self) -> Iterator[Labels]:
        """Yield the labels of each partition, over its own items, annotators and classes, as they are written.

        Yields
        ------
        Labels

        Raises
        ------
        InputError
            A name is missing; the message says where.
        """
        for partition in self.partitions:
            yield read_rows(partition).labels


def read_rows(partition: LabelPartition) -> LabelsOfPartition:
    """Read a partition. Items, annotators and classes are numbered in order of first appearance; classes are sorted,
    or levels in their order.

    Raises InputError: a name is missing; the message says where.
    """
    frame = partition.frame()
    try:
        item, annotator, label = (code(frame[column]) for column in partition.columns)
    except AnnotationError as error:
        raise InputError(f"{partition.name}: {error}") from error
    label = _read_as(_without_given(label, partition), partition.read_as)
    _require_complete(partition, item, annotator, label)
    said = ~label.missing
    cells = pd.DataFrame({"item": item.codes, "annotator": annotator.codes, "label": label.codes})[said]
    repeated = cells.duplicated().to_numpy()
    rows = cells[~repeated]
    levels = ordered_categories(frame[partition.columns[-1]], label.names)
    classes = sorted_names(label.names) if levels is None else levels
    labels = Labels(
        items=item.names,
        annotators=annotator.names,
        named=True,
        classes=classes,
        item=_as_codes(rows["item"]),
        annotator=_as_codes(rows["annotator"]),
        label=_recode(label.names, classes, rows["label"]),
        ordered=levels is not None,
    ).in_order()
    return LabelsOfPartition(labels, int(repeated.sum()), int((~said & ~annotator.missing).sum()))


def read_label_column(partition: LabelPartition) -> Coded:
    """Read the labels of a partition alone, as they are written."""
    column = partition.columns[-1]
    try:
        return _without_given(code(frame_of(partition.source, [column], partition.name)[column]), partition)
    except AnnotationError as error:
        raise InputError(f"{partition.name}: {error}") from error


def _without_given(label: Coded, partition: LabelPartition) -> Coded:
    """Mark as missing the labels of which the user says that they are."""
    return given_as_missing(label, partition.missing) if partition.missing else label


def _read_as(label: Coded, read_as: Mapping[Any, Any]) -> Coded:
    """Return labels under the names of their classes."""
    if not read_as or not len(label.names):
        return label
    now = name_index([read_as.get(name, name) for name in label.names])
    column = code(now)
    return label.renamed(column.codes, column.names)


def _as_codes(column: pd.Series) -> Int[np.ndarray, " rows"]:
    return column.to_numpy().astype(np.intp)


def _recode(before: pd.Index, after: pd.Index, column: pd.Series) -> Int[np.ndarray, " rows"]:
    codes = _as_codes(column)
    return after.get_indexer(before)[codes] if len(before) else codes


def _require_complete(partition: LabelPartition, item: Coded, annotator: Coded, label: Coded) -> None:
    """Raise an InputError if a row has no item, or has a label and no annotator."""
    for what, wrong in (("item", item.missing), ("annotator", annotator.missing & ~label.missing)):
        if wrong.any():
            row = int(np.argmax(wrong))
            column = partition.columns[ROLES.index(what)]
            raise InputError(f"{partition.name}, row {row}: the {what}, in the column {column!r}, is missing or blank.")


def sources_of(source: Any) -> Iterator[tuple[str, Any]]:
    """Names and sources of all partitions."""
    if isinstance(source, str | PathLike):
        yield from ((path.name, path) for path in _parquet_files(Path(source)))
    elif hasattr(source, "to_delayed") and hasattr(source, "npartitions"):
        for number in range(source.npartitions):
            yield f"partition {number}", _OfDask(source, number)
    elif isinstance(source, pd.DataFrame | Mapping) or not isinstance(source, Iterable):
        raise InputError(
            "A partitioned table is a folder of Parquet files, a Dask DataFrame, or a list of DataFrames or of "
            f"functions that return them. Got a {type(source).__name__}."
        )
    else:
        for number, held in enumerate(source):
            if isinstance(held, str | PathLike):
                yield Path(held).name, _existing(Path(held))
            elif isinstance(held, pd.DataFrame) or callable(held):
                yield f"partition {number}", held
            else:
                raise InputError(
                    f"partition {number} must be a DataFrame of pandas, a function that returns one, or the path of a "
                    f"Parquet file. Got a {type(held).__name__}."
                )


@dataclass(frozen=True)
class _OfDask:
    """A function that computes a partition of a Dask DataFrame; on a worker of Dask, there."""

    frame: Any
    number: int

    def __call__(self) -> pd.DataFrame:
        return self.frame.partitions[self.number].compute(scheduler="synchronous")


def frame_of(source: Source, columns: list[Any], name: str) -> pd.DataFrame:
    """Read some columns of a partition; `name` is for messages.

    Raises InputError: it is no table, or a column is missing.
    """
    if isinstance(source, Path):
        return _read_parquet(source, columns, name)
    frame = source() if callable(source) else source
    _require_frame(frame, name)
    require_columns(frame.columns, columns, name)
    return frame[columns]


def _parquet_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [_existing(path)]
    found = sorted(file for file in path.iterdir() if file.suffix.lower() == PARQUET and file.is_file())
    if not found:
        raise InputError(f"There is no file *{PARQUET} in the folder {path}.")
    return found


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    return path.absolute()


def _read_parquet(path: Path, columns: list[Any], name: str) -> pd.DataFrame:
    pyarrow = import_pyarrow()
    require_columns(pd.Index(_schema(path)), columns, name)
    try:
        table = pyarrow.parquet.read_table(path, columns=columns, partitioning=None)
        return table.to_pandas(strings_to_categorical=True, integer_object_nulls=True, ignore_metadata=True)
    except (ValueError, OSError) as error:
        raise InputError(f"{name}: this is not a Parquet file, or it is damaged.") from error


def _schema(path: Path) -> list[str]:
    pyarrow = import_pyarrow()
    try:
        return list(pyarrow.parquet.read_schema(path).names)
    except (ValueError, OSError) as error:
        raise InputError(f"{path.name}: this is not a Parquet file, or it is damaged.") from error


def names_of_columns(source: Any, name: str) -> pd.Index:
    """Names of the columns of a partition; a function is called for them, a Dask DataFrame is not."""
    if isinstance(source, Path):
        return pd.Index(_schema(source))
    if isinstance(source, _OfDask):
        return source.frame.columns
    frame = source() if callable(source) else source
    _require_frame(frame, name)
    return frame.columns


def _columns(names: pd.Index, given: Mapping[str, Name | None], where: str) -> tuple[Name, Name, Name]:
    """Return the columns of items, annotators and labels."""
    columns: list[Name] = []
    for role in ROLES:
        if (chosen := given[role]) is not None:
            require_columns(names, [chosen], where)
            columns.append(chosen)
            continue
        others = set(given.values()) - {None}
        found = [name for name in names if name not in others and says(name, role)]
        exact = [name for name in found if name == role]
        if len(found) != 1 and not exact:
            several = f"may be one of {', '.join(map(repr, found))}" if found else "is not among the columns"
            raise InputError(
                f"{where}: the column of {role}s {several}; name it, as in PartitionedTable(…, {role}=…). The columns "
                f"are {', '.join(repr(plain(name)) for name in names)}."
            )
        columns.append((exact or found)[0])
    return columns[0], columns[1], columns[2]


def says(name: Any, role: str) -> bool:
    """Whether the name of a column is that of items, annotators or labels."""
    found = role_of_name(name)
    return found is not None and found.role == role


def _require_frame(frame: Any, name: str) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{name} must be a DataFrame of pandas. Got a {type(frame).__name__}.")


def require_columns(names: pd.Index, wanted: Iterable[Name], where: str) -> None:
    """Raise an InputError unless each of some columns occurs once."""
    for column in wanted:
        if (names == column).sum() != 1:
            how = "is missing" if column not in names else "occurs twice"
            listed = ", ".join(repr(plain(name)) for name in names)
            raise InputError(f"{where}: the column {column!r} {how}. The columns are {listed}.")


def describe_source(source: Any) -> str:
    """Describe a source in a message."""
    return "an empty list" if isinstance(source, list | tuple) else str(source)
