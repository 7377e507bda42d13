"""``consilience predict`` and ``consilience report``: what a saved model says of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from consilience import load, registry
from consilience.annotations import Labels
from consilience.annotations.names import plain
from consilience.cli.evidence import Evidence, read_said
from consilience.cli.options import flags
from consilience.cli.program import note, others
from consilience.cli.tables import names_as, read_numbers, require_folder, rows_of, write_table
from consilience.cli.verdict import verdict
from consilience.errors import AnnotationError, InputError
from consilience.inspection import report as write_report
from consilience.inspection.answer import Answer


def predict(path: Path, table: Path, *, out: Path | None, proba: bool, reading: Mapping[str, Any]) -> None:
    """Write the cluster or class of every item of a table, and how probable each of them is if `proba`."""
    estimator = load(path)
    model = last_step(estimator)
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{path}: {type(model).__name__} tells the clusters of the items that it was fitted to, which clusters.csv "
            "of the fit lists, and of no others. To place new items, fit it to groupings that hold them too."
        )
    if registry.entry(type(model).__name__).kind == "consensus":
        items, probability = _by_labels(model, table, reading)
    elif not reading:
        items, probability = _by_features(estimator, table)
    else:
        raise InputError(
            f"{type(model).__name__} tells clusters by features, so that {flags(reading)} has no use here."
        )
    answer = Answer.of(model)
    named = answer.index.take(probability.argmax(1))
    found = pd.DataFrame({"item": items, answer.column: named, "probability": probability.max(1)})
    if proba:
        heads = [f"probability of {name}" if answer.is_named else f"cluster {name}" for name in answer.index]
        found = pd.concat([found, pd.DataFrame(probability, columns=heads)], axis=1)
    write_table(found, out)


def last_step(estimator: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _by_features(estimator: Any, path: Path) -> tuple[pd.Index, np.ndarray]:
    table = read_numbers(path)
    return table.index, estimator.predict_proba(columns_of(table, estimator, path))


def _by_labels(model: Any, path: Path, reading: Mapping[str, Any]) -> tuple[pd.Index, np.ndarray]:
    check_is_fitted(model)
    labels, _ = read_said(path, reading=reading, model=type(model).__name__)
    try:
        return labels.items, model.predict_proba(as_fitted(labels, model))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def as_fitted(annotations: Any, model: Any) -> Any:
    """Return labels whose annotators and classes are named by integers or text as those of the model are."""
    if not isinstance(annotations, Labels):
        return annotations
    annotators = names_as(annotations.annotators, model.annotators_.index)
    return replace(
        annotations, annotators=annotators, classes=names_as(annotations.classes, model.confusion_matrices_.columns)
    )


def columns_of(table: pd.DataFrame, model: Any, path: Path) -> Any:
    """Features as the model was fitted to them: the same, in the same order.

    Raises
    ------
    InputError
        A feature is missing.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table.to_numpy()
    absent = [name for name in names if name not in table.columns]
    if absent:
        more = others(len(absent), ", nor")
        raise InputError(f"{path}: There is no column {plain(absent[0])!r}{more} that the model needs.")
    if len(table.columns) > len(names):
        note(f"Columns of {path} that are no features of the model, left out: {len(table.columns) - len(names):,}.")
    return table[list(names)]


def report(
    path: Path,
    annotations: Path,
    *,
    features: Path | None,
    scores: Path | None,
    reading: Mapping[str, Any],
    out: Path,
) -> None:
    """Write the report of a saved model again, for instance with scores."""
    require_folder(out)
    estimator = load(path)
    model = last_step(estimator)
    if not hasattr(model, "items_"):
        raise InputError(f"{path}: The model was saved before it was fitted, so there is nothing to report.")
    said, notes = read_said(annotations, reading=reading, model=type(model).__name__)
    for text in notes:
        note(text)
    try:
        said = as_fitted(said, model).reindex(model.items_)
    except AnnotationError as error:
        raise InputError(f"{annotations}: {error} The model was fitted to others.") from error
    table = None if features is None else rows_of(read_numbers(features), model.items_, features)
    rated = None if scores is None else rows_of(read_numbers(scores, blanks=True), model.items_, scores)
    warnings = verdict(model, Evidence(said, table, [])).warnings
    write_report(estimator, said, X=table, scores=rated, warnings=warnings, path=out)
    click.echo(f"{out}")
