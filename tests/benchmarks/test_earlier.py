"""Rows are confirmed by equal figures of today's code and an earlier one, on one machine."""

from contextlib import contextmanager

import pytest
from sklearn.linear_model import Ridge

from benchmarks.experiments import Cell, Page, Part, code, earlier, page
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

LISTED = """
from types import SimpleNamespace

KEYS = [("part", "data", "Model", draw) for draw in range(2)]
RECORD = SimpleNamespace(rows={key: {"code": "abc"} for key in KEYS})
STATES = [(None, SimpleNamespace(key=key), state) for key, state in zip(KEYS, ["", "changed code: toy"])]
PAGE = SimpleNamespace(record=lambda: RECORD, states=lambda record: STATES)
"""


def tree(folder, factor):
    """Write modules of a page whose figures depend on a factor."""
    for name in ("src", "benchmarks/experiments", "benchmarks/papers"):
        (folder / name).mkdir(parents=True)
    (folder / "benchmarks" / "experiments" / "page.py").write_text("def rounded(value):\n    return value\n")
    (folder / "benchmarks" / "toy_cell.py").write_text(CELL)
    (folder / "benchmarks" / "papers" / "toy.py").write_text(TOY.replace("FACTOR", str(factor)))
    return folder


def test_both_codes_run_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(earlier, "ROOT", tree(tmp_path / "today", 2.0))
    toy = Page("toy", parts=(), tables=lambda record: {})
    part = Part("part", list, dict)
    found = earlier.both_figures(toy, part, Cell("part", "data", "model", 2), tree(tmp_path / "before", 3.0))
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


def triple(cell):
    return {"value": 3.0 * cell.draw}


@pytest.mark.parametrize(("figures", "expected"), [([1.0, 1.0], "confirmed by 1"), ([1.0, 1.1], "other figures")])
def test_data_sets_that_are_alike_are_confirmed_together(tmp_path, monkeypatch, figures, expected):
    """The record is of another machine: its figures are others, and are not looked at."""
    monkeypatch.setattr(page, "commit", lambda: "0123456789")
    monkeypatch.setattr(code, "PACKAGES", ("tests",))

    @contextmanager
    def folder(revision):
        yield tmp_path / revision

    def run(asked, part, cell, root):
        tried.append((cell.data, root.name))
        return [{"value": value} for value in figures]

    monkeypatch.setattr(page, "tree_of", folder)
    monkeypatch.setattr(page, "both_figures", run)
    monkeypatch.setattr(page, "codes", lambda toy, root: codes_then)

    def page_by(compute):
        cells = [Cell("part", f"few, {number}", "Model", draw) for number in (1, 2) for draw in range(2)]
        part = Part("part", lambda: cells, compute, alike=lambda data: data.partition(",")[0])
        found = Page("toy", parts=(part,), tables=lambda record: {})
        object.__setattr__(found, "record", lambda: page.Record("toy", tmp_path))
        return found

    page.compute(page_by(double), n_jobs=1)
    tried, codes_then = [], {key: row["code"] for key, row in page.Record("toy", tmp_path).rows.items()}
    (line,) = page.confirm(page_by(triple), against="before")
    assert line.startswith(f"toy, part, few, Model: 4 rows {expected}")
    assert [root for _, root in tried] == ["before"]


def test_rows_of_other_code_than_the_commits_are_not_compared(tmp_path, monkeypatch):
    """The commit's code is not what they were computed with: that today's gives the same proves nothing of them."""
    monkeypatch.setattr(page, "commit", lambda: "0123456789")
    monkeypatch.setattr(code, "PACKAGES", ("tests",))

    @contextmanager
    def folder(revision):
        yield tmp_path / revision

    def toy(compute, other):
        parts = tuple(
            Part(name, lambda name=name: [Cell(name, "data", "Model", draw) for draw in range(2)], function)
            for name, function in (("one", compute), ("other", other))
        )
        found = Page("toy", parts=parts, tables=lambda record: {})
        object.__setattr__(found, "record", lambda: page.Record("toy", tmp_path))
        return found

    page.compute(toy(double, double), n_jobs=1)
    first = page.Record("toy", tmp_path).rows["one", "data", "Model", 0]
    tried = []
    monkeypatch.setattr(page, "tree_of", folder)
    monkeypatch.setattr(page, "codes", lambda toy, root: {("one", "data", "Model", 0): first["code"]})
    monkeypatch.setattr(page, "both_figures", lambda toy, part, cell, root: tried.append(cell.key) or [1.0, 1.0])
    found = page.confirm(toy(triple, triple), against="before", parts=["one"])
    assert found == [
        "toy, one, Model: 1 rows of other code than the commit's: not compared",
        "toy, one, data, Model: 1 rows confirmed by 1",
    ]
    assert tried == [("one", "data", "Model", 0)]
    states = {cell.key: state for _, cell, state in toy(triple, triple).states(page.Record("toy", tmp_path))}
    assert [key for key, state in states.items() if not state] == [("one", "data", "Model", 0)]


def test_the_codes_of_a_commit(tmp_path, monkeypatch):
    """Only rows that held for its code."""
    (tmp_path / "src").mkdir()
    (tmp_path / "benchmarks" / "papers").mkdir(parents=True)
    (tmp_path / "benchmarks" / "papers" / "toy.py").write_text(LISTED)
    toy = Page("toy", parts=(), tables=lambda record: {})
    assert earlier.codes(toy, tmp_path) == {("part", "data", "Model", 0): "abc"}


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
