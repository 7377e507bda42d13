"""Two studies brought together: the items that both have, in one order, and the people who sorted them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.analysis.names import join_names, quantify
from consilience.analysis.studies.clusters import number_annotators
from consilience.analysis.studies.togetherness import Togetherness
from consilience.annotations import Groupings, Labels, concat
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import plain
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError
from consilience.metrics.agreement import adjusted_rand

FEWEST_ITEMS = 3  # in common
MOST_ITEMS = 1000
FEWEST_PEOPLE = 2  # of a study
NAMED = 3  # in a sentence


@dataclass(frozen=True)
class TwoStudies:
    """Groupings of the items in common by the people who grouped at least two of them.

    studies : groupings of the same items in the same order.
    only : items that are in one study only, of each.
    partner : place among all people of the same person in the other study, -1 for people who took part once.
    notes : sentences on what was left out or taken for granted.
    """

    studies: tuple[Groupings, Groupings]
    only: tuple[pd.Index, pd.Index]
    partner: Int[np.ndarray, " people"]
    notes: list[str]

    @classmethod
    def of(cls, first: Any, second: Any, names: tuple[str, str], *, same_people: bool) -> TwoStudies:
        """Find the items and the people that can be compared.

        Raises InputError: the studies have too few items in common, or too few people who grouped them, or nobody took
        part in both though that was said.
        """
        notes = [_of_labels(names)] if isinstance(first, Labels) or isinstance(second, Labels) else []
        one, other = (as_groupings(study, None, "study_difference") for study in (first, second))
        other = _spelled_alike(one, other)
        seen = [study.items[(np.diff(study.incidence.indptr) > 0)] for study in (one, other)]
        common = seen[0][seen[0].isin(seen[1])]
        _require_items(common, seen, names)
        only = (seen[0][~seen[0].isin(common)], seen[1][~seen[1].isin(common)])
        studies, left_out = zip(*(_of_items(study, common) for study in (one, other)), strict=True)
        for name, study, lost in zip(names, studies, left_out, strict=True):
            if lost:
                people = quantify(lost, "annotator")
                notes.append(f"Left out of {name}: {people} with fewer than two of the items in common.")
            if study.n_annotators < FEWEST_PEOPLE:
                did = "one did" if study.n_annotators else "nobody did"
                raise InputError(
                    f"Two studies can be compared if at least {FEWEST_PEOPLE} annotators of each grouped two or more "
                    f"of the {len(common):,} items in common. In {name} {did}."
                )
        partner = _partners(studies, names, same_people=same_people, notes=notes)
        return cls(studies, only, partner, notes)

    @property
    def items(self) -> pd.Index:
        """The items in common, in the order of the first study."""
        return self.studies[0].items

    @property
    def n_people(self) -> tuple[int, int]:
        """Number of people of each study."""
        return self.studies[0].n_annotators, self.studies[1].n_annotators

    @property
    def first(self) -> Bool[np.ndarray, " people"]:
        """Whether each person, of both studies in turn, is of the first."""
        return np.repeat([True, False], self.n_people)

    @cached_property
    def both(self) -> Groupings:
        """All people as the annotators 0, 1, 2, … of one study."""
        return concat([number_annotators(study, start) for study, start in zip(self.studies, (0, self.n_people[0]))])

    @cached_property
    def table(self) -> Togetherness:
        """How often each person put each two items together."""
        return Togetherness.of(self.both)

    @cached_property
    def agreement(self) -> Float[np.ndarray, "people people"]:
        """Adjusted Rand index of each two people."""
        both = self.both
        return adjusted_rand(both.incidence, both.grouping_of_group, both.annotator_of_grouping, both.n_annotators)


def _spelled_alike(one: Groupings, other: Groupings) -> Groupings:
    """Return the second study with its items as text or numbers, as in the first, if that makes them meet."""
    if one.items.isin(other.items).any():
        return other
    by_text = {str(plain(name)): name for name in one.items}
    names = [by_text.get(str(plain(name)), name) for name in other.items]
    if len(set(names)) < len(names):
        return other
    return other.renumber_items(np.arange(len(names)), pd.Index(names, dtype=object))


def _require_items(common: pd.Index, seen: list[pd.Index], names: tuple[str, str]) -> None:
    if len(common) > MOST_ITEMS:
        raise InputError(
            f"Two studies can be compared on up to {MOST_ITEMS:,} items. They have {len(common):,} in common; restrict "
            "both to some of them."
        )
    if len(common) >= FEWEST_ITEMS:
        return
    found = f"{quantify(len(common), 'item')} in common"
    hint = "the names must be the same in both"
    if len(seen[0]) and len(seen[1]):
        stranger = next((name for name in seen[0] if name not in common), seen[0][0])
        near = near_spelling(stranger, seen[1])
        shown = f"{names[0]} has {plain(stranger)!r}, and {names[1]} {plain(seen[1][0])!r}"
        hint = f"{hint}: {shown}{'' if not near else '.' + near.rstrip('.')}"
    raise InputError(
        f"Two studies can be compared if they have at least {FEWEST_ITEMS} items in common; {hint}. Got {found}."
    )


def _of_items(study: Groupings, items: pd.Index) -> tuple[Groupings, int]:
    """Restrict a study to some items, and to the people who grouped at least two; count the others."""
    few = study.restrict(items=items)
    part = np.bincount(few.grouping_of_group, few.incidence.sum(0), few.n_groupings)
    most = np.zeros(few.n_annotators)
    np.maximum.at(most, few.annotator_of_grouping, part)
    kept = few.annotators[most >= 2]
    return few.restrict(annotators=kept), int(((most > 0) & (most < 2)).sum())


def _partners(
    studies: tuple[Groupings, ...], names: tuple[str, str], *, same_people: bool, notes: list[str]
) -> Int[np.ndarray, " people"]:
    one, other = (study.annotators.map(lambda name: str(plain(name))) for study in studies)
    place = other.get_indexer(one) if other.is_unique else np.full(len(one), -1)
    n_both, partner = int((place >= 0).sum()), np.full(len(one) + len(other), -1)
    if not same_people:
        if n_both and studies[0].annotators.inferred_type == "string":
            shared = [str(name) for name in one[place >= 0]]
            some = join_names(shared[:NAMED] if n_both <= NAMED else [*shared[:NAMED], f"{n_both - NAMED:,} more"])
            notes.append(
                f"Annotators of the same name are in both studies ({some}); they count as different people. If "
                "they are the same people, say so, and what each of them said is compared."
            )
        return partner
    if not n_both:
        raise InputError(
            f"The same people cannot be compared, since no annotator of {names[0]} (such as {plain(one[0])!r}) is "
            f"among those of {names[1]} (such as {plain(other[0])!r})."
        )
    here = np.flatnonzero(place >= 0)
    partner[here] = len(one) + place[here]
    partner[partner[here]] = here
    if 2 * n_both < len(partner):
        notes.append(
            f"{quantify(n_both, 'annotator')} took part in both studies; the others count as different people."
        )
    return partner


def _of_labels(names: tuple[str, str]) -> str:
    return (
        f"Labels of {names[0]} and {names[1]} are compared by which items share a label; the names of the labels do "
        "not count."
    )
