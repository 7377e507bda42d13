"""Who sorted no better than chance, as the command line says it."""

import json

import numpy as np

from consilience import Groupings


def test_the_command_line_says_who(run, tmp_path, quick_report):
    rng = np.random.default_rng(0)
    careful = np.where(rng.random((40, 15)) < 0.15, rng.integers(4, size=(40, 15)), np.arange(40)[:, None] % 4)
    sorts = Groupings.from_matrix(np.column_stack([rng.integers(4, size=(40, 3)), careful]))
    sorts.to_frame().to_csv(tmp_path / "sorts.csv", index=False)
    result = run("fit", tmp_path / "sorts.csv", "--out", tmp_path / "out", "--certainty-draws", 0)
    assert "No better than chance: " in result.stdout
    marked = json.loads((tmp_path / "out" / "summary.json").read_text())["random_annotators"]
    assert len(marked) == 3
    assert all(person["probability"] > 0.9 for person in marked)
    assert list(marked[0]) == ["annotator", "z", "p_value", "probability"]
