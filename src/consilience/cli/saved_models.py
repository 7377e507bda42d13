"""``consilience predict`` and ``consilience report``: use a saved model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience import load, registry
from consilience.analysis.certainty import certainty_of_report
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.words import Words, read_as, use_words
from consilience.annotations import Labels
from consilience.annotations.names import MISSING
from consilience.cli.card_sorts import for_card_sort
from consilience.cli.caveats import verdict
from consilience.cli.features import read_features
from consilience.cli.inputs import Evidence, as_read_by, read_for_model
from consilience.cli.item_extras import Extras
from consilience.cli.messages import note, say
from consilience.cli.options import CardSortOptions, ExtraOptions, FeatureOptions, flags
from consilience.cli.outputs import renew_report, require_outputs, write_table
from consilience.cli.preprocessing import as_shown, legible, needs_of, read_for, steps_for
from consilience.cli.reading import named, read_noted
from consilience.cli.tables import names_as, read_scores, rows_of
from consilience.errors import AnnotationError, InputError
from consilience.inspection import report as write_report


def predict(
    path: Path, table: Path, *, out: Path | None, proba: bool, reading: Mapping[str, Any], feature_item: str | None
) -> None:
    """Write the cluster or class of every item of a table, and with `proba` the probability of each."""
    require_outputs([out], [path, table])
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
        if feature_item is not None:
            raise InputError(f"{type(model).__name__} predicts classes from labels; leave out --feature-item.")
        items, probability, has_labels = _by_labels(model, table, reading)
    elif not reading:
        items, probability = _by_features(estimator, table, feature_item)
        has_labels = np.ones(len(items), dtype=bool)
    else:
        raise InputError(f"{type(model).__name__} predicts clusters from features; leave out {flags(reading)}.")
    answer = FoundClusters.of(model)
    if not has_labels.all():
        note(f"Items without labels: {int((~has_labels).sum()):,} of {len(has_labels):,}; their classes are unknown.")
    named = answer.names_of(np.where(has_labels, probability.argmax(1), MISSING))
    highest = np.where(has_labels, probability.max(1), np.nan)
    found = pd.DataFrame({"item": items, answer.column: named, "probability": highest})
    if proba:
        heads = [f"probability of {name}" if answer.is_named else f"cluster {name}" for name in answer.index]
        found = pd.concat([found, pd.DataFrame(probability, columns=heads)], axis=1)
    write_table(found, out)


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _by_features(estimator: Any, path: Path, item: str | None) -> tuple[pd.Index, np.ndarray]:
    table = read_for(path, estimator, chosen=item)
    by_place = needs_of(estimator).names is None
    return table.index, estimator.predict_proba(table.to_numpy() if by_place else table)


def _by_labels(model: Any, path: Path, reading: Mapping[str, Any]) -> tuple[pd.Index, np.ndarray, np.ndarray]:
    """Return items, the probabilities of their classes, and whether they have any labels."""
    labels, _ = read_for_model(path, reading=reading, model=type(model).__name__)
    try:
        probability = model.predict_proba(as_fitted(labels, model))
        return labels.items, probability, labels.summary().annotators_per_item.to_numpy() > 0
    except InputError as error:
        raise InputError(f"{named(path)}: {error}") from error


def as_fitted(annotations: Any, model: Any) -> Any:
    """Return labels whose annotators and classes have integer or text names as those of the model."""
    if not isinstance(annotations, Labels):
        return annotations
    named = replace(annotations, annotators=names_as(annotations.annotators, model.annotators_.index))
    if not hasattr(model, "confusion_matrices_"):
        return named
    return replace(named, classes=names_as(annotations.classes, model.confusion_matrices_.columns))


def report(
    path: Path,
    annotations: Path,
    *,
    features: Path | None,
    scores: Path | None,
    reading: Mapping[str, Any],
    out: Path,
    feature_options: FeatureOptions,
    certainty_draws: int,
    words: str | None,
    extras: ExtraOptions,
    card_sort: CardSortOptions,
) -> None:
    """Write the report of a saved model again, for example with scores."""
    Words.of(words)  # before anything is read
    places = Extras.of(extras, features)
    feature_options = places.without(feature_options)
    require_outputs([out], [path, annotations, features, scores, *card_sort.paths, *places.paths], of=path)
    estimator = load(path)
    model = last_step(estimator)
    if not hasattr(model, "items_"):
        raise InputError(f"{path}: The model was saved before it was fitted, so there is nothing to report.")
    held, _ = read_noted(annotations, reading)
    loaded, notes = as_read_by(type(model).__name__, held, named(annotations))
    for text in notes:
        note(text)
    loaded, sort = for_card_sort(loaded, card_sort)
    try:
        loaded = as_fitted(loaded, model).reindex(model.items_)
    except AnnotationError as error:
        raise InputError(f"{named(annotations)}: {error} The model was fitted to other items.") from error
    table = None if features is None else _features_of(features, estimator, feature_options)
    rated = None if scores is None else read_scores(scores, model.items_)
    shown, table = as_shown(estimator, table)
    with use_words(Words.of(words, read_as(held))) as spoken:
        warnings = verdict(model, Evidence(loaded, table, [])).warnings
    given = places.given_labels(loaded, feature_options)
    pictures = places.read_pictures(model.items_, feature_options)
    sure, _ = certainty_of_report(shown, loaded, table, certainty_draws)
    write_report(
        shown,
        loaded,
        X=table,
        scores=rated,
        certainty=sure,
        words=spoken,
        given_labels=given,
        pictures=pictures,
        warnings=warnings,
        path=out,
        **sort.of_fitted(loaded).keywords,
    )
    renew_report(out)
    say(f"{out}")


def _features_of(path: Path, estimator: Any, options: FeatureOptions) -> pd.DataFrame:
    """Return features of the fitted items, as the first step of the pipeline takes them if it prepares them.

    Otherwise they are read as numbers.

    Raises
    ------
    InputError
        The file cannot be read, or options contradict the saved pipeline.
    """
    items = last_step(estimator).items_
    if needs_of(estimator).prepares:
        if options.categorical or options.impute:
            raise InputError("The saved model fills and encodes features itself; leave out --categorical and --impute.")
        return rows_of(read_for(path, estimator, chosen=options.item, items=items), items, path)
    read = read_features(path, options, items)
    for text in read.notes:
        note(text)
    table = rows_of(read.table, items, path)
    return legible(steps_for(table, options, standardize=False), table)  # type: ignore[return-value]
