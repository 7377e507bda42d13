"""The curve of a plan."""

import numpy as np
import pandas as pd
import pytest

from consilience.active import Plan
from consilience.errors import InputError
from consilience.inspection import plot_plan

TABLE = pd.DataFrame(
    {"agreement": [0.2, 0.6, 0.9], "low": [0.1, 0.5, 0.8], "high": [0.3, 0.7, 1.0]},
    index=pd.Index([2, 4, 8], name="annotators"),
)


def made(annotators):
    return Plan(
        target=0.75,
        annotators=annotators,
        groupings=annotators,
        groupings_per_item=annotators,
        subset_size=10,
        subsets_each=1,
        agreement=0.4,
        table=TABLE,
    )


def test_curve_band_target_and_number_are_drawn():
    ax = plot_plan(made(5.7))
    mean, target, number = ax.lines
    assert mean.get_xdata().tolist() == [2, 4, 8]
    assert mean.get_ydata().tolist() == [0.2, 0.6, 0.9]
    assert set(target.get_ydata()) == {0.75}
    assert set(number.get_xdata()) == {5.7}
    (band,) = ax.collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.round(3).tolist()}
    assert {(2, 0.1), (2, 0.3), (8, 0.8), (8, 1.0)} <= corners
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("four in five studies", "mean", "target: 0.75", "about 6 people"),
    ]


def test_a_number_that_was_not_reached_is_not_drawn():
    assert len(plot_plan(made(np.inf)).lines) == 2


def test_only_plans_are_drawn():
    with pytest.raises(InputError, match=r"'plan' parameter of plot_plan must be a Plan. Got DataFrame"):
        plot_plan(TABLE)
