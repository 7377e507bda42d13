import numpy as np
import pytest

from consilience.inference import iterate, restarts
from consilience.inference.iterate import Outcome
from consilience.inference.randomness import spawn_seeds


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
    assert trace.outcome is Outcome.SETTLED
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
    assert trace.outcome is Outcome.NOT_SETTLED
    assert trace.reason == "The state had not settled after max_iter=4 sweeps. Raise max_iter."


@pytest.mark.parametrize("settled", [None, lambda x: True], ids=["bound", "settled"])
@pytest.mark.parametrize("bound", [np.nan, np.inf, -np.inf])
def test_stops_before_a_bound_that_is_not_finite(settled, bound):
    trace = iterate(1.0, halve, lambda x: bound if x < 1 / 2 else 0.5 - x, max_iter=9)
    assert (trace.outcome, trace.converged, trace.n_iter) == (Outcome.NOT_FINITE, False, 2)
    assert trace.state == 1 / 2  # the last whose bound is finite
    assert trace.lower_bound == -np.inf  # so that no restart like it is kept
    assert f"was {bound} after sweep 2" in trace.reason
    first = iterate(1.0, halve, lambda x: bound, max_iter=9, settled=settled)
    assert (first.outcome, first.state, first.n_iter) == (Outcome.NOT_FINITE, 1.0, 1)


def test_a_sweep_that_lowers_the_bound_is_not_kept():
    trace = iterate(4.0, halve, lambda x: -abs(x - 1), max_iter=9, tol=1e-3)
    # -1, 0, -1/2: the third sweep is the first that makes it worse
    assert (trace.outcome, trace.converged, trace.state, trace.n_iter) == (Outcome.FELL, False, 1.0, 2)
    assert (trace.lower_bound, trace.lower_bounds) == (0.0, (-1.0, 0.0))
    assert "would have got worse by 0.5 after sweep 2" in trace.reason


def test_a_fall_by_rounding_alone_is_convergence():
    bounds = iter([-1e6, -1e6 - 1e-6])  # a millionth of a millionth of the bound
    assert iterate(0.0, lambda x: x, lambda x: next(bounds), max_iter=9).outcome is Outcome.CONVERGED


def test_restarts_keep_the_order_whatever_runs_first():
    assert restarts(pow, [(2, n) for n in range(5)], n_jobs=2) == [1, 2, 4, 8, 16]


def test_seeds_depend_on_the_generator_alone():
    assert spawn_seeds(np.random.RandomState(3), 4) == spawn_seeds(np.random.RandomState(3), 4)
    assert len(set(spawn_seeds(np.random.RandomState(3), 100))) == 100
