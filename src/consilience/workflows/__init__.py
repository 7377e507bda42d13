"""Whole jobs, from files to results: what the commands of ``consilience`` do, for Python, too.

Each takes a request and returns its result; notes go to the logger ``consilience``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from consilience.workflows.jobs import (
    AskRequest,
    CardSortOptions,
    ComparisonRequest,
    DifferenceRequest,
    FeatureOptions,
    FitRequest,
    PartitionsRequest,
    PlanRequest,
    PredictionRequest,
    ReportRequest,
    Result,
    SiteFusionRequest,
    SiteSummaryRequest,
)

if TYPE_CHECKING:
    from consilience.workflows.asking import AskResult, ask_for_labels
    from consilience.workflows.comparing import ComparisonResult, compare
    from consilience.workflows.difference import DifferenceResult, compare_studies
    from consilience.workflows.fitting import FitResult, fit
    from consilience.workflows.partitioned import PartitionsResult, fit_partitions
    from consilience.workflows.planning import PlanResult, plan_study
    from consilience.workflows.saved_models import predict, report_again
    from consilience.workflows.sites import SiteFusionResult, fuse_sites, show_site, summarise_site

_HOME = {
    **dict.fromkeys(("AskResult", "ask_for_labels"), "asking"),
    **dict.fromkeys(("ComparisonResult", "compare"), "comparing"),
    **dict.fromkeys(("DifferenceResult", "compare_studies"), "difference"),
    **dict.fromkeys(("FitResult", "fit"), "fitting"),
    **dict.fromkeys(("PartitionsResult", "fit_partitions"), "partitioned"),
    **dict.fromkeys(("PlanResult", "plan_study"), "planning"),
    **dict.fromkeys(("predict", "report_again"), "saved_models"),
    **dict.fromkeys(("SiteFusionResult", "fuse_sites", "show_site", "summarise_site"), "sites"),
}

__all__ = [
    "AskRequest",
    "AskResult",
    "CardSortOptions",
    "ComparisonRequest",
    "ComparisonResult",
    "DifferenceRequest",
    "DifferenceResult",
    "FeatureOptions",
    "FitRequest",
    "FitResult",
    "PartitionsRequest",
    "PartitionsResult",
    "PlanRequest",
    "PlanResult",
    "PredictionRequest",
    "ReportRequest",
    "Result",
    "SiteFusionRequest",
    "SiteFusionResult",
    "SiteSummaryRequest",
    "ask_for_labels",
    "compare",
    "compare_studies",
    "fit",
    "fit_partitions",
    "fuse_sites",
    "plan_study",
    "predict",
    "report_again",
    "show_site",
    "summarise_site",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, so that a request can be made without NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module 'consilience.workflows' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"consilience.workflows.{_HOME[name]}"), name)
    return value


__dir__ = __all__.copy
