"""Kinds of settings: what a value may be, what it is by default, and what it does.

A setting is declared once, as a field of a dataclass: `StudySettings`, `Panel` or `Training`. The checks, the fields of
the form, the models of the API and the options of the command line are made of the declaration. Nothing here needs what
is not installed with the core, since the command line reads it in any case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any

from consilience.collect.settings.cleaning import brief, clean_text
from consilience.errors import InputError


@dataclass(frozen=True)
class Setting:
    """A setting of any kind."""

    help: str = ""  # what it does, as command line and API say it
    _: KW_ONLY
    option: str = ""  # what the command line calls it, where that is not its name
    unset: str = ""  # what holds where it is not set, if that is not its default

    def default(self, value: Any) -> Any:
        """Return the field of a dataclass that is this setting, with its default."""
        return field(default=value, metadata={"setting": self})


@dataclass(frozen=True, kw_only=True)
class Whole(Setting):
    """A whole number; None, where it may be, is no limit."""

    least: int = 1
    most: int = 1_000_000
    may_be_none: bool = True


@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number, of which the form asks for per cent if it is a share."""

    least: int | float = 0
    most: int | float = 1
    is_share: bool = True


@dataclass(frozen=True, kw_only=True)
class Choice(Setting):
    """One of several words, each with what the form says for it, and below some of them."""

    words: Mapping[str, str]
    hints: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)  # that are kept for words not kept as they are
    only: Mapping[str, str] = field(default_factory=dict)  # all that studies of some kinds can have

    @property
    def kept(self) -> dict[str, Any]:
        """What is kept for each word."""
        return {word: self.values.get(word, word) for word in self.words}


@dataclass(frozen=True, kw_only=True)
class Text(Setting):
    """A text, of one row of the form or several; where it has a pattern, it must be what is `expected`."""

    longest: int  # characters
    rows: int = 1
    pattern: str | None = None
    expected: str = ""


@dataclass(frozen=True, kw_only=True)
class Names(Setting):
    """Several names, with commas in one row of the form, or on lines."""

    most: int
    rows: int = 1
    longest_each: int = 200  # characters


def declared_in(of: Any) -> dict[str, Any]:
    """Return the settings that a dataclass declares, by name."""
    return {one.name: one.metadata["setting"] for one in fields(of) if "setting" in one.metadata}


def checked_value(kind: Setting, value: Any, called: str) -> Any:
    """Return the value of a setting as it is kept: texts are cleaned, and names not checked one by one.

    Raises InputError: it cannot be its value; the sentence calls it `called`.
    """
    is_number, expected, fits = isinstance(value, int | float) and not isinstance(value, bool), "", False
    match kind:
        case Whole(least=least, most=most):
            expected = f"a whole number from {least} to {most:,}"
            fits = (is_number and isinstance(value, int) and least <= value <= most) or (
                value is None and kind.may_be_none
            )
        case Number(least=least, most=most):
            expected, fits = f"a number from {least:g} to {most:g}", is_number and least <= value <= most
            value = float(value) if fits else value
        case Choice():
            allowed = list(kind.kept.values())
            expected = f"one of {', '.join(map(str, allowed))}"
            fits = any(value is one or (isinstance(one, str) and value == one) for one in allowed)  # 1 is not True
        case Names(most=most):
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > most:
                raise InputError(f"{called} must be a list of at most {most} names.")
            return tuple(value)
        case Text(pattern=None):
            return clean_text(value, called, kind.longest)
        case Text():
            expected, fits = (
                kind.expected,
                isinstance(value, str) and re.fullmatch(str(kind.pattern), value) is not None,
            )
    if not fits:
        raise InputError(f"{called} must be {expected}. Got {brief(value)}.")
    return value


def checked_fields(of: Any, called: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the settings that an instance declares, by name.

    Raises InputError: one is wrong; the sentence calls it `called`, by default by its name.
    """
    return {
        name: checked_value(kind, getattr(of, name), called.get(name, f"{name!r}"))
        for name, kind in declared_in(of).items()
    }
