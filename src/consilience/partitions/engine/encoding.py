"""States as arrays and JSON, and back: frozen dataclasses, in any depth, of arrays, numbers, texts and tuples of these.

A state needs no codec of its own. The JSON names the class of each dataclass, and only dataclasses of this package are
made again. `Parts`, whose items stay where they are, are kept by whoever keeps their rows; see `ItemRows`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from consilience.inference.parts import Parts
from consilience.partitions.engine.item_rows import ItemRowFiles

PACKAGE = "consilience."


def encode_state(state: Any, arrays: list[np.ndarray], rows: ItemRowFiles | None = None, number: int = 0) -> Any:
    """Return what JSON can hold of a state; its arrays are appended to `arrays`, its parts are kept under a number."""

    def encode(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, Parts) and rows is not None:
            rows.keep(value, number)
            return {"parts": number}
        if is_dataclass(value):
            kind = type(value)
            held = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
            return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": held}
        if isinstance(value, dict):
            return {"dict": {name: encode(one) for name, one in value.items()}}
        if isinstance(value, tuple | list):
            return {type(value).__name__: [encode(one) for one in value]}
        return value.item() if isinstance(value, np.generic) else value

    return encode(state)


def decode_state(held: Any, arrays: list[np.ndarray], rows: ItemRowFiles | None = None) -> Any:
    """Return the state that was encoded.

    Raises ValueError, KeyError, TypeError, AttributeError, ImportError or IndexError: it was not encoded here.
    """

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        match value:
            case {"array": place}:
                return arrays[place]
            case {"parts": number} if rows is not None:
                return rows.restore(number)
            case {"class": name, "fields": of_class}:
                return _dataclass_called(name)(**{field: decode(one) for field, one in of_class.items()})
            case {"dict": of_dict}:
                return {name: decode(one) for name, one in of_dict.items()}
            case {"tuple": several}:
                return tuple(map(decode, several))
            case {"list": several}:
                return list(map(decode, several))
        raise ValueError(f"no state: {sorted(value)}")

    return decode(held)


def _dataclass_called(name: str) -> type:
    module, _, kind = name.partition(":")
    if not module.startswith(PACKAGE):
        raise ValueError(f"{name} is not of this package")
    found: Any = getattr(import_module(module), kind)
    if not (isinstance(found, type) and is_dataclass(found)):
        raise ValueError(f"{name} is no dataclass")
    return found
