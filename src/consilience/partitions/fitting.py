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
from consilience.consensus import KCC, DawidSkene, ProductMixture
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.threads import one_blas_thread
from consilience.partitions import item_survey as items
from consilience.partitions import kcc, partition_labels, product_mixture, statistics, views
from consilience.partitions.dawid_skene import fit_dawid_skene, require_fittable
from consilience.partitions.item_survey import ItemSurvey
from consilience.partitions.item_table import ItemPartition, PartitionedItems, read_items
from consilience.partitions.map_reduce import DaskParts, LocalParts, Parts
from consilience.partitions.partition_label_results import results_of_items
from consilience.partitions.survey import Survey, read_own, recoded, require_items_apart, survey_of
from consilience.partitions.table import Partition, PartitionedTable, read_rows
from consilience.partitions.view_results import require_results, views_of_items
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel

Model = TypeVar("Model")

TABLES = ("DawidSkene", "KCC", "MCVC", "MECC", "PartitionLabelModel", "ProductMixture")


def fit(
    model: Model,
    table: Any,
    *,
    client: Any = None,
    n_jobs: Integer | None = 1,
    checkpoint: FilePath | None = None,
) -> Model:
    """Fit a model to a table that need not fit in memory.

    Only statistics whose size does not depend on the number of items leave a partition, and samples of a fixed size.

    A DawidSkene is that of ``model.fit`` on the whole table, up to rounding, if it has up to 100,000 labels of
    items with several labels; in larger tables the temperature and the copies are found from other samples of the
    items than there. The p values of copies always come from another order of the items.

    A KCC reads labels as groupings: items with the same label by an annotator form a group. With up to 100,000 items it
    is that of ``model.fit`` on the whole table; in larger tables the runs start from 100,000 of the items.

    A ProductMixture is that of ``model.fit`` on the whole table, up to rounding, if it starts from the votes or has up
    to 100,000 items; in larger tables random starts are those of 100,000 of the items.

    A PartitionLabelModel is that of ``model.fit`` on the whole table, up to rounding, if it has up to 100,000 items; in
    larger tables a restart begins from 100,000 of the items instead of all.

    An MCVC or MECC reads the pairs that groups imply. It is that of ``model.fit`` on the whole table, up to rounding,
    if it has up to 5,000 items; in larger tables the final sweeps start from the best state of 5,000 of the items.

    Parameters
    ----------
    model : DawidSkene, KCC, MCVC, MECC, PartitionLabelModel or ProductMixture
        DawidSkene with ``subtypes=1``: subtypes of classes are found from all items at once. PartitionLabelModel with a
        number as `prior_variance`, ``copies=None`` and ``n_clusters="auto"``, for the same reason. ProductMixture with
        ``copies=None``.
    table : PartitionedTable; PartitionedItems for a PartitionLabelModel; either for an MCVC or MECC
    client : dask.distributed.Client, optional
        Cluster whose workers read the partitions and keep them. A worker that is lost is replaced: what it held is
        read again. By default this process reads them, and keeps what it needs in temporary files.
    n_jobs : int, optional
        Number of threads without a `client`; each holds one partition in memory.
    checkpoint : path, optional
        File to write the state to after each sweep. If it exists, the fit goes on from there. It stays when the fit
        ends. Not for an MCVC or MECC.

    Returns
    -------
    the model, fitted
        With all attributes of the fit in memory, but those of items: ``labels_``, ``labels_series_``,
        ``labels_apart_``, ``responsibilities_``, ``view_labels_``, ``view_responsibilities_``, ``subtypes_`` and
        ``items_``, and methods that use these. See `item_results`. A PartitionLabelModel, and an MCVC or MECC with
        features, predict new items with ``predict``.

    Raises
    ------
    InputError
        The model cannot be fitted to partitions, or not with these parameters; an item has rows in several partitions;
        a name is missing; a feature is no finite number; or the checkpoint is that of another fit.

    Warns
    -----
    AnnotationWarning
        Rows were left out, annotators weigh together or are constant, or no item has two labels.
    FeatureScaleWarning
        The scales of two features of the sample are very different.
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
    if isinstance(model, PartitionLabelModel):
        _require(table, PartitionedItems, model)
        partition_labels.require_fittable(model, checkpoint)
        fitting: Any = _fit_items
    elif isinstance(model, DawidSkene):
        _require(table, PartitionedTable, model)
        require_fittable(model)
        fitting = _fit_labels
    elif isinstance(model, ProductMixture):
        _require(table, PartitionedTable, model)
        product_mixture.require_fittable(model, checkpoint)
        fitting = _fit_labels
    elif isinstance(model, KCC):
        _require(table, PartitionedTable, model)
        kcc.require_fittable(model, checkpoint)
        fitting = _fit_items
    elif isinstance(model, MCVC | MECC):
        _require(table, (PartitionedItems, PartitionedTable), model)
        views.require_fittable(model, checkpoint)
        fitting = _fit_items
    else:
        known = f"{', '.join(TABLES[:-1])} and {TABLES[-1]}"
        raise InputError(f"Partitions can be fitted by {known}. Got a {type(model).__name__}.")
    with _parts_of(table, client, n_jobs) as sources, one_blas_thread(), model._progress():
        fitting(model, table, sources, checkpoint)
    _forget_items(model)
    return model


def _fit_labels(model: DawidSkene | ProductMixture, table: PartitionedTable, sources: Parts, checkpoint: Any) -> None:
    own = sources.map(read_own)
    survey = own.total(survey_of)
    require_items_apart(survey.sketch, table.partitions, sources)
    _require_told(survey.classes, table)
    _warn_of_left_out(survey)
    parts = own.map(recoded, survey.annotators, survey.classes)
    own.forget()
    model._forget_columns()
    model._missing = values_of_missing(table.missing)
    counts = parts.total(statistics.label_counts)
    fit_parts: Any = fit_dawid_skene if isinstance(model, DawidSkene) else product_mixture.fit_product_mixture
    fit_parts(model, parts, survey, checkpoint, counts)


def _fit_items(
    model: KCC | MCVC | MECC | PartitionLabelModel,
    table: PartitionedItems | PartitionedTable,
    sources: Parts,
    checkpoint: Any,
) -> None:
    own = sources.map(items.read_own_items if isinstance(table, PartitionedItems) else items.read_labelled_items)
    survey = own.total(items.item_survey_of)
    sketch = own.total(items.sketch_of, survey.first)
    if survey.named:
        require_items_apart(sketch, table.partitions, own, items.names_among)
    _require_told(survey.vocabulary.group_names, table)
    _warn_of_left_out(survey)
    model._forget_columns()
    model._missing = values_of_missing(table.missing)
    _forget_items(model)
    features = table.features if isinstance(table, PartitionedItems) else ()
    if isinstance(model, KCC):
        kcc.fit_kcc(model, own, survey, sketch, checkpoint)
    elif isinstance(model, PartitionLabelModel):
        partition_labels.fit_partition_labels(model, own, survey, sketch, features, checkpoint)
    else:
        views.fit_views(model, own, survey, sketch, features)


def item_results(model: Any, table: Any, *, responsibilities: bool = False) -> Iterator[pd.DataFrame]:
    """Yield the class or cluster of each item, a partition at a time.

    Parameters
    ----------
    model : DawidSkene, KCC, MCVC, MECC, PartitionLabelModel or ProductMixture
        Fitted, an MCVC, MECC or PartitionLabelModel to partitions; the table need not be that of the fit.
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
        A label was not fitted, or a name is missing.

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
    with _parts_of(table, client, n_jobs) as sources:
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


@contextmanager
def _parts_of(table: Any, client: Any, n_jobs: int | None) -> Iterator[Parts]:
    """Return the numbered partitions of a table, as parts of whoever computes."""
    numbered = list(enumerate(table.partitions))
    if client is not None:
        yield DaskParts(client, numbered)
        return
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0):
        raise InputError(f"'n_jobs' must be None, a positive int or a negative one. Got {n_jobs!r}.")
    with tempfile.TemporaryDirectory(prefix="consilience-") as folder:
        yield LocalParts(numbered, Path(folder), n_jobs)


def _require_table_of(model: Any, table: Any) -> None:
    if isinstance(model, MCVC | MECC):
        require_results(model)
        with_features = hasattr(model, "n_features_in_")
    else:
        with_features = isinstance(model, PartitionLabelModel)
    _require(table, PartitionedItems if with_features else PartitionedTable, model)


def _require(table: Any, kinds: type | tuple[type, ...], model: Any) -> None:
    if not isinstance(table, kinds):
        listed = kinds if isinstance(kinds, tuple) else (kinds,)
        raise InputError(
            f"The table of a {type(model).__name__} must be a {' or a '.join(kind.__name__ for kind in listed)}. Got a "
            f"{type(table).__name__}."
        )


def _require_told(names: Any, table: Any) -> None:
    """Raise an InputError if it is not said whether the label -1 means missing."""
    if table.missing is None and -1 in names:
        raise InputError(
            f"The labels hold -1. Say whether it means that the annotator gave no label, by {type(table).__name__}(…, "
            "missing=-1), or is a class, by missing=[]."
        )


def _warn_of_left_out(survey: Survey | ItemSurvey) -> None:
    for number, what in ((survey.n_repeated, "that repeat others"), (survey.n_blank, "without a label")):
        if number:
            rows = "1 row" if number == 1 else f"{number:,} rows"
            warnings.warn(f"{rows} {what} left out.", AnnotationWarning, stacklevel=outside())


def _forget_items(model: Any) -> None:
    """Forget what an earlier fit in memory knew of its items."""
    own = ("items_", "labels_", "labels_apart_", "responsibilities_", "subtypes_", "_given", *views.OF_ITEMS)
    for name in own:
        vars(model).pop(name, None)
