"""The values in the cells of a table: which mean missing, and which judgements mean "same"."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.vocabulary import OPPOSITES, TOTALS, normal, plural
from consilience.annotations.keywords import written
from consilience.annotations.names import Coded, Where, plain, without
from consilience.errors import AnnotationError

NEVER_AN_ANSWER = {"nan", "<na>", "#n/a", "null", "nat"}
PERHAPS_AN_ANSWER = {"na", "n/a", "n.a."}
MARKS = {"-", "--", "–", "—", "?", "??", ".", "/", "*"}
LIKE_MISSING = {
    *("not seen", "unseen", "not shown", "not presented", "not answered", "unanswered", "no answer", "no response"),
    *("not applicable", "not available", "not rated", "not judged", "not labelled", "not labeled", "not annotated"),
    *("unlabelled", "unlabeled", "not assigned", "unassigned", "missing", "missing value", "none", "blank", "empty"),
    *(
        "no data",
        "no value",
        "no label",
        "no group",
        "undefined",
        "unknown",
        "skip",
        "skipped",
        "left out",
        "left blank",
    ),
    *("k a", "keine angabe", "keine antwort", "fehlt", "sans réponse", "non vu", "sin respuesta", "no visto"),
    *("nessuna risposta", "non visto"),
}
MOST_SHOWN = 3
CODES_OF_MISSING = {77, 88, 97, 98, 99, 777, 888, 998, 999, 9999, -8, -9, -77, -88, -99, -999}
MOST_NUMBERED = 30  # most groups that a person numbers
UNSORTED = {"unsorted", "not sorted", "uncategorized", "uncategorised", "ungrouped", "unclassified"}
SAME = {
    *(
        "1",
        "true",
        "t",
        "yes",
        "y",
        "same",
        "match",
        "matching",
        "matched",
        "together",
        "equal",
        "identical",
        "similar",
    ),
    *("duplicate", "must link", "linked", "must-link", "same cluster", "same group", "same class"),
}
DIFFERENT = {
    *("0", "false", "f", "no", "n", "different", "differ", "diff", "not same", "not the same", "no match", "non match"),
    *(
        "nonmatch",
        "apart",
        "unequal",
        "distinct",
        "dissimilar",
        "not duplicate",
        "cannot link",
        "cannot-link",
        "separate",
    ),
    *("different cluster", "different group", "different class", "not similar", "unlinked"),
}
UNDECIDED = {
    *("?", "cannot say", "can't say", "cannot decide", "can't decide", "unsure", "not sure", "don't know", "dont know"),
    *("unknown", "skip", "skipped", "undecided", "unclear", "maybe"),
}
CONDITION = re.compile(r"(>=|<=|==|=|!=|>|<)\s*(.+)")
COMPARISONS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Filled:
    """A column of values in which missing values are marked as such.

    Attributes
    ----------
    column : Coded
    notes : tuple of str
        What was read as missing, counted.
    """

    column: Coded
    notes: tuple[str, ...] = ()


def number_of_cells(column: Coded, names: np.ndarray) -> int:
    """Count the cells that contain one of some names, given by a truth value for each name."""
    return int(np.append(names, False)[column.codes].sum())


def is_number(name: Any) -> bool:
    """Whether a name is a number, or text that is one."""
    if isinstance(name, str):
        return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", name.strip(), re.IGNORECASE) is not None
    return isinstance(name, int | float | np.number) and not isinstance(name, bool | np.bool_)


def spells_missing(name: Any) -> bool:
    """Whether a cell of text spells a missing value, or may do so."""
    return isinstance(name, str) and name.strip().casefold() in NEVER_AN_ANSWER | PERHAPS_AN_ANSWER


def says_unsorted(name: Any) -> bool:
    """Whether the name of a group says that its items were not sorted."""
    return isinstance(name, str) and normal(name) in UNSORTED


def given_as_missing(column: Coded, missing: Sequence[Any]) -> Coded:
    """Mark as missing what the caller says is."""
    wanted = {str(value).strip() for value in missing if str(value).strip()}
    wanted |= {value.removesuffix(".0") for value in wanted}
    held = [plain(name) for name in column.names]
    unwanted = [str(name).strip() in wanted or str(name).strip().removesuffix(".0") in wanted for name in held]
    return without(column, np.array(unwanted, dtype=bool))


def require_plain(column: Coded, what: str, where: Where) -> None:
    """Raise an AnnotationError if labels are JSON, from which the answer must be extracted."""
    is_json = np.array([str(name).lstrip().startswith('{"') for name in column.names], dtype=bool)
    if len(is_json) and is_json.mean() > 0.5:
        row = int(np.argmax(column.codes == int(np.argmax(is_json))))
        raise AnnotationError(
            f"The {what} in {where(row)} is JSON, {str(column.name(row))[:40]!r}…; write its answer to a separate "
            "column."
        )


def spelled_missing(column: Coded, what: str, where: Where) -> Filled:
    """Mark as missing the cells of text that spell it: NaN and null anywhere, NA among numbers.

    Raises
    ------
    AnnotationError
        NA occurs among text, where it may be an answer.
    """
    folded = [name.strip().casefold() if isinstance(name, str) else "" for name in column.names]
    never = np.array([name in NEVER_AN_ANSWER for name in folded], dtype=bool)
    perhaps = np.array([name in PERHAPS_AN_ANSWER for name in folded], dtype=bool)
    if not (never.any() or perhaps.any()):
        return Filled(column)
    others = column.names[~(never | perhaps)]
    if perhaps.any() and not all(is_number(name) for name in others):
        name = column.names[int(np.argmax(perhaps))]
        row = int(np.argmax(column.codes == int(np.argmax(perhaps))))
        raise AnnotationError(
            f"The {what} {name!r} in {where(row)} can be read in two ways: as a name, or as missing. Choose one: "
            f"{written(missing=name)} if it is missing, {written(missing=[])} if it is a name."
        )
    unwanted = never | perhaps
    shown = ", ".join(map(repr, column.names[unwanted][:3]))
    count = number_of_cells(column, unwanted)
    return Filled(without(column, unwanted), (f"{counted(count, 'cell')} with {shown} read as missing",))


def minus_one(column: Coded, what: str, where: Where) -> Filled:
    """Mark -1 among integers as missing, as scikit-learn and Snorkel do, if it is the only negative one.

    Raises
    ------
    AnnotationError
        The only other value is 1, with or without 0: -1 may then be an answer.
    """
    names = column.names
    if not pd.api.types.is_integer_dtype(names) or not (names == -1).any() or (names < -1).any():
        return Filled(column)
    others = set(names[names >= 0].tolist())
    is_it = np.asarray(names == -1)
    count = number_of_cells(column, is_it)
    if 1 in others and others <= {0, 1}:
        row = int(np.argmax(column.codes == int(np.argmax(is_it))))
        beside = "1" if others == {1} else "0 and 1"
        raise AnnotationError(
            f"The {what} -1 in {where(row)} can be read in two ways with {beside}: as an answer, or as missing. Choose "
            f"one: {written(missing=-1)} if it is missing, {written(missing=[])} if it is an answer."
        )
    note = f"{counted(count, 'cell')} with -1 read as missing ({written(missing=[])} if -1 is a {what})"
    return Filled(without(column, is_it), (note,))


def refuse_codes(column: Coded, what: str, where: Where) -> None:
    """Raise an AnnotationError if an integer far from the others may be a code for missing, such as 99."""
    names = column.names
    if not pd.api.types.is_integer_dtype(names) or len(names) < 2:
        return
    others = [int(name) for name in names if int(name) not in CODES_OF_MISSING]
    codes = [int(name) for name in names if int(name) in CODES_OF_MISSING]
    if not codes or len(others) < 2 or min(others) not in (0, 1) or max(others) > MOST_NUMBERED:
        return
    code = next((code for code in codes if code < 0 or code > 3 * max(others)), None)
    if code is not None:
        row = int(np.argmax(column.codes == list(names).index(code)))
        raise AnnotationError(
            f"The {what} {code} in {where(row)} can be read in two ways with {min(others)} to {max(others)}: as one of "
            f"these, or as a code for missing. Choose one: {written(missing=code)} if it is missing, "
            f"{written(missing=[])} if it is a {what}."
        )


def filled(column: Coded, what: str, where: Where) -> Filled:
    """Mark -1 among integers as missing, and refuse integers that may be codes for it."""
    refuse_codes(column, what, where)
    return minus_one(column, what, where)


@dataclass(frozen=True)
class Judged:
    """Judgements of pairs as truth values.

    Attributes
    ----------
    column : Coded
        Names are False and True; missing if undecided.
    notes : tuple of str
        How grades were read, and what was left out.
    """

    column: Coded
    notes: tuple[str, ...]


def require_sameness(name: Any, same_if: str | None) -> None:
    """Raise an AnnotationError if the name of a column of judgements is that of a difference, the opposite of same."""
    if same_if is None and normal(name).split()[0] in OPPOSITES:
        raise AnnotationError(
            f'The column {str(name)!r} says how much items differ. Give the values that mean "same": '
            f"{written(same_if='<=2')}, or {written(same_if='=0')}."
        )


def judged(column: Coded, where: Where, same_if: str | None) -> Judged:
    """Read judgements: words, truth values, 1 and 0, or grades of which the upper half means "same".

    Raises
    ------
    AnnotationError
        A judgement is none of these, or numbers are ambiguous.
    """
    if same_if is not None:
        return _under_condition(column, where, same_if)
    meaning = [_meaning(name) for name in column.names]
    if None not in meaning:
        undecided = np.array([value == "undecided" for value in meaning], dtype=bool)
        notes = _undecided_note(number_of_cells(column, undecided))
        return Judged(_as_truth(column, np.array([value is True for value in meaning]), ~undecided), notes)
    numeric = np.array([is_number(name) for name in column.names], dtype=bool)
    if not (numeric | np.array([value == "undecided" for value in meaning])).all():
        place = next(i for i, value in enumerate(meaning) if value is None and not numeric[i])
        row = int(np.argmax(column.codes == place))
        raise AnnotationError(
            f"'same' must be true or false (or yes/no, same/different, t/f, 1/0), or a grade. Got "
            f'{column.name(row)!r} in {where(row)} instead; {written(same_if="=WORD")} gives the word for "same".'
        )
    return _graded(column, numeric)


def _meaning(name: Any) -> bool | str | None:
    if isinstance(name, bool | np.bool_):
        return bool(name)
    text = str(plain(name)).strip().casefold().removesuffix(".0")
    spaced = re.sub(r"[\s_-]+", " ", text)
    for words, value in ((SAME, True), (DIFFERENT, False), (UNDECIDED, "undecided")):
        if text in words or spaced in words:
            return value
    return None


def _undecided_note(count: int, why: str = "undecided") -> tuple[str, ...]:
    return (f"{counted(count, 'judgement')} left out: {why}",) if count else ()


def _as_truth(column: Coded, same: np.ndarray, decided: np.ndarray) -> Coded:
    place = np.where(decided, same.astype(np.intp), -1)
    return column.renamed(place, pd.Index([False, True]))


def _graded(column: Coded, numeric: np.ndarray) -> Judged:
    grades = np.array([float(name) if is_it else np.nan for name, is_it in zip(column.names, numeric)])
    used = grades[numeric]
    low, high = used.min(), used.max()
    if set(used) <= {-1.0, 0.0, 1.0} or len(set(used)) < 3:
        shown = " and ".join(f"{value:g}" for value in sorted(set(used)))
        raise AnnotationError(
            f'The judgements are {shown}, which can be read in two ways. Give those that mean "same", such as '
            f"{written(same_if='>=1')}, and those that mean missing, such as {written(missing=-1)}."
        )
    middle = (low + high) / 2
    decided = numeric & (grades != middle)
    notes = [f"judgements of {low:g} to {high:g}: same if above the middle, {middle:g} ({written(same_if=...)})"]
    notes += _undecided_note(number_of_cells(column, numeric & (grades == middle)), f"{middle:g} is the middle")
    notes += _undecided_note(number_of_cells(column, ~numeric))
    return Judged(_as_truth(column, grades > middle, decided), tuple(notes))


def _under_condition(column: Coded, where: Where, same_if: str) -> Judged:
    parts = CONDITION.fullmatch(same_if.strip())
    if not parts:
        raise AnnotationError(f"{written(same_if=None)} must be a comparison such as '>=3' or '=yes'. Got {same_if!r}.")
    compare, bound = COMPARISONS[parts[1]], parts[2].strip()
    if parts[1] in {"==", "=", "!="} and not is_number(bound):
        held = np.array([str(plain(name)).strip().casefold() for name in column.names])
        return Judged(_as_truth(column, compare(held, bound.casefold()), np.ones(len(held), dtype=bool)), ())
    if not is_number(bound):
        raise AnnotationError(f"{written(same_if=None)} compares with a number. Got {same_if!r}.")
    undecided = np.array([_meaning(name) == "undecided" for name in column.names], dtype=bool)
    for place, name in enumerate(column.names):
        if not undecided[place] and not is_number(name):
            row = int(np.argmax(column.codes == place))
            raise AnnotationError(
                f"The judgement {column.name(row)!r} in {where(row)} is not a number, as {written(same_if=same_if)} "
                "requires."
            )
    grades = np.array([np.nan if skip else float(name) for name, skip in zip(column.names, undecided)])
    notes = _undecided_note(number_of_cells(column, undecided))
    return Judged(_as_truth(column, compare(grades, float(bound)), ~undecided), notes)


def twins(names: pd.Index, what: str) -> str | None:
    """Note names that differ only in case, spaces or the form of their letters, None if there are none."""
    if not (pd.api.types.is_object_dtype(names.dtype) or pd.api.types.is_string_dtype(names.dtype)):
        return None
    seen: dict[str, str] = {}
    alike: dict[str, tuple[str, str]] = {}
    for name in names:
        if isinstance(name, str):
            form = " ".join((name if name.isascii() else unicodedata.normalize("NFKC", name)).casefold().split())
            if seen.setdefault(form, name) != name:
                alike.setdefault(form, (seen[form], name))
    if not alike:
        return None
    one, other = next(iter(alike.values()))
    more = f", and so do {len(alike) - 1:,} more" if len(alike) > 1 else ""
    return f"the {what} {one!r} and {other!r} differ only in case, spaces or form of letters{more}"


def like_missing(column: Coded, what: str) -> str | None:
    """Note cells with a mark or words that usually mean missing, None if there are none.

    Parameters
    ----------
    column : Coded
    what : {"group", "label"}
        How the cells were read.
    """
    is_it = np.array([is_like_missing(name) for name in column.names], dtype=bool)
    count = number_of_cells(column, is_it)
    if not count:
        return None
    names = [name.strip() for name in column.names[is_it]]
    shown = ", ".join(map(repr, names[:MOST_SHOWN])) + (", …" if len(names) > MOST_SHOWN else "")
    missing = written(missing=names if len(names) > 1 else names[0])
    return (
        f"{counted(count, 'cell')} with {shown} read as a {what} like any other ({missing} if missing, "
        f"{written(missing=[])} if a {what} is meant)"
    )


def is_like_missing(name: Any) -> bool:
    """Whether a name is a mark or words that usually mean missing."""
    return isinstance(name, str) and (name.strip() in MARKS or normal(name) in LIKE_MISSING)


def totals(names: pd.Index, what: str) -> str | None:
    """Note a name that is usual for a row or column of totals, None if there is none."""
    found = next((name for name in names if isinstance(name, str) and name.strip(" :").casefold() in TOTALS), None)
    return f"there is {what} called {found!r}; if it is a total, delete it" if found else None


def as_texts(column: pd.Series) -> pd.Series:
    """Return cells as text, except missing ones, which ``astype(str)`` of pandas 2 makes "nan"."""
    return column.astype(str).where(column.notna())


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "cell"), counted(3000, "class")
    ('1 cell', '3,000 classes')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"
