"""Standard names: names of groups that mean the same, merged by spelling, form or cards, and corrected by hand.

People who sort the same things rarely use the same words. Names are merged in three steps, the first of which that
merges two names is given as the reason:

- same spelling: case, accents, blanks and punctuation do not count;
- ending, article, conjunction, word order, one letter: they differ in the endings of words, as a singular and a plural
  do (English, Romance -s, Greek), in an article before them, an "and" between words, the order of their words, or, in
  seven letters or more, one letter; and the items under them overlap;
- same items: at least three people used each, and put nearly the same items under them; not if half of the people
  wrote several words with ; or , between, which describe items and do not mean the same.

Two names that one person used for two groups are never merged by the last two steps: that person tells them apart. The
overlap of two names is that of their profiles, the share of the people who used a name that put each item under it: the
sum of the smaller shares over that of the larger ones. In steps two and three, all names that are merged into one must
overlap pairwise.

The thresholds were chosen on one card sort and looked at on another; ``tools/name_thresholds.py`` measures them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.analysis.folding import fold_name, has_accents
from consilience.analysis.name_corrections import corrections_of, require_known
from consilience.analysis.names import as_text
from consilience.analysis.written_names import MergedNames, WrittenNames, count_uses, tell_forms_apart
from consilience.annotations import Groupings, Labels
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import MISSING

__all__ = ["StandardNames", "standard_names"]
SPELLING, FORM, ITEMS, FILE = "same spelling", "form", "same items", "by file"
ACCENTED = 2  # people who wrote a name with accents, from which its other spellings are shown with them
ITSELF, DROPPED = "as written", "left out by file"


@dataclass(frozen=True)
class StandardNames:
    """The standard name of each group, and how far people agree on the items under each.

    Attributes
    ----------
    grid : DataFrame
        A row for each name as people wrote it: `name`; `standard`, its standard name, blank if the name was left out;
        `why` it has that standard name; `n_annotators` who used it, `n_items` that they put under it. Names of the
        commonest standard name come first.
    names : Index
        The standard names, those of most people first.
    code_of_group : ndarray of int, shape (n_groups,)
        Place of each group's standard name; -1 for groups without a name, such as numbered ones.
    counts : sparse array, shape (n_items, n_names)
        How many people put the item under the name.
    """

    grid: pd.DataFrame
    names: pd.Index
    code_of_group: Int[np.ndarray, " groups"]
    items: pd.Index
    counts: csr_array
    n_annotators: Int[np.ndarray, " names"]
    n_annotators_of_item: Int[np.ndarray, " items"]

    @cached_property
    def placements(self) -> pd.DataFrame:
        """The results matrix: how many people put each item under each name, items in rows and names in columns."""
        return pd.DataFrame(self.counts.toarray(), self.items.rename("item"), self.names)

    @cached_property
    def of_names(self) -> pd.DataFrame:
        """Figures of each standard name.

        Indexed by name: `n_names` merged into it, `n_annotators` who used it, `n_items` that anybody put under it, and
        `agreement`, the mean over these items of the share of its people who put the item under it; NaN if a single
        person used it.
        """
        counts = self.placements.to_numpy()
        n_items = (counts > 0).sum(0)
        possible = n_items * self.n_annotators
        agreement = np.divide(counts.sum(0), possible, out=np.full(len(self.names), np.nan), where=possible > 0)
        merged = self.grid["standard"].value_counts().reindex(self.names, fill_value=0)
        return pd.DataFrame(
            {
                "n_names": merged.to_numpy(),
                "n_annotators": self.n_annotators,
                "n_items": n_items,
                "agreement": np.where(self.n_annotators > 1, agreement, np.nan),
            },
            index=self.names,
        )

    @cached_property
    def of_items(self) -> pd.DataFrame:
        """Figures of each item.

        Indexed by item: its commonest standard name, `name`, those of as many people joined by "; ", None if its lead
        is no more than chance gives; `n_annotators` who put it into a group with a name; `agreement`, the share of them
        who put it under the commonest; `n_names` under which anybody put it.

        The difference of two equally common counts has about the standard deviation of the root of their sum: a name
        leads if it is ahead of the next by more.
        """
        counts, people = self.placements.to_numpy(), self.n_annotators_of_item
        has_name = people > 0
        most = counts.max(1, initial=0)
        is_first = counts == most[:, None]
        following = np.where(is_first, 0, counts).max(1, initial=0)
        leads = most - following > np.sqrt(most + following)
        names = [
            "; ".join(map(as_text, self.names[mine])) if ahead else None
            for mine, ahead in zip(is_first, leads, strict=True)
        ]
        return pd.DataFrame(
            {
                "name": pd.Series(names, self.placements.index, dtype=object),
                "n_annotators": people,
                "agreement": np.divide(most, people, out=np.full(len(people), np.nan), where=has_name),
                "n_names": (counts > 0).sum(1),
            },
            index=self.placements.index,
        )

    def renamed(self, groupings: Groupings) -> Groupings:
        """Return the groupings with the standard name of each group; names that were left out become blank.

        Unlike elsewhere, several groups of one grouping may have the same name.
        """
        left_out = set(self.grid.loc[self.grid["standard"] == "", "name"])
        found = [
            self.names[code] if code != MISSING else "" if as_text(name) in left_out else name
            for code, name in zip(self.code_of_group.tolist(), groupings.group_names, strict=True)
        ]
        names = np.empty(len(found), dtype=object)
        names[:] = found
        return replace(groupings, group_names=names)


def standard_names(groupings: Any, corrections: Any = None) -> StandardNames:
    """Merge names of groups that mean the same, and count which items people put under each.

    Names are merged if they differ in case, accents, blanks or punctuation; if they are a singular and a plural of
    English, Greek or a Romance -s, differ in an article before them, in an "and" between words, in the order of words,
    or in one of seven letters or more, and the items under them overlap; or if at least three people used each and put
    nearly the same items under them (an overlap of 0.8 of the shares of people for each item), unless half of the
    people wrote several words with ; or , between, as in free sorts with words. The last two never merge
    names that one person used for different groups. Numbers, names that end in a number and single letters are taken
    for groups without a name.

    Parameters
    ----------
    groupings : Groupings or Labels
        Names of labels, which all annotators share, are not merged.
    corrections : dict or Series from names to standard names, or DataFrame with columns name and standard, optional
        Names as people wrote them, each with the standard name to give it; blank to take it for no name. A row for a
        name into which others were merged moves those too, and any row moves other spellings of the name, unless they
        have rows of their own. The `grid`, edited, is such a table.

    Returns
    -------
    StandardNames

    Raises
    ------
    InputError
        Nobody gave a group a name in the corrections; a name has two standard names there, or none is given; there are
        corrections of labels; or the annotations are Pairs.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import standard_names
    >>> groupings = Groupings.from_matrix(
    ...     [["Mammals", "mammal", "Zoo"], ["Mammals", "mammal", "Zoo"], ["Birds", "birds ", "Sky"]],
    ...     items=["cat", "dog", "owl"], annotators=["Ann", "Bo", "Cy"],
    ... )
    >>> names = standard_names(groupings, {"Sky": "Birds"})
    >>> names.grid[["name", "standard", "why"]]
          name standard            why
    0    Birds    Birds     as written
    1    birds    Birds  same spelling
    2      Sky    Birds        by file
    3  Mammals  Mammals     as written
    4   mammal  Mammals         ending
    5      Zoo      Zoo     as written
    >>> names.placements.rename_axis(None)
    name  Birds  Mammals  Zoo
    cat       0        2    1
    dog       0        2    1
    owl       3        0    0
    """
    changes = corrections_of(corrections)
    if isinstance(groupings, Labels):
        require_known(changes, ())
        return _of_labels(groupings)
    given = as_groupings(groupings, None, "standard_names")
    written = WrittenNames.of(given)
    require_known(changes, written.texts)
    unit = written.merged()
    standard, why = _with_machine(written, unit)
    if changes:
        standard, why = _apply_corrections(written, standard, why, changes)
    return _count_people(given, written, standard, why)


def written_names(groupings: Groupings) -> set[str]:
    """Return the names of groups as people wrote them, without numbers and the like."""
    return set(WrittenNames.of(groupings).texts)


def _with_machine(written: WrittenNames, merged: MergedNames) -> tuple[list[str], list[str]]:
    """Return the standard name of each name, the commonest it was merged with, and why.

    Of the spellings of that one, the commonest that has accents, if two people wrote it so.
    """
    here = np.arange(len(written.texts))
    head = _prefer_accents(written, merged)[merged.items]
    same = [here == head, merged.spelling == merged.spelling[head], merged.form == merged.form[head]]
    why = np.select(same, [ITSELF, SPELLING, FORM], ITEMS).tolist()
    for name in np.flatnonzero(np.array(why) == FORM).tolist():
        why[name] = tell_forms_apart(written.folds[name], written.folds[head[name]])
    return [written.texts[place] for place in head], why


def _prefer_accents(written: WrittenNames, merged: MergedNames) -> Int[np.ndarray, " names"]:
    """Return for each name the spelling to show for it: the commonest with accents, else the name itself."""
    shown = np.arange(len(written.texts))
    for name in reversed(range(len(written.texts))):  # the commonest, which come first, have the last word
        text = written.texts[name]
        if written.n_annotators[name] >= ACCENTED and has_accents(text) and not text.isupper():
            shown[merged.spelling[name]] = name
    return shown


def _apply_corrections(
    written: WrittenNames, standard: list[str], why: list[str], changes: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Apply corrections: to the names with which one was merged, to its other spellings, to itself; the last counts."""
    known = set(written.texts)
    implied = {name: name for name in changes.values() if name in known and name not in changes}
    of_standard = {**changes, **implied}
    of_fold: dict[str, str] = {}
    for name, to in of_standard.items():
        of_fold.setdefault(fold_name(name), to)
    found, reasons = [], []
    for name, fold, machine, reason in zip(written.texts, written.folds, standard, why, strict=True):
        to = of_standard.get(name, of_fold.get(fold, of_standard.get(machine, machine)))
        found.append(to)
        reasons.append(reason if to == machine else ITSELF if to == name else FILE if to else DROPPED)
    return found, reasons


def _count_people(groupings: Groupings, written: WrittenNames, standard: list[str], why: list[str]) -> StandardNames:
    """Count people, and order standard names by them."""
    grid = pd.DataFrame(
        {
            "name": pd.Series(written.texts, dtype=object),
            "standard": pd.Series(standard, dtype=object),
            "why": pd.Series(why, dtype=object),
            "n_annotators": written.n_annotators,
            "n_items": written.n_items,
        }
    )
    found = sorted(set(standard) - {""})
    place = {name: number for number, name in enumerate(found)} | {"": MISSING}
    of_name = np.array([*(place[name] for name in standard), MISSING])
    code = of_name[written.code_of_group]
    counts, by = count_uses(groupings, code, len(found))
    people = np.asarray(by.sum(1)).astype(int)
    order = np.argsort(-people, kind="stable")
    rank = np.append(np.argsort(order), MISSING)  # the inverse of the order, and at -1, the place of no name, none
    of_standard = {name: int(rank[place[name]]) for name in found} | {"": len(found)}
    grid["rank"] = [of_standard[name] for name in standard]
    grid = grid.sort_values(["rank"], kind="stable", ignore_index=True).drop(columns="rank")
    names = pd.Index(found, dtype=object, name="name").take(order)
    return StandardNames(
        grid,
        names,
        np.asarray(rank[code]),
        groupings.items,
        csr_array(counts[:, order]),
        people[order],
        _people_of_items(groupings, code),
    )


def _people_of_items(groupings: Groupings, code: Int[np.ndarray, " groups"]) -> Int[np.ndarray, " items"]:
    """Count the people who put each item into a group with a name."""
    counts, _ = count_uses(groupings, np.where(code == MISSING, MISSING, 0), 1)
    return np.asarray(counts.toarray()[:, 0])


def _of_labels(labels: Labels) -> StandardNames:
    """Count the people who gave each label to each item; no names are merged."""
    item, label = labels.item, labels.label
    rows = np.unique(np.column_stack([item, label, labels.annotator]), axis=0)
    counts = np.zeros((labels.n_items, len(labels.classes)), dtype=int)
    np.add.at(counts, (rows[:, 0], rows[:, 1]), 1)
    people = np.bincount(np.unique(rows[:, 1:], axis=0)[:, 0], minlength=len(labels.classes))
    order = np.argsort(-people, kind="stable")
    names = labels.classes.take(order).rename("name")
    grid = pd.DataFrame(
        {
            "name": names,
            "standard": names,
            "why": ITSELF,
            "n_annotators": people[order],
            "n_items": (counts > 0).sum(0)[order],
        }
    ).reset_index(drop=True)
    of_item = np.bincount(np.unique(rows[:, [0, 2]], axis=0)[:, 0], minlength=labels.n_items)
    return StandardNames(
        grid, names, np.zeros(0, dtype=int), labels.items, csr_array(counts[:, order]), people[order], of_item
    )
