"""Which model predicts the annotations best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from consilience import registry
from consilience.analysis.names import as_text
from consilience.analysis.words import Words, read_as
from consilience.annotations import Annotations
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.selection.candidates import candidates, final
from consilience.selection.comparison import Comparison
from consilience.selection.comparison import compare as compare_models
from consilience.workflows.inputs import Material, over_items, read_material
from consilience.workflows.jobs import ComparisonRequest, FeatureOptions, Result
from consilience.workflows.model_choice import make_estimator
from consilience.workflows.notes import note
from consilience.workflows.outputs import require_outputs, write_table
from consilience.workflows.preprocessing import behind, reads_probabilities, steps_for

MODEL_OF_TAGS = "TagConsensus"
MOST_NUMBERS = 5  # of clusters, between the lowest and the highest


@dataclass(frozen=True)
class ComparisonResult(Result):
    """How well models predict held-out annotations.

    Attributes
    ----------
    summary : dict
        The comparison as plain values.
    text : str
        What the command prints.
    comparison : Comparison
        As `consilience.selection.compare` returns it.
    """

    comparison: Comparison


def compare(request: ComparisonRequest) -> ComparisonResult:
    """Compare models on files, and write the table if that is asked for.

    Parameters
    ----------
    request : ComparisonRequest

    Returns
    -------
    ComparisonResult

    Raises
    ------
    InputError
        Files, models or settings cannot be used, or no model could be fitted.
    """
    Words.of(request.words)  # before anything is read
    require_outputs([request.out], [request.annotations, request.features])
    of_model = by_model(request.settings, request.models)
    material = read_material(request.annotations, request.features, request.reading, request.feature_options)
    loaded, table, notes = join_material(material)
    spoken = Words.of(request.words, read_as(loaded))
    named = [as_text(name) for name in (*loaded.annotators, *loaded.items)]
    notes = [spoken.told(text, named) for text in notes]
    for text in notes:
        note(text)
    numbers = None if request.clusters is None else between(*request.clusters)
    found = candidates(loaded, table, n_clusters=numbers, models=request.models, settings=of_model)
    if material.are_tags and request.models is None:
        found = candidates(loaded, models=MODEL_OF_TAGS, settings=of_model) | found
    if not found:
        raise InputError(f"{material.source}: No model reads {material.kind}.")
    for name in of_model:
        if name not in {type(model).__name__ for model in found.values()}:
            raise InputError(f"{spell(settings=None)} names {name}, which is not among the models compared.")
    result = compare_models(
        prepend_preparation(found, table, request.feature_options, standardize=request.standardize),
        loaded,
        table,
        by=request.by,
        n_folds=request.folds,
        level=_level(material, request.level),
        max_pairs=request.max_pairs,
        random_state=request.seed,
        verbose=True,
    )
    if result.chosen is None:
        raise InputError(f"No model could be compared. {_reasons(result)}")
    if request.out is not None:
        write_table(result.table.reset_index(), request.out)
    summary = {"read_as": material.read_as, "words": asdict(spoken), "notes": material.notes + notes}
    return ComparisonResult(summary | _summary(result, found), _tell(result, spoken), result)


def _level(material: Material, level: str) -> str:
    """Return what is held out: of tags, all that an annotator gave an item."""
    if not material.are_tags:
        return level
    if level == "groupings":
        raise InputError(f"Of tags, parts of each annotator's are held out: leave out {spell(level=level)}.")
    return "tags"


def _tell(result: Comparison, words: Words) -> str:
    """Return the comparison as text; the names of models stay as they are."""
    caption, *table, verdict = str(result).splitlines()
    models = [str(name) for name in result.table.index]
    return "\n".join([words.told(caption), *table, words.told(verdict, models)])


def choose_by_comparing(
    material: Material, *, settings: Mapping[str, Any], standardize: bool, feature_options: FeatureOptions
) -> tuple[str, dict[str, Any], str]:
    """Return the model that predicts the annotations best, its settings, and the verdict, which is also noted.

    Raises InputError: no model can be fitted, or the annotations are tags.
    """
    if material.are_tags:
        raise InputError(f"{material.source}: Only {MODEL_OF_TAGS} fits tags. Leave out {spell(model='auto')}.")
    annotations, table, _ = join_material(material)
    readers = {name for name, entry in registry.ESTIMATORS.items() if material.kind in entry.reads}
    found = {name: model for name, model in candidates(annotations, table).items() if type(model).__name__ in readers}
    if not found:
        raise InputError(f"{material.source}: No model reads {material.kind}.")
    entered = prepend_preparation(found, table, feature_options, standardize=standardize)
    result = compare_models(entered, annotations, table, random_state=settings.get("random_state", 0), verbose=True)
    if result.chosen is None:
        raise InputError(f"No model could be compared. {_reasons(result)}")
    why = f"Compared {len(found)} models on {len(result.judgements):,} held-out judgements. {result.verdict}"
    note(why)
    model = found[result.chosen]
    takes = signature(type(model)).parameters
    chosen = _own_parameters(model) | {key: value for key, value in settings.items() if key in takes}
    return type(model).__name__, chosen, why


def join_material(material: Material) -> tuple[Annotations, pd.DataFrame | None, list[str]]:
    """Return annotations of any kind, features with a row for each of their items, and notes on the features.

    Raises InputError: items with annotations have no features.
    """
    annotations = material.annotations
    if material.features is None:
        return annotations, None, []
    table = material.features.table
    annotations, notes = over_items(annotations, table.index, material.source, material.features_source)
    return annotations, table, [*material.features.notes, *notes]


def by_model(settings: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Sort settings ``Model.key`` by model.

    Raises InputError: there is no such model or parameter, or a setting names no model.
    """
    found: dict[str, dict[str, Any]] = {}
    for setting, value in settings.items():
        name, dot, key = setting.partition(".")
        if not dot:
            example = names[0] if names else "KCC"
            given = spell(settings={setting: ...})
            raise InputError(f"{given} names no model; write it as {example}.{setting}=value.")
        found.setdefault(name, {})[key] = value
    for name, chosen in found.items():
        make_estimator(name, chosen)
    return found


def between(low: int, high: int) -> list[int]:
    """Return a few numbers from the lowest to the highest, the small ones closer together.

    Examples
    --------
    >>> between(2, 8), between(3, 5), between(2, 30)
    ([2, 3, 4, 6, 8], [3, 4, 5], [2, 4, 8, 15, 30])
    """
    steps = np.geomspace(low, high, min(MOST_NUMBERS, high - low + 1))  # one cluster more changes much if there are few
    if high - low < MOST_NUMBERS:
        return list(range(low, high + 1))
    return [int(k) for k in np.unique(np.rint(steps))]


def prepend_preparation(
    models: Mapping[str, Any], table: pd.DataFrame | None, options: FeatureOptions, *, standardize: bool
) -> dict[str, Any]:
    """Put the steps that prepare features before the models that take features."""
    if table is None:
        return dict(models)
    return {
        name: behind(steps_for(table, options, standardize=standardize and not reads_probabilities(model)), model)
        if registry.entry(type(model).__name__).kind == "semisupervised"
        else model
        for name, model in models.items()
    }


def _own_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that differ from its defaults."""
    usual = signature(type(model)).parameters
    return {key: value for key, value in model.get_params(deep=False).items() if value is not usual[key].default}


def _reasons(result: Comparison) -> str:
    """Say why models have no score."""
    failed = result.table.index[result.table["log_loss"].isna()]
    return " ".join(f"{name}: {result.table.loc[name, 'note']}" for name in failed)


def _summary(result: Comparison, models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the comparison as plain values; null for a missing number."""
    rows = []
    for name, row in zip(map(str, result.table.index), result.table.to_dict("records")):
        cells = {
            key: None if isinstance(value, float) and math.isnan(value) else plain(value) for key, value in row.items()
        }
        own = _own_parameters(final(models[name])) if name in models else {}
        rows.append({"model": name, "parameters": own} | cells)
    return {
        "best": result.best,
        "chosen": result.chosen,
        "verdict": result.verdict,
        "held_out": result.level,
        "n_folds": result.n_folds,
        "n_judgements": len(result.judgements),
        "n_possible_judgements": result.n_possible,
        "standard_errors_over": result.blocks,
        "models": rows,
    }
