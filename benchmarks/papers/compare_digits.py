"""Does the log loss of held-out judgements rank models as the truth does? Handwritten digits, simulated crowds.

    python benchmarks/papers/compare_digits.py [--items 600] [--runs 1] [--out FILE]

`consilience.selection.compare` ranks models and settings without the truth. Here the truth is known: each model is
also fitted to all annotations, and its clusters are compared with the digits by NMI. The Spearman correlation of both
rankings shows whether the comparison can be trusted to choose a clustering. "Regret" is the NMI lost by its choice
against the best one. Judgements are predicted in both ways, by the model and by its clusters alone.

Two crowds: sorters (20 people, 100 items each, 15 % errors, who merge some classes) and experts (10 people with one
yes-or-no question each, 30 % of their labels kept, of which 10 % are wrong). Every run draws other items and another
crowd.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from consilience.annotations import Groupings
from consilience.consensus.groupings.cspa_estimator import CSPA
from consilience.consensus.groupings.kcc_estimator import KCC
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
from consilience.datasets import load_digits
from consilience.metrics import nmi
from consilience.selection import Comparison, compare
from consilience.selection.candidates import final, fit, seeded
from consilience.semisupervised.mcvc_estimator import MECC
from consilience.semisupervised.mpckmeans_estimator import MPCKMeans
from consilience.semisupervised.partition_label_model_estimator import PartitionLabelModel
from consilience.simulation import simulate_crowd, simulate_experts


def models() -> dict[str, Any]:
    """Return models and settings, good and bad."""
    alone = {f"KCC, {k} clusters": KCC(n_clusters=k) for k in (3, 6, 10, 20)}
    alone |= {f"SubsetFusion, {k} clusters": SubsetFusion(n_clusters=k) for k in (3, 10)}
    alone |= {"SubsetFusion": SubsetFusion(), "CSPA, 10 clusters": CSPA(n_clusters=10)}
    quick: dict[str, Any] = {"n_init": 1, "prior_variance": 1.0}
    featured = {f"PartitionLabelModel, up to {k}": PartitionLabelModel(max_clusters=k, **quick) for k in (4, 20)}
    featured |= {"MECC, up to 10": MECC(n_clusters=10, n_init=1)}
    featured |= {f"MPCKMeans, {k} clusters": MPCKMeans(n_clusters=k, n_init=1) for k in (3, 10)}
    scaler = StandardScaler().set_output(transform="pandas")
    return alone | {name: make_pipeline(clone(scaler), model) for name, model in featured.items()}


def crowd_of(name: str, classes: pd.Series, seed: int) -> Groupings:
    if name == "sorters":
        return simulate_crowd(classes, n_annotators=20, items_each=100, accuracy=0.85, merge=0.3, random_state=seed)
    return simulate_experts(classes, n_annotators=10, observed=0.3, random_state=seed)


def truth(X: pd.DataFrame, crowd: Groupings, classes: np.ndarray, seed: int) -> dict[str, float]:
    """Return the NMI of each model's clusters with the classes."""
    found = {}
    for name, model in models().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = seeded(clone(model), seed)
            fit(fitted, crowd, X)
        found[name] = nmi(classes, final(fitted).labels_)
    return found


def lines_of(title: str, comparisons: dict[str, Comparison], found: dict[str, float]) -> tuple[list[str], list[float]]:
    """Return the rankings side by side, and the correlation of each with the truth."""
    tables = {by: comparison.table for by, comparison in comparisons.items()}
    rows = pd.DataFrame({by: table["log_loss"] for by, table in tables.items()})
    rows = rows.assign(nmi=pd.Series(found), seconds=tables["model"]["seconds"]).sort_values("nmi", ascending=False)
    lines = [title, f"{'':30}  NMI    log loss: by model  by clusters  seconds a fit"]
    for name, row in rows.iterrows():
        losses = f"{row['model']:.3f}     {row['clusters']:.3f}"
        lines.append(f"{name:30}  {row['nmi']:.3f}            {losses}        {row['seconds']:.1f}")
    correlations = []
    for by, comparison in comparisons.items():
        scored = rows.dropna()
        correlations.append(float(spearmanr(-scored[by], scored["nmi"]).statistic))
        regret = scored["nmi"].max() - scored.loc[comparison.chosen, "nmi"]
        lines.append(f"by {by}: Spearman {correlations[-1]:.2f}; regret {regret:.3f} NMI. {comparison.verdict}")
    return lines, correlations


def main() -> None:
    """Compare models, compute their NMI with the truth, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--items", type=int, default=600)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--crowds", nargs="+", choices=("sorters", "experts"), default=["sorters", "experts"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    digits = load_digits()
    text: list[str] = []
    for crowd_name in arguments.crowds:
        correlations = []
        for run in range(arguments.runs):
            start = time.perf_counter()
            rows = np.sort(np.random.default_rng(run).permutation(len(digits.data))[: arguments.items])
            X, classes = digits.data.iloc[rows], digits.target[rows]
            crowd = crowd_of(crowd_name, pd.Series(classes, index=X.index), run)
            with threadpool_limits(1):
                comparisons = {
                    by: compare(models(), crowd, X, by=by, n_folds=arguments.folds, memory=False, random_state=run)
                    for by in ("model", "clusters")
                }
                found = truth(X, crowd, classes, run)
            title = f"{crowd_name}, run {run}: {len(X)} digits, {crowd.n_annotators} people, {crowd.n_rows} memberships"
            lines, of_run = lines_of(title, comparisons, found)
            correlations.append(of_run)
            text += [*lines, f"{time.perf_counter() - start:.0f} s", ""]
            print("\n".join([*lines, text[-2]]), end="\n\n", flush=True)
        mean = np.mean(correlations, axis=0)
        text.append(f"{crowd_name}: mean Spearman correlation {mean[0]:.2f} by model, {mean[1]:.2f} by clusters\n")
        print(text[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
