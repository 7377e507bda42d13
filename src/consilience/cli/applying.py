"""``consilience predict`` and ``consilience report``: what a saved model says of items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pandas as pd

from consilience import load
from consilience.annotations.names import plain
from consilience.cli.fitting import read_groupings
from consilience.cli.program import note, others
from consilience.cli.tables import read_numbers, require_folder, rows_of, write_table
from consilience.errors import AnnotationError, InputError
from consilience.inspection import report as write_report


def predict(path: Path, features: Path, *, out: Path | None, proba: bool) -> None:
    """Write the cluster of every row of a table of features, and how probable each cluster is if `proba`."""
    model = load(path)
    table = read_numbers(features)
    values = columns_of(table, model, features)
    found = pd.DataFrame({"item": table.index, "cluster": model.predict(values)})
    probability = model.predict_proba(values)
    found["probability"] = probability.max(1)
    if proba:
        names = [f"cluster {cluster}" for cluster in range(probability.shape[1])]
        found = found.join(pd.DataFrame(probability, columns=names))
    write_table(found, out)


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
    kind: str | None,
    column: str | None,
    out: Path,
) -> None:
    """Write the report of a saved model again, for instance with scores."""
    require_folder(out)
    estimator = load(path)
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    if not hasattr(model, "items_"):
        raise InputError(f"{path}: The model was saved before it was fitted, so there is nothing to report.")
    groupings, notes = read_groupings(annotations, kind=kind, column=column, model=type(model).__name__)
    for text in notes:
        note(text)
    try:
        groupings = groupings.reindex(model.items_)
    except AnnotationError as error:
        raise InputError(f"{annotations}: {error} The model was fitted to others.") from error
    table = None if features is None else rows_of(read_numbers(features), model.items_, features)
    rated = None if scores is None else rows_of(read_numbers(scores, blanks=True), model.items_, scores)
    write_report(estimator, groupings, X=table, scores=rated, path=out)
    click.echo(f"{out}")
