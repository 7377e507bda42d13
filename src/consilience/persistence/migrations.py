"""Conversion of saved files of earlier versions; no version since 0.1.0, the first, has needed one.

A file stores the parameters and attributes of an estimator or a session by their names. When one of them is renamed,
added or given another meaning, a function here brings those of earlier files up to date, before they are checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Values = dict[str, Any]
Migration = Callable[[Values, Values], tuple[Values, Values]]

MIGRATIONS: dict[str, tuple[Migration, ...]] = {}
"""By the name of the class, in the order of the versions: from parameters and attributes to those of the next version.

A migration recognises earlier files by what they contain, and returns the content of others as it is.
"""


def migrate(name: str, parameters: Values, attributes: Values) -> tuple[Values, Values]:
    """Return the parameters and attributes of a file as this version stores them."""
    for migration in MIGRATIONS.get(name, ()):
        parameters, attributes = migration(parameters, attributes)
    return parameters, attributes
