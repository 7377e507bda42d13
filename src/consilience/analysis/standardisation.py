"""Standard names: names of groups that mean the same, merged by spelling, form or cards, and corrected by hand.

People who sort the same things rarely use the same words. Names are merged in three steps, the first of which that
merges two names is given as the reason:

- same spelling: case, accents, blanks and punctuation do not count;
- plural, article or one letter: they differ in the endings of a singular and a plural (English, Romance -s, Greek), in
  an article before them, or, if they have seven letters or more, in one letter; and the items under them overlap;
- same items: at least three people used each, and put nearly the same items under them.

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
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.analysis.folding import fold_name, is_name, one_letter_less, singular, without_article
from consilience.analysis.name_corrections import corrections_of, require_known
from consilience.analysis.names import as_text
from consilience.annotations import Groupings, Labels
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import MISSING

__all__ = ["StandardNames", "standard_names"]

SAME_ITEMS = 0.8  # least overlap of names that are merged by their items
FEWEST = 3  # people who used such a name
SAME_FORM = 0.5  # least part of the items of the rarer of two forms of a name that is also under the other
LONG = 7  # letters of names that may differ in one of them
MOST_PROFILES = 20_000_000  # names times items above which names are merged by their spelling alone
SPELLING, NUMBER, ARTICLE, LETTER = "same spelling", "plural", "article", "one letter"
ITEMS, FILE = "same items", "by file"
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

        Indexed by item: its commonest standard name, `name`, None if nobody named its group; `n_annotators` who put it
        into a group with a name; `agreement`, the share of them who put it under the commonest; `n_names` under which
        anybody put it.
        """
        counts, people = self.placements.to_numpy(), self.n_annotators_of_item
        has_name = people > 0
        most = counts.max(1, initial=0)
        first = counts.argmax(1) if counts.shape[1] else np.zeros(len(counts), dtype=int)
        names = [self.names[place] if known else None for place, known in zip(first, has_name, strict=True)]
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
    English, Greek or a Romance -s, differ in an article before them, or in one of seven letters or more, and the items
    under them overlap; or if at least three people used each and put nearly the same items under them (an overlap of
    0.8 of the shares of people for each item). The last two never merge names that one person used for different
    groups. Numbers, names that end in a number and single letters are taken
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
    1      Sky    Birds        by file
    2    birds    Birds  same spelling
    3  Mammals  Mammals     as written
    4   mammal  Mammals         plural
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
    written = _Written.of(given)
    require_known(changes, written.texts)
    unit = written.merged()
    standard, why = _with_machine(written, unit)
    if changes:
        standard, why = _apply_corrections(written, standard, why, changes)
    return _count_people(given, written, standard, why)


def written_names(groupings: Groupings) -> set[str]:
    """Return the names of groups as people wrote them, without numbers and the like."""
    return set(_Written.of(groupings).texts)


@dataclass(frozen=True)
class _Uses:
    """Who used which name, and for which items: each person, name and item once."""

    n_annotators: Int[np.ndarray, " names"]
    profile: Float[np.ndarray, "names items"]
    by: csr_array  # (names, annotators): whether the annotator used the name

    @classmethod
    def in_groupings(cls, groupings: Groupings, name_of_group: Int[np.ndarray, " groups"], n_names: int) -> _Uses:
        """Read them off groupings whose groups have these names; -1 for none."""
        counts, by = _counts(groupings, name_of_group, n_names)
        people = np.asarray(by.sum(1)).astype(int)
        return cls(people, counts.T.toarray() / np.maximum(people, 1)[:, None], by)

    def told_apart(self) -> Bool[np.ndarray, "names names"]:
        """Whether one person used both of two names."""
        return (self.by @ self.by.T).toarray() > 0

    def overlap(self) -> Float[np.ndarray, "names names"]:
        """Sum of the smaller shares of people over items, as a part of the sum of the larger ones."""
        smaller = np.stack([np.minimum(mine, self.profile).sum(1) for mine in self.profile])
        total = self.profile.sum(1)
        larger = total[:, None] + total - smaller
        return np.divide(smaller, larger, out=np.zeros_like(smaller), where=larger > 0)

    def containment(self, name: Any, other: Any) -> float:
        """Sum of the smaller shares of people over items, as a part of the total of the name with less."""
        one, two = self.profile[name], self.profile[other]
        return float(np.minimum(one, two).sum() / min(one.sum(), two.sum()))

    def of(self, names: Int[np.ndarray, " chosen"]) -> _Uses:
        """Return the uses of some of the names."""
        return _Uses(self.n_annotators[names], self.profile[names], csr_array(self.by[names]))


def _counts(
    groupings: Groupings, name_of_group: Int[np.ndarray, " groups"], n_names: int
) -> tuple[csr_array, csr_array]:
    """Count the people who put each item under each name (items, names), and say who used which name."""
    group = groupings.incidence.indices
    rows = np.column_stack([groupings.item_of_row, name_of_group[group], groupings.annotator_of_group[group]])
    item, name, _ = np.unique(rows[rows[:, 1] != MISSING], axis=0).T
    counts = csr_array((np.ones(len(item), dtype=np.int64), (item, name)), shape=(groupings.n_items, n_names))
    filled = np.unique(rows[rows[:, 1] != MISSING][:, 1:], axis=0)
    shape = (n_names, groupings.n_annotators)
    return counts, csr_array((np.ones(len(filled), dtype=np.int64), (filled[:, 0], filled[:, 1])), shape=shape)


@dataclass(frozen=True)
class _Written:
    """Names as people wrote them, in one line; those of most people first.

    Attributes
    ----------
    texts, folds : the names, and what the spellings of each share.
    code_of_group : place of each group's name; -1 if it has none.
    n_annotators : who used each name.
    """

    groupings: Groupings
    texts: list[str]
    folds: list[str]
    code_of_group: Int[np.ndarray, " groups"]
    n_annotators: Int[np.ndarray, " names"]
    n_items: Int[np.ndarray, " names"]

    @classmethod
    def of(cls, groupings: Groupings) -> _Written:
        code, texts = pd.factorize(np.array([as_text(name) for name in groupings.group_names], dtype=object))
        counts, by = _counts(groupings, code, len(texts))
        people = np.asarray(by.sum(1)).astype(int)
        used = np.array([is_name(fold_name(text)) for text in texts], dtype=bool) & (people > 0)
        ranks = list(zip((-people).tolist(), map(str.isupper, texts), texts, strict=True))  # names in capitals last
        order = np.array(sorted(np.flatnonzero(used), key=ranks.__getitem__), dtype=int)
        place = np.full(len(texts) + 1, MISSING)
        place[order] = np.arange(len(order))
        known = [str(texts[name]) for name in order]
        n_items = np.bincount(counts.indices, minlength=len(texts))
        return cls(groupings, known, [fold_name(text) for text in known], place[code], people[order], n_items[order])

    def merged(self) -> _Merged:
        """Merge names by spelling, form and items."""
        spelling = _first_of(self.folds)
        units, by_spelling = np.unique(spelling, return_inverse=True)
        if len(units) * self.groupings.n_items > MOST_PROFILES:
            return _Merged(spelling, spelling, spelling)
        form = _merge_forms([self.folds[unit] for unit in units], self._uses(by_spelling, len(units)))
        heads, by_form = np.unique(form, return_inverse=True)
        items = _merge_same_items(self._uses(by_form[by_spelling], len(heads)))
        return _Merged(spelling, units[form][by_spelling], units[heads[items]][by_form[by_spelling]])

    def _uses(self, of_name: Int[np.ndarray, " names"], n: int) -> _Uses:
        return _Uses.in_groupings(self.groupings, np.append(of_name, MISSING)[self.code_of_group], n)


@dataclass(frozen=True)
class _Merged:
    """The first of the names with which each was merged, after each step."""

    spelling: Int[np.ndarray, " names"]
    form: Int[np.ndarray, " names"]
    items: Int[np.ndarray, " names"]


def _first_of(keys: list[str]) -> Int[np.ndarray, " names"]:
    """Return the place of the first name with the same key."""
    code, _ = pd.factorize(np.array(keys, dtype=object))
    first = np.full(code.max(initial=-1) + 1, len(keys))
    np.minimum.at(first, code, np.arange(len(keys)))
    return np.asarray(first[code])


def _merge_forms(folds: list[str], uses: _Uses) -> Int[np.ndarray, " names"]:
    """Return for each name the first one of which it is another form, if it may be merged with all forms of that."""
    head = np.arange(len(folds))
    heads_of_key: dict[str, list[int]] = {}
    for name, fold in enumerate(folds):
        keys = _keys_of_form(fold)
        candidates = sorted({first for key in keys for first in heads_of_key.get(key, ())})
        head[name] = next((first for first in candidates if _are_one(uses, name, head[:name], first)), name)
        if head[name] == name:
            for key in keys:
                heads_of_key.setdefault(key, []).append(name)
    return head


def _are_one(uses: _Uses, name: int, head: Int[np.ndarray, " names"], first: int) -> bool:
    """Whether the items of a name overlap with those of all that were merged with another, and nobody uses two."""
    others = np.flatnonzero(head == first)
    apart = (uses.by[[name]] @ uses.by[others].T).toarray().any()
    return not apart and all(uses.containment(name, other) >= SAME_FORM for other in others)


def _keys_of_form(fold: str) -> set[str]:
    """Return keys of which a name shares one with its other forms."""
    bare = singular(without_article(fold))
    return {bare, *one_letter_less(bare)} if len(bare) >= LONG else {bare}


def _merge_same_items(uses: _Uses) -> Int[np.ndarray, " names"]:
    """Return for each name the first one of its set, the sets found from the largest overlap down.

    Two sets are merged if all names of one overlap with all of the other.
    """
    head = np.arange(len(uses.n_annotators))
    common = np.flatnonzero(uses.n_annotators >= FEWEST)
    if len(common) < 2:
        return head
    overlap = uses.of(common).overlap()
    same = (overlap >= SAME_ITEMS) & ~uses.of(common).told_apart()
    one, other = np.nonzero(np.triu(same, 1))
    mine = np.arange(len(common))
    for pair in np.argsort(-overlap[one, other], kind="stable"):
        a, b = sorted((mine[one[pair]], mine[other[pair]]))
        if a != b and same[np.ix_(mine == a, mine == b)].all():
            mine[mine == b] = a
    head[common] = common[mine]
    return head


def _with_machine(written: _Written, merged: _Merged) -> tuple[list[str], list[str]]:
    """Return the standard name of each name, the commonest it was merged with, and why."""
    here = np.arange(len(written.texts))
    head = merged.items
    forms = [_difference(fold, written.folds[first]) for fold, first in zip(written.folds, head, strict=True)]
    why = np.select(
        [here == head, merged.spelling == merged.spelling[head], merged.form == merged.form[head]],
        [ITSELF, SPELLING, forms],
        ITEMS,
    )
    return [written.texts[place] for place in head], why.tolist()


def _difference(fold: str, other: str) -> str:
    """Say in what two forms of a name differ."""
    if singular(fold) == singular(other):
        return NUMBER
    return ARTICLE if singular(without_article(fold)) == singular(without_article(other)) else LETTER


def _apply_corrections(
    written: _Written, standard: list[str], why: list[str], changes: Mapping[str, str]
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


def _count_people(groupings: Groupings, written: _Written, standard: list[str], why: list[str]) -> StandardNames:
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
    counts, by = _counts(groupings, code, len(found))
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
    counts, _ = _counts(groupings, np.where(code == MISSING, MISSING, 0), 1)
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
