"""What works on labels of people: the models of labels and those of crowd-kit, against the vote.

Nine recorded sets, three of them again with two and three labels an item, and simulated crowds in which one annotator
in eight labels at random. Draws are numbered: settings may be chosen on even ones, and the odd ones are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.experiments.statistics import mean_sd
from benchmarks.people.label_crowds import RECORDED, SIMULATED, THINNED, Crowd, recorded, simulated, thinned
from benchmarks.people.label_methods import (
    DEFAULT,
    LIMIT,
    MODELS,
    N_BINS,
    PEERS,
    SEEDED,
    SMALLEST,
    VOTE,
    figures,
)

DRAWS = (1, 3, 5, 7, 9)
PARTS = {"recorded": RECORDED, "thinned": tuple(THINNED), "simulated": tuple(SIMULATED)}
SLOW = {"crowd-kit GLAD": ("adult", "fact_eval"), "crowd-kit MMSR": ("adult",)}  # more than a minute a fit
SLOWER = ("crowd-kit GLAD", "crowd-kit MACE")  # of simulated crowds, only those with three labels an item
MARGIN = 0.01  # below the vote by more is worse
SIZES = ("n_items", "n_annotators", "n_labels", "n_classes", "n_truths")


def methods_of(part: str, data: str) -> Iterator[str]:
    """Yield the methods that are run on a data set."""
    yield from MODELS
    for name in (f"crowd-kit {peer}" for peer in PEERS):
        is_left_out = part == "simulated" and name in SLOWER and SIMULATED[data].each != 3
        if data not in SLOW.get(name, ()) and not is_left_out:
            yield name
    if part == "simulated":
        yield LIMIT


def cells_of(part: str) -> Iterator[Cell]:
    for data in PARTS[part]:
        for draw in DRAWS[:1] if part == "recorded" else DRAWS:
            for name in methods_of(part, data):
                model = clone(MODELS[name]) if name in MODELS else None
                seed = {"random_state": draw} if name in SEEDED else {}
                if model is not None:
                    yield Cell(part, data, name, draw, model.set_params(**seed))
                else:
                    yield Cell(part, data, name, draw, settings=seed)


def computed(cell: Cell, crowd: Crowd) -> dict[str, Any]:
    """Return the figures of a method, and the sizes of the crowd."""
    labels = crowd.labels
    counts = (labels.n_items, labels.n_annotators, labels.n_rows, labels.n_classes, (crowd.truth >= 0).sum())
    return dict(zip(SIZES, map(int, counts))) | figures(cell.model, crowd, cell.estimator, dict(cell.settings))


def compute_recorded(cell: Cell) -> dict[str, Any]:
    return computed(cell, recorded(cell.data))


def compute_thinned(cell: Cell) -> dict[str, Any]:
    return computed(cell, thinned(cell.data, cell.draw))


def compute_simulated(cell: Cell) -> dict[str, Any]:
    return computed(cell, simulated(cell.data, cell.draw))


def cells_of_recorded() -> Iterator[Cell]:
    return cells_of("recorded")


def cells_of_thinned() -> Iterator[Cell]:
    return cells_of("thinned")


def cells_of_simulated() -> Iterator[Cell]:
    return cells_of("simulated")


# ---- tables


def table_of(record: Record, part: str, data: str) -> list[str]:
    """Return the methods on one data set, by accuracy."""
    rows = record.frame(part, data=data)
    size = rows.iloc[0]
    several = part != "recorded"
    people = f"about {rows['n_annotators'].mean():.0f}" if part == "thinned" else size["n_annotators"]
    classes = "" if part == "simulated" else f", {size['n_classes']} classes"
    truths = "" if size["n_truths"] == size["n_items"] else f", {size['n_truths']} of them with a known class"
    draws = f"; mean ± sd of {rows['draw'].nunique()} draws" if several else ""
    width = 15 if several else 8
    lines = [
        f"{data}: {size['n_items']} items{truths}, {people} annotators, {size['n_labels']} labels{classes}{draws}",
        f"{'':34s}{'accuracy':>{width}s}{'log loss':>{width + 2}s}{'ECE':>{width + 2}s}{'seconds':>10s}",
    ]
    means = rows.groupby("model", sort=False)["accuracy"].mean().sort_values(ascending=False, kind="stable")
    for name in means.index:
        own = rows[rows["model"] == name]
        cells = [spread(own[figure], several) for figure in ("accuracy", "log_loss", "calibration")]
        failed = own["no_answer"].ne("").sum()
        note = f"   no answer in {failed} of {len(own)}" if failed else ""
        lines.append(
            f"{name:34s}{cells[0]:>{width}s}{cells[1]:>{width + 2}s}{cells[2]:>{width + 2}s}"
            f"{own['seconds'].mean():10.2f}{note}"
        )
    return lines


def spread(values: pd.Series, several: bool) -> str:
    """Return a figure, or its mean and standard deviation over draws."""
    if values.isna().any():
        return "-"
    return mean_sd(values) if several else f"{values.iloc[0]:.3f}"


def means_of(record: Record, part: str) -> pd.DataFrame:
    """Return means over draws, one row for each data set and method, with the vote's accuracy and log loss."""
    rows = record.frame(part)
    found = rows.groupby(["data", "model"], sort=False)[["accuracy", "log_loss", "calibration", "seconds"]].mean()
    vote = found.xs(VOTE, level="model")
    return found.reset_index().join(vote[["accuracy", "log_loss"]].add_prefix("vote_"), on="data")


def summary(record: Record, part: str) -> pd.DataFrame:
    """Return for each method its means over data sets, and those less the vote's on the same data sets."""
    rows = means_of(record, part)
    rows["lead"] = rows["accuracy"] - rows["vote_accuracy"]
    rows["loss"] = rows["log_loss"] - rows["vote_log_loss"]
    by_method = rows.groupby("model", sort=False)
    found = by_method[["accuracy", "lead", "log_loss", "loss", "calibration", "seconds"]].mean()
    found["sets"] = by_method.size()
    found["worse"] = by_method["lead"].agg(lambda lead: int((lead < -MARGIN).sum()))
    found["better"] = by_method["lead"].agg(lambda lead: int((lead > MARGIN).sum()))
    return found.sort_values("lead", ascending=False, kind="stable")


def table_of_summary(record: Record, part: str, title: str) -> list[str]:
    lines = [
        title,
        f"{'':34s}{'':>5s}{'accuracy':>18s}{'':13s}{'log loss':>12s}",
        f"{'':34s}{'sets':>5s}{'mean':>9s}{'- vote':>9s}{'better':>8s}{'worse':>7s}{'mean':>8s}{'- vote':>9s}"
        f"{'ECE':>8s}{'seconds':>10s}",
    ]
    for name, row in summary(record, part).iterrows():
        losses = [signed(row["log_loss"], False), signed(row["loss"]), signed(row["calibration"], False)]
        lines.append(
            f"{name:34s}{row['sets']:5.0f}{row['accuracy']:9.3f}{row['lead']:+9.3f}{row['better']:8.0f}"
            f"{row['worse']:7.0f}{losses[0]:>8s}{losses[1]:>9s}{losses[2]:>8s}{row['seconds']:10.2f}"
        )
    return lines


def signed(value: float, sign: bool = True) -> str:
    return "-" if np.isnan(value) else f"{value:+.3f}" if sign else f"{value:.3f}"


def tables(record: Record) -> dict[str, str]:
    summaries = [
        table_of_summary(record, "recorded", f"{len(RECORDED)} recorded sets"),
        table_of_summary(
            record, "thinned", f"{len(THINNED)} recorded crowds with few labels, of {len(DRAWS)} draws each"
        ),
        table_of_summary(
            record, "simulated", f"{len(SIMULATED)} kinds of simulated crowds, of {len(DRAWS)} draws each"
        ),
    ]
    found = {"labels.txt": summaries}
    for part, names in PARTS.items():
        found[f"labels_{part}.txt"] = [table_of(record, part, data) for data in names]
    return {name: "\n\n\n".join("\n".join(lines) for lines in blocks) + "\n" for name, blocks in found.items()}


# ---- what the sentences quote


def names_where(rows: pd.DataFrame, model: str, is_so: Callable[[pd.Series], pd.Series]) -> list[str]:
    """Return the data sets where the lead of a method over the vote is so, with the lead."""
    own = rows[rows["model"] == model]
    lead = own["accuracy"] - own["vote_accuracy"]
    return [f"{data} ({gap:+.3f})" for data, gap in zip(own["data"], lead) if is_so(gap)]


def listed(names: list[str]) -> str:
    """Return names as a sentence lists them."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def quotes_of(record: Record, part: str) -> dict[str, Any]:
    found, rows = summary(record, part), means_of(record, part)
    whole = found[(found["sets"] == found["sets"].max()) & (found.index != LIMIT)]
    methods = rows[rows["model"] != LIMIT]
    best = methods["accuracy"] >= methods.groupby("data")["accuracy"].transform("max") - 1e-9
    frame = record.frame(part)
    failed = frame[frame["no_answer"] != ""].groupby("model").size()
    return {
        "sets": int(found["sets"].max()),
        "table": found.to_dict("index"),
        "most_accurate": whole["accuracy"].idxmax(),
        "least_loss": whole["log_loss"].idxmin(),
        "least_calibration": whole["calibration"].idxmin(),
        "best": methods[best].groupby("model").size().to_dict(),
        "worse": {name: listed(names_where(rows, name, lambda gap: gap < -MARGIN)) for name in MODELS},
        "better": {name: listed(names_where(rows, name, lambda gap: gap > MARGIN)) for name in MODELS},
        "never_worse": listed([name for name in whole.index if whole["worse"][name] == 0 and name != VOTE]),
        "failed": listed([f"{name} {count}" for name, count in failed.items()]),
        "n_failed": int(failed.sum()),
        "rows": len(frame),
    }


def quotes(record: Record) -> dict[str, Any]:
    return {part: quotes_of(record, part) for part in PARTS} | {
        "default": DEFAULT,
        "limit": LIMIT,
        "draws": listed(list(map(str, DRAWS))),
        "bins": N_BINS,
        "smallest": f"{SMALLEST:.0e}",
        "slow": {name: listed(list(sets)) for name, sets in SLOW.items()},
    }


PAGE = Page(
    "labels",
    parts=(
        Part("recorded", cells_of_recorded, compute_recorded),
        Part("thinned", cells_of_thinned, compute_thinned),
        Part("simulated", cells_of_simulated, compute_simulated),
    ),
    tables=tables,
    quotes=quotes,
    package="people",
)
