"""What a fitted model and what people said tell together: statistics, without plots or pages."""

from consilience.analysis.findings import Findings, findings

__all__ = ["Findings", "findings"]

__dir__ = __all__.copy
