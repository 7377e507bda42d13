"""Judgements of pairs: which mean "same", which "different", and which say something else."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.values import ABSTENTIONS, CODES_OF_MISSING, is_number, number_of_cells, quantify
from consilience.annotations.files.vocabulary import normal, says_different, says_preferred
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded, Where, plain
from consilience.errors import AnnotationError

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
    *("ja", "oui", "sí", "si", "sì", "да", "sim", "tak", "evet", "はい", "是", "예", "네", "हाँ", "نعم"),
    *(
        "gleich",
        "même",
        "pareil",
        "igual",
        "uguale",
        "одинаковые",
        "takie same",
        "aynı",
        "同じ",
        "相同",
        "같음",
        "समान",
    ),
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
    *("nein", "non", "нет", "não", "nee", "nie", "hayır", "いいえ", "否", "不是", "아니요", "아니오", "नहीं", "لا"),
    *(
        "verschieden",
        "ungleich",
        "différent",
        "diferente",
        "distinto",
        "diverso",
        "разные",
        "anders",
        "różne",
        "farklı",
    ),
    *("違う", "異なる", "不同", "다름", "अलग", "مختلف"),
}
UNDECIDED = {*ABSTENTIONS, "?", "maybe", "both"}
TIES = {"tie", "tied", "equal", "draw", "both", "neither", "none", "no preference", "same", "both bad", "tie both bad"}
FAR = 4  # a value is far from two answers if it lies this many times their distance away
SIDES = {
    *("left", "right", "first", "second", "a", "b", "l", "r", "item a", "item b", "option a", "option b", "model a"),
    *("model b", "response a", "response b", "image a", "image b", "item 1", "item 2", "option 1", "option 2"),
    *("links", "rechts", "gauche", "droite", "izquierda", "derecha", "sinistra", "destra", "left one", "right one"),
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
class Judged:
    """Judgements of pairs as truth values.

    column : names are False and True; missing if undecided.
    notes : how grades were read, and what was left out.
    """

    column: Coded
    notes: tuple[str, ...]


def require_sameness(name: Any, same_if: str | None) -> None:
    """Raise an AnnotationError if the name of a column of judgements is that of a difference, the opposite of same."""
    if same_if is None and says_different(name):
        raise AnnotationError(
            f'The column {str(name)!r} says how much items differ. Give the values that mean "same": '
            f"{spell(same_if='<=2')}, {spell(same_if='=0')} or {spell(same_if='=no')}."
        )


def require_no_preference(value: Coded, item: Coded, item_b: Coded, name: Any) -> None:
    """Raise an AnnotationError if judgements say which of two items is better instead of whether they are the same.

    Numbers are compared with the two items of their row, since items that are numbered have the names of grades.

    value : the judgements.
    item, item_b : the two items of each row.
    name : name of the column of judgements
    """
    held = [str(plain(name)).strip().casefold() for name in value.names]
    chosen = {text for text in held if re.sub(r"[\s_-]+", " ", text) not in TIES}
    if not chosen or (all(_meaning(text) is not None for text in chosen) and not says_preferred(name)):
        return
    items = {str(plain(name)).strip().casefold() for column in (item, item_b) for name in column.names}
    of_sides = {re.sub(r"[\s_-]+", " ", text) for text in chosen} <= SIDES
    of_items = chosen <= items and (not all(map(is_number, chosen)) or _name_items_of_rows(value, item, item_b))
    if of_sides or of_items or says_preferred(name):
        raise AnnotationError(
            "The judgements say which of two items was preferred, not whether they are the same; they cannot be "
            "clustered."
        )


def _name_items_of_rows(value: Coded, item: Coded, item_b: Coded) -> bool:
    """Whether every judgement is the name of one of the two items of its row."""
    said, *sides = (
        np.array([*(str(plain(name)).strip().casefold() for name in column.names), ""], dtype=object)[column.codes]
        for column in (value, item, item_b)
    )
    rows = ~value.missing
    return bool(rows.sum() > 1 and ((said == sides[0]) | (said == sides[1]))[rows].all())


def read_judgements(column: Coded, where: Where, same_if: str | None) -> Judged:
    """Read judgements: words, truth values, 1 and 0, or grades of which the upper half means "same".

    Raises AnnotationError: a judgement is none of these, or numbers are ambiguous.
    """
    if same_if is not None:
        return _under_condition(column, where, same_if)
    meaning = [_meaning(name) for name in column.names]
    if None not in meaning:
        undecided = np.array([value == "undecided" for value in meaning], dtype=bool)
        notes = _undecided_note(number_of_cells(column, undecided))
        return Judged(_as_truth(column, np.array([value is True for value in meaning]), ~undecided), notes)
    numeric = np.array([is_number(name) for name in column.names], dtype=bool)
    words = np.array([value is not None for value in meaning]) & ~numeric
    decided = words & np.array([value != "undecided" for value in meaning])
    for place, value in enumerate(meaning):
        row = int(np.argmax(column.codes == place))
        if value is None and not numeric[place]:
            raise AnnotationError(
                f"'same' must be true or false (or yes/no, same/different, t/f, 1/0), or a grade. Got "
                f'{column.name(row)!r} in {where(row)} instead; {spell(same_if="=WORD")} gives the word for "same".'
            )
        if value is None and decided.any():
            word, number = plain(column.names[int(np.argmax(decided))]), column.name(row)
            raise AnnotationError(
                f"The judgements are words, such as {str(word)!r}, but {number!r} in {where(row)} is a number. Give "
                f'{spell(missing=number)} if it is missing, or the judgements that mean "same", '
                f"{spell(same_if=f'={word}')}."
            )
    _require_no_stray_code(column, numeric, where)
    return _read_grades(column, numeric)


def _require_no_stray_code(column: Coded, numeric: np.ndarray, where: Where) -> None:
    """Raise an AnnotationError if one or two numbers are far from two answers, as codes for missing are.

    The middle between them would turn every judgement. Grades with gaps, such as 1, 3 and 5, are a scale.
    """
    used = sorted({float(name) for name, is_it in zip(column.names, numeric) if is_it})
    if len(used) < 3 or not all(value.is_integer() for value in used):
        return
    for answers, far in ((used[:-1], used[-1:]), (used[1:], used[:1]), (used[:2], used[2:]), (used[-2:], used[:-2])):
        spread, gap = answers[-1] - answers[0], min(abs(a - f) for a in answers for f in far)
        are_codes = all(int(value) in {8, 9, -1, *CODES_OF_MISSING} for value in far)
        are_two = len(answers) == 2 and spread <= 2 and (len(far) == 1 or are_codes)
        are_grades = len(answers) == spread + 1 and len(far) == 1 and are_codes
        is_negative = are_codes and max(far) < 0 <= answers[0] and gap > spread
        if (are_two and (gap >= FAR * spread or is_negative)) or (are_grades and gap >= max(FAR, spread)):
            place = next(i for i, name in enumerate(column.names) if numeric[i] and float(name) == far[0])
            row = int(np.argmax(column.codes == place))
            codes = [int(value) for value in far]
            shown = f"{answers[0]:g} and {answers[-1]:g}" if are_two else f"{answers[0]:g} to {answers[-1]:g}"
            raise AnnotationError(
                f"The judgement {codes[0]} in {where(row)} is far from the others, {shown}, and may be a code for "
                f"missing: {spell(missing=codes if len(codes) > 1 else codes[0])}. If it is a grade, give those "
                f'that mean "same", such as {spell(same_if=">=1")}.'
            )


def _meaning(name: Any) -> bool | str | None:
    if isinstance(name, bool | np.bool_):
        return bool(name)
    text = str(plain(name)).strip().casefold().removesuffix(".0").replace("’", "'")
    spaced = re.sub(r"[\s_-]+", " ", text)
    for words, value in ((SAME, True), (DIFFERENT, False), (UNDECIDED, "undecided")):
        if {text, spaced, *([normal(text)] if text[:1].isalpha() else [])} & words:
            return value
    return None


def _undecided_note(count: int, why: str = "undecided") -> tuple[str, ...]:
    return (f"{quantify(count, 'judgement')} left out: {why}",) if count else ()


def _as_truth(column: Coded, same: np.ndarray, decided: np.ndarray) -> Coded:
    place = np.where(decided, same.astype(np.intp), -1)
    return column.renamed(place, pd.Index([False, True]))


def _read_grades(column: Coded, numeric: np.ndarray) -> Judged:
    grades = np.array([float(name) if is_it else np.nan for name, is_it in zip(column.names, numeric)])
    used = grades[numeric]
    low, high = used.min(), used.max()
    if set(used) <= {-1.0, 0.0, 1.0} or len(set(used)) < 3:
        shown = " and ".join(f"{value:g}" for value in sorted(set(used)))
        raise AnnotationError(
            f'The judgements are {shown}, which can be read in two ways. Give those that mean "same", such as '
            f"{spell(same_if='>=1')}, and those that mean missing, such as {spell(missing=-1)}."
        )
    middle = (low + high) / 2
    decided = numeric & (grades != middle)
    notes = [f"judgements of {low:g} to {high:g}: same if above the middle, {middle:g} ({spell(same_if=...)})"]
    notes += _undecided_note(number_of_cells(column, numeric & (grades == middle)), f"{middle:g} is the middle")
    notes += _undecided_note(number_of_cells(column, ~numeric))
    return Judged(_as_truth(column, grades > middle, decided), tuple(notes))


def _under_condition(column: Coded, where: Where, same_if: str) -> Judged:
    parts = CONDITION.fullmatch(same_if.strip())
    if not parts:
        raise AnnotationError(f"{spell(same_if=None)} must be a comparison such as '>=3' or '=yes'. Got {same_if!r}.")
    compare, bound = COMPARISONS[parts[1]], parts[2].strip()
    if parts[1] in {"==", "=", "!="} and not is_number(bound):
        held = np.array([str(plain(name)).strip().casefold() for name in column.names])
        return Judged(_as_truth(column, compare(held, bound.casefold()), np.ones(len(held), dtype=bool)), ())
    if not is_number(bound):
        raise AnnotationError(f"{spell(same_if=None)} compares with a number. Got {same_if!r}.")
    undecided = np.array([_meaning(name) == "undecided" for name in column.names], dtype=bool)
    for place, name in enumerate(column.names):
        if not undecided[place] and not is_number(name):
            row = int(np.argmax(column.codes == place))
            raise AnnotationError(
                f"The judgement {column.name(row)!r} in {where(row)} is not a number, as {spell(same_if=same_if)} "
                "requires."
            )
    grades = np.array([np.nan if skip else float(name) for name, skip in zip(column.names, undecided)])
    notes = _undecided_note(number_of_cells(column, undecided))
    return Judged(_as_truth(column, compare(grades, float(bound)), ~undecided), notes)
