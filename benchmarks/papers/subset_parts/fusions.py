"""fusions, ensembles: NMI and ARI of every fusion and peer on the same groupings, simulated and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.cluster import KMeans

from benchmarks.experiments import Cell, Record
from benchmarks.experiments.statistics import Difference
from benchmarks.papers.subset_parts.setting import (
    CASE_1,
    CASE_2,
    PAPERS,
    K,
    against,
    counts,
    random_tasks,
    row_of,
    simulated,
    spread,
    versus,
)
from consilience import Groupings
from consilience.consensus import CSPA, KCC, SubsetFusion
from consilience.datasets import load_dogs_birds, load_mnist_crowd, load_orchestra
from consilience.inference.memberships import Memberships, count_presented, together
from consilience.metrics import ari, nmi
from consilience.simulation import simulate_crowd

N_DRAWS = 10  # of simulated groupings, and seeds of random methods on recorded ones
DEFAULT, VARIANT = "SubsetFusion()", 'SubsetFusion(normalize="presented")'
HBGF, PAPER = "degree, k-means (as HBGF)", "None, k-means (the paper's)"
LINKAGE, ROWS_OF_C = "average linkage of C/P", "k-means on the rows of C"
FUSIONS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    VARIANT: {"normalize": "presented"},
    HBGF: {"refine": False},
    "presented, k-means (C/P)": {"normalize": "presented", "refine": False},
    PAPER: PAPERS,
}
METHODS = (*FUSIONS, "KCC()", "CSPA()", LINKAGE, ROWS_OF_C)
PEERS = tuple(name for name in METHODS if name not in (DEFAULT, VARIANT))
LARGEST_DENSE = 3000  # items up to which a method may hold all pairs


def noisy(n_items: int, n_subsets: int, size: int, seed: int) -> tuple[Groupings, np.ndarray]:
    """Return groupings of annotators who misplace items and merge clusters."""
    classes = np.arange(n_items) % K
    crowd = simulate_crowd(
        classes, n_annotators=n_subsets, items_each=size, accuracy=0.85, merge=0.2, random_state=seed
    )
    return crowd, classes


def whole(bunch: Any) -> tuple[Groupings, np.ndarray]:
    return bunch.annotations, bunch.target


CROWDS: dict[str, Callable[[int], Any]] = {
    "case 1, tau 5, 150 subsets": lambda seed: simulated(*CASE_1.values(), 5, 150, seed),
    "case 1, tau 5, 400 subsets": lambda seed: simulated(*CASE_1.values(), 5, 400, seed),
    "case 1, tau 5, 1000 subsets": lambda seed: simulated(*CASE_1.values(), 5, 1000, seed),
    "case 1, tau 2, 400 subsets": lambda seed: simulated(*CASE_1.values(), 2, 400, seed),
    "case 2, tau 5": lambda seed: simulated(*CASE_2.values(), 5, 100, seed),
    "case 2, tau 2": lambda seed: simulated(*CASE_2.values(), 2, 100, seed),
    "noisy agents, 1000 items, 100 x 50": lambda seed: noisy(1000, 100, 50, seed),
    "noisy agents, 10 000 items, 2000 x 50": lambda seed: noisy(10_000, 2000, 50, seed),
}
N_CLUSTERS = {  # the true numbers, of recorded groupings
    "orchestra scenes, 205 random": 13,
    "orchestra scenes, all": 13,
    "orchestra ImageNet, 205 random": 20,
    "orchestra ImageNet, all": 20,
    "mnist-crowd": 10,
    "dogs3": 3,
    "birds5": 6,
}
LARGE = ("noisy agents, 10 000 items, 2000 x 50",)


@lru_cache(maxsize=1)
def groupings_of(data: str, seed: int) -> tuple[Groupings, np.ndarray]:
    """Return simulated groupings of a draw, or recorded ones, and the truth."""
    if data in CROWDS:
        return CROWDS[data](seed)
    if data == "mnist-crowd":
        return whole(load_mnist_crowd())
    if data.startswith("orchestra"):
        bunch = load_orchestra("scenes" if "scenes" in data else "imagenet")
        return random_tasks(bunch) if data.endswith("random") else whole(bunch)
    return whole(load_dogs_birds(data))


def method_of(name: str, n_clusters: int, seed: int) -> Any:
    """Return an unfitted method; None for the two that are no models of ours."""
    if name in FUSIONS:
        return SubsetFusion(n_clusters, random_state=seed, **FUSIONS[name])
    models = {"KCC()": KCC, "CSPA()": CSPA}
    return models[name](n_clusters, random_state=seed) if name in models else None


def cells_of_fusions() -> Iterator[Cell]:
    for data in (*CROWDS, *N_CLUSTERS):
        n_clusters = N_CLUSTERS.get(data, K)
        for draw in range(N_DRAWS):
            seed = 0 if data in CROWDS else draw
            for name in METHODS:
                if name == LINKAGE and data in N_CLUSTERS and draw:
                    continue  # draws no random numbers
                if name in (LINKAGE, ROWS_OF_C) and data in LARGE:
                    continue  # all pairs
                method = method_of(name, n_clusters, seed)
                settings = {} if method else {"n_clusters": n_clusters} | ({} if name == LINKAGE else {"seed": seed})
                yield Cell("fusions", data, name, draw, method, settings)


def compute_fusions(cell: Cell) -> dict[str, Any]:
    """Return NMI and ARI over the items in any grouping, and in how many groupings these are in the mean."""
    groupings, truth = groupings_of(cell.data, cell.draw if cell.data in CROWDS else 0)
    times = Memberships.of(groupings).times_seen
    seen, truth = times > 0, np.asarray(truth)
    if len(np.unique(truth)) != N_CLUSTERS.get(cell.data, K):
        raise ValueError(f"{cell.data} has {len(np.unique(truth))} clusters.")
    start = time.process_time()
    if cell.estimator is not None:
        labels = clone(cell.estimator).fit_predict(groupings)
    else:
        labels = peer(cell.model, groupings, **cell.settings)
    return {
        "seconds": time.process_time() - start,
        "nmi": nmi(truth[seen], labels[seen]),
        "ari": ari(truth[seen], labels[seen]),
        "per_item": float(times[seen].mean()),
    }


def peer(name: str, groupings: Groupings, n_clusters: int, seed: int = 0) -> np.ndarray:
    """Return the clusters of a method on all pairs of items."""
    memberships = Memberships.of(groupings)
    counted, of = together(memberships).toarray(), count_presented(memberships).toarray()
    if name == LINKAGE:
        share = counted / np.maximum(of, 1)
        return fcluster(linkage(squareform(1 - share, checks=False), "average"), n_clusters, "maxclust")
    np.fill_diagonal(counted, memberships.times_seen)
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(counted)


# ---- the settings of KCC and CSPA


ENSEMBLES = {"100 items, 1000 x 8": (100, 1000, 8), "1000, 100 x 50": (1000, 100, 50)}
ENSEMBLES |= {"10 000, 2000 x 50": (10_000, 2000, 50)}
KCC_SETTINGS: dict[str, dict[str, Any]] = {
    "spectral, entropy": {"utility": "entropy"},
    "spectral, categorical": {"utility": "categorical"},
    "spectral, cosine": {"utility": "cosine"},
    "spectral, lp, p = 5 (default)": {},
    "spectral, lp, p = 8": {"p": 8.0},
    "k-means++, entropy": {"init": "k-means++", "utility": "entropy"},
    "k-means++, lp, p = 5": {"init": "k-means++"},
}
NORMALIZED = {
    f"{name}, normalized": settings | {"normalize": True}
    for name, settings in KCC_SETTINGS.items()
    if name.startswith("spectral")
}
COORDINATES = "the coordinates alone"
CSPA_SETTINGS: dict[str, Any] = {"CSPA(10)": K, 'CSPA("auto")': "auto"}


def cells_of_ensembles() -> Iterator[Cell]:
    for data in ENSEMBLES:
        for draw in range(N_DRAWS):
            yield Cell("ensembles", data, COORDINATES, draw, SubsetFusion(K, refine=False, random_state=0))
            for name, settings in (KCC_SETTINGS | NORMALIZED).items():
                yield Cell("ensembles", data, name, draw, KCC(K, random_state=0, **settings))
            for name, number in CSPA_SETTINGS.items():
                yield Cell("ensembles", data, name, draw, CSPA(number, random_state=0))


@lru_cache(maxsize=1)
def crowd_of(data: str, seed: int) -> tuple[Groupings, np.ndarray]:
    return noisy(*ENSEMBLES[data], seed)


def compute_ensembles(cell: Cell) -> dict[str, Any]:
    """Return NMI, and the number of clusters."""
    groupings, truth = crowd_of(cell.data, cell.draw)
    start = time.process_time()
    labels = clone(cell.estimator).fit_predict(groupings)
    seconds = time.process_time() - start
    seen = Memberships.of(groupings).times_seen > 0
    return {"seconds": seconds, "nmi": nmi(truth[seen], labels[seen]), "n_clusters": len(np.unique(labels[seen]))}


# ---- tables and quotes of fusions


@cache
def scores_of(record: Record, data: str, measure: str = "nmi") -> pd.DataFrame:
    """Return a measure by draw or seed and method; of a method that draws no random numbers, the same for each seed."""
    rows = record.frame("fusions", data=data)
    found = rows.pivot_table(index="draw", columns="model", values=measure)
    found = found[[name for name in METHODS if name in found]]
    return found.fillna({LINKAGE: found[LINKAGE].iloc[0]}) if LINKAGE in found and data in N_CLUSTERS else found


def leads(record: Record, data: str, measure: str = "nmi") -> dict[str, Difference]:
    """Return by how much the default is ahead of each other method."""
    scores = scores_of(record, data, measure)
    return {name: versus(scores, DEFAULT, name) for name in scores if name != DEFAULT}


def table_of_fusions(record: Record) -> list[str]:
    per_item = record.frame("fusions").groupby("data")["per_item"].mean()
    lines = [
        "NMI and ARI with the truth, number of clusters given: mean ± standard deviation. Simulated: over "
        f"{N_DRAWS} draws.",
        f"Recorded: one recording each, over {N_DRAWS} seeds of the methods. Lead: NMI of {DEFAULT} less that of the",
        "method, ± its standard error over the same draws or seeds; * more than two of these. In brackets: groupings",
        "of an item, in the mean.",
    ]
    for data in (*CROWDS, *N_CLUSTERS):
        nmis, aris, ahead = scores_of(record, data), scores_of(record, data, "ari"), leads(record, data)
        kind = "" if data in CROWDS else ", recorded"
        lines += ["", f"{data}{kind} ({per_item[data]:.1f})"]
        for name in nmis:
            lead = against(ahead[name]) if name in ahead else ""
            lines.append(row_of(name, (spread(nmis[name]), spread(aris[name]), lead), 17, 36))
    return lines


def summary_of_leads(record: Record) -> pd.DataFrame:
    """Return for each crowd its kind, groupings of an item, peers by verdict, and the lead over the best peer."""
    per_item = record.frame("fusions").groupby("data")["per_item"].mean()
    rows = []
    for data in (*CROWDS, *N_CLUSTERS):
        scores, ahead = scores_of(record, data), leads(record, data)
        peers = [name for name in PEERS if name in scores]
        best = scores[peers].mean().idxmax()
        rows.append(
            {"data": data, "simulated": data in CROWDS, "per_item": per_item[data], "best": best, "lead": ahead[best]}
            | counts(ahead[name] for name in peers)
        )
    return pd.DataFrame(rows).set_index("data")


def table_of_leads(record: Record) -> list[str]:
    lines = [
        f"{DEFAULT} against the methods without refinement, in NMI: how many it is ahead of, level with, and behind;",
        "its lead over the best of them, ± standard error",
        "",
        row_of("", ("an item in", "ahead", "level", "behind", "lead"), 16, 40),
    ]
    for data, row in summary_of_leads(record).iterrows():
        cells = (f"{row['per_item']:.1f}", *(str(row[name]) for name in ("above", "level", "below")))
        lines.append(row_of(str(data), (*cells, against(row["lead"])), 16, 40) + f"  {row['best']}")
    return lines


def quotes_of_fusions(record: Record) -> dict[str, Any]:
    found = summary_of_leads(record)
    means = found["lead"].map(lambda lead: lead.mean)
    over_paper = [leads(record, data)[PAPER].mean for data in found.index]
    first = found["level"] + found["below"] == 0
    aris = {data: leads(record, data, "ari")[PAPER] for data in found.index}
    return {
        "crowds": len(found),
        "simulated": int(found["simulated"].sum()),
        "recorded": int((~found["simulated"]).sum()),
        "peers": len(PEERS),
        "comparisons": int(found["all"].sum()),
        "above": int(found["above"].sum()),
        "level": int(found["level"].sum()),
        "below": int(found["below"].sum()),
        "first": int(first.sum()),
        "first_simulated": int((first & found["simulated"]).sum()),
        "not_first": {
            data: {"best": row["best"], "lead": row["lead"], "per_item": row["per_item"], "behind": row["below"]}
            for data, row in found[~first].iterrows()
        },
        "order": float(spearmanr(found["per_item"], means).statistic),
        "order_of_paper": float(spearmanr(found["per_item"], over_paper).statistic),
        "variant": counts(leads(record, data)[VARIANT] for data in found.index),
        "paper": counts(leads(record, data)[PAPER] for data in found.index),
        "ari": counts(aris.values()),
        "ari_below": {data: lead for data, lead in aris.items() if lead.verdict == "below"},
        "ari_means": {data: scores_of(record, data, "ari").mean().to_dict() for data in found.index},
        "nmi_means": {data: scores_of(record, data).mean().to_dict() for data in found.index},
        "draws": N_DRAWS,
    }


def table_of_kcc(record: Record) -> list[str]:
    rows = record.frame("ensembles")
    scores = rows.pivot_table(index="draw", columns=["data", "model"], values="nmi")
    seconds = rows.groupby(["data", "model"])["seconds"].mean()
    lines = [
        f"NMI with the truth: mean ± standard deviation of {N_DRAWS} draws; seconds of one core",
        "",
        row_of("init, utility", (f"{data:>18s}  " for data in ENSEMBLES), 24, 32),
    ]
    for name in (COORDINATES, *KCC_SETTINGS):
        cells = (f"{spread(scores[data, name])}, {seconds[data, name]:5.2f} s" for data in ENSEMBLES)
        lines.append(row_of(name, cells, 24, 32))
    lines += ["", "less the default ± standard error, on the same draws; * more than two of these"]
    default = "spectral, lp, p = 5 (default)"
    for name in (COORDINATES, *KCC_SETTINGS):
        if name != default:
            cells = (against(versus(scores[data], name, default)) + " " * 7 for data in ENSEMBLES)
            lines.append(row_of(name, cells, 24, 32))
    lines += ["", "normalized utility less the same utility ± standard error"]
    for name in NORMALIZED:
        plain = name.removesuffix(", normalized")
        cells = (against(versus(scores[data], name, plain)) + " " * 7 for data in ENSEMBLES)
        lines.append(row_of(plain.removesuffix(" (default)"), cells, 24, 32))
    return lines


def table_of_cspa(record: Record) -> list[str]:
    rows = record.frame("ensembles")
    lines = [
        f"NMI with the truth: mean ± standard deviation of {N_DRAWS} draws; seconds of one core; clusters",
        "",
        f"{'':12s}" + "".join(f"{data:>38s}" for data in ENSEMBLES),
    ]
    for name in CSPA_SETTINGS:
        cells = []
        for data in ENSEMBLES:
            own = rows[(rows["data"] == data) & (rows["model"] == name)]
            low, high = own["n_clusters"].min(), own["n_clusters"].max()
            clusters = f"{low} clusters" if low == high else f"{low} to {high} clusters"
            cells.append(f"{spread(own['nmi'])}, {own['seconds'].mean():.2f} s, {clusters}")
        lines.append(f"{name:12s}" + "".join(f"{cell:>38s}" for cell in cells))
    return lines
