"""The printed summary: items of each cluster, and annotators without annotations."""

import json

import numpy as np
import pytest

from consilience import Labels
from consilience.analysis import Findings
from consilience.analysis.facts import _examples
from consilience.analysis.findings_text import LINE
from consilience.analysis.names import width
from consilience.semisupervised import SemiCrowd
from tests.quick_cases import quick_in_turn

FRUIT = ["apple", "pear", "plum", "fig", "date"]
ROOTS = ["carrot", "leek", "onion", "radish", "yam"]


@pytest.fixture
def sorts(tmp_path):
    """Write and name a file: names of two kinds of items → a table of 12 annotators who agree, and 2 who are silent."""

    def write(fruit, roots):
        rows = [f"{item},{','.join(str(kind) * 12)},,\n" for kind, items in ((1, fruit), (2, roots)) for item in items]
        people = ",".join([*(f"p{i}" for i in range(12)), "x", "y"])
        (tmp_path / "sorts.csv").write_text(f"item,{people}\n{''.join(rows)}", encoding="utf-8")
        return "sorts.csv"

    return write


MODELS = ["SubsetFusion", "MECC", "KCC", "MetaClustering"]


@pytest.mark.parametrize("model", MODELS)
def test_clusters_are_shown_with_their_items(sorts, run, quick_report, model):
    lines = run("fit", sorts(FRUIT, ROOTS), "--model", model, "--clusters", 2, "-o", "out").stdout.splitlines()
    clusters = [line.split("%  ")[1].split(", ") for line in lines if line.startswith("  cluster ")]
    assert sorted(map(sorted, clusters)) == sorted(map(sorted, [FRUIT, ROOTS]))


def test_as_many_items_as_the_line_has_room_for(sorts, run, quick_report, tmp_path):
    fruit = [f"{name} {'a long name' * 8}" for name in FRUIT]
    roots = [f"{'猫' * 30}{i}" for i in range(12)]
    lines = run("fit", sorts(fruit, roots), "-o", "out").stdout.splitlines()
    shown = [line for line in lines if line.startswith("  cluster ")]
    assert len(shown) == 2
    assert all(LINE - 30 < width(line) <= LINE for line in shown)
    assert all(line.endswith("…, …") for line in shown)
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert sorted(map(len, found["cluster_examples"])) == [5, 8]
    assert {name for names in found["cluster_examples"] for name in names} <= {*fruit, *roots}


def test_most_probable_items_come_first():
    labels = Labels.from_matrix([["x", "y", "y"], ["x", "x", "x"], ["y", "y", "y"], ["x", "y", "x"], ["x", "x", "x"]])
    model = SemiCrowd(n_clusters=2, random_state=0)
    probability = np.array([[0.4, 0.6], [0.9, 0.1], [0.00004, 0.99996], [0.7, 0.3], [0.90001, 0.09999]])
    model.items_, model.n_clusters_ = labels.items, 2
    model.labels_, model.responsibilities_ = probability.argmax(1), probability
    assert _examples(Findings(model, model, labels)) == [[1, 4, 3], [2, 0]]


@pytest.mark.parametrize("model", quick_in_turn([*MODELS, "MCVC", "PartitionLabelModel", "DawidSkene"], 0))
def test_annotators_without_annotations_are_named_and_not_ranked(sorts, run, quick_report, model):
    kind = ["--kind", "labels"] if model == "DawidSkene" else []
    path = sorts(FRUIT, ROOTS)
    result = run("fit", path, "--model", model, *kind, "--json", code=0)
    found = json.loads(result.stdout)
    assert "2 annotators gave no annotations: 'x', 'y'." in found["notes"]
    assert "Note: 2 annotators gave no annotations: 'x', 'y'.\n" in result.stderr
    ranked = [row["annotator"] for row in found["weakest_annotators"]]
    assert len(ranked) == 3
    held = [name for view in found.get("views", ()) for name in view["annotators"]]
    assert not {"x", "y"} & {*ranked, *held}


def test_no_note_if_everybody_gave_annotations(tmp_path, run, quick_report):
    (tmp_path / "in.csv").write_text("item,annotator,label\na,Ann,x\nb,Ann,y\na,Bo,x\nb,Bo,y\n")
    assert "gave no annotations" not in run("fit", "in.csv", "-o", "out").stderr
