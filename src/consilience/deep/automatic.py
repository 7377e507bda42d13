"""Values of parameters that are "auto": widths of networks, numbers of restarts and epochs, and the end of training.

As measured on 100 to 60 000 items (docs/papers/deep): narrow networks are enough for few features; of few items, a
single start often ends in a poor maximum.

Many features need a longer warm start. An autoencoder of pictures leaves some dimensions of some items to N(0, I) at
first, and learns them later. If training begins before, these dimensions are as broad as the Gaussians of the mixture,
which grow with them, until one Gaussian has the items of several clusters.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

FEW_FEATURES = 50  # up to which narrow networks are enough
NARROW, WIDE = (40, 40), (500, 500)
FEW_ITEMS, RESTARTS = 2000, 10
LEAST_STEPS = 3000  # of all epochs together, at most: training ends before if it has settled
LEAST_EPOCHS = 25
WARM_STEPS, WIDE_WARM_STEPS, LEAST_WARM_EPOCHS = 500, 1500, 12  # the same for the warm start: of few and many features
WINDOW = 250  # steps over which losses are averaged
LEAST_GAIN = 0.05  # of a window, relative to all that was gained before


def widths(n_features: int) -> tuple[int, ...]:
    """Widths of the hidden layers."""
    return NARROW if n_features <= FEW_FEATURES else WIDE


def n_restarts(n_items: int, n_features: int) -> int:
    """Number of restarts: several of narrow networks and few items."""
    return RESTARTS if n_items <= FEW_ITEMS and n_features <= FEW_FEATURES else 1


def most_epochs(n_steps: int) -> int:
    """Largest number of epochs, of so many steps each."""
    return max(LEAST_EPOCHS, -(-LEAST_STEPS // n_steps))


def n_warm_epochs(n_steps: int, n_features: int) -> int:
    """Number of epochs of the warm start, of so many steps each."""
    least = WARM_STEPS if n_features <= FEW_FEATURES else WIDE_WARM_STEPS
    return max(LEAST_WARM_EPOCHS, -(-least // n_steps))


def has_settled(losses: Float[np.ndarray, "epochs restarts"], n_steps: int) -> bool:
    """Whether no restart gains much any more.

    Compares the mean losses of the last two windows with the gain since the first epoch. A restart that failed, whose
    losses are NaN, has settled.

    losses : nats per item, of all epochs that count.
    n_steps : of an epoch.

    Examples
    --------
    >>> falling = 1 / np.arange(1, 41)[:, None]
    >>> has_settled(falling[:10], n_steps=100), has_settled(falling, n_steps=100)
    (False, True)
    """
    window = -(-WINDOW // n_steps)
    if len(losses) <= 2 * window:
        return False
    before, after = losses[-2 * window : -window].mean(0), losses[-window:].mean(0)
    gains: Bool[np.ndarray, " restarts"] = before - after > LEAST_GAIN * (losses[0] - after)
    return not gains.any()
