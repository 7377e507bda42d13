"""The commands `convert` and `datasets`: annotations in another form, and the data sets of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from consilience.cli.completion import complete_data_sets
from consilience.cli.messages import say, say_json, say_result
from consilience.cli.option_types import FILE, KINDS, SOURCE
from consilience.cli.options import example, item_names_option, reading_options
from consilience.cli.program import Command


@click.command(
    cls=Command,
    short_help="Write annotations as a long table, or as another kind.",
    epilog=example("consilience convert cardsort.csv pairs.parquet --to pairs"),
)
@click.argument("source", type=SOURCE, metavar="IN")
@click.argument("out", type=FILE)
@click.option("--to", type=KINDS, help="Convert to this kind.")
@item_names_option
@reading_options
def convert(source: Path, out: Path, **asked: Any) -> None:
    """Read annotations from IN, in any format that 'fit' reads, and write their long table to OUT.

    IN may be - for standard input. OUT ends in .csv, .tsv, .parquet or .json. Groupings and labels can become
    pairs, and labels groupings.
    """
    from consilience.workflows.data_sets import convert as run

    say(f"{out}: {run(source, out, **asked)}")


@click.command(
    cls=Command,
    short_help="List the data sets, or write one to a file.",
    epilog=example("consilience datasets iris --what features --out iris.csv"),
)
@click.argument("name", required=False, shell_complete=complete_data_sets)
@click.option("-o", "--out", type=FILE, metavar="FILE", help="File to write; needs NAME.")
@click.option(
    "--what",
    type=click.Choice(["annotations", "features", "classes"]),
    help="What to write.  [default: annotations if there are any, else features]",
)
@click.option(
    "--tutorial",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the tables that the tutorials read into FOLDER, such as . for this one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def datasets(name: str | None, out: Path | None, what: str | None, tutorial: Path | None, as_json: bool) -> None:
    """List the available data sets, describe NAME, or write its annotations, features or classes to a file.

    Most are read from the folder given by the environment variable CONSILIENCE_DATA.
    """
    from consilience.workflows.data_sets import describe_data_set, describe_data_sets, write_data_set, write_tutorial

    if tutorial is not None and (name, out, what) != (None, None, None):
        raise click.UsageError("--tutorial needs neither NAME nor --out nor --what.")
    if name is None and out is not None:
        raise click.UsageError("--out needs the NAME of a data set.")
    if what is not None and out is None:
        raise click.UsageError("--what needs --out.")
    if tutorial is not None:
        say_result(write_tutorial(tutorial), as_json=as_json)
    elif name is None:
        found = describe_data_sets()
        say_json(found.summary["data_sets"]) if as_json else say(found.text)
    else:
        say_result(describe_data_set(name) if out is None else write_data_set(name, out, what=what), as_json=as_json)
