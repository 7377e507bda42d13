"""Commands, their options and their help; the modules that do the work are imported when a command runs.

Nothing here imports NumPy, pandas or scikit-learn, so that help is shown at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from consilience import __version__, registry
from consilience.cli.account_commands import account
from consilience.cli.asking_command import ask
from consilience.cli.completion import (
    complete_models,
    complete_settings,
    complete_settings_of_models,
    complete_several_models,
)
from consilience.cli.data_commands import convert, datasets
from consilience.cli.difference_command import difference
from consilience.cli.messages import UndecidedError, say, say_data, say_result, warn
from consilience.cli.option_types import FILE, SOURCE, Between, JobsNumber, KeyValue, NameList, WholeNumber
from consilience.cli.options import (
    card_sort_options,
    certainty_option,
    clusters_option,
    example,
    feature_item_option,
    features_option,
    given_labels_option,
    item_names_option,
    json_option,
    merge_settings,
    napping_option,
    out_option,
    pictures_option,
    ratings_option,
    reading_features,
    reading_options,
    scores_option,
    seed_option,
    words_option,
)
from consilience.cli.partitions_command import fit_partitions
from consilience.cli.planning_command import plan
from consilience.cli.program import Program, show_help
from consilience.cli.serving_command import serve
from consilience.cli.simulators import simulate
from consilience.cli.site_commands import site
from consilience.cli.store_commands import store
from consilience.cli.study_commands import study


class Span(Between):
    """The lowest and the highest integer, separated by a colon, or one integer."""

    name = "LOW:HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the lowest and the highest integer."""
        return super().convert(value.replace(":", "-") if isinstance(value, str) else value, param, ctx)


def say_fit(*, as_json: bool, **asked: Any) -> None:
    """Fit a model to files, and print what was found."""
    from consilience.workflows import FitRequest
    from consilience.workflows import fit as run

    request = FitRequest(**asked)
    result = run(request)
    for text in result.warnings if as_json else ():
        warn(text)
    say_result(result, as_json=as_json)
    if result.is_undecided:
        raise UndecidedError(f"Undecided: see the warning. The results were nevertheless written to {request.out}.")


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example(
        "consilience simulate experts iris --out experts.csv --features-out iris.csv",
        "consilience fit experts.csv --features iris.csv",
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name="consilience")
def main() -> None:
    """Combine many people's partial, noisy groupings and labels into one clustering that can be trusted.

    Start with 'consilience fit': it reads annotations, finds the clusters or classes, and writes a report. Results go
    to standard output, notes and progress to standard error. Exit codes: 0 success, 1 failure, 2 wrong usage or bad
    input, 130 interrupted.
    """
    show_help()


@main.command(
    short_help="Find the clusters or classes behind annotations, and write a report.",
    epilog=example(
        "consilience fit experts.csv --features patients.csv --set max_clusters=20 --out study",
        "consilience fit cardsort.csv --clusters 5",
        "consilience fit labels.csv --gold checked.csv",
        "consilience fit labels.csv --model auto",
    ),
)
@click.argument("annotations", type=SOURCE)
@features_option
@reading_features
@click.option(
    "--model",
    metavar="NAME",
    shell_complete=complete_models,
    help=f"One of {', '.join(registry.ESTIMATORS)}; or auto: the model that 'consilience compare' ranks first.  "
    "[default: depends on ANNOTATIONS, see above]",
)
@clusters_option
@click.option(
    "--set",
    "settings",
    type=KeyValue(),
    multiple=True,
    shell_complete=complete_settings,
    help="Set a parameter of the model to a number, numbers separated by commas, true, false, none, a list in JSON "
    "or text; may be repeated.",
)
@card_sort_options
@certainty_option
@words_option
@out_option
@scores_option
@given_labels_option
@pictures_option
@ratings_option
@napping_option
@item_names_option
@reading_options
@click.option(
    "--gold", type=FILE, metavar="FILE", help="Table of items and their known classes, for models that can use it."
)
@click.option(
    "--history",
    type=FILE,
    metavar="FILE",
    help="The counts.csv of an earlier fit: labels counted before, for models that can use them.",
)
@click.option("--no-standardize", is_flag=True, help="Use features unscaled; by default each has variance 1.")
@seed_option
@click.option("--jobs", type=JobsNumber(), help="Number of restarts to run in parallel; -1 uses all processors.")
@json_option
def fit(
    *, settings: tuple[tuple[str, Any], ...], no_standardize: bool, seed: int | None, jobs: int | None, **asked: Any
) -> None:
    """Find the clusters or classes behind ANNOTATIONS, and what each annotator's labels mean or are worth.

    ANNOTATIONS is a file of delimited text, Excel, Parquet or JSON, or - for standard input: a long table (item,
    annotator, grouping, group; or item, annotator, label; or item_a, item_b, annotator, same), a wide table of items
    and annotators, or an export of another tool. A note says how it was read; the reading options change that. The
    table of features has one column with the names of the items; every other column holds numbers, or text if
    --categorical says so. Items without annotations are clustered by their features.

    Without --model, the kind of ANNOTATIONS decides: groupings with features are fitted by PartitionLabelModel,
    groupings alone by SubsetFusion; labels with features by DawidSkeneClassifier, without by DawidSkene; ratings
    (--kind ratings: labels that are numbers, such as 1 to 5) by OrdinalRatings; tags (--kind tags: several labels an
    item, or none) by TagConsensus; judgements of pairs with features by
    MECC, without by CorrelationClustering.

    Models of groupings or of judgements of pairs find clusters. They write report.html, clusters.csv, annotators.csv,
    mapping.csv (if the model estimates what groups mean), views.csv (if it finds several views: the clusters of each),
    standard-names.csv and placements.csv (if people named their groups: their spellings merged into one name, and how
    many people put each item under each), ratings.csv (of --ratings: the means of each item), model.zip and
    summary.json.

    Models of labels find the class of each item, among the names that annotators share; give --kind labels for a wide
    table of labels. Only DawidSkeneClassifier uses features; with other models they are shown in the report only. They
    write report.html, labels.csv, votes.csv (the labels of each item beside the probabilities), annotators.csv,
    confusion.csv, counts.csv (if the model counts), placements.csv (if annotators labelled most of the items: how many
    gave each label), given-labels.csv (of --given-labels), model.zip and summary.json. Of very many classes,
    confusion.csv lists only the cells that have labels, with their counts, and there is no counts.csv.

    If nothing was found, or no more than chance, a warning says so before the result and under "warnings" in
    summary.json. If judgements of pairs without features do not decide, the exit code is 1; all files are written.

    Inputs are never overwritten, nor are files in the folder that no fit wrote; the files of an earlier fit are
    replaced all at once.
    """
    chosen = merge_settings(settings, random_state=("--seed", seed), n_jobs=("--jobs", jobs))
    say_fit(settings=chosen, standardize=not no_standardize, **asked)


@main.command(
    short_help="Compare models or numbers of clusters by how well they predict held-out annotations.",
    epilog=example(
        "consilience compare experts.csv --features patients.csv",
        "consilience compare sorts.csv --models SubsetFusion --clusters 2:8 --out table.csv",
    ),
)
@click.argument("annotations", type=SOURCE)
@features_option
@reading_features
@click.option(
    "--models",
    type=NameList(),
    metavar="NAME[,…]",
    shell_complete=complete_several_models,
    help="Models to compare.  [default: all that can be fitted]",
)
@click.option(
    "--set",
    "settings",
    type=KeyValue(),
    multiple=True,
    metavar="MODEL.KEY=VALUE",
    shell_complete=complete_settings_of_models,
    help="Set a parameter of one of the models; may be repeated.",
)
@click.option(
    "--clusters",
    type=Span(),
    help="Numbers of clusters to try, for models with that parameter.  [default: 2, 3, 4, 6 and 8 for models that do "
    "not find it]",
)
@click.option(
    "--by",
    type=click.Choice(["clusters", "model", "forecast"]),
    default="clusters",
    show_default=True,
    help="What predicts a judgement: whether the model's clusters put the two items together, with the same model of "
    "annotators for all; the model itself, which may know more or less about annotators; or its forecast for new "
    "people.",
)
@click.option("--folds", type=WholeNumber(2), default=5, show_default=True, help="Number of fits of each model.")
@click.option(
    "--hold-out",
    "level",
    type=click.Choice(["auto", "groupings", "judgements"]),
    default="auto",
    show_default=True,
    help="What is held out: whole groupings, or a part of each annotator's judgements.",
)
@click.option(
    "--max-pairs",
    type=WholeNumber(1),
    default=20_000,
    show_default=True,
    help="Largest number of judgements to predict.",
)
@click.option("--no-standardize", is_flag=True, help="Use features unscaled; by default each has variance 1.")
@click.option("-o", "--out", type=FILE, metavar="FILE", help="CSV, TSV, Parquet or JSON file for the table.")
@words_option
@reading_options
@seed_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON object.")
def compare(
    *, settings: tuple[tuple[str, Any], ...], no_standardize: bool, seed: int | None, as_json: bool, **asked: Any
) -> None:
    """Compare models on ANNOTATIONS without known classes, by how well they predict held-out judgements.

    A part of the annotations is held out; each model is fitted to the rest and predicts whether annotators put two
    items together. The table shows the log loss of these predictions (lower is better), the difference from the best
    model, both with standard errors, the share predicted correctly, and the time and memory of a fit. "chance" knows
    only how often annotators put two items together, and "co-occurrence" how often they put these two together.

    ANNOTATIONS, of any kind, and features are read as by 'fit'.
    """
    from consilience.workflows import ComparisonRequest
    from consilience.workflows import compare as run

    standardize = not no_standardize
    request = ComparisonRequest(settings=merge_settings(settings), standardize=standardize, seed=seed or 0, **asked)
    say_result(run(request), as_json=as_json)


@main.command(
    short_help="Fuse groupings of different subsets of the items into one clustering, and write a report.",
    epilog=example("consilience fuse cardsort.csv --out study", "consilience fuse sorts.csv --clusters 8 --seed 1"),
)
@click.argument("groupings", type=SOURCE)
@clusters_option
@click.option(
    "--normalize",
    type=click.Choice(["degree", "presented", "none"]),
    default="degree",
    show_default=True,
    help="Coordinates of the items: by groups and their sizes; by the share of presentations in which two items were "
    "put together; or as in the paper, where two items that were never presented together count as apart.",
)
@click.option("--no-refine", is_flag=True, help="Keep the clusters of k-means as they are.")
@card_sort_options
@certainty_option
@words_option
@out_option
@pictures_option
@ratings_option
@napping_option
@item_names_option
@reading_options
@seed_option
@json_option
def fuse(*, groupings: Path, normalize: str, no_refine: bool, seed: int | None, **asked: Any) -> None:
    """Fuse GROUPINGS of items, each of which may hold only a few items, into one clustering.

    GROUPINGS is a file in any format that 'fit' reads, or - for standard input: a long table of item, annotator,
    grouping and group, a wide table, or a card sort export. The command equals 'fit --model SubsetFusion', the default
    of 'fit' for groupings without features, with options of its own.

    The folder then holds report.html, clusters.csv (the label -1 for items that nobody grouped), annotators.csv,
    standard-names.csv and placements.csv (if people named their groups), ratings.csv (of --ratings), model.zip and
    summary.json.
    """
    settings = {"normalize": None if normalize == "none" else normalize, "refine": not no_refine}
    say_fit(annotations=groupings, model="SubsetFusion", settings=settings | {"random_state": seed or 0}, **asked)


@main.command(
    short_help="Write the report of a saved model again.",
    epilog=example("consilience report study/model.zip experts.csv --features patients.csv --scores survival.csv"),
)
@click.argument("model", type=FILE)
@click.argument("annotations", type=SOURCE)
@features_option
@reading_features
@scores_option
@given_labels_option
@pictures_option
@ratings_option
@napping_option
@item_names_option
@card_sort_options
@certainty_option
@words_option
@reading_options
@click.option(
    "--short",
    is_flag=True,
    help="Write the short form, at most two printed pages: the answer, the clusters, a picture and who took part.",
)
@click.option(
    "-o", "--out", type=FILE, metavar="FILE", default=Path("report.html"), show_default=True, help="HTML file to write."
)
def report(model: Path, **asked: Any) -> None:
    """Write the report of MODEL, saved by 'fit', and of the ANNOTATIONS and features that it was fitted to."""
    from consilience.workflows import ReportRequest, report_again

    say(str(report_again(ReportRequest(saved=model, **asked))))


@main.command(
    short_help="Predict the clusters or classes of new items.",
    epilog=example(
        "consilience predict study/model.zip new-patients.csv --proba --out clusters.csv",
        "consilience predict study/model.zip new-labels.csv --out classes.csv",
    ),
)
@click.argument("model", type=FILE)
@click.argument("table", type=SOURCE)
@click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FILE",
    help="CSV, TSV, Parquet or JSON file to write.  [default: CSV to standard output]",
)
@click.option("--proba", is_flag=True, help="Add the probability of every cluster or class.")
@feature_item_option
@item_names_option
@reading_options
def predict(model: Path, **asked: Any) -> None:
    """Predict the cluster or class of every item of TABLE, and its probability, with MODEL, saved by 'fit'.

    TABLE holds features, or, for a model of labels, new labels by the annotators that it was fitted to, in any format
    that 'fit' reads.
    """
    from consilience.workflows import PredictionRequest
    from consilience.workflows import predict as run

    request = PredictionRequest(saved=model, **asked)
    table = run(request)
    if request.out is None:
        say_data(table.to_csv(index=False, lineterminator="\n"))


for command in (account, convert, datasets, difference, fit_partitions, site, plan, ask, serve, simulate, store, study):
    main.add_command(command)


@main.command("help", short_help="Show the help of a command.", epilog=example("consilience help study create"))
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def show_help_of(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of a COMMAND, or of the whole program."""
    around, command = ctx.find_root(), ctx.find_root().command
    for name in names:
        within = command.get_command(around, name) if isinstance(command, click.Group) else None
        if within is None:
            raise click.UsageError(f"'{around.command_path}' has no command {name}.")
        around, command = click.Context(within, info_name=name, parent=around), within
    click.echo(around.get_help())
