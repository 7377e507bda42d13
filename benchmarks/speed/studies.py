"""What a study costs: ``consilience fit`` with its report for files of 12 kinds, in new processes, with imports.

Files are those of recorded or bundled data sets (`consilience datasets`) where there is one of the kind, else
simulated. In turns with the same command by the code of an earlier commit, before its reports and its reading were
made quicker.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiments import Cell
from benchmarks.experiments.earlier import tree_of
from benchmarks.speed.jobs import JOB, MODEL, card_sorts
from benchmarks.speed.measuring import Run, compared, in_turns
from consilience import write_annotations
from consilience.datasets import load_dataset, write_tutorial_tables
from consilience.simulation import simulate_labels, simulate_pairs, simulate_ratings, simulate_tags

EARLIER = "5e590f77"
BEFORE = f"commit {EARLIER}"
N_SCALES = 5  # points of a scale


def recorded(name: str, *options: str) -> Callable[[Path], list[str]]:
    """Return what writes the annotations of a data set, and returns the arguments of a fit."""

    def write(folder: Path) -> list[str]:
        write_annotations(load_dataset(name).annotations, folder / "annotations.csv")
        return [str(folder / "annotations.csv"), *options]

    return write


def write_closed_sort(folder: Path) -> list[str]:
    """Write sorts of 40 cards into six given groups by 30 people."""
    cards = [f"card {i}" for i in range(40)]
    sorts = simulate_labels(np.arange(40) % 6, n_annotators=30, accuracy=0.8, items=cards, random_state=0)
    write_annotations(sorts, folder / "sorts.csv")
    return [str(folder / "sorts.csv"), "--kind", "labels"]


def write_concept_map(folder: Path) -> list[str]:
    """Write sorts of 60 statements by 20 people, who also rate each by importance and feasibility."""
    sorts = card_sorts(20, 60)
    rng = np.random.default_rng(0)
    ratings = pd.DataFrame(
        [(item, person) for item in sorts.items for person in sorts.annotators], columns=["item", "annotator"]
    )
    for scale in ("importance", "feasibility"):
        ratings[scale] = rng.integers(1, N_SCALES + 1, size=len(ratings))
    write_annotations(sorts, folder / "sorts.csv")
    ratings.to_csv(folder / "ratings.csv", index=False)
    return [str(folder / "sorts.csv"), "--ratings", str(folder / "ratings.csv")]


def write_napping(folder: Path) -> list[str]:
    """Write the places of 12 products on the sheets of 25 people, and the groups that these formed there."""
    rng = np.random.default_rng(0)
    place = np.concatenate([rng.normal(size=(12, 2)) + 0.3 * rng.normal(size=(12, 2)) for _ in range(25)])
    sheets = pd.DataFrame(place, columns=["x", "y"])
    sheets.insert(0, "annotator", np.repeat([f"person {i}" for i in range(25)], 12))
    sheets.insert(0, "item", np.tile([f"product {i}" for i in range(12)], 25))
    groups = sheets[["item", "annotator"]].assign(group=2 * (sheets["x"] > 0) + (sheets["y"] > 0))
    groups.to_csv(folder / "groups.csv", index=False)
    sheets.to_csv(folder / "sheets.csv", index=False)
    return [str(folder / "groups.csv"), "--napping", str(folder / "sheets.csv")]


def write_gold(folder: Path) -> list[str]:
    """Write labels of pictures of birds, and the known species of 20 of them."""
    birds = load_dataset("bluebird")
    gold = pd.DataFrame({"item": birds.item_names, "label": np.asarray(birds.target_names)[birds.target]}).head(20)
    gold.to_csv(folder / "gold.csv", index=False)
    return [*recorded("bluebird")(folder), "--gold", str(folder / "gold.csv")]


def write_ratings(folder: Path) -> list[str]:
    """Write ratings of 200 items by five of 20 people each."""
    values = np.random.default_rng(0).uniform(1, N_SCALES, 200)
    write_annotations(simulate_ratings(values, annotators_per_item=5, random_state=0), folder / "ratings.csv")
    return [str(folder / "ratings.csv"), "--kind", "ratings"]


def write_tags(folder: Path) -> list[str]:
    """Write tags of 150 items by five of 20 people each."""
    truth = np.random.default_rng(0).random((150, 6)) < 0.3
    write_annotations(simulate_tags(truth, annotators_per_item=5, random_state=0), folder / "tags.csv")
    return [str(folder / "tags.csv"), "--kind", "tags"]


def write_pairs(folder: Path) -> list[str]:
    """Write judgements of pairs of 60 items by five people."""
    write_annotations(simulate_pairs(np.arange(60) % 5, random_state=0), folder / "pairs.csv")
    return [str(folder / "pairs.csv")]


def write_features(folder: Path) -> list[str]:
    """Write the tables of the tutorial: labels of wines by 12 people, and chemical analyses."""
    write_tutorial_tables(folder)
    return [str(folder / "answers.csv"), "--features", str(folder / "features.csv")]


STUDIES: dict[str, Callable[[Path], list[str]]] = {
    "open card sort": recorded("cardsort_animals"),
    "closed card sort": write_closed_sort,
    "free sort of a panel": recorded("perfume12_sensominer"),
    "concept mapping, with ratings": write_concept_map,
    "napping": write_napping,
    "hierarchical sort": recorded("cards16_children_hierarchical"),
    "labels": recorded("bluebird"),
    "labels, some known": write_gold,
    "ratings": write_ratings,
    "tags": write_tags,
    "judgements of pairs": write_pairs,
    "with features": write_features,
}


def cells_of_studies() -> Iterator[Cell]:
    for data in STUDIES:
        yield Cell("studies", data, MODEL, 0, settings={"script": JOB, "earlier": EARLIER})


def compute_studies(cell: Cell) -> dict[str, Any]:
    """Return what the command takes in a new process today, and by the code of the earlier commit."""
    with tempfile.TemporaryDirectory() as folder, tree_of(cell.settings["earlier"]) as before:
        arguments = STUDIES[cell.data](Path(folder))
        command = [sys.executable, "-c", cell.settings["script"], "fit", *arguments, "--out", f"{folder}/report"]

        def job(path: dict[str, str]) -> Run:
            run = subprocess.run(command, env=os.environ | path, capture_output=True, text=True, check=True)
            return json.loads(run.stdout)

        calls = {MODEL: lambda: job({}), BEFORE: lambda: job({"PYTHONPATH": str(before / "src")})}
        return compared(in_turns(calls, 1), MODEL)
