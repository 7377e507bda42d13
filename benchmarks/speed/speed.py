"""The page of seconds and memory: its parts, its tables, and the targets.

A row is one comparison: a model with its settings and its peers, in turns in one run, with the fastest run of each,
the ratio of their seconds, and the load of the machine. Seconds change with code that gives the same answers, so no
row is confirmed; `--compare` tells what takes longer than its row says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from benchmarks.experiments import Page, Part, Record
from benchmarks.speed import (
    deep,
    deep_step,
    growth,
    jobs,
    labels,
    machine,
    pairs,
    partition_labels,
    pictures,
    profiles,
    studies,
    subset_groupings,
    telling,
)
from benchmarks.speed.annotations import cells_of_annotations, compute_annotations
from benchmarks.speed.tables import (
    table_of_comparisons,
    table_of_growth,
    table_of_machine,
    table_of_profiles,
    table_of_restarts,
    table_of_start,
    table_of_sweeps,
    table_of_telling,
)

PARTS = (
    Part("machine", machine.cells_of_machine, machine.compute_machine),
    Part("annotations", cells_of_annotations, compute_annotations),
    Part("labels", labels.cells_of_labels, labels.compute_labels),
    Part("labels_large", labels.cells_of_large_labels, labels.compute_labels, is_optional=True),
    Part("labels_large_defaults", labels.cells_of_large_defaults, labels.compute_large_defaults, is_optional=True),
    Part("label_sweep", labels.cells_of_label_sweep, labels.compute_label_sweep),
    Part("stagewise", labels.cells_of_stagewise, labels.compute_stagewise),
    Part("partition_sweep", partition_labels.cells_of_partition_sweep, partition_labels.compute_partition_sweep),
    Part("partition_fits", partition_labels.cells_of_partition_fits, partition_labels.compute_partition_fits),
    Part("fusion", subset_groupings.cells_of_fusion, subset_groupings.compute_fusion),
    Part("fusion_growth", subset_groupings.cells_of_fusion_growth, subset_groupings.compute_growth),
    Part("fusion_large", subset_groupings.cells_of_large_fusion, subset_groupings.compute_growth, is_optional=True),
    Part("pair_growth", pairs.cells_of_pair_growth, pairs.compute_pair_growth),
    Part("pair_restarts", pairs.cells_of_pair_restarts, pairs.compute_pair_restarts),
    Part("pair_peers", pairs.cells_of_pair_peers, pairs.compute_pair_peers),
    Part("pair_packages", pairs.cells_of_pair_packages, pairs.compute_pair_packages, is_optional=True),
    Part("telling", telling.cells_of_telling, telling.compute_telling),
    Part("profiles", profiles.cells_of_profiles, profiles.compute_profiles),
    Part("deep", deep.cells_of_deep, deep.compute_deep),
    Part("deep_growth", deep.cells_of_deep_growth, deep.compute_deep_growth),
    Part("deep_start", deep.cells_of_deep_start, deep.compute_deep_start),
    Part("deep_step", deep_step.cells_of_deep_step, deep_step.compute_deep_step),
    Part("deep_restarts", deep_step.cells_of_deep_restarts, deep_step.compute_deep_restarts),
    Part("labels_names", labels.cells_of_names, labels.compute_names, is_optional=True),
    Part("many_classes", labels.cells_of_many_classes, labels.compute_many_classes, is_optional=True),
    Part("growth", growth.cells_of_growth, growth.compute_growth, is_optional=True),
    Part("jobs", jobs.cells_of_jobs, jobs.compute_jobs, is_optional=True),
    Part("studies", studies.cells_of_studies, studies.compute_studies, is_optional=True),
    Part("imports", jobs.cells_of_imports, jobs.compute_imports, is_optional=True),
    Part("reading", jobs.cells_of_reading, jobs.compute_reading, is_optional=True),
    Part("fits", jobs.cells_of_fits, jobs.compute_fits, is_optional=True),
)


# ---- targets


@dataclass(frozen=True)
class Target:
    """What should be reached.

    Attributes
    ----------
    text : of what
    wanted : the least or the most that is wanted, in words
    measured : what the record shows
    is_met : whether it is reached
    """

    text: str
    wanted: str
    measured: str
    is_met: bool


def targets(record: Record) -> Iterator[Target]:
    """Yield the targets of all rows that were measured."""
    yield from targets_of_jobs(record)
    yield from targets_of_names(record)
    for part, size in (("labels", "100 000 items"), ("labels_large", "1 000 000 items")):
        rows = by_model(record, part)
        for model, least in ((labels.ONE_THREAD, 20), (labels.TWO_THREADS, 30)):
            if model in rows:
                crowdkit, ours = (rows[model]["runs"][name] for name in (labels.SAME_SWEEPS, model))
                name = f"``{model}``, {labels.SWEEPS} sweeps, {size}: seconds of crowd-kit / ours"
                yield at_least(name, crowdkit["seconds"] / ours["seconds"], least)
                yield at_least(f"{name}, our sweeps alone", crowdkit["seconds"] / ours["alone"], least)
        if part == "labels_large" and labels.ONE_THREAD in rows:
            runs = rows[labels.ONE_THREAD]["runs"]
            memory = runs[labels.ONE_THREAD]["peak"] / runs[labels.SAME_SWEEPS]["peak"]
            yield at_most(f"``{labels.ONE_THREAD}``, {size}: memory of ours / crowd-kit", memory, 1 / 3, ".2f")
    for row in by_model(record, "labels_large_defaults").values():
        text = f"``{labels.DEFAULTS}``, 1 000 000 items: seconds / those of 20 sweeps by maximum likelihood"
        yield at_most(text, 1 / row["ratio"][labels.ONE_THREAD], 1.5, ".2f")
    for model, row in by_model(record, "stagewise").items():
        run = row["runs"][model]
        found = at_most(f"``{model}``, 1000 items, 100 annotators: seconds", run["seconds"], 0.3, ".2f")
        yield replace(found, measured=f"{found.measured}, of the processor {run['busy']:.2f}")
    for row in by_model(record, "partition_sweep").values():
        yield at_most("A sweep of ``PartitionLabelModel``: seconds / arithmetic", row["ratio"], 1.5, ".2f")
        yield at_most("Its memory / an array of items × clusters", row["arrays"], 6, ".2f")
    for row in record.frame("partition_fits").to_dict("records"):
        run = row["runs"][row["model"]]
        text = f"``PartitionLabelModel``, {row['data']}: seconds"
        found = at_most(text, run["seconds"], partition_labels.WANTED[row["data"]], ".1f")
        yield replace(found, measured=f"{found.measured}, of the processor {run['busy']:.1f}")
    for row in by_model(record, "fusion").values():
        text = "Coordinates of ``SubsetFusion``: seconds of the dense definition / sparse matrices"
        yield at_least(text, row["ratio"][subset_groupings.DENSE], 100)
    for model, row in by_model(record, "deep_step").items():
        text = f"``{model}``, {row['data']}: seconds / those of the arithmetic of its networks"
        found = at_most(text, 1 / row["ratio"][deep_step.NETWORKS], deep_step.MOST_RATIO, ".2f")
        yield replace(found, measured=f"{found.measured}, of the processor {row['busy_ratio']:.2f}")
    for row in by_model(record, "deep_restarts").values():
        for name, run in row["runs"].items():
            text = f"``BayesSCDC``, {row['data']}, {run['restarts']} restarts, with imports"
            what = " and compilation" if name == deep_step.MODEL else ", compiled before"
            yield at_most(f"{text}{what}: seconds", run["seconds"], deep_step.MOST_SECONDS[name], ".1f")


def targets_of_jobs(record: Record) -> Iterator[Target]:
    """Yield the targets of whole jobs: seconds of the processor, megabytes, and how many times as long as the peer."""
    for row in record.frame("jobs").to_dict("records"):
        run = row["runs"][row["model"]]
        text = f"``{row['model']}``, {row['data']}"
        yield at_most(f"{text}: processor seconds", run["busy"], jobs.WANTED[row["data"]], ".2f")
        if row["data"] in jobs.SORTS:
            yield at_most(f"{text}: MB", run["megabytes"], jobs.MOST_MEGABYTES, ".0f")
    for row in record.frame("imports").to_dict("records"):
        beyond = row["runs"][row["model"]]["busy"] - row["runs"][jobs.NEEDED]["busy"]
        text = f"``{row['model']}``: processor seconds beyond ``{jobs.NEEDED}``"
        yield at_most(text, beyond, jobs.LONGEST_IMPORT, ".2f")
    for row in record.frame("reading").to_dict("records"):
        *_, peer, _, most = jobs.READING[row["data"]]
        text = f"``{row['model']}``, {row['data']}"
        if row["data"] == jobs.WIDE:
            yield at_most(f"{text}: processor seconds", row["runs"][row["model"]]["busy"], most, ".2f")
        else:
            yield at_most(f"{text}: seconds / those of {peer}", 1 / row["ratio"][peer], most, ".1f")
    for row in record.frame("fits").to_dict("records"):
        most = jobs.FITS[row["data"]][-1]
        yield at_most(
            f"``{row['model']}``, {row['data']}: processor seconds", row["runs"][row["model"]]["busy"], most, ".1f"
        )


def targets_of_names(record: Record) -> Iterator[Target]:
    """Yield the targets of labels from frames of names, and of many classes."""
    for row in record.frame("labels_names").to_dict("records"):
        text, runs = f"``{row['model']}``, {row['data']}", row["runs"]
        for peer, least in labels.WANTED_OF_NAMED.items():
            yield at_least(f"{text}: seconds of {peer} / ours", row["ratio"][peer], least)
        memory = runs[row["model"]]["megabytes"] / runs[labels.SAME_SWEEPS]["megabytes"]
        yield at_most(f"{text}: memory of ours / crowd-kit", memory, labels.MOST_MEMORY, ".2f")
    for model, row in by_model(record, "many_classes").items():
        text, run = f"{model} model, {row['data']}", row["runs"][model]
        yield at_most(f"{text}: processor seconds", run["busy"], labels.WANTED_OF_MANY[model], ".2f")
        yield at_most(f"{text}: MB", run["megabytes"], labels.MOST_MEGABYTES, ".0f")


def at_least(text: str, value: float, least: float) -> Target:
    return Target(text, f"at least {least:g}", shown(value), value >= least)


def at_most(text: str, value: float, most: float, form: str) -> Target:
    return Target(text, f"at most {most:{'.2g' if most < 100 else '.0f'}}", f"{value:{form}}", value <= most)


def shown(ratio: float) -> str:
    """Return a ratio with the digits that can be trusted."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def by_model(record: Record, part: str, **only: Any) -> dict[str, dict[str, Any]]:
    """Return the rows of a part by model."""
    return {row["model"]: row for row in record.frame(part, **only).to_dict("records")}


# ---- what the page shows


def tables(record: Record) -> dict[str, str]:
    """Return the tables of the parts that were measured."""
    found = {
        "machine": table_of_machine(record),
        "profiles": table_of_profiles(record),
        "jobs": table_of_comparisons(record, "jobs", ("megabytes",)),
        "studies": table_of_comparisons(record, "studies", ("megabytes",)),
        "imports": table_of_comparisons(record, "imports"),
        "growth": growth.table_of_exponents(record),
        "labels_names": table_of_comparisons(record, "labels_names", ("megabytes", "sweeps", "right")),
        "many_classes": table_of_comparisons(record, "many_classes", ("megabytes", "right")),
        "reading": table_of_comparisons(record, "reading"),
        "fits": table_of_comparisons(record, "fits"),
        "annotations": table_of_comparisons(record, "annotations", ("megabytes",)),
        "labels": table_of_comparisons(record, "labels", ("megabytes", "sweeps", "right", "alone")),
        "labels_large": table_of_comparisons(record, "labels_large", ("megabytes", "sweeps", "right", "alone")),
        "labels_large_defaults": table_of_comparisons(
            record, "labels_large_defaults", ("megabytes", "sweeps", "right")
        ),
        "stagewise": table_of_comparisons(record, "stagewise", ("rounds",)),
        "label_sweep": table_of_sweeps(record, "label_sweep"),
        "partition_sweep": table_of_sweeps(record, "partition_sweep"),
        "partition_fits": table_of_comparisons(record, "partition_fits", ("nmi",)),
        "fusion": table_of_comparisons(record, "fusion"),
        "fusion_growth": table_of_growth(record, "fusion_growth", ("megabytes", "nmi")),
        "fusion_large": table_of_growth(record, "fusion_large", ("megabytes", "nmi")),
        "pair_growth": table_of_growth(record, "pair_growth", ("megabytes",)),
        "pair_restarts": table_of_comparisons(record, "pair_restarts", ("nmi",)),
        "pair_peers": table_of_comparisons(record, "pair_peers", ("nmi",)),
        "pair_packages": table_of_comparisons(record, "pair_packages", ("nmi", "raises")),
        "telling": table_of_telling(record),
        "deep": table_of_comparisons(record, "deep"),
        "deep_growth": table_of_growth(record, "deep_growth"),
        "deep_start": table_of_start(record),
        "deep_step": table_of_comparisons(record, "deep_step"),
        "deep_restarts": table_of_restarts(record),
    }
    return {name: "\n".join(lines) for name, lines in found.items() if lines}


def quotes(record: Record) -> dict[str, Any]:
    """Return what the page shows and what its sentences quote."""
    reached = list(targets(record))
    return {
        "tables": tables(record),
        "targets": reached,
        "n_met": sum(target.is_met for target in reached),
        "machines": machines(record),
        "load": loads(record),
        "ratio": {part.name: ratios(record, part.name) for part in PARTS},
        "busy": {model: busy_ratio(row, model) for model, row in by_model(record, "labels").items()},
        "reading": reading(record),
        "sweeps": labels.SWEEPS,
        "limit": next((row["limit"] for row in by_model(record, "labels").values()), None),
        "difference": next((row["difference"] for row in by_model(record, "fusion").values()), None),
        "seeds": pairs.N_SEEDS,
        "packages": ", ".join(dict.fromkeys(row["figures"]["package"] for row in rows_of(record, "pair_packages"))),
    }


def ratios(record: Record, part: str) -> dict[str, str]:
    """Return for each model the ratio to its first peer, mean over draws."""
    rows = record.frame(part)
    if not len(rows) or "ratio" not in rows:
        return {}
    first = [next(iter(ratio.values()), None) if isinstance(ratio, dict) else ratio for ratio in rows["ratio"]]
    means = pd.Series(first, rows["model"], dtype=float).groupby(level=0, sort=False).mean()
    return {model: shown(value) for model, value in means.dropna().items()}


def busy_ratio(row: dict[str, Any], model: str) -> str:
    """Return how many times as many processor seconds as the model its peer takes."""
    (peer,) = row["ratio"]
    return shown(row["runs"][peer]["busy"] / row["runs"][model]["busy"])


def reading(record: Record) -> str:
    """Return how many times as long as the parser our reader takes."""
    (found,) = [row["ratio"] for row in by_model(record, "annotations").values()] or [{}]
    return "".join(shown(1 / ratio) for ratio in found.values())


def rows_of(record: Record, part: str) -> list[dict[str, Any]]:
    return [row for row in record.rows.values() if row["part"] == part]


def machines(record: Record) -> list[dict[str, Any]]:
    """Return each environment in which rows were measured, with the parts and the commits of such rows."""
    found = []
    for key, one in record.shared["environment"].items():
        rows = [row for row in record.rows.values() if row["environment"] == key]
        parts = dict.fromkeys(row["part"] for row in rows)
        commits = dict.fromkeys(row["commit"].removesuffix("-dirty") for row in rows)
        versions = ", ".join(f"{name} {version}" for name, version in one["versions"].items())
        found.append(
            one
            | {
                "versions": versions,
                "blas": ", ".join(one["blas"]),
                "parts": ", ".join(parts),
                "commits": ", ".join(commits),
            }
        )
    return found


def loads(record: Record) -> dict[str, Any]:
    """Return the least and the largest load of the machine, and in how many rows it was above its cores."""
    rows = [row["figures"] for row in record.rows.values()]
    values = [row["load"] for row in rows]
    return {
        "least": f"{min(values):.1f}",
        "largest": f"{max(values):.1f}",
        "above": sum(row["load"] > row["cores"] for row in rows),
        "rows": len(rows),
    }


PAGE = Page(
    "speed",
    parts=PARTS,
    tables=lambda record: {},
    quotes=quotes,
    plots={
        "speed_peers.svg": pictures.draw_peers,
        "speed_growth.svg": pictures.draw_growth,
        "models/bayes_scdc_speed.svg": deep.draw,
        "models/subset_fusion_speed.svg": subset_groupings.draw,
    },
    package="speed",
    place="",
    is_timed=True,
)
