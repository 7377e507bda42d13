"""Free sorts of foods, drinks, smells, words and voices: each judge sorted all items into groups without names."""

from __future__ import annotations

import pandas as pd

from consilience.annotations import Groupings
from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import bundle, choose, data_sets_of

__all__ = ["load_free_sort"]

FREE_SORTS = data_sets_of("load_free_sort")

_COLOURS = {"W": "white", "R": "red", "P": "rosé"}

# classes that are part of the items' names
_CLASS_OF = {
    "accents45_geller": lambda item: item.rpartition("_")[0],
    "wines18_free_experts": lambda item: _COLOURS[item[0]],
    "wines18_ternary_experts": lambda item: _COLOURS[item[0]],
}

# pattern of columns if judges sorted more than once
_REPEATS = {
    "amari12_lahne2018": r"(?P<annotator>.+)(?P<grouping>r\d)",
    "cards16_children_hierarchical": r"(?P<annotator>S\d+)(?P<grouping>L\d+)",
}

# column of the names of the items in the file that describes them (None: rows are in their order)
_ITEM_INFO: dict[str, str | None] = {
    "amari12_lahne2018": "short",
    "spices16_french": None,
    "wines18_free_experts": "Wines",
    "wines18_ternary_experts": "Wines",
}


def load_free_sort(name: str) -> DataBunch:
    """Load a free sort.

    Parameters
    ----------
    name : str
        One of the free sorts of `list_datasets`, such as "kinship15_rosenberg1975".

    Returns
    -------
    Bunch
        `annotations` (Groupings of all items by each judge; several by each judge of "amari12_lahne2018" and
        "cards16_children_hierarchical"), `item_names`, `DESCR`; `target` and `target_names` if the items' names
        contain their class (wines, accents), `data` if there are features (smells), and `item_info` (DataFrame
        indexed by item) if the source describes the items; otherwise these are None.

    Raises
    ------
    InputError
        If there is no such free sort.
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_free_sort
    >>> kinship = load_free_sort("kinship15_rosenberg1975")  # doctest: +SKIP
    >>> kinship.annotations.n_annotators, kinship.item_names[:2].tolist()  # doctest: +SKIP
    (85, ['grandfather', 'grandmother'])
    """
    data_set = choose(name, FREE_SORTS, "load_free_sort")
    path, *more = data_set.paths()
    wide = pd.read_csv(path, index_col="item")
    class_of = _CLASS_OF.get(name)
    info = _item_info(name, pd.read_csv(more[0]), wide.index) if name in _ITEM_INFO else None
    terms = pd.read_csv(more[0], index_col="item").loc[wide.index] if data_set.n_features else None
    return bundle(
        data_set,
        items=wide.index,
        data=terms,
        classes=None if class_of is None else wide.index.map(class_of),
        annotations=_groupings(wide, _REPEATS.get(name)),
        item_info=info,
    )


def _groupings(wide: pd.DataFrame, repeats: str | None) -> Groupings:
    if repeats is None:
        return Groupings.from_matrix(wide, annotators=wide.columns)
    long = wide.reset_index().melt("item", var_name="column", value_name="group")
    by = long["column"].str.extract(f"^{repeats}$")
    return Groupings.from_frame(pd.concat([long[["item", "group"]], by], axis=1), items=wide.index)


def _item_info(name: str, info: pd.DataFrame, items: pd.Index) -> pd.DataFrame:
    key = _ITEM_INFO[name]
    return info.set_axis(items, axis=0) if key is None else info.set_index(key).loc[items].rename_axis("item")
