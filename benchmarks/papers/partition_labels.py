"""Paper 1, Table 1 and Fig. 3: number of clusters and NMI on eight data sets with ten synthetic experts.

Protocol (Chen et al. 2018, section 4.1): ten experts, each with a random split of the classes into positive, negative
and no label, 10 % of the labels flipped, a share of them observed; 5-fold cross-validation; NMI against the classes in
the training folds (clusters of the fitted items) and in the validation fold (prediction from the features). Features
are standardised on the training fold. A draw is a fold: of the items, the experts and the starts. NMI is published as
curves only, so there are no published values to print.

Methods run at their defaults. All but the model, DPGMM and Crowdclustering, which find the number of clusters, get the
number of classes. DPGMM is scikit-learn's Dirichlet-process mixture with diagonal covariances and at most 50
components. Competitors that read pairs get the pairs of the experts' groupings. Crowdclustering takes longest: it is
run on the smallest set, from one start. Where there are more features than items, MPCKMeans and MECC read principal
components, 95 % of the variance. KCC and Crowdclustering use no features: they have no validation fold, and in the
training folds the items that nobody labelled are a cluster of their own.

The part "mixtures" fits Dirichlet-process mixtures with other settings, to explain the published numbers of clusters.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import BayesianGaussianMixture
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Cell, Claim, Page, Part, Record
from benchmarks.experiments.statistics import mean_sd, paired
from consilience import Groupings
from consilience.consensus import KCC, Crowdclustering
from consilience.datasets import load_faces, load_uci
from consilience.inspection.plots.style import SMALL, colour, marker, tidy
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


# ---- what is fitted


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


# ---- what the tables and the page read


def results(record: Record) -> pd.DataFrame:
    """Return figures by data set, method, share of labels and fold; methods that use no labels have all shares."""
    with_labels = pd.concat([record.frame(part) for part in FITTED], ignore_index=True)
    with_labels[["data", "share"]] = [name_and_share(data) for data in with_labels["data"]]
    without = record.frame("features").merge(pd.DataFrame({"share": SHARES}), how="cross")
    return pd.concat([with_labels, without]).set_index(["data", "model", "share", "draw"]).sort_index()


def comparisons(record: Record) -> pd.DataFrame:
    """Compare the model with each other method: a row for each data set, method, share and kind of folds.

    `verdict` says where the model is: ahead, level or behind, by paired differences over the folds.
    """
    found, rows = results(record), []
    words = {"above": "ahead", "level": "level", "below": "behind"}
    for (name, method, share), other in found.groupby(level=["data", "model", "share"]):
        own = found.loc[(name, MODEL, share)]
        for where in WHERE:
            if method != MODEL and other[where].notna().all():
                gap = paired(own[where], other[where])
                rows.append((name, method, share, where, gap.mean, words[gap.verdict]))
    return pd.DataFrame(rows, columns=["data", "method", "share", "where", "gap", "verdict"])


def count(verdicts: pd.Series) -> tuple[int, int, int]:
    """Return how often the model is ahead, level and behind."""
    ahead, level, behind = ((verdicts == word).sum() for word in ("ahead", "level", "behind"))
    return int(ahead), int(level), int(behind)


# ---- tables


def table_of_clusters(record: Record) -> list[str]:
    found = results(record)["clusters"]
    lines = [
        f"Table 1: number of clusters, mean ± sd over {N_FOLDS} folds; [published, sd in parentheses];",
        "* outside published mean ± (sd + 1)",
        "",
        f"{'data':20s} {'classes':>7s} {'DPGMM':>18s}"
        + "".join(f"{f'{share:.0%} of labels':>27s}" for share in SHARES),
    ]
    for name, (n_classes, dpgmm, published) in PUBLISHED.items():
        line = f"{name:20s} {n_classes:7d} {mean_sd(found[name, DPGMM, SHARES[0]], 1):>11s} [{dpgmm:4.1f}]"
        for share, (mean, sd) in zip(SHARES, published):
            own = found[name, MODEL, share]
            mark = " " if is_near(own.mean(), mean, sd) else "*"
            line += f"{mean_sd(own, 1) + mark:>14s} [{mean:4.1f} ({sd:.1f})]"
        lines.append(line)
    return lines


def is_near(found: float, mean: float, sd: float) -> bool:
    """Whether a value is within sd + 1 of the mean, up to rounding."""
    return abs(found - mean) <= sd + 1 + 1e-9


def table_of_mixtures(record: Record) -> list[str]:
    rows = pd.concat([record.frame("features").query("model == @DPGMM"), record.frame("mixtures")])
    found = rows.set_index(["data", "model"])["clusters"].sort_index()
    titles = [TITLES.get(name, name) for name in PUBLISHED]
    lines = [f"DPGMM with other settings: number of clusters, mean ± sd over {N_FOLDS} folds", ""]
    lines.append(f"{'':22s}" + "".join(f"{title:>15s}" for title in titles))
    lines.append(f"{'published':22s}" + "".join(f"{dpgmm:>9.1f}{'':6s}" for _, dpgmm, _ in PUBLISHED.values()).rstrip())
    for title in (DPGMM, *MIXTURES):
        lines.append(f"{title:22s}" + "".join(f"{mean_sd(found[name, title], 1):>15s}" for name in PUBLISHED))
    return lines


def table_of_verdicts(record: Record) -> list[str]:
    rows = comparisons(record)
    lines = [
        "NMI of the model against each other method: in how many data sets it is ahead / level / behind, by paired",
        f"differences over {N_FOLDS} folds; level: within two standard errors",
    ]
    for where in WHERE:
        lines += [
            "",
            f"{where + ' folds':18s}" + "".join(f"{f'{share:.0%}':>13s}" for share in SHARES) + f"{'all':>17s}",
        ]
        for method in METHODS:
            own = rows[(rows["method"] == method) & (rows["where"] == where)]
            if own.empty:
                continue
            groups = [own["verdict"][own["share"] == share] for share in SHARES]
            line = "".join(f"{' / '.join(map(str, count(group))):>13s}" for group in groups)
            lines.append(f"{method:18s}{line}{' / '.join(map(str, count(own['verdict']))):>17s}")
    return lines


def table_of_nmi(record: Record, where: str) -> list[str]:
    found, rows = results(record)[where].dropna(), comparisons(record)
    rows = rows[rows["where"] == where].replace({"verdict": {"ahead": "-", "level": "=", "behind": "+"}})
    marks = dict(zip(zip(rows["data"], rows["method"], rows["share"]), rows["verdict"]))
    lines = [
        f"Fig. 3, {where} folds: NMI, mean ± sd over {N_FOLDS} folds",
        "+ ahead of the model, - behind, = level with it, by paired differences",
        "",
        f"{'data':20s}{'method':20s}" + "".join(f"{f'{share:.0%}':^17s}" for share in SHARES).rstrip(),
    ]
    present = set(found.index.droplevel(["share", "draw"]))
    for name, method in product(PUBLISHED, METHODS):
        if (name, method) in present:
            cells = (
                f"{mean_sd(found[name, method, share])} {marks.get((name, method, share), ' '):3s}" for share in SHARES
            )
            lines.append(f"{name:20s}{method:20s}{''.join(cells)}".rstrip())
    return lines


# ---- Fig. 3


def draw(record: Record) -> Figure:
    """Draw Fig. 3: a column for each data set, training folds above validation folds."""
    means = results(record)[list(WHERE)].groupby(level=["data", "model", "share"]).mean()
    figure = Figure(figsize=(1.65 * len(PUBLISHED) + 0.6, 4.6), layout="constrained")
    axes = figure.subplots(len(WHERE), len(PUBLISHED), sharex=True, sharey="col")
    drawn = {}
    for (row, where), (column, name) in product(enumerate(WHERE), enumerate(PUBLISHED)):
        axis = axes[row, column]
        for method in METHODS:
            if (name, method) in means.index.droplevel("share") and means.loc[(name, method), where].notna().all():
                drawn[method] = axis.plot(SHARES, means.loc[(name, method), where], **look_of(method))[0]
        tidy(axis)
        axis.tick_params(labelsize=SMALL - 1)
        axis.set_xticks([0.1, 0.5, 1.0], ["10 %", "50 %", "100 %"])
        axis.set_title(TITLES.get(name, name) if row == 0 else "", fontsize=SMALL)
        axis.set_ylabel(f"NMI, {where} folds" if column == 0 else "", fontsize=SMALL)
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=5, fontsize=SMALL, frameon=False)
    return figure


def look_of(method: str) -> dict[str, Any]:
    """Return line styles: heavy for the model, dashed for methods that use no labels."""
    number = METHODS.index(method)
    look = {"color": colour(number), "marker": marker(number), "ms": 3, "lw": 2 if method == MODEL else 0.9}
    return look | {"linestyle": "dashed" if method in (KMEANS, DPGMM) else "solid"}


# ---- the page


def places(rows: pd.DataFrame) -> str:
    """Return data sets and shares of labels in words, such as "iris at 10 and 30 %"."""
    shares = rows.groupby("data")["share"].agg(list)
    return "; ".join(
        f"{TITLES.get(name, name)} at {in_words(shares[name])}" for name in PUBLISHED if name in shares.index
    )


def in_words(shares: Sequence[float]) -> str:
    """Return shares of labels in words: three or more in a row as a range."""
    runs: list[list[float]] = []
    for share in SHARES:
        if share in shares:
            starts = not runs or SHARES.index(share) - SHARES.index(runs[-1][-1]) > 1
            runs += [[share]] if starts else []
            runs[-1] += [] if starts else [share]
    texts = []
    for run in runs:
        ends = [f"{100 * share:.0f}" for share in run]
        texts += [f"{ends[0]} to {ends[-1]}"] if len(ends) > 2 else ends
    return (" and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]) + " %"


def tables(record: Record) -> dict[str, str]:
    files = {
        "partition_labels.txt": [table_of_clusters(record), table_of_mixtures(record), table_of_verdicts(record)],
        "partition_labels_competitors.txt": [table_of_nmi(record, where) for where in WHERE],
    }
    return {name: "\n\n\n".join("\n".join(block) for block in blocks) + "\n" for name, blocks in files.items()}


def quotes(record: Record) -> dict[str, Any]:
    """Count what the sentences of the page quote."""
    found, rows = results(record), comparisons(record)
    model = [record.frame(part) for part in ("model", "model-steel")]
    experts = record.frame("experts").set_index(["data", "draw"])
    competitors = record.frame("competitors").groupby("model")["seconds"].mean()
    timed = record.frame("times").set_index("model")["seconds"]
    behind = rows[rows["verdict"] == "behind"]
    quoted = {
        "folds": N_FOLDS,
        "sets": len(PUBLISHED),
        "methods": {
            method: {where: summary(own[own["where"] == where]) for where in WHERE if (own["where"] == where).any()}
            for method in METHODS
            if not (own := rows[rows["method"] == method]).empty
        },
        "of_pairs": summary(rows[rows["method"].isin(OF_PAIRS) & (rows["where"] == "training")]),
        "margin": margin(rows[rows["method"].isin(OF_PAIRS) & (rows["where"] == "training") & (rows["share"] >= 0.5)]),
        "best": best(rows),
        "all": rows["where"].value_counts().to_dict(),
        "level": rows["where"][rows["verdict"] == "level"].value_counts().to_dict(),
        "lead": rows.groupby("where")["gap"].mean().to_dict(),
        "behind": len(behind),
        "behind_few": int((behind["share"] < 0.5).sum()),
        "seeds": quotes_of_seeds(found.loc["seeds"], experts.loc["seeds"]),
        "pie": found["validation"]["warpPIE10P"].groupby(level=["model", "share"]).mean()[:, 1.0].to_dict(),
        "drawn": f"{N_PAIRS:,}".replace(",", " "),
        "pairs": experts.loc[STEEL, "pairs"].max() / 1e6,
        "seconds": competitors.to_dict() | timed.add_prefix("one ").to_dict(),
        "not_converged": sum(int((~frame["converged"]).sum()) for frame in model),
        "fits": sum(map(len, model)),
    }
    return quoted | quotes_of_clusters(found) | quotes_of_mixtures(record, found["clusters"])


def margin(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the data sets where the model is ahead of all methods throughout, and its least lead with all labels."""
    by_data = rows.groupby("data")
    ahead = by_data["verdict"].agg(lambda verdicts: verdicts.eq("ahead").all())
    ahead &= by_data["method"].nunique() == len(OF_PAIRS)
    names = [name for name in PUBLISHED if ahead.get(name, False)]
    leads = rows[rows["data"].isin(names) & (rows["share"] == 1.0)]["gap"]
    return {"sets": [TITLES.get(name, name) for name in names], "least": leads.min()}


def quotes_of_mixtures(record: Record, clusters: pd.Series) -> dict[str, Any]:
    """Compare numbers of clusters of DPGMM, with 50 and with 20 components, with the published ones."""
    own = record.frame("mixtures").pivot_table("clusters", ["data", "draw"], "model")
    own["50"] = clusters[:, DPGMM, SHARES[0]]
    own["20"] = own["at most 20 components"]
    means = own.groupby("data").mean()
    published = pd.Series({name: dpgmm for name, (_, dpgmm, _) in PUBLISHED.items()})
    off = means.sub(published, axis=0).abs().drop(STEEL).mean()
    alone = own.eq(1).groupby("data").sum()
    model = clusters[STEEL, MODEL].groupby(level="share").mean()[0.5:]
    return {
        "dpgmm": {name: own.loc[name, "50"].astype(int).tolist() for name in PUBLISHED},
        "dpgmm_off": off.to_dict(),
        "collapsed": alone.to_dict(),
        "steel": {
            "published": published[STEEL],
            "least": means.loc[STEEL].min(),
            "most": means.loc[STEEL].max(),
            "model_least": model.min(),
            "model_most": model.max(),
        },
    }


def best(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return at how many data sets and shares no other method is ahead of the model."""
    behind = rows["verdict"].eq("behind").groupby([rows["where"], rows["data"], rows["share"]]).any()
    return {where: {"of": len(own), "nobody_ahead": int((~own).sum())} for where, own in behind.groupby(level=0)}


def quotes_of_seeds(found: pd.DataFrame, experts: pd.DataFrame) -> dict[str, Any]:
    """Compare the model where all experts label two classes alike, and elsewhere, with all labels."""
    alike = experts["alike"].map(bool)
    own, peer = found.loc[MODEL, 1.0], found.loc[KMEANS, 1.0]
    return {
        "draws": int(alike.sum()),
        "pairs": sorted({tuple(pair) for pairs in experts["alike"] for pair in pairs}),
        "clusters": sorted({int(number) for number in own["clusters"][alike]}),
        "clusters_elsewhere": sorted({int(number) for number in own["clusters"][~alike]}),
        "nmi": own["validation"][alike].mean(),
        "nmi_elsewhere": own["validation"][~alike].mean(),
        "kmeans_elsewhere": peer["validation"][~alike].mean(),
    }


def summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return how often the model is ahead, level and behind, where it is ahead and behind, and the same for 10 %."""
    ahead, level, behind = count(rows["verdict"])
    few = dict(zip(("ahead", "level", "behind"), count(rows["verdict"][rows["share"] == SHARES[0]])))
    return {
        "ahead": ahead,
        "level": level,
        "behind": behind,
        "all": len(rows),
        "ahead_at": places(rows[rows["verdict"] == "ahead"]),
        "behind_at": places(rows[rows["verdict"] == "behind"]),
        "few": few,
    }


def quotes_of_clusters(found: pd.DataFrame) -> dict[str, Any]:
    """Count the means near the published ones, and those nearer to the number of classes than these."""
    means = found["clusters"].groupby(level=["data", "model", "share"]).mean()
    rows = pd.DataFrame(
        [
            (name, share, is_near(own := means[name, MODEL, share], *there), abs(own - n) < abs(there[0] - n))
            for name, (n, _, published) in PUBLISHED.items()
            for share, there in zip(SHARES, published)
        ],
        columns=["data", "share", "near", "nearer"],
    )
    many = rows["share"] >= 0.5
    return {
        "near": int(rows["near"][many].sum()),
        "means": int(many.sum()),
        "far": [TITLES.get(name, name) for name in rows["data"][many & ~rows["near"]].unique()],
        "far_at": places(rows[many & ~rows["near"]]),
        "near_few": int(rows["near"][~many].sum()),
        "means_few": int((~many).sum()),
        "far_few_at": places(rows[~many & ~rows["near"]]),
        "nearer": rows["data"][rows["nearer"] & (rows["share"] == 1.0)]
        .map(lambda name: TITLES.get(name, name))
        .tolist(),
    }


def claims(record: Record) -> list[Claim]:
    """Compare with the paper's Table 1, and with what it says of Fig. 3."""
    found, rows = quotes_of_clusters(results(record)), comparisons(record)
    near = f"{found['near']} of {found['means']}"
    listed = [
        Claim(
            "number of clusters from 50 % of the labels on, within one standard deviation + 1",
            f"{found['means']} means",
            near,
            "met" if found["near"] == found["means"] else f"missed: outside on {', '.join(found['far'])}",
        )
    ]
    few, of_pairs = (rows["method"] == "KCC") & (rows["share"] == SHARES[0]), rows["method"].isin(OF_PAIRS)
    for text, own in (
        ("better than KCC if few labels are observed (10 %), training folds", rows[few]),
        ("better than every method of pairs, training folds", rows[of_pairs & (rows["where"] == "training")]),
        ("better than every method of pairs, validation folds", rows[of_pairs & (rows["where"] == "validation")]),
    ):
        ahead, level, behind = count(own["verdict"])
        ours = f"ahead in {ahead}, level in {level}, behind in {behind} of {len(own)} comparisons"
        most = own["method"][own["verdict"] == "behind"].mode()
        missed = f"missed: behind, mostly {most[0]}" if behind else "missed: mostly level"
        listed.append(Claim(text, "curves", ours, "met" if not behind and ahead > level else missed))
    return listed


PAGE = Page(
    "partition_labels",
    parts=(
        Part("experts", cells_of_experts, compute_experts),
        Part("features", cells_of_features, compute_features),
        Part("mixtures", cells_of_mixtures, compute_mixtures),
        Part("model", partial(cells_of_model, "model", OTHERS), compute_model),
        Part("competitors", partial(cells_of_competitors, "competitors", OTHERS), compute_competitors),
        Part("model-steel", partial(cells_of_model, "model-steel", (STEEL,)), compute_model),
        Part("competitors-steel", partial(cells_of_competitors, "competitors-steel", (STEEL,)), compute_competitors),
        Part("times", cells_of_times, compute_competitors),
    ),
    tables=tables,
    quotes=quotes,
    claims=claims,
    plots={"partition_labels_nmi.svg": draw},
)
