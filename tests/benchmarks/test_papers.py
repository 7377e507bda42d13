"""The pages of the papers agree with the record of results."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.experiments import page
from benchmarks.papers import PAGES
from benchmarks.papers.__main__ import main
from tests.benchmarks.recorded_versions import require_recorded

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_page_and_record_agree(name):
    """After a change of a script or a template: `python -m benchmarks.papers --write`."""
    require_recorded("scikit-learn")
    assert list(page.problems(import_module(f"benchmarks.papers.{name}").PAGE)) == []


@pytest.mark.parametrize("name", [name for name in PAGES if name != "index"])
def test_the_page_gives_its_command(name):
    text = (ROOT / "docs" / "papers" / f"{name}.rst").read_text("utf-8")
    assert f"python -m benchmarks.papers {name}\n" in text


def test_unknown_pages_are_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks.papers", "stagewize"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "There is no page stagewize" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stagewise", "--parts", "eror"], "stagewise has no part eror; it has rounds, information, errors, labels."),
        (["--parts", "errors"], "--parts needs the name of one page."),
    ],
)
def test_unknown_parts_are_refused(arguments, message, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks.papers", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_readme_and_front_page_count_the_claims_as_their_page_does():
    counts = re.compile(r"Of \d+ claims, .*")
    (page,) = counts.findall((ROOT / "docs" / "papers" / "index.rst").read_text("utf-8"))
    for name in ("README.md", "docs/index.rst"):
        (line,) = counts.findall((ROOT / name).read_text("utf-8"))
        assert line.rstrip(":") == page.rstrip("."), name
