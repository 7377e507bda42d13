"""Mathematics without models: the loop, exponential families, the softmax of linear scores."""

from consilience.inference.iterate import Trace, iterate, restarts

__all__ = ["Trace", "iterate", "restarts"]
