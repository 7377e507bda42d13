"""The limit of BLAS to one thread: shared by concurrent fits, and removed when the last ends."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from consilience import Groupings
from consilience.consensus import KCC
from consilience.inference.iterate import restarts
from consilience.inference.threads import SharedLimit, _take_over, one_blas_thread
from consilience.semisupervised import PartitionLabelModel, partition_label_model_estimator

BEFORE = 2


def set_threads(number):
    """Set the number of threads and, as a `with` does when it is left, let any thread set it from now on."""
    threadpool_limits(number, user_api="blas")
    _take_over()


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    (before,) = threads()
    set_threads(BEFORE)
    assert threads() == {BEFORE}  # also where the environment says 1
    yield
    set_threads(before)


def test_one_thread_inside_and_restored_outside():
    with one_blas_thread():
        assert threads() == {1}
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {BEFORE}


def test_the_last_context_removes_the_limit_in_any_order():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == {BEFORE}


def test_two_threads_that_end_in_the_order_they_began():
    both, first_is_over = threading.Barrier(2), threading.Event()

    def first():
        with one_blas_thread():
            both.wait()

    def second():
        with one_blas_thread():
            both.wait()
            assert first_is_over.wait(10)
            return threads()

    with ThreadPoolExecutor(2) as pool:
        later = pool.submit(second)
        pool.submit(first).result()
        first_is_over.set()
        assert later.result() == {1}
    assert threads() == {BEFORE}


def test_a_limit_set_by_other_code_is_left_to_it():
    theirs = threadpool_limits(1, user_api="blas")
    with one_blas_thread():
        theirs.restore_original_limits()  # such as k-means of another thread that ends before we do
    assert threads() == {BEFORE}


def test_an_error_removes_the_limit():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert threads() == {BEFORE}
    with pytest.raises(ZeroDivisionError):
        restarts(lambda x: 1 / x, [(1,), (0,)], n_jobs=2)
    assert threads() == {BEFORE}


def test_a_closed_generator_removes_the_limit():
    def numbers():
        with one_blas_thread():
            yield from range(3)

    left = numbers()
    assert next(left) == 0
    assert threads() == {1}
    left.close()
    assert threads() == {BEFORE}


def test_concurrent_fits_restore_the_number_of_threads():
    groupings = Groupings.from_matrix(np.random.default_rng(0).integers(3, size=(60, 5)))
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            list(pool.map(lambda seed: KCC(3, n_init=2, random_state=seed).fit(groupings), range(4)))
            assert threads() == {BEFORE}


def test_clusters_of_partition_labels_are_joined_in_one_thread(monkeypatch):
    seen = []
    monkeypatch.setattr(partition_label_model_estimator, "merge", lambda best, *_, **__: seen.append(threads()) or best)
    labels = np.repeat([[0], [1]], 10, axis=0)
    PartitionLabelModel(max_clusters=3, prior_variance=1.0, n_init=1, random_state=0).fit(labels * [[1.0]], labels)
    assert seen == [{1}]


def test_a_child_process_forgets_other_threads():
    shared = SharedLimit()
    mine, other = object(), object()
    shared.begin(mine)
    thread = threading.Thread(target=shared.begin, args=(other,))
    thread.start()
    thread.join()
    shared.in_child()
    assert threads() == {1}  # this thread goes on in the child
    shared.end(mine)
    assert threads() == {BEFORE}
    shared.end(other)
    assert threads() == {BEFORE}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_child_forked_during_a_fit_in_another_thread():
    program = """
import os, threading
from threadpoolctl import threadpool_info, threadpool_limits
import numpy
from consilience.inference.threads import _take_over, one_blas_thread
threadpool_limits(2, user_api="blas")
_take_over()
begun, over = threading.Event(), threading.Event()
def work():
    with one_blas_thread():
        begun.set()
        over.wait()
thread = threading.Thread(target=work)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    threads = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    os._exit(0 if threads == {2} else 1)
status = os.waitpid(child, 0)[1]
over.set()
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False).returncode == 0
