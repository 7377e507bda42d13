"""Types of the values of options: numbers, names, files, and what a value may be."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import click


class FilePath(click.Path):
    """A path that is not empty; Path("") would be the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if not os.fspath(value):
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


FILE = FilePath(path_type=Path)
SOURCE = FilePath(path_type=Path, allow_dash=True)  # - is standard input
KINDS = click.Choice(["groupings", "pairs", "labels"])
# ratings are labels that are numbers, with an order; of tags, an item may have several
READABLE_KINDS = click.Choice([*KINDS.choices, "ratings", "tags"])
MOST = 2**31 - 1
SEEDS = 2**32 - 1  # the largest that NumPy's RandomState takes
LONGEST = 40  # digits of an integer, letters of a value in a message
WORDS = {"none": None, "true": True, "false": False}


class KeyValue(click.ParamType):
    """KEY=VALUE, the value read as an integer, a number, true, false, none, a list in JSON or else text."""

    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Return the key and the value."""
        key, is_setting, text = value.partition("=")
        if not is_setting or not key.strip():
            self.fail(f"{cut(value)} is not of the form key=value.", param, ctx)
        return key.strip(), parse_value(text.strip())


class WholeNumber(click.ParamType):
    """An integer within bounds."""

    name = "integer"

    def __init__(self, least: int, most: int = MOST):
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int."""
        number = value if isinstance(value, int) else whole(str(value))
        if number is None:
            self.fail(f"{cut(value)} is not a valid integer.", param, ctx)
        if not self.least <= number <= self.most:
            self.fail(f"{cut(number)} is not between {self.least} and {self.most}.", param, ctx)
        return number


class JobsNumber(WholeNumber):
    """The number of restarts to run in parallel; -1 for as many as there are processors, -2 for one less."""

    def __init__(self) -> None:
        super().__init__(-MOST)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int."""
        number = super().convert(value, param, ctx)
        if number == 0:
            self.fail("'0' is not a number of jobs; give at least 1, or -1 for all processors.", param, ctx)
        return number


class Real(click.ParamType):
    """A finite number within bounds."""

    name = "number"

    def __init__(self, least: int | float, most: int | float):
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a float."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{cut(value)} is not a valid number.", param, ctx)
        if not self.least <= number <= self.most:
            self.fail(f"{cut(value)} is not between {self.least:g} and {self.most:g}.", param, ctx)
        return number


def whole(text: str) -> int | None:
    """Return text as an integer, or None if it is not one or has more digits than any useful integer."""
    text = text.strip()
    if len(text) > LONGEST or not text.lstrip("+-").isdecimal():
        return None
    try:
        return int(text)
    except ValueError:  # several signs
        return None


def cut(value: Any) -> str:
    """Show a value in a message, cut if it is long."""
    text = str(value)
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def parse_value(text: str) -> Any:
    """Return the value that text stands for; numbers with commas between or after them are a tuple, JSON is a list.

    Examples
    --------
    >>> [parse_value(text) for text in ("5", "0.5", "1e-3", "true", "None", "auto")]
    [5, 0.5, 0.001, True, None, 'auto']
    >>> [parse_value(text) for text in ("500,500", "(9.5, 1)", "40,", "red,blue")]
    [(500, 500), (9.5, 1), (40,), 'red,blue']
    >>> parse_value('[["Ann", "Bo"], ["Cy", "Di", "Ed"]]')
    [['Ann', 'Bo'], ['Cy', 'Di', 'Ed']]
    """
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    inner = text[1:-1] if text[:1] == "(" and text[-1:] == ")" else text
    if "," in inner:
        parts = tuple(_number(part.strip()) for part in inner.removesuffix(",").split(","))
        return text if None in parts else parts
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    if (number := whole(text)) is not None:
        return number
    if len(text) > LONGEST:
        return None
    with suppress(ValueError):
        return float(text)
    return None


class Numbers(click.ParamType):
    """A number, or several separated by commas."""

    name = "NUMBER[,…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a float, or a list of floats if there are commas."""
        if not isinstance(value, str):
            return value
        try:
            numbers = [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{cut(value)} is neither a number nor several separated by commas.", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


class NameList(click.ParamType):
    """Names separated by commas."""

    name = "NAME[,…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the names that are not blank."""
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class Count(click.ParamType):
    """A positive integer, or "auto"."""

    name = "NUMBER|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int, or "auto"."""
        text = str(value).strip().casefold()
        if text == "auto":
            return text
        number = whole(text)
        if number is None or not 1 <= number <= MOST:
            self.fail(f"{cut(value)} is neither 'auto' nor an integer from 1 to {MOST}.", param, ctx)
        return number


class Between(click.ParamType):
    """A positive integer, or the lowest and the highest, separated by a hyphen."""

    name = "LOW-HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the lowest and the highest integer."""
        low, _, high = str(value).partition("-")
        least, most = whole(low), whole(high if high.strip() else low)
        if least is None or most is None or not 1 <= least <= most <= MOST:
            self.fail(f"{cut(value)} is neither a positive integer nor a range such as 3-6.", param, ctx)
        return least, most
