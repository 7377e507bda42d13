"""Open card sorts: each person sorted all cards into groups of their own, and named some or all of them."""

from __future__ import annotations

import pandas as pd

from consilience.annotations import Groupings
from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import DATA_SETS, DataSet, bundle, choose, data_sets_of

__all__ = ["load_cardsort_animals", "load_cardsort_greek_sites"]

ANIMALS = DATA_SETS["load_cardsort_animals", ""]
GREEK_SITES = data_sets_of("load_cardsort_greek_sites")


def load_cardsort_animals() -> DataBunch:
    """Load an open card sort of 20 animals and creatures, real and mythical, by 107 people.

    Returns
    -------
    Bunch
        `annotations` (Groupings of all items by each person), `annotator_info` (DataFrame indexed by annotator with
        the column "principle": biological, habitat, real and mythical, ...), `item_names` (the animals), `DESCR`.
        There is no truth and there are no features.

    Raises
    ------
    MissingDataError
        If its file is not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_cardsort_animals
    >>> animals = load_cardsort_animals()  # doctest: +SKIP
    >>> animals.annotations.n_items, animals.annotations.n_annotators  # doctest: +SKIP
    (20, 107)
    >>> animals.annotator_info["principle"].value_counts().head(2).to_dict()  # doctest: +SKIP
    {'Mixed division': 36, 'Biological': 35}
    """
    raw = pd.read_csv(*ANIMALS.paths())
    annotator = _person(raw["user"])
    unnamed = raw["group_name"].isna()
    # the source numbers groups consecutively over all persons
    number = raw["group_id"].where(unnamed).groupby(annotator).rank(method="dense")
    group = raw["group_name"].where(~unnamed, "unnamed " + number.astype("Int64").astype(str))
    info = raw.groupby(annotator, sort=False)[["tag"]].first().rename(columns={"tag": "principle"})
    return _card_sort(ANIMALS, raw["card"], annotator, group, annotator_info=info)


def load_cardsort_greek_sites(site: str) -> DataBunch:
    """Load an open card sort of the categories of a Greek online shop.

    Parameters
    ----------
    site : {"celestino", "skroutz"}
        59 cards sorted by 210 people, or 54 cards by 203 people.

    Returns
    -------
    Bunch
        `annotations` (Groupings of all cards by each person, with their names of the groups), `item_names` (the
        cards' texts, in Greek), `DESCR`. There is no truth and there are no features.

    Raises
    ------
    InputError
        If there is no such site.
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_cardsort_greek_sites
    >>> load_cardsort_greek_sites("skroutz").annotations.n_rows  # 54 cards x 203 persons  # doctest: +SKIP
    10962
    """
    data_set = choose(site, GREEK_SITES, "load_cardsort_greek_sites")
    sorts, cards = (pd.read_csv(path) for path in data_set.paths())
    card = sorts["card_id"].map(cards.set_index("card_id")["card"])
    return _card_sort(data_set, card, _person(sorts["user"]), sorts["group_name"])


def _person(number: pd.Series) -> pd.Series:
    return ("person " + number.astype(str)).rename("annotator")


def _card_sort(
    data_set: DataSet, item: pd.Series, annotator: pd.Series, group: pd.Series, **others: pd.DataFrame
) -> DataBunch:
    items = item.drop_duplicates().tolist()
    frame = pd.DataFrame({"item": item, "annotator": annotator, "group": group})
    groupings = Groupings.from_frame(frame, items=items, missing=[])  # "unsorted" is the name of a group here
    return bundle(data_set, items=items, annotations=groupings, **others)
