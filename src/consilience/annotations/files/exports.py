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
from dataclasses import replace
from pathlib import PurePath

import numpy as np
import pandas as pd

from consilience.annotations.files.crowd_exports import appen, label_studio_table, mechanical_turk, toloka
from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.table import Table
from consilience.annotations.files.tool_export import (
    Export,
    are_blank,
    has_columns,
    keep_rows,
    starts_a_column,
    with_columns,
)
from consilience.annotations.files.values import quantify
from consilience.annotations.files.vocabulary import normal
from consilience.annotations.keywords import spell
from consilience.errors import AnnotationError


def known_export(table: Table, request: ReadingRequest, name: str) -> Export | None:
    """Return the table of a known tool with the meaning of its columns; None if it is not one.

    Raises AnnotationError: the table is of a known tool, but contains no annotators or several questions.

    name : the file's name, which in some exports is that of the annotator.
    """
    columns = {str(column) for column in table.columns}
    for is_it, read in EXPORTS:
        if is_it(columns) and (found := read(table, request, name)) is not None:
            return found
    return grid_survey(table, request)


def usage_judgements(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read judgements of word usages (DURel, WUG), in which 0 means that the annotator could not decide."""
    columns = {str(column).casefold(): column for column in table.columns}
    request = replace(request, missing=("0",) if request.missing is None else request.missing)
    request = with_columns(
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
    table, notes = keep_rows(replace(table, frame=frame), np.asarray(texts != ""), "without a text")
    table = table.rows(np.argsort(are_blank(table.frame["group"]), kind="stable"))
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
    request = with_columns(replace(request, ignore=others), annotator="ResponseId")
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


OF_QUESTIONS = ("annotator", "set", "place", "source", "answered", "preview", "excluded")
CLASSES_OF_SERVER = "labels_categories"
UNCOUNTED = ("practice", "admission", "gold", "repeat")  # sources that the server leaves out of its results


def own_server(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read sorts that our server collected, as it reads them: without what does not count.

    A closed sort is read as labels, with all categories of the study.
    """
    table, uncounted = _counted_by_server(table)
    frame = _without_apostrophes(table)
    given = {kind: f"{kind}_categories" for kind in ("closed", "hybrid") if f"{kind}_categories" in frame}
    notes: tuple[str, ...] = ()
    categories: list[str] = []
    if "closed" in given and request.kind in (None, "labels") and not request.columns and len(frame):
        categories = json.loads(str(frame[given["closed"]].iloc[0]))
        request = replace(request, kind="labels", columns={"label": "group"}, classes=tuple(categories))
    if "hybrid" in given and len(frame):
        categories = json.loads(str(frame[given["hybrid"]].iloc[0]))
        shown = ", ".join(map(repr, categories))
        notes = (f"the groups {shown} were given to everybody, and people could add others",)
    frame = frame.drop(columns=list(given.values()))
    tool = f"{next(iter(given), 'open')} sort of this package's server"
    nouns = {"item": "card", "annotator": "participant"}
    of_hybrid = tuple(map(str, categories)) if notes else ()
    return Export(tool, replace(table, frame=frame), request, nouns, (*notes, *uncounted), of_hybrid)


def own_questions(table: Table, request: ReadingRequest, name: str) -> Export:
    """Read labels, or judgements of pairs, that our server collected: without what does not count."""
    table, uncounted = _counted_by_server(table)
    frame = _without_apostrophes(table)
    kind = "labels" if CLASSES_OF_SERVER in frame else "pairs"
    if kind == "labels" and request.kind in (None, "labels") and not request.columns and len(frame):
        classes = tuple(json.loads(str(frame[CLASSES_OF_SERVER].iloc[0])))
        request = replace(request, kind="labels", columns={"label": "label"}, classes=classes)
    frame = frame.drop(columns=CLASSES_OF_SERVER, errors="ignore")
    nouns = {"item": "card", "annotator": "participant"}
    return Export(f"{kind} of this package's server", replace(table, frame=frame), request, nouns, uncounted)


def _without_apostrophes(table: Table) -> pd.DataFrame:
    """Return a table without what our server puts before text that a spreadsheet would run."""
    if not table.is_text:
        return table.frame
    return table.frame.apply(
        lambda column: column.map(lambda cell: APOSTROPHE.sub("", cell, count=1) if cell else cell)
    )


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
    (lambda columns: starts_a_column("ASSIGNMENT:")(columns) or (starts_a_column("INPUT:")(columns)), toloka),
    (
        lambda columns: {"HITId", "AssignmentId"} <= columns and bool({"WorkerId", "Turkle.Username"} & columns),
        mechanical_turk,
    ),
    (lambda columns: bool({"_unit_id", "X_unit_id"} & columns), appen),
    (has_columns(*OF_SERVER), own_server),
    (has_columns(*OF_QUESTIONS), own_questions),
    (has_columns("annotation_id", "annotator", "id"), label_studio_table),
    (lambda columns: {"identifier1", "identifier2", "judgment"} <= {c.casefold() for c in columns}, usage_judgements),
    (has_columns("ID", "Text", "BG Color", "Area"), mural),
    (has_columns("ResponseId", "StartDate"), qualtrics),
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
        if normal(column) in OF_RESPONDENTS
        and not are_blank(table.frame[column]).any()
        and table.frame[column].is_unique
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
    request = replace(with_columns(request, annotator="respondent"), ignore=())
    nouns = {"annotator": "respondent", "item": "card"}
    return Export("survey with a question for each card", replace(table, frame=frame), request, nouns, notes)
