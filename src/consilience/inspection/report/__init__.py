"""The report of a fitted model: its sections, tables and figures, and the page that holds them."""

from consilience.inspection.report.page import report

__all__ = ["report"]
