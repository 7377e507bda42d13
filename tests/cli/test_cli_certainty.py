"""What another group of people would repeat, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import load
from consilience.inspection import certainty


@pytest.fixture
def sorts(tmp_path):
    """File sorts.csv: 8 people sort 12 cards of three kinds, right three times out of four."""
    rng = np.random.default_rng(0)
    truth = np.arange(12) % 3
    cells = np.where(rng.random((12, 8)) < 0.75, truth[:, None], rng.integers(3, size=(12, 8)))
    names = [f"card {n}" for n in range(12)]
    pd.DataFrame(cells, names, [f"p{n}" for n in range(8)]).rename_axis("card").to_csv(tmp_path / "sorts.csv")
    return tmp_path


@pytest.mark.slow
def test_a_fit_states_it(sorts, run):
    arguments = ("fit", "sorts.csv", "--kind", "groupings", "--certainty-draws", "8", "-o", "out")
    result = run(*arguments)
    found = json.loads((sorts / "out" / "summary.json").read_text())["certainty"]
    model = load(sorts / "out" / "model.zip")
    expected = certainty(model, n_draws=8, random_state=0)
    assert found == {
        name: getattr(expected, name)
        for name in ("repeats", "low", "high", "chance", "repeats_together", "n_people", "n_draws")
    }
    line = f"Another 8 people would repeat {expected.repeats:.0%} of the pairs of cards, together or apart ("
    assert line in result.stdout
    table = pd.read_csv(sorts / "out" / "clusters.csv", index_col="item")
    pd.testing.assert_frame_equal(table.drop(columns="probability"), expected.items, check_dtype=False)
    page = (sorts / "out" / "report.html").read_text()
    assert "In clusters found from another 8 people, we expect" in page
    run("report", "out/model.zip", "sorts.csv", "--kind", "groupings", "--certainty-draws", "8")
    assert (sorts / "report.html").read_text() == page


@pytest.mark.slow
def test_no_draws(sorts, run):
    result = run("fuse", "sorts.csv", "--certainty-draws", "0", "-o", "out")
    found = json.loads((sorts / "out" / "summary.json").read_text())
    assert (found["certainty"], found["why_no_certainty"]) == (None, "It was not asked for.")
    assert "would repeat" not in result.stdout
    assert pd.read_csv(sorts / "out" / "clusters.csv").columns.tolist() == ["item", "cluster", "probability"]
    assert "found from another" not in (sorts / "out" / "report.html").read_text()


def test_models_without(sorts, run, no_drawing):
    run("fit", "sorts.csv", "--kind", "groupings", "--model", "MetaClustering", "-o", "other")
    found = json.loads((sorts / "other" / "summary.json").read_text())
    assert found["certainty"] is None
    assert "The people of MetaClustering cannot be weighed" in found["why_no_certainty"]


def test_the_number_is_checked(sorts, fails):
    assert "'-1' is not between 0 and 10000" in fails("fuse", "sorts.csv", "--certainty-draws", "-1")
