"""What a fitted model and what people said tell together: statistics, without plots or pages."""

from consilience.analysis.findings import Findings, findings

__all__ = ["Findings", "findings"]


def __dir__() -> list[str]:
    return sorted(__all__)
