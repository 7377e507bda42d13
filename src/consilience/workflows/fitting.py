"""Fit a model to files, and write its results and its report to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

import consilience
from consilience import registry
from consilience.analysis.certainty import certainty_of_report
from consilience.analysis.findings import Findings, gather
from consilience.analysis.findings_text import as_lines
from consilience.analysis.label_quality import in_words, label_quality
from consilience.analysis.names import listed
from consilience.analysis.words import Words, use_words
from consilience.atomic_files import replacing
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection import report
from consilience.workflows.card_sorts import read_card_sort, write_names
from consilience.workflows.caveats import suggestions, verdict
from consilience.workflows.comparing import choose_by_comparing
from consilience.workflows.inputs import Evidence, Material, evidence_for, read_material
from consilience.workflows.item_extras import Extras
from consilience.workflows.jobs import FitRequest, Result
from consilience.workflows.model_choice import choose, make_estimator, reason_for, with_clusters
from consilience.workflows.notes import note
from consilience.workflows.outputs import encoded, require_no_input
from consilience.workflows.preprocessing import as_shown, behind, legible, steps_for
from consilience.workflows.result_folder import (
    MODEL,
    REPORT,
    SUMMARY,
    checksums_in,
    possible_files,
    replaced_folder,
    require_free,
)
from consilience.workflows.results import write_results
from consilience.workflows.saved_models import last_step
from consilience.workflows.tables import read_scores

AUTO = "auto"
COMMON = ("random_state", "n_jobs")  # settings of which a model chosen by default may lack some


@dataclass(frozen=True)
class FitResult(Result):
    """What a fit found.

    Attributes
    ----------
    summary : dict
        What summary.json holds.
    text : str
        What the command prints.
    estimator : fitted estimator, or a Pipeline that ends in one
    findings : Findings
        What model and annotations tell together; see `consilience.analysis.findings`.
    is_undecided : bool
        Whether judgements of pairs alone did not separate items.
    """

    estimator: Any
    findings: Findings
    is_undecided: bool

    @property
    def warnings(self) -> list[str]:
        """What to know before anything else."""
        return list(self.summary["warnings"])


def fit(request: FitRequest) -> FitResult:
    """Fit a model to files, and write its results and its report to a folder.

    Parameters
    ----------
    request : FitRequest

    Returns
    -------
    FitResult
        With a warning first if nothing was found, or no more than chance.

    Raises
    ------
    InputError
        Files, a model or settings cannot be used.

    Examples
    --------
    >>> from consilience.workflows import FitRequest, fit
    >>> print(fit(FitRequest(annotations="sorts.csv", out="study")))  # doctest: +SKIP
    """
    Words.of(request.words)  # before anything is read
    if request.model == AUTO:
        require_comparable(request)
    elif request.model is not None:
        checked_model(request.model, request.settings, request)  # before anything is read
    places = Extras.of(request.given_labels, request.pictures, request.features)
    request = replace(request, feature_options=places.without(request.feature_options))
    material = read_material(request.annotations, request.features, request.reading, request.feature_options)
    material, sort = read_card_sort(material, request.card_sort)
    name, settings, why = chosen(material, request)
    estimator = checked_model(name, settings, request, found=material.kind if request.model is None else None)
    if request.model is None:
        note(why)
    evidence = evidence_for(name, material, request.known)
    sort = sort.of_fitted(evidence.annotations)
    rated = None if request.scores is None else read_scores(request.scores, evidence.annotations.items)
    require_folder_for(name, request.out, [*request.paths, *places.paths])
    given = places.given_labels(evidence.annotations, request.feature_options)
    pictures = places.read_pictures(evidence.annotations.items, request.feature_options)
    for text in evidence.notes:
        note(text)
    estimator, shown, table = fitted(estimator, name, evidence, request)
    legible_evidence = replace(evidence, features=table)
    with use_words(Words.of(request.words, material.read_as)) as spoken:
        judged = verdict(last_step(estimator), legible_evidence)
        more = suggestions(last_step(estimator), legible_evidence, judged)
    for text in more:
        note(text)
    sure, why_none = certainty_of_report(shown, evidence.annotations, table, request.certainty_draws)
    quality = None if given is None else label_quality(shown, evidence.annotations, given)
    for text in () if quality is None else in_words(quality):
        note(text)
    found = gather(
        shown,
        evidence.annotations,
        table,
        certainty=sure,
        given_labels=quality,
        words=spoken,
        function="fit",
        **sort.keywords,
    )
    with replaced_folder(request.out) as folder:
        files = [*write_results(estimator, folder, found), *write_names(found, evidence.annotations, folder)]
        files = [REPORT, *files, MODEL, SUMMARY]
        facts = found.facts  # before the report, which takes over what is computed by then
        report(found, scores=rated, pictures=pictures, warnings=judged.warnings, path=folder / REPORT)
        summary = {
            "warnings": judged.warnings,
            "why": why,
            "consilience": consilience.__version__,
            "model": name,
            "read_as": material.read_as,
            **facts,
            **_told_by_files(evidence, facts),
            "notes": [*material.notes, *evidence.notes, *more],
            "files": {Path(file).stem: str(request.out / file) for file in files},
            "why_no_certainty": why_none,
            "checksums": checksums_in(folder),
        }
        with replacing(folder / SUMMARY) as file:
            file.write(encoded(summary))
    return FitResult(summary, as_lines(summary), estimator, found, judged.is_undecided)


def _told_by_files(evidence: Evidence, facts: Mapping[str, Any]) -> dict[str, int]:
    """Return what only the files tell: how many labels and features they hold, and known classes of labels."""
    n_features = 0 if evidence.features is None else evidence.features.shape[1]
    known = {"n_known_classes": len(evidence.known.get("gold", ()))} if "n_known_classes" in facts else {}
    return {"n_labels": evidence.annotations.n_rows, "n_features": n_features} | known


def require_folder_for(model: str, out: Path, inputs: Iterable[Path | None]) -> None:
    """Raise an InputError unless the results of a model can be written to a folder without overwriting an input."""
    names, inputs = possible_files(model), list(inputs)
    for name in names:
        require_no_input(out / name, inputs)
    require_free(out, names)


def chosen(material: Material, request: FitRequest) -> tuple[str, Mapping[str, Any], str]:
    """Return the name of the model to fit, its settings, and why it was chosen."""
    settings = request.settings
    if request.model == AUTO:
        return choose_by_comparing(
            material, settings=settings, standardize=request.standardize, feature_options=request.feature_options
        )
    if request.model is not None:
        return request.model, settings, "Chosen by --model."
    choice = choose(material.kind, features=material.features is not None)
    takes = signature(registry.estimator(choice.model)).parameters
    for key in COMMON:
        if key in settings and key not in takes:
            note(f"{choice.model} has no parameter {key!r}; it is ignored.")
    known = {key: value for key, value in settings.items() if key in takes or key not in COMMON}
    return choice.model, known, reason_for(choice)


def require_comparable(request: FitRequest) -> None:
    """Raise an InputError if an option belongs to one model, where 'auto' compares many."""
    own = [f"--set {key}" for key in request.settings if key not in COMMON]
    own += ["--clusters"] if request.clusters is not None else []
    if own:
        raise InputError(f"{own[0]} belongs to one model, but 'auto' compares many; name one by --model.")
    for option, path in request.known.items():
        if path is not None:
            raise InputError(f"--{option} needs a model named by --model; 'auto' compares models without it.")


def checked_model(name: str, settings: Mapping[str, Any], request: FitRequest, *, found: str | None = None) -> Any:
    """Make the estimator if it takes its settings, number of clusters and further arguments.

    If it was chosen by the kind of annotations in the file, `found`, an error says so.

    Raises
    ------
    InputError
        It does not take them.
    """
    try:
        estimator = make_estimator(name, with_clusters(name, settings, request.clusters))
        require_arguments(name, [option for option, path in request.known.items() if path is not None])
    except InputError as error:
        if found is None:
            raise
        labels = " If all annotators share the names, read it with --kind labels." if found == "groupings" else ""
        why = f"{name} was chosen since the file holds {found}; --model names another."
        raise InputError(f"{error} {why}{labels if any(request.known.values()) else ''}") from error
    return estimator


def fitted(estimator: Any, name: str, evidence: Evidence, request: FitRequest) -> tuple[Any, Any, pd.DataFrame | None]:
    """Fit an estimator after the steps that prepare its features.

    Returns
    -------
    estimator : fitted, with these steps if it takes features
    shown : the same without the step that fills and encodes features
    table : the features after that step, all numbers, or None
    """
    table = evidence.features
    steps = [] if table is None else steps_for(table, request.feature_options, standardize=request.standardize)
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
