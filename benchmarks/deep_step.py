"""How much longer a step of BayesSCDC takes than the arithmetic of its networks, and ten restarts on small data.

    python -m benchmarks.deep_step [--images 20000] [--epochs 5] [--restarts]

Trains BayesSCDC on images of handwritten digits, without judgements. Between its epochs, the same networks take as many
steps of a plain autoencoder with the same optimiser on the same minibatches: pass forward and back, and update. Printed
are the medians of milliseconds per step, in wall time and in time of the processors, and their ratios. With
`--restarts` also the seconds of a whole fit of 500 points in two dimensions at the defaults, in a new process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from consilience.datasets import load_mnist_crowd
from consilience.deep import BayesSCDC, restarts
from consilience.deep.networks import apply
from consilience.deep.training import batches

FIT = """
import time
start = time.perf_counter()
from benchmarks.papers.deep_parts.pinwheel import pinwheel_points
from consilience.deep import BayesSCDC
model = BayesSCDC(random_state=0).fit(pinwheel_points(0)[0])
seconds = time.perf_counter() - start
print(f"{len(model.restart_bounds_)} restarts, {model.n_iter_} epochs: {seconds:.1f} s with imports and compilation")
"""


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


def timed(function: Callable[[], Any], n_steps: int) -> tuple[Any, tuple[float, float]]:
    """Return a result, and milliseconds per step, of wall and of processors."""
    start = time.perf_counter(), time.process_time()
    result = jax.block_until_ready(function())
    return result, (1e3 * (time.perf_counter() - start[0]) / n_steps, 1e3 * (time.process_time() - start[1]) / n_steps)


def steps(n_images: int, n_epochs: int) -> None:
    images = jnp.asarray(np.asarray(load_mnist_crowd(all_images=True).data, np.float32)[:n_images] / 255)
    estimator = BayesSCDC(likelihood="bernoulli", random_state=0)
    data, _ = estimator._study(np.asarray(images), None, None)
    model = estimator._checked_model(data)
    course = restarts.begin(model, data, jax.random.split(jax.random.key(0), 1), 3, lambda: None)
    alone = jax.tree.map(lambda part: part[0], course.fits)
    state, epoch, key = (alone.parameters, alone.optimiser), autoencoder_epoch(model), jax.random.key(1)
    n_steps, ours, theirs = model.n_steps(data), [], []
    for number in range(n_epochs + 1):
        course, of_ours = timed(lambda course=course: restarts.advance(model, data, course, n_epochs), n_steps)
        key, own = jax.random.split(key)
        state, of_theirs = timed(lambda state=state, own=own: epoch(*state, data.observed, own), n_steps)
        if number:  # the first compiles
            ours.append(of_ours)
            theirs.append(of_theirs)
    (wall, cpu), (wall_alone, cpu_alone) = np.median(ours, 0), np.median(theirs, 0)
    print(f"{n_images:,} images, batches of {model.batch_size}, {n_epochs} epochs; ms per step: wall, processors")
    print(f"BayesSCDC {wall:14.1f} {cpu:8.1f}")
    print(f"networks alone {wall_alone:9.1f} {cpu_alone:8.1f}")
    print(f"ratio {wall / wall_alone:18.2f} {cpu / cpu_alone:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--restarts", action="store_true")
    given = parser.parse_args()
    steps(given.images, given.epochs)
    if given.restarts:
        print(
            "500 points:",
            subprocess.run([sys.executable, "-c", FIT], check=True, capture_output=True, text=True).stdout,
        )


if __name__ == "__main__":
    main()
