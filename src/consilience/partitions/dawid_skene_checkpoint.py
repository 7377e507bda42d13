"""States of `DawidSkene` as arrays, for checkpoints."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from consilience.consensus.labels.annotator_models import Hierarchical, OneCoin, Smoothed
from consilience.consensus.labels.dawid_skene import State
from consilience.inference.product_distributions import Expectation
from consilience.partitions.checkpoint import Arrays, Codec, plain

MODELS = {model.__name__: model for model in (Hierarchical, OneCoin, Smoothed)}


def _values_of(state: State) -> Arrays:
    values = {
        "log_weights": state.log_weights,
        "log_prior": np.array(state.log_prior),
        "model": np.array(type(state.model).__name__),
    }
    for prefix, held in (("model", state.model), ("expected", state.expected)):
        for field in fields(held):
            values[f"{prefix}.{field.name}"] = np.array(getattr(held, field.name))
    return values


def _state_of(values: Arrays) -> State:
    kind = MODELS[str(values["model"])]
    parts: dict[str, Any] = {field.name: plain(values[f"model.{field.name}"]) for field in fields(kind)}
    if kind is Hierarchical:
        parts["before"] = tuple(parts["before"])
    model = kind(**parts)
    expected = Expectation(**{field.name: plain(values[f"expected.{field.name}"]) for field in fields(Expectation)})
    return State(model, values["log_weights"], float(values["log_prior"]), expected)


CODEC = Codec(_values_of, _state_of)
