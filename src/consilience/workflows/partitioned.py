"""Fit a model to a table in partitions, and write its results to a folder."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import consilience
from consilience import registry
from consilience.analysis.names import as_text, quantify
from consilience.annotations.files.sources import import_pyarrow
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection.report.label_tables import confusion_tables
from consilience.partitions import PartitionedItems, PartitionedTable, fit, item_results
from consilience.workflows.jobs import PartitionsRequest, Result
from consilience.workflows.model_choice import make_estimator
from consilience.workflows.outputs import require_folder, save_summary, write_table
from consilience.workflows.result_folder import OF_PARTITIONS, SUMMARY, replaced_folder
from consilience.workflows.results import mapping_of

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
        given = {"jobs": self.jobs, "workers": self.workers, "scheduler": self.scheduler}
        chosen = [spell(**{name: None}) for name, value in given.items() if value is not None]
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
    """How many items there are, and how many are of each class or cluster."""

    n_items: int
    of_each: dict[Any, int]


@dataclass(frozen=True)
class PartitionsResult(Result):
    """What a fit to a table in partitions found.

    Attributes
    ----------
    summary, text : as in `Result`
    estimator : fitted estimator
    """

    estimator: Any


def fit_partitions(request: PartitionsRequest) -> PartitionsResult:
    """Fit a model to a folder of Parquet files, and write the results to a folder.

    Parameters
    ----------
    request : PartitionsRequest

    Returns
    -------
    PartitionsResult

    Raises
    ------
    InputError
        The files, settings or the cluster cannot be used.
    """
    means = Means(request.jobs, request.workers, request.scheduler, request.checkpoint)
    name, path, out = request.model, request.table, request.out
    entry = registry.entry(name)
    model = make_estimator(name, dict(entry.over_partitions or {}) | dict(request.settings))
    if out.resolve() == path.resolve():
        raise InputError(f"{path} holds the table itself; name another folder with {spell(out=...)}.")
    require_folder(out, OF_PARTITIONS, [path, means.checkpoint])
    table = _table_for(request)
    with means.client() as client:
        fit(model, table, client=client, n_jobs=means.jobs or 1, checkpoint=means.checkpoint)
    with replaced_folder(out) as folder:
        answer = "label" if entry.reads == ("labels",) else "cluster"
        sizes = _write_items(model, table, folder / f"{answer}s.parquet", answer)
        for file, content in _tables_of(model).items():
            write_table(content, folder / file)
        files = sorted(path.name for path in folder.iterdir())
        found = save_summary(folder, _summary(model, table, sizes, files, out))
    return PartitionsResult(found, "\n".join(_lines(found)), model)


def _table_for(request: PartitionsRequest) -> PartitionedTable | PartitionedItems:
    """Return the table of a model: items with features, or a long table of labels."""
    name, path, features = request.model, request.table, request.features
    roles = {role: request.reading.get(role) for role in ("item", "annotator", "label")}
    blank = request.reading.get("missing")
    missing = [value for value in blank if value.strip()] if blank else None
    long = {role: roles[role] for role in ("annotator", "label")}
    wide = {"features": features, "annotators": request.annotators}
    by_features = spell(features=None)
    can_have_features = registry.entry(name).kind == "semisupervised"
    with_features = features is not None and can_have_features
    if not with_features and name != "PartitionLabelModel":
        _require_none(wide, f"{name} reads a long table of labels{f' without {by_features}' * can_have_features}")
        return PartitionedTable(path, **roles, missing=missing, exact=bool(request.reading.get("exact")))
    _require_none(long, f"{name} reads a row for each item{f' with {by_features}' * (name != 'PartitionLabelModel')}")
    for role, value in wide.items():
        if value is None:
            raise InputError(f"{name} needs {spell(**{role: None})}: names of columns, separated by commas.")
    columns = {role: list(value or ()) for role, value in wide.items()}
    return PartitionedItems(path, **columns, item=roles["item"], missing=missing)


def _require_none(given: Mapping[str, Any], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{spell(**{name: None})} cannot be used: {why}.")


def _write_items(model: Any, table: Any, path: Path, answer: str) -> Sizes:
    """Write the classes or clusters of the items, a partition at a time."""
    pyarrow = import_pyarrow()
    sizes: Counter[Any] = Counter()
    n_items = 0
    numbers = range(model.n_clusters_) if answer == "cluster" else None
    of_answer = pyarrow.int64() if numbers is not None else pyarrow.array(model.classes_, from_pandas=True).type
    with contextlib.ExitStack() as opened:
        writer = None
        for number, found in enumerate(item_results(model, table)):
            if not len(found):
                continue
            if writer is None:
                fields = {"item": pyarrow.array(found["item"], from_pandas=True).type}
                for column in found.columns[1:]:
                    fields[column] = pyarrow.float64() if column.startswith("probability") else of_answer
                writer = opened.enter_context(pyarrow.parquet.ParquetWriter(path, pyarrow.schema(fields)))
            try:
                rows = pyarrow.Table.from_pandas(found, writer.schema, preserve_index=False)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
                name = table.partitions[number].name
                raise InputError(f"{name}: the items are of another type than in the first file.") from error
            writer.write_table(rows)
            sizes.update(found[found.columns[1]].value_counts().to_dict())  # those of several views: of the first
            n_items += len(found)
    return Sizes(n_items, {name: sizes[name] for name in (model.classes_ if numbers is None else numbers)})


def _tables_of(model: Any) -> dict[str, pd.DataFrame]:
    """Return the tables of results that have no row for each item, by file name."""
    tables = {"annotators.csv": model.annotators_.reset_index()}
    if hasattr(type(model), "confusion_matrices_"):
        tables |= confusion_tables(model)
    if hasattr(model, "annotator_mapping_"):
        tables["mapping.csv"] = mapping_of(model)
    if hasattr(model, "views_"):
        tables["views.csv"] = model.views_.reset_index()
    if hasattr(model, "centroids_"):
        tables["centroids.csv"] = model.centroids_.add_prefix("cluster ").reset_index()
    return tables


def _summary(model: Any, table: Any, sizes: Sizes, files: list[str], out: Path) -> dict[str, Any]:
    people = model.annotators_
    given = next(name for name in ("n_labels", "n_items", "n_pairs") if name in people)
    objectives = [one for one in ("lower_bound", "utility", "silhouette") if hasattr(model, f"{one}_")]
    loop = ("n_iter", "converged")  # a SubsetFusion has several
    what = "class_sizes" if hasattr(model, "classes_") else "cluster_sizes"
    return {
        "consilience": consilience.__version__,
        "model": type(model).__name__,
        "parameters": {name: value for name, value in model.get_params().items() if name != "verbose"},
        "n_partitions": len(table),
        "n_items": sizes.n_items,
        "n_pairs" if "n_pairs" in people else "n_labels": int(people[given].sum()),
        "n_annotators": len(people),
        what: {as_text(name): size for name, size in sizes.of_each.items()},
        "n_items_without_labels": sizes.n_items - sum(sizes.of_each.values()),
        **{one: plain(getattr(model, f"{one}_")) for one in loop if hasattr(model, f"{one}_")},
        **{one: float(getattr(model, f"{one}_")) for one in objectives[:1]},
        "notes": list(getattr(model, "notes_", [])),
        "files": {Path(name).stem: str(out / name) for name in (*files, SUMMARY)},
    }


def _lines(found: dict[str, Any]) -> list[str]:
    what = "Classes" if "class_sizes" in found else "Clusters"
    sizes = sorted((found.get("class_sizes") or found["cluster_sizes"]).items(), key=lambda one: -one[1])
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes[:MOST_CLASSES])
    more = f" and {len(sizes) - MOST_CLASSES:,} more" if len(sizes) > MOST_CLASSES else ""
    without = found["n_items_without_labels"]
    said = quantify(found["n_pairs"], "judged pair") if "n_pairs" in found else quantify(found["n_labels"], "label")
    return [
        f"{found['model']}: {quantify(found['n_items'], 'item')}, {said} by "
        f"{quantify(found['n_annotators'], 'annotator')}, in {quantify(found['n_partitions'], 'partition')}.",
        f"{what}: {shown}{more}.",
        *([f"{quantify(without, 'item')} without labels."] if without else []),
        *found["notes"],
        f"Results: {found['files']['summary'].removesuffix(SUMMARY)}",
    ]
