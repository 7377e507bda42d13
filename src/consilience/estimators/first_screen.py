"""What a notebook shows of a fitted model: the first screen of its report, if the model keeps what people said."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def show_first_screen(found: Any) -> str:
    """Return the first screen of the report on a fitted model, or on findings, as HTML; empty if there is none.

    Views stand above models, which do not know them: the module that draws is found by its name when a notebook asks.
    """
    view = import_module("consilience.inspection.report.first_screen")
    return str(view.first_screen_of(found))
