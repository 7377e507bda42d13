"""Two planted views of 600 items with six features: how often MCVC finds both."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments import Cell, Part, Record
from consilience import Pairs
from consilience.metrics import nmi
from consilience.semisupervised import MCVC
from consilience.simulation import simulate_pairs

N_DRAWS = 10


def cells() -> Iterator[Cell]:
    for seed in range(N_DRAWS):
        yield Cell("planted", "two views", "MCVC", seed, MCVC(3, random_state=0))


def compute(cell: Cell) -> dict[str, Any]:
    """Fit data of two views of 3 clusters, each determined by three of six features."""
    rng = np.random.default_rng(cell.draw)
    clusters = [rng.integers(3, size=600) for _ in range(2)]
    blocks = [3.5 * np.linalg.qr(rng.normal(size=(3, 3)))[0][own] + rng.normal(size=(600, 3)) for own in clusters]
    features = np.column_stack(blocks)
    parts = []
    for view, own in enumerate(clusters):
        accuracy = np.linspace(0.95, 0.70, 10)
        part = simulate_pairs(own, 10, 400, accuracy, random_state=10 * cell.draw + view).to_frame()
        parts.append(part.assign(annotator=f"view {view} " + part["annotator"].astype(str)))
    judged = Pairs.from_frame(pd.concat(parts), items=range(600))
    start = time.perf_counter()
    model = clone(cell.estimator).fit((features - features.mean(0)) / features.std(0), judged)
    return {
        "seconds": time.perf_counter() - start,
        "nmi": [max(nmi(own, model.view_labels_[v]) for v in model.view_labels_) for own in clusters],
        "ari": adjusted_rand_score(model.annotators_.index.str[:6], model.annotators_["view"]),
    }


def quotes(record: Record) -> dict[str, Any]:
    rows = record.frame("planted")
    right = (rows["nmi"].map(min) >= 0.95) & (rows["ari"] == 1)
    return {"draws": len(rows), "right": int(right.sum()), "least": rows["nmi"].map(min).min()}


def table(record: Record) -> list[str]:
    found = quotes(record)
    lines = [
        "two planted views: found with NMI of at least .95, every annotator in the right one, in "
        f"{found['right']} of {found['draws']} draws",
        "",
    ]
    for _, row in record.frame("planted").iterrows():
        values = " / ".join(f"{value:.3f}" for value in row["nmi"])
        lines.append(f"    draw {row['draw']}: NMI {values}, annotators' ARI {row['ari']:.3f}, {row['seconds']:.1f} s")
    return lines


PART = Part("planted", cells, compute)
