"""Time and memory of `read_annotations` against `pandas.read_csv` on one file.

    python benchmarks/speed/annotations.py [--items 10000] [--annotators 100] [--repeats 7]

The file is a long table of groupings with text names: every annotator sorts every item, in random order. Each
reader runs in its own process for its peak memory, then both run in turns in this one for their times.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from consilience.annotations import read_annotations


def write_table(path: Path, n_items: int, n_annotators: int) -> None:
    """Write n_items x n_annotators memberships in ten groups per annotator."""
    rng = np.random.default_rng(0)
    row = rng.permutation(n_items * n_annotators)
    item = np.array([f"item{i:05d}" for i in range(n_items)])
    annotator = np.array([f"annotator{m:03d}" for m in range(n_annotators)])
    group = np.array([f"group{k}" for k in range(10)])
    columns = {
        "item": item[row // n_annotators],
        "annotator": annotator[row % n_annotators],
        "grouping": np.repeat("sort", len(row)),
        "group": group[rng.integers(10, size=len(row))],
    }
    pd.DataFrame(columns).to_csv(path, index=False)


def peak_megabytes(read, path: Path) -> float:
    """Run a reader in a new process and return the increase of the process's peak memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_raised_peak, (read, path))


def _raised_peak(read, path: Path) -> float:
    before = _peak_kilobytes()
    read(path)
    return (_peak_kilobytes() - before) / 1024


def _peak_kilobytes() -> int:
    # Linux's own count: that of getrusage is inherited from the parent process
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def seconds(read, path: Path) -> float:
    """Time one run."""
    start = time.perf_counter()
    read(path)
    return time.perf_counter() - start


def main() -> None:
    """Print best and median times, their ratio, and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--annotators", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    readers = {"pandas.read_csv": pd.read_csv, "read_annotations": read_annotations}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "groupings.csv"
        write_table(path, options.items, options.annotators)
        print(f"{options.items * options.annotators} rows, {path.stat().st_size / 1e6:.0f} MB, pandas {pd.__version__}")
        peaks = {name: peak_megabytes(read, path) for name, read in readers.items()}
        times = {name: [] for name in readers}
        for _ in range(options.repeats):
            for name, read in readers.items():
                times[name].append(seconds(read, path))
    for name in readers:
        print(
            f"{name:17} best {min(times[name]):.3f} s  median {np.median(times[name]):.3f} s  "
            f"peak +{peaks[name]:.0f} MB"
        )
    table, ours = (np.array(times[name]) for name in readers)
    print(f"ratio             best {ours.min() / table.min():.2f}    median {np.median(ours) / np.median(table):.2f}")


if __name__ == "__main__":
    main()
