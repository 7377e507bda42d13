"""Concatenation of annotations of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from consilience.annotations.base import Annotations
from consilience.annotations.groupings import Groupings
from consilience.annotations.labels import Labels, sorted_names
from consilience.annotations.memberships import Vocabulary
from consilience.annotations.names import Coded, Where, name_index, union
from consilience.annotations.pairs import Pairs
from consilience.errors import AnnotationError

Kind = TypeVar("Kind", bound=Annotations)


def concat(parts: Iterable[Kind]) -> Kind:
    """Concatenate annotations of one kind.

    Items, annotators and classes are those of all parts, in order of first appearance (classes are sorted if they can
    be). A grouping of one annotator that occurs in several parts is one grouping if it has the same groups in all of
    them, as in restrictions of the same annotations to different items; with different groups it is an error, since
    names of groups mean nothing outside their grouping.

    Parameters
    ----------
    parts : iterable of Annotations
        All `Groupings`, all `Pairs` or all `Labels`; at least one.

    Returns
    -------
    Annotations
        Of the same kind.

    Raises
    ------
    AnnotationError
        There are no parts, or parts of different kinds; items have names in some parts and are numbered rows in
        others; a grouping has different groups in two parts; or an item is in two groups of one grouping.

    Warns
    -----
    AnnotationWarning
        A membership or a label occurs in several parts, and counts once. Repeated judgements of pairs all count.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.annotations import concat
    >>> whole = Groupings.from_matrix([[0, 1], [0, 0], [1, 0]])
    >>> concat([whole[:1], whole[1:]]) == whole
    True
    """
    parts = list(parts)
    kinds = {type(part) for part in parts}
    if len(kinds) != 1 or not kinds <= set(JOIN):
        found = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
        raise AnnotationError(f"concat takes Groupings, Pairs or Labels, all of one kind. Got {found} instead.")
    return JOIN[kinds.pop()](parts)


def _join_groupings(parts: list[Groupings]) -> Groupings:
    items, annotators = union(part.items for part in parts), union(part.annotators for part in parts)
    groups = _groups_of_all(parts)
    keys = [(*key, name) for key, names in groups.items() for name in names]
    vocabulary = Vocabulary(
        annotators=annotators,
        annotator_of_grouping=annotators.get_indexer(name_index([annotator for annotator, _ in groups])),
        grouping_names=name_index([name for _, name in groups]).to_numpy(object),
        grouping_of_group=np.repeat(np.arange(len(groups)), [len(names) for names in groups.values()]),
        group_names=name_index([name for *_, name in keys]).to_numpy(object),
    )
    item = np.concatenate([items.get_indexer(part.items)[part.item_of_row] for part in parts])
    group = np.concatenate([part.vocabulary.place_in(keys)[part.incidence.indices] for part in parts])
    return Groupings.of_codes(Coded(item, items), group, vocabulary, _all_named(parts), _row_of_part(parts))


def _groups_of_all(parts: list[Groupings]) -> dict[tuple[Any, Any], tuple[Any, ...]]:
    """Return the names of the groups of each (annotator, grouping)."""
    groups: dict[tuple[Any, Any], tuple[Any, ...]] = {}
    for part in parts:
        starts = np.searchsorted(part.grouping_of_group, np.arange(1, part.n_groupings))
        for names, (annotator, grouping) in zip(np.split(part.group_names, starts), part.vocabulary.grouping_keys()):
            known = groups.setdefault((annotator, grouping), tuple(names))
            if set(known) != set(names):
                raise AnnotationError(
                    f"The grouping {grouping!r} of the annotator {annotator!r} has different groups in two parts, so "
                    "these are different groupings; give them different names."
                )
    return groups


def _join_pairs(parts: list[Pairs]) -> Pairs:
    items, annotators = union(part.items for part in parts), union(part.annotators for part in parts)
    groupings = union(part.groupings for part in parts)
    return Pairs(
        items=items,
        annotators=annotators,
        named=_all_named(parts),
        item_a=np.concatenate([items.get_indexer(part.items)[part.item_a] for part in parts]),
        item_b=np.concatenate([items.get_indexer(part.items)[part.item_b] for part in parts]),
        annotator=np.concatenate([annotators.get_indexer(part.annotators)[part.annotator] for part in parts]),
        same=np.concatenate([part.same for part in parts]),
        grouping=np.concatenate([groupings.get_indexer(part.groupings)[part.grouping] for part in parts]),
        groupings=groupings,
    ).in_order()


def _join_labels(parts: list[Labels]) -> Labels:
    items, annotators = union(part.items for part in parts), union(part.annotators for part in parts)
    classes = parts[0].classes
    if any(not part.classes.equals(classes) for part in parts):
        classes = sorted_names(union(part.classes for part in parts))
    return Labels(
        items=items,
        annotators=annotators,
        named=_all_named(parts),
        classes=classes,
        item=np.concatenate([items.get_indexer(part.items)[part.item] for part in parts]),
        annotator=np.concatenate([annotators.get_indexer(part.annotators)[part.annotator] for part in parts]),
        label=np.concatenate([classes.get_indexer(part.classes)[part.label] for part in parts]),
        ordered=all(part.ordered and part.classes.equals(classes) for part in parts),
    ).in_order(_row_of_part(parts))


def _all_named(parts: list[Any]) -> bool:
    """Whether the items of all parts have names.

    Raises AnnotationError: items have names in some parts but not in others.
    """
    named = [part.named for part in parts]
    if any(named) and not all(named):
        raise AnnotationError(
            f"The items of part {named.index(True)} have names, but those of part {named.index(False)} are numbered "
            "rows, so they cannot be joined by name; name them: from_matrix(…, items=…)."
        )
    return all(named)


def _row_of_part(parts: list[Any]) -> Where:
    starts = np.cumsum([0] + [part.n_rows for part in parts])

    def where(row: int) -> str:
        part = int(np.searchsorted(starts, row, side="right")) - 1
        return f"row {row - starts[part]} of part {part}"

    return where


JOIN: dict[type, Callable[[list[Any]], Any]] = {Groupings: _join_groupings, Pairs: _join_pairs, Labels: _join_labels}
