"""The pinwheel: 500 points in five arms; 20 workers judge 49 pairs each of 100 of them, or there are no judgements."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.experiments import Cell, Part, Record
from benchmarks.papers.deep_parts.scores import HEAD, SHORT, line, scores
from consilience import Pairs
from consilience.deep import BayesSCDC
from consilience.simulation import simulate_pairs

DRAWS = range(10, 20)  # settings were tried on the first ten
JUDGED, ALONE = "with judgements", "no judgements"
PAPER = {  # accuracy, NMI, clusters left where given
    JUDGED: ".966, .94, 6",
    ALONE: ".956, .91, 8 from a good start; .756, .806 from a bad one",
}


def models(seed: int) -> dict[str, Any]:
    return {
        "BayesSCDC": BayesSCDC(15, n_init=10, hidden=(40, 40), batch_size=50, random_state=seed),
        "as published": BayesSCDC.as_published("pinwheel", n_init=10, random_state=seed),
        "full gradient": BayesSCDC.as_published("pinwheel", n_init=10, full_gradient=True, random_state=seed),
    }


def cells() -> Iterator[Cell]:
    for data in PAPER:
        for seed in DRAWS:
            for name, model in models(seed).items():
                yield Cell("pinwheel", data, name, seed, model)


def compute(cell: Cell) -> dict[str, Any]:
    points, arm = pinwheel_points(cell.draw)
    pairs = judgements(arm, cell.draw) if cell.data == JUDGED else None
    start = time.perf_counter()
    model = clone(cell.estimator).fit(pd.DataFrame(points), pairs)
    return scores(model, arm, time.perf_counter() - start)


def judgements(arm: np.ndarray, draw: int) -> Pairs:
    """Return those of the paper: 20 workers judge 49 pairs each of the same 100 points."""
    some = pd.Series(arm).sample(100, random_state=draw)
    return simulate_pairs(some, 20, 49, 0.9, random_state=draw).reindex(pd.RangeIndex(len(arm)))


def pinwheel_points(seed: int, n_arms: int = 5, each: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised points along winding arms, and the arms."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_arms * each, 2)) * [0.3, 0.05] + [1, 0]
    arm = np.repeat(np.arange(n_arms), each)
    angle = 2 * np.pi * arm / n_arms + 0.25 * np.exp(points[:, 0])
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], 1).reshape(-1, 2, 2)
    turned = np.einsum("ni,nij->nj", points, turn)
    return (turned - turned.mean(0)) / turned.std(0), arm


def table(record: Record) -> list[str]:
    lines = ["pinwheel: 500 points in 5 arms, 15 clusters at most, best of ten restarts; mean ± sd of seeds"]
    rows = record.frame("pinwheel")
    for data, paper in PAPER.items():
        lines += ["", data, HEAD]
        own = rows[rows["data"] == data]
        lines += [line(name, own[own["model"] == name], paper) for name in own["model"].unique()]
    return lines


def quotes(record: Record) -> dict[str, Any]:
    rows = record.frame("pinwheel")
    ours = {data: rows[(rows["data"] == data) & (rows["model"] == "BayesSCDC")] for data in PAPER}
    published = rows[rows["model"] == "as published"]
    of_published = published.groupby("data")[["accuracy", "ami"]].mean()
    full = rows[rows["model"] == "full gradient"].groupby("data")[["accuracy", "ami"]].mean()
    return {
        "draws": len(DRAWS),
        "judged": ours[JUDGED]["accuracy"].mean(),
        "alone": ours[ALONE]["accuracy"].mean(),
        "clusters": ours[JUDGED]["clusters"].tolist(),
        "clusters_alone": ours[ALONE]["clusters"].tolist(),
        "published": published["accuracy"].max(),
        "published_judged": of_published.loc[JUDGED].to_dict(),
        "published_alone": of_published.loc[ALONE].to_dict(),
        "full_judged": full.loc[JUDGED].to_dict(),
        "full_alone": full.loc[ALONE].to_dict(),
    }


PART = Part("pinwheel", cells, compute, short=SHORT)
