"""The lists of planted faults fit the code: their texts occur once, and they reach every estimator and every room."""

import importlib.util
import sys
from pathlib import Path

import pytest

from consilience import registry

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("planted_changes", ROOT / "tools" / "planted_changes.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "number"), [("suite", 41), ("models", 33)])
def test_every_text_occurs_once(tool, name, number):
    found = tool.changes(name)
    assert len(found) == number
    assert tool.problems(found) == []


def test_a_text_that_is_gone_or_occurs_twice_is_reported(tool, tmp_path):
    path = tmp_path / tool.PACKAGE / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text("x = 1\ny = 1\n")
    rows = [("x = 1", "x = 2"), ("= 1", "= 2"), ("z = 1", "z = 2"), ("y = 1", "y = (")]
    found = [tool.Change(number, "a.py", old, new, "") for number, (old, new) in enumerate(rows)]
    assert [line.partition(":")[0] for line in tool.problems(found, tmp_path)] == ["1", "2", "3"]


def test_every_estimator_and_every_room_has_a_change(tool):
    of_estimators = {name for change in tool.changes("models") for name in change.estimators}
    assert of_estimators == registry.ESTIMATORS.keys()
    rooms = {path.name for path in (ROOT / tool.PACKAGE).iterdir() if (path / "__init__.py").exists()}
    assert {change.file.partition("/")[0] for change in tool.changes("suite")} == rooms
