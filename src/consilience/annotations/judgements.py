"""Same/different judgements implied by annotations: their rows in an order that depends only on content, and samples.

Two items of one grouping are a judgement, "same" if they are in one group; so are two labels of one annotator.

Decided here
------------
A grouping of m items implies m (m - 1) / 2 judgements, too many to list. They are numbered instead, "same" and
"different" separately, and numbers are drawn. The two kinds are drawn in proportion to their numbers, so that
no weights are needed, and the share of "same" in a sample is that in the whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.canonical import arrange, occasions
from consilience.annotations.names import inverse
from consilience.errors import InputError


@dataclass(frozen=True)
class AnnotationRows:
    """Rows of annotations, with their annotators and occasions, and their canonical order.

    annotator : annotator of each row
    occasion : number of the grouping or occasion, in canonical order; all rows of one are by one annotator
    order : the rows by occasion, then by item, whatever their original order
    rank_of_item, rank_of_annotator : their ranks in canonical order
    """

    annotator: Int[np.ndarray, " rows"]
    occasion: Int[np.ndarray, " rows"]
    order: Int[np.ndarray, " rows"]
    rank_of_item: Int[np.ndarray, " items"]
    rank_of_annotator: Int[np.ndarray, " annotators"]

    @classmethod
    def of(cls, annotations: Annotations, of_items: np.ndarray | None = None) -> AnnotationRows:
        """Read the rows of annotations of any kind; the order of items also depends on their features, if given."""
        if isinstance(annotations, Labels):
            annotations = annotations.to_groupings()  # whose rows are in the same order, except within a cell
        if not isinstance(annotations, Groupings | Pairs):
            raise InputError(f"Annotations must be Groupings, Pairs or Labels. Got {type(annotations).__name__}.")
        arranged = arrange(annotations, of_items)
        item, occasion = (inverse(order, len(order)) for order in (arranged.items, arranged.groupings))
        if isinstance(annotations, Groupings):
            grouping = annotations.grouping_of_group[annotations.incidence.indices]
            annotator, of_row = annotations.annotator_of_grouping[grouping], occasion[grouping]
            keys = [item[annotations.item_of_row]]
        else:
            annotator, of_row = annotations.annotator, occasion[occasions(annotations)[1]]
            a, b = item[annotations.item_a], item[annotations.item_b]
            keys = [np.maximum(a, b), np.minimum(a, b)]
        by = inverse(arranged.annotators, len(arranged.annotators))
        return cls(annotator, of_row, np.lexsort([*keys, of_row]), item, by)


@dataclass(frozen=True)
class Judgements:
    """Same/different judgements: positions of items, and rows `row_a` and `row_b` that imply them (equal for pairs)."""

    item_a: Int[np.ndarray, " judgements"]
    item_b: Int[np.ndarray, " judgements"]
    row_a: Int[np.ndarray, " judgements"]
    row_b: Int[np.ndarray, " judgements"]
    same: Bool[np.ndarray, " judgements"]


def draw(
    annotations: Annotations, rows: AnnotationRows, max_pairs: int, rng: np.random.Generator
) -> tuple[Judgements, int]:
    """Draw at most `max_pairs` judgements, "same" and "different" in proportion; also return how many there are."""
    if isinstance(annotations, Pairs):
        same = annotations.same[rows.order]
        chosen = [np.flatnonzero(same), np.flatnonzero(~same)]
        numbers = _numbers([len(part) for part in chosen], max_pairs, rng)
        row = rows.order[np.concatenate([part[number] for part, number in zip(chosen, numbers)])]
        a, b = annotations.item_a[row], annotations.item_b[row]
        return Judgements(a, b, row, row, annotations.same[row]), annotations.n_rows
    groupings = annotations.to_groupings() if isinstance(annotations, Labels) else annotations
    if not isinstance(groupings, Groupings):
        raise InputError(f"Annotations must be Groupings, Pairs or Labels. Got {type(annotations).__name__}.")
    order, first_of_group, first_of_grouping = _sort_rows(groupings, rows)
    place = np.arange(len(order))
    counts = [place - first_of_group, first_of_group - first_of_grouping]  # earlier rows of the group; of other groups
    totals = [int(count.sum()) for count in counts]
    firsts = [first_of_group, first_of_grouping]
    pairs = [
        _decode(number, count, first) for number, count, first in zip(_numbers(totals, max_pairs, rng), counts, firsts)
    ]
    early, late = (order[np.concatenate(side)] for side in zip(*pairs))
    same = np.repeat([True, False], [len(pair[0]) for pair in pairs])
    item = groupings.item_of_row
    return Judgements(item[early], item[late], early, late, same), sum(totals)


def _decode(
    number: Int[np.ndarray, " drawn"], count: Int[np.ndarray, " rows"], first: Int[np.ndarray, " rows"]
) -> tuple[Int[np.ndarray, " drawn"], Int[np.ndarray, " drawn"]]:
    """Return both rows of numbered pairs: position p forms ``count[p]`` pairs, with ``first[p]`` and those after it.

    The pairs of a position are numbered after those of earlier positions.
    """
    ends = np.cumsum(count)
    late = np.searchsorted(ends, number, side="right")
    return first[late] + number - (ends[late] - count[late]), late


def _sort_rows(groupings: Groupings, rows: AnnotationRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows by grouping, group and item, and where the group and the grouping of each row begin.

    Groups are ordered by their first items, since their names mean nothing.
    """
    item, group = rows.rank_of_item[groupings.item_of_row], groupings.incidence.indices
    earliest = np.full(groupings.n_groups, groupings.n_items)
    np.minimum.at(earliest, group, item)
    order = np.lexsort([item, earliest[group], rows.occasion])
    return order, _starts(group[order]), _starts(rows.occasion[order])


def _starts(keys: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
    """Return the position of the first of each run of equal keys."""
    new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    return np.maximum.accumulate(np.where(new, np.arange(len(keys)), 0))


def _numbers(totals: list[int], most: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw at most this many numbers without repeats, of each kind in proportion to its total."""
    total = sum(totals)
    if total <= most:
        return [np.arange(n) for n in totals]
    # in proportion, but neither kind more than there are
    first = min(max(round(most * totals[0] / total), most - totals[1]), totals[0])
    sizes = [first, most - first]
    return [np.sort(rng.choice(n, size, replace=False, shuffle=False)) for n, size in zip(totals, sizes)]
