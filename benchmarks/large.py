"""Labels in partitions: seconds and memory of `consilience.partitions.fit` by the number of items.

    python benchmarks/large.py [--items 10000 100000] [--workers 2]

For each number of items, a simulated crowd of 200 annotators labels each item five times, in Parquet files of up to
200,000 items. A process of its own fits ``DawidSkene(subtypes=1)`` to them, with threads or on a local Dask cluster
(`--workers`), and another one fits all of it in memory. Printed are seconds, sweeps, the most memory that the process
took beyond what it had after its imports (Linux; workers apart), and how many items have the same class.
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

N_ANNOTATORS, PER_ITEM, N_CLASSES = 200, 5, 5
ITEMS_OF_A_FILE = 200_000
MOST_IN_MEMORY = 1_000_000


def write(folder: Path, n_items: int, seed: int = 0) -> None:
    """Write the labels of a simulated crowd."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.5, 0.95, N_ANNOTATORS)
    for number, start in enumerate(range(0, n_items, ITEMS_OF_A_FILE)):
        size = min(ITEMS_OF_A_FILE, n_items - start)
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


def memory() -> float:
    """Return the most memory in MB that this process ever took; not that of the one that started it, as ru_maxrss."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def measured(how: str, folder: Path, workers: int, sent: Any) -> None:
    """Fit in this process, and send figures and classes."""
    from consilience import Labels
    from consilience.consensus import DawidSkene
    from consilience.partitions import PartitionedTable, fit, item_results

    warnings.simplefilter("ignore")
    table, model = PartitionedTable(folder), DawidSkene(subtypes=1)
    before, begun = memory(), time.perf_counter()
    if how == "memory":
        model.fit(Labels.from_frame(pd.read_parquet(folder)))
    elif workers:
        from dask.distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as it,
        ):
            begun = time.perf_counter()
            fit(model, table, client=it)
    else:
        fit(model, table)
    figures = time.perf_counter() - begun, model.n_iter_, memory() - before
    if how == "memory":
        classes = pd.Series(model.labels_, model.items_).sort_index().to_numpy()
    else:
        classes = pd.concat(item_results(model, table)).set_index("item")["label"].sort_index().to_numpy()
    sent.send((*figures, classes))


def run(how: str, folder: Path, workers: int) -> tuple[float, int, float, np.ndarray]:
    """Fit in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=measured, args=(how, folder, workers, there))
    process.start()
    there.close()  # so that the end of a process that was killed is noticed
    found = here.recv()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--workers", type=int, default=0, help="processes of a local Dask cluster; none by default")
    arguments = parser.parse_args()
    print(f"{'items':>10} {'':10} {'seconds':>8} {'sweeps':>7} {'MB':>6}  same class")
    for n_items in arguments.items:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), n_items)
            seconds, sweeps, size, classes = run("partitions", Path(name), arguments.workers)
            print(f"{n_items:>10,} {'partitions':10} {seconds:8.1f} {sweeps:7} {size:6.0f}", flush=True)
            if n_items <= MOST_IN_MEMORY:
                seconds, sweeps, size, others = run("memory", Path(name), 0)
                same = (classes == others).mean()
                print(f"{n_items:>10,} {'in memory':10} {seconds:8.1f} {sweeps:7} {size:6.0f}  {same:.6f}", flush=True)


if __name__ == "__main__":
    main()
