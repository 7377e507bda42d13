"""Label aggregation against crowd-kit, and against its bare arithmetic.

Each run starts from a frame of task, worker and label, in random order, ends with the labels, and has its own process,
the methods in turns. The frame holds numbers, or names, which have to be read. Memory is that of the process, less that
of one that only holds the frame. By maximum likelihood, Dawid and Skene's model has 20 sweeps in both packages;
otherwise both stop as they do by default. Of our sweeps the seconds are also measured without what `fit` does before
and after them: it reads and orders the labels, looks for copies, and calibrates.

One sweep of maximum likelihood is compared with two sparse products and the exponentials of items × classes, in one
process, with one thread of BLAS, as `fit` sets it. Stagewise EM has no peer.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from benchmarks import many_classes
from benchmarks.experiments import Cell
from benchmarks.speed.jobs import texts
from benchmarks.speed.measuring import Run, against_arithmetic, compared, in_own_process, in_turns, megabytes, timed
from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, StagewiseEM
from consilience.consensus.labels import dawid_skene
from consilience.inference.product_distributions import OneHotLabels, vote_shares
from consilience.inference.threads import one_blas_thread
from consilience.simulation import simulate_labels, sparse_crowd

SWEEPS, LABELS_EACH = 20, 5
SMALL, LARGE = (100_000, 1000, 4), (1_000_000, 10_000, 10)
FRAME = "the frame alone"
ONE_THREAD, TWO_THREADS = "DawidSkene(prior=None)", "DawidSkene(prior=None, n_jobs=2)"
DEFAULTS = "DawidSkene()"
MODELS = {
    ONE_THREAD: DawidSkene(prior=None, max_iter=SWEEPS, tol=0.0),
    TWO_THREADS: DawidSkene(prior=None, max_iter=SWEEPS, tol=0.0, n_jobs=2),
    DEFAULTS: DawidSkene(),
    "MajorityVote()": MajorityVote(),
}
PEERS = {
    f"crowd-kit DawidSkene, {SWEEPS} sweeps": ("DawidSkene", {"n_iter": SWEEPS, "tol": 0}),
    "crowd-kit DawidSkene": ("DawidSkene", {}),
    "crowd-kit MajorityVote": ("MajorityVote", {}),
}
SAME_SWEEPS, DEFAULT, VOTE = PEERS
PEER_OF = dict(zip(MODELS, (SAME_SWEEPS, SAME_SWEEPS, DEFAULT, VOTE), strict=True))
NAMED: dict[str, dict[str, Any]] = {
    "100 000 items, 10 labels of each, names": {"shape": SMALL, "each": 10, "repeats": 3},
    "1 000 000 items, 5 labels of each, names": {"shape": LARGE, "each": 5, "repeats": 1},
}
WANTED_OF_NAMED = {SAME_SWEEPS: 15, DEFAULT: 5}  # times as long as ours
MOST_MEMORY = 0.4  # of crowd-kit's
MANY_CLASSES, MOST_MEGABYTES = 1000, 300
WANTED_OF_MANY = {"vote": 0.3, "one-coin": 1.0, "full": 10.0}  # seconds of the processor
STAGEWISE = {"StagewiseEM(refine=None)": StagewiseEM(refine=None), "StagewiseEM()": StagewiseEM()}


def sizes_of(shape: tuple[int, int, int]) -> str:
    n_items, n_annotators, n_classes = shape
    return f"{n_items} items, {n_annotators} annotators, {n_classes} classes, {LABELS_EACH} labels an item"


def cells_of_labels() -> Iterator[Cell]:
    for name, model in MODELS.items():
        settings = {"peer": PEER_OF[name], "shape": SMALL, "repeats": 3}
        yield Cell("labels", sizes_of(SMALL), name, 0, model, settings)


def cells_of_large_labels() -> Iterator[Cell]:
    for name, model in MODELS.items():
        if PEER_OF[name] != DEFAULT:
            settings = {"peer": PEER_OF[name], "shape": LARGE, "repeats": 1}
            yield Cell("labels_large", sizes_of(LARGE), name, 0, model, settings)


def cells_of_large_defaults() -> Iterator[Cell]:
    settings = {"peer": ONE_THREAD, "shape": LARGE, "repeats": 3}
    yield Cell("labels_large_defaults", sizes_of(LARGE), DEFAULTS, 0, MODELS[DEFAULTS], settings)


def cells_of_names() -> Iterator[Cell]:
    for data, settings in NAMED.items():
        settings = settings | {"peers": list(WANTED_OF_NAMED), "names": True}
        yield Cell("labels_names", data, DEFAULTS, 0, MODELS[DEFAULTS], settings)


def compute_names(cell: Cell) -> dict[str, Any]:
    """Return the runs of our defaults, and of crowd-kit with the same sweeps and at its defaults."""
    return runs_of(cell, *cell.settings["peers"])


def cells_of_many_classes() -> Iterator[Cell]:
    data = f"{MANY_CLASSES} classes, {many_classes.N_ITEMS} items, {many_classes.N_ANNOTATORS} annotators"
    for name, model in many_classes.MODELS.items():
        yield Cell("many_classes", data, name, 0, model, {"n_classes": MANY_CLASSES})


def compute_many_classes(cell: Cell) -> dict[str, Any]:
    """Return a fit in a process of its own."""
    run = in_own_process(many_classes.run, cell.estimator, cell.settings["n_classes"], 0)
    return compared(in_turns({cell.model: lambda: run}, 1), cell.model)


def compute_large_defaults(cell: Cell) -> dict[str, Any]:
    """Return the runs of our defaults, and of 20 sweeps by maximum likelihood."""
    return runs_of(cell, MODELS[ONE_THREAD])


def compute_labels(cell: Cell) -> dict[str, Any]:
    """Return the runs of a model and of a method of crowd-kit."""
    return runs_of(cell, cell.settings["peer"])


def runs_of(cell: Cell, *peers: Any) -> dict[str, Any]:
    """Return the runs of a model and its peers on one crowd, and the share of right labels if accuracies are known."""
    settings = cell.settings
    labels, classes, accuracy = crowd(settings["shape"], settings.get("each", LABELS_EACH))
    names = settings.get("peers", [settings.get("peer")])
    methods = {cell.model: cell.estimator, **dict(zip(names, peers, strict=True)), FRAME: FRAME}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.npz"
        write_frame(path, labels, classes)
        has_names = settings.get("names", False)
        calls = {
            name: lambda method=method: in_own_process(run, method, path, has_names) for name, method in methods.items()
        }
        runs = in_turns(calls, settings["repeats"])
    frame = runs.pop(FRAME)["peak"]
    for found in runs.values():
        found["megabytes"] = found["peak"] - frame
    return compared(runs, cell.model) | {"limit": limit(labels, classes, accuracy)}


def crowd(shape: tuple[int, int, int], each: int = LABELS_EACH) -> tuple[Labels, np.ndarray, np.ndarray]:
    """Return labels, classes, and the annotators' accuracies, which are between .40 and .92."""
    n_items, n_annotators, n_classes = shape
    rng = np.random.default_rng(0)
    classes = rng.integers(n_classes, size=n_items)
    accuracy = rng.uniform(0.40, 0.92, n_annotators)
    labels = simulate_labels(
        classes, n_annotators=n_annotators, accuracy=accuracy, annotators_per_item=each, random_state=rng
    )
    return labels, classes, accuracy


def limit(labels: Labels, classes: np.ndarray, accuracy: np.ndarray) -> float:
    """Return the share of right labels if accuracies are known."""
    weight = np.log(accuracy / (1 - accuracy) * (labels.n_classes - 1))[labels.annotator]
    cell = labels.item * labels.n_classes + labels.label
    votes = np.bincount(cell, weight, len(labels) * labels.n_classes).reshape(len(labels), -1)
    return float((votes.argmax(1) == classes).mean())


def write_frame(path: Path, labels: Labels, classes: np.ndarray) -> None:
    """Write the columns of a frame of labels, in random order."""
    order = np.random.default_rng(1).permutation(labels.n_rows)
    columns = {"task": labels.item, "worker": labels.annotator, "label": labels.label}
    np.savez(path, classes=classes, **{name: codes[order] for name, codes in columns.items()})


def run(method: Any, path: Path, has_names: bool = False) -> Run:
    """Run an estimator, a peer by its name, or nothing, in this process."""
    stored = np.load(path)
    columns = {name: stored[name] for name in ("task", "worker", "label")}
    classes: Any = stored["classes"]
    tasks: Any = np.arange(len(classes))
    if has_names:
        columns = {name: texts(name, codes) for name, codes in columns.items()}
        tasks, classes = texts("task", tasks), np.asarray(texts("label", classes))
    frame = pd.DataFrame(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of sweeps is fixed
        answer(method, frame.head(1000))  # imports what is imported late
        found, (labels, n_sweeps) = timed(lambda: answer(method, frame))
    found |= {"peak": megabytes(), "sweeps": n_sweeps}
    if labels is not None:
        found["right"] = float((labels.loc[tasks].to_numpy() == classes).mean())
    return found | {"alone": sweeps_alone(method, frame)} if is_maximum_likelihood(method) else found


def is_maximum_likelihood(method: Any) -> bool:
    return isinstance(method, DawidSkene) and method.prior is None


def sweeps_alone(model: DawidSkene, frame: pd.DataFrame) -> float:
    """Return the seconds of the sweeps from labels in chunks and first responsibilities."""
    labels = Labels.from_frame(frame)
    shape = (len(labels), labels.n_annotators * labels.n_classes)
    column = labels.annotator * labels.n_classes + labels.label
    evidence = dawid_skene.DawidSkeneEvidence(
        OneHotLabels.of(labels.item, column, shape, labels.n_classes, n_jobs=model.n_jobs), 0.0
    )
    settings = {"one_coin": False, "learned": False, "max_iter": model.max_iter, "tol": model.tol}
    first = vote_shares(labels)
    with one_blas_thread():  # as in fit
        return timed(lambda: dawid_skene.run(first, evidence, **settings))[0]["seconds"]


def answer(method: Any, frame: pd.DataFrame) -> tuple[pd.Series | None, int]:
    """Return labels by task, and the number of sweeps; nothing of the frame alone."""
    if method == FRAME:
        return None, 0
    if isinstance(method, str):
        name, settings = PEERS[method]
        return of_crowd_kit(name, settings, frame)
    model = clone(method).fit(frame)
    return pd.Series(model.labels_, model.items_), getattr(model, "n_iter_", 1)


def of_crowd_kit(name: str, settings: dict[str, Any], frame: pd.DataFrame) -> tuple[pd.Series, int]:
    import crowdkit.aggregation as crowdkit

    model = getattr(crowdkit, name)(**settings).fit(frame)
    return model.labels_, len(getattr(model, "loss_history_", [0]))


# ---- a sweep against its arithmetic


def cells_of_label_sweep() -> Iterator[Cell]:
    yield Cell("label_sweep", sizes_of(SMALL), ONE_THREAD, 0, settings={"shape": SMALL, "repeats": 15})


def compute_label_sweep(cell: Cell) -> dict[str, Any]:
    """Return one sweep of maximum likelihood in one thread, and its sparse products and exponentials alone."""
    shape, repeats = cell.settings["shape"], cell.settings["repeats"]
    labels, _, _ = crowd(shape)
    n_items, n_annotators, n_classes = shape
    column = labels.annotator * n_classes + labels.label
    columns = n_annotators * n_classes
    onehot = OneHotLabels.of(labels.item, column, (n_items, columns), n_classes)
    evidence = dawid_skene.DawidSkeneEvidence(onehot, 0.0)
    state = dawid_skene.init(evidence, vote_shares(labels), one_coin=False, learned=False)
    by_item = csr_array((np.ones(len(column)), column.astype(np.int32), labels.indptr), shape=(n_items, columns))
    table = state.model.log_table.reshape(columns, n_classes)
    score, transposed = by_item @ table, by_item.tocsc().T
    with one_blas_thread():  # as in fit
        calls = {
            "sweep": lambda: timed(lambda: dawid_skene.step(state, evidence, learned=False))[0],
            "scores": lambda: timed(lambda: by_item @ table)[0],
            "exponentials": lambda: timed(lambda: np.exp(score))[0],
            "counts": lambda: timed(lambda: transposed @ score)[0],
        }
        runs = in_turns(calls, repeats)
    sweep = runs.pop("sweep")["seconds"]
    bare = {name: found["seconds"] for name, found in runs.items()}
    return against_arithmetic(sweep, bare, sum(bare.values()))


# ---- stagewise EM


def cells_of_stagewise() -> Iterator[Cell]:
    for name, model in STAGEWISE.items():
        sizes = "1000 items, 100 annotators, 3 classes, all labels given"
        yield Cell("stagewise", sizes, name, 0, model, {"repeats": 5})


def compute_stagewise(cell: Cell) -> dict[str, Any]:
    """Return the time of a fit to a sparse crowd that labels everything."""
    sparse = sparse_crowd(100, 3, alpha=0.1, accuracy=0.6, random_state=0)
    classes = np.random.default_rng(0).integers(3, size=1000)
    labels = simulate_labels(classes, confusion=sparse, random_state=0)
    model = clone(cell.estimator)
    runs = in_turns({cell.model: lambda: timed(lambda: model.fit(labels))[0]}, cell.settings["repeats"])
    runs[cell.model]["rounds"] = model.n_iter_
    return compared(runs, cell.model)
