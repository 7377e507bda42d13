"""What is recorded of a fit of a deep model, and the rows of the tables."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pandas as pd

from benchmarks.experiments.statistics import mean_sd
from consilience.metrics import ami, clustering_accuracy, nmi

SHORT = {"n_epochs": 3}  # clusters are merged after each of these; the warm start is whole, since its length may differ


def scores(model: Any, truth: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return the scores of a fit, and free the compiled code, which would fill the memory."""
    found = {
        "seconds": seconds,
        "weights": model.annotators_["weight"].sort_index().tolist(),
        "epochs": int(model.n_iter_),
        "accuracy": clustering_accuracy(truth, model.labels_),
        "nmi": nmi(truth, model.labels_),
        "ami": ami(truth, model.labels_),
        "clusters": int(model.n_clusters_),
        "bound": float(model.lower_bound_),
    }
    jax.clear_caches()
    return found


def spread(values: pd.Series) -> str:
    """Return mean and standard deviation, or a single value."""
    return mean_sd(values) if len(values) > 1 else f"{values.iloc[0]:.3f}"


def line(name: str, rows: pd.DataFrame, paper: str) -> str:
    """Return mean and deviation over seeds, with the paper's values."""
    clusters = f"{rows['clusters'].mean():.1f} ({rows['clusters'].min()} to {rows['clusters'].max()})"
    return (
        f"{name:14s}{mean_sd(rows['accuracy']):>15s} ({rows['accuracy'].min():.3f} to {rows['accuracy'].max():.3f})"
        f"{mean_sd(rows['nmi']):>17s}{mean_sd(rows['ami']):>17s}{clusters:>18s}{rows['seconds'].mean():7.0f} s"
        f"{len(rows):6d}   {paper}"
    )


HEAD = f"{'':14s}{'accuracy (least to most)':>32s}{'NMI':>17s}{'AMI':>17s}{'clusters':>18s}{'a fit':>9s} seeds   paper"
