"""Parts of partitions: the same results, to the last digit, by one thread, several, and workers of which one dies."""

import os
import signal

import numpy as np
import pytest
from scipy.sparse import csr_array

from consilience.errors import InputError
from consilience.partitions.engine.map_reduce import DaskParts, LocalParts, lay_out_arrays, tree_sum
from tests.partitions import made


def numbers(n):
    """Numbers whose sum depends on the order in which they are added."""
    return (np.random.default_rng(0).standard_normal(n) * 10.0 ** np.arange(n)).tolist()


@pytest.mark.parametrize("n", range(1, 20))
def test_a_tree_is_binary_over_the_order_of_the_values(n):
    def by_halves(values):
        if len(values) == 1:
            return values[0]
        left = 1 << (len(values) - 1).bit_length() - 1
        return by_halves(values[:left]) + by_halves(values[left:])

    assert tree_sum(numbers(n)) == by_halves(numbers(n))


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n", [1, 5, 20])
def test_local_parts_are_mapped_and_added_in_order(tmp_path, n_jobs, n):
    parts = LocalParts(numbers(n), tmp_path, n_jobs)
    kept = parts.map(made.doubled)
    assert len(kept) == n
    assert list(kept.results(made.doubled)) == [4 * number for number in numbers(n)]
    assert kept.total(made.doubled) == tree_sum(4 * number for number in numbers(n))


def test_parts_that_are_forgotten_leave_no_files_and_disturb_no_others(tmp_path):
    first = LocalParts([1, 2], tmp_path).map(made.doubled)
    second = first.map(made.doubled)
    first.forget()
    third = second.map(made.doubled)
    assert list(second.results(made.doubled)) == [8, 16]
    assert list(third.results(made.doubled)) == [16, 32]
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 4


def test_arrays_lie_in_memory_alike_whether_they_travelled_or_not(tmp_path):
    """Choosing from the last axis leaves other strides, and a buffer from elsewhere may begin at an odd place."""
    chosen = np.arange(24.0).reshape(2, 3, 4)[..., np.array([3, 1])]
    odd = np.frombuffer(b"?" + np.arange(3.0).tobytes(), np.uint8)[1:].view(float)
    assert not chosen.flags.forc
    assert not odd.flags.aligned
    parts = LocalParts([1.0], tmp_path)
    assert next(parts.results(made.lies_well, chosen))
    assert next(parts.results(made.lies_well, odd))
    assert next(parts.results(made.times, chosen)).flags.c_contiguous
    deep = made.Deep((csr_array(np.eye(2)), [chosen], odd))
    found = lay_out_arrays(deep)
    assert found.held[0] is deep.held[0]
    assert found.held[1][0].flags.c_contiguous
    assert found.held[2].flags.aligned
    assert deep.held[1][0] is chosen
    assert lay_out_arrays(found) is found


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 5, 20])
def test_workers_add_as_one_thread_does(client, tmp_path, n):
    here, there = LocalParts(numbers(n), tmp_path), DaskParts(client, numbers(n))
    assert there.map(made.doubled).total(made.doubled) == here.map(made.doubled).total(made.doubled)
    assert list(there.results(made.doubled)) == list(here.results(made.doubled))


@pytest.mark.slow
def test_a_worker_that_dies_at_work_is_survived(client, tmp_path):
    marker = tmp_path / "dead"
    died = DaskParts(client, range(10)).map(made.dies_once, str(marker))
    assert died.total(made.doubled) == 90
    assert marker.exists()


@pytest.mark.slow
def test_parts_of_a_worker_that_died_are_made_again(client):
    parts = DaskParts(client, range(10)).map(made.doubled)
    assert parts.total(made.doubled) == 180
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert parts.total(made.doubled) == 180


def test_what_is_no_client_is_refused():
    with pytest.raises(InputError, match=r"'client' must be a dask.distributed.Client or None. Got a str\."):
        DaskParts("tcp://localhost", [1])
