"""All data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from consilience.datasets import cardsorts, crowds, features, freesorts
from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import DATA_SETS, SIZES, DataSet, choose, data_folder

__all__ = ["list_datasets", "load_dataset"]


@dataclass(frozen=True)
class _Entry:
    data_set: DataSet
    load: Callable[[], DataBunch]
    call: str


def _entry_of(loader: str, key: str, data_set: DataSet) -> _Entry:
    load = _LOADERS[loader]
    return _Entry(data_set, partial(load, key) if key else load, f'{loader}("{key}")' if key else f"{loader}()")


_LOADERS: dict[str, Callable[..., DataBunch]] = {
    name: getattr(module, name) for module in (features, cardsorts, freesorts, crowds) for name in module.__all__
}
_CATALOGUE = {data_set.name: _entry_of(*place, data_set) for place, data_set in DATA_SETS.items()}


def list_datasets() -> pd.DataFrame:
    """List the data sets, and which of them can be loaded on this machine.

    Returns
    -------
    DataFrame
        One row per data set: `name` (for `load_dataset`), `loader` (the equivalent call), `n_items`,
        `n_features`, `n_classes`, `n_annotators` (missing if not applicable), `available` (whether the
        files exist), `description`.

    Examples
    --------
    >>> from consilience.datasets import list_datasets
    >>> list_datasets()[["name", "n_items", "n_classes", "available"]].head(2)
         name  n_items  n_classes  available
    0  digits     1797         10       True
    1    iris      150          3       True
    """
    rows = [
        {
            "name": entry.data_set.name,
            "loader": entry.call,
            **{size: getattr(entry.data_set, size) for size in SIZES},
            "available": entry.data_set.available,
            "description": entry.data_set.title,
        }
        for entry in _CATALOGUE.values()
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(SIZES, "Int64"))


def load_dataset(name: str) -> DataBunch:
    """Load a data set by its name in `list_datasets`.

    Parameters
    ----------
    name : str

    Returns
    -------
    Bunch
        `data` (DataFrame indexed by item, or None), `feature_names`, `target` (n_items,) codes or None,
        `target_names`, `item_names` (Index), `annotations` (Groupings, Labels or None), `DESCR`, and further fields of
        the data set's own loader.

    Raises
    ------
    InputError
        If there is no such data set.
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_dataset
    >>> load_dataset("wine").data.shape
    (178, 13)
    """
    entry: _Entry = choose(name, _CATALOGUE, "load_dataset")
    return entry.load()


def data_files(name: str) -> list[Path]:
    """Return the paths of the files that a data set is read from, whether or not they exist."""
    entry: _Entry = choose(name, _CATALOGUE, "data_files")
    folder = data_folder()
    return [] if folder is None else [folder / file for file in entry.data_set.files]
