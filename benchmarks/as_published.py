"""What the paper's settings of BayesSCDC give on the pinwheel, with and without judgements and the full gradient.

    python -m benchmarks.as_published --draws 0 1 2 3 4 [--n-init 10] [--scale 1]

Prints accuracy by one-to-one matching, NMI, AMI and the number of clusters of each draw, and their means. What the
authors' program prints as NMI is AMI. The points are standardised, times `scale`.
"""

from __future__ import annotations

import argparse
from itertools import product

import jax
import numpy as np
import pandas as pd

from benchmarks.papers.deep_parts.pinwheel import pinwheel_points
from consilience import Pairs
from consilience.deep import BayesSCDC
from consilience.metrics import ami, clustering_accuracy, nmi
from consilience.simulation import simulate_pairs

HEAD = f"{'':46s}{'draw':>6s}{'accuracy':>10s}{'NMI':>8s}{'AMI':>8s}{'clusters':>10s}"


def judgements(arm: np.ndarray, draw: int) -> Pairs:
    """Judgements of the paper: 20 workers, 49 pairs each, of 100 items."""
    some = pd.Series(arm).sample(100, random_state=draw)
    return simulate_pairs(some, 20, 49, 0.9, random_state=draw).reindex(pd.RangeIndex(len(arm)))


def scores(draw: int, *, judged: bool, full_gradient: bool, n_init: int, scale: float) -> list[float]:
    points, arm = pinwheel_points(draw)
    pairs = judgements(arm, draw) if judged else None
    model = BayesSCDC.as_published("pinwheel", full_gradient=full_gradient, n_init=n_init, random_state=draw)
    found = model.fit(pd.DataFrame(scale * points), pairs).labels_
    jax.clear_caches()
    return [clustering_accuracy(arm, found), nmi(arm, found), ami(arm, found), model.n_clusters_]


def row(name: str, draw: str, values: np.ndarray) -> str:
    accuracy, first, second, clusters = values
    return f"{name:46s}{draw:>6s}{accuracy:10.3f}{first:8.3f}{second:8.3f}{clusters:10.1f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--n-init", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    print(HEAD)
    for judged, full in product((True, False), (False, True)):
        name = f"{'with' if judged else 'no'} judgements, {'full gradient' if full else 'its first term'}"
        settings = {"judged": judged, "full_gradient": full, "n_init": given.n_init, "scale": given.scale}
        rows = []
        for draw in given.draws:
            rows.append(scores(draw, **settings))
            print(row(name, str(draw), np.array(rows[-1])), flush=True)
        print(row(name, "mean", np.mean(rows, axis=0)), flush=True)


if __name__ == "__main__":
    main()
