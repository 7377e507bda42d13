"""``consilience fit-partitions``: its options and help; the work is in `consilience.workflows.partitioned`.

Nothing here imports NumPy or a model.
"""

from __future__ import annotations

from typing import Any

import click

from consilience import registry
from consilience.cli.completion import complete_settings
from consilience.cli.messages import say_result
from consilience.cli.option_types import FILE, JobsNumber, KeyValue, NameList, WholeNumber
from consilience.cli.options import READING, example, json_option, merge_settings, out_option, seed_option
from consilience.cli.program import Command

MOST_WORKERS = 1024
ENTRIES = sorted(
    (entry for entry in registry.ESTIMATORS.values() if entry.over_partitions is not None), key=lambda entry: entry.name
)
MODELS = [entry.name for entry in ENTRIES]
OF_LABELS = [entry.name for entry in ENTRIES if entry.reads == ("labels",)]
OF_FEATURES = [entry.name for entry in ENTRIES if entry.kind == "semisupervised"]  # of which those of pairs need none
OF_BOTH = [entry.name for entry in ENTRIES if entry.name in OF_FEATURES and "pairs" in entry.reads]
OF_GROUPS = [name for name in MODELS if name not in OF_LABELS + OF_FEATURES]


@click.command(
    "fit-partitions",
    cls=Command,
    short_help="Find the classes or clusters behind labels that do not fit in memory.",
    epilog=example(
        "consilience fit-partitions labels/ --out classes",
        "consilience fit-partitions labels/ --workers 4 --checkpoint fit.npz",
        "consilience fit-partitions labels/ --scheduler tcp://cluster:8786",
        "consilience fit-partitions sorts/ --model KCC --set n_clusters=5 --seed 0",
    ),
)
@click.argument("table", type=FILE)
@click.option(
    "--model",
    type=click.Choice(MODELS, case_sensitive=False),
    metavar="|".join(MODELS),
    default="DawidSkene",
    show_default=True,
    help=f"{', '.join(OF_LABELS)}: names that all annotators share. {', '.join(OF_GROUPS)}: groups that only their "
    f"annotators know. {', '.join(name for name in OF_FEATURES if name not in OF_BOTH)}: such groups of items with "
    f"features. {', '.join(OF_BOTH)}: with or without.",
)
@click.option(
    "--set",
    "settings",
    type=KeyValue(),
    multiple=True,
    shell_complete=complete_settings,
    help="Set a parameter of the model; may be repeated.",
)
@click.option(
    "--features",
    type=NameList(),
    metavar="COL,COL…",
    help=f"Columns of features, for {', '.join(OF_FEATURES[:-1])} and {OF_FEATURES[-1]}.",
)
@click.option(
    "--annotators",
    type=NameList(),
    metavar="COL,COL…",
    help="Columns of labels, one for each annotator, with --features.",
)
@seed_option
@click.option(
    "--jobs", type=JobsNumber(), help="Number of threads, each of which holds one partition; -1 uses all processors."
)
@click.option(
    "--workers",
    type=WholeNumber(1, MOST_WORKERS),
    help="Number of processes of a Dask cluster to start on this machine; each keeps its partitions in memory.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Address of a Dask cluster, whose workers read TABLE by the same path."
)
@click.option(
    "--checkpoint",
    type=FILE,
    metavar="FILE",
    help="File to keep the last finished sweep in; the same command goes on from there.",
)
@out_option
@READING["item"]
@READING["annotator"]
@READING["label"]
@READING["missing"]
@READING["exact"]
@json_option
def fit_partitions(*, settings: tuple[tuple[str, Any], ...], seed: int | None, as_json: bool, **asked: Any) -> None:
    """Find the class or cluster of each item in TABLE, a folder of Parquet files, which need not fit in memory.

    Each file is a partition: a long table of items, annotators and labels. All rows of an item have to be in one file.
    With --features a file has a row for each item: its features, and a column of labels for each annotator. The files
    are read one at a time, by threads or by the workers of a Dask cluster; only sums, and samples of a fixed size,
    travel.

    DawidSkene, OrdinalRatings, ProductMixture and StagewiseEM write labels.parquet (the class of each item and its
    probability), annotators.csv, confusion.csv, counts.csv (DawidSkene, for 'consilience fit --history') and
    summary.json; the others clusters.parquet, annotators.csv, centroids.csv (KCC: shares of the groups in each
    cluster), mapping.csv (PartitionLabelModel: what each group means) or views.csv (MECC, MCVC), and summary.json.
    """
    from consilience.workflows import PartitionsRequest
    from consilience.workflows import fit_partitions as run

    reading = {name: asked.pop(name) for name in ("item", "annotator", "label", "missing", "exact")}
    chosen = merge_settings(settings, random_state=("--seed", seed))
    say_result(run(PartitionsRequest(reading=reading, settings=chosen, **asked)), as_json=as_json)
