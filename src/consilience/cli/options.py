"""Types of options, and the options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from consilience.cli.program import ReadingOption

Function = TypeVar("Function", bound=Callable[..., Any])


class FilePath(click.Path):
    """A path that is not empty: empty text would be the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if not os.fspath(value):
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


FILE = FilePath(path_type=Path)
SOURCE = FilePath(path_type=Path, allow_dash=True)  # - is standard input
ALL_COLUMNS = "all"
KINDS = click.Choice(["groupings", "pairs", "labels"])
MOST = 2**31 - 1
SEEDS = 2**32 - 1
LONGEST = 40  # digits of an integer, letters of a value in a message
WORDS = {"none": None, "true": True, "false": False}


class Setting(click.ParamType):
    """KEY=VALUE, the value read as an integer, a number, true, false, none or else text."""

    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Return the key and the value."""
        key, is_setting, text = value.partition("=")
        if not is_setting or not key.strip():
            self.fail(f"{cut(value)} is not of the form key=value.", param, ctx)
        return key.strip(), parse_value(text.strip())


class Whole(click.ParamType):
    """An integer between two others."""

    name = "integer"

    def __init__(self, least: int, most: int = MOST):
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int."""
        number = value if isinstance(value, int) else whole(str(value))
        if number is None:
            self.fail(f"{cut(value)} is not a valid integer.", param, ctx)
        if not self.least <= number <= self.most:
            self.fail(f"{cut(number)} is not from {self.least} to {self.most}.", param, ctx)
        return number


class Jobs(Whole):
    """How many restarts run side by side, or -1 for as many as there are processors, -2 for one less."""

    def __init__(self) -> None:
        super().__init__(-MOST)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int."""
        number = super().convert(value, param, ctx)
        if number == 0:
            self.fail("'0' is no number of jobs; give at least 1, or -1 for all processors.", param, ctx)
        return number


class Real(click.ParamType):
    """A finite number between two others."""

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
            self.fail(f"{cut(value)} is not from {self.least:g} to {self.most:g}.", param, ctx)
        return number


def whole(text: str) -> int | None:
    """Return the integer that a text is, or None; of no more digits than an integer of any use has."""
    text = text.strip()
    if len(text) > LONGEST or not text.lstrip("+-").isdecimal():
        return None
    try:
        return int(text)
    except ValueError:  # signs on end
        return None


def cut(value: Any) -> str:
    """Show a value in a message, cut if it is long."""
    text = str(value)
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def parse_value(text: str) -> Any:
    """Return text as the value it stands for; numbers with commas between or after them are a tuple.

    Examples
    --------
    >>> [parse_value(text) for text in ("5", "0.5", "1e-3", "true", "None", "auto")]
    [5, 0.5, 0.001, True, None, 'auto']
    >>> [parse_value(text) for text in ("500,500", "(9.5, 1)", "40,", "red,blue")]
    [(500, 500), (9.5, 1), (40,), 'red,blue']
    """
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
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
    """A number, or several with commas between them."""

    name = "NUMBER[,…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a float, or a list of floats if there are commas."""
        if not isinstance(value, str):
            return value
        try:
            numbers = [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{cut(value)} is no number, nor several with commas between them.", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


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
    """A positive integer, or the lowest and the highest with a hyphen between them."""

    name = "LOW-HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the lowest and the highest integer."""
        low, _, high = str(value).partition("-")
        least, most = whole(low), whole(high if high.strip() else low)
        if least is None or most is None or not 1 <= least <= most <= MOST:
            self.fail(f"{cut(value)} is no positive integer, nor the lowest and the highest as in 3-6.", param, ctx)
        return least, most


def _column(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", cls=ReadingOption, metavar="COL", help=text)


READING: dict[str, Callable[[Any], Any]] = {  # by the keyword of read_annotations that each is
    "kind": click.option("--kind", cls=ReadingOption, type=KINDS, help="What the annotations are."),
    "item": _column("item", "The column of items; of pairs that of the first."),
    "item_b": _column("item-b", "The column of the second item of a pair."),
    "annotator": _column("annotator", "The column of annotators."),
    "grouping": _column("grouping", "The column of groupings: whose groups belong together."),
    "group": _column("group", "The column of groups, whose names mean nothing elsewhere."),
    "label": _column("label", "The column of labels, whose names all annotators share."),
    "same": _column("same", "The column of judgements of pairs."),
    "ignore": click.option(
        "--ignore",
        cls=ReadingOption,
        metavar="COL",
        multiple=True,
        help="A column to leave out; * stands for any letters. May be repeated.",
    ),
    "transpose": click.option(
        "--transpose/--no-transpose",
        cls=ReadingOption,
        default=None,
        help="Whether the rows of a wide table are annotators.",
    ),
    "missing": click.option(
        "--missing",
        cls=ReadingOption,
        metavar="VALUE",
        multiple=True,
        help="What means that nothing was said, besides a blank cell; '' for nothing else. May be repeated.",
    ),
    "same_if": click.option(
        "--same-if",
        cls=ReadingOption,
        metavar="COND",
        help="Which judgements of pairs mean the same, such as '>=3' or '=yes'.",
    ),
    "encoding": click.option("--encoding", cls=ReadingOption, metavar="NAME", help="Of text, such as cp1252."),
    "sheet": click.option("--sheet", cls=ReadingOption, metavar="NAME", help="Of a workbook."),
}


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Options on how a file of annotations is read; those given are one argument `reading`, a dict of keywords."""

    @wraps(function)
    def gathered(**options: Any) -> None:
        given = {name: options.pop(name) for name in READING}
        reading = {name: value for name, value in given.items() if value not in (None, ())}
        if "missing" in reading:
            reading["missing"] = [value for value in reading["missing"] if value.strip()]
        function(reading=reading, **options)

    decorated: Callable[..., None] = gathered
    for option in reversed(READING.values()):
        decorated = option(decorated)
    return decorated


def flags(reading: Mapping[str, Any]) -> str:
    """Name the options that such keywords were given by.

    Examples
    --------
    >>> flags({"kind": "labels", "item_b": "card", "transpose": False})
    '--kind, --item-b, --no-transpose'
    """
    return ", ".join(f"--{'no-' if value is False else ''}{name.replace('_', '-')}" for name, value in reading.items())


@dataclass(frozen=True)
class FeatureOptions:
    """How a table of features is to be read.

    Attributes
    ----------
    item : str or None
        The column that names the items; None if it is to be found.
    categorical : tuple of str
        Columns of text that become indicator columns, as the user wrote them; "all" for every column of text.
    impute : {"median", "mean", "most_frequent"} or None
        What a missing number becomes; a missing text becomes the most frequent one. None if none may be missing.
    """

    item: str | None = None
    categorical: tuple[str, ...] = ()
    impute: str | None = None


feature_item_option = click.option(
    "--feature-item", metavar="COL", help="The column of the table of features that names the items.  [default: found]"
)


def reading_features(function: Function) -> Function:
    """Options on how a table of features is to be read, given to the function as one `feature_options`."""

    @wraps(function)
    def gathered(
        *arguments: Any, feature_item: str | None, categorical: tuple[str, ...], impute: str | None, **others: Any
    ) -> Any:
        options = FeatureOptions(feature_item, categorical, impute)
        return function(*arguments, feature_options=options, **others)

    columns = click.option(
        "--categorical",
        multiple=True,
        metavar="COL[,COL…]|all",
        help="Columns of features that are text, or 'all' that are: each becomes a column of 0 and 1 for each text in "
        "it. May be repeated.",
    )
    missing = click.option(
        "--impute",
        type=click.Choice(["median", "mean", "most_frequent"]),
        help="Fill missing features with this of their column; text with the most frequent.  [default: refuse them]",
    )
    decorated: Any = feature_item_option(columns(missing(gathered)))
    return decorated


def example(*lines: str) -> str:
    """Text that ends the help of a command; the first line keeps click from filling the others."""
    return "\b\n" + "\n  ".join(["Example:", *lines])


features_option = click.option(
    "--features", type=FILE, metavar="FILE", help="Table of features (CSV, TSV, Parquet), a row for each item."
)
scores_option = click.option(
    "--scores", type=FILE, metavar="FILE", help="Table of outside scores to test against the clusters, for the report."
)


out_option = click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FOLDER",
    default=Path("consilience-report"),
    show_default=True,
    help="Folder to write. A fit that it holds is replaced as a whole; other files in it stay.",
)
seed_option = click.option(
    "--seed",
    type=Whole(0, SEEDS),
    help="Where random numbers start; the same seed gives the same result.  [default: 0]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")


clusters_option = click.option(
    "--clusters",
    type=Count(),
    help="Number of clusters of models that can be told it, or auto: it is found.  [default: as the model does]",
)


def merged(settings: tuple[tuple[str, Any], ...], **options: tuple[str, Any]) -> dict[str, Any]:
    """Settings and the options that stand for some, each given once."""
    all_settings: dict[str, Any] = {}
    for key, value in settings:
        if key in all_settings:
            raise click.UsageError(f"--set {key} is given twice.")
        all_settings[key] = value
    for key, (option, value) in options.items():
        if value is not None and key in all_settings:
            raise click.UsageError(f"{option} and --set {key} are the same; give one of them.")
        if value is not None:
            all_settings[key] = value
    return all_settings
