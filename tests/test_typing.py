"""Types of the package for type checkers and editors, and the names that tab completion offers."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import consilience
from consilience import Groupings, Labels

SOURCE = str(Path(consilience.__file__).parents[1])
ENVIRONMENT = os.environ | {"MYPYPATH": SOURCE, "PYTHONPATH": SOURCE}
PUBLIC = [
    "active",
    "analysis",
    "annotations",
    "consensus",
    "datasets",
    "errors",
    "inspection",
    "metrics",
    "persistence",
]
PUBLIC += ["registry", "selection", "semisupervised", "simulation", "sites", "subsets", "workflows"]

PROGRAM = """
import consilience as c
import numpy as np
import pandas as pd
from consilience import Groupings, read_annotations

kind: str = input()
reveal_type(read_annotations("a.csv", kind="groupings"))
reveal_type(read_annotations("a.csv", kind="labels", items=["ant"], missing=-1))
reveal_type(read_annotations("a.csv", kind="pairs"))
reveal_type(read_annotations("a.csv", kind=kind))
reveal_type(read_annotations("a.csv"))
model = c.consensus.KCC(3, random_state=np.random.default_rng(0))
reveal_type(model)
reveal_type(model.predict_same("ant", "bee"))
reveal_type(c.metrics.ari([0, 1], pd.Series([0, 1])))
groupings = Groupings.from_matrix([["p"], ["q"]])
reveal_type(groupings.restrict(annotators="Ann"))
reveal_type(c.selection.compare([model], groupings).chosen)
reveal_type(model.score(groupings))
reveal_type(model.fit(groupings).labels_)
reveal_type(c.load("m.zip", c.consensus.KCC))
reveal_type(c.datasets.load_iris().item_names)
reveal_type(c.semisupervised.PartitionLabelModel(tol=1e-4).fit(np.zeros((2, 3)), y=groupings))
"""
REVEALED = [
    "consilience.annotations.groupings.Groupings",
    "consilience.annotations.labels.Labels",
    "consilience.annotations.pairs.Pairs",
    "consilience.annotations.groupings.Groupings | consilience.annotations.labels.Labels | "
    "consilience.annotations.pairs.Pairs",
    "consilience.annotations.groupings.Groupings | consilience.annotations.labels.Labels | "
    "consilience.annotations.pairs.Pairs",
    "consilience.consensus.groupings.kcc_estimator.KCC",
    "float",
    "float",
    "consilience.annotations.groupings.Groupings",
    "str | None",
    "float",
    "numpy.ndarray",
    "consilience.consensus.groupings.kcc_estimator.KCC",
    "pandas.core.indexes.base.Index",
    "consilience.semisupervised.partition_label_model_estimator.PartitionLabelModel",
]
WRONG = """
import consilience as c

c.read_annotations("a.csv", kind="labels", rows=3)
c.consensus.KCC(3, random_state="soon")
c.consensus.SubsetFusion("many")
c.consensus.KCC(3, utility="usefulness")
c.semisupervised.MCVC(3, n_init="many")
c.consensus.DawidSkene().fit(3.5, missing=-1, sure=True)
c.consensus.DawidSkene().fit([["a"]], gold="known.csv")
"""


@pytest.mark.slow
def test_types_seen_by_mypy(tmp_path):
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = True\n")
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", "cache", "right.py", "wrong.py"]
    found = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    right = [line for line in found.stdout.splitlines() if line.startswith("right.py")]
    revealed = [re.sub(r"\[.*\]$", "", line.split('Revealed type is "')[1].rstrip('"')) for line in right]
    assert [name.replace("builtins.", "") for name in revealed] == REVEALED
    refused = re.findall(r"^wrong\.py:(\d+): error", found.stdout, flags=re.M)
    assert set(refused) == {"4", "5", "6", "7", "8", "9", "10"}


def test_overloads_match_the_results(tmp_path):
    file = tmp_path / "said.csv"
    file.write_text("item,annotator,label\nant,Ann,insect\nbee,Ann,insect\n")
    assert type(consilience.read_annotations(file, kind="labels", items=["ant", "bee"])) is Labels
    (tmp_path / "sorted.csv").write_text("item,annotator,group\nant,Ann,insect\nbee,Ann,insect\n")
    assert type(consilience.read_annotations(tmp_path / "sorted.csv", kind="groupings")) is Groupings


def test_modules_are_there_without_being_imported():
    code = """
import sys, consilience as c
assert not {"consilience.consensus", "sklearn", "pandas", "jax"} & set(sys.modules)
assert c.consensus.KCC.__name__ == "KCC"
assert callable(c.metrics.ari) and callable(c.selection.compare)
assert "jax" not in sys.modules and "consilience.deep" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=False).returncode == 0
    with pytest.raises(AttributeError, match="module 'consilience' has no attribute 'nothing'"):
        _ = consilience.nothing


def test_completion_offers_public_names():
    assert set(dir(consilience)) == {*consilience.__all__, *PUBLIC, "deep", "__version__"}
    for name in PUBLIC:
        module = importlib.import_module(f"consilience.{name}")
        assert dir(module) == sorted(module.__all__)
        assert getattr(consilience, name) is module
        for public in module.__all__:
            assert hasattr(module, public)
