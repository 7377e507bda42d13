"""Fits of models to partitioned tables, and results of items, a partition at a time."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from consilience.annotations.files.sources import import_pyarrow
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.names import outside
from consilience.annotations.types import FilePath, Integer
from consilience.atomic_files import replacing
from consilience.consensus import DawidSkene
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.threads import one_blas_thread
from consilience.partitions.dawid_skene import fit_dawid_skene, require_fittable
from consilience.partitions.map_reduce import DaskParts, LocalParts, Parts
from consilience.partitions.survey import Survey, read_own, recoded, require_items_apart, survey_of
from consilience.partitions.table import Partition, PartitionedTable, read_rows

Model = TypeVar("Model")


def fit(
    model: Model,
    table: Any,
    *,
    client: Any = None,
    n_jobs: Integer | None = 1,
    checkpoint: FilePath | None = None,
) -> Model:
    """Fit a model to a table of labels that need not fit in memory.

    Only statistics whose size does not depend on the number of items leave a partition, and samples of a fixed size.
    The fitted model is that of ``model.fit`` on the whole table, up to rounding, if it has up to 100,000 labels of
    items with several labels; in larger tables the temperature and the copies are found from other samples of the
    items than there. The p values of copies always come from another order of the items.

    Parameters
    ----------
    model : DawidSkene
        With ``subtypes=1``: subtypes of classes are found from all items at once.
    table : PartitionedTable
    client : dask.distributed.Client, optional
        Cluster whose workers read the partitions and keep them. A worker that is lost is replaced: what it held is
        read again. By default this process reads them, and keeps what it needs in temporary files.
    n_jobs : int, optional
        Number of threads without a `client`; each holds one partition in memory.
    checkpoint : path, optional
        File to write the state to after each sweep. If it exists, the fit goes on from there. It stays when the fit
        ends.

    Returns
    -------
    the model, fitted
        With all attributes of the fit in memory, but those of items: ``labels_``, ``labels_series_``,
        ``labels_apart_``, ``responsibilities_``, ``subtypes_`` and ``items_``, and methods that use these. See
        `item_results`.

    Raises
    ------
    InputError
        The model cannot be fitted to partitions, or not with these parameters; an item has rows in several partitions;
        a name is missing; or the checkpoint is that of another fit.

    Warns
    -----
    AnnotationWarning
        Rows were left out, annotators weigh together or are constant, or no item has two labels.
    ConvergenceWarning
        The bound still rose after `max_iter` sweeps.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.consensus import DawidSkene
    >>> from consilience.partitions import PartitionedTable, fit, item_results
    >>> said = {"item": [1, 1, 1, 2, 2, 2], "annotator": list("uvwuvw"), "label": list("aabbbb")}
    >>> first = pd.DataFrame(said)
    >>> table = PartitionedTable([first, first.assign(item=first["item"] + 2)])
    >>> model = fit(DawidSkene(subtypes=1), table)
    >>> pd.concat(item_results(model, table))["label"].tolist()
    ['a', 'b', 'a', 'b']
    """
    if not isinstance(model, DawidSkene):
        raise InputError(f"Partitions can be fitted by DawidSkene. Got a {type(model).__name__}.")
    _require_partitioned(table)
    require_fittable(model)
    with _parts_of(table, client, n_jobs) as sources, one_blas_thread(), model._progress():
        own = sources.map(read_own)
        survey = own.total(survey_of)
        require_items_apart(survey.sketch, table, sources)
        _require_told(survey, table)
        _warn_of_left_out(survey)
        parts = own.map(recoded, survey.annotators, survey.classes)
        own.forget()
        model._forget_columns()
        model._missing = values_of_missing(table.missing)
        fit_dawid_skene(model, parts, survey, checkpoint)
    _forget_items(model)
    return model


def item_results(model: Any, table: Any) -> Iterator[pd.DataFrame]:
    """Yield the class of each item, a partition at a time.

    Parameters
    ----------
    model : DawidSkene
        Fitted, to partitions or in memory; the table need not be that of the fit.
    table : PartitionedTable

    Yields
    ------
    DataFrame, one row for each item of the partition
        item; label, its most probable class, missing for items without labels; probability of this class.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        The model is not fitted.
    InputError
        A label was not fitted, or a name is missing.

    Warns
    -----
    AnnotationWarning
        Items have no labels, or annotators were not fitted.
    """
    check_is_fitted(model)
    _require_partitioned(table)
    for partition in table.partitions:
        yield results_of(partition, model)


def write_item_results(
    model: Any, table: Any, folder: FilePath, *, client: Any = None, n_jobs: Integer | None = 1
) -> list[Path]:
    """Write the class of each item to Parquet files, one for each partition; see `item_results`.

    Parameters
    ----------
    model : DawidSkene
        Fitted.
    table : PartitionedTable
    folder : path
        An existing folder; with a `client`, one that all workers and this process share. The files are called
        ``items-00000.parquet`` and so on, after the numbers of the partitions; a partition without items has
        none.
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
    _require_partitioned(table)
    import_pyarrow()
    place = Path(folder).absolute()
    if not place.is_dir():
        raise InputError(f"There is no folder {folder} for the results of items.")
    if any(isinstance(one.source, Path) and one.source.parent == place for one in table.partitions):
        raise InputError(f"The folder {folder} holds the table itself; give another one for the results of items.")
    with _parts_of(table, client, n_jobs) as sources:
        return [path for path in sources.results(_written, model, place) if path is not None]


def results_of(partition: Partition, model: Any) -> pd.DataFrame:
    """Return the results of the items of a partition."""
    labels = read_rows(partition).labels
    if not len(labels):
        return pd.DataFrame({"item": labels.items, "label": model.classes_[:0], "probability": np.empty(0)})
    probabilities = model._probabilities(labels)
    named = model._named(labels, probabilities, np.diff(labels.indptr) > 0)
    largest = np.where(pd.isna(named), np.nan, probabilities.max(1))
    return pd.DataFrame({"item": labels.items, "label": named, "probability": largest})


def _written(numbered: tuple[int, Partition], model: Any, folder: Path) -> Path | None:
    number, partition = numbered
    found = results_of(partition, model)
    if not len(found):
        return None
    path = folder / f"items-{number:05}.parquet"
    with replacing(path) as file:
        found.to_parquet(file, index=False)
    return path


@contextmanager
def _parts_of(table: PartitionedTable, client: Any, n_jobs: int | None) -> Iterator[Parts]:
    """Return the numbered partitions of a table, as parts of whoever computes."""
    numbered = list(enumerate(table.partitions))
    if client is not None:
        yield DaskParts(client, numbered)
        return
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0):
        raise InputError(f"'n_jobs' must be None, a positive int or a negative one. Got {n_jobs!r}.")
    with tempfile.TemporaryDirectory(prefix="consilience-") as folder:
        yield LocalParts(numbered, Path(folder), n_jobs)


def _require_partitioned(table: Any) -> None:
    if not isinstance(table, PartitionedTable):
        raise InputError(f"The table must be a PartitionedTable. Got a {type(table).__name__}.")


def _require_told(survey: Survey, table: PartitionedTable) -> None:
    """Raise an InputError if it is not said whether the label -1 means missing."""
    if table.missing is None and -1 in survey.classes:
        raise InputError(
            "The labels hold -1. Say whether it means that the annotator gave no label, by PartitionedTable(…, "
            "missing=-1), or is a class, by missing=[]."
        )


def _warn_of_left_out(survey: Survey) -> None:
    for number, what in ((survey.n_repeated, "that repeat others"), (survey.n_blank, "without a label")):
        if number:
            rows = "1 row" if number == 1 else f"{number:,} rows"
            warnings.warn(f"{rows} {what} left out.", AnnotationWarning, stacklevel=outside())


def _forget_items(model: Any) -> None:
    """Forget what an earlier fit in memory knew of its items."""
    for name in ("items_", "labels_", "labels_apart_", "responsibilities_", "subtypes_"):
        vars(model).pop(name, None)
