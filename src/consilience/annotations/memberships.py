"""Names of groups, and memberships of items in them: the parts of `Groupings`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int, Shaped
from scipy.sparse import csr_array

from consilience.annotations.keywords import spell
from consilience.annotations.names import (
    MISSING,
    Coded,
    Where,
    code,
    compress,
    find_duplicates,
    first_repeat,
    name_index,
    plain,
    sort_rows,
    warn_of_duplicates,
)
from consilience.annotations.tables import require_names
from consilience.errors import AnnotationError


@dataclass(frozen=True)
class Vocabulary:
    """Names of annotators, groupings and groups, and which belongs to which.

    The groups of a grouping are contiguous.
    """

    annotators: pd.Index
    annotator_of_grouping: Int[np.ndarray, " groupings"]
    grouping_names: Shaped[np.ndarray, " groupings"]
    grouping_of_group: Int[np.ndarray, " groups"]
    group_names: Shaped[np.ndarray, " groups"]

    @property
    def grouping_index(self) -> pd.MultiIndex:
        """Names (annotator, grouping) of each grouping, as an index."""
        annotators = self.annotators.take(self.annotator_of_grouping)
        return pd.MultiIndex.from_arrays([annotators, name_index(self.grouping_names)], names=["annotator", "grouping"])

    def grouping_keys(self) -> list[tuple[Any, Any]]:
        """Return the names (annotator, grouping) of each grouping."""
        return list(zip(self.annotators.to_numpy(object)[self.annotator_of_grouping], self.grouping_names))

    def group_keys(self) -> list[tuple[Any, Any, Any]]:
        """Return the names (annotator, grouping, group) of each group."""
        keys = self.grouping_keys()
        return [(*keys[grouping], name) for grouping, name in zip(self.grouping_of_group, self.group_names)]

    def place_in(self, keys: list[tuple[Any, Any, Any]]) -> Int[np.ndarray, " groups"]:
        """Return the position of each group in a list of (annotator, grouping, group), -1 if it is not in it."""
        place = {key: group for group, key in enumerate(keys)}
        return np.array([place.get(key, MISSING) for key in self.group_keys()], dtype=np.intp)


def vocabulary_of(annotator: Coded, grouping: Coded, group: Coded) -> tuple[Vocabulary, np.ndarray]:
    """Number groupings within annotators and groups within groupings; also return the group of each row.

    If `grouping` is `annotator` itself, each annotator has one grouping, even without any items in groups.
    """
    if grouping is annotator:
        grouping_of_row, annotator_of_grouping = annotator.codes, np.arange(len(annotator.names))
        grouping_names = annotator.names.to_numpy(object)
    else:
        n = max(len(grouping.names), 1)
        distinct, grouping_of_row = compress(annotator.codes * n + grouping.codes, n * len(annotator.names))
        annotator_of_grouping, named = np.divmod(distinct, n)
        grouping_names = grouping.names.to_numpy(object)[named]
    n = max(len(group.names), 1)
    distinct, group_of_row = compress(grouping_of_row * n + group.codes, n * len(grouping_names))
    grouping_of_group, named = np.divmod(distinct, n)
    vocabulary = Vocabulary(
        annotators=annotator.names,
        annotator_of_grouping=annotator_of_grouping,
        grouping_names=grouping_names,
        grouping_of_group=grouping_of_group,
        group_names=group.names.to_numpy(object)[named],
    )
    return vocabulary, group_of_row


def nested_lists(groupings: Any) -> list[list[list[Any]]]:
    """Return lists of groupings, groups and names.

    Raises AnnotationError: there are fewer levels, or a dict, a table or a text instead of a list.
    """
    return [
        [_as_list(group, f"group {j} of grouping {i}") for j, group in enumerate(_as_list(grouping, f"grouping {i}"))]
        for i, grouping in enumerate(_as_list(groupings, "the whole"))
    ]


def _as_list(given: Any, what: str) -> list[Any]:
    """Return a list; refuse a name, and a dict or table, which would be reduced to its keys."""
    if isinstance(given, Mapping):
        remedy = f"; give {'list(d.values()), annotators=list(d)' if what == 'the whole' else 'list(d.values())'}"
    elif hasattr(given, "columns"):
        remedy = "; see Groupings.from_frame"
    elif isinstance(given, str | bytes) or not isinstance(given, Iterable):
        remedy = ""
    else:
        return list(given)
    got = repr(plain(given)) if not remedy else f"a {type(given).__name__}"
    raise AnnotationError(
        "Groupings.from_lists takes a list of groupings, each a list of groups, each a list of names; one grouping is "
        f"[[['ant', 'bee'], ['cow']]]. Got {got} for {what}{remedy}."
    )


def vocabulary_of_lists(
    groupings: list[list[list[Any]]], annotators: Iterable[Any] | None
) -> tuple[Vocabulary, np.ndarray]:
    """Name groupings given as lists of groups, which are lists of items; also return the group of each item."""
    n = len(groupings)
    by = Coded(np.arange(n), pd.RangeIndex(n)) if annotators is None else code(list(annotators))
    if len(by) != n:
        raise AnnotationError(f"Expected one annotator name for each of {n} groupings. Got {len(by)}.")
    require_names({"annotator": by}, lambda grouping: f"position {grouping}")
    once = len(by.names) == n
    number = [group for grouping in groupings for group in range(len(grouping))]
    vocabulary = Vocabulary(
        annotators=by.names,
        annotator_of_grouping=by.codes,
        grouping_names=by.names.to_numpy(object) if once else np.arange(n).astype(object),
        grouping_of_group=np.repeat(np.arange(n), [len(grouping) for grouping in groupings]),
        group_names=np.array(number, dtype=object),
    )
    sizes = [len(group) for grouping in groupings for group in grouping]
    return vocabulary, np.repeat(np.arange(len(sizes)), sizes)


def incidence_of(
    item: Int[np.ndarray, " rows"], group: Int[np.ndarray, " rows"], n_items: int, n_groups: int
) -> csr_array:
    """Return the (n_items, n_groups) matrix with a 1 for each membership, the groups of an item in rising order."""
    item, group = sort_rows([item, group], [n_items, n_groups])
    indptr = np.searchsorted(item, np.arange(n_items + 1))
    return csr_array((np.ones(len(group)), group, indptr), shape=(n_items, n_groups))


def checked_incidence(item: Coded, group: Int[np.ndarray, " rows"], vocabulary: Vocabulary, where: Where) -> csr_array:
    """Return `incidence_of` the memberships, without exact duplicates.

    Raises AnnotationError: an item is in two groups of one grouping.

    Warns AnnotationWarning: an item occurs twice in one group.
    """
    incidence = incidence_of(item.codes, group, len(item.names), len(vocabulary.group_names))
    grouping = vocabulary.grouping_of_group[incidence.indices]
    same_as_next = grouping[1:] == grouping[:-1]
    starts = incidence.indptr[1:-1]
    same_as_next[starts[(starts > 0) & (starts < len(grouping))] - 1] = False  # the next row is another item's
    return _without_duplicates(item, group, vocabulary, where) if same_as_next.any() else incidence


def _without_duplicates(item: Coded, group: np.ndarray, vocabulary: Vocabulary, where: Where) -> csr_array:
    repeated = find_duplicates([item.codes, group])
    kept = np.flatnonzero(~repeated)
    _require_one_group(item.take(kept), group[kept], vocabulary, lambda row: where(int(kept[row])))
    again = int(np.argmax(repeated))
    first = int(np.argmax((item.codes == item.codes[again]) & (group == group[again])))
    grouping = vocabulary.grouping_of_group[group[again]]
    annotator = plain(vocabulary.annotators[vocabulary.annotator_of_grouping[grouping]])
    warn_of_duplicates(
        int(repeated.sum()),
        "membership",
        f"the item {item.name(again)!r} is in the group {vocabulary.group_names[group[again]]!r} of the grouping "
        f"{vocabulary.grouping_names[grouping]!r} of the annotator {annotator!r} in {where(first)} and again in "
        f"{where(again)}.",
    )
    return incidence_of(item.codes[kept], group[kept], len(item.names), len(vocabulary.group_names))


def _require_one_group(item: Coded, group: np.ndarray, vocabulary: Vocabulary, where: Where) -> None:
    grouping = vocabulary.grouping_of_group[group]
    if not find_duplicates([grouping, item.codes]).any():
        return
    first, again = first_repeat(grouping * len(item.names) + item.codes)
    annotator = plain(vocabulary.annotators[vocabulary.annotator_of_grouping[grouping[again]]])
    raise AnnotationError(
        f"The item {item.name(again)!r} occurs twice in the grouping {vocabulary.grouping_names[grouping[again]]!r} of "
        f"the annotator {annotator!r}: {where(first)} (group {vocabulary.group_names[group[first]]!r}) and "
        f"{where(again)} (group {vocabulary.group_names[group[again]]!r}); keep one, or distinguish the groupings in a "
        f"column, {spell(grouping=...)}."
    )
