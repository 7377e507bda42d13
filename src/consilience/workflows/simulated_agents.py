"""Groupings of subsets of items, by agents that cluster them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.writing import long_table_writer
from consilience.annotations.keywords import spell
from consilience.datasets import list_datasets, load_dataset
from consilience.errors import InputError
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present, random_subsets
from consilience.workflows.data_sets import classes_of, files_of
from consilience.workflows.outputs import require_outputs, table_writer, write_files
from consilience.workflows.tables import read_numbers

DRAWN: dict[str, Any] = {"items": 200, "clusters": 10, "dimensions": 8, "separation": 5.0}


def simulate_agents(
    features: str | None,
    classes: str | None,
    *,
    drawn: dict[str, Any],
    out: Path,
    truth_out: Path | None,
    features_out: Path | None,
    subsets: int,
    subset_size: int,
    annotators: int | None,
    groups: tuple[int, int],
    features_each: tuple[int, int],
    algorithms: tuple[str, ...],
    seed: int,
) -> str:
    """Write the agents' groupings of subsets, and the true clusters of the items; return a line for each file."""
    require_outputs([out, truth_out, features_out], [] if features is None else files_of(features))
    items, agents, shown = (np.random.default_rng(source) for source in np.random.SeedSequence(seed).spawn(3))
    table, truth = _draw(drawn, items) if features is None else _read(features, classes)
    if truth_out is not None and truth is None:
        needs = f"{spell(truth_out=None)} needs {spell(classes=None)}"
        raise InputError(f"{needs}, the column of features that holds the true clusters.")
    population = ClusteringPopulation(
        table, n_groups=groups, n_features=features_each, algorithms=algorithms, random_state=agents
    )
    subset_items = random_subsets(table.index, subset_size, subsets, random_state=shown)
    agent = population if annotators is None else [population.draw() for _ in range(annotators)]
    groupings = present(agent, subset_items, items=table.index)
    writers = {out: long_table_writer(groupings, out)}
    lines = [f"{out}: {groupings}"]
    if truth_out is not None and truth is not None:
        writers[truth_out] = table_writer(truth.rename("class").rename_axis("item").reset_index(), truth_out)
        lines.append(f"{truth_out}: {truth.nunique()} clusters of {len(truth)} items")
    if features_out is not None:
        writers[features_out] = table_writer(table.rename_axis("item").reset_index(), features_out)
        lines.append(f"{features_out}: {table.shape[1]} features of {len(table)} items")
    write_files(writers)
    return "\n".join(lines)


def _draw(settings: dict[str, Any], rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Draw features and clusters of items in Gaussian clusters."""
    chosen = {name: usual if settings[name] is None else settings[name] for name, usual in DRAWN.items()}
    task = gaussian_clusters(
        chosen["items"],
        n_clusters=chosen["clusters"],
        n_features=chosen["dimensions"],
        separation=chosen["separation"],
        random_state=rng,
    )
    return task.data, pd.Series(task.target, index=task.data.index)


def _read(source: str, classes: str | None) -> tuple[pd.DataFrame, pd.Series | None]:
    """Return features of the items of a table or of a data set, and their classes if known."""
    if source in set(list_datasets()["name"]):
        data_set = load_dataset(source)
        if data_set.data is None:
            raise InputError(f"The data set {source!r} has no features, which agents need.")
        if data_set.target is None:
            return data_set.data, None
        truth, _ = classes_of(source, "", with_features=False)
        return data_set.data.set_axis(truth.index, axis=0), truth
    if classes is None:
        return read_numbers(Path(source)), None
    truth, table = classes_of(source, classes, with_features=True)
    if table is None:
        raise InputError(f"{source}: The table has no features.")
    return table, truth
