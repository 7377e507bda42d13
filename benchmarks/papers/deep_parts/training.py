"""Clusters, latent space and generated images during training, as in the paper's figures 2 and 4."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Part, Record
from benchmarks.papers.deep_parts import pinwheel
from benchmarks.papers.deep_parts.digits import N_SAMPLES, packed, unpacked
from benchmarks.papers.deep_parts.scores import scores
from benchmarks.papers.deep_parts.sheets import images
from benchmarks.papers.paper_plots.deep import draw_samples
from consilience.analysis.studies.clusters import matched_to
from consilience.deep import BayesSCDC
from consilience.inspection.plots.style import SMALL, colour, marker, tidy

EPOCHS = (1, 7, 25, 200)
PINWHEEL, DIGITS = "pinwheel", "digits"
DRAW = 10
SETTINGS: dict[str, Any] = {"n_init": 1, "random_state": DRAW}
MODELS = {
    PINWHEEL: BayesSCDC(15, hidden=(40, 40), batch_size=50, **SETTINGS),
    DIGITS: BayesSCDC(50, hidden=(500, 500), likelihood="bernoulli", **SETTINGS),
}


def cells() -> Iterator[Cell]:
    for data, model in MODELS.items():
        for n_epochs in EPOCHS:
            yield Cell("training", data, name(n_epochs), DRAW, clone(model).set_params(n_epochs=n_epochs))


def name(n_epochs: int) -> str:
    return f"{n_epochs} epochs" if n_epochs > 1 else "1 epoch"


def compute(cell: Cell) -> dict[str, Any]:
    if cell.data == PINWHEEL:
        points, truth = pinwheel.pinwheel_points(cell.draw)
        features, said = pd.DataFrame(points), pinwheel.judgements(truth, cell.draw)
    else:
        features, truth, said = images(cell.draw)
    start = time.perf_counter()
    model = clone(cell.estimator).fit(features, said)
    seconds = time.perf_counter() - start
    if cell.data == PINWHEEL:
        shown = {"positions": model.transform(features), "labels": model.labels_}
    else:
        drawn = [model.sample(N_SAMPLES, cluster=k, random_state=k)[0] for k in range(model.n_clusters_)]
        shown = {"images": packed(np.concatenate(drawn)), "shares": np.asarray(model.weights_, float)}
    return shown | scores(model, truth, seconds)


def rows_of(record: Record, data: str) -> list[dict[str, Any]]:
    return [record.rows["training", data, name(n_epochs), DRAW]["figures"] for n_epochs in EPOCHS]


def draw_pinwheel(record: Record) -> Figure:
    """Draw the points and their latent positions; clusters have the colours and shapes of the last."""
    points, _ = pinwheel.pinwheel_points(DRAW)
    figure = Figure(figsize=(8.6, 4.5), layout="constrained")
    axes = figure.subplots(2, len(EPOCHS))
    rows = rows_of(record, PINWHEEL)
    last = np.asarray(rows[-1]["labels"])
    for column, (n_epochs, row) in enumerate(zip(EPOCHS, rows, strict=True)):
        labels = matched_to(last, np.asarray(row["labels"]))
        for axis, places in zip(axes[:, column], (points, np.asarray(row["positions"])), strict=True):
            for k in range(labels.max() + 1):
                own = places[labels == k]
                axis.scatter(*own.T, s=7, color=colour(k), marker=marker(k), linewidths=0.5)
            axis.set_xticks([])
            axis.set_yticks([])
            tidy(axis)
        axes[0, column].set_title(f"{name(n_epochs)}: {row['clusters']} clusters, {row['accuracy']:.2f}", fontsize=9)
    for axis, text in zip(axes[:, 0], ("features", "latent space"), strict=True):
        axis.set_ylabel(text, fontsize=SMALL)
    return figure


def draw_digits(record: Record) -> Figure:
    """Draw the paper's figure 4a during training: images of the clusters."""
    figure = Figure(figsize=(8.6, 5), layout="constrained")
    parts = figure.subfigures(2, 2, wspace=0.04).ravel()
    for part, n_epochs, row in zip(parts, EPOCHS, rows_of(record, DIGITS), strict=True):
        shares = np.asarray(row["shares"])
        draw_samples(unpacked(row["images"], len(shares)), shares, ax=part)
        part.suptitle(f"{name(n_epochs)}: accuracy {row['accuracy']:.2f}", fontsize=9)
    return figure


PART = Part("training", cells, compute, short={"n_epochs": 1})
