"""The choice of questions: which items to ask about next, and whom."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.errors import InputError


def choose_questions(
    value: Float[np.ndarray, "items annotators"],
    allowed: Bool[np.ndarray, "items annotators"],
    at_random: Bool[np.ndarray, " questions"],
    rng: np.random.Generator,
    most_each: int | None = None,
) -> Int[np.ndarray, "questions 2"]:
    """Choose item and annotator of questions about different items: of the highest value, and at random.

    Raises InputError: there are not so many items left, or so many questions for these annotators.

    value : of a label of each item by each annotator; ties are broken at random.
    allowed : whether the annotator may be asked about the item.
    at_random : whether each question is drawn at random, with equal chances of all items that are allowed.
    rng : numpy Generator
    most_each : most questions to one annotator.
    """
    n_items, n_annotators = allowed.shape
    most = n_items if most_each is None else most_each
    left = np.full(n_annotators, most)
    by_value = np.lexsort((rng.random(value.size), -value.ravel()))
    by_chance = _random_order(n_items, n_annotators, rng)
    chosen = np.empty((len(at_random), 2), dtype=int)
    free = allowed.copy()
    for order, places in ((by_value, np.flatnonzero(~at_random)), (by_chance, np.flatnonzero(at_random))):
        taken = _take_first(np.column_stack(np.divmod(order, n_annotators)), free, left, len(places))
        if len(taken) < len(places):
            n_more = int((most - left).sum())
            raise InputError(
                f"Only {n_more} of {len(at_random)} questions can be asked: a call asks about an item once, and nobody "
                "about an item again. Ask for fewer, or other annotators."
            )
        chosen[places] = taken
    return chosen


def _random_order(n_items: int, n_annotators: int, rng: np.random.Generator) -> Int[np.ndarray, " pairs"]:
    """Pairs of item and annotator: items in random order, and for each the annotators in random order."""
    of_item = np.repeat(rng.permutation(n_items), n_annotators)
    annotators = rng.random((n_items, n_annotators)).argsort(axis=1)
    return of_item * n_annotators + annotators.ravel()


def _take_first(
    pairs: Int[np.ndarray, "pairs 2"],
    free: Bool[np.ndarray, "items annotators"],
    left: Int[np.ndarray, " annotators"],
    number: int,
) -> Int[np.ndarray, "taken 2"]:
    """Take the first pairs that are free, no item twice; mark what they use up in `free` and `left`."""
    taken: list[tuple[int, int]] = []
    for item, annotator in pairs[free[pairs[:, 0], pairs[:, 1]]]:
        if len(taken) == number:
            break
        if left[annotator] and free[item, annotator]:
            taken.append((item, annotator))
            left[annotator] -= 1
            free[item] = False
    return np.array(taken, dtype=int).reshape(-1, 2)
