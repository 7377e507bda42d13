"""Held-out judgements: the annotations hidden from a model, and the same/different judgements that it has to predict.

Annotations are rows: memberships of groupings, labels, or judgements of pairs. Each row is in one fold. `kept` returns
the annotations without the rows of a fold, but with all items. Two items of one grouping are a judgement, "same" if
they are in one group; likewise two labels of one annotator.

| level | a fold is | its judgements |
|---|---|---|
| "groupings" | all groupings of some annotators | of every two of their items |
| "judgements", groupings and labels | some items of every grouping | of two items of which one or both are hidden |
| "judgements", pairs | some judgements of every annotator | themselves |
| "tags" | some items of every annotator | of two items of which one or both are hidden |

Of tags, what an annotator said of an item is one label, the set of tags: a tag held out alone would be an answer of no.

Decided here
------------
Repeated judgements of a pair by an annotator, on whatever occasion, and an annotator's repeated labels of an item or
memberships of an item in several groupings, are in the fold of the first and held out with it, so that a model never
predicts something it was fitted to. For the same reason all groupings of an annotator are held out together: people
repeat themselves, and who sorts twice at random but alike would be predicted from their other grouping. Only where
there are fewer annotators than folds are groupings of one in several folds.

A judgement belongs to one fold and is drawn once. If its two memberships are in different folds, it is assigned to one
of them at random. Rows are dealt to folds in turn within a grouping (within an annotator, for whole groupings and for
pairs), so that all folds have about equally many of each.

Annotators and groupings that have nothing left are dropped from the kept part. Groups remain even if they are empty:
their names are known, as in a study where an item is not yet sorted.

Standard errors have to treat dependent judgements as one block. Judgements of one grouping share items, and all
judgements of an annotator share the annotator's habits: they are one block. With fewer than ten annotators, blocks are
groupings; with fewer than ten of these, the part of a grouping that is in one fold. That is a compromise: all
judgements of a fold share its fitted model, which no block accounts for, and errors are slightly too small if the model
itself is unstable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.judgements import AnnotationRows, Judgements, draw
from consilience.annotations.memberships import incidence_of
from consilience.consensus.labels.tag_sets import answers_of
from consilience.errors import InputError

LEVELS = ("groupings", "judgements", "tags", "auto")
MANY = 50  # groupings from which whole ones are held out, even if each annotator gave one
FEWEST_BLOCKS = 10


@dataclass(frozen=True)
class HeldOut:
    """Annotations in folds, and a sample of the held-out judgements.

    level : {"groupings", "judgements", "tags"}
    fold_of_row : the fold in which each row is held out
    annotator, fold : annotator and fold of each judgement
    block : block of each judgement; those of one block count as dependent
    blocks : kind of the blocks: "annotators", "groupings" or "parts of groupings"
    n_possible : number of judgements that could have been drawn
    tags, answer_of_tag : labels as they are, if the annotations are sets of them, and the row of the set of each
    """

    annotations: Annotations
    level: str
    n_folds: int
    fold_of_row: Int[np.ndarray, " rows"]
    judgements: Judgements
    annotator: Int[np.ndarray, " judgements"]
    fold: Int[np.ndarray, " judgements"]
    block: Int[np.ndarray, " judgements"]
    blocks: str
    n_possible: int
    tags: Labels | None = None
    answer_of_tag: Int[np.ndarray, " tags"] | None = None

    def kept(self, fold: int) -> Annotations:
        """Return the annotations without those held out in a fold."""
        return without_rows(self.annotations, self.fold_of_row != fold)

    def kept_tags(self, fold: int) -> Labels | None:
        """Return the tags without the sets held out in a fold; None if the annotations are no tags."""
        if self.tags is None or self.answer_of_tag is None:
            return None
        return cast(Labels, without_rows(self.tags, self.fold_of_row[self.answer_of_tag] != fold))


def hold_out(
    annotations: Annotations,
    n_folds: int,
    level: str,
    max_pairs: int,
    rng: np.random.Generator,
    of_items: np.ndarray | None = None,
) -> HeldOut:
    """Divide annotations into folds and draw the judgements to predict.

    Order and names make no difference, except for items that neither annotations nor features distinguish. Raises
    InputError: there are fewer rows than folds, or no judgements, or the annotations are no labels, and to be tags.
    """
    if level == "tags":
        if not isinstance(annotations, Labels):
            raise InputError(f"level='tags' needs Labels. Got {type(annotations).__name__} instead.")
        answers, place = answers_of(annotations)
        held = hold_out(answers, n_folds, "judgements", max_pairs, rng, of_items)
        return replace(held, level=level, tags=annotations, answer_of_tag=place)
    rows = AnnotationRows.of(annotations, of_items)
    level = level_of(annotations, rows) if level == "auto" else level
    fold_of_row = _folds(annotations, rows, level, n_folds, rng)
    judgements, n_possible = draw(annotations, rows, max_pairs, rng)
    if not len(judgements.same):
        raise InputError("The annotations hold no judgement: no annotator grouped, labelled or judged two items.")
    is_first = rng.random(len(judgements.same)) < 0.5
    fold = fold_of_row[np.where(is_first, judgements.row_a, judgements.row_b)]
    annotator, occasion = rows.annotator[judgements.row_a], rows.occasion[judgements.row_a]
    block, blocks = _blocks(annotator, occasion, fold)
    return HeldOut(annotations, level, n_folds, fold_of_row, judgements, annotator, fold, block, blocks, n_possible)


def level_of(annotations: Annotations, rows: AnnotationRows) -> str:
    """Return the unit to hold out: groupings if most annotators gave several or there are many, else judgements."""
    if not isinstance(annotations, Groupings):
        return "judgements"
    occasions = pd.DataFrame({"annotator": rows.annotator, "grouping": rows.occasion}).drop_duplicates()
    each = occasions.groupby("annotator").size()
    return "groupings" if len(occasions) >= MANY or (len(each) and each.median() >= 2) else "judgements"


def without_rows(annotations: Annotations, kept: Bool[np.ndarray, " rows"]) -> Annotations:
    """Return annotations without some rows, and without annotators and groupings that are then empty."""
    found: Annotations
    if isinstance(annotations, Groupings):
        item, group = annotations.item_of_row[kept], annotations.incidence.indices[kept]
        incidence = incidence_of(item, group, annotations.n_items, annotations.n_groups)
        found = _without_empty(replace(annotations, incidence=incidence))
        left = annotations.annotator_of_group[group]
    elif isinstance(annotations, Labels):
        parts = {name: getattr(annotations, name)[kept] for name in ("item", "annotator", "label")}
        found, left = replace(annotations, **parts), parts["annotator"]
    elif isinstance(annotations, Pairs):
        names = ("item_a", "item_b", "annotator", "same", "grouping")
        parts = {name: getattr(annotations, name)[kept] for name in names}
        found, left = replace(annotations, **parts), parts["annotator"]
    else:
        raise InputError(f"Annotations must be Groupings, Pairs or Labels. Got {type(annotations).__name__}.")
    remaining = np.unique(left)
    if len(remaining) == found.n_annotators:
        return found
    return found.restrict(annotators=annotations.annotators[remaining])


def _without_empty(groupings: Groupings) -> Groupings:
    """Return the groupings that hold items."""
    of_row = groupings.grouping_of_group[groupings.incidence.indices]
    sizes = np.bincount(of_row, minlength=groupings.n_groupings)
    held, groups = np.flatnonzero(sizes), np.flatnonzero(sizes[groupings.grouping_of_group])
    return replace(
        groupings,
        annotator_of_grouping=groupings.annotator_of_grouping[held],
        grouping_names=groupings.grouping_names[held],
        grouping_of_group=np.searchsorted(held, groupings.grouping_of_group[groups]),
        group_names=groupings.group_names[groups],
        incidence=groupings.incidence[:, groups],
    )


def _folds(
    annotations: Annotations, rows: AnnotationRows, level: str, n_folds: int, rng: np.random.Generator
) -> Int[np.ndarray, " rows"]:
    """Return the fold of every row: folds in turn, in random order within a grouping or an annotator."""
    if level == "groupings":
        who, of_row = np.unique(rows.annotator, return_inverse=True)
        if len(who) >= n_folds:
            return np.argsort(np.argsort(rows.rank_of_annotator[who]))[of_row] % n_folds
        occasions, first, of_row = np.unique(rows.occasion, return_index=True, return_inverse=True)
        block, what = rows.annotator[first], "groupings"
        order, within = np.arange(len(occasions)), rows.rank_of_annotator[block]
    else:
        first, of_row, what = *_first_rows(annotations, rows), "rows"
        within = rows.rank_of_annotator[rows.annotator] if isinstance(annotations, Pairs) else rows.occasion
        within, order = within[first], of_row[rows.order[np.isin(rows.order, first)]]
    if len(order) < n_folds:
        raise InputError(f"{n_folds} folds need at least {n_folds} {what}. Got {len(order)}; lower n_folds.")
    chance = np.empty(len(order))
    chance[order] = rng.random(len(order))  # drawn in canonical order, which is not that of the rows
    fold = np.empty(len(order), dtype=np.intp)
    fold[np.lexsort([chance, within])] = np.arange(len(order)) % n_folds
    return fold[of_row]


def _first_rows(
    annotations: Annotations, rows: AnnotationRows
) -> tuple[Int[np.ndarray, " first"], Int[np.ndarray, " rows"]]:
    """Return the rows that are not repetitions, and for every row the place of the first that it repeats.

    Any further label, or membership in a grouping, of an item by the same annotator is a repetition, and any further
    judgement of a pair, on whatever occasion.
    """
    if isinstance(annotations, Labels):
        keys = [annotations.item, annotations.annotator]
    elif isinstance(annotations, Pairs):
        keys = [annotations.item_a, annotations.item_b, annotations.annotator]
    else:
        given = cast(Groupings, annotations)
        cell = given.item_of_row * np.int64(given.n_annotators) + rows.annotator
        _, first, cell_of_row = np.unique(cell, return_index=True, return_inverse=True)
        order = np.argsort(first)  # places of the first rows, in their order
        return first[order], np.argsort(order)[cell_of_row]
    new = np.append(True, np.logical_or.reduce([key[1:] != key[:-1] for key in keys]))[: len(rows.order)]
    return np.flatnonzero(new), np.cumsum(new) - 1  # rows are sorted by the keys


def _blocks(
    annotator: Int[np.ndarray, " judgements"],
    grouping: Int[np.ndarray, " judgements"],
    fold: Int[np.ndarray, " judgements"],
) -> tuple[Int[np.ndarray, " judgements"], str]:
    """Return the block of each judgement, and the kind of the blocks."""
    for keys, name in ((annotator, "annotators"), (grouping, "groupings")):
        found, block = np.unique(keys, return_inverse=True)
        if len(found) >= FEWEST_BLOCKS:
            return block, name
    _, block = np.unique(np.column_stack([grouping, fold]), axis=0, return_inverse=True)
    return block.ravel(), "parts of groupings"
