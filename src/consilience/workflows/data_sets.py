"""Data sets, simulated annotations, and annotations of another kind, in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience import write_annotations
from consilience.annotations import Annotations, Groupings, Labels
from consilience.annotations.files.writing import long_table_writer
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.datasets import list_datasets, load_dataset, write_tutorial_tables
from consilience.datasets.catalogue import data_files
from consilience.errors import InputError
from consilience.workflows.item_columns import item_column
from consilience.workflows.item_names import read_item_names
from consilience.workflows.jobs import Result
from consilience.workflows.outputs import require_outputs, table_writer, write_files, write_table
from consilience.workflows.reading import read_noted
from consilience.workflows.tables import names_in, numbers, read_table


def simulate(
    generator: Callable[..., Groupings],
    source: str,
    *,
    class_column: str,
    out: Path,
    features_out: Path | None,
    **settings: Any,
) -> str:
    """Write simulated annotations of items with known classes, by a generator of `consilience.simulation`.

    Returns a line for each file.
    """
    require_outputs([out, features_out], files_of(source))
    classes, features = classes_of(source, class_column, with_features=features_out is not None)
    annotations = generator(classes, **settings)
    writers = {out: long_table_writer(annotations, out)}
    if features_out is not None and features is not None:
        writers[features_out] = table_writer(features.rename_axis("item").reset_index(), features_out)
    write_files(writers)
    lines = [f"{out}: {annotations}"]
    if features_out is not None and features is not None:
        lines.append(f"{features_out}: {features.shape[1]} features of {len(features)} items")
    return "\n".join(lines)


def files_of(source: str) -> list[Path]:
    """Return the files from which a data set, or a table of that name, is read."""
    return data_files(source) if source in set(list_datasets()["name"]) else [Path(source)]


def classes_of(source: str, class_column: str, *, with_features: bool) -> tuple[pd.Series, pd.DataFrame | None]:
    """Return the class of every item, and the features if they are wanted, from a data set or a file."""
    if source in set(list_datasets()["name"]):
        return _classes_of_dataset(source, with_features=with_features)
    path = Path(source)
    if not path.exists():
        raise InputError(f"{source!r} is neither a file nor a data set; 'consilience datasets' lists the data sets.")
    table = read_table(path)
    if class_column not in table.columns:
        raise InputError(
            f"{path}: There is no column {class_column!r} of classes. Found {', '.join(map(str, table.columns))}; "
            f"name it by {spell(class_column=None)}."
        )
    item = item_column(table, path, besides=(class_column,), parameter="")
    items, column = names_in(table, item, path), table.column(class_column)
    if column.missing.any():
        row = int(np.argmax(column.missing))
        raise InputError(f"{path}: The item {plain(items[row])!r} in {table.where(row)} has no {class_column!r}.")
    classes = pd.Series(column.names.take(column.codes), index=items)
    return classes, numbers(table, path, item=item, besides=(class_column,)) if with_features else None


def _classes_of_dataset(name: str, *, with_features: bool) -> tuple[pd.Series, pd.DataFrame | None]:
    data_set = load_dataset(name)
    if data_set.target is None or data_set.target_names is None:
        raise InputError(f"The data set {name!r} has no classes, so nothing can be simulated from it.")
    if with_features and data_set.data is None:
        raise InputError(f"The data set {name!r} has no features to write.")
    return pd.Series(data_set.target_names[data_set.target], index=data_set.item_names), data_set.data


def convert(
    source: Path,
    out: Path,
    *,
    to: str | None = None,
    reading: Mapping[str, Any] | None = None,
    item_names: Path | None = None,
) -> Annotations:
    """Read annotations in any format and write their long table, converted to another kind if `to` is given.

    Items have their texts if there is a table of them, `item_names`.
    """
    require_outputs([out], [source, item_names])
    annotations, _ = read_noted(source, reading or {})
    texts = read_item_names(item_names, annotations.items)
    annotations = annotations if texts is None else texts.rename_annotations(annotations)
    annotations = convert_to(annotations, to)
    write_annotations(annotations, out)
    return annotations


def convert_to(annotations: Annotations, kind: str | None) -> Annotations:
    """Convert annotations to another kind. Raises InputError: the conversion would lose or invent information."""
    found = type(annotations).__name__.lower()
    if kind in (None, found):
        return annotations
    if kind == "pairs" and isinstance(annotations, Groupings | Labels):
        return annotations.to_pairs()
    if kind == "groupings" and isinstance(annotations, Labels):
        return annotations.to_groupings()
    if isinstance(annotations, Groupings):
        raise InputError(
            "Groupings cannot become labels, since names of groups mean nothing outside their grouping; if all "
            f"annotators share these names, read the file with {spell(kind='labels')}."
        )
    raise InputError(f"Pairs cannot become {kind}, since two judgements may contradict each other.")


def describe_data_sets() -> Result:
    """Return the table of the data sets."""
    table = list_datasets()
    return Result({"data_sets": json.loads(table.to_json(orient="records"))}, _as_lines(table))


def describe_data_set(name: str) -> Result:
    """Return the description of a data set."""
    table, details = list_datasets(), load_dataset(name).DESCR
    row = json.loads(table[table["name"] == name].to_json(orient="records"))[0]
    return Result(row | {"details": details}, details)


def write_data_set(name: str, out: Path, *, what: str | None = None) -> Result:
    """Write the annotations, features or classes of a data set to a file."""
    data_set = load_dataset(name)
    require_outputs([out], files_of(name))
    part = what or ("annotations" if data_set.annotations is not None else "features")
    held: Any = {"annotations": data_set.annotations, "features": data_set.data, "classes": data_set.target}[part]
    if held is None:
        raise InputError(f"The data set {name!r} has no {part}.")
    if part == "annotations":
        write_annotations(held, out)
    elif part == "features":
        write_table(held.rename_axis("item").reset_index(), out)
    else:
        names: Any = data_set.target_names
        write_table(pd.DataFrame({"item": data_set.item_names, "class": names[held]}), out)
    return Result({"name": name, "what": part, "file": str(out)}, f"{out}: {part} of {name}")


def write_tutorial(folder: Path) -> Result:
    """Write the tables that the tutorials read into a folder."""
    paths = write_tutorial_tables(folder)
    return Result({"files": [str(path) for path in paths]}, "\n".join(map(str, paths)))


def _as_lines(table: pd.DataFrame) -> str:
    counts = ["n_items", "n_features", "n_classes", "n_annotators"]
    head = ["name", *(name.removeprefix("n_") for name in counts), "available", "description"]
    rows = []
    for row in table.to_dict("records"):
        sizes = ["-" if pd.isna(row[count]) else str(row[count]) for count in counts]
        rows.append([row["name"], *sizes, "yes" if row["available"] else "no", row["description"]])
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows])
