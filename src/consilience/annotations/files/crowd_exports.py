"""Tables of the platforms on which crowds work: Toloka, Mechanical Turk, Appen, Label Studio."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.table import Table
from consilience.annotations.files.tool_export import (
    Export,
    are_blank,
    keep_rows,
    means_same,
    only_column,
    pair_of,
    with_columns,
)
from consilience.annotations.files.values import as_texts
from consilience.annotations.files.vocabulary import normal, pair_sides
from consilience.errors import AnnotationError


def toloka(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read results of Toloka: one answer per row, or groups of the images on a sheet."""
    tool, frame = "Toloka results", table.frame
    if not any(column.startswith("ASSIGNMENT:") for column in table.columns):
        raise AnnotationError("This is a file of Toloka tasks; it has no answers. Download the results.")
    table, _ = keep_rows(table, ~np.logical_and.reduce([are_blank(frame[column]) for column in table.columns]), "")
    notes: tuple[str, ...] = ()
    if "ASSIGNMENT:status" in table.columns:
        status = table.frame["ASSIGNMENT:status"].astype(str).str.strip().str.upper()
        table, notes = keep_rows(table, np.asarray(status != "REJECTED"), "of rejected assignments")
    if "ASSIGNMENT:worker_id" not in table.columns:
        raise AnnotationError(
            "This file of Toloka results has no column 'ASSIGNMENT:worker_id'; download it with that column."
        )
    inputs = [column for column in table.columns if column.startswith("INPUT:") and column not in request.ignore]
    outputs = [column for column in table.columns if column.startswith("OUTPUT:") and column not in request.ignore]
    answer = request.columns.get("label") or request.columns.get("group") or request.columns.get("same")
    answer = answer or only_column(outputs, "label", tool, table)
    nouns = {"annotator": "worker"}
    if table.frame[answer].astype(str).str.contains(r'"group"\s*:').any():
        item = request.columns.get("item") or only_column(inputs, "item", tool, table)
        sheets = _toloka_sheets(table, item, answer)
        return Export("Toloka grouping tasks", sheets, replace(request, columns={}), nouns | {"item": "image"}, notes)
    pair = pair_of(inputs, lambda column: column.removeprefix("INPUT:"))
    if pair and means_same(table.frame[answer]):
        request = with_columns(request, item=pair[0], item_b=pair[1], annotator="ASSIGNMENT:worker_id", same=answer)
        return Export(tool, table, request, nouns, notes)
    if pair and _is_preference(table.frame[answer], pair, table):
        raise AnnotationError(
            f"The answers in {answer!r} say which of two items was preferred, not whether they are the same; they "
            "cannot be clustered."
        )
    task = "ASSIGNMENT:task_id" if "ASSIGNMENT:task_id" in table.columns and len(inputs) != 1 else None
    item = request.columns.get("item") or task or only_column(inputs, "item", tool, table)
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    request = with_columns(request, item=item, annotator="ASSIGNMENT:worker_id", **value)
    return Export(tool, table, request, nouns | {"item": "task"}, notes)


def _is_preference(column: pd.Series, pair: tuple[str, str], table: Table) -> bool:
    """Whether answers are left or right, or one of the two items."""
    texts = column.astype(str).str.strip()
    chosen = [texts == table.frame[side].astype(str).str.strip() for side in pair]
    return bool(texts.str.casefold().isin({"left", "right"}).all() or (chosen[0] | chosen[1]).all())


def _toloka_sheets(table: Table, item: str, answer: str) -> Table:
    """Return a long table of the images on each sheet and their groups; each sheet is a grouping."""
    rows, places = [], []
    frame = table.frame
    sheet = frame["ASSIGNMENT:assignment_id"] if "ASSIGNMENT:assignment_id" in table.columns else None
    names = list(range(len(frame))) if sheet is None or not sheet.is_unique else sheet.tolist()
    for row, (images, groups, worker) in enumerate(zip(frame[item], frame[answer], frame["ASSIGNMENT:worker_id"])):
        pictures = _toloka_list(images, item, table.where, row)
        given = _toloka_list(groups, answer, table.where, row)
        if len(pictures) != len(given):
            raise AnnotationError(
                f"{table.where(row)} has {len(pictures)} images in {item!r} and {len(given)} groups in {answer!r}."
            )
        for picture, group in zip(pictures, given):
            number = group.get("group") if isinstance(group, dict) else group
            rows.append((picture, worker, names[row], number))
            places.append(row)
    where = table.where
    long = pd.DataFrame(rows, columns=["image", "worker", "sort", "group"], dtype=object)
    return replace(table, frame=long, where=lambda row: where(places[row]), is_text=False, spells_missing=False)


def _toloka_list(cell: Any, column: str, where: Callable[[int], str], row: int) -> list[Any]:
    """Read a list as Toloka writes it: JSON without its brackets, perhaps with quotation marks doubled or escaped."""
    text = str(cell).strip()
    # quotes are doubled or escaped if a program wrote the table again
    undone = text.replace('""', '"').replace("\\", "")
    for attempt in (text, f"[{text}]", undone, f"[{undone}]"):
        try:
            found = json.loads(attempt)
        except ValueError:
            continue
        if isinstance(found, list):
            return found
    if "{" not in text and text:
        return [part.strip() for part in text.split(",")]
    raise AnnotationError(f"{column!r} in {where(row)} is not a list as Toloka writes it: {text[:60]!r}.")


def mechanical_turk(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read a batch result file of Mechanical Turk, or of Turkle."""
    tool, frame = "Mechanical Turk results", table.frame
    rejected = np.zeros(len(frame), dtype=bool)
    if "AssignmentStatus" in table.columns:
        rejected |= np.asarray(frame["AssignmentStatus"].astype(str).str.strip().str.casefold() == "rejected")
    for column in ("RejectionTime", "Reject"):
        if column in table.columns:
            rejected |= ~are_blank(frame[column])
    table, notes = keep_rows(table, ~rejected, "of rejected assignments")
    worker = "Turkle.Username" if "Turkle.Username" in table.columns else "WorkerId"
    inputs = [column for column in table.columns if column.startswith("Input.") and column not in request.ignore]
    answers = [column for column in table.columns if column.startswith("Answer.") and column not in request.ignore]
    answer = request.columns.get("label") or request.columns.get("same") or request.columns.get("group")
    answer = answer or only_column([column for column in answers if not _is_remark(column)], "label", tool, table)
    if answer == "Answer.taskAnswers":
        table = _task_answers(table, answer)
    nouns = {"annotator": "worker", "item": "task"}
    pair = pair_of(inputs, lambda column: column.removeprefix("Input."))
    if pair and means_same(table.frame[answer]):
        request = with_columns(request, item=pair[0], item_b=pair[1], annotator=worker, same=answer)
        return Export(tool, table, request, {"annotator": "worker"}, notes)
    item = request.columns.get("item") or (inputs[0] if len(inputs) == 1 else "HITId")
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    return Export(tool, table, with_columns(request, item=item, annotator=worker, **value), nouns, notes)


def _is_remark(column: str) -> bool:
    return normal(column).split()[-1] in {"comment", "comments", "feedback", "remarks", "suggestions", "notes"}


def _task_answers(table: Table, column: str) -> Table:
    """Replace the JSON of a form of Mechanical Turk by its only answer."""
    found = []
    for row, cell in enumerate(table.frame[column]):
        try:
            (form,) = json.loads(cell)
            ((_, answer),) = form.items()
            found.append(_answer_in(answer))
        except (ValueError, TypeError, AttributeError):
            raise AnnotationError(
                f"{column!r} in {table.where(row)} does not contain a single answer: {str(cell)[:80]!r}. Write each "
                "answer to its own column."
            ) from None
    return replace(table, frame=table.frame.assign(**{column: found}))


def _answer_in(answer: Any) -> Any:
    if isinstance(answer, dict) and "label" in answer:
        answer = answer["label"]
    if isinstance(answer, dict):
        if answer.keys() == {"labels"}:
            answer = answer["labels"]
        else:
            (answer,) = [choice for choice, chosen in answer.items() if chosen is True]
    if not all(isinstance(label, str | int) for label in (answer if isinstance(answer, list) else [answer])):
        raise TypeError(answer)
    return answer


def appen(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read a full report of Appen, formerly Figure Eight and CrowdFlower."""
    # R puts an X before names that begin with an underscore
    table = replace(table, frame=table.frame.rename(columns=lambda column: re.sub(r"^X(?=_)", "", str(column))))
    if "_worker_id" not in table.columns:
        raise AnnotationError("This is Appen's aggregated report, which names no annotators; download the full report.")
    notes: tuple[str, ...] = ()
    if "_tainted" in table.columns:
        tainted = table.frame["_tainted"].astype(str).str.strip().str.casefold() == "true"
        table, notes = keep_rows(table, np.asarray(~tainted), "of flagged contributors (_tainted)")
    answer = request.columns.get("label") or request.columns.get("same") or request.columns.get("group")
    if not answer:
        answers = [
            column for column in table.columns if f"{column}_gold" in table.columns and column not in request.ignore
        ]
        answer = only_column(answers, "label", "Appen", table)
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    request = with_columns(request, item="_unit_id", annotator="_worker_id", **value)
    return Export("Appen full report", table, request, {"item": "unit", "annotator": "contributor"}, notes)


STUDIO_COLUMNS = {"annotation_id", "annotator", "created_at", "updated_at", "lead_time", "id", "agreement", "history"}


def label_studio_table(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read Label Studio's CSV, or its JSON-MIN: one annotation per row."""
    tool = "Label Studio table"
    answer = request.columns.get("label") or request.columns.get("group") or request.columns.get("same")
    if not answer:
        rest = [str(column) for column in table.columns if column not in STUDIO_COLUMNS | set(request.ignore)]
        shown = {column for pair in pair_sides(rest) for column in pair[:2]}
        answers = [column for column in rest if column not in shown and not _belongs_to_task(table, column)]
        _refuse_short_forms(table, rest)
        candidates = answers or [column for column in rest if column not in shown]
        answer = only_column(candidates, "label", "Label Studio", table)
    frame = table.frame.assign(**{answer: [_choices(cell) for cell in table.frame[answer]]})
    pairs = pair_sides([column for column in table.columns if column not in STUDIO_COLUMNS | {answer, *request.ignore}])
    if len(pairs) == 1 and means_same(frame[answer]):
        request = with_columns(request, item=pairs[0][0], item_b=pairs[0][1], annotator="annotator", same=answer)
        return Export(f"{tool} of pairs", replace(table, frame=frame), request)
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    request = with_columns(request, item="id", annotator="annotator", **value)
    return Export(tool, replace(table, frame=frame), request, {"item": "task"})


def _refuse_short_forms(table: Table, columns: list[str]) -> None:
    """Raise an AnnotationError for results that this export contains only in part, or that are preferences."""
    for column in columns:
        if _holds(table.frame[column], "ranker"):
            raise AnnotationError(
                "This export of Label Studio contains results of a Ranker in a short form; export JSON instead of "
                "JSON-MIN or CSV."
            )
        if _holds(table.frame[column], "selected"):
            raise AnnotationError(
                "This export of Label Studio contains results of Pairwise, which say which of two items was preferred, "
                "not whether they are the same; use Choices instead."
            )


def _belongs_to_task(table: Table, column: str) -> bool:
    """Whether a column belongs to the task, not the annotation: one value per task, a different one for each task."""
    texts = as_texts(table.frame[column])
    per_task = texts.groupby(table.frame["id"].astype(str)).nunique()
    return bool((per_task <= 1).all() and texts.nunique() == len(per_task))


def _holds(column: pd.Series, key: str) -> bool:
    """Whether cells contain JSON, parsed or not, with a given key."""
    return any(f'"{key}"' in cell or f"'{key}'" in cell for cell in map(str, column.dropna().head(50)))


def _choices(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith('{"choices"'):
        try:
            cell = json.loads(cell)
        except ValueError:
            raise AnnotationError(f"A cell of Label Studio's choices is truncated: {cell[:60]!r}.") from None
    return cell["choices"] if isinstance(cell, dict) and "choices" in cell else cell
