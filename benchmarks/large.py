"""Annotations in partitions: seconds and memory of `consilience.partitions.fit` by the number of items.

    python benchmarks/large.py [--model PartitionLabelModel] [--items 10000 100000] [--workers 2] [--jobs 2]
    python benchmarks/large.py --overhead --items 1000000

DawidSkene: a simulated crowd of 200 annotators labels each item five times. PartitionLabelModel: items of 10 clusters
have 20 features, and 20 annotators each label 20 % of them in two to five groups; K = 30, one start, σ² = 1, no
mergers. KCC: the same items and annotators without features, K = 10, ten runs, as by default. SubsetFusion: the same,
with the number of clusters found. MECC: the items with features, K = 10, ten starts. StagewiseEM: twenty annotators, of
whom five are right in 70 % of the cases and the others guess, label half of the items each in one of three classes.
ProductMixture: the labels of DawidSkene, from the votes. OrdinalRatings: 200 simulated raters with a bias, a slope and
a noise of their own; each item is rated five times from 1 to 5.

For each number of items, the data are in Parquet files of up to 200,000 items. A process of its own fits them, with
threads (`--jobs`) or on a local Dask cluster (`--workers`), and another one fits all of it in memory. Printed are
seconds, sweeps, the most memory that the process took beyond what it had after its imports (Linux; workers apart), and
how many items have the same class, or the adjusted Rand index of the clusters.

With `--overhead` one and two threads, each with a partition of its own, are compared with as many workers of Dask,
which have imported the package.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

N_ANNOTATORS, PER_ITEM, N_CLASSES = 200, 5, 5
N_FEATURES, N_CLUSTERS, N_SORTERS, LABELLED = 20, 10, 20, 0.2
N_INFORMED = 5
FEATURES = [f"feature {number}" for number in range(N_FEATURES)]
SORTERS = [f"annotator {number}" for number in range(N_SORTERS)]
ITEMS_OF_A_FILE = 200_000
MOST_IN_MEMORY = 1_000_000
ROUNDS = 3
OF_CLASSES = ("DawidSkene", "OrdinalRatings", "ProductMixture", "StagewiseEM")


def write_labels(folder: Path, n_items: int, of_a_file: int, seed: int = 0) -> None:
    """Write the labels of a simulated crowd."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.5, 0.95, N_ANNOTATORS)
    for number, start in enumerate(range(0, n_items, of_a_file)):
        size = min(of_a_file, n_items - start)
        item = np.repeat(np.arange(start, start + size), PER_ITEM)
        first, step = (
            rng.integers(N_ANNOTATORS, size=(size, 1)),
            rng.integers(1, N_ANNOTATORS // PER_ITEM, size=(size, 1)),
        )
        annotator = ((first + step * np.arange(PER_ITEM)) % N_ANNOTATORS).ravel()  # five different ones
        true = np.repeat(rng.integers(N_CLASSES, size=size), PER_ITEM)
        wrong = (true + rng.integers(1, N_CLASSES, size=len(true))) % N_CLASSES
        label = np.where(rng.random(len(true)) < accuracy[annotator], true, wrong)
        pd.DataFrame({"item": item, "annotator": annotator, "label": label}).to_parquet(folder / f"{number:04}.parquet")


def write_ratings(folder: Path, n_items: int, of_a_file: int, seed: int = 0) -> None:
    """Write the ratings of a simulated crowd."""
    from consilience.simulation import simulate_ratings

    rng = np.random.default_rng(seed)
    bias, slope = rng.normal(0, 0.5, N_ANNOTATORS), rng.normal(1, 0.2, N_ANNOTATORS).clip(0.3)
    noise = rng.uniform(0.3, 1.0, N_ANNOTATORS)
    for number, start in enumerate(range(0, n_items, of_a_file)):
        size = min(of_a_file, n_items - start)
        ratings = simulate_ratings(
            rng.normal(3, 1.2, size),
            n_annotators=N_ANNOTATORS,
            bias=bias,
            slope=slope,
            noise=noise,
            annotators_per_item=PER_ITEM,
            items=range(start, start + size),
            random_state=rng,
        )
        ratings.to_frame().to_parquet(folder / f"{number:04}.parquet", index=False)


def write_groups(folder: Path, n_items: int, of_a_file: int) -> None:
    """Write the groups of `write_items` as long tables."""
    write_items(folder, n_items, of_a_file)
    for path in sorted(folder.iterdir()):
        frame = pd.read_parquet(path).melt("item", SORTERS, "annotator", "label").dropna()
        frame.to_parquet(path, index=False)


def write_items(folder: Path, n_items: int, of_a_file: int, seed: int = 0) -> None:
    """Write items of clusters, and the groups of annotators who tell some of the clusters apart, 85 % of the time."""
    rng = np.random.default_rng(seed)
    centres = 1.2 * rng.normal(size=(N_CLUSTERS, N_FEATURES))
    n_groups = rng.integers(2, 6, size=N_SORTERS)
    groups = [rng.permutation(np.arange(N_CLUSTERS) % n) for n in n_groups]
    for number, start in enumerate(range(0, n_items, of_a_file)):
        size = min(of_a_file, n_items - start)
        true = rng.integers(N_CLUSTERS, size=size)
        features = centres[true] + rng.normal(size=(size, N_FEATURES))
        columns = {"item": np.arange(start, start + size), **dict(zip(FEATURES, features.T))}
        for name, n, group in zip(SORTERS, n_groups, groups):
            said = np.where(rng.random(size) < 0.85, group[true], rng.integers(n, size=size))
            columns[name] = pd.arrays.IntegerArray(said, rng.random(size) >= LABELLED)
        pd.DataFrame(columns).to_parquet(folder / f"{number:04}.parquet")


def write_sparse(folder: Path, n_items: int, of_a_file: int, seed: int = 0) -> None:
    """Write labels of a crowd in which few know anything."""
    rng = np.random.default_rng(seed)
    for number, start in enumerate(range(0, n_items, of_a_file)):
        size = min(of_a_file, n_items - start)
        true = rng.integers(3, size=size)
        columns = []
        for person, name in enumerate(SORTERS):
            some = np.flatnonzero(rng.random(size) < 0.5)
            knows = (rng.random(len(some)) < 0.7) & (person < N_INFORMED)
            label = np.where(knows, true[some], rng.integers(3, size=len(some)))
            columns.append(pd.DataFrame({"item": start + some, "annotator": name, "label": label}))
        pd.concat(columns).to_parquet(folder / f"{number:04}.parquet", index=False)


WRITERS = {
    "DawidSkene": write_labels,
    "KCC": write_groups,
    "MECC": write_items,
    "OrdinalRatings": write_ratings,
    "PartitionLabelModel": write_items,
    "ProductMixture": write_labels,
    "StagewiseEM": write_sparse,
    "SubsetFusion": write_groups,
}


def memory() -> float:
    """Return the most memory in MB that this process ever took; not that of the one that started it, as ru_maxrss."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def model_and_table(name: str, folder: Path) -> tuple[Any, Any]:
    """Return the model that is measured, and the partitions."""
    from consilience.consensus import KCC, DawidSkene, OrdinalRatings, ProductMixture, StagewiseEM, SubsetFusion
    from consilience.partitions import PartitionedItems, PartitionedTable
    from consilience.semisupervised import MECC, PartitionLabelModel

    models = {
        "DawidSkene": DawidSkene(subtypes=1),
        "KCC": KCC(N_CLUSTERS, random_state=0),
        "OrdinalRatings": OrdinalRatings(levels=range(1, 6)),
        "ProductMixture": ProductMixture(init="votes"),
        "StagewiseEM": StagewiseEM(copies=None),
        "SubsetFusion": SubsetFusion(copies=None, random_state=0),
    }
    if name in models:
        return models[name], PartitionedTable(folder)
    if name == "MECC":
        items = PartitionedItems(folder, features=FEATURES, annotators=SORTERS)
        return MECC(N_CLUSTERS, n_init=10, random_state=0), items
    settings = {"max_clusters": 30, "n_init": 1, "prior_variance": 1.0, "copies": None, "merge": False}
    model = PartitionLabelModel(**settings, random_state=0)
    return model, PartitionedItems(folder, features=FEATURES, annotators=SORTERS)


def fit_in_memory(model: Any, folder: Path) -> None:
    """Fit to all files at once."""
    from consilience import Groupings, Labels

    frame = pd.read_parquet(folder)
    if "label" in frame:
        model.fit(Labels.from_frame(frame))
    else:
        frame = frame.set_index("item")
        model.fit(frame[FEATURES], Groupings.from_matrix(frame[SORTERS]))


def measured(how: str, name: str, folder: Path, workers: int, jobs: int, sent: Any) -> None:
    """Fit in this process, and send figures and classes."""
    from consilience.partitions import fit, item_results

    warnings.simplefilter("ignore")
    model, table = model_and_table(name, folder)
    before, begun = memory(), time.perf_counter()
    if how == "memory":
        fit_in_memory(model, folder)
    elif workers:
        from dask.distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as it,
        ):
            it.run(__import__, "consilience.partitions")  # as on a cluster that runs
            begun = time.perf_counter()
            fit(model, table, client=it)
    else:
        fit(model, table, n_jobs=jobs)
    figures = time.perf_counter() - begun, getattr(model, "n_iter_", 0), memory() - before
    if how == "memory":
        classes = pd.Series(model.labels_, model.items_).sort_index().to_numpy()
    else:
        column = "label" if name in OF_CLASSES else "cluster"
        found = pd.concat(one.set_index("item")[column] for one in item_results(model, table)).sort_index()
        classes = found.fillna(-1).to_numpy()
    sent.send((*figures, classes))


def run(how: str, name: str, folder: Path, workers: int, jobs: int) -> tuple[float, int, float, np.ndarray]:
    """Fit in a process of its own."""
    here, there = multiprocessing.Pipe()
    given = (how, name, folder, workers, jobs, there)
    process = multiprocessing.get_context("spawn").Process(target=measured, args=given)
    process.start()
    there.close()  # so that the end of a process that was killed is noticed
    found = here.recv()
    process.join()
    return found


def alike(name: str, classes: np.ndarray, others: np.ndarray) -> float:
    """Return the share of items of the same class; of clusters, whose numbers mean nothing, the adjusted Rand index."""
    return float((classes == others).mean() if name in OF_CLASSES else adjusted_rand_score(classes, others))


def compare_dask(name: str, n_items: int) -> None:
    """Print seconds of threads and of workers of Dask, as medians of `ROUNDS` fits in turn, and their ratio."""
    for number in (1, 2):
        seconds = {"threads": list[float](), "workers": list[float]()}
        with tempfile.TemporaryDirectory() as folder:
            WRITERS[name](Path(folder), n_items, -(-n_items // number))
            for _ in range(ROUNDS):
                seconds["threads"].append(run("partitions", name, Path(folder), 0, number)[0])
                seconds["workers"].append(run("partitions", name, Path(folder), number, 1)[0])
        threads, workers = (float(np.median(each)) for each in seconds.values())
        one = f"{number} thread{'s' * (number > 1)}"
        print(f"{n_items:>10,} {one:10} {threads:8.1f}  Dask {workers:8.1f}  ratio {workers / threads:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=list(WRITERS), default="DawidSkene")
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--workers", type=int, default=0, help="processes of a local Dask cluster; none by default")
    parser.add_argument("--jobs", type=int, default=1, help="threads without a cluster")
    parser.add_argument("--overhead", action="store_true", help="fit by threads and by as many workers, side by side")
    arguments = parser.parse_args()
    write = WRITERS[arguments.model]
    if not arguments.overhead:
        print(f"{'items':>10} {'':10} {'seconds':>8} {'sweeps':>7} {'MB':>6}  same")
    for n_items in arguments.items:
        if arguments.overhead:
            compare_dask(arguments.model, n_items)
            continue
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), n_items, ITEMS_OF_A_FILE)
            given = (arguments.model, Path(name), arguments.workers, arguments.jobs)
            seconds, sweeps, size, classes = run("partitions", *given)
            print(f"{n_items:>10,} {'partitions':10} {seconds:8.1f} {sweeps:7} {size:6.0f}", flush=True)
            if n_items <= MOST_IN_MEMORY:
                seconds, sweeps, size, others = run("memory", *given)
                same = alike(arguments.model, classes, others)
                print(f"{n_items:>10,} {'in memory':10} {seconds:8.1f} {sweeps:7} {size:6.0f}  {same:.6f}", flush=True)


if __name__ == "__main__":
    main()
