"""Which model, how many clusters, which parameters: by judgements that are held out."""

from consilience.selection.candidates import candidates
from consilience.selection.comparison import Comparison, compare

__all__ = ["Comparison", "candidates", "compare"]


def __dir__() -> list[str]:
    return sorted(__all__)
