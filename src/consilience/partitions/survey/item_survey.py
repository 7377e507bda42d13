"""What all partitions of a table of items together hold: annotators and groups, numbers, ranges of features.

Also a sample of the items, from which a fit starts: those whose hashes are the smallest. It is the same for any
partitioning, if the items have names or keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, UInt64

from consilience.annotations import Groupings
from consilience.annotations.labels import sorted_names
from consilience.annotations.memberships import Vocabulary, incidence_of
from consilience.annotations.names import name_index, union
from consilience.inference.parts import Parts
from consilience.partitions.survey.label_survey import Sketch, hashes_of
from consilience.partitions.tables.item_table import ItemPartition, ItemsOfPartition, read_items
from consilience.partitions.tables.label_table import LabelPartition, read_rows

SAMPLE = 100_000  # items; at most survey.CHECKED

Keys = list[tuple[Any, Any, Any]]


@dataclass(frozen=True)
class ItemSurvey:
    """Names and numbers of a table, without its items.

    annotators : in order of first appearance.
    groups : names of the groups of each (annotator, grouping).
    sizes : number of items of each partition.
    lowest, highest : of each feature.
    """

    named: bool
    annotators: pd.Index
    groups: dict[tuple[Any, Any], pd.Index]
    sizes: tuple[int, ...]
    lowest: Float[np.ndarray, " features"]
    highest: Float[np.ndarray, " features"]
    n_repeated: int
    n_blank: int

    @classmethod
    def of(cls, rows: ItemsOfPartition) -> ItemSurvey:
        """Survey a partition."""
        given, x = rows.groupings, rows.features
        groups: dict[tuple[Any, Any], list[Any]] = {key: [] for key in given.vocabulary.grouping_keys()}
        for annotator, grouping, name in given.vocabulary.group_keys():
            groups[annotator, grouping].append(name)
        return cls(
            rows.named,
            given.annotators,
            {key: name_index(names) for key, names in groups.items()},
            (len(x),),
            x.min(0, initial=np.inf),
            x.max(0, initial=-np.inf),
            rows.n_repeated,
            rows.n_blank,
        )

    def __add__(self, other: ItemSurvey) -> ItemSurvey:
        groups = dict(self.groups)
        for key, names in other.groups.items():
            groups[key] = union([groups[key], names]) if key in groups else names
        return ItemSurvey(
            self.named,
            union([self.annotators, other.annotators]),
            groups,
            self.sizes + other.sizes,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.n_repeated + other.n_repeated,
            self.n_blank + other.n_blank,
        )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return sum(self.sizes)

    @property
    def first(self) -> Int[np.ndarray, " partitions"]:
        """Number of the first item of each partition."""
        return np.cumsum([0, *self.sizes])[:-1]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Annotators, groupings in the order of these, and their groups, sorted."""
        place = {name: number for number, name in enumerate(self.annotators)}
        keys = sorted(self.groups, key=lambda key: place[key[0]])
        names = [sorted_names(self.groups[key]) for key in keys]
        return Vocabulary(
            annotators=self.annotators,
            annotator_of_grouping=np.array([place[annotator] for annotator, _ in keys], dtype=np.intp),
            grouping_names=name_index([grouping for _, grouping in keys]).to_numpy(object),
            grouping_of_group=np.repeat(np.arange(len(keys)), list(map(len, names))),
            group_names=name_index([name for of in names for name in of]).to_numpy(object),
        )

    def nothing(self) -> Groupings:
        """Return the groupings without items."""
        words = self.vocabulary
        none = np.empty(0, dtype=np.intp)
        return Groupings(
            items=pd.RangeIndex(0),
            annotators=words.annotators,
            named=self.named,
            incidence=incidence_of(none, none, 0, len(words.group_names)),
            grouping_of_group=words.grouping_of_group,
            annotator_of_grouping=words.annotator_of_grouping,
            grouping_names=words.grouping_names,
            group_names=words.group_names,
        )


@dataclass(frozen=True)
class OwnItems:
    """Rows of a partition over its own annotators and groups."""

    number: int
    rows: ItemsOfPartition

    def names(self, first: Int[np.ndarray, " partitions"]) -> pd.Index:
        """Return the names of the items; `first` is for items that are numbered over all partitions."""
        items = self.rows.groupings.items
        return items if self.rows.named else pd.RangeIndex(len(items)) + int(first[self.number])


def read_own_items(numbered: tuple[int, ItemPartition]) -> OwnItems:
    number, partition = numbered
    return OwnItems(number, read_items(partition))


def read_labelled_items(numbered: tuple[int, LabelPartition]) -> OwnItems:
    """Read a partition of labels as items without features: those with the same label by an annotator form a group."""
    number, partition = numbered
    rows = read_rows(partition)
    groupings = rows.labels.to_groupings()
    nothing = np.empty((groupings.n_items, 0))
    return OwnItems(number, ItemsOfPartition(True, nothing, groupings, rows.n_repeated, rows.n_blank))


def item_survey_of(own: OwnItems) -> ItemSurvey:
    """Return the survey of a partition."""
    return ItemSurvey.of(own.rows)


def sketch_of(own: OwnItems, first: Int[np.ndarray, " partitions"]) -> Sketch:
    """Return the smallest hashes of the items of a partition."""
    return Sketch.of(own.names(first), own.number)


def names_among(own: OwnItems, hashes: UInt64[np.ndarray, " hashes"]) -> list[object]:
    """Return the names of the items of a partition that have one of some hashes."""
    items = own.rows.groupings.items
    return items[np.isin(hashes_of(items), hashes)].tolist()


@dataclass(frozen=True)
class Sample:
    """Some items with their features and groupings."""

    features: Float[np.ndarray, "items features"]
    groupings: Groupings


def sampled_items(own: OwnItems, first: Int[np.ndarray, " partitions"], limit: Any) -> Sample:
    """Return the items whose hash is at most `limit`."""
    names, rows = own.names(first), own.rows
    chosen = np.flatnonzero(hashes_of(names) <= limit)
    given = rows.groupings
    return Sample(
        rows.features[chosen], replace(given, items=names.take(chosen), incidence=given.incidence[chosen], named=True)
    )


def joined_sample(parts: list[Sample], nothing: Groupings) -> Sample:
    """Join samples of several partitions over all annotators and groups."""
    keys = nothing.vocabulary.group_keys()
    sizes = [len(part.features) for part in parts]
    items = name_index([name for part in parts for name in part.groupings.items])
    item = [start + part.groupings.item_of_row for start, part in zip(np.cumsum([0, *sizes]), parts)]
    group = [group_places(part.groupings, keys) for part in parts]
    incidence = incidence_of(np.concatenate(item), np.concatenate(group), len(items), len(keys))
    return Sample(np.concatenate([part.features for part in parts]), replace(nothing, items=items, incidence=incidence))


@dataclass(frozen=True)
class Surveyed:
    """A table of items with their groups, as it is given to the fit of a model.

    own : parts of `OwnItems`; the fit forgets them.
    sketch : the smallest hashes of the items.
    features : names of the columns; none for items without features.
    """

    own: Parts
    survey: ItemSurvey
    sketch: Sketch
    features: tuple[Any, ...]

    def limit(self, most: int) -> Any:
        """Return the largest hash of a sample of so many items at most."""
        return self.sketch.hashes[:most][-1]

    def sample(self, most: int) -> Sample:
        """Return the items whose hashes are the smallest."""
        found = self.own.results(sampled_items, self.survey.first, self.limit(most))
        return joined_sample(list(found), self.survey.nothing())


def group_places(given: Groupings, keys: Keys) -> Int[np.ndarray, " rows"]:
    """Return the place among all groups of the group of each membership; -1 for groups that are not among them."""
    return given.vocabulary.place_in(keys)[given.incidence.indices]
