"""What is fitted: the model, k-means, mixtures and competitors, on the same folds and experts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import BayesianGaussianMixture
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Cell
from consilience import Groupings
from consilience.consensus import KCC, Crowdclustering
from consilience.datasets import load_faces, load_uci
from consilience.metrics import nmi
from consilience.semisupervised import MECC, InductiveConsensus, MPCKMeans, PartitionLabelModel, SemiCrowd
from consilience.simulation import simulate_experts

N_FOLDS = 5
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
WHERE = ("training", "validation")
STEEL = "steel_plates_faults"
FACES = ("Yale", "warpAR10P", "warpPIE10P")
SMALLEST = "breast_tissue"  # where Crowdclustering is run
N_COMPONENTS = 50  # of DPGMM, at most

# Table 1 as published: classes; DPGMM; then mean and standard deviation for each share of labels
PUBLISHED = {
    "iris": (3, 3.4, [(3.0, 0.0), (3.0, 0.0), (3.2, 0.4), (3.4, 0.5), (3.2, 0.4), (3.2, 0.4)]),
    "seeds": (3, 5.8, [(3.0, 0.0), (3.6, 0.5), (3.8, 0.4), (4.4, 0.5), (4.4, 0.5), (4.6, 0.5)]),
    "breast_tissue": (6, 10.6, [(3.8, 0.4), (4.8, 0.4), (4.8, 0.4), (5.4, 0.8), (5.8, 0.4), (5.8, 0.4)]),
    "glass": (6, 16.8, [(4.6, 0.5), (7.0, 0.6), (6.4, 1.5), (8.4, 0.8), (8.0, 0.8), (8.4, 0.8)]),
    "Yale": (15, 1.8, [(16.4, 1.6), (14.6, 1.5), (13.2, 2.6), (14.6, 1.9), (16.4, 2.1), (15.8, 1.2)]),
    "warpAR10P": (10, 21.4, [(11.0, 1.9), (11.8, 2.8), (11.8, 1.7), (14.8, 1.9), (13.2, 1.2), (14.2, 1.6)]),
    "warpPIE10P": (10, 1.2, [(20.2, 1.3), (17.2, 2.9), (14.8, 1.7), (16.4, 1.6), (16.0, 2.3), (19.4, 1.7)]),
    STEEL: (7, 1.8, [(23.2, 2.8), (28.4, 3.8), (31.0, 1.1), (31.4, 1.5), (30.4, 1.4), (30.0, 2.8)]),
}

OTHERS = tuple(name for name in PUBLISHED if name != STEEL)
MODEL, KMEANS, DPGMM = "PartitionLabelModel", "k-means", "DPGMM"
COMPETITORS = ("KCC", "KCC+LR", "MPCKMeans", "SemiCrowd", "MECC", "Crowdclustering")
OF_PAIRS = ("MPCKMeans", "SemiCrowd", "MECC")
DRAWN, N_PAIRS = ("MPCKMeans", "SemiCrowd"), 100_000  # of steel plates, these read pairs drawn at random
MIXTURES: dict[str, tuple[str, dict[str, Any]]] = {  # what DPGMM may have read, and its settings, in the paper
    "at most 30 components": ("standardised", {"n_components": 30}),
    "at most 20 components": ("standardised", {"n_components": 20}),
    "20, not standardised": ("as they are", {"n_components": 20}),
    "20, PCA": ("components", {"n_components": 20}),
    "50, PCA, full": ("components", {"covariance_type": "full"}),
    "50, PCA, tied": ("components", {"covariance_type": "tied"}),
    "50, concentration 1": ("standardised", {"weight_concentration_prior": 1.0}),
    "50, random start": ("standardised", {"init_params": "random"}),
}
TIMED = ((STEEL, "MECC"), ("glass", "Crowdclustering"))  # too slow to compare: one fit, for its time
FITTED = ("model", "competitors", "model-steel", "competitors-steel")
TITLES = {"breast_tissue": "breast tissue", STEEL: "steel plates"}
METHODS = (MODEL, *COMPETITORS, KMEANS, DPGMM)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    bunch = load_faces(name) if name in FACES else load_uci(name)
    return np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)


def split(X: np.ndarray, fold: int) -> tuple[np.ndarray, np.ndarray]:
    return list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))[fold]


def experts_of(classes: np.ndarray, share: float, fold: int) -> Groupings:
    return simulate_experts(classes, observed=share, random_state=100 * fold + 1)


def with_share(name: str, share: float) -> str:
    """Return what the record calls a data set of which a share of the labels is observed."""
    return f"{name}, {share:.0%}"


def name_and_share(data: str) -> tuple[str, float]:
    name, share = data.split(", ")
    return name, float(share.rstrip("%")) / 100


def cells_of_experts() -> Iterator[Cell]:
    for name, fold in product(PUBLISHED, range(N_FOLDS)):
        yield Cell("experts", name, "experts", fold)


def compute_experts(cell: Cell) -> dict[str, Any]:
    """Return the pairs of classes that no expert labels differently, errors aside, and the pairs of items."""
    X, classes = load(cell.data)
    experts = experts_of(classes, 1.0, cell.draw)
    labels = experts.to_frame()
    labels["class"] = classes[labels["item"].to_numpy(dtype=int)]
    table = labels.pivot_table(
        index="annotator", columns="class", values="group", aggfunc=lambda groups: groups.mode().iloc[0]
    )
    pairs = combinations(table.columns, 2)
    told_apart = {(a, b): (table[a].notna() & table[b].notna() & (table[a] != table[b])).any() for a, b in pairs}
    sizes = experts[split(X, cell.draw)[0]].to_frame()["grouping"].value_counts()
    return {
        "alike": [[int(a), int(b)] for (a, b), differ in told_apart.items() if not differ],
        "pairs": int((sizes * (sizes - 1) // 2).sum()),
    }


def cells_of_features() -> Iterator[Cell]:
    for name, (n_classes, *_) in PUBLISHED.items():
        for fold in range(N_FOLDS):
            yield Cell("features", name, KMEANS, fold, KMeans(n_classes, n_init=10, random_state=fold))
            yield Cell("features", name, DPGMM, fold, mixture(fold))


def mixture(fold: int, **settings: Any) -> BayesianGaussianMixture:
    """Return the Dirichlet-process mixture, or one with other settings."""
    chosen = {"n_components": N_COMPONENTS, "covariance_type": "diag", "max_iter": 500, **settings}
    return BayesianGaussianMixture(**chosen, random_state=fold)


def cells_of_mixtures() -> Iterator[Cell]:
    for name, (title, (features, settings)), fold in product(PUBLISHED, MIXTURES.items(), range(N_FOLDS)):
        yield Cell("mixtures", name, title, fold, mixture(fold, **settings), {"features": features})


def compute_mixtures(cell: Cell) -> dict[str, Any]:
    """Return clusters of the items of the training folds, from features as the setting says."""
    X, _ = load(cell.data)
    Z, reads = X[split(X, cell.draw)[0]], cell.settings["features"]
    if reads != "as they are":
        Z = StandardScaler().fit_transform(Z)
    if reads == "components":
        Z = PCA(0.95, random_state=0).fit_transform(Z)
    start = time.perf_counter()
    found = clone(cell.estimator).fit_predict(Z)
    return {"clusters": len(np.unique(found)), "seconds": time.perf_counter() - start}


def compute_features(cell: Cell) -> dict[str, Any]:
    """Return clusters and NMI of a model that reads only features."""
    X, classes = load(cell.data)
    train, test = split(X, cell.draw)
    scale = StandardScaler().fit(X[train])
    model = clone(cell.estimator)
    start = time.perf_counter()
    found = model.fit_predict(scale.transform(X[train]))
    seconds = time.perf_counter() - start
    return {
        "clusters": len(np.unique(found)),
        "training": nmi(classes[train], found),
        "validation": nmi(classes[test], model.predict(scale.transform(X[test]))),
        "seconds": seconds,
    }


def cells_of_model(part: str, names: Sequence[str]) -> Iterator[Cell]:
    for name, share, fold in product(names, SHARES, range(N_FOLDS)):
        yield Cell(part, with_share(name, share), MODEL, fold, PartitionLabelModel(random_state=fold))


def compute_model(cell: Cell) -> dict[str, Any]:
    """Return clusters, NMI, the prior variance chosen, and whether all restarts converged."""
    name, share = name_and_share(cell.data)
    X, classes = load(name)
    train, test = split(X, cell.draw)
    experts = experts_of(classes, share, cell.draw)[train]
    scale = StandardScaler().fit(X[train])
    model = clone(cell.estimator)
    start = time.perf_counter()
    model.fit(scale.transform(X[train]), experts)
    seconds = time.perf_counter() - start
    return {
        "clusters": model.n_clusters_,
        "training": nmi(classes[train], model.labels_),
        "validation": nmi(classes[test], model.predict(scale.transform(X[test]))),
        "prior_variance": model.prior_variance_,
        "converged": bool(model.converged_),
        "seconds": seconds,
    }


def competitor(method: str, n_classes: int, fold: int) -> Any:
    """Return a competitor, unfitted."""
    if method == "KCC+LR":
        return InductiveConsensus(KCC(n_classes, random_state=fold), LogisticRegression(max_iter=1000))
    if method == "Crowdclustering":
        return Crowdclustering(n_init=1, random_state=fold)
    kind = {"KCC": KCC, "MPCKMeans": MPCKMeans, "SemiCrowd": SemiCrowd, "MECC": MECC}[method]
    return kind(n_classes, random_state=fold)


def cells_of_competitors(part: str, names: Sequence[str]) -> Iterator[Cell]:
    for name, method, share, fold in product(names, COMPETITORS, SHARES, range(N_FOLDS)):
        slow = (name, method) in TIMED or (method == "Crowdclustering" and name != SMALLEST)
        if not slow:
            yield cell_of_competitor(part, name, method, share, fold)


def cells_of_times() -> Iterator[Cell]:
    for name, method in TIMED:
        yield cell_of_competitor("times", name, method, 1.0, 0)


def cell_of_competitor(part: str, name: str, method: str, share: float, fold: int) -> Cell:
    estimator = competitor(method, PUBLISHED[name][0], fold)
    if name == STEEL and method in DRAWN:
        estimator.set_params(max_pairs=N_PAIRS)
    return Cell(part, with_share(name, share), method, fold, estimator, {"features": features_for(method, name)})


def features_for(method: str, name: str) -> str:
    """Return what a competitor reads of a data set: none, all or components."""
    if method in ("KCC", "Crowdclustering"):
        return "none"
    return "components" if method in ("MPCKMeans", "MECC") and name in FACES else "all"


def compute_competitors(cell: Cell) -> dict[str, Any]:
    """Return clusters, and NMI in the training folds and, where the competitor reads features, the validation fold."""
    reads = cell.settings["features"]
    name, share = name_and_share(cell.data)
    X, classes = load(name)
    train, test = split(X, cell.draw)
    experts = experts_of(classes, share, cell.draw)[train]
    scale = make_pipeline(StandardScaler(), *([PCA(0.95, random_state=0)] if reads == "components" else []))
    features = scale.fit(X[train]).transform(X[train])
    model = clone(cell.estimator)
    start = time.perf_counter()
    labels = (model.fit(experts) if reads == "none" else model.fit(features, experts)).labels_
    seconds = time.perf_counter() - start
    found = {"clusters": model.n_clusters_, "training": nmi(classes[train], labels), "seconds": seconds}
    if reads != "none":
        found["validation"] = nmi(classes[test], model.predict(scale.transform(X[test])))
    return found
