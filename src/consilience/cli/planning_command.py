"""``consilience plan``: its options and help; the work is in `consilience.workflows.planning`.

Nothing here imports NumPy or a model.
"""

from __future__ import annotations

from typing import Any

import click

from consilience.cli.messages import say_result
from consilience.cli.option_types import FILE, SOURCE, Real, WholeNumber
from consilience.cli.options import example, reading_options, seed_option, words_option
from consilience.cli.program import Command

MOST = 10_000


@click.command(
    cls=Command,
    short_help="Find how many people a study of groupings needs.",
    epilog=example(
        "consilience plan --items 40 --clusters 6 --agreement 0.4",
        "consilience plan pilot.csv --target 0.9 --plot plan.svg",
        "consilience plan --items 300 --clusters 12 --agreement 0.3 --subset-size 30 --subsets-each 4",
    ),
)
@click.argument("pilot", type=SOURCE, required=False)
@click.option("--items", "n_items", type=WholeNumber(3, 3000), help="Number of items, without a PILOT.")
@click.option(
    "--clusters",
    "n_clusters",
    type=WholeNumber(2),
    help="Groups that a person would make of all items, without a PILOT.",
)
@click.option(
    "--agreement",
    type=Real(0, 1),
    help="Adjusted Rand index of two people's groupings, without a PILOT: .3 to .5 for card sorts of ordinary things, "
    ".1 to .3 for smells and tastes.",
)
@click.option(
    "--subset-size",
    type=WholeNumber(2),
    help="Items that are sorted at a time.  [default: all, or as many as in PILOT]",
)
@click.option(
    "--subsets-each", type=WholeNumber(1, 1000), default=1, show_default=True, help="Subsets that a person sorts."
)
@click.option(
    "--target",
    type=Real(0, 1),
    default=0.8,
    show_default=True,
    help="Agreement with the clusters of a second study by other people: adjusted mutual information.",
)
@click.option(
    "--max-annotators",
    type=WholeNumber(2, MOST),
    default=300,
    show_default=True,
    help="Largest number of people to try.",
)
@click.option("--draws", type=WholeNumber(1, 1000), default=10, show_default=True, help="Simulations of each number.")
@click.option("-o", "--out", type=FILE, metavar="FILE", help="CSV, TSV, Parquet or JSON file for the table.")
@click.option("--plot", type=FILE, metavar="FILE", help="SVG, PNG or PDF file for the curve.")
@words_option
@reading_options
@seed_option
@click.option("--json", "as_json", is_flag=True, help="Print the plan as one JSON object.")
def plan(*, seed: int | None, as_json: bool, **asked: Any) -> None:
    """Find by simulation how many people a study of groupings needs, for clusters that others would repeat.

    Either give PILOT, the groupings by the first people, in any format that 'fit' reads, or say how you imagine the
    study with --items, --clusters and --agreement.
    """
    from consilience.workflows import PlanRequest, plan_study

    say_result(plan_study(PlanRequest(seed=seed or 0, **asked)), as_json=as_json)
