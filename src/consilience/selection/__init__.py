"""Selection of models, numbers of clusters and parameters by held-out judgements."""

from consilience.selection.candidates import candidates
from consilience.selection.comparison import Comparison, compare

__all__ = ["Comparison", "candidates", "compare"]

__dir__ = __all__.copy
