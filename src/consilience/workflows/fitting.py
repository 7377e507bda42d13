"""Fit a model to files, and write its results and its report to a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from consilience.analysis.label_quality import LabelQuality, in_words, label_quality
from consilience.analysis.names import join_names
from consilience.analysis.words import Words, use_words
from consilience.annotations.keywords import spell
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection import Pictures, report
from consilience.workflows.card_sorts import CardSort, read_card_sort, write_names
from consilience.workflows.caveats import Verdict, suggestions, verdict
from consilience.workflows.comparing import choose_by_comparing
from consilience.workflows.inputs import Material, ModelInputs, evidence_for, read_material
from consilience.workflows.item_extras import Extras
from consilience.workflows.item_names import ItemNames, read_item_names
from consilience.workflows.item_ratings import read_ratings, write_ratings
from consilience.workflows.jobs import FitRequest, Result
from consilience.workflows.model_choice import choose, make_estimator, reason_for, with_clusters
from consilience.workflows.napping import read_napping
from consilience.workflows.notes import note
from consilience.workflows.outputs import require_folder, save_summary
from consilience.workflows.preprocessing import as_shown, behind, legible, reads_probabilities, steps_for
from consilience.workflows.result_folder import MODEL, REPORT, SUMMARY, possible_files, replaced_folder
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
    summary, text : as in `Result`
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

    Annotations may also be at hand, as a DataFrame or as `Groupings`, `Labels` or `Pairs`:

    >>> print(fit(FitRequest(annotations=Groupings.from_frame(frame), out="study")))  # doctest: +SKIP
    """
    require_usable(request)
    files = read_files(request)
    chosen = choose_model(files)
    evidence = evidence_for(chosen.name, files.material, request.known)
    sort = files.sort.of_fitted(evidence.annotations)
    beside = read_beside(files, chosen.name, evidence)
    names = read_item_names(request.item_names, evidence.annotations.items)
    if names is not None:
        evidence, beside = name_items(evidence, beside, names)
    made = fit_model(chosen, evidence, request)
    words, judged, more = judge(made, evidence, files)
    sure, why_none = certainty_of_report(made.shown, evidence.annotations, made.table, request.certainty_draws)
    found = gather(
        made.shown,
        evidence.annotations,
        made.table,
        certainty=sure,
        given_labels=judge_given_labels(made, evidence, beside.given),
        words=words,
        function="fit",
        **sort.keywords,
    )
    said = Said(judged.warnings, chosen.why, files.material, evidence, more, why_none)
    summary = write_folder(request.out, made.estimator, chosen.name, found, beside, said, names)
    return FitResult(summary, as_lines(summary), made.estimator, found, judged.is_undecided)


# ---- before the fit


def require_usable(request: FitRequest) -> None:
    """Raise an InputError if words, model and settings do not go together, before anything is read."""
    Words.of(request.words)
    if request.model == AUTO:
        require_comparable(request)
    elif request.model is not None:
        checked_model(request.model, request.settings, request)


@dataclass(frozen=True)
class Files:
    """What is read before a model is chosen.

    request : what was asked for; columns of given labels and pictures are no features in it.
    """

    request: FitRequest
    material: Material
    sort: CardSort
    extras: Extras


def read_files(request: FitRequest) -> Files:
    """Read annotations and features, leave people out, and find given labels and pictures."""
    extras = Extras.of(request.given_labels, request.pictures, request.features)
    request = replace(request, feature_options=extras.without(request.feature_options))
    material = read_material(
        request.annotations, request.features, request.reading, request.feature_options, request.gold
    )
    return Files(request, *read_card_sort(material, request.card_sort), extras)


@dataclass(frozen=True)
class Chosen:
    """A model with its settings, not yet fitted, and why it was chosen."""

    name: str
    estimator: Any
    why: str


def choose_model(files: Files) -> Chosen:
    """Choose the model that was named, that predicts best, or that is the default for such annotations.

    Raises InputError: it does not take its settings, or no model can be fitted.
    """
    request, by_default = files.request, files.request.model is None
    name, settings, why = _choice(files.material, request)
    estimator = checked_model(name, settings, request, found=files.material.kind if by_default else None)
    if by_default:
        note(why)
    return Chosen(name, estimator, why)


def _choice(material: Material, request: FitRequest) -> tuple[str, Mapping[str, Any], str]:
    """Return the name of the model to fit, its settings, and why it was chosen."""
    settings = request.settings
    if request.model == AUTO:
        return choose_by_comparing(
            material, settings=settings, standardize=request.standardize, feature_options=request.feature_options
        )
    if request.model is not None:
        return request.model, settings, f"Chosen by {spell(model=None)}."
    choice = choose(material.kind_and_order, features=material.features is not None)
    takes = signature(registry.estimator(choice.model)).parameters
    for key in COMMON:
        if key in settings and key not in takes:
            note(f"{choice.model} has no parameter {key!r}; it is ignored.")
    known = {key: value for key, value in settings.items() if key in takes or key not in COMMON}
    return choice.model, known, reason_for(choice)


def require_comparable(request: FitRequest) -> None:
    """Raise an InputError if an option belongs to one model, where 'auto' compares many."""
    own = [spell(settings={key: ...}) for key in request.settings if key not in COMMON]
    own += [spell(clusters=None)] if request.clusters is not None else []
    named = spell(model=None)
    if own:
        raise InputError(f"{own[0]} belongs to one model, but 'auto' compares many; name one by {named}.")
    for name, path in request.known.items():
        if path is not None:
            needs = f"{spell(**{name: None})} needs a model named by {named}"
            raise InputError(f"{needs}; 'auto' compares models without it.")


@dataclass(frozen=True)
class Beside:
    """What the page shows beside the fit: scores, pictures, ratings and places of the items, and labels given."""

    scores: pd.DataFrame | None
    given: pd.Series | None
    pictures: Pictures | None
    ratings: pd.DataFrame | None
    napping: pd.DataFrame | None
    given_groups: tuple[str, ...] = ()


def read_beside(files: Files, model: str, evidence: ModelInputs) -> Beside:
    """Read what comes beside annotations and features, once it is certain that the results can be written.

    Raises InputError: a file cannot be used, or a result would overwrite an input.
    """
    request, extras = files.request, files.extras
    scores = None if request.scores is None else read_scores(request.scores, evidence.annotations.items)
    require_folder_for(model, request.out, [*request.paths, *extras.paths])
    given = extras.given_labels(evidence.annotations, request.feature_options)
    pictures = extras.read_pictures(evidence.annotations.items, request.feature_options)
    ratings = read_ratings(request.ratings, evidence.annotations, files.sort.left_out)
    napping = read_napping(request.napping, evidence.annotations, files.sort.left_out)
    for text in evidence.notes:
        note(text)
    return Beside(scores, given, pictures, ratings, napping, files.sort.given_groups)


def name_items(evidence: ModelInputs, beside: Beside, names: ItemNames) -> tuple[ModelInputs, Beside]:
    """Give items their texts in all that was read of them."""
    annotations = names.rename_annotations(evidence.annotations)
    known = {key: names.rename_table(value) if key == "gold" else value for key, value in evidence.known.items()}
    return (
        replace(evidence, annotations=annotations, features=names.rename_table(evidence.features), known=known),
        Beside(
            names.rename_table(beside.scores),
            names.rename_table(beside.given),
            names.rename_pictures(beside.pictures),
            names.rename_column(beside.ratings),
            names.rename_column(beside.napping),
            beside.given_groups,
        ),
    )


def require_folder_for(model: str, out: Path, inputs: Sequence[Any]) -> None:
    """Raise an InputError unless the results of a model can be written to a folder without overwriting an input."""
    require_folder(out, possible_files(model), inputs)


def checked_model(name: str, settings: Mapping[str, Any], request: FitRequest, *, found: str | None = None) -> Any:
    """Make the estimator if it takes its settings, number of clusters and further arguments.

    If it was chosen by the kind of annotations in the file, `found`, an error says so. Raises InputError: it does not
    take them.
    """
    try:
        estimator = make_estimator(name, with_clusters(name, settings, request.clusters))
        require_arguments(name, [argument for argument, path in request.known.items() if path is not None])
    except InputError as error:
        if found is None:
            raise
        why = f"{name} was chosen since the file holds {found}; {spell(model=None)} names another."
        if found == "groupings" and any(request.known.values()):
            why += f" If all annotators share the names, read it with {spell(kind='labels')}."
        raise InputError(f"{error} {why}") from error
    return estimator


# ---- the fit and what is said of it


@dataclass(frozen=True)
class Made:
    """A fitted model.

    estimator : fitted, with the steps before it if it takes features
    shown : the same without the step that fills and encodes features
    table : the features after that step, all numbers, or None
    """

    estimator: Any
    shown: Any
    table: pd.DataFrame | None


def fit_model(chosen: Chosen, evidence: ModelInputs, request: FitRequest) -> Made:
    """Fit a model after the steps that prepare its features."""
    table, estimator = evidence.features, chosen.estimator
    standardize = request.standardize and not reads_probabilities(estimator)
    steps = [] if table is None else steps_for(table, request.feature_options, standardize=standardize)
    if registry.entry(chosen.name).kind == "consensus":
        estimator.fit(evidence.annotations, **evidence.known)
        return Made(estimator, estimator, legible(steps, table))
    step = f"{type(estimator).__name__.lower()}__" if steps else ""
    known = {f"{step}{name}": value for name, value in evidence.known.items()}
    estimator = behind(steps, estimator).fit(table, evidence.annotations, **known)
    return Made(estimator, *as_shown(estimator, table))


def judge(made: Made, evidence: ModelInputs, files: Files) -> tuple[Words, Verdict, list[str]]:
    """Return the words for items and annotators, and in them warnings and suggestions, which are noted."""
    legible_evidence, model = replace(evidence, features=made.table), last_step(made.estimator)
    with use_words(Words.of(files.request.words, files.material.read_as)) as words:
        judged = verdict(model, legible_evidence)
        more = suggestions(model, legible_evidence, judged)
    for text in more:
        note(text)
    return words, judged, more


def judge_given_labels(made: Made, evidence: ModelInputs, given: pd.Series | None) -> LabelQuality | None:
    """Judge labels that came with the items, if any did, and note what was found."""
    if given is None:
        return None
    quality = label_quality(made.shown, evidence.annotations, given)
    for text in in_words(quality):
        note(text)
    return quality


# ---- results


@dataclass(frozen=True)
class Said:
    """What a fit says beside its findings.

    why : why the model was chosen
    material, evidence : with notes on how they were read
    """

    warnings: list[str]
    why: str
    material: Material
    evidence: ModelInputs
    suggestions: list[str]
    why_no_certainty: str | None


def write_folder(
    out: Path, estimator: Any, model: str, found: Findings, beside: Beside, said: Said, names: ItemNames | None = None
) -> dict[str, Any]:
    """Write tables, report and the model to a folder, and return its summary, which is written, too."""
    evidence = said.evidence
    with replaced_folder(out) as folder:
        files = [*write_results(estimator, folder, found, names), *write_names(found, evidence.annotations, folder)]
        files += write_ratings(found, beside.ratings, folder, names)
        files = [REPORT, *files, MODEL, SUMMARY]
        facts = found.facts  # before the report, which takes over what is computed by then
        names_shown = ("scores", "pictures", "ratings", "napping", "given_groups")
        shown = {name: getattr(beside, name) for name in names_shown}
        report(found, **shown, warnings=said.warnings, path=folder / REPORT)
        told = {
            "warnings": said.warnings,
            "why": said.why,
            "consilience": consilience.__version__,
            "model": model,
            "read_as": said.material.read_as,
            **facts,
            # what only the files tell
            "n_labels": evidence.annotations.n_rows,
            "n_features": 0 if evidence.features is None else evidence.features.shape[1],
            "notes": [*said.material.notes, *evidence.notes, *said.suggestions],
            "files": {Path(file).stem: str(out / file) for file in files},
            "why_no_certainty": said.why_no_certainty,
        }
        summary = save_summary(folder, told)
    return summary


# ---- what a model takes


def require_arguments(model: str, names: Sequence[str]) -> None:
    """Raise an InputError unless the ``fit`` of a model takes these arguments."""
    for name in names:
        if not _takes(model, name):
            able = [other for other in registry.ESTIMATORS if _takes(other, name)]
            raise InputError(f"{model} takes no {spell(**{name: None})}; {join_names(able)} can use it.")


def _takes(model: str, name: str) -> bool:
    """Whether the ``fit`` of a model takes an argument; False if the model's dependencies are not installed."""
    try:
        return name in signature(registry.estimator(model).fit).parameters
    except MissingDependencyError:
        return False
