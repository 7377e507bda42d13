"""States of `PartitionLabelModel` as arrays, for checkpoints."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from consilience.inference.softmax import Moments
from consilience.partitions.checkpoint import Arrays, Codec, plain
from consilience.semisupervised.partition_label_model import State

MOMENTS = ("moments", "model")


def _values_of(state: State) -> Arrays:
    values: Arrays = {}
    for field in fields(State):
        held = getattr(state, field.name)
        if field.name in MOMENTS:
            values |= {f"{field.name}.{one.name}": np.array(getattr(held, one.name)) for one in fields(Moments)}
        else:
            values[field.name] = held
    return values


def _state_of(values: Arrays) -> State:
    held: dict[str, Any] = {field.name: values[field.name] for field in fields(State) if field.name not in MOMENTS}
    for name in MOMENTS:
        held[name] = Moments(**{one.name: plain(values[f"{name}.{one.name}"]) for one in fields(Moments)})
    return State(**held)


CODEC = Codec(_values_of, _state_of)
