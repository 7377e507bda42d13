"""Handwritten digits: 60 000 pictures; 48 workers grouped 2759 of them, 36 at a time, or there are no annotations."""

from __future__ import annotations

import base64
import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Part, Record
from benchmarks.papers.deep_parts.scores import HEAD, SHORT, line, scores
from benchmarks.papers.paper_plots.deep import draw_samples
from consilience.datasets import load_mnist_crowd
from consilience.deep import SCDC, BayesSCDC

JUDGED, ALONE = "with the crowd", "without annotations"
MODELS = ("BayesSCDC", "SCDC")
DRAWS, FEWER = range(10, 15), range(10, 13)  # settings were tried on draws 0 to 4
DRAWN = 10  # the fit whose images are drawn
N_SAMPLES = 6
PAPER = {
    (JUDGED, "SCDC"): ".8187, .7657",
    (ALONE, "SCDC"): ".6592, .6953",
    (JUDGED, "BayesSCDC"): ".8424, .8120",
    (ALONE, "BayesSCDC"): ".7764, .7944",
}
PICTURES: dict[str, Any] = {
    "n_latent": 10, "hidden": (500, 500), "likelihood": "bernoulli", "annotated_weight": 10.0, "implied_pairs": "all",
    "n_epochs": 10, "n_init": 1,
}  # fmt: skip


def model_of(name: str, data: str, seed: int) -> Any:
    warm = 12 if data == JUDGED else 30
    if name == "SCDC":
        return SCDC(10, warm_epochs=warm, n_candidates=2, **PICTURES, random_state=seed)
    return BayesSCDC(50, warm_epochs=warm, **PICTURES, random_state=seed)


def draws_of(data: str, name: str) -> range:
    return DRAWS if name == "BayesSCDC" else FEWER


def cells() -> Iterator[Cell]:
    for data, name in PAPER:
        for seed in draws_of(data, name):
            yield Cell("digits", data, name, seed, model_of(name, data, seed))


def compute(cell: Cell) -> dict[str, Any]:
    """Return the scores, and for one fit images of the clusters."""
    crowd = load_mnist_crowd(all_images=True)
    pixels = pd.DataFrame(np.asarray(crowd.data, float) / 255, index=crowd.annotations.items)
    start = time.perf_counter()
    model = clone(cell.estimator).fit(pixels, crowd.annotations if cell.data == JUDGED else None)
    seconds = time.perf_counter() - start
    images = {}
    if (cell.data, cell.model, cell.draw) == (JUDGED, "BayesSCDC", DRAWN):
        drawn = [model.sample(N_SAMPLES, cluster=k, random_state=k)[0] for k in range(model.n_clusters_)]
        images = {"images": packed(np.concatenate(drawn)), "shares": np.asarray(model.weights_, float)}
    return images | scores(model, np.asarray(crowd.target), seconds)


def packed(images: np.ndarray) -> str:
    """Return images in 256 shades of grey as text."""
    return base64.b64encode(zlib.compress(np.rint(255 * np.clip(images, 0, 1)).astype(np.uint8).tobytes(), 9)).decode()


def unpacked(text: str, n_clusters: int) -> np.ndarray:
    """Return images from text, shape (n_clusters, N_SAMPLES, 28, 28), from 0 to 1."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8) / 255
    return flat.reshape(n_clusters, N_SAMPLES, 28, 28)


def draw(record: Record) -> Figure:
    """Draw the paper's figure 4a: images of the clusters."""
    row = next(row for row in record.rows.values() if row["part"] == "digits" and "images" in row["figures"])
    shares = np.asarray(row["figures"]["shares"])
    figure = Figure(figsize=(9.5, 4.2), layout="tight")
    draw_samples(unpacked(row["figures"]["images"], len(shares)), shares, ax=figure)
    return figure


def table(record: Record) -> list[str]:
    lines = ["60 000 digits; 48 workers grouped 2759 of them; mean ± sd of seeds"]
    rows = record.frame("digits")
    for data in (JUDGED, ALONE):
        lines += ["", data, HEAD]
        for name in MODELS:
            own = rows[(rows["data"] == data) & (rows["model"] == name)]
            lines.append(line(name, own, PAPER[data, name]))
    return lines


def quotes(record: Record) -> dict[str, Any]:
    rows = record.frame("digits")
    found = {}
    for (data, name), own in rows.groupby(["data", "model"]):
        key = f"{name} {'judged' if data == JUDGED else 'alone'}"
        found[key] = {figure: own[figure].tolist() for figure in ("accuracy", "nmi", "clusters")}
    return {"of": found, "drawn": DRAWN, "seeds": len(DRAWS), "fewer": len(FEWER)}


PART = Part("digits", cells, compute, short=SHORT)
