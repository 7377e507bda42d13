"""Figs. 3 and 4: the rounds of stagewise EM, and the information that the classes leave unexplained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.papers.paper_plots.stagewise import plot_conditional_information, plot_stagewise
from benchmarks.papers.stagewise_parts.setting import (
    MODELS,
    N_ANNOTATORS,
    N_CLASSES,
    N_DRAWS,
    STAGES,
    TRUE,
    draw,
    scores_under,
)
from consilience import Labels
from consilience.consensus import StagewiseEM
from consilience.consensus.labels import stagewise_em as stagewise
from consilience.consensus.labels.stagewise_evidence import StagewiseEvidence
from consilience.inspection.plots.style import INK, SMALL

SHOWN = 0  # the draw of Figs. 3 and 4
ROUNDS = (0, 3, 5, 7)


def falling_crowd(seed: int) -> tuple[np.ndarray, Labels]:
    """Draw the crowd of Figs. 3 and 4, and its labels."""
    crowd, _, labels = draw(0.3, np.linspace(0.7, 0.45, 30), seed)
    return crowd, labels


def values_of_truth(crowd: np.ndarray, labels: Labels) -> dict[str, float]:
    """Return log likelihood of the true model, and largest conditional mutual information under its posteriors."""
    scores = scores_under(crowd, labels)
    totals = np.logaddexp.reduce(scores, axis=1)
    evidence = StagewiseEvidence.in_memory(labels, N_CLASSES, StagewiseEM().entry_level)
    information = stagewise.conditional(*evidence.information(np.exp(scores - totals[:, None])))
    return {"log_likelihood": float(totals.sum()), "information": float(information.max())}


def number(annotator: str) -> int:
    """Return the number of a simulated annotator, from 1; lower is better."""
    return int(annotator.split()[1])


def cells_of_rounds() -> Iterator[Cell]:
    for seed in range(N_DRAWS):
        yield Cell("rounds", "0.3-sparse", STAGES, seed, MODELS[STAGES])
        yield Cell("rounds", "0.3-sparse", TRUE, seed, uses=(StagewiseEM,))


def compute_rounds(cell: Cell) -> dict[str, Any]:
    """Return the trace, the members of S by number, and whether it converged; or the values of the true model."""
    crowd, labels = falling_crowd(cell.draw)
    if cell.model == TRUE:
        return values_of_truth(crowd, labels)
    model = clone(cell.estimator).fit(labels)
    trace = model.trace_
    return {
        "rounds": trace[["n_components", "log_likelihood", "information", "n_informative"]].to_numpy(),
        "entered": [[number(name) for name in row] for row in trace["entered"]],
        "settled": bool(model.converged_),
    }


def cells_of_information() -> Iterator[Cell]:
    for stop in ROUNDS:
        model = StagewiseEM(refine=None, max_iter=stop) if stop else StagewiseEM(n_clusters=1, refine=None)
        yield Cell("information", f"round {stop}", STAGES, SHOWN, model)


def compute_information(cell: Cell) -> dict[str, Any]:
    """Return conditional information of all pairs of annotators, row by row above the diagonal, and the set."""
    labels = falling_crowd(cell.draw)[1]
    model = clone(cell.estimator).fit(labels)
    table = model.conditional_information().to_numpy()
    informative = model.informative_set_ if hasattr(model, "informative_set_") else []
    return {
        "information": [float(f"{value:.3g}") for value in table[np.triu_indices(N_ANNOTATORS, 1)]],
        "set": [number(name) for name in informative],
    }


def trace_of(row: pd.Series) -> pd.DataFrame:
    columns = ["n_components", "log_likelihood", "information", "n_informative"]
    return pd.DataFrame(row["rounds"], columns=columns).assign(entered=row["entered"])


def summary_of_draws(record: Record) -> dict[str, Any]:
    """Summarise over all draws what Fig. 3 shows for one."""
    rows = record.frame("rounds")
    rows = rows[rows["model"] == STAGES]
    traces = [trace_of(row) for _, row in rows.iterrows()]
    complete = [trace["n_components"].iloc[-1] == N_CLASSES for trace in traces]
    found = [trace for trace, whole in zip(traces, complete) if whole]
    members = [[member for entered in trace["entered"] for member in entered] for trace in found]
    eight = np.array([entered[:8] for entered in members])
    return {
        "draws": len(rows),
        "complete": len(found),
        "incomplete": len(rows) - len(found),
        "grown": [int(trace["n_informative"].idxmax()) for trace in found],
        "sizes": [len(entered) for entered in members],
        "settled": int(rows["settled"][complete].sum()),
        "first_of_15": float((eight <= 15).mean()),
        "first_of_30": float((eight <= 30).mean()),
        "all_of_15": int((eight <= 15).all(axis=1).sum()),
    }


def table_of_rounds(record: Record) -> list[str]:
    rows = record.frame("rounds", draw=SHOWN).set_index("model")
    lines = [f"Fig. 3: rounds of {STAGES} in a 0.3-sparse crowd, experts right from .7 to .45; draw {SHOWN}", ""]
    lines.append(f"{'round':>10s} {'classes':>8s} {'log likelihood':>15s} {'largest I':>10s} {'|S|':>4s}  entered")
    for place, row in trace_of(rows.loc[STAGES]).iterrows():
        entered = ", ".join(map(str, row["entered"]))
        lines.append(
            f"{place:>10d} {int(row['n_components']):8d} {row['log_likelihood']:15.1f} {row['information']:10.4f} "
            f"{int(row['n_informative']):4d}  {entered}".rstrip()
        )
    truth = rows.loc[TRUE]
    lines.append(f"{TRUE:>10s} {N_CLASSES:8d} {truth['log_likelihood']:15.1f} {truth['information']:10.4f}")
    found = summary_of_draws(record)
    grown, sizes = found["grown"], found["sizes"]
    return [
        *lines,
        "",
        f"{found['draws']} draws: {found['complete']} come to three classes; in these S stops growing in round "
        f"{min(grown)} to {max(grown)} (median {np.median(grown):g})",
        f"with {min(sizes)} to {max(sizes)} members (median {np.median(sizes):g}), and {found['settled']} settle "
        "within 20 rounds; of the first 8 members",
        f"{found['first_of_15']:.0%} are among the 15 best annotators, {found['first_of_30']:.0%} among the 30 experts",
    ]


def draw_rounds(record: Record) -> Figure:
    rows = record.frame("rounds", draw=SHOWN).set_index("model")
    truth = {name: float(rows.loc[TRUE, name]) for name in ("log_likelihood", "information")}
    figure = Figure(figsize=(9.6, 2.9), layout="tight")
    plot_stagewise(trace_of(rows.loc[STAGES]), truth=truth, ax=figure)
    return figure


def information_after(record: Record) -> dict[int, tuple[pd.DataFrame, list[int]]]:
    """Return the table of all pairs, and the set, after each of `ROUNDS`; before the first, nobody has entered."""
    found = {}
    for _, row in record.frame("information").iterrows():
        table = np.full((N_ANNOTATORS, N_ANNOTATORS), np.nan)
        table[np.triu_indices(N_ANNOTATORS, 1)] = row["information"]
        names = range(1, N_ANNOTATORS + 1)
        table = np.where(np.isnan(table), table.T, table)
        stop = int(row["data"].split()[1])
        found[stop] = (pd.DataFrame(table, index=names, columns=names), row["set"] if stop else [])
    return found


def table_of_information(record: Record) -> list[str]:
    lines = [f"Fig. 4: mutual information of two annotators given the class, nats; draw {SHOWN}", ""]
    heads = ("round", "mean, experts", "mean, others", "largest, experts", "mean, S")
    lines.append("".join(f"{head:>18s}" for head in heads))
    for stop, (table, informative) in information_after(record).items():
        experts = table.index[:30]
        others = table.drop(index=experts, columns=experts)
        of_experts = table.loc[experts, experts]
        values = [np.nanmean(of_experts), np.nanmean(others), np.nanmax(of_experts)]
        if informative:
            values.append(np.nanmean(table.loc[informative, informative]))
        lines.append(f"{stop:18d}" + "".join(f"{value:18.4f}" for value in values))
    return lines


def draw_information(record: Record) -> Figure:
    """Draw the information after some rounds: of all, of the experts, and of the informative set."""
    figure = Figure(figsize=(10.4, 4.6), layout="constrained")
    grid = figure.subplots(2, 1 + len(ROUNDS))
    found = information_after(record)
    most = float(np.nanmax(found[0][0]))
    draw_matrix(found[0][0], found[0][0].index, grid[0, 0], "round 0, all", most)
    draw_matrix(found[0][0], [], grid[1, 0], "", most)
    for column, (stop, (table, informative)) in enumerate(found.items(), start=1):
        draw_matrix(table, table.index[:30], grid[0, column], f"round {stop}, experts", most)
        draw_matrix(table, informative, grid[1, column], f"round {stop}, S", most)
    bar = figure.colorbar(grid[0, 0].images[0], ax=list(grid.ravel()), shrink=0.7, aspect=30)
    bar.set_label("mutual information given the class (nats)", fontsize=SMALL, color=INK)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    return figure


def draw_matrix(table: pd.DataFrame, annotators: Sequence[int], ax: Axes, title: str, most: float) -> None:
    """Draw some annotators, by number if there are few; leave the axes empty if there are none."""
    if not len(annotators):
        ax.axis("off")
        return
    plot_conditional_information(table, annotators, ax=ax, vmax=most, labels=False, colorbar=False)
    ax.set_title(title, fontsize=9, color=INK)
    few = annotators if len(annotators) < 20 else []
    ax.set_yticks(range(len(few)), list(map(str, few)))
