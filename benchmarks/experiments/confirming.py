"""The thorough check of a record, before a release: the quickest row of each group is computed again."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

from benchmarks.experiments.earlier import both_figures, tree_of
from benchmarks.experiments.environment import commit
from benchmarks.experiments.page import Page, Part, are_same, compute_figures
from benchmarks.experiments.record import Cell, Record


def confirm(page: Page, against: str | None = None, parts: Iterable[str] | None = None) -> list[str]:
    """Compute the quickest row of each group, and confirm the rows of the group or mark them as out of date.

    A group is the rows of a model on a data set. An interrupted run keeps what it confirmed.

    against : commit whose code gives the figures to compare with, on this machine; see `earlier`. By default those of
        the record. Groups are then of all data sets that are alike.
    parts : names of the parts to confirm; by default all
    """
    with nullcontext() if against is None else tree_of(against) as earlier:
        return _confirm(page, earlier, {part.name for part in page.parts} if parts is None else set(parts))


def _confirm(page: Page, earlier: Path | None, parts: set[str]) -> list[str]:
    record, lines, cells = page.record(), [], [cell for _, cell in page.cells]
    for (name, data, model), (part, members) in _groups(page, record, earlier is not None, parts).items():
        quickest = min(members, key=lambda cell: record.rows[cell.key]["seconds"])
        if earlier is None:
            same = are_same(record.rows[quickest.key]["figures"], compute_figures(part.compute, quickest)["figures"])
        else:
            same = are_same(*both_figures(f"benchmarks.{page.package}.{page.name}", quickest, part.short, earlier))
        for cell in members:
            if same:
                record.confirm(cell, cell.script(part.compute), commit())
            else:
                record.outdate(cell, commit())
        record.tidy(cells)
        verdict = "confirmed by 1" if same else "other figures: out of date"
        lines.append(f"{page.name}, {name}, {data}, {model}: {len(members)} rows {verdict}")
    return lines


def _groups(
    page: Page, record: Record, by_likeness: bool, parts: set[str]
) -> dict[tuple[str, str, str], tuple[Part, list[Cell]]]:
    """Return the cells of each group whose rows have today's settings."""
    found: dict[tuple[str, str, str], tuple[Part, list[Cell]]] = {}
    for part, cell, state in page.states(record):
        if part.name in parts and state not in ("missing", "other settings"):
            data = part.alike(cell.data) if by_likeness else cell.data
            found.setdefault((part.name, data, cell.model), (part, []))[1].append(cell)
    return found
