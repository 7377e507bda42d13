"""Compute one cell of a page with the code on the path, and print its figures as JSON.

    python -P benchmarks/experiments/run_cell.py MODULE KEY SETTINGS

KEY and SETTINGS are JSON; those of the settings that the estimator has replace its own, except where these are "auto":
what the code then decides is part of what is compared.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from sklearn.base import clone


def main() -> None:
    module, key, settings = sys.argv[1], tuple(json.loads(sys.argv[2])), json.loads(sys.argv[3])
    from benchmarks.experiments.page import rounded

    page = import_module(module).PAGE
    part, cell = next((part, cell) for part, cell in page.cells if cell.key == key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figures = part.compute(with_settings(cell, settings))
    figures.pop("seconds", None)
    print(json.dumps({name: rounded(value) for name, value in figures.items()}))


def with_settings(cell: Any, settings: Mapping[str, Any]) -> Any:
    """Return the cell with these settings of its estimator, as far as it has them and they are not "auto"."""
    known = {} if cell.estimator is None else cell.estimator.get_params(deep=False)
    own = {name: value for name, value in settings.items() if name in known and known[name] != "auto"}
    return replace(cell, estimator=clone(cell.estimator).set_params(**own)) if own else cell


if __name__ == "__main__":
    main()
