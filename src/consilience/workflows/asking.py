"""Which items to label next, and by whom."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.active import LabelForecast, LabelQuestion, LabelSession
from consilience.annotations import Labels
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.workflows.inputs import read_for_model
from consilience.workflows.item_columns import item_column
from consilience.workflows.jobs import AskRequest, Result
from consilience.workflows.notes import note
from consilience.workflows.outputs import require_outputs, table_writer, write_files
from consilience.workflows.tables import names_as, names_in, read_table

MOST_LINES = 40  # questions that are printed
COLUMNS = ["item", "annotator", "gain", "at_random"]


@dataclass(frozen=True)
class AskResult(Result):
    """Which items to label next.

    Attributes
    ----------
    summary : dict
        Questions and forecast as plain values.
    text : str
        What the command prints.
    questions : list of LabelQuestion
    """

    questions: list[LabelQuestion]


def ask_for_labels(request: AskRequest) -> AskResult:
    """Choose the items to be labelled next and whom to ask, and write them to a file if that is asked for.

    Parameters
    ----------
    request : AskRequest

    Returns
    -------
    AskResult

    Raises
    ------
    InputError
        Files, names or numbers cannot be used, or fewer questions than that can be asked.
    """
    require_outputs([request.out], [request.annotations, request.all_items])
    if request.out is not None:
        table_writer(pd.DataFrame(), request.out)  # an ending that is unknown is refused before the fit
    whom: dict[Any, float] | None = read_whom(request.whom)
    read, notes = read_for_model(request.annotations, reading=request.reading, model="DawidSkene")
    for text in notes:
        note(text)
    if not isinstance(read, Labels):  # as DawidSkene reads nothing else
        raise TypeError("Labels were read as something else.")
    session = LabelSession(
        _all_items(request.all_items, read),
        max_per_item=request.max_per_item,
        random_share=request.random_share,
        random_state=request.seed,
    ).tell(read)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category=UserWarning)
        session.consensus()
    for warning in caught:
        note(str(warning.message))
    if whom is not None:  # names as in the labels: 7 in a file of numbers
        whom = dict(zip(map(plain, names_as(pd.Index(list(whom)), read.annotators)), whom.values(), strict=True))
    questions = session.ask(request.n_labels, annotators=whom, most_each=request.most_each)
    table = pd.DataFrame([[getattr(each, name) for name in COLUMNS] for each in questions], columns=COLUMNS)
    forecast, decision = session.labels_needed(request.target), session.should_stop(floor=request.floor)
    if request.out is not None:
        write_files({request.out: table_writer(table, request.out)})
    summary = {
        "questions": [asdict(each) for each in questions],
        "forecast": {name: value if math.isfinite(value) else None for name, value in asdict(forecast).items()},
        "stop": decision.stop,
        "reason": decision.reason,
    }
    return AskResult(summary, "\n".join([*_lines(questions), "", _tell(forecast), decision.reason]), questions)


def read_whom(whom: Sequence[str]) -> dict[Any, float] | None:
    """Return annotators with the cost of a label by each; None for nobody in particular.

    Examples
    --------
    >>> read_whom(["Ann", "Bo=2.5"]), read_whom([])
    ({'Ann': 1.0, 'Bo': 2.5}, None)
    """
    found: dict[Any, float] = {}
    for text in whom:
        name, has_cost, cost = text.rpartition("=")
        if not has_cost:
            name, cost = text, "1"
        try:
            found[name] = float(cost)
        except ValueError:
            found[text] = 1.0  # a name with a sign
    return found or None


def _all_items(path: Path | None, labels: Labels) -> pd.Index:
    """Return the items of the labels, and those of the file that have none.

    Raises InputError: an item of the labels is not in the file.
    """
    if path is None:
        return labels.items
    table = read_table(path, labels.items)
    column = item_column(table, path, items=labels.items, parameter="")
    names = names_as(names_in(table, column, path), labels.items)
    absent = labels.items[~labels.items.isin(names)]
    if len(absent):
        needs = f"{spell(all_items=None)} needs all items"
        raise InputError(f"{path}: {needs}, and lacks {plain(absent[0])!r}, which has labels.")
    return names


def _lines(questions: list[LabelQuestion]) -> list[str]:
    """List the questions, the first of many."""
    whom = ["" if each.annotator is None else str(each.annotator) for each in questions]
    wide, whose = max(len(str(each.item)) for each in questions), max(map(len, whom))
    lines = []
    for each, name in list(zip(questions, whom, strict=True))[:MOST_LINES]:
        why = "drawn at random" if each.at_random else f"puts {each.gain:.3f} items right"
        lines.append("  ".join(filter(None, [f"{each.item!s:{wide}s}", f"{name:{whose}s}", why])))
    if len(questions) > MOST_LINES:
        lines.append(f"and {len(questions) - MOST_LINES:,} more")
    return [f"{len(questions):,} to be labelled next, with what a label is expected to do:", *lines]


def _tell(found: LabelForecast) -> str:
    """Say how many labels a target needs."""
    now = f"About {found.error:.1%} of the items are expected to have a wrong class now"
    if not math.isfinite(found.labels):
        return f"{now}; labels alone do not lead to {found.target:.1%}."
    if found.more <= 0:
        return f"{now}, at most the {found.target:.1%} asked for."
    return f"{now}; {found.target:.1%} take about {found.more:,.0f} labels more, {found.per_item:.1f} an item."
