"""Commands, their options and their help; the work is done by modules that are imported when a command runs.

So that help is shown at once, nothing here imports NumPy, pandas or scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from consilience import __version__, registry
from consilience.cli.options import (
    ALL_KINDS,
    FILE,
    Function,
    Numbers,
    Setting,
    example,
    features_option,
    merged,
    reading_options,
    scores_option,
)
from consilience.cli.program import Program, show_help

DEFAULT_MODEL = "PartitionLabelModel"


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example(
        "consilience simulate experts iris --out experts.csv --features-out iris.csv",
        "consilience fit experts.csv --features iris.csv",
    ),
)
@click.version_option(__version__, prog_name="consilience")
def main() -> None:
    """Turn many people's partial, noisy groupings and labels into one clustering that can be trusted.

    Start with 'consilience fit': it reads what people said, finds the clusters or classes, and writes a report. Results
    go to standard output, notes and progress to standard error. Exit codes: 0 done, 2 wrong usage or bad input, 1
    failed.
    """
    show_help()


@main.command(
    short_help="Find the clusters or classes behind annotations, and write a report.",
    epilog=example(
        "consilience fit experts.csv --features patients.csv --set max_clusters=20 --out study",
        "consilience fit labels.csv --model DawidSkene --gold checked.csv",
    ),
)
@click.argument("annotations", type=FILE)
@features_option
@click.option(
    "--model",
    metavar="NAME",
    default=DEFAULT_MODEL,
    show_default=True,
    help=f"One of {', '.join(registry.ESTIMATORS)}.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="Set a parameter of the model to a number, true, false, none or text; may be repeated.",
)
@click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FOLDER",
    default=Path("consilience-report"),
    show_default=True,
    help="Folder to write.",
)
@scores_option
@reading_options
@click.option(
    "--gold",
    type=FILE,
    metavar="FILE",
    help="Table of item and label: classes that are known, for models that take them.",
)
@click.option(
    "--history",
    type=FILE,
    metavar="FILE",
    help="The counts.csv of an earlier fit: labels counted before, for models that take them.",
)
@click.option("--no-standardize", is_flag=True, help="Take the features as they are; by default each has variance 1.")
@click.option("--seed", type=int, help="Where random numbers start; the same seed gives the same result.  [default: 0]")
@click.option("--jobs", type=int, help="Restarts side by side; -1 uses all processors.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def fit(
    annotations: Path,
    features: Path | None,
    model: str,
    settings: tuple[tuple[str, Any], ...],
    out: Path,
    scores: Path | None,
    kind: str | None,
    item_column: str | None,
    gold: Path | None,
    history: Path | None,
    no_standardize: bool,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Find the clusters or classes behind ANNOTATIONS, and what every annotator's labels mean or are worth.

    ANNOTATIONS is a CSV, TSV, Parquet or JSON file: a long table (item, annotator, grouping, group; or item, annotator,
    label; or crowd-kit's task, worker, label), a wide table (a column of items, then one for each annotator), a card
    sort export or a Label Studio export. The table of features has the items' names in a column called 'item', else in
    the first; every other column is a number. Items without annotations are clustered by their features.

    Models that read groupings find clusters. The folder then holds report.html, clusters.csv, annotators.csv,
    mapping.csv, model.zip and summary.json.

    Models that read labels alone find the class of each item, in the names that annotators share; give --kind labels
    for a wide table of them. They use no features, which then serve the report alone. The folder holds report.html,
    labels.csv, annotators.csv, confusion.csv, counts.csv (if the model counts), model.zip and summary.json.
    """
    from consilience.cli.fitting import fit as run

    chosen = merged(settings, random_state=("--seed", seed), n_jobs=("--jobs", jobs))
    run(
        annotations,
        features=features,
        scores=scores,
        kind=kind,
        column=item_column,
        known={"gold": gold, "history": history},
        model=model,
        settings=chosen,
        standardize=not no_standardize,
        out=out,
        as_json=as_json,
    )


@main.command(
    short_help="Write the report of a saved model again.",
    epilog=example("consilience report study/model.zip experts.csv --features patients.csv --scores survival.csv"),
)
@click.argument("model", type=FILE)
@click.argument("annotations", type=FILE)
@features_option
@scores_option
@reading_options
@click.option(
    "-o", "--out", type=FILE, metavar="FILE", default=Path("report.html"), show_default=True, help="HTML file to write."
)
def report(
    model: Path,
    annotations: Path,
    features: Path | None,
    scores: Path | None,
    kind: str | None,
    item_column: str | None,
    out: Path,
) -> None:
    """Write the report of MODEL, which 'fit' saved, and of the ANNOTATIONS and features that it was fitted to."""
    from consilience.cli.applying import report as run

    run(model, annotations, features=features, scores=scores, kind=kind, column=item_column, out=out)


@main.command(
    short_help="Tell the clusters or classes of new items.",
    epilog=example(
        "consilience predict study/model.zip new-patients.csv --proba --out clusters.csv",
        "consilience predict study/model.zip new-labels.csv --out classes.csv",
    ),
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FILE",
    help="CSV, TSV or Parquet file to write.  [default: CSV to standard output]",
)
@click.option("--proba", is_flag=True, help="Add the probability of every cluster or class.")
@reading_options
def predict(model: Path, table: Path, out: Path | None, proba: bool, kind: str | None, item_column: str | None) -> None:
    """Tell the cluster or class of every item of TABLE, and its probability, by MODEL, which 'fit' saved.

    TABLE has what the model tells items by: features, or for a model of labels alone new labels by the annotators that
    it was fitted to, in any format that 'fit' reads.
    """
    from consilience.cli.applying import predict as run

    run(model, table, out=out, proba=proba, kind=kind, column=item_column)


@main.group(
    cls=Program,
    short_help="Simulate annotators of items whose classes are known.",
    epilog=example("consilience simulate crowd digits --annotators 30 --items-each 100 --out crowd.csv"),
)
def simulate() -> None:
    """Simulate annotators of items whose classes are known, to try a design before people are asked."""
    show_help()


def simulation_options(function: Function) -> Function:
    """Options of all simulators."""
    options: list[Callable[[Any], Any]] = [
        click.argument("source"),
        click.option("-o", "--out", type=FILE, metavar="FILE", required=True, help="File of annotations to write."),
        click.option("--features-out", type=FILE, metavar="FILE", help="Write the features too, for 'fit --features'."),
        click.option(
            "--class-column", default="class", show_default=True, help="Column of classes, if SOURCE is a file."
        ),
        click.option("--seed", type=int, default=0, show_default=True, help="Where random numbers start."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@simulate.command(
    short_help="Experts who each answer one yes-or-no question about the classes.",
    epilog=example("consilience simulate experts iris --observed 0.3 --out experts.csv --features-out iris.csv"),
)
@simulation_options
@click.option("--annotators", type=int, default=10, show_default=True, help="Number of experts.")
@click.option("--observed", type=float, default=1.0, show_default=True, help="Share of each expert's labels kept.")
@click.option(
    "--flip", type=float, default=0.1, show_default=True, help="Share of each expert's labels that are wrong."
)
def experts(
    source: str,
    out: Path,
    features_out: Path | None,
    class_column: str,
    seed: int,
    annotators: int,
    observed: float,
    flip: float,
) -> None:
    """Simulate experts who split the classes into positive, negative and not labelled, and err now and then.

    SOURCE is a data set that 'consilience datasets' lists, or a table with a column of items and one of classes.
    """
    from consilience.cli.sources import simulate as run
    from consilience.simulation import simulate_experts

    run(
        simulate_experts,
        source,
        class_column=class_column,
        out=out,
        features_out=features_out,
        n_annotators=annotators,
        observed=observed,
        flip=flip,
        random_state=seed,
    )


@simulate.command(
    short_help="Annotators who each sort some of the items into groups.",
    epilog=example("consilience simulate crowd digits --annotators 30 --items-each 100 --merge 0.3 --out crowd.csv"),
)
@simulation_options
@click.option("--annotators", type=int, default=20, show_default=True, help="Number of annotators.")
@click.option("--items-each", type=int, help="Number of items that each of them sees.  [default: all]")
@click.option(
    "--accuracy",
    type=Numbers(),
    default=0.9,
    show_default=True,
    help="Probability of the right group: one for all, or one for each.",
)
@click.option("--merge", type=float, default=0.0, show_default=True, help="How coarsely they see, from 0 to 1.")
def crowd(
    source: str,
    out: Path,
    features_out: Path | None,
    class_column: str,
    seed: int,
    annotators: int,
    items_each: int | None,
    accuracy: Any,
    merge: float,
) -> None:
    """Simulate a crowd that sorts items into groups, more or less finely, more or less carefully.

    SOURCE is a data set that 'consilience datasets' lists, or a table with a column of items and one of classes.
    """
    from consilience.cli.sources import simulate as run
    from consilience.simulation import simulate_crowd

    run(
        simulate_crowd,
        source,
        class_column=class_column,
        out=out,
        features_out=features_out,
        n_annotators=annotators,
        items_each=items_each,
        accuracy=accuracy,
        merge=merge,
        random_state=seed,
    )


@main.command(
    short_help="Write annotations as a long table, or as another kind.",
    epilog=example("consilience convert cardsort.csv pairs.parquet --to pairs"),
)
@click.argument("source", type=FILE, metavar="IN")
@click.argument("out", type=FILE)
@click.option("--to", type=ALL_KINDS, help="Turn them into this kind.")
@click.option("--kind", type=ALL_KINDS, help="What the annotations are, if their file leaves it open.")
@click.option("--item-column", metavar="NAME", help="The column of items of a wide table.")
def convert(source: Path, out: Path, to: str | None, kind: str | None, item_column: str | None) -> None:
    """Read annotations from IN, in any format that 'fit' reads, and write their long table to OUT.

    OUT ends in .csv, .tsv, .parquet or .json. Groupings and labels can become pairs, and labels groupings.
    """
    from consilience.cli.sources import convert as run

    run(source, out, to=to, kind=kind, column=item_column)


@main.command(
    short_help="List the data sets, or write one to a file.",
    epilog=example("consilience datasets iris --what features --out iris.csv"),
)
@click.argument("name", required=False)
@click.option("-o", "--out", type=FILE, metavar="FILE", help="File to write; needs NAME.")
@click.option(
    "--what",
    type=click.Choice(["annotations", "features", "classes"]),
    help="What to write.  [default: annotations if there are any, else features]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def datasets(name: str | None, out: Path | None, what: str | None, as_json: bool) -> None:
    """List the data sets that are known, describe NAME, or write its annotations, features or classes to a file.

    Most are read from the folder that the environment variable CONSILIENCE_DATA names.
    """
    from consilience.cli.sources import datasets as run

    if name is None and out is not None:
        raise click.UsageError("--out needs the NAME of a data set.")
    if what is not None and out is None:
        raise click.UsageError("--what needs --out.")
    run(name, what=what, out=out, as_json=as_json)
