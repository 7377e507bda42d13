"""How the page on subset groupings reads curves: subsets needed, comparisons, cells of tables."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.experiments.statistics import Difference
from benchmarks.papers.subset_parts.difficulty import cells_of_difficulty
from benchmarks.papers.subset_parts.fusions import LINKAGE, METHODS, cells_of_ensembles, cells_of_fusions
from benchmarks.papers.subset_parts.replay import cells_of_replay
from benchmarks.papers.subset_parts.setting import Need, against, counts, needed, short, spread, versus
from benchmarks.papers.subset_parts.strategies import cells_of_large, cells_of_rates, cells_of_strategies

CURVE = np.array([[20, 0.2], [40, 0.6], [60, 0.5], [80, 0.9]])


def test_subsets_needed_are_interpolated_up_to_the_first_that_reach_the_level():
    assert needed(CURVE, 0.4) == pytest.approx(30)
    assert needed(CURVE, 0.6) == 40
    assert needed(CURVE, 0.1) == pytest.approx(10)  # from NMI 0 without subsets
    assert needed(CURVE, 0.95) == np.inf


@pytest.fixture
def need():
    table = pd.DataFrame({"random": [40.0, 60.0, np.inf], "ours": [30.0, 50.0, np.nan]})
    return Need(0.5, table, 80.0)


def test_needs_are_compared_on_the_draws_that_both_have(need):
    assert need.ratio("ours") == pytest.approx(40 / 50)
    difference = need.difference("ours")
    assert (difference.mean, difference.error) == (-10, 0)


def test_a_level_that_is_not_reached_counts_as_the_end(need):
    other = Need(0.5, need.table.assign(ours=[30.0, 50.0, 60.0]), 80.0)
    assert other.difference("ours").mean == pytest.approx(-(10 + 10 + 20) / 3)
    never = Need(0.5, pd.DataFrame({"random": [40.0, 60.0], "ours": [np.inf, np.inf]}), 80.0)
    assert np.isnan(never.ratio("ours"))
    assert never.cell("ours").rstrip() == ">80 ± 0"


def test_cells_of_tables():
    assert short("10.5 ± 0.05, 0.9") == "10.5 ± .05, .9"
    assert spread([-0.0001, 0.0]) == ".000 ± .000"
    assert spread([99, 101], 0) == "100 ± 1"
    assert against(Difference(0.03, 0.01)) == "+.030 ± .010*"
    assert against(Difference(0.02, 0.01)) == "+.020 ± .010 "


def test_comparisons_are_counted_by_verdict():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.1, 2.0], "c": [1.0, 2.0, np.nan]})
    assert versus(table, "a", "c") == Difference(0, 0)
    found = counts([versus(table, "a", "b"), versus(table, "b", "a"), versus(table, "a", "c")])
    assert found == {"above": 1, "level": 1, "below": 1, "all": 3}


@pytest.mark.parametrize(
    "cells",
    [
        cells_of_fusions,
        cells_of_ensembles,
        cells_of_strategies,
        cells_of_replay,
        cells_of_difficulty,
        cells_of_large,
        cells_of_rates,
    ],
)
def test_each_cell_is_told_apart(cells):
    keys = [cell.key for cell in cells()]
    assert len(set(keys)) == len(keys) > 0


def test_a_method_without_random_numbers_is_run_once_on_a_recorded_crowd():
    birds = [cell for cell in cells_of_fusions() if cell.data == "birds5"]
    n_seeds = len({cell.draw for cell in birds})
    assert n_seeds >= 5
    assert {name: sum(cell.model == name for cell in birds) for name in METHODS} == {
        name: 1 if name == LINKAGE else n_seeds for name in METHODS
    }
