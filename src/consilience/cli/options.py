"""Types of options, and the options that several commands share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from consilience.cli.program import ReadingOption
from consilience.workflows.jobs import CERTAINTY_DRAWS, CardSortOptions, FeatureOptions

Function = TypeVar("Function", bound=Callable[..., Any])


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
READABLE_KINDS = click.Choice([*KINDS.choices, "ratings"])  # labels that are numbers, with an order
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


def _column(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", cls=ReadingOption, metavar="COL", help=text)


READING: dict[str, Callable[[Any], Any]] = {  # by keyword of read_annotations
    "kind": click.option("--kind", cls=ReadingOption, type=READABLE_KINDS, help="Kind of annotations."),
    "item": _column("item", "Column of items; for pairs, of the first item."),
    "item_b": _column("item-b", "Column of the second item of a pair."),
    "annotator": _column("annotator", "Column of annotators."),
    "grouping": _column("grouping", "Column of groupings."),
    "group": _column("group", "Column of groups, whose names mean nothing outside their grouping."),
    "label": _column("label", "Column of labels, whose names all annotators share."),
    "same": _column("same", "Column of judgements of pairs."),
    "ignore": click.option(
        "--ignore",
        cls=ReadingOption,
        metavar="COL",
        multiple=True,
        help="Column to leave out; * matches any characters. May be repeated.",
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
        help="Value that means missing, in addition to blank cells; '' for blank cells only. May be repeated.",
    ),
    "same_if": click.option(
        "--same-if",
        cls=ReadingOption,
        metavar="COND",
        help="Judgements of pairs that mean \"same\", such as '>=3' or '=yes'.",
    ),
    "exact": click.option(
        "--exact",
        cls=ReadingOption,
        is_flag=True,
        default=None,
        help="Keep classes apart that differ only in case, spaces or form of letters.",
    ),
    "encoding": click.option("--encoding", cls=ReadingOption, metavar="NAME", help="Encoding of text, such as cp1252."),
    "sheet": click.option("--sheet", cls=ReadingOption, metavar="NAME", help="Sheet of a workbook."),
}


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add options on how a file of annotations is read; those given are passed as a dict of keywords, `reading`."""

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


feature_item_option = click.option(
    "--feature-item", metavar="COL", help="Column of the table of features that names the items.  [default: found]"
)


def reading_features(function: Function) -> Function:
    """Add options on how a table of features is read, passed to the function as `feature_options`."""

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
        help="Text columns among the features, or 'all' of them: each becomes one column of 0 and 1 for each of its "
        "values. May be repeated.",
    )
    missing = click.option(
        "--impute",
        type=click.Choice(["median", "mean", "most_frequent"]),
        help="Fill missing features with this value of their column; text with the most frequent.  "
        "[default: refuse them]",
    )
    decorated: Any = feature_item_option(columns(missing(gathered)))
    return decorated


def example(*lines: str) -> str:
    """Return the epilog of a command's help; its first line keeps click from rewrapping the others."""
    return "\b\n" + "\n  ".join(["Example:", *lines])


features_option = click.option(
    "--features", type=FILE, metavar="FILE", help="Table of features (CSV, TSV, Parquet), one row per item."
)
given_labels_option = click.option(
    "--given-labels",
    metavar="FILE|COL",
    help="Labels that came with the items, to be checked by those of the annotators: a table of items and labels, or "
    "a column of the table of features.",
)
pictures_option = click.option(
    "--pictures",
    metavar="FOLDER|FILE|COL",
    help="Pictures of the items, for the report: a folder of files named after the items; or a table of items and "
    "paths, or a column of the table of features, with paths that begin in the table's folder.",
)
ratings_option = click.option(
    "--ratings",
    type=FILE,
    metavar="FILE",
    help="Ratings of the items on one or more scales, such as importance and feasibility, to compare by cluster: a "
    "table of items, annotators and a column for each scale, or of items and their means.",
)
item_names_option = click.option(
    "--item-names",
    type=FILE,
    metavar="FILE",
    help="Texts of items that the annotations only number: a table of ids and texts, and perhaps of the paths of "
    "pictures, which begin in the table's folder.",
)
scores_option = click.option(
    "--scores", type=FILE, metavar="FILE", help="Table of external scores to test against the clusters, for the report."
)
certainty_option = click.option(
    "--certainty-draws",
    type=WholeNumber(0, 10_000),
    default=CERTAINTY_DRAWS,
    show_default=True,
    help="Number of times that the fit is repeated as if another group of people had been asked, to say what they "
    "would repeat; fewer of large annotations, and none of models whose people cannot be weighed. 0 for none.",
)

words_option = click.option(
    "--words",
    metavar="ITEMS,ANNOTATORS",
    help="What the report and the summary call items and annotators: two plurals, such as cards,participants; or with "
    "the singulars, as in Karten/Karte,Personen/Person.  [default: by the names of the columns]",
)
leave_out_option = click.option(
    "--leave-out",
    multiple=True,
    metavar="NAME[,NAME…]|FILE",
    help="Annotators to leave out, separated by commas, or a text file with a name in each line. May be repeated.",
)
people_option = click.option(
    "--people",
    type=FILE,
    metavar="FILE",
    help="What people answered: a table of annotators with a column for each question.",
)
where_option = click.option(
    "--where",
    multiple=True,
    metavar="COL=ANSWER[,…]",
    help="Keep the annotators who gave one of these answers in a column of --people, such as device=phone. May be "
    "repeated; all must hold.",
)
seconds_option = click.option(
    "--seconds",
    type=FILE,
    metavar="FILE",
    help="How long people took, for the report: a table of annotators with a column called seconds, minutes or time, "
    "of times such as 0:04:13.",
)
names_option = click.option(
    "--names",
    type=FILE,
    metavar="FILE",
    help="Corrections of the names of groups: a table with the columns name and standard, such as the "
    "standard-names.csv of a fit, edited.",
)


def card_sort_options(function: Function) -> Function:
    """Add the options of card sorts to a command, which gets them as its argument ``card_sort``."""

    @wraps(function)
    def gathered(**arguments: Any) -> None:
        asked = {field.name: arguments.pop(field.name) for field in fields(CardSortOptions)}
        function(card_sort=CardSortOptions(**asked), **arguments)

    decorated: Any = leave_out_option(people_option(where_option(names_option(seconds_option(gathered)))))
    return decorated


out_option = click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FOLDER",
    default=Path("consilience-report"),
    show_default=True,
    help="Folder to write to. An earlier fit in it is replaced as a whole; other files in it stay.",
)
seed_option = click.option(
    "--seed",
    type=WholeNumber(0, SEEDS),
    help="Random seed; the same seed gives the same result.  [default: 0]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")


clusters_option = click.option(
    "--clusters",
    type=Count(),
    help="Number of clusters, for models that take it, or auto to find it.  [default: that of the model]",
)


def merge_settings(settings: tuple[tuple[str, Any], ...], **options: tuple[str, Any]) -> dict[str, Any]:
    """Merge --set with the options that stand for some settings; each may be given once."""
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
