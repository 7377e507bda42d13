"""Conversion of saved files of earlier versions.

A file stores the parameters and attributes of an estimator or a session by their names. When one of them is renamed,
added or given another meaning, a function here brings those of earlier files up to date, before they are checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Values = dict[str, Any]
Migration = Callable[[Values, Values], tuple[Values, Values]]


def add_floors(parameters: Values, attributes: Values) -> tuple[Values, Values]:
    """Say that a calibration was without floors, which later ones have by default."""
    if "_shared" not in attributes or "temperature_" not in attributes:
        return parameters, attributes
    shared = attributes["_shared"]
    others = {name: value for name, value in attributes.items() if name != "_shared"}
    floors = np.array([0.0, 1.0, (1 - shared) * attributes["temperature_"], 0.0])
    chosen = "independent" if parameters.get("calibrate", True) is True else parameters["calibrate"]
    return parameters | {"calibrate": chosen}, others | {"_floors": floors}


MIGRATIONS: dict[str, tuple[Migration, ...]] = {"DawidSkene": (add_floors,)}
"""By the name of the class, in the order of the versions: from parameters and attributes to those of the next version.

A migration recognises earlier files by what they contain, and returns the content of others as it is.
"""


def migrate(name: str, parameters: Values, attributes: Values) -> tuple[Values, Values]:
    """Return the parameters and attributes of a file as this version stores them."""
    for migration in MIGRATIONS.get(name, ()):
        parameters, attributes = migration(parameters, attributes)
    return parameters, attributes
