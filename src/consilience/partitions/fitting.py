"""Fits of models to partitioned tables, and results of items, a partition at a time."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from consilience.annotations.files.name_notes import note_names
from consilience.annotations.names import outside, warn_of
from consilience.annotations.types import FilePath, Integer
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.elsewhere import begin_fit, check_parameters, show_progress
from consilience.inference.parts import Parts
from consilience.inference.threads import one_blas_thread
from consilience.partitions.engine.map_reduce import DaskParts, LocalParts
from consilience.partitions.models.label_parts import label_counts
from consilience.partitions.models.registry import PartitionedModel, how_to_fit
from consilience.partitions.survey import item_survey as items
from consilience.partitions.survey.class_survey import decide_classes, has_long_labels
from consilience.partitions.survey.item_survey import ItemSurvey
from consilience.partitions.survey.label_survey import Survey, read_own, recode_labels, require_items_apart, survey_of
from consilience.partitions.tables.item_table import PartitionedItems
from consilience.partitions.tables.label_table import PartitionedTable

Model = TypeVar("Model")


def fit(
    model: Model, table: Any, *, client: Any = None, n_jobs: Integer | None = 1, checkpoint: FilePath | None = None
) -> Model:
    """Fit a model to a table that need not fit in memory.

    Only statistics whose size does not depend on the number of items leave a partition, and samples of a fixed size.

    Up to rounding the fit is that of ``model.fit`` on the whole table, if this is not larger than the samples:

    - DawidSkene finds the temperature from items of about 100,000 labels, and StagewiseEM from as many whether classes
      have subtypes. DawidSkene, OrdinalRatings, ProductMixture and StagewiseEM find copies from items of about
      1,500,000 pairs of labels. Their p values always come from another order of the items than in memory.
    - ProductMixture draws random starts for 100,000 items.
    - KCC, MECC, MCVC and SubsetFusion read labels as groupings: items with the same label by an annotator form a group.
      The runs of KCC begin with 100,000 items. SubsetFusion finds the number of clusters, and the clusters to begin
      with, from 100,000 items; MECC and MCVC take 5,000 items for their restarts. All items then decide.
    - A restart of PartitionLabelModel begins with 100,000 items, from which a prior variance is chosen.

    Parameters
    ----------
    model : estimator
        A DawidSkene, KCC, MCVC, MECC, OrdinalRatings, PartitionLabelModel, ProductMixture, StagewiseEM or SubsetFusion.
        DawidSkene with ``subtypes=1``: classes are divided along an eigenvector with an entry for each item.
        PartitionLabelModel and SubsetFusion with ``copies=None``: groups that copies repeat are not left out of
        partitions. SubsetFusion with ``refine=True``.
    table : PartitionedTable; PartitionedItems for a PartitionLabelModel; either for an MCVC or MECC
    client : dask.distributed.Client, optional
        Cluster whose workers read the partitions and keep them. A worker that is lost is replaced: what it held is
        read again. By default this process reads them, and keeps what it needs in temporary files.
    n_jobs : int, optional
        Number of threads without a `client`; each holds one partition in memory.
    checkpoint : path, optional
        File to write the state to after each sweep. If it exists, the fit goes on from there. It stays when the fit
        ends. An MCVC, MECC or SubsetFusion also writes rows of items, to files in a folder beside it, which ends in
        ``.items``; with a `client` all workers have to reach it by the same path.

    Returns
    -------
    the model, fitted
        With all attributes of the fit in memory, but those of items: ``labels_``, ``labels_series_``,
        ``labels_apart_``, ``responsibilities_``, ``values_``, ``intervals_``, ``view_labels_``,
        ``view_responsibilities_``, ``embedding_``, ``part_``, ``subtypes_`` and ``items_``, and methods that use these.
        See `item_results`. A PartitionLabelModel, and an MCVC or MECC with features, predict new items with
        ``predict``.

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
    how, fitted = how_to_fit(model), cast(CrowdEstimator, model)
    how.require_table(table, model)
    check_parameters(fitted)
    how.require_fittable(fitted, checkpoint)
    fitting = _fit_labels if how.reads_labels else _fit_items
    with parts_of(table, client, n_jobs) as sources:
        table = decide_classes(table, sources, tell=True)
    with parts_of(table, client, n_jobs) as sources, one_blas_thread(), show_progress(fitted):
        fitting(fitted, how, table, sources, checkpoint)
    _forget_items(fitted, how)
    return model


def _fit_labels(model: Any, how: PartitionedModel, table: PartitionedTable, sources: Parts, checkpoint: Any) -> None:
    own = sources.map(read_own)
    survey = own.total(survey_of)
    require_items_apart(survey.sketch, table.partitions, sources)
    _warn_of_left_out(survey)
    warn_of(note_names(survey.annotators, "annotator"))
    parts = own.map(recode_labels, survey.annotators, survey.classes)
    own.forget()
    begin_fit(model, table.missing)
    how.fit(model, parts, survey, checkpoint, parts.total(label_counts))


def _fit_items(
    model: Any, how: PartitionedModel, table: PartitionedItems | PartitionedTable, sources: Parts, checkpoint: Any
) -> None:
    own = sources.map(items.read_own_items if isinstance(table, PartitionedItems) else items.read_labelled_items)
    survey = own.total(items.item_survey_of)
    sketch = own.total(items.sketch_of, survey.first)
    if survey.named:
        require_items_apart(sketch, table.partitions, own, items.names_among)
    if not has_long_labels(table):
        _require_told(survey.vocabulary.group_names, table)
    _warn_of_left_out(survey)
    warn_of(note_names(survey.annotators, "annotator"))
    begin_fit(model, table.missing)
    _forget_items(model, how)
    features = table.features if isinstance(table, PartitionedItems) else ()
    how.fit(model, items.Surveyed(own, survey, sketch, features), checkpoint)


@contextmanager
def parts_of(table: Any, client: Any, n_jobs: int | None) -> Iterator[Parts]:
    """Return the numbered partitions of a table, as parts of whoever computes."""
    numbered = list(enumerate(table.partitions))
    if client is not None:
        yield DaskParts(client, numbered)
        return
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0):
        raise InputError(f"'n_jobs' must be None, a positive int or a negative one. Got {n_jobs!r}.")
    with tempfile.TemporaryDirectory(prefix="consilience-") as folder:
        yield LocalParts(numbered, Path(folder), n_jobs)


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


def _forget_items(model: Any, how: PartitionedModel) -> None:
    """Forget what an earlier fit in memory knew of its items."""
    own = (
        "items_",
        "labels_",
        "labels_apart_",
        "responsibilities_",
        "_posterior",
        "_without_floors",
        "subtypes_",
        "_given",
    )
    for name in (*own, *how.of_items):
        vars(model).pop(name, None)
