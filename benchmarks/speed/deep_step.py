"""How much longer an epoch of BayesSCDC takes than the arithmetic of its networks; ten restarts on small data.

deep_step      BayesSCDC at its defaults on images of handwritten digits, without judgements, in turns with as many
               steps of a plain autoencoder: the same networks, optimiser and size of minibatches.
deep_restarts  a fit of 500 points in two dimensions at the defaults, in a new process, with imports and compilation;
               and in a second one, which finds the code that the first compiled.

Runs on the default device of JAX, which on a processor uses all its cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import optax

from benchmarks.experiments import Cell
from benchmarks.speed.deep import device
from benchmarks.speed.measuring import Run, busy_machine, compared, in_turns, timed
from consilience.datasets import load_mnist_crowd
from consilience.deep import BayesSCDC, restarts
from consilience.deep.networks import apply
from consilience.deep.training import batches

N_IMAGES, EPOCHS = 20_000, 5
MODEL, NETWORKS = "BayesSCDC", "its networks alone"
MOST_RATIO = 1.5  # wanted
AGAIN = "BayesSCDC, compiled before"
MOST_SECONDS = {MODEL: 25, AGAIN: 12}  # wanted
FIT = """
import time
start = time.perf_counter()
from benchmarks.papers.deep_parts.pinwheel import pinwheel_points
from consilience.deep import BayesSCDC
from consilience.deep.compilation import keep_compiled
keep_compiled()
model = BayesSCDC(random_state=0).fit(pinwheel_points(0)[0])
print(time.perf_counter() - start, time.process_time(), len(model.restart_bounds_), model.n_iter_)
"""


def cells_of_deep_step() -> Iterator[Cell]:
    data = f"an epoch of {N_IMAGES} handwritten digits"
    yield Cell("deep_step", data, MODEL, 0, settings={"n_images": N_IMAGES}, uses=(BayesSCDC,))


def compute_deep_step(cell: Cell) -> dict[str, Any]:
    """Return an epoch of the model and of its networks, and the ratios of their seconds and processor seconds."""
    images = np.asarray(load_mnist_crowd(all_images=True).data, np.float32)[: cell.settings["n_images"]] / 255
    estimator = BayesSCDC(likelihood="bernoulli", random_state=0)
    data, _ = estimator._study(images, None, None)
    model = estimator._checked_model(data)
    course = restarts.begin(model, data, jax.random.split(jax.random.key(0), 1), 3, lambda: None)
    first = jax.tree.map(lambda part: part[0], course.fits)
    networks, key = (first.parameters, first.optimiser), jax.random.key(1)
    epoch = autoencoder_epoch(model)

    def ours() -> Run:
        nonlocal course
        run, course = timed(lambda: jax.block_until_ready(restarts.advance(model, data, course, EPOCHS)))
        return run

    def alone() -> Run:
        nonlocal networks, key
        key, own = jax.random.split(key)
        run, networks = timed(lambda: jax.block_until_ready(epoch(*networks, data.observed, own)))
        return run

    calls = {MODEL: ours, NETWORKS: alone}
    in_turns(calls, 1)  # compiles
    runs = in_turns(calls, EPOCHS)
    busy = runs[MODEL]["busy"] / runs[NETWORKS]["busy"]
    return compared(runs, MODEL) | {"busy_ratio": busy, "device": device()}


def autoencoder_epoch(model: Any) -> Callable[..., Any]:
    """Return an epoch of the same networks and optimiser, with the means of the potentials as positions."""

    def loss(parameters: Any, observed: jax.Array) -> jax.Array:
        potential = apply(parameters.encoder, observed)
        return -parameters.likelihood.log_probability(observed, potential.linear / potential.precision).mean()

    def step(carry: tuple, batch: tuple) -> tuple:
        parameters, optimiser, data = carry
        rows, key = batch
        observed = parameters.likelihood.draw_observed(data[rows], key)
        change, optimiser = model.optimiser.update(jax.grad(loss)(parameters, observed), optimiser, parameters)
        return (optax.apply_updates(parameters, change), optimiser, data), None

    @jax.jit
    def epoch(parameters: Any, optimiser: Any, data: jax.Array, key: jax.Array) -> Any:
        size = min(model.batch_size, len(data))
        n_steps = -(-len(data) // size)
        drawn = batches(key, len(data), size, n_steps), jax.random.split(key, n_steps)
        return jax.lax.scan(step, (parameters, optimiser, data), drawn)[0][:2]

    return epoch


def cells_of_deep_restarts() -> Iterator[Cell]:
    yield Cell("deep_restarts", "500 points in two dimensions", MODEL, 0, settings={"script": FIT}, uses=(BayesSCDC,))


def compute_deep_restarts(cell: Cell) -> dict[str, Any]:
    """Return a fit in a new process, without and with compiled code, with its numbers of restarts and epochs."""
    command = [sys.executable, "-c", cell.settings["script"]]
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"XDG_CACHE_HOME": folder}
        for name in MOST_SECONDS:
            output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            seconds, busy, *counts = map(float, output.split())
            numbers = zip(("restarts", "epochs"), map(int, counts), strict=True)
            runs[name] = {"seconds": seconds, "busy": busy} | dict(numbers)
    return {"runs": runs} | busy_machine()
