"""Presented subsets: their items and annotators, and how often each item was presented, and to whom."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from consilience.active.grouping_store import GroupingStore
from consilience.annotations import Annotations
from consilience.annotations.display import names_in_short, table
from consilience.annotations.name_lists import list_names as listed_names
from consilience.annotations.names import MISSING, name_index, plain
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError
from consilience.estimators.parameters import is_number, is_whole


@dataclass(frozen=True, repr=False)
class Subset:
    """Items to be presented together to one annotator.

    Attributes
    ----------
    number : int
        Number of the subset in its session, from 1.
    items : list of names
    annotator : name, or None
        The annotator that it was composed for.
    """

    number: int
    items: list[Any]
    annotator: Any = None

    def __repr__(self) -> str:
        annotator = "" if self.annotator is None else f", annotator={self.annotator!r}"
        return f"Subset(number={self.number}, items={names_in_short(self.items, len(self.items))}{annotator})"

    def _repr_html_(self) -> str:
        annotator = "" if self.annotator is None else f" for {self.annotator}"
        return table(f"Subset {self.number}{annotator}: {len(self.items)} items", [], [[item] for item in self.items])


@dataclass(frozen=True)
class Placed:
    """A subset with the places of its items in the session."""

    subset: Subset
    places: Int[np.ndarray, " size"]

    @classmethod
    def of(cls, subset: Subset, items: pd.Index) -> Placed:
        """Look up the items; see `places_of`."""
        return cls(subset, places_of(items, subset.items))


@dataclass(frozen=True)
class LeftOut(Placed):
    """The items of a subset that are missing from its answer, by the annotator of the answer; they were presented too.

    answered : places of the items of the subset that are in the answer.
    """

    answered: Int[np.ndarray, " answered"]

    @property
    def pairs(self) -> list[Int[np.ndarray, " 2"]]:
        """The pairs that were presented and not answered: those with a missing item."""
        together = np.concatenate([self.places, self.answered])
        one, other = np.triu_indices(len(together), 1)
        return list(np.column_stack([together[one], together[other]])[one < len(self.places)])


def list_items(items: Any, session: str) -> Any:
    """Return the items of a session, of this class, as a list or an index.

    Raises InputError: it is a table, annotations, a text or a number instead of a list of names.
    """
    if isinstance(items, list | pd.Index):
        return items
    if isinstance(items, Annotations):
        got = f"{type(items).__name__}; their names are annotations.items"
    elif hasattr(items, "columns"):
        got = "a table; give the column or the index that names the items, such as frame.index"
    elif is_whole(items, 1):
        got = f"{items}; for {items} items named by numbers, use range({items})"
    elif isinstance(items, str | bytes) or not isinstance(items, Iterable):
        got = repr(items)
    else:
        return list(items)
    raise InputError(f"The 'items' parameter of {session} must be a list of the names of all items. Got {got}.")


def distinct(items: Any, session: str) -> pd.Index:
    """Return the names of the items of a session of this class.

    Raises InputError: there are none, one is missing or blank, or one occurs twice.
    """
    names = name_index(list(items))
    nested = next((name for name in names if isinstance(name, list | dict | np.ndarray)), None)
    if nested is not None:
        kind = type(nested).__name__
        raise InputError(f"The 'items' parameter of {session} must be a list of names. Got a {kind} among them.")
    if not len(names):
        raise InputError(f"The 'items' parameter of {session} must hold at least one item.")
    if names.has_duplicates:
        raise InputError(f"Item {plain(names[names.duplicated()][0])!r} occurs twice in the 'items' of {session}.")
    if names.isna().any() or any(isinstance(name, str) and not name.strip() for name in names):
        raise InputError(f"The 'items' parameter of {session} must hold names. Got a missing one (None, NaN or blank).")
    return names


def places_of(items: pd.Index, names: Iterable[Any]) -> Int[np.ndarray, " names"]:
    """Return the places of names among a session's items. Raises InputError: a name is not among them."""
    wanted = name_index(list(names))
    place: np.ndarray = items.get_indexer(wanted)
    if (place == MISSING).any():
        unknown = plain(wanted[place == MISSING][0])
        raise InputError(f"Item {unknown!r} is not in the session.{near_spelling(unknown, items)}")
    return place


def times_asked(groupings: GroupingStore, others: Sequence[np.ndarray]) -> Int[np.ndarray, " items"]:
    """Count how often each item was presented: in the groupings, and in other subsets."""
    return groupings.times + _times(groupings.n_items, others)


def seen_by(annotator: Any, groupings: GroupingStore, others: Sequence[np.ndarray]) -> Bool[np.ndarray, " items"]:
    """Whether each item was presented to an annotator: in their groupings, or in other subsets for them."""
    return groupings.held_by(annotator) | (_times(groupings.n_items, others) > 0)


def require_left(allowed: Bool[np.ndarray, " items"], size: int, annotator: Any, *, quota: int | None) -> None:
    """Raise an InputError if fewer items may be presented than a subset holds; `quota` is that of an item, if any."""
    n_allowed = int(allowed.sum())
    if n_allowed < size:
        left = "1 item is" if n_allowed == 1 else f"{n_allowed} items are"
        reason = "" if annotator is None else f" for annotator {annotator!r}, who sees no item twice"
        advice = [] if quota is None else ["raise 'max_per_item'"]
        advice += [] if annotator is None else ["choose another annotator"]
        raise InputError(f"Only {left} left to present{reason}. A subset holds {size}: {', '.join(advice)}, or stop.")


def annotators_of(annotators: Any, n_subsets: int) -> list[Any]:
    """Return the annotator that each subset is for; None for nobody in particular.

    Raises InputError: the number of names is not that of the subsets.
    """
    if annotators is None:
        return [None] * n_subsets
    names = listed_names(annotators, "annotators")
    if len(names) != n_subsets:
        raise InputError(
            f"'annotators' must have one annotator for each of {n_subsets} subsets. Got {len(names)}: {names!r}."
        )
    for name in names:
        require_annotator(name)
    return names


def costs_of(annotators: Any) -> tuple[list[Any], Float[np.ndarray, " annotators"]]:
    """Return the annotators at hand, None for nobody in particular, and what a label by each costs.

    Raises InputError: a name is missing or occurs twice, a cost is not positive, or a Series may be of either.
    """
    if annotators is None:
        return [None], np.ones(1)
    is_numeric = isinstance(annotators, pd.Series) and is_numeric_dtype(annotators.infer_objects())
    if is_numeric and is_integer_dtype(annotators.index):  # perhaps names in a column, whose index means nothing
        raise InputError(
            "'annotators' is a numbered Series of numbers. Give a list of names, or a dict of costs by name."
        )
    has_costs = is_numeric or isinstance(annotators, Mapping)
    whom = list(annotators.items()) if has_costs else [(name, 1.0) for name in listed_names(annotators, "annotators")]
    names, costs = [plain(name) for name, _ in whom], [cost for _, cost in whom]
    for name in names:
        require_annotator(name)
    if not names or None in names or len(set(names)) < len(names):
        raise InputError(f"'annotators' must be different names, at least one. Got {names!r}.")
    if not all(is_number(cost) for cost in costs):
        raise InputError(f"The costs of 'annotators' must be positive numbers. Got {costs!r}.")
    return names, np.array(costs, dtype=float)


def require_annotator(annotator: Any) -> None:
    """Raise an InputError unless it is one name or None."""
    if not isinstance(annotator, Hashable):
        raise InputError(f"An annotator must be one name. Got a {type(annotator).__name__} instead: {annotator!r}.")


def candidates_of(candidates: Any) -> list[list[Any]]:
    """Return the lists of items to choose among. Raises InputError: they are not lists of names."""
    lists = candidates.values() if isinstance(candidates, Mapping) else candidates
    if isinstance(lists, str) or hasattr(lists, "columns") or not isinstance(lists, Iterable):
        raise InputError(f"'candidates' must be a list of lists of items. Got a {type(candidates).__name__} instead.")
    lists = [items.items if isinstance(items, Subset) else items for items in lists]
    for items in lists:
        if isinstance(items, str) or not isinstance(items, Iterable):
            raise InputError(f"'candidates' must be a list of lists of items. Got the candidate {plain(items)!r}.")
    return [listed_names(items, "candidates") for items in lists]


def _times(n_items: int, subsets: Sequence[np.ndarray]) -> Int[np.ndarray, " items"]:
    everything = np.concatenate(subsets) if subsets else np.zeros(0, dtype=np.intp)
    return np.bincount(everything, minlength=n_items)
