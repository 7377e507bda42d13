"""``consilience fit``: evidence from files, a model, and what is written about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

import click
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import registry
from consilience.cli.evidence import read_evidence
from consilience.cli.program import note
from consilience.cli.results import write_results
from consilience.cli.summary import as_lines, summary
from consilience.cli.tables import read_numbers, rows_of
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection import report

AUTO = "auto"


def fit(
    annotations: Path,
    *,
    features: Path | None,
    scores: Path | None,
    reading: Mapping[str, Any],
    known: dict[str, Path | None],
    model: str,
    settings: Mapping[str, Any],
    standardize: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Fit a model to files, write what it found to the folder `out`, and show a summary."""
    if model == AUTO:
        from consilience.cli.comparing import choose

        model, settings = choose(
            *(annotations, features),
            reading=reading,
            known=known,
            settings=settings,
            standardize=standardize,
        )
    estimator = make_estimator(model, settings)
    require_arguments(model, [name for name, path in known.items() if path is not None])
    evidence = read_evidence(annotations, features, reading=reading, known=known, model=model)
    said, table = evidence.annotations, evidence.features
    rated = None if scores is None else rows_of(read_numbers(scores, blanks=True), said.items, scores)
    make_folder(out)
    for text in evidence.notes:
        note(text)
    if registry.entry(model).kind == "consensus":
        estimator.fit(said, **evidence.known)
    else:
        if table is not None and standardize:
            estimator = make_pipeline(StandardScaler().set_output(transform="pandas"), estimator)
        estimator.fit(table, said)

    write_results(estimator, out)
    report(estimator, said, X=table, scores=rated, path=out / "report.html")
    found = summary(estimator, evidence, out)
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    click.echo(text if as_json else as_lines(found))


def make_estimator(name: str, settings: Mapping[str, Any]) -> Any:
    """Make an estimator of the registry that shows its progress.

    Raises
    ------
    InputError
        There is no such estimator, or it has no such parameter.
    """
    made = registry.estimator(name)
    known = signature(made).parameters
    for key in settings:
        if key not in known:
            near = get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            has = ", ".join(known) or "none"
            raise InputError(f"{name} has no parameter {key!r}; it has {has}.{hint}")
    usual = {"verbose": True, "random_state": 0}
    return made(**{key: value for key, value in usual.items() if key in known} | dict(settings))


def require_arguments(model: str, names: Sequence[str]) -> None:
    """Raise an InputError unless the ``fit`` of a model takes these arguments."""
    for name in names:
        if not _takes(model, name):
            able = [other for other in registry.ESTIMATORS if _takes(other, name)]
            raise InputError(f"{model} takes no --{name}; {' and '.join(able)} can use it.")


def _takes(model: str, name: str) -> bool:
    """Whether the ``fit`` of a model takes an argument; no where what the model needs is not installed."""
    try:
        return name in signature(registry.estimator(model).fit).parameters
    except MissingDependencyError:
        return False


def make_folder(path: Path) -> None:
    """Make a folder unless it is there.

    Raises
    ------
    InputError
        There is a file of that name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(f"{path} cannot be a folder, since there is a file of that name.") from error
