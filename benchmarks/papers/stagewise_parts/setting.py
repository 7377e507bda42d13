"""The models, and sparse crowds: 100 annotators label 1000 items of 3 classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, SpectralEM, StagewiseEM
from consilience.simulation import simulate_labels, sparse_crowd

N_ITEMS, N_ANNOTATORS, N_CLASSES = 1000, 100, 3
N_DRAWS = 20
DEFAULT, TRUE, STAGES = "StagewiseEM", "true model", "StagewiseEM(refine=None)"
MODELS = {
    DEFAULT: StagewiseEM(),
    "StagewiseEM(refine='all')": StagewiseEM(refine="all"),
    STAGES: StagewiseEM(refine=None),
    "DawidSkene(prior=None)": DawidSkene(prior=None),
    "DawidSkene": DawidSkene(),
    "SpectralEM": SpectralEM(),
    "MajorityVote": MajorityVote(),
}


def draw(alpha: float, accuracy: float | np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, Labels]:
    """Draw confusion matrices of an α-sparse crowd, classes, and the crowd's labels."""
    rng = np.random.default_rng([seed, round(100 * alpha)])
    crowd = sparse_crowd(N_ANNOTATORS, N_CLASSES, alpha=alpha, accuracy=accuracy, random_state=rng)
    classes = rng.integers(N_CLASSES, size=N_ITEMS)
    return crowd, classes, simulate_labels(classes, confusion=crowd, random_state=rng)


def scores_under(crowd: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the joint log probability of each item's labels and each class, for uniform classes, (items, classes)."""
    each = np.log(crowd)[labels.annotator, :, labels.label]
    return np.add.reduceat(each, labels.indptr[:-1]) - np.log(N_CLASSES)


def seeded(name: str, seed: int) -> Any:
    """Return an unfitted model, with the seed if it draws random numbers."""
    model = clone(MODELS[name])
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model
