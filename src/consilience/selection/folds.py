"""Judgements held out: what is hidden from a model, and the same/different judgements that it then has to foresee.

Annotations are rows: memberships of groupings, labels, or judgements of pairs. Each row is in one fold. `kept` gives
the annotations without the rows of a fold, all items still there. Two items of one grouping are a judgement, "same" if
they are in one group; so are two labels of one annotator.

| level | a fold is | its judgements |
|---|---|---|
| "groupings" | whole groupings | of every two of their items |
| "judgements", groupings and labels | some items of every grouping | of two items of which one or both are hidden |
| "judgements", pairs | some judgements of every annotator | themselves |

Decided here
------------
What an annotator said again on the same occasion, of a pair or as a label of an item, is in the fold of what they said
first and hidden with it, so that a model foresees nothing that it was told.

A judgement belongs to one fold and is drawn once. Where its two memberships are in different folds, a coin says whose
it is. Folds take turns within a grouping (within an annotator, for whole groupings and for pairs), so that no fold has
much more of anybody than another.

Annotators from whom nothing is kept are dropped from the kept part, and so are groupings without items. Groups stay
whole: their names are known, as in a study where an item is not yet sorted.

Standard errors have to count what is dependent as one. Judgements of one grouping share items, and all judgements of an
annotator share the annotator's habits: they are one block. Where fewer than ten annotators are left to
vary, blocks are groupings; where these are fewer than ten, the part of a grouping that is in one fold. That is a
compromise: the model of a fold is shared by the judgements of the fold, which no block shows, and errors are a little
too small if the model itself is unsteady.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.judgements import Judgements, Rows, draw
from consilience.annotations.memberships import incidence_of
from consilience.errors import InputError

LEVELS = ("groupings", "judgements", "auto")
MANY = 50  # groupings, from which on whole ones are held out though nobody gave two
FEWEST_BLOCKS = 10


@dataclass(frozen=True)
class HeldOut:
    """Annotations in folds, and a sample of the judgements that are held out.

    Attributes
    ----------
    annotations : Annotations
    level : {"groupings", "judgements"}
    n_folds : int
    fold_of_row : the fold in which each row is hidden
    judgements : Judgements
    annotator, fold : of each judgement
    block : judgements that count as dependent
    blocks : what these are: "annotators", "groupings" or "parts of groupings"
    n_possible : judgements that could have been drawn
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

    def kept(self, fold: int) -> Annotations:
        """Return the annotations without what a fold hides."""
        return without_rows(self.annotations, self.fold_of_row != fold)


def hold_out(
    annotations: Annotations,
    n_folds: int,
    level: str,
    max_pairs: int,
    rng: np.random.Generator,
    of_items: np.ndarray | None = None,
) -> HeldOut:
    """Divide annotations into folds and draw the judgements to foresee.

    Neither order nor names make a difference, but for items that neither annotations nor features tell apart.

    Raises
    ------
    InputError
        There is too little to divide, or no judgement.
    """
    rows = Rows.of(annotations, of_items)
    level = level_of(annotations, rows) if level == "auto" else level
    fold_of_row = _folds(annotations, rows, level, n_folds, rng)
    judgements, n_possible = draw(annotations, rows, max_pairs, rng)
    if not len(judgements.same):
        raise InputError("The annotations hold no judgement: nobody said of two items whether they belong together.")
    coin = rng.random(len(judgements.same)) < 0.5
    fold = fold_of_row[np.where(coin, judgements.row_a, judgements.row_b)]
    annotator, occasion = rows.annotator[judgements.row_a], rows.occasion[judgements.row_a]
    block, blocks = _blocks(annotator, occasion, fold)
    return HeldOut(annotations, level, n_folds, fold_of_row, judgements, annotator, fold, block, blocks, n_possible)


def level_of(annotations: Annotations, rows: Rows) -> str:
    """What to leave out: whole groupings, where most annotators gave several or where there are many."""
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
    heard = np.unique(left)
    return found if len(heard) == found.n_annotators else found.restrict(annotators=annotations.annotators[heard])


def _without_empty(groupings: Groupings) -> Groupings:
    """Groupings without those that hold no item."""
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
    annotations: Annotations, rows: Rows, level: str, n_folds: int, rng: np.random.Generator
) -> Int[np.ndarray, " rows"]:
    """Fold of every row: they take turns, at random within a grouping or an annotator."""
    if level == "groupings":
        occasions, first, of_row = np.unique(rows.occasion, return_index=True, return_inverse=True)
        block, what = rows.annotator[first], "groupings"
        order, within = np.arange(len(occasions)), rows.rank_of_annotator[block]
    else:
        first, of_row, what = *_said_again(annotations, rows), "rows"
        within = rows.rank_of_annotator[rows.annotator] if isinstance(annotations, Pairs) else rows.occasion
        within, order = within[first], of_row[rows.order[np.isin(rows.order, first)]]
    if len(order) < n_folds:
        raise InputError(f"{n_folds} folds need as many {what} of annotations. Got {len(order)}; lower n_folds.")
    chance = np.empty(len(order))
    chance[order] = rng.random(len(order))
    fold = np.empty(len(order), dtype=np.intp)
    fold[np.lexsort([chance, within])] = np.arange(len(order)) % n_folds
    return fold[of_row]


def _said_again(annotations: Annotations, rows: Rows) -> tuple[Int[np.ndarray, " first"], Int[np.ndarray, " rows"]]:
    """Rows that say something for the first time; and for every row, which of them says it first.

    A further label of an item by the same annotator does so, whatever it is, and a further judgement of a pair on the
    same occasion.
    """
    everything = np.arange(len(rows.order))
    if isinstance(annotations, Labels):
        keys = [annotations.item, annotations.annotator]
    elif isinstance(annotations, Pairs):
        keys = [annotations.item_a, annotations.item_b, annotations.annotator, annotations.grouping]
    else:
        return everything, everything
    new = np.append(True, np.logical_or.reduce([key[1:] != key[:-1] for key in keys]))[: len(everything)]
    return np.flatnonzero(new), np.cumsum(new) - 1  # rows are sorted by the keys


def _blocks(
    annotator: Int[np.ndarray, " judgements"],
    grouping: Int[np.ndarray, " judgements"],
    fold: Int[np.ndarray, " judgements"],
) -> tuple[Int[np.ndarray, " judgements"], str]:
    """Judgements that count as dependent, and what they have in common."""
    for keys, name in ((annotator, "annotators"), (grouping, "groupings")):
        found, block = np.unique(keys, return_inverse=True)
        if len(found) >= FEWEST_BLOCKS:
            return block, name
    _, block = np.unique(np.column_stack([grouping, fold]), axis=0, return_inverse=True)
    return block.ravel(), "parts of groupings"
