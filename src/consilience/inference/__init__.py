"""Mathematics without models: the loop, exponential families, the softmax of linear scores."""

from consilience.inference.iterate import Loop, Trace, begin, iterate, restarts

__all__ = ["Loop", "Trace", "begin", "iterate", "restarts"]
