"""Descriptions of data sets, the places of their files, and the Bunch that every loader returns.

The package contains no data. Loaders read the folder named by the environment variable CONSILIENCE_DATA; the files of a
data set are in subfolders with fixed names (`DataSet.files`).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from consilience.datasets._bunch import DataBunch
from consilience.errors import InputError, MissingDataError

VARIABLE = "CONSILIENCE_DATA"
TABLE = Path(__file__).with_name("data_sets.csv")
SIZES = ("n_items", "n_features", "n_classes", "n_annotators")


@dataclass(frozen=True)
class DataSet:
    """Description of a data set, known without reading it.

    name : unique name.
    title : description in one line.
    source : origin of the files.
    n_features, n_classes, n_annotators : None if not applicable.
    files : files that the loader reads, relative to the data folder; empty if bundled with scikit-learn.
    notes : remarks on the content.
    """

    name: str
    title: str
    source: str
    citation: str
    n_items: int
    n_features: int | None = None
    n_classes: int | None = None
    n_annotators: int | None = None
    files: tuple[str, ...] = ()
    notes: str = ""

    @property
    def available(self) -> bool:
        """Whether the files of the loader exist."""
        folder = data_folder()
        return not self.files or (folder is not None and all((folder / file).is_file() for file in self.files))

    def paths(self) -> list[Path]:
        """Return the paths of `files`.

        Raises MissingDataError if the variable is not set, does not name a folder, or a file is missing.
        """
        folder = data_folder()
        if folder is None:
            self._missing(self.files[0], "which is not set")
        if not folder.is_dir():
            self._missing(self.files[0], f"but '{folder}' is not a folder")
        for file in self.files:
            if not (folder / file).is_file():
                self._missing(file, f"but '{folder}' does not contain it")
        return [folder / file for file in self.files]

    def describe(self) -> str:
        """Return the text for `DESCR`."""
        counts = {size.removeprefix("n_"): getattr(self, size) for size in SIZES}
        sizes = [f"{count} {what}" for what, count in counts.items() if count is not None]
        lines = [
            self.title,
            "",
            f"Size: {', '.join(sizes)}.",
            f"Source: {self.source}.",
            f"Reference: {self.citation}.",
        ]
        return "\n".join(lines + (["", self.notes] if self.notes else []))

    def _missing(self, file: str, why: str) -> NoReturn:
        raise MissingDataError(
            f"The data set '{self.name}' needs the file '{file}' in the folder named by the environment variable "
            f"{VARIABLE}, {why}; the data come from {self.source} ({self.citation})."
        )


def _read_table() -> dict[tuple[str, str], DataSet]:
    """Return what `data_sets.csv` says, by the loader of a data set and the argument that chooses it, if any."""
    found = {}
    with TABLE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            sizes: dict[str, Any] = {size: int(row[size]) if row[size] else None for size in SIZES}
            texts: dict[str, Any] = {name: row[name] for name in ("name", "title", "source", "citation", "notes")}
            found[row["loader"], row["key"]] = DataSet(**texts, **sizes, files=tuple(row["files"].split()))
    return found


DATA_SETS = _read_table()


def data_sets_of(loader: str) -> dict[str, DataSet]:
    """Return the data sets of a loader by the argument that chooses them; one without arguments has the only one ""."""
    return {key: data_set for (own, key), data_set in DATA_SETS.items() if own == loader}


def data_folder() -> Path | None:
    """Return the folder named by the environment variable CONSILIENCE_DATA, None if it is not set."""
    value = os.environ.get(VARIABLE)
    return Path(value).expanduser() if value else None


def choose(name: str, data_sets: Mapping[str, Any], loader: str) -> Any:
    """Return the entry `name`, or raise an InputError that lists the known names."""
    if name not in data_sets:
        raise InputError(f"{loader} has no data set {name!r}; choose one of {', '.join(data_sets)}.")
    return data_sets[name]


def bundle(
    data_set: DataSet,
    *,
    items: Any,
    data: pd.DataFrame | None = None,
    classes: Any = None,
    class_names: Any = None,
    **others: Any,
) -> DataBunch:
    """Return the Bunch of a loader: the fields that all data sets have, and `others`.

    Raises InputError if the class of an item is not among `class_names`.

    items : array-like of shape (n_items,); names of the items; they become the index of `data`.
    data : DataFrame of shape (n_items, n_features), optional
    classes : array-like of shape (n_items,), optional; name of the true class of each item.
    class_names : array-like of shape (n_classes,), optional; names of the classes in order; by default sorted.
    """
    index = pd.Index(items, name="item")
    target, target_names = (None, None) if classes is None else _codes(data_set, index, classes, class_names)
    fields = {
        "data": None if data is None else data.set_axis(index, axis=0),
        "feature_names": None if data is None else list(data.columns),
        "target": target,
        "target_names": target_names,
        "item_names": index,
        "annotations": None,
        "DESCR": data_set.describe(),
    }
    return DataBunch(**(fields | others))


def _codes(data_set: DataSet, items: pd.Index, classes: Any, class_names: Any) -> tuple[np.ndarray, np.ndarray]:
    names = np.unique(classes) if class_names is None else np.asarray(class_names)
    codes = pd.Index(names).get_indexer(pd.Index(classes))
    if (codes < 0).any():
        position = int(np.argmax(codes < 0))
        raise InputError(
            f"The class {pd.Index(classes).tolist()[position]!r} of the item {items.tolist()[position]!r} of the data "
            f"set '{data_set.name}' is not among {', '.join(map(str, names))}."
        )
    return codes, names


def pixels(images: np.ndarray) -> pd.DataFrame:
    """Return pictures (n_items, height, width[, channels]) as a table of float pixels, row by row."""
    shape = images.shape[1:]
    names = ["pixel_" + "_".join(map(str, place)) for place in np.ndindex(*shape)]
    return pd.DataFrame(images.reshape(len(images), -1).astype(float), columns=names, copy=False)
