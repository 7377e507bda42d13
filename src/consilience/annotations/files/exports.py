"""Tables as other tools export them: rows that do not count are left out, lists are split, and columns identified.

Each function takes a table of one tool and returns it with the meaning of its columns, so that the user need not give
it.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.sameness import DIFFERENT, SAME
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import as_texts, is_number, quantify
from consilience.annotations.files.vocabulary import normal, pair_sides, role_of_name
from consilience.annotations.keywords import spell
from consilience.errors import AnnotationError


@dataclass(frozen=True)
class Export:
    """A table of a known tool.

    Attributes
    ----------
    tool : str
        Description of the table, for messages.
    table : Table
    request : Request
        What the caller specified, completed by what is known of the tool's columns.
    nouns : dict of str to str
        What items and annotators are called in messages.
    notes : tuple of str
        What was left out.
    """

    tool: str
    table: Table
    request: ReadingRequest
    nouns: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def known_export(table: Table, request: ReadingRequest, name: str) -> Export | None:
    """Return the table of a known tool with the meaning of its columns; None if it is not one.

    Raises AnnotationError: the table is of a known tool, but contains no annotators or several questions.

    Parameters
    ----------
    table : Table
    request : Request
    name : str
        The file's name, which in some exports is that of the annotator.
    """
    columns = {str(column) for column in table.columns}
    for is_it, read in EXPORTS:
        if is_it(columns) and (found := read(table, request, name)) is not None:
            return found
    return grid_survey(table, request)


def _has(*names: str) -> Callable[[set[str]], bool]:
    return lambda columns: set(names) <= columns


def _starts(prefix: str) -> Callable[[set[str]], bool]:
    return lambda columns: any(column.startswith(prefix) for column in columns)


def _blank(column: pd.Series) -> np.ndarray:
    return np.asarray(column.isna() | (column.astype(str).str.strip() == ""), dtype=bool)


def _keep(table: Table, kept: np.ndarray, what: str) -> tuple[Table, tuple[str, ...]]:
    n_left_out = int((~kept).sum())
    if not n_left_out:
        return table, ()
    return table.rows(np.flatnonzero(kept)), (f"{quantify(n_left_out, 'row')} {what} left out",)


def _with(request: ReadingRequest, **columns: Any) -> ReadingRequest:
    return replace(
        request, columns={role: column for role, column in columns.items() if column is not None} | request.columns
    )


def _only(columns: list[str], role: str, tool: str, table: Table) -> str:
    """Return the only column that can have a role.

    Raises AnnotationError: there is no such column, or there are several.
    """
    filled = [column for column in columns if not _blank(table.frame[column]).all()]
    if len(filled) == 1:
        return filled[0]
    what = {"label": "answers", "item": "items"}[role]
    if not filled:
        raise AnnotationError(f"This file of {tool} has no column of {what}.")
    shown = ", ".join(map(repr, filled[:6])) + (", …" if len(filled) > 6 else "")
    raise AnnotationError(
        f"This file of {tool} has several columns of {what}: {shown}. Name one: {role}={filled[0]!r} "
        f"(--{role} '{filled[0]}')."
    )


def _pair_of(columns: list[str], strip: Callable[[str], str]) -> tuple[str, str] | None:
    bare = {strip(column): column for column in columns}
    pairs = pair_sides(list(bare))
    return (bare[pairs[0][0]], bare[pairs[0][1]]) if len(pairs) == 1 and len(columns) == 2 else None


def _means_same(column: pd.Series) -> bool:
    words = {str(value).strip().casefold() for value in column if str(value).strip()}
    return bool(words) and words <= SAME | DIFFERENT


def toloka(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read results of Toloka: one answer per row, or groups of the images on a sheet."""
    tool, frame = "Toloka results", table.frame
    if not any(column.startswith("ASSIGNMENT:") for column in table.columns):
        raise AnnotationError("This is a file of Toloka tasks; it has no answers. Download the results.")
    table, _ = _keep(table, ~np.logical_and.reduce([_blank(frame[column]) for column in table.columns]), "")
    notes: tuple[str, ...] = ()
    if "ASSIGNMENT:status" in table.columns:
        status = table.frame["ASSIGNMENT:status"].astype(str).str.strip().str.upper()
        table, notes = _keep(table, np.asarray(status != "REJECTED"), "of rejected assignments")
    if "ASSIGNMENT:worker_id" not in table.columns:
        raise AnnotationError(
            "This file of Toloka results has no column 'ASSIGNMENT:worker_id'; download it with that column."
        )
    inputs = [column for column in table.columns if column.startswith("INPUT:") and column not in request.ignore]
    outputs = [column for column in table.columns if column.startswith("OUTPUT:") and column not in request.ignore]
    answer = request.columns.get("label") or request.columns.get("group") or request.columns.get("same")
    answer = answer or _only(outputs, "label", tool, table)
    nouns = {"annotator": "worker"}
    if table.frame[answer].astype(str).str.contains(r'"group"\s*:').any():
        item = request.columns.get("item") or _only(inputs, "item", tool, table)
        sheets = _toloka_sheets(table, item, answer)
        return Export("Toloka grouping tasks", sheets, replace(request, columns={}), nouns | {"item": "image"}, notes)
    pair = _pair_of(inputs, lambda column: column.removeprefix("INPUT:"))
    if pair and _means_same(table.frame[answer]):
        request = _with(request, item=pair[0], item_b=pair[1], annotator="ASSIGNMENT:worker_id", same=answer)
        return Export(tool, table, request, nouns, notes)
    if pair and _is_preference(table.frame[answer], pair, table):
        raise AnnotationError(
            f"The answers in {answer!r} say which of two items was preferred, not whether they are the same; they "
            "cannot be clustered."
        )
    task = "ASSIGNMENT:task_id" if "ASSIGNMENT:task_id" in table.columns and len(inputs) != 1 else None
    item = request.columns.get("item") or task or _only(inputs, "item", tool, table)
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    request = _with(request, item=item, annotator="ASSIGNMENT:worker_id", **value)
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
            rejected |= ~_blank(frame[column])
    table, notes = _keep(table, ~rejected, "of rejected assignments")
    worker = "Turkle.Username" if "Turkle.Username" in table.columns else "WorkerId"
    inputs = [column for column in table.columns if column.startswith("Input.") and column not in request.ignore]
    answers = [column for column in table.columns if column.startswith("Answer.") and column not in request.ignore]
    answer = request.columns.get("label") or request.columns.get("same") or request.columns.get("group")
    answer = answer or _only([column for column in answers if not _is_remark(column)], "label", tool, table)
    if answer == "Answer.taskAnswers":
        table = _task_answers(table, answer)
    nouns = {"annotator": "worker", "item": "task"}
    pair = _pair_of(inputs, lambda column: column.removeprefix("Input."))
    if pair and _means_same(table.frame[answer]):
        request = _with(request, item=pair[0], item_b=pair[1], annotator=worker, same=answer)
        return Export(tool, table, request, {"annotator": "worker"}, notes)
    item = request.columns.get("item") or (inputs[0] if len(inputs) == 1 else "HITId")
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    return Export(tool, table, _with(request, item=item, annotator=worker, **value), nouns, notes)


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
    if not isinstance(answer, str | int) and not _is_list_of_labels(answer):
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
        table, notes = _keep(table, np.asarray(~tainted), "of flagged contributors (_tainted)")
    answer = request.columns.get("label") or request.columns.get("same") or request.columns.get("group")
    if not answer:
        answers = [
            column for column in table.columns if f"{column}_gold" in table.columns and column not in request.ignore
        ]
        answer = _only(answers, "label", "Appen", table)
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    request = _with(request, item="_unit_id", annotator="_worker_id", **value)
    return Export("Appen full report", table, request, {"item": "unit", "annotator": "contributor"}, notes)


def _is_list_of_labels(answer: Any) -> bool:
    return isinstance(answer, list) and all(isinstance(label, str | int) for label in answer)


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
        answer = _only(candidates, "label", "Label Studio", table)
    frame = table.frame.assign(**{answer: [_choices(cell) for cell in table.frame[answer]]})
    pairs = pair_sides([column for column in table.columns if column not in STUDIO_COLUMNS | {answer, *request.ignore}])
    if len(pairs) == 1 and _means_same(frame[answer]):
        request = _with(request, item=pairs[0][0], item_b=pairs[0][1], annotator="annotator", same=answer)
        return Export(f"{tool} of pairs", replace(table, frame=frame), request)
    value = {} if {"label", "group", "same"} & request.columns.keys() else {"label": answer}
    request = _with(request, item="id", annotator="annotator", **value)
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


def usage_judgements(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read judgements of word usages (DURel, WUG), in which 0 means that the annotator could not decide."""
    columns = {str(column).casefold(): column for column in table.columns}
    request = replace(request, missing=("0",) if request.missing is None else request.missing)
    request = _with(
        request,
        item=columns["identifier1"],
        item_b=columns["identifier2"],
        annotator=columns.get("annotator"),
        same=columns["judgment"],
    )
    notes = ("judgements of 0, which mean that the annotator could not decide, are left out",)
    zeros = pd.to_numeric(table.frame[columns["judgment"]].astype(str).str.strip(), errors="coerce") == 0
    return Export("judgements of word usages", table, request, {"item": "use"}, notes if zeros.any() else ())


def mural(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read a board of Mural: the stickies in each area are the groups of one person."""
    texts = table.frame["Text"].astype(str).map(html.unescape).str.strip()
    again = texts.duplicated(keep=False) & (texts != "")
    texts = texts.where(~again, texts + " (" + table.frame["ID"].astype(str) + ")")
    frame = pd.DataFrame({"card": texts, "group": table.frame["Area"], "person": PurePath(name).stem})
    table, notes = _keep(replace(table, frame=frame), np.asarray(texts != ""), "without a text")
    table = table.rows(np.argsort(_blank(table.frame["group"]), kind="stable"))
    return Export("board of Mural, one person's sort", table, replace(request, columns={}), {"item": "card"}, notes)


def qualtrics(table: Table, request: ReadingRequest, name: str) -> Export | None:
    """Read a survey of Qualtrics, with names of columns in three rows, and one row per respondent."""
    frame = table.frame
    # below the names come the texts of the questions, then their ImportIds
    if len(frame) < 3 or not frame.iloc[1].astype(str).str.contains("ImportId").any():
        return None
    texts = dict(zip(frame.columns, frame.iloc[0].astype(str)))
    table = table.rows(np.arange(2, len(frame)))
    questions = [column for column in table.columns if re.match(r"Q\d", str(column)) and column not in request.ignore]
    stems = {re.split(r"[_#.]", str(column))[0] for column in questions}
    if len(stems) > 1 and not request.columns:
        shown = ", ".join(sorted(stems)[:6])
        raise AnnotationError(
            f"This survey of Qualtrics has several questions: {shown}. Leave out those that are not sorting tasks: "
            f"{spell(ignore=[f'{sorted(stems)[-1]}*'])}."
        )
    cards = {column: re.split(r"\s-\s", texts[column])[-1].removesuffix(":Right").strip() for column in questions}
    if len(set(cards.values())) == len(cards) and all(cards.values()):
        table = replace(table, frame=table.frame.rename(columns=cards))
    else:
        cards = {column: column for column in questions}
    others = tuple(c for c in table.columns if c not in cards.values() and c != "ResponseId")
    request = _with(replace(request, ignore=others), annotator="ResponseId")
    notes = (f"{quantify(len(others), 'column')} other than the cards left out",)
    return Export("survey of Qualtrics", table, request, {"annotator": "respondent", "item": "card"}, notes)


APOSTROPHE = re.compile(r"'(?=[=+\-@\t\r])")  # put before text that a spreadsheet would run as a formula
OF_SERVER = (
    "item",
    "annotator",
    "grouping",
    "group",
    "group_name",
    "source",
    "submitted",
    "preview",
    "excluded",
    "text",
)


UNCOUNTED = ("practice", "admission", "gold", "repeat")  # sources that the server leaves out of its results


def own_server(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read sorts that our server collected, as it reads them: without what does not count.

    A closed sort is read as labels, with all categories of the study.
    """
    table, uncounted = _counted_by_server(table)
    frame = table.frame
    if table.is_text:
        frame = frame.apply(lambda column: column.map(lambda cell: APOSTROPHE.sub("", cell, count=1) if cell else cell))
    given = {kind: f"{kind}_categories" for kind in ("closed", "hybrid") if f"{kind}_categories" in frame}
    notes: tuple[str, ...] = ()
    if "closed" in given and request.kind in (None, "labels") and not request.columns and len(frame):
        categories = json.loads(str(frame[given["closed"]].iloc[0]))
        request = replace(request, kind="labels", columns={"label": "group"}, classes=tuple(categories))
    if "hybrid" in given and len(frame):
        shown = ", ".join(map(repr, json.loads(str(frame[given["hybrid"]].iloc[0]))))
        notes = (f"the groups {shown} were given to everybody, and people could add others",)
    frame = frame.drop(columns=list(given.values()))
    tool = f"{next(iter(given), 'open')} sort of this package's server"
    nouns = {"item": "card", "annotator": "participant"}
    return Export(tool, replace(table, frame=frame), request, nouns, (*notes, *uncounted))


def _counted_by_server(table: Table) -> tuple[Table, tuple[str, ...]]:
    """Leave out previews, people who were left out, repetitions and training, and count them."""
    frame = table.frame
    reasons = {
        what: frame[name].astype(str).str.strip().str.casefold().isin(wanted).to_numpy()
        for what, name, wanted in (
            ("of previews", "preview", ("true", "1")),
            ("of excluded people", "excluded", ("true", "1")),
            ("of repetitions or training", "source", UNCOUNTED),
        )
    }
    apart = np.logical_or.reduce(list(reasons.values()))
    if not apart.any() or apart.all():
        return table, ()
    notes = tuple(f"{quantify(int(rows.sum()), 'row')} {what} left out" for what, rows in reasons.items() if rows.any())
    return table.rows(np.flatnonzero(~apart)), notes


EXPORTS: list[tuple[Callable[[set[str]], bool], Callable[[Table, ReadingRequest, str], Export | None]]] = [
    (lambda columns: _starts("ASSIGNMENT:")(columns) or (_starts("INPUT:")(columns)), toloka),
    (
        lambda columns: {"HITId", "AssignmentId"} <= columns and bool({"WorkerId", "Turkle.Username"} & columns),
        mechanical_turk,
    ),
    (lambda columns: bool({"_unit_id", "X_unit_id"} & columns), appen),
    (_has(*OF_SERVER), own_server),
    (_has("annotation_id", "annotator", "id"), label_studio_table),
    (lambda columns: {"identifier1", "identifier2", "judgment"} <= {c.casefold() for c in columns}, usage_judgements),
    (_has("ID", "Text", "BG Color", "Area"), mural),
    (_has("ResponseId", "StartDate"), qualtrics),
]


IN_BRACKETS = re.compile(r"(.*?)\[([^\[\]]+)\]\s*")
CODE_OF_QUESTION = re.compile(r"\w+\[\w+\]\.\s*")  # before the text of a question in LimeSurvey
OF_RESPONDENTS = {"id", "response id", "id response id", "respondent id", "token", "participant id", "email address"}
FEWEST_CARDS = 3


def grid_survey(table: Table, request: ReadingRequest) -> Export | None:
    """Read a survey that asks a question about each card, "Where does it belong? [card]", with one row per respondent.

    Google Forms writes grids like this. None if the table is no such survey.
    """
    if request.columns or request.transpose is not None:
        return None
    parts = {column: found for column in table.columns if (found := IN_BRACKETS.fullmatch(str(column)))}
    parts = {column: found for column, found in parts.items() if column not in request.ignore}
    question_of = {column: CODE_OF_QUESTION.sub("", found[1]).strip() for column, found in parts.items()}
    questions = Counter(question_of.values())
    frequent = [question for question, count in questions.items() if count >= FEWEST_CARDS]
    if not frequent:
        return None
    if len(frequent) > 1:
        shown = ", ".join(repr(question[:40]) for question in frequent)
        raise AnnotationError(
            f"This survey has several questions about each item: {shown}. Leave out those that are not sorting tasks: "
            f"{spell(ignore=[f'{frequent[-1][:40]}*'])}."
        )
    cards = {column: found[2].strip() for column, found in parts.items() if question_of[column] == frequent[0]}
    people = [
        column
        for column in table.columns
        if normal(column) in OF_RESPONDENTS and not _blank(table.frame[column]).any() and table.frame[column].is_unique
    ]
    frame = table.frame[list(cards)].rename(columns=cards)
    if frame.columns.has_duplicates:
        return None
    names = table.frame[people[0]] if people else pd.Series([str(i + 1) for i in range(len(frame))], frame.index)
    frame.insert(0, "respondent", names)
    n_beside = len(table.columns) - len(cards) - len(people[:1])
    notes = (
        (f"{quantify(n_beside, 'column')} other than the question {frequent[0][:40]!r} left out",) if n_beside else ()
    )
    request = replace(_with(request, annotator="respondent"), ignore=())
    nouns = {"annotator": "respondent", "item": "card"}
    return Export("survey with a question for each card", replace(table, frame=frame), request, nouns, notes)


def pile_columns(table: Table, request: ReadingRequest) -> Table:
    """Split rows of one person each whose columns are piles (Pile 1, Pile 2, …) and whose cells are lists of items."""
    roles = {column: found for column in table.columns if (found := role_of_name(column))}
    people = [column for column, found in roles.items() if found.role == "annotator"]
    numbered = [column for column in table.columns if column not in roles and _is_numbered_group(column)]
    if len(people) != 1 or len(numbered) < 2 or request.columns:
        return table
    frame = table.frame
    long = frame.melt(id_vars=[people[0]], value_vars=numbered, var_name="pile", value_name="cards", ignore_index=False)
    long = long[~_blank(long["cards"])]
    rows = np.repeat(np.arange(len(frame))[None], len(numbered), axis=0).ravel()  # melt lists a table column by column
    kept = ~_blank(frame[numbered].melt()["value"])
    where, rows = table.where, rows[kept]
    return replace(table, frame=long.reset_index(drop=True), where=lambda place: where(int(rows[place])))


def _is_numbered_group(column: Any) -> bool:
    found = role_of_name(_noun_of(column)) if re.search(r"\d$", normal(column)) else None
    return found is not None and found.role == "group"


def piles(table: Table, request: ReadingRequest) -> Table:
    """Split rows of one pile each: a sorter, the pile's name, and the items of the pile in further columns.

    Two piles of one sorter with the same name stay two piles.
    """
    roles = {column: found for column in table.columns if (found := role_of_name(column))}
    numbered = [column for column in table.columns if column not in roles and _is_numbered_item(column)]
    people = [column for column, found in roles.items() if found.role == "annotator"]
    groups = [column for column, found in roles.items() if found.role == "group"]
    items = [column for column, found in roles.items() if found.role == "item"]
    if not numbered or len(people) != 1 or len(groups) != 1 or items or request.columns:
        return table
    frame = table.frame
    n_rows, width = len(frame), len(numbered)
    cells = frame[numbered].to_numpy(object).ravel()
    # NaN differs from itself
    kept = np.flatnonzero([not (cell is None or cell != cell or str(cell).strip() == "") for cell in cells])
    row = kept // width
    pile = as_texts(frame[groups[0]]).str.strip()
    pile = pile.where(pile != "", "pile")
    again = pd.DataFrame({"who": frame[people[0]], "pile": pile}).duplicated(keep=False)
    pile = pile.where(~again, pile + " (" + pd.Series(np.arange(n_rows), index=frame.index).astype(str) + ")")
    long = pd.DataFrame(
        {
            str(roles[people[0]].noun): frame[people[0]].to_numpy(object)[row],
            "pile": pile.to_numpy(object)[row],
            _noun_of(numbered[0]): [str(cell).strip() if isinstance(cell, str) else cell for cell in cells[kept]],
        },
        dtype=object,
    )
    where = table.where
    return replace(table, frame=long, where=lambda place: where(int(row[place])))


def _noun_of(column: Any) -> str:
    return re.sub(r"[\s\d]+$", "", normal(column))


def _is_numbered_item(column: Any) -> bool:
    found = role_of_name(_noun_of(column)) if re.search(r"\d$", normal(column)) else None
    return found is not None and found.role == "item"


def lists_in_columns(table: Table, name: str) -> Table | None:
    """Return one person's piles, each a named column, as a long table; None if the table is something else."""
    frame = table.frame
    if any(role_of_name(name) is not None or _blank(frame[name]).all() for name in table.columns):
        return None
    if any(frame[name][~_blank(frame[name])].duplicated().any() for name in table.columns):
        return None
    cells = frame.to_numpy(object)
    texts = [str(cell).strip() for cell in cells.ravel()]
    filled = np.array([text not in ("", "None") for text in texts], dtype=bool).reshape(cells.shape)
    held = [text for text, is_it in zip(texts, filled.ravel()) if is_it]
    ragged = all((~filled[:-1, place] <= ~filled[1:, place]).all() for place in range(cells.shape[1]))
    uneven = len(set(filled.sum(0))) > 1
    if cells.shape[1] < 2 or not (ragged and uneven and len(set(held)) == len(held)) or any(map(is_number, held)):
        return None
    column, row = np.nonzero(filled.T)
    frame = pd.DataFrame(
        {
            "card": [texts[r * cells.shape[1] + c] for r, c in zip(row, column)],
            "person": PurePath(name).stem,
            "group": [table.columns[c] for c in column],
        },
        dtype=object,
    )
    where = table.where
    return replace(table, frame=frame, where=lambda place: where(int(row[place])), is_text=False)
