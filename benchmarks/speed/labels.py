"""Label aggregation against crowd-kit, in one run, and against its bare arithmetic.

    python benchmarks/speed/labels.py [--large] [--repeats 3]

100 000 items with 5 labels each by 1000 annotators, 4 classes; with --large also 1 000 000 items by 10 000 annotators,
10 classes, where crowd-kit takes minutes and is run once. Accuracies of annotators are between .40 and .92.
Each run starts from a frame of task, worker and label, in random order, ends with the labels, and has its own process,
the methods in turns; shown are the fastest run, its processor time, and the peak memory of the process,
also less that of a process that only holds the frame. Dawid and Skene's model has 20 sweeps in both packages.

Then, in this process: one sweep of maximum likelihood against its bare arithmetic, which is two sparse products and the
exponentials of items × classes; and stagewise EM on 1000 items, 100 annotators, 3 classes, all labels given. BLAS has
one thread in our code, as `fit` sets it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, StagewiseEM
from consilience.consensus.labels import dawid_skene
from consilience.inference.product_distributions import OneHotLabels, vote_shares
from consilience.inference.threads import one_blas_thread
from consilience.simulation import simulate_labels, sparse_crowd

SWEEPS = 20
LABELS_EACH = 5
SMALL, LARGE = (100_000, 1000, 4), (1_000_000, 10_000, 10)
TARGETS = {SMALL: (8, None), LARGE: (20, 1 / 3)}  # times as fast as crowd-kit, share of its memory
FRAME, CROWD_KIT = "the frame alone", "crowd-kit DawidSkene"
OURS = {"DawidSkene(prior=None)": None, "the same, n_jobs=-1": -1}


def crowd(shape: tuple[int, int, int]) -> tuple[Labels, np.ndarray, np.ndarray]:
    """Return labels, classes, and the annotators' accuracies."""
    n_items, n_annotators, n_classes = shape
    rng = np.random.default_rng(0)
    classes = rng.integers(n_classes, size=n_items)
    accuracy = rng.uniform(0.40, 0.92, n_annotators)
    labels = simulate_labels(
        classes, n_annotators=n_annotators, accuracy=accuracy, annotators_per_item=LABELS_EACH, random_state=rng
    )
    return labels, classes, accuracy


def limit(labels: Labels, classes: np.ndarray, accuracy: np.ndarray) -> float:
    """Return the share of right labels if accuracies are known."""
    weight = np.log(accuracy / (1 - accuracy) * (labels.n_classes - 1))[labels.annotator]
    cell = labels.item * labels.n_classes + labels.label
    votes = np.bincount(cell, weight, len(labels) * labels.n_classes).reshape(len(labels), -1)
    return float((votes.argmax(1) == classes).mean())


def run_crowd_kit(frame: pd.DataFrame) -> tuple[pd.Series, int]:
    from crowdkit.aggregation import DawidSkene as Theirs

    model = Theirs(n_iter=SWEEPS, tol=0).fit(frame)
    return model.labels_, len(model.loss_history_)


def run_ours(model, frame: pd.DataFrame) -> tuple[pd.Series, int]:
    model.fit(frame)
    return pd.Series(model.labels_, model.items_), getattr(model, "n_iter_", 1)


def run(method: str, frame: pd.DataFrame) -> tuple[pd.Series, int]:
    """Return labels by task, and the number of sweeps."""
    if method == FRAME:
        return pd.Series(0, np.arange(frame["task"].max() + 1)), 0
    if method == CROWD_KIT:
        return run_crowd_kit(frame)
    if method in OURS:
        return run_ours(DawidSkene(prior=None, max_iter=SWEEPS, tol=0, n_jobs=OURS[method]), frame)
    return run_ours({"DawidSkene()": DawidSkene, "MajorityVote()": MajorityVote}[method](), frame)


def measure(method: str, path: Path) -> dict[str, float]:
    """Run a method in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_measured, method, path).result()


def _measured(method: str, path: Path) -> dict[str, float]:
    stored = np.load(path)
    frame = pd.DataFrame({name: stored[name] for name in ("task", "worker", "label")})
    classes = stored["classes"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of sweeps is fixed
        run(method, frame.head(1000))  # imports what is imported late
        start, busy = time.perf_counter(), time.process_time()
        labels, n_sweeps = run(method, frame)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    right = float((labels.loc[np.arange(len(classes))].to_numpy() == classes).mean())
    return {"seconds": seconds, "busy": busy, "megabytes": _peak_megabytes(), "sweeps": n_sweeps, "accuracy": right}


def _peak_megabytes() -> float:
    # Linux's own count: that of getrusage is inherited from the parent process
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def compare(shape: tuple[int, int, int], repeats: int) -> list[str]:
    """Compare our methods and crowd-kit's on one crowd: times, memory and shares of right labels."""
    labels, classes, accuracy = crowd(shape)
    methods = [FRAME, CROWD_KIT, *OURS, "DawidSkene()", "MajorityVote()"]
    slow = (CROWD_KIT, "DawidSkene()") if shape == LARGE else ()
    runs: dict[str, list[dict[str, float]]] = {method: [] for method in methods}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.npz"
        order = np.random.default_rng(1).permutation(labels.n_rows)
        columns = {"task": labels.item, "worker": labels.annotator, "label": labels.label}
        np.savez(path, classes=classes, **{name: codes[order] for name, codes in columns.items()})
        for turn in range(repeats):
            for method in methods:
                if turn == 0 or method not in slow:
                    runs[method].append(measure(method, path))
    best = {method: min(found, key=lambda one: one["seconds"]) for method, found in runs.items()}
    frame_only = best[FRAME]["megabytes"]
    lines = [f"{shape[0]} items, {shape[1]} annotators, {shape[2]} classes, {labels.n_rows} labels; {repeats} repeats"]
    lines.append(f"  {'':24s} {'seconds':>8s} {'CPU':>8s} {'sweeps':>7s} {'MB':>6s} {'+MB':>6s} {'right':>7s}")
    for method, one in best.items():
        numbers = f"{one['megabytes']:6.0f} {one['megabytes'] - frame_only:6.0f}"
        timed = f"{one['seconds']:8.2f} {one['busy']:8.2f} {one['sweeps']:7.0f}" if method != FRAME else " " * 25
        right = f" {one['accuracy']:7.4f}" if method != FRAME else ""
        lines.append(f"  {method:24s} {timed} {numbers}{right}")
    lines.append(f"  {'limit, accuracies known':24s} {'':39s} {limit(labels, classes, accuracy):7.4f}")
    return lines + ratios(best, TARGETS[shape])


def ratios(best: dict[str, dict[str, float]], targets: tuple[float, float | None]) -> list[str]:
    """Compare crowd-kit with our methods, one line for each number of jobs."""
    theirs, frame_only = best[CROWD_KIT], best[FRAME]["megabytes"]
    faster, share = targets
    wanted = f"at least {faster} times" + (f", at most {share:.2f} of the memory" if share else "")
    lines = []
    for method in OURS:
        mine = best[method]
        lines.append(
            f"  crowd-kit / {method}: {theirs['seconds'] / mine['seconds']:.1f} times the seconds, "
            f"{theirs['busy'] / mine['busy']:.1f} times the CPU; memory of ours / theirs "
            f"{mine['megabytes'] / theirs['megabytes']:.2f}, without the frame "
            f"{(mine['megabytes'] - frame_only) / (theirs['megabytes'] - frame_only):.2f} (target: {wanted})"
        )
    return lines


def fastest(call, repeats: int = 7) -> float:
    """Return the seconds of the fastest of several calls, the one least disturbed by other processes."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def sweep_against_arithmetic(shape: tuple[int, int, int]) -> list[str]:
    """Time one sweep of maximum likelihood in one thread, and its sparse products and exponentials alone."""
    labels, _, _ = crowd(shape)
    n_items, n_annotators, n_classes = shape
    column = labels.annotator * n_classes + labels.label
    columns = n_annotators * n_classes
    onehot = OneHotLabels.of(labels.item, column, (n_items, columns), n_classes)
    evidence = dawid_skene.Evidence(onehot, 0.0)
    state = dawid_skene.init(evidence, vote_shares(labels), one_coin=False, learned=False)
    with one_blas_thread():  # as in fit
        sweep = fastest(lambda: dawid_skene.step(state, evidence, learned=False))
    by_item = csr_array((np.ones(len(column)), column.astype(np.int32), labels.indptr), shape=(n_items, columns))
    by_column = by_item.tocsc()
    table = state.model.log_table.reshape(columns, n_classes)
    score, transposed = by_item @ table, by_column.T
    bare = {
        "scores": fastest(lambda: by_item @ table),
        "exponentials": fastest(lambda: np.exp(score)),
        "counts": fastest(lambda: transposed @ score),
    }
    unavoidable = sum(bare.values())
    parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in bare.items())
    return [
        f"one sweep, {n_items} items, {n_annotators} annotators, {n_classes} classes: {1e3 * sweep:.1f} ms, "
        f"{sweep / unavoidable:.2f} times the {1e3 * unavoidable:.1f} ms of bare arithmetic ({parts})"
    ]


def stagewise() -> list[str]:
    """Time stagewise EM on a sparse crowd that labels everything."""
    sparse = sparse_crowd(100, 3, alpha=0.1, accuracy=0.6, random_state=0)
    classes = np.random.default_rng(0).integers(3, size=1000)
    labels = simulate_labels(classes, confusion=sparse, random_state=0)
    lines = []
    for model in (StagewiseEM(refine=None), StagewiseEM()):
        seconds = fastest(lambda model=model: model.fit(labels), repeats=5)
        lines.append(
            f"{model!s:24s} 1000 items, 100 annotators, 3 classes: {seconds:.2f} s, {model.n_iter_} rounds "
            "(target: less than 0.3 s)"
        )
    return lines


def main() -> None:
    """Print all results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="the large crowd too, which takes crowd-kit minutes")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    shapes = (SMALL, LARGE) if arguments.large else (SMALL,)
    print(f"{os.cpu_count()} cores, {os.getloadavg()[0]:.1f} processes running on average before the start")
    for line in stagewise():
        print(line, flush=True)
    for shape in shapes:
        for block in (sweep_against_arithmetic(shape), compare(shape, arguments.repeats)):
            print("\n".join(block), flush=True)


if __name__ == "__main__":
    main()
