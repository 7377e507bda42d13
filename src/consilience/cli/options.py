"""Types of options, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from consilience.cli.option_types import FILE, READABLE_KINDS, SEEDS, Count, WholeNumber
from consilience.cli.program import ReadingOption
from consilience.workflows.jobs import CERTAINTY_DRAWS, CardSortOptions, FeatureOptions

Function = TypeVar("Function", bound=Callable[..., Any])


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
napping_option = click.option(
    "--napping",
    type=FILE,
    metavar="FILE",
    help="Where each annotator placed the items on a sheet, beside the groups, for the compromise map of the panel: a "
    "table of items, annotators, x and y, or of items with two columns for each annotator, such as X1 and Y1.",
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
given_groups_option = click.option(
    "--given-groups",
    multiple=True,
    metavar="NAME[,NAME…]|FILE",
    help="The groups that everybody was given in a hybrid sort, separated by commas, or a text file with a name in "
    "each line, to tell them from people's own in the report. May be repeated.  [default: what the file tells]",
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

    decorated: Any = names_option(seconds_option(given_groups_option(gathered)))
    return leave_out_option(people_option(where_option(decorated)))


def folder_option(folder: str, what: str = "result") -> Callable[[Any], Any]:
    """Return the option for the folder to write to, where an earlier one is replaced."""
    text = f"Folder to write to. An earlier {what} in it is replaced as a whole; other files in it stay."
    default = Path(folder)
    return click.option("-o", "--out", type=FILE, metavar="FOLDER", default=default, show_default=True, help=text)


out_option = folder_option("consilience-report", "fit")
seed_option = click.option(
    "--seed", type=WholeNumber(0, SEEDS), help="Random seed; the same seed gives the same result.  [default: 0]"
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
