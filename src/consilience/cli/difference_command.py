"""``consilience difference``: its options and help; the work is in `consilience.workflows.difference`.

Nothing here imports NumPy or a model.
"""

from __future__ import annotations

from typing import Any

import click

from consilience.cli.messages import say_result
from consilience.cli.option_types import SOURCE, WholeNumber
from consilience.cli.options import (
    clusters_option,
    example,
    folder_option,
    item_names_option,
    json_option,
    people_option,
    reading_options,
    seed_option,
)
from consilience.cli.program import Command


@click.command(
    cls=Command,
    short_help="Say whether two studies of the same items differ, and what moved.",
    epilog=example(
        "consilience difference before.csv after.csv --out redesign",
        "consilience difference experts.xlsx laypeople.xlsx --names experts,laypeople --words products,assessors",
        "consilience difference monday.csv friday.csv --same-people",
        "consilience difference cardsort.csv --people people.csv --by device=phone,desktop",
    ),
)
@click.argument("first", type=SOURCE)
@click.argument("second", type=SOURCE, required=False)
@people_option
@click.option(
    "--by",
    metavar="COL[=ANSWER,ANSWER]",
    help="Compare two segments of one study, by a column of --people: device=phone,desktop for two answers, "
    "device=phone for one and all others, device if there are two.",
)
@click.option("--names", metavar="NAME,NAME", help="What to call the two studies.  [default: the names of the files]")
@click.option(
    "--same-people",
    is_flag=True,
    help="Annotators of the same name are the same people in both studies.  [default: different people]",
)
@clusters_option
@click.option(
    "--permutations",
    type=WholeNumber(99, 100_000),
    default=999,
    show_default=True,
    help="Number of times that people are exchanged between the studies at random.",
)
@click.option(
    "--certainty-draws",
    type=WholeNumber(0, 10_000),
    default=100,
    show_default=True,
    help="Number of times that the clusters of each study are found again, for the probabilities of moves; 0 for none.",
)
@click.option(
    "--words",
    metavar="ITEMS,ANNOTATORS",
    help="What the report calls items and annotators, such as cards,participants.  [default: by the file]",
)
@folder_option("consilience-difference")
@item_names_option
@reading_options
@seed_option
@json_option
def difference(*, names: str | None, seed: int | None, as_json: bool, **asked: Any) -> None:
    """Say whether the studies FIRST and SECOND of the same items differ more than two groups of the same people would.

    Both are groupings or labels, in any format that 'fit' reads: before and after a redesign, two panels, two
    countries, experts and laypeople. Without SECOND, what people answered (--people, --by) divides FIRST into two. The
    reading options hold for both files. Items are matched by name; those in one study only are listed, but not
    compared.

    The folder then holds report.html, items.csv (how much each item changed, whether it moved, its cluster in both
    studies), pairs.csv (how often each two items were together in both, with intervals), flow.csv (how many items of
    each cluster are in which cluster of the other study), agreement.csv, power.csv (how small a difference would be
    found) and summary.json.
    """
    from consilience.workflows import DifferenceRequest, compare_studies

    given = None if names is None else [name.strip() for name in names.split(",")]  # a blank one is refused
    say_result(compare_studies(DifferenceRequest(names=given, seed=seed or 0, **asked)), as_json=as_json)
