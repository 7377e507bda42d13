"""Paper 1, Table 1 and Fig. 3: number of clusters and NMI on eight data sets with ten synthetic experts.

    python benchmarks/papers/partition_labels.py [--parts model competitors] [--data iris …] [--jobs 2]
        [--out docs/papers/partition_labels.txt] [--figures docs/papers]

Results are kept in benchmarks/results, so that an interrupted run can be continued; delete the file to start anew.

Protocol (Chen et al. 2018, section 4.1): ten experts, each with a random split of the classes into positive, negative
and no label, 10 % of the labels flipped, a share of them observed; 5-fold cross-validation; NMI against the classes in
the training folds (clusters of the fitted items) and in the validation fold (prediction from the features). Features
are standardised on the training fold. The model runs at its defaults; k-means gets the number of classes; DPGMM is
scikit-learn's Dirichlet-process mixture with diagonal covariances and at most 50 components. NMI is published as curves
only, so there are no published values to print.

The part "competitors" runs those of Fig. 3, and Crowdclustering, on the same folds and experts, at their defaults. All
get the number of classes except Crowdclustering, which finds it; that is run on the smallest set, from one start: it
takes longest. Those that read pairs get the pairs of the experts' groupings. On the faces MPCKMeans and MECC read
principal components, 95 % of the variance. KCC and Crowdclustering use no features: they have no validation fold, and
in the training folds the items that nobody labelled are a cluster of their own. The tables of the part "model" are read
from --tables, and not computed again; those of this part go into partition_labels_competitors.txt beside --out.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import BayesianGaussianMixture
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from consilience.consensus import KCC, Crowdclustering
from consilience.datasets import load_faces, load_uci
from consilience.inspection.plots.style import SMALL, colour, marker, plain_text, tidy
from consilience.metrics import nmi
from consilience.semisupervised import MECC, InductiveConsensus, MPCKMeans, PartitionLabelModel, SemiCrowd
from consilience.simulation import simulate_experts

KEY = ("data", "method", "share", "fold")
FEATURES_ONLY = ("k-means", "DPGMM")
COMPETITORS = {  # by number of classes and fold
    "KCC": lambda k, fold: KCC(k, random_state=fold),
    "KCC+LR": lambda k, fold: InductiveConsensus(KCC(k, random_state=fold), LogisticRegression(max_iter=1000)),
    "MPCKMeans": lambda k, fold: MPCKMeans(k, random_state=fold),
    "SemiCrowd": lambda k, fold: SemiCrowd(k, random_state=fold),
    "MECC": lambda k, fold: MECC(k, random_state=fold),
    "Crowdclustering": lambda _, fold: Crowdclustering(n_init=1, random_state=fold),
}
WITHOUT_FEATURES = ("KCC", "Crowdclustering")
SMALLEST = "breast_tissue"  # where Crowdclustering is run
OF_COMPONENTS = ("MPCKMeans", "MECC")  # where there are more features than items
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
UCI = ("iris", "seeds", "breast_tissue", "glass", "steel_plates_faults")
FACES = ("Yale", "warpAR10P", "warpPIE10P")
CLAIMED = ("iris", "seeds", "breast_tissue", "glass", "Yale", "warpAR10P")  # for the number of clusters, from 50 %

# Table 1 as published: classes; DPGMM; then mean and standard deviation for each share of labels
PUBLISHED = {
    "iris": (3, 3.4, [(3.0, 0.0), (3.0, 0.0), (3.2, 0.4), (3.4, 0.5), (3.2, 0.4), (3.2, 0.4)]),
    "seeds": (3, 5.8, [(3.0, 0.0), (3.6, 0.5), (3.8, 0.4), (4.4, 0.5), (4.4, 0.5), (4.6, 0.5)]),
    "breast_tissue": (6, 10.6, [(3.8, 0.4), (4.8, 0.4), (4.8, 0.4), (5.4, 0.8), (5.8, 0.4), (5.8, 0.4)]),
    "glass": (6, 16.8, [(4.6, 0.5), (7.0, 0.6), (6.4, 1.5), (8.4, 0.8), (8.0, 0.8), (8.4, 0.8)]),
    "steel_plates_faults": (7, 1.8, [(23.2, 2.8), (28.4, 3.8), (31.0, 1.1), (31.4, 1.5), (30.4, 1.4), (30.0, 2.8)]),
    "Yale": (15, 1.8, [(16.4, 1.6), (14.6, 1.5), (13.2, 2.6), (14.6, 1.9), (16.4, 2.1), (15.8, 1.2)]),
    "warpAR10P": (10, 21.4, [(11.0, 1.9), (11.8, 2.8), (11.8, 1.7), (14.8, 1.9), (13.2, 1.2), (14.2, 1.6)]),
    "warpPIE10P": (10, 1.2, [(20.2, 1.3), (17.2, 2.9), (14.8, 1.7), (16.4, 1.6), (16.0, 2.3), (19.4, 1.7)]),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    bunch = load_uci(name) if name in UCI else load_faces(name)
    return np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)


def folds(X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(KFold(5, shuffle=True, random_state=0).split(X))


def run_model(name: str, share: float, fold: int) -> dict:
    X, classes = load(name)
    train, test = folds(X)[fold]
    experts = simulate_experts(classes, observed=share, random_state=100 * fold + 1)
    scale = StandardScaler().fit(X[train])
    model = PartitionLabelModel(random_state=fold)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scale.transform(X[train]), experts[train])
    return {
        "clusters": model.n_clusters_,
        "training": nmi(classes[train], model.labels_),
        "validation": nmi(classes[test], model.predict(scale.transform(X[test]))),
        "prior_variance": model.prior_variance_,
        "converged": bool(model.converged_),
    }


def run_features_only(name: str, method: str, fold: int) -> dict:
    X, classes = load(name)
    train, test = folds(X)[fold]
    scale = StandardScaler().fit(X[train])
    if method == "k-means":
        model = KMeans(len(np.unique(classes)), n_init=10, random_state=fold)
    else:
        n_components = min(50, len(train))
        model = BayesianGaussianMixture(
            n_components=n_components, covariance_type="diag", max_iter=500, random_state=fold
        )
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.fit_predict(scale.transform(X[train]))
    return {
        "clusters": len(np.unique(found)),
        "training": nmi(classes[train], found),
        "validation": nmi(classes[test], model.predict(scale.transform(X[test]))),
    }


def run_competitor(name: str, method: str, share: float, fold: int) -> dict:
    X, classes = load(name)
    train, test = folds(X)[fold]
    experts = simulate_experts(classes, observed=share, random_state=100 * fold + 1)[train]
    scale = StandardScaler().fit(X[train])
    if method in OF_COMPONENTS and X.shape[1] > len(train):
        scale = make_pipeline(scale, PCA(0.95, random_state=0)).fit(X[train])
    model = COMPETITORS[method](len(np.unique(classes)), fold)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in WITHOUT_FEATURES:
            labels, validation = model.fit(experts).labels_, np.nan
        else:
            labels = model.fit(scale.transform(X[train]), experts).labels_
            validation = nmi(classes[test], model.predict(scale.transform(X[test])))
    return {"clusters": model.n_clusters_, "training": nmi(classes[train], labels), "validation": validation}


def is_near(found: float, mean: float, sd: float) -> bool:
    """Whether a value is within sd + 1 of the mean, up to rounding."""
    return abs(found - mean) <= sd + 1 + 1e-9


def table_of_clusters(results: pd.DataFrame) -> list[str]:
    lines = [
        "Table 1: number of clusters, mean (sd) over five folds; [published]; * outside published mean ± (sd + 1)",
        "",
    ]
    lines.append(
        f"{'data':20s} {'classes':>7s} {'DPGMM':>13s}  "
        + "  ".join(f"{f'{share:.0%} of labels':>21s}" for share in SHARES)
    )
    for name, (n_classes, dpgmm, published) in PUBLISHED.items():
        mine = results[results["data"] == name]
        if mine.empty:
            continue
        peer = mine.loc[mine["method"] == "DPGMM", "clusters"]
        cells = []
        for share, (mean, sd) in zip(SHARES, published):
            found = mine.loc[(mine["method"] == "model") & (mine["share"] == share), "clusters"]
            mark = " " if is_near(found.mean(), mean, sd) else "*"
            cells.append(f"{found.mean():4.1f} ({found.std(ddof=0):3.1f}){mark} [{mean:4.1f} ({sd:.1f})]")
        lines.append(
            f"{name:20s} {n_classes:7d} {peer.mean():5.1f} [{dpgmm:4.1f}]  " + "  ".join(f"{c:>21s}" for c in cells)
        )
    return lines


def table_of_nmi(results: pd.DataFrame, where: str) -> list[str]:
    lines = [f"Fig. 3, {where} folds: NMI, mean over five folds; - behind k-means, = behind DPGMM", ""]
    lines.append(f"{'data':20s} {'k-means':>8s} {'DPGMM':>8s}  " + "  ".join(f"{share:>6.0%}" for share in SHARES))
    for name in PUBLISHED:
        mine = results[results["data"] == name]
        if mine.empty:
            continue
        kmeans, dpgmm = (mine.loc[mine["method"] == method, where].mean() for method in ("k-means", "DPGMM"))
        cells = []
        for share in SHARES:
            value = mine.loc[(mine["method"] == "model") & (mine["share"] == share), where].mean()
            cells.append(f"{value:.3f}" + ("-" if value <= kmeans else "") + ("=" if value <= dpgmm else ""))
        lines.append(f"{name:20s} {kmeans:8.3f} {dpgmm:8.3f}  " + "  ".join(f"{cell:<6s}" for cell in cells))
    return lines


def verdict(results: pd.DataFrame) -> list[str]:
    """Count the targets that are met, from the tables."""
    model = results[results["method"] == "model"]
    means = model.groupby(["data", "share"])[["clusters", "training", "validation"]].mean()
    peers = results[results["method"] != "model"].groupby(["data", "method"])[["training", "validation"]].mean()
    peers = peers.groupby("data").max()
    near = [
        is_near(means.loc[(name, share), "clusters"], mean, sd)
        for name in CLAIMED
        if name in peers.index
        for share, (mean, sd) in zip(SHARES, PUBLISHED[name][2])
        if share >= 0.5
    ]
    ahead = [
        means.loc[(name, share), where] > peers.loc[name, where]
        for name in peers.index
        for share in SHARES
        if share >= 0.3
        for where in ("training", "validation")
    ]
    return [
        f"clusters within sd + 1 of the published mean, 50 to 100 %, six data sets: {sum(near)} of {len(near)}",
        f"NMI ahead of both k-means and DPGMM, 30 to 100 %, both folds: {sum(ahead)} of {len(ahead)}",
        f"restarts that had not converged: {int((~model['converged'].astype(bool)).sum())} of {len(model)} fits",
    ]


def nmi_of_tables(lines: list[str]) -> pd.DataFrame:
    """Return the means that `table_of_nmi` printed."""
    rows: list[dict] = []
    for line in lines:
        name, *cells = line.split() or [""]
        if line.startswith("Fig. 3"):
            where = "training" if "training" in line else "validation"
        elif name in PUBLISHED and len(cells) == len(FEATURES_ONLY) + len(SHARES):
            values = [float(cell.rstrip("-=")) for cell in cells]
            keys = [(method, 0.0) for method in FEATURES_ONLY] + [("model", share) for share in SHARES]
            rows += [
                {"data": name, "method": method, "share": share, where: value}
                for (method, share), value in zip(keys, values)
            ]
    return pd.DataFrame(rows).groupby(["data", "method", "share"], as_index=False).first()


def table_of_competitors(results: pd.DataFrame, where: str) -> list[str]:
    lines = [f"Fig. 3, {where} folds: NMI, mean over five folds", ""]
    lines.append(f"{'data':16s} {'method':16s} " + " ".join(f"{share:>6.0%}" for share in SHARES))
    for name in PUBLISHED:
        mine = results[results["data"] == name]
        for method in methods_of(mine, where):
            values = curve(mine, method, where)
            lines.append(f"{name:16s} {method:16s} " + " ".join(f"{value:6.3f}" for value in values))
    return lines


def methods_of(results: pd.DataFrame, where: str) -> list[str]:
    """Return the methods that have results in these folds, the model first."""
    present = set(results.loc[results[where].notna(), "method"])
    return [method for method in ("model", *COMPETITORS, *FEATURES_ONLY) if method in present]


def curve(results: pd.DataFrame, method: str, where: str) -> list[float]:
    """Return mean NMI at each share of labels, constant for methods that use none."""
    mine = results[results["method"] == method]
    return [mine.loc[mine["share"].isin([share, 0.0]), where].mean() for share in SHARES]


def verdict_on_competitors(results: pd.DataFrame) -> list[str]:
    """Count how often the model is best, from 30 % of the labels on."""
    lines = ["NMI of the model above that of, at 30 to 100 %, training / validation folds:"]
    for method in COMPETITORS:
        cells = []
        for where in ("training", "validation"):
            ahead = []
            for _, mine in results.groupby("data"):
                if {"model", method} <= set(methods_of(mine, where)):
                    ahead += list(np.greater(curve(mine, "model", where), curve(mine, method, where))[1:])
            cells.append(f"{sum(ahead)} of {len(ahead)}" if ahead else "-")
        lines.append(f"    {method:16s} " + " / ".join(cells))
    return lines


def draw(results: pd.DataFrame) -> Figure:
    """Draw Fig. 3: a column for each data set, training folds above validation folds."""
    names = [name for name in PUBLISHED if name in set(results["data"])]
    figure = Figure(figsize=(1.65 * len(names) + 0.6, 4.6), layout="constrained")
    axes = figure.subplots(2, len(names), sharex=True, sharey="col", squeeze=False)
    drawn = {}
    for (row, where), (column, name) in product(enumerate(("training", "validation")), enumerate(names)):
        axis, mine = axes[row, column], results[results["data"] == name]
        for method in methods_of(mine, where):
            drawn[method] = axis.plot(SHARES, curve(mine, method, where), **look_of(method))[0]
        tidy(axis)
        axis.tick_params(labelsize=SMALL - 1)
        axis.set_xticks([0.1, 0.5, 1.0], ["10 %", "50 %", "100 %"])
        axis.set_title(name if row == 0 else "", fontsize=SMALL)
        axis.set_ylabel(f"NMI, {where} folds" if column == 0 else "", fontsize=SMALL)
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=5, fontsize=SMALL, frameon=False)
    return figure


def look_of(method: str) -> dict:
    """Return line styles: heavy for the model, dashed for methods that use no labels."""
    number = ("model", *COMPETITORS, *FEATURES_ONLY).index(method)
    look = {"color": colour(number), "marker": marker(number), "ms": 3, "lw": 2 if method == "model" else 0.9}
    return look | {"linestyle": "dashed" if method in FEATURES_ONLY else "solid"}


def run(name: str, method: str, share: float, fold: int) -> dict:
    if method == "model":
        found = run_model(name, share, fold)
    elif method in COMPETITORS:
        found = run_competitor(name, method, share, fold)
    else:
        found = run_features_only(name, method, fold)
    return dict(zip(KEY, (name, method, share, fold))) | found


def results_of(jobs: list[tuple], store: Path, n_jobs: int) -> pd.DataFrame:
    """Return the results of the jobs; each is appended to the store when done, and stored ones are not run again."""
    store.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()] if store.exists() else []
    results = {tuple(result[key] for key in KEY): result for result in known}
    missing = [job for job in jobs if job not in results]
    with store.open("a", encoding="utf-8") as file:
        found = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(run)(*job) for job in missing)
        for result in tqdm(found, total=len(missing), disable=None):
            results[tuple(result[key] for key in KEY)] = result
            file.write(json.dumps(result) + "\n")
            file.flush()
    return pd.DataFrame([results[job] for job in jobs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(PUBLISHED), choices=list(PUBLISHED))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("benchmarks/results/partition_labels.jsonl"))
    parser.add_argument("--parts", nargs="+", choices=("model", "competitors"), default=["model", "competitors"])
    parser.add_argument("--tables", type=Path, default=Path("docs/papers/partition_labels.txt"))
    parser.add_argument("--out", type=Path, help="write the tables there too")
    parser.add_argument("--figures", type=Path, help="folder: draw Fig. 3 there")
    arguments = parser.parse_args()
    texts = {}
    if "model" in arguments.parts:
        jobs = jobs_of(arguments.data, FEATURES_ONLY, (0.0,)) + jobs_of(arguments.data, ("model",), SHARES)
        results = results_of(jobs, arguments.store, arguments.jobs)
        blocks = [
            table_of_clusters(results),
            table_of_nmi(results, "training"),
            table_of_nmi(results, "validation"),
            verdict(results),
        ]
        texts[""] = blocks
    if "competitors" in arguments.parts:
        jobs = jobs_of(arguments.data, COMPETITORS, SHARES)
        jobs = [job for job in jobs if job[1] != "Crowdclustering" or job[0] == SMALLEST]
        lines = texts[""][1] + texts[""][2] if texts else arguments.tables.read_text(encoding="utf-8").splitlines()
        known = nmi_of_tables(lines)
        known = known[known["data"].isin(arguments.data)]
        results = pd.concat([known, results_of(jobs, arguments.store, arguments.jobs)], ignore_index=True)
        blocks = [table_of_competitors(results, where) for where in ("training", "validation")]
        texts["_competitors"] = [*blocks, verdict_on_competitors(results)]
        if arguments.figures:
            with plain_text():
                draw(results).savefig(arguments.figures / "partition_labels_nmi.svg", metadata={"Date": None})
    for ending, blocks in texts.items():
        text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
        print(text)
        if arguments.out:
            arguments.out.with_stem(arguments.out.stem + ending).write_text(text, encoding="utf-8")


def jobs_of(data: Iterable[str], methods: Iterable[str], shares: Iterable[float]) -> list[tuple]:
    return list(product(data, methods, shares, range(5)))


if __name__ == "__main__":
    main()
