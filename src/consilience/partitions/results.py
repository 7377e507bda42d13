"""Results of items of fitted models, a partition at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from consilience.annotations.files.sources import import_pyarrow
from consilience.annotations.types import FilePath, Integer
from consilience.atomic_files import replacing
from consilience.errors import InputError
from consilience.partitions.fitting import parts_of
from consilience.partitions.models.registry import how_to_fit
from consilience.partitions.survey.class_survey import decide_classes
from consilience.partitions.tables.item_table import ItemPartition, PartitionedItems, read_items


def item_results(model: Any, table: Any, *, responsibilities: bool = False) -> Iterator[pd.DataFrame]:
    """Yield the class or cluster of each item, a partition at a time.

    Parameters
    ----------
    model : one of those that `fit` takes
        Fitted to partitions; the table need not be that of the fit. A DawidSkene, KCC, OrdinalRatings, ProductMixture
        or StagewiseEM can also be fitted in memory.
    table : PartitionedTable; PartitionedItems for a model with features
    responsibilities : bool, default=False
        Whether to add the probabilities of all classes or clusters.

    Yields
    ------
    DataFrame, one row for each item of the partition
        item; label, its most probable class, or cluster, its number, missing for items without labels; probability of
        this one, which a KCC does not have. With `responsibilities` a column for each, called "class …" or
        "cluster …". An MCVC has these columns for each view, called "cluster in view 0" and so on.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        The model is not fitted.
    InputError
        A label was not fitted, a name is missing, or the model was fitted in memory.

    Warns
    -----
    AnnotationWarning
        Items have no labels, or annotators were not fitted.
    """
    how = how_to_fit(model)
    check_is_fitted(model)
    how.require_table_of_results(table, model)
    table = _decide_classes(model, how, table)
    start = 0
    for number, partition in enumerate(table.partitions):
        first = np.full(number + 1, start)
        found = how.results_of_items((number, partition), model, first, responsibilities)
        start += len(found)
        yield found


def write_item_results(
    model: Any,
    table: Any,
    folder: FilePath,
    *,
    responsibilities: bool = False,
    client: Any = None,
    n_jobs: Integer | None = 1,
) -> list[Path]:
    """Write the class or cluster of each item to Parquet files, one for each partition; see `item_results`.

    Parameters
    ----------
    model, table : as for `item_results`
    folder : path
        An existing folder; with a `client`, one that all workers and this process share. The files are called
        ``items-00000.parquet`` and so on, after the numbers of the partitions; a partition without items has
        none.
    responsibilities : as for `item_results`
    client, n_jobs : as for `fit`

    Returns
    -------
    list of Path
        The files; there is none for a partition without items.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        The model is not fitted.
    InputError
        There is no such folder, or the table is in it; a label was not fitted, or a name is missing.
    """
    how = how_to_fit(model)
    check_is_fitted(model)
    how.require_table_of_results(table, model)
    import_pyarrow()
    place = Path(folder).absolute()
    if not place.is_dir():
        raise InputError(f"There is no folder {folder} for the results of items.")
    if any(isinstance(one.source, Path) and one.source.parent == place for one in table.partitions):
        raise InputError(f"The folder {folder} holds the table itself; give another one for the results of items.")
    table = _decide_classes(model, how, table, client, n_jobs)
    with parts_of(table, client, n_jobs) as sources:
        first = np.cumsum([0, *(sources.results(_size_of) if _is_numbered(table) else [])])
        written = sources.results(_write_items, model, place, first, responsibilities)
        return [path for path in written if path is not None]


def _decide_classes(model: Any, how: Any, table: Any, client: Any = None, n_jobs: Integer | None = 1) -> Any:
    """Return the table whose labels are read as the classes of the model."""
    with parts_of(table, client, n_jobs) as sources:
        return decide_classes(table, sources, model.classes_ if how.reads_labels else (), tell=False)


def _is_numbered(table: Any) -> bool:
    return isinstance(table, PartitionedItems) and table.partitions[0].item is None


def _size_of(numbered: tuple[int, ItemPartition]) -> int:
    return len(read_items(numbered[1]).features)


def _write_items(
    numbered: tuple[int, Any], model: Any, folder: Path, first: Any, responsibilities: bool
) -> Path | None:
    number = numbered[0]
    found = how_to_fit(model).results_of_items(numbered, model, first, responsibilities)
    if not len(found):
        return None
    path = folder / f"items-{number:05}.parquet"
    with replacing(path) as file:
        found.to_parquet(file, index=False)
    return path
