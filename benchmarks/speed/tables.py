"""Tables of seconds and memory, as text, from the record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiments import Record
from benchmarks.speed.machine import LIMITS
from benchmarks.speed.measuring import exponent

NAME = 50  # characters
COLUMNS = {  # title and format of what a run may have
    "seconds": ("seconds", ".3g"),
    "slowest": ("slowest", ".3g"),
    "busy": ("processor", ".3g"),
    "megabytes": ("+MB", ".0f"),
    "sweeps": ("sweeps", ".0f"),
    "rounds": ("rounds", ".0f"),
    "right": ("right", ".4f"),
    "alone": ("alone", ".3g"),
    "nmi": ("NMI", ".3f"),
    "raises": ("", ""),
}
ALWAYS = ("seconds", "slowest", "busy")


def table_of_comparisons(record: Record, part: str, more: Sequence[str] = ()) -> list[str]:
    """Return the models of a part, the fastest first, with their peers and how many times as long these took."""
    lines: list[str] = []
    for data, rows in by_data(record, part):
        draws = rows["draw"].nunique()
        means = f"; means of {draws} seeds" if draws > 1 else ""
        columns = shown_columns(rows["runs"], more)
        titles = "".join(f"{COLUMNS[column][0]:>11s}" for column in columns)
        lines += ["", "", f"{data}{means}", f"{'':{NAME}s}{'times':>8s}{titles}"]
        comparisons = [comparison(own) for _, own in rows.groupby("model", sort=False)]
        for runs, ratio in sorted(comparisons, key=lambda one: next(iter(one[0].values()))["seconds"]):
            for place, (name, run) in enumerate(runs.items()):
                shown = f"{name if place == 0 else '  ' + name:{NAME}s}{ratio.get(name, ''):>8s}"
                lines.append((shown + "".join(f"{cell(run, column):>11s}" for column in columns)).rstrip())
    return lines[2:]


def by_data(record: Record, part: str) -> Iterator[tuple[str, pd.DataFrame]]:
    rows = record.frame(part)
    if len(rows):
        yield from rows.groupby("data", sort=False)


def shown_columns(rows: Iterable[dict[str, dict[str, Any]]], more: Sequence[str]) -> list[str]:
    """Return the columns that some run has."""
    had = {column for runs in rows for run in runs.values() for column in run}
    return [column for column in (*ALWAYS, *more) if column in had]


def comparison(rows: pd.DataFrame) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the runs of a model and its peers, means over draws, and the ratios to the model, as text."""
    runs = {name: mean_run([runs[name] for runs in rows["runs"]]) for name in rows["runs"].iloc[0]}
    ratios = pd.DataFrame(rows["ratio"].tolist()).mean()
    return runs, {name: f"{value:.1f}" if value < 10 else f"{value:.0f}" for name, value in ratios.items()}


def mean_run(runs: list[dict[str, Any]]) -> dict[str, Any]:
    frame = pd.DataFrame(runs)
    numbers = frame.select_dtypes("number").mean().to_dict()
    return numbers | frame.select_dtypes(exclude="number").iloc[0].to_dict()


def cell(run: dict[str, Any], column: str) -> str:
    """Return what a run has in a column."""
    value = run.get(column)
    if column == "raises":
        return "" if value is None else f"   raises {value}"
    return "-" if value is None or np.isnan(value) else f"{value:{COLUMNS[column][1]}}"


def table_of_growth(record: Record, part: str, more: Sequence[str] = ()) -> list[str]:
    """Return the runs of each row by size, or by each of several sizes, with exponents of the last step."""
    lines: list[str] = []
    for _, row in record.frame(part).iterrows():
        growth = row.get("growth", {"items": row.get("runs")})
        for what, runs in growth.items():
            lines += ["", f"{row['model']}, {row['data']}", *growth_of(what, runs, more)]
    return lines[1:]


def growth_of(what: str, runs: dict[str, dict[str, Any]], more: Sequence[str]) -> list[str]:
    columns = shown_columns([runs], more)
    lines = [f"{what:>12s}" + "".join(f"{COLUMNS[column][0]:>11s}" for column in columns)]
    for size, run in runs.items():
        lines.append(f"{size:>12s}" + "".join(f"{cell(run, column):>11s}" for column in columns))
    if len(runs) > 1:
        found = [
            f"of the {name} {exponent(list(map(float, runs)), [run[column] for run in runs.values()]):.2f}"
            for column, name in (("seconds", "seconds"), ("busy", "processor seconds"))
            if column in columns
        ]
        lines.append(f"{'last step':>12s}   exponent {', '.join(found)}")
    return lines


def table_of_sweeps(record: Record, part: str) -> list[str]:
    """Return sweeps beside their bare arithmetic, in milliseconds."""
    lines: list[str] = []
    for _, row in record.frame(part).iterrows():
        bare = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in row["bare"].items())
        lines += [
            f"{row['model']}: {row['data']}",
            f"    a sweep     {1e3 * row['sweep']:8.1f} ms, {row['ratio']:.2f} times the arithmetic",
            f"    arithmetic  {1e3 * row['unavoidable']:8.1f} ms (once: {bare})",
        ]
        if "evaluations" in row:
            lines.append(f"    {row['evaluations']} evaluations of the solver; {row['megabytes']:.0f} MB of its own")
    return lines


def table_of_telling(record: Record) -> list[str]:
    lines: list[str] = []
    for _, row in record.frame("telling").iterrows():
        lines += [row["data"], f"{'answers':>10s}{'tell':>12s}{'ask, named':>14s}{'ask':>12s}"]
        for count, tell, named, ask in zip(row["answers"], row["tell"], row["ask_named"], row["ask"], strict=True):
            lines.append(f"{count:10d}{tell:9.1f} ms{named:11.1f} ms{ask:9.1f} ms")
    return lines


def table_of_start(record: Record) -> list[str]:
    lines: list[str] = []
    for _, row in record.frame("deep_start").iterrows():
        lines += [f"{row['model']}: {row['data']}", f"{'process':>10s}{'import':>10s}{'training':>12s}{'end':>10s}"]
        for name, run in row["runs"].items():
            lines.append(f"{name:>10s}{run['import']:8.1f} s{run['training']:10.1f} s{run['end']:8.1f} s")
    return lines


def table_of_restarts(record: Record) -> list[str]:
    """Return what a whole fit took, with its numbers of restarts and epochs."""
    return [
        f"{name}: {row['data']}, {run['restarts']} restarts, {run['epochs']} epochs: "
        f"{run['seconds']:.1f} s, of the processor {run['busy']:.1f} s"
        for _, row in record.frame("deep_restarts").iterrows()
        for name, run in row["runs"].items()
    ]


def table_of_machine(record: Record) -> list[str]:
    """Return the rates of the machine."""
    return [
        f"{name:18s}{rate:10.3g} {LIMITS[name]}"
        for _, row in record.frame("machine").iterrows()
        for name, rate in row["rates"].items()
    ]


def table_of_profiles(record: Record) -> list[str]:
    """Return what the seconds of each model go into, the models with most lines first."""
    rows = record.frame("profiles")
    if not len(rows):
        return []
    lines = [
        f"{'':22s}{'items':>6s}{'seconds':>9s}{'lines':>11s}{'Python':>8s}{'× items':>9s}{'× annot.':>9s}  longest"
    ]
    for _, row in rows.sort_values("lines", ascending=False).iterrows():
        longest = ", ".join(f"{short(name)} {share:.0%}" for name, share in list(row["longest"].items())[:3])
        lines.append(
            f"{row['model']:22s}{row['n_items']:6d}{row['run']['busy']:9.2f}{row['lines']:11,d}{row['interpreter']:8.0%}"
            f"{row['times_with_items']:9.1f}{row['times_with_annotators']:9.1f}  {longest}"
        )
        for what in ("items", "annotators"):
            for name, share in row[f"loops_over_{what}"].items():
                lines.append(f"{'':22s}  grows with {what}: {name}, {share:.0%} of the lines")
    return lines


def short(name: str) -> str:
    """Return the last two parts of the name of a function."""
    return ".".join(name.replace("built-in method ", "").split(".")[-2:])
