"""``consilience simulate``: its commands, their options and help; see `commands`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from consilience.cli.completion import complete_sources
from consilience.cli.messages import say
from consilience.cli.option_types import FILE, SEEDS, Between, Numbers, Real, WholeNumber
from consilience.cli.options import Function, example
from consilience.cli.program import Program, show_help

MOST_SIMULATED = 1_000_000  # annotators, items, subsets and so on


@click.group(
    cls=Program,
    short_help="Simulate annotators of items whose classes are known.",
    epilog=example("consilience simulate crowd digits --annotators 30 --items-each 100 --out crowd.csv"),
)
def simulate() -> None:
    """Simulate annotators of items whose classes are known, to try a design before people are asked."""
    show_help()


def simulation_options(function: Function) -> Function:
    """Add the options that all simulators share."""
    options: list[Callable[[Any], Any]] = [
        click.argument("source", shell_complete=complete_sources),
        click.option("-o", "--out", type=FILE, metavar="FILE", required=True, help="File of annotations to write."),
        click.option(
            "--features-out", type=FILE, metavar="FILE", help="Also write the features, for 'fit --features'."
        ),
        click.option(
            "--class-column", default="class", show_default=True, help="Column of classes, if SOURCE is a file."
        ),
        click.option("--seed", type=WholeNumber(0, SEEDS), default=0, show_default=True, help="Random seed."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@simulate.command(
    short_help="Experts who each answer one yes-or-no question about the classes.",
    epilog=example("consilience simulate experts iris --observed 0.3 --out experts.csv --features-out iris.csv"),
)
@simulation_options
@click.option(
    "--annotators", type=WholeNumber(1, MOST_SIMULATED), default=10, show_default=True, help="Number of experts."
)
@click.option("--observed", type=Real(0, 1), default=1.0, show_default=True, help="Share of each expert's labels kept.")
@click.option(
    "--flip", type=Real(0, 1), default=0.1, show_default=True, help="Share of each expert's labels that are wrong."
)
def experts(source: str, annotators: int, seed: int, **options: Any) -> None:
    """Simulate experts who label some classes positive, some negative and the others not, with occasional errors.

    SOURCE is a data set listed by 'consilience datasets', or a table with a column of items and one of classes.
    """
    from consilience.simulation import simulate_experts
    from consilience.workflows.data_sets import simulate as run

    say(run(simulate_experts, source, n_annotators=annotators, random_state=seed, **options))


@simulate.command(
    short_help="Annotators who each sort some of the items into groups.",
    epilog=example("consilience simulate crowd digits --annotators 30 --items-each 100 --merge 0.3 --out crowd.csv"),
)
@simulation_options
@click.option(
    "--annotators", type=WholeNumber(1, MOST_SIMULATED), default=20, show_default=True, help="Number of annotators."
)
@click.option(
    "--items-each", type=WholeNumber(1, MOST_SIMULATED), help="Number of items that each of them sees.  [default: all]"
)
@click.option(
    "--accuracy",
    type=Numbers(),
    default=0.9,
    show_default=True,
    help="Probability of the right group: one for all, or one for each.",
)
@click.option("--merge", type=Real(0, 1), default=0.0, show_default=True, help="Coarseness of groups, from 0 to 1.")
def crowd(source: str, annotators: int, seed: int, **options: Any) -> None:
    """Simulate a crowd that sorts items into groups, more or less finely and carefully.

    SOURCE is a data set listed by 'consilience datasets', or a table with a column of items and one of classes.
    """
    from consilience.simulation import simulate_crowd
    from consilience.workflows.data_sets import simulate as run

    say(run(simulate_crowd, source, n_annotators=annotators, random_state=seed, **options))


@simulate.command(
    short_help="Agents that each cluster subsets of the items by some of their features.",
    epilog=example(
        "consilience simulate agents --items 200 --subsets 500 --out groupings.csv --truth-out truth.csv",
        "consilience simulate agents --features iris.csv --classes class --subsets 300 --out groupings.csv",
    ),
)
@click.option("-o", "--out", type=FILE, metavar="FILE", required=True, help="File of groupings to write.")
@click.option("--truth-out", type=FILE, metavar="FILE", help="Also write the items' true clusters.")
@click.option("--features-out", type=FILE, metavar="FILE", help="Also write the features.")
@click.option(
    "--features",
    metavar="FILE|NAME",
    help="Features of the items: a table, or a data set listed by 'consilience datasets'.  [default: drawn at random]",
)
@click.option("--classes", metavar="COLUMN", help="Column of the table of features that holds the true clusters.")
@click.option("--items", type=WholeNumber(1, MOST_SIMULATED), help="Number of items to draw.  [default: 200]")
@click.option(
    "--clusters", type=WholeNumber(1, MOST_SIMULATED), help="Number of clusters to draw them from.  [default: 10]"
)
@click.option("--dimensions", type=WholeNumber(1, MOST_SIMULATED), help="Number of features to draw.  [default: 8]")
@click.option(
    "--separation", type=Real(0.1, 20), help="Distance between clusters, from 0.1 (none) to 20.  [default: 5]"
)
@click.option(
    "--subsets", type=WholeNumber(1, MOST_SIMULATED), default=500, show_default=True, help="Number of subsets."
)
@click.option(
    "--subset-size",
    type=WholeNumber(1, MOST_SIMULATED),
    default=8,
    show_default=True,
    help="Number of items per subset.",
)
@click.option(
    "--annotators",
    type=WholeNumber(1, MOST_SIMULATED),
    help="Number of agents, who take turns.  [default: a new one for each subset]",
)
@click.option("--groups", type=Between(), default="3-6", show_default=True, help="Number of groups per subset.")
@click.option(
    "--features-each", type=Between(), default="4-8", show_default=True, help="Number of features that an agent uses."
)
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(["kmeans", "ward", "average", "gaussian"]),
    multiple=True,
    default=["kmeans", "ward"],
    show_default=True,
    help="Clustering algorithm of the agents; may be repeated.",
)
@click.option("--seed", type=WholeNumber(0, SEEDS), default=0, show_default=True, help="Random seed.")
def agents(
    out: Path,
    truth_out: Path | None,
    features_out: Path | None,
    features: str | None,
    classes: str | None,
    items: int | None,
    clusters: int | None,
    dimensions: int | None,
    separation: float | None,
    **options: Any,
) -> None:
    """Simulate agents that cluster subsets of the items by some of the features.

    The number of groups, the number of features and the algorithm differ from agent to agent. Items are drawn from
    Gaussian clusters, or are those of --features.
    """
    from consilience.workflows.simulated_agents import simulate_agents as run

    drawn: dict[str, Any] = {"items": items, "clusters": clusters, "dimensions": dimensions, "separation": separation}
    given = [name for name, value in drawn.items() if value is not None]
    if features is not None and given:
        raise click.UsageError(f"--{given[0]} is for items drawn at random; with --features leave it out.")
    if features is None and classes is not None:
        raise click.UsageError("--classes needs --features.")
    say(run(features, classes, drawn=drawn, out=out, truth_out=truth_out, features_out=features_out, **options))
