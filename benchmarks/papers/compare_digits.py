"""Does the log loss of held-out judgements rank models as the truth does? Handwritten digits, simulated crowds.

`consilience.selection.compare` ranks models and settings without the truth. Here the truth is known: each model is
also fitted to all annotations, and its clusters are compared with the digits by NMI. The Spearman correlation of both
rankings shows whether the comparison can be trusted to choose a clustering. "Regret" is the NMI lost by its choice
against the best one. Judgements are predicted in both ways, by the model and by its clusters alone.

Two crowds: sorters (20 people, 100 items each, 15 % errors, who merge some classes) and experts (10 people with one
yes-or-no question each, 30 % of their labels kept, of which 10 % are wrong). Every draw has other items and another
crowd.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.experiments.statistics import mean_sd
from consilience.annotations import Groupings
from consilience.consensus import CSPA, KCC, SubsetFusion
from consilience.datasets import load_digits
from consilience.metrics import nmi
from consilience.selection import compare
from consilience.selection.candidates import final, fit, seed_model
from consilience.semisupervised import MECC, MPCKMeans, PartitionLabelModel
from consilience.simulation import simulate_crowd, simulate_experts

N_ITEMS, N_DRAWS, N_FOLDS = 600, 5, 3
CROWDS = ("sorters", "experts")
WAYS = ("model", "clusters")


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


def drawn(crowd: str, seed: int) -> tuple[pd.DataFrame, np.ndarray, Groupings]:
    """Return features, classes and annotations of a draw."""
    digits = load_digits()
    rows = np.sort(np.random.default_rng(seed).permutation(len(digits.data))[:N_ITEMS])
    X, classes = digits.data.iloc[rows], digits.target[rows]
    named = pd.Series(classes, index=X.index)
    if crowd == "sorters":
        said = simulate_crowd(named, n_annotators=20, items_each=100, accuracy=0.85, merge=0.3, random_state=seed)
    else:
        said = simulate_experts(named, n_annotators=10, observed=0.3, random_state=seed)
    return X, classes, said


def cells_of_truth() -> Iterator[Cell]:
    for crowd in CROWDS:
        for seed in range(N_DRAWS):
            for name, model in models().items():
                yield Cell("truth", crowd, name, seed, seed_model(model, seed), uses=tuple(map(type, steps_of(model))))


def steps_of(model: Any) -> list[Any]:
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def compute_truth(cell: Cell) -> dict[str, Any]:
    """Return the NMI of the clusters with the classes."""
    X, classes, crowd = drawn(cell.data, cell.draw)
    model = clone(cell.estimator)
    fit(model, crowd, X)
    return {"nmi": nmi(classes, final(model).labels_)}


def cells_of_comparison() -> Iterator[Cell]:
    candidates = models()
    uses = tuple(type(step) for model in candidates.values() for step in steps_of(model))
    settings = {name: " ".join(repr(model).split()) for name, model in candidates.items()}
    for crowd in CROWDS:
        for seed in range(N_DRAWS):
            for way in WAYS:
                yield Cell("comparison", crowd, f"by {way}", seed, settings=settings, uses=uses)


def compute_comparison(cell: Cell) -> dict[str, Any]:
    """Return the log loss of all models, the choice, and whether its lead is more than two standard errors."""
    X, _, crowd = drawn(cell.data, cell.draw)
    by = cell.model.split()[1]
    found = compare(models(), crowd, X, by=by, n_folds=N_FOLDS, memory=False, random_state=cell.draw)
    return {"log_loss": found.table["log_loss"].to_dict(), "chosen": found.chosen, "is_clear": found.best is not None}


def rankings(record: Record) -> pd.DataFrame:
    """Return of each comparison the correlation with the truth, the regret, and whether a clear lead was wrong."""
    truth = record.frame("truth").set_index(["data", "draw", "model"])["nmi"].sort_index()
    found = []
    for _, row in record.frame("comparison").iterrows():
        scores = truth[row["data"], row["draw"]]
        losses = pd.Series(row["log_loss"]).reindex(scores.index)
        found.append(
            {
                "correlation": float(spearmanr(-losses, scores).statistic),
                "regret": scores.max() - scores[row["chosen"]],
                "is_clear": row["is_clear"],
                "is_wrong": scores[row["chosen"]] < scores.max(),
            }
        )
    return pd.concat([record.frame("comparison")[["data", "model", "draw", "chosen"]], pd.DataFrame(found)], axis=1)


def table_of(record: Record, crowd: str) -> list[str]:
    truth = record.frame("truth", data=crowd)
    losses = record.frame("comparison", data=crowd)
    by_model = {way: pd.DataFrame(losses.loc[losses["model"] == f"by {way}", "log_loss"].tolist()) for way in WAYS}
    lines = [
        f"{crowd}: {N_ITEMS} digits; mean ± sd of {N_DRAWS} draws",
        f"{'':32s}{'NMI':>15s}   log loss:{'by model':>15s}{'by clusters':>16s}",
    ]
    means = truth.groupby("model")["nmi"].mean().sort_values(ascending=False)
    for name in means.index:
        cells = [mean_sd(by_model[way][name]) for way in WAYS]
        score = mean_sd(truth.loc[truth["model"] == name, "nmi"])
        lines.append(f"{name:32s}{score:>15s}            {cells[0]:>15s}{cells[1]:>16s}")
    for name in ("co-occurrence", "chance"):
        lines.append(f"{name:47s}            {mean_sd(by_model['model'][name]):>15s}")
    found = rankings(record)
    found = found[found["data"] == crowd]
    for way in WAYS:
        own = found[found["model"] == f"by {way}"]
        lines.append(
            f"by {way}: Spearman {mean_sd(own['correlation'], 2)}; regret {mean_sd(own['regret'])} NMI, at most "
            f"{own['regret'].max():.3f}; the lead is more than two standard errors in {own['is_clear'].sum()} of "
            f"{len(own)} draws, in {(own['is_clear'] & own['is_wrong']).sum()} of these wrongly"
        )
    return lines


def tables(record: Record) -> dict[str, str]:
    return {"compare_digits.txt": "\n\n\n".join("\n".join(table_of(record, crowd)) for crowd in CROWDS) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    found = rankings(record)
    by_clusters = found[found["model"] == "by clusters"]
    return {
        "draws": N_DRAWS,
        "comparisons": len(by_clusters),
        "correlation": {
            (crowd, way): found[(found["data"] == crowd) & (found["model"] == f"by {way}")]["correlation"].mean()
            for crowd in CROWDS
            for way in WAYS
        },
        "regret": by_clusters["regret"].max(),
        "firsts": by_clusters["chosen"].value_counts().to_dict(),
        "best": int((~by_clusters["is_wrong"]).sum()),
        "clear": int(by_clusters["is_clear"].sum()),
        "clear_but_wrong": int((by_clusters["is_clear"] & by_clusters["is_wrong"]).sum()),
    }


PAGE = Page(
    "compare_digits",
    parts=(
        Part("truth", cells_of_truth, compute_truth),
        Part("comparison", cells_of_comparison, compute_comparison),
    ),
    tables=tables,
    quotes=quotes,
)
