"""How many people a study of groupings needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd

from consilience.active import Plan
from consilience.active import plan as make_plan
from consilience.analysis.nouns import capital
from consilience.analysis.words import DEFAULT, Words, current_words, read_as, use_words
from consilience.annotations.keywords import spell
from consilience.errors import InputError
from consilience.workflows.inputs import read_for_model
from consilience.workflows.jobs import PlanRequest, Result
from consilience.workflows.notes import note
from consilience.workflows.outputs import require_outputs, table_writer, write_files

PICTURES = (".svg", ".png", ".pdf")
FAR_OFF = "Of such forecasts of recorded studies, three in four were right within a factor of two."  # docs/planning.rst
GUESSES = ("n_items", "n_clusters", "agreement")


@dataclass(frozen=True)
class PlanResult(Result):
    """How many people a study needs.

    Attributes
    ----------
    summary : dict
        The plan as plain values.
    text : str
        What the command prints.
    plan : Plan
        As `consilience.active.plan` returns it.
    """

    plan: Plan


def plan_study(request: PlanRequest) -> PlanResult:
    """Find by simulation how many people a study needs, and write table and curve if that is asked for.

    Parameters
    ----------
    request : PlanRequest

    Returns
    -------
    PlanResult

    Raises
    ------
    InputError
        Files or numbers cannot be used.
    """
    pilot, out, plot = request.pilot, request.out, request.plot
    Words.of(request.words)  # before anything is read
    require_outputs([out, plot], [pilot])
    _require_one_source(request)
    if out is not None:
        table_writer(pd.DataFrame(), out)  # an ending that is unknown is refused before the simulations
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise InputError(
            f"The file name of {spell(plot=None)} must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}."
        )
    groupings = None
    if pilot is not None:
        groupings, notes = read_for_model(pilot, reading=request.reading, model="SubsetFusion")
        for text in notes:
            note(text)
    found = make_plan(
        request.n_items,
        n_clusters=request.n_clusters,
        agreement=request.agreement,
        pilot=groupings,
        subset_size=request.subset_size,
        subsets_each=request.subsets_each,
        target=request.target,
        max_annotators=request.max_annotators,
        n_draws=request.draws,
        random_state=request.seed,
        verbose=True,
    )
    writers: dict[Path, Callable[[IO[bytes]], None]] = {}
    if out is not None:
        writers[out] = table_writer(found.table.reset_index(), out)
    if plot is not None:
        writers[plot] = _picture(found, plot)
    write_files(writers)
    with use_words(Words.of(request.words, read_as(groupings))):
        text = "\n".join([*_answer(found, request.max_annotators), "", _table(found.table)])
    return PlanResult(_summary(found), text, found)


def _require_one_source(request: PlanRequest) -> None:
    """Require either a pilot or all guesses."""
    pilot, guesses = spell(pilot=None), {name: spell(**{name: None}) for name in GUESSES}
    told = [guess for name, guess in guesses.items() if getattr(request, name) is not None]
    lacking = [guess for name, guess in guesses.items() if getattr(request, name) is None]
    if request.pilot is not None and told:
        raise InputError(f"{pilot} tells what {told[0]} would; give one of them.")
    if request.pilot is None and lacking:
        raise InputError(f"Give a {pilot}, or {', '.join(guesses.values())}: {lacking[0]} is missing.")


def _answer(found: Plan, most: int) -> list[str]:
    """Say how many people are needed, and what that is about."""
    words = current_words()
    about = (
        f"a consensus that agrees to {found.target:g} with that of a second study by other people (adjusted mutual "
        "information)"
    )
    people = f"{capital(_people(words))} who agree to {found.agreement:.2f} (adjusted Rand index)"
    if math.isinf(found.annotators):
        last = found.table["agreement"].iloc[-1]
        return [f"{people} do not reach {about} with {most} of them: {last:.2f}."]
    n_groupings = math.ceil(found.annotators) * found.subsets_each
    each = "" if found.subsets_each == 1 else f", {n_groupings} groupings"
    return [
        f"About {math.ceil(found.annotators)} {_people(words)}{each}, for {about}.",
        f"{people}, and sort {words.n_items(found.subset_size)} at a time; "
        f"{found.groupings_per_item:.1f} groupings hold {words.an_item}.",
        FAR_OFF,
    ]


def _people(words: Words) -> str:
    """Return the word for annotators, who are people where a study is planned, unless the reader has another."""
    return "people" if words.annotators == DEFAULT.annotators else words.annotators


def _table(table: pd.DataFrame) -> str:
    words = current_words()
    head = [_people(words), "groupings", f"per {words.item}", "agreement", "4 of 5 studies", "clusters"]
    head.append(f"{words.items} seen")
    rows = [
        [
            str(number),
            f"{row['groupings']:.0f}",
            f"{row['groupings_per_item']:.1f}",
            f"{row['agreement']:.2f}",
            f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['n_clusters']:.1f}",
            f"{row['covered']:.0%}",
        ]
        for number, row in table.iterrows()
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [head, *rows])


def _summary(found: Plan) -> dict[str, Any]:
    """Return a plan as JSON holds it; null for numbers that were not reached."""
    return {
        "target": found.target,
        "annotators": found.annotators if math.isfinite(found.annotators) else None,
        "groupings": found.groupings if math.isfinite(found.groupings) else None,
        "groupings_per_item": found.groupings_per_item if math.isfinite(found.groupings) else None,
        "subset_size": found.subset_size,
        "subsets_each": found.subsets_each,
        "agreement": found.agreement,
        "table": found.table.reset_index().to_dict("records"),
    }


def _picture(found: Plan, path: Path) -> Callable[[IO[bytes]], None]:
    """Return a function that draws the curve in the format given by the file name."""
    from matplotlib.figure import Figure

    from consilience.inspection import plot_plan

    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    plot_plan(found, ax=figure.subplots())
    return lambda file: figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)
