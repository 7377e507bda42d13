"""Fig. 5: errors in sparse crowds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.experiments.statistics import paired
from benchmarks.papers.stagewise_parts.setting import (
    DEFAULT,
    MODELS,
    N_ANNOTATORS,
    N_DRAWS,
    TRUE,
    draw,
    scores_under,
    seeded,
)
from consilience.consensus import StagewiseEM
from consilience.inspection.plots.style import INK, colour, marker, tidy

ALPHAS = (0.05, 0.10, 0.15, 0.20)


def cells_of_errors() -> Iterator[Cell]:
    for alpha in ALPHAS:
        for seed in range(N_DRAWS):
            for name in MODELS:
                yield Cell("errors", f"{alpha:.2f}", name, seed, seeded(name, 0))
            yield Cell("errors", f"{alpha:.2f}", TRUE, seed)


def compute_errors(cell: Cell) -> dict[str, Any]:
    """Return the error, and of the informative set how many are experts and others."""
    alpha = float(cell.data)
    crowd, classes, labels = draw(alpha, 0.6, cell.draw)
    if cell.model == TRUE:
        return {"error": float((scores_under(crowd, labels).argmax(1) != classes).mean())}
    model = clone(cell.estimator).fit(labels)
    found = {"error": float((model.labels_ != classes).mean())}
    if isinstance(model, StagewiseEM):
        experts, members = set(labels.annotators[: round(alpha * N_ANNOTATORS)]), set(model.informative_set_)
        found |= {"experts": len(members & experts), "others": len(members - experts)}
        found |= {"classes": int(model.n_components_)}
    return found


def errors(record: Record) -> pd.DataFrame:
    """Return errors by α and draw, a column for each model."""
    return record.frame("errors").pivot_table(index=["data", "draw"], columns="model", values="error")


def exact_sets(record: Record) -> pd.DataFrame:
    """Return for each draw whether the set of the default is exactly the set of experts, and others in it."""
    rows = record.frame("errors", model=DEFAULT).set_index(["data", "draw"])
    n_experts = rows.index.get_level_values("data").astype(float) * N_ANNOTATORS
    exact = (rows["experts"] == n_experts.to_numpy().round()) & (rows["others"] == 0)
    return pd.DataFrame({"exact": exact, "others": rows["others"]})


def table_of_errors(record: Record) -> list[str]:
    found = errors(record)

    def row(name: str, cells: Any) -> str:
        return f"{name:26s}" + "".join(f"{cell:>29s}" for cell in cells)

    lines = [f"Fig. 5: error over {N_DRAWS} draws of an α-sparse crowd: mean ± sd (best to worst)", ""]
    lines.append(row("", (f"α = {alpha:.2f}" for alpha in ALPHAS)))
    for name in (*MODELS, TRUE):
        cells = found[name].groupby("data").agg(["mean", "std", "min", "max"]).to_numpy()
        lines.append(row(name, (f"{mean:.3f} ± {sd:.3f} ({low:.3f} to {high:.3f})" for mean, sd, low, high in cells)))
    lines += ["", row("above the true model ± se", ("" for _ in ALPHAS)).rstrip()]
    for name in MODELS:
        gaps = [paired(found.loc[f"{alpha:.2f}", name], found.loc[f"{alpha:.2f}", TRUE]) for alpha in ALPHAS]
        lines.append(row(name, (f"{gap.mean:+.4f} ± {gap.error:.4f}" for gap in gaps)))
    sets = exact_sets(record).groupby("data").sum()
    lines += ["", row("S exactly the experts", (f"{n} of {N_DRAWS}" for n in sets["exact"]))]
    lines.append(row("others in S, all draws", (f"{n:.0f}" for n in sets["others"])))
    return lines


def draw_errors(record: Record) -> Figure:
    """Draw mean errors against α, shaded from the best to the worst."""
    figure = Figure(figsize=(7.6, 4.0), layout="constrained")
    ax = figure.subplots()
    for place, name in enumerate((*MODELS, TRUE)):
        cells = errors(record)[name].groupby("data").agg(["mean", "min", "max"])
        look = {"color": colour(place), "marker": marker(place)}
        if name == TRUE:
            look = {"color": INK, "ls": "--", "zorder": 5}
        ax.plot(ALPHAS, cells["mean"], ms=5, lw=1.4, label=name, **look)
        ax.fill_between(ALPHAS, cells["min"], cells["max"], color=look["color"], alpha=0.08, lw=0)
    ax.set_xticks(ALPHAS)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("share of experts α", color=INK)
    ax.set_ylabel("error", color=INK)
    tidy(ax)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    return figure
