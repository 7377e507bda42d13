"""``consilience plan``: how many people a study needs."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import write_annotations
from consilience.simulation import simulate_crowd

HEAD = ["people", "groupings", "per", "item", "agreement", "4", "of", "5", "studies", "clusters", "items", "seen"]
GUESS = ("plan", "--items", 16, "--clusters", 4, "--agreement", 0.6)
QUICK = ("--draws", 1, "--target", 0.4)


@pytest.fixture
def pilot(tmp_path):
    classes = pd.Series(np.arange(16) % 4, index=[f"card {number}" for number in range(16)])
    write_annotations(simulate_crowd(classes, n_annotators=6, accuracy=0.8, random_state=0), tmp_path / "pilot.csv")
    return "pilot.csv"


def test_the_answer_is_said_first_and_the_table_follows(run):
    lines = run(*GUESS, *QUICK).stdout.splitlines()
    assert lines[0].startswith("About ")
    assert lines[0].endswith(
        "people, for a consensus that agrees to 0.4 with that of a second study by other people (adjusted mutual "
        "information)."
    )
    assert lines[1].startswith("People who agree to 0.60 (adjusted Rand index), and sort 16 items at a time; ")
    assert lines[2] == "Of such forecasts of recorded studies, three in four were right within a factor of two."
    assert lines[4].split() == HEAD
    assert lines[5].split()[0] == "2"
    assert len({len(line) for line in lines[4:]}) == 1


@pytest.mark.slow
def test_a_pilot_is_read_and_files_are_written(run, pilot, tmp_path):
    result = run("plan", pilot, *QUICK, "--json", "--out", "plan.csv", "--plot", "plan.svg")
    found = json.loads(result.stdout)
    assert "read as: 16 items" in result.stderr
    assert found["subset_size"] == 16
    assert found["groupings"] == found["annotators"]
    table = pd.read_csv(tmp_path / "plan.csv")
    assert table["annotators"].tolist() == [row["annotators"] for row in found["table"]]
    assert "<svg" in (tmp_path / "plan.svg").read_text()


def test_labels_serve_as_a_pilot(run, tmp_path):
    rows = [(f"c{item}", f"p{person}", "abc"[item % 3]) for item in range(9) for person in range(4)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(tmp_path / "labels.csv", index=False)
    result = run("plan", "labels.csv", *QUICK)
    assert "The labels were turned into groupings" in result.stderr
    assert "agree to 1.00" in result.stdout


@pytest.mark.slow
def test_a_target_that_is_not_reached_is_said(run):
    arguments = (*GUESS[:-1], 0.1, "--max-annotators", 2, "--draws", 1)
    assert run(*arguments).stdout.startswith("People who agree to 0.10 (adjusted Rand index) do not reach a consensus")
    assert json.loads(run(*arguments, "--json").stdout)["annotators"] is None


@pytest.mark.slow
def test_the_seed_determines_the_result(run):
    assert run(*GUESS, *QUICK).stdout == run(*GUESS, *QUICK, "--seed", 0).stdout
    assert run(*GUESS, *QUICK).stdout != run(*GUESS, *QUICK, "--seed", 1).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan",), "Give a PILOT, or --items, --clusters, --agreement: --items is missing."),
        (
            ("plan", "--items", 9, "--clusters", 3),
            "Give a PILOT, or --items, --clusters, --agreement: --agreement is missing.",
        ),
        (("plan", "pilot.csv", "--items", 9), "PILOT tells what --items would; give one of them."),
        ((*GUESS, "--subset-size", 17, "--draws", 1), "'subset_size' parameter of plan must be at most 16, the number"),
        ((*GUESS, "--plot", "plan.txt"), "The file name of --plot must end in .svg, .png or .pdf."),
        ((*GUESS, "--out", "plan.xlsx"), "The file name must end in .csv, .tsv"),
        ((*GUESS[:-1], 1.5), "is not between 0 and 1"),
    ],
)
def test_wrong_usage_is_said_in_a_sentence(fails, pilot, arguments, message):
    assert message in fails(*arguments)
