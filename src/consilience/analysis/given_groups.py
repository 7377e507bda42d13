"""Hybrid sorts: groups that were given to everybody, beside those that people made of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.analysis.folding import fold_name
from consilience.analysis.names import name_text
from consilience.analysis.standardisation import standard_names
from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.name_lists import list_names
from consilience.errors import InputError

__all__ = ["GivenGroups", "compare_given_groups"]


@dataclass(frozen=True)
class GivenGroups:
    """How people used the groups that were given to them, and what they made beside them.

    Attributes
    ----------
    groups : DataFrame, indexed by name
        ``given``, whether the group was given; ``n_annotators`` who put an item there, ``n_items`` that anybody put
        there, ``n_placements``, the items that all put there together. The groups given come first, as they were given;
        the others have their standard names, those of most people first.
    items : DataFrame, indexed by item
        ``n_annotators`` who sorted it; ``given``, the group given in which most of them put it, and ``n_given``, how
        many did; ``n_own`` who put it into a group of their own, and ``own``, the commonest standard name of these,
        None if there is none.
    n_annotators : int
        Number of people.
    n_makers : int
        People who made a group of their own.
    n_own_groups : int
        Groups of their own that they made.
    """

    groups: pd.DataFrame
    items: pd.DataFrame
    n_annotators: int
    n_makers: int
    n_own_groups: int


def compare_given_groups(groupings: Any, given: Iterable[str]) -> GivenGroups:
    """Tell groups that were given in a hybrid sort from those that people made, and count what is in both.

    Parameters
    ----------
    groupings : Groupings
    given : iterable of str
        Names of the groups that everybody was given. Case, accents and blanks do not matter.

    Returns
    -------
    GivenGroups

    Raises
    ------
    InputError
        The annotations are Pairs, a name is given twice, or there is none.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import compare_given_groups
    >>> cells = [["Pets", "pets"], ["Pets", "Farm"], ["Wild", "Farm"]]
    >>> sorts = Groupings.from_matrix(cells, items=["cat", "hen", "cow"])
    >>> compare_given_groups(sorts, ["Pets", "Wild"]).items[["n_given", "n_own", "own"]].values.tolist()
    [[2, 0, None], [1, 1, 'Farm'], [1, 1, 'Farm']]
    """
    annotations = as_groupings(groupings, None, "compare_given_groups")
    names = [str(name) for name in list_names(given, "given")]
    folds = [fold_name(name) for name in names]
    if not names:
        raise InputError("compare_given_groups needs the names of the groups given. Got none.")
    if len(set(folds)) < len(folds):
        again = next(name for name, fold in zip(names, folds, strict=True) if folds.count(fold) > 1)
        raise InputError(f"The group {again!r} is given twice.")
    written = [fold_name(name_text(name)) for name in annotations.group_names]
    of_group = np.array([folds.index(fold) if fold in folds else -1 for fold in written])
    is_own = of_group < 0
    own, own_names = _own_codes(annotations, is_own)
    code = np.where(is_own, own + len(names), of_group)
    placed = _place_people(annotations, code)
    all_names = pd.Index([*names, *own_names], name="group")
    return GivenGroups(
        _count_groups(placed, all_names, len(names)),
        _count_items(placed, annotations.items, all_names, len(names)),
        annotations.n_annotators,
        len(np.unique(annotations.annotator_of_group[is_own])),
        int(is_own.sum()),
    )


def _own_codes(groupings: Groupings, is_own: Bool[np.ndarray, " groups"]) -> tuple[np.ndarray, list[str]]:
    """Return the places of the standard names of people's own groups, numbered anew, and their names."""
    standard = standard_names(groupings)
    used = np.unique(standard.code_of_group[is_own & (standard.code_of_group >= 0)])
    place = np.full(len(standard.names) + 1, len(used))  # the last is that of groups without a name
    place[used] = np.arange(len(used))
    has_unnamed = bool((is_own & (standard.code_of_group < 0)).any())
    return place[standard.code_of_group], [*map(str, standard.names[used]), *(["no name"] if has_unnamed else [])]


def _place_people(groupings: Groupings, code: Int[np.ndarray, " groups"]) -> pd.DataFrame:
    """Return a row for each item, name of a group and person who put the item under it."""
    row = groupings.incidence.indices
    columns = {"item": groupings.item_of_row, "code": code[row], "who": groupings.annotator_of_group[row]}
    return pd.DataFrame(columns).drop_duplicates()


def _count_groups(placed: pd.DataFrame, names: pd.Index, n_given: int) -> pd.DataFrame:
    """Count people, items and placements under each name; people's own are those of most people first."""
    counts = placed.groupby("code").agg(
        n_annotators=("who", "nunique"), n_items=("item", "nunique"), n_placements=("item", "size")
    )
    found = counts.reindex(range(len(names)), fill_value=0).set_axis(names)
    found.insert(0, "given", np.arange(len(names)) < n_given)
    own = found[~found["given"]].sort_values(["n_annotators", "n_placements"], ascending=False, kind="stable")
    return pd.concat([found[found["given"]], own])


def _count_items(placed: pd.DataFrame, items: pd.Index, names: pd.Index, n_given: int) -> pd.DataFrame:
    """Count who put each item into a group given, and who into one of their own, with the commonest of each."""
    counts = np.zeros((len(items), len(names)), dtype=int)
    np.add.at(counts, (placed["item"].to_numpy(), placed["code"].to_numpy()), 1)
    given, own = counts[:, :n_given], counts[:, n_given:]
    in_own = placed[placed["code"] >= n_given].groupby("item")["who"].nunique()
    places = range(len(items))
    index = items.rename("item")
    columns = {
        "n_annotators": placed.groupby("item")["who"].nunique().reindex(places, fill_value=0).to_numpy(),
        "given": _commonest(given, names[:n_given], index),
        "n_given": given.max(1),
        "n_own": in_own.reindex(places, fill_value=0).to_numpy(),
        "own": _commonest(own, names[n_given:], index),
    }
    return pd.DataFrame(columns, index)


def _commonest(counts: Int[np.ndarray, "items names"], names: pd.Index, items: pd.Index) -> pd.Series:
    """Return the name of most people for each item, None if it has none."""
    first = [names[row.argmax()] if row.max(initial=0) else None for row in counts]
    return pd.Series(first, items, dtype=object)
