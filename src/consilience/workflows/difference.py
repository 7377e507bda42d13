"""Whether two studies of the same items differ, and what moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import consilience
from consilience.analysis.names import quantify
from consilience.analysis.words import Words, read_as
from consilience.annotations.files.sources import STANDARD_INPUT
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.inspection import StudyDifference, difference_report, study_difference
from consilience.inspection.studies.sections import findings
from consilience.workflows.inputs import read_for_model
from consilience.workflows.item_names import read_item_names
from consilience.workflows.jobs import DifferenceRequest, Result
from consilience.workflows.notes import note
from consilience.workflows.outputs import require_folder, save_summary, write_table
from consilience.workflows.people import two_segments
from consilience.workflows.reading import is_standard_input, name_source
from consilience.workflows.result_folder import OF_DIFFERENCE, replaced_folder

MODEL = "SubsetFusion"  # which reads what can be compared


@dataclass(frozen=True)
class DifferenceResult(Result):
    """Whether two studies of the same items differ, and what moved.

    Attributes
    ----------
    summary, text : as in `Result`
    difference : StudyDifference
        As `consilience.inspection.study_difference` returns it.
    """

    difference: StudyDifference


def compare_studies(request: DifferenceRequest) -> DifferenceResult:
    """Compare two studies, and write the results to a folder.

    Parameters
    ----------
    request : DifferenceRequest

    Returns
    -------
    DifferenceResult

    Raises
    ------
    InputError
        Files or options cannot be used.
    """
    out = request.out
    if request.certainty_draws == 1:
        raise InputError(f"{spell(certainty_draws=None)} must be 0, or at least 2.")
    chosen = None if request.words is None else Words.of(request.words)
    require_folder(out, OF_DIFFERENCE, [request.first, request.second, request.item_names, request.people])
    studies, called, notes = read_studies(request)
    found = study_difference(
        *studies,
        names=called,
        same_people=request.same_people,
        n_clusters="auto" if request.clusters is None else request.clusters,
        n_permutations=request.permutations,
        n_draws=request.certainty_draws,
        random_state=request.seed,
    )
    for text in found.notes:
        note(text.replace("If they are the same people, say so, and", f"With {spell(same_people=True)},"))
    used = chosen or Words.of(None, read_as(studies[0]))
    with replaced_folder(out) as folder:
        for file, table in tables_of(found).items():
            write_table(table, folder / file)
        difference_report(found, words=used, path=folder / "report.html")
        summary = save_summary(folder, summary_of(found, used, out) | {"notes": notes + found.notes})
    text = "\n".join([*findings(found, used), f"Report and tables: {out}"])
    return DifferenceResult(summary, text, found)


def read_studies(request: DifferenceRequest) -> tuple[list[Any], tuple[str, str], list[str]]:
    """Return the two studies, what they are called, and notes on how they were read.

    Raises InputError: files or options cannot be used, or there are neither two studies nor two segments of one.
    """
    first, second = request.first, request.second
    if (request.people is None) != (request.by is None):
        given, lacking = ("by", "people") if request.people is None else ("people", "by")
        raise InputError(f"{spell(**{given: None})} needs {spell(**{lacking: ...})}, too.")
    if (second is None) == (request.by is None):
        raise InputError(
            f"Give two studies, or one study with {spell(people=...)} and {spell(by=...)}, which divide it."
        )
    if second is None:
        return _read_segments(request)
    if is_standard_input(first) and is_standard_input(second):
        raise InputError("Standard input is one study; give a file for the other.")
    called = names_of(first, second, request.names)
    one, notes = _read(first, called[0], request)
    other, more = _read(second, called[1], request)
    return [one, other], called, notes + more


def _read_segments(request: DifferenceRequest) -> tuple[list[Any], tuple[str, str], list[str]]:
    study, notes = _read(request.first, "The study", request)
    people: Any = request.people
    segments = two_segments(people, str(request.by), study.annotators)
    parts = []
    for name, kept in segments.items():
        if kept.empty:
            raise InputError(f"{people}: No annotator of the study is in the segment {name!r}.")
        parts.append(study.leave_out(study.annotators.difference(kept)))
        note(f"{name}: {len(kept):,} of {quantify(study.n_annotators, 'annotator')}.")
    one, other = segments if request.names is None else names_of(None, None, request.names)
    return parts, (one, other), notes


def names_of(first: Any, second: Any, names: Sequence[str] | None) -> tuple[str, str]:
    """Return the names of the studies: those given, else those of the files, if they differ.

    Raises InputError: not two different names were given.

    Examples
    --------
    >>> names_of(Path("a/before.csv"), Path("after.csv.gz"), None), names_of(Path("a/s.csv"), Path("b/s.csv"), None)
    (('before', 'after'), ('first', 'second'))
    """
    if names is None:
        stems = [source.name.split(".")[0] or source.name for source in (first, second) if isinstance(source, Path)]
        usable = len(set(stems)) == 2 and STANDARD_INPUT not in stems
        return (stems[0], stems[1]) if usable else ("first", "second")
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise InputError(
            f"{spell(names=None)} must be two different names separated by a comma, such as before,after. Got "
            f"{','.join(names)!r}."
        )
    return names[0], names[1]


def _read(source: Any, name: str, request: DifferenceRequest) -> tuple[Any, list[str]]:
    """Read one study, with the texts of its items; messages say which study it is."""
    note(f"{name_source(source) if isinstance(source, Path) else name}:")
    annotations, notes = read_for_model(source, reading=request.reading, model=MODEL)
    for text in notes:
        note(text)
    texts = read_item_names(request.item_names, annotations.items)
    return annotations if texts is None else texts.rename_annotations(annotations), notes


def tables_of(found: StudyDifference) -> dict[str, pd.DataFrame]:
    """Return the tables of results by file name."""
    one, other = found.names
    flow = found.flow.rename_axis(index="cluster_first", columns=None).reset_index()
    flow = flow.melt("cluster_first", var_name="cluster_second", value_name="n_items").sort_values("cluster_first")
    items = found.items.rename(columns={"first": "cluster_first", "second": "cluster_second"}).reset_index()
    lone = [
        pd.DataFrame({"item": only, "only_in": name})
        for name, only in zip((one, other), (found.only_first, found.only_second), strict=True)
        if len(only)
    ]
    return {
        "items.csv": pd.concat([items.assign(only_in=None), *lone], ignore_index=True) if lone else items,
        "pairs.csv": found.pairs,
        "flow.csv": flow[flow["n_items"] > 0],
        "agreement.csv": found.agreement.rename_axis("people").reset_index(),
        "power.csv": found.power.reset_index(),
    }


def summary_of(found: StudyDifference, words: Words, out: Path) -> dict[str, Any]:
    """Return the result as plain values; null for a missing number."""
    return {
        "consilience": consilience.__version__,
        "names": list(found.names),
        "differ": found.differ,
        "answer": findings(found, words),
        "p_value": found.p_value,
        "n_permutations": found.n_permutations,
        "n_annotators": list(found.n_people),
        "n_same_people": found.n_same_people,
        "n_items": len(found.items),
        "moved": [plain(name) for name in found.moved],
        "p_rest": found.p_rest,
        "detectable": found.detectable,
        "correlation": _number(found.correlation),
        "usual_correlation": _number(found.usual_correlation),
        "low_correlation": _number(found.low_correlation),
        "agreement": {
            str(name): {key: _number(value) for key, value in row.items()}
            for name, row in found.agreement.to_dict("index").items()
        },
        "only_first": [plain(name) for name in found.only_first],
        "only_second": [plain(name) for name in found.only_second],
        "folder": str(out),
    }


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
