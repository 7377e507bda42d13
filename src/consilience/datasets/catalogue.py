"""All data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from consilience.datasets import cardsorts, crowds, features, freesorts
from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import DataSet, choose, data_folder

__all__ = ["list_datasets", "load_dataset"]


@dataclass(frozen=True)
class _Entry:
    data_set: DataSet
    load: Callable[[], DataBunch]
    call: str


def _alone(data_set: DataSet, load: Callable[[], DataBunch]) -> _Entry:
    return _Entry(data_set, load, f"{load.__name__}()")


def _family(data_sets: dict[str, DataSet], load: Callable[[str], DataBunch]) -> list[_Entry]:
    return [_Entry(data_set, partial(load, key), f'{load.__name__}("{key}")') for key, data_set in data_sets.items()]


_CATALOGUE = {
    entry.data_set.name: entry
    for entry in [
        _alone(features.BUNDLED["digits"], features.load_digits),
        _alone(features.BUNDLED["iris"], features.load_iris),
        _alone(features.BUNDLED["wine"], features.load_wine),
        *_family(features.UCI, features.load_uci),
        *_family(features.FACES, features.load_faces),
        _alone(features.CMU_FACES, features.load_cmu_faces),
        _alone(cardsorts.ANIMALS, cardsorts.load_cardsort_animals),
        *_family(cardsorts.GREEK_SITES, cardsorts.load_cardsort_greek_sites),
        *_family(freesorts.FREE_SORTS, freesorts.load_free_sort),
        *_family(crowds.ORCHESTRA, crowds.load_orchestra),
        *_family(crowds.DOGS_BIRDS, crowds.load_dogs_birds),
        _alone(crowds.MNIST_CROWD, crowds.load_mnist_crowd),
        *_family(crowds.CROWD_LABELS, crowds.load_crowd_labels),
        _alone(crowds.CIFAR10H, crowds.load_cifar10h),
    ]
}


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
            "n_items": entry.data_set.n_items,
            "n_features": entry.data_set.n_features,
            "n_classes": entry.data_set.n_classes,
            "n_annotators": entry.data_set.n_annotators,
            "available": entry.data_set.available,
            "description": entry.data_set.title,
        }
        for entry in _CATALOGUE.values()
    ]
    counts = ["n_items", "n_features", "n_classes", "n_annotators"]
    return pd.DataFrame(rows).astype(dict.fromkeys(counts, "Int64"))


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
