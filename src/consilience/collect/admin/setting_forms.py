"""Declared settings as fields of forms: what each holds, and what is read from it; and so all those of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from consilience.collect.forms import lines_of, parameters_of, text_of, whole_of
from consilience.collect.settings.kinds import Choice, Names, Number, Setting, Whole
from consilience.collect.settings.model import OF_SORTS, OPEN, Study, StudySettings
from consilience.collect.settings.problems import Problems
from consilience.collect.settings.question_checks import OF_GROUPS
from consilience.collect.settings.study_kinds import ASKED, PAIRS, board_of_kind
from consilience.errors import InputError

NUMBER = re.compile(r"\d{0,3}(\.\d{1,6})?")
USUAL = {"kind": OPEN, "board": "piles"} | vars(StudySettings())


def value_in(form: Mapping[str, Any], name: str, kind: Setting, default: Any) -> Any:
    """Return the value of a setting that a form says, which is not checked yet; the default if its field is empty.

    Raises InputError: it cannot be read.
    """
    text = text_of(form, name)
    match kind:
        case Names():
            return lines_of(form, name) if kind.rows > 1 else parameters_of(form, name)
        case Whole(may_be_none=True):
            return whole_of(form, name)
        case _ if not text:
            return default
        case Whole() | Number(is_share=True):
            number = whole_of(form, name) or 0
            return number / 100 if isinstance(kind, Number) else number
        case Number():
            if not NUMBER.fullmatch(text.replace(",", ".")):
                raise InputError(f"The field {name!r} must be a number such as 0.6. Got {text[:40]!r}.")
            return float(text.replace(",", "."))
        case Choice():
            return kind.kept.get(text, text)
    return text


def shown_value(kind: Setting, value: Any) -> str:
    """Return what the field of a setting holds."""
    match kind:
        case Names():
            return ("\n" if kind.rows > 1 else ", ").join(value)
        case Number():
            return f"{100 * value:.0f}" if kind.is_share else f"{value:g}"
        case Choice():
            return next(word for word, kept in kind.kept.items() if kept == value)
    return "" if value is None else str(value)


def settings_of(
    form: Mapping[str, Any], problems: Problems, earlier: StudySettings | None = None
) -> tuple[str, str, StudySettings]:
    """Return the kind, the board and the settings that a form says; the store checks them.

    form : mapping
    problems : takes the fields that cannot be read, for which the settings have what an empty field says.
    earlier : whose other settings stay, since the form does not hold them.
    """
    values = {name: USUAL[name] for name in OF_SORTS}
    for name, one in OF_SORTS.items():
        with problems.at(name):
            values[name] = value_in(form, name, one, USUAL[name])
    kind, board = values.pop("kind"), values.pop("board")
    values |= {name: one.only[kind] for name, one in OF_SORTS.items() if isinstance(one, Choice) and kind in one.only}
    if kind in (OPEN, PAIRS):
        values |= {"categories": (), "descriptions": ()}
    if kind in ASKED:
        values |= {name: USUAL[name] for name in OF_GROUPS}
    return kind, board_of_kind(kind, board), replace(earlier or StudySettings(), **values)


def fields_of(study: Study | None = None) -> dict[str, Any]:
    """Return what the fields of the form hold for a study, or for a new one."""
    values = USUAL if study is None else vars(study) | vars(study.settings)
    if study is not None and study.is_asked:
        values = values | {"board": USUAL["board"]}  # as long as people are asked, there is none
    shown = {name: shown_value(kind, values[name]) for name, kind in OF_SORTS.items()}
    return shown | {"title": "" if study is None else study.title, "items": ""}


def given_again(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the fields held when a form was sent that has to be corrected."""
    return {name: text_of(form, name) if name in form else value for name, value in fields_of().items()}
