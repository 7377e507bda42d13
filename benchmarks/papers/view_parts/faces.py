"""Faces by pose: five annotators of accuracies .95 to .75 judge 200 to 2000 pairs each, of all or of a hundred."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from benchmarks.experiments import Cell, Part, Record
from benchmarks.experiments.statistics import mean_sd, paired
from consilience import Groupings, Pairs
from consilience.consensus import CSPA
from consilience.datasets import load_cmu_faces
from consilience.inspection.plots.style import FAINT, SMALL, colour, marker, tidy
from consilience.metrics import nmi
from consilience.semisupervised import MCVC, MECC, InductiveConsensus, ITMLClustering, MPCKMeans, SemiCrowd
from consilience.simulation import simulate_pairs

ACCURACIES = [0.95, 0.9, 0.85, 0.8, 0.75]
N_PAIRS = (200, 500, 1000, 1500, 2000)
DRAWS = range(10, 15)  # settings of the deep models were tried on draws 0 to 2
N_ANNOTATED = 100
PLACES = {"all": "all 624 faces annotated", "some": f"{N_ANNOTATED} faces annotated"}
TRUE_POSES = "true poses of these, log. reg."
METHODS: dict[str, BaseEstimator] = {
    "MCVC": MCVC(4, random_state=0),
    "MECC": MECC(4, random_state=0),
    "MPCKMeans": MPCKMeans(4, random_state=0),
    "ITMLClustering": ITMLClustering(4, random_state=0),
    "SemiCrowd": SemiCrowd(4, random_state=0),
    "CSPA, logistic regression": InductiveConsensus(CSPA(4, random_state=0)),
    "k-means, no judgements": KMeans(4, n_init=10, random_state=0),
}


@cache
def faces(n_components: int = 20) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Principal components of the pictures, each of deviation 1; true views."""
    bunch = load_cmu_faces()
    components = PCA(n_components, random_state=0).fit_transform(bunch.data)
    return pd.DataFrame(components / components.std(0), index=bunch.item_names), bunch.views


def annotated(pose: pd.Series, n_pairs: int, where: str, seed: int) -> Pairs:
    """Return judgements by pose, of all faces or of a hundred of them."""
    some = pose if where == "all" else pose.sample(N_ANNOTATED, random_state=seed)
    judged = simulate_pairs(some, len(ACCURACIES), n_pairs, ACCURACIES, random_state=seed)
    return judged.reindex(pose.index)


def data_of(where: str, n_pairs: int) -> str:
    return f"{where}, {n_pairs} pairs"


def cells() -> Iterator[Cell]:
    for where in PLACES:
        for n_pairs in N_PAIRS:
            for seed in DRAWS:
                for name, model in METHODS.items():
                    yield Cell("faces", data_of(where, n_pairs), name, seed, model)
                if where == "some":
                    yield Cell("faces", data_of(where, n_pairs), TRUE_POSES, seed, LogisticRegression(max_iter=1000))


def compute(cell: Cell) -> dict[str, Any]:
    """Return the NMI of the clusters with the pose."""
    where, n_pairs = cell.data.split(", ")
    features, views = faces()
    pose = views["pose"]
    judged = annotated(pose, int(n_pairs.split()[0]), where, cell.draw)
    start = time.perf_counter()
    labels = clusters(clone(cell.estimator), features, pose, judged)
    return {"seconds": time.perf_counter() - start, "nmi": nmi(pose.to_numpy(), labels)}


def clusters(model: Any, features: pd.DataFrame, pose: pd.Series, judged: Pairs) -> np.ndarray:
    """Return clusters of all faces."""
    if isinstance(model, KMeans):
        return model.fit_predict(features)
    if isinstance(model, LogisticRegression):  # true poses of the judged faces, predicted ones of the others
        known = np.isin(np.arange(len(pose)), [judged.item_a, judged.item_b])
        return np.where(known, pose, model.fit(features[known], pose[known]).predict(features))
    return model.fit(features, as_groupings(judged) if isinstance(model, InductiveConsensus) else judged).labels_


def as_groupings(judged: Pairs) -> Groupings:
    """Return each judgement as a grouping of two items."""
    long = judged.to_frame().reset_index(names="grouping").melt(["grouping", "annotator", "same"], value_name="item")
    long["group"] = np.where(long["same"] | (long["variable"] == "item_a"), "a", "b")
    return Groupings.from_frame(long[["item", "annotator", "grouping", "group"]], items=judged.items)


def results(record: Record) -> pd.DataFrame:
    """Return the rows with columns "where" and "pairs"."""
    rows = record.frame("faces")
    parts = rows["data"].str.extract(r"(?P<where>\w+), (?P<pairs>\d+) pairs")
    return rows.assign(where=parts["where"], pairs=parts["pairs"].astype(int))


def by_draw(rows: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return NMI by number of pairs and draw, a column for each model."""
    own = rows[rows["where"] == where]
    return own.pivot_table(index=["pairs", "draw"], columns="model", values="nmi", sort=False)


def table(record: Record) -> list[str]:
    rows = results(record)
    lines = [f"faces: NMI with the pose, mean ± sd of {len(DRAWS)} draws; seconds of a fit at {N_PAIRS[-1]} pairs each"]
    for where, title in PLACES.items():
        lines += ["", f"{title + '; pairs of each':37s}" + "".join(f"{n_pairs:>15d}" for n_pairs in N_PAIRS)]
        here = rows[rows["where"] == where]
        for model in here["model"].unique():
            own = here[here["model"] == model]
            cells = [mean_sd(own.loc[own["pairs"] == n_pairs, "nmi"]) for n_pairs in N_PAIRS]
            seconds = own.loc[own["pairs"] == N_PAIRS[-1], "seconds"].mean()
            lines.append(f"    {model:33s}" + "".join(f"{cell:>15s}" for cell in cells) + f"{seconds:8.2f} s")
    return lines


def quotes(record: Record) -> dict[str, Any]:
    """Compare MCVC with MECC, and the better of these with the other methods, where all faces are annotated."""
    table = by_draw(results(record), "all")
    others = table.drop(columns=["MCVC", "MECC"])
    ahead = {}
    for n_pairs in N_PAIRS:
        own = table.loc[n_pairs]
        best = others.loc[n_pairs].mean().idxmax()
        ahead[n_pairs] = paired(own["MCVC"], own[best])
    with_mecc = [paired(table.loc[n, "MCVC"], table.loc[n, "MECC"]).verdict for n in N_PAIRS]
    some = by_draw(results(record), "some")
    methods = some.drop(columns=TRUE_POSES)
    means = {(where, name, n): found.loc[n, name].mean() for where, found in (("all", table), ("some", some))
             for name in found.columns for n in N_PAIRS}  # fmt: skip
    return {
        "draws": len(DRAWS),
        "ahead": ahead,
        "verdicts": [gap.verdict for gap in ahead.values()],
        "like_mecc": with_mecc.count("level"),
        "n_pairs": len(N_PAIRS),
        "mean": means,
        "best_of_some": methods.groupby("pairs").mean().max().max(),
        "true_poses": some[TRUE_POSES].mean(),
        "metric": [means["all", name, n] for name in ("SemiCrowd", "ITMLClustering") for n in N_PAIRS],
        "cspa_behind": max(
            table.loc[n].mean().max() - means["all", "CSPA, logistic regression", n] for n in N_PAIRS if n >= 1500
        ),
    }


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(8.2, 3.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    rows = results(record)
    for axis, (where, title) in zip(axes, PLACES.items()):
        here = rows[rows["where"] == where]
        for number, model in enumerate(here["model"].unique()):
            own = here[here["model"] == model].groupby("pairs")["nmi"]
            look: dict[str, Any] = {"color": colour(number), "marker": marker(number), "ms": 4, "lw": 1}
            if model == TRUE_POSES:
                look |= {"color": FAINT, "linestyle": "dashed"}
            axis.errorbar(own.mean().index, own.mean(), own.std(), elinewidth=0.6, label=model, **look)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("pairs judged by each of five annotators", fontsize=SMALL)
        axis.set_ylim(0, 1.02)
        tidy(axis)
    axes[0].set_ylabel("NMI with the pose", fontsize=SMALL)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right", fontsize=SMALL, frameon=False)
    return figure


PART = Part("faces", cells, compute)
