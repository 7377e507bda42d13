"""``consilience fit``: read annotations and features, fit a model, write its results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import click
import pandas as pd

from consilience import registry
from consilience.analysis.certainty import certainty_of_report
from consilience.analysis.label_quality import in_words, label_quality
from consilience.analysis.names import listed
from consilience.analysis.words import Words, use_words
from consilience.atomic_files import replacing
from consilience.cli.card_sorts import as_corrected, found_names, read_card_sort, write_names
from consilience.cli.caveats import suggestions, verdict
from consilience.cli.comparing import choose_by_comparing
from consilience.cli.inputs import Evidence, Material, evidence_for, read_material
from consilience.cli.item_extras import Extras
from consilience.cli.messages import UndecidedError, note, printable, say, say_json
from consilience.cli.model_choice import choose, make_estimator, reason_for, with_clusters
from consilience.cli.options import CardSortOptions, ExtraOptions, FeatureOptions
from consilience.cli.outputs import encoded, require_no_input
from consilience.cli.preprocessing import as_shown, behind, legible, steps_for
from consilience.cli.result_folder import SUMMARY, checksums_in, possible_files, replaced_folder, require_free
from consilience.cli.results import write_results
from consilience.cli.saved_models import last_step
from consilience.cli.summary import as_lines, summary
from consilience.cli.tables import read_scores
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection import report

AUTO = "auto"
NO_EXTRAS, NO_CARD_SORT = ExtraOptions(), CardSortOptions()
COMMON = ("random_state", "n_jobs")  # settings of which a model chosen by default may lack some


def fit(
    annotations: Path,
    *,
    features: Path | None,
    scores: Path | None,
    reading: Mapping[str, Any],
    known: dict[str, Path | None],
    model: str | None,
    clusters: int | str | None,
    settings: Mapping[str, Any],
    standardize: bool,
    out: Path,
    as_json: bool,
    feature_options: FeatureOptions,
    certainty_draws: int,
    words: str | None,
    extras: ExtraOptions = NO_EXTRAS,
    card_sort: CardSortOptions = NO_CARD_SORT,
) -> None:
    """Fit a model to files, write the results to the folder `out`, and print a summary.

    Raises
    ------
    InputError
        Files, a model or settings cannot be used.
    UndecidedError
        Judgements of pairs alone did not separate items; all results are written and shown before.
    """
    Words.of(words)  # before anything is read
    if model == AUTO:
        require_comparable(settings, clusters, known)
    elif model is not None:
        checked_model(model, settings, clusters, known)  # before anything is read
    places = Extras.of(extras, features)
    feature_options = places.without(feature_options)
    material, sort = read_card_sort(read_material(annotations, features, reading, feature_options), card_sort)
    name, settings, why = chosen(model, material, settings, standardize=standardize, feature_options=feature_options)
    estimator = checked_model(name, settings, clusters, known, found=material.kind if model is None else None)
    if model is None:
        note(why)
    evidence = evidence_for(name, material, known)
    sort = sort.of_fitted(evidence.annotations)
    rated = None if scores is None else read_scores(scores, evidence.annotations.items)
    require_folder_for(name, out, [annotations, features, scores, *card_sort.paths, *places.paths, *known.values()])
    given = places.given_labels(evidence.annotations, feature_options)
    pictures = places.read_pictures(evidence.annotations.items, feature_options)
    for text in evidence.notes:
        note(text)
    estimator, shown, table = fitted(estimator, name, evidence, feature_options, standardize=standardize)
    legible_evidence = replace(evidence, features=table)
    with use_words(Words.of(words, material.read_as)) as spoken:
        judged = verdict(last_step(estimator), legible_evidence)
        more = suggestions(last_step(estimator), legible_evidence, judged)
    for text in more:
        note(text)
    sure, why_none = certainty_of_report(shown, evidence.annotations, table, certainty_draws)
    quality = None if given is None else label_quality(shown, evidence.annotations, given)
    for text in () if quality is None else in_words(quality):
        note(text)
    standard = found_names(evidence.annotations, sort)
    named = as_corrected(evidence.annotations, sort, standard)
    with replaced_folder(out) as folder:
        write_results(estimator, folder, named, quality, sure)
        files = write_names(standard, evidence.annotations, folder)
        report(
            shown,
            evidence.annotations,
            X=table,
            scores=rated,
            certainty=sure,
            words=spoken,
            given_labels=quality,
            pictures=pictures,
            warnings=judged.warnings,
            path=folder / "report.html",
            **sort.keywords,
        )
        results = summary(
            estimator,
            material,
            replace(evidence, annotations=named),
            out,
            more=more,
            certainty=sure,
            words=spoken,
            quality=quality,
            further_files=files,
            left_out=sort.left_out,
        )
        found = {"warnings": judged.warnings, "why": why} | results | {"why_no_certainty": why_none}
        found |= {"checksums": checksums_in(folder)}
        with replacing(folder / SUMMARY) as file:
            file.write(encoded(found))
    for warning in judged.warnings if as_json else ():
        click.echo(f"Warning: {printable(warning)}", err=True)
    if as_json:
        say_json(found)
    else:
        say(as_lines(found))
    if judged.is_undecided:
        raise UndecidedError(f"Undecided: see the warning. The results were nevertheless written to {out}.")


def require_folder_for(model: str, out: Path, inputs: Iterable[Path | None]) -> None:
    """Raise an InputError unless the results of a model can be written to a folder without overwriting an input."""
    names, inputs = possible_files(model), list(inputs)
    for name in names:
        require_no_input(out / name, inputs)
    require_free(out, names)


def chosen(
    model: str | None,
    material: Material,
    settings: Mapping[str, Any],
    *,
    standardize: bool,
    feature_options: FeatureOptions,
) -> tuple[str, Mapping[str, Any], str]:
    """Return the name of the model to fit, its settings, and why it was chosen."""
    if model == AUTO:
        return choose_by_comparing(
            material, settings=settings, standardize=standardize, feature_options=feature_options
        )
    if model is not None:
        return model, settings, "Chosen by --model."
    choice = choose(material.kind, features=material.features is not None)
    takes = signature(registry.estimator(choice.model)).parameters
    for key in COMMON:
        if key in settings and key not in takes:
            note(f"{choice.model} has no parameter {key!r}; it is ignored.")
    known = {key: value for key, value in settings.items() if key in takes or key not in COMMON}
    return choice.model, known, reason_for(choice)


def require_comparable(
    settings: Mapping[str, Any], clusters: int | str | None, known: Mapping[str, Path | None]
) -> None:
    """Raise an InputError if an option belongs to one model, where 'auto' compares many."""
    own = [f"--set {key}" for key in settings if key not in COMMON]
    own += ["--clusters"] if clusters is not None else []
    if own:
        raise InputError(f"{own[0]} belongs to one model, but 'auto' compares many; name one by --model.")
    for option, path in known.items():
        if path is not None:
            raise InputError(f"--{option} needs a model named by --model; 'auto' compares models without it.")


def checked_model(
    name: str,
    settings: Mapping[str, Any],
    clusters: int | str | None,
    known: Mapping[str, Path | None],
    *,
    found: str | None = None,
) -> Any:
    """Make the estimator if it takes its settings, number of clusters and further arguments.

    If it was chosen by the kind of annotations in the file, `found`, an error says so.

    Raises
    ------
    InputError
        It does not take them.
    """
    try:
        estimator = make_estimator(name, with_clusters(name, settings, clusters))
        require_arguments(name, [option for option, path in known.items() if path is not None])
    except InputError as error:
        if found is None:
            raise
        labels = " If all annotators share the names, read it with --kind labels." if found == "groupings" else ""
        why = f"{name} was chosen since the file holds {found}; --model names another."
        raise InputError(f"{error} {why}{labels if any(known.values()) else ''}") from error
    return estimator


def fitted(
    estimator: Any, name: str, evidence: Evidence, options: FeatureOptions, *, standardize: bool
) -> tuple[Any, Any, pd.DataFrame | None]:
    """Fit an estimator after the steps that prepare its features.

    Returns
    -------
    estimator : fitted, with these steps if it takes features
    shown : the same without the step that fills and encodes features
    table : the features after that step, all numbers, or None
    """
    table = evidence.features
    steps = [] if table is None else steps_for(table, options, standardize=standardize)
    if registry.entry(name).kind == "consensus":
        estimator.fit(evidence.annotations, **evidence.known)
        return estimator, estimator, legible(steps, table)
    estimator = behind(steps, estimator).fit(table, evidence.annotations)
    return estimator, *as_shown(estimator, table)


def require_arguments(model: str, names: Sequence[str]) -> None:
    """Raise an InputError unless the ``fit`` of a model takes these arguments."""
    for name in names:
        if not _takes(model, name):
            able = [other for other in registry.ESTIMATORS if _takes(other, name)]
            raise InputError(f"{model} takes no --{name}; {listed(able)} can use it.")


def _takes(model: str, name: str) -> bool:
    """Whether the ``fit`` of a model takes an argument; False if the model's dependencies are not installed."""
    try:
        return name in signature(registry.estimator(model).fit).parameters
    except MissingDependencyError:
        return False
