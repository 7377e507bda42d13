"""RV coefficients of sheets and groups beside chance, and the test of the axes of the compromise."""

from itertools import permutations

import numpy as np
import pandas as pd

from consilience import Groupings
from consilience.analysis import compromise_chance
from consilience.analysis.compromise import panel_tables
from consilience.analysis.compromise_chance import compromise_axes, panel_agreement


def panel(cells, places=None):
    sorts = Groupings.from_matrix(np.asarray(cells))
    if places is None:
        return panel_tables(sorts)
    rows = [(item, who, *places[a][i]) for a, who in enumerate(sorts.annotators) for i, item in enumerate(sorts.items)]
    return panel_tables(sorts, pd.DataFrame(rows, columns=["item", "annotator", "x", "y"]))


def rv(a, b):
    return (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())


def test_rv_by_chance_is_the_mean_over_all_permutations():
    rng = np.random.default_rng(0)
    cells = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 2, 2], [1, 2, 2]])
    tables = panel(cells, rng.normal(size=(3, 5, 2)))
    found = panel_agreement(tables).mean_rv
    for name, of in (("groups", tables.groups), ("sheets", tables.sheets), ("both", tables.products)):
        pairs = [(of[0], of[1]), (of[0], of[2]), (of[1], of[2])]
        drawn = [rv(a, b[np.ix_(order, order)]) for a, b in pairs for order in map(list, permutations(range(5)))]
        np.testing.assert_allclose(found.loc[name, "by_chance"], np.mean(drawn))
        np.testing.assert_allclose(found.loc[name, "rv"], np.mean([rv(a, b) for a, b in pairs]))


def test_a_sheet_that_shows_the_groups_agrees_with_them():
    cells = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2], [2, 2]])
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])  # as far apart as groups are
    random = np.random.default_rng(1).normal(size=(6, 2))
    found = panel_agreement(panel(cells, [corners[cells[:, 0]], random]))
    np.testing.assert_allclose(found.own.iloc[0], 1)
    assert found.own.idxmin() == found.own.index[1]
    assert 0 < found.compromises < 1


def test_groups_alone_have_no_sheets_to_agree_with():
    found = panel_agreement(panel([[0, 0], [0, 1], [1, 1], [1, 0]]))
    assert found.mean_rv.index.tolist() == ["groups"]
    assert found.own.isna().all()
    assert np.isnan(found.compromises)


def test_those_who_put_all_together_do_not_count():
    with_silent = panel_agreement(panel([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]])).mean_rv
    pd.testing.assert_frame_equal(with_silent, panel_agreement(panel([[0, 0], [0, 1], [1, 1], [1, 0]])).mean_rv)


def test_axes_that_people_share_count_and_random_ones_do_not():
    rng = np.random.default_rng(2)
    shared = np.column_stack([np.where(rng.random(12) < 0.1, rng.integers(3, size=12), np.arange(12) % 3)] * 15)
    assert compromise_axes(panel(shared))["real"].tolist()[:3] == [True, True, False]
    noise = np.column_stack([rng.permutation(12) % 3 for _ in range(15)])
    assert not compromise_axes(panel(noise))["real"].any()


def test_three_items_and_large_panels_are_not_tested(monkeypatch):
    assert compromise_axes(panel([[0, 0], [0, 1], [1, 1]])) is None
    monkeypatch.setattr(compromise_chance, "MOST_SIMULATED", 31)
    assert compromise_axes(panel([[0, 0], [0, 1], [1, 1], [1, 0]])) is None
