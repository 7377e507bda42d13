"""Rows are confirmed by equal figures of today's code and an earlier one, on one machine."""

from contextlib import contextmanager

import pytest
from sklearn.linear_model import Ridge

from benchmarks.experiments import Cell, Page, Part, confirming, earlier, page
from benchmarks.experiments.page import before_comma
from benchmarks.experiments.run_cell import with_settings
from benchmarks.papers.__main__ import main

TOY = """
from types import SimpleNamespace

from benchmarks.toy_cell import Cell


def compute(cell):
    print("progress")
    return {"value": FACTOR * cell.draw, "seconds": 3.0}


PAGE = SimpleNamespace(cells=lambda: [(SimpleNamespace(compute=compute), Cell(draw)) for draw in range(3)])
"""
CELL = """
class Cell:
    estimator = None

    def __init__(self, draw):
        self.draw, self.key = draw, ("part", "data", "model", draw)
"""


def tree(folder, factor):
    """Write modules of a page whose figures depend on a factor."""
    for name in ("src", "benchmarks/experiments", "benchmarks/papers"):
        (folder / name).mkdir(parents=True)
    (folder / "benchmarks" / "experiments" / "page.py").write_text("def rounded(value):\n    return value\n")
    (folder / "benchmarks" / "toy_cell.py").write_text(CELL)
    (folder / "benchmarks" / "papers" / "toy.py").write_text(TOY.replace("FACTOR", str(factor)))
    return folder


@pytest.mark.slow
def test_both_codes_run_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(earlier, "ROOT", tree(tmp_path / "today", 2.0))
    cell = Cell("part", "data", "model", 2)
    found = earlier.both_figures("benchmarks.papers.toy", cell, {}, tree(tmp_path / "before", 3.0))
    assert found == [{"value": 4.0}, {"value": 6.0}]


def test_a_fit_is_shortened_by_the_settings_that_it_has():
    cell = Cell("part", "data", "model", 0, Ridge(alpha=1.0))
    assert with_settings(cell, {"max_iter": 3, "n_epochs": 1}).estimator.max_iter == 3
    assert with_settings(cell, {"n_epochs": 1}) is cell
    assert cell.estimator.max_iter is None
    automatic = Cell("part", "data", "model", 0, Ridge(solver="auto"))
    assert with_settings(automatic, {"solver": "svd"}) is automatic  # what the code decides is compared, too


def test_the_files_of_a_commit():
    with earlier.tree_of("HEAD") as folder:
        assert (folder / "pyproject.toml").is_file()
    assert not folder.exists()
    with pytest.raises(ValueError, match="No commit of-nobody"), earlier.tree_of("of-nobody"):
        pass


def double(cell):
    return {"value": 2.0 * cell.draw}


@pytest.mark.parametrize(("figures", "verdict"), [([1.0, 1.0], "confirmed by 1"), ([1.0, 1.1], "other figures")])
def test_data_sets_that_are_alike_are_confirmed_together(tmp_path, monkeypatch, figures, verdict):
    """The record is of another machine: its figures are others, and are not looked at."""

    @contextmanager
    def folder(revision):
        yield tmp_path / revision

    def run(module, cell, short, root):
        tried.append((module, cell.data, root.name))
        return [{"value": value} for value in figures]

    monkeypatch.setattr(confirming, "tree_of", folder)
    monkeypatch.setattr(confirming, "both_figures", run)
    cells = [Cell("part", f"few, {number}", "Model", draw) for number in (1, 2) for draw in range(2)]
    toy = Page("toy", parts=(Part("part", lambda: cells, double, alike=before_comma),), tables=lambda record: {})
    object.__setattr__(toy, "record", lambda: page.Record("toy", tmp_path))
    page.compute(toy, n_jobs=1)
    tried = []
    (line,) = confirming.confirm(toy, against="before")
    assert line.startswith(f"toy, part, few, Model: 4 rows {verdict}")
    assert [(module, root) for module, _, root in tried] == [("benchmarks.papers.toy", "before")]


def test_against_is_for_confirm(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks.papers", "deep", "--against", "HEAD"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--against is for --confirm." in capsys.readouterr().err


def test_the_deep_parts_can_be_shortened():
    from benchmarks.papers.deep_parts import digits, faces, pinwheel

    for part in (pinwheel.PART, faces.PART, digits.PART):
        cells = [cell for cell in part.cells() if cell.estimator.get_params().get("n_epochs", "auto") != "auto"]
        assert with_settings(cells[0], part.short).estimator.n_epochs == 3
    assert (
        faces.PART.alike("some, 200 pairs") == faces.PART.alike("some, 500 pairs") != faces.PART.alike("all, 200 pairs")
    )
