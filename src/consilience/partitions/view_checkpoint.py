"""Checkpoints of `MCVC` and `MECC` over partitions: the last sweep, and η of the items in files beside it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from consilience.inference.gaussian_softmax import Weights
from consilience.partitions.checkpoint import Arrays
from consilience.partitions.item_rows import ItemRows
from consilience.partitions.map_reduce import Parts
from consilience.partitions.view_sums import LogSums, Sums
from consilience.partitions.view_sweeps import Swept
from consilience.semisupervised.mcvc import State

OF_STATE = ("phi", "right", "sticks", "of_views", "bounds")
OF_WEIGHTS = ("mean", "log_variance")


@dataclass(frozen=True)
class Keeping:
    """What turns a state into arrays and files of rows, and back.

    rows : files of η.
    parts : of `view_sums.Part`, with any η.
    n_clusters : of each view.
    """

    rows: ItemRows
    parts: Parts
    n_clusters: int

    def values_of(self, swept: Swept) -> Arrays:
        """Return what a checkpoint holds, and write η of the items beside it."""
        self.rows.keep(swept.parts, swept.n_sweeps)
        own = swept.own
        values = {f"own.{name}": getattr(own, name) for name in OF_STATE}
        values |= {f"weights.{name}": getattr(own.weights, name) for name in OF_WEIGHTS}
        values |= {f"sums.{one.name}": getattr(swept.sums, one.name) for one in fields(Sums)}
        values |= {f"logs.{one.name}": getattr(swept.logs, one.name) for one in fields(LogSums)}
        return values | {"n_sweeps": np.array(swept.n_sweeps), "restart_bounds": swept.restart_bounds}

    def state_of(self, values: Arrays) -> Swept:
        """Return what a checkpoint held."""
        n_sweeps, weights = int(values["n_sweeps"]), Weights(*(values[f"weights.{name}"] for name in OF_WEIGHTS))
        nobody = np.empty((0, self.n_clusters, weights.mean.shape[2]))
        return Swept(
            self.rows.restored(self.parts, n_sweeps),
            State(nobody, weights, **{name: values[f"own.{name}"] for name in OF_STATE}),
            Sums(*(values[f"sums.{one.name}"] for one in fields(Sums))),
            LogSums(*(values[f"logs.{one.name}"] for one in fields(LogSums))),
            values["restart_bounds"],
            n_sweeps,
        )
