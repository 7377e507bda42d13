"""Canonical order of items, annotators, groupings and groups, independent of how annotations were given.

Models draw at random, and start at the first item: their results would depend on the order of the rows, which is
arbitrary. `arrange` puts everything into an order that depends only on the content of the annotations and on the items'
features: neither the original order nor names make a difference. See `consilience.annotations.refinement`.

Decided here
------------
Items, annotators, groupings and groups that nothing distinguishes are ordered by name. The name of a class counts if
nothing else distinguishes it: it has a meaning. Classes keep their order, which is the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

import numpy as np
import pandas as pd
from jaxtyping import Int, UInt64

from consilience.annotations.base import Annotations
from consilience.annotations.groupings import Groupings
from consilience.annotations.labels import Labels
from consilience.annotations.memberships import incidence_of
from consilience.annotations.names import inverse, name_index, order_of_names
from consilience.annotations.pairs import Pairs
from consilience.annotations.refinement import Links, Structure, canonical_places, mix, places_of_rows

Content = TypeVar("Content", bound=Annotations | None)
Ranks = Callable[[np.ndarray], np.ndarray]
NOTHING = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Arrangement(Generic[Content]):
    """Annotations in canonical order.

    given : the original annotations; None if there are none, and of `Labels`, whose order is all that is asked for.
    ordered : of the same kind; the annotations in canonical order. The groupings of `Pairs` are numbered, each a pair
        of annotator and name.
    names : names of the items in the order of `given`.
    items, annotators : positions in `given` of those of `ordered`.
    groupings : the same for `Groupings`. For `Pairs`, numbers of occasions, by annotator and name of the grouping. Else
        empty.
    groups : the same for `Groupings`; else empty.
    """

    given: Content
    ordered: Content
    names: pd.Index
    items: Int[np.ndarray, " items"]
    annotators: Int[np.ndarray, " annotators"]
    groupings: Int[np.ndarray, " groupings"]
    groups: Int[np.ndarray, " groups"]


def arrange(annotations: Content, of_items: np.ndarray | None = None) -> Arrangement[Content]:
    """Put annotations into an order that depends only on their content.

    of_items : array of numbers, shape (n_items, n_columns), optional; features of the items.
    """
    own = None if of_items is None else mix(places_of_rows(of_items).astype(np.uint64))
    found: Any
    if isinstance(annotations, Groupings):
        found = _arranged_groupings(annotations, own)
    elif isinstance(annotations, Labels):
        found = _arranged_labels(annotations, own)
    else:
        found = _arranged_pairs(cast(Pairs, annotations), own)
    return cast(Arrangement[Content], found)


def arrange_items(names: pd.Index, of_items: np.ndarray) -> Arrangement[None]:
    """Put items without annotations into an order that depends only on their features.

    names : Index, shape (n_items,)
    of_items : array of numbers, shape (n_items, n_columns)
    """
    order = _order(places_of_rows(of_items), lambda places: _joint(names.take(places)))
    return Arrangement(None, None, names, order, NOTHING, NOTHING, NOTHING)


def _arranged_groupings(given: Groupings, own: UInt64[np.ndarray, " items"] | None) -> Arrangement[Groupings]:
    by, of_group = given.annotator_of_grouping, given.grouping_of_group

    def ranks_of_groupings(places: np.ndarray) -> np.ndarray:
        return _joint(given.annotators.take(by[places]), given.grouping_names[places])

    def ranks_of_groups(places: np.ndarray) -> np.ndarray:
        occasion = of_group[places]
        names = given.annotators.take(by[occasion]), given.grouping_names[occasion], given.group_names[places]
        return _joint(*names)

    nodes = _Nodes.of(
        (given.n_items, lambda places: _joint(given.items.take(places))),
        (given.n_annotators, lambda places: _joint(given.annotators.take(places))),
        (given.n_groupings, ranks_of_groupings),
        (given.n_groups, ranks_of_groups),
    )
    item, annotator, grouping, group = nodes.start
    links = (
        Links.of(grouping + np.arange(given.n_groupings), annotator + by),
        Links.of(group + np.arange(given.n_groups), grouping + of_group),
        Links.of(item + given.item_of_row, group + given.incidence.indices),
    )
    items, annotators, groupings, groups = nodes.orders(links, {item: own})
    # groupings of one annotator stay together, and below, groups of one grouping
    groupings = groupings[np.argsort(inverse(annotators, len(annotators))[by[groupings]], kind="stable")]
    groups = groups[np.argsort(inverse(groupings, len(groupings))[of_group[groups]], kind="stable")]
    item_now, group_now = inverse(items, len(items)), inverse(groups, len(groups))
    ordered = replace(
        given,
        items=given.items.take(items),
        annotators=given.annotators.take(annotators),
        incidence=incidence_of(
            item_now[given.item_of_row], group_now[given.incidence.indices], given.n_items, given.n_groups
        ),
        grouping_of_group=inverse(groupings, len(groupings))[of_group[groups]],
        annotator_of_grouping=inverse(annotators, len(annotators))[by[groupings]],
        grouping_names=given.grouping_names[groupings],
        group_names=given.group_names[groups],
    )
    return Arrangement(given, ordered, given.items, items, annotators, groupings, groups)


def _arranged_labels(given: Labels, own: UInt64[np.ndarray, " items"] | None) -> Arrangement[Any]:
    nodes = _Nodes.of(
        (given.n_classes, lambda places: _joint(given.classes.take(places))),
        (given.n_items, lambda places: _joint(given.items.take(places))),
        (given.n_annotators, lambda places: _joint(given.annotators.take(places))),
    )
    label, item, annotator = nodes.start
    ends = (item + given.item, annotator + given.annotator, label + given.label)
    _, items, annotators = nodes.orders((Links.of(*ends),), {item: own})
    del ends  # as large as the labels
    ordered = replace(
        given,
        items=given.items.take(items),
        annotators=given.annotators.take(annotators),
        item=inverse(items, len(items))[given.item],
        annotator=inverse(annotators, len(annotators))[given.annotator],
    ).in_order()
    return Arrangement(None, ordered, given.items, items, annotators, NOTHING, NOTHING)


def _arranged_pairs(given: Pairs, own: UInt64[np.ndarray, " items"] | None) -> Arrangement[Pairs]:
    distinct, occasion = occasions(given)
    by, name = np.divmod(distinct, max(len(given.groupings), 1))
    nodes = _Nodes.of(
        (given.n_items, lambda places: _joint(given.items.take(places))),
        (given.n_annotators, lambda places: _joint(given.annotators.take(places))),
        (len(distinct), lambda places: _joint(given.annotators.take(by[places]), given.groupings.take(name[places]))),
    )
    item, annotator, grouping = nodes.start
    judged = (item + given.item_a, item + given.item_b, grouping + occasion)
    links = (
        Links.of(grouping + np.arange(len(distinct)), annotator + by),
        Links.of(*judged, roles=(0, 0, 1), colour=given.same),
    )
    items, annotators, groupings = nodes.orders(links, {item: own})
    place = inverse(items, len(items))
    ordered = replace(
        given,
        items=given.items.take(items),
        annotators=given.annotators.take(annotators),
        item_a=place[given.item_a],
        item_b=place[given.item_b],
        annotator=inverse(annotators, len(annotators))[given.annotator],
        grouping=inverse(groupings, len(groupings))[occasion],
        groupings=pd.RangeIndex(len(distinct)),
    ).in_order()
    return Arrangement(given, ordered, given.items, items, annotators, groupings, NOTHING)


def occasions(pairs: Pairs) -> tuple[Int[np.ndarray, " occasions"], Int[np.ndarray, " rows"]]:
    """Return the keys of the occasions of pairs, by annotator and grouping, and the occasion of each row."""
    keys = pairs.annotator.astype(np.int64) * max(len(pairs.groupings), 1) + pairs.grouping
    distinct, occasion = np.unique(keys, return_inverse=True)
    return distinct, occasion


@dataclass(frozen=True)
class _Nodes:
    """Nodes of several kinds, one kind after another; where nodes are alike, names of the first kind count first.

    start : first node of each kind.
    ranks : for each kind, a function from positions to ranks by name.
    """

    sizes: tuple[int, ...]
    start: tuple[int, ...]
    ranks: tuple[Ranks, ...]

    @classmethod
    def of(cls, *kinds: tuple[int, Ranks]) -> _Nodes:
        sizes = tuple(size for size, _ in kinds)
        start = np.cumsum([0, *sizes])[:-1]
        return cls(sizes, tuple(start.tolist()), tuple(ranks for _, ranks in kinds))

    def orders(
        self, links: Sequence[Links], own: dict[int, UInt64[np.ndarray, " items"] | None]
    ) -> list[Int[np.ndarray, " places"]]:
        """Return the nodes of each kind in canonical order; `own` holds initial colours, by the first of the nodes."""
        kind = np.repeat(np.arange(len(self.sizes)), self.sizes)
        colour = np.zeros(len(kind), dtype=np.uint64)
        for start, colours in own.items():
            if colours is not None:
                colour[start : start + len(colours)] = colours

        def ranks(nodes: np.ndarray) -> np.ndarray:
            of = int(kind[nodes[0]])
            return self.ranks[of](nodes - self.start[of])

        found = canonical_places(Structure(kind, colour, tuple(links)), ranks)
        parts = zip(self.start, self.sizes, self.ranks)
        return [_order(found[start : start + size], by_name) for start, size, by_name in parts]


def _order(place: Int[np.ndarray, " nodes"], ranks: Ranks) -> Int[np.ndarray, " nodes"]:
    """Return nodes by their position; those that share one by name."""
    order = np.argsort(place, kind="stable")
    same = np.diff(place[order]) == 0
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))[: len(order)]
    if len(tied):
        nodes = order[tied]
        order[tied] = nodes[np.lexsort((ranks(nodes), place[nodes]))]
    return order


def _joint(*names: Any) -> Int[np.ndarray, " places"]:
    """Return the rank of each position by a name, and by further names if that is equal."""
    keys = []
    for column in names:
        codes, distinct = pd.factorize(column if isinstance(column, pd.Index) else name_index(column))
        keys.append(inverse(order_of_names(pd.Index(distinct, tupleize_cols=False)), len(distinct))[codes])
    order = np.lexsort(keys[::-1])
    return inverse(order, len(order))
