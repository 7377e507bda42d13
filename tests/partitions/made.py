"""Crowds for the tests of partitions, and functions that run on workers."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.simulation import simulate_labels


def crowd(n_items=600, n_annotators=12, *, seed=0, per_item=4):
    """Labels of three classes by annotators who differ, as a long table."""
    rng = np.random.default_rng(seed)
    classes = np.array(["cat", "cow", "dog"])[rng.choice(3, n_items, p=[0.5, 0.3, 0.2])]
    accuracy = rng.uniform(0.45, 0.95, n_annotators)
    labels = simulate_labels(
        classes, n_annotators=n_annotators, accuracy=accuracy, annotators_per_item=per_item, random_state=seed
    )
    return labels.to_frame().astype({"annotator": object, "label": object})


def cut(frame, n):
    """Partitions of as many items each, so that they interleave."""
    return [frame[frame["item"] % n == number] for number in range(n)]


def whole(frames):
    """All partitions in memory."""
    return Labels.from_frame(pd.concat(frames))


@contextmanager
def interrupted_after(n_calls, module, name):
    """A fit that is interrupted when a function of a module is called once more than so often."""
    called, done = getattr(module, name), []

    def failing(*given):
        if len(done) == n_calls:
            raise KeyboardInterrupt
        done.append(name)
        return called(*given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, name, failing)
        with pytest.raises(KeyboardInterrupt):
            yield


def doubled(part):
    return 2 * part


def times(part, array):
    """A product, whose strides are those of the array."""
    return part * array[..., ::-1]


def lies_well(part, array):
    return array.flags.c_contiguous and array.flags.aligned


@dataclass(frozen=True)
class Deep:
    held: tuple


def dies_once(part, marker):
    """Kill the worker that gets to this part first."""
    if part == 3 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def kill_one_of(client, path):
    """Kill a worker as soon as there is a file; return an event that says when it is done."""
    victim, killed = next(iter(client.run(os.getpid).values())), threading.Event()

    def kill():
        while not path.exists():
            time.sleep(0.001)
        os.kill(victim, signal.SIGKILL)
        killed.set()

    threading.Thread(target=kill, daemon=True).start()
    return killed
