"""``consilience fit``: evidence from files, a model, and what is written about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import read_annotations, registry, save
from consilience.annotations import Groupings, Labels
from consilience.annotations.names import plain
from consilience.cli.program import note, others
from consilience.cli.summary import as_lines, summary
from consilience.cli.tables import named_as, read_numbers, rows_of, write_table
from consilience.errors import InputError
from consilience.inspection import report

LISTED = 5  # names in a note


@dataclass(frozen=True)
class Evidence:
    """What a model learns from, items in one order.

    Attributes
    ----------
    groupings : Groupings
    features : DataFrame, shape (n_items, n_features), or None
    notes : list of str
        What the user should know about them.
    """

    groupings: Groupings
    features: pd.DataFrame | None
    notes: list[str]


def fit(
    annotations: Path,
    *,
    features: Path | None,
    scores: Path | None,
    kind: str | None,
    column: str | None,
    model: str,
    settings: Mapping[str, Any],
    standardize: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Fit a model to files, write what it found to the folder `out`, and show a summary."""
    estimator = make_estimator(model, settings)
    evidence = read_evidence(annotations, features, kind=kind, column=column, model=model)
    rated = None if scores is None else rows_of(read_numbers(scores, blanks=True), evidence.groupings.items, scores)
    make_folder(out)
    for text in evidence.notes:
        note(text)
    if evidence.features is not None and standardize:
        estimator = make_pipeline(StandardScaler().set_output(transform="pandas"), estimator)
    estimator.fit(evidence.features, evidence.groupings)

    write_results(estimator, out)
    report(estimator, evidence.groupings, X=evidence.features, scores=rated, path=out / "report.html")
    found = summary(estimator, evidence.groupings, evidence.features, evidence.notes, out)
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
            raise InputError(f"{name} has no parameter {key!r}; it has {', '.join(known)}.{hint}")
    usual = {"verbose": True, "random_state": 0}
    return made(**{key: value for key, value in usual.items() if key in known} | dict(settings))


def read_evidence(
    annotations: Path, features: Path | None, *, kind: str | None, column: str | None, model: str
) -> Evidence:
    """Read annotations and features for a model, and bring their items together.

    Raises
    ------
    InputError
        A file that cannot be read, annotations that the model does not take, or items that do not fit.
    """
    groupings, notes = read_groupings(annotations, kind=kind, column=column, model=model)
    notes += _of_one_label(groupings)
    if features is None:
        unsaid = groupings.summary().n_unannotated_items
        if unsaid:
            notes.append(f"Items without annotations: {unsaid:,} of {len(groupings):,}; nothing tells their cluster.")
        return Evidence(groupings, None, notes)
    table = named_as(read_numbers(features), groupings.items)
    constant = table.columns[np.ptp(table.to_numpy(), axis=0) == 0]
    if len(constant):
        verbs = ("is constant and carries", "are constant and carry")
        notes.append(f"{_subject(constant, 'feature', verbs)} no information.")
    groupings, more = _over(groupings, table.index, annotations, features)
    return Evidence(groupings, table, notes + more)


def read_groupings(path: Path, *, kind: str | None, column: str | None, model: str) -> tuple[Groupings, list[str]]:
    """Read annotations as groupings, and say what was made of them.

    Raises
    ------
    InputError
        The file cannot be read, or holds annotations that the model does not take.
    """
    reads = registry.entry(model).reads
    said: Any = read_annotations(path, kind=kind, item_column=column)
    found = type(said).__name__.lower()
    if found not in reads:
        raise InputError(f"{path}: {model} reads {' or '.join(reads)}, and the file holds {found}.")
    if isinstance(said, Labels):
        text = f"The labels were turned into groupings, since {model} learns what each annotator's labels stand for."
        return said.to_groupings(), [text]
    return said, []


def _of_one_label(groupings: Groupings) -> list[str]:
    sizes = groupings.summary().groups_per_grouping
    largest = sizes.groupby(level="annotator", sort=False).max()  # type: ignore[union-attr]
    names = largest.index[largest == 1]
    if names.empty:
        return []
    return [f"{_subject(names, 'annotator', ('gave', 'gave'))} one label only, which carries no information."]


def _over(groupings: Groupings, items: pd.Index, annotations: Path, features: Path) -> tuple[Groupings, list[str]]:
    """Groupings over the items that have features, and what that changed."""
    per_item = groupings.summary().annotators_per_item
    absent = ~groupings.items.isin(items)
    if absent.all():
        raise InputError(
            f"No item of {annotations} (such as {plain(groupings.items[0])!r}) is in {features} "
            f"(such as {plain(items[0])!r})."
        )
    without = groupings.items[absent & (per_item > 0).to_numpy()]
    if len(without):
        raise InputError(
            f"The item {plain(without[0])!r} has annotations in {annotations} but no row in {features}"
            f"{others(len(without), ', and so have')}."
        )
    notes = []
    if absent.any():
        notes.append(f"Items with neither annotations nor features, left out: {absent.sum():,}.")
    groupings = groupings.reindex(items)
    unsaid = groupings.summary().n_unannotated_items
    if unsaid:
        notes.append(f"Items without annotations: {unsaid:,} of {len(items):,}; clustered by their features.")
    return groupings, notes


def _subject(names: pd.Index, what: str, verbs: tuple[str, str]) -> str:
    """Begin a sentence on one thing or several."""
    if len(names) == 1:
        return f"The {what} {plain(names[0])!r} {verbs[0]}"
    shown = ", ".join(repr(plain(name)) for name in names[:LISTED])
    more = ", …" if len(names) > LISTED else ""
    return f"{len(names)} {what}s ({shown}{more}) {verbs[1]}"


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


def write_results(estimator: Any, out: Path) -> None:
    """Write tables of items, annotators and labels, and the model."""
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    clusters = pd.DataFrame(
        {"item": model.items_, "cluster": model.labels_, "probability": model.responsibilities_.max(1)}
    )
    names = model.annotator_mapping_["clusters"].map(lambda clusters: " ".join(map(str, clusters)))
    write_table(clusters, out / "clusters.csv")
    write_table(model.annotators_.reset_index(), out / "annotators.csv")
    write_table(model.annotator_mapping_.assign(clusters=names), out / "mapping.csv")
    save(estimator, out / "model.zip")
