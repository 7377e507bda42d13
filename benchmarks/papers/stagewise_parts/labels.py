"""Table 1: errors on real labels, ours and those of the methods of crowd-kit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import crowdkit.aggregation as crowdkit
import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.experiments.statistics import paired
from benchmarks.papers.stagewise_parts.setting import (
    DEFAULT,
    MODELS,
    STAGES,
    seeded,
)
from consilience import Labels
from consilience.consensus import MajorityVote, StagewiseEM
from consilience.datasets import load_crowd_labels

N_SEEDS = 10
DATA = ("bluebird", "dog", "rte")
PUBLISHED = {  # error on bluebird and dog, %; the paper's size of the set
    "StagewiseEM(refine='all')": ("10.19", "16.73"),
    STAGES: ("12.04, |S| 11", "20.69, |S| 14"),
    "DawidSkene(prior=None)": ("11.11", "16.66"),
    "SpectralEM": ("11.57 (11.11 to 12.04)", ""),
}
PEERS = ("MajorityVote", "DawidSkene", "OneCoinDawidSkene", "MMSR", "Wawa", "ZeroBasedSkill", "KOS", "GLAD", "MACE")
RANDOM = ("SpectralEM", "crowd-kit MMSR", "crowd-kit KOS", "crowd-kit MACE")


def cells_of_labels() -> Iterator[Cell]:
    for data in DATA:
        for name in MODELS:
            for seed in range(N_SEEDS if name in RANDOM else 1):
                yield Cell("labels", data, name, seed, seeded(name, seed))
        for name in (f"crowd-kit {peer}" for peer in PEERS if (peer, data) != ("KOS", "dog")):  # KOS: two labels only
            for seed in range(N_SEEDS if name in RANDOM else 1):
                yield Cell("labels", data, name, seed, settings={"random_state": seed} if name in RANDOM else {})


def compute_labels(cell: Cell) -> dict[str, Any]:
    """Return the wrong items, by position; the size of the informative set; items with a tie of votes."""
    bunch = load_crowd_labels(cell.data)
    labels, truth = bunch.annotations, np.asarray(bunch.target_names)[bunch.target]
    figures = {"n_items": len(labels), "n_annotators": labels.n_annotators}
    if cell.estimator is None:
        found = crowdkit_labels(cell.model.split()[1], labels, **cell.settings)
    else:
        model = clone(cell.estimator).fit(labels)
        found = np.asarray(model.labels_)
        if isinstance(model, StagewiseEM):
            figures["size"] = len(model.informative_set_)
        if isinstance(model, MajorityVote):
            figures["tied"] = n_tied(labels)
    return figures | {"wrong": np.flatnonzero(found != truth)}


def n_tied(labels: Labels) -> int:
    """Return how many items have as many votes for the most frequent class as for another."""
    table = labels.to_frame()
    votes = np.sort(pd.crosstab(table["item"], table["label"]).to_numpy(), axis=1)
    return int((votes[:, -1] == votes[:, -2]).sum())


def crowdkit_labels(name: str, labels: Labels, **settings: Any) -> np.ndarray:
    """Return the labels of a method of crowd-kit at its defaults, by item."""
    frame = labels.to_frame().set_axis(["task", "worker", "label"], axis=1)
    method = getattr(crowdkit, name)(**settings)
    if name in ("Wawa", "ZeroBasedSkill"):
        found = crowdkit.MajorityVote().fit_predict(frame, skills=method.fit(frame).skills_)
    else:
        found = method.fit_predict(frame)
    return found.reindex(labels.items).to_numpy()


def wrong_items(record: Record, data: str) -> dict[str, np.ndarray]:
    """Return for each method 100 where a seed has an item wrong, else 0, of shape (seeds, items)."""
    rows = record.frame("labels", data=data)
    found = {}
    for name, own in rows.groupby("model", sort=False):
        wrong = np.zeros((len(own), own["n_items"].iloc[0]))
        for place, items in enumerate(own["wrong"]):
            wrong[place, items] = 100.0
        found[name] = wrong
    return found


def table_of_labels(record: Record) -> list[str]:
    rows = record.frame("labels", draw=0).set_index(["data", "model"])
    lines = [
        f"Table 1: error, %, on real labels; random methods: mean ± sd (best to worst) of {N_SEEDS} seeds; |S| is the",
        "size of the set; points above StagewiseEM ± standard error of the paired difference over items",
    ]
    for place, data in enumerate(DATA):
        wrong = wrong_items(record, data)
        title = f"{data}, {rows.loc[(data, DEFAULT), 'n_annotators']} annotators"
        lines += ["", f"{title:28s}{'error':>30s}   {'[published]':26s}above StagewiseEM"]
        for name, items in wrong.items():
            error = items.mean(1)
            cell = f"{error.mean():.2f}"
            if len(items) > 1:
                cell += f" ± {error.std(ddof=1):.2f} ({error.min():.2f} to {error.max():.2f})"
            if not np.isnan(size := rows.loc[(data, name), "size"]):
                cell += f", |S| {size:.0f}"
            there = (*PUBLISHED.get(name, ("", "")), "")[place]
            gap = paired(items.mean(0), wrong[DEFAULT].mean(0))
            against = "" if name == DEFAULT else f"{gap.mean:+6.2f} ± {gap.error:.2f}"
            lines.append(f"{name:28s}{cell:>30s}   {f'[{there}]' if there else '':26s}{against}".rstrip())
    return lines


def quotes_of_labels(record: Record) -> dict[str, Any]:
    """Count the methods below and above the default on real labels."""
    rows = record.frame("labels", draw=0).set_index(["data", "model"])
    found: dict[str, dict[str, Any]] = {}
    for data in DATA:
        wrong = wrong_items(record, data)
        gaps = [paired(items.mean(0), wrong[DEFAULT].mean(0)) for name, items in wrong.items() if name != DEFAULT]
        verdicts = [gap.verdict for gap in gaps]
        refined = "StagewiseEM(refine='all')"
        counts = {
            "others": len(gaps),
            "best": verdicts.count("above"),
            "level": verdicts.count("level"),
            "below": sum(gap.mean < 0 for gap in gaps),
            "clearly_below": verdicts.count("below"),
            "error": {"refined": f"{wrong[refined].mean():.2f}", "stages": f"{wrong[STAGES].mean():.2f}"},
            "size": {"stages": int(rows.loc[(data, STAGES), "size"])},
        }
        for name, count in counts.items():
            found.setdefault(name, {})[data] = count
    return found


def is_constant(record: Record, name: str) -> bool:
    """Whether a random method has the same number of wrong items from every seed, on every data set."""
    rows = record.frame("labels", model=name)
    return all(wrong.map(len).eq(len(wrong.iloc[0])).all() for _, wrong in rows.groupby("data")["wrong"])
