"""How many sorts are enough: 6000 handwritten digits, and some or all sheets of 36 that people sorted; or none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.experiments import Cell, Part, Record
from benchmarks.papers.deep_parts.scores import SHORT, scores, spread
from consilience import Groupings
from consilience.datasets import load_mnist_crowd
from consilience.deep import BayesSCDC

N_IMAGES = 6000
NUMBERS = {"no sheet": 0, "2 sheets": 2, "5 sheets": 5, "10 sheets": 10, "20 sheets": 20, "all": None}
DRAWS = range(13, 15)  # the defaults were chosen on draws 1, 2, 10, 12 and 100
DEEP = "BayesSCDC, defaults"


def cells() -> Iterator[Cell]:
    for draw in DRAWS:
        for data in NUMBERS:
            yield Cell("sheets", data, DEEP, draw, BayesSCDC(likelihood="bernoulli", random_state=draw))


def compute(cell: Cell) -> dict[str, Any]:
    features, truth, said = images(cell.draw, NUMBERS[cell.data])
    start = time.perf_counter()
    model = clone(cell.estimator).fit(features, said)
    judged = 0 if said is None else said.to_frame()["item"].nunique()
    return {"judged": judged} | scores(model, truth, time.perf_counter() - start)


def images(seed: int, n_sheets: int | None = None) -> tuple[pd.DataFrame, np.ndarray, Groupings | None]:
    """Return images, their digits, and sheets that people sorted: so many, or all of them.

    There are all images of the sheets, and others up to `N_IMAGES`.
    """
    crowd = load_mnist_crowd(all_images=True)
    names, answers = crowd.annotations.items, crowd.annotations.to_frame()
    if n_sheets is not None:
        sheets = answers[["annotator", "grouping"]].drop_duplicates().sample(n_sheets, random_state=seed)
        answers = answers.merge(sheets)
    on_sheets = names.isin(answers["item"])
    others = np.random.default_rng(seed).permutation(np.flatnonzero(~on_sheets))
    rows = np.sort(np.concatenate([np.flatnonzero(on_sheets), others[: N_IMAGES - on_sheets.sum()]]))
    pixels = pd.DataFrame(np.asarray(crowd.data, float)[rows] / 255, index=names[rows])
    said = Groupings.from_frame(answers).reindex(pixels.index) if len(answers) else None
    return pixels, np.asarray(crowd.target)[rows], said


def table(record: Record) -> list[str]:
    rows = record.frame("sheets")
    lines = [
        f"{N_IMAGES} digits, defaults alone, by the number of sheets of 36 that people sorted; {len(DRAWS)} draws",
        "",
    ]
    lines.append(f"{'':14s}{'judged':>8s}{'accuracy':>16s}{'NMI':>16s}{'clusters':>12s}{'a fit':>9s}")
    for data in NUMBERS:
        own = rows[rows["data"] == data]
        scored = f"{spread(own['accuracy']):>16s}{spread(own['nmi']):>16s}{own['clusters'].mean():12.1f}"
        lines.append(f"{data:14s}{own['judged'].mean():8.0f}{scored}{own['seconds'].mean():7.0f} s")
    return lines


def quotes(record: Record) -> dict[str, Any]:
    accuracy = record.frame("sheets").groupby("data", sort=False)["accuracy"]
    return {"draws": len(DRAWS), "accuracy": accuracy.mean().to_dict(), "least": accuracy.min().to_dict()}


PART = Part("sheets", cells, compute, short=SHORT)
