"""Forecasts of the error, compared with exact expectations and with errors that are then made."""

import numpy as np
import pytest

from consilience.active.label_forecast import (
    LabelExpectations,
    decide_by_gain,
    forecast_labels,
    steps_of,
)

GOOD = np.array([[0.9, 0.1], [0.1, 0.9]])


def expectations(n_items=2000, share=0.5, confusion=GOOD, temperature=1.0):
    return LabelExpectations(np.tile([share, 1 - share], (n_items, 1)), confusion, temperature)


def test_one_label_of_each_item_leaves_the_error_of_a_label():
    errors = expectations().errors(np.array([2000]), np.random.default_rng(0))
    assert errors[0] == pytest.approx(0.5)
    assert errors[1] == pytest.approx(0.1)  # whichever label it is


def test_labels_that_tell_nothing_change_nothing():
    errors = expectations(share=0.7, confusion=np.full((2, 2), 0.5)).errors(
        np.array([500] * 4), np.random.default_rng(0)
    )
    assert errors == pytest.approx(np.full(5, 0.3))


def test_the_temperature_makes_labels_worth_less():
    rng = np.random.default_rng(0)
    plain, tempered = (expectations(temperature=t).errors(np.array([2000]), rng)[-1] for t in (1.0, 4.0))
    assert tempered == pytest.approx(1 / (1 + 9**0.25))  # .9 / .1 to the power of 1 / T
    assert plain < tempered


def test_steps_are_of_different_items_and_add_up():
    for n_labels, n_items in ((100, 30), (7, 1000), (1, 1), (250, 100)):
        steps = steps_of(n_labels, n_items, 10)
        assert steps.sum() == n_labels
        assert 1 <= steps.min() <= steps.max() <= n_items


def test_the_forecast_is_reached_when_so_many_labels_are_given():
    found = forecast_labels(expectations(500), 0.1, 40, np.random.default_rng(0))
    assert found.error == pytest.approx(0.5)
    assert found.labels == found.more + 40 == found.per_item * 500
    assert found.more == pytest.approx(500, rel=0.01)  # each item once
    there = forecast_labels(expectations(500, share=0.99), 0.1, 40, np.random.default_rng(0))
    assert there.more == 0


def test_an_error_out_of_reach_needs_labels_without_end():
    found = forecast_labels(expectations(20, confusion=np.full((2, 2), 0.5)), 0.1, 0, np.random.default_rng(0))
    assert np.isinf(found.labels)
    assert np.isinf(found.per_item)


def test_the_decision_counts_the_items_that_are_put_right():
    rng = np.random.default_rng(0)
    go_on = decide_by_gain(expectations(100), 100, 1.0, rng)
    assert not go_on
    assert "The next 100 labels are expected to put 40.0 items right" in go_on.reason
    assert decide_by_gain(expectations(100), 100, 41.0, rng)
    assert decide_by_gain(expectations(100, confusion=np.full((2, 2), 0.5)), 100, 0.1, rng)
