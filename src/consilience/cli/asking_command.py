"""``consilience ask``: its options and help; the work is in `consilience.workflows.asking`.

Nothing here imports NumPy or a model.
"""

from __future__ import annotations

from typing import Any

import click

from consilience.cli.messages import say_result
from consilience.cli.option_types import FILE, SOURCE, Real, WholeNumber
from consilience.cli.options import example, reading_options, seed_option
from consilience.cli.program import Command

MOST = 1_000_000


@click.command(
    cls=Command,
    short_help="Choose the items to be labelled next, and by whom.",
    epilog=example(
        "consilience ask labels.csv --n-labels 100 --out next.csv",
        "consilience ask labels.csv --all-items items.csv --whom Ann --whom Bo=2.5 --most-each 20",
        "consilience ask labels.csv --target 0.02 --json",
    ),
)
@click.argument("annotations", type=SOURCE)
@click.option("--all-items", type=FILE, metavar="FILE", help="Table with all items, those without labels too.")
@click.option(
    "--n-labels", type=WholeNumber(1, MOST), default=20, show_default=True, help="How many labels to ask for."
)
@click.option(
    "--whom",
    multiple=True,
    metavar="NAME[=COST]",
    help="An annotator who is at hand, and what a label by them costs; several times for several. By default questions "
    "are for nobody in particular.",
)
@click.option("--most-each", type=WholeNumber(1, MOST), help="Most questions to one annotator.")
@click.option("--max-per-item", type=WholeNumber(1, MOST), help="Ask about no item more often than this.")
@click.option(
    "--random-share",
    type=Real(0, 1),
    default=0.1,
    show_default=True,
    help="Share of the questions about items that are drawn at random, to check the others.",
)
@click.option(
    "--target",
    type=Real(0, 1),
    default=0.05,
    show_default=True,
    help="Share of the items whose class may be wrong, for the forecast of labels needed.",
)
@click.option(
    "--floor",
    type=Real(0, MOST),
    default=1.0,
    show_default=True,
    help="Number of items that the next hundred labels are to put right, else it is time to stop.",
)
@click.option("-o", "--out", type=FILE, metavar="FILE", help="CSV, TSV, Parquet or JSON file for the questions.")
@reading_options
@seed_option
@click.option("--json", "as_json", is_flag=True, help="Print the questions and the forecast as one JSON object.")
def ask(*, seed: int | None, as_json: bool, **asked: Any) -> None:
    """Choose the items to be labelled next, and whom to ask, where a label is expected to put most items right.

    ANNOTATIONS are the labels so far, in any format that 'fit' reads. It also says how many labels a target error
    needs, and whether it is time to stop.
    """
    from consilience.workflows import AskRequest, ask_for_labels

    say_result(ask_for_labels(AskRequest(seed=seed or 0, **asked)), as_json=as_json)
