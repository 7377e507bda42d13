"""Crowdclustering: many people's groupings, judgements and labels, turned into one clustering that can be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from consilience._version import __version__ as __version__

if TYPE_CHECKING:
    from consilience import active as active
    from consilience import analysis as analysis
    from consilience import annotations as annotations
    from consilience import consensus as consensus
    from consilience import datasets as datasets
    from consilience import deep as deep
    from consilience import errors as errors
    from consilience import inspection as inspection
    from consilience import metrics as metrics
    from consilience import persistence as persistence
    from consilience import registry as registry
    from consilience import selection as selection
    from consilience import semisupervised as semisupervised
    from consilience import simulation as simulation
    from consilience import sites as sites
    from consilience import subsets as subsets
    from consilience import workflows as workflows
    from consilience.annotations import Groupings, Labels, Pairs, concat, read_annotations, write_annotations
    from consilience.persistence import load, save

__all__ = ["Groupings", "Labels", "Pairs", "concat", "load", "read_annotations", "save", "write_annotations"]

_HOME = {
    **dict.fromkeys(
        ("Groupings", "Labels", "Pairs", "concat", "read_annotations", "write_annotations"), "consilience.annotations"
    ),
    **dict.fromkeys(("load", "save"), "consilience.persistence"),
}
_MODULES = frozenset(
    (
        *("active", "analysis", "annotations", "consensus", "datasets", "deep", "errors", "inspection", "metrics"),
        *("persistence", "registry", "selection", "semisupervised", "simulation", "sites", "subsets", "workflows"),
    )
)


def __getattr__(name: str) -> Any:
    """Import what is asked for, so that ``import consilience`` and ``consilience --help`` stay quick."""
    if name in _MODULES:
        return import_module(f"consilience.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'consilience' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "__version__"})
