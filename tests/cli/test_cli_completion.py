"""Shell completion: commands, options, models, their parameters, data sets."""

import os
import re
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from consilience import registry
from consilience.cli import main
from consilience.datasets import list_datasets


def offered(*words):
    """Return the completions that the shell offers for the last of the words."""
    complete = ShellComplete(main, {}, "consilience", "_CONSILIENCE_COMPLETE")
    *before, incomplete = words
    return [item.value for item in complete.get_completions(list(before), incomplete)]


def test_commands_and_options():
    assert {"fit", "fuse", "compare"} <= set(offered(""))
    assert {"--clusters", "--model", "--features"} <= set(offered("fit", "x.csv", "--"))


def test_models():
    assert offered("fit", "x.csv", "--model", "") == [*registry.ESTIMATORS, "auto"]
    assert offered("fit", "x.csv", "--model", "da") == ["DawidSkene", "DawidSkeneClassifier"]
    assert offered("compare", "x.csv", "--models", "KCC,") == [
        f"KCC,{name}" for name in registry.ESTIMATORS if name != "KCC"
    ]


def test_parameters_of_the_named_model():
    assert offered("fit", "x.csv", "--model", "CSPA", "--set", "") == ["n_clusters=", "max_clusters=", "random_state="]
    assert offered("fit", "x.csv", "--model", "Crowdclustering", "--set", "two") == ["two_stage="]
    found = offered("fit", "x.csv", "--set", "")
    assert {"normalize=", "prior_variance=", "reliability_prior=", "prior="} <= set(found)
    assert "two_stage=" not in found  # of a model that is never a default
    assert offered("compare", "x.csv", "--models", "KCC,CSPA", "--set", "") == ["KCC.", "CSPA."]
    assert offered("compare", "x.csv", "--set", "CSPA.max") == ["CSPA.max_clusters="]
    assert offered("compare", "x.csv", "--set", "Nobody.") == []


def test_data_sets():
    assert offered("datasets", "") == list_datasets()["name"].tolist()
    assert offered("simulate", "crowd", "iri") == ["iris"]
    (file,) = ShellComplete(main, {}, "consilience", "_X").get_completions(["simulate", "crowd"], "my-own")
    assert (file.value, file.type) == ("my-own", "file")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_imports_nothing_heavy(shell):
    words = {"COMP_WORDS": "consilience fit x.csv --model Part", "COMP_CWORD": "4" if shell != "fish" else "Part"}
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "from consilience.cli import main; main(prog_name='consilience')"],
        env=os.environ | words | {"_CONSILIENCE_COMPLETE": f"{shell}_complete"},
        capture_output=True,
        text=True,
    )
    assert "PartitionLabelModel" in result.stdout
    imported = set(re.findall(r"\|\s+(\S+)$", result.stderr, re.MULTILINE))
    assert "consilience.cli.commands" in imported
    assert not imported & {"numpy", "pandas", "scipy", "sklearn"}
