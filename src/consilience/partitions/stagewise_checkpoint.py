"""States of the runs of `StagewiseEM` as arrays, for checkpoints: rounds, and two kinds of EM."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience.consensus.labels import dawid_skene
from consilience.consensus.labels.product_mixture import Mixture
from consilience.consensus.labels.stagewise_em import Stage
from consilience.partitions import dawid_skene_checkpoint, product_mixture
from consilience.partitions.checkpoint import Arrays, Codec
from consilience.partitions.stagewise_sweeps import Given, Round

OF_STAGE = ("log_weights", "log_table", "log_likelihood", "largest", "exhausted", "change")


def _values_of_round(state: Round) -> Arrays:
    values = {f"stage.{name}": np.array(getattr(state.stage, name)) for name in OF_STAGE}
    values["stage.members"] = np.array(state.stage.members, dtype=int)
    values |= {f"given.{name}": value for name, value in vars(state.given).items()}
    return values | {"record": state.record}


def _round_of(values: Arrays) -> Round:
    weights = values["stage.log_weights"]
    stage = Stage(
        weights,
        values["stage.log_table"],
        tuple(values["stage.members"].tolist()),
        np.empty((0, len(weights))),
        float(values["stage.log_likelihood"]),
        float(values["stage.largest"]),
        bool(values["stage.exhausted"]),
        float(values["stage.change"]),
    )
    return Round(stage, Given(values["given.log_weights"], values["given.log_table"]), values["record"])


CODECS: dict[str, Codec[Any]] = {
    Round.__name__: Codec(_values_of_round, _round_of),
    Mixture.__name__: product_mixture.CODEC,
    dawid_skene.State.__name__: dawid_skene_checkpoint.CODEC,
}


def _values_of(state: Any) -> Arrays:
    kind = type(state).__name__
    return {"kind": np.array(kind)} | CODECS[kind].values_of(state)


def _state_of(values: Arrays) -> Any:
    return CODECS[str(values["kind"])].state_of(values)


CODEC: Codec[Any] = Codec(_values_of, _state_of)
