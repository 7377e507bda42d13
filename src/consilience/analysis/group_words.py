"""The words with which people describe their groups, the items they go with, and where they lie on the map.

A name of a group holds one or several words, separated by semicolons or commas. A word is said of the items of the
group. Whether it is said of an item by more people than by chance is tested in two ways.

*By people.* If the groups of person a do not depend on the items, but keep their sizes and words, a says word w of item
i with probability p_aw = 1 - Π_h (1 - m_hw / n_h), over the person's groupings h that hold i: n_h is the number of
items of h, m_hw of those in groups with the word. People are independent, so the number who say it is a sum of
independent Bernoulli variables, and the p-value is the exact upper tail of its distribution.

*As FactoMineR's descfreq and SensoMineR's fast do.* With N_wi the number of annotators who say word w of item i, and
N_w., N_.i and N the sums of the table of all words, N_wi is hypergeometric if each saying falls on an item at random.
The v-test is the normal quantile of its tail, doubled.

Decided here
------------
The findings are those of the first test. The second takes what one person says of five items as five independent
sayings; but once a person has made groups, which items are in the one with the word varies less than that. So it finds
hardly anything in free sorts of usual size (`benchmarks/words.py`).

There are as many tests as words × items, so p-values are corrected by the false discovery rate (Y. Benjamini & Y.
Hochberg 1995, Journal of the Royal Statistical Society B 57).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control, hypergeom, norm

from consilience.analysis.names import HANGING, name_key, name_text
from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.types import Integer
from consilience.errors import InputError
from consilience.inference.memberships import Memberships

__all__ = ["GroupWords", "group_words"]

LEVEL = 0.05  # false discovery rate
SEPARATORS = ";,"
MOST_CELLS = 5_000_000  # words × items


@dataclass(frozen=True)
class GroupWords:
    """Words of groups; see `group_words`.

    Attributes
    ----------
    words : DataFrame, one row for each word
        ``n_annotators`` who use it, and ``n_groups`` that have it; the most frequent first.
    counts : DataFrame, shape (n_words, n_items)
        Number of annotators who say the word of the item.
    tests : DataFrame, one row for each word and item
        ``word``, ``item``, ``n_annotators`` who say it, ``expected`` number if groups do not depend on the items;
        ``p_value`` of at least as many; ``p_corrected`` for the number of rows; and the ``v_test`` of descfreq,
        positive if there are more than expected from the sums of the table. The most unlikely first.
    """

    words: pd.DataFrame
    counts: pd.DataFrame
    tests: pd.DataFrame

    def of_items(self, level: float = LEVEL) -> pd.DataFrame:
        """Return the tests of words that are said of an item more often than by chance.

        Parameters
        ----------
        level : float, default=0.05
            Largest ``p_corrected``.

        Returns
        -------
        DataFrame
            Rows of `tests`.
        """
        return self.tests[self.tests["p_corrected"] <= level]

    def places(self, points: Float[np.ndarray, "items axes"]) -> Float[np.ndarray, "words axes"]:
        """Return where words lie among items: the mean of the items, weighted by how many people say the word of them.

        Parameters
        ----------
        points : ndarray, shape (n_items, n_axes)
            Coordinates of the items, NaN for items without any.

        Returns
        -------
        ndarray, shape (n_words, n_axes)
            NaN for words of items without coordinates.
        """
        known = np.isfinite(points).all(1)
        weights = self.counts.to_numpy(float)[:, known]
        total = weights.sum(1, keepdims=True)
        places = np.full((len(weights), points.shape[1]), np.nan)
        return np.divide(weights @ points[known], total, out=places, where=total > 0)


def group_words(groupings: Any, *, min_annotators: Integer = 3, separators: Any = SEPARATORS) -> GroupWords:
    """Gather the words with which people named or described their groups, and test which items they go with.

    Case, accents, blanks and punctuation around words are ignored. Words without letters, and those that end in a
    digit, are taken for numbers of groups and left out.

    Parameters
    ----------
    groupings : Groupings, or array of shape (n_items, n_annotators)
    min_annotators : int, default=3
        Words that fewer annotators use are left out; the sums of the v-test count them.
    separators : str, default=";,"
        Characters that separate the words of a group. If empty, a name is one word.

    Returns
    -------
    GroupWords
        Without rows if no word is used by as many annotators.

    Raises
    ------
    InputError
        The annotations are Labels or Pairs, or an array of another shape; a parameter is out of range; or there are too
        many words and items.

    References
    ----------
    Cadoret, Lê & Pagès (2009). A factorial approach for sorting task data (FAST). Food Quality and Preference 20.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import group_words
    >>> cells = [["sweet", "Sweet; fruity", "sweet"], ["sweet", "Sweet; fruity", "sweet"], ["sour", "sour", "odd"]]
    >>> found = group_words(Groupings.from_matrix(cells * 2, items=list("abcdef")), min_annotators=2)
    >>> found.words.index.tolist(), found.counts.loc["sour"].tolist()
    (['sweet', 'sour'], [0, 0, 2, 0, 0, 2])
    """
    groupings = as_groupings(groupings, None, "group_words")
    whole = isinstance(min_annotators, int | np.integer) and not isinstance(min_annotators, bool)
    if not whole or min_annotators < 1:
        raise InputError(
            f"The 'min_annotators' parameter of group_words must be a positive int. Got {min_annotators!r} instead."
        )
    if not isinstance(separators, str):
        raise InputError(f"The 'separators' parameter of group_words must be a str. Got {separators!r} instead.")
    group, word, spelling = _words_of_groups(groupings, separators)
    used = pd.DataFrame({"word": word, "group": group, "annotator": groupings.annotator_of_group[group]})
    words = used.groupby("word").agg(n_annotators=("annotator", "nunique"), n_groups=("group", "nunique"))
    words = words[words["n_annotators"] >= min_annotators]
    words = words.set_axis(spelling.reindex(words.index), axis=0).rename_axis("word").assign(code=words.index)
    order = ["n_annotators", "n_groups", "word"]
    words = words.reset_index().sort_values(order, ascending=[False, False, True], kind="stable").set_index("word")
    codes = words.pop("code").to_numpy(int)
    if len(codes) * groupings.n_items > MOST_CELLS:
        raise InputError(
            f"group_words found {len(codes):,} words of {groupings.n_items:,} items, too many for a table of both. "
            "Raise min_annotators, or restrict the groupings to some of the items."
        )
    by_person = _count_words(groupings, group, word, len(spelling))
    counts = pd.DataFrame(by_person[codes].toarray().astype(int), words.index, groupings.items.rename("item"))
    expected, p_value = _by_people(groupings, group, word, codes, counts.to_numpy())
    v_test = _v_test(counts.to_numpy(float), by_person.sum(0), by_person.sum(1)[codes])
    tests = _table(counts, {"expected": expected, "p_value": p_value, "v_test": v_test})
    return GroupWords(words, counts, tests)


def _words_of_groups(
    groupings: Groupings, separators: str
) -> tuple[Int[np.ndarray, " uses"], Int[np.ndarray, " uses"], pd.Series]:
    """Return groups and codes of their words, each once, and the most common spelling of each word."""
    split = re.compile(f"[{re.escape(separators)}]") if separators else None
    sizes = groupings.incidence.sum(0)
    group, texts = list[int](), list[str]()
    for number in np.flatnonzero(sizes > 0).tolist():
        name = name_text(groupings.group_names[number])
        parts = split.split(name) if split else [name]
        group += [number] * len(parts)
        texts += parts
    keys = np.array([name_key(text) for text in texts], dtype=object)
    kept = keys != ""
    code, _ = pd.factorize(keys[kept])
    shown = pd.Series([text.strip().rstrip(HANGING) for text, keep in zip(texts, kept) if keep], dtype=object)
    spelling = shown.groupby(code).agg(_usual)
    uses = np.unique(np.column_stack([np.array(group, dtype=np.intp)[kept], code]), axis=0).astype(np.intp)
    return uses[:, 0], uses[:, 1], spelling


def _usual(spellings: pd.Series) -> str:
    """Return the most common spelling; of several, one with the fewest capitals."""
    return min(spellings.mode(), key=lambda text: (sum(map(str.isupper, text)), text))


def _count_words(
    groupings: Groupings, group: Int[np.ndarray, " uses"], word: Int[np.ndarray, " uses"], n_words: int
) -> csr_array:
    """Return the number of annotators who say each word of each item, (words, items)."""
    annotator = groupings.annotator_of_group[group]
    key = word.astype(np.int64) * groupings.n_annotators + annotator
    who, row = np.unique(key, return_inverse=True)
    shape = (len(who), groupings.n_groups)
    said = csr_array((np.ones(len(row)), (row, group)), shape=shape) @ csr_array(groupings.incidence.T)
    said.data[:] = 1  # a person with several groupings may say it of an item more than once
    of_word = csr_array((np.ones(len(who)), (who // groupings.n_annotators, np.arange(len(who)))), (n_words, len(who)))
    return csr_array(of_word @ said)


def _by_people(
    groupings: Groupings,
    group: Int[np.ndarray, " uses"],
    word: Int[np.ndarray, " uses"],
    codes: Int[np.ndarray, " words"],
    counts: Int[np.ndarray, "words items"],
) -> tuple[Float[np.ndarray, "words items"], Float[np.ndarray, "words items"]]:
    """Return the expected number of people who say each word of each item, and the p-value of at least as many."""
    memberships = Memberships.of(groupings)
    share = memberships.group_sizes / np.maximum(memberships.grouping_sizes, 1)[memberships.grouping_of_group]
    holds = csr_array(memberships.in_grouping.T).astype(bool)  # groupings × items
    expected, p_value = np.zeros(counts.shape), np.ones(counts.shape)
    for row, code in enumerate(codes.tolist()):
        of_grouping = np.bincount(groupings.grouping_of_group[group], (word == code) * share[group], holds.shape[0])
        used = np.flatnonzero(of_grouping > 0)
        not_said = np.where(holds[used].toarray(), 1 - of_grouping[used, None], 1.0)
        people = np.unique(groupings.annotator_of_grouping[used], return_inverse=True)[1]
        probability = np.ones((int(people.max(initial=-1)) + 1, counts.shape[1]))
        np.multiply.at(probability, people, not_said)
        expected[row] = (1 - probability).sum(0)
        p_value[row] = at_least(counts[row], 1 - probability)
    return expected, p_value


def at_least(
    counts: Int[np.ndarray, " items"], probability: Float[np.ndarray, "people items"]
) -> Float[np.ndarray, " items"]:
    """Return the probability of at least so many successes of people with these probabilities (Poisson binomial)."""
    n_people, n_items = probability.shape
    of_number = np.zeros((n_people + 1, n_items))
    of_number[0] = 1.0
    for own in probability:
        of_number[1:] = of_number[1:] * (1 - own) + of_number[:-1] * own  # before [0], which it needs as it was
        of_number[0] *= 1 - own
    upper = np.cumsum(of_number[::-1], axis=0)[::-1]
    return np.minimum(upper[counts, np.arange(n_items)], 1.0)  # sums exceed 1 by rounding alone


def _v_test(
    n: Float[np.ndarray, "words items"], of_item: Float[np.ndarray, " items"], of_word: Float[np.ndarray, " words"]
) -> Float[np.ndarray, "words items"]:
    """Return the v-test of descfreq; the sums are those of all words."""
    total = float(of_item.sum())
    sums = (total, of_word[:, None], of_item)
    over = n * total > of_word[:, None] * of_item
    tail = np.where(over, hypergeom.sf(n - 1, *sums), hypergeom.cdf(n, *sums))
    return np.where(over, 1.0, -1.0) * norm.isf(np.minimum(tail, 0.5))


def _table(counts: pd.DataFrame, found: dict[str, Float[np.ndarray, "words items"]]) -> pd.DataFrame:
    """Return the tests of `GroupWords` as a long table."""
    place, item = np.indices(counts.shape).reshape(2, -1)
    tests = pd.DataFrame({"word": counts.index[place], "item": counts.columns[item]})
    tests["n_annotators"] = counts.to_numpy().ravel()
    for name, values in found.items():
        tests[name] = values.ravel()
    p_value = tests["p_value"].to_numpy()
    corrected = false_discovery_control(p_value) if len(p_value) else p_value
    tests.insert(5, "p_corrected", corrected)
    return tests.sort_values(["p_value", "v_test"], ascending=[True, False], kind="stable", ignore_index=True)
