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
from consilience.consensus import KCC, SubsetFusion
from consilience.errors import InputError
from consilience.partitions import fusion_results, kcc
from consilience.partitions.fitting import LONG, WITH_FEATURES, parts_of, require_table
from consilience.partitions.item_table import ItemPartition, PartitionedItems, read_items
from consilience.partitions.partition_label_results import results_of_items
from consilience.partitions.table import Partition, read_rows
from consilience.partitions.view_results import require_results, views_of_items
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel


def item_results(model: Any, table: Any, *, responsibilities: bool = False) -> Iterator[pd.DataFrame]:
    """Yield the class or cluster of each item, a partition at a time.

    Parameters
    ----------
    model : DawidSkene, KCC, MCVC, MECC, PartitionLabelModel, ProductMixture, StagewiseEM or SubsetFusion
        Fitted to partitions; the table need not be that of the fit. A DawidSkene, KCC, ProductMixture or StagewiseEM
        can also be fitted in memory.
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
    check_is_fitted(model)
    _require_table_of(model, table)
    start = 0
    for number, partition in enumerate(table.partitions):
        first = np.full(number + 1, start)
        found = _results((number, partition), model, first, responsibilities)
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
    check_is_fitted(model)
    _require_table_of(model, table)
    import_pyarrow()
    place = Path(folder).absolute()
    if not place.is_dir():
        raise InputError(f"There is no folder {folder} for the results of items.")
    if any(isinstance(one.source, Path) and one.source.parent == place for one in table.partitions):
        raise InputError(f"The folder {folder} holds the table itself; give another one for the results of items.")
    with parts_of(table, client, n_jobs) as sources:
        first = np.cumsum([0, *(sources.results(_size_of) if _is_numbered(table) else [])])
        written = sources.results(_written, model, place, first, responsibilities)
        return [path for path in written if path is not None]


def _is_numbered(table: Any) -> bool:
    return isinstance(table, PartitionedItems) and table.partitions[0].item is None


def _size_of(numbered: tuple[int, ItemPartition]) -> int:
    return len(read_items(numbered[1]).features)


def _results(numbered: tuple[int, Any], model: Any, first: Any, responsibilities: bool) -> pd.DataFrame:
    if isinstance(model, KCC):
        return kcc.clusters_of_items(numbered, model, responsibilities)
    if isinstance(model, SubsetFusion):
        return fusion_results.clusters_of_items(numbered, model, responsibilities)
    if isinstance(model, MCVC | MECC):
        return views_of_items(numbered, model, first, responsibilities)
    if isinstance(numbered[1], ItemPartition):
        return results_of_items(numbered, model, first, responsibilities)
    return results_of(numbered[1], model, responsibilities)


def results_of(partition: Partition, model: Any, responsibilities: bool = False) -> pd.DataFrame:
    """Return the results of the items of a partition of labels."""
    labels = read_rows(partition).labels
    if not len(labels):
        nothing = pd.DataFrame({"item": labels.items, "label": model.classes_[:0], "probability": np.empty(0)})
        return _with_each(nothing, np.empty((0, len(model.classes_))), model) if responsibilities else nothing
    probabilities = model._probabilities(labels)
    named = model._named(labels, probabilities, np.diff(labels.indptr) > 0)
    largest = np.where(pd.isna(named), np.nan, probabilities.max(1))
    found = pd.DataFrame({"item": labels.items, "label": named, "probability": largest})
    return _with_each(found, probabilities, model) if responsibilities else found


def _with_each(found: pd.DataFrame, probabilities: np.ndarray, model: Any) -> pd.DataFrame:
    return found.join(pd.DataFrame(probabilities, columns=[f"class {name}" for name in model.classes_]))


def _written(numbered: tuple[int, Any], model: Any, folder: Path, first: Any, responsibilities: bool) -> Path | None:
    number = numbered[0]
    found = _results(numbered, model, first, responsibilities)
    if not len(found):
        return None
    path = folder / f"items-{number:05}.parquet"
    with replacing(path) as file:
        found.to_parquet(file, index=False)
    return path


def _require_table_of(model: Any, table: Any) -> None:
    if isinstance(model, MCVC | MECC):
        require_results(model)
        with_features = hasattr(model, "n_features_in_")
    else:
        if isinstance(model, SubsetFusion):
            fusion_results.require_results(model)
        with_features = isinstance(model, PartitionLabelModel)
    require_table(table, WITH_FEATURES if with_features else LONG, model)
