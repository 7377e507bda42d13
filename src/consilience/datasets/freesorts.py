"""Free sorts of foods, drinks, smells, words and voices: each judge sorted all items into groups without names."""

from __future__ import annotations

import pandas as pd

from consilience.annotations import Groupings
from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import DataSet, bundle, choose

__all__ = ["load_free_sort"]

_DISTATIS = "HerveAbdi/DistatisR"
_SENSOMINER = "cran/SensoMineR"

# name, title, items, judges, GitHub repository, citation
_TABLE = [
    (
        "accents45_geller",
        "Voices of speakers of 11 languages",
        45,
        84,
        "jgeller112/clustering_project",
        "Geller, voices of the Speech Accent Archive",
    ),
    ("amari12_lahne2018", "Bitter liqueurs, sorted twice", 12, 25, _DISTATIS, "Lahne, Abdi & Heymann 2018"),
    ("aroma16_courcoux2014", "Smells", 16, 31, "cran/FreeSortR", "Courcoux, Faye & Qannari 2014"),
    ("beers8_abdi2007", "Beers", 8, 10, _DISTATIS, "Abdi et al. 2007"),
    ("beers9_lelievre2009_EV", "Beers, seen, by experts", 9, 17, _DISTATIS, "Lelièvre et al. 2009"),
    ("beers9_lelievre2009_EBr1", "Beers, blind, by experts: 1st time", 9, 13, _DISTATIS, "Lelièvre et al. 2009"),
    ("beers9_lelievre2009_EBr2", "Beers, blind, by experts: 2nd time", 9, 13, _DISTATIS, "Lelièvre et al. 2009"),
    ("beers9_lelievre2009_EBr3", "Beers, blind, by experts: 3rd time", 9, 13, _DISTATIS, "Lelièvre et al. 2009"),
    ("beers9_lelievre2009_EBr4", "Beers, blind, by experts: 4th time", 9, 13, _DISTATIS, "Lelièvre et al. 2009"),
    (
        "cards16_children_hierarchical",
        "Cards, by children, up to 4 levels each",
        16,
        30,
        _SENSOMINER,
        "data of the package",
    ),
    ("kinship15_rosenberg1975", "Words for kin", 15, 85, "cran/clue", "Rosenberg & Kim 1975"),
    ("orange_juice10", "Orange juices", 10, 42, _DISTATIS, "H. Abdi"),
    ("perfume12_sensominer", "Perfumes", 12, 30, _SENSOMINER, "data of the package"),
    ("smoothies8_sensominer", "Smoothies", 8, 24, _SENSOMINER, "data of the package"),
    ("spices16_french", "Spices and mixtures of spices", 16, 21, _DISTATIS, "Chollet et al. 2014"),
    ("wines18_free_experts", "Wines, any number of groups", 18, 19, _DISTATIS, "Ballester et al. 2009"),
    ("wines18_ternary_experts", "Wines, three groups", 18, 19, _DISTATIS, "Ballester et al. 2009"),
]

_COLOURS = {"W": "white", "R": "red", "P": "rosé"}

# classes that are part of the items' names
_CLASS_OF = {
    "accents45_geller": lambda item: item.rpartition("_")[0],
    "wines18_free_experts": lambda item: _COLOURS[item[0]],
    "wines18_ternary_experts": lambda item: _COLOURS[item[0]],
}
_N_CLASSES = {"accents45_geller": 11, "wines18_free_experts": 3, "wines18_ternary_experts": 3}

# pattern of columns if judges sorted more than once
_REPEATS = {
    "amari12_lahne2018": r"(?P<annotator>.+)(?P<grouping>r\d)",
    "cards16_children_hierarchical": r"(?P<annotator>S\d+)(?P<grouping>L\d+)",
}

# file that describes the items, and its column of their names (None: rows are in their order)
_ITEM_INFO: dict[str, tuple[str, str | None]] = {
    "amari12_lahne2018": ("amari12_items", "short"),
    "spices16_french": ("spices16_items", None),
    "wines18_free_experts": ("wines18_items", "Wines"),
    "wines18_ternary_experts": ("wines18_items", "Wines"),
}

_BEERS9_NOTE = "The same experts sorted the beers blind four times, EBr1 to EBr4."
_NOTES = {
    "amari12_lahne2018": "Each judge gave two groupings, r1 and r2.",
    "aroma16_courcoux2014": "The features count how many judges used a word for a smell.",
    **{f"beers9_lelievre2009_EBr{time}": _BEERS9_NOTE for time in range(1, 5)},
    "cards16_children_hierarchical": "Each child gave up to four nested groupings, L1 the coarsest.",
    "orange_juice10": "The help page mentions 44 judges, the table has 42.",
    "wines18_free_experts": "Missing entries were imputed by the package's authors.",
    "wines18_ternary_experts": "Missing entries were imputed by the package's authors.",
}


def _data_set(name: str, title: str, n_items: int, n_annotators: int, repository: str, citation: str) -> DataSet:
    files = [name]
    if name in _ITEM_INFO:
        files.append(_ITEM_INFO[name][0])
    if name == "aroma16_courcoux2014":
        files.append("aroma16_terms")
    return DataSet(
        name=name,
        title=f"Free sort: {title}",
        source=f"the GitHub repository {repository}",
        citation=citation,
        n_items=n_items,
        n_features=36 if name == "aroma16_courcoux2014" else None,
        n_classes=_N_CLASSES.get(name),
        n_annotators=n_annotators,
        files=tuple(f"free-sort/{file}.csv" for file in files),
        notes=_NOTES.get(name, ""),
    )


FREE_SORTS = {row[0]: _data_set(*row) for row in _TABLE}


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
    key = _ITEM_INFO[name][1]
    return info.set_axis(items, axis=0) if key is None else info.set_index(key).loc[items].rename_axis("item")
