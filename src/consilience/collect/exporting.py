"""What was collected, as files: the long table as CSV, Parquet or JSON, and the report on the consensus as HTML."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import pandas as pd

from consilience.collect.model import CLOSED, Item, Study
from consilience.collect.store import Store
from consilience.errors import InputError, MissingDependencyError

MIMES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}
WORDS = "cards,participants"  # of the report
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how text begins that a spreadsheet would run


@dataclass(frozen=True)
class Export:
    """A file to save.

    Attributes
    ----------
    data : bytes
    mime : str
    name : str
    """

    data: bytes
    mime: str
    name: str


def exported(store: Store, study: Study, kind: str) -> Export:
    """Return what was collected in a study, in one of the formats of `MIMES`.

    Raises
    ------
    InputError
        There is no such format, or nothing was submitted yet that a report could be about.
    """
    if kind not in MIMES:
        raise InputError(f"The format must be one of {', '.join(MIMES)}.")
    data = _report(store, study) if kind == "html" else WRITERS[kind](store.export_frame(study.id))
    return Export(data, MIMES[kind], f"study-{study.id}.{kind}")


def _csv(frame: pd.DataFrame) -> bytes:
    """Write a table for spreadsheets: text that they would run as a formula gets an apostrophe before it."""
    safe = frame.map(lambda value: f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value)
    return safe.to_csv(index=False).encode("utf-8-sig")


def _parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    try:
        frame.to_parquet(file, index=False)
    except ImportError as error:
        raise MissingDependencyError(
            "Parquet needs pyarrow on the server; install it with: pip install 'consilience[parquet]'"
        ) from error
    return file.getvalue()


def _json(frame: pd.DataFrame) -> bytes:
    return json.dumps(rows_of(frame), ensure_ascii=False).encode()


WRITERS: dict[str, Callable[[pd.DataFrame], bytes]] = {"csv": _csv, "parquet": _parquet, "json": _json}


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as JSON values, a dict a row; times as in ISO 8601, None for what is missing."""
    found: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", date_format="iso", date_unit="s"))
    return found


_ONE_AT_A_TIME = Lock()  # a report takes seconds of one processor


def _report(store: Store, study: Study) -> bytes:
    """Fit the model of the study's kind to what was collected, and write the report on it."""
    from consilience.consensus import DawidSkene, SubsetFusion
    from consilience.inspection import report

    with _ONE_AT_A_TIME:
        if study.kind == CLOSED:
            labels = _by_text(store.labels(study.id), store.items(study.id))
            return str(report(DawidSkene().fit(labels), labels, title=study.title, words=WORDS)).encode()
        groupings = _by_text(store.groupings(study.id), store.items(study.id))
        fusion = SubsetFusion(random_state=study.seed).fit(groupings)
        return str(report(fusion, groupings, title=study.title, words=WORDS)).encode()


def _by_text(annotations: Any, items: Sequence[Item]) -> Any:
    """Return annotations of cards by what these say, unless that is the same for two of them."""
    texts = {item.name: " ".join(item.text.split()) or item.name for item in items}
    if len(set(texts.values())) < len(texts):
        return annotations
    frame = annotations.to_frame()
    return type(annotations).from_frame(
        frame.assign(item=frame["item"].map(texts)), items=[*texts.values()], missing=[]
    )
