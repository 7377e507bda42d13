"""The work of ``consilience fit-partitions``: a fit to a table in partitions, and its results."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import consilience
from consilience.annotations.files.sources import import_pyarrow
from consilience.atomic_files import replacing
from consilience.cli.messages import say, say_json
from consilience.cli.model_choice import make_estimator
from consilience.cli.outputs import encoded, require_no_input, write_table
from consilience.cli.result_folder import OF_PARTITIONS, SUMMARY, checksums_in, replaced_folder, require_free
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection.names import as_text, counted
from consilience.inspection.report.label_tables import keyed
from consilience.partitions import PartitionedTable, fit, item_results

MODEL = "DawidSkene"
USUAL: dict[str, Any] = {"subtypes": 1}
LABELS = "labels.parquet"
PATIENCE = "10s"  # for the scheduler of a cluster to answer
MOST_CLASSES = 12  # in a line


@dataclass(frozen=True)
class Means:
    """Who computes: threads of this process, workers that are started, or those of a cluster that runs."""

    jobs: int | None = None
    workers: int | None = None
    scheduler: str | None = None
    checkpoint: Path | None = None

    def __post_init__(self) -> None:
        given = {"--jobs": self.jobs, "--workers": self.workers, "--scheduler": self.scheduler}
        chosen = [option for option, value in given.items() if value is not None]
        if len(chosen) > 1:
            raise InputError(f"{chosen[0]} and {chosen[1]} exclude each other: threads or a cluster do the work.")

    @contextlib.contextmanager
    def client(self) -> Iterator[Any]:
        """Yield a client of the cluster, None without one."""
        if self.workers is None and self.scheduler is None:
            yield None
            return
        try:
            from dask.distributed import Client, LocalCluster
        except ImportError as error:
            raise MissingDependencyError(
                "A cluster needs Dask; install it with: pip install 'consilience[dask]'"
            ) from error
        with contextlib.ExitStack() as opened:
            if self.workers is not None:
                cluster = LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
                at: Any = opened.enter_context(cluster)
            else:
                at = self.scheduler
            try:
                client = Client(at, timeout=PATIENCE)
            except (OSError, ValueError) as error:
                raise InputError(f"No Dask cluster answers at {self.scheduler}.") from error
            yield opened.enter_context(client)


@dataclass(frozen=True)
class Sizes:
    """How many items there are, and how many have each class."""

    n_items: int
    of_classes: dict[Any, int]


def fit_partitions(
    path: Path,
    *,
    reading: Mapping[str, Any],
    settings: Mapping[str, Any],
    means: Means,
    out: Path,
    as_json: bool,
) -> None:
    """Fit DawidSkene to a folder of Parquet files, write the results to the folder `out`, and print a summary.

    Raises
    ------
    InputError
        The files, settings or the cluster cannot be used.
    """
    model = make_estimator(MODEL, USUAL | dict(settings))
    if out.resolve() == path.resolve():
        raise InputError(f"{path} holds the table itself; name another folder with --out.")
    for name in OF_PARTITIONS:
        require_no_input(out / name, [path, means.checkpoint])
    require_free(out, OF_PARTITIONS)
    missing = [value for value in reading["missing"] if value.strip()] if reading["missing"] else None
    table = PartitionedTable(path, **{role: reading[role] for role in ("item", "annotator", "label")}, missing=missing)
    with means.client() as client:
        fit(model, table, client=client, n_jobs=means.jobs or 1, checkpoint=means.checkpoint)
    with replaced_folder(out) as folder:
        sizes = _write_labels(model, table, folder / LABELS)
        write_table(model.annotators_.reset_index(), folder / "annotators.csv")
        write_table(keyed(model.confusion_matrices_), folder / "confusion.csv")
        write_table(keyed(model.confusion_counts_), folder / "counts.csv")
        found = _summary(model, table, sizes, out) | {"checksums": checksums_in(folder)}
        with replacing(folder / SUMMARY) as file:
            file.write(encoded(found))
    if as_json:
        say_json(found)
    else:
        say("\n".join(_lines(found)))


def _write_labels(model: Any, table: PartitionedTable, path: Path) -> Sizes:
    """Write the classes of the items, a partition at a time."""
    pyarrow = import_pyarrow()
    sizes: Counter[Any] = Counter()
    n_items = 0
    with contextlib.ExitStack() as opened:
        writer = None
        for number, found in enumerate(item_results(model, table)):
            if not len(found):
                continue
            if writer is None:
                of_items = pyarrow.array(found["item"], from_pandas=True).type
                of_labels = pyarrow.array(model.classes_, from_pandas=True).type
                fields = {"item": of_items, "label": of_labels, "probability": pyarrow.float64()}
                writer = opened.enter_context(pyarrow.parquet.ParquetWriter(path, pyarrow.schema(fields)))
            try:
                rows = pyarrow.Table.from_pandas(found, writer.schema, preserve_index=False)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
                name = table.partitions[number].name
                raise InputError(f"{name}: the items are of another type than in the first file.") from error
            writer.write_table(rows)
            sizes.update(found["label"].value_counts().to_dict())
            n_items += len(found)
    return Sizes(n_items, {name: sizes[name] for name in model.classes_})


def _summary(model: Any, table: PartitionedTable, sizes: Sizes, out: Path) -> dict[str, Any]:
    return {
        "consilience": consilience.__version__,
        "model": MODEL,
        "parameters": {name: value for name, value in model.get_params().items() if name != "verbose"},
        "n_partitions": len(table),
        "n_items": sizes.n_items,
        "n_labels": int(model.annotators_["n_labels"].sum()),
        "n_annotators": len(model.annotators_),
        "class_sizes": {as_text(name): size for name, size in sizes.of_classes.items()},
        "n_items_without_labels": sizes.n_items - sum(sizes.of_classes.values()),
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
        "lower_bound": float(model.lower_bound_),
        "files": {Path(name).stem: str(out / name) for name in OF_PARTITIONS},
    }


def _lines(found: dict[str, Any]) -> list[str]:
    sizes = sorted(found["class_sizes"].items(), key=lambda one: -one[1])
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes[:MOST_CLASSES])
    more = f" and {len(sizes) - MOST_CLASSES:,} more" if len(sizes) > MOST_CLASSES else ""
    without = found["n_items_without_labels"]
    return [
        f"{MODEL}: {counted(found['n_items'], 'item')}, {counted(found['n_labels'], 'label')} by "
        f"{counted(found['n_annotators'], 'annotator')}, in {counted(found['n_partitions'], 'partition')}.",
        f"Classes: {shown}{more}.",
        *([f"{counted(without, 'item')} without labels."] if without else []),
        f"Results: {found['files']['summary'].removesuffix(SUMMARY)}",
    ]
