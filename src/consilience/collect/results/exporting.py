"""What was collected, as files: tables in any of the formats of tables, and the report on the consensus as HTML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.files.formats import FORMATS
from consilience.collect.errors import NotOpenError
from consilience.collect.results.consensus import WORDS, fusion_of
from consilience.collect.results.pairs import model_of_pairs
from consilience.collect.settings.cleaning import FORMULAS
from consilience.collect.settings.model import HYBRID, JUDGING, Item, Study
from consilience.collect.settings.study_kinds import PAIRS
from consilience.collect.store import Store, Submitted
from consilience.collect.store.people_table import seconds_between
from consilience.collect.store.results import groupings_of, labels_of, pairs_of
from consilience.consensus import DawidSkene
from consilience.errors import InputError, MissingDependencyError

REPORT = "html"
MIMES = {name: one.mime for name, one in FORMATS.items()} | {REPORT: "text/html; charset=utf-8"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TABLES = ("sorts", "participants", "answers", "moves", "log")


@dataclass(frozen=True)
class Export:
    """A file to save."""

    data: bytes
    mime: str
    name: str


def export_study(
    store: Store, study: Study, kind: str, table: str | None = None, *, identifiers: bool = True
) -> Export:
    """Return what was collected in a study, in one of the formats of `MIMES`.

    Raises InputError: there is no such format or table. Raises NotOpenError: there are no answers yet that a report
    could be about.

    table : {"sorts", "participants", "answers", "moves", "log"}, optional; a row for each card that was presented, for
        each person, for each answer where people are asked questions, for each card of each move, if the study says
        that there is such a table, or for each change that an account made. By default sorts, or answers.
    identifiers : whether names and stored parameters of people, and names of accounts and details of the log, are in
        the table.
    """
    if kind not in MIMES:
        raise InputError(f"The format must be one of {', '.join(MIMES)}.")
    asked, reports = study.is_asked or study.kind == JUDGING, kind == REPORT and study.kind != JUDGING
    table = table or ("answers" if asked and not reports else "sorts")
    if table not in TABLES:
        raise InputError(f"The table must be one of {', '.join(TABLES)}.")
    if table == "moves" and not study.settings.moves:
        raise InputError("This study has no table of moves; the setting 'moves' makes one.")
    if table == ("sorts" if asked else "answers") and not (reports and table == "sorts"):
        raise InputError(f"People {'answer questions' if asked else 'sort'} in this study; it has no table of {table}.")
    if kind == REPORT and table != "sorts":
        raise InputError(f"The report is about sorts; the table of {table} can be had as {', '.join(FORMATS)}.")
    if kind == REPORT:
        data = _report(store, study, identifiers)
    else:
        answers = store.asked_frame if study.is_asked else store.answers_frame
        frames = (store.export_frame, store.participants_frame, answers, store.moves_frame, store.log_frame)
        frame_of = dict(zip(TABLES, frames, strict=True))
        data = encode_table(frame_of[table](study.id, identifiers=identifiers), kind)
    what = study.kind if study.is_asked and table == "answers" else table
    name = "-".join([study.id, *([] if table == "sorts" else [what]), *([] if identifiers else ["without-names"])])
    return Export(data, MIMES[kind], f"study-{name}.{kind}")


def encode_table(frame: pd.DataFrame, kind: str) -> bytes:
    """Write a table; in text for spreadsheets, what they would run as a formula gets an apostrophe before it.

    Raises MissingDependencyError: the server lacks the package that writes the format.
    """
    chosen, file = FORMATS[kind], io.BytesIO()
    if chosen.is_text:
        frame = frame.apply(_without_formulas)
        file.write(BYTE_ORDER_MARK)  # without it, Excel reads text in the encoding of the country
    try:
        chosen.writer(frame, f"table.{kind}")(file)
    except MissingDependencyError as error:
        raise MissingDependencyError(f"{error} It is to be installed on the server.") from error
    return file.getvalue()


def _without_formulas(column: pd.Series) -> pd.Series:
    if is_numeric_dtype(column):
        return column  # pandas 2 would make whole numbers with a gap floats
    return column.map(lambda cell: f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell)


ONE_AT_A_TIME = Lock()  # reports and drawings: matplotlib has one set of settings for the process


def _report(store: Store, study: Study, identifiers: bool) -> bytes:
    """Fit the model of the study's kind to what was collected, and write the report on it."""
    from consilience.inspection import report

    rows = [one for one in store.submitted(study.id) if one.counts]
    if not rows:
        raise NotOpenError("There are no answers yet that a report could be about.")
    if not identifiers:
        rows = [replace(one, annotator=one.participant) for one in rows]
    with ONE_AT_A_TIME:
        model, annotations = fit_study(study, rows, store.items(study.id))
        seconds = seconds_of(rows, annotations.annotators)
        given = study.settings.categories if study.kind == HYBRID else ()
        page = report(model, annotations, title=study.title, words=WORDS, seconds=seconds, given_groups=given)
        return str(page).encode()


def seconds_of(rows: Sequence[Submitted], annotators: pd.Index) -> pd.Series:
    """Return how long annotators took for all their sorts, NaN where that is not known."""
    spent = [(one.annotator, seconds_between(one.started, one.submitted)) for one in rows]
    found = pd.DataFrame(spent, columns=["annotator", "seconds"]).dropna().groupby("annotator")["seconds"].sum()
    return found.astype(float).reindex(annotators)


def fit_study(study: Study, rows: Sequence[Submitted], items: Sequence[Item]) -> tuple[Any, Groupings | Labels | Pairs]:
    """Return the model of the study's kind, fitted to answers, and these by the texts of their cards."""
    names = card_names(items)
    if study.kind == PAIRS:
        pairs = pairs_of(rows, names)
        return model_of_pairs(study).fit(pairs), pairs
    if study.gives_labels:
        labels = labels_of(study, rows, names)
        return DawidSkene().fit(labels), labels
    groupings = groupings_of(rows, names)
    return fusion_of(study).fit(groupings), groupings


def card_names(items: Sequence[Item]) -> list[str]:
    """Return what cards say, for a report; what exports call them if two cards say the same."""
    texts = [" ".join(item.text.split()) or item.name for item in items]
    return texts if len(set(texts)) == len(texts) else [item.name for item in items]
