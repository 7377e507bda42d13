import numpy as np
import pytest

from consilience.inference import iterate, restarts
from consilience.inference.iterate import spawn_seeds


def halve(x):
    return x / 2


def test_stops_where_the_gain_is_small():
    trace = iterate(1.0, halve, lambda x: 10 - x, max_iter=100, tol=1e-3)
    # gains are 2^-(i + 1) against 1e-3 times nearly 10: the first at most .00998 is 2^-7, in sweep 7
    assert (trace.n_iter, trace.converged) == (7, True)
    assert trace.lower_bound == trace.lower_bounds[-1] == 10 - 2**-7
    assert "0.001" in trace.reason


def test_says_when_it_has_not_converged():
    trace = iterate(1.0, halve, lambda x: -x, max_iter=4, tol=0.0)
    assert (trace.n_iter, trace.converged, trace.state) == (4, False, 1 / 16)
    assert "max_iter=4" in trace.reason


def test_settled_takes_the_place_of_the_gain():
    # the bound falls at every sweep, which alone would stop the loop after the second
    trace = iterate(1.0, halve, lambda x: x, max_iter=100, tol=1.0, settled=lambda x: x <= 1 / 16)
    assert (trace.n_iter, trace.converged, trace.state) == (4, True, 1 / 16)
    assert trace.lower_bounds == (1 / 2, 1 / 4, 1 / 8, 1 / 16)
    assert trace.reason == "The state had settled after sweep 4."


def test_settled_is_asked_after_the_first_sweep_and_not_of_the_first_state():
    asked = []

    def settled(x):
        asked.append(x)
        return True

    assert iterate(1.0, halve, lambda x: x, max_iter=100, settled=settled).n_iter == 1
    assert asked == [1 / 2]


def test_says_when_it_has_not_settled():
    # a bound that stands still is no reason to stop either
    trace = iterate(1.0, halve, lambda x: 0.0, max_iter=4, settled=lambda x: False)
    assert (trace.n_iter, trace.converged, trace.state) == (4, False, 1 / 16)
    assert trace.reason == "The state had not settled after max_iter=4 sweeps."


def test_a_bound_that_is_not_finite_is_an_error_where_the_state_has_settled():
    with pytest.raises(FloatingPointError, match="inf after sweep 1"):
        iterate(1.0, halve, lambda x: float("inf"), max_iter=3, settled=lambda x: True)


def test_a_bound_that_is_not_finite_is_an_error():
    with pytest.raises(FloatingPointError, match="nan after sweep 1"):
        iterate(0.0, lambda x: x, lambda x: float("nan"), max_iter=3, tol=0.0)


def test_restarts_keep_the_order_whatever_runs_first():
    assert restarts(pow, [(2, n) for n in range(5)], n_jobs=2) == [1, 2, 4, 8, 16]


def test_seeds_depend_on_the_generator_alone():
    assert spawn_seeds(np.random.RandomState(3), 4) == spawn_seeds(np.random.RandomState(3), 4)
    assert len(set(spawn_seeds(np.random.RandomState(3), 100))) == 100
