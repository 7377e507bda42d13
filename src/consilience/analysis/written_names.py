"""Names of groups as people wrote them, and which of them are one: by spelling, form or items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.analysis.folding import (
    fold_name,
    in_order,
    is_name,
    one_letter_less,
    singular,
    without_article,
    without_conjunctions,
)
from consilience.analysis.names import as_text
from consilience.annotations import Groupings
from consilience.annotations.names import MISSING

SAME_ITEMS = 0.8  # least overlap of names that are merged by their items
FEWEST = 3  # people who used such a name
SAME_FORM = 0.5  # least part of the items of the rarer of two forms of a name that is also under the other
LONG = 7  # letters of names that may differ in one of them
LETTER, ORDER = "one letter", "word order"
FORMS = {"article": without_article, "conjunction": without_conjunctions, "ending": singular, ORDER: in_order}
MOST_PROFILES = 20_000_000  # names times items above which names are merged by their spelling alone


@dataclass(frozen=True)
class NameUses:
    """Who used which name, and for which items: each person, name and item once."""

    n_annotators: Int[np.ndarray, " names"]
    profile: Float[np.ndarray, "names items"]
    by: csr_array  # (names, annotators): whether the annotator used the name

    @classmethod
    def in_groupings(cls, groupings: Groupings, name_of_group: Int[np.ndarray, " groups"], n_names: int) -> NameUses:
        """Read them off groupings whose groups have these names; -1 for none."""
        counts, by = count_uses(groupings, name_of_group, n_names)
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

    def of(self, names: Int[np.ndarray, " chosen"]) -> NameUses:
        """Return the uses of some of the names."""
        return NameUses(self.n_annotators[names], self.profile[names], csr_array(self.by[names]))


def count_uses(
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
class WrittenNames:
    """Names as people wrote them, in one line; those of the spellings of most people first.

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
    def of(cls, groupings: Groupings) -> WrittenNames:
        code, texts = pd.factorize(np.array([as_text(name) for name in groupings.group_names], dtype=object))
        counts, by = count_uses(groupings, code, len(texts))
        people = np.asarray(by.sum(1)).astype(int)
        folds = [fold_name(text) for text in texts]
        used = np.array(list(map(is_name, folds)), dtype=bool) & (people > 0)
        spelling, kinds = pd.factorize(np.array(folds, dtype=object))
        _, by_spelling = count_uses(groupings, np.append(spelling, MISSING)[code], len(kinds))
        of_spelling = np.asarray(by_spelling.sum(1)).astype(int)[spelling]
        capitals = map(str.isupper, texts)  # come last
        ranks = list(zip((-of_spelling).tolist(), (-people).tolist(), capitals, texts, strict=True))
        order = np.array(sorted(np.flatnonzero(used), key=ranks.__getitem__), dtype=int)
        place = np.full(len(texts) + 1, MISSING)
        place[order] = np.arange(len(order))
        known = [str(texts[name]) for name in order]
        n_items = np.bincount(counts.indices, minlength=len(texts))
        return cls(groupings, known, [folds[name] for name in order], place[code], people[order], n_items[order])

    def merged(self) -> MergedNames:
        """Merge names by spelling, form and items."""
        spelling = first_of_each(self.folds)
        units, by_spelling = np.unique(spelling, return_inverse=True)
        if len(units) * self.groupings.n_items > MOST_PROFILES:
            return MergedNames(spelling, spelling, spelling)
        form = _merge_forms([self.folds[unit] for unit in units], self._uses(by_spelling, len(units)))
        heads, by_form = np.unique(form, return_inverse=True)
        heads_alone = np.arange(len(heads))
        items = heads_alone if self._describe() else _merge_same_items(self._uses(by_form[by_spelling], len(heads)))
        return MergedNames(spelling, units[form][by_spelling], units[heads[items]][by_form[by_spelling]])

    def _describe(self) -> bool:
        """Whether half of the people wrote several words with ; or , between, which describe the items of a group."""
        lists = np.array([any(mark in text.strip(" ;,") for mark in ";,") for text in self.texts] + [False])
        writers = np.unique(self.groupings.annotator_of_group[lists[self.code_of_group]])
        return 2 * len(writers) >= self.groupings.n_annotators

    def _uses(self, of_name: Int[np.ndarray, " names"], n: int) -> NameUses:
        return NameUses.in_groupings(self.groupings, np.append(of_name, MISSING)[self.code_of_group], n)


@dataclass(frozen=True)
class MergedNames:
    """The first of the names with which each was merged, after each step."""

    spelling: Int[np.ndarray, " names"]
    form: Int[np.ndarray, " names"]
    items: Int[np.ndarray, " names"]


def first_of_each(keys: list[str]) -> Int[np.ndarray, " names"]:
    """Return the place of the first name with the same key."""
    code, _ = pd.factorize(np.array(keys, dtype=object))
    first = np.full(code.max(initial=-1) + 1, len(keys))
    np.minimum.at(first, code, np.arange(len(keys)))
    return np.asarray(first[code])


def _merge_forms(folds: list[str], uses: NameUses) -> Int[np.ndarray, " names"]:
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


def _are_one(uses: NameUses, name: int, head: Int[np.ndarray, " names"], first: int) -> bool:
    """Whether the items of a name overlap with those of all that were merged with another, and nobody uses two."""
    others = np.flatnonzero(head == first)
    apart = (uses.by[[name]] @ uses.by[others].T).toarray().any()
    return not apart and all(uses.containment(name, other) >= SAME_FORM for other in others)


def _keys_of_form(fold: str) -> set[str]:
    """Return keys of which a name shares one with its other forms."""
    bare = _bring_to_form(fold, ORDER)  # in its own order, since another letter may change that
    return {bare, in_order(bare), *(one_letter_less(bare) if len(bare) >= LONG else ())}


def _bring_to_form(fold: str, *left_out: str) -> str:
    """Return what the forms of a folded name share, but for some of the ways in which they differ."""
    for way, bring in FORMS.items():
        fold = fold if way in left_out else bring(fold)
    return fold


def tell_forms_apart(fold: str, other: str) -> str:
    """Return in which ways two forms of a folded name differ: those without which they would not be one.

    Examples
    --------
    >>> tell_forms_apart("hobby", "hobbies"), tell_forms_apart("food and drink", "drinks food")
    ('ending', 'conjunction, ending, word order')
    >>> tell_forms_apart("accessories", "accesories"), tell_forms_apart("γυναικα", "γυναικεια")
    ('one letter', 'ending, one letter')
    """
    is_equal = _bring_to_form(fold) == _bring_to_form(other)

    def are_one(*left_out: str) -> bool:
        if is_equal:
            return _bring_to_form(fold, *left_out) == _bring_to_form(other, *left_out)
        one, two = (_bring_to_form(each, ORDER, *left_out) for each in (fold, other))
        return bool({one, *one_letter_less(one)} & {two, *one_letter_less(two)})

    return ", ".join([way for way in FORMS if not are_one(way)] + ([] if is_equal else [LETTER]))


def _merge_same_items(uses: NameUses) -> Int[np.ndarray, " names"]:
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
