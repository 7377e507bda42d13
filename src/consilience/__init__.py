"""Crowdclustering: many people's groupings, judgements and labels, turned into one clustering that can be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consilience.annotations import Groupings, Labels, Pairs, concat, read_annotations, write_annotations
    from consilience.persistence import load, save

__all__ = ["Groupings", "Labels", "Pairs", "concat", "load", "read_annotations", "save", "write_annotations"]

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(
        ("Groupings", "Labels", "Pairs", "concat", "read_annotations", "write_annotations"), "consilience.annotations"
    ),
    **dict.fromkeys(("load", "save"), "consilience.persistence"),
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, so that ``import consilience`` and ``consilience --help`` stay quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'consilience' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
