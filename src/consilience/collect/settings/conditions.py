"""Conditions on what is known of a participant: who is screened out, counts in a quota, or is asked a question."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consilience.errors import InputError

EQUALS, OR = "=", "|"
LIMITS = re.compile(r"(?P<least>-?\d+(?:\.\d+)?)?\s*(?:-|–|to)\s*(?P<most>-?\d+(?:\.\d+)?)?")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Condition:
    """That a participant gave one of some answers, or that their link said one of some values.

    name : of a question, or else of a stored parameter of the link.
    values : any of them; where a question asks for a number, numbers and ranges such as ``18 to 30``, ``to 17``,
        ``65 to``.
    """

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        """Write the condition as `condition_of` reads it."""
        return f"{self.name} {EQUALS} {f' {OR} '.join(self.values)}"

    def holds(self, known: Mapping[str, Any]) -> bool:
        """Whether it holds for a participant; not while the question is not answered.

        known : parameters and answers, by name.

        Examples
        --------
        >>> young = condition_of("age = to 17 | 99")
        >>> [young.holds({"age": age}) for age in (17, 18, 99)], young.holds({})
        ([True, False, True], False)
        >>> condition_of("diet = Meat | Fish").holds({"diet": ["Fish", "Plants"]})
        True
        """
        value = known.get(self.name)
        if isinstance(value, int | float):
            return any(_is_within(value, one) for one in self.values)
        return not set(value if isinstance(value, list) else [value]).isdisjoint(self.values)


@dataclass(frozen=True)
class Quota:
    """How many people may take part for whom a condition holds.

    name, values : of the condition; see `Condition`.
    """

    name: str
    values: tuple[str, ...]
    most: int

    @property
    def condition(self) -> Condition:
        """Who counts."""
        return Condition(self.name, self.values)

    @property
    def key(self) -> str:
        """By what the store knows the quota; another number keeps it."""
        return hashlib.sha256(str(self.condition).encode()).hexdigest()


def condition_of(text: str) -> Condition:
    """Return the condition that a text says. Raises InputError: it says none.

    Examples
    --------
    >>> condition_of("diet = Meat | Fish")
    Condition(name='diet', values=('Meat', 'Fish'))
    """
    name, equals, values = text.partition(EQUALS)
    found = tuple(" ".join(one.split()) for one in values.split(OR))
    if not (name.strip() and equals and all(found)):
        raise InputError(f"A condition must be such as 'diet = Meat | Fish' or 'age = 18 to 30'. Got {text[:60]!r}.")
    return Condition(name.strip(), found)


def limits_in(text: str) -> tuple[float | None, float | None] | None:
    """Return the limits that a text such as ``18 to 99`` says, either of which may be left out; None if it says none.

    Examples
    --------
    >>> limits_in("18 to 99"), limits_in("to 17"), limits_in("many")
    ((18.0, 99.0), (None, 17.0), None)
    """
    found = LIMITS.fullmatch(text.strip())
    if found is None:
        return None
    least, most = (None if found[part] is None else float(found[part]) for part in ("least", "most"))
    return least, most


def range_of(text: str) -> tuple[float | None, float | None] | None:
    """Return the limits of a range, at least one of which it has, or those of a single number; None if it is neither.

    Examples
    --------
    >>> range_of("18"), range_of("65 to"), range_of("to")
    ((18.0, 18.0), (65.0, None), None)
    """
    if NUMBER.fullmatch(text):
        return float(text), float(text)
    found = limits_in(text)
    return None if found == (None, None) else found


def any_holds(conditions: Sequence[Condition], known: Mapping[str, Any]) -> bool:
    """Whether one of several conditions holds for a participant."""
    return any(one.holds(known) for one in conditions)


def _is_within(value: int | float, text: str) -> bool:
    limits = range_of(text)
    if limits is None:
        return False
    least, most = limits
    return (least is None or value >= least) and (most is None or value <= most)
