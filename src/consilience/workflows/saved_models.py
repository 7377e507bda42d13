"""Use a saved model: predict the clusters of new items, and write its report again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from consilience import load, registry
from consilience.analysis.certainty import certainty_of_report
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.findings import gather
from consilience.analysis.words import Words, read_as, use_words
from consilience.annotations import Labels
from consilience.annotations.files.reading import RATINGS, TAGS
from consilience.annotations.keywords import spell
from consilience.annotations.names import MISSING
from consilience.errors import AnnotationError, InputError
from consilience.estimators.labels import LabelAggregator
from consilience.inference.clusters import most_probable
from consilience.inspection import report as write_report
from consilience.selection.candidates import reads_tags
from consilience.workflows.card_sorts import for_card_sort
from consilience.workflows.caveats import verdict
from consilience.workflows.features import read_features
from consilience.workflows.inputs import ModelInputs, as_read_by, read_for_model
from consilience.workflows.item_extras import Extras
from consilience.workflows.item_names import read_item_names
from consilience.workflows.item_ratings import read_ratings
from consilience.workflows.jobs import FeatureOptions, PredictionRequest, ReportRequest
from consilience.workflows.napping import read_napping
from consilience.workflows.notes import note
from consilience.workflows.outputs import renew_report, require_outputs, write_table
from consilience.workflows.preprocessing import as_shown, legible, needs_of, read_for, steps_for
from consilience.workflows.reading import name_source, read_noted
from consilience.workflows.sources import TableSource, source_of
from consilience.workflows.tables import names_as, read_scores, rows_of


def predict(request: PredictionRequest) -> pd.DataFrame:
    """Predict the cluster or class of every item of a table, and with `proba` the probability of each.

    Parameters
    ----------
    request : PredictionRequest

    Returns
    -------
    DataFrame
        Columns item, cluster or label, and probability; with `proba`, one for each cluster or class.

    Raises
    ------
    InputError
        Files cannot be used, or the model cannot predict.
    """
    path, table, reading = request.saved, request.table, request.reading
    require_outputs([request.out], [path, table, request.item_names])
    estimator = load(path)
    model = last_step(estimator)
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{path}: {type(model).__name__} finds clusters only of the items that it is fitted to; clusters.csv of "
            "the fit lists them. To place new items, fit it to groupings that include them."
        )
    if not hasattr(model, "items_"):
        raise InputError(f"{path}: The model was saved before it was fitted, so it cannot predict.")
    if registry.entry(type(model).__name__).kind == "consensus":
        if request.feature_item is not None:
            raise InputError(
                f"{type(model).__name__} predicts classes from labels; leave out {spell(feature_item=None)}."
            )
        items, probability, has_labels = _by_labels(model, table, reading)
    elif not reading:
        items, probability = _by_features(estimator, source_of(table, "the table"), request.feature_item)
        has_labels = np.ones(len(items), dtype=bool)
    else:
        given = ", ".join(spell(**{name: value if value is False else None}) for name, value in reading.items())
        raise InputError(f"{type(model).__name__} predicts clusters from features; leave out {given}.")
    answer = FoundClusters.of(model)
    if not has_labels.all():
        note(f"Items without labels: {int((~has_labels).sum()):,} of {len(has_labels):,}; their classes are unknown.")
    named = answer.names_of(np.where(has_labels, most_probable(probability), MISSING))
    highest = np.where(has_labels, probability.max(1), np.nan)
    found = pd.DataFrame({"item": items, answer.column: named, "probability": highest})
    if request.proba:
        heads = [f"probability of {name}" if answer.is_named else f"cluster {name}" for name in answer.index]
        found = pd.concat([found, pd.DataFrame(probability, columns=heads)], axis=1)
    names = read_item_names(request.item_names, pd.Index(items))
    if names is not None:
        found = names.add_ids(found.assign(item=names.rename(pd.Index(items))))
    if request.out is not None:
        write_table(found, request.out)
    return found


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _by_features(estimator: Any, path: TableSource, item: str | None) -> tuple[pd.Index, np.ndarray]:
    table = read_for(path, estimator, chosen=item)
    by_place = needs_of(estimator).names is None
    return table.index, estimator.predict_proba(table.to_numpy() if by_place else table)


def _by_labels(model: Any, path: Any, reading: Mapping[str, Any]) -> tuple[pd.Index, np.ndarray, np.ndarray]:
    """Return items, the probabilities of their classes, and whether they have any labels."""
    labels, _ = read_for_model(path, reading=_read_as_fitted(reading, model), model=type(model).__name__)
    try:
        probability = model.predict_proba(as_fitted(labels, model))
        return labels.items, probability, labels.summary().annotators_per_item.to_numpy() > 0
    except InputError as error:
        raise InputError(f"{name_source(path)}: {error}") from error


def _read_as_fitted(reading: Mapping[str, Any], model: Any) -> Mapping[str, Any]:
    """Return how a file is read for a saved model: as tags, or ratings in numbers, if it was fitted to such."""
    rates = isinstance(model, LabelAggregator) and model.reads_ratings and is_numeric_dtype(model.classes_)
    kind = TAGS if reads_tags(model) else RATINGS if rates else None
    return reading if kind is None else {"kind": kind, **reading}


def as_fitted(annotations: Any, model: Any) -> Any:
    """Return labels whose annotators and classes have integer or text names as those of the model."""
    if not isinstance(annotations, Labels):
        return annotations
    named = replace(annotations, annotators=names_as(annotations.annotators, model.annotators_.index))
    if not hasattr(type(model), "confusion_matrices_"):
        return named
    return replace(named, classes=names_as(annotations.classes, model._label_names))


def report_again(request: ReportRequest) -> Path:
    """Write the report of a saved model again, for example with scores.

    Parameters
    ----------
    request : ReportRequest

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        Files or options cannot be used, or the model was fitted to other items.
    """
    Words.of(request.words)  # before anything is read
    path, annotations, out = request.saved, request.annotations, request.out
    places = Extras.of(request.given_labels, request.pictures, request.features)
    options = places.without(request.feature_options)
    require_outputs([out], [path, *request.paths, *places.paths], of=path)
    estimator = load(path)
    model = last_step(estimator)
    if not hasattr(model, "items_"):
        raise InputError(f"{path}: The model was saved before it was fitted, so there is nothing to report.")
    held, _ = read_noted(annotations, _read_as_fitted(request.reading, model))
    loaded, notes = as_read_by(type(model).__name__, held, name_source(annotations))
    for text in notes:
        note(text)
    loaded, sort = for_card_sort(loaded, request.card_sort)
    names = read_item_names(request.item_names, loaded.items)
    if names is not None:
        set_items(model, names.find_ids(model.items_))
    try:
        loaded = as_fitted(loaded, model).reindex(model.items_)
    except AnnotationError as error:
        again = "" if names else f", or {spell(item_names=None)} of the fit is missing"
        raise InputError(f"{name_source(annotations)}: {error} The model was fitted to other items{again}.") from error
    table = None if request.features is None else _features_of(request.features, estimator, options)
    rated = None if request.scores is None else read_scores(request.scores, model.items_)
    shown, table = as_shown(estimator, table)
    with use_words(Words.of(request.words, read_as(held))) as spoken:
        warnings = verdict(model, ModelInputs(loaded, table, [])).warnings
    given = places.given_labels(loaded, options)
    pictures = places.read_pictures(model.items_, options)
    ratings = read_ratings(request.ratings, loaded, sort.left_out)
    napping = read_napping(request.napping, loaded, sort.left_out)
    if names is not None:
        ratings, napping = names.rename_column(ratings), names.rename_column(napping)
        loaded, pictures = names.rename_annotations(loaded), names.rename_pictures(pictures)
        table, rated, given = (names.rename_table(part) for part in (table, rated, given))
        set_items(model, names.rename(model.items_))
    sure, _ = certainty_of_report(shown, loaded, table, request.certainty_draws)
    found = gather(
        shown,
        loaded,
        table,
        certainty=sure,
        given_labels=given,
        words=spoken,
        function="report",
        **sort.of_fitted(loaded).keywords,
    )
    shown_beside: dict[str, Any] = {"scores": rated, "pictures": pictures, "ratings": ratings, "napping": napping}
    shown_beside["given_groups"] = sort.given_groups
    write_report(found, **shown_beside, warnings=warnings, short=request.short, path=out)
    renew_report(out)
    return out


def set_items(model: Any, items: pd.Index) -> None:
    """Give the items of a fitted model other names."""
    model.items_ = items
    if hasattr(model, "view_labels_"):
        model.view_labels_ = model.view_labels_.set_axis(items.rename(model.view_labels_.index.name), axis=0)


def _features_of(path: TableSource, estimator: Any, options: FeatureOptions) -> pd.DataFrame:
    """Return features of the fitted items, as the first step of the pipeline takes them if it prepares them.

    Otherwise they are read as numbers. Raises InputError: the file cannot be read, or options contradict the saved
    pipeline.
    """
    items = last_step(estimator).items_
    if needs_of(estimator).prepares:
        if options.categorical or options.impute:
            given = f"{spell(categorical=None)} and {spell(impute=None)}"
            raise InputError(f"The saved model fills and encodes features itself; leave out {given}.")
        return rows_of(read_for(path, estimator, chosen=options.feature_item, items=items), items, path)
    read = read_features(path, options, items)
    for text in read.notes:
        note(text)
    table = rows_of(read.table, items, path)
    return legible(steps_for(table, options, standardize=False), table)  # type: ignore[return-value]
